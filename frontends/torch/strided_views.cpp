/// torch.as_strided: any dims and strides over a tensor's memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "frontends/torch/strides.h"
#include "frontends/torch/translate.h"

namespace perfc::torch {

namespace {

using Ints = std::vector<std::int64_t>;

struct StridedDim {
  std::int64_t size, stride;
  std::size_t position;  ///< among the result's dims
};

/// Elements from the first to the last that these dims reach, both counted; nothing beyond 64 bits.
std::optional<std::int64_t> reach(std::span<const StridedDim> dims) {
  std::int64_t out = 1;
  for (const StridedDim& d : dims) {
    std::int64_t step = 0;
    if (__builtin_mul_overflow(d.size - 1, d.stride, &step) || __builtin_add_overflow(out, step, &out))
      return std::nullopt;
  }
  return out;
}

/// A dim that walks over the memory behind it without overlap, or two that do so together: windows.
struct Walk {
  std::span<const StridedDim> dims;

  bool is_windows() const { return dims.size() == 2; }
  std::int64_t unit() const { return dims.back().stride; }
  std::int64_t units() const { return (*reach(dims) - 1) / unit() + 1; }
};

/// `dims`, the widest stride first, as walks each inside a unit of the one before, of `count` elements from `offset`
/// on. Nothing where three dims overlap, strides do not divide each other or a row begins outside of the one before.
std::optional<std::vector<Walk>> walks(std::span<const StridedDim> dims, std::int64_t count, std::int64_t offset) {
  std::vector<Walk> out;
  while (!dims.empty()) {
    const std::size_t together = *reach(dims.subspan(1)) > dims[0].stride ? 2 : 1;
    const Walk walk{dims.first(together)};
    dims = dims.subspan(together);
    const std::int64_t unit = walk.unit();
    if (walk.dims[0].stride % unit != 0 || offset / unit + walk.units() > count / unit ||
        offset % unit + *reach(dims) > unit)
      return std::nullopt;
    out.push_back(walk);
    offset %= unit;
    count = unit;
  }
  return out;
}

/// `all` over a vector of `count` elements.
Result<ValueId> walked(Call& c, Result<ValueId> v, std::int64_t count, std::int64_t offset,
                       const std::vector<Walk>& all) {
  Ints done;
  for (const Walk& walk : all) {
    const auto axis = static_cast<std::int64_t>(done.size());
    const std::int64_t unit = walk.unit(), rows = count / unit, first = offset / unit;
    if (rows * unit != count) v = c.slice(v, axis, 0, rows * unit);
    Ints shape = done;
    shape.push_back(rows);
    shape.push_back(unit);
    v = c.reshape(v, shape);
    if (walk.units() != rows) v = c.slice(v, axis, first, first + walk.units());
    if (walk.is_windows()) {
      auto index = window_indices(c, walk.dims[0].size, walk.dims[0].stride / unit, walk.dims[1].size, 1);
      if (!v || !index) return Failure{};
      v = c.emit(op("take"), {*v, *index}, {{"axis", axis}});
    }
    for (const StridedDim& d : walk.dims) done.push_back(d.size);
    count = unit;
    offset %= unit;
  }
  return count == 1 ? v : c.slice(v, static_cast<std::int64_t>(done.size()), offset, offset + 1);
}

/// A gather of every element: of strides that nothing simpler describes.
Result<ValueId> gathered(Call& c, ValueId flat, const Shape& shape, const Ints& size, const Ints& stride,
                         std::int64_t offset) {
  std::int64_t total = 1;
  for (const std::int64_t n : size) {
    if (__builtin_mul_overflow(total, n, &total) || total > Data::kMaxElements)
      return c.error("strides that perfc cannot follow: dims overlap, and none of their strides divides the others");
  }
  auto data = std::make_shared<Data>();
  std::vector<SymInt> places;
  for (std::int64_t k = 0; k < total; ++k) {
    std::int64_t place = offset, rest = k;
    for (std::size_t i = size.size(); i-- > 0;) {
      place += rest % size[i] * stride[i];
      rest /= size[i];
    }
    places.emplace_back(place);
  }
  data->elements = std::move(places);
  return c.emit(op("take"), {flat, c.constant({Type::tensor(DType::Int64, shape), data})}, {{"axis", std::int64_t{0}}});
}

/// The dims of `dims` and of one element more, in the result's order and shape.
Result<ValueId> arranged(Call& c, Result<ValueId> v, const std::vector<StridedDim>& dims, const Ints& size) {
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return dims[i].position; });
  Ints shape(size.size(), 1), sorted, perm;
  for (const StridedDim& d : dims) {
    sorted.push_back(d.size);
    shape[d.position] = d.size;
  }
  for (const std::size_t i : order) perm.push_back(static_cast<std::int64_t>(i));
  const bool turned = !std::ranges::is_sorted(perm);
  v = c.reshape(v, sorted);
  if (turned) v = c.transpose(v, perm);
  if (turned || shape != sorted) v = c.reshape(v, shape);
  return v && shape != size ? c.emit(op("broadcast_to"), {*v, c.int_constant(size)}) : v;
}

/// What `as_strided` looks at: all of a tensor's memory.
struct Memory {
  ValueId value;
  bool is_self;  ///< the tensor is all of it, in order
};

Result<Memory> memory_of(Call& c, ValueId v, bool with_offset) {
  const TensorRef* self = c.arg("self").tensor();
  if (!self || (*self)->views.empty()) return Memory{v, true};
  const ValueId whole = (*self)->storage->value;
  const auto elements = c.type(v).elements();
  const bool is_all = elements && elements == c.type(whole).elements();
  if (is_all && strides_of(c.builder(), **self) == contiguous_strides(c.type(v).shape())) return Memory{v, true};
  if (!is_all && !with_offset)
    return c.error("of a part of a tensor, without storage_offset: perfc does not follow where it begins");
  return Memory{whole, false};
}

}  // namespace

Values as_strided(Call& c) {
  auto v = c.tensor("self");
  const auto size = c.ints("size"), stride = c.ints("stride");
  const auto offset = c.integer_or("storage_offset", 0);
  if (!v || !size || !stride || !offset) return Failure{};
  if (size->size() != stride->size())
    return c.error(fmt::format("has {} sizes and {} strides", size->size(), stride->size()));
  std::vector<StridedDim> dims;
  Shape shape;
  for (std::size_t i = 0; i < size->size(); ++i) {
    if ((*size)[i] < 1 || (*stride)[i] < 0)
      return c.error(fmt::format("size {} and stride {} of dim {}", (*size)[i], (*stride)[i], i));
    if ((*size)[i] > 1 && (*stride)[i] > 0) dims.push_back({(*size)[i], (*stride)[i], i});
    shape.emplace_back((*size)[i]);
  }
  std::ranges::stable_sort(dims, std::ranges::greater{}, &StridedDim::stride);
  const auto memory = memory_of(c, *v, c.given("storage_offset"));
  if (!memory) return Failure{};
  const auto count = c.type(memory->value).elements();
  if (!count) return c.error("the shape of the data must be known when importing");
  const auto reached = reach(dims);
  if (!reached || *offset < 0 || *reached > *count || *offset > *count - *reached)
    return c.error(fmt::format("strides reach beyond the data, which have {} elements", *count));
  if (memory->is_self && *reached == *count && is_contiguous(shape, *stride))
    return c.view_result("self", op("reshape"), {c.int_constant(*size)});
  auto flat = c.reshape(memory->value, {-1});
  if (!flat) return Failure{};
  if (const auto all = walks(dims, *count, *offset))
    return single(c, arranged(c, walked(c, *flat, *count, *offset, *all), dims, *size));
  return single(c, gathered(c, *flat, shape, *size, *stride, *offset));
}

}  // namespace perfc::torch
