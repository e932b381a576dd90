/// Attention layers.
#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

/// Projections of queries, keys and values as heads, their attention, the projection of the result.
struct Heads {
  std::int64_t query = 0, key = 0, width = 0, value_width = 0;
};

/// (batch, steps, heads · width) → (batch, heads, steps, width).
Operand in_heads(const Call& c, Operand x, std::int64_t heads, std::int64_t width) {
  return c.transpose(c.reshape(x, {0, 0, heads, width}), {0, 2, 1, 3});
}

Operand projected(const Call& c, ValueId x, std::string_view name, std::int64_t heads, std::int64_t width) {
  const auto in = last_dim(c, x);
  std::int64_t out = 0;
  if (!in) return Failure{};
  if (heads < 1 || width < 1 || __builtin_mul_overflow(heads, width, &out))
    return c.error(fmt::format("{} heads of {}", heads, width));
  const auto bias = c.flag("use_bias", true) ? c.weight(fmt::format("{}/bias", name), {out}) : Operand(ValueId{});
  auto y = c.emit(op("nn.dense"), {x, c.weight(fmt::format("{}/kernel", name), {*in, out}), bias});
  return in_heads(c, y, heads, width);
}

/// A mask (batch, queries, keys) of bools as (batch, 1, queries, keys).
Operand mask_of(const Call& c) {
  const ValueId mask = c.tensor_named("attention_mask");
  if (!mask) return ValueId{};
  const auto rank = c.rank(mask);
  if (!rank) return Failure{};
  const Operand flags = c.cast(mask, DType::Bool);
  return *rank == 3 ? c.expand_dims(flags, {1}) : *rank == 2 ? c.expand_dims(flags, {0, 1}) : flags;
}

Values attend(Call& c, const Heads& h) {
  const auto named = [&](std::size_t i, std::string_view name) {
    const Value* v = c.argument(i, name);
    return v && v->kind == Value::Kind::Tensor ? v->tensor : ValueId{};
  };
  const ValueId query = named(0, "query"), value = named(1, "value");
  ValueId key = named(2, "key");
  if (!query || !value) return c.error("needs a query and a value");
  if (!key) key = value;
  const auto rank = c.rank(query);
  const auto width = last_dim(c, query);
  if (!rank || !width) return Failure{};
  if (*rank != 3) return c.unpriced();
  Attrs attrs;
  const Value* causal = c.argument(c.args.size(), "use_causal_mask");
  const Operand mask = mask_of(c);
  if (causal && causal->integer != 0 && mask && !*mask) attrs.set("is_causal", std::int64_t{1});
  const auto q = projected(c, query, "query", h.query, h.width), k = projected(c, key, "key", h.key, h.width),
             v = projected(c, value, "value", h.key, h.value_width);
  auto y = c.attention(q, k, v, mask, std::move(attrs));
  auto flat = c.reshape(c.transpose(y, {0, 2, 1, 3}), {0, 0, h.query * h.value_width});
  const Ints sizes = c.list_or("output_shape", {*width});
  if (sizes.size() != 1) return c.unpriced();
  const auto bias = c.flag("use_bias", true) ? c.weight("attention_output/bias", sizes) : Operand(ValueId{});
  auto out = c.emit(op("nn.dense"),
                    {flat, c.weight("attention_output/kernel", {h.query * h.value_width, sizes.front()}), bias});
  const Value* scores = c.argument(c.args.size(), "return_attention_scores");
  if (!out || !(scores && scores->integer != 0)) return one(out);
  auto weights = c.emit(op("nn.softmax"), {c.emit(op("nn.batch_matmul"), {q, k}, {{"transB", std::int64_t{1}}})},
                        {{"axis", std::int64_t{-1}}});
  if (!weights) return Failure{};
  return std::vector<ValueId>{*out, *weights};
}

}  // namespace

Values multi_head_attention(Call& c) {
  const std::int64_t heads = c.integer_or("num_heads", -1), width = c.integer_or("key_dim", -1);
  return attend(c, {heads, heads, width, c.integer_or("value_dim", width)});
}

/// Fewer heads of keys and values than of queries.
Values grouped_query_attention(Call& c) {
  const std::int64_t width = c.integer_or("head_dim", -1);
  return attend(c, {c.integer_or("num_query_heads", -1), c.integer_or("num_key_value_heads", -1), width, width});
}

/// Attention ([query, value, key?]): softmax(q · kᵀ) · v without projections; AdditiveAttention: of v · tanh(q + k).
Values attention(Call& c) {
  const auto all = c.tensors();
  if (all.size() < 2) return c.error("needs a query and a value");
  const ValueId query = all[0], value = all[1], key = all.size() > 2 ? all[2] : value;
  Operand scores = ValueId{};
  if (c.layer.class_name == "AdditiveAttention") {
    auto sum = c.emit(op("tanh"), {c.emit(op("add"), {c.expand_dims(query, {2}), c.expand_dims(key, {1})})});
    const auto width = last_dim(c, query);
    if (!width) return Failure{};
    if (c.flag("use_scale", true)) sum = c.emit(op("multiply"), {c.weight("scale", {*width}), sum});
    scores = c.emit(op("sum_axes"), {sum, c.int_constant({-1})}, {{"keepdims", std::int64_t{0}}});
  } else {
    if (c.text_or("score_mode", "dot") != "dot") return c.unpriced();
    scores = c.emit(op("nn.batch_matmul"), {query, key}, {{"transB", std::int64_t{1}}});
    if (c.flag("use_scale", false)) scores = c.emit(op("multiply"), {scores, c.weight("scale", {})});
  }
  auto weights = c.emit(op("nn.softmax"), {scores}, {{"axis", std::int64_t{-1}}});
  auto y = c.emit(op("nn.batch_matmul"), {weights, value});
  const Value* both = c.argument(c.args.size(), "return_attention_scores");
  if (!y || !weights || !(both && both->integer != 0)) return one(y);
  return std::vector<ValueId>{*y, *weights};
}

}  // namespace perfc::keras
