/// Gathers, scatters, one-hot.
#include <numeric>

#include "frontends/paddle/table.h"

namespace perfc::paddle {

/// gather, index_select: whole slices along an axis.
Values gather(Call& c) {
  const auto x = c.tensor("X");
  auto index = c.tensor("Index");
  const auto rank = c.rank(x), index_rank = c.rank(index);
  if (!rank || !index_rank) return Failure{};
  const auto axis = c.one_axis("Axis|axis|dim", *rank, 0);
  if (!axis) return Failure{};
  if (*index_rank == 2 && c.dim(*index, 1).is(1)) index = c.squeeze(index, {1});
  return one(c.emit(op("take"), {x, index}, {{"axis", *axis}}));
}

/// take_along_axis, index_sample: one element per index.
Values gather_elements(Call& c) {
  const auto x = c.tensor("Input|X"), index = c.tensor("Index");
  const auto rank = c.rank(x);
  if (!rank || !index) return Failure{};
  const auto axis = c.axis(c.integer_or("Axis|axis", 1), *rank);
  if (!axis) return Failure{};
  return one(c.emit(op("gather"), {x, index}, {{"axis", *axis}}));
}

Values scatter_elements(Call& c) {
  auto x = c.tensor("Input"), index = c.tensor("Index"), value = c.tensor("Value");
  const std::string_view how = c.text_or("Reduce|reduce", "assign");
  if (!x || !index || !value) return Failure{};
  if (c.type(*value).ranked() && c.type(*value).rank() == 0)
    value = c.emit(op("broadcast_to"), {value, c.whole_shape(*index)});
  Attrs attrs{{"axis", c.integer_or("Axis|axis", 0)}};
  if (how == "add" || how == "mul" || how == "multiply")
    attrs.set("reduction", std::string(how == "add" ? "add" : "mul"));
  if (how == "amin" || how == "amax") attrs.set("reduction", std::string(how.substr(1)));
  return one(c.emit(op("scatter_elements"), {x, index, value}, std::move(attrs)));
}

/// Slices written, or added (overwrite = 0), at rows.
Values scatter(Call& c) {
  auto x = c.tensor("X"), ids = c.tensor("Ids"), updates = c.tensor("Updates");
  const auto rank = c.rank(ids);
  if (!rank) return Failure{};
  if (*rank < 2) ids = c.expand_dims(ids, {*rank});
  Attrs attrs;
  if (!c.flag("overwrite", true)) attrs.set("reduction", std::string("add"));
  return one(c.emit(op("scatter_nd"), {x, c.cast(ids, DType::Int64), updates}, std::move(attrs)));
}

/// (X, Index, AddValue): slices added along an axis.
Values index_add(Call& c) {
  const auto x = c.tensor("X");
  auto index = c.tensor("Index"), value = c.tensor("AddValue");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 0), *rank);
  if (!axis) return Failure{};
  Ints perm(static_cast<std::size_t>(*rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (!perm.empty()) std::swap(perm.front(), perm[static_cast<std::size_t>(*axis)]);
  const auto turned = [&](Operand v) { return *axis == 0 ? v : c.transpose(v, perm); };
  index = c.cast(c.expand_dims(index, {1}), DType::Int64);
  return one(turned(c.emit(op("scatter_nd"), {turned(x), index, turned(value)}, {{"reduction", "add"}})));
}

/// (x, indices…, value): elements or slices at index tensors of one shape.
Values index_put(Call& c) {
  const auto x = c.tensor("x");
  const auto indices = c.tensors("indices");
  auto value = c.tensor("value");
  const auto rank = c.rank(x);
  if (!rank || !indices || !value) return Failure{};
  const Type& type = c.type(indices->front());
  if (type.dtype() == DType::Bool || !type.ranked()) return c.unpriced();
  const auto last = static_cast<std::int64_t>(type.rank()), count = static_cast<std::int64_t>(indices->size());
  std::vector<Operand> columns;
  for (ValueId v : *indices) {
    if (c.type(v) != type) return c.unpriced();
    columns.push_back(c.expand_dims(c.cast(v, DType::Int64), {last}));
  }
  std::vector<Operand> shape{c.whole_shape(indices->front())};
  if (count < *rank) shape.push_back(c.shape_of(x, count, *rank));
  value = c.emit(op("broadcast_to"), {value, c.join(shape, 0)});
  Attrs attrs;
  if (c.flag("accumulate")) attrs.set("reduction", std::string("add"));
  return one(c.emit(op("scatter_nd"), {x, c.join(columns, last), value}, std::move(attrs)));
}

Values gather_nd(Call& c) {
  return one(c.emit(op("gather_nd"), {c.tensor("X"), c.cast(c.tensor("Index"), DType::Int64)}));
}

Values scatter_nd_add(Call& c) {
  return one(c.emit(op("scatter_nd"), {c.tensor("X"), c.cast(c.tensor("Index"), DType::Int64), c.tensor("Updates")},
                    {{"reduction", "add"}}));
}

Values one_hot(Call& c) {
  auto x = c.tensor("X");
  const auto rank = c.rank(x);
  auto depth = c.int_vector("depth_tensor|depth|num_classes");
  if (!rank) return Failure{};
  if (c.operation.type == "one_hot" && c.importer.dialect() == Dialect::Descriptor && *rank > 1)
    x = c.squeeze(x, {*rank - 1});
  const DType d = c.dtype_or("dtype", DType::Float32);
  auto data = std::make_shared<Data>();
  if (is_float(d)) data->elements = std::vector<double>{0, 1};
  else data->elements = std::vector<SymInt>{SymInt(0), SymInt(1)};
  return one(c.emit(op("one_hot"), {x, depth, c.constant({Type::tensor(d, {2}), std::move(data)})},
                    {{"axis", std::int64_t{-1}}}));
}

/// Tensors picked per row: index [n, 1] says from which.
Values multiplex(Call& c) {
  const auto all = c.tensors("X");
  if (!all) return Failure{};
  std::vector<Operand> parts;
  for (ValueId v : *all) parts.push_back(c.expand_dims(v, {1}));
  auto index = c.cast(c.tensor("Ids|Index"), DType::Int64);
  return one(c.emit(op("gather_nd"), {c.join(parts, 1), index}, {{"batch_dims", std::int64_t{1}}}));
}

}  // namespace perfc::paddle
