#include "features/framework.h"

namespace perfc {

bool is_view(const Node& n) {
  return def(n.op).category == Category::Shape || n.is(op("copy")) || n.is(op("nn.dropout")) ||
         n.is(op("bitcast")) || def(n.op).category == Category::Sequence;
}

bool uses_matrix_unit(Category c) {
  return c == Category::MatMul || c == Category::Convolution || c == Category::Attention || c == Category::Recurrent;
}
bool wants_full(const Node& n) {
  const Category c = def(n.op).category;
  return c == Category::Softmax || c == Category::Loss || n.is(op("nn.layer_norm")) || n.is(op("nn.group_norm")) ||
         n.is(op("nn.rms_norm")) || n.is(op("exp")) || n.is(op("log")) || n.is(op("power")) || n.is(op("reciprocal")) ||
         n.is(op("sum_axes")) || n.is(op("cumsum")) || n.is(op("prod")) || n.is(op("nn.l2_normalize"));
}
bool widens_itself(const Node& n) {
  return def(n.op).category == Category::Softmax || n.is(op("sum_axes")) || n.is(op("prod")) || n.is(op("cumsum"));
}
bool is_epilogue(const Graph& g, const Node& n) { return n.is(op("nn.bias_add")) && g.node(n.operands[0]).is(op("nn.dense")); }
bool parameters_follow_data(const Node& n) {
  return n.is(op("nn.bias_add")) || n.is(op("nn.batch_norm")) || n.is(op("nn.instance_norm")) || n.is(op("nn.prelu"));
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
  if (!n.is(op("nn.sdpa")) || n.attrs.int_or("explicit", 0) != 1) return std::nullopt;
  const Type &q = g.type(n.operands[0]), &v = g.type(n.operands[2]), &result = n.results[0].type;
  if (!q.is_static() || !v.is_static() || !result.is_static()) return std::nullopt;
  const auto size = [](const Dim& d) { return static_cast<double>(d.value()); };
  const double head = size(q.shape().back()), value = size(v.shape().back()), keys = size(v.shape()[v.rank() - 2]);
  if (value == 0) return std::nullopt;
  WrittenOutAttention out;
  out.scores = static_cast<double>(*result.elements()) / value * keys;
  out.qk_macs = out.scores * head;
  out.av_macs = out.scores * value;
  return out;
}

}  // namespace perfc
