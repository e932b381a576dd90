/// Indexing, gathering, scattering, embeddings.
#include <algorithm>

#include "frontends/torch/translate.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

/// Operand of indices in a type that the IR indexes by.
Result<ValueId> indices(Call& c, ValueId v) {
  const DType d = c.type(v).dtype();
  return d == DType::Int32 || d == DType::Int64 ? Result<ValueId>(v) : c.cast(v, DType::Int64);
}
Result<ValueId> indices(Call& c, std::string_view name) {
  auto v = c.tensor(name);
  return v ? indices(c, *v) : v;
}

/// What x[…] names: one index tensor per leading axis, or none for all of it.
struct Index {
  std::vector<std::optional<ValueId>> by_axis;
  std::vector<std::size_t> axes;  ///< that have one
  bool adjacent = true;
};

/// Masks become the places where they hold. `most`: number of axes of the data.
Result<Index> read_index(Call& c, const std::vector<Value>& items, std::size_t most) {
  Index out;
  for (const Value& item : items) {
    if (item.is_none()) {
      out.by_axis.emplace_back();
      continue;
    }
    const TensorRef* t = item.tensor();
    if (!t) return c.error(fmt::format("indexes by {}", item.kind()));
    auto v = c.read(*t);
    if (!v) return Failure{};
    const DType d = c.type(*v).dtype();
    if (d == DType::Bool || d == DType::UInt8) {
      const auto rank = c.rank(*v);
      auto mask = c.cast(*v, DType::Bool);
      if (!rank || !mask) return Failure{};
      auto places = c.emit(op("nonzero"), {*mask});
      if (!places) return Failure{};
      for (std::size_t i = 0; i < std::max<std::size_t>(*rank, 1); ++i) {
        auto row =
            c.emit(op("take"), {*places, c.number(static_cast<double>(i), DType::Int64)}, {{"axis", std::int64_t{0}}});
        if (!row) return Failure{};
        out.by_axis.emplace_back(*row);
      }
    } else {
      auto index = indices(c, *v);
      if (!index) return Failure{};
      out.by_axis.emplace_back(*index);
    }
  }
  if (out.by_axis.size() > most)
    return c.error(fmt::format("indexes {} axes of data of rank {}", out.by_axis.size(), most));
  for (std::size_t i = 0; i < out.by_axis.size(); ++i) {
    if (out.by_axis[i]) out.axes.push_back(i);
  }
  for (std::size_t i = 1; i < out.axes.size(); ++i) out.adjacent = out.adjacent && out.axes[i] == out.axes[i - 1] + 1;
  return out;
}

/// Index tensors broadcast together and stacked: (…, number of axes).
Result<ValueId> stacked(Call& c, const Index& index) {
  // Index tensors meet by NumPy's rules; a sum of zeros would do the same.
  std::size_t rank = 0;
  std::vector<ValueId> all;
  for (std::size_t a : index.axes) {
    const auto r = c.rank(*index.by_axis[a]);
    if (!r) return Failure{};
    rank = std::max(rank, *r);
    auto wide = c.cast(*index.by_axis[a], DType::Int64);
    if (!wide) return Failure{};
    all.push_back(*wide);
  }
  for (ValueId& v : all) {
    for (ValueId other : all) {
      if (other == v || c.type(v) == c.type(other)) continue;
      auto shape = c.shape_of(other);
      auto next = shape ? c.emit(op("broadcast_to"), {v, *shape}) : shape;
      if (!next) return Failure{};
      v = *next;
    }
  }
  std::vector<ValueId> columns;
  for (ValueId v : all) {
    auto column = c.expand_dims(v, {static_cast<std::int64_t>(rank)});
    if (!column) return Failure{};
    columns.push_back(*column);
  }
  if (columns.size() == 1) return columns.front();
  return c.emit(op("concatenate"), std::move(columns), with_mark({{"axis", static_cast<std::int64_t>(rank)}}, kInside));
}

/// Permutation that brings the indexed axes to the front.
std::vector<std::int64_t> to_front(const Index& index, std::size_t rank) {
  std::vector<std::int64_t> perm;
  for (std::size_t a : index.axes) perm.push_back(static_cast<std::int64_t>(a));
  for (std::size_t i = 0; i < rank; ++i) {
    if (std::find(index.axes.begin(), index.axes.end(), i) == index.axes.end())
      perm.push_back(static_cast<std::int64_t>(i));
  }
  return perm;
}

bool is_identity(const std::vector<std::int64_t>& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& perm) {
  std::vector<std::int64_t> out(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) out[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return out;
}

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

/// A row index per row of `part` along `axis`, in part's shape.
Result<ValueId> row_indices(Call& c, ValueId rows, ValueId part, std::size_t rank, std::int64_t axis) {
  std::vector<std::int64_t> shape(std::max<std::size_t>(rank, 1), 1);
  shape[static_cast<std::size_t>(axis)] = -1;
  auto column = c.reshape(rows, shape);
  auto target = c.shape_of(part);
  if (!column || !target) return Failure{};
  return c.emit(op("broadcast_to"), {*column, *target});
}

}  // namespace

/// x[indices], NumPy's advanced indexing.
Values index(Call& c) {
  auto x = c.tensor("self");
  const List* items = c.arg("indices").list();
  if (!x) return Failure{};
  if (!items) return c.error("'indices' must be a list");
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  // A mask of a tensor's own shape: the elements where it holds.
  if (items->items->size() == 1) {
    if (const TensorRef* t = (*items->items)[0].tensor(); t && c.type((*t)->value).dtype() == DType::Bool) {
      auto mask = c.read(*t);
      if (!mask) return Failure{};
      if (c.type(*mask).ranked() && c.type(*mask).rank() == 1) {
        return c.finish(op("compress"), {*x, *mask}, {{"axis", std::int64_t{0}}});
      }
    }
  }
  const auto in = read_index(c, *items->items, *rank);
  if (!in) return Failure{};
  if (in->axes.empty()) return std::vector<Value>{c.args[0]};
  if (in->axes.size() == 1) {
    const ValueId at = *in->by_axis[in->axes[0]];
    Attrs attrs{{"axis", static_cast<std::int64_t>(in->axes[0])}};
    // An index that is known makes no view here.
    if (c.builder().node(at.node).kind == NodeKind::Constant) attrs = with_mark(std::move(attrs), kLaunched);
    return c.finish(op("take"), {*x, at}, std::move(attrs));
  }
  auto all = stacked(c, *in);
  if (!all) return Failure{};
  const auto perm = to_front(*in, *rank);
  if (!is_identity(perm)) {
    x = c.transpose(*x, perm);
    if (!x) return Failure{};
  }
  auto y = c.emit(op("gather_nd"), {*x, *all});
  if (!y) return Failure{};
  const auto index_rank = c.rank(*all);
  if (!index_rank) return Failure{};
  // Adjacent indices stay where they were; others lead.
  if (in->adjacent && in->axes[0] > 0) {
    const auto made = c.rank(*y);
    if (!made) return Failure{};
    const std::size_t lead = in->axes[0], own = *index_rank - 1;
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < lead; ++i) order.push_back(static_cast<std::int64_t>(own + i));
    for (std::size_t i = 0; i < own; ++i) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = own + lead; i < *made; ++i) order.push_back(static_cast<std::int64_t>(i));
    y = c.transpose(*y, order);
  }
  return single(c, y);
}

/// x[indices] = values
Values index_put(Call& c) {
  auto x = c.tensor("self");
  const List* items = c.arg("indices").list();
  const auto accumulate = c.flag_or("accumulate", false);
  if (!x || !accumulate) return Failure{};
  if (!items) return c.error("'indices' must be a list");
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  auto values = promoted(c, c.arg("values"), c.type(*x).dtype());
  if (!values) return Failure{};
  // A mask and one value: a selection.
  if (items->items->size() == 1 && c.type(*values).elements() == 1 && !*accumulate) {
    if (const TensorRef* t = (*items->items)[0].tensor(); t && c.type((*t)->value).dtype() == DType::Bool) {
      auto mask = c.read(*t);
      if (!mask) return Failure{};
      const auto mask_rank = c.rank(*mask);
      if (!mask_rank) return Failure{};
      std::vector<std::int64_t> extra;
      for (std::size_t i = *mask_rank; i < *rank; ++i) extra.push_back(static_cast<std::int64_t>(i));
      if (!extra.empty()) mask = c.expand_dims(*mask, extra);
      auto value = c.reshape(*values, {});
      if (!mask || !value) return Failure{};
      return single(c, c.emit(op("where"), {*mask, *value, *x}));
    }
  }
  const auto in = read_index(c, *items->items, *rank);
  if (!in) return Failure{};
  if (in->axes.empty()) return c.error("names no place to write to");
  auto all = stacked(c, *in);
  if (!all) return Failure{};
  const auto perm = to_front(*in, *rank);
  if (!is_identity(perm)) {
    x = c.transpose(*x, perm);
    if (!x) return Failure{};
  }
  // The values broadcast to x[indices], where the dims of adjacent indices stand in the place of the axes indexed.
  const auto index_rank = c.rank(*all);
  if (!index_rank) return Failure{};
  const std::size_t own = *index_rank - 1, lead = in->adjacent ? in->axes[0] : 0, rest = *rank - in->axes.size();
  std::vector<Value> target;
  for (std::size_t i = 0; i < lead; ++i) target.emplace_back(c.size_of(*x, in->axes.size() + i));
  for (std::size_t i = 0; i < own; ++i) target.emplace_back(c.size_of(*all, i));
  for (std::size_t i = lead; i < rest; ++i) target.emplace_back(c.size_of(*x, in->axes.size() + i));
  auto shape = c.int_vector(target);
  auto updates = shape ? c.emit(op("broadcast_to"), {*values, *shape}) : shape;
  if (updates && lead > 0) {
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < own; ++i) order.push_back(static_cast<std::int64_t>(lead + i));
    for (std::size_t i = 0; i < lead; ++i) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = lead; i < rest; ++i) order.push_back(static_cast<std::int64_t>(own + i));
    updates = c.transpose(*updates, order);
  }
  if (!updates) return Failure{};
  Attrs attrs;
  if (*accumulate) attrs.set("reduction", std::string("add"));
  auto y = c.emit(op("scatter_nd"), {*x, *all, *updates}, std::move(attrs));
  if (y && !is_identity(perm)) y = c.transpose(*y, inverse(perm));
  return single(c, y);
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

/// Sums, divided by how many there are of each.
static Values scattered_mean(Call& c, const SelfDim& s, ValueId index, ValueId updates) {
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
      return c.error("'src' and 'index' must have known shapes of one rank");
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

Values masked_select(Call& c) {
  auto x = c.tensor("self"), mask = c.tensor("mask");
  if (!x || !mask) return Failure{};
  if (c.type(*x).shape() != c.type(*mask).shape()) {
    auto shape = c.shape_of(*x);
    mask = shape ? c.emit(op("broadcast_to"), {*mask, *shape}) : shape;
  }
  auto flat = c.reshape(*x, {-1});
  auto flat_mask = mask ? c.reshape(*mask, {-1}) : mask;
  if (!flat || !flat_mask) return Failure{};
  return c.finish(op("compress"), {*flat, *flat_mask}, {{"axis", std::int64_t{0}}});
}

/// Values of source, in order, where the mask holds.
Values masked_scatter(Call& c) {
  auto x = c.tensor("self"), mask = c.tensor("mask"), source = c.tensor("source");
  if (!x || !mask || !source) return Failure{};
  auto shape = c.shape_of(*x);
  auto wide = shape ? c.emit(op("broadcast_to"), {*mask, *shape}) : shape;
  auto values = c.reshape(*source, {-1});
  if (!wide || !values) return Failure{};
  const auto chosen = [&]() -> Result<ValueId> {
    const InsideKernel of_scatter(c);
    auto number = c.cast(*wide, DType::Int64);
    auto flat = number ? c.reshape(*number, {-1}) : number;
    auto count = flat ? c.emit(op("cumsum"), {*flat, c.number(0, DType::Int64)}) : flat;
    auto place = count ? c.emit(op("subtract"), {*count, c.number(1, DType::Int64)}) : count;
    auto safe = place ? c.emit(op("maximum"), {*place, c.number(0, DType::Int64)}) : place;
    auto taken = safe ? c.emit(op("take"), {*values, *safe}, {{"axis", std::int64_t{0}}}) : safe;
    return taken ? c.emit(op("reshape"), {*taken, *shape}) : taken;
  };
  const auto shaped = chosen();
  return shaped ? single(c, c.emit(op("where"), {*wide, *shaped, *x})) : Failure{};
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

/// Places of what is not zero: rows of indices, or one tensor per axis.
Values nonzero(Call& c) {
  auto v = c.tensor(std::string_view(c.row->name) == "where" ? "condition" : "self");
  auto y = v ? c.emit(op("nonzero"), {*v}) : v;
  if (!y) return Failure{};
  if (std::string_view(c.row->name) != "nonzero_numpy" && !(std::string_view(c.row->name) == "where")) {
    return single(c, c.transpose(*y, {1, 0}));
  }
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

Values triangle(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const bool upper = std::string_view(c.row->name) == "triu";
  std::vector<ValueId> operands{*v};
  if (c.given("diagonal")) {
    auto k = promoted(c, c.arg("diagonal"), DType::Int64);
    if (!k) return Failure{};
    if (!(c.data(*k) && c.data(*k)->ints() && (*c.data(*k)->ints())[0].is(0))) operands.push_back(*k);
  }
  return single(c, c.emit(op("trilu"), std::move(operands), {{"upper", static_cast<std::int64_t>(upper)}}));
}

}  // namespace perfc::torch
