#include "whitebox/memory/autograd.h"

#include <algorithm>

#include "whitebox/constants/memory.h"
#include "whitebox/constants/units.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

/// Rows that a norm over the last axis computes statistics of.
double rows_of(const Type& t) {
  const bool has_rows = t.is_static() && t.rank() > 0 && t.shape().back().value() > 0;
  return has_rows ? elements(t) / static_cast<double>(t.shape().back().value()) : 0;
}

Kept kept(const Graph& g, NodeId id, const std::vector<bool>& needs, double float_width) {
  constexpr std::uint64_t kFirst = 1, kSecond = 2, kAll = ~std::uint64_t{0};
  const Node& n = g.node(id);
  if (n.kind != NodeKind::Call || !needs[id]) return {};
  const auto needed = [&](std::size_t i) {
    return i < n.operands.size() && n.operands[i] && needs[n.operands[i].node];
  };
  const double written = n.results.empty() ? 0 : elements(n.results[0].type);
  switch (def(n.op).runs.keeps) {
    case Keeps::Unset:
    case Keeps::Nothing:
      return {};
    case Keeps::Result:
      return {.result = true};
    case Keeps::First:
      return {.operands = kFirst};
    case Keeps::All:
      return {.operands = kAll};
    case Keeps::Factors:
      return {.operands = (needed(1) ? kFirst : 0) | (needed(0) ? kSecond : 0)};
    case Keeps::Divisor:
      return {.operands = needed(1) ? kFirst | kSecond : kSecond};
    case Keeps::FirstAndRows:
      return {.operands = kFirst, .extra_bytes = constants::kStatisticsBytes * rows_of(g.type(n.operands[0]))};
    case Keeps::FirstAndResult:
      return {.operands = kFirst, .result = true};
    case Keeps::FirstAndPositions:
      return {.operands = kFirst, .extra_bytes = unasked_bytes(n)};
    case Keeps::Positions:
      return {.extra_bytes = constants::kIndexBytes * written};
    case Keeps::Indices:
      return {.operands = kAll & ~kFirst};
    case Keeps::Mask:
      return {.extra_bytes = unasked_bytes(n)};
    case Keeps::Gates:  // cuDNN's reserve space: the gates and the state of every step
      return {.operands = kFirst, .result = true, .extra_bytes = def(n.op).saved_states * written * float_width};
    case Keeps::Attention: {
      const auto written_out = written_out_attention(g, id, {.half = float_width == 2});
      const double scores = written_out ? written_out->scores * float_width : 0;
      return {.operands = kAll, .result = !written_out, .extra_bytes = scores};
    }
  }
  return {};
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
      for (std::size_t i = kRunningMean; n.is(op("nn.batch_norm")) && i < n.operands.size(); ++i)
        out[n.operands[i].node] = false;
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
  switch (def(n.op).gradient) {
    case Gradient::Same:
    case Gradient::SameInSum:
      return g.type(n.operands[operand]) == n.results[0].type;
    case Gradient::SameOfFirst:
    case Gradient::View:
      return operand == 0;
    case Gradient::Computed:
    case Gradient::PerOperand:
      return operand == 0 && is_view(n);
  }
  return false;
}

OptimizerMemory optimizer_memory(Optimizer o) {
  switch (o) {
    case Optimizer::Sgd:
      return {};
    case Optimizer::Momentum:
      return {.states = 1};
    case Optimizer::Adam:
      return {.states = 2};
  }
  return {};
}

}  // namespace perfc
