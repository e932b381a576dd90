/// Segments, histograms and sparse tensors. Sparse tensors are what they are in the file: coordinates
/// [entries, rank], values [entries] and a shape; all of it becomes gathers and scatters.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"

namespace perfc::tf {
namespace {

std::optional<std::vector<std::int64_t>> known(const Call& c, ValueId v) {
  const Data* d = c.builder().data(v);
  if (!d || !d->ints() || !d->fully_known()) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const SymInt& s : *d->ints()) out.push_back(s.value());
  return out;
}

/// A tensor of this shape filled with x.
Result<ValueId> filled(const Call& c, ValueId shape, DType dtype, std::int64_t x) {
  auto data = std::make_shared<Data>();
  if (is_float(dtype)) {
    data->elements = std::vector<double>{static_cast<double>(x)};
  } else {
    data->elements = std::vector<SymInt>{SymInt(x)};
  }
  return c.emit(op("full"), {shape}, {{"value", Literal{Type::tensor(dtype, {1}), data}}});
}

Result<ValueId> filled_like(const Call& c, ValueId v, DType dtype, std::int64_t x) {
  auto shape = c.shape_of(v);
  if (!shape) return Failure{};
  return filled(c, *shape, dtype, x);
}

/// Entries [from, to) along an axis.
Result<ValueId> part(const Call& c, ValueId v, std::int64_t axis, std::int64_t from, std::int64_t to) {
  return c.emit(op("strided_slice"), {v, c.int_constant({from}), c.int_constant({to}), c.int_constant({axis})});
}

constexpr std::int64_t kEveryRow = std::int64_t{1} << 62;

Result<ValueId> joined(const Call& c, std::vector<ValueId> parts) {
  return c.emit(op("concatenate"), std::move(parts), {{"axis", std::int64_t{0}}});
}

/// [rows] and the shape of v without its first axis.
Result<ValueId> with_rows(const Call& c, ValueId rows, ValueId v) {
  auto count = c.cast(rows, DType::Int64);
  auto shape = c.shape_of(v);
  if (!count || !shape) return Failure{};
  auto tail = part(c, *shape, 0, 1, kEveryRow);
  auto flat = c.reshape(*count, {1});
  if (!tail || !flat) return Failure{};
  return joined(c, {*flat, *tail});
}

Result<ValueId> as_column(const Call& c, ValueId v) { return c.expand_dims(v, {-1}); }

/// Rows added up (or as `reduction` says) by segment; the rows go where `ids` say.
Result<ValueId> scattered(const Call& c, ValueId rows, ValueId ids, ValueId shape, std::string_view reduction) {
  auto at = as_column(c, ids);
  // Neutral elements of minima and maxima cost what zeros cost.
  auto start = filled(c, shape, c.builder().type(rows).dtype(), reduction == "mul" ? 1 : 0);
  if (!at || !start) return Failure{};
  return c.emit(op("scatter_nd"), {*start, *at, rows}, {{"reduction", std::string(reduction)}});
}

/// Number of segments: given, or one more than the largest id.
Result<ValueId> segment_count(const Call& c, std::optional<ValueId> given, ValueId ids) {
  if (given) return *given;
  if (const auto all = known(c, ids); all && !all->empty()) {
    const std::int64_t last = *std::max_element(all->begin(), all->end());
    if (last < 0 || last > (std::int64_t{1} << 40)) return c.error(fmt::format("the segment {} cannot be", last));
    return c.int_constant({last + 1});
  }
  auto last = c.emit(op("max"), {ids}, {{"keepdims", std::int64_t{0}}});
  if (!last) return Failure{};
  return c.emit(op("add"), {*last, c.number_like(*last, 1)});
}

std::string_view reduction_of(std::string_view name) {
  if (name.find("Max") != name.npos) return "max";
  if (name.find("Min") != name.npos) return "min";
  if (name.find("Prod") != name.npos) return "mul";
  return "add";
}

/// Sums; divided by how many there are (Mean) or by its root (SqrtN).
Result<Values> segments(Call& c, std::string_view name, ValueId rows, ValueId ids, std::optional<ValueId> given) {
  auto count = segment_count(c, given, ids);
  if (!count) return Failure{};
  // Ids may have several axes, all of which the segments replace.
  const Type type = c.builder().type(ids);
  ValueId flat = rows, flat_ids = ids;
  if (type.ranked() && type.rank() > 1) {
    const Type data = c.builder().type(rows);
    if (!data.ranked() || data.rank() < type.rank())
      return c.error(fmt::format("ids {} and data {} do not fit", to_string(type), to_string(data)));
    std::vector<std::int64_t> shape{-1};
    for (std::size_t i = type.rank(); i < data.rank(); ++i) {
      if (!data.shape()[i].known())
        return c.error(fmt::format("{} has an open dim; --shape gives the shape of an input", to_string(data)));
      shape.push_back(data.shape()[i].value());
    }
    auto r = c.reshape(rows, shape);
    auto i = c.reshape(ids, {-1});
    if (!r || !i) return Failure{};
    flat = *r;
    flat_ids = *i;
  }
  auto shape = with_rows(c, *count, flat);
  if (!shape) return Failure{};
  auto sums = scattered(c, flat, flat_ids, *shape, reduction_of(name));
  const bool root = name.find("SqrtN") != name.npos;
  if (!sums || (name.find("Mean") == name.npos && !root)) return one(sums);

  const Type data = c.builder().type(flat);
  if (!data.ranked()) return c.error("data of unknown rank; --shape gives the shape of the input");
  auto ones = filled_like(c, flat_ids, data.dtype(), 1);
  auto rows_only = c.cast(*count, DType::Int64);
  if (!ones || !rows_only) return Failure{};
  auto vector = c.reshape(*rows_only, {1});
  if (!vector) return Failure{};
  auto sizes = scattered(c, *ones, flat_ids, *vector, "add");
  if (sizes && root) sizes = c.emit(op("sqrt"), {*sizes});
  if (!sizes) return Failure{};
  std::vector<std::int64_t> axes;
  for (std::size_t i = 1; i < data.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  auto divisor = axes.empty() ? sizes : c.expand_dims(*sizes, axes);
  if (!divisor) return Failure{};
  return one(c.emit(op("divide"), {*sums, *divisor}));
}

/// How far apart neighbours along each axis are, of row-major data.
Result<ValueId> strides_of(const Call& c, ValueId shape) {
  if (const auto extents = known(c, shape)) {
    std::vector<std::int64_t> out(extents->size(), 1);
    for (std::size_t i = extents->size(); i-- > 1;) {
      if ((*extents)[i] < 0 || __builtin_mul_overflow(out[i], (*extents)[i], &out[i - 1]))
        return c.error("the shape holds too many elements");
    }
    return c.int_constant(out);
  }
  auto wide = c.cast(shape, DType::Int64);
  if (!wide) return Failure{};
  return c.emit(op("cumprod"), {*wide, c.int_constant({0})},
                {{"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}});
}

/// The new shape of a SparseReshape with its −1 replaced, where everything is known.
Result<ValueId> resolved(const Call& c, ValueId from, ValueId to) {
  const auto old_shape = known(c, from);
  auto shape = known(c, to);
  if (!old_shape || !shape) return c.cast(to, DType::Int64);
  std::int64_t total = 1, rest = 1, open = -1;
  for (std::int64_t d : *old_shape) {
    if (d < 0 || __builtin_mul_overflow(total, d, &total)) return c.error("the shape holds too many elements");
  }
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if ((*shape)[i] == -1 && open < 0) {
      open = static_cast<std::int64_t>(i);
    } else if ((*shape)[i] < 0 || __builtin_mul_overflow(rest, (*shape)[i], &rest)) {
      return c.error("the new shape holds too many elements, or negative extents");
    }
  }
  if (open >= 0) (*shape)[static_cast<std::size_t>(open)] = rest > 0 ? total / rest : 0;
  return c.int_constant(*shape);
}

}  // namespace

/// SegmentSum (data, ids) and kin; UnsortedSegmentSum (data, ids, count).
Result<Values> segment(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  std::optional<ValueId> count;
  if (row.name.starts_with("Unsorted")) {
    auto given = c.tensor(2);
    if (!given) return Failure{};
    count = *given;
  }
  return segments(c, row.name, (*operands)[0], (*operands)[1], count);
}

/// SparseSegmentSum (data, rows, ids): of the rows named; …WithNumSegments (…, count).
Result<Values> sparse_segment(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  std::optional<ValueId> count;
  if (row.name.ends_with("WithNumSegments")) {
    auto given = c.tensor(3);
    if (!given) return Failure{};
    count = *given;
  }
  auto rows = c.emit(op("take"), {(*operands)[0], (*operands)[1]}, {{"axis", std::int64_t{0}}});
  if (!rows) return Failure{};
  return segments(c, row.name, *rows, (*operands)[2], count);
}

/// Bincount, DenseBincount (values, size, weights): how often each of 0 … size−1 occurs; of a matrix by row.
Result<Values> bincount(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  const auto [values, size, weights] = std::tuple((*operands)[0], (*operands)[1], (*operands)[2]);
  const Type weight_type = c.builder().type(weights);
  const bool weighted = !(weight_type.ranked() && weight_type.rank() == 1 && weight_type.shape()[0].is(0));
  auto updates = weighted ? Result<ValueId>(weights) : filled_like(c, values, weight_type.dtype(), 1);
  auto length = c.cast(size, DType::Int64);
  if (!updates || !length) return Failure{};
  auto bins = c.reshape(*length, {1});
  if (!bins) return Failure{};
  const std::string_view reduction = c.int_attr("binary_output", 0) != 0 ? "max" : "add";
  if (row.name == "DenseBincount" && c.rank(0) == 2) {
    auto shape = c.shape_of(values);
    auto rows = shape ? part(c, *shape, 0, 0, 1) : shape;
    auto all = rows ? joined(c, {*rows, *bins}) : rows;
    auto zeros = all ? filled(c, *all, weight_type.dtype(), 0) : all;
    if (!zeros) return Failure{};
    return one(c.emit(op("scatter_elements"), {*zeros, values, *updates},
                      {{"axis", std::int64_t{1}}, {"reduction", std::string(reduction)}}));
  }
  return one(scattered(c, *updates, values, *bins, reduction));
}

/// (coordinates: scalar, [n] or [n, rank], shape, values: scalar or [n], elsewhere).
Result<Values> sparse_to_dense(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 4);
  if (!operands) return Failure{};
  auto [at, shape, values, elsewhere] = std::tuple((*operands)[0], (*operands)[1], (*operands)[2], (*operands)[3]);
  const auto rank = c.rank(0);
  if (!rank || *rank > 2) return c.error(fmt::format("cannot address entries by {}", to_string(c.type(0))));
  if (*rank < 2) {
    auto column = c.reshape(at, {-1, 1});
    if (!column) return Failure{};
    at = *column;
  }
  if (c.rank(2) == 0) {
    auto entries = c.shape_of(at);
    auto count = entries ? part(c, *entries, 0, 0, 1) : entries;
    auto repeated = count ? c.emit(op("broadcast_to"), {values, *count}) : count;
    if (!repeated) return Failure{};
    values = *repeated;
  }
  auto background = c.emit(op("broadcast_to"), {elsewhere, shape});
  if (!background) return Failure{};
  return one(c.emit(op("scatter_nd"), {*background, at, values}));
}

/// (coordinates [n, 2], values [n], shape [2], b): row i of the product gathers the rows of b that
/// the entries of row i name.
Result<Values> sparse_matmul(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 4);
  if (!operands) return Failure{};
  const auto [at, values, shape] = std::tuple((*operands)[0], (*operands)[1], (*operands)[2]);
  ValueId b = (*operands)[3];
  if (c.int_attr("adjoint_b", 0) != 0) {
    auto flipped = c.transpose(b, {1, 0});
    if (!flipped) return Failure{};
    b = *flipped;
  }
  const std::int64_t row_axis = c.int_attr("adjoint_a", 0) != 0 ? 1 : 0;
  auto rows = part(c, at, 1, row_axis, row_axis + 1);
  auto columns = part(c, at, 1, 1 - row_axis, 2 - row_axis);
  auto height = part(c, shape, 0, row_axis, row_axis + 1);
  if (!rows || !columns || !height) return Failure{};
  auto ids = c.reshape(*rows, {-1});
  auto named = c.reshape(*columns, {-1});
  auto factors = as_column(c, values);
  if (!ids || !named || !factors) return Failure{};
  auto taken = c.emit(op("take"), {b, *named}, {{"axis", std::int64_t{0}}});
  auto products = taken ? c.emit(op("multiply"), {*taken, *factors}) : taken;
  auto result = products ? with_rows(c, *height, *products) : products;
  if (!result) return Failure{};
  return one(scattered(c, *products, *ids, *result, "add"));
}

/// (coordinates, values, shape, b) → b with the values added.
Result<Values> sparse_add(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 4);
  if (!operands) return Failure{};
  return one(c.emit(op("scatter_nd"), {(*operands)[3], (*operands)[0], (*operands)[1]}, {{"reduction", "add"}}));
}

/// (coordinates [n, rank], shape, new shape) → coordinates in the new shape, and that shape.
Result<Values> sparse_reshape(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  auto shape = resolved(c, (*operands)[1], (*operands)[2]);
  auto from = strides_of(c, (*operands)[1]);
  auto to = shape ? strides_of(c, *shape) : shape;
  if (!from || !to) return Failure{};
  auto steps = c.emit(op("multiply"), {(*operands)[0], *from});
  auto flat = steps ? c.emit(op("sum_axes"), {*steps, c.int_constant({1})}, {{"keepdims", std::int64_t{1}}}) : steps;
  auto quotient = flat ? c.emit(op("divide"), {*flat, *to}) : flat;
  if (!quotient) return Failure{};
  auto at = c.emit(op("mod"), {*quotient, *shape});
  if (!at) return Failure{};
  return Values{Value::tensor(*at), Value::tensor(*shape)};
}

/// (coordinates [n, rank], values [n], shape, filler) → the same with an entry for every row that had
/// none, in row order; which rows those were; and where the old entries went.
Result<Values> sparse_fill_empty_rows(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 4);
  if (!operands) return Failure{};
  const auto [at, values, shape, filler] = std::tuple((*operands)[0], (*operands)[1], (*operands)[2], (*operands)[3]);
  const Type coordinates = c.builder().type(at);
  if (!coordinates.ranked() || coordinates.rank() != 2 || !coordinates.shape()[1].known() ||
      coordinates.shape()[1].value() < 1) {
    return c.error(fmt::format("coordinates are {}, not [entries, rank]", to_string(coordinates)));
  }
  const std::int64_t rank = coordinates.shape()[1].value();
  auto height = part(c, shape, 0, 0, 1);
  auto rows = part(c, at, 1, 0, 1);
  auto ids = rows ? c.reshape(*rows, {-1}) : rows;
  auto ones = ids ? filled_like(c, *ids, DType::Int64, 1) : ids;
  if (!height || !ones) return Failure{};
  auto counts = scattered(c, *ones, *ids, *height, "add");
  auto empty = counts ? c.emit(op("equal"), {*counts, c.number_like(*counts, 0)}) : counts;
  auto found = empty ? c.emit(op("nonzero"), {*empty}) : empty;
  auto column = found ? c.transpose(*found, {1, 0}) : found;
  auto missing = column && rank > 1 ? c.emit(op("nn.pad"), {*column, c.int_constant({0, 0, 0, rank - 1})}) : column;
  if (!missing) return Failure{};
  auto missing_shape = c.shape_of(*column);
  auto missing_count = missing_shape ? part(c, *missing_shape, 0, 0, 1) : missing_shape;
  auto fillers = missing_count ? c.emit(op("broadcast_to"), {filler, *missing_count}) : missing_count;
  if (!fillers) return Failure{};
  auto all = joined(c, {at, *missing});
  auto all_values = joined(c, {values, *fillers});
  // Sorted by row.
  auto keys = all ? part(c, *all, 1, 0, 1) : all;
  auto flat = keys ? c.reshape(*keys, {-1}) : keys;
  auto total = flat ? c.shape_of(*flat) : flat;
  if (!all_values || !total) return Failure{};
  auto sorted = c.builder().call({.op = op("topk"),
                                  .operands = {*flat, *total},
                                  .attrs = {{"largest", std::int64_t{0}}},
                                  .name = c.name,
                                  .loc = c.loc});
  if (!sorted) return Failure{};
  const ValueId order{*sorted, 1};
  auto new_at = c.emit(op("take"), {*all, order}, {{"axis", std::int64_t{0}}});
  auto new_values = c.emit(op("take"), {*all_values, order}, {{"axis", std::int64_t{0}}});
  // The inverse of the order, of the old entries.
  auto positions = c.emit(op("cumsum"), {*filled_like(c, order, DType::Int64, 1), c.int_constant({0})},
                          {{"exclusive", std::int64_t{1}}});
  auto start = filled_like(c, order, DType::Int64, 0);
  if (!new_at || !new_values || !positions || !start) return Failure{};
  auto inverse = c.emit(op("scatter_elements"), {*start, order, *positions}, {{"axis", std::int64_t{0}}});
  auto old_shape = c.shape_of(values);
  if (!inverse || !old_shape) return Failure{};
  auto went = c.emit(op("strided_slice"), {*inverse, c.int_constant({0}), *old_shape, c.int_constant({0})});
  if (!went) return Failure{};
  return Values{Value::tensor(*new_at), Value::tensor(*new_values), Value::tensor(*empty), Value::tensor(*went)};
}

/// (flat positions [n] or scalar, shape [rank]) → coordinates [rank, n] or [rank].
Result<Values> unravel_index(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const auto rank = c.rank(0);
  if (!rank || *rank > 1) return c.error(fmt::format("positions are {}, not a vector", to_string(c.type(0))));
  const DType dtype = c.builder().type((*operands)[0]).dtype();
  auto far = strides_of(c, (*operands)[1]);
  auto strides = far ? c.cast(*far, dtype) : far;
  auto extents = c.cast((*operands)[1], dtype);
  if (!strides || !extents) return Failure{};
  if (*rank == 1) {
    strides = as_column(c, *strides);
    extents = as_column(c, *extents);
    if (!strides || !extents) return Failure{};
  }
  auto quotient = c.emit(op("divide"), {(*operands)[0], *strides});
  if (!quotient) return Failure{};
  return one(c.emit(op("mod"), {*quotient, *extents}));
}

}  // namespace perfc::tf
