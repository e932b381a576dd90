#include <cassert>
#include <cmath>

#include "gnn/layers/rowwise.h"

namespace perfc {

template <class T>
Embedding<T>::Embedding(std::size_t categories, std::size_t width) {
  assert(categories > 0);
  table_.shape(categories, width, Initial::fan_in(width));
}

template <class T>
const Matrix<T>& Embedding<T>::forward(Context& c, const Matrix<T>& x) {
  assert(x.columns() > 0);
  const std::size_t width = table_.value.columns(), categories = table_.value.rows();
  rest_ = x.columns() - 1;
  category_.resize(x.rows());
  y_.resize(x.rows(), width + rest_);
  c.threads.for_ranges(x.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const T value = std::round(x(r, 0));
      const bool known = value >= 0 && value < static_cast<T>(categories) && std::abs(value - x(r, 0)) < T(1e-3);
      category_[r] = known ? static_cast<std::size_t>(value) : 0;
      const T* row = table_.value.data() + category_[r] * width;
      T* y = y_.data() + r * y_.columns();
      std::copy(row, row + width, y);
      std::copy(x.data() + r * x.columns() + 1, x.data() + (r + 1) * x.columns(), y + width);
    }
  });
  return y_;
}

template <class T>
const Matrix<T>& Embedding<T>::backward(Context& c, const Matrix<T>& dy) {
  const std::size_t width = table_.value.columns();
  c.threads.for_ranges(width, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = 0; r < dy.rows(); ++r) {
      for (std::size_t i = begin; i < end; ++i) table_.gradient(category_[r], i) += dy(r, i);
    }
  });
  dx_.resize(dy.rows(), rest_ + 1);
  for (std::size_t r = 0; r < dy.rows(); ++r) {
    dx_(r, 0) = 0;
    for (std::size_t i = 0; i < rest_; ++i) dx_(r, i + 1) = dy(r, width + i);
  }
  return dx_;
}

template <class T>
void Embedding<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  f(prefix + "weight", table_);
}

template class Embedding<float>;
template class Embedding<double>;

}  // namespace perfc
