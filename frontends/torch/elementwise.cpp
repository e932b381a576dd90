/// Elementwise operators: arithmetic with torch's type promotion, comparisons,
/// selections, casts, activations that are more than one IR operator.
#include <algorithm>
#include <cmath>

#include "frontends/torch/translate.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

enum class Class : std::uint8_t { Bool, Integer, Float, Complex };
Class class_of(DType d) {
  if (d == DType::Bool) return Class::Bool;
  if (d == DType::Complex64 || d == DType::Complex128) return Class::Complex;
  return is_float(d) ? Class::Float : Class::Integer;
}

bool is_unsigned(DType d) {
  return d == DType::UInt8 || d == DType::UInt16 || d == DType::UInt32 || d == DType::UInt64 || d == DType::UInt4 ||
         d == DType::UInt2;
}

DType signed_of(int bits) {
  return bits <= 8 ? DType::Int8 : bits <= 16 ? DType::Int16 : bits <= 32 ? DType::Int32 : DType::Int64;
}

/// A trace writes Python's numbers as 0-d constants of Python's types.
bool is_wrapped_number(const Call& c, ValueId v) {
  const DType d = c.type(v).dtype();
  return c.builder().node(v.node).kind == NodeKind::Constant && (d == DType::Float64 || d == DType::Int64);
}

/// (self, other) and what they promote to.
struct Pair {
  ValueId a, b;
  DType dtype;
};
Result<Pair> pair(Call& c, std::string_view first, std::string_view second, DType at_least = DType::Undefined) {
  Pair p;
  p.dtype = result_type(c, {&c.arg(first), &c.arg(second)});
  if (at_least != DType::Undefined && !is_float(p.dtype) && class_of(p.dtype) != Class::Complex) p.dtype = at_least;
  auto a = promoted(c, c.arg(first), p.dtype), b = promoted(c, c.arg(second), p.dtype);
  if (!a || !b) return Failure{};
  p.a = *a;
  p.b = *b;
  return p;
}

Values combine(Call& c, OpId op, Attrs attrs = {}, DType at_least = DType::Undefined) {
  const auto p = pair(c, "self", "other", at_least);
  if (!p) return Failure{};
  return single(c, c.emit(op, {p->a, p->b}, std::move(attrs)));
}

/// a ± alpha · b: one kernel, which scales as it reads.
Result<ValueId> with_alpha(Call& c, OpId o, ValueId a, ValueId b, DType dtype) {
  const auto factor = c.real_or("alpha", 1);
  if (!factor) return Failure{};
  if (*factor == 1) return c.emit(o, {a, b});
  if (!c.data(a) || !c.data(b)) return c.emit(o, {a, b}, {{"alpha", *factor}});
  auto scaled = c.emit(op("multiply"), {b, c.number(*factor, dtype)});
  return scaled ? c.emit(o, {a, *scaled}) : scaled;
}

Result<ValueId> as_bool(Call& c, std::string_view name) {
  auto v = c.tensor(name);
  if (!v) return Failure{};
  return c.cast(*v, DType::Bool);
}

/// Bitwise on integers, logical on bools.
Values bitwise(Call& c, OpId on_integers, OpId on_bool) {
  const auto p = pair(c, "self", "other");
  if (!p) return Failure{};
  return single(c, c.emit(p->dtype == DType::Bool ? on_bool : on_integers, {p->a, p->b}));
}

/// A float tensor of the argument, as torch makes for functions of reals.
Result<ValueId> real_tensor(Call& c, std::string_view name) {
  auto v = c.tensor(name);
  if (!v) return Failure{};
  const DType d = c.type(*v).dtype();
  return is_float(d) || class_of(d) == Class::Complex ? v : c.promote(*v, DType::Float32);
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == DType::Undefined || a == b) return b;
  if (b == DType::Undefined) return a;
  const Class x = class_of(a), y = class_of(b);
  if (x != y) {
    if (x == Class::Complex || y == Class::Complex) {
      return a == DType::Complex128 || b == DType::Complex128 || a == DType::Float64 || b == DType::Float64
                 ? DType::Complex128
                 : DType::Complex64;
    }
    return x > y ? a : b;
  }
  if (x == Class::Float) {
    if (bits(a) == bits(b)) return DType::Float32;  // float16 with bfloat16
    return bits(a) > bits(b) ? a : b;
  }
  if (x == Class::Complex) return DType::Complex128;
  if (is_unsigned(a) == is_unsigned(b)) return bits(a) > bits(b) ? a : b;
  const DType u = is_unsigned(a) ? a : b, s = is_unsigned(a) ? b : a;
  return bits(s) > bits(u) ? s : signed_of(2 * bits(u));
}

/// torch.result_type: tensors with dims decide, then 0-d tensors, then numbers,
/// unless what comes later is of a higher class.
DType result_type(Call& c, std::span<const Value* const> values) {
  DType dims = DType::Undefined, scalars = DType::Undefined, numbers = DType::Undefined;
  for (const Value* v : values) {
    if (const TensorRef* t = v->tensor()) {
      const Type type = c.type((*t)->value);
      const bool scalar = type.ranked() && type.rank() == 0;
      if (scalar && is_wrapped_number(c, (*t)->value)) {
        numbers = promote(numbers, is_float(type.dtype()) ? DType::Float32 : type.dtype());
        continue;
      }
      DType& into = scalar ? scalars : dims;
      into = promote(into, type.dtype());
    } else if (const Scalar* s = v->scalar()) {
      numbers = promote(numbers, s->is_float() ? DType::Float32 : s->dtype);
    }
  }
  DType out = dims;
  for (DType next : {scalars, numbers}) {
    if (next == DType::Undefined) continue;
    if (out == DType::Undefined) out = next;
    else if (class_of(next) > class_of(out)) out = promote(out, next);
  }
  return out == DType::Undefined ? DType::Float32 : out;
}

Result<ValueId> promoted(Call& c, const Value& v, DType dtype) {
  if (const TensorRef* t = v.tensor()) {
    auto r = c.read(*t);
    if (!r) return Failure{};
    return c.promote(*r, dtype);
  }
  if (const Scalar* s = v.scalar()) return c.scalar_tensor(*s, dtype);
  return c.error(fmt::format("needs a tensor or a number, got {}", v.kind()));
}

Values add(Call& c) {
  const auto p = pair(c, "self", "other");
  if (!p) return Failure{};
  if (p->dtype == DType::Bool) return single(c, c.emit(op("logical_or"), {p->a, p->b}));
  return single(c, with_alpha(c, op("add"), p->a, p->b, p->dtype));
}

Values subtract(Call& c) {
  const auto p = pair(c, "self", "other");
  if (!p) return Failure{};
  return single(c, with_alpha(c, op("subtract"), p->a, p->b, p->dtype));
}

Values reverse_subtract(Call& c) {
  const auto p = pair(c, "self", "other");
  if (!p) return Failure{};
  return single(c, with_alpha(c, op("subtract"), p->b, p->a, p->dtype));
}

Values multiply(Call& c) {
  const auto p = pair(c, "self", "other");
  if (!p) return Failure{};
  return single(c, c.emit(p->dtype == DType::Bool ? op("logical_and") : op("multiply"), {p->a, p->b}));
}

Values divide(Call& c) {
  const std::string mode = c.text_or("rounding_mode", "");
  if (mode.empty()) return combine(c, op("divide"), {}, DType::Float32);
  const auto p = pair(c, "self", "other");
  if (!p) return Failure{};
  return single(c, c.emit(mode == "floor" ? op("floor_divide") : op("trunc_divide"), {p->a, p->b}));
}

Values fmod(Call& c) { return combine(c, op("mod"), {{"fmod", std::int64_t{1}}}); }

Values power(Call& c) {
  // √x is what torch runs for this exponent; x² stays a power, which autocast runs in float32.
  const Scalar* exponent = c.arg("exponent").scalar();
  const auto e = exponent && exponent->literal() ? exponent->number() : std::nullopt;
  if (e && c.arg("self").tensor()) {
    auto x = c.tensor("self");
    if (!x) return Failure{};
    if (*e == 0.5) {
      auto r = real_tensor(c, "self");
      return r ? single(c, c.emit(op("sqrt"), {*r})) : Failure{};
    }
  }
  const auto p = pair(c, "self", "exponent");
  if (!p) return Failure{};
  return single(c, c.emit(op("power"), {p->a, p->b}));
}

Values bitwise_and(Call& c) { return bitwise(c, op("bitwise_and"), op("logical_and")); }
Values bitwise_or(Call& c) { return bitwise(c, op("bitwise_or"), op("logical_or")); }
Values bitwise_xor(Call& c) { return bitwise(c, op("bitwise_xor"), op("logical_xor")); }
Values bitwise_not(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  return single(c, c.emit(c.type(*v).dtype() == DType::Bool ? op("logical_not") : op("bitwise_not"), {*v}));
}
Values shift_left(Call& c) { return combine(c, op("bit_shift"), {{"direction", std::string("LEFT")}}); }
Values shift_right(Call& c) { return combine(c, op("bit_shift"), {{"direction", std::string("RIGHT")}}); }

Values clamp(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  DType d = c.type(*x).dtype();
  d = result_type(c, {&c.arg("self"), &c.arg("min"), &c.arg("max")});
  auto v = c.promote(*x, d);
  if (!v) return Failure{};
  const auto fits = [&](std::string_view name) {
    const TensorRef* t = c.arg(name).tensor();
    return !t || (c.type(*v).is_static() && c.type((*t)->value) == c.type(*v));
  };
  if (!fits("min") || !fits("max")) {
    for (std::string_view name : {"min", "max"}) {
      if (!c.given(name)) continue;
      auto bound = promoted(c, c.arg(name), d);
      if (!bound) return Failure{};
      std::optional<InsideKernel> of_both;  // clamp.Tensor compares with both bounds at once
      if (name == "min" && c.given("max")) of_both.emplace(c);
      v = c.emit(name == "min" ? op("maximum") : op("minimum"), {*v, *bound});
      if (!v) return Failure{};
    }
    return c.result(*v);
  }
  std::vector<ValueId> operands{*v, {}, {}};
  for (std::size_t i : {1, 2}) {
    const std::string_view name = i == 1 ? "min" : "max";
    if (!c.given(name)) continue;
    auto bound = promoted(c, c.arg(name), d);
    if (!bound) return Failure{};
    operands[i] = *bound;
  }
  return single(c, c.emit(op("clip"), std::move(operands)));
}

Values hardtanh(Call& c) {
  auto x = c.tensor("self");
  const auto low = c.real_or("min_val", -1), high = c.real_or("max_val", 1);
  if (!x || !low || !high) return Failure{};
  const DType d = c.type(*x).dtype();
  return single(c, c.emit(op("clip"), {*x, c.number(*low, d), c.number(*high, d)}));
}
Values relu6(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  const DType d = c.type(*x).dtype();
  return single(c, c.emit(op("clip"), {*x, c.number(0, d), c.number(6, d)}));
}

/// x where x > threshold, else value.
Values threshold(Call& c) {
  auto x = c.tensor("self");
  const auto limit = c.real("threshold"), value = c.real("value");
  if (!x || !limit || !value) return Failure{};
  if (*limit == 0 && *value == 0) return single(c, c.emit(op("nn.relu"), {*x}));
  if (*value == 0) return single(c, c.emit(op("nn.thresholded_relu"), {*x}, {{"alpha", *limit}}));
  return single(c, c.emit(op("nn.threshold"), {*x}, {{"threshold", *limit}, {"value", *value}}));
}

Values gelu(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  return single(c, c.emit(c.text_or("approximate", "none") == "tanh" ? op("nn.fast_gelu") : op("nn.gelu"), {*x}));
}

Values glu(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  const auto dim = c.integer_or("dim", -1);
  const auto axis = dim ? c.axis(*dim, *rank) : Result<std::size_t>(Failure{});
  if (!axis) return Failure{};
  return single(c, c.emit(op("nn.glu"), {*x}, {{"axis", static_cast<std::int64_t>(*axis)}}));
}

Values hardsigmoid(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  return single(c, c.emit(op("nn.hard_sigmoid"), {*x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
}

/// The second result is a buffer of the backward pass.
Values log_sigmoid(Call& c) {
  auto x = c.tensor("self");
  auto y = x ? c.emit(op("nn.log_sigmoid"), {*x}) : x;
  if (!y) return Failure{};
  std::vector<ValueId> out{*y};
  if (c.outputs() > 1) out.push_back(c.constant({Type::tensor(c.type(*x).dtype(), {0}), nullptr}));
  return c.results(out);
}

Values square(Call& c) {
  auto x = c.tensor("self");
  return x ? single(c, c.emit(op("multiply"), {*x, *x})) : Failure{};
}
Values isfinite(Call& c) {
  auto self = c.tensor("self");
  if (!self) return Failure{};
  if (!is_float(c.type(*self).dtype())) {  // aten/src/ATen/native/TensorCompare.cpp, isfinite: ones_like
    auto shape = c.shape_of(*self);
    return shape ? single(c, c.full(*shape, 1, DType::Bool)) : Failure{};
  }
  auto x = real_tensor(c, "self");
  if (!x) return Failure{};
  // (x == x) · (|x| != inf), as torch has it.
  auto size = c.emit(op("abs"), {*x});
  auto inside = size ? c.emit(op("not_equal"), {*size, c.number(INFINITY, c.type(*x).dtype())}) : size;
  auto number = c.emit(op("equal"), {*x, *x});
  if (!inside || !number) return Failure{};
  return single(c, c.emit(op("logical_and"), {*inside, *number}));
}
/// |a − b| ≤ atol + rtol · |b|
Values isclose(Call& c) {
  const auto p = pair(c, "self", "other");
  const auto rtol = c.real_or("rtol", 1e-5), atol = c.real_or("atol", 1e-8);
  if (!p || !rtol || !atol) return Failure{};
  auto d = c.emit(op("subtract"), {p->a, p->b});
  auto distance = d ? c.emit(op("abs"), {*d}) : d;
  auto size = c.emit(op("abs"), {p->b});
  auto relative = size ? c.emit(op("multiply"), {*size, c.number(*rtol, p->dtype)}) : size;
  auto bound = relative ? c.emit(op("add"), {*relative, c.number(*atol, p->dtype)}) : relative;
  if (!distance || !bound) return Failure{};
  return single(c, c.emit(op("less_equal"), {*distance, *bound}));
}
/// A number becomes a tensor first (aten/src/ATen/native/TensorCompare.cpp, where.ScalarOther: wrapped_scalar_tensor).
static Result<ValueId> filled_tensor(Call& c, const Value& v, DType dtype) {
  const Scalar* s = v.scalar();
  const auto n = s && s->literal() ? s->number() : std::nullopt;
  if (!n) return promoted(c, v, dtype);
  return c.full(c.int_constant({}), *n, dtype, with_mark({}, kLaunched));
}
Values where(Call& c) {
  auto condition = as_bool(c, "condition");
  if (!condition) return Failure{};
  const DType d = result_type(c, {&c.arg("self"), &c.arg("other")});
  auto a = filled_tensor(c, c.arg("self"), d), b = filled_tensor(c, c.arg("other"), d);
  if (!a || !b) return Failure{};
  return single(c, c.emit(op("where"), {*condition, *a, *b}));
}

Values masked_fill(Call& c) {
  auto x = c.tensor("self");
  auto mask = as_bool(c, "mask");
  if (!x || !mask) return Failure{};
  auto value = promoted(c, c.arg("value"), c.type(*x).dtype());
  if (!value) return Failure{};
  // aten/src/ATen/native/TensorAdvancedIndexing.cpp, masked_fill: a clone, of which the elements are filled
  return single(c, c.emit(op("where"), {*mask, *value, *x}, c.in_place ? Attrs{} : with_mark({}, kOnCopy)));
}

/// A tensor that is cast to the type that it has is the same one, and remembers it.
static Values cast_or_same(Call& c, const TensorRef& t, DType d) {
  auto v = c.read(t);
  if (!v) return Failure{};
  if (d != c.type(*v).dtype()) return single(c, c.cast(*v, d));
  auto same = std::make_shared<Tensor>(*t);
  same->recast = d == DType::Float32;
  return std::vector<Value>{std::move(same)};
}

/// The target type of `to`, wherever the overload has it. A device or a memory
/// format alone changes nothing that this IR sees.
Values to(Call& c) {
  const TensorRef* self = c.args.empty() ? nullptr : c.args[0].tensor();
  if (!self) return c.error("needs a tensor");
  DType d = DType::Undefined;
  if (c.given("other")) {
    if (const TensorRef* t = c.arg("other").tensor()) d = c.type((*t)->value).dtype();
  }
  if (c.given("dtype")) {
    const auto asked = c.dtype_or("dtype", DType::Undefined);
    if (!asked) return Failure{};
    d = *asked;
  }
  auto v = c.read(*self);
  if (!v) return Failure{};
  if (d == DType::Undefined || d == c.type(*v).dtype()) {
    const auto copy = c.flag_or("copy", false);
    if (!copy) return Failure{};
    if (*copy) return single(c, c.emit(op("clone"), {*v}));
  }
  return d == DType::Undefined ? Values(std::vector<Value>{*self}) : cast_or_same(c, *self, d);
}

/// to(self, dtype | device | other, …): what the second argument is tells the overload.
Values to_any(Call& c) {
  const TensorRef* self = c.args[0].tensor();
  if (!self) return c.error("needs a tensor");
  const Value& target = c.arg("target");
  if (const TensorRef* t = target.tensor()) return cast_or_same(c, *self, c.type((*t)->value).dtype());
  if (!target.scalar()) return std::vector<Value>{*self};
  const auto asked = c.dtype_or("target", DType::Undefined);
  return asked ? cast_or_same(c, *self, *asked) : Failure{};
}

template <DType kTo>
Values cast_to(Call& c) {
  if (const TensorRef* self = c.arg("self").tensor()) return cast_or_same(c, *self, kTo);
  auto v = c.tensor("self");
  return v ? single(c, c.cast(*v, kTo)) : Failure{};
}
template Values cast_to<DType::Float32>(Call&);
template Values cast_to<DType::Float64>(Call&);
template Values cast_to<DType::Float16>(Call&);
template Values cast_to<DType::BFloat16>(Call&);
template Values cast_to<DType::Int64>(Call&);
template Values cast_to<DType::Int32>(Call&);
template Values cast_to<DType::Bool>(Call&);

Values alias(Call& c) {
  if (const TensorRef* t = c.args.empty() ? nullptr : c.args[0].tensor()) return std::vector<Value>{*t};
  return c.args.empty() ? Values(c.error("needs an argument")) : Values(std::vector<Value>{c.args[0]});
}
/// A constant of the program, which Python has on the host: no kernel makes it.
Values lift(Call& c) {
  auto v = c.tensor("self");
  return v ? single(c, c.emit(op("copy"), {*v})) : Failure{};
}
/// run_decompositions() writes contiguous() as a clone in torch.contiguous_format, dropout as one without a format.
Values clone(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  // torch.contiguous_format is 0.
  const Scalar* format = c.arg("memory_format").scalar();
  const bool in_order = format && format->integer.is(0);
  if (c.importer.program().decomposed && !c.operation.caller.ends_with(".clone"))
    return single(c, c.emit(in_order ? op("contiguous") : op("copy"), {*v}));
  return single(c, c.emit(op("clone"), {*v}, in_order ? Attrs{{"contiguous", std::int64_t{1}}} : Attrs{}));
}
/// Whether two tensors are the same view of one storage.
static bool lie_in_one_place(const Call& c, const Tensor& a, const Tensor& b) {
  const auto same = [&](ValueId x, ValueId y) {
    const Data *of_x = c.data(x), *of_y = c.data(y);
    return x == y || (of_x && of_y && of_x->fully_known() && *of_x == *of_y);
  };
  return a.storage == b.storage && std::ranges::equal(a.views, b.views, [&](const ViewStep& x, const ViewStep& y) {
           return x.op == y.op && x.attrs == y.attrs && std::ranges::equal(x.operands, y.operands, same);
         });
}
/// self.copy_(src): src, broadcast, in self's type.
Values copy_from(Call& c) {
  auto src = c.tensor("src");
  const TensorRef *self = c.args[0].tensor(), *from = c.arg("src").tensor();
  if (!src || !self) return c.error("needs two tensors");
  // x[a] += y ends by copying x[a] to itself.
  if (from && lie_in_one_place(c, **self, **from)) {
    auto again = c.emit(op("clone"), {*src});
    if (!again) return Failure{};
    (*self)->value = *again;
    return std::vector<Value>{*self};
  }
  const DType to = c.type((*self)->value).dtype();
  auto copied = c.type(*src).dtype() == to ? c.emit(op("clone"), {*src}) : c.cast(*src, to);
  if (!copied || !c.write(*self, *copied)) return Failure{};
  return std::vector<Value>{*self};
}

/// No training, or nothing to drop: the argument itself.
Values dropout(Call& c) {
  const auto train = c.flag_or("train", false);
  const auto p = c.real_or("p", 0.5);
  auto v = c.tensor("input");
  if (!train || !p || !v) return Failure{};
  if (!*train || *p == 0) return std::vector<Value>{c.args[0]};
  return c.finish(op("nn.dropout"), {*v, c.number(*p, DType::Float32), c.number(1, DType::Bool)}, {},
                  std::max<std::size_t>(c.outputs(), 1));
}

Values prelu(Call& c) {
  auto x = c.tensor("self"), w = c.tensor("weight");
  if (!x || !w) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  // A slope per channel broadcasts along dim 1.
  if (c.type(*w).ranked() && c.type(*w).rank() == 1 && *rank > 2 && !c.dim(*w, 0).is(1)) {
    std::vector<std::int64_t> shape(*rank - 1, 1);
    shape[0] = -1;
    w = c.reshape(*w, shape);
    if (!w) return Failure{};
  }
  return single(c, c.emit(op("nn.prelu"), {*x, *w}));
}

/// Leaky slope in inference: the mean of the bounds.
Values rrelu(Call& c) {
  auto x = c.tensor("self");
  const auto lower = c.real_or("lower", 1.0 / 8), upper = c.real_or("upper", 1.0 / 3);
  if (!x || !lower || !upper) return Failure{};
  return single(c, c.emit(op("nn.leaky_relu"), {*x}, {{"alpha", (*lower + *upper) / 2}}));
}

Values shrink(Call& c) {
  auto x = c.tensor("self");
  const auto lambda = c.real_or("lambd", 0.5);
  if (!x || !lambda) return Failure{};
  const bool soft = std::string_view(c.row->name) == "softshrink";
  return single(c, c.emit(op("nn.shrink"), {*x}, {{"bias", soft ? *lambda : 0.0}, {"lambd", *lambda}}));
}
/// x − tanh(x)
Values tanhshrink(Call& c) {
  auto x = c.tensor("self");
  auto t = x ? c.emit(op("tanh"), {*x}) : x;
  return t ? single(c, c.emit(op("subtract"), {*x, *t})) : Failure{};
}
Values deg_to_rad(Call& c) {
  auto x = real_tensor(c, "self");
  if (!x) return Failure{};
  const double turn = std::acos(-1.0) / 180;
  const bool back = std::string_view(c.row->name) == "rad2deg";
  return single(c, c.emit(op("multiply"), {*x, c.number(back ? 1 / turn : turn, c.type(*x).dtype())}));
}

Values fill(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  const DType d = c.type(*x).dtype();
  auto value = c.given("value") ? promoted(c, c.arg("value"), d) : Result<ValueId>(c.number(0, d));
  auto shape = c.shape_of(*x);
  if (!value || !shape) return Failure{};
  auto all = c.emit(op("broadcast_to"), {*value, *shape});
  return all ? single(c, c.emit(op("clone"), {*all}, {{"contiguous", std::int64_t{1}}})) : Failure{};
}

}  // namespace perfc::torch
