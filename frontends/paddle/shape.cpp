/// Views, slices, joins, gathers, constants.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 22;   ///< of windows along an axis, read as indices

Operand joined(Call& c, const std::vector<Operand>& parts, std::int64_t axis) {
  return parts.size() == 1 ? parts.front() : c.emit(op("concatenate"), parts, {{"axis", axis}});
}

Operand full(Call& c, Operand shape, double value, DType dtype) {
  auto data = std::make_shared<Data>();
  if (is_float(dtype)) data->elements = std::vector<double>{value};
  else data->elements = std::vector<SymInt>{SymInt(static_cast<std::int64_t>(std::clamp(value == value ? value : 0.0, -9e18, 9e18)))};
  return c.emit(op("full"), {shape}, {{"value", Literal{Type::tensor(dtype, {1}), std::move(data)}}});
}

/// The number that a fill writes: an attribute as a number or as text.
Result<double> fill_value(Call& c) {
  const std::string_view text = c.text_or("str_value", "");
  if (!text.empty() && !c.operands("ValueTensor")) {
    if (text == "inf") return static_cast<double>(INFINITY);
    if (text == "-inf") return -static_cast<double>(INFINITY);
    char* end = nullptr;
    const std::string copy(text);
    const double v = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str()) return v;
  }
  return c.real("ValueTensor|value", 0);
}

Operand whole_shape(Call& c, ValueId x) {
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  return c.shape_of(x, 0, *rank);
}

Result<std::int64_t> one_axis(Call& c, std::string_view names, std::int64_t rank, std::int64_t fallback) {
  const auto given = c.ints_or(names, {fallback});
  if (!given) return Failure{};
  if (given->size() != 1) return c.error("'axis' must be one integer");
  return c.axis(given->front(), rank);
}

}  // namespace

Values reshape(Call& c) {
  auto x = c.in("X"), shape = c.int_vector("ShapeTensor|Shape|shape|dims");
  return one(c.emit(op("reshape"), {x, shape}));
}

/// Dims from start to stop become one.
Values flatten(Call& c) {
  const auto x = c.in("X");
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
      return one(c.emit(op("reshape"), {x, joined(c, {c.ints_constant(shape), c.shape_of(x, *stop + 1, *rank)}, 0)}));
    }
    shape.push_back(d.value());
    if (d.value() == 0) return c.error("data without elements");
  }
  return one(c.reshape(x, shape));
}

/// Old `flatten` and `flatten2`: a matrix.
Values flatten_to_matrix(Call& c) { return one(c.emit(op("nn.batch_flatten"), {c.in("X")}, {{"axis", c.integer_or("axis", 1)}})); }

Values transpose(Call& c) {
  auto x = c.in("X");
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
  auto x = c.in("X");
  const auto axes = c.ints_or("AxesTensor|AxesTensorList|axes|axis", {});
  const auto rank = c.rank(x);
  if (!axes || !rank) return Failure{};
  if (axes->empty()) return one(c.emit(op("squeeze"), {x}));
  Ints gone;
  for (std::int64_t a : *axes) {
    const auto axis = c.axis(a, *rank);
    if (!axis) return Failure{};
    const Dim d = c.dim(*x, *axis);
    if (*rank > 0 && !(d.known() && !d.is(1)) && std::find(gone.begin(), gone.end(), *axis) == gone.end()) gone.push_back(*axis);
  }
  return one(gone.empty() ? x : c.squeeze(x, gone));
}

/// Each axis counts in what those before it made.
Values unsqueeze(Call& c) {
  auto x = c.in("X");
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
  const auto all = c.list("X");
  if (!all) return Failure{};
  const auto rank = c.rank(all->front());
  if (!rank) return Failure{};
  const auto axis = one_axis(c, "AxisTensor|axis", *rank, 0);
  if (!axis) return Failure{};
  return one(joined(c, {all->begin(), all->end()}, *axis));
}

Values stack(Call& c) {
  const auto all = c.list("X");
  if (!all) return Failure{};
  const auto rank = c.rank(all->front());
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank + 1);
  if (!axis) return Failure{};
  std::vector<Operand> parts;
  for (ValueId v : *all) parts.push_back(c.expand_dims(v, {*axis}));
  return one(joined(c, parts, *axis));
}

/// split, split_with_num: `num` equal parts or `sections`, of which one may be −1.
Values split(Call& c) {
  const auto x = c.in("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = one_axis(c, "AxisTensor|axis", *rank, 0);
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
      if (s != open && (*s < 0 || __builtin_sub_overflow(rest, *s, &rest))) return c.error("'sections' does not fit the data");
    }
    if (rest < 0) return c.error("'sections' does not fit the data");
    *open = rest;
  }
  return c.emit_all(op("split"), {x, c.ints_constant(*sections)}, {{"axis", *axis}}, sections->size());
}

/// unstack, unbind: one part per index.
Values unstack(Call& c) {
  const auto x = c.in("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank);
  if (!axis) return Failure{};
  const std::size_t n = c.list_results();
  if (n < 1 || n > kMaxListLength) return c.error(fmt::format("{} parts", n));
  auto parts = n == 1 ? Values(std::vector<ValueId>{*x}) : c.emit_all(op("split"), {x}, {{"axis", *axis}, {"num_outputs", static_cast<std::int64_t>(n)}}, n);
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
  const auto x = c.in("Input");
  const auto axes = c.ints("axes");
  auto starts = c.int_vector("StartsTensor|StartsTensorList|starts"), ends = c.int_vector("EndsTensor|EndsTensorList|ends");
  const auto drop = c.ints_or("decrease_axis", {});
  if (!axes || !drop) return Failure{};
  if (axes->empty()) return one(x);
  std::vector<Operand> operands{x, starts, ends, c.ints_constant(*axes)};
  if (c.given("StridesTensor|StridesTensorList|strides")) operands.push_back(c.int_vector("StridesTensor|StridesTensorList|strides"));
  auto y = c.emit(op("strided_slice"), operands);
  return one(drop->empty() ? y : c.squeeze(y, *drop));
}

/// x with a window of it replaced: what stands before, the value, what stands
/// behind. Windows that leave out parts of more than one axis are opaque.
Values set_value(Call& c) {
  const auto x = c.in("Input");
  const auto rank = c.rank(x);
  const auto axes = c.ints_or("axes", {}), starts = c.ints_or("StartsTensorList|starts", {}), ends = c.ints_or("EndsTensorList|ends", {});
  const auto steps = c.ints_or("StepsTensorList|steps", {});
  auto value = c.in_or_none("ValueTensor");
  if (!rank || !axes || !starts || !ends || !steps || !value) return Failure{};
  if (starts->size() != axes->size() || ends->size() != axes->size()) return c.error("'starts', 'ends' and 'axes' differ in length");
  std::int64_t partial = -1, from = 0, to = 0;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = c.axis((*axes)[i], *rank);
    const auto extent = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
    if (!extent) return Failure{};
    const auto inside = [&](std::int64_t p) { return std::clamp<std::int64_t>(p < 0 ? p + *extent : p, 0, *extent); };
    const std::int64_t a = inside((*starts)[i]), b = inside((*ends)[i]);
    if (i < steps->size() && (*steps)[i] != 1) return c.unpriced();
    if (a == 0 && b == *extent) continue;
    if (partial >= 0) return c.unpriced();
    partial = *axis;
    from = a;
    to = std::max(a, b);
  }
  const DType d = c.dtype(*x);
  if (!*value) {
    const Attr* a = c.attr("values|fp32_values|int32_values|int64_values|fp64_values|bool_values");
    double number = 0;
    if (const auto* reals = a ? std::get_if<std::vector<double>>(a) : nullptr; reals && !reals->empty()) number = reals->front();
    if (const auto* ints = a ? std::get_if<Ints>(a) : nullptr; ints && !ints->empty()) number = static_cast<double>(ints->front());
    value = c.number(number, d);
  }
  value = c.cast(value, d);
  if (partial < 0) return one(c.emit(op("broadcast_to"), {value, whole_shape(c, *x)}));
  const auto extent = c.known_dim(*x, partial);
  const auto dropped = c.ints_or("decrease_axes", {});
  if (!extent || !dropped || !value) return Failure{};
  if (!dropped->empty() && c.type(*value).ranked() && static_cast<std::int64_t>(c.type(*value).rank()) == *rank - static_cast<std::int64_t>(dropped->size())) {
    value = c.expand_dims(value, *dropped);
  }
  auto window = c.slice(x, partial, from, to);
  std::vector<Operand> parts;
  if (from > 0) parts.push_back(c.slice(x, partial, 0, from));
  parts.push_back(window ? c.emit(op("broadcast_to"), {value, whole_shape(c, *window)}) : window);
  if (to < *extent) parts.push_back(c.slice(x, partial, to, *extent));
  return one(joined(c, parts, partial));
}

/// Dims of −1 stay as they are.
Values expand(Call& c) {
  auto x = c.in("X");
  const auto* given = c.operands("Shape|expand_shapes_tensor");
  const bool known = !given || std::all_of(given->begin(), given->end(), [&](ValueId v) { return c.data(v) && c.data(v)->fully_known(); });
  if (!known) return one(c.emit(op("broadcast_to"), {x, c.int_vector("Shape|expand_shapes_tensor")}));
  auto shape = c.ints("Shape|expand_shapes_tensor|shape");
  if (!shape) return Failure{};
  for (std::int64_t& d : *shape) d = d == -1 ? 1 : d;
  return one(c.emit(op("broadcast_to"), {x, c.ints_constant(*shape)}));
}

Values expand_as(Call& c) {
  auto x = c.in("X");
  const auto y = c.in_or_none("Y|target_tensor");
  if (!y) return Failure{};
  auto shape = *y ? whole_shape(c, *y) : c.int_vector("target_shape");
  return one(c.emit(op("broadcast_to"), {x, shape}));
}

/// tile, and old `expand`: data or repeats get leading dims of 1 to fit.
Values tile(Call& c) {
  auto x = c.in("X");
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
  return one(c.emit(op("tile"), {x, c.ints_constant(*repeats)}));
}

Values repeat_interleave(Call& c) {
  const auto x = c.in("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("dim|axis", 0), *rank);
  const auto repeats = c.ints("RepeatsTensor|Repeats|repeats");
  if (!axis || !repeats) return Failure{};
  if (repeats->size() != 1) return c.error("one number of repeats is needed");
  const auto extent = c.known_dim(*x, *axis);
  std::int64_t total = 0;
  if (!extent) return Failure{};
  if (repeats->front() < 0 || __builtin_mul_overflow(*extent, repeats->front(), &total)) return c.error(fmt::format("{} repeats", repeats->front()));
  Ints times(static_cast<std::size_t>(*rank) + 1, 1);
  times[static_cast<std::size_t>(*axis) + 1] = repeats->front();
  auto wide = c.emit(op("tile"), {c.expand_dims(x, {*axis + 1}), c.ints_constant(times)});
  std::vector<Operand> shape;
  if (*axis > 0) shape.push_back(c.shape_of(x, 0, *axis));
  shape.emplace_back(c.ints_constant({total}));
  if (*axis + 1 < *rank) shape.push_back(c.shape_of(x, *axis + 1, *rank));
  return one(c.emit(op("reshape"), {wide, joined(c, shape, 0)}));
}

Values flip(Call& c) {
  auto x = c.in("X");
  const auto axes = c.ints("axis|dims");
  if (!axes) return Failure{};
  for (std::int64_t a : *axes) x = c.emit(op("reverse"), {x}, {{"axis", a}});
  return one(x);
}

/// The end of each axis moves to its front.
Values roll(Call& c) {
  auto x = c.in("X");
  const auto shifts = c.ints("ShiftsTensor|shifts"), axes = c.ints_or("axis", {});
  const auto rank = c.rank(x);
  if (!shifts || !axes || !rank) return Failure{};
  if (shifts->size() != std::max<std::size_t>(axes->size(), 1)) return c.error(fmt::format("{} shifts for {} axes", shifts->size(), axes->size()));
  const auto turned = [&](Operand v, std::int64_t axis, std::int64_t by) -> Operand {
    if (!v) return v;
    const auto extent = c.known_dim(*v, axis);
    if (!extent) return Failure{};
    const std::int64_t at = *extent > 0 ? (*extent - (by % *extent + *extent) % *extent) % *extent : 0;
    if (at == 0) return v;
    return joined(c, {c.slice(v, axis, at, *extent), c.slice(v, axis, 0, at)}, axis);
  };
  if (axes->empty()) {
    auto shape = whole_shape(c, *x);
    return one(c.emit(op("reshape"), {turned(c.reshape(x, {-1}), 0, shifts->front()), shape}));
  }
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = c.axis((*axes)[i], *rank);
    if (!axis) return Failure{};
    x = turned(x, *axis, (*shifts)[i]);
  }
  return one(x);
}

/// pad: (begin, end) per axis. pad2d, pad3d: pairs of the spatial axes, the last axis first in pad3d.
Values pad(Call& c) {
  auto x = c.in("X");
  const auto rank = c.rank(x);
  const auto given = c.ints("Paddings|paddings");
  if (!rank || !given) return Failure{};
  const auto n = static_cast<std::size_t>(*rank);
  Ints pads(2 * n, 0);
  const bool all = c.operation.type == "pad";
  const std::size_t pairs = given->size() / 2;
  if (given->size() % 2 != 0 || (all ? pairs != n : pairs + 2 != n)) return c.error(fmt::format("'paddings' has {} entries for data of rank {}", given->size(), n));
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
  if (mode == "constant") return one(c.emit(op("nn.pad"), {x, c.ints_constant(pads), c.number(*value, c.dtype(*x))}));
  const std::string ours(mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : mode);
  return one(c.emit(op("nn.pad"), {x, c.ints_constant(pads)}, {{"mode", ours}}));
}

/// A window of the given shape.
Values crop(Call& c) {
  const auto x = c.in("X");
  auto shape = c.ints("Shape|ShapeTensor|shape");
  const auto rank = c.rank(x);
  if (!shape || !rank) return Failure{};
  const auto offsets = c.ints_or("Offsets|OffsetsTensor|offsets", Ints(shape->size(), 0));
  if (!offsets) return Failure{};
  if (shape->size() != static_cast<std::size_t>(*rank) || offsets->size() != shape->size()) return c.error("'shape' and 'offsets' must have one entry per axis");
  Ints ends, axes;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    std::int64_t end = INT64_MAX;
    if ((*shape)[i] >= 0 && __builtin_add_overflow((*offsets)[i], (*shape)[i], &end)) return c.error("a window beyond all bounds");
    ends.push_back(end);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  return one(c.emit(op("strided_slice"), {x, c.ints_constant(*offsets), c.ints_constant(ends), c.ints_constant(axes)}));
}

// ---- Gathers and scatters

/// gather, index_select: whole slices along an axis.
Values gather(Call& c) {
  const auto x = c.in("X");
  auto index = c.in("Index");
  const auto rank = c.rank(x), index_rank = c.rank(index);
  if (!rank || !index_rank) return Failure{};
  const auto axis = one_axis(c, "Axis|axis|dim", *rank, 0);
  if (!axis) return Failure{};
  if (*index_rank == 2 && c.dim(*index, 1).is(1)) index = c.squeeze(index, {1});
  return one(c.emit(op("take"), {x, index}, {{"axis", *axis}}));
}

/// take_along_axis, index_sample: one element per index.
Values gather_elements(Call& c) {
  const auto x = c.in("Input|X"), index = c.in("Index");
  const auto rank = c.rank(x);
  if (!rank || !index) return Failure{};
  const auto axis = c.axis(c.integer_or("Axis|axis", 1), *rank);
  if (!axis) return Failure{};
  return one(c.emit(op("gather"), {x, index}, {{"axis", *axis}}));
}

Values scatter_elements(Call& c) {
  auto x = c.in("Input"), index = c.in("Index"), value = c.in("Value");
  const std::string_view how = c.text_or("Reduce|reduce", "assign");
  if (!x || !index || !value) return Failure{};
  if (c.type(*value).ranked() && c.type(*value).rank() == 0) value = c.emit(op("broadcast_to"), {value, whole_shape(c, *index)});
  Attrs attrs{{"axis", c.integer_or("Axis|axis", 0)}};
  if (how == "add" || how == "mul" || how == "multiply") attrs.set("reduction", std::string(how == "add" ? "add" : "mul"));
  if (how == "amin" || how == "amax") attrs.set("reduction", std::string(how.substr(1)));
  return one(c.emit(op("scatter_elements"), {x, index, value}, std::move(attrs)));
}

/// Slices written, or added (overwrite = 0), at rows.
Values scatter(Call& c) {
  auto x = c.in("X"), ids = c.in("Ids"), updates = c.in("Updates");
  const auto rank = c.rank(ids);
  if (!rank) return Failure{};
  if (*rank < 2) ids = c.expand_dims(ids, {*rank});
  Attrs attrs;
  if (!c.flag("overwrite", true)) attrs.set("reduction", std::string("add"));
  return one(c.emit(op("scatter_nd"), {x, c.cast(ids, DType::Int64), updates}, std::move(attrs)));
}

/// (X, Index, AddValue): slices added along an axis.
Values index_add(Call& c) {
  const auto x = c.in("X");
  auto index = c.in("Index"), value = c.in("AddValue");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank);
  if (!axis) return Failure{};
  Ints perm(static_cast<std::size_t>(*rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (!perm.empty()) std::swap(perm.front(), perm[static_cast<std::size_t>(*axis)]);
  const auto turned = [&](Operand v) { return *axis == 0 ? v : c.transpose(v, perm); };
  index = c.cast(c.expand_dims(index, {1}), DType::Int64);
  return one(turned(c.emit(op("scatter_nd"), {turned(x), index, turned(value)}, {{"reduction", "add"}})));
}

/// (x, indices…, value): elements or slices at index tensors of one shape.
Values index_put(Call& c) {
  const auto x = c.in("x");
  const auto indices = c.list("indices");
  auto value = c.in("value");
  const auto rank = c.rank(x);
  if (!rank || !indices || !value) return Failure{};
  const Type& type = c.type(indices->front());
  if (type.dtype() == DType::Bool || !type.ranked()) return c.unpriced();
  const auto last = static_cast<std::int64_t>(type.rank()), count = static_cast<std::int64_t>(indices->size());
  std::vector<Operand> columns;
  for (ValueId v : *indices) {
    if (c.type(v) != type) return c.unpriced();
    columns.push_back(c.expand_dims(c.cast(v, DType::Int64), {last}));
  }
  std::vector<Operand> shape{whole_shape(c, indices->front())};
  if (count < *rank) shape.push_back(c.shape_of(x, count, *rank));
  value = c.emit(op("broadcast_to"), {value, joined(c, shape, 0)});
  Attrs attrs;
  if (c.flag("accumulate")) attrs.set("reduction", std::string("add"));
  return one(c.emit(op("scatter_nd"), {x, joined(c, columns, last), value}, std::move(attrs)));
}

Values gather_nd(Call& c) { return one(c.emit(op("gather_nd"), {c.in("X"), c.cast(c.in("Index"), DType::Int64)})); }

Values scatter_nd_add(Call& c) {
  return one(c.emit(op("scatter_nd"), {c.in("X"), c.cast(c.in("Index"), DType::Int64), c.in("Updates")}, {{"reduction", "add"}}));
}

Values one_hot(Call& c) {
  auto x = c.in("X");
  const auto rank = c.rank(x);
  auto depth = c.int_vector("depth_tensor|depth|num_classes");
  if (!rank) return Failure{};
  if (c.operation.type == "one_hot" && c.importer.dialect() == Dialect::Descriptor && *rank > 1) x = c.squeeze(x, {*rank - 1});
  const DType d = c.dtype_or("dtype", DType::Float32);
  auto data = std::make_shared<Data>();
  if (is_float(d)) data->elements = std::vector<double>{0, 1};
  else data->elements = std::vector<SymInt>{SymInt(0), SymInt(1)};
  return one(c.emit(op("one_hot"), {x, depth, c.constant({Type::tensor(d, {2}), std::move(data)})}, {{"axis", std::int64_t{-1}}}));
}

// ---- Shapes and constants

Values shape(Call& c) {
  const auto x = c.in("Input");
  return one(x ? whole_shape(c, *x) : x);
}
Values size(Call& c) { return one(c.emit(op("size_of"), {c.in("Input|X")})); }

/// fill_constant, full, empty, …: shape, number, type.
Values fill(Call& c) {
  const DType d = c.dtype_or("dtype", DType::Float32);
  auto shape = c.int_vector("ShapeTensor|ShapeTensorList|shape");
  const auto* tensor = c.operands("ValueTensor");
  if (tensor && tensor->size() == 1 && !c.data(tensor->front())) return one(c.emit(op("broadcast_to"), {c.cast(tensor->front(), d), shape}));
  const auto value = fill_value(c);
  if (!value) return Failure{};
  return one(full(c, shape, *value, d));
}

/// The same in the shape of another tensor.
Values fill_like(Call& c) {
  const auto x = c.in("X");
  if (!x) return Failure{};
  DType d = c.dtype_or("dtype", c.dtype(*x));
  const auto value = fill_value(c);
  if (!value) return Failure{};
  return one(full(c, whole_shape(c, *x), *value, d));
}

/// One dim of the shape is taken from the data.
Values fill_batch_like(Call& c) {
  const auto x = c.in("Input");
  auto shape = c.ints("shape");
  const auto value = fill_value(c);
  const auto rank = c.rank(x);
  if (!shape || !value || !rank) return Failure{};
  const auto from = c.axis(c.integer_or("input_dim_idx", 0), *rank);
  const auto to = c.axis(c.integer_or("output_dim_idx", 0), static_cast<std::int64_t>(shape->size()));
  if (!from || !to) return Failure{};
  if (static_cast<std::size_t>(*to) >= shape->size()) return c.error("the shape has no dims");
  std::vector<Operand> parts;
  if (*to > 0) parts.emplace_back(c.ints_constant({shape->begin(), shape->begin() + *to}));
  parts.push_back(c.shape_of(x, *from, *from + 1));
  if (*to + 1 < static_cast<std::int64_t>(shape->size())) parts.emplace_back(c.ints_constant({shape->begin() + *to + 1, shape->end()}));
  return one(full(c, joined(c, parts, 0), *value, c.dtype_or("dtype", DType::Float32)));
}

/// assign_value, full_int_array, constant: contents in attributes.
Values constant(Call& c) {
  const bool vector = c.operation.type == "full_int_array";
  const DType d = c.dtype_or("dtype", vector ? DType::Int64 : DType::Float32);
  const Attr* a = c.attr("value|values");
  if (!a) a = c.attr(d == DType::Float64 ? "fp64_values" : is_float(d) ? "fp32_values" : d == DType::Int64 ? "int64_values" : d == DType::Bool ? "bool_values" : "int32_values");
  auto data = std::make_shared<Data>();
  std::int64_t n = 0;
  const auto* reals = a ? std::get_if<std::vector<double>>(a) : nullptr;
  const auto* ints = a ? std::get_if<Ints>(a) : nullptr;
  if (reals) n = static_cast<std::int64_t>(reals->size());
  if (ints) n = static_cast<std::int64_t>(ints->size());
  auto dims = c.ints_or("shape", {n});
  if (!dims) return Failure{};
  Shape shape;
  for (std::int64_t dim : *dims) {
    if (dim < 0) return c.error(fmt::format("a dim of {}", dim));
    shape.emplace_back(dim);
  }
  const Type type = Type::tensor(d, std::move(shape));
  if (type.elements() != std::optional<std::int64_t>(n)) return c.error(fmt::format("{} has {} values", to_string(type), n));
  if (n > Data::kMaxElements) return one(c.constant({type, nullptr}));
  if (is_float(d)) {
    data->elements = reals ? *reals : ints ? std::vector<double>(ints->begin(), ints->end()) : std::vector<double>{};
  } else {
    std::vector<SymInt> values;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      values.emplace_back(ints ? (*ints)[k] : static_cast<std::int64_t>(std::clamp((*reals)[k], -9e15, 9e15)));
    }
    data->elements = std::move(values);
  }
  return one(c.constant({type, std::move(data)}));
}

Values range(Call& c) {
  auto start = c.in("Start"), end = c.in("End"), step = c.in("Step");
  if (!start || !end || !step) return Failure{};
  const DType d = c.dtype_or("dtype", c.dtype(*start));
  return one(c.emit(op("arange"), {c.reshape(c.cast(start, d), {}), c.reshape(c.cast(end, d), {}), c.reshape(c.cast(step, d), {})}));
}

/// start + i · (stop − start) / (n − 1).
Values linspace(Call& c) {
  auto start = c.in("Start"), stop = c.in("Stop");
  const auto n = c.integer("Num");
  if (!start || !stop || !n) return Failure{};
  const DType d = c.dtype_or("dtype", DType::Float32), work = is_float(d) ? d : DType::Float32;
  auto steps = c.emit(op("arange"), {c.number(0, work), c.number(static_cast<double>(*n), work), c.number(1, work)});
  auto distance = c.emit(op("divide"), {c.emit(op("subtract"), {c.cast(stop, work), c.cast(start, work)}), c.number(static_cast<double>(std::max<std::int64_t>(*n - 1, 1)), work)});
  return one(c.cast(c.emit(op("add"), {c.emit(op("multiply"), {steps, distance}), c.cast(start, work)}), d));
}

Values eye(Call& c) {
  const auto rows = c.integer("num_rows");
  if (!rows) return Failure{};
  const auto columns = c.ints_or("num_columns", {*rows});
  if (!columns || columns->size() != 1) return Failure{};
  const std::int64_t m = columns->front() < 0 ? *rows : columns->front();
  return one(c.emit(op("eye_like"), {full(c, c.ints_constant({*rows, m}), 0, c.dtype_or("dtype", DType::Float32))}));
}

/// tril, triu, tril_triu.
Values triangle(Call& c) {
  const std::string_view type = c.operation.type;
  const bool upper = type == "triu" || type == "triu_" || (type == "tril_triu" && !c.flag("lower", true));
  return one(c.emit(op("trilu"), {c.in("X"), c.number(static_cast<double>(c.integer_or("diagonal", 0)), DType::Int64)}, {{"upper", static_cast<std::int64_t>(upper)}}));
}

/// Vectors spread over a grid, each along an axis of its own.
Values meshgrid(Call& c) {
  const auto all = c.list("X");
  if (!all) return Failure{};
  std::vector<Operand> lengths;
  for (ValueId v : *all) lengths.push_back(c.emit(op("size_of"), {v}));
  for (Operand& l : lengths) l = c.reshape(l, {1});
  auto shape = joined(c, lengths, 0);
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < all->size(); ++i) {
    Ints view(all->size(), 1);
    view[i] = -1;
    auto grid = c.emit(op("broadcast_to"), {c.reshape((*all)[i], view), shape});
    if (!grid) return Failure{};
    out.push_back(*grid);
  }
  return out;
}

/// A vector as the diagonal of a matrix, or the diagonal of a matrix.
Values diagonal(Call& c) {
  const auto x = c.in("X|Input|Diagonal");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank == 1 && c.integer_or("offset", 0) == 0) {
    const auto n = c.known_dim(*x, 0);
    if (!n) return Failure{};
    auto mask = c.emit(op("eye_like"), {full(c, c.ints_constant({*n, *n}), 0, c.dtype(*x))});
    return one(c.emit(op("multiply"), {x, mask}));
  }
  if (*rank != 2 || c.integer_or("offset", 0) != 0) return c.unpriced();
  const auto rows = c.known_dim(*x, 0), columns = c.known_dim(*x, 1);
  if (!rows || !columns) return Failure{};
  const std::int64_t n = std::min(*rows, *columns);
  auto places = c.emit(op("arange"), {c.number(0, DType::Int64), c.number(static_cast<double>(n), DType::Int64), c.number(1, DType::Int64)});
  auto index = c.emit(op("tile"), {c.expand_dims(places, {1}), c.ints_constant({1, 2})});
  return one(c.emit(op("gather_nd"), {x, index}));
}

/// Vectors along the last axis as the diagonals of matrices.
Values diag_embed(Call& c) {
  const auto x = c.in("Input");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (c.integer_or("offset", 0) != 0 || c.integer_or("dim1", -2) != -2 || c.integer_or("dim2", -1) != -1) return c.unpriced();
  const auto n = c.known_dim(*x, -1);
  if (!n) return Failure{};
  return one(c.emit(op("multiply"), {c.expand_dims(x, {*rank}), c.emit(op("eye_like"), {full(c, c.ints_constant({*n, *n}), 0, c.dtype(*x))})}));
}

/// a × b of vectors along an axis of three.
Values cross(Call& c) {
  const auto a = c.in("X"), b = c.in("Y");
  const auto rank = c.rank(a);
  if (!rank || !b) return Failure{};
  std::int64_t axis = c.integer_or("dim|axis", 9);
  for (std::int64_t i = 0; axis == 9 && i < *rank; ++i) {
    if (c.dim(*a, i).is(3)) axis = i;
  }
  const auto checked = c.axis(axis, *rank);
  if (!checked) return Failure{};
  const auto turned = [&](Operand v, const Ints& order) { return c.emit(op("take"), {v, c.ints_constant(order)}, {{"axis", *checked}}); };
  auto first = c.emit(op("multiply"), {turned(a, {1, 2, 0}), turned(b, {2, 0, 1})});
  return one(c.emit(op("subtract"), {first, c.emit(op("multiply"), {turned(a, {2, 0, 1}), turned(b, {1, 2, 0})})}));
}

/// Every element of x times the whole of y.
Values kron(Call& c) {
  auto x = c.in("X"), y = c.in("Y");
  const auto rank = c.rank(x), other = c.rank(y);
  if (!rank || !other) return Failure{};
  if (*rank != *other) return c.unpriced();
  Ints behind, before, shape;
  for (std::int64_t i = 0; i < *rank; ++i) {
    behind.push_back(2 * i + 1);
    before.push_back(2 * i);
    const auto a = c.known_dim(*x, i), b = c.known_dim(*y, i);
    std::int64_t extent = 0;
    if (!a || !b) return Failure{};
    if (__builtin_mul_overflow(*a, *b, &extent)) return c.error("a result beyond all bounds");
    shape.push_back(extent);
  }
  return one(c.reshape(c.emit(op("multiply"), {c.expand_dims(x, behind), c.expand_dims(y, before)}), shape));
}

/// Windows of an image as columns: (n, c, h, w) → (n, c · kh · kw, places).
Values unfold(Call& c) {
  auto x = c.in("X");
  const auto kernel = c.ints("kernel_sizes"), strides = c.ints_or("strides", {1, 1}), dilation = c.ints_or("dilations", {1, 1});
  auto pads = c.ints_or("paddings", {0, 0, 0, 0});
  const auto rank = c.rank(x);
  if (!kernel || !strides || !dilation || !pads || !rank) return Failure{};
  if (pads->size() == 2) pads = Ints{(*pads)[0], (*pads)[1], (*pads)[0], (*pads)[1]};
  if (*rank != 4 || kernel->size() != 2 || strides->size() != 2 || dilation->size() != 2 || pads->size() != 4) return c.unpriced();
  const auto within = [](const Ints& v, std::int64_t least) { return std::all_of(v.begin(), v.end(), [&](std::int64_t i) { return i >= least && i < (1 << 20); }); };
  if (!within(*kernel, 1) || !within(*strides, 1) || !within(*dilation, 1) || !within(*pads, 0)) return c.error("the window's extents make no sense");
  const auto channels = c.known_dim(*x, 1), height = c.known_dim(*x, 2), width = c.known_dim(*x, 3);
  if (!channels || !height || !width) return Failure{};
  if (*height >= kMostPlaces || *width >= kMostPlaces || *channels >= kMostPlaces) return c.unpriced();
  if (std::any_of(pads->begin(), pads->end(), [](std::int64_t p) { return p > 0; })) {
    x = c.emit(op("nn.pad"), {x, c.ints_constant({0, 0, (*pads)[0], (*pads)[1], 0, 0, (*pads)[2], (*pads)[3]})});
  }
  const Ints extents{*height + (*pads)[0] + (*pads)[2], *width + (*pads)[1] + (*pads)[3]};
  Ints places;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = (*dilation)[i] * ((*kernel)[i] - 1) + 1;
    const std::int64_t n = extents[i] < reach ? 0 : (extents[i] - reach) / (*strides)[i] + 1;
    if (n < 1) return c.error(fmt::format("a window of {} over an extent of {}", reach, extents[i]));
    if (n * (*kernel)[i] >= kMostPlaces) return c.unpriced();
    Ints index;
    for (std::int64_t k = 0; k < (*kernel)[i]; ++k) {
      for (std::int64_t p = 0; p < n; ++p) index.push_back(k * (*dilation)[i] + p * (*strides)[i]);
    }
    places.push_back(n);
    x = c.emit(op("take"), {x, c.ints_constant(index)}, {{"axis", static_cast<std::int64_t>(i) + 2}});
  }
  auto windows = c.reshape(x, {0, *channels, (*kernel)[0], places[0], (*kernel)[1], places[1]});
  std::int64_t rows = 0;
  if (__builtin_mul_overflow(*channels, (*kernel)[0] * (*kernel)[1], &rows)) return c.error("a result beyond all bounds");
  return one(c.reshape(c.transpose(windows, {0, 1, 2, 4, 3, 5}), {0, rows, places[0] * places[1]}));
}

/// The reverse, overlaps added.
Values fold(Call& c) {
  const auto sizes = c.ints("output_sizes"), kernel = c.ints("kernel_sizes"), strides = c.ints_or("strides", {1, 1}), dilation = c.ints_or("dilations", {1, 1});
  auto pads = c.ints_or("paddings", {0, 0, 0, 0});
  if (!sizes || !kernel || !strides || !dilation || !pads) return Failure{};
  if (pads->size() == 2) pads = Ints{(*pads)[0], (*pads)[1], (*pads)[0], (*pads)[1]};
  return one(c.emit(op("col2im"), {c.in("X"), c.ints_constant(*sizes), c.ints_constant(*kernel)}, {{"dilation", *dilation}, {"padding", *pads}, {"strides", *strides}}));
}

// ---- Random numbers

/// Numbers below n in any order.
Values random_permutation(Call& c) {
  const std::int64_t n = c.integer_or("n", 0);
  if (n < 1) return c.error(fmt::format("n is {}", n));
  auto keys = c.emit(op("random.uniform"), {}, {{"dtype", "float32"}, {"shape", Ints{n}}});
  auto order = c.emit_all(op("topk"), {keys, c.ints_constant({n})}, {}, 2);
  if (!order) return Failure{};
  return one(c.cast((*order)[1], c.dtype_or("dtype", DType::Int64)));
}

/// gaussian, uniform, randint, …: shape and type; the numbers do not matter.
Values random(Call& c) {
  const DType d = c.dtype_or("dtype", DType::Float32), work = is_float(d) ? d : DType::Float32;
  const bool normal = c.operation.type.find("gaussian") != std::string_view::npos;
  const auto like = c.in_or_none("X|Input");
  if (!like) return Failure{};
  auto shape = *like && !c.given("shape") ? whole_shape(c, *like) : c.int_vector("ShapeTensor|ShapeTensorList|shape");
  auto base = full(c, shape, 0, work);
  return one(c.cast(c.emit(normal ? op("random.normal_like") : op("random.uniform_like"), {base}), d));
}
Values bernoulli(Call& c) { return one(c.emit(op("random.bernoulli"), {c.in("X")})); }
Values multinomial(Call& c) {
  const auto n = c.ints_or("num_samples", {1});
  if (!n || n->size() != 1) return Failure{};
  return one(c.emit(op("random.multinomial"), {c.in("X")}, {{"dtype", "int64"}, {"sample_size", n->front()}}));
}

// ---- Channels and blocks

/// pixel_shuffle: (n, c · r², h, w) → (n, c, h · r, w · r), and back.
Values pixel_shuffle(Call& c) {
  auto x = c.in("X");
  const std::int64_t r = c.integer_or("upscale_factor|downscale_factor|blocksize", 1);
  const bool last = c.text_or("data_format", "NCHW").ends_with('C');
  const bool up = c.operation.type == "pixel_shuffle";
  if (last) x = c.transpose(x, {0, 3, 1, 2});
  x = up ? c.emit(op("depth_to_space"), {x}, {{"blocksize", r}, {"mode", "CRD"}}) : c.emit(op("space_to_depth"), {x}, {{"blocksize", r}});
  if (last) x = c.transpose(x, {0, 2, 3, 1});
  return one(x);
}

/// Channels of groups interleaved.
Values channel_shuffle(Call& c) {
  auto x = c.in("X");
  const std::int64_t groups = c.integer_or("groups|group", 1);
  const bool last = c.text_or("data_format", "NCHW").ends_with('C');
  if (last) x = c.transpose(x, {0, 3, 1, 2});
  const auto rank = c.rank(x);
  const auto channels = rank && *rank == 4 ? c.known_dim(*x, 1) : Result<std::int64_t>(c.error("needs data of rank 4"));
  if (!channels) return Failure{};
  if (groups < 1 || *channels % groups != 0) return c.error(fmt::format("{} channels do not divide into {} groups", *channels, groups));
  auto shape = whole_shape(c, *x);
  auto split = c.emit(op("reshape"), {x, joined(c, {c.shape_of(x, 0, 1), c.ints_constant({groups, *channels / groups}), c.shape_of(x, 2, 4)}, 0)});
  auto y = c.emit(op("reshape"), {c.transpose(split, {0, 2, 1, 3, 4}), shape});
  return one(last ? c.transpose(y, {0, 2, 3, 1}) : y);
}

/// (n · segments, c, h, w): a part of the channels is taken from the segment before, a part from that behind.
Values temporal_shift(Call& c) {
  const auto x = c.in("X");
  const auto rank = c.rank(x);
  const std::int64_t segments = c.integer_or("seg_num", 1);
  const auto channels = rank && *rank == 4 ? c.known_dim(*x, 1) : Result<std::int64_t>(c.error("needs data of rank 4"));
  if (!channels) return Failure{};
  const auto moved = static_cast<std::int64_t>(static_cast<double>(*channels) * std::clamp(c.real_or("shift_ratio", 0.25), 0.0, 0.5));
  auto shape = whole_shape(c, *x);
  auto video = c.emit(op("reshape"), {x, joined(c, {c.ints_constant({-1, segments}), c.shape_of(x, 1, 4)}, 0)});
  const auto part = [&](std::int64_t from, std::int64_t to, std::int64_t by) {
    auto p = c.slice(video, 2, from, to);
    if (by == 0) return p;
    Ints pads(10, 0);
    pads[by > 0 ? 1 : 6] = 1;
    auto wide = c.emit(op("nn.pad"), {p, c.ints_constant(pads)});
    return by > 0 ? c.slice(wide, 1, 0, segments) : c.slice(wide, 1, 1, segments + 1);
  };
  auto y = joined(c, {part(0, moved, 1), part(moved, 2 * moved, -1), part(2 * moved, *channels, 0)}, 2);
  return one(c.emit(op("reshape"), {y, shape}));
}

/// Tensors picked per row: index [n, 1] says from which.
Values multiplex(Call& c) {
  const auto all = c.list("X");
  if (!all) return Failure{};
  std::vector<Operand> parts;
  for (ValueId v : *all) parts.push_back(c.expand_dims(v, {1}));
  auto index = c.cast(c.in("Ids|Index"), DType::Int64);
  return one(c.emit(op("gather_nd"), {joined(c, parts, 1), index}, {{"batch_dims", std::int64_t{1}}}));
}

}  // namespace perfc::paddle
