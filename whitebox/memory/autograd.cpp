#include "whitebox/memory/autograd.h"

#include <algorithm>

#include "whitebox/launch/framework.h"

namespace perfc {
namespace {


/// Activations whose derivative is computed from the result.
bool derives_from_result(const Node& n) {
  return n.is(op("nn.relu")) || n.is(op("sigmoid")) || n.is(op("tanh")) || n.is(op("exp")) || n.is(op("sqrt")) ||
         n.is(op("reciprocal")) || def(n.op).category == Category::Softmax;
}

/// Linear in their operands: the derivative needs no values.
bool keeps_nothing(const Node& n) {
  const Category c = def(n.op).category;
  return is_view(n) || c == Category::DataMovement || c == Category::Resize || n.is(op("add")) || n.is(op("subtract")) ||
         n.is(op("negative")) || n.is(op("sum")) || n.is(op("mean_of")) || n.is(op("cast")) || n.is(op("cast_like")) ||
         n.is(op("nn.bias_add")) || n.is(op("sum_axes")) || n.is(op("mean")) || n.is(op("nn.global_avg_pool")) ||
         n.is(op("cumsum")) || n.is(op("floor")) || n.is(op("ceil")) || n.is(op("round")) || n.is(op("sign"));
}

constexpr double kStatisticsBytes = 8; // mean and 1/deviation, float32

Kept kept_by_category(const Node& n, const Graph& g, double float_width) {
  const Category c = def(n.op).category;
  const double written = n.results.empty() ? 0 : elements(n.results[0].type);
  constexpr std::uint64_t kFirst = 1, kAll = ~std::uint64_t{0};
  switch (c) {
    case Category::Pooling:
      return {.operands = kFirst, .extra_bytes = pooled_index_bytes(n)};
    case Category::Normalization: {
      const Type& t = g.type(n.operands[0]);
      const bool per_row = n.is(op("nn.layer_norm")) || n.is(op("nn.rms_norm"));
      const double rows = per_row && t.is_static() && t.rank() > 0 && t.shape().back().value() > 0
                              ? elements(t) / static_cast<double>(t.shape().back().value()) : 0;
      return {.operands = kFirst, .extra_bytes = kStatisticsBytes * rows};
    }
    case Category::Reduction:
      if (n.is(op("max")) || n.is(op("min")) || n.is(op("argmax")) || n.is(op("argmin")) || n.is(op("topk"))) return {.extra_bytes = kIndexBytes * written};
      return {.operands = kFirst, .result = true};
    case Category::Gather:
    case Category::Scatter: return {.operands = kAll & ~kFirst};  // the indices
    case Category::Recurrent: {
      // cuDNN's reserve space: the gates and the state of every step.
      const double gates = n.is(op("nn.lstm")) ? 5 : n.is(op("nn.gru")) ? 4 : 1;
      return {.operands = kFirst, .result = true, .extra_bytes = gates * written * float_width};
    }
    case Category::Activation: return {.operands = kFirst};
    default: return {.operands = kAll};
  }
}

Kept kept(const Graph& g, NodeId id, const std::vector<bool>& needs, double float_width) {
  const Node& n = g.node(id);
  if (n.kind != NodeKind::Call || !needs[id]) return {};
  if (keeps_nothing(n)) return {};
  if (derives_from_result(n)) return {.result = true};
  const auto needed = [&](std::size_t i) { return i < n.operands.size() && n.operands[i] && needs[n.operands[i].node]; };
  const Category c = def(n.op).category;
  const bool product = n.is(op("multiply")) || c == Category::MatMul || c == Category::Convolution;
  if (product) return {.operands = (needed(1) ? 1u : 0u) | (needed(0) ? 2u : 0u)};
  if (n.is(op("divide"))) return {.operands = needed(1) ? 3u : 2u};
  if (n.is(op("where"))) return {.operands = 1};
  if (n.is(op("power")) || n.is(op("clip"))) return {.operands = 1};
  if (c == Category::Attention) {
    const auto written_out = written_out_attention(g, id);
    const double scores = written_out ? written_out->scores * float_width : 0;
    return {.operands = ~std::uint64_t{0}, .result = !written_out, .extra_bytes = scores};
  }
  return kept_by_category(n, g, float_width);
}

}  // namespace

std::vector<bool> needs_gradient(const Graph& g) {
  std::vector<bool> out(g.size(), false);
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.results.empty() || !n.results[0].type.is_tensor() || !is_float(n.results[0].type.dtype())) continue;
    if (n.kind == NodeKind::Constant) {
      out[id] = n.results[0].type.ranked() && n.results[0].type.rank() > 0;
    } else if (n.kind == NodeKind::Call) {
      constexpr std::size_t kRunningMean = 3;  // of a batch-norm: it and what follows are buffers
      for (std::size_t i = kRunningMean; n.is(op("nn.batch_norm")) && i < n.operands.size(); ++i) out[n.operands[i].node] = false;
      out[id] = std::ranges::any_of(n.operands, [&](ValueId v) { return v && out[v.node]; });
    }
  }
  return out;
}

Kept kept_for_backward(const Graph& g, NodeId id, const std::vector<bool>& needs, double float_width) {
  Kept out = kept(g, id, needs, float_width);
  // An in-place call overwrites what its derivative needs: autograd keeps a copy of it.
  if ((out.operands & 1) && writes_in_place(g.node(id))) {
    out.operands &= ~std::uint64_t{1};
    out.extra_bytes += elements(g.node(id).results[0].type) * float_width;
  }
  for (const std::size_t i : {0U, 1U}) {
    const double copied = (out.operands >> i & 1) ? broadcast_copy(g, g.node(id), i) : 0;
    if (copied == 0) continue;
    out.operands &= ~(std::uint64_t{1} << i);
    out.extra_bytes += copied * float_width;
  }
  return out;
}

bool passes_gradient(const Graph& g, NodeId id, std::size_t operand) {
  const Node& n = g.node(id);
  if (n.is(op("add")) || n.is(op("sum"))) return g.type(n.operands[operand]) == n.results[0].type;
  if (n.is(op("subtract")) || n.is(op("nn.bias_add"))) return operand == 0;
  return operand == 0 && (is_view(n) || n.is(op("transpose")));
}

OptimizerMemory optimizer_memory(Optimizer o) {
  switch (o) {
    case Optimizer::Sgd: return {};
    case Optimizer::Momentum: return {.states = 1};
    case Optimizer::Adam: return {.states = 2};
  }
  return {};
}

}  // namespace perfc
