/// Normalisations.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backends/onnx/rows.h"
#include "ir/layout.h"

namespace perfc::backends::write {

namespace {

/// By the statistics of its own data, where it is not given any.
Status batch_norm_of_data(CallWriter& c, std::int64_t axis) {
  const Type& x = c.type(0);
  if (!x.ranked() || x.rank() < 2) return c.error("data of unknown rank has no form in ONNX");
  std::vector<std::int64_t> others, trailing;
  for (std::int64_t a = 0; a < static_cast<std::int64_t>(x.rank()); ++a) {
    if (a != axis) others.push_back(a);
    if (a > axis) trailing.push_back(a - axis);
  }
  const auto along = [&](std::size_t i) {
    return trailing.empty() ? c.operands[i] : c.value("Unsqueeze", {c.operands[i], c.ints(trailing)});
  };
  const Attrs kept{{"keepdims", std::int64_t{1}}};
  const std::string axes = c.ints(others);
  const std::string centred = c.value("Sub", {c.operands[0], c.value("ReduceMean", {c.operands[0], axes}, kept)});
  const std::string variance = c.value("ReduceMean", {c.value("Mul", {centred, centred}), axes}, kept);
  const std::string epsilon = c.number(c.attrs.float_or("epsilon", 1e-5), x.dtype());
  const std::string deviation = c.value("Sqrt", {c.value("Add", {variance, epsilon})});
  const std::string scaled = c.value("Mul", {c.value("Div", {centred, deviation}), along(1)});
  return c.has(2) ? c.finish("Add", {scaled, along(2)}) : c.finish_as(scaled);
}

}  // namespace

/// Results after the second are statistics that old operator sets had for training.
Status batch_norm(CallWriter& c) {
  auto attrs = onnx_attributes(c, "epsilon momentum training_mode axis");
  if (!attrs) return Failure{};
  const std::int64_t axis = c.attrs.int_or("axis", 1);
  attrs->erase("axis");
  const bool training = c.attrs.int_or("training_mode", 0) != 0;
  if (c.read > (training ? 3 : 1)) return c.error("results of operator sets before 14 have no form in newer ones");
  c.results.resize(std::min<std::size_t>(c.results.size(), training ? 3 : 1));
  const auto rank = c.type(0).ranked() ? static_cast<std::int64_t>(c.type(0).rank()) : 0;
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (training && c.read <= 1 && !c.has(3)) {
    c.results.resize(1);
    return batch_norm_of_data(c, at);
  }
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
  auto attrs = onnx_attributes(c, "channels_last epsilon num_groups stash_type");
  if (!attrs) return Failure{};
  attrs->erase("channels_last");
  const Type &x = c.type(0), &scale = c.type(1);
  const std::int64_t groups = c.attrs.int_or("num_groups", 0);
  if (!x.ranked() || x.rank() < 2 || groups < 1) return c.error("needs data of known rank and a number of groups");
  const std::size_t last = x.rank() - 1, axis = c.attrs.int_or("channels_last", 0) != 0 ? last : 1;
  const Dim& channels = x.shape()[axis];
  CallWriter::Names inputs = c.operands;
  inputs.resize(3);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (c.has(i)) continue;
    if (!channels.known()) return c.error("without scale and bias it needs a known number of channels");
    inputs[i] = c.value("Expand", {c.number(i == 1 ? 1 : 0, x.dtype()), c.ints({channels.value()})});
  }
  if (c.has(1) && scale.ranked() && channels.known() && scale.shape()[0].is(groups) && !channels.is(groups)) {
    const std::int64_t each = channels.value() / groups;
    for (const std::size_t i : {1, 2}) {
      const std::string column = c.value("Unsqueeze", {inputs[i], c.ints({1})});
      inputs[i] = c.value("Reshape", {c.value("Expand", {column, c.ints({groups, each})}), c.ints({-1})});
    }
  }
  if (axis == 1) return c.finish("GroupNormalization", inputs, *attrs);
  std::vector<std::int64_t> second(x.rank()), back(x.rank());
  for (std::size_t a = 0; a <= last; ++a) {
    second[a] = static_cast<std::int64_t>(a == 0 ? 0 : a == 1 ? last : a - 1);
    back[static_cast<std::size_t>(second[a])] = static_cast<std::int64_t>(a);
  }
  inputs[0] = c.value("Transpose", {inputs[0]}, {{"perm", second}});
  return c.finish("Transpose", {c.value("GroupNormalization", inputs, *attrs)}, {{"perm", back}});
}

namespace {

/// A scale or shift that is stored as a vector, with the dims that the norm runs over: of all of them, or the last.
std::string over_axes(CallWriter& c, std::size_t operand, std::int64_t axis) {
  const Type &x = c.type(0), &stored = c.type(operand);
  const auto rank = static_cast<std::int64_t>(x.rank()), first = axis < 0 ? axis + rank : axis;
  if (rank - first < 2 || !stored.ranked() || stored.rank() != 1) return c.operands[operand];
  const std::string extents = c.value("Shape", {c.operands[0]}, {{"start", first}});
  return c.value(stored.shape()[0] == x.shape().back() ? "Expand" : "Reshape", {c.operands[operand], extents});
}

}  // namespace

Status layer_norm(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis epsilon stash_type");
  if (!attrs) return Failure{};
  CallWriter::Names inputs = c.operands;
  const std::int64_t axis = c.attrs.int_or("axis", -1);
  if (c.type(0).ranked()) {
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      if (c.has(i)) inputs[i] = over_axes(c, i, axis);
    }
  }
  return c.finish("LayerNormalization", inputs, *attrs);
}

/// By the variance plus ε, where it says which; else ε is 1e-9, of the deviation (MeanVarianceNormalization of ONNX,
/// whose definition is typed for float32 alone).
Status mean_variance_norm(CallWriter& c) {
  if (!onnx_attributes(c, "axes epsilon")) return Failure{};
  const bool of_variance = c.attrs.has("epsilon");
  const std::string axes =
      c.ints(c.attrs.has("axes") ? c.attrs.ints_or_empty("axes") : std::vector<std::int64_t>{0, 2, 3});
  const Attrs kept{{"keepdims", std::int64_t{1}}};
  const std::string centred = c.value("Sub", {c.operands[0], c.value("ReduceMean", {c.operands[0], axes}, kept)});
  const std::string variance = c.value("ReduceMean", {c.value("Mul", {centred, centred}), axes}, kept);
  const std::string epsilon = c.number(c.attrs.float_or("epsilon", 1e-9), c.result().dtype());
  const std::string deviation = of_variance ? c.value("Sqrt", {c.value("Add", {variance, epsilon})})
                                            : c.value("Add", {c.value("Sqrt", {variance}), epsilon});
  return c.finish("Div", {centred, deviation});
}

/// x / sqrt(mean(x²) + ε) · scale.
Status rms_norm(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis epsilon stash_type");
  if (!attrs) return Failure{};
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
  if (c.results.size() > 1) {  // one over the deviation
    const Attrs as{{"to", std::int64_t{onnx::onnx_number(c.result(1).dtype())}}};
    if (!c.add("Cast", {c.value("Reciprocal", {deviation})}, {c.results[1]}, as)) return Failure{};
  }
  return c.has(1) ? c.add("Mul", {y, over_axes(c, 1, axis)}, {c.results[0]}) : c.add("Identity", {y}, {c.results[0]});
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
