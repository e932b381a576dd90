#include "gnn/layers/gat.h"

#include <cassert>
#include <cmath>

namespace perfc {

namespace {

constexpr double kSlope = 0.2;

template <class T>
T leaky(T v) {
  return v > 0 ? v : static_cast<T>(kSlope) * v;
}
template <class T>
T leaky_slope(T v) {
  return v > 0 ? T(1) : static_cast<T>(kSlope);
}

/// One head's columns of a row.
template <class M>
auto part(M& m, std::size_t row, std::size_t head, std::size_t width) {
  return m.row(row).segment(static_cast<Eigen::Index>(head * width), static_cast<Eigen::Index>(width));
}

}  // namespace

template <class T>
GatConv<T>::GatConv(std::size_t in, std::size_t out, std::size_t heads)
    : heads_(heads), width_(out / heads), linear_(in, out, Bias::No) {
  assert(out % heads == 0);
  linear_.weight.initial = Initial::glorot(in, out);
  att_src_.shape(heads, width_, Initial::glorot(heads, width_));
  att_dst_.shape(heads, width_, Initial::glorot(heads, width_));
  bias_.shape(out, Initial::constant(0));
}

template <class T>
const Matrix<T>& GatConv<T>::forward(Context& c, const Matrix<T>& x) {
  const GraphBatch& graph = *c.graph;
  const Matrix<T>& h = linear_.forward(c, x);
  h_ = &h;
  source_.resize(h.rows(), heads_);
  target_.resize(h.rows(), heads_);
  edge_attention_.resize(graph.edges(), heads_);
  self_attention_.resize(h.rows(), heads_);
  y_.resize(h.rows(), h.columns());
  c.threads.for_ranges(h.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      for (std::size_t k = 0; k < heads_; ++k) {
        source_(n, k) = (part(h, n, k, width_) * att_src_.value.row(k)).sum();
        target_(n, k) = (part(h, n, k, width_) * att_dst_.value.row(k)).sum();
      }
    }
  });
  c.threads.for_ranges(h.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) attend(graph, n);
  });
  return y_;
}

template <class T>
void GatConv<T>::attend(const GraphBatch& graph, std::size_t n) {
  for (std::size_t k = 0; k < heads_; ++k) {
    T& self = self_attention_(n, k);
    self = leaky(source_(n, k) + target_(n, k));
    T highest = self;
    for (std::size_t e = graph.in(n); e < graph.in(n + 1); ++e) {
      edge_attention_(e, k) = leaky(source_(graph.senders()[e], k) + target_(n, k));
      highest = std::max(highest, edge_attention_(e, k));
    }
    T sum = self = std::exp(self - highest);
    for (std::size_t e = graph.in(n); e < graph.in(n + 1); ++e) {
      sum += edge_attention_(e, k) = std::exp(edge_attention_(e, k) - highest);
    }
    self /= sum;
    auto y = part(y_, n, k, width_);
    y = part(*h_, n, k, width_) * self + part(bias_.value, 0, k, width_);
    for (std::size_t e = graph.in(n); e < graph.in(n + 1); ++e) {
      edge_attention_(e, k) /= sum;
      y += part(*h_, graph.senders()[e], k, width_) * edge_attention_(e, k);
    }
  }
}

template <class T>
const Matrix<T>& GatConv<T>::backward(Context& c, const Matrix<T>& dy) {
  const GraphBatch& graph = *c.graph;
  const Matrix<T>& h = *h_;
  add_column_sums(c, dy, bias_.gradient);
  edge_gradient_.resize(graph.edges(), heads_);
  self_gradient_.resize(dy.rows(), heads_);
  source_gradient_.resize(dy.rows(), heads_);
  target_gradient_.resize(dy.rows(), heads_);
  dh_.resize(dy.rows(), dy.columns());
  c.threads.for_ranges(dy.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) attention_gradients(graph, n, dy);
  });
  c.threads.for_ranges(dy.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) node_gradient(graph, n, dy);
  });
  for (std::size_t n = 0; n < dy.rows(); ++n) {
    for (std::size_t k = 0; k < heads_; ++k) {
      att_src_.gradient.row(k) += part(h, n, k, width_) * source_gradient_(n, k);
      att_dst_.gradient.row(k) += part(h, n, k, width_) * target_gradient_(n, k);
    }
  }
  return linear_.backward(c, dh_);
}

/// By the scores that end in a node: through the softmax, then the leaky ReLU.
template <class T>
void GatConv<T>::attention_gradients(const GraphBatch& graph, std::size_t n, const Matrix<T>& dy) {
  for (std::size_t k = 0; k < heads_; ++k) {
    const auto upstream = part(dy, n, k, width_);
    const T self = (upstream * part(*h_, n, k, width_)).sum();
    T mean = self_attention_(n, k) * self;
    for (std::size_t e = graph.in(n); e < graph.in(n + 1); ++e) {
      edge_gradient_(e, k) = (upstream * part(*h_, graph.senders()[e], k, width_)).sum();
      mean += edge_attention_(e, k) * edge_gradient_(e, k);
    }
    self_gradient_(n, k) = self_attention_(n, k) * (self - mean) * leaky_slope(source_(n, k) + target_(n, k));
    T sum = self_gradient_(n, k);
    for (std::size_t e = graph.in(n); e < graph.in(n + 1); ++e) {
      const T score = source_(graph.senders()[e], k) + target_(n, k);
      sum += edge_gradient_(e, k) = edge_attention_(e, k) * (edge_gradient_(e, k) - mean) * leaky_slope(score);
    }
    target_gradient_(n, k) = sum;
  }
}

/// By a node's h: as a sender, as its own neighbour, and through both scores.
template <class T>
void GatConv<T>::node_gradient(const GraphBatch& graph, std::size_t n, const Matrix<T>& dy) {
  for (std::size_t k = 0; k < heads_; ++k) {
    auto dh = part(dh_, n, k, width_);
    dh = part(dy, n, k, width_) * self_attention_(n, k);
    T sum = self_gradient_(n, k);
    for (std::size_t p = graph.out(n); p < graph.out(n + 1); ++p) {
      const std::size_t e = graph.out_edges()[p];
      dh += part(dy, graph.receivers()[p], k, width_) * edge_attention_(e, k);
      sum += edge_gradient_(e, k);
    }
    source_gradient_(n, k) = sum;
    dh += att_src_.value.row(k) * sum + att_dst_.value.row(k) * target_gradient_(n, k);
  }
}

template <class T>
void GatConv<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  f(prefix + "att_src", att_src_);
  f(prefix + "att_dst", att_dst_);
  f(prefix + "bias", bias_);
  linear_.visit(prefix + "lin.", f);
}

template class GatConv<float>;
template class GatConv<double>;

}  // namespace perfc
