#include "counters/models/sigma_vae.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace perfc {

template <class T>
SigmaVae<T>::SigmaVae(const VaeOptions& o) : options_(o), mean_(o.hidden, o.latent), log_variance_(o.hidden, o.latent) {
  encoder_.add("hidden", std::make_unique<Linear<T>>(o.inputs, o.hidden));
  encoder_.add("relu", std::make_unique<Activation<T>>(ActivationKind::Relu));
  decoder_.add("hidden", std::make_unique<Linear<T>>(o.latent, o.hidden));
  decoder_.add("relu", std::make_unique<Activation<T>>(ActivationKind::Relu));
  decoder_.add("output", std::make_unique<Linear<T>>(o.hidden, o.inputs));
}

template <class T>
const Matrix<T>& SigmaVae<T>::forward(Context& c, const Matrix<T>& x) {
  Matrix<T> noise(x.rows(), options_.latent);
  noise.fill(0);
  if (c.mode == Mode::Training) {
    for (std::size_t r = 0; r < x.rows(); ++r) {
      const Random of_row = c.random.stream("vae").stream(c.first_sample + r);
      for (std::size_t k = 0; k < options_.latent; ++k) noise(r, k) = static_cast<T>(of_row.normal(k));
    }
  }
  return encode(c, x, noise);
}

template <class T>
const Matrix<T>& SigmaVae<T>::encode(Context& c, const Matrix<T>& x, const Matrix<T>& noise) {
  x_ = &x;
  noise_ = noise;
  const Matrix<T>& hidden = encoder_.forward(c, x);
  means_ = &mean_.forward(c, hidden);
  log_variances_ = &log_variance_.forward(c, hidden);
  z_.resize(x.rows(), options_.latent);
  z_.flat() = means_->flat() + (log_variances_->flat() / 2).exp() * noise_.flat();
  return z_;
}

template <class T>
VaeTerms SigmaVae<T>::decode(Context& c) {
  decoded_ = &decoder_.forward(c, z_);
  const auto rows = static_cast<double>(x_->rows()), columns = static_cast<double>(x_->columns());
  square_ = std::max((decoded_->flat() - x_->flat()).square().mean(), static_cast<T>(1e-30));
  const double above = std::log(static_cast<double>(square_)) / 2 - options_.least_log_sigma;
  const double soft = above > 30 ? above : std::log1p(std::exp(above));
  VaeTerms t{.log_sigma = options_.least_log_sigma + soft};
  sigma_slope_ = static_cast<T>(1 / (1 + std::exp(-above)));
  variance_ = static_cast<T>(std::exp(2 * t.log_sigma));
  t.reconstruction = columns * (static_cast<double>(square_) / (2 * static_cast<double>(variance_)) + t.log_sigma +
                                std::log(2 * std::numbers::pi) / 2);
  const auto m = means_->flat(), v = log_variances_->flat();
  t.kl = -0.5 * static_cast<double>((1 + v - m.square() - v.exp()).sum()) / rows;
  return t;
}

template <class T>
void SigmaVae<T>::backward(Context& c, double reconstruction_weight, double kl_weight, const Matrix<T>& dz) {
  // d reconstruction / d x̂ directly, and through σ, which is the batch's.
  const T slope =
      static_cast<T>(reconstruction_weight) * (1 / variance_ + (1 - square_ / variance_) * sigma_slope_ / square_);
  ddecoded_.resize(x_->rows(), x_->columns());
  ddecoded_.flat() = slope * (decoded_->flat() - x_->flat());
  const Matrix<T>& from_decoder = decoder_.backward(c, ddecoded_);
  dz_.resize(z_.rows(), z_.columns());
  dz_.flat() = from_decoder.flat() + dz.flat();
  into_encoder(c, dz_, kl_weight);
}

template <class T>
const Matrix<T>& SigmaVae<T>::backward(Context& c, const Matrix<T>& dz) {
  return into_encoder(c, dz, 0);
}

template <class T>
const Matrix<T>& SigmaVae<T>::into_encoder(Context& c, const Matrix<T>& dz, double kl_weight) {
  const auto kl = static_cast<T>(kl_weight);
  const auto m = means_->flat(), v = log_variances_->flat();
  dmean_.resize(z_.rows(), z_.columns());
  dlog_variance_.resize(z_.rows(), z_.columns());
  dmean_.flat() = dz.flat() + kl * m;
  dlog_variance_.flat() = dz.flat() * noise_.flat() * (v / 2).exp() / 2 + kl * (v.exp() - 1) / 2;
  dhidden_ = mean_.backward(c, dmean_);
  dhidden_.flat() += log_variance_.backward(c, dlog_variance_).flat();
  return encoder_.backward(c, dhidden_);
}

template <class T>
void SigmaVae<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  encoder_.visit(prefix + "encoder.", f);
  mean_.visit(prefix + "mean.", f);
  log_variance_.visit(prefix + "log_variance.", f);
  decoder_.visit(prefix + "decoder.", f);
}

double KlAnnealing::at(std::uint64_t step, std::uint64_t total) const {
  if (shape == Shape::Constant || total == 0) return peak;
  double done = static_cast<double>(step) / static_cast<double>(total);
  if (shape == Shape::Cyclic) {
    done *= static_cast<double>(std::max<std::size_t>(cycles, 1));
    done -= std::floor(done);
  }
  return rising <= 0 ? peak : peak * std::min(1.0, done / rising);
}

template class SigmaVae<float>;
template class SigmaVae<double>;

}  // namespace perfc
