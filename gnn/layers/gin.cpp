#include "gnn/layers/gin.h"

namespace perfc {

template <class T>
GinConv<T>::GinConv(std::size_t in, std::size_t out, double epsilon)
    : self_(static_cast<T>(1 + epsilon)), first_(in, out), second_(out, out) {}

template <class T>
const Matrix<T>& GinConv<T>::forward(Context& c, const Matrix<T>& x) {
  const GraphBatch& graph = *c.graph;
  z_.resize(x.rows(), x.columns());
  c.threads.for_ranges(x.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      auto z = z_.row(n);
      z = x.row(n) * self_;
      for (const auto s : graph.senders_of(n)) z += x.row(s);
    }
  });
  return second_.forward(c, relu_.forward(c, first_.forward(c, z_)));
}

template <class T>
const Matrix<T>& GinConv<T>::backward(Context& c, const Matrix<T>& dy) {
  const GraphBatch& graph = *c.graph;
  const Matrix<T>& dz = first_.backward(c, relu_.backward(c, second_.backward(c, dy)));
  dx_.resize(dz.rows(), dz.columns());
  c.threads.for_ranges(dz.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      auto dx = dx_.row(n);
      dx = dz.row(n) * self_;
      for (const auto r : graph.receivers_of(n)) dx += dz.row(r);
    }
  });
  return dx_;
}

template <class T>
void GinConv<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  first_.visit(prefix + "nn.lins.0.", f);
  second_.visit(prefix + "nn.lins.1.", f);
}

template class GinConv<float>;
template class GinConv<double>;

}  // namespace perfc
