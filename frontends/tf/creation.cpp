/// Tensors of one number, of evenly spaced ones.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"

namespace perfc::tf {

Result<Values> fill(Call& c, const OpRow&) {
  auto dims = c.tensor(0);
  auto value = c.tensor(1);
  if (!dims || !value) return Failure{};
  const Type& type = c.builder().type(*value);
  const DataRef data = c.builder().data_ref(*value);
  if (data && data->fully_known() && data->size() == 1) {
    return c.finish(op("full"), {*dims}, {{"value", Literal{Type::tensor(type.dtype(), {1}), data}}});
  }
  return c.finish(op("broadcast_to"), {*value, *dims});
}

/// ZerosLike, OnesLike.
Result<Values> full_like(Call& c, const OpRow& row) {
  if (c.has(0) && c.inputs[0].kind == Value::Kind::List) return Values{c.inputs[0]};
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const DType dtype = c.builder().type(*x).dtype();
  const std::int64_t value = row.name == "OnesLike" ? 1 : 0;
  auto data = std::make_shared<Data>();
  if (is_float(dtype)) {
    data->elements = std::vector<double>{static_cast<double>(value)};
  } else {
    data->elements = std::vector<SymInt>{SymInt(value)};
  }
  const bool has_value = is_float(dtype) || is_integer(dtype) || dtype == DType::Bool;
  auto s = c.shape_of(*x);
  if (!s) return Failure{};
  return c.finish(op("full"), {*s}, {{"value", Literal{Type::tensor(dtype, {1}), has_value ? data : nullptr}}});
}

Result<Values> range(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  return c.finish(op("arange"), *operands);
}

/// (start, stop, num): as many values, evenly spaced.
Result<Values> linspace(Call& c, const OpRow&) {
  auto start = c.tensor(0);
  auto num = c.integer(2, "num");
  if (!start || !num) return Failure{};
  if (*num < 1) return c.error(fmt::format("num is {}", *num));
  auto n =
      c.emit(op("arange"), {c.constant(int64_scalar(0)), c.constant(int64_scalar(*num)), c.constant(int64_scalar(1))});
  if (!n) return Failure{};
  auto x = c.cast(*n, c.builder().type(*start).dtype());
  auto stop = c.tensor(1);
  if (!x || !stop) return Failure{};
  auto span = c.emit(op("subtract"), {*stop, *start});
  if (!span) return Failure{};
  auto step =
      c.emit(op("divide"), {*span, c.number_like(*span, static_cast<double>(std::max<std::int64_t>(1, *num - 1)))});
  if (!step) return Failure{};
  auto scaled = c.emit(op("multiply"), {*x, *step});
  if (!scaled) return Failure{};
  return one(c.emit(op("add"), {*scaled, *start}));
}

}  // namespace perfc::tf
