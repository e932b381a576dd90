/// Operators that several of ONNX compute together.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "backends/onnx/rows.h"

namespace perfc::backends::write {
namespace {

constexpr auto kEnd = std::numeric_limits<std::int64_t>::max();

std::string int_scalar(CallWriter& c, std::int64_t value) { return c.model().literal(int64_scalar(value), "number"); }

/// 0, 1, … below a number.
std::string positions(CallWriter& c, const std::string& below) {
  return c.value("Range", {int_scalar(c, 0), below, int_scalar(c, 1)});
}

/// The largest finite number of an element type.
double largest(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return std::numeric_limits<double>::max();
    case DType::Float16:
      return 65504;
    case DType::BFloat16:
      return std::ldexp(255, 120);
    default:
      return static_cast<double>(std::numeric_limits<float>::max());
  }
}

double number_or(const Attrs& attrs, std::string_view name, double fallback) {
  const auto* whole = attrs.has(name) ? std::get_if<std::int64_t>(attrs.find(name)) : nullptr;
  return whole ? static_cast<double>(*whole) : attrs.float_or(name, fallback);
}

}  // namespace

/// log(x / (1 − x)), x held within [ε, 1 − ε].
Status logit(CallWriter& c) {
  if (!onnx_attributes(c, "eps")) return Failure{};
  const DType dtype = c.result().dtype();
  std::string x = c.operands[0];
  if (c.attrs.has("eps")) {
    const double eps = number_or(c.attrs, "eps", 0);
    x = c.value("Clip", {x, c.number(eps, dtype), c.number(1 - eps, dtype)});
  }
  return c.finish("Log", {c.value("Div", {x, c.value("Sub", {c.number(1, dtype), x})})});
}

/// Infinities become the largest finite numbers unless others are given.
Status nan_to_num(CallWriter& c) {
  if (!onnx_attributes(c, "nan posinf neginf")) return Failure{};
  const DType dtype = c.result().dtype();
  if (!is_float(dtype)) return c.finish_as(c.operands[0]);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::string x = c.value(
      "Where", {c.value("IsNaN", {c.operands[0]}), c.number(number_or(c.attrs, "nan", 0), dtype), c.operands[0]});
  for (const bool positive : {true, false}) {
    const double sign = positive ? 1 : -1;
    const double wanted = number_or(c.attrs, positive ? "posinf" : "neginf", sign * largest(dtype));
    x = c.value("Where", {c.value("Equal", {x, c.number(sign * kInfinity, dtype)}), c.number(wanted, dtype), x});
  }
  return c.finish_as(x);
}

/// The first half of an axis times the sigmoid of the second.
Status glu(CallWriter& c) {
  if (!onnx_attributes(c, "axis")) return Failure{};
  const std::string first = c.model().unique(c.results[0]), second = c.model().unique(c.results[0]);
  const Attrs halves{{"axis", c.attrs.int_or("axis", -1)}, {"num_outputs", std::int64_t{2}}};
  if (!c.add("Split", {c.operands[0]}, {first, second}, halves)) return Failure{};
  return c.finish("Mul", {first, c.value("Sigmoid", {second})});
}

/// v · g / ‖v‖, a norm per entry of an axis; of axis −1 one of all.
Status weight_norm(CallWriter& c) {
  if (!onnx_attributes(c, "axis")) return Failure{};
  if (!c.type(0).ranked()) return c.error("a weight of unknown rank has no form in ONNX");
  const std::int64_t axis = c.attrs.int_or("axis", 0);
  std::vector<std::int64_t> axes;
  for (std::int64_t a = 0; a < static_cast<std::int64_t>(c.type(0).rank()); ++a) {
    if (a != axis) axes.push_back(a);
  }
  const std::string length = axes.empty()
                                 ? c.value("Abs", {c.operands[0]})
                                 : c.value("ReduceL2", {c.operands[0], c.ints(axes)}, {{"keepdims", std::int64_t{1}}});
  return c.finish("Mul", {c.operands[0], c.value("Div", {c.operands[1], length})});
}

/// The part is scattered to where a slice of all positions says.
Status strided_set(CallWriter& c) {
  if (!onnx_attributes(c, "")) return Failure{};
  const std::string& data = c.operands[0];
  const std::string shape = c.value("Shape", {data}), flat = c.ints({-1});
  const std::string all = c.value("Reshape", {positions(c, c.value("Size", {data})), shape});
  const std::string where =
      c.value("Slice", {all, c.operands[1], c.operands[2], c.operands[3], c.has(4) ? c.operands[4] : ""});
  const std::string changed = c.value(
      "ScatterElements",
      {c.value("Reshape", {data, flat}), c.value("Reshape", {where, flat}), c.value("Reshape", {c.operands[5], flat})});
  return c.finish("Reshape", {changed, shape});
}

/// Sums, means or maxima of rows. Bags are the rows of the indices, or begin at offsets: then a matrix says which
/// index is in which bag.
Status embedding_bag(CallWriter& c) {
  if (!onnx_attributes(c, "mode include_last_offset")) return Failure{};
  if (c.read > 1) return c.error("results after the first have no form in ONNX");
  c.results.resize(1);
  const std::string_view mode = c.attrs.string_or("mode", "sum");
  const bool max = mode == "max";
  const DType dtype = c.type(0).dtype();
  const Attrs gone{{"keepdims", std::int64_t{0}}}, to_dtype{{"to", std::int64_t{onnx::onnx_number(dtype)}}};
  std::string rows = c.value("Gather", {c.operands[0], c.operands[1]}, {{"axis", std::int64_t{0}}});
  if (c.has(3)) rows = c.value("Mul", {rows, c.value("Unsqueeze", {c.operands[3], c.ints({-1})})});
  if (!c.type(1).ranked()) return c.error("indices of unknown rank have no form in ONNX");
  if (c.type(1).rank() == 2) {
    return c.finish(max ? "ReduceMax" : mode == "mean" ? "ReduceMean" : "ReduceSum", {rows, c.ints({1})}, gone);
  }
  std::string offsets = c.operands[2];
  if (c.attrs.int_or("include_last_offset", 0) != 0) {
    offsets = c.value("Slice", {offsets, c.ints({0}), c.ints({-1}), c.ints({0})});
  }
  if (c.type(2).dtype() != DType::Int64) {
    offsets = c.value("Cast", {offsets}, {{"to", std::int64_t{onnx::onnx_number(DType::Int64)}}});
  }
  const std::string number = c.value("Size", {c.operands[1]});
  const std::string ends = c.value("Concat",
                                   {c.value("Slice", {offsets, c.ints({1}), c.ints({kEnd}), c.ints({0})}),
                                    c.value("Reshape", {number, c.ints({1})})},
                                   {{"axis", std::int64_t{0}}});
  const std::string at = c.value("Unsqueeze", {positions(c, number), c.ints({0})});
  const std::string inside =
      c.value("And", {c.value("GreaterOrEqual", {at, c.value("Unsqueeze", {offsets, c.ints({1})})}),
                      c.value("Less", {at, c.value("Unsqueeze", {ends, c.ints({1})})})});
  const std::string members = c.value("Cast", {inside}, to_dtype);
  if (!max) {
    const std::string sums = c.value("MatMul", {members, rows});
    if (mode != "mean") return c.finish_as(sums);
    const std::string sizes = c.value("ReduceSum", {members, c.ints({1})}, {{"keepdims", std::int64_t{1}}});
    return c.finish("Div", {sums, c.value("Max", {sizes, c.number(1, dtype)})});
  }
  const std::string seen = c.value("Where", {c.value("Unsqueeze", {inside, c.ints({2})}), rows,
                                             c.number(-std::numeric_limits<double>::infinity(), dtype)});
  const std::string most = c.value("ReduceMax", {seen, c.ints({1})}, gone);
  // Of an empty bag 0.
  const std::string full =
      c.value("Cast", {c.value("ReduceMax", {members, c.ints({1})}, {{"keepdims", std::int64_t{1}}})},
              {{"to", std::int64_t{onnx::onnx_number(DType::Bool)}}});
  return c.finish("Where", {full, most, c.number(0, dtype)});
}

}  // namespace perfc::backends::write
