/// com.microsoft's operators of language models before 2023: decoders with flags, long attention, quantised embeddings
/// (docs/ContribOperators.md of microsoft/onnxruntime).
#include <fmt/format.h>

#include "frontends/onnx/contrib.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;

/// DecoderAttention's flags, operands 8 to 11.
struct DecoderFlags {
  bool of_keys;      ///< keys and values come from operand 1 (static_kv), else from the queries' data
  bool with_caches;  ///< after those of the caches, or as the caches have them
  bool masked;
};

Result<bool> flag(const NodeContext& c, std::size_t i, std::string_view name) {
  const Data* data = c.data(c.inputs[i]);
  if (data && data->ints() && data->size() == 1 && data->fully_known()) return data->ints()->front().value() != 0;
  return c.error(fmt::format(
      "operand {} ({}), which decides what is computed, is not known when importing; give an input with --value", i,
      name));
}

Result<DecoderFlags> flags_of(const NodeContext& c) {
  const auto of_keys = flag(c, 8, "static_kv"), past = flag(c, 9, "use_past"), state = flag(c, 10, "has_layer_state"),
             masked = flag(c, 11, "has_key_padding_mask");
  if (!of_keys || !past || !state || !masked) return Failure{};
  const DecoderFlags flags{*of_keys, *past && *state, *masked};
  if (flags.with_caches && (!c.has(6) || !c.has(7)))
    return c.error("use_past and has_layer_state are true, operand 6 or 7 (key_cache, value_cache) is missing");
  if (flags.masked && !c.has(5))
    return c.error("has_key_padding_mask is true, operand 5 (key_padding_mask) is missing");
  return flags;
}

/// What multiplies x [steps, batch, in], and of the bias the part from `first` on, as [batch, heads, steps, width].
Result<ValueId> of_heads(NodeContext& c, std::int64_t heads, std::int64_t hidden, Result<ValueId> product,
                         std::int64_t first) {
  InsideKernel into_transpose(c);
  const auto sum = c.emit(op("add"), {product, c.slice(c.inputs[4], 0, first, first + hidden)});
  const auto apart = c.reshape(sum, {0, 0, heads, hidden / heads});
  into_transpose.end();
  return c.transpose(apart, {1, 2, 0, 3});
}

/// (query [s, b, hidden], key [t, b, hidden], q_weight, kv_weight, bias, key_padding_mask [b, t]?, key_cache,
/// value_cache [b, heads, l, width]?, four flags) → [s, b, hidden], keys and values.
Values decoder_attention(Importer&, NodeContext& c) {
  if (!takes(c, {"query", "key", "q_weight", "kv_weight", "bias", "key_padding_mask?", "key_cache?", "value_cache?",
                 "static_kv", "use_past", "has_layer_state", "has_key_padding_mask"}) ||
      !gives(c, 3) || !rank_of(c, 0, "query", 3, 3) || !rank_of(c, 1, "key", 3, 3))
    return Failure{};
  const auto heads = whole_number(c, "num_heads");
  const auto hidden = extent_of(c, c.inputs[0], 2);
  const auto flags = flags_of(c);
  if (!heads || !hidden || !flags) return Failure{};
  if (*heads < 1 || *hidden % *heads != 0)
    return c.error(fmt::format("{} features do not divide into {} heads", *hidden, *heads));
  const Dim any = Dim::unknown(), all(*hidden);
  if (!require_dims(c, 2, "q_weight", {all, all}) || !require_dims(c, 3, "kv_weight", {all, Dim(2 * *hidden)}) ||
      !require_dims(c, 4, "bias", {Dim(3 * *hidden)}) || !require_dims(c, 1, "key", {any, c.dim(c.inputs[0], 1), all}))
    return Failure{};
  const std::vector<Dim> cache{c.dim(c.inputs[0], 1), Dim(*heads), any, Dim(*hidden / *heads)};
  if (!require_dims(c, 6, "key_cache", cache) || !require_dims(c, 7, "value_cache", cache)) return Failure{};

  const auto q = of_heads(c, *heads, *hidden, c.emit(op("nn.batch_matmul"), {c.inputs[0], c.inputs[2]}), 0);
  std::vector<Result<ValueId>> of_keys;
  if (flags->of_keys && flags->with_caches) {
    of_keys = {c.inputs[6], c.inputs[7]};
  } else {
    const auto both = c.emit(op("nn.batch_matmul"), {c.inputs[flags->of_keys ? 1 : 0], c.inputs[3]});
    for (std::int64_t i = 0; i < 2; ++i) {
      InsideKernel into_transpose(c);
      const auto half = c.slice(both, -1, i * *hidden, (i + 1) * *hidden);
      into_transpose.end();
      auto part = of_heads(c, *heads, *hidden, half, (i + 1) * *hidden);
      if (flags->with_caches) part = c.join({c.inputs[static_cast<std::size_t>(6 + i)], part}, 2);
      of_keys.push_back(part);
    }
  }
  Result<ValueId> mask = ValueId{};
  if (flags->masked) {
    const InsideKernel of_attention(c);
    mask = c.expand_dims(c.emit(op("logical_not"), {c.inputs[5]}), {1, 2});
  }
  const auto y = c.attention(q, of_keys[0], of_keys[1], mask);
  return outputs_of(c, {c.reshape(c.transpose(y, {2, 0, 1, 3}), {0, 0, *hidden}), of_keys[0], of_keys[1]});
}

/// How many tokens attend to all others, only the data say: what it costs is not known.
Values longformer_attention(Importer&, NodeContext& c) {
  if (!takes(c, {"input", "weight", "bias", "mask", "global_weight", "global_bias", "global"}) || !gives(c, 1) ||
      !rank_of(c, 0, "input", 3, 3))
    return Failure{};
  return unpriced(c, c.type(0));
}

/// The operands of one quantised embedding: table, its scale, its zero point.
struct Table {
  std::size_t rows, scale, zero;
};

/// Rows of a table that tokens name, or one for each place, as numbers of the scale's type.
Result<ValueId> rows_of(const NodeContext& c, const Table& t, Result<ValueId> ids) {
  const auto rows = c.emit(op("take"), {c.inputs[t.rows], ids}, {{"axis", std::int64_t{0}}});
  return c.emit(op("qnn.dequantize"), {rows, c.inputs[t.scale], c.inputs[t.zero]});
}

/// (input_ids, segment_ids?, tables of words, of places and of segments?, gamma, beta, mask?, five scales, five zero
/// points) → the norm of the rows' sum, and how many words each mask leaves.
Values quantised_embedding(Importer&, NodeContext& c) {
  if (!takes(c, {"input_ids", "segment_ids?", "word_embedding_quant", "position_embedding_quant", "segment_embedding?",
                 "gamma_quant", "beta_quant", "mask?", "word_embedding_scale", "position_embedding_scale",
                 "segment_embedding_scale?", "gamma_scale", "beta_scale", "word_embedding_zero_point",
                 "position_embedding_zero_point", "segment_embedding_zero_point?", "gamma_zero_point",
                 "beta_zero_point"}) ||
      !gives(c, 2) || !rank_of(c, 0, "input_ids", 2, 2))
    return Failure{};
  const bool segments = c.has(1);
  if (c.has(4) != segments || c.has(10) != segments || c.has(15) != segments)
    return c.error("segment_ids, segment_embedding, its scale and its zero point are given together or not at all");
  for (const std::size_t i : {2, 3, 4})
    if (c.has(i) && !rank_of(c, i, "an embedding", 2, 2)) return Failure{};
  const ValueId ids = c.inputs[0];
  InsideKernel into_norm(c);
  const auto places = counted(c, axis_length(c, ids, 1));
  auto sum = c.emit(op("add"), {rows_of(c, {2, 8, 13}, ids), rows_of(c, {3, 9, 14}, places)});
  if (segments) sum = c.emit(op("add"), {sum, rows_of(c, {4, 10, 15}, c.inputs[1])});
  const auto gamma = c.emit(op("qnn.dequantize"), {c.inputs[5], c.inputs[11], c.inputs[16]});
  const auto beta = c.emit(op("qnn.dequantize"), {c.inputs[6], c.inputs[12], c.inputs[17]});
  into_norm.end();
  std::vector<Result<ValueId>> out{
      c.emit(op("nn.layer_norm"), {sum, gamma, beta}, {{"epsilon", c.attrs.float_or("epsilon", 1e-12)}})};
  const InsideKernel of_norm(c);
  if (c.has(7)) {
    out.push_back(c.emit(op("sum_axes"), {c.inputs[7], c.int_constant({1})}, {{"keepdims", std::int64_t{0}}}));
  } else {
    out.push_back(c.full(c.shape_of(ids, 0, 1), 0, DType::Int32));
  }
  return outputs_of(c, out);
}

}  // namespace

std::span<const TranslatorRow> contrib_earlier_table() {
  static const std::vector<TranslatorRow> table{
      {"ms:DecoderAttention", decoder_attention, "nn.batch_matmul concatenate nn.sdpa transpose"},
      {"ms:LongformerAttention", longformer_attention, "opaque"},
      {"ms:QEmbedLayerNormalization", quantised_embedding, "take qnn.dequantize add nn.layer_norm"},
  };
  return table;
}

}  // namespace perfc::onnx
