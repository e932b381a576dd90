/// Rules for attention and rotary embeddings; com.microsoft's own forms are in
/// attention_ms.cpp.
#include "ir/ops/attention.h"

#include "ir/ops/attention_checks.h"
#include "ir/ops/attention_operands.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Result<Dim> per_head(const InferContext& c, const Dim& hidden, std::int64_t heads, std::string_view role) {
  if (hidden.known() && hidden.value() % heads != 0) {
    return c.error("{} has {} channels, which {} heads do not divide", role, hidden.value(), heads);
  }
  return trunc_div(hidden, heads);
}

Result<std::int64_t> positive_attribute(const InferContext& c, std::string_view name) {
  if (!c.attrs.has(name)) return c.error("has no attribute '{}'", name);
  const std::int64_t v = c.attrs.int_or(name, 0);
  if (v < 1) return c.error("{} must be positive, is {}", name, v);
  if (v > INT32_MAX) return c.error("{} is {}, out of range", name, v);
  return v;
}

namespace {

/// What Q, K and V agree on, in the 4-D view [batch, heads, tokens, head].
struct Heads {
  Dim batch, q_heads, kv_heads, q_len, kv_len, head, v_head;
};

Result<Dim> agree(const InferContext& c, std::initializer_list<Dim> dims, std::string_view what) {
  Dim out;
  for (const Dim& d : dims) {
    auto same = same_dim(c, out, d, what);
    if (!same) return Failure{};
    out = *same;
  }
  return out;
}

Status require_multiple(const InferContext& c, const Dim& q_heads, const Dim& kv_heads) {
  if (!q_heads.known() || !kv_heads.known()) return ok();
  if (kv_heads.value() > 0 && q_heads.value() % kv_heads.value() == 0) return ok();
  return c.error("{} query heads are not a multiple of {} key and value heads", q_heads.value(), kv_heads.value());
}

/// 4-D operands [batch, heads, tokens, head].
Result<Heads> unpacked_heads(const InferContext& c) {
  const auto batch = agree(c, {dim_of(c, 0, 0), dim_of(c, 1, 0), dim_of(c, 2, 0)}, "batches of Q, K and V");
  if (!batch) return Failure{};
  const auto kv_heads = agree(c, {dim_of(c, 1, 1), dim_of(c, 2, 1)}, "heads of K and V");
  if (!kv_heads) return Failure{};
  const auto kv_len = agree(c, {dim_of(c, 1, 2), dim_of(c, 2, 2)}, "sequence lengths of K and V");
  if (!kv_len) return Failure{};
  const auto head = agree(c, {dim_of(c, 0, 3), dim_of(c, 1, 3)}, "head sizes of Q and K");
  if (!head) return Failure{};
  if (!require_multiple(c, dim_of(c, 0, 1), *kv_heads)) return Failure{};
  return Heads{*batch, dim_of(c, 0, 1), *kv_heads, dim_of(c, 0, 2), *kv_len, *head, dim_of(c, 2, 3)};
}

/// 3-D operands [batch, tokens, heads · head], with the attributes that split them.
Result<Heads> packed_heads(const InferContext& c) {
  const auto q_heads = positive_attribute(c, "q_num_heads");
  if (!q_heads) return Failure{};
  const auto kv_heads = positive_attribute(c, "kv_num_heads");
  if (!kv_heads || !require_multiple(c, *q_heads, *kv_heads)) return Failure{};
  const auto batch = agree(c, {dim_of(c, 0, 0), dim_of(c, 1, 0), dim_of(c, 2, 0)}, "batches of Q, K and V");
  if (!batch) return Failure{};
  const auto kv_len = agree(c, {dim_of(c, 1, 1), dim_of(c, 2, 1)}, "sequence lengths of K and V");
  if (!kv_len) return Failure{};
  const auto q = per_head(c, dim_of(c, 0, 2), *q_heads, "Q");
  const auto k = q ? per_head(c, dim_of(c, 1, 2), *kv_heads, "K") : q;
  const auto v = k ? per_head(c, dim_of(c, 2, 2), *kv_heads, "V") : k;
  if (!v) return Failure{};
  const auto head = agree(c, {*q, *k}, "head sizes of Q and K");
  if (!head) return Failure{};
  return Heads{*batch, *q_heads, *kv_heads, dim_of(c, 0, 1), *kv_len, *head, *v};
}

/// The mask broadcasts to (batch, q_heads, q_len, total); its last dim may stay
/// short of `total`, the rest is masked out.
Status require_mask(const InferContext& c, std::size_t i, const Shape& scores) {
  if (!c.has(i)) return ok();
  if (!require_dtype(
          c, i, "attn_mask", [](DType d) { return is_bool(d) || is_numeric(d); }, "bool or numeric")) {
    return Failure{};
  }
  if (!require_rank(c, i, "attn_mask", 1, 4)) return Failure{};
  if (!ranked(c, i)) return ok();
  const Shape& mask = c.type(i).shape();
  for (std::size_t d = 1; d <= mask.size(); ++d) {
    const Dim& actual = mask[mask.size() - d];
    const Dim& expected = scores[scores.size() - d];
    if (!actual.known() || !expected.known() || actual == expected || actual.is(1)) continue;
    if (d == 1 && actual.value() < expected.value()) continue;
    return c.error("attn_mask {} does not broadcast to {}", to_string(mask), to_string(scores));
  }
  return ok();
}

Status require_range(const InferContext& c, std::string_view name, std::int64_t fallback, std::int64_t least,
                     std::int64_t most) {
  const std::int64_t v = c.attrs.int_or(name, fallback);
  if (v >= least && v <= most) return ok();
  return c.error("{} is {}, out of range", name, v);
}

using enum AttentionOperand::Index;

}  // namespace

// Operands Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen;
// results Y, present_key, present_value, qk_matmul_output (ai.onnx 23).
Status attention(InferContext& c) {
  if (c.results() > 4) return c.error("has {} results, at most 4 exist", c.results());
  for (std::size_t i : {kQ, kK, kV}) {
    static constexpr std::string_view kRoles[] = {"Q", "K", "V"};
    if (!require_rank(c, i, kRoles[i], 3, 4)) return Failure{};
    if (!require_dtype(c, i, kRoles[i], is_numeric, "numeric")) return Failure{};
  }
  if (!require_same_dtype(c, kQ, kK)) return Failure{};
  if (c.has(kPastKey) != c.has(kPastValue)) return c.error("past_key and past_value only go together");
  if (c.has(kNonpad) && c.has(kPastKey)) return c.error("nonpad_kv_seqlen and past_key exclude each other");
  if (!require_range(c, "is_causal", 0, 0, 1) || !require_range(c, "qk_matmul_output_mode", 0, 0, 3) ||
      !require_range(c, "left_window_size", -1, -1, INT64_MAX) ||
      !require_range(c, "right_window_size", -1, -1, INT64_MAX)) {
    return Failure{};
  }
  if (c.attrs.float_or("softcap", 0) < 0) return c.error("softcap is negative");

  // One ranked operand settles the rank of all.
  std::size_t rank = 0;
  for (std::size_t i : {kQ, kK, kV}) {
    if (!ranked(c, i)) continue;
    if (rank != 0 && c.type(i).rank() != rank) return c.error("Q, K and V must have one rank");
    rank = c.type(i).rank();
  }
  if (rank == 0) {
    c.set(0, Type::unranked(c.type(kQ).dtype()));
    for (std::size_t i = 1; i < c.results(); ++i) {
      c.set(i, Type::tensor(c.type(i == 2 ? kV : kQ).dtype(), unknown_shape(4)));
    }
    return ok();
  }
  const auto h = rank == 4 ? unpacked_heads(c) : packed_heads(c);
  if (!h) return Failure{};

  const auto past_len =
      agree(c, {dim_of(c, kPastKey, 2), dim_of(c, kPastValue, 2)}, "lengths of past_key and past_value");
  if (!past_len) return Failure{};
  if (!require_dims(c, kPastKey, "past_key", {h->batch, h->kv_heads, *past_len, h->head}) ||
      !require_dims(c, kPastValue, "past_value", {h->batch, h->kv_heads, *past_len, h->v_head})) {
    return Failure{};
  }
  const Dim total = c.has(kPastKey) ? h->kv_len + *past_len : h->kv_len;
  const Shape scores{h->batch, h->q_heads, h->q_len, total};
  if (!require_mask(c, kMask, scores)) return Failure{};
  if (c.has(kNonpad) && (!require_dtype(c, kNonpad, "nonpad_kv_seqlen", is_int64, "int64") ||
                         !require_dims(c, kNonpad, "nonpad_kv_seqlen", {h->batch}))) {
    return Failure{};
  }

  const DType dtype = c.type(kQ).dtype();
  Shape y{h->batch, h->q_heads, h->q_len, h->v_head};
  if (rank == 3) y = {h->batch, h->q_len, h->q_heads * h->v_head};
  c.set(0, Type::tensor(dtype, std::move(y)));
  if (c.results() > 1) c.set(1, Type::tensor(dtype, {h->batch, h->kv_heads, total, h->head}));
  if (c.results() > 2) c.set(2, Type::tensor(c.type(kV).dtype(), {h->batch, h->kv_heads, total, h->v_head}));
  if (c.results() > 3) c.set(3, Type::tensor(dtype, scores));
  return ok();
}

// Operands Q, K, V, all 4-D (ai.onnx.preview 1).
Status flex_attention(InferContext& c) {
  static constexpr std::string_view kRoles[] = {"Q", "K", "V"};
  for (std::size_t i : {kQ, kK, kV}) {
    if (!require_rank(c, i, kRoles[i], 4) || !require_dtype(c, i, kRoles[i], is_float, "floating point"))
      return Failure{};
  }
  if (!require_same_dtype(c, kQ, kK) || !require_same_dtype(c, kQ, kV)) return Failure{};
  const auto h = unpacked_heads(c);
  if (!h) return Failure{};
  c.set(0, Type::tensor(c.type(kQ).dtype(), {h->batch, h->q_heads, h->q_len, h->v_head}));
  return ok();
}

// Operands Q [..., S, d], K [..., T, d], V [..., T, v] and a mask that
// broadcasts to [..., S, T]; leading dims broadcast. What passes recognise.
Status sdpa(InferContext& c) {
  static constexpr std::string_view kRoles[] = {"Q", "K", "V"};
  Shape leading;
  for (std::size_t i : {kQ, kK, kV}) {
    if (!require_rank(c, i, kRoles[i], 2, kAnyRank)) return Failure{};
    if (!ranked(c, i)) {
      c.set(0, Type::unranked(c.type(kQ).dtype()));
      return ok();
    }
    const Shape& s = c.type(i).shape();
    auto wider = broadcast_shapes(c, leading, Shape(s.begin(), s.end() - 2));
    if (!wider) return Failure{};
    leading = *std::move(wider);
  }
  if (!agree(c, {dim_of(c, kQ, -1), dim_of(c, kK, -1)}, "head sizes of Q and K")) return Failure{};
  const auto kv_len = agree(c, {dim_of(c, kK, -2), dim_of(c, kV, -2)}, "sequence lengths of K and V");
  if (!kv_len) return Failure{};
  Shape scores = leading;
  scores.push_back(dim_of(c, kQ, -2));
  scores.push_back(*kv_len);
  if (c.has(kMask)) {
    if (!require_tensor(c, kMask, "mask")) return Failure{};
    if (ranked(c, kMask)) {
      auto wider = broadcast_shapes(c, scores, c.type(kMask).shape());
      if (!wider) return Failure{};
      scores = *std::move(wider);
    }
  }
  scores.back() = dim_of(c, kV, -1);
  c.set(0, Type::tensor(c.type(kQ).dtype(), std::move(scores)));
  return ok();
}

// ai.onnx 23: X, cos_cache, sin_cache, position_ids. com.microsoft: input,
// position_ids, cos_cache, sin_cache; told apart by the integer operand.
Status rotary_embedding(InferContext& c) {
  if (!require_rank(c, 0, "X", 3, 4) || !require_dtype(c, 0, "X", is_float, "floating point")) return Failure{};
  const bool ms = c.operands() > 3 && is_integer(c.type(1).dtype());
  const std::size_t cos = ms ? 2 : 1, sin = ms ? 3 : 2;
  if (!require_rank(c, cos, "cos_cache", 2, 3) || !require_rank(c, sin, "sin_cache", 2, 3)) return Failure{};
  if (!agree(c, {dim_of(c, cos, -1), dim_of(c, sin, -1)}, "last dims of cos_cache and sin_cache")) return Failure{};
  if (c.has(ms ? 1 : 3) && !require_dtype(c, ms ? 1 : 3, "position_ids", is_index, "int64")) return Failure{};

  const std::int64_t heads = c.attrs.int_or("num_heads", 0);
  const std::int64_t rotary = c.attrs.int_or("rotary_embedding_dim", 0);
  if (heads < 0 || rotary < 0) return c.error("num_heads and rotary_embedding_dim cannot be negative");
  Dim head;
  if (ranked(c, 0) && c.type(0).rank() == 4) {
    head = dim_of(c, 0, 3);
  } else if (heads > 0) {
    const auto size = per_head(c, dim_of(c, 0, 2), heads, "X");
    if (!size) return Failure{};
    head = *size;
  } else if (!ms && ranked(c, 0)) {
    return c.error("a 3-D X needs the attribute 'num_heads'");
  }
  const Dim rotated = rotary > 0 ? Dim(rotary) : head;
  if (rotated.known() && head.known() && rotated.value() > head.value()) {
    return c.error("rotary_embedding_dim {} exceeds the head size {}", rotated.value(), head.value());
  }
  if (rotated.known() && rotated.value() % 2 != 0)
    return c.error("cannot rotate an odd number of channels: {}", rotated.value());
  const Dim half = dim_of(c, cos, -1);
  if (rotated.known() && half.known() && half.value() != rotated.value() / 2) {
    return c.error("cos_cache has {} columns, expected {}", half.value(), rotated.value() / 2);
  }
  c.set(0, c.type(0));
  return ok();
}

// ---- Work

namespace {

double heads_attribute(const CostContext& c, std::string_view name) {
  return static_cast<double>(c.attrs().int_or(name, 0));
}

bool static_operands(const CostContext& c) {
  return c.type(kQ).is_static() && c.type(kK).is_static() && c.type(kV).is_static();
}

}  // namespace

std::optional<AttentionGeometry> onnx_geometry(const CostContext& c) {
  if (!static_operands(c)) return std::nullopt;
  const double past = c.has(kPastKey) ? c.dim(kPastKey, 2) : 0;
  AttentionGeometry g;
  if (c.type(kQ).rank() == 4) {
    g = {c.dim(kQ, 0), c.dim(kQ, 1), c.dim(kK, 1), c.dim(kQ, 2), c.dim(kK, 2) + past, c.dim(kQ, 3), c.dim(kV, 3)};
  } else {
    const double q = heads_attribute(c, "q_num_heads"), kv = heads_attribute(c, "kv_num_heads");
    if (c.type(kQ).rank() != 3 || q < 1 || kv < 1) return std::nullopt;
    g = {c.dim(kQ, 0), q, kv, c.dim(kQ, 1), c.dim(kK, 1) + past, c.dim(kQ, 2) / q, c.dim(kV, 2) / kv};
  }
  g.causal = c.attrs().int_or("is_causal", 0) != 0 || c.attrs().int_or("right_window_size", -1) == 0;
  if (!g.causal) return g;
  g.past = past;
  g.window = static_cast<double>(c.attrs().int_or("left_window_size", -1)) + 1;
  return g;
}

std::optional<AttentionGeometry> sdpa_geometry(const CostContext& c) {
  if (!static_operands(c)) return std::nullopt;
  const double q_len = c.dim(kQ, -2), v_head = c.dim(kV, -1);
  if (q_len == 0 || v_head == 0) return std::nullopt;
  AttentionGeometry g{.q_len = q_len, .kv_len = c.dim(kK, -2), .head = c.dim(kQ, -1), .v_head = v_head};
  const double stacked = c.result_elements(0) / (q_len * v_head);  // batch · heads
  g.q_heads = c.type(kQ).rank() > 2 ? c.dim(kQ, -3) : 1;
  g.kv_heads = c.type(kK).rank() > 2 ? c.dim(kK, -3) : 1;
  if (g.q_heads == 0) return std::nullopt;
  g.batch = stacked / g.q_heads;
  g.causal = c.attrs().int_or("is_causal", 0) != 0;
  return g;
}

namespace {

/// Of tables of all positions (cosines, sines), a row is read for each token.
void leave_out_unread_rows(const CostContext& c, double tokens, OpCost& cost) {
  for (std::size_t i = 1; i < c.operands(); ++i) {
    const bool table = c.has(i) && is_float(c.type(i).dtype()) && c.type(i).is_static() && c.type(i).rank() == 2;
    if (table && c.dim(i, 0) > tokens) cost.leave_unread(c, i, 1 - tokens / c.dim(i, 0));
  }
}

}  // namespace

void attention_cost_by(const CostContext& c, OpCost& cost, AttentionFn of) {
  const auto g = of(c);
  if (!g) return;
  cost.macs = g->macs();
  cost.flops = g->flops();
  if (c.attrs().int_or("do_rotary", 0) == 1) leave_out_unread_rows(c, g->batch * g->q_len, cost);
}

void rotary_embedding_cost(const CostContext& c, OpCost& cost) {
  cost.flops = 4 * c.result_elements(0);
  if (!c.type(0).is_static()) return;
  leave_out_unread_rows(c, c.dim(0, 0) * c.dim(0, c.type(0).rank() == 4 ? 2 : 1), cost);
}

}  // namespace perfc::rules
