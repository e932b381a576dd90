/// Views of all of the data: other dims, another order, broadcast.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/torch/strides.h"
#include "frontends/torch/translate.h"

namespace perfc::torch {

std::vector<std::int64_t> identity(std::size_t rank) {
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

Result<SelfAxis> self_axis(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  const auto dim = c.integer_or("dim", 0);
  if (!rank || !dim) return Failure{};
  const auto axis = c.axis(*dim, *rank);
  if (!axis) return Failure{};
  return SelfAxis{*v, *rank, *axis};
}

std::vector<Value> dims_with(Call& c, ValueId v, std::size_t rank, std::size_t first, std::size_t last,
                             const std::vector<Value>& in_place) {
  std::vector<Value> out;
  for (std::size_t i = 0; i < first; ++i) out.emplace_back(c.size_of(v, i));
  out.insert(out.end(), in_place.begin(), in_place.end());
  for (std::size_t i = last + 1; i < rank; ++i) out.emplace_back(c.size_of(v, i));
  return out;
}

namespace {

Values view_transposed(Call& c, std::vector<std::int64_t> perm) {
  return c.view_result("self", op("transpose"), {}, {{"perm", std::move(perm)}});
}

/// A view where PyTorch's reshape is one; a tensor of its own where it copies.
Values view_or_copy(Call& c, const Value& before, Values made) {
  const std::string_view name = c.row->name;
  if (!made || name == "view" || name == "_unsafe_view" || name == "view_as") return made;
  const TensorRef *self = before.tensor(), *result = (*made)[0].tensor();
  if (!self || !result || (*self)->views.empty()) return made;
  const auto strides = strides_of(c.builder(), **self);
  if (strides && !viewed(c.type((*self)->value).shape(), *strides, c.type((*result)->value).shape())) {
    return std::vector<Value>{Call::fresh((*result)->value)};
  }
  return made;
}

/// A reshape to dims of which some may be computed; torch's 0 is no dim to copy.
Values reshaped(Call& c, std::string_view self, const std::vector<Value>& dims) {
  auto shape = c.int_vector(dims);
  if (!shape) return Failure{};
  const bool zero =
      std::any_of(dims.begin(), dims.end(), [](const Value& v) { return v.scalar() && v.scalar()->integer.is(0); });
  return view_or_copy(
      c, c.arg(self),
      c.view_result(self, op("reshape"), {*shape}, zero ? Attrs{{"allowzero", std::int64_t{1}}} : Attrs{}));
}

/// The same memory as elements of another type.
Values reinterpreted(Call& c, std::string_view parameter) {
  auto v = c.tensor("self");
  const auto to = c.dtype_or(parameter, DType::Undefined);
  if (!v || !to) return Failure{};
  const DType from = c.type(*v).dtype();
  if (from != DType::Undefined && bits(from) != bits(*to)) {
    return c.error(
        fmt::format("reads the memory of {} as {}, of another width, which is not supported; export what "
                    "computes it without the view",
                    name(from), name(*to)));
  }
  return single(c, c.emit(op("bitcast"), {*v}, {{"to", std::string(name(*to))}}));
}

}  // namespace

Values view(Call& c) {
  if (c.arg("size").scalar() && !c.arg("size").list()) return reinterpreted(c, "size");
  const List* l = c.arg("size").list();
  if (!l) return c.error(fmt::format("'size' must be a list of ints, is {}", c.arg("size").kind()));
  return reshaped(c, "self", *l->items);
}
Values view_as_type(Call& c) { return reinterpreted(c, "dtype"); }
/// The tensor itself where it lies in order; else a copy of it, with memory of its own.
Values contiguous(Call& c) {
  const TensorRef* self = c.arg("self").tensor();
  if (!self) return c.error("needs a tensor");
  const auto strides = strides_of(c.builder(), **self);
  auto v = c.read(*self);
  if (!v) return Failure{};
  if (strides && strides != contiguous_strides(c.type(*v).shape())) return single(c, c.emit(op("contiguous"), {*v}));
  return c.view_result("self", op("contiguous"), {});
}
Values reshape_as(Call& c) {
  auto other = c.tensor("other");
  if (!other) return Failure{};
  const auto rank = c.rank(*other);
  if (!rank) return Failure{};
  return reshaped(c, "self", dims_with(c, *other, *rank, *rank, *rank, {}));
}
Values flatten(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (*rank == 0) return c.view_result("self", op("reshape"), {c.int_constant({1})});
  const auto from = c.integer_or("start_dim", 0), to = c.integer_or("end_dim", -1);
  if (!from || !to) return Failure{};
  const auto first = c.axis(*from, *rank), last = c.axis(*to, *rank);
  if (!first || !last) return Failure{};
  if (*first > *last) return c.error(fmt::format("flattens from dim {} to dim {}", *first, *last));
  if (*first == *last) return std::vector<Value>{c.args[0]};
  // Numbers that are known are written, for -1 says nothing where another dim is open.
  const Type type = c.type(*v);
  const Shape& shape = type.shape();
  const auto known = element_count(Shape(shape.begin() + *first, shape.begin() + *last + 1));
  const std::int64_t extent = type.is_static() ? -1 : known.value_or(-1);
  return reshaped(c, "self", dims_with(c, *v, *rank, *first, *last, {Scalar::of(extent)}));
}
Values unflatten(Call& c) {
  const auto s = self_axis(c);
  const List* sizes = c.arg("sizes").list();
  if (!s) return Failure{};
  if (!sizes) return c.error("'sizes' must be a list of ints");
  return reshaped(c, "self", dims_with(c, s->self, s->rank, s->axis, s->axis, *sizes->items));
}

Values squeeze(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  std::vector<std::int64_t> asked;
  const bool all = !c.given("dim");
  if (all) {
    for (std::size_t i = 0; i < *rank; ++i) asked.push_back(static_cast<std::int64_t>(i));
  } else {
    const auto dims = c.ints("dim");
    if (!dims) return Failure{};
    asked = *dims;
  }
  // Only dims of 1 go.
  std::vector<std::int64_t> axes;
  for (std::int64_t d : asked) {
    if (*rank == 0) break;
    const auto a = c.axis(d, *rank);
    if (!a) return Failure{};
    const Dim extent = c.dim(*v, *a);
    if (extent.is(1)) axes.push_back(static_cast<std::int64_t>(*a));
    else if (!extent.known() && !all && !extent.symbolic())
      return c.error("whether a dim is squeezed is not known when importing");
  }
  if (axes.empty()) return std::vector<Value>{c.args[0]};
  return c.view_result("self", op("squeeze"), {c.int_constant(axes)});
}
Values unsqueeze(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto axis = c.axis("dim", *rank + 1);
  if (!axis) return Failure{};
  return c.view_result("self", op("expand_dims"), {c.int_constant({static_cast<std::int64_t>(*axis)})});
}

Values permute(Call& c) {
  auto v = c.tensor("self");
  const auto dims = c.ints("dims");
  if (!v || !dims) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (dims->size() != *rank)
    return c.error(fmt::format("'dims' has {} entries, the data have rank {}", dims->size(), *rank));
  auto perm = c.axes(*dims, *rank);
  if (!perm) return Failure{};
  return view_transposed(c, *std::move(perm));
}
Values transpose(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto a = c.axis("dim0", *rank), b = c.axis("dim1", *rank);
  if (!a || !b) return Failure{};
  if (*a == *b) return std::vector<Value>{c.args[0]};
  auto perm = identity(*rank);
  std::swap(perm[*a], perm[*b]);
  return view_transposed(c, std::move(perm));
}
/// t, numpy_T, mT: the last two dims, or all of them, swapped.
Values matrix_transpose(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (*rank < 2) return std::vector<Value>{c.args[0]};
  auto perm = identity(*rank);
  if (std::string_view(c.row->name) == "numpy_T") std::reverse(perm.begin(), perm.end());
  else std::swap(perm[*rank - 1], perm[*rank - 2]);
  return view_transposed(c, std::move(perm));
}
Values movedim(Call& c) {
  auto v = c.tensor("self");
  const auto from = c.ints("source"), to = c.ints("destination");
  if (!v || !from || !to) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (from->size() != to->size()) return c.error("'source' and 'destination' differ in length");
  std::vector<std::int64_t> perm(*rank, -1);
  std::vector<bool> used(*rank, false);
  for (std::size_t i = 0; i < from->size(); ++i) {
    const auto a = c.axis((*from)[i], *rank), b = c.axis((*to)[i], *rank);
    if (!a || !b) return Failure{};
    perm[*b] = static_cast<std::int64_t>(*a);
    used[*a] = true;
  }
  std::size_t next = 0;
  for (std::int64_t& p : perm) {
    if (p >= 0) continue;
    while (next < *rank && used[next]) ++next;
    p = static_cast<std::int64_t>(next++);
  }
  return view_transposed(c, std::move(perm));
}

Values expand(Call& c) {
  auto v = c.tensor("self");
  const List* size = c.arg("size").list();
  if (!v) return Failure{};
  if (!size) return c.error("'size' must be a list of ints");
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (size->items->size() < *rank) return c.error("expands to fewer dims than the data have");
  // −1 keeps the dim.
  std::vector<Value> target = *size->items;
  const std::size_t lead = target.size() - *rank;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const Scalar* s = target[i].scalar();
    if (s && s->integer.is(-1) && i >= lead) target[i] = c.size_of(*v, i - lead);
  }
  auto shape = c.int_vector(target);
  return shape ? c.view_result("self", op("broadcast_to"), {*shape}) : Failure{};
}
Values expand_as(Call& c) {
  auto other = c.tensor("other");
  auto shape = other ? c.shape_of(*other) : other;
  return shape ? c.view_result("self", op("broadcast_to"), {*shape}) : Failure{};
}
Values broadcast_tensors(Call& c) {
  auto all = c.tensors("tensors");
  if (!all) return Failure{};
  std::vector<ValueId> shapes;
  std::vector<ValueId> out;
  if (all->empty()) return c.error("no tensors");
  // The shape of their sum, without adding: each broadcasts against all others' shapes.
  for (ValueId v : *all) {
    ValueId wide = v;
    for (ValueId other : *all) {
      if (other == v) continue;
      auto shape = c.shape_of(other);
      auto next = shape ? c.emit(op("broadcast_to"), {wide, *shape}) : shape;
      if (!next) return Failure{};
      wide = *next;
    }
    out.push_back(wide);
  }
  return c.list(out);
}

Values diag(Call& c) {
  auto v = c.tensor("self");
  const auto rank = v ? c.rank(*v) : Result<std::size_t>(Failure{});
  if (!rank) return Failure{};
  return *rank == 1 ? diag_embed(c) : diagonal(c);
}

Values diagonal(Call& c) {
  auto v = c.tensor("self");
  const auto offset = c.integer_or("offset", 0), first = c.integer_or("dim1", 0), second = c.integer_or("dim2", 1);
  if (!v || !offset || !first || !second) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto a = c.axis(*first, *rank), b = c.axis(*second, *rank);
  if (!a || !b) return Failure{};
  const auto rows = c.known_dim(*v, *a, "an extent of the matrices"),
             columns = c.known_dim(*v, *b, "an extent of the matrices");
  if (!rows || !columns) return Failure{};
  const std::int64_t down = *offset < 0 ? -*offset : 0, right = *offset > 0 ? *offset : 0;
  const std::int64_t n = std::max<std::int64_t>(std::min(*rows - down, *columns - right), 0);
  if (n == 0) return c.error("the diagonal is empty");
  // The two dims to the back, as one; then a slice in steps of a row and one.
  std::vector<std::int64_t> perm;
  for (std::size_t i = 0; i < *rank; ++i) {
    if (i != *a && i != *b) perm.push_back(static_cast<std::int64_t>(i));
  }
  perm.push_back(static_cast<std::int64_t>(*a));
  perm.push_back(static_cast<std::int64_t>(*b));
  auto y = c.transpose(*v, perm);
  if (!y) return Failure{};
  auto shape = c.int_vector(dims_with(c, *y, *rank, *rank - 2, *rank - 1, {Scalar::of(*rows * *columns)}));
  auto flat = shape ? c.emit(op("reshape"), {*y, *shape}) : shape;
  if (!flat) return Failure{};
  const std::int64_t begin = down * *columns + right;
  return single(c, c.slice(*flat, *rank - 2, begin, begin + (n - 1) * (*columns + 1) + 1, *columns + 1));
}

Values meshgrid(Call& c) {
  auto all = c.tensors("tensors");
  if (!all) return Failure{};
  const bool xy = c.text_or("indexing", "ij") == "xy" && all->size() >= 2;
  std::vector<ValueId> in = *all;
  if (xy) std::swap(in[0], in[1]);
  std::vector<Value> extents;
  for (ValueId& v : in) {
    const auto rank = c.rank(v);
    if (!rank) return Failure{};
    if (*rank == 0) {
      auto w = c.reshape(v, {1});
      if (!w) return Failure{};
      v = *w;
    }
    extents.emplace_back(c.size_of(v, 0));
  }
  auto target = c.int_vector(extents);
  if (!target) return Failure{};
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::vector<std::int64_t> shape(in.size(), 1);
    shape[i] = -1;
    auto column = c.reshape(in[i], shape);
    auto grid = column ? c.emit(op("broadcast_to"), {*column, *target}) : column;
    if (!grid) return Failure{};
    out.push_back(*grid);
  }
  if (xy) std::swap(out[0], out[1]);
  return c.list(out);
}

}  // namespace perfc::torch
