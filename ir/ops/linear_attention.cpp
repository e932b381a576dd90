#include "ir/ops/linear_attention.h"

#include <algorithm>

#include "ir/ops/attention_checks.h"
#include "ir/ops/carried_state.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc {
namespace {

constexpr std::string_view kRule = "update_rule", kGatedDelta = "gated_delta";
constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2;

/// Operands of nn.linear_attention, behind query, key and value …
struct Packed {
  enum Index : std::size_t { kState = 3, kDecay, kBeta };
};
/// … and of nn.gated_delta_net.
struct TokenMajor {
  enum Index : std::size_t { kEnds = 3, kDecay, kBeta, kState, kLogDecay, kDecayBias };
};

bool is_gated(std::string_view rule) { return rule == "gated" || rule == kGatedDelta; }
bool is_delta(std::string_view rule) { return rule == "delta" || rule == kGatedDelta; }

/// Of nn.gated_delta_net: query, key and value lie in one operand.
template <class Context>
bool in_one(const Context& c) {
  return !c.has(kKey) && !c.has(kValue);
}

std::optional<LinearAttention> packed_measures(const CostContext& c) {
  LinearAttention a{.batch = c.dim(kQuery, 0), .tokens = c.dim(kQuery, 1)};
  a.query_heads = static_cast<double>(c.attrs().int_or("q_num_heads", 0));
  a.heads = static_cast<double>(c.attrs().int_or("kv_num_heads", 0));
  if (a.query_heads < 1 || a.heads < 1) return std::nullopt;
  a.keys = c.dim(kQuery, 2) / a.query_heads;
  a.values = c.dim(kValue, 2) / a.heads;
  a.key_heads = a.keys > 0 ? c.dim(kKey, 2) / a.keys : a.heads;
  a.by_channel = c.has(Packed::kDecay) && c.dim(Packed::kDecay, 2) > a.heads;
  return a;
}

std::optional<LinearAttention> token_major_measures(const CostContext& c) {
  LinearAttention a{.token_major = true};
  if (in_one(c)) {
    if (!c.has(TokenMajor::kState)) return std::nullopt;
    a.heads = c.dim(TokenMajor::kState, 1), a.values = c.dim(TokenMajor::kState, 2),
    a.keys = c.dim(TokenMajor::kState, 3);
    if (a.keys < 1) return std::nullopt;
    a.query_heads = a.key_heads = (c.dim(kQuery, 1) - a.heads * a.values) / (2 * a.keys);
  } else {
    a.heads = c.dim(kValue, -2), a.values = c.dim(kValue, -1), a.keys = c.dim(kQuery, -1);
    a.query_heads = c.dim(kQuery, -2), a.key_heads = c.dim(kKey, -2);
  }
  const bool stacked = !in_one(c) && c.type(kQuery).rank() == 4;
  const double all = stacked ? c.dim(kQuery, 0) * c.dim(kQuery, 1) : c.dim(kQuery, 0);
  a.batch = stacked                     ? c.dim(kQuery, 0)
            : c.has(TokenMajor::kEnds)  ? c.elements(TokenMajor::kEnds) - 1
            : c.has(TokenMajor::kState) ? c.dim(TokenMajor::kState, 0)
                                        : 1;
  a.tokens = a.batch > 0 ? all / a.batch : 0;
  a.by_channel = c.has(TokenMajor::kDecay) && c.type(TokenMajor::kDecay).rank() == (stacked ? 4 : 3);
  return a;
}

}  // namespace

double LinearAttention::macs() const {
  const double reads = std::max(query_heads, heads);
  return batch * tokens * keys * values * (reads + heads * (delta ? 2 : 1));
}

double LinearAttention::flops() const { return gated ? batch * tokens * keys * values * heads : 0; }

std::optional<LinearAttention> linear_attention_of(const CostContext& c) {
  for (const std::size_t i : {kQuery, kKey, kValue})
    if (c.has(i) && !c.type(i).is_static()) return std::nullopt;
  auto a = c.node().is(op("nn.linear_attention"))  ? packed_measures(c)
           : c.node().is(op("nn.gated_delta_net")) ? token_major_measures(c)
                                                   : std::nullopt;
  if (!a) return a;
  const double state = a->batch * a->heads * a->keys * a->values;
  const bool reads = c.has(a->token_major ? std::size_t{TokenMajor::kState} : std::size_t{Packed::kState});
  a->moved = state * ((reads ? 1 : 0) + (c.node().results.size() > 1 ? 1 : 0));
  const std::string_view rule = c.attrs().string_or(kRule, kGatedDelta);
  a->gated = is_gated(rule), a->delta = is_delta(rule);
  return a;
}

namespace rules {
namespace {

Status require_rule(const InferContext& c, std::size_t decay, std::size_t beta) {
  const std::string_view rule = c.attrs.string_or(kRule, kGatedDelta);
  if (!is_gated(rule) && !is_delta(rule) && rule != "linear") return c.error("unknown update_rule '{}'", rule);
  if (is_gated(rule) && !c.has(decay)) return c.error("update_rule '{}' needs decay", rule);
  if (is_delta(rule) && !c.has(beta)) return c.error("update_rule '{}' needs beta", rule);
  return ok();
}

/// One of the two is a multiple of the other: several queries read a state, or several states have a query.
Status require_heads(const InferContext& c, std::int64_t queries, std::int64_t states) {
  if (queries < 1 || states < 1 || (queries % states != 0 && states % queries != 0))
    return c.error("{} query heads and {} key and value heads: neither is a multiple of the other", queries, states);
  return ok();
}

/// Channels of a query and a key; an error where the keys are no whole heads of as many.
Result<Dim> key_channels(const InferContext& c, std::int64_t queries, std::int64_t states) {
  const auto channels = per_head(c, dim_of(c, kQuery, 2), queries, "query");
  const Dim all = dim_of(c, kKey, 2);
  if (!channels || !channels->known() || !all.known() || channels->value() < 1) return channels;
  const std::int64_t heads = all.value() / channels->value();
  if (all.value() % channels->value() != 0 || heads < 1 || std::max(queries, states) % heads != 0)
    return c.error("key has {} channels, which are no heads of the query's {}", all.value(), channels->value());
  return channels;
}

}  // namespace

// Operands query, key, value [B, T, heads · size], past_state [B, Hkv, dk, dv], decay, beta; results output,
// present_state (ai.onnx 27; com.microsoft's has `state_window`, and fewer heads of queries than of states).
Status linear_attention(InferContext& c) {
  if (c.results() > 2) return c.error("has {} results, at most 2 exist", c.results());
  static constexpr std::string_view kRoles[] = {"query", "key", "value"};
  for (const std::size_t i : {kQuery, kKey, kValue}) {
    if (!require_rank(c, i, kRoles[i], 3) || !require_dtype(c, i, kRoles[i], is_float, "floating point"))
      return Failure{};
  }
  if (!require_rule(c, Packed::kDecay, Packed::kBeta)) return Failure{};
  const auto queries = positive_attribute(c, "q_num_heads");
  const auto states = queries ? positive_attribute(c, "kv_num_heads") : queries;
  if (!states || !require_heads(c, *queries, *states)) return Failure{};
  Dim batch, tokens;
  for (const std::size_t i : {kQuery, kKey, kValue}) {
    const auto b = same_dim(c, batch, dim_of(c, i, 0), "batches of Q, K and V");
    const auto t = b ? same_dim(c, tokens, dim_of(c, i, 1), "sequence lengths of query, key and value") : b;
    if (!t) return Failure{};
    batch = *b, tokens = *t;
  }
  const auto keys = key_channels(c, *queries, *states);
  const auto values = keys ? per_head(c, dim_of(c, kValue, 2), *states, "value") : keys;
  if (!values) return Failure{};
  const auto state = windowed_state(c, {batch, Dim(*states), *keys, *values});
  if (!state || !require_dims(c, Packed::kState, "past_state", *state)) return Failure{};
  for (const auto& [i, role, wide] : {std::tuple{Packed::kDecay, std::string_view("decay"), Dim(*states) * *keys},
                                      std::tuple{Packed::kBeta, std::string_view("beta"), Dim(1)}}) {
    if (!c.has(i)) continue;
    if (!require_dims(c, i, role, {batch, tokens, Dim::unknown()})) return Failure{};
    const Dim last = dim_of(c, i, 2);
    if (last.known() && !last.is(*states) && wide.known() && last != wide)
      return c.error("{} has {} channels, expected {} or {}", role, last.value(), *states, to_string(wide));
  }
  c.set(0, Type::tensor(c.type(kQuery).dtype(), {batch, tokens, Dim(std::max(*queries, *states)) * *values}));
  const DType dtype = c.has(Packed::kState) ? c.type(Packed::kState).dtype()
                      : c.declared(1)       ? c.declared(1).dtype()
                                            : c.type(kQuery).dtype();
  if (c.results() > 1) c.set(1, Type::tensor(dtype, *state));
  return ok();
}

namespace {

/// Heads and channels of nn.gated_delta_net.
struct TokenHeads {
  Dim query_heads, key_heads, heads, keys, values;
};

/// Query, key and value side by side in the columns of one matrix: the state says how many heads there are.
Result<TokenHeads> heads_in_one(const InferContext& c) {
  if (!require_rank(c, kQuery, "query", 2)) return Failure{};
  if (!c.has(TokenMajor::kState)) return c.error("query, key and value in one operand need initial_state");
  if (!require_rank(c, TokenMajor::kState, "initial_state", 4)) return Failure{};
  TokenHeads out{.heads = dim_of(c, TokenMajor::kState, 1),
                 .keys = dim_of(c, TokenMajor::kState, 3),
                 .values = dim_of(c, TokenMajor::kState, 2)};
  const Dim all = dim_of(c, kQuery, 1);
  if (!all.known() || !out.heads.known() || !out.keys.known() || !out.values.known()) return out;
  const std::int64_t rest = all.value() - out.heads.value() * out.values.value(), pair = 2 * out.keys.value();
  if (pair < 1 || rest < pair || rest % pair != 0)
    return c.error("query has {} columns, which are no heads of {} and {} · {} channels", all.value(), out.keys.value(),
                   out.heads.value(), out.values.value());
  out.query_heads = out.key_heads = Dim(rest / pair);
  return out;
}

Result<TokenHeads> heads_apart(const InferContext& c, std::size_t rank) {
  static constexpr std::string_view kRoles[] = {"query", "key", "value"};
  for (const std::size_t i : {kQuery, kKey, kValue}) {
    if (!c.has(i)) return c.error("has a key or a value without the other");
    if (!require_rank(c, i, kRoles[i], rank)) return Failure{};
    for (std::size_t d = 0; d + 2 < rank; ++d)
      if (!same_dim(c, dim_of(c, kQuery, static_cast<int>(d)), dim_of(c, i, static_cast<int>(d)),
                    "tokens of query, key and value"))
        return Failure{};
  }
  const auto keys = same_dim(c, dim_of(c, kQuery, -1), dim_of(c, kKey, -1), "head sizes of query and key");
  const auto heads = same_dim(c, dim_of(c, kQuery, -2), dim_of(c, kKey, -2), "heads of query and key");
  if (!keys || !heads) return Failure{};
  return TokenHeads{*heads, *heads, dim_of(c, kValue, -2), *keys, dim_of(c, kValue, -1)};
}

}  // namespace

// Operands query, key, value [tokens, heads, size] or [B, T, heads, size], or all in query [tokens, columns]; ends of
// sequences, decay, beta, initial_state [B, Hv, dv, dk], a_log, dt_bias; results output, final_state, state_update
// (com.microsoft.GatedDeltaNet).
Status gated_delta_net(InferContext& c) {
  if (c.results() > 3) return c.error("has {} results, at most 3 exist", c.results());
  if (!require_dtype(c, kQuery, "query", is_float, "floating point")) return Failure{};
  if (!require_rule(c, TokenMajor::kDecay, TokenMajor::kBeta)) return Failure{};
  if (!ranked(c, kQuery)) {
    c.set(0, Type::unranked(c.type(kQuery).dtype()));
    return ok();
  }
  const std::size_t rank = c.type(kQuery).rank();
  if (!in_one(c) && rank != 3 && rank != 4) return c.error("query must have 3 or 4 dims, has {}", rank);
  const auto h = in_one(c) ? heads_in_one(c) : heads_apart(c, rank);
  if (!h) return Failure{};
  if (h->query_heads.known() && h->heads.known() && !require_heads(c, h->query_heads.value(), h->heads.value()))
    return Failure{};
  const bool stacked = !in_one(c) && rank == 4;
  if (!stacked && !c.has(TokenMajor::kEnds) && !c.has(TokenMajor::kState))
    return c.error("neither cu_seqlens nor initial_state says how many sequences there are");
  const Dim batch = stacked                    ? dim_of(c, kQuery, 0)
                    : c.has(TokenMajor::kEnds) ? dim_of(c, TokenMajor::kEnds, 0) - Dim(1)
                                               : dim_of(c, TokenMajor::kState, 0);
  const Shape state{batch, h->heads, h->values, h->keys};
  if (!require_dims(c, TokenMajor::kState, "initial_state", state)) return Failure{};

  const Dim heads =
      h->query_heads.known() && h->heads.known() ? Dim(std::max(h->query_heads.value(), h->heads.value())) : h->heads;
  Shape out{dim_of(c, kQuery, 0)};
  if (stacked) out.push_back(dim_of(c, kQuery, 1));
  out.insert(out.end(), {heads, h->values});
  c.set(0, Type::tensor(c.type(kQuery).dtype(), std::move(out)));
  if (c.results() > 1) c.set(1, Type::tensor(DType::Float32, state));
  if (c.results() < 3) return ok();
  const auto captured = captured_tokens(c);
  if (!captured) return Failure{};
  const bool by_channel = c.has(TokenMajor::kDecay) && ranked(c, TokenMajor::kDecay) &&
                          c.type(TokenMajor::kDecay).rank() == (stacked ? 4U : 3U);
  const Dim decay = by_channel ? h->heads * h->keys : h->heads;
  c.set(2, Type::tensor(DType::Float32, {batch, *captured * (decay + h->key_heads * h->keys + h->heads * h->values)}));
  return ok();
}

void linear_attention_cost(const CostContext& c, OpCost& cost) {
  const auto a = linear_attention_of(c);
  if (!a) return;
  cost.macs = a->macs();
  cost.flops = a->flops();
  const double tokens = a->batch * a->tokens;
  // Fused into nn.gated_delta_net: norms of queries and keys; −exp(a_log) · softplus(decay + dt_bias).
  if (c.attrs().int_or("qk_l2_norm", 0) == 1) cost.flops += 3 * tokens * (a->query_heads + a->key_heads) * a->keys;
  if (c.attrs().string_or("gate_activation", "none") != "none") cost.flops += 5 * tokens * a->heads;
  if (c.attrs().string_or("beta_activation", "none") != "none") cost.flops += 2 * tokens * a->heads;
  // Of the states of the last tokens only the last one is read.
  const auto window = static_cast<double>(c.attrs().int_or("state_window", 0));
  if (window > 1 && c.has(Packed::kState)) cost.leave_unread(c, Packed::kState, 1 - 1 / window);
}

}  // namespace rules
}  // namespace perfc
