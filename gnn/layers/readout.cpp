#include "gnn/layers/readout.h"

#include <cassert>
#include <utility>

namespace perfc {

template <class T>
const Matrix<T>& Readout<T>::forward(Context& c, const Matrix<T>& x) {
  const GraphBatch& graph = *c.graph;
  assert(x.rows() == graph.nodes());
  const std::size_t width = x.columns();
  y_.resize(graph.graphs(), width);
  if (pool_ == Pool::Max) winner_.resize(graph.graphs() * width);
  c.threads.for_ranges(graph.graphs(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const std::size_t first = graph.first(g), last = graph.first(g + 1);
      auto y = y_.row(g);
      y.setZero();
      if (first == last) continue;
      if (pool_ == Pool::Max) {
        y = x.row(first);
        std::uint32_t* winner = winner_.data() + g * width;
        std::fill(winner, winner + width, static_cast<std::uint32_t>(first));
        for (std::size_t n = first + 1; n < last; ++n) {
          for (std::size_t i = 0; i < width; ++i) {
            if (x(n, i) > y_(g, i)) {
              y_(g, i) = x(n, i);
              winner[i] = static_cast<std::uint32_t>(n);
            }
          }
        }
        continue;
      }
      for (std::size_t n = first; n < last; ++n) y += x.row(n);
      if (pool_ == Pool::Mean) y *= T(1) / static_cast<T>(last - first);
    }
  });
  return y_;
}

template <class T>
const Matrix<T>& Readout<T>::backward(Context& c, const Matrix<T>& dy) {
  const GraphBatch& graph = *c.graph;
  const std::size_t width = dy.columns();
  dx_.resize(graph.nodes(), width);
  c.threads.for_ranges(graph.graphs(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const std::size_t first = graph.first(g), last = graph.first(g + 1);
      const T share = pool_ == Pool::Mean ? T(1) / static_cast<T>(std::max<std::size_t>(last - first, 1)) : T(1);
      for (std::size_t n = first; n < last; ++n) {
        if (pool_ == Pool::Max) dx_.row(n).setZero();
        else dx_.row(n) = dy.row(g) * share;
      }
      if (pool_ != Pool::Max || first == last) continue;
      for (std::size_t i = 0; i < width; ++i) dx_(winner_[g * width + i], i) = dy(g, i);
    }
  });
  return dx_;
}

template class Readout<float>;
template class Readout<double>;

}  // namespace perfc
