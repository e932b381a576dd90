/// com.microsoft's gates, norms and rotations of language models, each one kernel where ONNX Runtime has it
/// (docs/ContribOperators.md of microsoft/onnxruntime).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/contrib.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;

/// Extents that a reshape keeps (0: as they are), `rank` of them, before those that it sets.
std::vector<std::int64_t> kept(std::int64_t rank, std::initializer_list<std::int64_t> then) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 0);
  shape.insert(shape.end(), then.begin(), then.end());
  return shape;
}

/// x · 1/√(mean(x²) + epsilon) · scale, over each `width` of the last dim.
Result<ValueId> norm_of_parts(const NodeContext& c, ValueId x, ValueId scale, std::int64_t width) {
  const auto rank = c.rank(x);
  const auto last = extent_of(c, x, -1);
  if (!rank || !last) return Failure{};
  if (width < 1 || *last % width != 0)
    return c.error(fmt::format("the last dim of X, {}, does not divide into parts of {}", *last, width));
  const Attrs attrs{{"epsilon", c.attrs.float_or("epsilon", 1e-5)}};
  if (*last == width) return c.emit(op("nn.rms_norm"), {x, scale}, attrs);
  const auto parts = c.reshape(x, kept(*rank - 1, {*last / width, width}));
  return c.reshape(c.emit(op("nn.rms_norm"), {parts, scale}, attrs), kept(*rank - 1, {*last}));
}

/// (a [b, t, heads], dt_bias [heads], decay_scale [heads], b?) → decay_scale · softplus(a + dt_bias) and sigmoid(b).
Values linear_attention_gate(Importer&, NodeContext& c) {
  if (!takes(c, {"a", "dt_bias", "decay_scale", "b?"}) || !gives(c, 2) || !rank_of(c, 0, "a", 3, 3)) return Failure{};
  const Dim heads = c.dim(c.inputs[0], 2);
  if (!require_dims(c, 1, "dt_bias", {heads}) || !require_dims(c, 2, "decay_scale", {heads})) return Failure{};
  if (c.has(3) && !alike(c, 0, 3, "a and b")) return Failure{};
  if (c.outputs() > 1 && !c.has(3)) return c.error("the second output, beta, needs operand 3 (b), which is missing");
  InsideKernel into_gate(c);
  const auto sum = c.emit(op("add"), {c.cast(c.inputs[0], DType::Float32), c.inputs[1]});
  into_gate.end();
  const auto gate = c.emit(op("nn.softplus"), {sum});
  const InsideKernel of_gate(c);
  std::vector<Result<ValueId>> out{c.cast(c.emit(op("multiply"), {gate, c.inputs[2]}), c.dtype(c.inputs[0]))};
  if (c.outputs() > 1) out.push_back(c.emit(op("sigmoid"), {c.inputs[3]}));
  return outputs_of(c, out);
}

/// (X […, parts · width], scale [width], gate as X).
Values gated_rms_norm(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "scale", "gate"}) || !alike(c, 0, 2, "X and gate") || !rank_of(c, 1, "scale", 1, 1))
    return Failure{};
  const std::string_view name = c.attrs.string_or("activation", "silu");
  if (name != "silu" && name != "swish" && name != "sigmoid")
    return c.error(fmt::format("unknown activation '{}'; silu, swish and sigmoid exist", name));
  const auto width = extent_of(c, c.inputs[1], 0);
  if (!width) return Failure{};
  InsideKernel into_product(c);
  const auto norm = norm_of_parts(c, c.inputs[0], c.inputs[1], *width);
  const auto gate = c.emit(name == "sigmoid" ? op("sigmoid") : op("nn.silu"), {c.inputs[2]});
  into_product.end();
  return norm && gate ? c.finish(op("multiply"), {*norm, *gate}, {}) : Failure{};
}

/// (X […, branches, width] or, with `num_branches`, […, branches · width], scale of a branch or of all?).
Values branchwise_rms_norm(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "scale?"})) return Failure{};
  const auto branches = whole_number(c, "num_branches", 0);
  const auto rank = branches ? rank_of(c, 0, "X", *branches == 0 ? 2 : 1, kAnyRank) : Failure{};
  if (!rank) return Failure{};
  if (*branches < 0) return c.error(fmt::format("num_branches is {}", *branches));
  ValueId x = c.inputs[0];
  const auto last = extent_of(c, x, -1);
  const auto count = *branches > 0 ? Result(*branches) : extent_of(c, x, -2);
  if (!last || !count) return Failure{};
  if (*branches > 0 && *last % *branches != 0)
    return c.error(fmt::format("the last dim of X, {}, does not divide into {} branches", *last, *branches));
  const std::int64_t width = *branches > 0 ? *last / *branches : *last;
  Result<ValueId> scale = c.has(1) ? c.inputs[1] : c.uniform(1, Dim(width), c.dtype(x));
  const std::vector<std::int64_t> grouped{*count, width};
  if (c.has(1)) {
    const auto size = c.type(1).elements();
    if (!size) return c.error("the shape of scale must be known when importing; bind it with --dim or --shape");
    if (*size != width && *size != *count * width)
      return c.error(fmt::format("scale must have {} values or {} for each of {} branches, is {}", width, width, *count,
                                 to_string(c.type(1))));
    if (*size != width) scale = c.reshape(scale, grouped);
  }
  const auto in = *branches > 0 ? c.reshape(x, kept(*rank - 1, {*count, width})) : Result(x);
  if (!in || !scale) return Failure{};
  const Attrs attrs{{"epsilon", c.attrs.float_or("epsilon", 1e-5)}};
  if (*branches == 0) return c.finish(op("nn.rms_norm"), {*in, *scale}, attrs);
  const auto out = c.emit(op("nn.rms_norm"), {*in, *scale}, attrs);
  return out ? c.finish(op("reshape"), {*out, c.int_constant(kept(*rank - 1, {*last}))}, {}) : Failure{};
}

/// (gate, up?): the halves of a projection, or both in one.
Values swiglu(Importer&, NodeContext& c) {
  if (!takes(c, {"gate", "up?"}) || (c.has(1) && !alike(c, 0, 1, "gate and up"))) return Failure{};
  if (!c.has(1) && !rank_of(c, 0, "gate", 1, kAnyRank)) return Failure{};
  Result<ValueId> gate = c.inputs[0], up = c.has(1) ? c.inputs[1] : c.inputs[0];
  if (!c.has(1)) {
    const auto both = extent_of(c, c.inputs[0], -1);
    if (!both) return Failure{};
    if (*both % 2 != 0) return c.error(fmt::format("the last dim of gate, {}, has no two halves", *both));
    const InsideKernel of_product(c);
    gate = c.slice(c.inputs[0], -1, 0, *both / 2);
    up = c.slice(c.inputs[0], -1, *both / 2, *both);
  }
  auto parts = factors(c, SwiGlu(c.attrs), gate, up);
  return parts ? c.finish(op("multiply"), *std::move(parts), {}) : Failure{};
}

/// ai.onnx's (A, B), from operator set 28 on: a function of Swish and Mul, which runs as these.
Values standard_swiglu(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "B"}) || !alike(c, 0, 1, "A and B")) return Failure{};
  const double alpha = c.attrs.float_or("alpha", 1);
  const auto gate = c.emit(op("nn.silu"), {c.inputs[0]}, alpha == 1 ? Attrs{} : Attrs{{"alpha", alpha}});
  return gate ? c.finish(op("multiply"), {*gate, c.inputs[1]}, {}) : Failure{};
}

/// (X, scale: a number?): z · sigmoid(z) of z = scale · X, `alpha` where there is no scale.
Values scaled_silu(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "scale?"}) || !require_dims(c, 1, "scale", {})) return Failure{};
  const ValueId x = c.inputs[0];
  const double alpha = c.attrs.float_or("alpha", 1);
  InsideKernel into_silu(c);
  auto scale = c.has(1) ? c.cast(c.inputs[1], c.dtype(x)) : Result(ValueId{});
  if (!c.has(1) && alpha != 1) scale = c.number_like(x, alpha);
  const auto z = scale && *scale ? c.emit(op("multiply"), {x, *scale}) : scale ? Result(x) : scale;
  into_silu.end();
  return z ? c.finish(op("nn.silu"), {*z}, {}) : Failure{};
}

/// (X, Y as X, gate […, 1]): X + Y · gate; with gate_weight [k, 1], Y · sigmoid(gate […, k] · gate_weight).
Values gated_add(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "Y", "gate", "gate_weight?"}) || !alike(c, 0, 1, "X and Y")) return Failure{};
  const auto rank = c.rank(c.inputs[0]);
  if (!rank) return Failure{};
  if (*rank < 1) return c.error("X must have a dim");
  std::vector<Dim> gates(c.type(0).shape().begin(), c.type(0).shape().end());
  gates.back() = c.has(3) ? Dim::unknown() : Dim(1);
  if (!require_dims(c, 2, "gate", gates)) return Failure{};
  if (c.has(3) && !require_dims(c, 3, "gate_weight", {c.dim(c.inputs[2], -1), Dim(1)})) return Failure{};
  InsideKernel into_sum(c);
  Result<ValueId> gate = c.inputs[2];
  if (c.has(3)) gate = c.emit(op("sigmoid"), {c.emit(op("nn.batch_matmul"), {gate, c.inputs[3]})});
  const auto gated = c.emit(op("multiply"), {c.inputs[1], gate});
  into_sum.end();
  return gated ? c.finish(op("add"), {c.inputs[0], *gated}, {}) : Failure{};
}

/// What of the last dim of X RMSNormRotary normalises, and how much of that it turns.
struct Slice {
  std::int64_t heads, start, width, rotary;
};

Result<Slice> slice_of(const NodeContext& c) {
  const auto heads = extent_of(c, c.inputs[0], 2), stride = extent_of(c, c.inputs[0], 3);
  const auto width = whole_number(c, "input_width", 0), start = whole_number(c, "input_start", 0),
             rotary = whole_number(c, "rotary_embedding_dim");
  if (!heads || !stride || !width || !start || !rotary) return Failure{};
  const Slice s{*heads, *start, *width == 0 ? *stride : *width, *rotary};
  if (s.width < 1 || s.start < 0 || s.width > *stride || s.start > *stride - s.width)
    return c.error(
        fmt::format("input_width {} from input_start {} is not in the last dim of X, {}", s.width, s.start, *stride));
  if (s.rotary < 2 || s.rotary % 2 != 0 || s.rotary > s.width)
    return c.error(fmt::format("rotary_embedding_dim must be even and from 2 to the normalised width {}, is {}",
                               s.width, s.rotary));
  return s;
}

/// (X [b, s, heads, stride], scale [width], position_ids, cosine, sine, prefill_numerics?) → [b, s, heads · width],
/// and what was normalised.
Values rms_norm_rotary(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "scale", "position_ids", "cosine", "sine", "prefill_numerics?"}) || !gives(c, 2))
    return Failure{};
  const auto s = rank_of(c, 0, "X", 4, 4) ? slice_of(c) : Failure{};
  if (!s || !require_dims(c, 1, "scale", {Dim(s->width)}) || !alike(c, 3, 4, "cosine and sine")) return Failure{};
  const DType out = c.attrs.int_or("output_fp16", 0) != 0 ? DType::Float16 : DType::BFloat16;
  Result<ValueId> x = c.inputs[0];
  InsideKernel into_rotation(c);
  if (!c.dim(*x, 3).is(s->width)) x = c.slice(x, 3, s->start, s->start + s->width);
  const auto norm = c.emit(op("nn.rms_norm"), {c.cast(x, DType::Float32), c.inputs[1]},
                           {{"epsilon", c.attrs.float_or("epsilon", 1e-6)}});
  const auto rows = c.reshape(c.cast(norm, out), {0, 0, s->heads * s->width});
  const auto cosine = c.cast(c.inputs[3], out), sine = c.cast(c.inputs[4], out);
  into_rotation.end();
  auto turned = c.emit(op("nn.rotary_embedding"), {rows, c.inputs[2], cosine, sine},
                       {{"num_heads", s->heads}, {"rotary_embedding_dim", s->rotary}});
  if (c.attrs.int_or("flatten_batch", 0) != 0) turned = c.reshape(turned, {1, -1, s->heads * s->width});
  return outputs_of(c, {turned, norm});
}

/// (emb [b, s, d], q, q_rot, k, k_rot [b, heads, s, d]) → x · cos(emb) + x_rot · sin(emb) of both, in one kernel: of
/// the heads of queries and keys together. ONNX Runtime gives both the shape of q.
Values gemma_rotary_embedding(Importer&, NodeContext& c) {
  if (!takes(c, {"emb", "q", "q_rot", "k", "k_rot"}) || !gives(c, 2) || !rank_of(c, 0, "emb", 3, 3) ||
      !rank_of(c, 1, "q", 4, 4))
    return Failure{};
  for (const std::size_t i : {2, 3, 4})
    if (!alike(c, 1, i, "q, q_rot, k and k_rot")) return Failure{};
  const ValueId emb = c.inputs[0];
  const auto heads = extent_of(c, c.inputs[1], 1);
  if (!heads || !require_dims(c, 1, "q", {c.dim(emb, 0), Dim(*heads), c.dim(emb, 1), c.dim(emb, 2)})) return Failure{};
  InsideKernel into_sum(c);
  const DType half = c.dtype(c.inputs[1]);
  const auto times = [&](std::size_t q, std::size_t k, OpId wave) {
    const auto by = c.expand_dims(c.cast(c.emit(wave, {emb}), half), {1});
    return c.emit(op("multiply"), {c.join({c.inputs[q], c.inputs[k]}, 1), by});
  };
  const auto straight = times(1, 3, op("cos")), turned = times(2, 4, op("sin"));
  into_sum.end();
  const auto both = c.emit(op("add"), {straight, turned});
  const InsideKernel of_sum(c);
  return outputs_of(c, {c.slice(both, 1, 0, *heads), c.slice(both, 1, *heads, 2 * *heads)});
}

/// (input, position_ids [3, b, s], cos_cache, sin_cache): a rotation whose angles come from three positions of a token.
Values m_rotary_embedding(Importer&, NodeContext& c) {
  if (!takes(c, {"input", "position_ids", "cos_cache", "sin_cache"})) return Failure{};
  const auto sections = c.attrs.ints_or_empty("mrope_section");
  if (sections.size() != 3 || std::ranges::any_of(sections, [](std::int64_t s) { return s < 0 || s > (1 << 20); }))
    return c.error(fmt::format("mrope_section must be three numbers from 0 on, is [{}]", fmt::join(sections, ", ")));
  const auto layout = whole_number(c, "mrope_layout", 0);
  if (!layout) return Failure{};
  if (*layout != 0 && *layout != 1) return c.error(fmt::format("mrope_layout must be 0 or 1, is {}", *layout));
  const std::int64_t half = std::accumulate(sections.begin(), sections.end(), std::int64_t{0});
  const Dim any = Dim::unknown();
  if (!require_dims(c, 1, "position_ids", {Dim(3), any, any}) ||
      !require_dims(c, 2, "cos_cache, whose columns mrope_section shares out,", {any, Dim(half)}))
    return Failure{};
  return c.finish(op("nn.rotary_embedding"), c.inputs, c.attrs);
}

}  // namespace

std::span<const TranslatorRow> contrib_language_table() {
  static const std::vector<TranslatorRow> table{
      {"ms:LinearAttentionGate", linear_attention_gate, "nn.softplus multiply sigmoid"},
      {"ms:GatedRMSNorm", gated_rms_norm, "nn.rms_norm nn.silu sigmoid multiply"},
      {"ms:BranchwiseRMSNorm", branchwise_rms_norm, "nn.rms_norm"},
      {"SwiGLU", standard_swiglu, "nn.silu multiply"},
      {"ms:SwiGLU", swiglu, "nn.silu multiply"},
      {"ms:ScaledSiLU", scaled_silu, "multiply nn.silu"},
      {"ms:GatedAdd", gated_add, "nn.batch_matmul sigmoid multiply add"},
      {"ms:RMSNormRotary", rms_norm_rotary, "nn.rms_norm nn.rotary_embedding"},
      {"ms:GemmaRotaryEmbedding", gemma_rotary_embedding, "sin cos multiply add"},
      {"ms:MRotaryEmbedding", m_rotary_embedding, "nn.rotary_embedding"},
  };
  return table;
}

}  // namespace perfc::onnx
