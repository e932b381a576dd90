#include "whitebox/launch/attention_parts.h"

#include <algorithm>

#include "ir/eager_marks.h"
#include "whitebox/launch/geometry.h"

namespace perfc {
namespace {

bool is_causal(const Node& n) { return n.attrs.int_or("is_causal", 0) != 0; }

}  // namespace

AttentionParts::Parts AttentionParts::parts_of(NodeId id, const WrittenOutAttention& a) const {
  const Node& n = of_.node(id);
  Parts p{.id = id,
          .node = n,
          .of = a,
          .whole = maker_.of(id, op_cost(of_.g, id)),
          .half = of_.widths.is_half(id) && !a.reference};
  p.width = p.half ? 2.0 : std::min(4.0, bits(n.results[0].type.dtype()) / 8.0);
  for (const std::size_t i : {kQ, kK, kV}) p.elements[i] = of_.elements(n.operands[i]);
  p.written = of_.elements({id, 0});
  const Type& values = of_.g.type(n.operands[kV]);
  const double keys = static_cast<double>(values.shape()[values.rank() - 2].value());
  const double head = a.scores > 0 ? a.qk_macs / a.scores : 0, value = a.scores > 0 ? a.av_macs / a.scores : 0;
  const double queries = p.whole.extents.m, products = p.whole.extents.products;
  p.scores = {.m = keys > 0 ? a.scores / keys : 0, .n = keys, .k = 1};
  p.qk = {.m = queries, .n = keys, .k = head, .products = products};
  p.av = {.m = queries, .n = value, .k = keys, .products = products};
  p.dense[kQ] = products * queries * head;
  p.dense[kK] = products * keys * head;
  p.dense[kV] = products * keys * value;
  return p;
}

Kernel AttentionParts::kernel_of(const Parts& p, const Part& part) const {
  Kernel k = p.whole;
  k.kind = uses_matrix_unit(part.what) ? KernelKind::Matmul : KernelKind::Vector;
  k.ops = {part.what};
  k.half = p.half;
  k.limits.slowdown = k.limits.tile_share = 1;
  k.extents = part.extents;
  k.work = part.work;
  k.traffic.bytes = k.traffic.handed_bytes = part.bytes;
  k.attention = {};
  return k;
}

void AttentionParts::launch(const Parts& p, HostCall call, Kernel k) {
  out_.count_call(call);
  out_.add(p.id, std::move(k));
}

void AttentionParts::product_with_keys(const Parts& p) {
  const double moved = (p.dense[kQ] + p.dense[kK] + p.of.scores) * p.width;
  add(p, {op("nn.batch_matmul"), p.qk, {.macs = p.of.qk_macs}, moved});
}

void AttentionParts::product_with_values(const Parts& p) {
  const double moved = (p.of.scores + p.dense[kV] + p.written) * p.width;
  add(p, {op("nn.batch_matmul"), p.av, {.macs = p.of.av_macs}, moved});
}

void AttentionParts::on_operand(const Parts& p, OpId what, std::size_t i, double bytes_per_element) {
  const double all = p.elements[i];
  const Extents extents = elementwise_extents(of_.g.type(p.node.operands[i]), all);
  add(p, {what, extents, {.flops = all}, all * bytes_per_element});
}

void AttentionParts::on_scores(const Parts& p, OpId what, double flops_per_score, double bytes) {
  add(p, {what, p.scores, {.flops = flops_per_score * p.of.scores}, bytes});
}

Kernel AttentionParts::dense_copy(const Parts& p, std::size_t i, double read_width) const {
  const Extents extents = elementwise_extents(of_.g.type(p.node.operands[i]), p.dense[i]);
  const double moved = p.elements[i] * read_width + p.dense[i] * p.width;
  return kernel_of(p, {op("copy"), extents, {.flops = p.dense[i]}, moved});
}

bool AttentionParts::copies_operand(ValueId v) const {
  return of_.layout.strided[v.node] && batched_product_copies(of_.g.type(v));
}

void AttentionParts::prepare_reference(const Parts& p, bool casts) {
  for (const std::size_t i : {kQ, kK, kV}) {
    if (casts) on_operand(p, op("cast"), i, 2 + p.width);
  }
  on_operand(p, op("multiply"), kQ, 2 * p.width);  // √scale on queries and keys, which lie as they did
  if (is_causal(p.node)) make_causal_mask(p);
  if (p.of.repeats_heads) {
    repeat_heads(p);
    return;
  }
  on_operand(p, op("multiply"), kK, 2 * p.width);
  for (const std::size_t i : {kQ, kK}) copy_for_reference(p, i);
}

/// Tensor.repeat_interleave, before keys are scaled.
void AttentionParts::repeat_heads(const Parts& p) {
  for (const std::size_t i : {kK, kV}) launch(p, HostCall::Inner, dense_copy(p, i, p.width));
  const Extents keys = elementwise_extents(of_.g.type(p.node.operands[kK]), p.dense[kK]);
  add(p, {op("multiply"), keys, {.flops = p.dense[kK]}, 2 * p.dense[kK] * p.width});
  copy_for_reference(p, kQ);
}

void AttentionParts::make_causal_mask(const Parts& p) {
  const Extents mask{.m = p.qk.m, .n = p.qk.n, .k = 1}, number{.m = 1, .n = 1, .k = 1};
  const double pairs = p.qk.m * p.qk.n;
  add(p, {op("full"), mask, {}, pairs});
  add(p, {op("trilu"), mask, {.flops = pairs}, 2 * pairs});
  for (int i = 0; i < 2; ++i) add(p, {op("full"), number, {}, p.width});
  add(p, {op("where"), mask, {.flops = pairs}, pairs * (1 + p.width)});
}

void AttentionParts::copy_for_reference(const Parts& p, std::size_t i) {
  if (!is_stack_of_matrices(of_.g, p.node.operands[i], p.node.results[0].type, of_.layout))
    launch(p, HostCall::Inner, dense_copy(p, i, p.width));
}

void AttentionParts::prepare(const Parts& p) {
  if (p.node.attrs.has("scale") && !p.of.scales_scores) on_operand(p, op("multiply"), kQ, 2 * p.width);
  for (const std::size_t i : {kQ, kK, kV}) {
    // Part of the product's call: MIGProfiler's BERTs take as long at batch 1, where nothing is copied.
    if (copies_operand(p.node.operands[i])) out_.add(p.id, dense_copy(p, i, p.width));
  }
}

void AttentionParts::softmax(const Parts& p) {
  const bool widened = of_.config.precision == Precision::Amp && !p.of.reference;
  const double scores = p.of.scores, width = p.width, softmax_width = widened ? 4.0 : width;
  on_scores(p, op("nn.softmax"), 5, scores * (width + softmax_width));
  if (p.of.reference) {  // _safe_softmax: rows that are −∞ throughout become 0
    on_scores(p, op("equal"), 1, scores * (width + 1));
    on_scores(p, op("max"), 1, scores);
    on_scores(p, op("where"), 1, 2 * scores * width);
  }
  if (widened) on_scores(p, op("cast"), 1, scores * (softmax_width + width));
}

void AttentionParts::cast_result(const Parts& p) {
  const Extents extents = elementwise_extents(p.node.results[0].type, p.written);
  add(p, {op("cast"), extents, {.flops = p.written}, p.written * (p.width + 2)});
}

void AttentionParts::eager(NodeId id, const WrittenOutAttention& a) {
  const Parts p = parts_of(id, a);
  const bool casts = a.reference && of_.widths.is_half(id);
  const double pass = 2 * a.scores * p.width;
  if (a.reference) {
    prepare_reference(p, casts);
  } else {
    prepare(p);
  }
  product_with_keys(p);
  if (a.scales_scores) on_scores(p, op("multiply"), 1, pass);
  if (p.node.attrs.has(kOnCopy)) on_scores(p, op("copy"), 1, pass);
  if (is_masked_attention(p.node)) on_scores(p, op("add"), 1, pass + of_.widths.bytes_of(p.node.operands[kMask]));
  if (a.reference && is_causal(p.node)) on_scores(p, op("add"), 1, pass + p.qk.m * p.qk.n * p.width);
  softmax(p);
  // It gives the scores, too, in the operands' type (aten/src/ATen/native/transformers/attention.cpp,
  // _scaled_dot_product_attention_math).
  if (casts) on_scores(p, op("cast"), 1, a.scores * (p.width + 2));
  if (a.reference && !a.repeats_heads) copy_for_reference(p, kV);
  product_with_values(p);
  if (casts) cast_result(p);
}

void AttentionParts::session(NodeId id, const WrittenOutAttention& a) {
  const Parts p = parts_of(id, a);
  product_with_keys(p);
  if (is_masked_attention(p.node))
    on_scores(p, op("add"), 1, 2 * a.scores * p.width + of_.widths.bytes_of(p.node.operands[kMask]));
  on_scores(p, op("nn.softmax"), 5, 2 * a.scores * p.width);
  product_with_values(p);
}

AttentionParts::Parts AttentionParts::parts_of(NodeId id, const AttentionSpan& s, const WrittenOutAttention& a) const {
  Parts p{.id = id,
          .node = of_.node(id),
          .of = a,
          .whole = maker_.of(id, op_cost(of_.g, id)),
          .half = of_.widths.is_half(id)};
  p.width = p.half ? 2.0 : std::min(4.0, bits(p.node.results[0].type.dtype()) / 8.0);
  const double stacks = s.batch * s.heads;
  p.dense[kQ] = stacks * s.queries * s.channels;
  p.dense[kK] = p.dense[kV] = stacks * s.keys * s.channels;
  p.written = of_.elements({id, 0});
  p.scores = {.m = stacks * s.queries, .n = s.keys, .k = 1};
  p.qk = {.m = s.queries, .n = s.keys, .k = s.channels, .products = stacks};
  p.av = {.m = s.queries, .n = s.channels, .k = s.keys, .products = stacks};
  return p;
}

void AttentionParts::project(const Parts& p) {
  const Type& weights = of_.g.type(p.node.operands[1]);
  const double columns = static_cast<double>(weights.shape()[1].value()),
               k = of_.elements(p.node.operands[1]) / columns;
  const double rows = of_.elements(p.node.operands[0]) / k, written = rows * columns;
  const double moved = (rows * k + k * columns + written) * p.width;
  add(p, {op("nn.dense"), {.m = rows, .n = columns, .k = k}, {.macs = rows * columns * k}, moved});
  add(p, {op("nn.bias_add"), {.m = rows, .n = columns, .k = 1}, {.flops = written}, 2 * written * p.width});
}

bool AttentionParts::by_operator(NodeId id) {
  const Node& n = of_.node(id);
  const bool projects = def(n.op).session.projects;
  const auto padding = static_cast<std::size_t>(def(n.op).session.padding);
  if (!projects && padding == 0) return false;
  const AttentionSpan span = attention_span(of_.g, id);
  if (span.batch <= 0) return false;
  const double scores = span.batch * span.heads * span.queries * span.keys;
  const WrittenOutAttention a{.scores = scores, .qk_macs = scores * span.channels, .av_macs = scores * span.channels};
  const Parts p = parts_of(id, span, a);
  if (projects) project(p);
  const bool hides =
      padding > 0 && n.operands.size() > padding && n.operands[padding] && of_.g.type(n.operands[padding]).rank() > 1;
  if (hides) {
    product_with_keys(p);
    on_scores(p, op("nn.softmax"), 6, 2 * scores * p.width + of_.widths.bytes_of(n.operands[padding]));
    product_with_values(p);
    launch(p, HostCall::Kernel,
           kernel_of(
               p, {op("transpose"), elementwise_extents(n.results[0].type, p.written), {}, 2 * p.written * p.width}));
    return true;
  }
  if (!projects) return false;
  Kernel fused = p.whole;
  fused.work = {.macs = a.qk_macs + a.av_macs, .flops = 7 * scores};
  fused.extents = p.qk;
  fused.traffic.bytes = fused.traffic.handed_bytes = (p.dense[kQ] + p.dense[kK] + p.dense[kV] + p.written) * p.width;
  launch(p, HostCall::Kernel, std::move(fused));
  return true;
}

void AttentionParts::compiled(NodeId id, const WrittenOutAttention& a) {
  const Parts p = parts_of(id, a);
  for (const std::size_t i : {kQ, kK, kV}) {
    const ValueId v = p.node.operands[i];
    if (a.reference || copies_operand(v))
      launch(p, HostCall::Inner, dense_copy(p, i, of_.widths.read_width(v, p.node)));
  }
  product_with_keys(p);
  const bool masked = is_masked_attention(p.node);
  const double mask = masked ? of_.widths.bytes_of(p.node.operands[kMask]) : 0;
  Kernel between = kernel_of(p, {op("nn.softmax"), p.scores, {.flops = 6 * a.scores}, 2 * a.scores * p.width + mask});
  between.ops.push_back(op("multiply"));
  if (masked) between.ops.push_back(op("add"));
  launch(p, HostCall::Kernel, std::move(between));
  product_with_values(p);
}

}  // namespace perfc
