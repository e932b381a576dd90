/// Tensor lists (TF 2) and tensor arrays (TF 1). Neither exists in the IR: a list
/// that was written as a whole is a tensor with one row per entry; a list that a
/// loop writes, one entry per round, is a stacked result of the loop.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"

namespace perfc::tf {
namespace {

Result<List> list_at(const Call& c, std::size_t i) {
  if (i >= c.inputs.size() || c.inputs[i].kind != Value::Kind::List)
    return c.error(fmt::format("input {} is no list of tensors", i));
  return *c.inputs[i].list;
}

Values list_value(List l) { return {Value::of(std::move(l))}; }

SymInt count_of(const Call& c, std::size_t i) {
  const auto known = c.known_ints(i);
  return known && known->size() == 1 && (*known)[0] >= 0 ? SymInt((*known)[0]) : SymInt::unknown();
}

/// Entry types from a shape operand: −1 is open, a scalar −1 of unknown rank.
Type element_type(const Call& c, std::size_t i, DType dtype) {
  const Data* d = i < c.inputs.size() && c.inputs[i].is_tensor() ? c.builder().data(c.inputs[i].id) : nullptr;
  if (!d || !d->ints() || c.rank(i) != 1) return Type::unranked(dtype);
  Shape shape;
  for (const SymInt& s : *d->ints()) shape.push_back(s.known() && s.value() < 0 ? Dim::unknown() : s);
  return Type::tensor(dtype, std::move(shape));
}

/// The whole list as a tensor. One that nothing wrote holds zeros.
Result<ValueId> dense(Call& c, const List& l) {
  if (l.dense) return l.dense;
  if (l.written) return c.error("reads a list as a whole in the loop that writes it");
  if (!l.count.known() || !l.element || !l.element.is_static()) return c.error("reads a list that nothing has written");
  std::vector<std::int64_t> shape{l.count.value()};
  for (const Dim& d : l.element.shape()) shape.push_back(d.value());
  return c.emit(op("full"), {c.int_constant(shape)}, {{"value", Literal{Type::tensor(l.dtype, {1}), nullptr}}});
}

Result<Values> item(Call& c, std::size_t list, std::size_t index) {
  auto l = list_at(c, list);
  if (!l) return Failure{};
  auto all = dense(c, *l);
  auto at = c.tensor(index);
  if (!all || !at) return Failure{};
  return c.finish(op("take"), {*all, *at}, {{"axis", std::int64_t{0}}});
}

Result<Values> write(Call& c, std::size_t list, std::size_t index, std::size_t value) {
  auto l = list_at(c, list);
  auto v = c.tensor(value);
  if (!l || !v) return Failure{};
  if (c.scope.site.in_loop) {
    if (l->written) return c.error("writes a list twice in a round of a loop");
    l->written = *v;
    return list_value(std::move(*l));
  }
  // Outside of loops entries are written one by one.
  auto row = c.expand_dims(*v, {0});
  if (!row) return Failure{};
  if (!l->dense && l->count.is(1)) {
    l->dense = *row;
    return list_value(std::move(*l));
  }
  if (!l->element || !l->element.is_static()) l->element = c.builder().type(*v);
  auto all = dense(c, *l);
  auto at = c.tensor(index);
  if (!all || !at) return Failure{};
  auto place = c.reshape(*at, {1, 1});
  if (!place) return Failure{};
  auto y = c.emit(op("scatter_nd"), {*all, *place, *row});
  if (!y) return Failure{};
  l->dense = *y;
  return list_value(std::move(*l));
}

Result<Values> whole(Call& c, std::size_t list) {
  auto l = list_at(c, list);
  if (!l) return Failure{};
  auto all = dense(c, *l);
  if (!all) return Failure{};
  return Values{Value::tensor(*all)};
}

/// Rows of a tensor; all of them in order when the indices are a range.
Result<Values> gather_rows(Call& c, std::size_t list, std::size_t indices) {
  auto l = list_at(c, list);
  auto at = c.tensor(indices);
  if (!l || !at) return Failure{};
  auto all = dense(c, *l);
  if (!all) return Failure{};
  const auto known = c.known_ints(indices);
  bool in_order = c.builder().node(at->node).is(op("arange"));
  if (known) {
    in_order = true;
    for (std::size_t i = 0; i < known->size(); ++i) in_order = in_order && (*known)[i] == static_cast<std::int64_t>(i);
    in_order = in_order && (!l->count.known() || l->count.is(static_cast<std::int64_t>(known->size())));
  }
  if (in_order) return Values{Value::tensor(*all)};
  return c.finish(op("take"), {*all, *at}, {{"axis", std::int64_t{0}}});
}

Values from_tensor(const Call& c, ValueId v) {
  const Type& t = c.builder().type(v);
  List l{.dtype = t.dtype(), .element = {}, .count = SymInt::unknown(), .dense = v, .written = {}};
  if (t.ranked() && t.rank() > 0) {
    l.element = Type::tensor(t.dtype(), Shape(t.shape().begin() + 1, t.shape().end()));
    l.count = t.shape()[0];
  }
  return list_value(std::move(l));
}

/// Rows of rows: the first two axes become one.
Result<Values> concat_rows(Call& c, std::size_t list) {
  auto l = list_at(c, list);
  if (!l) return Failure{};
  auto all = dense(c, *l);
  if (!all) return Failure{};
  const Type& t = c.builder().type(*all);
  if (!t.ranked() || t.rank() < 2) return c.error(fmt::format("cannot join the rows of {}", to_string(t)));
  std::vector<std::int64_t> shape{-1};
  for (std::size_t i = 2; i < t.rank(); ++i) {
    if (!t.shape()[i].known()) return c.error(fmt::format("{} has an open dim", to_string(t)));
    shape.push_back(t.shape()[i].value());
  }
  auto joined = c.reshape(*all, shape);
  if (!joined) return Failure{};
  return Values{Value::tensor(*joined), Value{}};
}

}  // namespace

// ---- TensorList: (list, …)

Result<Values> list_reserve(Call& c, const OpRow& row) {
  const DType dtype = c.dtype_attr("element_dtype", DType::Undefined);
  const bool empty = row.name == "EmptyTensorList";
  return list_value({.dtype = dtype,
                     .element = element_type(c, 0, dtype),
                     .count = empty ? SymInt::unknown() : count_of(c, 1),
                     .dense = {},
                     .written = {}});
}
Result<Values> list_from_tensor(Call& c, const OpRow&) {
  auto v = c.tensor(0);
  if (!v) return Failure{};
  return from_tensor(c, *v);
}
Result<Values> list_get(Call& c, const OpRow&) { return item(c, 0, 1); }
Result<Values> list_set(Call& c, const OpRow&) { return write(c, 0, 1, 2); }
Result<Values> list_push(Call& c, const OpRow&) { return write(c, 0, 0, 1); }
Result<Values> list_stack(Call& c, const OpRow&) { return whole(c, 0); }
Result<Values> list_gather(Call& c, const OpRow&) { return gather_rows(c, 0, 1); }
Result<Values> list_concat(Call& c, const OpRow&) { return concat_rows(c, 0); }
Result<Values> list_length(Call& c, const OpRow&) {
  auto l = list_at(c, 0);
  if (!l) return Failure{};
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{l->count};
  return Values{Value::tensor(c.constant({Type::tensor(DType::Int32, {}), l->count.known() ? data : nullptr}))};
}

// ---- TensorArray: (handle, …, flow); the flow carries the contents

Result<Values> array_new(Call& c, const OpRow&) {
  const DType dtype = c.dtype_attr("dtype", DType::Undefined);
  const Type element = c.shape_attr("element_shape", dtype).value_or(Type::unranked(dtype));
  const Value v =
      Value::of(List{.dtype = dtype, .element = element, .count = count_of(c, 0), .dense = {}, .written = {}});
  return Values{v, v};
}
Result<Values> array_read(Call& c, const OpRow&) { return item(c, 2, 1); }
Result<Values> array_write(Call& c, const OpRow&) { return write(c, 3, 1, 2); }
Result<Values> array_scatter(Call& c, const OpRow&) {
  auto v = c.tensor(2);
  if (!v) return Failure{};
  return from_tensor(c, *v);
}
/// (handle, value, lengths, flow): pieces of the value, which one list can hold when they are alike.
Result<Values> array_split(Call& c, const OpRow&) {
  auto v = c.tensor(1);
  auto lengths = c.ints(2, "lengths");
  if (!v || !lengths) return Failure{};
  const Type t = c.builder().type(*v);
  if (!t.ranked() || t.rank() == 0 || lengths->empty())
    return c.error(fmt::format("cannot cut {} into {} pieces", to_string(t), lengths->size()));
  const std::int64_t length = lengths->front();
  if (length < 1 || std::any_of(lengths->begin(), lengths->end(), [&](std::int64_t l) { return l != length; })) {
    return c.error("cuts pieces of different lengths, which one list cannot hold");
  }
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(lengths->size()), length};
  for (std::size_t i = 1; i < t.rank(); ++i) {
    if (!t.shape()[i].known())
      return c.error(fmt::format("{} has an open dim; --shape gives the shape of an input", to_string(t)));
    shape.push_back(t.shape()[i].value());
  }
  auto rows = c.reshape(*v, shape);
  if (!rows) return Failure{};
  return from_tensor(c, *rows);
}
Result<Values> array_gather(Call& c, const OpRow&) { return gather_rows(c, 2, 1); }
Result<Values> array_concat(Call& c, const OpRow&) { return concat_rows(c, 1); }
Result<Values> array_size(Call& c, const OpRow&) {
  auto l = list_at(c, 1);
  if (!l) return Failure{};
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{l->count};
  return Values{Value::tensor(c.constant({Type::tensor(DType::Int32, {}), l->count.known() ? data : nullptr}))};
}

}  // namespace perfc::tf
