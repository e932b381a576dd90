/// Operations of keras.ops that move data.
#include <algorithm>
#include <numeric>

#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

/// Integers of a setting, or of an argument that holds them.
Result<Ints> ints_of(const Call& c, std::string_view setting, std::size_t argument) {
  if (c.given(setting)) return c.list_or(setting, {});
  const Value* v = c.argument(argument, setting);
  if (!v) return c.error(fmt::format("has no '{}'", setting));
  Ints out;
  if (v->kind == Value::Kind::Integer) out.push_back(v->integer);
  for (const Value& item : v->items) {
    if (item.kind == Value::Kind::Tensor) return c.error(fmt::format("its '{}' is computed", setting));
    out.push_back(item.kind == Value::Kind::None ? -1 : item.integer);
  }
  return out;
}

/// A shape whose open leading dim is the data's.
Operand shape_operand(const Call& c, ValueId x, Ints shape) {
  const bool open = !shape.empty() && shape.front() == -1;
  if (!open) return c.int_constant(shape);
  shape.erase(shape.begin());
  return shape.empty() ? c.shape_of(x, 0, 1) : c.join({c.shape_of(x, 0, 1), c.int_constant(shape)}, 0);
}

}  // namespace

/// x[key]: integers take one index, slices a range, None makes an axis, an ellipsis stands for all axes between.
Values get_item(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const Value* given = c.argument(1, "key");
  if (!rank || !given) return rank ? Values(c.error("has no key")) : Values(Failure{});
  using Kind = Value::Kind;
  std::vector<Value> keys{*given};
  if (given->kind == Kind::List) keys = given->items;
  const auto named = std::ranges::count_if(
      keys, [](const Value& k) { return k.kind == Kind::Integer || k.kind == Kind::Slice || k.kind == Kind::Tensor; });
  Operand y = x;
  Ints starts, ends, axes, steps, removed, added;
  std::int64_t axis = 0, out = 0;
  const auto range = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
    starts.push_back(from);
    ends.push_back(to);
    axes.push_back(axis);
    steps.push_back(step);
  };
  for (const Value& k : keys) {
    if (k.kind == Kind::Ellipsis) {
      axis += std::max<std::int64_t>(*rank - named, 0);
      out += std::max<std::int64_t>(*rank - named, 0);
    } else if (k.kind == Kind::None) {
      added.push_back(out++);
    } else if (axis >= *rank) {
      return c.error(fmt::format("more keys than the data has axes ({})", *rank));
    } else if (k.kind == Kind::Integer) {
      range(k.integer, k.integer == -1 ? INT64_MAX : k.integer + 1, 1);
      removed.push_back(axis++);
    } else if (k.kind == Kind::Slice && k.items.size() == 3) {
      const std::int64_t step = k.items[2].kind == Kind::Integer ? k.items[2].integer : 1;
      if (step == 0) return c.error("a step of 0");
      if (std::ranges::any_of(k.items, [](const Value& v) { return v.kind == Kind::Tensor; })) return c.unpriced();
      const bool all = k.items[0].kind == Kind::None && k.items[1].kind == Kind::None && step == 1;
      if (!all)
        range(k.items[0].kind == Kind::None ? (step > 0 ? 0 : INT64_MAX) : k.items[0].integer,
              k.items[1].kind == Kind::None ? (step > 0 ? INT64_MAX : -INT64_MAX) : k.items[1].integer, step);
      ++axis;
      ++out;
    } else {
      return c.unpriced();
    }
  }
  if (!axes.empty())
    y = c.emit(op("strided_slice"),
               {y, c.int_constant(starts), c.int_constant(ends), c.int_constant(axes), c.int_constant(steps)});
  if (!removed.empty()) y = c.squeeze(y, removed);
  return one(added.empty() ? y : c.expand_dims(y, added));
}

/// An open batch stays: of -1 in front of a known rest, the data's.
Values ops_reshape(Call& c) {
  const auto x = c.tensor();
  const auto shape = ints_of(c, "newshape", 1);
  if (!x || !shape) return Failure{};
  return one(c.emit(op("reshape"), {x, std::ranges::count(*shape, -1) > 1 ? shape_operand(c, *x, *shape)
                                                                          : Operand(c.int_constant(*shape))}));
}

/// Without axes, reversed.
Values ops_transpose(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  Ints perm = c.list_or("axes", {});
  for (std::int64_t a = *rank; !c.given("axes") && a-- > 0;) perm.push_back(a);
  for (std::int64_t& a : perm) a = a < 0 ? a + *rank : a;
  return one(c.transpose(x, perm));
}

/// Swapaxes, Moveaxis.
Values ops_swap_axes(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  Ints perm(static_cast<std::size_t>(*rank));
  std::iota(perm.begin(), perm.end(), 0);
  const bool swap = c.layer.class_name == "Swapaxes";
  const Ints from = c.list_or(swap ? "axis1" : "source", {0}), to = c.list_or(swap ? "axis2" : "destination", {1});
  if (from.size() != 1 || to.size() != 1) return c.unpriced();
  const auto a = c.axis(from.front(), *rank), b = c.axis(to.front(), *rank);
  if (!a || !b) return Failure{};
  if (swap) {
    std::swap(perm[static_cast<std::size_t>(*a)], perm[static_cast<std::size_t>(*b)]);
  } else {
    perm.erase(perm.begin() + *a);
    perm.insert(perm.begin() + *b, *a);
  }
  return one(c.transpose(x, perm));
}

Values ops_concatenate(Call& c) {
  const auto all = c.tensors();
  if (all.empty()) return c.error("joins nothing");
  return one(c.join({all.begin(), all.end()}, c.integer_or("axis", 0)));
}

Values ops_stack(Call& c) {
  const auto all = c.tensors();
  if (all.empty()) return c.error("joins nothing");
  const std::int64_t axis = c.integer_or("axis", 0);
  std::vector<Operand> parts;
  parts.reserve(all.size());
  for (ValueId v : all) parts.push_back(c.expand_dims(v, {axis}));
  return one(c.join(parts, axis));
}

/// indices_or_sections: as many equal parts, or where they begin.
Values ops_split(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank);
  if (!axis) return Failure{};
  const auto setting = c.setting("indices_or_sections");
  if (const auto parts = json::integer(setting)) {
    if (*parts < 1 || *parts > 4096) return c.error(fmt::format("{} parts", *parts));
    if (*parts == 1) return one(x);
    return c.emit_all(op("split"), {x}, {{"axis", *axis}, {"num_outputs", *parts}}, static_cast<std::size_t>(*parts));
  }
  const auto extent = c.known_dim(*x, *axis);
  if (!extent) return Failure{};
  Ints lengths;
  std::int64_t from = 0;
  for (std::int64_t at : c.list_or("indices_or_sections", {})) {
    if (at < from || at > *extent) return c.error("its parts do not fit the data");
    lengths.push_back(at - from);
    from = at;
  }
  lengths.push_back(*extent - from);
  return c.emit_all(op("split"), {x, c.int_constant(lengths)}, {{"axis", *axis}}, lengths.size());
}

/// A part per index.
Values ops_unstack(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const auto axis = rank ? c.axis(c.integer_or("axis", 0), *rank) : Result<std::int64_t>(Failure{});
  const auto n = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
  if (!n) return Failure{};
  if (*n < 1 || *n > 4096) return c.error(fmt::format("{} parts", *n));
  const auto parts =
      *n == 1 ? one(x)
              : c.emit_all(op("split"), {x}, {{"axis", *axis}, {"num_outputs", *n}}, static_cast<std::size_t>(*n));
  if (!parts) return Failure{};
  std::vector<ValueId> out;
  for (ValueId v : *parts) {
    auto part = c.squeeze(v, {*axis});
    if (!part) return Failure{};
    out.push_back(*part);
  }
  return out;
}

Values ops_expand_dims(Call& c) { return one(c.expand_dims(c.tensor(), c.list_or("axis", {-1}))); }

Values ops_squeeze(Call& c) {
  return one(c.given("axis") ? c.squeeze(c.tensor(), c.list_or("axis", {-1})) : c.emit(op("squeeze"), {c.tensor()}));
}

Values ops_take(Call& c) {
  const Value* at = c.argument(1, "indices");
  auto x = c.tensor();
  if (!at || !x) return x ? Values(c.error("has no indices")) : Values(Failure{});
  if (!c.given("axis")) x = c.reshape(x, {-1});
  Operand indices = at->tensor;
  if (at->kind == Value::Kind::Integer) indices = c.number(static_cast<double>(at->integer), DType::Int64);
  else if (at->kind != Value::Kind::Tensor) {
    const auto list = ints_of(c, "indices", 1);
    if (!list) return Failure{};
    indices = c.int_constant(*list);
  }
  return one(c.emit(op("take"), {x, indices}, {{"axis", c.integer_or("axis", 0)}}));
}

Values ops_take_along_axis(Call& c) {
  return one(c.emit(op("gather"), {c.tensor(), c.tensor(1)}, {{"axis", c.integer_or("axis", -1)}}));
}

Values ops_broadcast_to(Call& c) {
  const auto x = c.tensor();
  const auto shape = ints_of(c, "shape", 1);
  if (!x || !shape) return Failure{};
  return one(c.emit(op("broadcast_to"), {x, shape_operand(c, *x, *shape)}));
}

Values ops_tile(Call& c) {
  const auto x = c.tensor();
  auto repeats = ints_of(c, "repeats", 1);
  const auto rank = c.rank(x);
  if (!repeats || !rank) return Failure{};
  while (static_cast<std::int64_t>(repeats->size()) < *rank) repeats->insert(repeats->begin(), 1);
  return one(c.emit(op("tile"), {x, c.int_constant(*repeats)}));
}

/// Each element several times.
Values ops_repeat(Call& c) {
  auto x = c.tensor();
  if (!c.given("axis")) x = c.reshape(x, {-1});
  const auto rank = c.rank(x);
  const auto n = ints_of(c, "repeats", 1);
  if (!rank || !n) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank);
  const auto extent = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
  if (!extent) return Failure{};
  if (n->size() != 1 || n->front() < 0 || *extent > (1 << 20) || n->front() > (1 << 10)) return c.unpriced();
  Ints places;
  for (std::int64_t i = 0; i < *extent; ++i) places.insert(places.end(), static_cast<std::size_t>(n->front()), i);
  return one(c.emit(op("take"), {x, c.int_constant(places)}, {{"axis", *axis}}));
}

Values ops_pad(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const auto widths = json::array(c.setting("pad_width"));
  if (!rank || !widths) return rank ? c.unpriced() : Values(Failure{});
  Ints before, behind;
  for (const json::Element& e : *widths) {
    const auto pair = json::array(e);
    if (!pair || pair->size() != 2) return c.unpriced();
    before.push_back(json::integer(pair->at(0).value()).value_or(-1));
    behind.push_back(json::integer(pair->at(1).value()).value_or(-1));
  }
  if (static_cast<std::int64_t>(before.size()) != *rank) return c.unpriced();
  before.insert(before.end(), behind.begin(), behind.end());
  const std::string_view mode = c.text_or("mode", "constant");
  return one(c.emit(op("nn.pad"), {x, c.int_constant(before)},
                    {{"mode", std::string(mode == "constant" ? "constant"
                                          : mode == "edge"   ? "edge"
                                                             : "reflect")}}));
}

Values ops_flip(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  Ints axes = c.list_or("axis", {});
  for (std::int64_t a = 0; !c.given("axis") && a < *rank; ++a) axes.push_back(a);
  return one(c.emit(op("reverse"), {x}, {{"axis", axes}}));
}

Values ops_roll(Call& c) {
  const Ints shift = c.list_or("shift", {}), axis = c.list_or("axis", {});
  if (shift.size() != axis.size()) return c.unpriced();
  Operand x = c.tensor();
  for (std::size_t i = 0; i < axis.size(); ++i) x = c.emit(op("roll"), {x}, {{"axis", axis[i]}, {"shift", shift[i]}});
  return one(x);
}

/// Tril, Triu.
Values ops_triangle(Call& c) {
  return one(c.emit(op("trilu"), {c.tensor(), c.number(static_cast<double>(c.integer_or("k", 0)), DType::Int64)},
                    {{"upper", std::int64_t{c.layer.class_name == "Triu"}}}));
}

/// keras.ops.image.resize: size (height, width).
Values ops_resize(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const auto size = c.ints("size", 2, -1);
  if (!rank || !size) return Failure{};
  if (*rank < 3) return c.error(fmt::format("data of rank {}", *rank));
  const std::int64_t first = c.channels_last() ? *rank - 3 : *rank - 2;
  const std::string_view how = c.text_or("interpolation", "bilinear");
  return one(c.emit(op("image.resize2d"), {x, ValueId{}, ValueId{}, c.int_constant(*size)},
                    {{"axes", Ints{first, first + 1}},
                     {"mode", std::string(how == "nearest"   ? "nearest"
                                          : how == "bicubic" ? "cubic"
                                                             : "linear")}}));
}

}  // namespace perfc::keras
