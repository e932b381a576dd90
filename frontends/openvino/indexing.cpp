/// Gathers, scatters, tables, ranges, random numbers.
#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

Operand indices(const Call& c, std::size_t i) {
  const auto v = c.tensor(i);
  if (!v) return v;
  const DType d = c.dtype(*v);
  return d == DType::Int32 || d == DType::Int64 ? v : c.cast(v, DType::Int64);
}

Result<std::int64_t> one_int(const Call& c, std::size_t i, std::string_view what) {
  const auto all = c.ints(i, what);
  if (!all) return Failure{};
  if (all->size() != 1) return c.error(fmt::format("{} must be one integer, is {}", what, all->size()));
  return all->front();
}

Attrs reduction(const Call& c) {
  const std::string_view how = c.text_or("reduction", "none");
  Attrs attrs;
  if (how != "none") attrs.set("reduction", std::string(how == "sum" ? "add" : how == "prod" ? "mul" : how));
  return attrs;
}

}  // namespace

/// (data, indices, axis), batch_dims leading axes in common.
Values gather(Call& c) {
  const auto x = c.tensor(0);
  const auto at = indices(c, 1);
  const auto axis = c.has(2) ? one_int(c, 2, "the axis") : Result<std::int64_t>(c.integer_or("axis", 0));
  if (!x || !at || !axis) return Failure{};
  std::int64_t batch = c.integer_or("batch_dims", 0);
  if (batch == 0) return c.finish(op("take"), {x, at}, {{"axis", *axis}});
  const auto rank = c.rank(x), index_rank = c.rank(at);
  if (!rank || !index_rank) return Failure{};
  if (batch < 0) batch += *index_rank;
  const auto along = c.axis(*axis, *rank);
  if (!along) return Failure{};
  if (*along != batch) return c.unpriced();
  auto y = c.emit(op("gather_nd"), {x, c.expand_dims(at, {-1})}, {{"batch_dims", batch}});
  return one(y);
}

Values gather_elements(Call& c) {
  return c.finish(op("gather"), {c.tensor(0), indices(c, 1)}, {{"axis", c.integer_or("axis", 0)}});
}

Values gather_nd(Call& c) {
  return c.finish(op("gather_nd"), {c.tensor(0), indices(c, 1)}, {{"batch_dims", c.integer_or("batch_dims", 0)}});
}

/// (data, indices, updates, axis): data with slices replaced.
Values scatter_update(Call& c) {
  const auto x = c.tensor(0), updates = c.tensor(2);
  const auto at = indices(c, 1);
  const auto axis = one_int(c, 3, "the axis");
  const auto rank = c.rank(x), index_rank = c.rank(at);
  if (!updates || !axis || !rank || !index_rank) return Failure{};
  const auto along = c.axis(*axis, *rank);
  if (!along) return Failure{};
  if (*along == 0) return c.finish(op("scatter_nd"), {x, c.expand_dims(at, {-1}), updates});
  if (*index_rank > 1) return c.unpriced();
  // Indices as wide as the updates.
  Ints places(static_cast<std::size_t>(*rank), 1);
  places[static_cast<std::size_t>(*along)] = -1;
  Operand all = updates;
  if (*index_rank == 0) all = c.expand_dims(all, {*along});
  auto wide = all ? c.emit(op("broadcast_to"), {c.reshape(at, places), c.shape_of(all)}) : all;
  return c.finish(op("scatter_elements"), {x, wide, all}, {{"axis", *along}});
}

Values scatter_elements(Call& c) {
  const auto axis = one_int(c, 3, "the axis");
  if (!axis) return Failure{};
  Attrs attrs = reduction(c);
  attrs.set("axis", *axis);
  return c.finish(op("scatter_elements"), {c.tensor(0), indices(c, 1), c.tensor(2)}, std::move(attrs));
}

Values scatter_nd(Call& c) {
  return c.finish(op("scatter_nd"), {c.tensor(0), c.cast(indices(c, 1), DType::Int64), c.tensor(2)}, reduction(c));
}

/// Packed: (table, indices [batch, n], weights?). Offsets: (table, indices [n], offsets [batch], default?, weights?).
Values embedding_bag(Call& c) {
  const bool mean = c.text_or("reduction", "sum") == "mean";
  if (c.layer.type.find("Packed") == std::string_view::npos) {
    return c.finish(op("nn.embedding_bag"), {c.tensor(0), indices(c, 1), indices(c, 2), c.tensor_or_none(4)},
                    {{"mode", std::string(mean ? "mean" : "sum")}});
  }
  auto rows = c.emit(op("take"), {c.tensor(0), indices(c, 1)}, {{"axis", std::int64_t{0}}});
  if (c.has(2)) rows = c.emit(op("multiply"), {rows, c.expand_dims(c.tensor(2), {-1})});
  return c.finish(mean ? op("mean") : op("sum_axes"), {rows, c.int_constant({1})}, {{"keepdims", std::int64_t{0}}});
}

/// (indices, depth, on, off).
Values one_hot(Call& c) {
  auto values = c.join({c.reshape(c.tensor(3), {1}), c.reshape(c.tensor(2), {1})}, 0);
  return c.finish(op("one_hot"), {c.tensor(0), c.tensor(1), values}, {{"axis", c.integer_or("axis", -1)}});
}

/// (start, stop, step) in output_type.
Values range(Call& c) {
  const auto start = c.tensor(0);
  if (!start) return Failure{};
  const DType to = c.dtype_or("output_type", c.dtype(*start));
  return c.finish(op("arange"), {c.cast(start, to), c.cast(c.tensor(1), to), c.cast(c.tensor(2), to)});
}

/// (rows, columns, diagonal, leading dims?).
Values eye(Call& c) {
  const auto shape = c.join({c.reshape(c.int_vector(0), {1}), c.reshape(c.int_vector(1), {1})}, 0);
  const DType to = c.dtype_or("output_type", DType::Float32);
  Attrs attrs{{"dtype", std::string(perfc::name(to))}};
  if (const auto k = c.known_ints(2); k && k->size() == 1) attrs.set("k", k->front());
  auto y = c.emit(op("eye_like"), {c.full(shape, 0, to)}, std::move(attrs));
  if (!c.has(3)) return one(y);
  return c.finish(op("broadcast_to"), {y, c.join({c.int_vector(3), c.shape_of(y)}, 0)});
}

/// (shape, least, most).
Values random_uniform(Call& c) {
  const DType to = c.dtype_or("output_type", DType::Float32);
  auto like = c.full(c.int_vector(0), 0, DType::Float32);
  return one(c.cast(c.emit(op("random.uniform_like"), {like}), to));
}

/// (probabilities, samples).
Values multinomial(Call& c) {
  const auto samples = one_int(c, 1, "the number of samples");
  if (!samples) return Failure{};
  const DType to = c.dtype_or("convert_type", DType::Int32);
  return c.finish(op("random.multinomial"), {c.tensor(0)},
                  {{"dtype", std::string(perfc::name(to))}, {"sample_size", *samples}});
}

}  // namespace perfc::openvino
