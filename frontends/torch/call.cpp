#include "frontends/torch/call.h"

#include <algorithm>
#include <numeric>

#include "frontends/torch/aten_table.h"
#include "ir/ops/rule_helpers.h"

namespace perfc::torch {
namespace {

/// "layer1.0.conv1" of "__module.layer1/__module.layer1.0/__module.layer1.0.conv1".
std::string_view module_path(std::string_view scope) {
  const std::size_t slash = scope.rfind('/');
  if (slash != std::string_view::npos) scope.remove_prefix(slash + 1);
  constexpr std::string_view kModule = "__module.";
  return scope.starts_with(kModule) ? scope.substr(kModule.size()) : scope;
}

std::string node_name(const Operation& o) {
  const std::string_view path = module_path(o.scope);
  const std::size_t colon = o.op.rfind(':');
  const std::string_view op = colon == std::string_view::npos ? o.op : o.op.substr(colon + 1);
  return path.empty() ? std::string(op) : fmt::format("{}/{}", path, op);
}

std::string full_name(const Operation& o) {
  return o.overload.empty() || o.overload == "default" ? std::string(o.op) : fmt::format("{}.{}", o.op, o.overload);
}

}  // namespace

Call::Call(Importer& i, Frame& f, const Operation& o)
    : Emitter(f.builder, {.node = o.index}, o.op.empty() ? std::string() : node_name(o), full_name(o), o.source),
      importer(i), frame(f), operation(o) {}

// ---- Arguments

const Value& Call::arg(std::string_view parameter) const {
  static const Value nothing;
  if (!row) return nothing;
  const auto& all = slots(*row);
  for (std::size_t i = 0; i < all.size() && i < args.size(); ++i) {
    if (all[i].name == parameter || all[i].attribute == parameter) return args[i];
  }
  return nothing;
}

bool Call::given(std::string_view parameter) const {
  const Value& v = arg(parameter);
  return v.given() && !v.is_none();
}

Result<ValueId> Call::tensor(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (const TensorRef* t = v.tensor()) return read(*t);
  if (const Scalar* s = v.scalar()) return scalar_tensor(*s, s->is_float() ? DType::Float32 : s->dtype);
  return error(fmt::format("'{}' must be a tensor, is {}", parameter, v.kind()));
}

Result<ValueId> Call::tensor_or_none(std::string_view parameter) {
  if (!given(parameter)) return ValueId{};
  return tensor(parameter);
}

Result<std::vector<ValueId>> Call::tensors(std::string_view parameter) {
  const Value& v = arg(parameter);
  const List* l = v.list();
  if (!l) return error(fmt::format("'{}' must be a list of tensors, is {}", parameter, v.kind()));
  std::vector<ValueId> out;
  for (const Value& item : *l->items) {
    const TensorRef* t = item.tensor();
    if (!t) return error(fmt::format("'{}' must hold tensors, holds {}", parameter, item.kind()));
    auto r = read(*t);
    if (!r) return Failure{};
    out.push_back(*r);
  }
  return out;
}

Result<std::int64_t> Call::integer(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (const Scalar* s = v.scalar()) {
    if (!s->is_float() && s->integer.known()) return s->integer.value();
    if (s->is_float() && s->real &&
        *s->real == static_cast<double>(static_cast<std::int64_t>(std::clamp(*s->real, -9e15, 9e15)))) {
      return static_cast<std::int64_t>(*s->real);
    }
    return error(fmt::format("'{}' must be known when importing; bind open dims with --dim or --shape", parameter));
  }
  if (const TensorRef* t = v.tensor()) {
    auto r = read(*t);
    if (!r) return Failure{};
    const Data* d = data(*r);
    if (d && d->ints() && d->size() == 1 && d->fully_known()) return (*d->ints())[0].value();
    return error(fmt::format("'{}' must be known when importing", parameter));
  }
  return error(fmt::format("'{}' must be an int, is {}", parameter, v.kind()));
}

Result<std::int64_t> Call::integer_or(std::string_view parameter, std::int64_t fallback) {
  if (!given(parameter)) return fallback;
  return integer(parameter);
}

Result<double> Call::real(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (const Scalar* s = v.scalar()) {
    if (const auto n = s->number()) return *n;
    return error(fmt::format("'{}' must be known when importing", parameter));
  }
  return error(fmt::format("'{}' must be a number, is {}", parameter, v.kind()));
}

Result<double> Call::real_or(std::string_view parameter, double fallback) {
  if (!given(parameter)) return fallback;
  return real(parameter);
}

Result<bool> Call::flag_or(std::string_view parameter, bool fallback) {
  if (!given(parameter)) return fallback;
  auto v = integer(parameter);
  if (!v) return Failure{};
  return *v != 0;
}

std::string Call::text_or(std::string_view parameter, std::string_view fallback) const {
  const std::string* s = arg(parameter).string();
  return s ? *s : std::string(fallback);
}

Result<std::vector<std::int64_t>> Call::ints(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (v.scalar()) {
    auto one = integer(parameter);
    if (!one) return Failure{};
    return std::vector<std::int64_t>{*one};
  }
  const auto all = symbolic_ints(parameter);
  if (!all) return Failure{};
  std::vector<std::int64_t> out;
  for (const SymInt& each : *all) {
    if (!each.known()) {
      return error(fmt::format("'{}' must be known when importing; bind open dims with --dim or --shape", parameter));
    }
    out.push_back(each.value());
  }
  return out;
}

Result<std::vector<SymInt>> Call::symbolic_ints(std::string_view parameter) {
  const Value& v = arg(parameter);
  const List* l = v.list();
  if (!l) return error(fmt::format("'{}' must be a list of ints, is {}", parameter, v.kind()));
  std::vector<SymInt> out;
  for (const Value& item : *l->items) {
    if (const Scalar* s = item.scalar()) {
      out.push_back(s->integer);
    } else if (const TensorRef* t = item.tensor()) {
      auto r = read(*t);
      if (!r) return Failure{};
      out.push_back(scalar_of(*r, DType::Int64).integer);
    } else {
      return error(fmt::format("'{}' must hold ints, holds {}", parameter, item.kind()));
    }
  }
  return out;
}

Result<std::vector<std::int64_t>> Call::spread(std::string_view parameter, std::size_t count, std::int64_t fallback) {
  if (!given(parameter)) return std::vector<std::int64_t>(count, fallback);
  auto v = ints(parameter);
  if (!v) return Failure{};
  if (v->empty()) v->assign(count, fallback);
  if (v->size() == 1) v->assign(count, v->front());
  if (v->size() != count) {
    return error(fmt::format("'{}' has {} entries, {} are needed", parameter, v->size(), count));
  }
  return v;
}

Result<DType> Call::dtype_or(std::string_view parameter, DType fallback) {
  const Value& v = arg(parameter);
  const Scalar* s = v.scalar();
  if (!v.given() || v.is_none()) return fallback;
  if (s && !s->is_float() && s->integer.known()) {
    const DType d = dtype_of(s->integer.value());
    if (d != DType::Undefined) return d;
    return error(
        fmt::format("'{}' is element type {} of torch, which perfc does not know", parameter, s->integer.value()));
  }
  return error(fmt::format("'{}' must be an element type, is {}", parameter, v.kind()));
}

Result<ValueId> Call::int_vector(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (v.scalar()) return int_vector(std::vector<Value>{v});
  if (const List* l = v.list()) return int_vector(*l->items);
  return error(fmt::format("'{}' must be a list of ints, is {}", parameter, v.kind()));
}

Result<ValueId> Call::int_vector(const std::vector<Value>& items) {
  std::vector<ValueId> parts;
  std::vector<std::int64_t> run;
  const auto flush = [&] {
    if (!run.empty()) parts.push_back(int_constant(run));
    run.clear();
  };
  for (const Value& item : items) {
    if (const TensorRef* t = item.tensor()) {
      auto v = read(*t);
      if (!v) return Failure{};
      flush();
      auto wide = cast(*v, DType::Int64);
      if (!wide) return Failure{};
      auto vector = reshape(*wide, {1});
      if (!vector) return Failure{};
      parts.push_back(*vector);
      continue;
    }
    const Scalar* s = item.scalar();
    if (!s || s->is_float()) return error(fmt::format("a list of ints holds {}", item.kind()));
    if (s->literal()) {
      if (!s->integer.known()) return error("a list of ints holds one that is not known");
      run.push_back(s->integer.value());
      continue;
    }
    flush();
    auto v = vector_of(*s);
    if (!v) return Failure{};
    parts.push_back(*v);
  }
  flush();
  if (parts.empty()) return int_constant({});
  if (parts.size() == 1) return parts.front();
  return emit(op("concatenate"), std::move(parts), {{"axis", std::int64_t{0}}});
}

Result<std::size_t> Call::axis(std::int64_t given, std::size_t rank) {
  // A 0-d tensor counts as one dim, as torch has it.
  const auto r = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (given < -r || given >= r) return error(fmt::format("dim {} is out of range for rank {}", given, rank));
  return static_cast<std::size_t>(given < 0 ? given + r : given);
}

Result<std::vector<std::int64_t>> Call::axes(const std::vector<std::int64_t>& given, std::size_t rank) {
  std::vector<std::int64_t> out;
  for (const std::int64_t d : given) {
    const auto a = axis(d, rank);
    if (!a) return Failure{};
    out.push_back(static_cast<std::int64_t>(*a));
  }
  return out;
}

Result<std::size_t> Call::axis(std::string_view parameter, std::size_t rank) {
  auto v = integer(parameter);
  if (!v) return Failure{};
  return axis(*v, rank);
}

// ---- Types

Result<std::size_t> Call::rank(ValueId v) {
  const Type t = type(v);
  if (!t.is_tensor() || !t.ranked()) return error("the rank of an argument must be known when importing");
  return t.rank();
}

Result<std::int64_t> Call::known_dim(ValueId v, std::size_t axis, std::string_view what) {
  const Dim d = dim(v, axis);
  if (!d.known()) {
    return error(
        fmt::format("{} is {} and must be known when importing; bind it with --dim or --shape", what, to_string(d)));
  }
  return d.value();
}

// ---- Graph

Values Call::finish(OpId op, std::vector<ValueId> operands, Attrs attrs, std::size_t results) {
  CallSpec spec{.op = op,
                .operands = std::move(operands),
                .attrs = std::move(attrs),
                .results = static_cast<int>(results),
                .name = name,
                .loc = loc};
  if (importer.declared_holds()) {
    for (const Declared& d : operation.outputs) spec.declared.push_back(importer.bind(d.tensor));
  }
  auto id = builder().call(std::move(spec));
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::uint32_t i = 0; i < results; ++i) out.push_back({*id, i});
  return this->results(out);
}

Result<ValueId> Call::promote(ValueId v, DType dtype) {
  if (type(v).dtype() == dtype || dtype == DType::Undefined) return v;
  return emit(op("promote"), {v}, {{"to", std::string(perfc::name(dtype))}});
}

Result<ValueId> Call::vector_of(const Scalar& s) {
  if (s.origin) return s.origin;
  if (s.shape_of) return emit(op("shape_of"), {s.shape_of}, {{"end", s.axis + 1}, {"start", s.axis}});
  if (s.is_float()) {
    if (!s.real) return error("a number is not known");
    auto data = std::make_shared<Data>();
    data->elements = std::vector<double>{*s.real};
    return constant({Type::tensor(DType::Float64, {1}), std::move(data)});
  }
  if (!s.integer.known()) return error("a number is not known");
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{s.integer};
  return constant({Type::tensor(s.dtype, {1}), std::move(data)});
}

Result<ValueId> Call::scalar_tensor(const Scalar& s, DType dtype) {
  if (s.literal()) {
    const auto n = s.number();
    if (!n) return error("a number is not known");
    if (!s.is_float() && !is_float(dtype)) {
      auto data = std::make_shared<Data>();
      data->elements = std::vector<SymInt>{s.integer};
      return constant({Type::tensor(dtype, {}), std::move(data)});
    }
    return number(*n, dtype);
  }
  auto v = vector_of(s);
  if (!v) return Failure{};
  auto scalar = reshape(*v, {});
  if (!scalar) return Failure{};
  return cast(*scalar, dtype);
}

Scalar Call::scalar_of(ValueId v, DType dtype) {
  Scalar s{.dtype = dtype, .origin = v};
  if (const Data* d = data(v); d && d->size() == 1) {
    if (d->ints()) s.integer = (*d->ints())[0];
    if (d->floats()) s.real = (*d->floats())[0];
    if (dtype == DType::Float64 && d->ints() && s.integer.known()) s.real = static_cast<double>(s.integer.value());
  }
  return s;
}

Scalar Call::size_of(ValueId v, std::size_t axis) {
  const Dim extent = dim(v, axis);
  return {.integer = extent,
          .shape_of = v,
          .axis = static_cast<std::int64_t>(axis),
          .at_least = extent.known() || extent.symbolic() ? INT64_MIN : 1};
}

// ---- Results

Value Call::fresh(ValueId v) {
  auto storage = std::make_shared<Storage>();
  storage->value = v;
  auto t = std::make_shared<Tensor>();
  t->storage = std::move(storage);
  t->value = v;
  return t;
}

Values single(Call& c, Result<ValueId> v) {
  if (!v) return Failure{};
  return c.result(*v);
}

Values single_as(Call& c, Result<ValueId> v, std::string_view parameter) {
  const auto dtype = v ? c.dtype_or(parameter, c.type(*v).dtype()) : Result<DType>(Failure{});
  if (!dtype) return Failure{};
  const InsideKernel of_call(c);
  return single(c, c.cast(*v, *dtype));
}

Values Call::result(ValueId v) { return results({v}); }

Values Call::results(const std::vector<ValueId>& vs) {
  std::vector<Value> out;
  if (in_place) {
    const TensorRef* self = args.empty() ? nullptr : args[0].tensor();
    if (!self) return error("writes in place to what is no tensor");
    if (!write(*self, vs[0])) return Failure{};
    out.emplace_back(*self);
  } else {
    out.push_back(fresh(vs[0]));
  }
  for (std::size_t i = 1; i < vs.size(); ++i) out.push_back(fresh(vs[i]));
  return out;
}

Values Call::list(const std::vector<ValueId>& vs) {
  std::vector<Value> items;
  items.reserve(vs.size());
  for (ValueId v : vs) items.push_back(fresh(v));
  return std::vector<Value>{Value::list(std::move(items))};
}

Result<Value> Call::view(const TensorRef& self, OpId op, std::vector<ValueId> operands, Attrs attrs) {
  auto base = read(self);
  if (!base) return Failure{};
  std::vector<ValueId> all{*base};
  all.insert(all.end(), operands.begin(), operands.end());
  auto v = emit(op, std::move(all), attrs);
  if (!v) return Failure{};
  auto t = std::make_shared<Tensor>();
  t->storage = self->storage;
  t->views = self->views;
  t->views.push_back({op, std::move(operands), std::move(attrs), type(*base)});
  t->value = *v;
  t->version = self->storage->version;
  return Value(t);
}

Values Call::view_result(std::string_view self, OpId op, std::vector<ValueId> operands, Attrs attrs) {
  const TensorRef* t = arg(self).tensor();
  if (!t) {
    auto v = tensor(self);
    if (!v) return Failure{};
    operands.insert(operands.begin(), *v);
    return single(*this, emit(op, std::move(operands), std::move(attrs)));
  }
  auto v = view(*t, op, std::move(operands), std::move(attrs));
  if (!v) return Failure{};
  if (in_place) {  // squeeze_, t_, …: the tensor itself becomes the view
    **t = **v->tensor();
    return std::vector<Value>{*t};
  }
  return std::vector<Value>{*std::move(v)};
}

Result<ValueId> Call::read(const TensorRef& t) {
  if (t->version == t->storage->version) return t->value;
  ValueId v = t->storage->value;
  for (const ViewStep& s : t->views) {
    std::vector<ValueId> operands{v};
    operands.insert(operands.end(), s.operands.begin(), s.operands.end());
    auto next = emit(s.op, std::move(operands), s.attrs);
    if (!next) return Failure{};
    v = *next;
  }
  t->value = v;
  t->version = t->storage->version;
  return v;
}

Status Call::write(const TensorRef& t, ValueId value) {
  const InsideKernel of_writer(*this);
  return replace(t, value);
}

Status Call::replace(const TensorRef& t, ValueId value) {
  auto old = read(t);
  if (!old) return Failure{};
  const Type to = type(*old);
  auto v = cast(value, to.dtype());
  if (!v) return Failure{};
  if (to.ranked() && type(*v).ranked() && to.shape() != type(*v).shape()) {
    auto shape = emit(op("shape_of"), {*old});
    if (!shape) return Failure{};
    v = emit(op("broadcast_to"), {*v, *shape});
    if (!v) return Failure{};
  }
  // Values of the chain from the storage down to what is written.
  std::vector<ValueId> chain{t->storage->value};
  for (std::size_t i = 0; i + 1 < t->views.size(); ++i) {
    const ViewStep& s = t->views[i];
    std::vector<ValueId> operands{chain.back()};
    operands.insert(operands.end(), s.operands.begin(), s.operands.end());
    auto next = emit(s.op, std::move(operands), s.attrs);
    if (!next) return Failure{};
    chain.push_back(*next);
  }
  ValueId part = *v;
  for (std::size_t end = t->views.size(); end > 0;) {
    const Placement place = placement(t->views, end, chain);
    auto whole = place.first < end ? set_slice(place, chain[place.first], part)
                                   : scatter(t->views[end - 1], chain[end - 1], part);
    if (!whole) return Failure{};
    part = *whole;
    end = std::min(place.first, end - 1);
  }
  t->storage->value = part;
  t->version = ++t->storage->version;
  t->value = *v;
  return ok();
}

/// Slices and single indices of different axes that follow each other are one slice of all of them.
Call::Placement Call::placement(const std::vector<ViewStep>& views, std::size_t end,
                                const std::vector<ValueId>& chain) const {
  Placement best{.first = end};
  for (std::size_t first = end; first-- > 0;) {
    if (!type(chain[first]).ranked()) break;
    std::vector<std::int64_t> axis_of(type(chain[first]).rank());  // of each axis of the view, in the data
    std::iota(axis_of.begin(), axis_of.end(), 0);
    Placement place{.first = first};
    const bool one = std::all_of(views.begin() + static_cast<std::ptrdiff_t>(first),
                                 views.begin() + static_cast<std::ptrdiff_t>(end),
                                 [&](const ViewStep& step) { return place_step(step, axis_of, place); });
    if (!one) break;
    best = std::move(place);
  }
  return best;
}

bool Call::place_step(const ViewStep& step, std::vector<std::int64_t>& axis_of, Placement& place) const {
  const auto taken = [&](std::int64_t axis) {
    return std::any_of(place.ranges.begin(), place.ranges.end(), [&](const auto& r) { return r.axis == axis; });
  };
  if (step.op == op("take")) {
    const auto at = static_cast<std::size_t>(step.attrs.int_or("axis", 0));
    if (type(step.operands[0]).rank() != 0 || at >= axis_of.size() || taken(axis_of[at])) return false;
    place.ranges.push_back({.axis = axis_of[at], .index = step.operands[0]});
    axis_of.erase(axis_of.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }
  if (step.op != op("strided_slice")) return false;
  const Data* axes = data(step.operands[2]);
  if (!axes || !axes->ints() || axes->size() != 1 || !(*axes->ints())[0].known()) return false;
  const auto at = static_cast<std::size_t>((*axes->ints())[0].value());
  if (at >= axis_of.size() || taken(axis_of[at])) return false;
  place.ranges.push_back(
      {.axis = axis_of[at], .start = step.operands[0], .end = step.operands[1], .step = step.operands[3]});
  return true;
}

/// One vector of numbers, each a vector of one element.
Result<ValueId> Call::joined(const std::vector<ValueId>& numbers) {
  std::vector<std::int64_t> known;
  for (ValueId v : numbers) {
    const Data* d = data(v);
    if (d && d->ints() && d->fully_known()) known.push_back((*d->ints())[0].value());
  }
  if (known.size() == numbers.size()) return int_constant(known);
  return numbers.size() == 1 ? numbers[0] : emit(op("concatenate"), numbers, {{"axis", std::int64_t{0}}});
}

/// `base` with `part` in a slice of it.
Result<ValueId> Call::set_slice(const Placement& place, ValueId base, ValueId part) {
  std::vector<std::int64_t> axes, dropped;
  std::vector<ValueId> starts, ends, steps;
  const ValueId one = int_constant({1});
  for (const Placement::Range& r : place.ranges) {
    if (!r.index) {
      axes.push_back(r.axis);
      starts.push_back(r.start);
      ends.push_back(r.end);
      steps.push_back(r.step);
      continue;
    }
    dropped.push_back(r.axis);
    axes.push_back(r.axis);
    auto start = reshape(r.index, {1});
    if (start) start = cast(*start, DType::Int64);
    if (!start) return Failure{};
    const Data* known = data(*start);
    const bool last = known && known->ints() && (*known->ints())[0].is(-1);
    auto end = last ? Result<ValueId>(int_constant({INT64_MAX})) : emit(op("add"), {*start, one});
    if (!end) return Failure{};
    starts.push_back(*start);
    ends.push_back(*end);
    steps.push_back(one);
  }
  std::sort(dropped.begin(), dropped.end());
  auto spread = dropped.empty() ? Result<ValueId>(part) : emit(op("expand_dims"), {part, int_constant(dropped)});
  if (!spread) return Failure{};
  // All of the data: nothing of the old value is left.
  const Type whole = type(base), now = type(*spread);
  if (whole.is_static() && now.is_static() && whole.shape() == now.shape()) return *spread;
  auto start = joined(starts), end = joined(ends), step = joined(steps);
  if (!start || !end || !step) return Failure{};
  return emit(op("strided_set"), {base, *start, *end, int_constant(axes), *step, *spread});
}

/// `base` with the entries `rows` of an axis replaced by those of `part`.
Result<ValueId> Call::scatter_rows(ValueId base, std::int64_t axis, ValueId rows, ValueId part) {
  // scatter_elements wants an index per element of the part.
  std::vector<std::int64_t> shape(type(part).rank(), 1);
  shape[static_cast<std::size_t>(axis)] = -1;
  auto index = reshape(rows, shape);
  auto target = emit(op("shape_of"), {part});
  if (!index || !target) return Failure{};
  auto spread = emit(op("broadcast_to"), {*index, *target});
  if (!spread) return Failure{};
  return emit(op("scatter_elements"), {base, *spread, part}, {{"axis", axis}});
}

/// `base` with `part` in the place that the view looks at.
Result<ValueId> Call::scatter(const ViewStep& step, ValueId base, ValueId part) {
  const OpId o = step.op;
  if (def(o).moves == Moves::Reshapes || def(o).moves == Moves::Copies) {
    auto shape = emit(op("shape_of"), {base});
    if (!shape) return Failure{};
    return emit(op("reshape"), {part, *shape});
  }
  if (o == op("transpose")) {
    const auto perm = step.attrs.ints_or_empty("perm");
    std::vector<std::int64_t> inverse(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i)
      inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    return transpose(part, std::move(inverse));
  }
  if (o == op("take")) {
    const std::int64_t axis = step.attrs.int_or("axis", 0);
    auto rows = reshape(step.operands[0], {-1});
    if (!rows) return Failure{};
    auto wide = type(step.operands[0]).rank() == 0 ? emit(op("expand_dims"), {part, int_constant({axis})})
                                                   : Result<ValueId>(part);
    return wide ? scatter_rows(base, axis, *rows, *wide) : wide;
  }
  if (o == op("strided_slice")) return error("writes through this slice are not supported");
  return error(fmt::format(
      "writes in place through a view made by {}, which several elements share or perfc cannot invert", def(o).name));
}

}  // namespace perfc::torch
