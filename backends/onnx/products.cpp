/// Matrix products and attention.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "backends/onnx/rows.h"

namespace perfc::backends::write {
namespace {

/// With its last two dims exchanged.
std::string transposed(CallWriter& c, const std::string& value, const Type& type) {
  std::vector<std::int64_t> perm(type.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return c.value("Transpose", {value}, {{"perm", perm}});
}

}  // namespace

/// Gemm multiplies matrices; of data with more dims it is MatMul.
Status dense(CallWriter& c) {
  if (is_integer(c.type(0).dtype()) && bits(c.type(0).dtype()) < 32) {
    return c.error("a product of small integers into their own type has no form in ONNX");
  }
  auto attrs = onnx_attributes(c, "alpha beta transA transB");
  if (!attrs) return Failure{};
  if (c.type(0).ranked() && c.type(0).rank() == 2) return c.finish("Gemm", c.operands, *attrs);
  const bool scaled = c.attrs.float_or("alpha", 1) != 1 || c.attrs.float_or("beta", 1) != 1;
  if (!c.type(0).ranked() || !c.type(1).ranked()) return c.error("data of unknown rank has no form in ONNX");
  const std::string data = c.attrs.int_or("transA", 0) != 0 ? transposed(c, c.operands[0], c.type(0)) : c.operands[0];
  const std::string weight = c.attrs.int_or("transB", 0) != 0 ? transposed(c, c.operands[1], c.type(1)) : c.operands[1];
  if (!c.has(2) && !scaled) return c.finish("MatMul", {data, weight});
  const auto times = [&](const std::string& value, double factor) {
    return factor == 1 ? value : c.value("Mul", {value, c.number(factor, c.result().dtype())});
  };
  const std::string product = times(c.value("MatMul", {data, weight}), c.attrs.float_or("alpha", 1));
  return c.has(2) ? c.finish("Add", {product, times(c.operands[2], c.attrs.float_or("beta", 1))})
                  : c.finish_as(product);
}

Status batch_matmul(CallWriter& c) {
  auto attrs = onnx_attributes(c, "alpha transA transB transBatchA transBatchB");
  if (!attrs) return Failure{};
  return c.finish(attrs->size() > 0 ? "ms:FusedMatMul" : "MatMul", c.operands, *attrs);
}

namespace {

/// The extent of a dim, counted from the end, as a number.
std::string extent(CallWriter& c, std::size_t operand, std::int64_t dim) {
  const Shape& shape = c.type(operand).shape();
  const Dim& d = shape[shape.size() - static_cast<std::size_t>(-dim)];
  if (d.known()) return c.model().literal(int64_scalar(d.value()), "extent");
  const std::string sizes = c.value("Shape", {c.operands[operand]});
  return c.value("Gather", {sizes, c.model().literal(int64_scalar(dim), "dim")});
}

/// What query i sees: keys up to i.
std::string seen_by_causal(CallWriter& c) {
  const auto positions = [&](std::size_t operand, std::int64_t axis) {
    const std::string zero = c.model().literal(int64_scalar(0), "number"),
                      one = c.model().literal(int64_scalar(1), "number");
    return c.value("Unsqueeze", {c.value("Range", {zero, extent(c, operand, -2), one}), c.ints({axis})});
  };
  return c.value("GreaterOrEqual", {positions(0, 1), positions(1, 0)});
}

}  // namespace

/// softmax(q · kᵀ · scale + mask) · v. A mask of bools says what is seen.
Status sdpa(CallWriter& c) {
  auto attrs = onnx_attributes(c, "scale is_causal");
  if (!attrs) return Failure{};
  const Type &q = c.type(0), &k = c.type(1), &v = c.type(2);
  if (!q.ranked() || !k.ranked() || !v.ranked()) return c.error("operands of unknown rank have no form in ONNX");
  if (q.rank() < 2 || k.rank() < 2 || v.rank() < 2) return c.error("operands are no matrices");
  const DType dtype = q.dtype();
  std::string scores = c.value("MatMul", {c.operands[0], transposed(c, c.operands[1], k)});
  const Dim& head = q.shape().back();
  if (const double scale = c.attrs.float_or("scale", static_cast<double>(c.attrs.int_or("scale", 0))); scale != 0) {
    scores = c.value("Mul", {scores, c.number(scale, dtype)});
  } else if (head.known()) {
    scores = c.value("Mul", {scores, c.number(1 / std::sqrt(static_cast<double>(head.value())), dtype)});
  } else {
    const Attrs to{{"to", std::int64_t{onnx::onnx_number(dtype)}}};
    scores = c.value("Div", {scores, c.value("Sqrt", {c.value("Cast", {extent(c, 0, -1)}, to)})});
  }
  if (c.attrs.int_or("is_causal", 0) != 0) {
    scores = c.value("Where", {seen_by_causal(c), scores, c.number(-INFINITY, dtype)});
  }
  if (c.has(3) && c.type(3).dtype() == DType::Bool) {
    scores = c.value("Where", {c.operands[3], scores, c.number(-INFINITY, dtype)});
  } else if (c.has(3)) {
    scores = c.value("Add", {scores, c.operands[3]});
  }
  std::string weights = c.value("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  if (c.has(3) && c.type(3).dtype() == DType::Bool) {  // a query that sees nothing is given nothing
    weights = c.value("Where", {c.value("IsNaN", {weights}), c.number(0, dtype), weights});
  }
  return c.finish("MatMul", {weights, c.operands[2]});
}

/// x + bias along an axis, + skip.
Status bias_add(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis");
  if (!attrs) return Failure{};
  if (!c.type(0).ranked()) return c.error("data of unknown rank has no form in ONNX");
  const auto rank = static_cast<std::int64_t>(c.type(0).rank());
  std::int64_t axis = c.attrs.int_or("axis", -1);
  if (axis < 0) axis += rank;
  std::string bias = c.operands[1];
  if (axis != rank - 1) {
    std::vector<std::int64_t> axes(static_cast<std::size_t>(rank - 1 - axis));
    std::iota(axes.begin(), axes.end(), 1);
    bias = c.value("Unsqueeze", {bias, c.ints(axes)});
  }
  if (!c.has(2)) return c.finish("Add", {c.operands[0], bias});
  return c.finish("Add", {c.value("Add", {c.operands[0], bias}), c.operands[2]});
}

/// gelu(x + bias): by the error function, or by tanh.
Status bias_gelu(CallWriter& c) {
  auto attrs = onnx_attributes(c, "approximate");
  if (!attrs) return Failure{};
  const std::string x = c.has(1) ? c.value("Add", {c.operands[0], c.operands[1]}) : c.operands[0];
  return c.finish("Gelu", {x}, *attrs);
}

}  // namespace perfc::backends::write
