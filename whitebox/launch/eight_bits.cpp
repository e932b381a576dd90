#include "whitebox/launch/eight_bits.h"

#include <algorithm>

#include "ir/quantised_marks.h"

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

/// What a file's quantisation leaves in 8 bits. `whole`: the runtime has kernels for all that it marks.
void follow_marks(const Graph& g, bool whole, const std::vector<bool>& weight, EightBits& out) {
  const std::vector<std::uint32_t> uses = g.use_counts();
  std::vector<bool> passed_on(g.size(), true);  // only what is in its kernel reads it, and writes 8 bits
  for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) continue;
    const bool data = n.attrs.has(kDataBits), second = n.attrs.has(kWeightBits);
    out.product[id] = data && second && (whole || is_weighted_product(g, n, weight));
    const bool of_weights = second && weight[n.operands[1].node] && def(n.op).category == Category::MatMul;
    if (out.product[id] || (of_weights && !data))
      out.second[id] = static_cast<std::uint8_t>(n.attrs.int_or(kWeightBits, 8));
    const bool pointwise = def(n.op).category == Category::Elementwise || def(n.op).category == Category::Activation;
    out.value[id] = whole && (n.attrs.has(kResultBits) || (out.product[id] && uses[id] == 1 && passed_on[id]) ||
                              (pointwise && uses[id] == 1 && passed_on[id]));
    for (const ValueId v : n.operands)
      if (v) passed_on[v.node] = passed_on[v.node] && pointwise && out.value[id];
  }
  for (const ValueId v : g.results()) out.value[v.node] = false;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Call && !n.operands.empty() && n.operands[0] && def(n.op).category == Category::Shape)
      out.value[id] = out.value[n.operands[0].node] && is_float(n.results[0].type.dtype());
  }
}

/// What `--dtype int8` and `fp8` compute in 8 bits.
void quantise_all(const Graph& g, bool whole, const std::vector<bool>& weight, EightBits& out) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    out.product[id] = is_weighted_product(g, n, weight) || (whole && is_weighted_convolution(g, n, weight));
    out.value[id] =
        whole && n.kind == NodeKind::Call && (out.product[id] || (hands_on(n) && reads_eight(g, n, weight, out.value)));
    if (out.product[id]) out.second[id] = 8;
  }
}

/// Constants that are stored as narrow as all that read them.
void find_weights(const Graph& g, const std::vector<bool>& weight, EightBits& out) {
  std::vector<bool> read_otherwise(g.size());
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (out.second[id] && weight[n.operands[1].node]) out.weight[constant_of(g, n.operands[1])] = out.second[id];
    if (weight[id]) continue;  // a transpose of weights reads for those behind it
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (v && weight[v.node] && !(out.second[id] && i == 1)) read_otherwise[constant_of(g, v)] = true;
    }
  }
  for (NodeId id = 0; id < g.size(); ++id)
    if (read_otherwise[id]) out.weight[id] = 0;
}

bool is_marked(const Node& n) { return n.attrs.has(kDataBits) || n.attrs.has(kWeightBits) || n.attrs.has(kResultBits); }

}  // namespace

EightBits eight_bits(const Graph& g, const ExecConfig& config) {
  EightBits out{std::vector<bool>(g.size()), std::vector<std::uint8_t>(g.size()), std::vector<std::uint8_t>(g.size()),
                std::vector<bool>(g.size())};
  const bool whole = def(config.runtime).keeps_eight_bits;
  if (quantises_layers(config.precision)) {
    const std::vector<bool> weight = g.weight_only();
    quantise_all(g, whole, weight, out);
    find_weights(g, weight, out);
  } else if (std::ranges::any_of(g.nodes(), is_marked)) {
    const std::vector<bool> weight = g.weight_only();
    follow_marks(g, whole, weight, out);
    find_weights(g, weight, out);
  }
  return out;
}

}  // namespace perfc
