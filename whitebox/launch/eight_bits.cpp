#include "whitebox/launch/eight_bits.h"

namespace perfc {
namespace {

/// Extents that cuBLASLt's 8-bit products take: multiples of 8. [aten/src/ATen/native/cuda/Blas.cpp, _int_mm_out_cuda]
constexpr std::int64_t kEightBitStep = 8;

bool is_weighted_product(const Graph& g, const Node& n, const std::vector<bool>& weight) {
  if (n.kind != NodeKind::Call || def(n.op).category != Category::MatMul || n.operands.size() < 2) return false;
  const ValueId a = n.operands[0], b = n.operands[1];
  if (!a || !b || weight[a.node] || !weight[b.node]) return false;
  const Type &data = g.type(a), &weights = g.type(b);
  return is_float(data.dtype()) && is_float(weights.dtype()) && weights.is_static() && weights.rank() == 2 &&
         weights.shape()[0].value() % kEightBitStep == 0 && weights.shape()[1].value() % kEightBitStep == 0;
}

bool is_weighted_convolution(const Graph& g, const Node& n, const std::vector<bool>& weight) {
  return n.kind == NodeKind::Call && def(n.op).category == Category::Convolution && n.operands.size() > 1 &&
         n.operands[0] && n.operands[1] && weight[n.operands[1].node] && is_float(g.type(n.operands[0]).dtype());
}

/// Whether a call works on 8 bits if its data has them.
bool hands_on(const Node& n) {
  switch (def(n.op).category) {
    case Category::Elementwise:
    case Category::Activation:
    case Category::Pooling:
    case Category::Resize:
    case Category::DataMovement:
    case Category::Shape:
      return true;
    default:
      return false;
  }
}

bool reads_eight(const Graph& g, const Node& n, const std::vector<bool>& weight, const std::vector<bool>& eight) {
  bool any = false;
  for (const ValueId v : n.operands) {
    if (!v || weight[v.node] || !is_float(g.type(v).dtype())) continue;
    if (!eight[v.node]) return false;
    any = true;
  }
  return any;
}

/// The constant that a value of weights alone is made of, through transposes, casts and the like.
NodeId constant_of(const Graph& g, ValueId v) {
  while (g.node(v.node).kind == NodeKind::Call && !g.node(v.node).operands.empty()) v = g.node(v.node).operands[0];
  return v.node;
}

}  // namespace

EightBits eight_bits(const Graph& g, const ExecConfig& config) {
  EightBits out{std::vector<bool>(g.size()), std::vector<bool>(g.size()), std::vector<bool>(g.size())};
  if (config.precision != Precision::Int8) return out;
  const bool whole = def(config.runtime).keeps_eight_bits;
  const std::vector<bool> weight = g.weight_only();
  std::vector<bool> read_otherwise(g.size());
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    out.product[id] = is_weighted_product(g, n, weight) || (whole && is_weighted_convolution(g, n, weight));
    out.value[id] =
        whole && n.kind == NodeKind::Call && (out.product[id] || (hands_on(n) && reads_eight(g, n, weight, out.value)));
    if (out.product[id]) out.weight[constant_of(g, n.operands[1])] = true;
    if (weight[id]) continue;  // a transpose of weights reads for those behind it
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (v && weight[v.node] && !(out.product[id] && i == 1)) read_otherwise[constant_of(g, v)] = true;
    }
  }
  for (NodeId id = 0; id < g.size(); ++id) out.weight[id] = out.weight[id] && !read_otherwise[id];
  return out;
}

}  // namespace perfc
