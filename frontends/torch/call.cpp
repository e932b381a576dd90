#include "frontends/torch/call.h"

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
  attrs = marked(std::move(attrs), operands);
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

}  // namespace perfc::torch
