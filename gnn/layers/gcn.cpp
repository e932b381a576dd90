#include "gnn/layers/gcn.h"

#include <cmath>

namespace perfc {

template <class T>
GcnConv<T>::GcnConv(std::size_t in, std::size_t out) : linear_(in, out, Bias::No) {
  linear_.weight.initial = Initial::glorot(in, out);
  bias_.shape(out, Initial::constant(0));
}

template <class T>
const Matrix<T>& GcnConv<T>::forward(Context& c, const Matrix<T>& x) {
  const GraphBatch& graph = *c.graph;
  const Matrix<T>& h = linear_.forward(c, x);
  scale_.resize(graph.nodes());
  for (std::size_t n = 0; n < graph.nodes(); ++n) scale_[n] = 1 / std::sqrt(static_cast<T>(graph.in_degree(n) + 1));
  y_.resize(h.rows(), h.columns());
  c.threads.for_ranges(h.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      auto y = y_.row(n);
      y = h.row(n) * scale_[n];
      for (const auto s : graph.senders_of(n)) y += h.row(s) * scale_[s];
      y = y * scale_[n] + bias_.value.row(0);
    }
  });
  return y_;
}

template <class T>
const Matrix<T>& GcnConv<T>::backward(Context& c, const Matrix<T>& dy) {
  const GraphBatch& graph = *c.graph;
  add_column_sums(c, dy, bias_.gradient);
  dh_.resize(dy.rows(), dy.columns());
  c.threads.for_ranges(dy.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      auto dh = dh_.row(n);
      dh = dy.row(n) * scale_[n];
      for (const auto r : graph.receivers_of(n)) dh += dy.row(r) * scale_[r];
      dh *= scale_[n];
    }
  });
  return linear_.backward(c, dh_);
}

template <class T>
void GcnConv<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  f(prefix + "bias", bias_);
  linear_.visit(prefix + "lin.", f);
}

template class GcnConv<float>;
template class GcnConv<double>;

}  // namespace perfc
