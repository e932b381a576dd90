/// Data movement that joins, turns, repeats and pads.
#include <fmt/format.h>

#include <numeric>

#include "frontends/tf/translators.h"

namespace perfc::tf {

/// ConcatV2 (values…, axis), Concat (axis, values…).
Result<Values> concat(Call& c, const OpRow& row) {
  if (c.inputs.size() < 2) return c.error("takes an axis and values");
  const bool axis_last = row.name == "ConcatV2";
  const std::size_t n = c.inputs.size();
  auto axis = c.integer(axis_last ? n - 1 : 0, "axis");
  auto values = c.tensors(axis_last ? 0 : 1, axis_last ? n - 1 : n);
  if (!axis || !values) return Failure{};
  if (values->size() == 1) return one((*values)[0]);
  return c.finish(op("concatenate"), *values, {{"axis", *axis}});
}

Result<Values> pack(Call& c, const OpRow&) {
  auto values = c.tensors(0, c.inputs.size());
  if (!values) return Failure{};
  if (values->empty()) return c.error("has no values");
  const std::int64_t axis = c.int_attr("axis", 0);
  for (ValueId& v : *values) {
    auto view = c.expand_dims(v, {axis});
    if (!view) return Failure{};
    v = *view;
  }
  if (values->size() == 1) return one((*values)[0]);
  return c.finish(op("concatenate"), *values, {{"axis", axis}});
}

Result<Values> reverse(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto axes = c.ints(1, "axis");
  if (!x || !axes) return Failure{};
  if (c.type(1).dtype() == DType::Bool) {
    // ReverseV1: a flag per axis.
    std::vector<std::int64_t> flagged;
    for (std::size_t i = 0; i < axes->size(); ++i) {
      if ((*axes)[i] != 0) flagged.push_back(static_cast<std::int64_t>(i));
    }
    *axes = flagged;
  }
  if (axes->empty()) return one(*x);
  const std::size_t n = axes->size();
  return c.finish(op("strided_slice"), {*x, c.int_constant(std::vector<std::int64_t>(n, kEnd)),
                                        c.int_constant(std::vector<std::int64_t>(n, -kEnd)), c.int_constant(*axes),
                                        c.int_constant(std::vector<std::int64_t>(n, -1))});
}

/// Roll (x, shift, axis): both a number each, or vectors.
Result<Values> roll(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  const auto shifts = c.ints(1, "shift"), axes = c.ints(2, "axis");
  if (!x || !shifts || !axes) return Failure{};
  if (shifts->size() != axes->size())
    return c.error(fmt::format("{} shifts for {} axes", shifts->size(), axes->size()));
  for (std::size_t i = 0; i < axes->size(); ++i) {
    if ((*shifts)[i] != 0) x = c.emit(op("roll"), {x}, {{"axis", (*axes)[i]}, {"shift", (*shifts)[i]}});
  }
  return one(x);
}

/// XlaDynamicUpdateSlice (x, part, where it starts), as Keras assigns to slices.
Result<Values> update_slice(Call& c, const OpRow&) {
  auto x = c.tensor(0), part = c.tensor(1), start = c.tensor(2);
  const auto rank = c.rank(0);
  if (!x || !part || !start) return Failure{};
  start = c.cast(*start, DType::Int64);
  if (!rank || c.rank(1) != rank) return c.error("updates with a part of another rank");
  if (*rank == 0) return one(part);
  const auto end = c.emit(op("add"), {start, c.whole_shape(*part)});
  std::vector<std::int64_t> axes(*rank);
  std::iota(axes.begin(), axes.end(), 0);
  const ValueId steps = c.int_constant(std::vector<std::int64_t>(*rank, 1));
  return one(c.emit(op("strided_set"), {x, start, end, c.int_constant(axes), steps, part}));
}

Result<Values> reverse_sequence(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const std::int64_t time = c.int_attr("seq_dim", 0), batch = c.int_attr("batch_dim", 0);
  return c.finish(op("reverse_sequence"), *operands, {{"time_axis", time}, {"batch_axis", batch}});
}

Result<Values> tile(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  if (const auto known = c.known_ints(1)) (*operands)[1] = c.int_constant(*known);
  return c.finish(op("tile"), *operands);
}

/// Pad (x, paddings [rank, 2]), PadV2 with a value, MirrorPad.
Result<Values> pad(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto pairs = c.ints(1, "paddings");
  if (!pairs) return Failure{};
  const std::size_t n = pairs->size() / 2;
  std::vector<std::int64_t> pads(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    pads[i] = (*pairs)[2 * i];
    pads[n + i] = (*pairs)[2 * i + 1];
  }
  std::vector<ValueId> operands{*x, c.int_constant(pads)};
  Attrs attrs;
  if (row.name == "MirrorPad") {
    // SYMMETRIC repeats the edge, REFLECT does not; the work is the same.
    attrs.set("mode", std::string("reflect"));
  } else if (row.name == "PadV2") {
    auto value = c.tensor(2);
    if (!value) return Failure{};
    operands.push_back(*value);
  }
  return c.finish(op("nn.pad"), std::move(operands), std::move(attrs));
}

}  // namespace perfc::tf
