/// Rules for ranges and constant fills.
#include <algorithm>
#include <cmath>

#include "ir/ops/eval_helpers.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// The only element of a scalar operand, as a number.
std::optional<double> known_number(const InferContext& c, std::size_t i) {
  if (const auto v = known_scalar(c, i)) return static_cast<double>(*v);
  const Data* d = c.data(i);
  if (!d || !d->floats() || d->floats()->size() != 1) return std::nullopt;
  return d->floats()->front();
}

/// Entries of a range, max(⌈(limit − start) / delta⌉, 0), where they are known.
Result<Dim> range_length(const InferContext& c) {
  if (is_integer(c.type(0).dtype())) {
    const auto delta = known_scalar(c, 2);
    if (delta == 0) return c.error("delta is 0");
    const auto* start = ints(c, 0);
    const auto* limit = ints(c, 1);
    if (!delta || !start || !limit || start->size() != 1 || limit->size() != 1) return Dim::unknown();
    const SymInt span = *delta > 0 ? limit->front() - start->front() : start->front() - limit->front();
    if (span.symbolic()) return *delta == 1 ? span : Dim::unknown();
    if (!span.known() || *delta == INT64_MIN) return Dim::unknown();
    return ceil_div(std::max<std::int64_t>(span.value(), 0), std::abs(*delta));
  }
  const auto delta = known_number(c, 2);
  if (delta == 0.0) return c.error("delta is 0");
  const auto start = known_number(c, 0);
  const auto limit = known_number(c, 1);
  if (!delta || !start || !limit) return Dim::unknown();
  const double n = std::ceil((*limit - *start) / *delta);
  if (!(n < 0x1p62)) return c.error("range from {} to {} by {} is not finite", *start, *limit, *delta);
  return Dim(static_cast<std::int64_t>(std::max(n, 0.0)));
}

}  // namespace

Status arange(InferContext& c) {
  constexpr std::string_view kRoles[] = {"start", "limit", "delta"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!require_dtype(c, i, kRoles[i], is_numeric, "a numeric type")) return Failure{};
    const auto n = c.type(i).elements();
    if (n && *n != 1) return c.error("{} must be a scalar, got {}", kRoles[i], to_string(c.type(i)));
    if (!require_same_dtype(c, 0, i)) return Failure{};
  }
  const auto n = range_length(c);
  if (!n) return Failure{};
  c.set(0, Type::tensor(c.type(0).dtype(), {*n}));
  return ok();
}

/// ONNX ConstantOfShape (operand: the shape; attribute "value": a tensor of one
/// element). The long-gone ConstantFill has attributes "shape", "extra_shape",
/// "dtype", a float "value", and "input_as_shape" to say what its operand is.
Status full(InferContext& c) {
  const Attr* value = c.attrs.find("value");
  const auto* literal = value ? std::get_if<Literal>(value) : nullptr;
  const DType dtype = literal ? literal->type.dtype() : c.attrs.dtype_or("dtype", DType::Float32);
  if (literal && literal->type.elements() && *literal->type.elements() != 1) {
    return c.error("value must have one element, got {}", to_string(literal->type));
  }
  Shape shape;
  const auto append = [&](const std::vector<std::int64_t>& dims) -> Status {
    for (std::int64_t d : dims) {
      const auto dim = as_dim(c, d, "shape");
      if (!dim) return Failure{};
      shape.push_back(*dim);
    }
    return ok();
  };
  const bool like =
      !literal && !c.attrs.int_or("input_as_shape", 0) && (c.attrs.has("input_as_shape") || c.attrs.has("extra_shape"));
  if (!c.has(0)) {
    if (!append(c.attrs.ints_or_empty("shape"))) return Failure{};
  } else if (like) {
    if (!require_tensor(c, 0, "input")) return Failure{};
    if (!c.type(0).ranked()) {
      c.set(0, Type::unranked(dtype));
      return ok();
    }
    shape = c.type(0).shape();
  } else {
    if (!require_dtype(c, 0, "shape", is_index, "int32 or int64") || !require_rank(c, 0, "shape", 0, 1)) {
      return Failure{};
    }
    const auto length = known_length(c, 0);
    if (!length) {
      c.set(0, Type::unranked(dtype));
      return ok();
    }
    if (!require_length(c, *length, "shape")) return Failure{};
    if (const auto* dims = ints(c, 0)) {
      for (const SymInt& d : *dims) {
        const auto dim = as_dim(c, d, "shape");
        if (!dim) return Failure{};
        shape.push_back(*dim);
      }
    } else {
      shape = unknown_shape(static_cast<std::size_t>(*length));
    }
  }
  if (!literal && !append(c.attrs.ints_or_empty("extra_shape"))) return Failure{};
  c.set(0, Type::tensor(dtype, std::move(shape)));
  return ok();
}

void eval_arange(InferContext& c) {
  const auto e = extents(c.result(0));
  if (!e) return;
  const auto n = static_cast<std::size_t>(count(*e));
  if (is_integer(c.type(0).dtype())) {
    const auto* start = ints(c, 0);
    const auto* delta = ints(c, 2);
    if (!start || !delta || start->size() != 1 || delta->size() != 1) return;
    std::vector<SymInt> values;
    SymInt next = start->front();
    for (std::size_t k = 0; k < n; ++k, next = next + delta->front()) values.push_back(next);
    return set_ints(c, 0, std::move(values));
  }
  const auto start = known_number(c, 0);
  const auto delta = known_number(c, 2);
  if (!start || !delta) return;
  std::vector<double> values;
  for (std::size_t k = 0; k < n; ++k) values.push_back(*start + static_cast<double>(k) * *delta);
  set_floats(c, 0, values);
}

void eval_full(InferContext& c) {
  const auto e = extents(c.result(0));
  if (!e) return;
  const auto n = static_cast<std::size_t>(count(*e));
  const Attr* value = c.attrs.find("value");
  const auto* literal = value ? std::get_if<Literal>(value) : nullptr;
  const DType dtype = c.result(0).dtype();
  if (literal) {
    if (!literal->data || literal->data->size() != 1) return;
    if (const auto* v = literal->data->ints()) set_ints(c, 0, std::vector<SymInt>(n, v->front()));
    if (const auto* v = literal->data->floats()) set_floats(c, 0, std::vector<double>(n, v->front()));
  } else if (is_float(dtype)) {
    set_floats(c, 0, std::vector<double>(n, c.attrs.float_or("value", 0)));
  } else if (is_integer(dtype)) {
    set_ints(c, 0, std::vector<SymInt>(n, c.attrs.int_or("value", 0)));
  }
}

}  // namespace perfc::rules
