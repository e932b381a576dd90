/// Gathering and scattering by indices, and the indices of what is true.
#include <fmt/format.h>

#include "frontends/tf/translators.h"

namespace perfc::tf {

Result<Values> gather(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  std::int64_t axis = 0;
  if (row.name == "GatherV2") {
    auto given = c.integer(2, "axis");
    if (!given) return Failure{};
    axis = *given;
  }
  std::int64_t batch_dims = c.int_attr("batch_dims", 0);
  const auto indices_rank = c.rank(1);
  if (batch_dims < 0 && indices_rank) batch_dims += static_cast<std::int64_t>(*indices_rank);
  if (batch_dims == 0) return c.finish(op("take"), *operands, {{"axis", axis}});
  if (axis != batch_dims)
    return c.error(fmt::format("axis {} behind {} batch dims is not supported", axis, batch_dims));
  auto view = c.expand_dims((*operands)[1], {-1});
  if (!view) return Failure{};
  auto indices = c.cast(*view, DType::Int64);
  if (!indices) return Failure{};
  return c.finish(op("gather_nd"), {(*operands)[0], *indices}, {{"batch_dims", batch_dims}});
}

Result<Values> gather_nd(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  return c.finish(op("gather_nd"), *operands, {{"batch_dims", c.int_attr("batch_dims", 0)}});
}

/// ScatterNd (indices, updates, shape): into zeros.
Result<Values> scatter_nd(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  const DType dtype = c.builder().type((*operands)[1]).dtype();
  auto zeros = c.emit(op("full"), {(*operands)[2]}, {{"value", Literal{Type::tensor(dtype, {1}), nullptr}}});
  if (!zeros) return Failure{};
  return c.finish(op("scatter_nd"), {*zeros, (*operands)[0], (*operands)[1]});
}

/// TensorScatterUpdate and kin (x, indices, updates).
Result<Values> tensor_scatter(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  Attrs attrs;
  if (row.name.ends_with("Add") || row.name.ends_with("Sub")) attrs.set("reduction", std::string("add"));
  if (row.name.ends_with("Max")) attrs.set("reduction", std::string("max"));
  if (row.name.ends_with("Min")) attrs.set("reduction", std::string("min"));
  return c.finish(op("scatter_nd"), *operands, std::move(attrs));
}

/// (indices, depth, on, off).
Result<Values> one_hot(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 4);
  if (!operands) return Failure{};
  std::vector<ValueId> values;
  for (std::size_t i : {3, 2}) {
    auto v = c.expand_dims((*operands)[i], {0});
    if (!v) return Failure{};
    values.push_back(*v);
  }
  auto both = c.emit(op("concatenate"), values, {{"axis", std::int64_t{0}}});
  if (!both) return Failure{};
  return c.finish(op("one_hot"), {(*operands)[0], (*operands)[1], *both}, {{"axis", c.int_attr("axis", -1)}});
}

/// Positions of what is true, [found, rank].
Result<Values> where(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto found = c.emit(op("nonzero"), {*x});
  if (!found) return Failure{};
  return one(c.transpose(*found, {1, 0}));
}

}  // namespace perfc::tf
