/// Views and data movement.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

/// The shape operand of an operator with a computed one, where it is needed.
Result<ValueId> extents_operand(const Call& c, std::size_t i) {
  const Type to = c.declared(0);
  const bool open = to.ranked() && std::ranges::any_of(to.shape(), [](const Dim& d) { return !d.known(); });
  if (!open || c.operands.size() <= i) return ValueId{};
  return c.tensor(i);
}

/// The declared type with dims that known contents of the shape operand tell.
Type with_extents(const Call& c, Type type, ValueId extents) {
  const Data* d = extents ? c.data(extents) : nullptr;
  if (!d || !d->ints() || !type.ranked() || d->size() != type.rank()) return type;
  Shape shape = type.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].known()) shape[i] = (*d->ints())[i];
  }
  return Type::tensor(type.dtype(), std::move(shape));
}

/// Weights that a loop joins in every round are one weight: XLA moves what does not change out of loops.
std::optional<ValueId> joined_weight(const Call& c, const std::vector<ValueId>& parts, std::int64_t axis) {
  if (!c.scope.site.outer) return std::nullopt;
  Shape shape = c.type(parts[0]).shape();
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size())) return std::nullopt;
  SymInt length = 0;
  for (ValueId v : parts) {
    const Node& n = c.builder().node(v.node);
    if (n.kind != NodeKind::Constant || c.data(v) || !is_float(c.dtype(v))) return std::nullopt;
    const SymInt extent = c.dim(v, axis);
    std::int64_t sum = 0;
    if (!extent.known() || __builtin_add_overflow(length.value(), extent.value(), &sum)) return std::nullopt;
    length = sum;
  }
  shape[static_cast<std::size_t>(axis)] = length;
  return c.constant({Type::tensor(c.dtype(parts[0]), std::move(shape)), nullptr});
}

}  // namespace

/// broadcast_in_dim, dynamic_broadcast_in_dim
Result<Values> broadcast_in_dim(Call& c, const OpRow&) {
  auto dims = c.required("broadcast_dimensions", "dims");
  auto extents = extents_operand(c, 1);
  if (!dims || !extents) return Failure{};
  return one(c.broadcast(c.operands[0], *dims, with_extents(c, c.declared(0), *extents), *extents));
}

/// reshape, dynamic_reshape
Result<Values> reshape(Call& c, const OpRow&) {
  const Type to = c.declared(0);
  auto extents = extents_operand(c, 1);
  if (!extents || !to.ranked()) return c.error("has no shape to give");
  return one(c.reshaped(c.operands[0], with_extents(c, to, *extents), *extents));
}

Result<Values> transpose(Call& c, const OpRow&) {
  auto perm = c.required("permutation", "dims");
  if (!perm) return Failure{};
  return one(c.permuted(c.operands[0], *perm));
}

Result<Values> reverse(Call& c, const OpRow&) {
  auto axes = c.required("dimensions", "dims");
  auto x = c.tensor(0);
  if (!axes || !x) return Failure{};
  Result<ValueId> out = *x;
  for (std::int64_t axis : *axes) {
    if (out) out = c.emit(op("reverse"), {*out}, {{"axis", axis}});
  }
  return one(c.whole(out));
}

Result<Values> concatenate(Call& c, const OpRow&) {
  auto axis = c.required_integer("dimension", "dim");
  auto parts = c.tensors(0, c.operands.size());
  if (!axis || !parts) return Failure{};
  if (parts->size() == 1) return Values{c.operands[0]};
  if (auto joined = joined_weight(c, *parts, *axis)) return Values{c.whole(*joined)};
  return one(c.whole(c.emit(op("concatenate"), *std::move(parts), {{"axis", *axis}})));
}

/// "[0:4, 2:8:2]": start, limit and step of every dim; the generic form has an attribute for each.
Result<Values> slice(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  Emitter::Ints start, limit, step;
  if (const auto ranges = c.operation.find("")) {
    std::string text(*ranges);
    for (std::string_view rest = std::string_view(text).substr(1, text.size() - 2); !rest.empty();) {
      const auto comma = std::min(rest.find(','), rest.size());
      std::string range(rest.substr(0, comma));
      std::ranges::replace(range, ':', ',');
      const auto numbers = integers("[" + range + "]");
      if (!numbers || numbers->size() < 2 || numbers->size() > 3)
        return c.error(fmt::format("'{}' is no range", range));
      start.push_back((*numbers)[0]);
      limit.push_back((*numbers)[1]);
      step.push_back(numbers->size() > 2 ? (*numbers)[2] : 1);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  } else {
    auto starts = c.required("start_indices"), limits = c.required("limit_indices"), steps = c.required("strides");
    if (!starts || !limits || !steps) return Failure{};
    start = *starts, limit = *limits, step = *steps;
  }
  const Shape& shape = c.type(0).shape();
  if (start.size() != shape.size() || limit.size() != start.size() || step.size() != start.size())
    return c.error(fmt::format("has {} ranges for {} dims", start.size(), shape.size()));
  Emitter::Ints axes, from, to, by;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (start[i] == 0 && step[i] == 1 && shape[i].is(limit[i])) continue;
    axes.push_back(static_cast<std::int64_t>(i));
    from.push_back(start[i]);
    to.push_back(limit[i]);
    by.push_back(step[i]);
  }
  if (axes.empty()) return Values{c.operands[0]};
  std::vector<ValueId> operands{*x, c.int_constant(from), c.int_constant(to), c.int_constant(axes)};
  if (std::ranges::any_of(by, [](std::int64_t s) { return s != 1; })) operands.push_back(c.int_constant(by));
  return one(c.whole(c.emit(op("strided_slice"), std::move(operands))));
}

/// Padding may be negative, which cuts off, and stand between elements (interior), which spreads them.
Result<Values> pad(Call& c, const OpRow&) {
  auto low = c.required("edge_padding_low", "low"), high = c.required("edge_padding_high", "high");
  auto interior = c.required("interior_padding", "interior");
  auto x = c.tensor(0);
  if (!low || !high || !interior || !x) return Failure{};
  const std::size_t rank = c.type(0).rank();
  if (low->size() != rank || high->size() != rank || interior->size() != rank)
    return c.error(fmt::format("has paddings of {} dims for {}", low->size(), rank));
  const auto any = [](const Emitter::Ints& v) { return std::ranges::any_of(v, [](std::int64_t n) { return n != 0; }); };
  Result<ValueId> out = *x;
  for (std::size_t i = 0; i < rank && any(*interior); ++i) {
    if ((*interior)[i] == 0) continue;
    // Each element becomes a row of itself and what follows it; the last one's is cut off.
    const auto axis = static_cast<std::int64_t>(i);
    Emitter::Ints pads(2 * (rank + 1), 0);
    pads[rank + 1 + i + 1] = (*interior)[i];
    const SymInt extent = c.dim(*out, axis);
    if (!extent.known()) return c.error("puts elements between those of an open dim");
    Emitter::Ints merged;
    for (const Dim& d : c.type(*out).shape()) merged.push_back(d.known() ? d.value() : -1);
    merged[i] = extent.value() * ((*interior)[i] + 1);
    out = c.expand_dims(out, {axis + 1});
    if (out) out = c.emit(op("nn.pad"), {*out, c.int_constant(pads)});
    out = c.slice(c.reshape(out, merged), axis, 0, merged[i] - (*interior)[i]);
  }
  Emitter::Ints pads;
  for (const Emitter::Ints* side : {&*low, &*high}) pads.insert(pads.end(), side->begin(), side->end());
  if (!out || !any(pads)) return one(c.whole(out));
  std::vector<ValueId> operands{*out, c.int_constant(pads)};
  if (c.number_of(1) != 0.0) {
    auto value = c.tensor(1);
    if (!value) return Failure{};
    operands.push_back(*value);
  }
  return one(c.whole(c.emit(op("nn.pad"), std::move(operands))));
}

/// iota, dynamic_iota: 0, 1, … along one dim.
Result<Values> iota(Call& c, const OpRow&) {
  auto axis = c.required_integer("iota_dimension", "dim");
  auto extents = extents_operand(c, 0);
  if (!axis || !extents) return Failure{};
  const Type type = with_extents(c, c.declared(0), *extents);
  if (!type.ranked() || *axis < 0 || *axis >= static_cast<std::int64_t>(type.rank()))
    return c.error(fmt::format("counts along dim {} of {}", *axis, to_string(type)));
  const Dim& n = type.shape()[static_cast<std::size_t>(*axis)];
  Result<ValueId> limit =
      n.known() ? Result<ValueId>(c.number(static_cast<double>(n.value()), type.dtype())) : Failure{};
  if (!n.known()) {
    if (!*extents) return c.error("its length is open");
    limit = c.cast(c.squeeze(c.slice(*extents, 0, *axis, *axis + 1), {0}), type.dtype());
  }
  if (!limit) return Failure{};
  auto numbers = c.emit(op("arange"), {c.number(0, type.dtype()), *limit, c.number(1, type.dtype())});
  if (!numbers) return Failure{};
  return one(c.broadcast(c.whole(*numbers), {*axis}, type, *extents));
}

Result<Values> get_dimension_size(Call& c, const OpRow&) {
  auto axis = c.required_integer("dimension", "dim");
  auto x = c.tensor(0);
  if (!axis || !x) return Failure{};
  auto size = c.shape_of(*x, *axis, *axis + 1);
  return one(c.whole(c.cast(c.squeeze(size, {0}), c.declared(0).dtype())));
}

}  // namespace perfc::stablehlo
