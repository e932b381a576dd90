#include "frontends/torch/python.h"

#include <algorithm>
#include <cmath>

#include "frontends/torch/containers.h"
#include "frontends/torch/higher_order.h"
#include "ir/ops/rule_helpers.h"

namespace perfc::torch {
namespace {

using namespace python;

using Handler = Values (*)(Call&);

// ---- Numbers

bool is_number(const Value& v) { return v.scalar() != nullptr; }

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// Both are literals.
std::optional<Scalar> compute(std::string_view name, const Scalar& a, const Scalar& b) {
  using namespace rules;
  const bool comparison = name == "eq" || name == "ne" || name == "lt" || name == "le" || name == "gt" || name == "ge";
  if (comparison) {
    const auto x = a.number(), y = b.number();
    if (!x || !y) {
      if (a.integer.symbolic() && a.integer == b.integer)
        return Scalar::truth(name == "eq" || name == "le" || name == "ge");
      return std::nullopt;
    }
    return Scalar::truth(name == "eq"   ? *x == *y
                         : name == "ne" ? *x != *y
                         : name == "lt" ? *x < *y
                         : name == "le" ? *x <= *y
                         : name == "gt" ? *x > *y
                                        : *x >= *y);
  }
  if (name == "__and__" || name == "__or__" || name == "__xor__") {
    if (!a.integer.known() || !b.integer.known()) return std::nullopt;
    const std::int64_t x = a.integer.value(), y = b.integer.value();
    Scalar r = Scalar::of(name == "__and__" ? x & y : name == "__or__" ? x | y : x ^ y);
    if (a.dtype == DType::Bool && b.dtype == DType::Bool) r.dtype = DType::Bool;
    return r;
  }
  if (a.is_float() || b.is_float() || name == "div") {
    const auto x = a.number(), y = b.number();
    if (!x || !y) return std::nullopt;
    if (name == "add") return Scalar::of(*x + *y);
    if (name == "sub") return Scalar::of(*x - *y);
    if (name == "mul") return Scalar::of(*x * *y);
    if (name == "div") return Scalar::of(*x / *y);
    if (name == "floordiv") return Scalar::of(std::floor(*x / *y));
    if (name == "remainder") return Scalar::of(*x - std::floor(*x / *y) * *y);
    if (name == "pow") return Scalar::of(std::pow(*x, *y));
    if (name == "max") return Scalar::of(std::max(*x, *y));
    if (name == "min") return Scalar::of(std::min(*x, *y));
    return std::nullopt;
  }
  if (name == "add") return Scalar{.integer = a.integer + b.integer};
  if (name == "sub") return Scalar{.integer = a.integer - b.integer};
  if (name == "mul") return Scalar{.integer = a.integer * b.integer};
  if (!a.integer.known() || !b.integer.known()) return std::nullopt;
  const std::int64_t x = a.integer.value(), y = b.integer.value();
  if (name == "max") return Scalar::of(std::max(x, y));
  if (name == "min") return Scalar::of(std::min(x, y));
  if (name == "pow")
    return Scalar{.integer = y < 0 ? SymInt() : [&] {
      SymInt r = 1;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(y, 64); ++i) r = r * SymInt(x);
      return r;
    }()};
  if (y == 0 || (x == INT64_MIN && y == -1)) return std::nullopt;
  if (name == "floordiv") return Scalar::of(floor_div(x, y));
  if (name == "remainder") return Scalar::of(x - floor_div(x, y) * y);
  return std::nullopt;
}

/// Emits what `compute` does for numbers that the graph computes.
Result<Scalar> emit_binary(Call& c, std::string_view name, const Scalar& a, const Scalar& b) {
  auto x = c.vector_of(a), y = c.vector_of(b);
  if (!x || !y) return Failure{};
  const bool logical = name == "__and__" || name == "__or__" || name == "__xor__";
  DType dtype = a.is_float() || b.is_float() || name == "div" ? DType::Float64 : DType::Int64;
  if (logical) dtype = DType::Bool;
  x = c.cast(*x, dtype);
  y = c.cast(*y, dtype);
  if (!x || !y) return Failure{};
  const auto made = [&](OpId o, DType result) -> Result<Scalar> {
    auto v = c.emit(o, {*x, *y});
    if (!v) return Failure{};
    return c.scalar_of(*v, result);
  };
  if (name == "add") return made(op("add"), dtype);
  if (name == "sub") return made(op("subtract"), dtype);
  if (name == "mul") return made(op("multiply"), dtype);
  if (name == "div") return made(op("divide"), dtype);
  if (name == "pow") return made(op("power"), dtype);
  if (name == "max") return made(op("maximum"), dtype);
  if (name == "min") return made(op("minimum"), dtype);
  if (name == "__and__") return made(op("logical_and"), dtype);
  if (name == "__or__") return made(op("logical_or"), dtype);
  if (name == "__xor__") return made(op("logical_xor"), dtype);
  if (name == "eq") return made(op("equal"), DType::Bool);
  if (name == "lt") return made(op("less"), DType::Bool);
  if (name == "le") return made(op("less_equal"), DType::Bool);
  if (name == "gt") return made(op("greater"), DType::Bool);
  if (name == "ge") return made(op("greater_equal"), DType::Bool);
  if (name == "ne") {
    auto same = c.emit(op("equal"), {*x, *y});
    auto v = same ? c.emit(op("logical_not"), {*same}) : same;
    if (!v) return Failure{};
    return c.scalar_of(*v, DType::Bool);
  }
  if (name == "remainder") {
    auto v = c.emit(op("mod"), {*x, *y}, dtype == DType::Float64 ? Attrs{{"fmod", std::int64_t{1}}} : Attrs{});
    if (!v) return Failure{};
    return c.scalar_of(*v, dtype);
  }
  if (name == "floordiv") {
    if (dtype == DType::Float64) {
      auto q = c.emit(op("divide"), {*x, *y});
      auto v = q ? c.emit(op("floor"), {*q}) : q;
      if (!v) return Failure{};
      return c.scalar_of(*v, dtype);
    }
    // (a − a mod b) / b divides exactly, so truncation does no harm.
    auto r = c.emit(op("mod"), {*x, *y});
    auto whole = r ? c.emit(op("subtract"), {*x, *r}) : r;
    auto v = whole ? c.emit(op("divide"), {*whole, *y}) : whole;
    if (!v) return Failure{};
    return c.scalar_of(*v, dtype);
  }
  return c.error("arithmetic on numbers that are not known when importing");
}

std::int64_t least(const Scalar& s) { return s.integer.known() ? s.integer.value() : s.at_least; }

/// A comparison of what is not known with a number that it is above, whatever it is.
std::optional<bool> above(std::string_view name, const Scalar& a, const Scalar& b) {
  if (a.is_float() || b.is_float() || a.integer.known() || !b.integer.known()) return std::nullopt;
  const std::int64_t number = b.integer.value();
  if (name == "ge" && a.at_least >= number) return true;
  if (name == "lt" && a.at_least >= number) return false;
  if (a.at_least <= number) return std::nullopt;
  if (name == "gt" || name == "ne") return true;
  if (name == "le" || name == "eq") return false;
  return std::nullopt;
}

/// What a result is at least, from what its operands are.
std::int64_t least_of(std::string_view name, const Scalar& a, const Scalar& b) {
  const std::int64_t x = least(a), y = least(b);
  std::int64_t out = 0;
  if (name == "max") return std::max(x, y);
  if (name == "min") return std::min(x, y);
  if (x < 0 || y < 0 || a.is_float() || b.is_float()) return INT64_MIN;
  if (name == "add") return __builtin_add_overflow(x, y, &out) ? INT64_MIN : out;
  if (name == "mul") return __builtin_mul_overflow(x, y, &out) ? INT64_MIN : out;
  return INT64_MIN;
}

Result<Scalar> binary(Call& c, std::string_view name, const Scalar& a, const Scalar& b) {
  if (const auto known = above(name, a, b)) return Scalar::truth(*known);
  if (a.literal() && b.literal()) {
    if (auto r = compute(name, a, b)) return *r;
    return c.error("cannot be computed when importing");
  }
  auto r = emit_binary(c, name, a, b);
  // Tests steer the program only: what is known is all that matters.
  if (r && r->dtype == DType::Bool && r->integer.known()) return Scalar::truth(r->integer.value() != 0);
  if (r && r->dtype == DType::Int64 && !r->integer.known()) r->at_least = least_of(name, a, b);
  return r;
}

Values rounding(Call& c, OpId o, double (*f)(double), DType result) {
  const Scalar& a = *c.args[0].scalar();
  if (!a.is_float() && result == DType::Int64) return one(a);
  if (a.literal()) {
    const auto x = a.number();
    if (!x) return c.error("the number is not known when importing");
    const double y = f(*x);
    if (result != DType::Int64) return one(Scalar::of(y));
    if (!(std::fabs(y) < 9e15)) return c.error(fmt::format("{} is no int", y));
    return one(Scalar::of(static_cast<std::int64_t>(y)));
  }
  auto v = c.vector_of(a);
  if (!v) return Failure{};
  auto wide = c.cast(*v, DType::Float64);
  auto y = wide ? c.emit(o, {*wide}) : wide;
  auto out = y ? c.cast(*y, result) : y;
  if (!out) return Failure{};
  return one(c.scalar_of(*out, result));
}

/// Number → number of another type.
Values convert(Call& c, DType to) {
  if (!arity(c, 1)) return Failure{};
  const Value& v = c.args[0];
  if (const Scalar* s = v.scalar()) {
    if (s->dtype == to) return one(*s);
    if (s->literal()) {
      if (to == DType::Float64) {
        const auto n = s->number();
        if (!n) return c.error("the number is not known when importing");
        return one(Scalar::of(*n));
      }
      if (to == DType::Bool) {
        const auto n = s->number();
        if (!n) return c.error("the number is not known when importing");
        return one(Scalar::truth(*n != 0));
      }
      if (!s->is_float()) return one(Scalar{.integer = s->integer});
      if (!s->real || !(std::fabs(*s->real) < 9e15)) return c.error("the float is no int");
      return one(Scalar::of(static_cast<std::int64_t>(*s->real)));
    }
    auto x = c.vector_of(*s);
    auto y = x ? c.cast(*x, to) : x;
    if (!y) return Failure{};
    return one(c.scalar_of(*y, to));
  }
  if (const TensorRef* t = v.tensor()) {
    auto x = c.read(*t);
    if (!x) return Failure{};
    // A view of shape (1), so that lists of ints join such values.
    auto vector = c.reshape(*x, {1});
    auto y = vector ? c.cast(*vector, to) : vector;
    if (!y) return Failure{};
    return one(c.scalar_of(*y, to));
  }
  if (const std::string* s = v.string()) {
    if (to == DType::Float64 && (*s == "inf" || *s == "-inf")) {
      return one(Scalar::of(*s == "inf" ? HUGE_VAL : -HUGE_VAL));
    }
  }
  return c.error(fmt::format("{} is no number", v.kind()));
}

Values to_scalar(Call& c) {
  if (!arity(c, 1)) return Failure{};
  if (c.args[0].scalar()) return one(c.args[0]);
  const TensorRef* t = c.args[0].tensor();
  if (!t) return c.error(fmt::format("{} is no number", c.args[0].kind()));
  auto v = c.read(*t);
  if (!v) return Failure{};
  const DType d = c.type(*v).dtype();
  return convert(c, is_float(d) ? DType::Float64 : d == DType::Bool ? DType::Bool : DType::Int64);
}

// ---- Tests

bool identical(const Value& a, const Value& b) {
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.scalar() && b.scalar()) return a.scalar()->known() && a.scalar()->number() == b.scalar()->number();
  if (a.tensor() && b.tensor()) return *a.tensor() == *b.tensor();
  return same_key(a, b);
}

Values is_same(Call& c) {
  if (!arity(c, 2)) return Failure{};
  return one(Scalar::truth(identical(c.args[0], c.args[1])));
}
Values is_other(Call& c) {
  if (!arity(c, 2)) return Failure{};
  return one(Scalar::truth(!identical(c.args[0], c.args[1])));
}

Values logical_not(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const Scalar* s = c.args[0].scalar();
  if (!s) return c.error(fmt::format("negates {}", c.args[0].kind()));
  if (s->integer.known()) return one(Scalar::truth(s->integer.value() == 0));
  auto v = c.vector_of(*s);
  auto b = v ? c.cast(*v, DType::Bool) : v;
  auto y = b ? c.emit(op("logical_not"), {*b}) : b;
  if (!y) return Failure{};
  return one(c.scalar_of(*y, DType::Bool));
}

/// One of two numbers, by a truth (torch.sym_ite).
Values either(Call& c) {
  if (!arity(c, 3)) return Failure{};
  const Scalar *truth = c.args[0].scalar(), *a = c.args[1].scalar(), *b = c.args[2].scalar();
  if (!truth || !a || !b) return c.error("chooses between what are no numbers");
  if (truth->integer.known()) return one(c.args[truth->integer.value() != 0 ? 1 : 2]);
  const DType dtype = a->is_float() || b->is_float() ? DType::Float64 : a->dtype == b->dtype ? a->dtype : DType::Int64;
  auto which = c.vector_of(*truth), x = c.vector_of(*a), y = c.vector_of(*b);
  if (!which || !x || !y) return Failure{};
  which = c.cast(*which, DType::Bool);
  x = c.cast(*x, dtype);
  y = c.cast(*y, dtype);
  if (!which || !x || !y) return Failure{};
  auto v = c.emit(op("where"), {*which, *x, *y});
  if (!v) return Failure{};
  Scalar r = c.scalar_of(*v, dtype);
  if (dtype == DType::Int64 && !r.integer.known()) r.at_least = std::min(least(*a), least(*b));
  return one(r);
}

bool equal_lists(const List& a, const List& b, bool& known) {
  if (a.items->size() != b.items->size()) return false;
  for (std::size_t i = 0; i < a.items->size(); ++i) {
    const Value &x = (*a.items)[i], &y = (*b.items)[i];
    if (x.scalar() && y.scalar() && !(x.scalar()->known() && y.scalar()->known()) &&
        !(x.scalar()->integer.symbolic() && x.scalar()->integer == y.scalar()->integer)) {
      known = false;
    } else if (!(x.scalar() && x.scalar()->integer.symbolic() && y.scalar()) && !identical(x, y)) {
      return false;
    }
  }
  return true;
}

// ---- Facts of tensors

Result<ValueId> first_tensor(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const TensorRef* t = c.args[0].tensor();
  if (!t) return c.error(fmt::format("asks {} for what a tensor has", c.args[0].kind()));
  return c.read(*t);
}

Values size(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (c.args.size() > 1 && !c.args[1].is_none()) {
    const auto i = position(c, c.args[1], *rank);
    if (!i) return Failure{};
    return one(c.size_of(*v, *i));
  }
  std::vector<Value> out;
  for (std::size_t i = 0; i < *rank; ++i) out.emplace_back(c.size_of(*v, i));
  return one(Value::list(std::move(out)));
}

Values rank_of(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  return one(Scalar::of(static_cast<std::int64_t>(*rank)));
}

Values numel(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  Scalar n = Scalar::of(std::int64_t{1});
  for (std::size_t i = 0; i < *rank; ++i) {
    const Scalar d = c.size_of(*v, i);
    auto product = i == 0 ? Result<Scalar>(d) : binary(c, "mul", n, d);
    if (!product) return Failure{};
    n = *product;
  }
  return one(n);
}

Values dtype_fact(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  return one(Scalar::of(scalar_type_of(c.type(*v).dtype())));
}
Values device_fact(Call&) { return one(PythonObject{"device"}); }
/// Of a device: predictions are of GPUs.
Values device_type(Call&) { return one(Value::text("cuda")); }
Values layout_fact(Call&) { return one(Scalar::of(std::int64_t{0})); }
Values is_floating_point(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  return one(Scalar::truth(is_float(c.type(*v).dtype())));
}
Values is_complex(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  return one(Scalar::truth(rules::is_complex(c.type(*v).dtype())));
}
Values no(Call&) { return one(Scalar::truth(false)); }
Values yes(Call&) { return one(Scalar::truth(true)); }
Values ignored(Call& c) { return std::vector<Value>(c.outputs(), Value::none()); }
Values first_argument(Call& c) {
  if (!arity(c, 1)) return Failure{};
  return one(c.args[0]);
}
/// Of a known whole number its digits, which may be a key; other texts are messages.
Values text(Call& c) {
  const Scalar* s = c.operation.op == "aten::str" && !c.args.empty() ? c.args[0].scalar() : nullptr;
  const bool known = s && s->literal() && !s->is_float() && s->dtype != DType::Bool && s->integer.known();
  return one(Value::text(known ? std::to_string(s->integer.value()) : ""));
}

Values num_to_tensor(Call& c) {
  if (!arity(c, 1)) return Failure{};
  if (c.args[0].tensor()) return one(c.args[0]);
  const Scalar* s = c.args[0].scalar();
  if (!s) return c.error(fmt::format("{} is no number", c.args[0].kind()));
  return single(c, c.scalar_tensor(*s, s->is_float() ? DType::Float32 : s->dtype));
}

Values to_int(Call& c) { return convert(c, DType::Int64); }
Values to_float(Call& c) { return convert(c, DType::Float64); }
Values to_bool(Call& c) { return convert(c, DType::Bool); }

Values raise(Call& c) {
  const std::string* what = c.args.empty() ? nullptr : c.args[0].string();
  return c.error(fmt::format("the program raises an exception for this input{}{}", what && !what->empty() ? ": " : "",
                             what ? *what : ""));
}

Values uninitialized(Call&) { return one(Value::none()); }

Values get_attribute(Call& c) {
  return c.error("a module's attribute that the export did not resolve; export with `python -m perfc.export`");
}

Values tensor_to_list(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const Data* d = c.data(*v);
  if (!d || c.type(*v).rank() != 1)
    return c.error("makes a list of a tensor whose contents are not known when importing");
  std::vector<Value> out;
  for (std::size_t i = 0; i < d->size(); ++i) {
    if (d->ints()) out.emplace_back(Scalar{.integer = (*d->ints())[i]});
    else if (d->floats()) out.emplace_back(Scalar::of((*d->floats())[i]));
  }
  return one(Value::list(std::move(out)));
}

Values constant(Call& c) {
  if (!arity(c, 1)) return Failure{};
  return one(c.args[0]);
}
Values branch(Call& c) { return c.importer.branch(c); }
Values loop(Call& c) { return c.importer.loop(c); }
/// wrap_with_set_grad_enabled, wrap_with_autocast, …: settings, then the graph's arguments.
Values wrapped(Call& c) {
  if (c.operation.blocks.size() != 1) return c.error("needs one subgraph");
  const Block& block = c.operation.blocks[0];
  if (c.args.size() < block.inputs.size()) return c.error("the subgraph lacks arguments");
  return c.importer.inlined(c, block, c.args.size() - block.inputs.size());
}

/// Operations that are Python's whatever their arguments are.
const std::map<std::string_view, Handler>& handlers() {
  static const std::map<std::string_view, Handler> table{
      {"prim::Constant", constant},
      {"prim::If", branch},
      {"prim::Loop", loop},
      {"higher_order::cond", branch},
      {"higher_order::while_loop", while_loop},
      {"higher_order::scan", scan},
      {"higher_order::map_impl", map_over},
      {"higher_order::wrap_with_set_grad_enabled", wrapped},
      {"higher_order::wrap_with_autocast", wrapped},
      {"higher_order::wrap", wrapped},
      {"higher_order::tag_activation_checkpoint", wrapped},
      {"torch._functorch.predispatch.lazy_load_decompositions", ignored},
      {kEnterVmap, enter_vmap},
      {kLeaveVmap, leave_vmap},
      {"torch._functorch.predispatch._add_batch_dim", add_batch_dim},
      {"torch._functorch.predispatch._remove_batch_dim", remove_batch_dim},
      {"prim::ListConstruct", make_list},
      {"prim::TupleConstruct", make_tuple},
      {"prim::NamedTupleConstruct", make_tuple},
      {"prim::DictConstruct", make_dict},
      {"prim::ListUnpack", unpack},
      {"prim::TupleUnpack", unpack},
      {"prim::TupleIndex", get_item},
      {"prim::GetAttr", get_attribute},
      {"prim::CallMethod", get_attribute},
      {"prim::NumToTensor", num_to_tensor},
      {"prim::ImplicitTensorToNum", to_scalar},
      {"prim::RaiseException", raise},
      {"prim::Uninitialized", uninitialized},
      {"prim::unchecked_cast", first_argument},
      {"prim::unchecked_unwrap_optional", first_argument},
      {"aten::_unwrap_optional", first_argument},
      {"prim::annotate", first_argument},
      {"prim::dtype", dtype_fact},
      {"prim::device", device_fact},
      {"aten::device", device_fact},
      {"prim::type", device_type},
      {"prim::layout", layout_fact},
      {"prim::is_cuda", no},
      {"prim::is_mkldnn", no},
      {"prim::is_quantized", no},
      {"prim::is_sparse", no},
      {"prim::requires_grad", no},
      {"prim::tolist", tensor_to_list},
      {"prim::Print", ignored},
      {"prim::SetAttr", ignored},
      {"prim::device_guard", ignored},
      {"aten::warn", ignored},
      {"aten::_assert_async", ignored},
      {"aten::_assert_scalar", ignored},
      {"aten::_assert_tensor_metadata", ignored},
      {"aten::_functional_assert_async", ignored},
      {"aten::_linalg_check_errors", ignored},
      {"aten::sym_constrain_range", ignored},
      {"aten::sym_constrain_range_for_size", ignored},
      {"aten::is_grad_enabled", no},
      {"aten::is_autocast_enabled", no},
      {"aten::is_scripting", no},
      {"aten::is_floating_point", is_floating_point},
      {"aten::is_complex", is_complex},
      {"aten::is_contiguous", yes},
      {"aten::dim", rank_of},
      {"aten::size", size},
      {"aten::sym_size", size},
      {"aten::numel", numel},
      {"aten::sym_numel", numel},
      {"aten::item", to_scalar},
      {"aten::_local_scalar_dense", to_scalar},
      {"aten::Int", to_int},
      {"aten::IntImplicit", to_int},
      {"aten::Float", to_float},
      {"aten::FloatImplicit", to_float},
      {"aten::Bool", to_bool},
      {"aten::ScalarImplicit", to_scalar},
      {"aten::__not__", logical_not},
      {"torch.sym_ite", either},
      {"aten::__is__", is_same},
      {"aten::__isnot__", is_other},
      {"aten::__contains__", contains},
      {"aten::__getitem__", get_item},
      {"aten::_set_item", set_item},
      {"aten::len", length},
      {"aten::__range_length", range_number},
      {"aten::__derive_index", range_number},
      {"aten::append", append},
      {"aten::extend", extend},
      {"aten::insert", insert},
      {"aten::pop", pop},
      {"aten::reverse", reverse},
      {"aten::list", copy_list},
      {"aten::dict", copy_dict},
      {"aten::update", update},
      {"prim::isinstance", is_instance},
      {"aten::keys", dict_part},
      {"aten::values", dict_part},
      {"aten::items", dict_part},
      {"aten::format", text},
      {"aten::str", text},
  };
  return table;
}

/// Operations that are Python's on numbers and lists, and ATen's on tensors.
Result<std::optional<std::vector<Value>>> on_numbers(Call& c, std::string_view name) {
  using Some = std::optional<std::vector<Value>>;
  const auto some = [](Values v) -> Result<Some> {
    if (!v) return Failure{};
    return Some(*std::move(v));
  };
  static const std::map<std::string_view, std::string_view> kBinary{
      {"add", "add"},
      {"sub", "sub"},
      {"mul", "mul"},
      {"div", "div"},
      {"truediv", "div"},
      {"floordiv", "floordiv"},
      {"floor_divide", "floordiv"},
      {"remainder", "remainder"},
      {"mod", "remainder"},
      {"pow", "pow"},
      {"eq", "eq"},
      {"ne", "ne"},
      {"lt", "lt"},
      {"le", "le"},
      {"gt", "gt"},
      {"ge", "ge"},
      {"max", "max"},
      {"min", "min"},
      {"sym_max", "max"},
      {"sym_min", "min"},
      {"__and__", "__and__"},
      {"__or__", "__or__"},
      {"__xor__", "__xor__"},
      {"and_", "__and__"},
      {"or_", "__or__"},
  };
  if (name == "slice" && !c.args.empty() && c.args[0].list()) return some(slice_list(c, *c.args[0].list()));
  const auto row = kBinary.find(name);
  if (row != kBinary.end() && c.args.size() >= 2) {
    const Value &a = c.args[0], &b = c.args[1];
    if (is_number(a) && is_number(b)) {
      auto r = binary(c, row->second, *a.scalar(), *b.scalar());
      if (!r) return Failure{};
      return some(one(*r));
    }
    if (a.list() && b.list()) {
      if (name == "add") {
        std::vector<Value> joined = *a.list()->items;
        joined.insert(joined.end(), b.list()->items->begin(), b.list()->items->end());
        return some(container(c, Value::list(std::move(joined))));
      }
      if (name == "eq" || name == "ne") {
        bool known = true;
        const bool same = equal_lists(*a.list(), *b.list(), known);
        if (!known) return c.error("compares lists that are not known when importing");
        return some(one(Scalar::truth(same == (name == "eq"))));
      }
    }
    if (a.list() && is_number(b) && name == "mul") {
      const auto& s = *b.scalar();
      constexpr std::int64_t kMaxItems = 100'000;
      if (!s.integer.known() || s.integer.value() < 0 ||
          s.integer.value() >
              kMaxItems / static_cast<std::int64_t>(std::max<std::size_t>(a.list()->items->size(), 1))) {
        return c.error("repeats a list too often, or as often as is not known when importing");
      }
      std::vector<Value> out;
      for (std::int64_t i = 0; i < s.integer.value(); ++i) {
        out.insert(out.end(), a.list()->items->begin(), a.list()->items->end());
      }
      return some(container(c, Value::list(std::move(out))));
    }
    if ((name == "eq" || name == "ne") && !a.tensor() && !b.tensor()) {
      return some(one(Scalar::truth(identical(a, b) == (name == "eq"))));
    }
    return Some{};
  }
  if (c.args.empty() || !is_number(c.args[0])) {
    if ((name == "max" || name == "min") && c.args.size() == 1 && c.args[0].list()) {
      const auto& items = *c.args[0].list()->items;
      if (items.empty() || !std::all_of(items.begin(), items.end(), is_number))
        return c.error("needs a list of numbers");
      Scalar best = *items[0].scalar();
      for (std::size_t i = 1; i < items.size(); ++i) {
        auto r = binary(c, name, best, *items[i].scalar());
        if (!r) return Failure{};
        best = *r;
      }
      return some(one(best));
    }
    return Some{};
  }
  const Scalar& a = *c.args[0].scalar();
  if (name == "neg") {
    auto r = binary(c, "sub", Scalar::of(std::int64_t{0}), a);
    if (!r) return Failure{};
    return some(one(*r));
  }
  if (name == "ceil")
    return some(rounding(
        c, op("ceil"), [](double x) { return std::ceil(x); }, DType::Int64));
  if (name == "floor")
    return some(rounding(
        c, op("floor"), [](double x) { return std::floor(x); }, DType::Int64));
  if (name == "trunc") return some(convert(c, DType::Int64));
  if (name == "round")
    return some(rounding(
        c, op("round"), [](double x) { return std::nearbyint(x); }, DType::Float64));
  if (name == "sqrt")
    return some(rounding(
        c, op("sqrt"), [](double x) { return std::sqrt(x); }, DType::Float64));
  if (name == "log")
    return some(rounding(
        c, op("log"), [](double x) { return std::log(x); }, DType::Float64));
  if (name == "exp")
    return some(rounding(
        c, op("exp"), [](double x) { return std::exp(x); }, DType::Float64));
  if (name == "abs") {
    auto negative = binary(c, "sub", Scalar::of(std::int64_t{0}), a);
    auto r = negative ? binary(c, "max", a, *negative) : negative;
    if (!r) return Failure{};
    return some(one(*r));
  }
  return Some{};
}

}  // namespace

std::vector<std::string_view> python_operations() {
  std::vector<std::string_view> out{"prim::max", "prim::min"};  // on_numbers reads them as aten's
  for (const auto& [name, handler] : handlers()) out.push_back(name);
  return out;
}

Result<std::optional<std::vector<Value>>> python_operation(Call& c) {
  const std::string_view o = c.operation.op;
  const auto row = handlers().find(o);
  if (row != handlers().end()) {
    auto r = row->second(c);
    if (!r) return Failure{};
    return std::optional(*std::move(r));
  }
  if (o.starts_with("aten::") || o.starts_with("prim::")) return on_numbers(c, o.substr(6));
  return std::optional<std::vector<Value>>{};
}

Result<std::optional<bool>> truth(Call& c, const Value& v) {
  using Some = std::optional<bool>;
  if (const Scalar* s = v.scalar()) {
    const auto n = s->number();
    return n ? Some(*n != 0) : Some{};
  }
  if (const TensorRef* t = v.tensor()) {
    auto id = c.read(*t);
    if (!id) return Failure{};
    const auto n = c.scalar_of(*id, DType::Bool).number();
    return n ? Some(*n != 0) : Some{};
  }
  return c.error(fmt::format("tests {}", v.kind()));
}

}  // namespace perfc::torch
