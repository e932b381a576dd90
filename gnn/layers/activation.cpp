#include <cmath>
#include <numbers>

#include "gnn/layers/rowwise.h"

namespace perfc {

namespace {

template <class T>
T gelu(T x) {
  return x / 2 * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
}

template <class T>
T gelu_slope(T x) {
  const T density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return (1 + std::erf(x / std::numbers::sqrt2_v<T>)) / 2 + x * density;
}

/// Without overflow on either side.
template <class T>
T negative_log_sigmoid(T x) {
  return std::max(-x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

template <class T>
T negative_log_sigmoid_slope(T x) {
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? -e / (1 + e) : -1 / (1 + e);
}

}  // namespace

template <class T>
const Matrix<T>& Activation<T>::forward(Context& c, const Matrix<T>& x) {
  x_ = &x;
  y_.resize(x.rows(), x.columns());
  c.threads.for_ranges(x.size(), 1024, [&](std::size_t begin, std::size_t end) {
    const T* from = x.data();
    T* to = y_.data();
    switch (kind_) {
      case ActivationKind::Relu:
        for (std::size_t i = begin; i < end; ++i) to[i] = from[i] > 0 ? from[i] : T(0);
        break;
      case ActivationKind::Gelu:
        for (std::size_t i = begin; i < end; ++i) to[i] = gelu(from[i]);
        break;
      case ActivationKind::NegativeLogSigmoid:
        for (std::size_t i = begin; i < end; ++i) to[i] = negative_log_sigmoid(from[i]);
        break;
    }
  });
  return y_;
}

template <class T>
const Matrix<T>& Activation<T>::backward(Context& c, const Matrix<T>& dy) {
  dx_.resize(dy.rows(), dy.columns());
  c.threads.for_ranges(dy.size(), 1024, [&](std::size_t begin, std::size_t end) {
    const T *x = x_->data(), *from = dy.data();
    T* to = dx_.data();
    switch (kind_) {
      case ActivationKind::Relu:
        for (std::size_t i = begin; i < end; ++i) {
          const T slope = x[i] > 0 ? T(1) : T(0);  // no branch: it would be mispredicted every other time
          to[i] = from[i] * slope;
        }
        break;
      case ActivationKind::Gelu:
        for (std::size_t i = begin; i < end; ++i) to[i] = from[i] * gelu_slope(x[i]);
        break;
      case ActivationKind::NegativeLogSigmoid:
        for (std::size_t i = begin; i < end; ++i) to[i] = from[i] * negative_log_sigmoid_slope(x[i]);
        break;
    }
  });
  return dx_;
}

template class Activation<float>;
template class Activation<double>;

}  // namespace perfc
