#include <algorithm>

#include "whitebox/launch/kernel_planner.h"

namespace perfc {

KernelPlanner::AttentionParts KernelPlanner::attention_parts(NodeId id, const WrittenOutAttention& a) const {
  using P = AttentionParts;
  const Node& n = g_.node(id);
  P p{.of = a, .whole = work(id), .half = half_[id] && !a.reference};
  p.width = p.half ? 2.0 : std::min(4.0, bits(n.results[0].type.dtype()) / 8.0);
  for (const std::size_t i : {P::kQ, P::kK, P::kV}) p.elements[i] = static_cast<double>(g_.type(n.operands[i]).elements().value_or(0));
  p.written = static_cast<double>(n.results[0].type.elements().value_or(0));
  const Type& values = g_.type(n.operands[P::kV]);
  const double keys = static_cast<double>(values.shape()[values.rank() - 2].value());
  const double head = a.scores > 0 ? a.qk_macs / a.scores : 0, value = a.scores > 0 ? a.av_macs / a.scores : 0;
  const double queries = p.whole.extents.m, products = p.whole.extents.products;
  p.scores = {.m = keys > 0 ? a.scores / keys : 0, .n = keys, .k = 1};
  p.qk = {.m = queries, .n = keys, .k = head, .products = products};
  p.av = {.m = queries, .n = value, .k = keys, .products = products};
  p.dense[P::kQ] = products * queries * head;
  p.dense[P::kK] = products * keys * head;
  p.dense[P::kV] = products * keys * value;
  return p;
}

void KernelPlanner::add_part(NodeId id, const AttentionParts& p, KernelKind kind, std::initializer_list<OpId> ops, const Extents& extents, double macs, double flops, double moved) {
  Kernel k = p.whole;
  k.kind = kind;
  k.ops.assign(ops.begin(), ops.end());
  k.half = p.half;
  k.limits.slowdown = k.limits.tile_share = 1;
  k.extents = extents;
  k.work.macs = macs;
  k.work.flops = flops;
  k.traffic.bytes = k.traffic.handed_bytes = moved;
  out_.host_ops += k.repeat;
  add(id, std::move(k));
}

void KernelPlanner::add_qk(NodeId id, const AttentionParts& p) {
  add_part(id, p, KernelKind::Matmul, {op("nn.batch_matmul")}, p.qk, p.of.qk_macs, 0, (p.dense[p.kQ] + p.dense[p.kK] + p.of.scores) * p.width);
}

void KernelPlanner::add_av(NodeId id, const AttentionParts& p) {
  add_part(id, p, KernelKind::Matmul, {op("nn.batch_matmul")}, p.av, p.of.av_macs, 0, (p.of.scores + p.dense[p.kV] + p.written) * p.width);
}

bool KernelPlanner::copies_operand(ValueId v) const { return layout_.strided[v.node] && batched_product_copies(g_.type(v)); }

void KernelPlanner::write_out(NodeId id, const WrittenOutAttention& a) {
  using P = AttentionParts;
  const Node& n = g_.node(id);
  const P p = attention_parts(id, a);
  const double width = p.width;
  const bool widened = config_.precision == Precision::Amp && !a.reference;
  const double softmax_width = widened ? 4.0 : width;
  const auto on_scores = [&](OpId what, double flops, double moved) { add_part(id, p, KernelKind::Vector, {what}, p.scores, 0, flops, moved); };
  const auto elementwise = [&](OpId what, std::size_t i, double bytes_per_element) {
    add_part(id, p, KernelKind::Vector, {what}, elementwise_extents(g_.type(n.operands[i]), p.elements[i]), 0, p.elements[i], p.elements[i] * bytes_per_element);
  };
  const auto copy = [&](std::size_t i) {
    add_part(id, p, KernelKind::Vector, {op("copy")}, elementwise_extents(g_.type(n.operands[i]), p.dense[i]), 0, p.dense[i], (p.elements[i] + p.dense[i]) * width);
  };
  const bool casts = a.reference && half_[id];
  if (casts) {
    for (const std::size_t i : {P::kQ, P::kK, P::kV}) elementwise(op("cast"), i, 2 + width);
  }
  if (a.reference) {  // √scale on both; the products want their operands dense
    for (const std::size_t i : {P::kQ, P::kK}) elementwise(op("multiply"), i, 2 * width);
    for (const std::size_t i : {P::kQ, P::kK, P::kV}) copy(i);
  } else {
    if (n.attrs.has("scale") && !a.scales_scores) elementwise(op("multiply"), P::kQ, 2 * width);
    for (const std::size_t i : {P::kQ, P::kK, P::kV}) {
      if (!copies_operand(n.operands[i])) continue;
      copy(i);
      out_.host_ops -= repeat_;  // part of the product's call
    }
  }
  add_qk(id, p);
  if (a.scales_scores) on_scores(op("multiply"), a.scores, 2 * a.scores * width);
  if (is_masked_attention(n)) on_scores(op("add"), a.scores, 2 * a.scores * width + bytes_of(n.operands[P::kMask]));
  on_scores(op("nn.softmax"), 5 * a.scores, a.scores * (width + softmax_width));
  if (a.reference) {  // _safe_softmax: rows that are −∞ throughout become 0
    on_scores(op("equal"), a.scores, a.scores * (width + 1));
    on_scores(op("max"), a.scores, a.scores);
    on_scores(op("where"), a.scores, 2 * a.scores * width);
  }
  if (widened) on_scores(op("cast"), a.scores, a.scores * (softmax_width + width));
  add_av(id, p);
  if (casts) {
    add_part(id, p, KernelKind::Vector, {op("cast")}, elementwise_extents(n.results[0].type, p.written), 0, p.written, p.written * (width + 2));
  }
}

void KernelPlanner::write_out_fused(NodeId id, const WrittenOutAttention& a) {
  using P = AttentionParts;
  const Node& n = g_.node(id);
  const P p = attention_parts(id, a);
  for (const std::size_t i : {P::kQ, P::kK, P::kV}) {
    const ValueId v = n.operands[i];
    if (!a.reference && !copies_operand(v)) continue;
    add_part(id, p, KernelKind::Vector, {op("copy")}, elementwise_extents(g_.type(v), p.dense[i]), 0, p.dense[i],
             p.elements[i] * read_width(v, n) + p.dense[i] * p.width);
  }
  add_qk(id, p);
  const double between = 6 * a.scores, moved = 2 * a.scores * p.width;
  if (is_masked_attention(n)) {
    add_part(id, p, KernelKind::Vector, {op("nn.softmax"), op("multiply"), op("add")}, p.scores, 0, between, moved + bytes_of(n.operands[P::kMask]));
  } else {
    add_part(id, p, KernelKind::Vector, {op("nn.softmax"), op("multiply")}, p.scores, 0, between, moved);
  }
  add_av(id, p);
}

}  // namespace perfc
