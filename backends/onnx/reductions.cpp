/// Reductions, and scans along an axis.
#include <fmt/format.h>

#include <cmath>

#include "backends/onnx/rows.h"
#include "ir/support/text.h"

namespace perfc::backends::write {

/// Axes are an operand; PyTorch's are an attribute.
Status reduce(CallWriter& c) {
  auto attrs = onnx_attributes(c, "keepdims noop_with_empty_axes axes");
  if (!attrs) return Failure{};
  std::string_view spelling = def(c.node.op).onnx;
  CallWriter::Names inputs = c.operands;
  if (attrs->has("axes")) {
    const auto axes = c.attrs.ints_or_empty("axes");
    attrs->erase("axes");
    inputs.resize(2);
    if (!axes.empty()) inputs[1] = c.ints(axes);
  }
  return c.finish(next_word(spelling), inputs, *attrs);
}

namespace {

/// The axes to reduce, as an operand of ONNX; empty: all.
std::string axes_operand(CallWriter& c) {
  const auto axes = c.attrs.ints_or_empty("axes");
  return c.has(1) ? c.operands[1] : axes.empty() ? std::string() : c.ints(axes);
}

Attrs kept_dims(CallWriter& c) { return {{"keepdims", c.attrs.int_or("keepdims", 1)}}; }
/// Elements that each result of a reduction is computed from, as a number of this type.
std::string count(CallWriter& c, DType dtype, const std::string& reduced) {
  const auto in = c.type(0).elements(), out = c.result().elements();
  if (in && out && *out > 0) return c.number(static_cast<double>(*in) / static_cast<double>(*out), dtype);
  const auto size = [&](const std::string& v) { return c.value("Cast", {c.value("Size", {v})}, to_type(dtype)); };
  return c.value("Div", {size(c.operands[0]), size(reduced)});
}

/// Mean of squared distances; `correction` is taken from the number of elements.
std::string spread(CallWriter& c, const std::string& axes) {
  const DType dtype = c.result().dtype();
  const Attrs kept{{"keepdims", std::int64_t{1}}};
  const std::string centred = c.value("Sub", {c.operands[0], c.value("ReduceMean", {c.operands[0], axes}, kept)});
  const std::string squares = c.value("Mul", {centred, centred});
  const std::string mean = c.value("ReduceMean", {squares, axes}, kept_dims(c));
  const double correction = c.attrs.float_or("correction", static_cast<double>(c.attrs.int_or("correction", 1)));
  if (correction == 0) return mean;
  const std::string n = count(c, dtype, mean);
  return c.value("Mul", {mean, c.value("Div", {n, c.value("Sub", {n, c.number(correction, dtype)})})});
}

}  // namespace

Status variance(CallWriter& c) {
  if (!onnx_attributes(c, "axes keepdims correction")) return Failure{};
  const std::string value = spread(c, axes_operand(c));
  return c.node.is(op("std")) ? c.finish("Sqrt", {value}) : c.finish_as(value);
}

/// Both results: the variance, or its root, and the mean.
Status variance_and_mean(CallWriter& c) {
  if (!onnx_attributes(c, "axes keepdims correction")) return Failure{};
  const std::string axes = axes_operand(c);
  const std::string value = spread(c, axes);
  if (!c.add(c.node.is(op("std_mean")) ? "Sqrt" : "Identity", {value}, {c.results[0]})) return Failure{};
  return c.add("ReduceMean", {c.operands[0], axes}, {c.results[1]}, kept_dims(c));
}

/// Of what is not 0, as numbers.
Status any_all(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axes keepdims noop_with_empty_axes");
  if (!attrs) return Failure{};
  attrs->erase("axes");
  const std::string truth =
      c.value("Cast", {c.value("Cast", {c.operands[0]}, to_type(DType::Bool))}, to_type(DType::Int32));
  const std::string value = c.value(c.node.is(op("any")) ? "ReduceMax" : "ReduceMin", {truth, axes_operand(c)}, *attrs);
  return c.finish("Cast", {value}, to_type(c.result().dtype()));
}

Status count_nonzero(CallWriter& c) {
  if (!onnx_attributes(c, "axes keepdims")) return Failure{};
  const std::string ones =
      c.value("Cast", {c.value("Cast", {c.operands[0]}, to_type(DType::Bool))}, to_type(DType::Int64));
  return c.finish("Cast", {c.value("ReduceSum", {ones, axes_operand(c)}, kept_dims(c))}, to_type(c.result().dtype()));
}

Status nansum(CallWriter& c) {
  if (!onnx_attributes(c, "axes keepdims")) return Failure{};
  const std::string zero = c.number(0, c.type(0).dtype());
  const std::string numbers = c.value("Where", {c.value("IsNaN", {c.operands[0]}), zero, c.operands[0]});
  return c.finish("ReduceSum", {numbers, axes_operand(c)}, kept_dims(c));
}

/// (Σ |x|^p)^(1/p); of an infinite p the largest magnitude, or the smallest.
Status reduce_lp(CallWriter& c) {
  if (!onnx_attributes(c, "axes keepdims p")) return Failure{};
  const double p = c.attrs.float_or("p", static_cast<double>(c.attrs.int_or("p", 2)));
  const std::string axes = axes_operand(c), magnitude = c.value("Abs", {c.operands[0]});
  if (std::isinf(p)) return c.finish(p > 0 ? "ReduceMax" : "ReduceMin", {magnitude, axes}, kept_dims(c));
  const DType dtype = c.type(0).dtype();
  const std::string powers = c.value("Pow", {magnitude, c.number(p, dtype)});
  return c.finish("Pow", {c.value("ReduceSum", {powers, axes}, kept_dims(c)), c.number(1 / p, dtype)});
}

/// Both results: the least and the largest.
Status least_and_largest(CallWriter& c) {
  if (!onnx_attributes(c, "axes keepdims")) return Failure{};
  const std::string axes = axes_operand(c);
  if (!c.add("ReduceMin", {c.operands[0], axes}, {c.results[0]}, kept_dims(c))) return Failure{};
  return c.add("ReduceMax", {c.operands[0], axes}, {c.results[1]}, kept_dims(c));
}

/// Along one axis, with where it stands.
Status extreme_along(CallWriter& c) {
  if (!onnx_attributes(c, "axis keepdims")) return Failure{};
  const bool max = c.node.is(op("max_dim"));
  const std::int64_t axis = c.attrs.int_or("axis", 0);
  Attrs at = kept_dims(c);
  if (!c.add(max ? "ReduceMax" : "ReduceMin", {c.operands[0], c.ints({axis})}, {c.results[0]}, at)) return Failure{};
  at.set("axis", axis);
  return c.add(max ? "ArgMax" : "ArgMin", {c.operands[0]}, {c.results[1]}, at);
}

/// log(Σ exp x) up to each element, about the largest of all.
Status log_cumulative_sum(CallWriter& c) {
  if (!onnx_attributes(c, "")) return Failure{};
  const std::string axis = c.value("Reshape", {c.operands[1], c.ints({1})});
  const std::string top = c.value("ReduceMax", {c.operands[0], axis}, {{"keepdims", std::int64_t{1}}});
  const std::string terms = c.value("Exp", {c.value("Sub", {c.operands[0], top})});
  return c.finish("Add", {c.value("Log", {c.value("CumSum", {terms, c.operands[1]})}), top});
}

}  // namespace perfc::backends::write
