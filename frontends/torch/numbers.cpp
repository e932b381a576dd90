#include "frontends/torch/numbers.h"

#include <algorithm>
#include <cmath>

#include "frontends/torch/containers.h"
#include "ir/ops/rule_helpers.h"

namespace perfc::torch::python {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// Both are literals.
std::optional<Scalar> compute(std::string_view name, const Scalar& a, const Scalar& b) {
  using namespace rules;
  const bool comparison = name == "eq" || name == "ne" || name == "lt" || name == "le" || name == "gt" || name == "ge";
  if (comparison) {
    const auto x = a.number(), y = b.number();
    if (!x || !y) {
      if (a.integer.symbolic() && a.integer == b.integer)
        return Scalar::truth(name == "eq" || name == "le" || name == "ge");
      return std::nullopt;
    }
    return Scalar::truth(name == "eq"   ? *x == *y
                         : name == "ne" ? *x != *y
                         : name == "lt" ? *x < *y
                         : name == "le" ? *x <= *y
                         : name == "gt" ? *x > *y
                                        : *x >= *y);
  }
  if (name == "__and__" || name == "__or__" || name == "__xor__") {
    if (!a.integer.known() || !b.integer.known()) return std::nullopt;
    const std::int64_t x = a.integer.value(), y = b.integer.value();
    Scalar r = Scalar::of(name == "__and__" ? x & y : name == "__or__" ? x | y : x ^ y);
    if (a.dtype == DType::Bool && b.dtype == DType::Bool) r.dtype = DType::Bool;
    return r;
  }
  if (a.is_float() || b.is_float() || name == "div") {
    const auto x = a.number(), y = b.number();
    if (!x || !y) return std::nullopt;
    if (name == "add") return Scalar::of(*x + *y);
    if (name == "sub") return Scalar::of(*x - *y);
    if (name == "mul") return Scalar::of(*x * *y);
    if (name == "div") return Scalar::of(*x / *y);
    if (name == "floordiv") return Scalar::of(std::floor(*x / *y));
    if (name == "remainder") return Scalar::of(*x - std::floor(*x / *y) * *y);
    if (name == "pow") return Scalar::of(std::pow(*x, *y));
    if (name == "max") return Scalar::of(std::max(*x, *y));
    if (name == "min") return Scalar::of(std::min(*x, *y));
    return std::nullopt;
  }
  if (name == "add") return Scalar{.integer = a.integer + b.integer};
  if (name == "sub") return Scalar{.integer = a.integer - b.integer};
  if (name == "mul") return Scalar{.integer = a.integer * b.integer};
  if (!a.integer.known() || !b.integer.known()) return std::nullopt;
  const std::int64_t x = a.integer.value(), y = b.integer.value();
  if (name == "max") return Scalar::of(std::max(x, y));
  if (name == "min") return Scalar::of(std::min(x, y));
  if (name == "pow")
    return Scalar{.integer = y < 0 ? SymInt() : [&] {
      SymInt r = 1;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(y, 64); ++i) r = r * SymInt(x);
      return r;
    }()};
  if (y == 0 || (x == INT64_MIN && y == -1)) return std::nullopt;
  if (name == "floordiv") return Scalar::of(floor_div(x, y));
  if (name == "remainder") return Scalar::of(x - floor_div(x, y) * y);
  return std::nullopt;
}

/// Emits what `compute` does for numbers that the graph computes.
Result<Scalar> emit_binary(Call& c, std::string_view name, const Scalar& a, const Scalar& b) {
  auto x = c.vector_of(a), y = c.vector_of(b);
  if (!x || !y) return Failure{};
  const bool logical = name == "__and__" || name == "__or__" || name == "__xor__";
  DType dtype = a.is_float() || b.is_float() || name == "div" ? DType::Float64 : DType::Int64;
  if (logical) dtype = DType::Bool;
  x = c.cast(*x, dtype);
  y = c.cast(*y, dtype);
  if (!x || !y) return Failure{};
  const auto made = [&](OpId o, DType result) -> Result<Scalar> {
    auto v = c.emit(o, {*x, *y});
    if (!v) return Failure{};
    return c.scalar_of(*v, result);
  };
  if (name == "add") return made(op("add"), dtype);
  if (name == "sub") return made(op("subtract"), dtype);
  if (name == "mul") return made(op("multiply"), dtype);
  if (name == "div") return made(op("divide"), dtype);
  if (name == "pow") return made(op("power"), dtype);
  if (name == "max") return made(op("maximum"), dtype);
  if (name == "min") return made(op("minimum"), dtype);
  if (name == "__and__") return made(op("logical_and"), dtype);
  if (name == "__or__") return made(op("logical_or"), dtype);
  if (name == "__xor__") return made(op("logical_xor"), dtype);
  if (name == "eq") return made(op("equal"), DType::Bool);
  if (name == "lt") return made(op("less"), DType::Bool);
  if (name == "le") return made(op("less_equal"), DType::Bool);
  if (name == "gt") return made(op("greater"), DType::Bool);
  if (name == "ge") return made(op("greater_equal"), DType::Bool);
  if (name == "ne") {
    auto same = c.emit(op("equal"), {*x, *y});
    auto v = same ? c.emit(op("logical_not"), {*same}) : same;
    if (!v) return Failure{};
    return c.scalar_of(*v, DType::Bool);
  }
  if (name == "remainder") {
    auto v = c.emit(op("mod"), {*x, *y}, dtype == DType::Float64 ? Attrs{{"fmod", std::int64_t{1}}} : Attrs{});
    if (!v) return Failure{};
    return c.scalar_of(*v, dtype);
  }
  if (name == "floordiv") {
    if (dtype == DType::Float64) {
      auto q = c.emit(op("divide"), {*x, *y});
      auto v = q ? c.emit(op("floor"), {*q}) : q;
      if (!v) return Failure{};
      return c.scalar_of(*v, dtype);
    }
    // (a − a mod b) / b divides exactly, so truncation does no harm.
    auto r = c.emit(op("mod"), {*x, *y});
    auto whole = r ? c.emit(op("subtract"), {*x, *r}) : r;
    auto v = whole ? c.emit(op("divide"), {*whole, *y}) : whole;
    if (!v) return Failure{};
    return c.scalar_of(*v, dtype);
  }
  return c.error("arithmetic on numbers that are not known when importing");
}

std::int64_t least(const Scalar& s) { return s.integer.known() ? s.integer.value() : s.at_least; }

/// A comparison of what is not known with a number that it is above, whatever it is.
std::optional<bool> above(std::string_view name, const Scalar& a, const Scalar& b) {
  if (a.is_float() || b.is_float() || a.integer.known() || !b.integer.known()) return std::nullopt;
  const std::int64_t number = b.integer.value();
  if (name == "ge" && a.at_least >= number) return true;
  if (name == "lt" && a.at_least >= number) return false;
  if (a.at_least <= number) return std::nullopt;
  if (name == "gt" || name == "ne") return true;
  if (name == "le" || name == "eq") return false;
  return std::nullopt;
}

/// What a result is at least, from what its operands are.
std::int64_t least_of(std::string_view name, const Scalar& a, const Scalar& b) {
  const std::int64_t x = least(a), y = least(b);
  std::int64_t out = 0;
  if (name == "max") return std::max(x, y);
  if (name == "min") return std::min(x, y);
  if (x < 0 || y < 0 || a.is_float() || b.is_float()) return INT64_MIN;
  if (name == "add") return __builtin_add_overflow(x, y, &out) ? INT64_MIN : out;
  if (name == "mul") return __builtin_mul_overflow(x, y, &out) ? INT64_MIN : out;
  return INT64_MIN;
}

}  // namespace

Result<Scalar> binary(Call& c, std::string_view name, const Scalar& a, const Scalar& b) {
  if (const auto known = above(name, a, b)) return Scalar::truth(*known);
  if (a.literal() && b.literal()) {
    if (auto r = compute(name, a, b)) return *r;
    return c.error("cannot be computed when importing");
  }
  auto r = emit_binary(c, name, a, b);
  // Tests steer the program only: what is known is all that matters.
  if (r && r->dtype == DType::Bool && r->integer.known()) return Scalar::truth(r->integer.value() != 0);
  if (r && r->dtype == DType::Int64 && !r->integer.known()) r->at_least = least_of(name, a, b);
  return r;
}

Values rounding(Call& c, OpId o, double (*f)(double), DType result) {
  const Scalar& a = *c.args[0].scalar();
  if (!a.is_float() && result == DType::Int64) return one(a);
  if (a.literal()) {
    const auto x = a.number();
    if (!x) return c.error("the number is not known when importing");
    const double y = f(*x);
    if (result != DType::Int64) return one(Scalar::of(y));
    if (!(std::fabs(y) < 9e15)) return c.error(fmt::format("{} is no int", y));
    return one(Scalar::of(static_cast<std::int64_t>(y)));
  }
  auto v = c.vector_of(a);
  if (!v) return Failure{};
  auto wide = c.cast(*v, DType::Float64);
  auto y = wide ? c.emit(o, {*wide}) : wide;
  auto out = y ? c.cast(*y, result) : y;
  if (!out) return Failure{};
  return one(c.scalar_of(*out, result));
}

Values convert(Call& c, DType to) {
  if (!arity(c, 1)) return Failure{};
  const Value& v = c.args[0];
  if (const Scalar* s = v.scalar()) {
    if (s->dtype == to) return one(*s);
    if (s->literal()) {
      if (to == DType::Float64) {
        const auto n = s->number();
        if (!n) return c.error("the number is not known when importing");
        return one(Scalar::of(*n));
      }
      if (to == DType::Bool) {
        const auto n = s->number();
        if (!n) return c.error("the number is not known when importing");
        return one(Scalar::truth(*n != 0));
      }
      if (!s->is_float()) return one(Scalar{.integer = s->integer});
      if (!s->real || !(std::fabs(*s->real) < 9e15)) return c.error("the float is no int");
      return one(Scalar::of(static_cast<std::int64_t>(*s->real)));
    }
    auto x = c.vector_of(*s);
    auto y = x ? c.cast(*x, to) : x;
    if (!y) return Failure{};
    return one(c.scalar_of(*y, to));
  }
  if (const TensorRef* t = v.tensor()) {
    auto x = c.read(*t);
    if (!x) return Failure{};
    // A view of shape (1), so that lists of ints join such values.
    auto vector = c.reshape(*x, {1});
    auto y = vector ? c.cast(*vector, to) : vector;
    if (!y) return Failure{};
    return one(c.scalar_of(*y, to));
  }
  if (const std::string* s = v.string()) {
    if (to == DType::Float64 && (*s == "inf" || *s == "-inf")) {
      return one(Scalar::of(*s == "inf" ? HUGE_VAL : -HUGE_VAL));
    }
  }
  return c.error(fmt::format("{} is no number", v.kind()));
}

Values to_scalar(Call& c) {
  if (!arity(c, 1)) return Failure{};
  if (c.args[0].scalar()) return one(c.args[0]);
  const TensorRef* t = c.args[0].tensor();
  if (!t) return c.error(fmt::format("{} is no number", c.args[0].kind()));
  auto v = c.read(*t);
  if (!v) return Failure{};
  const DType d = c.type(*v).dtype();
  return convert(c, is_float(d) ? DType::Float64 : d == DType::Bool ? DType::Bool : DType::Int64);
}

Values num_to_tensor(Call& c) {
  if (!arity(c, 1)) return Failure{};
  if (c.args[0].tensor()) return one(c.args[0]);
  const Scalar* s = c.args[0].scalar();
  if (!s) return c.error(fmt::format("{} is no number", c.args[0].kind()));
  return single(c, c.scalar_tensor(*s, s->is_float() ? DType::Float32 : s->dtype));
}

Values to_int(Call& c) { return convert(c, DType::Int64); }
Values to_float(Call& c) { return convert(c, DType::Float64); }
Values to_bool(Call& c) { return convert(c, DType::Bool); }

Values logical_not(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const Scalar* s = c.args[0].scalar();
  if (!s) return c.error(fmt::format("negates {}", c.args[0].kind()));
  if (s->integer.known()) return one(Scalar::truth(s->integer.value() == 0));
  auto v = c.vector_of(*s);
  auto b = v ? c.cast(*v, DType::Bool) : v;
  auto y = b ? c.emit(op("logical_not"), {*b}) : b;
  if (!y) return Failure{};
  return one(c.scalar_of(*y, DType::Bool));
}

Values either(Call& c) {
  if (!arity(c, 3)) return Failure{};
  const Scalar *truth = c.args[0].scalar(), *a = c.args[1].scalar(), *b = c.args[2].scalar();
  if (!truth || !a || !b) return c.error("chooses between what are no numbers");
  if (truth->integer.known()) return one(c.args[truth->integer.value() != 0 ? 1 : 2]);
  const DType dtype = a->is_float() || b->is_float() ? DType::Float64 : a->dtype == b->dtype ? a->dtype : DType::Int64;
  auto which = c.vector_of(*truth), x = c.vector_of(*a), y = c.vector_of(*b);
  if (!which || !x || !y) return Failure{};
  which = c.cast(*which, DType::Bool);
  x = c.cast(*x, dtype);
  y = c.cast(*y, dtype);
  if (!which || !x || !y) return Failure{};
  auto v = c.emit(op("where"), {*which, *x, *y});
  if (!v) return Failure{};
  Scalar r = c.scalar_of(*v, dtype);
  if (dtype == DType::Int64 && !r.integer.known()) r.at_least = std::min(least(*a), least(*b));
  return one(r);
}

}  // namespace perfc::torch::python
