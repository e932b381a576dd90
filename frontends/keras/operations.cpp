/// Operations of keras.ops that compute. Their settings are those of the function that was called.
#include <algorithm>
#include <array>

#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

struct Named {
  std::string_view name;
  OpId op;
};

constexpr std::array kUnary{
    Named{"Abs", op("abs")},
    Named{"Absolute", op("abs")},
    Named{"Negative", op("negative")},
    Named{"Exp", op("exp")},
    Named{"Expm1", op("expm1")},
    Named{"Log", op("log")},
    Named{"Log1p", op("log1p")},
    Named{"Log2", op("log2")},
    Named{"Log10", op("log10")},
    Named{"Sqrt", op("sqrt")},
    Named{"Rsqrt", op("rsqrt")},
    Named{"Sin", op("sin")},
    Named{"Cos", op("cos")},
    Named{"Tan", op("tan")},
    Named{"Arcsin", op("asin")},
    Named{"Arccos", op("acos")},
    Named{"Arctan", op("atan")},
    Named{"Sinh", op("sinh")},
    Named{"Cosh", op("cosh")},
    Named{"Tanh", op("tanh")},
    Named{"Erf", op("erf")},
    Named{"Floor", op("floor")},
    Named{"Ceil", op("ceil")},
    Named{"Round", op("round")},
    Named{"Sign", op("sign")},
    Named{"Isnan", op("isnan")},
    Named{"Isinf", op("isinf")},
    Named{"LogicalNot", op("logical_not")},
    Named{"Reciprocal", op("reciprocal")},
    Named{"Erfc", op("erfc")},
    Named{"Erfinv", op("erfinv")},
    Named{"Trunc", op("trunc")},
    Named{"Exp2", op("exp2")},
};

constexpr std::array kBinary{
    Named{"Add", op("add")},
    Named{"Subtract", op("subtract")},
    Named{"Multiply", op("multiply")},
    Named{"Divide", op("divide")},
    Named{"TrueDivide", op("divide")},
    Named{"FloorDivide", op("floor_divide")},
    Named{"Power", op("power")},
    Named{"Mod", op("mod")},
    Named{"Maximum", op("maximum")},
    Named{"Minimum", op("minimum")},
    Named{"Equal", op("equal")},
    Named{"NotEqual", op("not_equal")},
    Named{"Less", op("less")},
    Named{"LessEqual", op("less_equal")},
    Named{"Greater", op("greater")},
    Named{"GreaterEqual", op("greater_equal")},
    Named{"LogicalAnd", op("logical_and")},
    Named{"LogicalOr", op("logical_or")},
    Named{"LogicalXor", op("logical_xor")},
    Named{"Arctan2", op("atan2")},
    Named{"Logaddexp", op("logaddexp")},
};

constexpr std::array kReductions{
    Named{"Sum", op("sum_axes")}, Named{"Mean", op("mean")},
    Named{"Max", op("max")},      Named{"Amax", op("max")},
    Named{"Min", op("min")},      Named{"Amin", op("min")},
    Named{"Prod", op("prod")},    Named{"All", op("all")},
    Named{"Any", op("any")},      Named{"Logsumexp", op("logsumexp")},
};

template <std::size_t N>
OpId op_of(const std::array<Named, N>& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Named::name);
  return found == table.end() ? OpId{} : found->op;
}

/// The wider of two element types: floats win over integers.
DType common(DType a, DType b) {
  const auto rank = [](DType d) { return d == DType::Bool ? 0 : is_integer(d) ? 1 : 2; };
  if (rank(a) != rank(b)) return rank(a) > rank(b) ? a : b;
  return bits(a) >= bits(b) ? a : b;
}

/// An operand: a tensor, or a number in the type of the other one.
Operand operand(const Call& c, const Value* v, DType like) {
  if (v && v->kind == Value::Kind::Tensor) return c.cast(v->tensor, like);
  if (!v || !v->is_number()) return c.error("an operand that is neither a tensor nor a number");
  return c.number(v->number(), like);
}

/// Both operands of a call in one type. A fraction makes integers floats.
std::array<Operand, 2> operands(const Call& c) {
  const Value *a = c.argument(0, "x1"), *b = c.argument(1, "x2");
  DType d = DType::Undefined;
  for (const Value* v : {a, b}) {
    if (v && v->kind == Value::Kind::Tensor)
      d = d == DType::Undefined ? c.dtype(v->tensor) : common(d, c.dtype(v->tensor));
  }
  for (const Value* v : {a, b}) {
    if (v && v->kind == Value::Kind::Real && !is_float(d)) d = DType::Float32;
  }
  if (d == DType::Undefined) return {Failure(c.error("has no tensor")), Failure{}};
  if (c.layer.class_name.ends_with("Divide") && c.layer.class_name != "FloorDivide" && !is_float(d)) d = DType::Float32;
  return {operand(c, a, d), operand(c, b, d)};
}

/// Axes of a reduction; all where there are none.
Operand axes_of(const Call& c, ValueId x) {
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  Ints axes = c.list_or("axis", {});
  for (std::int64_t a = 0; !c.given("axis") && a < *rank; ++a) axes.push_back(a);
  return c.int_constant(axes);
}

}  // namespace

Values unary(Call& c) { return one(c.emit(op_of(kUnary, c.layer.class_name), {c.tensor()})); }

Values binary(Call& c) {
  const auto [a, b] = operands(c);
  return one(c.emit(op_of(kBinary, c.layer.class_name), {a, b}));
}

Values reduce(Call& c) {
  const auto x = c.tensor();
  if (!x) return Failure{};
  return one(c.emit(op_of(kReductions, c.layer.class_name), {x, axes_of(c, *x)},
                    {{"keepdims", static_cast<std::int64_t>(c.flag("keepdims", false))}}));
}

/// Var, Std.
Values ops_variance(Call& c) {
  const auto x = c.tensor();
  if (!x) return Failure{};
  return one(c.emit(c.layer.class_name == "Std" ? op("std") : op("variance"), {x, axes_of(c, *x)},
                    {{"keepdims", static_cast<std::int64_t>(c.flag("keepdims", false))}}));
}

/// Argmax, Argmin: of everything where there is no axis.
Values ops_arg(Call& c) {
  auto x = c.tensor();
  if (!c.given("axis")) x = c.reshape(x, {-1});
  auto y = c.emit(c.layer.class_name == "Argmin" ? op("argmin") : op("argmax"), {x},
                  {{"axis", c.integer_or("axis", 0)},
                   {"keepdims", static_cast<std::int64_t>(c.flag("keepdims", false) && c.given("axis"))}});
  return one(c.cast(y, DType::Int32));
}

Values ops_top_k(Call& c) {
  auto out = c.emit_all(op("topk"), {c.tensor(), c.int_constant({c.integer_or("k", 1)})},
                        {{"axis", std::int64_t{-1}}, {"largest", std::int64_t{1}}, {"sorted", std::int64_t{1}}}, 2);
  if (!out) return Failure{};
  auto places = c.cast((*out)[1], DType::Int32);
  if (!places) return Failure{};
  return std::vector<ValueId>{(*out)[0], *places};
}

Values ops_matmul(Call& c) {
  const auto [a, b] = operands(c);
  return one(c.emit(op("nn.batch_matmul"), {a, b}));
}

Values ops_einsum(Call& c) {
  std::vector<Operand> all;
  for (std::size_t i = 0; i < c.args.size(); ++i) {
    for (ValueId v : c.tensors(i)) all.emplace_back(v);
  }
  return one(c.emit(op("einsum"), all, {{"equation", std::string(c.text_or("subscripts", ""))}}));
}

/// (query, key, value) of (batch, steps, heads, width).
Values ops_attention(Call& c) {
  const auto part = [&](std::size_t i) { return c.transpose(c.tensor(i), {0, 2, 1, 3}); };
  Attrs attrs;
  if (c.flag("is_causal", false)) attrs.set("is_causal", std::int64_t{1});
  if (c.given("scale")) attrs.set("scale", c.real_or("scale", 1));
  const ValueId mask =
      c.args.size() > 3 && c.args[3].kind == Value::Kind::Tensor ? c.args[3].tensor : c.tensor_named("mask");
  return one(c.transpose(c.attention(part(0), part(1), part(2), mask, std::move(attrs)), {0, 2, 1, 3}));
}

Values ops_softmax(Call& c) {
  return one(c.emit(c.layer.class_name == "LogSoftmax" ? op("nn.log_softmax") : op("nn.softmax"), {c.tensor()},
                    {{"axis", c.integer_or("axis", -1)}}));
}

Values ops_clip(Call& c) {
  const auto x = c.tensor();
  if (!x) return Failure{};
  return one(
      c.emit(op("clip"), {x, c.number_like(*x, c.real_or("x_min", 0)), c.number_like(*x, c.real_or("x_max", 0))}));
}

/// (condition, a, b).
Values ops_where(Call& c) {
  const Value *a = c.argument(1, "x1"), *b = c.argument(2, "x2");
  const Value* tensor = a && a->kind == Value::Kind::Tensor ? a : b;
  if (!tensor || tensor->kind != Value::Kind::Tensor) return c.unpriced();
  const DType d = c.dtype(tensor->tensor);
  return one(c.emit(op("where"), {c.cast(c.tensor(), DType::Bool), operand(c, a, d), operand(c, b, d)}));
}

Values ops_cast(Call& c) {
  const auto to = dtype_from_name(c.text_or("dtype", "float32"));
  if (!to) return c.error(fmt::format("element type '{}' is not known", c.text_or("dtype", "")));
  return one(c.cast(c.tensor(), *to));
}

Values ops_square(Call& c) {
  const auto x = c.tensor();
  return one(c.emit(op("multiply"), {x, x}));
}

/// x / ‖x‖.
Values ops_normalize(Call& c) {
  return one(c.emit(op("nn.l2_normalize"), {c.tensor()}, {{"axis", c.integer_or("axis", -1)}}));
}

Values ops_cumulative(Call& c) {
  auto x = c.tensor();
  if (!c.given("axis")) x = c.reshape(x, {-1});
  return one(c.emit(c.layer.class_name == "Cumprod" ? op("cumprod") : op("cumsum"),
                    {x, c.number(static_cast<double>(c.integer_or("axis", 0)), DType::Int64)}));
}

/// OnesLike, ZerosLike, FullLike.
Values ops_full_like(Call& c) {
  const auto x = c.tensor();
  if (!x) return Failure{};
  const Value* fill = c.argument(1, "fill_value");
  const double value = c.layer.class_name == "OnesLike" ? 1 : fill && fill->is_number() ? fill->number() : 0;
  return one(c.full(c.shape_of(x), value, dtype_from_name(c.text_or("dtype", "")).value_or(c.dtype(*x))));
}

Values ops_one_hot(Call& c) {
  const DType d = dtype_from_name(c.text_or("dtype", "float32")).value_or(DType::Float32);
  auto values = c.join({c.reshape(c.number(0, d), {1}), c.reshape(c.number(1, d), {1})}, 0);
  return one(c.emit(op("one_hot"), {c.tensor(), c.int_constant({c.integer_or("num_classes", 1)}), values},
                    {{"axis", c.integer_or("axis", -1)}}));
}

Values ops_leaky_relu(Call& c) {
  return one(c.emit(op("nn.leaky_relu"), {c.tensor()}, {{"alpha", c.real_or("negative_slope", 0.2)}}));
}

}  // namespace perfc::keras
