/// Rules for the attention operators of com.microsoft. Operand orders are those
/// of onnxruntime's docs/ContribOperators.md.
#include <algorithm>
#include <array>

#include "ir/ops/attention_checks.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Known dim a is none of the expected ones, all of which are known.
bool none_of(const Dim& a, std::initializer_list<Dim> expected) {
  return a.known() && std::all_of(expected.begin(), expected.end(), [&](const Dim& e) { return e.known() && e != a; });
}

bool differ(const Dim& a, const Dim& b) { return a.known() && b.known() && a != b; }

SymInt larger(const SymInt& a, const SymInt& b) {
  return a.known() && b.known() ? SymInt(std::max(a.value(), b.value())) : SymInt{};
}

/// Padding masks: (B,), (2B,) or (3B + 2,) positions, (B, T), (B, S, T), (B, 1, M, M) with M ≥ T.
Status require_mask_index(const InferContext& c, std::size_t i, std::string_view role, const Dim& batch,
                          const Dim& tokens, const Dim& total) {
  if (!c.has(i)) return ok();
  if (!require_dtype(
          c, i, role, [](DType d) { return d == DType::Int32; }, "int32") ||
      !require_rank(c, i, role, 1, 4)) {
    return Failure{};
  }
  if (!ranked(c, i)) return ok();
  const Shape& m = c.type(i).shape();
  const bool bad = m.size() == 1   ? none_of(m[0], {batch, batch * Dim(2), batch * Dim(3) + Dim(2)})
                   : m.size() == 2 ? differ(m[0], batch) || differ(m[1], total)
                   : m.size() == 3 ? differ(m[0], batch) || differ(m[1], tokens) || differ(m[2], total)
                                   : differ(m[0], batch) || differ(m[1], Dim(1)) || differ(m[2], m[3]) ||
                                         (m[3].known() && total.known() && m[3].value() < total.value());
  if (!bad) return ok();
  return c.error("{} {} does not fit batch {}, {} query tokens and {} keys", role, to_string(m), to_string(batch),
                 to_string(tokens), to_string(total));
}

/// Added to the scores: (B or 1, N or 1, S, T).
Status require_attention_bias(const InferContext& c, std::size_t i, const Shape& scores) {
  if (!c.has(i)) return ok();
  if (!require_rank(c, i, "attention_bias", 4)) return Failure{};
  if (!ranked(c, i)) return ok();
  const Shape& b = c.type(i).shape();
  if (none_of(b[0], {scores[0], Dim(1)}) || none_of(b[1], {scores[1], Dim(1)}) || differ(b[2], scores[2]) ||
      differ(b[3], scores[3])) {
    return c.error("attention_bias {} does not broadcast to {}", to_string(b), to_string(scores));
  }
  return ok();
}

// ---- Attention with the input projections inside

/// Where operands stand; kNoOperand: there is none.
struct ProjectedLayout {
  std::size_t mask = kNoOperand;
  std::size_t past = kNoOperand;
  std::size_t attention_bias = kNoOperand;
  std::size_t token_offset = kNoOperand;  ///< (B, S): input is (tokens, D) without padding
};

ProjectedLayout projected_layout(OpId o) {
  if (o == op("qnn.attention")) return {.mask = 5, .past = 8};
  if (o == op("nn.packed_attention")) return {.attention_bias = 5, .token_offset = 3};
  return {.mask = 3, .past = 4, .attention_bias = 5};
}
constexpr std::size_t kInput = 0, kWeights = 1, kProjectionBias = 2;

/// Columns of the projections of Q, K and V.
Result<std::array<Dim, 3>> projected_sizes(const InferContext& c, const Dim& columns, std::int64_t heads) {
  const auto sizes = c.attrs.ints_or_empty("qkv_hidden_sizes");
  std::array<Dim, 3> out;
  if (sizes.empty()) {
    if (columns.known() && columns.value() % 3 != 0) {
      return c.error("weights have {} columns, not three equal parts", columns.value());
    }
    out.fill(trunc_div(columns, 3));
  } else {
    if (sizes.size() != 3) return c.error("qkv_hidden_sizes has {} entries, expected 3", sizes.size());
    SymInt sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (sizes[i] < 1) return c.error("qkv_hidden_sizes holds {}", sizes[i]);
      out[i] = sizes[i];
      sum = sum + sizes[i];
    }
    if (sizes[0] != sizes[1]) return c.error("qkv_hidden_sizes of Q and K differ: {} and {}", sizes[0], sizes[1]);
    if (differ(sum, columns))
      return c.error("qkv_hidden_sizes add up to {}, weights have {} columns", to_string(sum), columns.value());
  }
  for (const Dim& d : out) {
    if (!per_head(c, d, heads, "a projection")) return Failure{};
  }
  return out;
}

}  // namespace

Status ms_attention(InferContext& c) {
  const ProjectedLayout l = projected_layout(c.op());
  const bool packed = l.token_offset != kNoOperand;
  if (c.results() > (packed ? 1 : 2)) return c.error("has {} results, at most {} exist", c.results(), packed ? 1 : 2);
  if (!require_rank(c, kInput, "input", packed ? 2 : 3) || !require_rank(c, kWeights, "weights", 2)) return Failure{};
  const auto heads = positive_attribute(c, "num_heads");
  if (!heads) return Failure{};
  const std::int64_t rotary = c.attrs.int_or("rotary_embedding_dim", 0);
  if (rotary != 0 && rotary != 32 && rotary != 64 && rotary != 128) {
    return c.error("rotary_embedding_dim must be 32, 64 or 128, is {}", rotary);
  }
  const auto sizes = projected_sizes(c, dim_of(c, kWeights, 1), *heads);
  if (!sizes || !same_dim(c, dim_of(c, kInput, -1), dim_of(c, kWeights, 0), "columns of input and rows of weights") ||
      !require_dims(c, kProjectionBias, "bias", {(*sizes)[0] + (*sizes)[1] + (*sizes)[2]}))
    return Failure{};

  const DType dtype = c.type(c.op() == op("qnn.attention") ? kProjectionBias : kInput).dtype();
  if (packed) {
    if (!require_rank(c, l.token_offset, "token_offset", 2)) return Failure{};
    const Dim batch = dim_of(c, l.token_offset, 0), tokens = dim_of(c, l.token_offset, 1);
    if (!require_attention_bias(c, l.attention_bias, {batch, Dim(*heads), tokens, tokens})) return Failure{};
    c.set(0, Type::tensor(dtype, {dim_of(c, kInput, 0), (*sizes)[2]}));
    return ok();
  }
  const Dim batch = dim_of(c, kInput, 0), tokens = dim_of(c, kInput, 1);
  const Dim head = trunc_div((*sizes)[0], *heads);
  const Dim past = c.has(l.past) ? dim_of(c, l.past, 3) : Dim(0);
  if (!require_dims(c, l.past, "past", {Dim(2), batch, Dim(*heads), past, head})) return Failure{};
  const bool shared = c.has(l.past) && c.attrs.int_or("past_present_share_buffer", 0) != 0;
  const Dim total = shared ? Dim::unknown() : past + tokens;
  if (!require_mask_index(c, l.mask, "mask_index", batch, tokens, total) ||
      !require_attention_bias(c, l.attention_bias, {batch, Dim(*heads), tokens, total})) {
    return Failure{};
  }
  c.set(0, Type::tensor(dtype, {batch, tokens, (*sizes)[2]}));
  if (c.results() > 1) c.set(1, Type::tensor(dtype, {Dim(2), batch, Dim(*heads), shared ? past : total, head}));
  return ok();
}

// ---- Attention on projected Q, K, V

namespace {

/// Operand positions of MultiHeadAttention and DecoderMaskedMultiHeadAttention.
struct MultiHeadLayout {
  std::size_t bias, mask, attention_bias, past_key, past_value, past_length;
};

MultiHeadLayout multi_head_layout(OpId o) {
  if (o == op("nn.decoder_masked_attention")) return {10, 3, 4, 5, 6, 7};
  return {3, 4, 5, 6, 7, 8};
}
constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2;

/// How Q, K and V are packed, and the dims they give.
struct QueryKeyValue {
  Dim batch, tokens, keys, head, v_head;
  bool cached = false;  ///< K and V are [B, N, L, H]: a cache that does not grow
};

Failure wrong_dims(const InferContext& c, std::size_t i, std::string_view role, const Shape& expected) {
  return c.error("{} must be {}, got {}", role, to_string(expected), to_string(c.type(i)));
}

Result<QueryKeyValue> multi_head_operands(const InferContext& c, std::int64_t heads) {
  const bool decoder = c.op() == op("nn.decoder_masked_attention");
  if (!require_rank(c, kQuery, "query", 3, 5)) return Failure{};
  if (ranked(c, kQuery) && c.type(kQuery).rank() == 4)
    return wrong_dims(c, kQuery, "query", Shape{Dim(), Dim(), Dim()});
  QueryKeyValue q{.batch = dim_of(c, kQuery, 0), .tokens = dim_of(c, kQuery, 1)};
  if (ranked(c, kQuery) && c.type(kQuery).rank() == 5) {
    if (c.has(kKey) || c.has(kValue)) return c.error("key and value stand next to a packed query");
    if (!require_dims(c, kQuery, "query", {q.batch, q.tokens, Dim(heads), Dim(3), Dim()})) return Failure{};
    q.keys = q.tokens;
    q.head = q.v_head = dim_of(c, kQuery, 4);
    return q;
  }
  const Dim hidden = dim_of(c, kQuery, 2);
  if (!c.has(kKey)) {
    if (!decoder && ranked(c, kQuery)) return c.error("key is missing and query is not packed");
    const auto head = per_head(c, hidden, 3 * heads, "query");
    if (!head) return Failure{};
    q.keys = q.tokens;
    q.head = q.v_head = *head;
    return q;
  }
  const auto head = per_head(c, hidden, heads, "query");
  if (!head || !require_rank(c, kKey, "key", 3, 5)) return Failure{};
  q.head = *head;
  if (!ranked(c, kKey)) return q;
  switch (c.type(kKey).rank()) {
    case 5:  // keys and values in one
      if (c.has(kValue)) return c.error("value stands next to a packed key");
      q.keys = dim_of(c, kKey, 1);
      q.v_head = q.head;
      if (!require_dims(c, kKey, "key", {q.batch, q.keys, Dim(heads), Dim(2), q.head})) return Failure{};
      return q;
    case 4:
      if (!c.has(kValue)) return c.error("value is missing");
      q.cached = true;
      q.keys = dim_of(c, kKey, 2);
      q.v_head = dim_of(c, kValue, 3);
      if (!require_dims(c, kKey, "key", {q.batch, Dim(heads), q.keys, q.head}) ||
          !require_dims(c, kValue, "value", {q.batch, Dim(heads), q.keys, q.v_head})) {
        return Failure{};
      }
      return q;
    default: {
      if (!c.has(kValue)) return c.error("value is missing");
      q.keys = dim_of(c, kKey, 1);
      if (!require_dims(c, kKey, "key", {q.batch, q.keys, hidden}) ||
          !require_dims(c, kValue, "value", {q.batch, q.keys, Dim()})) {
        return Failure{};
      }
      const auto v_head = per_head(c, dim_of(c, kValue, 2), heads, "value");
      if (!v_head) return Failure{};
      q.v_head = *v_head;
      return q;
    }
  }
}

}  // namespace

Status multi_head_attention(InferContext& c) {
  if (c.results() > 4) return c.error("has {} results, at most 4 exist", c.results());
  const MultiHeadLayout l = multi_head_layout(c.op());
  const auto heads = positive_attribute(c, "num_heads");
  if (!heads) return Failure{};
  const auto q = multi_head_operands(c, *heads);
  if (!q) return Failure{};
  const Dim n = *heads;
  if (!require_dims(c, l.bias, "bias", {(q->head * Dim(2) + q->v_head) * n})) return Failure{};

  if (c.has(l.past_length) && !require_dtype(c, l.past_length, "past_sequence_length", is_index, "int32"))
    return Failure{};
  if (!require_dims(c, l.past_key, "past_key", {q->batch, n, Dim(), q->head}) ||
      !require_dims(c, l.past_value, "past_value", {q->batch, n, Dim(), q->v_head})) {
    return Failure{};
  }
  if (c.has(l.past_key) != c.has(l.past_value)) return c.error("past_key and past_value only go together");
  const auto past =
      same_dim(c, dim_of(c, l.past_key, 2), dim_of(c, l.past_value, 2), "lengths of past_key and past_value");
  if (!past) return Failure{};
  // A cache with room to spare is updated in place; otherwise the new keys are appended.
  const bool has_past = c.has(l.past_key);
  const bool in_place = has_past && (c.has(l.past_length) || c.attrs.int_or("past_present_share_buffer", 0) != 0);
  const Dim present = q->cached || !has_past ? q->keys : in_place ? *past : *past + q->keys;
  const Dim attended = has_past && !q->cached ? Dim::unknown() : q->keys;
  if (!require_mask_index(c, l.mask, "key_padding_mask", q->batch, q->tokens, attended) ||
      !require_attention_bias(c, l.attention_bias, {q->batch, n, q->tokens, attended})) {
    return Failure{};
  }
  const DType dtype = c.type(kQuery).dtype();
  c.set(0, Type::tensor(dtype, {q->batch, q->tokens, n * q->v_head}));
  if (c.results() > 1) c.set(1, Type::tensor(dtype, {q->batch, n, present, q->head}));
  if (c.results() > 2) c.set(2, Type::tensor(dtype, {q->batch, n, present, q->v_head}));
  if (c.results() > 3) c.set(3, Type::tensor(dtype, {q->batch, n, q->tokens, present}));
  return ok();
}

// Operands query (tokens, D) or (tokens, N, 3, H), key, value, bias,
// token_offset (B, S), cumulative_sequence_length, attention_bias.
Status packed_multi_head_attention(InferContext& c) {
  constexpr std::size_t kBias = 3, kTokenOffset = 4, kAttentionBias = 6;
  const auto heads = positive_attribute(c, "num_heads");
  if (!heads || !require_rank(c, kQuery, "query", 2, 4) || !require_rank(c, kTokenOffset, "token_offset", 2))
    return Failure{};
  const Dim n = *heads, tokens = dim_of(c, kQuery, 0);
  Dim hidden = dim_of(c, kQuery, 1), v_hidden;
  if (ranked(c, kQuery) && c.type(kQuery).rank() != 2) {
    if (!require_dims(c, kQuery, "query", {tokens, n, Dim(3), Dim()})) return Failure{};
    hidden = v_hidden = n * dim_of(c, kQuery, 3);
  } else {
    v_hidden = dim_of(c, kValue, 1);
    if (!require_tensor(c, kKey, "key") || !require_tensor(c, kValue, "value") ||
        !require_dims(c, kKey, "key", {tokens, hidden}) || !require_dims(c, kValue, "value", {tokens, v_hidden})) {
      return Failure{};
    }
  }
  const Dim batch = dim_of(c, kTokenOffset, 0), length = dim_of(c, kTokenOffset, 1);
  if (!per_head(c, hidden, *heads, "query") || !per_head(c, v_hidden, *heads, "value") ||
      !require_dims(c, kBias, "bias", {hidden * Dim(2) + v_hidden}) ||
      !require_attention_bias(c, kAttentionBias, {batch, n, length, length})) {
    return Failure{};
  }
  c.set(0, Type::tensor(c.type(kQuery).dtype(), {tokens, v_hidden}));
  return ok();
}

// ---- Grouped queries

namespace {

constexpr std::size_t kCachedKey = 3, kCachedValue = 4;

/// Operand that holds the number of tokens with the new ones.
std::size_t total_length_operand(OpId o) { return o == op("nn.sparse_attention") ? 7 : 6; }

/// Some exporters pass a vector of one element where an operand is left out.
bool given(const Type& t) { return t && !(t.is_tensor() && t.ranked() && t.rank() <= 1); }

/// Heads and head size, from the attributes or, where silent, from the cache.
struct GroupedHeads {
  std::int64_t q = 0, kv = 0;
};

std::int64_t known_or_zero(const Dim& d) { return d.known() ? d.value() : 0; }

/// `cache_heads`, `cache_head`: of the key cache, 0 when unknown.
GroupedHeads grouped_heads(const Attrs& attrs, std::int64_t hidden, bool packed, std::int64_t cache_heads,
                           std::int64_t cache_head) {
  GroupedHeads h{attrs.int_or("num_heads", 0), attrs.int_or("kv_num_heads", 0)};
  if (!attrs.has("kv_num_heads")) h.kv = cache_heads;
  if (!attrs.has("num_heads") && hidden > 0 && cache_head > 0) {
    const std::int64_t all = hidden / cache_head;
    h.q = packed ? all - std::min(all, cache_heads) - std::min(all, cache_heads) : all;
  }
  return h;
}

/// Caches of int4 hold two elements per byte.
bool packed_cache(DType d) { return d == DType::UInt8; }

}  // namespace

Status group_query_attention(InferContext& c) {
  if (c.results() > 4) return c.error("has {} results, at most 4 exist", c.results());
  if (!require_rank(c, kQuery, "query", 3)) return Failure{};
  const bool packed = !given(c.type(kKey));
  if (!packed && !given(c.type(kValue))) return c.error("value is missing");
  if (c.has(kCachedKey) != c.has(kCachedValue)) return c.error("past_key and past_value only go together");
  if (c.has(kCachedKey) && !require_rank(c, kCachedKey, "past_key", 4)) return Failure{};
  const Dim hidden = dim_of(c, kQuery, 2);
  const GroupedHeads h = grouped_heads(c.attrs, known_or_zero(hidden), packed, known_or_zero(dim_of(c, kCachedKey, 1)),
                                       known_or_zero(dim_of(c, kCachedKey, 3)));
  if (h.q < 1) return c.error("num_heads must be positive");
  if (h.kv < 1) return c.error("kv_num_heads must be positive");
  if (h.q % h.kv != 0) return c.error("{} query heads are not a multiple of {} key and value heads", h.q, h.kv);
  std::int64_t stacked = 0;
  if (__builtin_mul_overflow(h.kv, packed ? 2 : 0, &stacked) || __builtin_add_overflow(stacked, h.q, &stacked)) {
    return c.error("kv_num_heads is {}, out of range", h.kv);
  }
  const auto head = per_head(c, hidden, stacked, "query");
  if (!head) return Failure{};

  const Dim batch = dim_of(c, kQuery, 0), tokens = dim_of(c, kQuery, 1), kv = h.kv;
  Dim keys = tokens;
  if (!packed) {
    const auto length = same_dim(c, dim_of(c, kKey, 1), dim_of(c, kValue, 1), "sequence lengths of key and value");
    if (!length || !require_dims(c, kKey, "key", {batch, *length, kv * *head}) ||
        !require_dims(c, kValue, "value", {batch, *length, kv * *head})) {
      return Failure{};
    }
    keys = *length;
  }
  const Dim cache_head = packed_cache(c.type(kCachedKey).dtype()) ? Dim::unknown() : *head;
  const auto past =
      same_dim(c, dim_of(c, kCachedKey, 2), dim_of(c, kCachedValue, 2), "lengths of past_key and past_value");
  if (!past || !require_dims(c, kCachedKey, "past_key", {batch, kv, *past, cache_head}) ||
      !require_dims(c, kCachedValue, "past_value", {batch, kv, *past, cache_head})) {
    return Failure{};
  }

  // The cache keeps its room, and grows when the tokens exceed it. Without
  // their number the file's own declaration decides.
  Dim present = keys;
  if (c.has(kCachedKey)) {
    const auto total = known_scalar(c, total_length_operand(c.op()));
    const bool declared = c.declared(1).is_tensor() && c.declared(1).ranked();
    present = c.op() == op("nn.sparse_attention") ? *past
              : total                             ? larger(*past, *total)
              : declared || past->is(0)           ? Dim::unknown()
                                                  : *past;
  }
  const DType dtype = c.type(kQuery).dtype();
  c.set(0, Type::tensor(dtype, {batch, tokens, Dim(h.q) * *head}));
  for (std::size_t i = 1; i < std::min<std::size_t>(c.results(), 3); ++i) {
    const std::size_t cache = i == 1 ? kCachedKey : kCachedValue;
    const Dim last = c.has(cache) && packed_cache(c.type(cache).dtype()) ? dim_of(c, cache, 3) : *head;
    c.set(i, Type::tensor(c.has(cache) ? c.type(cache).dtype() : dtype, {batch, kv, present, last}));
  }
  if (c.results() > 3) c.set(3, Type::tensor(dtype, {batch, Dim(h.q), tokens, Dim::unknown()}));
  return ok();
}

// Operands query (tokens, N · H) or packed with keys and values, key, value,
// key_cache and value_cache (blocks, block, Nkv, H), cumulative_sequence_length,
// past_seqlens, block_table (B, blocks per sequence), cos_cache, sin_cache.
// Results output, key_cache_out, value_cache_out.
Status paged_attention(InferContext& c) {
  if (c.results() > 3) return c.error("has {} results, at most 3 exist", c.results());
  const auto heads = positive_attribute(c, "num_heads");
  const auto kv_heads = positive_attribute(c, "kv_num_heads");
  if (!heads || !kv_heads || !require_rank(c, kQuery, "query", 2)) return Failure{};
  if (*heads % *kv_heads != 0)
    return c.error("{} query heads are not a multiple of {} key and value heads", *heads, *kv_heads);
  const bool packed = !c.has(kKey);
  const SymInt stacked = packed ? SymInt(*heads) + SymInt(*kv_heads) * SymInt(2) : SymInt(*heads);
  if (!stacked.known()) return c.error("kv_num_heads is {}, out of range", *kv_heads);
  const auto head = per_head(c, dim_of(c, kQuery, 1), stacked.value(), "query");
  if (!head) return Failure{};
  const Dim tokens = dim_of(c, kQuery, 0);
  for (const auto& [i, role] : {std::pair{kKey, "key"}, std::pair{kValue, "value"}}) {
    if (!packed && (!require_tensor(c, i, role) || !require_dims(c, i, role, {tokens, Dim(*kv_heads) * *head})))
      return Failure{};
  }
  for (const auto& [i, role] : {std::pair{kCachedKey, "key_cache"}, std::pair{kCachedValue, "value_cache"}}) {
    if (!require_tensor(c, i, role) || !require_dims(c, i, role, {Dim(), Dim(), Dim(*kv_heads), *head}))
      return Failure{};
  }
  c.set(0, Type::tensor(c.type(kQuery).dtype(), {tokens, Dim(*heads) * *head}));
  if (c.results() > 1) c.set(1, c.type(kCachedKey));
  if (c.results() > 2) c.set(2, c.type(kCachedValue));
  return ok();
}

// Operands query_layer (B, S, N · H) or (tokens, N · H), query_bias, rel_pos
// (1, N, S, S), weight (H, D), bias (D,), eco_a, token_offset (B, S).
Status gated_relative_position_bias(InferContext& c) {
  constexpr std::size_t kRelPos = 2, kWeight = 3, kBias = 4, kTokenOffset = 6;
  const auto heads = positive_attribute(c, "num_heads");
  if (!heads || !require_rank(c, 0, "query_layer", 2, 3) || !require_rank(c, kRelPos, "rel_pos", 4) ||
      !require_rank(c, kWeight, "weight", 2)) {
    return Failure{};
  }
  const bool packed = ranked(c, 0) && c.type(0).rank() == 2;
  if (packed && !require_rank(c, kTokenOffset, "token_offset", 2)) return Failure{};
  const auto head = per_head(c, dim_of(c, 0, -1), *heads, "query_layer");
  if (!head || !same_dim(c, *head, dim_of(c, kWeight, 0), "head size and rows of weight")) return Failure{};
  const Dim tokens = dim_of(c, kRelPos, 2);
  if (!require_dims(c, kRelPos, "rel_pos", {Dim(1), Dim(*heads), tokens, tokens}) ||
      !require_dims(c, kBias, "bias", {dim_of(c, kWeight, 1)})) {
    return Failure{};
  }
  c.set(0, Type::tensor(c.type(0).dtype(), {dim_of(c, packed ? kTokenOffset : 0, 0), Dim(*heads), tokens, tokens}));
  return ok();
}

// ---- Work

namespace {

double attribute(const CostContext& c, std::string_view name) { return static_cast<double>(c.attrs().int_or(name, 0)); }

}  // namespace

std::optional<AttentionGeometry> projected_geometry(const CostContext& c) {
  const ProjectedLayout l = projected_layout(c.node().op);
  const double heads = attribute(c, "num_heads");
  if (!c.type(kInput).is_static() || !c.type(kWeights).is_static() || heads < 1) return std::nullopt;
  const auto sizes = c.attrs().ints_or_empty("qkv_hidden_sizes");
  const double columns = c.dim(kWeights, 1);
  const double qk = sizes.size() == 3 ? static_cast<double>(sizes[0]) : columns / 3;
  const double v = sizes.size() == 3 ? static_cast<double>(sizes[2]) : columns / 3;
  AttentionGeometry g{.q_heads = heads, .kv_heads = heads, .head = qk / heads, .v_head = v / heads};
  if (l.token_offset != kNoOperand) {
    g.batch = 1;
    g.q_len = c.dim(kInput, 0);
    g.kv_len = c.dim(l.token_offset, 1);
    return g;
  }
  const bool shared = attribute(c, "past_present_share_buffer") != 0;
  g.batch = c.dim(kInput, 0);
  g.q_len = c.dim(kInput, 1);
  const double past = c.has(l.past) ? c.dim(l.past, 3) : 0;
  g.kv_len = shared && past > 0 ? past : past + g.q_len;
  return g;
}

std::optional<AttentionGeometry> multi_head_geometry(const CostContext& c) {
  const double heads = attribute(c, "num_heads");
  if (!c.type(kQuery).is_static() || !c.result(0).is_static() || heads < 1) return std::nullopt;
  const MultiHeadLayout l = multi_head_layout(c.node().op);
  const bool five = c.type(kQuery).rank() == 5;
  const double parts = !five && !c.has(kKey) ? 3 : 1;
  AttentionGeometry g{.batch = c.dim(kQuery, 0), .q_heads = heads, .kv_heads = heads, .q_len = c.dim(kQuery, 1)};
  g.head = five ? c.dim(kQuery, 4) : c.dim(kQuery, 2) / (heads * parts);
  const Type& out = c.result(0);
  g.v_head = static_cast<double>(out.shape()[2].value()) / heads;
  const bool cached = c.has(kKey) && c.type(kKey).rank() == 4;
  g.kv_len = !c.has(kKey) ? g.q_len : c.dim(kKey, cached ? 2 : 1);
  if (c.has(l.past_key) && !cached) {
    const bool in_place = c.has(l.past_length) || attribute(c, "past_present_share_buffer") != 0;
    g.kv_len = c.dim(l.past_key, 2) + (in_place ? 0 : g.kv_len);
  }
  return g;
}

std::optional<AttentionGeometry> packed_multi_head_geometry(const CostContext& c) {
  constexpr std::size_t kTokenOffset = 4;
  const double heads = attribute(c, "num_heads");
  if (!c.type(kQuery).is_static() || !c.result(0).is_static() || heads < 1) return std::nullopt;
  const bool five = c.type(kQuery).rank() == 4;
  const Type& out = c.result(0);
  return AttentionGeometry{1,
                           heads,
                           heads,
                           c.dim(kQuery, 0),
                           c.dim(kTokenOffset, 1),
                           five ? c.dim(kQuery, 3) : c.dim(kQuery, 1) / heads,
                           static_cast<double>(out.shape()[1].value()) / heads};
}

std::optional<AttentionGeometry> grouped_geometry(const CostContext& c) {
  if (!c.type(kQuery).is_static() || !c.result(0).is_static()) return std::nullopt;
  const auto dim = [&](std::size_t i, int d) { return static_cast<std::int64_t>(c.dim(i, d)); };
  const bool packed = !given(c.type(kKey));
  const GroupedHeads h = grouped_heads(c.attrs(), dim(kQuery, 2), packed, dim(kCachedKey, 1), dim(kCachedKey, 3));
  if (h.q < 1 || h.kv < 1) return std::nullopt;
  AttentionGeometry g{.batch = c.dim(kQuery, 0),
                      .q_heads = static_cast<double>(h.q),
                      .kv_heads = static_cast<double>(h.kv),
                      .q_len = c.dim(kQuery, 1)};
  g.head = g.v_head = static_cast<double>(c.result(0).shape()[2].value()) / g.q_heads;
  const double keys = packed ? g.q_len : c.dim(kKey, 1);
  const Data* total = c.data(total_length_operand(c.node().op));
  if (total && total->ints() && total->size() == 1 && total->ints()->front().known()) {
    g.kv_len = std::max(0.0, static_cast<double>(total->ints()->front().value()));
  } else if (c.node().results.size() > 1 && c.result(1).is_static()) {
    g.kv_len = static_cast<double>(c.result(1).shape()[2].value());
  } else {
    g.kv_len = std::max(c.dim(kCachedKey, 2), keys);
  }
  g.causal = c.attrs().int_or("causal", 1) != 0;
  g.past = g.causal ? std::max(g.kv_len - g.q_len, 0.0) : 0;
  g.window = g.causal ? std::max(attribute(c, "local_window_size"), 0.0) : 0;
  g.writes_cache = true;
  return g;
}

std::optional<AttentionGeometry> paged_geometry(const CostContext& c) {
  constexpr std::size_t kBlockTable = 7;
  const double heads = attribute(c, "num_heads"), kv_heads = attribute(c, "kv_num_heads");
  if (!c.result(0).is_static() || heads < 1) return std::nullopt;
  const double head = static_cast<double>(c.result(0).shape()[1].value()) / heads;
  // As many keys as the block table can address.
  return AttentionGeometry{1,    heads, kv_heads, c.dim(kQuery, 0), c.dim(kBlockTable, 1) * c.dim(kCachedKey, 1),
                           head, head};
}

void projected_attention_cost(const CostContext& c, OpCost& cost) {
  attention_cost_by(c, cost, projected_geometry);
  if (!c.type(kInput).is_static()) return;
  const double rows = c.elements(kInput) / std::max(1.0, c.dim(kInput, -1));
  cost.macs += rows * c.elements(kWeights);
  if (c.has(kProjectionBias)) cost.flops += rows * c.dim(kWeights, 1);
}

void gated_relative_position_bias_cost(const CostContext& c, OpCost& cost) {
  constexpr std::size_t kWeight = 3;
  const double vectors = c.elements(0) / std::max(1.0, c.dim(kWeight, 0));
  cost.macs = vectors * c.elements(kWeight);
  cost.flops = 4 * c.result_elements(0);  // gate, scale, shift, product with rel_pos
}

}  // namespace perfc::rules
