/// Contents of element-by-element operators on small tensors.
#include <algorithm>
#include <cmath>

#include "ir/ops/eval_helpers.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

std::optional<double> unary(OpId o, double x) {
  if (o == op("abs")) return std::fabs(x);
  if (o == op("negative")) return -x;
  if (o == op("ceil")) return std::ceil(x);
  if (o == op("floor")) return std::floor(x);
  if (o == op("round")) return std::nearbyint(x);  // ties to even, as ONNX asks
  if (o == op("sign")) return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
  if (o == op("sqrt")) return std::sqrt(x);
  if (o == op("reciprocal")) return 1 / x;
  if (o == op("exp")) return std::exp(x);
  if (o == op("log")) return std::log(x);
  return std::nullopt;
}

SymInt unary(OpId o, DType dtype, const SymInt& x) {
  if (o == op("logical_not")) return x.known() ? SymInt(x.value() == 0) : SymInt::unknown();
  if (o == op("negative")) return SymInt(0) - x;
  if (o == op("sign")) {
    if (!x.known()) return {};
    return dtype == DType::UInt64 ? x.value() != 0 : (x.value() > 0) - (x.value() < 0);
  }
  if (o == op("abs")) {
    if (dtype == DType::UInt64 || x.symbolic()) return x;  // symbols name dims, which are not negative
    return x.known() && x.value() < 0 ? SymInt(0) - x : x;
  }
  return {};
}

std::optional<double> binary(OpId o, const Attrs& attrs, double a, double b) {
  if (o == op("add") || o == op("sum")) return a + b;
  if (o == op("subtract")) return a - b;
  if (o == op("multiply")) return a * b;
  if (o == op("divide")) return a / b;
  if (o == op("power")) return std::pow(a, b);
  if (o == op("maximum")) return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  if (o == op("minimum")) return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  if (o == op("mod")) {
    // fmod = 1: sign of the dividend; otherwise undefined for floats.
    return attrs.int_or("fmod", 0) == 1 ? std::optional(std::fmod(a, b)) : std::nullopt;
  }
  return std::nullopt;
}

/// Remainder with the divisor's sign, or with the dividend's for fmod = 1.
SymInt mod(const SymInt& a, const SymInt& b, DType dtype, bool fmod) {
  if (b.is(1)) return 0;
  if (!a.known() || !b.known() || b.value() == 0) return {};
  if (dtype == DType::UInt64) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value()) %
                                     static_cast<std::uint64_t>(b.value()));
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

/// Truth of a comparison whose operands compare as `order`.
std::optional<bool> holds(OpId o, int order) {
  if (o == op("equal")) return order == 0;
  if (o == op("less")) return order < 0;
  if (o == op("less_equal")) return order <= 0;
  if (o == op("greater")) return order > 0;
  if (o == op("greater_equal")) return order >= 0;
  return std::nullopt;
}

/// Of a symbol and a known value only this much is known: dims are not negative.
SymInt compare_with_symbol(OpId o, const SymInt& a, const SymInt& b) {
  if (a.symbolic() && a == b) return *holds(o, 0) ? 1 : 0;
  if (a.symbolic() && b.known() && b.value() < 0) return *holds(o, 1) ? 1 : 0;
  if (b.symbolic() && a.known() && a.value() < 0) return *holds(o, -1) ? 1 : 0;
  return {};
}

SymInt logical(OpId o, const SymInt& a, const SymInt& b) {
  if (o == op("logical_and") && (a.is(0) || b.is(0))) return 0;
  if (o == op("logical_or") && (a.is(1) || b.is(1))) return 1;
  if (!a.known() || !b.known()) return {};
  if (o == op("logical_and")) return a.value() && b.value();
  if (o == op("logical_or")) return a.value() || b.value();
  return (a.value() != 0) != (b.value() != 0);
}

SymInt binary(OpId o, const Attrs& attrs, DType dtype, const SymInt& a, const SymInt& b) {
  if (o == op("add") || o == op("sum")) return a + b;
  if (o == op("subtract")) return a - b;
  if (o == op("multiply")) return a * b;
  if (o == op("divide")) {
    if (dtype != DType::UInt64 || !a.known() || !b.known() || b.is(0)) return trunc_div(a, b);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value()) /
                                     static_cast<std::uint64_t>(b.value()));
  }
  if (o == op("mod")) return mod(a, b, dtype, attrs.int_or("fmod", 0) == 1);
  if (o == op("power")) return power(a, b);
  if (o == op("maximum") || o == op("minimum")) return extreme(a, b, dtype, o == op("maximum"));
  if (holds(o, 0)) {
    if (!a.known() || !b.known()) return compare_with_symbol(o, a, b);
    return *holds(o, order(a, b, dtype)) ? 1 : 0;
  }
  return logical(o, a, b);
}

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

void eval_identity(InferContext& c) {
  const auto e = extents(c.result(0));
  const Data* d = c.data(0);
  if (d && e && static_cast<std::size_t>(count(*e)) == d->size()) c.set_data(0, *d);
}

void eval_unary(InferContext& c) {
  if (const auto* x = float_contents(c, 0)) {
    std::vector<double> out;
    for (double v : *x) {
      const auto y = unary(c.op(), v);
      if (!y) return;
      out.push_back(*y);
    }
    set_floats(c, 0, out);
  } else if (ints(c, 0)) {
    auto v = int_contents(c, 0);
    if (!v) return;
    for (SymInt& s : *v) s = unary(c.op(), c.type(0).dtype(), s);
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
      out.push_back(c.type(0).dtype() == DType::UInt64
                        ? static_cast<double>(static_cast<std::uint64_t>(s.value()))
                        : static_cast<double>(s.value()));
    }
    set_floats(c, 0, out);
  } else if (c.data(0) && to == c.type(0).dtype()) {
    eval_identity(c);
  }
}

void eval_binary(InferContext& c) {
  const auto to = extents(c.result(0));
  if (!to || !any_data(c)) return;
  const DType dtype = c.type(0).dtype();
  if (is_float(dtype)) {
    const auto a = spread_floats(c, 0, *to);
    const auto b = spread_floats(c, 1, *to);
    if (!a) return;
    if (!b) {  // power with an integer exponent
      const auto e = spread_ints(c, 1, *to);
      if (!e || c.op() != op("power")) return;
      std::vector<double> out;
      for (std::size_t k = 0; k < a->size(); ++k) {
        if (!(*e)[k].known()) return;
        out.push_back(std::pow((*a)[k], static_cast<double>((*e)[k].value())));
      }
      return set_floats(c, 0, out);
    }
    if (is_bool(c.result(0).dtype())) {
      std::vector<SymInt> out;
      for (std::size_t k = 0; k < a->size(); ++k) {
        const double x = (*a)[k], y = (*b)[k];
        // a NaN makes every comparison false
        const bool ordered = !std::isnan(x) && !std::isnan(y);
        const auto h = holds(c.op(), x < y ? -1 : x > y ? 1 : 0);
        if (!h) return;
        out.emplace_back(ordered && *h);
      }
      return set_ints(c, 0, std::move(out));
    }
    std::vector<double> out;
    for (std::size_t k = 0; k < a->size(); ++k) {
      const auto y = binary(c.op(), c.attrs, (*a)[k], (*b)[k]);
      if (!y) return;
      out.push_back(*y);
    }
    return set_floats(c, 0, out);
  }
  const auto a = spread_ints(c, 0, *to);
  const auto b = spread_ints(c, 1, *to);
  if (!a || !b) return;
  std::vector<SymInt> out;
  for (std::size_t k = 0; k < a->size(); ++k) out.push_back(binary(c.op(), c.attrs, dtype, (*a)[k], (*b)[k]));
  set_ints(c, 0, std::move(out));
}

void eval_nary(InferContext& c) {
  const auto to = extents(c.result(0));
  if (!to || !any_data(c)) return;
  const DType dtype = c.result(0).dtype();
  if (is_float(dtype)) {
    auto total = spread_floats(c, 0, *to);
    if (!total) return;
    for (std::size_t i = 1; i < c.operands(); ++i) {
      const auto next = spread_floats(c, i, *to);
      if (!next) return;
      for (std::size_t k = 0; k < total->size(); ++k) {
        (*total)[k] = *binary(c.op(), c.attrs, (*total)[k], (*next)[k]);
      }
    }
    return set_floats(c, 0, *total);
  }
  auto total = spread_ints(c, 0, *to);
  if (!total) return;
  for (std::size_t i = 1; i < c.operands(); ++i) {
    const auto next = spread_ints(c, i, *to);
    if (!next) return;
    for (std::size_t k = 0; k < total->size(); ++k) {
      (*total)[k] = binary(c.op(), c.attrs, dtype, (*total)[k], (*next)[k]);
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
