/// Operators that work element by element, and what XLA programs spell with them.
#include <fmt/format.h>

#include <cmath>

#include "frontends/common/raw_data.h"
#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

std::vector<const Value*> all_of(const Call& c) {
  std::vector<const Value*> out;
  for (const Value& v : c.operands) out.push_back(&v);
  return out;
}

Status need_operands(const Call& c, std::size_t n) {
  if (c.operands.size() == n) return ok();
  return c.error(fmt::format("has {} operands, not {}", c.operands.size(), n));
}

/// The call behind casts between types of floats: reductions of 16 bits are written in float32.
const Node& behind_casts(const Call& c, ValueId v) {
  const Node* n = &c.builder().node(v.node);
  while (n->is(op("cast")) && is_float(c.dtype(n->operands[0])) && is_float(n->results[0].type.dtype()))
    n = &c.builder().node(n->operands[0].node);
  return *n;
}

ValueId uncast(const Call& c, ValueId v) {
  for (const Node* n = &c.builder().node(v.node); n->is(op("cast")); n = &c.builder().node(v.node)) v = n->operands[0];
  return v;
}

std::optional<std::int64_t> only_axis(const Call& c, const Node& reduction) {
  const Data* axes = reduction.operands.size() > 1 ? c.data(reduction.operands[1]) : nullptr;
  return axes && axes->ints() && axes->size() == 1 && axes->ints()->front().known()
             ? std::optional(axes->ints()->front().value())
             : std::nullopt;
}

/// x of x − max(x) along one axis.
std::optional<ValueId> shifted_by_max(const Call& c, const Node& n, std::int64_t axis) {
  if (!n.is(op("subtract"))) return std::nullopt;
  const Node& max = behind_casts(c, n.operands[1]);
  const bool same =
      max.is(op("max")) && only_axis(c, max) == axis && uncast(c, max.operands[0]) == uncast(c, n.operands[0]);
  return same ? std::optional(n.operands[0]) : std::nullopt;
}

/// exp(x − max) / Σ exp(x − max) as softmax. The pattern tables know it too; attention needs it earlier.
std::optional<Result<Value>> as_softmax(const Call& c, const Value& a, const Value& b) {
  const Node& exp = c.builder().node(a.base.node);
  const Node& sum = behind_casts(c, b.base);
  if (!exp.is(op("exp"))) return std::nullopt;
  if (!sum.is(op("sum_axes")) || uncast(c, sum.operands[0]) != a.base) return std::nullopt;
  const auto axis = only_axis(c, sum);
  if (!axis || b.where != a.where) return std::nullopt;
  const auto x = shifted_by_max(c, c.builder().node(exp.operands[0].node), *axis);
  if (!x) return std::nullopt;
  auto y = c.emit(op("nn.softmax"), {*x}, {{"axis", *axis}});
  if (!y) return Result<Value>(Failure{});
  Value out = a;
  out.base = *y;
  return Result<Value>(out);
}

/// (x − max) − log Σ exp(x − max).
std::optional<Result<Value>> as_log_softmax(const Call& c, const Value& a, const Value& b) {
  const Node& log = c.builder().node(b.base.node);
  if (!log.is(op("log"))) return std::nullopt;
  const Node& sum = behind_casts(c, log.operands[0]);
  if (!sum.is(op("sum_axes"))) return std::nullopt;
  const Node& exp = behind_casts(c, sum.operands[0]);
  const auto axis = only_axis(c, sum);
  if (!exp.is(op("exp")) || exp.operands[0] != a.base || !axis) return std::nullopt;
  const auto x = shifted_by_max(c, c.builder().node(a.base.node), *axis);
  if (!x || b.where != a.where) return std::nullopt;
  auto y = c.emit(op("nn.log_softmax"), {*x}, {{"axis", *axis}});
  if (!y) return Result<Value>(Failure{});
  Value out = a;
  out.base = *y;
  return Result<Value>(out);
}

bool is_pool(const Call& c, ValueId v) {
  const Node& n = c.builder().node(v.node);
  return n.kind == NodeKind::Call && def(n.op).category == Category::Pooling;
}

/// A sum or sum pool over as many elements as `factor` divides by is a mean.
std::optional<Result<Value>> as_mean(const Call& c, const Value& a, double divisor) {
  const Node& n = c.builder().node(a.base.node);
  if (n.is(op("sum_axes")) && n.operands.size() == 2) {
    const Data* axes = c.data(n.operands[1]);
    if (!axes || !axes->ints() || !axes->fully_known()) return std::nullopt;
    Emitter::Ints reduced;
    for (const SymInt& s : *axes->ints()) reduced.push_back(s.value());
    const SymInt count = c.count(c.whole(n.operands[0]), reduced);
    if (!count.known() || !near(static_cast<double>(count.value()), divisor)) return std::nullopt;
    auto mean = c.reduction(op("mean"), n.operands[0], reduced);
    if (!mean) return Result<Value>(Failure{});
    Value out = a;
    out.base = *mean;
    return Result<Value>(out);
  }
  // reduction.cpp writes a sum pool as the average times the window.
  const bool pool = n.is(op("multiply")) && is_pool(c, n.operands[0]);
  const auto window = pool ? c.number_of(c.whole(n.operands[1])) : std::nullopt;
  if (!window || !near(*window, divisor)) return std::nullopt;
  Value out = a;
  out.base = n.operands[0];
  return Result<Value>(out);
}

bool is_gather(const Call& c, ValueId v) {
  const Node& n = c.builder().node(v.node);
  return n.kind == NodeKind::Call && def(n.op).category == Category::Gather;
}

/// 1 / (1 + exp(−x)): what jax writes for the logistic function where XLA has no kernel for it.
std::optional<Result<Value>> as_sigmoid(const Call& c, const Value& a, const Value& b) {
  const Node* sum = c.made_by(b, op("add"));
  if (!sum || c.number_of(a) != 1.0) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node& exp = c.builder().node(sum->operands[i].node);
    if (!exp.is(op("exp")) || c.number_of(c.whole(sum->operands[1 - i])) != 1.0) continue;
    const Node& negative = c.builder().node(exp.operands[0].node);
    if (!negative.is(op("negative"))) continue;
    auto y = c.emit(op("sigmoid"), {negative.operands[0]});
    if (!y) return Result<Value>(Failure{});
    Value out = b;
    out.base = *y;
    return Result<Value>(out);
  }
  return std::nullopt;
}

/// select(|x| < 1, 1 − x·P(x²), …) with P(0) = 2/√π: erfc as jax.export writes it out
/// (stablehlo's ChloLegalizeToStablehlo.cpp, after Cephes' ndtr.c).
std::optional<Result<Value>> as_erfc(const Call& c, const Value& test, const Value& yes) {
  const Node* less = c.made_by(test, op("less"));
  const Node* rest = c.made_by(yes, op("subtract"));
  if (!less || !rest || c.number_of(c.whole(less->operands[1])) != 1.0) return std::nullopt;
  const Node& abs = c.builder().node(less->operands[0].node);
  const Node& product = c.builder().node(rest->operands[1].node);
  if (!abs.is(op("abs"))) return std::nullopt;
  if (!product.is(op("multiply")) || product.operands[0] != abs.operands[0]) return std::nullopt;
  const Node& polynomial = c.builder().node(product.operands[1].node);
  const auto constant = polynomial.is(op("add")) ? c.number_of(c.whole(polynomial.operands[1])) : std::nullopt;
  if (!constant || std::abs(*constant - 1.1283791) > 1e-5) return std::nullopt;
  auto y = c.emit(op("erfc"), {abs.operands[0]});
  if (!y) return Result<Value>(Failure{});
  Value out = yes;
  out.base = *y;
  return Result<Value>(out);
}

/// The bias of a product whose columns were split, as heads are: added before, as every other framework does.
std::optional<Result<Value>> as_bias_before_split(const Call& c, const Value& a, const Value& b) {
  const Node* split = c.made_by(a, op("reshape"));
  const Node& bias = c.builder().node(b.base.node);
  if (!split || bias.kind != NodeKind::Constant || b.scalar()) return std::nullopt;
  const ValueId product = split->operands[0];
  const Type& flat = c.type(product);
  const Type& weight = c.type(b.base);
  if (!c.builder().node(product.node).is(op("nn.batch_matmul")) || !flat.ranked() || flat.rank() == 0 ||
      !weight.is_static() || flat.rank() + weight.rank() != a.type.rank() + 1 || a.where.size() != a.type.rank())
    return std::nullopt;
  for (std::size_t i = 0; i < weight.rank(); ++i) {
    const std::size_t at = a.type.rank() - weight.rank() + i;
    if (b.where[i] != static_cast<int>(at) || weight.shape()[i] != a.type.shape()[at]) return std::nullopt;
  }
  if (!flat.shape().back().is(*weight.elements())) return std::nullopt;
  const ValueId target = split->operands[1];
  auto sum = c.emit(op("add"), {product, c.reshape(b.base, {*weight.elements()})});
  auto out = c.emit(op("reshape"), {sum, target});
  return c.whole(out);
}

}  // namespace

Result<Values> add(Call& c, const OpRow&) {
  if (!need_operands(c, 2)) return Failure{};
  const Value &a = c.operands[0], &b = c.operands[1];
  if (auto y = as_bias_before_split(c, a, b)) return one(std::move(*y));
  if (auto y = as_bias_before_split(c, b, a)) return one(std::move(*y));
  const bool bools = a.type.dtype() == DType::Bool;
  return one(c.pointwise(bools ? op("logical_or") : op("add"), {&a, &b}));
}

Result<Values> direct(Call& c, const OpRow& row) { return one(c.pointwise(*find_op(row.ir), all_of(c))); }

Result<Values> first_operand(Call& c, const OpRow&) { return Values{c.operands[0]}; }

Result<Values> all_operands(Call& c, const OpRow&) { return c.operands; }

Result<Values> bitwise(Call& c, const OpRow& row) {
  std::string_view names = row.ir;  // of bools, of integers
  const auto space = names.find(' ');
  const std::string_view name = c.type(0).dtype() == DType::Bool ? names.substr(0, space) : names.substr(space + 1);
  return one(c.pointwise(*find_op(name), all_of(c)));
}

Result<Values> constant(Call& c, const OpRow&) {
  const Type type = c.declared(0);
  auto text = c.operation.find("");
  if (!text) text = c.operation.find("value");
  if (!type || !type.is_static()) return c.error("has no static type");
  if (!text) return c.error("has no value");
  // The generic form repeats the type behind the value.
  const auto end = text->rfind("> :");
  const auto contents = dense_contents(end == text->npos ? *text : text->substr(0, end + 1), type);
  if (!contents) return c.error(fmt::format("its value is no {}", to_string(type)));
  if (!contents->splat) return Values{c.whole(c.constant({type, contents->data}))};
  Value v{.base = c.constant({Type::tensor(type.dtype(), {}), contents->data}), .type = type};
  return Values{std::move(v)};
}

Result<Values> convert(Call& c, const OpRow&) {
  if (!need_operands(c, 1)) return Failure{};
  const Type to = c.declared(0);
  if (!to.is_tensor()) return c.error("has no element type to convert to");
  Value out = c.operands[0];
  if (out.type.dtype() == to.dtype()) return Values{out};
  const Data* d = c.data(out.base);
  // Shape arithmetic needs no kernel.
  const bool known = d && d->ints() && d->fully_known() && is_integer(to.dtype()) && c.type(out.base).is_static();
  auto& done = c.scope.site.casts[{out.base, to.dtype()}];
  if (done) {
    out.base = done;
    out.type = out.type.with_dtype(to.dtype());
    return Values{out};
  }
  auto id = known
                ? Result<ValueId>(c.constant({c.type(out.base).with_dtype(to.dtype()), c.builder().data_ref(out.base)}))
                : c.cast(out.base, to.dtype());
  if (!id) return Failure{};
  done = *id;
  out.base = *id;
  out.type = out.type.with_dtype(to.dtype());
  return Values{out};
}

Result<Values> compare(Call& c, const OpRow&) {
  struct Direction {
    std::string_view name;
    OpId op;
  };
  static constexpr std::array kDirections{Direction{"EQ", op("equal")},   Direction{"NE", op("not_equal")},
                                          Direction{"LT", op("less")},    Direction{"LE", op("less_equal")},
                                          Direction{"GT", op("greater")}, Direction{"GE", op("greater_equal")}};
  if (!need_operands(c, 2)) return Failure{};
  std::string_view wanted = c.operation.words.empty() ? std::string_view() : c.operation.words[0];
  if (const auto text = c.operation.find("comparison_direction")) {
    const auto space = text->find_last_of(" <", text->find_last_not_of(" >"));
    wanted = text->substr(space == text->npos ? 0 : space + 1);
    wanted = wanted.substr(0, wanted.find_first_of(" >"));
  }
  for (const Direction& d : kDirections) {
    if (d.name == wanted) return one(c.pointwise(d.op, all_of(c)));
  }
  return c.error(fmt::format("compares by '{}'; EQ, NE, LT, LE, GT and GE are known", wanted));
}

Result<Values> divide(Call& c, const OpRow&) {
  if (!need_operands(c, 2)) return Failure{};
  const Value &a = c.operands[0], &b = c.operands[1];
  if (is_float(a.type.dtype())) {
    if (auto y = as_softmax(c, a, b)) return one(std::move(*y));
    if (auto y = as_sigmoid(c, a, b)) return one(std::move(*y));
    const auto divisor = c.number_of(b);
    if (divisor && *divisor != 0) {
      if (auto y = as_mean(c, a, *divisor)) return one(std::move(*y));
    }
  }
  return one(c.pointwise(is_integer(a.type.dtype()) ? op("trunc_divide") : op("divide"), {&a, &b}));
}

Result<Values> multiply(Call& c, const OpRow&) {
  if (!need_operands(c, 2)) return Failure{};
  for (std::size_t i = 0; i < 2 && is_float(c.type(0).dtype()); ++i) {
    const auto factor = c.number_of(1 - i);
    if (!factor || *factor == 0) continue;
    if (auto y = as_mean(c, c.operands[i], 1 / *factor)) return one(std::move(*y));
  }
  return one(c.pointwise(c.type(0).dtype() == DType::Bool ? op("logical_and") : op("multiply"), all_of(c)));
}

Result<Values> subtract(Call& c, const OpRow&) {
  if (!need_operands(c, 2)) return Failure{};
  if (auto y = as_log_softmax(c, c.operands[0], c.operands[1])) return one(std::move(*y));
  return one(c.pointwise(op("subtract"), all_of(c)));
}

/// maximum and minimum: with an infinity that changes nothing, the other operand.
Result<Values> extreme(Call& c, const OpRow& row) {
  if (!need_operands(c, 2)) return Failure{};
  const double neutral = row.ir == "maximum" ? -HUGE_VAL : HUGE_VAL;
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.number_of(i) == neutral) return Values{c.operands[1 - i]};
  }
  return direct(c, row);
}

/// Jax wraps negative indices, select(i < 0, i + n, i), and puts a number where an index is out of bounds,
/// select(0 ≤ i < n, x[i], NaN): both stand for the indexing itself.
Result<Values> select(Call& c, const OpRow&) {
  if (!need_operands(c, 3)) return Failure{};
  const Value &yes = c.operands[1], &no = c.operands[2];
  if (const auto known = c.number_of(0)) return Values{*known != 0 ? yes : no};
  const Node* test = c.made_by(c.operands[0], op("less"));
  const Node* wrapped = c.made_by(yes, op("add"));
  if (test && wrapped && is_integer(no.type.dtype()) && test->operands[0] == no.base &&
      c.number_of(c.whole(test->operands[1])) == 0.0 && wrapped->operands[0] == no.base)
    return Values{no};
  if (auto y = as_erfc(c, c.operands[0], yes)) return one(std::move(*y));
  const bool gathered = yes.base && is_gather(c, yes.base);
  const auto fill = c.number_of(no);
  if (gathered && fill && *fill != *fill) return Values{yes};
  return one(c.pointwise(op("where"), all_of(c)));
}

Result<Values> clamp(Call& c, const OpRow&) {
  if (!need_operands(c, 3)) return Failure{};
  const Value &low = c.operands[0], &x = c.operands[1], &high = c.operands[2];
  if (low.scalar() && high.scalar()) return one(c.pointwise(op("clip"), {&x, &low, &high}));
  auto raised = c.pointwise(op("maximum"), {&x, &low});
  return raised ? one(c.pointwise(op("minimum"), {&*raised, &high})) : Result<Values>(Failure{});
}

Result<Values> is_finite(Call& c, const OpRow&) {
  if (!need_operands(c, 1)) return Failure{};
  auto nan = c.pointwise(op("isnan"), {&c.operands[0]});
  auto inf = c.pointwise(op("isinf"), {&c.operands[0]});
  if (!nan || !inf) return Failure{};
  auto either = c.pointwise(op("logical_or"), {&*nan, &*inf});
  return either ? one(c.pointwise(op("logical_not"), {&*either})) : Result<Values>(Failure{});
}

Result<Values> square(Call& c, const OpRow&) {
  if (!need_operands(c, 1)) return Failure{};
  return one(c.pointwise(op("multiply"), {&c.operands[0], &c.operands[0]}));
}

Result<Values> cube_root(Call& c, const OpRow&) {
  if (!need_operands(c, 1)) return Failure{};
  const Value third{.base = c.number(1.0 / 3, c.type(0).dtype()), .type = c.type(0)};
  return one(c.pointwise(op("power"), {&c.operands[0], &third}));
}

Result<Values> shift(Call& c, const OpRow&) {
  if (!need_operands(c, 2)) return Failure{};
  const bool left = c.operation.name.ends_with("shift_left");
  return one(c.pointwise(op("bit_shift"), all_of(c), {{"direction", left ? "LEFT" : "RIGHT"}}));
}

}  // namespace perfc::stablehlo
