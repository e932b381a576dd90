#pragma once
/// Layers that look at one row at a time and multiply by no matrix.
#include <cstdint>

#include "gnn/module.h"

namespace perfc {

enum class ActivationKind : unsigned char {
  Relu,
  Gelu,                ///< x Φ(x), with the error function (Hendrycks and Gimpel 2016)
  NegativeLogSigmoid,  ///< ln(1 + e^−x), always positive: PMGNS's outputs
};

template <class T>
class Activation : public Module<T> {
 public:
  explicit Activation(ActivationKind kind) : kind_(kind) {}
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;

 private:
  ActivationKind kind_;
  const Matrix<T>* x_ = nullptr;
  Matrix<T> y_, dx_;
};

/// Training: zeroes each entry with probability `rate` and divides the rest by
/// 1 − rate (Srivastava et al., JMLR 2014); inference: nothing. What is dropped
/// depends on the step, `stream`, the sample and the entry's place in it alone.
/// The rate is rounded to a multiple of 2^-16.
template <class T>
class Dropout : public Module<T> {
 public:
  /// `stream`: different for each dropout of a model.
  Dropout(double rate, std::uint64_t stream);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;

 private:
  /// to = from with the same entries dropped, forwards and backwards.
  void apply(Context&, const Matrix<T>& from, Matrix<T>& to) const;
  std::uint32_t threshold_;  ///< of 2^16
  std::uint64_t stream_;
  Mode mode_ = Mode::Inference;
  Matrix<T> y_, dx_;
};

/// (x − mean) / √(variance + 1e-5) per row, then × weight + bias (Ba, Kiros,
/// Hinton 2016).
template <class T>
class LayerNorm : public Module<T> {
 public:
  explicit LayerNorm(std::size_t width);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  Parameter<T> weight_, bias_;
  std::vector<T> inverse_deviation_;
  Matrix<T> normal_, y_, dx_;
};

/// Lengths below this count as this one (torch.nn.functional.normalize's eps).
inline constexpr double kShortestRow = 1e-12;

/// Each row divided by its length.
template <class T>
class L2Normalise : public Module<T> {
 public:
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;

  /// The work on one row, for layers that do it while the row is at hand.
  /// Returns 1 / length.
  static T normalise(typename Matrix<T>::Row y);
  static void row_gradient(typename Matrix<T>::ConstRow y, T inverse_length, typename Matrix<T>::ConstRow dy,
                           typename Matrix<T>::Row dx);

 private:
  std::vector<T> inverse_length_;
  Matrix<T> y_, dx_;
};

/// Column 0 of x is a category; it is replaced by the category's row of the
/// table, the other columns follow unchanged. Row 0 of the table stands for
/// what the vocabulary does not have: negative, fractional and too large
/// categories land there.
template <class T>
class Embedding : public Module<T> {
 public:
  Embedding(std::size_t categories, std::size_t width);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  Parameter<T> table_;
  std::vector<std::size_t> category_;
  std::size_t rest_ = 0;
  Matrix<T> y_, dx_;
};

}  // namespace perfc
