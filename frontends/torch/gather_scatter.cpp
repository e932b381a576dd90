/// Entries along a dim by their indices: gathered, written, added to; tables of embeddings.
#include <algorithm>

#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

std::string_view reduction_name(std::string_view given) {
  if (given == "sum" || given == "add") return "add";
  if (given == "prod" || given == "multiply" || given == "mul") return "mul";
  if (given == "amax" || given == "maximum") return "max";
  if (given == "amin" || given == "minimum") return "min";
  return given.empty() ? "none" : given;
}

struct SelfDim {
  ValueId self;
  std::size_t rank;
  std::int64_t axis;
};

Result<SelfDim> self_dim(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto axis = c.axis("dim", *rank);
  if (!axis) return Failure{};
  return SelfDim{*v, *rank, static_cast<std::int64_t>(*axis)};
}

/// Sums, divided by how many there are of each.
Values scattered_mean(Call& c, const SelfDim& s, ValueId index, ValueId updates) {
  const Attrs adds{{"axis", s.axis}, {"reduction", std::string("add")}};
  auto sum = c.emit(op("scatter_elements"), {s.self, index, updates}, adds);
  const InsideKernel of_scatter(c);
  const auto include_self = c.flag_or("include_self", true);
  auto whole = c.shape_of(s.self), parts = c.shape_of(index);
  if (!sum || !include_self || !whole || !parts) return Failure{};
  const DType d = c.type(s.self).dtype();
  auto first = c.full(*whole, *include_self ? 1 : 0, d), ones = c.full(*parts, 1, d);
  auto count = first && ones ? c.emit(op("scatter_elements"), {*first, index, *ones}, adds) : first;
  auto bounded = count ? c.emit(op("maximum"), {*count, c.number(1, d)}) : count;
  return bounded ? single(c, c.emit(op("divide"), {*sum, *bounded})) : Failure{};
}

}  // namespace

Result<ValueId> row_indices(Call& c, ValueId rows, ValueId part, std::size_t rank, std::int64_t axis) {
  std::vector<std::int64_t> shape(std::max<std::size_t>(rank, 1), 1);
  shape[static_cast<std::size_t>(axis)] = -1;
  auto column = c.reshape(rows, shape);
  auto target = c.shape_of(part);
  if (!column || !target) return Failure{};
  return c.emit(op("broadcast_to"), {*column, *target});
}

Values index_select(Call& c) {
  const auto s = self_dim(c);
  auto i = indices(c, "index");
  if (!s || !i) return Failure{};
  return single(c, c.emit(op("take"), {s->self, *i}, {{"axis", s->axis}}));
}

/// Rows of self along a dim replaced (index_copy, index_fill) or added to (index_add).
Values index_write(Call& c) {
  const auto s = self_dim(c);
  auto rows = indices(c, "index");
  if (!s || !rows) return Failure{};
  const std::string_view name = c.row->name;
  ValueId part;
  if (name == "index_fill") {
    auto value = promoted(c, c.arg("value"), c.type(s->self).dtype());
    auto old = c.emit(op("take"), {s->self, *rows}, {{"axis", s->axis}});
    auto shape = old ? c.shape_of(*old) : old;
    auto wide = value && shape ? c.emit(op("broadcast_to"), {*value, *shape}) : Result<ValueId>(Failure{});
    if (!wide) return Failure{};
    part = *wide;
  } else {
    auto source = c.tensor("source");
    if (!source) return Failure{};
    part = *source;
    const auto alpha = c.real_or("alpha", 1);
    if (!alpha) return Failure{};
    if (*alpha != 1) {
      auto scaled = c.emit(op("multiply"), {part, c.number(*alpha, c.type(part).dtype())});
      if (!scaled) return Failure{};
      part = *scaled;
    }
  }
  auto index = row_indices(c, *rows, part, s->rank, s->axis);
  if (!index) return Failure{};
  Attrs attrs{{"axis", s->axis}};
  if (name == "index_add") attrs.set("reduction", std::string("add"));
  if (name == "index_reduce") attrs.set("reduction", std::string(reduction_name(c.text_or("reduce", ""))));
  return single(c, c.emit(op("scatter_elements"), {s->self, *index, part}, std::move(attrs)));
}

Values gather(Call& c) {
  const auto s = self_dim(c);
  auto i = indices(c, "index");
  if (!s || !i) return Failure{};
  if (s->rank == 0) return c.result(s->self);
  return single(c, c.emit(op("gather"), {s->self, *i}, {{"axis", s->axis}}));
}

Values take_along_dim(Call& c) {
  auto x = c.tensor("self"), i = indices(c, "indices");
  if (!x || !i) return Failure{};
  if (!c.given("dim")) {
    x = c.reshape(*x, {-1});
    i = c.reshape(*i, {-1});
    if (!x || !i) return Failure{};
    return single(c, c.emit(op("gather"), {*x, *i}, {{"axis", std::int64_t{0}}}));
  }
  const auto rank = c.rank(*x);
  const auto axis = rank ? c.axis("dim", *rank) : Result<std::size_t>(Failure{});
  if (!axis) return Failure{};
  return single(c, c.emit(op("gather"), {*x, *i}, {{"axis", static_cast<std::int64_t>(*axis)}}));
}

/// Elements of the flat data.
Values take(Call& c) {
  auto x = c.tensor("self"), i = indices(c, "index");
  auto flat = x ? c.reshape(*x, {-1}) : x;
  if (!flat || !i) return Failure{};
  return single(c, c.emit(op("take"), {*flat, *i}, {{"axis", std::int64_t{0}}}));
}

/// scatter, scatter_add, scatter_reduce; a value stands for a tensor of it. The
/// indices' shape is what counts: a larger source is cut to it.
Values scatter(Call& c) {
  const auto s = self_dim(c);
  auto i = indices(c, "index");
  if (!s || !i) return Failure{};
  const std::string_view name = c.row->name;
  const Value& src = c.arg("src");
  auto updates = promoted(c, src, c.type(s->self).dtype());
  auto shape = c.shape_of(*i);
  if (!updates || !shape) return Failure{};
  if (!src.tensor() || c.type(*updates).rank() == 0) {
    updates = c.emit(op("broadcast_to"), {*updates, *shape});
  } else if (c.type(*updates).shape() != c.type(*i).shape()) {
    const Type u = c.type(*updates), t = c.type(*i);
    if (!u.is_static() || !t.is_static() || u.rank() != t.rank())
      return c.error(fmt::format("'src' and 'index' must have known shapes of one rank, not {} and {}", to_string(u),
                                 to_string(t)));
    for (std::size_t a = 0; updates && a < t.rank(); ++a) {
      if (c.dim(*updates, a) != t.shape()[a]) updates = c.slice(*updates, a, 0, t.shape()[a].value(), 1);
    }
  }
  if (!updates) return Failure{};
  const std::string reduction(name == "scatter_add" ? "add" : reduction_name(c.text_or("reduce", "")));
  Attrs attrs{{"axis", s->axis}};
  if (reduction == "mean") return scattered_mean(c, *s, *i, *updates);
  if (reduction != "none") attrs.set("reduction", reduction);
  return single(c, c.emit(op("scatter_elements"), {s->self, *i, *updates}, std::move(attrs)));
}

/// slice_scatter, select_scatter: writes to a view of a copy.
Values view_scatter(Call& c) {
  auto x = c.tensor("self"), src = c.tensor("src");
  if (!x || !src) return Failure{};
  const auto rank = c.rank(*x);
  const auto dim = rank ? c.integer_or("dim", 0) : Result<std::int64_t>(Failure{});
  const auto axis = dim ? c.axis(*dim, *rank) : Result<std::size_t>(Failure{});
  if (!axis) return Failure{};
  const Value copy = Call::fresh(*x);
  Result<Value> part = Failure{};
  if (std::string_view(c.row->name) == "select_scatter") {
    auto i = promoted(c, c.arg("index"), DType::Int64);
    if (!i) return Failure{};
    part = c.view(*copy.tensor(), op("take"), {*i}, {{"axis", static_cast<std::int64_t>(*axis)}});
  } else {
    const auto start = c.integer_or("start", 0), end = c.integer_or("end", INT64_MAX), step = c.integer_or("step", 1);
    if (!start || !end || !step) return Failure{};
    part = c.view(*copy.tensor(), op("strided_slice"),
                  {c.int_constant({*start}), c.int_constant({*end}), c.int_constant({static_cast<std::int64_t>(*axis)}),
                   c.int_constant({*step})});
  }
  if (!part || !c.replace(*part->tensor(), *src)) return Failure{};
  return std::vector<Value>{copy};
}

Values embedding(Call& c) {
  auto w = c.tensor("weight"), i = indices(c, "indices");
  if (!w || !i) return Failure{};
  return single(c, c.emit(op("take"), {*w, *i}, {{"axis", std::int64_t{0}}}));
}

Values embedding_bag(Call& c) {
  auto w = c.tensor("weight"), i = indices(c, "indices"), offsets = c.tensor_or_none("offsets");
  auto weights = c.tensor_or_none("per_sample_weights");
  const auto mode = c.integer_or("mode", 0);
  const auto last = c.flag_or("include_last_offset", false);
  if (!w || !i || !offsets || !weights || !mode || !last) return Failure{};
  Attrs attrs{{"mode", std::string(*mode == 0 ? "sum" : *mode == 1 ? "mean" : "max")}};
  if (*last) attrs.set("include_last_offset", std::int64_t{1});
  auto y = c.emit(op("nn.embedding_bag"), {*w, *i, *offsets, *weights}, std::move(attrs));
  return y ? with_unused(c, c.result(*y)) : Failure{};
}

Values one_hot(Call& c) {
  auto v = c.tensor("self");
  const auto classes = c.integer_or("num_classes", -1);
  if (!v || !classes) return Failure{};
  if (*classes < 1) return c.error("the number of classes must be given: it depends on the data else");
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{0, 1};
  return single(c, c.emit(op("one_hot"),
                          {*v, c.number(static_cast<double>(*classes), DType::Int64),
                           c.constant({Type::tensor(DType::Int64, {2}), data})},
                          {{"axis", std::int64_t{-1}}}));
}

}  // namespace perfc::torch
