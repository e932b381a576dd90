#include <cmath>
#include <utility>

#include "gnn/layers/linear.h"
#include "gnn/layers/rowwise.h"

namespace perfc {

namespace {
constexpr double kVarianceEpsilon = 1e-5;
}

template <class T>
LayerNorm<T>::LayerNorm(std::size_t width) {
  weight_.shape(width, Initial::constant(1));
  bias_.shape(width, Initial::constant(0));
}

template <class T>
const Matrix<T>& LayerNorm<T>::forward(Context& c, const Matrix<T>& x) {
  normal_.resize(x.rows(), x.columns());
  y_.resize(x.rows(), x.columns());
  inverse_deviation_.resize(x.rows());
  c.threads.for_ranges(x.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      auto normal = normal_.row(r);
      normal = x.row(r) - x.row(r).mean();
      inverse_deviation_[r] = 1 / std::sqrt(normal.square().mean() + static_cast<T>(kVarianceEpsilon));
      normal *= inverse_deviation_[r];
      y_.row(r) = normal * weight_.value.row(0) + bias_.value.row(0);
    }
  });
  return y_;
}

template <class T>
const Matrix<T>& LayerNorm<T>::backward(Context& c, const Matrix<T>& dy) {
  add_column_sums(c, dy, bias_.gradient);
  c.threads.for_ranges(dy.columns(), 64, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Eigen::Index>(begin), width = static_cast<Eigen::Index>(end - begin);
    auto sum = weight_.gradient.row(0).segment(first, width);
    for (std::size_t r = 0; r < dy.rows(); ++r) {
      sum += dy.row(r).segment(first, width) * normal_.row(r).segment(first, width);
    }
  });
  dx_.resize(dy.rows(), dy.columns());
  c.threads.for_ranges(dy.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const auto normal = std::as_const(normal_).row(r);
      auto dx = dx_.row(r);
      dx = dy.row(r) * weight_.value.row(0);
      const T mean = dx.mean(), along = (dx * normal).mean();
      dx = (dx - mean - along * normal) * inverse_deviation_[r];
    }
  });
  return dx_;
}

template <class T>
void LayerNorm<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  f(prefix + "weight", weight_);
  f(prefix + "bias", bias_);
}

template <class T>
T L2Normalise<T>::normalise(typename Matrix<T>::Row y) {
  const T inverse = 1 / std::max(std::sqrt(y.square().sum()), static_cast<T>(kShortestRow));
  y *= inverse;
  return inverse;
}

template <class T>
void L2Normalise<T>::row_gradient(typename Matrix<T>::ConstRow y, T inverse_length, typename Matrix<T>::ConstRow dy,
                                  typename Matrix<T>::Row dx) {
  const T along = (y * dy).sum();  // y = x / |x|:  dx = (dy − y (y·dy)) / |x|
  dx = (dy - along * y) * inverse_length;
}

template <class T>
const Matrix<T>& L2Normalise<T>::forward(Context& c, const Matrix<T>& x) {
  y_.resize(x.rows(), x.columns());
  inverse_length_.resize(x.rows());
  c.threads.for_ranges(x.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      y_.row(r) = x.row(r);
      inverse_length_[r] = normalise(y_.row(r));
    }
  });
  return y_;
}

template <class T>
const Matrix<T>& L2Normalise<T>::backward(Context& c, const Matrix<T>& dy) {
  dx_.resize(dy.rows(), dy.columns());
  c.threads.for_ranges(dy.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      row_gradient(std::as_const(y_).row(r), inverse_length_[r], dy.row(r), dx_.row(r));
    }
  });
  return dx_;
}

template class LayerNorm<float>;
template class LayerNorm<double>;
template class L2Normalise<float>;
template class L2Normalise<double>;

}  // namespace perfc
