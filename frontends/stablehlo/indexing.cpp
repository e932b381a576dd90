/// Slices, gathers, updates and scatters at places that are computed.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/common/permutation.h"
#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

using Ints = Emitter::Ints;

/// Dims in which `part` is shorter than the whole.
Ints cut_dims(const Shape& whole, const Shape& part) {
  Ints out;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] != part[i]) out.push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

/// Start indices of these dims, operands from `first` on, as one vector.
Result<ValueId> starts_of(const Call& c, std::size_t first, const Ints& axes) {
  std::vector<Result<ValueId>> parts;
  bool known = true;
  Ints numbers;
  for (std::int64_t a : axes) {
    const std::size_t i = first + static_cast<std::size_t>(a);
    if (i >= c.operands.size()) return c.error("has too few start indices");
    const auto number = c.integer_of(i);
    known = known && number;
    numbers.push_back(number.value_or(0));
  }
  if (known) return c.int_constant(numbers);
  for (std::int64_t a : axes) {
    auto start = c.tensor(first + static_cast<std::size_t>(a));
    parts.push_back(c.cast(start ? c.reshape(*start, {1}) : start, DType::Int64));
  }
  return c.join(parts, 0);
}

Ints known_extents(const Shape& shape, const Ints& axes) {
  Ints out;
  for (std::int64_t a : axes) {
    const Dim& d = shape[static_cast<std::size_t>(a)];
    if (!d.known()) return {};
    out.push_back(d.value());
  }
  return out;
}

struct Bounds {
  ValueId start, end;
};

/// start and start + extent, clamped as far as they are known.
Result<Bounds> bounds(const Call& c, std::size_t first, const Ints& axes, const Shape& whole, const Ints& extents) {
  auto start = starts_of(c, first, axes);
  if (!start) return Failure{};
  const Data* d = c.data(*start);
  if (d && d->ints() && d->fully_known()) {
    Ints from, to;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const Dim& n = whole[static_cast<std::size_t>(axes[k])];
      const std::int64_t most = n.known() ? n.value() - extents[k] : INT64_MAX - extents[k];
      from.push_back(std::clamp<std::int64_t>((*d->ints())[k].value(), 0, std::max<std::int64_t>(most, 0)));
      to.push_back(from.back() + extents[k]);
    }
    return Bounds{c.int_constant(from), c.int_constant(to)};
  }
  auto end = c.emit(op("add"), {*start, c.int_constant(extents)});
  if (!end) return Failure{};
  return Bounds{*start, *end};
}

struct Numbers {
  Ints offset, collapsed, batching, index_batching, start_map;
  std::int64_t index_dim = 0;
};

/// The dimension numbers of a gather ("offset_dims", …) or scatter ("update_window_dims", …).
Numbers numbers_of(std::string_view text, bool scatters) {
  const auto list = [&](std::string_view key) {
    const auto value = field(text, key);
    return value ? integers(*value).value_or(Ints{}) : Ints{};
  };
  const Ints dim = list("index_vector_dim");
  return {.offset = list(scatters ? "update_window_dims" : "offset_dims"),
          .collapsed = list(scatters ? "inserted_window_dims" : "collapsed_slice_dims"),
          .batching = list(scatters ? "input_batching_dims" : "operand_batching_dims"),
          .index_batching = list(scatters ? "scatter_indices_batching_dims" : "start_indices_batching_dims"),
          .start_map = list(scatters ? "scatter_dims_to_operand_dims" : "start_index_map"),
          .index_dim = dim.empty() ? 0 : dim[0]};
}

/// Places with the vector of indices last: [places…, indices].
Result<ValueId> index_vectors(const Call& c, std::size_t i, const Numbers& n) {
  auto indices = c.tensor(i);
  const auto rank = static_cast<std::int64_t>(c.type(i).rank());
  const DType dtype = c.type(i).dtype();
  if (dtype != DType::Int32 && dtype != DType::Int64) indices = c.cast(indices, DType::Int64);
  if (n.index_dim == rank) return c.expand_dims(indices, {rank});
  Ints perm;
  for (std::int64_t a = 0; a < rank; ++a) {
    if (a != n.index_dim) perm.push_back(a);
  }
  perm.push_back(n.index_dim);
  return c.transposed(indices, perm);
}

/// Places whose vectors hold one index each, without the dim of the vectors.
Result<ValueId> single_indices(const Call& c, std::size_t i, const Numbers& n) {
  const Type& type = c.type(i);
  Value indices = c.operands[i];
  if (n.index_dim < static_cast<std::int64_t>(type.rank())) {
    Shape shape = type.shape();
    shape.erase(shape.begin() + n.index_dim);
    auto flat = c.reshaped(indices, Type::tensor(type.dtype(), std::move(shape)));
    if (!flat) return Failure{};
    indices = *flat;
  }
  auto out = c.tensor(indices);
  return type.dtype() == DType::Int32 || type.dtype() == DType::Int64 ? out : c.cast(out, DType::Int64);
}

/// Moves dims that follow the places to where the result has them: `offset` says which of its dims they are.
Ints places_first(const Ints& offset, std::size_t rank) {
  Ints perm(rank);
  const std::size_t places = rank - offset.size();
  std::size_t place = 0, part = places;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool is_part = std::ranges::find(offset, static_cast<std::int64_t>(i)) != offset.end();
    perm[i] = static_cast<std::int64_t>(is_part ? part++ : place++);
  }
  return perm;
}

/// One index per place, into one dim, of which one entry is taken: `take` along that dim.
Result<Values> take_entries(Call& c, const Numbers& n, const Ints& sizes) {
  const std::int64_t axis = n.start_map[0];
  auto data = c.tensor(0), indices = single_indices(c, 1, n);
  if (!data || !indices) return Failure{};
  const auto places = static_cast<std::int64_t>(c.type(*indices).rank());
  auto out = c.emit(op("take"), {*data, indices}, {{"axis", axis}});
  if (!out) return Failure{};
  // [before axis…, places…, behind axis…] → as offset_dims say. A dim that is kept has extent 1.
  const bool kept = n.collapsed.empty();
  const std::size_t parts = sizes.size() - 1;
  Ints perm;
  for (std::int64_t i = 0; i < places; ++i) perm.push_back(axis + i);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(parts); ++i) perm.push_back(i < axis ? i : places + i);
  Ints offset = n.offset;
  Result<ValueId> y = c.transposed(*out, perm);
  if (kept) y = c.expand_dims(y, {places + axis});
  return y ? one(c.whole(c.transposed(*y, places_first(offset, static_cast<std::size_t>(places) + offset.size()))))
           : Result<Values>(Failure{});
}

/// Batching dims and one indexed dim, all else of extent 1: take_along_axis.
bool along_axis(const Call& c, const Numbers& n, const Ints& sizes) {
  const std::size_t rank = c.type(0).rank();
  return n.start_map.size() == 1 && n.offset.empty() && n.batching.size() + 1 == rank && n.collapsed == n.start_map &&
         std::ranges::all_of(sizes, [](std::int64_t s) { return s == 1; }) &&
         n.index_dim == static_cast<std::int64_t>(c.type(1).rank()) - 1 && rank + 1 == c.type(1).rank();
}

Result<Values> gather_along(Call& c, const Numbers& n) {
  auto data = c.tensor(0), indices = single_indices(c, 1, n);
  if (!data || !indices) return Failure{};
  return one(c.whole(c.emit(op("gather"), {*data, indices}, {{"axis", n.start_map[0]}})));
}

/// Indexed dims in front, of which one entry is taken each; all others whole.
Result<Values> gather_nd(Call& c, const Numbers& n) {
  auto data = c.tensor(0), indices = index_vectors(c, 1, n);
  if (!data || !indices) return Failure{};
  Ints perm = n.start_map;
  for (std::int64_t a = 0; a < static_cast<std::int64_t>(c.type(0).rank()); ++a) {
    if (std::ranges::find(perm, a) == perm.end()) perm.push_back(a);
  }
  auto out = c.emit(op("gather_nd"), {c.transposed(*data, perm), indices});
  if (!out) return Failure{};
  if (n.collapsed.empty()) {  // what it indexes stays, with extent 1
    Ints kept = n.start_map;
    std::ranges::sort(kept);
    for (std::int64_t& axis : kept) axis += static_cast<std::int64_t>(c.type(*indices).rank()) - 1;
    out = c.expand_dims(out, kept);
    if (!out) return Failure{};
  }
  return one(c.whole(c.transposed(*out, places_first(n.offset, c.type(*out).rank()))));
}

}  // namespace

Result<Values> dynamic_slice(Call& c, const OpRow&) {
  auto sizes = c.required("slice_sizes", "sizes");
  auto x = c.tensor(0);
  if (!sizes || !x) return Failure{};
  const Shape whole = c.type(0).shape(), part(sizes->begin(), sizes->end());
  if (part.size() != whole.size()) return c.error("has sizes of another rank");
  const Ints axes = cut_dims(whole, part);
  if (axes.empty()) return Values{c.operands[0]};
  if (axes.size() == 1 && part[static_cast<std::size_t>(axes[0])].is(1) &&
      !c.integer_of(1 + static_cast<std::size_t>(axes[0]))) {
    // One entry: an index, which keeps the dim.
    auto start = c.tensor(1 + static_cast<std::size_t>(axes[0]));
    if (start && c.dtype(*start) != DType::Int32) start = c.cast(start, DType::Int64);
    auto entry = start ? c.reshape(*start, {1}) : start;
    return one(c.whole(c.emit(op("take"), {*x, entry}, {{"axis", axes[0]}})));
  }
  auto b = bounds(c, 1, axes, whole, known_extents(part, axes));
  if (!b) return Failure{};
  return one(c.whole(c.builder().value({.op = op("strided_slice"),
                                        .operands = {*x, b->start, b->end, c.int_constant(axes)},
                                        .declared = {Type::tensor(c.type(0).dtype(), part)},
                                        .name = c.name,
                                        .loc = c.loc})));
}

Result<Values> dynamic_update_slice(Call& c, const OpRow&) {
  auto x = c.tensor(0), update = c.tensor(1);
  if (!x || !update) return Failure{};
  const Shape whole = c.type(0).shape(), part = c.type(1).shape();
  if (part.size() != whole.size()) return c.error("updates with a part of another rank");
  const Ints axes = cut_dims(whole, part);
  if (axes.empty()) return Values{c.operands[1]};
  const Ints extents = known_extents(part, axes);
  if (extents.empty()) return c.unknown("updates parts of open extents");
  auto b = bounds(c, 2, axes, whole, extents);
  if (!b) return Failure{};
  auto out = c.emit(op("strided_set"),
                    {*x, b->start, b->end, c.int_constant(axes), c.int_constant(Ints(axes.size(), 1)), *update});
  if (!out) return Failure{};
  if (axes == Ints{0} && part[0].is(1)) c.scope.site.updates[*out] = {*x, *update};
  return Values{c.whole(*out)};
}

/// gather, dynamic_gather
Result<Values> gather(Call& c, const OpRow&) {
  const auto text = c.operation.find("dimension_numbers");
  if (!text) return c.error("has no dimension_numbers");
  const Numbers n = numbers_of(*text, false);
  auto sizes = c.ints("slice_sizes");
  if (!sizes && c.operands.size() > 2) sizes = c.ints_of(2);
  const Shape& shape = c.type(0).shape();
  if (!sizes || sizes->size() != shape.size()) return c.unknown("its slice sizes are computed");
  // Entries of extent 1 where it indexes, all else whole.
  bool entries = n.batching.empty() && n.index_batching.empty();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool indexed = std::ranges::find(n.start_map, static_cast<std::int64_t>(i)) != n.start_map.end();
    entries = entries && (indexed ? (*sizes)[i] == 1 : shape[i].is((*sizes)[i]) || !shape[i].known());
  }
  Ints sorted = n.collapsed;
  std::ranges::sort(sorted);
  Ints mapped = n.start_map;
  std::ranges::sort(mapped);
  if (entries && n.start_map.size() == 1 && (n.collapsed.empty() || sorted == mapped))
    return take_entries(c, n, *sizes);
  if (entries && (sorted == mapped || sorted.empty()) && !mapped.empty()) return gather_nd(c, n);
  if (along_axis(c, n, *sizes)) return gather_along(c, n);
  return c.unknown("takes parts that are neither single entries nor whole dims");
}

/// Updates of single entries of the indexed dims, all else whole.
Result<Values> scatter(Call& c, const OpRow&) {
  const auto text = c.operation.find("scatter_dimension_numbers");
  if (!text) return c.error("has no scatter_dimension_numbers");
  const Numbers n = numbers_of(*text, true);
  Ints inserted = n.collapsed, mapped = n.start_map;
  std::ranges::sort(inserted);
  std::ranges::sort(mapped);
  if (c.operands.size() != 3 || !n.batching.empty() || inserted != mapped || mapped.empty())
    return c.unknown("updates parts that are neither single entries nor whole dims");
  auto data = c.tensor(0), indices = index_vectors(c, 1, n), updates = c.tensor(2);
  if (!data || !indices || !updates) return Failure{};
  Ints perm = n.start_map;
  for (std::int64_t a = 0; a < static_cast<std::int64_t>(c.type(0).rank()); ++a) {
    if (std::ranges::find(perm, a) == perm.end()) perm.push_back(a);
  }
  Attrs attrs;
  if (!c.operation.regions.empty() && c.operation.regions[0].operations.size() == 2) {
    const std::string_view name = c.operation.regions[0].operations[0].name;
    if (name == "stablehlo.add") attrs.set("reduction", std::string("add"));
    if (name == "stablehlo.multiply") attrs.set("reduction", std::string("mul"));
    if (name == "stablehlo.maximum") attrs.set("reduction", std::string("max"));
    if (name == "stablehlo.minimum") attrs.set("reduction", std::string("min"));
  }
  const Ints order = inverse(places_first(n.offset, c.type(2).rank()));
  auto out = c.emit(op("scatter_nd"), {c.transposed(*data, perm), indices, c.transposed(*updates, order)}, attrs);
  return one(c.whole(c.transposed(out, inverse(perm))));
}

}  // namespace perfc::stablehlo
