/// Views, slices, joins, padding.
#include <algorithm>
#include <numeric>

#include "frontends/paddle/table.h"

namespace perfc::paddle {

Values reshape(Call& c) {
  auto x = c.tensor("X"), shape = c.int_vector("ShapeTensor|Shape|shape|dims");
  return one(c.emit(op("reshape"), {x, shape}));
}

/// Dims from start to stop become one.
Values flatten(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank == 0) return one(c.reshape(x, {1}));
  const auto start = c.axis(c.integer_or("start_axis", 1), *rank), stop = c.axis(c.integer_or("stop_axis", -1), *rank);
  if (!start || !stop) return Failure{};
  if (*start > *stop) return c.error(fmt::format("start_axis {} lies behind stop_axis {}", *start, *stop));
  Ints shape(static_cast<std::size_t>(*start), 0);  // 0: as it is
  shape.push_back(-1);
  for (std::int64_t i = *stop + 1; i < *rank; ++i) {
    const Dim d = c.dim(*x, i);
    if (!d.known()) {
      return one(c.emit(op("reshape"), {x, c.join({c.int_constant(shape), c.shape_of(x, *stop + 1, *rank)}, 0)}));
    }
    shape.push_back(d.value());
    if (d.value() == 0) return c.error("data without elements");
  }
  return one(c.reshape(x, shape));
}

/// Old `flatten` and `flatten2`: a matrix.
Values flatten_to_matrix(Call& c) {
  return one(c.emit(op("nn.batch_flatten"), {c.tensor("X")}, {{"axis", c.integer_or("axis", 1)}}));
}

Values transpose(Call& c) {
  auto x = c.tensor("X");
  const auto perm = c.ints("axis|perm");
  if (!perm) return Failure{};
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  Ints order;
  for (std::int64_t p : *perm) {
    const auto axis = c.axis(p, *rank);
    if (!axis) return Failure{};
    order.push_back(*axis);
  }
  if (order.empty()) return one(x);
  return one(c.transpose(x, order));
}

/// Dims other than 1 stay, also where they are named.
Values squeeze(Call& c) {
  auto x = c.tensor("X");
  const auto axes = c.ints_or("AxesTensor|AxesTensorList|axes|axis", {});
  const auto rank = c.rank(x);
  if (!axes || !rank) return Failure{};
  if (axes->empty()) return one(c.emit(op("squeeze"), {x}));
  Ints gone;
  for (std::int64_t a : *axes) {
    const auto axis = c.axis(a, *rank);
    if (!axis) return Failure{};
    const Dim d = c.dim(*x, *axis);
    if (*rank > 0 && !(d.known() && !d.is(1)) && std::find(gone.begin(), gone.end(), *axis) == gone.end())
      gone.push_back(*axis);
  }
  return one(gone.empty() ? x : c.squeeze(x, gone));
}

/// Each axis counts in what those before it made.
Values unsqueeze(Call& c) {
  auto x = c.tensor("X");
  const auto axes = c.ints("AxesTensor|AxesTensorList|axes|axis");
  const auto rank = c.rank(x);
  if (!axes || !rank) return Failure{};
  if (axes->size() > 64) return c.error(fmt::format("{} axes", axes->size()));
  std::vector<bool> fresh(static_cast<std::size_t>(*rank), false);
  for (std::int64_t a : *axes) {
    const auto axis = c.axis(a, static_cast<std::int64_t>(fresh.size()) + 1);
    if (!axis) return Failure{};
    fresh.insert(fresh.begin() + *axis, true);
  }
  Ints places;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i]) places.push_back(static_cast<std::int64_t>(i));
  }
  return one(places.empty() ? x : c.expand_dims(x, places));
}

Values concat(Call& c) {
  const auto all = c.tensors("X");
  if (!all) return Failure{};
  const auto rank = c.rank(all->front());
  if (!rank) return Failure{};
  const auto axis = c.one_axis("AxisTensor|axis", *rank, 0);
  if (!axis) return Failure{};
  return one(c.join({all->begin(), all->end()}, *axis));
}

Values stack(Call& c) {
  const auto all = c.tensors("X");
  if (!all) return Failure{};
  const auto rank = c.rank(all->front());
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank + 1);
  if (!axis) return Failure{};
  std::vector<Operand> parts;
  for (ValueId v : *all) parts.push_back(c.expand_dims(v, {*axis}));
  return one(c.join(parts, *axis));
}

/// split, split_with_num: `num` equal parts or `sections`, of which one may be −1.
Values split(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.one_axis("AxisTensor|axis", *rank, 0);
  auto sections = c.ints_or("SectionsTensorList|sections", {});
  if (!axis || !sections) return Failure{};
  const std::int64_t parts = c.integer_or("num", 0);
  if (sections->empty()) {
    const std::size_t n = parts > 0 ? static_cast<std::size_t>(parts) : c.list_results();
    if (n < 1 || n > kMaxListLength) return c.error(fmt::format("{} parts", n));
    if (n == 1) return one(x);
    return c.emit_all(op("split"), {x}, {{"axis", *axis}, {"num_outputs", static_cast<std::int64_t>(n)}}, n);
  }
  const auto open = std::find(sections->begin(), sections->end(), -1);
  if (open != sections->end()) {
    const auto extent = c.known_dim(*x, *axis);
    if (!extent) return Failure{};
    std::int64_t rest = *extent;
    for (auto s = sections->begin(); s != sections->end(); ++s) {
      if (s != open && (*s < 0 || __builtin_sub_overflow(rest, *s, &rest)))
        return c.error("'sections' does not fit the data");
    }
    if (rest < 0) return c.error("'sections' does not fit the data");
    *open = rest;
  }
  return c.emit_all(op("split"), {x, c.int_constant(*sections)}, {{"axis", *axis}}, sections->size());
}

/// unstack, unbind: one part per index.
Values unstack(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank);
  if (!axis) return Failure{};
  const std::size_t n = c.list_results();
  if (n < 1 || n > kMaxListLength) return c.error(fmt::format("{} parts", n));
  auto parts = n == 1
                   ? Values(std::vector<ValueId>{*x})
                   : c.emit_all(op("split"), {x}, {{"axis", *axis}, {"num_outputs", static_cast<std::int64_t>(n)}}, n);
  if (!parts) return Failure{};
  std::vector<ValueId> out;
  for (ValueId v : *parts) {
    auto part = c.squeeze(v, {*axis});
    if (!part) return Failure{};
    out.push_back(*part);
  }
  return out;
}

/// slice and strided_slice; `decrease_axis` drops dims of 1.
Values slice(Call& c) {
  const auto x = c.tensor("Input");
  const auto axes = c.ints("axes");
  auto starts = c.int_vector("StartsTensor|StartsTensorList|starts"),
       ends = c.int_vector("EndsTensor|EndsTensorList|ends");
  const auto drop = c.ints_or("decrease_axis", {});
  if (!axes || !drop) return Failure{};
  if (axes->empty()) return one(x);
  std::vector<Operand> operands{x, starts, ends, c.int_constant(*axes)};
  if (c.given("StridesTensor|StridesTensorList|strides"))
    operands.push_back(c.int_vector("StridesTensor|StridesTensorList|strides"));
  auto y = c.emit(op("strided_slice"), operands);
  return one(drop->empty() ? y : c.squeeze(y, *drop));
}

/// x with a window of it replaced.
Values set_value(Call& c) {
  const auto x = c.tensor("Input");
  const auto rank = c.rank(x);
  const auto axes = c.ints_or("axes", {}), starts = c.ints_or("StartsTensorList|starts", {}),
             ends = c.ints_or("EndsTensorList|ends", {});
  auto steps = c.ints_or("StepsTensorList|steps", {});
  const auto dropped = c.ints_or("decrease_axes", {});
  auto value = c.tensor_or_none("ValueTensor");
  if (!rank || !axes || !starts || !ends || !steps || !dropped || !value) return Failure{};
  steps->resize(axes->size(), 1);
  if (starts->size() != axes->size() || ends->size() != axes->size())
    return c.error("'starts', 'ends' and 'axes' differ in length");
  const DType d = c.dtype(*x);
  if (!*value) {
    const Attr* a = c.attr("values|fp32_values|int32_values|int64_values|fp64_values|bool_values");
    double number = 0;
    if (const auto* reals = a ? std::get_if<std::vector<double>>(a) : nullptr; reals && !reals->empty())
      number = reals->front();
    if (const auto* ints = a ? std::get_if<Ints>(a) : nullptr; ints && !ints->empty())
      number = static_cast<double>(ints->front());
    value = c.number(number, d);
  }
  value = c.cast(value, d);
  if (!value) return Failure{};
  if (!dropped->empty() && c.type(*value).ranked() &&
      static_cast<std::int64_t>(c.type(*value).rank()) == *rank - static_cast<std::int64_t>(dropped->size())) {
    value = c.expand_dims(value, *dropped);
  }
  if (axes->empty()) return one(c.emit(op("broadcast_to"), {value, c.whole_shape(*x)}));
  const ValueId from = c.int_constant(*starts), to = c.int_constant(*ends), along = c.int_constant(*axes),
                by = c.int_constant(*steps);
  const auto window = c.emit(op("strided_slice"), {x, from, to, along, by});
  if (!window) return Failure{};
  const auto part = c.emit(op("broadcast_to"), {value, c.whole_shape(*window)});
  if (c.type(*window).shape() == c.type(*x).shape()) return one(part);  // nothing of the old value is left
  return one(c.emit(op("strided_set"), {x, from, to, along, by, part}));
}

/// Dims of −1 stay as they are.
Values expand(Call& c) {
  auto x = c.tensor("X");
  const auto* given = c.operands("Shape|expand_shapes_tensor");
  const bool known = !given || std::all_of(given->begin(), given->end(),
                                           [&](ValueId v) { return c.data(v) && c.data(v)->fully_known(); });
  if (!known) return one(c.emit(op("broadcast_to"), {x, c.int_vector("Shape|expand_shapes_tensor")}));
  auto shape = c.ints("Shape|expand_shapes_tensor|shape");
  if (!shape) return Failure{};
  for (std::int64_t& d : *shape) d = d == -1 ? 1 : d;
  return one(c.emit(op("broadcast_to"), {x, c.int_constant(*shape)}));
}

Values expand_as(Call& c) {
  auto x = c.tensor("X");
  const auto y = c.tensor_or_none("Y|target_tensor");
  if (!y) return Failure{};
  auto shape = *y ? c.whole_shape(*y) : c.int_vector("target_shape");
  return one(c.emit(op("broadcast_to"), {x, shape}));
}

/// tile, and old `expand`: data or repeats get leading dims of 1 to fit.
Values tile(Call& c) {
  auto x = c.tensor("X");
  auto repeats = c.ints("RepeatTimes|repeat_times_tensor|ExpandTimes|expand_times_tensor|repeat_times|expand_times");
  const auto rank = c.rank(x);
  if (!repeats || !rank) return Failure{};
  const auto n = static_cast<std::int64_t>(repeats->size());
  if (n > 64) return c.error(fmt::format("{} repeats", n));
  if (n < *rank) repeats->insert(repeats->begin(), static_cast<std::size_t>(*rank - n), 1);
  if (n > *rank) {
    Ints lead(static_cast<std::size_t>(n - *rank));
    std::iota(lead.begin(), lead.end(), 0);
    x = c.expand_dims(x, lead);
  }
  return one(c.emit(op("tile"), {x, c.int_constant(*repeats)}));
}

Values repeat_interleave(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("dim|axis", 0), *rank);
  const auto repeats = c.ints("RepeatsTensor|Repeats|repeats");
  if (!axis || !repeats) return Failure{};
  if (repeats->size() != 1) return c.error("one number of repeats is needed");
  const auto extent = c.known_dim(*x, *axis);
  std::int64_t total = 0;
  if (!extent) return Failure{};
  if (repeats->front() < 0 || __builtin_mul_overflow(*extent, repeats->front(), &total))
    return c.error(fmt::format("{} repeats", repeats->front()));
  Ints times(static_cast<std::size_t>(*rank) + 1, 1);
  times[static_cast<std::size_t>(*axis) + 1] = repeats->front();
  auto wide = c.emit(op("tile"), {c.expand_dims(x, {*axis + 1}), c.int_constant(times)});
  std::vector<Operand> shape;
  if (*axis > 0) shape.push_back(c.shape_of(x, 0, *axis));
  shape.emplace_back(c.int_constant({total}));
  if (*axis + 1 < *rank) shape.push_back(c.shape_of(x, *axis + 1, *rank));
  return one(c.emit(op("reshape"), {wide, c.join(shape, 0)}));
}

Values flip(Call& c) {
  auto x = c.tensor("X");
  const auto axes = c.ints("axis|dims");
  if (!axes) return Failure{};
  for (std::int64_t a : *axes) x = c.emit(op("reverse"), {x}, {{"axis", a}});
  return one(x);
}

/// Along the axes, or without any along all elements in row-major order.
Values roll(Call& c) {
  auto x = c.tensor("X");
  const auto shifts = c.ints("ShiftsTensor|shifts"), axes = c.ints_or("axis", {});
  const auto rank = c.rank(x);
  if (!shifts || !axes || !rank) return Failure{};
  if (shifts->size() != std::max<std::size_t>(axes->size(), 1))
    return c.error(fmt::format("{} shifts for {} axes", shifts->size(), axes->size()));
  const auto along = [&](Operand v, std::int64_t axis, std::int64_t shift) -> Operand {
    if (shift == 0) return v;
    return c.emit(op("roll"), {v}, {{"axis", axis}, {"shift", shift}});
  };
  if (axes->empty()) {
    auto shape = c.whole_shape(*x);
    return one(c.emit(op("reshape"), {along(c.reshape(x, {-1}), 0, shifts->front()), shape}));
  }
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = c.axis((*axes)[i], *rank);
    if (!axis) return Failure{};
    x = along(x, *axis, (*shifts)[i]);
  }
  return one(x);
}

/// pad: (begin, end) per axis. pad2d, pad3d: pairs of the spatial axes, the last axis first in pad3d.
Values pad(Call& c) {
  auto x = c.tensor("X");
  const auto rank = c.rank(x);
  const auto given = c.ints("Paddings|paddings");
  if (!rank || !given) return Failure{};
  const auto n = static_cast<std::size_t>(*rank);
  Ints pads(2 * n, 0);
  const bool all = c.operation.type == "pad";
  const std::size_t pairs = given->size() / 2;
  if (given->size() % 2 != 0 || (all ? pairs != n : pairs + 2 != n))
    return c.error(fmt::format("'paddings' has {} entries for data of rank {}", given->size(), n));
  const bool last = c.text_or("data_format", "NCHW").ends_with('C');
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t spatial = c.operation.type == "pad2d" ? i : pairs - 1 - i;
    const std::size_t axis = all ? i : spatial + (last ? 1 : 2);
    pads[axis] = (*given)[2 * i];
    pads[n + axis] = (*given)[2 * i + 1];
  }
  const std::string_view mode = c.text_or("mode", "constant");
  const auto value = c.real("pad_value|value", 0);
  if (!value || !x) return Failure{};
  if (mode == "constant") return one(c.emit(op("nn.pad"), {x, c.int_constant(pads), c.number(*value, c.dtype(*x))}));
  const std::string ours(mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : mode);
  return one(c.emit(op("nn.pad"), {x, c.int_constant(pads)}, {{"mode", ours}}));
}

/// A window of the given shape.
Values crop(Call& c) {
  const auto x = c.tensor("X");
  auto shape = c.ints("Shape|ShapeTensor|shape");
  const auto rank = c.rank(x);
  if (!shape || !rank) return Failure{};
  const auto offsets = c.ints_or("Offsets|OffsetsTensor|offsets", Ints(shape->size(), 0));
  if (!offsets) return Failure{};
  if (shape->size() != static_cast<std::size_t>(*rank) || offsets->size() != shape->size())
    return c.error("'shape' and 'offsets' must have one entry per axis");
  Ints ends, axes;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    std::int64_t end = INT64_MAX;
    if ((*shape)[i] >= 0 && __builtin_add_overflow((*offsets)[i], (*shape)[i], &end))
      return c.error("a window beyond all bounds");
    ends.push_back(end);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  return one(c.emit(op("strided_slice"), {x, c.int_constant(*offsets), c.int_constant(ends), c.int_constant(axes)}));
}

}  // namespace perfc::paddle
