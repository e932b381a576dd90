#include "gnn/layers/sage.h"

#include <cassert>
#include <utility>

#include "gnn/layers/rowwise.h"

namespace perfc {

template <class T>
SageConv<T>::SageConv(std::size_t in, std::size_t out, RowNorm norm)
    : norm_(norm), neighbours_(in, out), self_(in, out, Bias::No) {}

template <class T>
const Matrix<T>& SageConv<T>::forward(Context& c, const Matrix<T>& x) {
  const GraphBatch& graph = *c.graph;
  const std::size_t in = self_.in(), out = self_.out();
  assert(x.rows() == graph.nodes() && x.columns() == in);
  x_ = &x;
  mean_.resize(x.rows(), in);
  y_.resize(x.rows(), out);
  inverse_length_.resize(x.rows());
  // In blocks of rows that stay in the caches from the gathering to the norm.
  const std::size_t block = 512 * c.threads.size();
  for (std::size_t begin = 0; begin < x.rows(); begin += block) {
    const std::size_t rows = std::min(block, x.rows() - begin);
    const auto for_rows = [&](auto&& body) {
      c.threads.for_ranges(rows, 16, [&](std::size_t first, std::size_t last) {
        for (std::size_t n = begin + first; n < begin + last; ++n) body(n);
      });
    };
    for_rows([&](std::size_t n) {
      auto mean = mean_.row(n);
      const auto senders = graph.senders_of(n);
      if (senders.empty()) mean.setZero();
      else mean = x.row(senders[0]);
      for (std::size_t e = 1; e < senders.size(); ++e) mean += x.row(senders[e]);
      if (senders.size() > 1) mean *= T(1) / static_cast<T>(senders.size());
      y_.row(n) = neighbours_.bias.value.row(0);
    });
    const GemmShape shape{.rows = rows,
                          .columns = out,
                          .inner = in,
                          .a_stride = in,
                          .b_stride = in,
                          .c_stride = out,
                          .b = Transpose::Yes,
                          .store = Store::Add};
    gemm<T>(c.threads, shape, mean_.data() + begin * in, neighbours_.weight.value.data(), y_.data() + begin * out);
    gemm<T>(c.threads, shape, x.data() + begin * in, self_.weight.value.data(), y_.data() + begin * out);
    if (norm_ == RowNorm::None) continue;
    for_rows([&](std::size_t n) { inverse_length_[n] = L2Normalise<T>::normalise(y_.row(n)); });
  }
  return y_;
}

template <class T>
const Matrix<T>& SageConv<T>::backward(Context& c, const Matrix<T>& dy) {
  const GraphBatch& graph = *c.graph;
  const Matrix<T>* dz = &dy;
  if (norm_ == RowNorm::L2) {
    dz_.resize(dy.rows(), dy.columns());
    c.threads.for_ranges(dy.rows(), 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        L2Normalise<T>::row_gradient(std::as_const(y_).row(n), inverse_length_[n], dy.row(n), dz_.row(n));
      }
    });
    dz = &dz_;
  }
  neighbours_.input_gradient(c, *dz, dmean_, Store::Replace);
  self_.input_gradient(c, *dz, dx_, Store::Replace);
  neighbours_.take_gradients(c, mean_, *dz);
  self_.take_gradients(c, *x_, *dz);
  c.threads.for_ranges(dx_.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      auto dx = dx_.row(n);
      for (const auto r : graph.receivers_of(n)) {
        dx += std::as_const(dmean_).row(r) * (T(1) / static_cast<T>(graph.in_degree(r)));
      }
    }
  });
  return dx_;
}

template <class T>
void SageConv<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  neighbours_.visit(prefix + "lin_l.", f);
  self_.visit(prefix + "lin_r.", f);
}

template class SageConv<float>;
template class SageConv<double>;

}  // namespace perfc
