/// Quantised operators. torch keeps a quantised tensor's scale and zero point
/// with it, ONNX's forms (the IR's) take them as operands: constants without
/// contents stand for those that the program does not write.
#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

ValueId some_scale(Call& c) { return c.constant({Type::tensor(DType::Float32, {}), nullptr}); }
ValueId some_zero(Call& c, DType dtype) { return c.constant({Type::tensor(dtype, {}), nullptr}); }

/// Scale and zero point of the result, when written.
Result<std::pair<ValueId, ValueId>> output_parameters(Call& c, DType dtype) {
  if (!c.given("scale")) return std::pair{some_scale(c), some_zero(c, dtype)};
  auto scale = promoted(c, c.arg("scale"), DType::Float32);
  auto zero = c.given("zero_point") ? promoted(c, c.arg("zero_point"), dtype) : Result<ValueId>(some_zero(c, dtype));
  if (!scale || !zero) return Failure{};
  return std::pair{*scale, *zero};
}

/// What a module's packed weights hold; the exporter writes them as a tuple.
struct Packed {
  ValueId weight, bias;
  std::vector<std::int64_t> stride, padding, dilation;
  std::int64_t groups = 1;
  std::vector<std::int64_t> output_padding;  ///< of transposed convolutions
};
Result<std::vector<std::int64_t>> numbers(Call& c, const Value& v) {
  std::vector<std::int64_t> out;
  const List* l = v.list();
  if (!l) return c.error("packed weights hold something else than lists of ints");
  for (const Value& item : *l->items) {
    const Scalar* s = item.scalar();
    if (!s || !s->integer.known()) return c.error("packed weights hold a list of something else than ints");
    out.push_back(s->integer.value());
  }
  return out;
}
Result<Packed> unpack(Call& c, std::string_view name) {
  const List* l = c.arg(name).list();
  if (!l || l->items->size() < 2) {
    return c.error("the packed weights are not resolved; export with `python -m perfc.export`");
  }
  const auto& items = *l->items;
  const TensorRef* weight = items[0].tensor();
  if (!weight) return c.error(fmt::format("packed weights start with {}", items[0].kind()));
  Packed p;
  auto w = c.read(*weight);
  if (!w) return Failure{};
  p.weight = *w;
  if (const TensorRef* bias = items[1].tensor()) {
    auto b = c.read(*bias);
    if (!b) return Failure{};
    p.bias = *b;
  }
  if (items.size() < 6) return p;
  auto stride = numbers(c, items[2]), padding = numbers(c, items[3]), dilation = numbers(c, items[4]);
  const Scalar* groups = items[5].scalar();
  if (!stride || !padding || !dilation) return Failure{};
  if (!groups || !groups->integer.known()) return c.error("packed weights hold no number of groups");
  p.stride = *stride;
  p.padding = *padding;
  p.dilation = *dilation;
  p.groups = groups->integer.value();
  if (items.size() > 6) {
    auto extra = numbers(c, items[6]);
    if (!extra) return Failure{};
    p.output_padding = *extra;
  }
  return p;
}

/// One number per spatial dim: torch packs 1-D convolutions with a height of 1.
std::vector<std::int64_t> last_of(std::vector<std::int64_t> v, std::size_t count, std::int64_t fallback) {
  if (v.size() > count) v.erase(v.begin(), v.end() - static_cast<std::ptrdiff_t>(count));
  v.resize(count, fallback);
  return v;
}

bool rectifies(const Call& c) { return std::string_view(c.row->name).find("_relu") != std::string_view::npos; }

Values activated(Call& c, Result<ValueId> y) {
  if (y && rectifies(c)) y = c.emit(op("nn.relu"), {*y});
  return single(c, y);
}

/// A matrix the other way round: a constant as such, others moved.
Result<ValueId> transposed(Call& c, ValueId v) {
  const Node& n = c.builder().node(v.node);
  const Type t = c.type(v);
  if (n.kind == NodeKind::Constant && t.ranked() && t.rank() == 2) {
    return c.builder().constant({Type::tensor(t.dtype(), {t.shape()[1], t.shape()[0]}), nullptr}, n.name, n.loc);
  }
  return c.transpose(v, {1, 0});
}

/// The operator on reals, between a dequantisation and a quantisation.
Result<ValueId> reals(Call& c, std::string_view name) {
  auto x = c.tensor(name);
  if (!x) return Failure{};
  return c.emit(op("qnn.dequantize"), {*x, some_scale(c), some_zero(c, c.type(*x).dtype())});
}
Values quantised(Call& c, Result<ValueId> y, DType dtype) {
  if (!y) return Failure{};
  const auto p = output_parameters(c, dtype);
  return p ? single(c, c.emit(op("qnn.quantize"), {*y, p->first, p->second})) : Failure{};
}

}  // namespace

Values quantize(Call& c) {
  auto x = c.tensor("self");
  const auto dtype = c.dtype_or("dtype", DType::UInt8);
  if (!x || !dtype) return Failure{};
  const auto p = output_parameters(c, *dtype);
  if (!p) return Failure{};
  Attrs attrs;
  if (c.given("axis")) {
    const auto axis = c.integer("axis");
    if (!axis) return Failure{};
    attrs.set("axis", *axis);
  }
  auto zero = c.cast(p->second, *dtype);
  return zero ? single(c, c.emit(op("qnn.quantize"), {*x, p->first, *zero}, std::move(attrs))) : Failure{};
}

Values dequantize(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  if (is_float(c.type(*x).dtype())) return alias(c);
  return single(c, reals(c, "self"));
}

/// Rounds to what int8 holds and back.
Values fake_quantize(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  auto q = c.emit(op("qnn.quantize"), {*x, some_scale(c), some_zero(c, DType::Int8)});
  return q ? single(c, c.emit(op("qnn.dequantize"), {*q, some_scale(c), some_zero(c, DType::Int8)})) : Failure{};
}

Values quantized_conv(Call& c) {
  auto x = c.tensor("qx");
  const auto p = unpack(c, "packed_weight");
  if (!x || !p) return Failure{};
  const Type w = c.type(p->weight);
  if (!w.is_static() || w.rank() < 3 || p->stride.empty()) return c.error("the packed weights are no convolution's");
  const std::size_t spatial = w.rank() - 2;
  const auto last = [&](std::vector<std::int64_t> v, std::int64_t fallback) {
    return last_of(std::move(v), spatial, fallback);
  };
  std::vector<std::int64_t> kernel, pads = last(p->padding, 0);
  for (std::size_t i = 0; i < spatial; ++i) kernel.push_back(w.shape()[i + 2].value());
  const std::vector<std::int64_t> ends = pads;
  pads.insert(pads.end(), ends.begin(), ends.end());
  const DType d = c.type(*x).dtype();
  const auto out = output_parameters(c, d);
  if (!out) return Failure{};
  // The bias is of reals; the IR's form takes it in the accumulator's type.
  ValueId bias;
  if (p->bias) {
    const Node& n = c.builder().node(p->bias.node);
    bias = c.builder().constant({c.type(p->bias).with_dtype(DType::Int32), nullptr}, n.name, n.loc);
  }
  return activated(c, c.emit(op("qnn.conv2d"),
                             {*x, some_scale(c), some_zero(c, d), p->weight, some_scale(c), some_zero(c, w.dtype()),
                              out->first, out->second, bias},
                             {{"dilation", last(p->dilation, 1)},
                              {"groups", p->groups},
                              {"kernel_size", kernel},
                              {"padding", pads},
                              {"strides", last(p->stride, 1)}}));
}

/// The IR has no transposed convolution of quantised numbers: it stands between conversions.
Values quantized_conv_transposed(Call& c) {
  auto data = c.tensor("qx"), x = reals(c, "qx");
  const auto p = unpack(c, "packed_weight");
  if (!data || !x || !p) return Failure{};
  const Type w = c.type(p->weight);
  if (!w.is_static() || w.rank() < 3 || w.rank() > 5 || p->stride.empty())
    return c.error("the packed weights are no convolution's");
  const std::size_t spatial = w.rank() - 2;
  auto weight = c.emit(op("qnn.dequantize"), {p->weight, some_scale(c), some_zero(c, w.dtype())});
  if (!weight) return Failure{};
  std::vector<std::int64_t> kernel, pads = last_of(p->padding, spatial, 0);
  for (std::size_t i = 0; i < spatial; ++i) kernel.push_back(w.shape()[i + 2].value());
  const std::vector<std::int64_t> ends = pads;
  pads.insert(pads.end(), ends.begin(), ends.end());
  auto y = c.emit(family("nn.conv?d_transpose").with_dims(spatial), {*x, *weight, p->bias},
                  {{"dilation", last_of(p->dilation, spatial, 1)},
                   {"groups", p->groups},
                   {"kernel_size", kernel},
                   {"output_padding", last_of(p->output_padding, spatial, 0)},
                   {"padding", pads},
                   {"strides", last_of(p->stride, spatial, 1)}});
  return quantised(c, y, c.type(*data).dtype());
}

Values quantized_linear(Call& c) {
  auto x = c.tensor("qx");
  const auto p = unpack(c, "packed_weight");
  if (!x || !p) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  if (*rank < 2) return c.error("data without a batch are not supported");
  const DType d = c.type(*x).dtype();
  const auto out = output_parameters(c, d);
  if (!out) return Failure{};
  ValueId a = *x;
  std::vector<Value> shape;
  if (*rank > 2) {
    for (std::size_t i = 0; i + 1 < *rank; ++i) shape.emplace_back(c.size_of(*x, i));
    const auto width = c.known_dim(*x, *rank - 1, "the width of the data");
    auto flat = width ? c.reshape(*x, {-1, *width}) : Result<ValueId>(Failure{});
    if (!flat) return Failure{};
    a = *flat;
  }
  auto y = c.emit(op("qnn.gemm"),
                  {a, some_scale(c), some_zero(c, d), p->weight, some_scale(c), some_zero(c, c.type(p->weight).dtype()),
                   p->bias, out->first, out->second},
                  {{"transB", std::int64_t{1}}});
  if (y && *rank > 2) {
    shape.emplace_back(Scalar{.integer = c.dim(p->weight, 0)});
    auto target = c.int_vector(shape);
    y = target ? c.emit(op("reshape"), {*y, *target}) : target;
  }
  return activated(c, y);
}

/// Quantised weights, activations quantised as they come.
Values quantized_linear_dynamic(Call& c) {
  auto x = c.tensor("x");
  const auto p = unpack(c, "packed_weight");
  if (!x || !p) return Failure{};
  const DType d = c.type(p->weight).dtype();
  if (is_float(d)) {  // the fp16 form
    auto w = c.cast(p->weight, c.type(*x).dtype());
    return w ? activated(c, c.emit(op("nn.dense"), {*x, *w, p->bias}, {{"transB", std::int64_t{1}}})) : Failure{};
  }
  auto w = transposed(c, p->weight);
  return w ? activated(c, c.emit(op("qnn.dynamic_quantize_matmul"), {*x, *w, some_scale(c), some_zero(c, d), p->bias}))
           : Failure{};
}

/// add, mul, of two tensors or of a tensor and a number.
Values quantized_binary(Call& c) {
  auto a = c.tensor("qa");
  if (!a) return Failure{};
  const DType d = c.type(*a).dtype();
  auto b = promoted(c, c.arg("qb"), d);
  const auto out = output_parameters(c, d);
  if (!b || !out) return Failure{};
  const bool adds = std::string_view(c.row->name).find("add") != std::string_view::npos;
  return activated(
      c, c.emit(adds ? op("qnn.add") : op("qnn.multiply"),
                {*a, some_scale(c), some_zero(c, d), *b, some_scale(c), some_zero(c, d), out->first, out->second}));
}

Values quantized_cat(Call& c) {
  auto all = c.tensors("tensors");
  const auto dim = c.integer_or("dim", 0);
  if (!all || !dim) return Failure{};
  if (all->empty()) return c.error("joins nothing");
  const DType d = c.type(all->front()).dtype();
  const auto out = output_parameters(c, d);
  if (!out) return Failure{};
  std::vector<ValueId> operands{out->first, out->second};
  for (ValueId v : *all) {
    operands.push_back(v);
    operands.push_back(some_scale(c));
    operands.push_back(some_zero(c, d));
  }
  return activated(c, c.emit(op("qnn.concatenate"), std::move(operands), {{"axis", *dim}}));
}

Values quantized_hardswish(Call& c) {
  auto x = c.tensor("qx");
  auto r = x ? reals(c, "qx") : x;
  return r ? quantised(c, c.emit(op("nn.hard_swish"), {*r}), c.type(*x).dtype()) : Failure{};
}
Values quantized_leaky_relu(Call& c) {
  auto x = c.tensor("qx");
  const auto slope = c.real_or("negative_slope", 0.01);
  if (!x || !slope) return Failure{};
  const DType d = c.type(*x).dtype();
  const auto out = output_parameters(c, d);
  return out ? single(c, c.emit(op("qnn.leaky_relu"), {*x, some_scale(c), some_zero(c, d), out->first, out->second},
                                {{"alpha", *slope}}))
             : Failure{};
}
Values quantized_sigmoid(Call& c) {
  auto x = c.tensor("qx");
  if (!x) return Failure{};
  const DType d = c.type(*x).dtype();
  const auto out = output_parameters(c, d);
  return out ? single(c, c.emit(op("qnn.sigmoid"), {*x, some_scale(c), some_zero(c, d), out->first, out->second}))
             : Failure{};
}
Values quantized_relu6(Call& c) {
  auto x = c.tensor("qx");
  if (!x) return Failure{};
  const DType d = c.type(*x).dtype();
  return single(c, c.emit(op("clip"), {*x, some_zero(c, d), some_zero(c, d)}));
}
Values quantized_batch_norm(Call& c) {
  auto x = c.tensor("qx");
  auto scale = c.tensor("weight"), bias = c.tensor("bias"), mean = c.tensor("mean"), var = c.tensor("var");
  const auto eps = c.real("eps");
  if (!x || !scale || !bias || !mean || !var || !eps) return Failure{};
  auto r = reals(c, "qx");
  auto y = r ? c.emit(op("nn.batch_norm"), {*r, *scale, *bias, *mean, *var}, {{"epsilon", *eps}}) : r;
  if (y && rectifies(c)) y = c.emit(op("nn.relu"), {*y});
  return quantised(c, y, c.type(*x).dtype());
}

/// Weights with a layer's settings, packed in the program itself.
Values quantized_prepack(Call& c) { return std::vector<Value>{Value::list(c.args, List::Kind::Tuple)}; }

}  // namespace perfc::torch
