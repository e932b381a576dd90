/// Normalisations and reductions.
#include <fmt/format.h>

#include <numeric>

#include "backends/onnx/rows.h"
#include "ir/support/text.h"

namespace perfc::backends::write {

/// Results after the second are statistics that old operator sets had for training.
Status batch_norm(CallWriter& c) {
  auto attrs = onnx_attributes(c, "epsilon momentum training_mode axis");
  if (!attrs) return Failure{};
  const std::int64_t axis = c.attrs.int_or("axis", 1);
  attrs->erase("axis");
  if (c.results.size() > 3 || (c.results.size() > 1 && c.attrs.int_or("training_mode", 0) == 0)) {
    return c.error("results of operator sets before 14 have no form in newer ones");
  }
  const auto rank = c.type(0).ranked() ? static_cast<std::int64_t>(c.type(0).rank()) : 0;
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at == 1 || rank == 1) return c.finish("BatchNormalization", c.operands, *attrs);
  if (rank < 2 || c.results.size() > 1) return c.error("channels that are not the second dim have no form in ONNX here");
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[1], perm[static_cast<std::size_t>(at)]);  // its own inverse
  CallWriter::Names inputs = c.operands;
  inputs[0] = c.value("Transpose", {inputs[0]}, {{"perm", perm}});
  return c.finish("Transpose", {c.value("BatchNormalization", inputs, *attrs)}, {{"perm", perm}});
}

/// Scale and bias per channel; before operator set 21 they were per group.
Status group_norm(CallWriter& c) {
  if (c.attrs.has("groups")) {
    return write_same(c, "ms:GroupNorm", "activation channels_last epsilon groups", 0);
  }
  auto attrs = onnx_attributes(c, "epsilon num_groups stash_type");
  if (!attrs) return Failure{};
  const Type &x = c.type(0), &scale = c.type(1);
  if (!c.has(1) || !c.has(2) || !x.ranked() || !scale.ranked()) return c.error("needs a scale and a bias");
  const std::int64_t groups = c.attrs.int_or("num_groups", 0);
  CallWriter::Names inputs = c.operands;
  if (x.shape()[1].known() && scale.shape()[0].is(groups) && !x.shape()[1].is(groups)) {
    const std::int64_t each = x.shape()[1].value() / groups;
    for (const std::size_t i : {1, 2}) {
      const std::string column = c.value("Unsqueeze", {inputs[i], c.ints({1})});
      inputs[i] = c.value("Reshape", {c.value("Expand", {column, c.ints({groups, each})}), c.ints({-1})});
    }
  }
  return c.finish("GroupNormalization", inputs, *attrs);
}

Status layer_norm(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis epsilon stash_type");
  if (!attrs) return Failure{};
  return c.finish("LayerNormalization", c.operands, *attrs);
}

/// x / sqrt(mean(x²) + ε) · scale.
Status rms_norm(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis epsilon stash_type");
  if (!attrs) return Failure{};
  if (c.results.size() > 1) return c.error("its second result, the deviation, has no form in ONNX");
  if (!c.type(0).ranked()) return c.error("data of unknown rank has no form in ONNX");
  const auto rank = static_cast<std::int64_t>(c.type(0).rank());
  std::int64_t axis = c.attrs.int_or("axis", -1);
  if (axis < 0) axis += rank;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  const DType dtype = c.type(0).dtype();
  const DType inner = dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype;
  const Attrs widened{{"to", std::int64_t{onnx::onnx_number(inner)}}}, back{{"to", std::int64_t{onnx::onnx_number(dtype)}}};
  const std::string x = inner == dtype ? c.operands[0] : c.value("Cast", {c.operands[0]}, widened);
  const std::string mean = c.value("ReduceMean", {c.value("Mul", {x, x}), c.ints(axes)}, {{"keepdims", std::int64_t{1}}});
  const std::string deviation =
      c.value("Sqrt", {c.value("Add", {mean, c.number(c.attrs.float_or("epsilon", 1e-5), inner)})});
  std::string y = c.value("Div", {x, deviation});
  if (inner != dtype) y = c.value("Cast", {y}, back);
  return c.has(1) ? c.finish("Mul", {y, c.operands[1]}) : c.finish_as(y);
}

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

}  // namespace perfc::backends::write
