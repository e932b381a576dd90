/// Views, and what repeats or takes parts of data.
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

/// A bound of a slice as an operand of one element.
Result<ValueId> bound(Call& c, std::string_view name, std::int64_t fallback) {
  if (!c.given(name)) return c.int_constant({fallback});
  return c.int_vector({c.arg(name)});
}

struct SelfAxis {
  ValueId self;
  std::size_t rank;
  std::size_t axis;
};
Result<SelfAxis> self_axis(Call& c, std::int64_t fallback = 0) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  const auto dim = c.integer_or("dim", fallback);
  if (!rank || !dim) return Failure{};
  const auto axis = c.axis(*dim, *rank);
  if (!axis) return Failure{};
  return SelfAxis{*v, *rank, *axis};
}

/// Parts [begin, end) along an axis, as views.
Values parts(Call& c, const SelfAxis& s, const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
  const TensorRef* self = c.arg("self").tensor();
  if (!self) return c.error("'self' must be a tensor");
  if (ranges.empty()) return c.error("splits into nothing");
  // One call makes all of them; each is a slice when its memory is written.
  std::vector<std::int64_t> sizes;
  for (const auto& [begin, end] : ranges) sizes.push_back(end - begin);
  const Dim extent = c.dim(s.self, s.axis);
  const bool even =
      extent.known() && std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n == sizes[0]; });
  std::vector<ValueId> operands{s.self};
  if (!even) operands.push_back(c.int_constant(sizes));
  auto all = c.emit_all(op("split"), std::move(operands), {{"axis", static_cast<std::int64_t>(s.axis)}}, ranges.size());
  if (!all) return Failure{};
  std::vector<Value> out;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto t = std::make_shared<Tensor>();
    t->storage = (*self)->storage;
    t->views = (*self)->views;
    t->views.push_back({op("strided_slice"),
                        {c.int_constant({ranges[i].first}), c.int_constant({ranges[i].second}),
                         c.int_constant({static_cast<std::int64_t>(s.axis)}), c.int_constant({1})},
                        {},
                        c.type(s.self)});
    t->value = (*all)[i];
    t->version = (*self)->storage->version;
    out.emplace_back(t);
  }
  return std::vector<Value>{Value::list(std::move(out))};
}

constexpr std::size_t kMaxParts = 65536;

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

/// repeat(self, repeats) and tile(self, dims).
Values repeat(Call& c) {
  auto v = c.tensor("self");
  const List* l = c.arg("repeats").list();
  if (!v) return Failure{};
  if (!l) return c.error("'repeats' must be a list of ints");
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  std::vector<Value> times = *l->items;
  while (times.size() < *rank) times.insert(times.begin(), Scalar::of(std::int64_t{1}));
  if (times.size() > *rank) {
    std::vector<std::int64_t> axes(times.size() - *rank);
    std::iota(axes.begin(), axes.end(), 0);
    v = c.expand_dims(*v, axes);
    if (!v) return Failure{};
  }
  auto repeats = c.int_vector(times);
  return repeats ? single(c, c.emit(op("tile"), {*v, *repeats})) : Failure{};
}

namespace {

/// Of counts for every entry, the numbers of the entries, each so often: how many running sums of the counts are not
/// above a place. One kernel after the sums (aten/src/ATen/native/Repeat.cpp), of as many places as `output_size` or
/// the last sum says.
Result<ValueId> repeated_entries(Call& c, ValueId counts) {
  const auto rank = c.rank(counts);
  if (!rank) return Failure{};
  if (*rank != 1) return c.error(fmt::format("'repeats' has {} dims, must be a vector or one number", *rank));
  const Dim many = c.dim(counts, 0);
  const auto whole = c.cast(counts, DType::Int64);
  auto sums = whole ? c.emit(op("cumsum"), {*whole, c.number(0, DType::Int64)}) : whole;
  if (!sums) return Failure{};
  Result<ValueId> places = Failure{};
  if (c.given("output_size")) {
    const auto total = c.integer_or("output_size", 0);
    if (!total) return Failure{};
    places = c.number(static_cast<double>(*total), DType::Int64);
  } else if (many.is(0)) {
    places = c.number(0, DType::Int64);
  } else {
    const InsideKernel of_host(c);  // item() of the last sum
    places = c.emit(op("take"), {*sums, c.number(-1, DType::Int64)}, {{"axis", std::int64_t{0}}});
  }
  if (!places) return Failure{};
  const auto marks = [&]() -> Result<ValueId> {
    const InsideKernel of_places(c);
    auto place = c.emit(op("arange"), {c.number(0, DType::Int64), *places, c.number(1, DType::Int64)});
    auto wide = place ? c.expand_dims(*place, {1}) : place;
    auto passed = wide ? c.emit(op("less_equal"), {*sums, *wide}) : wide;
    return passed ? c.cast(*passed, DType::Int64) : passed;
  };
  const auto passed = marks();
  return passed ? c.emit(op("sum_axes"), {*passed, c.int_constant({-1})}, {{"keepdims", std::int64_t{0}}}) : passed;
}

}  // namespace

/// The indices alone: repeat_interleave.Tensor.
Values repeated_indices(Call& c) {
  const auto counts = c.tensor("repeats");
  return counts ? single(c, repeated_entries(c, *counts)) : Failure{};
}

/// Every element so many times: a broadcast between two reshapes. With a count for each, entries by their numbers.
Values repeat_interleave(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (!c.given("dim")) {
    v = c.reshape(*v, {-1});
    if (!v) return Failure{};
    rank = 1;
  }
  const auto dim = c.integer_or("dim", 0);
  if (!dim) return Failure{};
  const auto axis = c.axis(*dim, *rank);
  if (!axis) return Failure{};
  const Value& times = c.arg("repeats");
  Scalar n;
  if (const Scalar* s = times.scalar()) {
    n = *s;
  } else {
    auto t = c.tensor("repeats");
    if (!t) return Failure{};
    n = c.scalar_of(*t, DType::Int64);
    const Type& type = c.type(*t);
    const bool one = type.is_tensor() && type.ranked() && (type.rank() == 0 || type.shape()[0].is(1));
    if (!one || !n.integer.known()) {
      auto counts = t;
      if (one) {  // as many of each
        const auto flat = c.reshape(*t, {1});
        const auto entries = c.int_vector(std::vector<Value>{c.size_of(*v, *axis)});
        counts = flat && entries ? c.emit(op("broadcast_to"), {*flat, *entries}) : Result<ValueId>(Failure{});
      }
      auto entries = counts ? repeated_entries(c, *counts) : counts;
      return entries ? single(c, c.emit(op("take"), {*v, *entries}, {{"axis", static_cast<std::int64_t>(*axis)}}))
                     : Failure{};
    }
    auto vector = c.reshape(*t, {1});
    if (!vector) return Failure{};
    n.origin = *vector;
  }
  auto wide = c.expand_dims(*v, {static_cast<std::int64_t>(*axis) + 1});
  if (!wide) return Failure{};
  auto target = c.int_vector(dims_with(c, *wide, *rank + 1, *axis + 1, *axis + 1, {n}));
  auto view = target ? c.emit(op("broadcast_to"), {*wide, *target}) : target;
  if (!view) return Failure{};
  // aten/src/ATen/native/Repeat.cpp: repeated so many times each, it is a copy in any case.
  auto spread = c.emit(op("clone"), {*view}, {{"contiguous", std::int64_t{1}}});
  if (!spread) return Failure{};
  const Dim extent = c.dim(*v, *axis);
  std::vector<Value> merged = dims_with(c, *v, *rank, *axis, *axis, {Scalar::of(std::int64_t{-1})});
  if (extent.known() && n.literal() && n.integer.known()) {
    merged[*axis] = Scalar::of(extent.value() * n.integer.value());
  }
  auto shape = c.int_vector(merged);
  return shape ? single(c, c.emit(op("reshape"), {*spread, *shape})) : Failure{};
}

Values slice(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const auto step = c.integer_or("step", 1);
  auto start = bound(c, "start", 0), end = bound(c, "end", kEnd);
  if (!step || !start || !end) return Failure{};
  if (*step < 1) return c.error(fmt::format("slices in steps of {}", *step));
  const Data *first = c.data(*start), *last = c.data(*end);
  const auto known = [](const Data* d, auto test) {
    return d && d->ints() && (*d->ints())[0].known() && test((*d->ints())[0].value());
  };
  const Dim extent = c.dim(s->self, s->axis);
  const bool all = *step == 1 && known(first, [](std::int64_t v) {
    return v == 0;
  }) && known(last, [&](std::int64_t v) { return v >= INT32_MAX || (extent.known() && v >= extent.value()); });
  if (all && c.arg("self").tensor()) return std::vector<Value>{c.args[0]};
  return c.view_result("self", op("strided_slice"),
                       {*start, *end, c.int_constant({static_cast<std::int64_t>(s->axis)}), c.int_constant({*step})});
}
/// [start, start + length) along a dim.
Values narrow(Call& c) {
  const auto s = self_axis(c);
  const auto start = c.integer("start"), length = c.integer("length");
  if (!s || !start || !length) return Failure{};
  const std::int64_t first =
      *start < 0 && c.dim(s->self, s->axis).known() ? *start + c.dim(s->self, s->axis).value() : *start;
  return c.view_result("self", op("strided_slice"),
                       {c.int_constant({first}), c.int_constant({first + *length}),
                        c.int_constant({static_cast<std::int64_t>(s->axis)}), c.int_constant({1})});
}
Values select(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  if (s->rank == 0) return c.error("takes an item of a tensor without dims");
  const Attrs attrs{{"axis", static_cast<std::int64_t>(s->axis)}};
  const Value& index = c.arg("index");
  if (const Scalar* i = index.scalar(); i && i->literal() && i->integer.known()) {
    const Dim extent = c.dim(s->self, s->axis);
    if (extent.known() && (i->integer.value() < -extent.value() || i->integer.value() >= extent.value())) {
      return c.error(fmt::format("index {} is out of range for {} entries", i->integer.value(), extent.value()));
    }
    return c.view_result("self", op("take"), {c.number(static_cast<double>(i->integer.value()), DType::Int64)}, attrs);
  }
  auto i = promoted(c, index, DType::Int64);
  if (!i) return Failure{};
  return c.view_result("self", op("take"), {*i}, attrs);
}

/// Sizes of the parts of an extent; those that follow from data (tokens by expert) share what the others leave.
Result<std::vector<std::int64_t>> part_sizes(Call& c, std::int64_t extent) {
  const auto given = c.symbolic_ints("split_size");
  if (!given) return Failure{};
  std::int64_t left = extent, unknown = 0;
  for (const SymInt& size : *given) {
    if (!size.known()) {
      ++unknown;
      continue;
    }
    if (size.value() < 0 || size.value() > left)
      return c.error(fmt::format("sizes do not add up to the extent {}", extent));
    left -= size.value();
  }
  if (unknown > 0) {
    c.warning(fmt::format("the sizes of {} parts follow from data; taken as equal, {} in all", unknown, left));
  } else if (left > 0) {
    return c.error(fmt::format("sizes add up to {}, the extent is {}", extent - left, extent));
  }
  std::vector<std::int64_t> out;
  for (const SymInt& size : *given) {
    out.push_back(size.known() ? size.value() : (left + unknown - 1) / unknown);
    if (size.known()) continue;
    left -= out.back();
    --unknown;
  }
  return out;
}

Values split(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const List* sizes = c.arg("split_size").list();
  const bool whole = sizes && sizes->items->size() == 1 && !c.dim(s->self, s->axis).known();
  if (whole) return std::vector<Value>{Value::list({c.arg("self")})};  // one part, however large it turns out to be
  const auto extent = c.known_dim(s->self, s->axis, "the extent to split");
  if (!extent) return Failure{};
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  const std::string_view name = c.row->name;
  if (name == "chunk" || name == "unsafe_chunk" || name == "tensor_split") {
    const bool even = name == "tensor_split";
    if (even && c.arg("chunks").list()) {
      const auto at = c.ints("chunks");
      if (!at) return Failure{};
      std::int64_t begin = 0;
      for (std::int64_t i : *at) {
        const std::int64_t end = std::clamp<std::int64_t>(i < 0 ? i + *extent : i, begin, *extent);
        ranges.emplace_back(begin, end);
        begin = end;
      }
      ranges.emplace_back(begin, *extent);
      return parts(c, *s, ranges);
    }
    const auto n = c.integer("chunks");
    if (!n) return Failure{};
    if (*n < 1 || *n > static_cast<std::int64_t>(kMaxParts)) return c.error(fmt::format("splits into {} parts", *n));
    if (even) {
      std::int64_t begin = 0;
      for (std::int64_t i = 0; i < *n; ++i) {
        const std::int64_t end = begin + *extent / *n + (i < *extent % *n ? 1 : 0);
        ranges.emplace_back(begin, end);
        begin = end;
      }
    } else {
      const std::int64_t size = std::max<std::int64_t>((*extent + *n - 1) / *n, 1);
      for (std::int64_t b = 0; b < *extent; b += size) ranges.emplace_back(b, std::min(b + size, *extent));
      if (ranges.empty()) ranges.assign(static_cast<std::size_t>(*n), {0, 0});
    }
    return parts(c, *s, ranges);
  }
  if (sizes) {
    const auto each = part_sizes(c, *extent);
    if (!each) return Failure{};
    std::int64_t begin = 0;
    for (std::int64_t n : *each) {
      ranges.emplace_back(begin, begin + n);
      begin += n;
    }
    return parts(c, *s, ranges);
  }
  const auto size = c.integer("split_size");
  if (!size) return Failure{};
  if (*size < 1 || *extent / *size > static_cast<std::int64_t>(kMaxParts))
    return c.error(fmt::format("splits {} into parts of {}", *extent, *size));
  for (std::int64_t b = 0; b < *extent; b += *size) ranges.emplace_back(b, std::min(b + *size, *extent));
  if (ranges.empty()) ranges.emplace_back(0, 0);
  return parts(c, *s, ranges);
}

Values unbind(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const auto extent = c.known_dim(s->self, s->axis, "the extent to unbind");
  if (!extent) return Failure{};
  if (*extent > static_cast<std::int64_t>(kMaxParts)) return c.error(fmt::format("unbinds {} entries", *extent));
  const TensorRef* self = c.arg("self").tensor();
  if (!self) return c.error("'self' must be a tensor");
  std::vector<Value> out;
  const Attrs attrs{{"axis", static_cast<std::int64_t>(s->axis)}};
  for (std::int64_t i = 0; i < *extent; ++i) {
    auto v = c.view(*self, op("take"), {c.number(static_cast<double>(i), DType::Int64)}, attrs);
    if (!v) return Failure{};
    out.push_back(*std::move(v));
  }
  return std::vector<Value>{Value::list(std::move(out))};
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

/// as_strided where it is no more than the data themselves, reshaped.
Values as_strided(Call& c) {
  auto v = c.tensor("self");
  const auto size = c.ints("size"), stride = c.ints("stride");
  if (!v || !size || !stride) return Failure{};
  if (size->size() != stride->size())
    return c.error(fmt::format("has {} sizes and {} strides", size->size(), stride->size()));
  const auto offset = c.integer_or("storage_offset", 0);
  if (!offset) return Failure{};
  const auto count = c.type(*v).elements();
  std::int64_t expected = 1;
  bool contiguous = *offset == 0;
  for (std::size_t i = size->size(); contiguous && i-- > 0;) {
    contiguous = (*size)[i] == 1 || (*stride)[i] == expected;
    if (__builtin_mul_overflow(expected, (*size)[i], &expected)) contiguous = false;
  }
  if (contiguous && count == expected) return c.view_result("self", op("reshape"), {c.int_constant(*size)});
  // A gather of every element that the strides reach.
  std::int64_t total = 1;
  for (std::int64_t n : *size) {
    if (n < 1 || __builtin_mul_overflow(total, n, &total) || total > Data::kMaxElements)
      return c.error("strides that perfc cannot follow");
  }
  std::vector<SymInt> places;
  std::vector<std::int64_t> at(size->size(), 0);
  for (std::int64_t k = 0; k < total; ++k) {
    std::int64_t place = *offset, rest = k;
    for (std::size_t i = size->size(); i-- > 0;) {
      std::int64_t step = 0;
      if (__builtin_mul_overflow(rest % (*size)[i], (*stride)[i], &step) || __builtin_add_overflow(place, step, &place))
        return c.error("strides reach beyond the data");
      rest /= (*size)[i];
    }
    if (place < 0 || (count && place >= *count)) return c.error("strides reach beyond the data");
    places.emplace_back(place);
  }
  auto data = std::make_shared<Data>();
  data->elements = std::move(places);
  Shape shape;
  for (std::int64_t n : *size) shape.emplace_back(n);
  auto flat = c.reshape(*v, {-1});
  return flat ? single(c, c.emit(op("take"), {*flat, c.constant({Type::tensor(DType::Int64, shape), data})},
                                 {{"axis", std::int64_t{0}}}))
              : Failure{};
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
