#include "gnn/layers/linear.h"

#include <cassert>
#include <type_traits>

namespace perfc {

template <class T>
Linear<T>::Linear(std::size_t in, std::size_t out, Bias with_bias, InputGradient wanted)
    : with_bias_(with_bias), wanted_(wanted) {
  weight.shape(out, in, Initial::fan_in(in));
  if (with_bias == Bias::Yes) bias.shape(out, Initial::fan_in(in));
}

template <class T>
const Matrix<T>& Linear<T>::forward(Context& c, const Matrix<T>& x) {
  assert(x.columns() == in());
  x_ = &x;
  y_.resize(x.rows(), out());
  // In blocks, so that the bias meets rows that are still in the cache.
  constexpr std::size_t kBlock = 512;
  c.threads.for_ranges(x.rows(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t begin = first; begin < last; begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, last);
      if (with_bias_ == Bias::Yes) {
        for (std::size_t r = begin; r < end; ++r) y_.row(r) = bias.value.row(0);
      }
      gemm({.rows = end - begin,
            .columns = out(),
            .inner = in(),
            .a_stride = in(),
            .b_stride = in(),
            .c_stride = out(),
            .b = Transpose::Yes,
            .store = with_bias_ == Bias::Yes ? Store::Add : Store::Replace},
           x.data() + begin * in(), weight.value.data(), y_.data() + begin * out());
    }
  });
  return y_;
}

template <class T>
const Matrix<T>& Linear<T>::backward(Context& c, const Matrix<T>& dy) {
  if (wanted_ == InputGradient::Wanted) input_gradient(c, dy, dx_, Store::Replace);
  take_gradients(c, *x_, dy);
  return dx_;
}

template <class T>
void Linear<T>::take_gradients(Context& c, const Matrix<T>& x, const Matrix<T>& dy) {
  if (with_bias_ == Bias::Yes) add_column_sums(c, dy, bias.gradient);
  if constexpr (std::is_same_v<T, float>) {
    if (c.update != nullptr && dy.rows() > 0) {
      multiply_by_panels<T>(
          c.threads, dy, Transpose::Yes, x, Transpose::No,
          [&](std::size_t first, std::span<T> gradient) { c.update->update(weight, first * in(), gradient); });
      return;
    }
  }
  multiply(c.threads, dy, Transpose::Yes, x, Transpose::No, weight.gradient, Store::Add);
}

template <class T>
void Linear<T>::input_gradient(Context& c, const Matrix<T>& dy, Matrix<T>& dx, Store store) {
  multiply(c.threads, dy, Transpose::No, weight.value, Transpose::No, dx, store);
}

template <class T>
void Linear<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  f(prefix + "weight", weight);
  if (with_bias_ == Bias::Yes) f(prefix + "bias", bias);
}

template <class T>
void add_column_sums(Context& c, const Matrix<T>& m, Matrix<T>& sums) {
  c.threads.for_ranges(m.columns(), 64, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Eigen::Index>(begin), width = static_cast<Eigen::Index>(end - begin);
    auto sum = sums.row(0).segment(first, width);
    for (std::size_t r = 0; r < m.rows(); ++r) sum += m.row(r).segment(first, width);
  });
}

template class Linear<float>;
template class Linear<double>;
template void add_column_sums(Context&, const Matrix<float>&, Matrix<float>&);
template void add_column_sums(Context&, const Matrix<double>&, Matrix<double>&);

}  // namespace perfc
