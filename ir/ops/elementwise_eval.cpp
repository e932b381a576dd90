/// Contents of element-by-element operators on small tensors.
#include <algorithm>
#include <cmath>

#include "ir/ops/elementwise_contents.h"
#include "ir/ops/eval_helpers.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Remainder with the divisor's sign, or with the dividend's for fmod = 1.
SymInt mod(const SymInt& a, const SymInt& b, DType dtype, bool fmod) {
  if (b.is(1)) return 0;
  if (!a.known() || !b.known() || b.value() == 0) return {};
  if (dtype == DType::UInt64) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value()) % static_cast<std::uint64_t>(b.value()));
  }
  if (b.value() == -1) return 0;  // INT64_MIN % −1 overflows
  const std::int64_t r = a.value() % b.value();
  return !fmod && r != 0 && (r < 0) != (b.value() < 0) ? r + b.value() : r;
}

SymInt power(const SymInt& base, const SymInt& exponent) {
  if (exponent.is(1)) return base;
  if (exponent.is(0) || base.is(1)) return 1;
  if (!base.known() || !exponent.known() || exponent.value() < 0) return {};
  if (base.is(0)) return 0;
  if (base.is(-1)) return exponent.value() % 2 ? -1 : 1;
  SymInt r = 1;
  // |base| ≥ 2: more than 63 factors overflow, and an overflow stays unknown
  for (std::int64_t k = 0; k < std::min<std::int64_t>(exponent.value(), 64); ++k) r = r * base;
  return r;
}

/// −1, 0 or 1 as a is less than, equal to or greater than b.
int order(const SymInt& a, const SymInt& b, DType dtype) {
  if (a.value() == b.value()) return 0;
  const bool less = dtype == DType::UInt64
                        ? static_cast<std::uint64_t>(a.value()) < static_cast<std::uint64_t>(b.value())
                        : a.value() < b.value();
  return less ? -1 : 1;
}

SymInt extreme(const SymInt& a, const SymInt& b, DType dtype, bool greatest) {
  if (a.known() && b.known()) return (order(a, b, dtype) > 0) == greatest ? a : b;
  return a == b ? a : SymInt::unknown();
}

/// Of a symbol and a known value only this much is known: dims are not negative.
SymInt compare_with_symbol(const HoldsFor& holds, const SymInt& a, const SymInt& b) {
  if (a.symbolic() && a == b) return holds(0) ? 1 : 0;
  if (a.symbolic() && b.known() && b.value() < 0) return holds(1) ? 1 : 0;
  if (b.symbolic() && a.known() && a.value() < 0) return holds(-1) ? 1 : 0;
  return {};
}

/// Both known, or nothing is.
template <class F>
SymInt of_known(const SymInt& a, const SymInt& b, F f) {
  return a.known() && b.known() ? SymInt(f(a.value() != 0, b.value() != 0) ? 1 : 0) : SymInt::unknown();
}

SymInt quotient(DType dtype, const SymInt& a, const SymInt& b) {
  if (dtype != DType::UInt64 || !a.known() || !b.known() || b.is(0)) return trunc_div(a, b);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value()) / static_cast<std::uint64_t>(b.value()));
}

/// Rounded down. Symbols name dims, which are not negative.
SymInt floor_quotient(DType dtype, const SymInt& a, const SymInt& b) {
  if (a.known() && b.known() && !b.is(0) && dtype != DType::UInt64) {
    const SymInt q = trunc_div(a, b);
    const bool rounded_up = b.value() != -1 && a.value() % b.value() != 0 && (a.value() < 0) != (b.value() < 0);
    return rounded_up ? q - SymInt(1) : q;
  }
  const auto at_least = [](const SymInt& x, std::int64_t least) {
    return x.symbolic() || (x.known() && x.value() >= least);
  };
  return (at_least(a, 0) && at_least(b, 1)) || dtype == DType::UInt64 ? quotient(dtype, a, b) : SymInt::unknown();
}

bool is_fmod(const Attrs& attrs) { return attrs.int_or("fmod", 0) == 1; }

using Real = std::optional<double>;

/// Contents of operand i spread over the result's extents.
template <class T>
std::vector<T> spread(const std::vector<T>& values, const Extents& from, const Extents& to) {
  std::vector<T> out;
  for (std::int64_t k : broadcast_map(from, to)) out.push_back(values[static_cast<std::size_t>(k)]);
  return out;
}

/// Does any present operand carry contents? Rules leave early when none does.
bool any_data(const InferContext& c) {
  for (std::size_t i = 0; i < c.operands(); ++i) {
    if (c.data(i)) return true;
  }
  return false;
}

std::optional<std::vector<SymInt>> spread_ints(const InferContext& c, std::size_t i, const Extents& to) {
  const auto v = int_contents(c, i);
  if (!v) return std::nullopt;
  return spread(*v, *extents(c.type(i)), to);
}

std::optional<std::vector<double>> spread_floats(const InferContext& c, std::size_t i, const Extents& to) {
  const auto* v = float_contents(c, i);
  if (!v) return std::nullopt;
  return spread(*v, *extents(c.type(i)), to);
}

}  // namespace

double real_abs(double x) { return std::fabs(x); }
double real_negative(double x) { return -x; }
double real_ceil(double x) { return std::ceil(x); }
double real_floor(double x) { return std::floor(x); }
double real_round(double x) { return std::nearbyint(x); }
double real_sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
double real_sqrt(double x) { return std::sqrt(x); }
double real_reciprocal(double x) { return 1 / x; }
double real_rsqrt(double x) { return 1 / std::sqrt(x); }
double real_trunc(double x) { return std::trunc(x); }
double real_frac(double x) { return x - std::trunc(x); }
double real_exp(double x) { return std::exp(x); }
double real_exp2(double x) { return std::exp2(x); }
double real_expm1(double x) { return std::expm1(x); }
double real_log(double x) { return std::log(x); }
double real_log2(double x) { return std::log2(x); }
double real_log10(double x) { return std::log10(x); }
double real_log1p(double x) { return std::log1p(x); }

SymInt integer_itself(DType, const SymInt& x) { return x; }
SymInt integer_not(DType, const SymInt& x) { return x.known() ? SymInt(x.value() == 0) : SymInt::unknown(); }
SymInt integer_negative(DType, const SymInt& x) { return SymInt(0) - x; }
SymInt integer_sign(DType dtype, const SymInt& x) {
  if (!x.known()) return {};
  return dtype == DType::UInt64 ? x.value() != 0 : (x.value() > 0) - (x.value() < 0);
}
SymInt integer_abs(DType dtype, const SymInt& x) {
  if (dtype == DType::UInt64 || x.symbolic()) return x;  // symbols name dims, which are not negative
  return x.known() && x.value() < 0 ? SymInt(0) - x : x;
}

// A row's `real` is for float operands, its `integer` for integers and bool.
constexpr auto kNotOfReals = [](const Attrs&, double, double) -> Real { return std::nullopt; };

const BinaryContents kAdd{.real = [](const Attrs&, double a, double b) -> Real { return a + b; },
                          .integer = [](const Attrs&, DType, const SymInt& a, const SymInt& b) { return a + b; }};
const BinaryContents kSubtract{.real = [](const Attrs&, double a, double b) -> Real { return a - b; },
                               .integer = [](const Attrs&, DType, const SymInt& a, const SymInt& b) { return a - b; }};
const BinaryContents kMultiply{.real = [](const Attrs&, double a, double b) -> Real { return a * b; },
                               .integer = [](const Attrs&, DType, const SymInt& a, const SymInt& b) { return a * b; }};
const BinaryContents kDivide{
    .real = [](const Attrs&, double a, double b) -> Real { return a / b; },
    .integer = [](const Attrs&, DType d, const SymInt& a, const SymInt& b) { return quotient(d, a, b); }};
const BinaryContents kFloorDivide{
    .real = [](const Attrs&, double a, double b) -> Real { return std::floor(a / b); },
    .integer = [](const Attrs&, DType d, const SymInt& a, const SymInt& b) { return floor_quotient(d, a, b); }};
const BinaryContents kTruncDivide{
    .real = [](const Attrs&, double a, double b) -> Real { return std::trunc(a / b); },
    .integer = [](const Attrs&, DType d, const SymInt& a, const SymInt& b) { return quotient(d, a, b); }};
const BinaryContents kPower{
    .real = [](const Attrs&, double a, double b) -> Real { return std::pow(a, b); },
    .integer = [](const Attrs&, DType, const SymInt& a, const SymInt& b) { return power(a, b); },
    .integer_exponent = true};
const BinaryContents kMod{
    // fmod = 1: sign of the dividend; otherwise undefined for floats.
    .real = [](const Attrs& x, double a, double b) { return is_fmod(x) ? Real(std::fmod(a, b)) : std::nullopt; },
    .integer = [](const Attrs& x, DType d, const SymInt& a, const SymInt& b) { return mod(a, b, d, is_fmod(x)); }};
const BinaryContents kMaximum{
    .real = [](const Attrs&, double a, double b) -> Real {
      return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    },
    .integer = [](const Attrs&, DType d, const SymInt& a, const SymInt& b) { return extreme(a, b, d, true); }};
const BinaryContents kMinimum{
    .real = [](const Attrs&, double a, double b) -> Real {
      return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
    },
    .integer = [](const Attrs&, DType d, const SymInt& a, const SymInt& b) { return extreme(a, b, d, false); }};
const BinaryContents kAnd{.real = kNotOfReals, .integer = [](const Attrs&, DType, const SymInt& a, const SymInt& b) {
                            return a.is(0) || b.is(0) ? SymInt(0)
                                                      : of_known(a, b, [](bool x, bool y) { return x && y; });
                          }};
const BinaryContents kOr{.real = kNotOfReals, .integer = [](const Attrs&, DType, const SymInt& a, const SymInt& b) {
                           return a.is(1) || b.is(1) ? SymInt(1)
                                                     : of_known(a, b, [](bool x, bool y) { return x || y; });
                         }};
const BinaryContents kXor{.real = kNotOfReals, .integer = [](const Attrs&, DType, const SymInt& a, const SymInt& b) {
                            return of_known(a, b, [](bool x, bool y) { return x != y; });
                          }};
void no_contents(InferContext&) {}

void eval_identity(InferContext& c) {
  const auto e = extents(c.result(0));
  const Data* d = c.data(0);
  if (d && e && static_cast<std::size_t>(count(*e)) == d->size()) c.set_data(0, *d);
}

void eval_unary_by(InferContext& c, RealUnary real, IntegerUnary integer) {
  if (const auto* x = float_contents(c, 0)) {
    if (!real) return;
    std::vector<double> out;
    for (double v : *x) out.push_back(real(v));
    set_floats(c, 0, out);
  } else if (ints(c, 0)) {
    auto v = int_contents(c, 0);
    if (!v) return;
    for (SymInt& s : *v) s = integer ? integer(c.type(0).dtype(), s) : SymInt{};
    set_ints(c, 0, *std::move(v));
  }
}

void eval_cast(InferContext& c) {
  const DType to = c.result(0).dtype();
  const bool to_int = is_integer(to) || is_bool(to);
  if (const auto* x = float_contents(c, 0)) {
    if (!to_int) return set_floats(c, 0, *x);
    std::vector<SymInt> out;
    for (double v : *x) {
      // NaN and values beyond int64 are undefined in ONNX
      if (is_bool(to)) out.emplace_back(v != 0);
      else if (std::fabs(v) < 0x1p63) out.emplace_back(static_cast<std::int64_t>(v));
      else out.emplace_back();
    }
    set_ints(c, 0, std::move(out));
  } else if (ints(c, 0)) {
    auto v = int_contents(c, 0);
    if (!v) return;
    if (to_int) return set_ints(c, 0, *std::move(v));
    if (!is_float(to)) return;
    std::vector<double> out;
    for (const SymInt& s : *v) {
      if (!s.known()) return;
      out.push_back(c.type(0).dtype() == DType::UInt64 ? static_cast<double>(static_cast<std::uint64_t>(s.value()))
                                                       : static_cast<double>(s.value()));
    }
    set_floats(c, 0, out);
  } else if (c.data(0) && to == c.type(0).dtype()) {
    eval_identity(c);
  }
}

namespace {

/// Reals, to truth values.
void compare_floats(InferContext& c, const HoldsFor& holds, const std::vector<double>& a,
                    const std::vector<double>& b) {
  std::vector<SymInt> out;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = a[k], y = b[k];
    const bool ordered = !std::isnan(x) && !std::isnan(y);
    out.emplace_back(ordered ? holds(x < y ? -1 : x > y ? 1 : 0) : holds.unordered);
  }
  set_ints(c, 0, std::move(out));
}

SymInt compared(const HoldsFor& holds, DType dtype, const SymInt& a, const SymInt& b) {
  if (!a.known() || !b.known()) return compare_with_symbol(holds, a, b);
  return holds(order(a, b, dtype)) ? 1 : 0;
}

/// Both operands' integers, one by one; nothing where they carry none.
template <class F>
void combine_integers(InferContext& c, const Extents& to, F f) {
  const auto a = spread_ints(c, 0, to);
  const auto b = spread_ints(c, 1, to);
  if (!a || !b) return;
  std::vector<SymInt> out;
  for (std::size_t k = 0; k < a->size(); ++k) out.push_back(f((*a)[k], (*b)[k]));
  set_ints(c, 0, std::move(out));
}

/// base ^ exponent with known integer exponents.
void power_of_integers(InferContext& c, const std::vector<double>& base, const std::vector<SymInt>& exponent) {
  std::vector<double> out;
  for (std::size_t k = 0; k < base.size(); ++k) {
    if (!exponent[k].known()) return;
    out.push_back(std::pow(base[k], static_cast<double>(exponent[k].value())));
  }
  set_floats(c, 0, out);
}

/// Nothing where some element is not known.
void combine_floats(InferContext& c, const BinaryContents& what, const std::vector<double>& a,
                    const std::vector<double>& b) {
  std::vector<double> out;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Real y = what.real ? what.real(c.attrs, a[k], b[k]) : std::nullopt;
    if (!y) return;
    out.push_back(*y);
  }
  set_floats(c, 0, out);
}

}  // namespace

void eval_binary_by(InferContext& c, const BinaryContents& what) {
  const auto to = extents(c.result(0));
  if (!to || !any_data(c)) return;
  const DType dtype = c.type(0).dtype();
  if (!is_float(dtype)) {
    return combine_integers(c, *to,
                            [&](const SymInt& a, const SymInt& b) { return what.integer(c.attrs, dtype, a, b); });
  }
  const auto a = spread_floats(c, 0, *to);
  const auto b = spread_floats(c, 1, *to);
  if (!a) return;
  if (b) return combine_floats(c, what, *a, *b);
  const auto exponent = spread_ints(c, 1, *to);
  if (exponent && what.integer_exponent) power_of_integers(c, *a, *exponent);
}

void eval_compare(InferContext& c) {
  const auto to = extents(c.result(0));
  if (!to || !any_data(c)) return;
  const DType dtype = c.type(0).dtype();
  const HoldsFor& holds = def(c.op()).holds;
  if (!is_float(dtype)) {
    return combine_integers(c, *to, [&](const SymInt& a, const SymInt& b) { return compared(holds, dtype, a, b); });
  }
  const auto a = spread_floats(c, 0, *to);
  const auto b = spread_floats(c, 1, *to);
  if (a && b) compare_floats(c, holds, *a, *b);
}

void eval_nary_by(InferContext& c, const BinaryContents& what) {
  const auto to = extents(c.result(0));
  if (!to || !any_data(c)) return;
  const DType dtype = c.result(0).dtype();
  if (is_float(dtype)) {
    auto total = spread_floats(c, 0, *to);
    if (!total) return;
    for (std::size_t i = 1; i < c.operands(); ++i) {
      const auto next = spread_floats(c, i, *to);
      if (!next) return;
      for (std::size_t k = 0; k < total->size(); ++k) { (*total)[k] = *what.real(c.attrs, (*total)[k], (*next)[k]); }
    }
    return set_floats(c, 0, *total);
  }
  auto total = spread_ints(c, 0, *to);
  if (!total) return;
  for (std::size_t i = 1; i < c.operands(); ++i) {
    const auto next = spread_ints(c, i, *to);
    if (!next) return;
    for (std::size_t k = 0; k < total->size(); ++k) {
      (*total)[k] = what.integer(c.attrs, dtype, (*total)[k], (*next)[k]);
    }
  }
  set_ints(c, 0, *std::move(total));
}

void eval_clip(InferContext& c) {
  if (const auto* x = float_contents(c, 0)) {
    std::vector<double> out = *x;
    for (std::size_t i : {1, 2}) {
      if (!c.has(i)) continue;
      const auto* bound = float_contents(c, i);
      if (!bound || bound->size() != 1) return;
      for (double& v : out) v = i == 1 ? std::max(v, bound->front()) : std::min(v, bound->front());
    }
    return set_floats(c, 0, out);
  }
  if (!ints(c, 0)) return;
  auto v = int_contents(c, 0);
  if (!v) return;
  for (std::size_t i : {1, 2}) {
    if (!c.has(i)) continue;
    const auto* bound = ints(c, i);
    const SymInt limit = bound && bound->size() == 1 ? bound->front() : SymInt::unknown();
    for (SymInt& s : *v) s = extreme(s, limit, c.type(0).dtype(), i == 1);
  }
  set_ints(c, 0, *std::move(v));
}

void eval_where(InferContext& c) {
  const auto to = extents(c.result(0));
  if (!to || !any_data(c)) return;
  const auto condition = spread_ints(c, 0, *to);
  if (!condition) return;
  if (is_float(c.result(0).dtype())) {
    const auto a = spread_floats(c, 1, *to);
    const auto b = spread_floats(c, 2, *to);
    std::vector<double> out;
    for (std::size_t k = 0; k < condition->size(); ++k) {
      const SymInt& use = (*condition)[k];
      const auto& from = use.is(0) ? b : a;
      if (!use.known() || !from) return;
      out.push_back((*from)[k]);
    }
    return set_floats(c, 0, out);
  }
  const auto a = spread_ints(c, 1, *to);
  const auto b = spread_ints(c, 2, *to);
  if (!a || !b) return;
  std::vector<SymInt> out;
  for (std::size_t k = 0; k < condition->size(); ++k) {
    const SymInt& use = (*condition)[k];
    if (use.known()) out.push_back(use.is(0) ? (*b)[k] : (*a)[k]);
    else out.push_back((*a)[k] == (*b)[k] ? (*a)[k] : SymInt::unknown());
  }
  set_ints(c, 0, std::move(out));
}

}  // namespace perfc::rules
