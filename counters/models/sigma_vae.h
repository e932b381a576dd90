#pragma once
/// Variational autoencoder with an optimal, calibrated decoder (Rybkin, Daniilidis, Levine:
/// "Simple and effective VAE training with calibrated decoders", ICML 2021).
///
///   encoder  x → ReLU(hidden) → mean, log variance        z = mean + e^(log variance / 2) · noise
///   decoder  z → ReLU(hidden) → x̂
///   ln σ     = ½ ln of the mean of (x − x̂)² over the batch: the likeliest σ; kept above
///              `least_log_sigma` softly: least + softplus(ln σ − least)
///   reconstruction = Σ over columns of (x − x̂)² / 2σ² + ln σ + ½ ln 2π
///   KL             = −½ Σ over latent columns of 1 + log variance − mean² − variance
/// Both terms are sums over columns and are averaged over rows only.
#include "gnn/layers/linear.h"
#include "gnn/layers/rowwise.h"

namespace perfc {

struct VaeOptions {
  std::size_t inputs = 0;
  std::size_t hidden = 128;
  std::size_t latent = 16;
  double least_log_sigma = -6;
};

/// Means over the rows of a batch.
struct VaeTerms {
  double log_sigma = 0, reconstruction = 0, kl = 0;
};

template <class T>
class SigmaVae : public Module<T> {
 public:
  explicit SigmaVae(const VaeOptions&);
  const VaeOptions& options() const { return options_; }

  /// x → z. Training: a sample, with noise of the context (or `noise`, rows × latent, for
  /// tests); inference: the mean.
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& encode(Context&, const Matrix<T>& x, const Matrix<T>& noise);
  /// The last z → x̂, and the terms of the loss.
  VaeTerms decode(Context&);
  const Matrix<T>& decoded() const { return *decoded_; }

  /// After `decode`: adds the gradients of Σ over rows of (reconstruction_weight × reconstruction +
  /// kl_weight × KL) and of what `dz` (rows × latent) comes from.
  void backward(Context&, double reconstruction_weight, double kl_weight, const Matrix<T>& dz);
  /// Of what dz comes from alone.
  const Matrix<T>& backward(Context&, const Matrix<T>& dz) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  const Matrix<T>& into_encoder(Context&, const Matrix<T>& dz, double kl_weight);
  VaeOptions options_;
  Sequential<T> encoder_, decoder_;
  Linear<T> mean_, log_variance_;
  const Matrix<T>*x_ = nullptr, *means_ = nullptr, *log_variances_ = nullptr, *decoded_ = nullptr;
  Matrix<T> noise_, z_, ddecoded_, dz_, dmean_, dlog_variance_, dhidden_;
  T square_ = 0, sigma_slope_ = 0, variance_ = 1;  ///< mean (x − x̂)², d soft ln σ / d ln σ, σ²
};

extern template class SigmaVae<float>;
extern template class SigmaVae<double>;

/// The weight of KL over a run.
struct KlAnnealing {
  enum class Shape : unsigned char { Constant, Linear, Cyclic } shape = Shape::Linear;
  double peak = 1;
  double rising = 0.5;     ///< share of the run (Linear) or of a cycle (Cyclic) in which it rises from 0
  std::size_t cycles = 4;  ///< Cyclic (Fu et al., NAACL 2019)
  double at(std::uint64_t step, std::uint64_t total) const;
  bool operator==(const KlAnnealing&) const = default;
};

}  // namespace perfc
