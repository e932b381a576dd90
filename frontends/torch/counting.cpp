/// Where values are and how many: nonzeros, searches in sorted ones, membership, counts.
#include "frontends/torch/translate.h"

namespace perfc::torch {

namespace {

/// Rows of indices, as many as axes. What the file declares of the result, a row per place, says how many there are
/// where the program asserts it.
Result<ValueId> places(Call& c, ValueId v, bool by_place) {
  CallSpec spec{.op = op("nonzero"), .operands = {v}, .name = c.name, .loc = c.loc};
  if (by_place && c.importer.declared_sizes_hold() && c.outputs() == 1) {
    const Type declared = c.importer.bind(c.operation.outputs[0].tensor);
    if (declared.ranked() && declared.rank() == 2 && declared.shape()[0].known())
      spec.declared.push_back(Type::tensor(declared.dtype(), {declared.shape()[1], declared.shape()[0]}));
  }
  auto id = c.builder().call(std::move(spec));
  if (!id) return Failure{};
  return ValueId{*id, 0};
}

}  // namespace

/// Places of what is not zero: rows of indices, or one tensor per axis.
Values nonzero(Call& c) {
  const bool condition = std::string_view(c.row->name) == "where",
             by_place = !condition && std::string_view(c.row->name) != "nonzero_numpy";
  auto v = c.tensor(condition ? "condition" : "self");
  auto y = v ? places(c, *v, by_place) : v;
  if (!y) return Failure{};
  if (by_place) return single(c, c.transpose(*y, {1, 0}));
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  std::vector<ValueId> rows;
  for (std::size_t i = 0; i < *rank; ++i) {
    auto row = c.emit(op("take"), {*y, c.number(static_cast<double>(i), DType::Int64)}, {{"axis", std::int64_t{0}}});
    if (!row) return Failure{};
    rows.push_back(*row);
  }
  return c.list(rows);
}

/// Places in sorted boundaries: how many of them are less, counted over all pairs.
Values bucketize(Call& c) {
  const bool search = std::string_view(c.row->name) == "searchsorted";
  auto edges = c.tensor(search ? "sorted_sequence" : "boundaries"), v = c.tensor("self");
  const auto right = c.flag_or("right", false), narrow = c.flag_or("out_int32", false);
  if (!edges || !v || !right || !narrow) return Failure{};
  const auto edge_rank = c.rank(*edges), rank = c.rank(*v);
  if (!edge_rank || !rank) return Failure{};
  auto wide = c.expand_dims(*v, {static_cast<std::int64_t>(*rank)});
  ValueId e = *edges;
  if (search && *edge_rank > 1) {
    auto spread = c.expand_dims(e, {static_cast<std::int64_t>(*edge_rank) - 1});
    if (!spread) return Failure{};
    e = *spread;
  }
  const auto counted = [&]() -> Result<ValueId> {
    const InsideKernel of_search(c);
    auto same = wide ? c.cast(e, c.type(*wide).dtype()) : wide;
    auto below = same ? c.emit(*right ? op("less_equal") : op("less"), {*same, *wide}) : same;
    return below ? c.cast(*below, *narrow ? DType::Int32 : DType::Int64) : below;
  };
  const auto number = counted();
  return number ? single(c, c.emit(op("sum_axes"), {*number, c.int_constant({-1})}, {{"keepdims", std::int64_t{0}}}))
                : Failure{};
}

/// Which elements are among others: compared with each of them and reduced, as PyTorch does while those are few
/// (aten/src/ATen/native/TensorCompare.cpp).
Values isin(Call& c) {
  const auto invert = c.flag_or("invert", false);
  auto tested = c.tensor_or_none("test_elements");
  if (!invert || !tested) return Failure{};
  const Scalar* element = c.arg("elements").scalar();
  auto v = element && *tested ? c.scalar_tensor(*element, c.type(*tested).dtype()) : c.tensor("elements");
  if (!v) return Failure{};
  const auto compared = [&](ValueId x, ValueId y) { return c.emit(*invert ? op("not_equal") : op("equal"), {x, y}); };
  if (const Scalar* s = c.arg("test_elements").scalar()) {
    auto y = c.scalar_tensor(*s, c.type(*v).dtype());
    return y ? single(c, compared(*v, *y)) : Failure{};
  }
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  auto column = c.expand_dims(*v, {static_cast<std::int64_t>(*rank)});
  auto row = column ? c.reshape(*tested, {-1}) : column;
  auto y = row ? c.promote(*row, c.type(*v).dtype()) : row;
  auto pairs = y ? compared(*column, *y) : y;
  return pairs ? single(c, c.emit(*invert ? op("all") : op("any"), {*pairs, c.int_constant({-1})},
                                  {{"keepdims", std::int64_t{0}}}))
               : Failure{};
}

/// Counts of every value, as a scatter of ones. The file says how many there are.
Values bincount(Call& c) {
  auto v = indices(c, "self");
  auto weights = c.tensor_or_none("weights");
  if (!v || !weights) return Failure{};
  const auto least = c.integer_or("minlength", 0);
  if (!least) return Failure{};
  Dim count;
  if (!c.operation.outputs.empty() && c.operation.outputs[0].tensor.is_tensor() &&
      c.operation.outputs[0].tensor.ranked() && c.operation.outputs[0].tensor.rank() == 1) {
    count = c.operation.outputs[0].tensor.shape()[0];
  }
  if (!count.known()) {
    if (*least < 1) return c.error("how many values there are depends on the data; the file does not say it");
    count = Dim(*least);
  }
  const DType d = *weights ? c.type(*weights).dtype() : DType::Int64;
  auto zeros = c.full(c.int_constant({count.value()}), 0, d);
  auto shape = c.shape_of(*v);
  Result<ValueId> ones = *weights ? Result<ValueId>(*weights)
                         : shape  ? c.emit(op("broadcast_to"), {c.number(1, d), *shape})
                                  : shape;
  if (!zeros || !ones) return Failure{};
  return single(c, c.emit(op("scatter_elements"), {*zeros, *v, *ones},
                          {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}}));
}

/// Without a range PyTorch takes that of the data.
Values histc(Call& c) {
  auto v = c.tensor("self");
  const auto bins = c.integer_or("bins", 100);
  const auto least = c.real_or("min", 0), greatest = c.real_or("max", 0);
  if (!v || !bins || !least || !greatest) return Failure{};
  return single(
      c, c.emit(op("histogram"), {*v}, {{"bins", *bins}, {"ranged", static_cast<std::int64_t>(*least != *greatest)}}));
}

}  // namespace perfc::torch
