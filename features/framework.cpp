#include "features/framework.h"

#include <algorithm>

namespace perfc {

bool is_view(const Node& n) {
  return def(n.op).category == Category::Shape || n.is(op("copy")) || n.is(op("nn.dropout")) ||
         n.is(op("bitcast")) || def(n.op).category == Category::Sequence;
}

OpId kernel_op(const Node& n) {
  if (def(n.op).category == Category::Shape) return op("reshape");
  return n.is(op("nn.global_avg_pool")) || n.is(op("nn.adaptive_avg_pool2d")) ? op("mean") : n.op;
}

bool uses_matrix_unit(Category c) {
  return c == Category::MatMul || c == Category::Convolution || c == Category::Attention || c == Category::Recurrent;
}
bool is_float32_norm(const Node& n) { return n.is(op("nn.layer_norm")) || n.is(op("nn.group_norm")) || n.is(op("nn.rms_norm")); }
bool wants_full(const Node& n) {
  const Category c = def(n.op).category;
  return c == Category::Softmax || c == Category::Loss || is_float32_norm(n) || n.is(op("exp")) || n.is(op("log")) ||
         n.is(op("power")) || n.is(op("reciprocal")) || n.is(op("sum_axes")) || n.is(op("cumsum")) || n.is(op("prod")) || n.is(op("nn.l2_normalize"));
}
bool widens_itself(const Node& n) {
  return def(n.op).category == Category::Softmax || n.is(op("sum_axes")) || n.is(op("prod")) || n.is(op("cumsum"));
}
bool is_epilogue(const Graph& g, const Node& n) {
  if (!n.is(op("nn.bias_add"))) return false;
  ValueId x = n.operands[0];
  while (g.node(x).is(op("reshape"))) x = g.node(x).operands[0];  // Keras flattens around its products
  return g.node(x).is(op("nn.dense"));
}
bool parameters_follow_data(const Node& n) {
  return n.is(op("nn.bias_add")) || n.is(op("nn.batch_norm")) || n.is(op("nn.instance_norm")) || n.is(op("nn.prelu")) ||
         n.is(op("image.resize2d"));
}

bool is_reduction(Category c) {
  return c == Category::Normalization || c == Category::Softmax || c == Category::Reduction || c == Category::Pooling;
}

bool fuses(const Node& n) {
  const Category c = def(n.op).category;
  return c == Category::Elementwise || c == Category::Activation || is_reduction(c) || c == Category::DataMovement ||
         c == Category::Gather || c == Category::Resize || c == Category::Quantize || c == Category::Shape;
}

bool is_strided_view(const Graph& g, const Node& n) {
  if (n.is(op("transpose")) || n.is(op("strided_slice")) || n.is(op("split")) || n.is(op("broadcast_to"))) return true;
  return n.is(op("take")) && g.node(n.operands[1]).kind == NodeKind::Constant && g.type(n.operands[1]).elements() == 1;
}

std::optional<WrittenOutAttention> written_out_attention(const Graph& g, NodeId id) {
  const Node& n = g.node(id);
  if (!n.is(op("nn.sdpa"))) return std::nullopt;
  const bool fused = n.attrs.int_or("explicit", 0) != 1;
  const Type &q = g.type(n.operands[0]), &v = g.type(n.operands[2]), &result = n.results[0].type;
  if (!q.is_static() || !v.is_static() || !result.is_static() || v.rank() < 2 || (fused && q.rank() == 4)) return std::nullopt;
  const auto size = [](const Dim& d) { return static_cast<double>(d.value()); };
  const double head = size(q.shape().back()), value = size(v.shape().back()), keys = size(v.shape()[v.rank() - 2]);
  if (value == 0) return std::nullopt;
  WrittenOutAttention out;
  out.scores = static_cast<double>(*result.elements()) / value * keys;
  out.qk_macs = out.scores * head;
  out.av_macs = out.scores * value;
  out.reference = fused;
  out.scales_scores = n.attrs.string_or("scaled", "") == "scores";
  return out;
}

double broadcast_copy(const Graph& g, const Node& n, std::size_t operand) {
  if (!n.is(op("nn.batch_matmul")) || operand > 1 || !n.operands[0] || !n.operands[1]) return 0;
  const Type &own = g.type(n.operands[operand]), &other = g.type(n.operands[1 - operand]), &result = n.results[0].type;
  // With a matrix on either side the other's batch dims fold into its rows.
  if (!own.is_static() || !other.is_static() || !result.is_static() || own.rank() < 3 || other.rank() < 3) return 0;
  const auto size = [](const Dim& d) { return static_cast<double>(d.value()); };
  const std::size_t batch_dims = result.rank() - 2, absent = result.rank() - own.rank();
  bool broadcast = false, kept = false;
  double batch = 1;
  for (std::size_t i = 0; i < batch_dims; ++i) {
    const double wanted = size(result.shape()[i]);
    if (wanted != 1) (i < absent || size(own.shape()[i - absent]) != wanted ? broadcast : kept) = true;
    batch *= wanted;
  }
  return broadcast && kept ? batch * size(own.shape()[own.rank() - 2]) * size(own.shape().back()) : 0;
}

bool writes_in_place(const Node& n) {
  const Category c = def(n.op).category;
  return (c == Category::Activation || c == Category::Elementwise) && n.name.ends_with('_') && n.operands.size() >= 1;
}

bool on_matrix_units(const ConvolutionGroup& c) {
  const double width = std::min(c.inputs, c.outputs);
  return width >= 8 || (c.channels_last && width == 4);
}

bool has_own_kernel(double width) { return width == 4 || width == 8 || width == 16 || width == 32; }

double group_share(const ConvolutionGroup& c) {
  constexpr double kTile = 128, kFirstOffset = 16, kOwnKernels = 32, kGrouped = 0.7;
  const double width = std::min(c.inputs, c.outputs);
  if (!c.channels_last) return std::min(1.0, (width + kFirstOffset) / (kTile + kFirstOffset));
  return has_own_kernel(width) ? width / kOwnKernels : kGrouped * std::min(1.0, width / kTile);
}

double vector_limit(const ConvolutionGroup& c) {
  constexpr double kOwnKernel = 0.05, kFewChannels = 0.07, kFallback = 0.011;
  constexpr double kOwnKernelFrom = 5 * 5, kFallbackFrom = 7 * 7;
  const bool depthwise = c.inputs == 1 && c.outputs == 1;
  if (c.channels_last) return depthwise && c.window <= kFallbackFrom ? 0 : kFallback;
  if (c.inputs > 1) return kFewChannels;
  return c.window > kOwnKernelFrom ? kOwnKernel : 0;
}

double serial_steps(const Graph& g, NodeId id, bool channels_last) {
  const Node& n = g.node(id);
  const std::string_view mode = n.attrs.string_or("mode", "");
  if (channels_last || !n.is(op("image.resize2d")) || (mode != "linear" && mode != "cubic")) return 0;
  const Type& t = n.results[0].type;
  if (!t.is_static() || t.rank() != 4) return 0;
  return static_cast<double>(t.shape()[0].value()) * static_cast<double>(t.shape()[1].value());
}

}  // namespace perfc
