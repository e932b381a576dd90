/// Constants, variables, shape arithmetic, data movement.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/tf/translators.h"
#include "ir/tables.h"

namespace perfc::tf {
namespace {

std::optional<std::size_t> normalized(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

Result<std::size_t> axis_of(const Call& c, std::int64_t axis, std::size_t rank) {
  const auto a = normalized(axis, rank);
  if (!a) return c.error(fmt::format("axis {} is out of range for {} axes", axis, rank));
  return *a;
}

/// The weight that a variable holds, one constant per graph.
Result<ValueId> read_variable(Call& c, const Variable& v) {
  const auto known = c.scope.site.weights.find(v.name);
  if (known != c.scope.site.weights.end()) return known->second;
  if (!v.type.is_static()) {
    return c.error(fmt::format("the shape of the variable '{}' is not known ({})", v.name, to_string(v.type)));
  }
  const ValueId id = c.builder().constant({v.type, nullptr}, v.name, c.loc);
  c.scope.site.weights.emplace(v.name, id);
  return id;
}

/// A TensorFlow mask attribute.
bool bit(std::int64_t mask, std::size_t i) { return i < 63 && (mask >> i & 1) != 0; }

constexpr std::int64_t kEnd = INT64_MAX;

}  // namespace

// ---- Constants and variables

Result<Values> constant(Call& c, const OpRow&) {
  const auto value = c.attr("value");
  if (!value || value->tensors.size() != 1) return c.error("has no value");
  std::string why;
  auto l = literal(value->tensors[0], why);
  if (!l) return c.error(why);
  const bool numbers = is_float(l->type.dtype()) && l->type.is_tensor() && l->type.ranked() && l->type.rank() > 0;
  if (!numbers || !c.importer.has_variables()) return one(c.builder().constant(std::move(*l), c.name, c.loc));
  return one(add_table(c.builder(), std::move(*l), c.name, c.loc));
}

/// An input that the signature does not name has to be given a value.
Result<Values> placeholder(Call& c, const OpRow&) {
  const auto dtype = c.attr("dtype");
  if (dtype && dtype->types.size() == 1 && (dtype->types[0] == kResource || dtype->types[0] == kVariant))
    return Values{Value::handle()};
  return c.error("is read, but is no input of the signature");
}

/// VarHandleOp: a resource; the shape stands in the node, or in the object graph.
Result<Values> variable_handle(Call& c, const OpRow&) {
  const DType dtype = c.dtype_attr("dtype", DType::Undefined);
  std::string name(c.string_attr("shared_name", ""));
  if (name.empty()) name = c.name;
  Type type = c.shape_attr("shape", dtype).value_or(Type{});
  if (!type || !type.is_static()) {
    const Type held = c.importer.variable_type(name);
    if (held) type = held;
  }
  if (!type && dtype == DType::Undefined) return Values{Value::handle()};
  if (!type) type = Type::unranked(dtype);
  return Values{Value::of(Variable{std::move(name), std::move(type)})};
}

/// VariableV2: the node's result is the value.
Result<Values> variable_value(Call& c, const OpRow&) {
  const DType dtype = c.dtype_attr("dtype", DType::Undefined);
  const auto type = c.shape_attr("shape", dtype);
  if (!type || dtype == DType::Undefined) return c.error("has no shape or element type");
  auto v = read_variable(c, {c.name, *type});
  if (!v) return Failure{};
  return one(*v);
}

Result<Values> read_handle(Call& c, const OpRow&) {
  if (c.inputs.empty()) return c.error("has no input");
  const Value& v = c.inputs[0];
  if (v.is_tensor()) return Values{v};
  if (v.kind != Value::Kind::Variable) return c.error("reads a resource that is no variable");
  Variable variable = *v.variable;
  if (!variable.type.is_static()) {
    const Type declared = c.declared(0, c.dtype_attr("dtype", variable.type.dtype()));
    if (declared && declared.is_static()) variable.type = declared;
  }
  auto id = read_variable(c, variable);
  if (!id) return Failure{};
  return one(*id);
}

/// Assign and kin return what the variable holds afterwards.
Result<Values> assign(Call& c, const OpRow& row) {
  if (c.inputs.size() < 2) return c.error("takes a variable and a value");
  if (row.name == "Assign") return Values{c.inputs[1]};
  if (c.inputs[0].kind == Value::Kind::Variable) return Values{};  // AssignVariableOp and kin return nothing
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  return c.finish(row_op(row), *operands);
}

Result<Values> resource_gather(Call& c, const OpRow& row) {
  if (c.inputs.size() < 2) return c.error("takes a variable and indices");
  auto table = read_handle(c, row);
  auto indices = c.tensor(1);
  if (!table || !indices) return Failure{};
  if (c.int_attr("batch_dims", 0) != 0) return c.error("batch_dims other than 0 are not supported");
  return c.finish(op("take"), {(*table)[0].id, *indices}, {{"axis", std::int64_t{0}}});
}

// ---- Shapes

Result<Values> shape(Call& c, const OpRow&) {
  Values out;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    auto x = c.tensor(i);
    if (!x) return Failure{};
    auto s = c.shape_of(*x);
    if (!s) return Failure{};
    auto cast = c.cast(*s, c.dtype_attr("out_type", DType::Int32));
    if (!cast) return Failure{};
    out.push_back(Value::tensor(*cast));
  }
  return out;
}

Result<Values> size(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto s = c.emit(op("size_of"), {*x});
  if (!s) return Failure{};
  return one(c.cast(*s, c.dtype_attr("out_type", DType::Int32)));
}

Result<Values> rank(Call& c, const OpRow&) {
  const auto r = c.rank(0);
  if (!r) return c.error("of data of unknown rank");
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{SymInt(static_cast<std::int64_t>(*r))};
  return one(c.constant({Type::tensor(DType::Int32, {}), data}));
}

Result<Values> reshape(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const auto known = c.known_ints(1);
  if (!known) return c.finish(op("reshape"), *operands);
  Attrs attrs;
  // 0 is an extent here, not "as before".
  if (std::find(known->begin(), known->end(), 0) != known->end()) attrs.set("allowzero", std::int64_t{1});
  return c.finish(op("reshape"), {(*operands)[0], c.int_constant(*known)}, std::move(attrs));
}

Result<Values> squeeze(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  std::vector<std::int64_t> axes = c.ints_attr("squeeze_dims");
  if (axes.empty()) axes = c.ints_attr("axis");
  std::vector<ValueId> operands{*x};
  if (!axes.empty()) operands.push_back(c.int_constant(axes));
  return c.finish(op("squeeze"), std::move(operands));
}

Result<Values> expand_dims(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto axis = c.integer(1, "dim");
  if (!x || !axis) return Failure{};
  return c.finish(op("expand_dims"), {*x, c.int_constant({*axis})});
}

Result<Values> transpose(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  if (!c.has(1)) return c.finish(op("transpose"), {*x});
  auto perm = c.ints(1, "perm");
  if (!perm) return Failure{};
  return c.finish(op("transpose"), {*x}, {{"perm", *perm}});
}

Result<Values> invert_permutation(Call& c, const OpRow&) {
  auto perm = c.ints(0, "the permutation");
  if (!perm) return Failure{};
  std::vector<SymInt> inverse(perm->size(), SymInt(-1));
  for (std::size_t i = 0; i < perm->size(); ++i) {
    const std::int64_t p = (*perm)[i];
    if (p < 0 || p >= static_cast<std::int64_t>(perm->size()) || !inverse[static_cast<std::size_t>(p)].is(-1))
      return c.error("is given no permutation");
    inverse[static_cast<std::size_t>(p)] = SymInt(static_cast<std::int64_t>(i));
  }
  auto data = std::make_shared<Data>();
  data->elements = std::move(inverse);
  return one(c.constant({c.type(0), data}));
}

/// Shape that two shapes broadcast to.
Result<Values> broadcast_args(Call& c, const OpRow&) {
  auto a = c.ints(0, "the first shape");
  auto b = c.ints(1, "the second shape");
  if (!a || !b) return Failure{};
  std::vector<SymInt> out;
  const std::size_t n = std::max(a->size(), b->size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t x = i + a->size() >= n ? (*a)[i + a->size() - n] : 1;
    const std::int64_t y = i + b->size() >= n ? (*b)[i + b->size() - n] : 1;
    if (x != y && x != 1 && y != 1) return c.error(fmt::format("{} and {} do not broadcast", x, y));
    out.emplace_back(x == 1 ? y : x);
  }
  auto data = std::make_shared<Data>();
  const auto count = static_cast<std::int64_t>(out.size());
  data->elements = std::move(out);
  return one(c.constant({Type::tensor(c.type(0).dtype(), {count}), data}));
}

Result<Values> fill(Call& c, const OpRow&) {
  auto dims = c.tensor(0);
  auto value = c.tensor(1);
  if (!dims || !value) return Failure{};
  const Type& type = c.builder().type(*value);
  const DataRef data = c.builder().data_ref(*value);
  if (data && data->fully_known() && data->size() == 1) {
    return c.finish(op("full"), {*dims}, {{"value", Literal{Type::tensor(type.dtype(), {1}), data}}});
  }
  return c.finish(op("broadcast_to"), {*value, *dims});
}

/// ZerosLike, OnesLike.
Result<Values> full_like(Call& c, const OpRow& row) {
  if (c.has(0) && c.inputs[0].kind == Value::Kind::List) return Values{c.inputs[0]};
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const DType dtype = c.builder().type(*x).dtype();
  const std::int64_t value = row.name == "OnesLike" ? 1 : 0;
  auto data = std::make_shared<Data>();
  if (is_float(dtype)) {
    data->elements = std::vector<double>{static_cast<double>(value)};
  } else {
    data->elements = std::vector<SymInt>{SymInt(value)};
  }
  const bool has_value = is_float(dtype) || is_integer(dtype) || dtype == DType::Bool;
  auto s = c.shape_of(*x);
  if (!s) return Failure{};
  return c.finish(op("full"), {*s}, {{"value", Literal{Type::tensor(dtype, {1}), has_value ? data : nullptr}}});
}

Result<Values> range(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  return c.finish(op("arange"), *operands);
}

/// (start, stop, num): as many values, evenly spaced.
Result<Values> linspace(Call& c, const OpRow&) {
  auto start = c.tensor(0);
  auto num = c.integer(2, "num");
  if (!start || !num) return Failure{};
  if (*num < 1) return c.error(fmt::format("num is {}", *num));
  auto n =
      c.emit(op("arange"), {c.constant(int64_scalar(0)), c.constant(int64_scalar(*num)), c.constant(int64_scalar(1))});
  if (!n) return Failure{};
  auto x = c.cast(*n, c.builder().type(*start).dtype());
  auto stop = c.tensor(1);
  if (!x || !stop) return Failure{};
  auto span = c.emit(op("subtract"), {*stop, *start});
  if (!span) return Failure{};
  auto step =
      c.emit(op("divide"), {*span, c.number_like(*span, static_cast<double>(std::max<std::int64_t>(1, *num - 1)))});
  if (!step) return Failure{};
  auto scaled = c.emit(op("multiply"), {*x, *step});
  if (!scaled) return Failure{};
  return one(c.emit(op("add"), {*scaled, *start}));
}

// ---- Joining and cutting

/// ConcatV2 (values…, axis), Concat (axis, values…).
Result<Values> concat(Call& c, const OpRow& row) {
  if (c.inputs.size() < 2) return c.error("takes an axis and values");
  const bool axis_last = row.name == "ConcatV2";
  const std::size_t n = c.inputs.size();
  auto axis = c.integer(axis_last ? n - 1 : 0, "axis");
  auto values = c.tensors(axis_last ? 0 : 1, axis_last ? n - 1 : n);
  if (!axis || !values) return Failure{};
  if (values->size() == 1) return one((*values)[0]);
  return c.finish(op("concatenate"), *values, {{"axis", *axis}});
}

Result<Values> pack(Call& c, const OpRow&) {
  auto values = c.tensors(0, c.inputs.size());
  if (!values) return Failure{};
  if (values->empty()) return c.error("has no values");
  const std::int64_t axis = c.int_attr("axis", 0);
  for (ValueId& v : *values) {
    auto view = c.expand_dims(v, {axis});
    if (!view) return Failure{};
    v = *view;
  }
  if (values->size() == 1) return one((*values)[0]);
  return c.finish(op("concatenate"), *values, {{"axis", axis}});
}

Result<Values> unpack(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const std::int64_t num = c.int_attr("num", 0);
  const std::int64_t axis = c.int_attr("axis", 0);
  const auto r = c.rank(0);
  if (num < 1 || num > 1'000'000 || !r)
    return c.error(fmt::format("cannot take {} apart into {}", to_string(c.type(0)), num));
  const auto at = axis_of(c, axis, *r);
  if (!at) return Failure{};
  Values parts{Value::tensor(*x)};
  if (num > 1) {
    auto split = c.finish(op("split"), {*x}, {{"axis", axis}, {"num_outputs", num}}, static_cast<int>(num));
    if (!split) return Failure{};
    parts = std::move(*split);
  }
  for (Value& p : parts) {
    auto view = c.squeeze(p.id, {static_cast<std::int64_t>(*at)});
    if (!view) return Failure{};
    p = Value::tensor(*view);
  }
  return parts;
}

/// Split (axis, x), SplitV (x, sizes, axis).
Result<Values> split(Call& c, const OpRow& row) {
  const bool sized = row.name == "SplitV";
  auto x = c.tensor(sized ? 0 : 1);
  auto axis = c.integer(sized ? 2 : 0, "axis");
  if (!x || !axis) return Failure{};
  const std::int64_t num = c.int_attr("num_split", 0);
  if (num < 1 || num > 1'000'000) return c.error(fmt::format("num_split is {}", num));
  if (num == 1) return one(*x);
  std::vector<ValueId> operands{*x};
  Attrs attrs{{"axis", *axis}};
  if (sized) {
    auto sizes = c.ints(1, "sizes");
    const Type& t = c.builder().type(*x);
    if (!sizes) return Failure{};
    // One size may be left open.
    const auto open = std::find(sizes->begin(), sizes->end(), -1);
    const auto at = t.ranked() ? normalized(*axis, t.rank()) : std::nullopt;
    if (open != sizes->end()) {
      if (!at || !t.shape()[*at].known()) return c.error("an open size of an open dim");
      std::int64_t rest = t.shape()[*at].value();
      for (auto s = sizes->begin(); s != sizes->end(); ++s) {
        if (s != open && __builtin_sub_overflow(rest, *s, &rest)) return c.error("sizes are too large");
      }
      *open = rest;
    }
    operands.push_back(c.int_constant(*sizes));
  } else {
    attrs.set("num_outputs", num);
  }
  return c.finish(op("split"), std::move(operands), std::move(attrs), static_cast<int>(num));
}

/// (x, begin, size): a size of −1 means the rest.
Result<Values> slice(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const auto begin = c.known_ints(1);
  const auto size = c.known_ints(2);
  const auto r = c.rank(0);
  if (!begin || !size || begin->size() != size->size()) {
    auto b = c.tensor(1);
    auto s = c.tensor(2);
    if (!b || !s) return Failure{};
    auto end = c.emit(op("add"), {*b, *s});
    if (!end || !r) return c.error("of data of unknown rank at run-time places is not supported");
    // An open size of −1 cannot be told from a real one at run time.
    const Data* known = c.builder().data(*s);
    if (known && known->ints() &&
        std::any_of(known->ints()->begin(), known->ints()->end(), [](const SymInt& v) { return v.is(-1); })) {
      std::vector<SymInt> ends;
      const Data* at = c.builder().data(*b);
      for (std::size_t i = 0; i < known->ints()->size(); ++i) {
        const SymInt& n = (*known->ints())[i];
        const bool both = at && at->ints() && i < at->ints()->size() && (*at->ints())[i].known() && n.known();
        ends.push_back(n.is(-1) ? SymInt(kEnd)
                       : both   ? SymInt((*at->ints())[i].value() + n.value())
                                : SymInt::unknown());
      }
      if (std::any_of(ends.begin(), ends.end(), [](const SymInt& e) { return !e.known(); })) {
        return c.error("with sizes that are partly open and partly computed at run time is not supported");
      }
      std::vector<std::int64_t> values;
      values.reserve(ends.size());
      for (const SymInt& e : ends) values.push_back(e.value());
      return c.finish(op("strided_slice"), {*x, *b, c.int_constant(values)});
    }
    return c.finish(op("strided_slice"), {*x, *b, *end});
  }
  std::vector<std::int64_t> ends, axes;
  for (std::size_t i = 0; i < begin->size(); ++i) {
    std::int64_t end = 0;
    if ((*size)[i] == -1 || __builtin_add_overflow((*begin)[i], (*size)[i], &end)) end = kEnd;
    ends.push_back(end);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  return c.finish(op("strided_slice"), {*x, c.int_constant(*begin), c.int_constant(ends), c.int_constant(axes)});
}

/// x[begin:end:strides] with all masks (tf.strided_slice).
Result<Values> strided_slice(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto begin = c.tensor(1);
  auto end = c.tensor(2);
  auto strides = c.ints(3, "strides");
  if (!x || !begin || !end || !strides) return Failure{};
  const std::int64_t begin_mask = c.int_attr("begin_mask", 0), end_mask = c.int_attr("end_mask", 0);
  const std::int64_t ellipsis_mask = c.int_attr("ellipsis_mask", 0), new_axis_mask = c.int_attr("new_axis_mask", 0);
  const std::int64_t shrink_mask = c.int_attr("shrink_axis_mask", 0);
  const std::size_t n = strides->size();
  if (n > 62) return c.error(fmt::format("{} entries; data has no so many axes", n));
  const auto entry = [&](ValueId v, std::size_t i) -> SymInt {
    const Data* d = c.builder().data(v);
    return d && d->ints() && i < d->ints()->size() ? (*d->ints())[i] : SymInt::unknown();
  };
  std::size_t consumed = 0;
  for (std::size_t i = 0; i < n; ++i) consumed += !bit(ellipsis_mask, i) && !bit(new_axis_mask, i);
  const auto r = c.rank(0);
  if (!r) return c.error("of data of unknown rank; --shape gives the shape of the input");
  if (consumed > *r) return c.error(fmt::format("{} entries for {}", consumed, to_string(c.type(0))));

  std::vector<std::int64_t> starts, ends, axes, steps, removed, added;
  struct Late {
    std::size_t axis, entry;
    bool take;
  };
  std::vector<Late> late;  // begin or end are known at run time only
  std::size_t axis = 0, out = 0;
  bool ellipsis_seen = false;
  for (std::size_t i = 0; i < n; ++i) {
    if (bit(ellipsis_mask, i)) {
      if (ellipsis_seen) return c.error("has two ellipses");
      ellipsis_seen = true;
      axis += *r - consumed;
      out += *r - consumed;
      continue;
    }
    if (bit(new_axis_mask, i)) {
      added.push_back(static_cast<std::int64_t>(out++));
      continue;
    }
    const SymInt from = entry(*begin, i), to = entry(*end, i);
    if (bit(shrink_mask, i)) {
      removed.push_back(static_cast<std::int64_t>(axis));
      if (from.known()) {
        starts.push_back(from.value());
        ends.push_back(from.value() == -1 ? kEnd : from.value() + 1);
        axes.push_back(static_cast<std::int64_t>(axis));
        steps.push_back(1);
      } else {
        late.push_back({axis, i, true});
      }
      ++axis;
      continue;
    }
    const std::int64_t step = (*strides)[i];
    if (step == 0) return c.error("a stride is 0");
    const bool open_begin = bit(begin_mask, i), open_end = bit(end_mask, i);
    if ((open_begin || from.known()) && (open_end || to.known())) {
      if (!(open_begin && open_end && step == 1)) {
        starts.push_back(open_begin ? (step > 0 ? 0 : kEnd) : from.value());
        ends.push_back(open_end ? (step > 0 ? kEnd : -kEnd) : to.value());
        axes.push_back(static_cast<std::int64_t>(axis));
        steps.push_back(step);
      }
    } else {
      late.push_back({axis, i, false});
    }
    ++axis;
    ++out;
  }
  ValueId y = *x;
  if (!axes.empty()) {
    auto v = c.emit(op("strided_slice"),
                    {y, c.int_constant(starts), c.int_constant(ends), c.int_constant(axes), c.int_constant(steps)});
    if (!v) return Failure{};
    y = *v;
  }
  for (const Late& l : late) {
    const auto at = static_cast<std::int64_t>(l.axis), i = static_cast<std::int64_t>(l.entry);
    const auto pick = [&](ValueId from) {
      return c.emit(op("strided_slice"), {from, c.int_constant({i}), c.int_constant({i + 1}), c.int_constant({0})});
    };
    auto from = pick(*begin);
    auto to = pick(*end);
    if (!from || !to) return Failure{};
    Result<ValueId> v = Failure{};
    if (l.take) {
      v = c.emit(op("take"), {y, *from}, {{"axis", at}});
    } else {
      const DType dtype = c.builder().type(*from).dtype();
      const auto constant = [&](std::int64_t value) {
        auto data = std::make_shared<Data>();
        data->elements = std::vector<SymInt>{SymInt(value)};
        return c.constant({Type::tensor(dtype, {1}), data});
      };
      const std::int64_t largest = dtype == DType::Int32 ? INT32_MAX : kEnd;
      const std::int64_t step = (*strides)[l.entry];
      const ValueId first = bit(begin_mask, l.entry) ? constant(step > 0 ? 0 : largest) : *from;
      const ValueId last = bit(end_mask, l.entry) ? constant(step > 0 ? largest : -largest) : *to;
      v = c.emit(op("strided_slice"), {y, first, last, constant(at), constant(step)});
    }
    if (!v) return Failure{};
    y = *v;
  }
  if (!removed.empty()) {
    auto v = c.squeeze(y, removed);
    if (!v) return Failure{};
    y = *v;
  }
  if (!added.empty()) {
    auto v = c.expand_dims(y, added);
    if (!v) return Failure{};
    y = *v;
  }
  return one(y);
}

Result<Values> reverse(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto axes = c.ints(1, "axis");
  if (!x || !axes) return Failure{};
  if (c.type(1).dtype() == DType::Bool) {
    // ReverseV1: a flag per axis.
    std::vector<std::int64_t> flagged;
    for (std::size_t i = 0; i < axes->size(); ++i) {
      if ((*axes)[i] != 0) flagged.push_back(static_cast<std::int64_t>(i));
    }
    *axes = flagged;
  }
  if (axes->empty()) return one(*x);
  const std::size_t n = axes->size();
  return c.finish(op("strided_slice"), {*x, c.int_constant(std::vector<std::int64_t>(n, kEnd)),
                                        c.int_constant(std::vector<std::int64_t>(n, -kEnd)), c.int_constant(*axes),
                                        c.int_constant(std::vector<std::int64_t>(n, -1))});
}

Result<Values> tile(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  if (const auto known = c.known_ints(1)) (*operands)[1] = c.int_constant(*known);
  return c.finish(op("tile"), *operands);
}

/// Pad (x, paddings [rank, 2]), PadV2 with a value, MirrorPad.
Result<Values> pad(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto pairs = c.ints(1, "paddings");
  if (!pairs) return Failure{};
  const std::size_t n = pairs->size() / 2;
  std::vector<std::int64_t> pads(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    pads[i] = (*pairs)[2 * i];
    pads[n + i] = (*pairs)[2 * i + 1];
  }
  std::vector<ValueId> operands{*x, c.int_constant(pads)};
  Attrs attrs;
  if (row.name == "MirrorPad") {
    // SYMMETRIC repeats the edge, REFLECT does not; the work is the same.
    attrs.set("mode", std::string("reflect"));
  } else if (row.name == "PadV2") {
    auto value = c.tensor(2);
    if (!value) return Failure{};
    operands.push_back(*value);
  }
  return c.finish(op("nn.pad"), std::move(operands), std::move(attrs));
}

// ---- Gathering and scattering

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

/// Part of each matrix around the diagonal: two triangles.
Result<Values> matrix_band(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto lower = c.integer(1, "num_lower");
  auto upper = c.integer(2, "num_upper");
  if (!x || !lower || !upper) return Failure{};
  ValueId y = *x;
  if (*lower >= 0) {
    auto v = c.emit(op("trilu"), {y, c.constant(int64_scalar(-*lower))}, {{"upper", std::int64_t{1}}});
    if (!v) return Failure{};
    y = *v;
  }
  if (*upper >= 0) {
    auto v = c.emit(op("trilu"), {y, c.constant(int64_scalar(*upper))}, {{"upper", std::int64_t{0}}});
    if (!v) return Failure{};
    y = *v;
  }
  return one(y);
}

/// The main diagonal of each matrix: every (columns + 1)th of its elements.
Result<Values> matrix_diagonal(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  if (row.name != "MatrixDiagPart") {
    const auto k = c.known_ints(1);
    if (!k || std::any_of(k->begin(), k->end(), [](std::int64_t d) { return d != 0; }))
      return c.error("of other than the main diagonal is not supported");
  }
  const Type& type = c.type(0);
  if (!type.ranked() || type.rank() < 2) return c.error(fmt::format("data must hold matrices, is {}", to_string(type)));
  const Dim rows = type.shape()[type.rank() - 2], columns = type.shape()[type.rank() - 1];
  std::int64_t all = 0;
  if (!rows.known() || !columns.known() || __builtin_mul_overflow(rows.value(), columns.value(), &all)) {
    return c.error(fmt::format("of matrices of open dims {}", to_string(type)));
  }
  std::vector<std::int64_t> flat;
  for (std::size_t i = 0; i + 2 < type.rank(); ++i) {
    // One open dim can be left to the reshape.
    if (!type.shape()[i].known() && std::find(flat.begin(), flat.end(), -1) != flat.end())
      return c.error("of data with several open dims");
    flat.push_back(type.shape()[i].known() ? type.shape()[i].value() : -1);
  }
  const auto axis = static_cast<std::int64_t>(flat.size());
  flat.push_back(all);
  auto view = c.reshape(*x, flat);
  if (!view) return Failure{};
  const std::int64_t length = std::min(rows.value(), columns.value());
  std::int64_t end = 0;
  if (__builtin_mul_overflow(length, columns.value() + 1, &end)) end = all;
  return one(c.emit(op("strided_slice"), {*view, c.int_constant({0}), c.int_constant({std::min(end, all)}),
                                          c.int_constant({axis}), c.int_constant({columns.value() + 1})}));
}

Result<Values> reverse_sequence(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const std::int64_t time = c.int_attr("seq_dim", 0), batch = c.int_attr("batch_dim", 0);
  return c.finish(op("reverse_sequence"), *operands, {{"time_axis", time}, {"batch_axis", batch}});
}

// ---- Blocks

/// SpaceToBatchND (x, block, paddings) and SpaceToBatch.
Result<Values> space_to_batch(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  std::vector<std::int64_t> block;
  const bool nd = row.name.ends_with("ND");
  if (nd) {
    auto given = c.ints(1, "block_shape");
    if (!given) return Failure{};
    block = *given;
  } else {
    block.assign(2, c.int_attr("block_size", 2));
  }
  auto pads = c.ints(nd ? 2 : 1, "paddings");
  if (!pads) return Failure{};
  const Type& t = c.type(0);
  const std::size_t m = block.size();
  if (!t.ranked() || t.rank() < m + 1 || pads->size() != 2 * m)
    return c.error(fmt::format("{} blocks do not fit {}", m, to_string(t)));
  for (std::int64_t b : block) {
    if (b < 1 || b > (1 << 20)) return c.error(fmt::format("a block of {}", b));
  }
  std::vector<std::int64_t> padding(2 * t.rank(), 0);
  for (std::size_t i = 0; i < m; ++i) {
    padding[1 + i] = (*pads)[2 * i];
    padding[t.rank() + 1 + i] = (*pads)[2 * i + 1];
  }
  auto padded = c.emit(op("nn.pad"), {*x, c.int_constant(padding)});
  if (!padded) return Failure{};
  const Shape shape = c.builder().type(*padded).shape();
  // (n, s/b, b, …, rest) → (b…, n, s/b…, rest): blocks join the batch.
  std::vector<std::int64_t> apart{0}, perm, joined{-1};
  for (std::size_t i = 0; i < m; ++i) {
    const Dim& d = shape[1 + i];
    if (!d.known() || d.value() % block[i] != 0)
      return c.error(fmt::format("{} does not divide into blocks of {}", to_string(d), block[i]));
    apart.push_back(d.value() / block[i]);
    apart.push_back(block[i]);
    perm.push_back(static_cast<std::int64_t>(2 * i + 2));
    joined.push_back(d.value() / block[i]);
  }
  perm.push_back(0);
  for (std::size_t i = 0; i < m; ++i) perm.push_back(static_cast<std::int64_t>(2 * i + 1));
  for (std::size_t i = m + 1; i < shape.size(); ++i) {
    if (!shape[i].known()) return c.error(fmt::format("{} has an open dim", to_string(shape)));
    apart.push_back(shape[i].value());
    joined.push_back(shape[i].value());
    perm.push_back(static_cast<std::int64_t>(m + i));
  }
  auto view = c.reshape(*padded, apart);
  if (!view) return Failure{};
  auto moved = c.transpose(*view, perm);
  if (!moved) return Failure{};
  auto y = c.reshape(*moved, joined);
  if (!y) return Failure{};
  c.scope.site.blocks[y->node] = {*x, block, *pads};
  return one(*y);
}

namespace {

/// The convolution between SpaceToBatchND and BatchToSpaceND, with the views
/// and the bias around it.
struct Dilated {
  const Blocks* blocks = nullptr;
  std::vector<NodeId> chain;  ///< from the convolution's data to the end, without the blocks
};

/// Follows `v` back to a split into blocks, across one convolution.
std::optional<Dilated> find_dilated(const Call& c, ValueId v, const std::vector<std::int64_t>& block) {
  Dilated d;
  bool convolution = false;
  for (int steps = 0; steps < 8; ++steps) {
    const auto blocks = c.scope.site.blocks.find(v.node);
    if (blocks != c.scope.site.blocks.end()) {
      if (!convolution || blocks->second.block != block) return std::nullopt;
      d.blocks = &blocks->second;
      std::reverse(d.chain.begin(), d.chain.end());
      return d;
    }
    const Node& n = c.builder().node(v.node);
    if (n.kind != NodeKind::Call || n.operands.empty() || v.result != 0) return std::nullopt;
    const bool is_conv = def(n.op).category == Category::Convolution && !def(n.op).transposed;
    if (is_conv && convolution) return std::nullopt;
    if (!is_conv && !n.is(op("nn.bias_add")) && !n.is(op("squeeze")) && !n.is(op("expand_dims"))) return std::nullopt;
    convolution = convolution || is_conv;
    d.chain.push_back(v.node);
    v = n.operands[0];
  }
  return std::nullopt;
}

}  // namespace

/// BatchToSpaceND (x, block, crops). Around a convolution the pair is dilation.
Result<Values> batch_to_space(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const bool nd = row.name.ends_with("ND");
  std::vector<std::int64_t> block;
  if (nd) {
    auto given = c.ints(1, "block_shape");
    if (!given) return Failure{};
    block = *given;
  } else {
    block.assign(2, c.int_attr("block_size", 2));
  }
  auto crops = c.ints(nd ? 2 : 1, "crops");
  if (!crops) return Failure{};
  const std::size_t m = block.size();
  if (crops->size() != 2 * m) return c.error(fmt::format("{} crops for {} blocks", crops->size() / 2, m));
  for (std::int64_t b : block) {
    if (b < 1 || b > (1 << 20)) return c.error(fmt::format("a block of {}", b));
  }
  if (const auto dilated = find_dilated(c, *x, block)) {
    ValueId v = dilated->blocks->source;
    for (NodeId id : dilated->chain) {
      const Node n = c.builder().node(id);
      std::vector<ValueId> operands(n.operands.begin(), n.operands.end());
      operands[0] = v;
      Attrs attrs = n.attrs;
      const Type& type = c.builder().type(n.operands[0]);
      if (def(n.op).category == Category::Convolution && type.ranked()) {
        const std::size_t spatial = type.rank() - 2;
        // 1-D data runs as 2-D with an axis of 1; blocks are of the longer axes, from the end.
        std::vector<std::int64_t> dilation(spatial, 1), padding(2 * spatial, 0);
        const std::size_t offset = spatial >= m ? spatial - m : 0;
        for (std::size_t i = 0; i < m && offset + i < spatial; ++i) {
          dilation[offset + i] = block[i];
          padding[offset + i] = std::max<std::int64_t>(0, dilated->blocks->pads[2 * i] - (*crops)[2 * i]);
          padding[spatial + offset + i] =
              std::max<std::int64_t>(0, dilated->blocks->pads[2 * i + 1] - (*crops)[2 * i + 1]);
        }
        attrs.set("dilation", dilation);
        attrs.set("padding", padding);
      }
      auto y = c.builder().value(
          {.op = n.op, .operands = std::move(operands), .attrs = std::move(attrs), .name = n.name, .loc = n.loc});
      if (!y) return Failure{};
      v = *y;
    }
    return one(v);
  }
  const Type& t = c.type(0);
  if (!t.ranked() || t.rank() < m + 1) return c.error(fmt::format("{} blocks do not fit {}", m, to_string(t)));
  // (b…, n, s…, rest) → (n, s, b, …, rest)
  std::vector<std::int64_t> apart(block), perm{static_cast<std::int64_t>(m)}, joined{-1}, starts, ends, axes;
  apart.push_back(-1);
  for (std::size_t i = 1; i < t.rank(); ++i) {
    const Dim& d = t.shape()[i];
    if (!d.known()) return c.error(fmt::format("{} has an open dim", to_string(t)));
    apart.push_back(d.value());
    perm.push_back(static_cast<std::int64_t>(m + i));
    std::int64_t extent = d.value();
    if (i <= m) {
      perm.push_back(static_cast<std::int64_t>(i - 1));
      if (__builtin_mul_overflow(extent, block[i - 1], &extent)) return c.error("a dim is too large");
      starts.push_back((*crops)[2 * (i - 1)]);
      ends.push_back(extent - (*crops)[2 * (i - 1) + 1]);
      axes.push_back(static_cast<std::int64_t>(i));
    }
    joined.push_back(extent);
  }
  auto view = c.reshape(*x, apart);
  if (!view) return Failure{};
  auto moved = c.transpose(*view, perm);
  if (!moved) return Failure{};
  auto whole = c.reshape(*moved, joined);
  if (!whole) return Failure{};
  return one(c.emit(op("strided_slice"), {*whole, c.int_constant(starts), c.int_constant(ends), c.int_constant(axes)}));
}

Result<Values> depth_space(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const std::int64_t block = c.int_attr("block_size", 0);
  const std::string_view format = c.string_attr("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW") return c.error(fmt::format("data_format '{}' is not supported", format));
  Attrs attrs{{"blocksize", block}};
  if (format == "NHWC") attrs.set("data_layout", std::string(format));
  return c.finish(row_op(row), {*x}, std::move(attrs));
}

}  // namespace perfc::tf
