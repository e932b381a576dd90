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
  auto attrs = onnx_attributes(c, "alpha beta transA transB");
  if (!attrs) return Failure{};
  if (c.type(0).ranked() && c.type(0).rank() == 2) return c.finish("Gemm", c.operands, *attrs);
  const bool scaled = c.attrs.float_or("alpha", 1) != 1 || c.attrs.float_or("beta", 1) != 1;
  if (!c.type(0).ranked() || !c.type(1).ranked() || c.attrs.int_or("transA", 0) != 0 || scaled) {
    return c.error("transA, alpha and beta have no form in ONNX for data of a rank other than 2");
  }
  const std::string weight = c.attrs.int_or("transB", 0) != 0 ? transposed(c, c.operands[1], c.type(1)) : c.operands[1];
  if (!c.has(2)) return c.finish("MatMul", {c.operands[0], weight});
  return c.finish("Add", {c.value("MatMul", {c.operands[0], weight}), c.operands[2]});
}

Status batch_matmul(CallWriter& c) {
  auto attrs = onnx_attributes(c, "alpha transA transB transBatchA transBatchB");
  if (!attrs) return Failure{};
  return c.finish(attrs->size() > 0 ? "ms:FusedMatMul" : "MatMul", c.operands, *attrs);
}

/// softmax(q · kᵀ · scale + mask) · v. A mask of bools says what is seen.
Status sdpa(CallWriter& c) {
  auto attrs = onnx_attributes(c, "scale is_causal enable_gqa");
  if (!attrs) return Failure{};
  const Type &q = c.type(0), &k = c.type(1), &v = c.type(2);
  if (!q.ranked() || !k.ranked() || !v.ranked()) return c.error("operands of unknown rank have no form in ONNX");
  const bool grouped = q.rank() > 2 && k.rank() == q.rank() && k.shape()[k.rank() - 3] != q.shape()[q.rank() - 3] &&
                       !k.shape()[k.rank() - 3].is(1);
  if (c.attrs.int_or("is_causal", 0) != 0 || grouped) {
    return c.error("causal attention and grouped heads are written out before they have a form in ONNX");
  }
  const DType dtype = q.dtype();
  std::string scores = c.value("MatMul", {c.operands[0], transposed(c, c.operands[1], k)});
  const Dim& head = q.shape().back();
  const double fallback = head.known() && head.value() > 0 ? 1 / std::sqrt(static_cast<double>(head.value())) : 0;
  const double scale = c.attrs.float_or("scale", fallback);
  if (scale == 0) return c.error("its scale is not known");
  scores = c.value("Mul", {scores, c.number(scale, dtype)});
  if (c.has(3) && c.type(3).dtype() == DType::Bool) {
    scores = c.value("Where", {c.operands[3], scores, c.number(-INFINITY, dtype)});
  } else if (c.has(3)) {
    scores = c.value("Add", {scores, c.operands[3]});
  }
  return c.finish("MatMul", {c.value("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), c.operands[2]});
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
