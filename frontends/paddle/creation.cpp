/// Shapes and sizes, constants, ranges, diagonals, random numbers.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// The number that a fill writes: an attribute as a number or as text.
Result<double> fill_value(Call& c) {
  const std::string_view text = c.text_or("str_value", "");
  if (!text.empty() && !c.operands("ValueTensor")) {
    if (text == "inf") return static_cast<double>(INFINITY);
    if (text == "-inf") return -static_cast<double>(INFINITY);
    char* end = nullptr;
    const std::string copy(text);
    const double v = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str()) return v;
  }
  return c.real("ValueTensor|value", 0);
}

}  // namespace

Values shape(Call& c) {
  const auto x = c.tensor("Input");
  return one(x ? c.whole_shape(*x) : x);
}
Values size(Call& c) { return one(c.emit(op("size_of"), {c.tensor("Input|X")})); }

/// fill_constant, full, empty, …: shape, number, type.
Values fill(Call& c) {
  const DType d = c.dtype_or("dtype", DType::Float32);
  auto shape = c.int_vector("ShapeTensor|ShapeTensorList|shape");
  const auto* tensor = c.operands("ValueTensor");
  if (tensor && tensor->size() == 1 && !c.data(tensor->front()))
    return one(c.emit(op("broadcast_to"), {c.cast(tensor->front(), d), shape}));
  const auto value = fill_value(c);
  if (!value) return Failure{};
  return one(c.full(shape, *value, d));
}

/// The same in the shape of another tensor.
Values fill_like(Call& c) {
  const auto x = c.tensor("X");
  if (!x) return Failure{};
  DType d = c.dtype_or("dtype", c.dtype(*x));
  const auto value = fill_value(c);
  if (!value) return Failure{};
  return one(c.full(c.whole_shape(*x), *value, d));
}

/// One dim of the shape is taken from the data.
Values fill_batch_like(Call& c) {
  const auto x = c.tensor("Input");
  auto shape = c.ints("shape");
  const auto value = fill_value(c);
  const auto rank = c.rank(x);
  if (!shape || !value || !rank) return Failure{};
  const auto from = c.axis(c.integer_or("input_dim_idx", 0), *rank);
  const auto to = c.axis(c.integer_or("output_dim_idx", 0), static_cast<std::int64_t>(shape->size()));
  if (!from || !to) return Failure{};
  if (static_cast<std::size_t>(*to) >= shape->size()) return c.error("the shape has no dims");
  std::vector<Operand> parts;
  if (*to > 0) parts.emplace_back(c.int_constant({shape->begin(), shape->begin() + *to}));
  parts.push_back(c.shape_of(x, *from, *from + 1));
  if (*to + 1 < static_cast<std::int64_t>(shape->size()))
    parts.emplace_back(c.int_constant({shape->begin() + *to + 1, shape->end()}));
  return one(c.full(c.join(parts, 0), *value, c.dtype_or("dtype", DType::Float32)));
}

/// assign_value, full_int_array, constant: contents in attributes.
Values constant(Call& c) {
  const bool vector = c.operation.type == "full_int_array";
  const DType d = c.dtype_or("dtype", vector ? DType::Int64 : DType::Float32);
  const Attr* a = c.attr("value|values");
  if (!a)
    a = c.attr(d == DType::Float64 ? "fp64_values"
               : is_float(d)       ? "fp32_values"
               : d == DType::Int64 ? "int64_values"
               : d == DType::Bool  ? "bool_values"
                                   : "int32_values");
  auto data = std::make_shared<Data>();
  std::int64_t n = 0;
  const auto* reals = a ? std::get_if<std::vector<double>>(a) : nullptr;
  const auto* ints = a ? std::get_if<Ints>(a) : nullptr;
  if (reals) n = static_cast<std::int64_t>(reals->size());
  if (ints) n = static_cast<std::int64_t>(ints->size());
  auto dims = c.ints_or("shape", {n});
  if (!dims) return Failure{};
  Shape shape;
  for (std::int64_t dim : *dims) {
    if (dim < 0) return c.error(fmt::format("a dim of {}", dim));
    shape.emplace_back(dim);
  }
  const Type type = Type::tensor(d, std::move(shape));
  if (type.elements() != std::optional<std::int64_t>(n))
    return c.error(fmt::format("{} has {} values", to_string(type), n));
  if (n > Data::kMaxElements) return one(c.constant({type, nullptr}));
  if (is_float(d)) {
    data->elements = reals ? *reals : ints ? std::vector<double>(ints->begin(), ints->end()) : std::vector<double>{};
  } else {
    std::vector<SymInt> values;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      values.emplace_back(ints ? (*ints)[k] : static_cast<std::int64_t>(std::clamp((*reals)[k], -9e15, 9e15)));
    }
    data->elements = std::move(values);
  }
  return one(c.constant({type, std::move(data)}));
}

Values range(Call& c) {
  auto start = c.tensor("Start"), end = c.tensor("End"), step = c.tensor("Step");
  if (!start || !end || !step) return Failure{};
  const DType d = c.dtype_or("dtype", c.dtype(*start));
  return one(c.emit(op("arange"),
                    {c.reshape(c.cast(start, d), {}), c.reshape(c.cast(end, d), {}), c.reshape(c.cast(step, d), {})}));
}

/// start + i · (stop − start) / (n − 1).
Values linspace(Call& c) {
  auto start = c.tensor("Start"), stop = c.tensor("Stop");
  const auto n = c.integer("Num");
  if (!start || !stop || !n) return Failure{};
  const DType d = c.dtype_or("dtype", DType::Float32), work = is_float(d) ? d : DType::Float32;
  auto steps = c.emit(op("arange"), {c.number(0, work), c.number(static_cast<double>(*n), work), c.number(1, work)});
  auto distance = c.emit(op("divide"), {c.emit(op("subtract"), {c.cast(stop, work), c.cast(start, work)}),
                                        c.number(static_cast<double>(std::max<std::int64_t>(*n - 1, 1)), work)});
  return one(c.cast(c.emit(op("add"), {c.emit(op("multiply"), {steps, distance}), c.cast(start, work)}), d));
}

Values eye(Call& c) {
  const auto rows = c.integer("num_rows");
  if (!rows) return Failure{};
  const auto columns = c.ints_or("num_columns", {*rows});
  if (!columns || columns->size() != 1) return Failure{};
  const std::int64_t m = columns->front() < 0 ? *rows : columns->front();
  return one(c.emit(op("eye_like"), {c.full(c.int_constant({*rows, m}), 0, c.dtype_or("dtype", DType::Float32))}));
}

/// tril, triu, tril_triu.
Values triangle(Call& c) {
  const std::string_view type = c.operation.type;
  const bool upper = type == "triu" || type == "triu_" || (type == "tril_triu" && !c.flag("lower", true));
  return one(c.emit(op("trilu"),
                    {c.tensor("X"), c.number(static_cast<double>(c.integer_or("diagonal", 0)), DType::Int64)},
                    {{"upper", static_cast<std::int64_t>(upper)}}));
}

/// Vectors spread over a grid, each along an axis of its own.
Values meshgrid(Call& c) {
  const auto all = c.tensors("X");
  if (!all) return Failure{};
  std::vector<Operand> lengths;
  for (ValueId v : *all) lengths.push_back(c.emit(op("size_of"), {v}));
  for (Operand& l : lengths) l = c.reshape(l, {1});
  auto shape = c.join(lengths, 0);
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < all->size(); ++i) {
    Ints view(all->size(), 1);
    view[i] = -1;
    auto grid = c.emit(op("broadcast_to"), {c.reshape((*all)[i], view), shape});
    if (!grid) return Failure{};
    out.push_back(*grid);
  }
  return out;
}

/// A vector as the diagonal of a matrix, or the diagonal of a matrix.
Values diagonal(Call& c) {
  const auto x = c.tensor("X|Input|Diagonal");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank == 1 && c.integer_or("offset", 0) == 0) {
    const auto n = c.known_dim(*x, 0);
    if (!n) return Failure{};
    auto mask = c.emit(op("eye_like"), {c.full(c.int_constant({*n, *n}), 0, c.dtype(*x))});
    return one(c.emit(op("multiply"), {x, mask}));
  }
  if (*rank != 2 || c.integer_or("offset", 0) != 0) return c.unpriced();
  const auto rows = c.known_dim(*x, 0), columns = c.known_dim(*x, 1);
  if (!rows || !columns) return Failure{};
  const std::int64_t n = std::min(*rows, *columns);
  auto places = c.emit(op("arange"), {c.number(0, DType::Int64), c.number(static_cast<double>(n), DType::Int64),
                                      c.number(1, DType::Int64)});
  auto index = c.emit(op("tile"), {c.expand_dims(places, {1}), c.int_constant({1, 2})});
  return one(c.emit(op("gather_nd"), {x, index}));
}

/// Vectors along the last axis as the diagonals of matrices.
Values diag_embed(Call& c) {
  const auto x = c.tensor("Input");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (c.integer_or("offset", 0) != 0 || c.integer_or("dim1", -2) != -2 || c.integer_or("dim2", -1) != -1)
    return c.unpriced();
  const auto n = c.known_dim(*x, -1);
  if (!n) return Failure{};
  return one(c.emit(op("multiply"), {c.expand_dims(x, {*rank}),
                                     c.emit(op("eye_like"), {c.full(c.int_constant({*n, *n}), 0, c.dtype(*x))})}));
}

/// Numbers below n in any order.
Values random_permutation(Call& c) {
  const std::int64_t n = c.integer_or("n", 0);
  if (n < 1) return c.error(fmt::format("n is {}", n));
  auto keys = c.emit(op("random.uniform"), {}, {{"dtype", "float32"}, {"shape", Ints{n}}});
  auto order = c.emit_all(op("topk"), {keys, c.int_constant({n})}, {}, 2);
  if (!order) return Failure{};
  return one(c.cast((*order)[1], c.dtype_or("dtype", DType::Int64)));
}

/// gaussian, uniform, randint, …: shape and type; the numbers do not matter.
Values random(Call& c) {
  const DType d = c.dtype_or("dtype", DType::Float32), work = is_float(d) ? d : DType::Float32;
  const bool normal = c.operation.type.find("gaussian") != std::string_view::npos;
  const auto like = c.tensor_or_none("X|Input");
  if (!like) return Failure{};
  auto shape = *like && !c.given("shape") ? c.whole_shape(*like) : c.int_vector("ShapeTensor|ShapeTensorList|shape");
  auto base = c.full(shape, 0, work);
  return one(c.cast(c.emit(normal ? op("random.normal_like") : op("random.uniform_like"), {base}), d));
}
Values bernoulli(Call& c) { return one(c.emit(op("random.bernoulli"), {c.tensor("X")})); }
Values multinomial(Call& c) {
  const auto n = c.ints_or("num_samples", {1});
  if (!n || n->size() != 1) return Failure{};
  return one(c.emit(op("random.multinomial"), {c.tensor("X")}, {{"dtype", "int64"}, {"sample_size", n->front()}}));
}

}  // namespace perfc::paddle
