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
bool wants_full(const Node& n) {
  const Category c = def(n.op).category;
  return c == Category::Softmax || c == Category::Loss || n.is(op("nn.layer_norm")) || n.is(op("nn.group_norm")) ||
         n.is(op("nn.rms_norm")) || n.is(op("exp")) || n.is(op("log")) || n.is(op("power")) || n.is(op("reciprocal")) ||
         n.is(op("sum_axes")) || n.is(op("cumsum")) || n.is(op("prod")) || n.is(op("nn.l2_normalize"));
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

bool only_splits(const Graph& g, const Node& n) {
  const Type &from = g.type(n.operands[0]), &to = n.results[0].type;
  if (!n.is(op("reshape")) || !from.is_static() || !to.is_static() || from.elements() == 0) return false;
  std::size_t next = 0;
  for (const Dim& d : from.shape()) {
    std::int64_t product = 1;
    while (product < d.value() && next < to.rank()) product *= to.shape()[next++].value();
    if (product != d.value()) return false;
  }
  return true;
}

bool batched_product_copies(const Type& t) {
  if (!t.is_static() || t.rank() < 4) return false;
  const auto several = [](const Dim& d) { return d.value() > 1; };
  return std::count_if(t.shape().begin(), t.shape().end() - 2, several) > 1;
}

std::vector<bool> channels_last(const Graph& g, const ExecConfig& config) {
  // Compilers lay convolutions out channels-last themselves.
  const bool asked = config.layout == Layout::Nhwc || config.mode == ExecMode::Compiled;
  std::vector<bool> last(g.size(), false);
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Var) last[id] = asked;
    if (n.kind != NodeKind::Call) continue;
    // Elementwise results lie as their first operand does (TensorIterator).
    const auto data = std::ranges::find_if(n.operands, [&](ValueId v) { return v && g.node(v).kind != NodeKind::Constant; });
    const bool data_last = data != n.operands.end() && last[data->node];
    const Category c = def(n.op).category;
    if (c == Category::Convolution) {
      last[id] = asked || data_last;
    } else if (n.is(op("transpose"))) {
      const auto axes = n.attrs.ints_or_empty("perm");
      const bool to_last = axes == std::vector<std::int64_t>{0, 3, 1, 2};
      last[id] = to_last && !data_last;
    } else if (n.is(op("reshape"))) {
      // (batch, tokens, channels), transposed and split into a plane.
      const Node& tokens = g.node(n.operands[0]);
      last[id] = tokens.is(op("transpose")) && tokens.attrs.ints_or_empty("perm") == std::vector<std::int64_t>{0, 2, 1} &&
                 n.results[0].type.ranked() && n.results[0].type.rank() == 4 && only_splits(g, n);
    } else {
      const bool follows = c == Category::Elementwise || c == Category::Activation || c == Category::Pooling || c == Category::Resize ||
                           c == Category::Reduction || n.is(op("nn.batch_norm")) || n.is(op("nn.bias_add")) || n.is(op("concatenate")) || n.is(op("copy")) ||
                           n.is(op("cast")) || n.is(op("nn.dropout")) || n.is(op("nn.pad"));
      last[id] = follows && data_last;
    }
  }
  return last;
}

bool writes_in_place(const Node& n) {
  const Category c = def(n.op).category;
  return (c == Category::Activation || c == Category::Elementwise) && n.name.ends_with('_') && n.operands.size() >= 1;
}

double depthwise_limit(double window, bool channels_last) {
  constexpr double kOwnKernel = 0.05, kFallback = 0.011;
  constexpr double kOwnKernelFrom = 5 * 5, kFallbackFrom = 7 * 7;
  if (channels_last) return window > kFallbackFrom ? kFallback : 0;
  return window > kOwnKernelFrom ? kOwnKernel : 0;
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
