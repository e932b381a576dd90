/// Data movement that joins, turns, shuffles, pads and cuts to triangles: always a copy.
#include <fmt/format.h>

#include "frontends/torch/translate.h"

namespace perfc::torch {

namespace {

/// Tensors of a list in one element type; empty ones of rank 1 (torch skips them) left out.
Result<std::vector<ValueId>> joined(Call& c) {
  const List* l = c.arg("tensors").list();
  if (!l) return c.error("'tensors' must be a list of tensors");
  DType d = DType::Undefined;
  auto all = c.tensors("tensors");
  if (!all) return Failure{};
  for (ValueId v : *all) d = promote(d, c.type(v).dtype());
  std::vector<ValueId> out;
  for (ValueId v : *all) {
    if (all->size() > 1 && c.type(v).ranked() && c.type(v).rank() == 1 && c.dim(v, 0).is(0)) continue;
    auto w = c.promote(v, d);
    if (!w) return Failure{};
    out.push_back(*w);
  }
  if (out.empty()) return c.error("joins nothing");
  return out;
}

}  // namespace

Values cat(Call& c) {
  auto all = joined(c);
  if (!all) return Failure{};
  const auto rank = c.rank(all->front());
  const auto dim = c.integer_or("dim", 0);
  if (!rank || !dim) return Failure{};
  const auto axis = c.axis(*dim, *rank);
  if (!axis) return Failure{};
  return single(c, c.emit(op("concatenate"), std::move(*all), {{"axis", static_cast<std::int64_t>(*axis)}}));
}
Values stack(Call& c) {
  auto all = joined(c);
  if (!all) return Failure{};
  const auto rank = c.rank(all->front());
  const auto dim = c.integer_or("dim", 0);
  if (!rank || !dim) return Failure{};
  const auto axis = c.axis(*dim, *rank + 1);
  if (!axis) return Failure{};
  const auto at = static_cast<std::int64_t>(*axis);
  for (ValueId& v : *all) {
    auto wide = c.expand_dims(v, {at});
    if (!wide) return Failure{};
    v = *wide;
  }
  return single(c, c.emit(op("concatenate"), std::move(*all), {{"axis", at}}));
}
/// hstack, vstack, dstack: concatenation once everything has 1, 2 or 3 dims.
Values stack_along(Call& c) {
  auto all = joined(c);
  if (!all) return Failure{};
  const std::string_view name = c.row->name;
  std::int64_t axis = name == "vstack" ? 0 : name == "dstack" ? 2 : 1;
  const std::size_t least = name == "vstack" ? 2 : name == "dstack" ? 3 : 1;
  for (ValueId& v : *all) {
    const auto rank = c.rank(v);
    if (!rank) return Failure{};
    if (name == "hstack" && *rank <= 1) axis = 0;
    if (*rank >= least) continue;
    std::vector<std::int64_t> axes;
    if (*rank == 0) axes.push_back(0);
    if (least >= 2 && *rank < 2) axes.push_back(0);
    if (least == 3) axes.push_back(2);
    for (std::int64_t a : axes) {
      auto wide = c.expand_dims(v, {a});
      if (!wide) return Failure{};
      v = *wide;
    }
  }
  return single(c, c.emit(op("concatenate"), std::move(*all), {{"axis", axis}}));
}

Values flip(Call& c) {
  auto v = c.tensor("self");
  const auto dims = c.ints("dims");
  if (!v || !dims) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto axes = c.axes(*dims, *rank);
  if (!axes) return Failure{};
  if (axes->empty()) return std::vector<Value>{c.args[0]};
  return single(c, c.emit(op("reverse"), {*v}, {{"axis", *axes}}));
}

/// Per dim a kernel: the last `shift` entries, then the others.
Values roll(Call& c) {
  auto v = c.tensor("self");
  const auto shifts = c.ints("shifts");
  if (!v || !shifts) return Failure{};
  auto dims = c.given("dims") ? c.ints("dims") : Result<std::vector<std::int64_t>>(std::vector<std::int64_t>{});
  if (!dims) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const Type whole = c.type(*v);
  const bool flat = dims->empty();
  if (flat) {
    v = c.reshape(*v, {-1});
    if (!v) return Failure{};
    *dims = {0};
  }
  if (dims->size() != shifts->size()) return c.error("'shifts' and 'dims' differ in length");
  for (std::size_t i = 0; i < dims->size(); ++i) {
    const auto axis = c.axis((*dims)[i], flat ? 1 : *rank);
    if (!axis) return Failure{};
    const std::int64_t shift = (*shifts)[i];
    if (shift == 0) continue;
    v = c.emit(op("roll"), {*v}, {{"shift", shift}, {"axis", static_cast<std::int64_t>(*axis)}});
    if (!v) return Failure{};
  }
  if (flat && whole.is_static()) {
    std::vector<std::int64_t> shape;
    for (const Dim& d : whole.shape()) shape.push_back(d.value());
    v = c.reshape(*v, shape);
  }
  return single(c, v);
}

Values rot90(Call& c) {
  auto v = c.tensor("self");
  const auto k = c.integer_or("k", 1);
  auto dims = c.spread("dims", 2, 0);
  if (!v || !k || !dims) return Failure{};
  if (!c.given("dims")) *dims = {0, 1};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto a = c.axis((*dims)[0], *rank), b = c.axis((*dims)[1], *rank);
  if (!a || !b) return Failure{};
  const std::int64_t turns = ((*k % 4) + 4) % 4;
  const auto reversed = [&](ValueId x, std::vector<std::int64_t> axes) {
    return c.emit(op("reverse"), {x}, {{"axis", std::move(axes)}});
  };
  const auto first = static_cast<std::int64_t>(*a), second = static_cast<std::int64_t>(*b);
  auto perm = identity(*rank);
  std::swap(perm[*a], perm[*b]);
  if (turns == 2) {
    v = reversed(*v, {first, second});
  } else if (turns != 0) {
    v = reversed(*v, {turns == 1 ? second : first});
    v = v ? c.transpose(*v, perm) : v;
  }
  return single(c, v);
}

Values pixel_shuffle(Call& c) {
  auto v = c.tensor("self");
  const bool up = std::string_view(c.row->name) == "pixel_shuffle";
  const auto factor = c.integer(up ? "upscale_factor" : "downscale_factor");
  if (!v || !factor) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (*rank != 4) return c.error(fmt::format("data of rank {}, 4 is needed", *rank));
  if (up) return single(c, c.emit(op("depth_to_space"), {*v}, {{"blocksize", *factor}, {"mode", std::string("CRD")}}));
  return single(c, c.emit(op("space_to_depth"), {*v}, {{"blocksize", *factor}, {"mode", std::string("CRD")}}));
}

/// (n, g·k, …) → (n, k·g, …)
Values channel_shuffle(Call& c) {
  auto v = c.tensor("self");
  const auto groups = c.integer("groups");
  if (!v || !groups) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto channels = c.known_dim(*v, 1, "the channels");
  if (!channels) return Failure{};
  if (*groups < 1 || *channels % *groups != 0)
    return c.error(fmt::format("{} channels in {} groups", *channels, *groups));
  auto split_shape =
      c.int_vector(dims_with(c, *v, *rank, 1, 1, {Scalar::of(*groups), Scalar::of(*channels / *groups)}));
  auto wide = split_shape ? c.emit(op("reshape"), {*v, *split_shape}) : split_shape;
  if (!wide) return Failure{};
  auto perm = identity(*rank + 1);
  std::swap(perm[1], perm[2]);
  auto y = c.transpose(*wide, std::move(perm));
  auto shape = c.int_vector(dims_with(c, *v, *rank, 1, 1, {Scalar::of(*channels)}));
  if (!y || !shape) return Failure{};
  return single(c, c.emit(op("reshape"), {*y, *shape}));
}

/// Pads named from the last dim on: (left, right, top, bottom, …).
Values pad(Call& c) {
  auto v = c.tensor("self");
  const List* l = c.arg("pad").list();
  if (!v) return Failure{};
  if (!l || l->items->size() % 2 != 0) return c.error("'pad' must be a list of pairs of ints");
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const std::size_t n = l->items->size() / 2;
  if (n > *rank) return c.error(fmt::format("pads {} dims of data of rank {}", n, *rank));
  const std::string_view name = c.row->name;
  std::string mode = c.text_or("mode", name.starts_with("reflection")    ? "reflect"
                                       : name.starts_with("replication") ? "replicate"
                                                                         : "constant");
  if (mode == "replicate") mode = "edge";
  if (mode == "circular") mode = "wrap";
  std::vector<Value> pads(2 * *rank, Scalar::of(std::int64_t{0}));
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t axis = *rank - 1 - i;
    pads[axis] = (*l->items)[2 * i];
    pads[*rank + axis] = (*l->items)[2 * i + 1];
  }
  auto operand = c.int_vector(pads);
  if (!operand) return Failure{};
  std::vector<ValueId> operands{*v, *operand};
  if (mode == "constant" && c.given("value")) {
    auto value = promoted(c, c.arg("value"), c.type(*v).dtype());
    if (!value) return Failure{};
    operands.push_back(*value);
  }
  return single(c, c.emit(op("nn.pad"), std::move(operands), mode == "constant" ? Attrs{} : Attrs{{"mode", mode}}));
}

Values triangle(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const bool upper = std::string_view(c.row->name) == "triu";
  std::vector<ValueId> operands{*v};
  if (c.given("diagonal")) {
    auto k = promoted(c, c.arg("diagonal"), DType::Int64);
    if (!k) return Failure{};
    if (!(c.data(*k) && c.data(*k)->ints() && (*c.data(*k)->ints())[0].is(0))) operands.push_back(*k);
  }
  return single(c, c.emit(op("trilu"), std::move(operands), {{"upper", static_cast<std::int64_t>(upper)}}));
}

}  // namespace perfc::torch
