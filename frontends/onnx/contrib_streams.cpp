/// com.microsoft's hyper-connections, Engram gates and routers of groups of experts (docs/ContribOperators.md of
/// microsoft/onnxruntime).
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "frontends/onnx/contrib.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;
using Ints = std::vector<std::int64_t>;

/// Streams of one width that lie beside each other, […, count, width] or, with `num_branches`, […, count · width].
struct Streams {
  std::int64_t rank = 0;  ///< of dims before them
  std::int64_t count = 0, width = 0;
  bool flat = false;

  Ints shape(std::initializer_list<std::int64_t> last) const {
    Ints out(static_cast<std::size_t>(rank), 0);
    out.insert(out.end(), last.begin(), last.end());
    return out;
  }
  /// Dims of a value with these last ones; of those before, operand 0 has as many.
  std::vector<Dim> dims(const NodeContext& c, std::initializer_list<std::int64_t> last) const {
    std::vector<Dim> out;
    for (std::int64_t i = 0; i < rank; ++i) out.push_back(c.dim(c.inputs[0], i));
    for (const std::int64_t d : last) out.emplace_back(d);
    return out;
  }
};

Result<Streams> streams_of(const NodeContext& c, bool always_flat) {
  const auto given = whole_number(c, "num_branches", always_flat ? std::optional<std::int64_t>() : 0);
  if (!given) return Failure{};
  if (*given < 0 || (*given == 0 && always_flat)) return c.error(fmt::format("num_branches is {}", *given));
  Streams s{.flat = *given > 0};
  const auto rank = rank_of(c, 0, "streams", s.flat ? 1 : 2, kAnyRank);
  const auto last = rank ? extent_of(c, c.inputs[0], -1) : Failure{};
  const auto count = s.flat ? given : rank ? extent_of(c, c.inputs[0], -2) : Failure{};
  if (!last || !count) return Failure{};
  if (s.flat && *last % *count != 0)
    return c.error(fmt::format("the last dim of streams, {}, does not divide into {} branches", *last, *count));
  s.rank = *rank - (s.flat ? 1 : 2);
  s.count = *count;
  s.width = s.flat ? *last / *count : *last;
  return s;
}

/// Operand 0 as […, count, width].
Result<ValueId> grouped(const NodeContext& c, const Streams& s) {
  return s.flat ? c.reshape(c.inputs[0], s.shape({s.count, s.width})) : Result(c.inputs[0]);
}

/// Gates (operand i) of a stream, […, count] or […, count, 1], or of each feature, as three last dims have them.
Result<ValueId> gates(const NodeContext& c, const Streams& s, std::size_t i, std::string_view name, bool flat_too) {
  const auto rank = c.rank(c.inputs[i]);
  if (!rank) return Failure{};
  const bool apart = *rank == s.rank + 2;
  const Dim last = c.dim(c.inputs[i], -1);
  const bool of_features = apart ? !last.is(1) : flat_too && s.width != 1 && last.known() && !last.is(s.count);
  const std::int64_t width = of_features ? s.width : 1;
  const auto dims = apart ? s.dims(c, {s.count, width}) : s.dims(c, {s.count * width});
  if (!require_dims(c, i, name, dims)) return Failure{};
  const auto typed = c.cast(c.inputs[i], c.dtype(c.inputs[0]));
  return apart ? typed : c.reshape(typed, s.shape({s.count, width}));
}

/// What a block gives (operand i), to be added to each stream.
Result<ValueId> of_block(const NodeContext& c, const Streams& s, std::size_t i, std::string_view name) {
  if (!require_dims(c, i, name, s.dims(c, {s.width}))) return Failure{};
  return c.reshape(c.cast(c.inputs[i], c.dtype(c.inputs[0])), s.shape({1, s.width}));
}

/// x · a number, where that is not 1.
Result<ValueId> scaled(const NodeContext& c, Result<ValueId> x, double by) {
  return x && by != 1 ? c.emit(op("multiply"), {*x, c.number_like(*x, by)}) : x;
}

/// The sum over streams, […, width].
Result<ValueId> sum_of_streams(const NodeContext& c, Result<ValueId> x) {
  return c.emit(op("sum_axes"), {x, c.int_constant({-2})}, {{"keepdims", std::int64_t{0}}});
}

/// (streams, pre_mix) → their sum by gates.
Values pre_mix(Importer&, NodeContext& c) {
  if (!takes(c, {"streams", "pre_mix"}) || !gives(c, 1)) return Failure{};
  const auto s = streams_of(c, false);
  if (!s) return Failure{};
  InsideKernel into_sum(c);
  const auto gated = c.emit(op("multiply"), {grouped(c, *s), gates(c, *s, 1, "pre_mix", s->flat)});
  into_sum.end();
  const auto sum = sum_of_streams(c, gated);
  const InsideKernel of_sum(c);
  return outputs_of(c, {scaled(c, sum, c.attrs.float_or("reduction_scale", 1))});
}

/// (streams, block_output […, width], post_mix, stream_mix […, count, count]?).
Values post_mix(Importer&, NodeContext& c) {
  if (!takes(c, {"streams", "block_output", "post_mix", "stream_mix?"}) || !gives(c, 1)) return Failure{};
  const auto s = streams_of(c, false);
  if (!s || !require_dims(c, 3, "stream_mix", s->dims(c, {s->count, s->count}))) return Failure{};
  InsideKernel into_sum(c);
  auto x = grouped(c, *s);
  if (c.has(3)) {
    Ints perm;
    for (std::int64_t i = 0; i < s->rank; ++i) perm.push_back(i);
    perm.insert(perm.end(), {s->rank + 1, s->rank});
    x = c.emit(op("nn.batch_matmul"), {c.transpose(c.cast(c.inputs[3], c.dtype(c.inputs[0])), perm), x});
  }
  const auto gate = gates(c, *s, 2, "post_mix", false), block = of_block(c, *s, 1, "block_output");
  into_sum.end();
  auto y = c.emit(op("addcmul"), {x, gate, block});
  return outputs_of(c, {s->flat ? c.reshape(y, s->shape({s->count * s->width})) : y});
}

/// (streams […, count · width], norm_scale, down_weight [count · width, r], up_weight [r, count · width], inject_weight
/// [count · width, count], prev_block_output?, prev_post_gate?) → what the next block reads, the gates behind it, the
/// streams.
Values low_rank_mix(Importer&, NodeContext& c) {
  if (!takes(c, {"streams", "norm_scale", "down_weight", "up_weight", "inject_weight", "prev_block_output?",
                 "prev_post_gate?"}) ||
      !gives(c, 3))
    return Failure{};
  const auto s = streams_of(c, true);
  if (!s || !rank_of(c, 2, "down_weight", 2, 2)) return Failure{};
  const Dim all(s->count * s->width), low = c.dim(c.inputs[2], 1);
  if (!require_dims(c, 1, "norm_scale", {all}) || !require_dims(c, 2, "down_weight", {all, low}) ||
      !require_dims(c, 3, "up_weight", {low, all}) || !require_dims(c, 4, "inject_weight", {all, Dim(s->count)}))
    return Failure{};
  if (c.has(5) != c.has(6)) return c.error("prev_block_output and prev_post_gate are given together or not at all");
  const double divisor = c.attrs.float_or("gate_div", 1);
  if (divisor == 0) return c.error("gate_div is 0");

  InsideKernel into_norm(c);
  Result<ValueId> before = grouped(c, *s);
  if (c.has(5))
    before = c.emit(op("addcmul"),
                    {before, gates(c, *s, 6, "prev_post_gate", false), of_block(c, *s, 5, "prev_block_output")});
  const auto scale = c.reshape(c.inputs[1], {s->count, s->width});
  into_norm.end();
  const auto norm = c.emit(op("nn.rms_norm"), {before, scale}, {{"epsilon", c.attrs.float_or("epsilon", 1e-5)}});
  const auto flat = c.reshape(norm, s->shape({s->count * s->width}));
  const auto down = c.emit(op("nn.batch_matmul"), {flat, c.inputs[2]});
  InsideKernel into_up(c);
  const auto hidden = c.emit(op("nn.silu"), {scaled(c, down, c.attrs.float_or("silu_alpha", 1))});
  into_up.end();
  const auto up = c.emit(op("nn.batch_matmul"), {hidden, c.inputs[3]});
  const auto inject = c.emit(op("nn.batch_matmul"), {flat, c.inputs[4]});
  InsideKernel into_sum(c);
  const auto gate = c.reshape(c.emit(op("sigmoid"), {up}), s->shape({s->count, s->width}));
  const auto gated = c.emit(op("multiply"), {norm, gate});
  into_sum.end();
  const auto sum = sum_of_streams(c, gated);
  const InsideKernel of_others(c);
  const auto after = c.emit(op("sigmoid"), {scaled(c, inject, 1 / divisor)});
  return outputs_of(
      c, {scaled(c, sum, c.attrs.float_or("reduction_scale", 1)), scaled(c, after, c.attrs.float_or("gate_mul", 1)),
          c.reshape(before, s->shape({s->count * s->width}))});
}

/// (key, query [b, s, count, width], value [b, s, width], of both and of what comes out a scale of the norm [count,
/// width]) → gate · value, and its norm.
Values engram_gate(Importer&, NodeContext& c) {
  if (!takes(c, {"key", "query", "value", "key_norm_scale", "query_norm_scale", "conv_norm_scale?"}) || !gives(c, 2) ||
      !rank_of(c, 0, "key", 4, 4) || !alike(c, 0, 1, "key and query"))
    return Failure{};
  const ValueId key = c.inputs[0];
  const auto width = extent_of(c, key, 3);
  const std::vector<Dim> of_stream{c.dim(key, 2), c.dim(key, 3)};
  if (!width || !require_dims(c, 2, "value", {c.dim(key, 0), c.dim(key, 1), c.dim(key, 3)}) ||
      !require_dims(c, 3, "key_norm_scale", of_stream) || !require_dims(c, 4, "query_norm_scale", of_stream) ||
      !require_dims(c, 5, "conv_norm_scale", of_stream))
    return Failure{};
  if (*width < 1) return c.error("key has no features");
  if (c.outputs() > 1 && !c.has(5))
    return c.error("the second output, gated_value_normed, needs operand 5 (conv_norm_scale), which is missing");
  const Attrs attrs{{"epsilon", c.attrs.float_or("epsilon", 1e-5)}};
  InsideKernel into_products(c);
  const auto k = c.emit(op("nn.rms_norm"), {key, c.inputs[3]}, attrs);
  const auto q = c.emit(op("nn.rms_norm"), {c.inputs[1], c.inputs[4]}, attrs);
  into_products.end();
  const auto products = c.emit(op("multiply"), {k, q});  // moves as much memory as the kernel
  const InsideKernel of_products(c);
  const auto sum = c.emit(op("sum_axes"), {products, c.int_constant({-1})}, {{"keepdims", std::int64_t{1}}});
  const auto dot = scaled(c, sum, 1 / std::sqrt(static_cast<double>(*width)));
  if (!dot) return Failure{};
  constexpr double kLeast = 1e-6;
  const auto size =
      c.emit(op("sqrt"), {c.emit(op("maximum"), {c.emit(op("abs"), {*dot}), c.number_like(*dot, kLeast)})});
  const auto gate = c.emit(op("sigmoid"), {c.emit(op("multiply"), {c.emit(op("sign"), {*dot}), size})});
  const auto out = c.emit(op("multiply"), {gate, c.expand_dims(c.inputs[2], {2})});
  std::vector<Result<ValueId>> results{out};
  if (c.outputs() > 1) results.push_back(c.emit(op("nn.rms_norm"), {out, c.inputs[5]}, attrs));
  return outputs_of(c, results);
}

// ---- MoEGroupRouter

struct Routing {
  std::int64_t experts, best, groups, best_groups, best_of_group;
};

Result<Routing> routing_of(const NodeContext& c, std::int64_t experts) {
  const auto best = whole_number(c, "top_k"), groups = whole_number(c, "n_group", 1),
             best_groups = whole_number(c, "topk_group", 1), best_of_group = whole_number(c, "group_topk", 2);
  if (!best || !groups || !best_groups || !best_of_group) return Failure{};
  if (*groups < 1 || *best_groups < 1 || *best_groups > *groups || *best_of_group < 1)
    return c.error(fmt::format("n_group is {}, topk_group {}, group_topk {}", *groups, *best_groups, *best_of_group));
  if (experts % *groups != 0) return c.error(fmt::format("{} experts do not divide into {} groups", experts, *groups));
  const std::int64_t each = experts / *groups;
  if (*best < 1 || *best > each * *best_groups)
    return c.error(fmt::format("top_k is {}, {} groups have {} experts", *best, *best_groups, each * *best_groups));
  return Routing{experts, *best, *groups, *best_groups, std::min(*best_of_group, each)};
}

/// Scores, those of experts outside the best groups below all others.
Result<ValueId> of_best_groups(const NodeContext& c, const Routing& r, Result<ValueId> scores) {
  const auto by_group = c.reshape(scores, {-1, r.groups, r.experts / r.groups});
  if (!by_group) return Failure{};
  const Attrs last{{"axis", std::int64_t{-1}}};
  const auto best = c.emit_all(op("topk"), {*by_group, c.int_constant({r.best_of_group})}, last, 2);
  if (!best) return Failure{};
  const auto sums = c.emit(op("sum_axes"), {(*best)[0], c.int_constant({-1})}, {{"keepdims", std::int64_t{0}}});
  if (!sums) return Failure{};
  const auto chosen = c.emit_all(op("topk"), {*sums, c.int_constant({r.best_groups})}, last, 2);
  if (!chosen) return Failure{};
  const auto closed = c.full(c.shape_of(*sums), -std::numeric_limits<double>::infinity(), DType::Float32);
  const auto open = c.full(c.shape_of((*chosen)[1]), 0, DType::Float32);
  const auto mask = c.emit(op("scatter_elements"), {closed, (*chosen)[1], open}, {{"axis", std::int64_t{1}}});
  return c.reshape(c.emit(op("add"), {*by_group, c.expand_dims(mask, {2})}), {-1, r.experts});
}

/// Logarithms of the best experts' odds, in all other places a number below them.
Values routed(NodeContext& c, const Routing& r, Result<ValueId> logits) {
  InsideKernel into_choice(c);
  const auto odds = c.emit(op("sigmoid"), {c.cast(logits, DType::Float32)});
  auto scores = c.emit(op("add"), {odds, c.inputs[1]});
  if (r.groups > 1) scores = of_best_groups(c, r, scores);
  into_choice.end();
  const auto best =
      scores ? c.emit_all(op("topk"), {*scores, c.int_constant({r.best})}, {{"axis", std::int64_t{-1}}}, 2) : Failure{};
  if (!best) return Failure{};
  const InsideKernel of_choice(c);
  constexpr double kLeast = 1e-20;
  const Attrs last{{"axis", std::int64_t{1}}};
  const auto chosen = c.emit(op("gather"), {odds, (*best)[1]}, last);
  const auto logs = c.emit(op("log"), {c.emit(op("maximum"), {chosen, c.number(kLeast, DType::Float32)})});
  const auto rest = c.full(c.shape_of(odds), c.attrs.float_or("router_sentinel", -10000), DType::Float32);
  const auto out = c.emit(op("scatter_elements"), {rest, (*best)[1], logs}, last);
  return outputs_of(c, {c.cast(out, c.dtype(c.inputs[0]))});
}

/// (logits […, experts], expert_bias) → log-odds of the chosen, or all odds with and without the bias, for which
/// logits may be tokens' activations and a third operand what projects them.
Values group_router(Importer&, NodeContext& c) {
  if (!takes(c, {"logits", "expert_bias", "projection_weight?"}) || !gives(c, 3)) return Failure{};
  const bool all = c.outputs() > 1;
  if (all && (!c.node.outputs[0].empty() || c.outputs() < 3 || c.node.outputs[1].empty()))
    return c.error("gives router_probs, or else selection_scores and router_weights together");
  if (c.has(2) && !all) return c.error("projection_weight needs the outputs selection_scores and router_weights");
  const auto rank = rank_of(c, 0, "logits", c.has(2) ? 2 : 1, c.has(2) ? 2 : kAnyRank);
  if (!rank || !rank_of(c, 1, "expert_bias", 1, 1)) return Failure{};
  const auto experts = c.has(2) ? extent_of(c, c.inputs[2], 0) : extent_of(c, c.inputs[0], -1);
  if (!experts || !require_dims(c, 1, "expert_bias", {Dim(*experts)}) ||
      !require_dims(c, 2, "projection_weight", {Dim(*experts), c.dim(c.inputs[0], -1)}))
    return Failure{};
  const auto r = routing_of(c, *experts);
  if (!r) return Failure{};
  if (!all) return routed(c, *r, *rank == 2 ? Result(c.inputs[0]) : c.reshape(c.inputs[0], {-1, *experts}));
  if (r->groups != 1) return c.error("all scores are given of one group; n_group is not 1");
  Result<ValueId> logits = c.inputs[0];
  if (c.has(2)) logits = c.emit(op("nn.dense"), {logits, c.inputs[2]}, {{"transB", std::int64_t{1}}});
  else if (*rank != 2) logits = c.reshape(logits, {-1, *experts});
  InsideKernel into_odds(c);
  const auto wide = c.cast(logits, DType::Float32);
  if (!c.has(2)) into_odds.end();  // in the product's kernel, else one of their own
  const auto odds = c.emit(op("sigmoid"), {wide});
  const InsideKernel of_odds(c);
  const auto scores = c.emit(op("add"), {odds, c.inputs[1]});
  return outputs_of(c, {odds, scores, odds});
}

}  // namespace

std::span<const TranslatorRow> contrib_streams_table() {
  static const std::vector<TranslatorRow> table{
      {"ms:HyperConnectionPreMix", pre_mix, "multiply sum_axes"},
      {"ms:HyperConnectionPostMix", post_mix, "nn.batch_matmul addcmul"},
      {"ms:HyperConnectionLowRankMix", low_rank_mix, "addcmul nn.rms_norm nn.batch_matmul sum_axes"},
      {"ms:EngramGate", engram_gate, "nn.rms_norm multiply sum_axes"},
      {"ms:MoEGroupRouter", group_router, "sigmoid topk scatter_elements nn.dense"},
  };
  return table;
}

}  // namespace perfc::onnx
