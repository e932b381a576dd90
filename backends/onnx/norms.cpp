/// Normalisations and reductions.
#include <fmt/format.h>

#include <numeric>

#include "backends/onnx/rows.h"
#include "ir/layout.h"
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
  if (rank < 2 || c.results.size() > 1)
    return c.error("channels that are not the second dim have no form in ONNX here");
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[1], perm[static_cast<std::size_t>(at)]);  // its own inverse
  CallWriter::Names inputs = c.operands;
  inputs[0] = c.value("Transpose", {inputs[0]}, {{"perm", perm}});
  return c.finish("Transpose", {c.value("BatchNormalization", inputs, *attrs)}, {{"perm", perm}});
}

/// Scale and bias per channel; before operator set 21 they were per group.
Status group_norm(CallWriter& c) {
  if (c.attrs.has("groups")) { return write_same(c, "ms:GroupNorm", "activation channels_last epsilon groups", 0); }
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
  const Attrs widened{{"to", std::int64_t{onnx::onnx_number(inner)}}},
      back{{"to", std::int64_t{onnx::onnx_number(dtype)}}};
  const std::string x = inner == dtype ? c.operands[0] : c.value("Cast", {c.operands[0]}, widened);
  const std::string mean =
      c.value("ReduceMean", {c.value("Mul", {x, x}), c.ints(axes)}, {{"keepdims", std::int64_t{1}}});
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

namespace {

/// The axes to reduce, as an operand of ONNX; empty: all.
std::string axes_operand(CallWriter& c) {
  const auto axes = c.attrs.ints_or_empty("axes");
  return c.has(1) ? c.operands[1] : axes.empty() ? std::string() : c.ints(axes);
}

}  // namespace

/// Mean of squared distances; `correction` is taken from the number of elements.
Status variance(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axes keepdims correction");
  if (!attrs) return Failure{};
  const DType dtype = c.result().dtype();
  const std::string axes = axes_operand(c);
  const Attrs kept{{"keepdims", std::int64_t{1}}}, asked{{"keepdims", c.attrs.int_or("keepdims", 1)}};
  const std::string centred = c.value("Sub", {c.operands[0], c.value("ReduceMean", {c.operands[0], axes}, kept)});
  const std::string squares = c.value("Mul", {centred, centred});
  std::string value = c.value("ReduceMean", {squares, axes}, asked);
  const double correction = c.attrs.float_or("correction", static_cast<double>(c.attrs.int_or("correction", 1)));
  if (correction != 0) {
    const auto in = c.type(0).elements(), out = c.result().elements();
    if (!in || !out || *out == 0) return c.error("the number of elements is not known");
    const double n = static_cast<double>(*in) / static_cast<double>(*out);
    value = c.value("Mul", {value, c.number(n / (n - correction), dtype)});
  }
  return c.node.is(op("std")) ? c.finish("Sqrt", {value}) : c.finish_as(value);
}

/// Of what is not 0, as numbers.
Status any_all(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axes keepdims noop_with_empty_axes");
  if (!attrs) return Failure{};
  attrs->erase("axes");
  const Attrs to_bool{{"to", std::int64_t{onnx::onnx_number(DType::Bool)}}};
  const Attrs to_int{{"to", std::int64_t{onnx::onnx_number(DType::Int32)}}};
  const std::string truth = c.value("Cast", {c.value("Cast", {c.operands[0]}, to_bool)}, to_int);
  const std::string value = c.value(c.node.is(op("any")) ? "ReduceMax" : "ReduceMin", {truth, axes_operand(c)}, *attrs);
  return c.finish("Cast", {value}, {{"to", std::int64_t{onnx::onnx_number(c.result().dtype())}}});
}

/// The mean over all positions, which go.
Status global_avg_pool(CallWriter& c) {
  auto attrs = onnx_attributes(c, "data_layout keepdims");
  if (!attrs) return Failure{};
  if (!c.type(0).ranked()) return c.error("data of unknown rank has no form in ONNX");
  const auto layout = data_axes(c.attrs, c.type(0).rank());
  if (!layout) return c.error("its data_layout does not fit its operand");
  std::vector<std::int64_t> axes(layout->spatial.begin(), layout->spatial.end());
  const bool keeps = c.result().ranked() && c.result().rank() == c.type(0).rank();
  return c.finish("ReduceMean", {c.operands[0], c.ints(axes)}, {{"keepdims", std::int64_t{keeps}}});
}

}  // namespace perfc::backends::write
