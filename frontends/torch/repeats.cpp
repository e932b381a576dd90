/// Data, or each of their entries, several times.
#include <fmt/format.h>

#include <numeric>

#include "frontends/torch/translate.h"

namespace perfc::torch {

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

}  // namespace perfc::torch
