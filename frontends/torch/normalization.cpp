/// Normalisation, softmax, norms of vectors.
#include <cmath>

#include "frontends/torch/translate.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

Result<ValueId> parameter(Call& c, std::string_view name, double otherwise, const Dim& length, DType dtype) {
  auto v = c.tensor_or_none(name);
  if (!v) return Failure{};
  return *v ? v : Result<ValueId>(c.uniform(otherwise, length, dtype));
}

}  // namespace

Values with_unused(Call& c, Values out) {
  for (std::size_t i = 1; out && i < c.outputs(); ++i) {
    if (i < out->size()) continue;
    const Type& declared = c.operation.outputs[i].tensor;
    out->push_back(
        Call::fresh(c.constant({declared.is_tensor() ? declared : Type::tensor(DType::Float32, {0}), nullptr})));
  }
  return out;
}

Values batch_norm(Call& c) {
  auto x = c.tensor("input");
  const auto eps = c.real_or("eps", 1e-5);
  const auto training = c.flag_or("training", false);
  if (!x || !eps || !training) return Failure{};
  const DType d = c.type(*x).dtype();
  const Dim n = c.dim(*x, 1);
  auto mean = c.tensor_or_none("running_mean"), var = c.tensor_or_none("running_var");
  if (!mean || !var) return Failure{};
  const DType parameters = *mean ? c.type(*mean).dtype() : d;
  auto scale = parameter(c, "weight", 1, n, parameters), bias = parameter(c, "bias", 0, n, parameters);
  if (!scale || !bias) return Failure{};
  const bool own_statistics = *training || !*mean || !*var;
  // run_decompositions() writes instance_norm so, of all samples' channels as those of one.
  if (c.importer.program().decomposed && own_statistics && !*mean && c.dim(*x, 0).is(1)) {
    auto y = c.emit(op("nn.instance_norm"), {*x, *scale, *bias}, {{"epsilon", *eps}});
    return y ? with_unused(c, c.result(*y)) : Failure{};
  }
  Attrs attrs{{"epsilon", *eps}};
  std::vector<ValueId> operands{*x, *scale, *bias};
  if (own_statistics) {
    attrs.set("training_mode", std::int64_t{1});
  } else {
    operands.push_back(*mean);
    operands.push_back(*var);
  }
  auto y = c.emit(op("nn.batch_norm"), std::move(operands), std::move(attrs));
  return y ? with_unused(c, c.result(*y)) : Failure{};
}

Values layer_norm(Call& c) {
  auto x = c.tensor("input");
  const List* shape = c.arg("normalized_shape").list();
  const auto eps = c.real_or("eps", 1e-5);
  if (!x || !eps) return Failure{};
  if (!shape) return c.error("'normalized_shape' must be a list of ints");
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  if (shape->items->size() > *rank || shape->items->empty()) return c.error("'normalized_shape' does not fit the data");
  const std::size_t first = *rank - shape->items->size();
  const DType d = c.type(*x).dtype();
  auto scale = parameter(c, "weight", 1, c.dim(*x, *rank - 1), d), bias = c.tensor_or_none("bias");
  if (!scale || !bias) return Failure{};
  auto y = c.emit(op("nn.layer_norm"), {*x, *scale, *bias},
                  {{"axis", static_cast<std::int64_t>(first) - static_cast<std::int64_t>(*rank)}, {"epsilon", *eps}});
  return y ? with_unused(c, c.result(*y)) : Failure{};
}

Values rms_norm(Call& c) {
  auto x = c.tensor("input");
  const List* shape = c.arg("normalized_shape").list();
  const auto eps = c.real_or("eps", 1.19e-7);
  if (!x || !eps) return Failure{};
  if (!shape) return c.error("'normalized_shape' must be a list of ints");
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  if (shape->items->size() > *rank || shape->items->empty()) return c.error("'normalized_shape' does not fit the data");
  auto scale = parameter(c, "weight", 1, c.dim(*x, *rank - 1), c.type(*x).dtype());
  if (!scale) return Failure{};
  auto y = c.emit(op("nn.rms_norm"), {*x, *scale},
                  {{"axis", -static_cast<std::int64_t>(shape->items->size())}, {"epsilon", *eps}});
  return y ? with_unused(c, c.result(*y)) : Failure{};
}

/// Groups of channels. With data of rank 2 a dim of 1 is lent.
Values group_norm(Call& c) {
  auto x = c.tensor("input");
  const auto groups = c.integer(c.given("num_groups") ? "num_groups" : "group");
  const auto eps = c.real_or("eps", 1e-5);
  if (!x || !groups || !eps) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  const DType d = c.type(*x).dtype();
  const Dim n = c.dim(*x, 1);
  auto scale = parameter(c, "weight", 1, n, d), bias = parameter(c, "bias", 0, n, d);
  if (!scale || !bias) return Failure{};
  const bool narrow = *rank == 2;
  if (narrow) x = c.expand_dims(*x, {2});
  auto y = x ? c.emit(op("nn.group_norm"), {*x, *scale, *bias}, {{"epsilon", *eps}, {"num_groups", *groups}}) : x;
  if (y && narrow) y = c.squeeze(*y, {2});
  return y ? with_unused(c, c.result(*y)) : Failure{};
}

/// Statistics of its own unless it tracks some and does not use its input's.
Values instance_norm(Call& c) {
  const auto own = c.flag_or("use_input_stats", true);
  if (!own) return Failure{};
  if (!*own && c.given("running_mean")) return batch_norm(c);
  auto x = c.tensor("input");
  const auto eps = c.real_or("eps", 1e-5);
  if (!x || !eps) return Failure{};
  const DType d = c.type(*x).dtype();
  const Dim n = c.dim(*x, 1);
  auto scale = parameter(c, "weight", 1, n, d), bias = parameter(c, "bias", 0, n, d);
  if (!scale || !bias) return Failure{};
  return single(c, c.emit(op("nn.instance_norm"), {*x, *scale, *bias}, {{"epsilon", *eps}}));
}

/// Also log_softmax and the forms with a half-to-float flag.
Values softmax(Call& c) {
  auto x = c.tensor("self");
  const auto dim = c.integer("dim");
  if (!x || !dim) return Failure{};
  DType d = is_float(c.type(*x).dtype()) ? c.type(*x).dtype() : DType::Float32;
  Attrs attrs{{"axis", *dim}};
  if (c.given("dtype")) {
    const auto asked = c.dtype_or("dtype", d);
    if (!asked) return Failure{};
    d = *asked;
    if (d == DType::Float32 && d == c.type(*x).dtype()) attrs = with_mark(std::move(attrs), kWidens);
  }
  const auto widen = c.flag_or("half_to_float", false);
  if (!widen) return Failure{};
  if (*widen) d = DType::Float32;
  // The kernel itself reads float16 and writes float32, but not bfloat16 (aten/src/ATen/native/SoftMax.cpp, softmax).
  const bool widens = c.type(*x).dtype() == DType::Float16 && d == DType::Float32;
  auto v = widens ? c.promote(*x, d) : c.cast(*x, d);
  if (!v) return Failure{};
  const bool log = std::string_view(c.row->name).find("log_softmax") != std::string_view::npos;
  return single(c, c.emit(log ? op("nn.log_softmax") : op("nn.softmax"), {*v}, std::move(attrs)));
}

/// softmax of −x
Values softmin(Call& c) {
  auto x = c.tensor("self");
  const auto dim = c.integer("dim");
  auto n = x ? c.emit(op("negative"), {*x}) : x;
  if (!n || !dim) return Failure{};
  return single_as(c, c.emit(op("nn.softmax"), {*n}, {{"axis", *dim}}));
}

/// p-norms over some or all dims.
Values vector_norm(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  const std::string_view by = c.given("ord") ? "ord" : "p";
  double p = 2;
  if (c.given(by) && !c.arg(by).string()) {
    const auto given = c.real(by);
    if (!given) return Failure{};
    p = *given;
  }
  const auto keep = c.flag_or("keepdim", false);
  if (!keep) return Failure{};
  const DType wanted = is_float(c.type(*x).dtype()) ? c.type(*x).dtype() : DType::Float32;
  const auto d = c.dtype_or("dtype", wanted);
  auto v = d ? c.cast(*x, *d) : Result<ValueId>(Failure{});
  if (!v) return Failure{};
  std::vector<ValueId> axes;
  if (c.given("dim")) {
    const auto dims = c.ints("dim");
    if (!dims) return Failure{};
    if (!dims->empty()) axes.push_back(c.int_constant(*dims));
  }
  const Attrs attrs{{"keepdims", static_cast<std::int64_t>(*keep)}};
  const auto over = [&](OpId o, ValueId of) {
    std::vector<ValueId> operands{of};
    operands.insert(operands.end(), axes.begin(), axes.end());
    return c.emit(o, std::move(operands), attrs);
  };
  if (p == 2) return single(c, over(op("reduce_l2"), *v));
  if (p == 1) return single(c, over(op("reduce_l1"), *v));
  if (p == 0) {
    auto some = c.cast(*v, DType::Bool);
    auto ones = some ? c.cast(*some, *d) : some;
    return ones ? single(c, over(op("sum_axes"), *ones)) : Failure{};
  }
  std::vector<ValueId> operands{*v};
  operands.insert(operands.end(), axes.begin(), axes.end());
  Attrs all = attrs;
  all.set("p", p);
  return single(c, c.emit(op("reduce_lp"), std::move(operands), std::move(all)));
}

/// v · g / ‖v‖, which only weights are given.
Values weight_norm(Call& c) {
  auto v = c.tensor("v"), g = c.tensor("g");
  const auto dim = c.integer_or("dim", 0);
  if (!v || !g || !dim) return Failure{};
  auto y = c.emit(op("nn.weight_norm"), {*v, *g}, {{"axis", *dim}});
  return y ? with_unused(c, c.result(*y)) : Failure{};
}

/// x scaled along `dim` to a norm of at most maxnorm.
Values renorm(Call& c) {
  auto x = c.tensor("self");
  const auto limit = c.real("maxnorm");
  const auto dim = c.integer("dim");
  if (!x || !limit || !dim) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  const auto axis = c.axis(*dim, *rank);
  if (!axis) return Failure{};
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < *rank; ++i) {
    if (i != *axis) axes.push_back(static_cast<std::int64_t>(i));
  }
  const DType d = c.type(*x).dtype();
  auto norm = c.emit(op("reduce_l2"), {*x, c.int_constant(axes)});
  auto ratio = norm ? c.emit(op("divide"), {c.number(*limit, d), *norm}) : norm;
  auto factor = ratio ? c.emit(op("minimum"), {*ratio, c.number(1, d)}) : ratio;
  return factor ? single(c, c.emit(op("multiply"), {*x, *factor})) : Failure{};
}

/// (x₁ · x₂) / (‖x₁‖ ‖x₂‖) along a dim.
Values cosine_similarity(Call& c) {
  auto a = c.tensor("x1"), b = c.tensor("x2");
  const auto dim = c.integer_or("dim", 1);
  if (!a || !b || !dim) return Failure{};
  const Attrs drop{{"keepdims", std::int64_t{0}}};
  auto product = c.emit(op("multiply"), {*a, *b});
  auto dot = product ? c.emit(op("sum_axes"), {*product, c.int_constant({*dim})}, drop) : product;
  auto na = c.emit(op("reduce_l2"), {*a, c.int_constant({*dim})}, drop),
       nb = c.emit(op("reduce_l2"), {*b, c.int_constant({*dim})}, drop);
  if (!dot || !na || !nb) return Failure{};
  auto norm = c.emit(op("multiply"), {*na, *nb});
  return norm ? single(c, c.emit(op("divide"), {*dot, *norm})) : Failure{};
}

Result<ValueId> distance(Call& c, ValueId a, ValueId b, double p, bool keep) {
  const auto eps = c.real_or("eps", 1e-6);
  auto d = c.emit(op("subtract"), {a, b});
  if (!d || !eps) return Failure{};
  if (*eps != 0) d = c.emit(op("add"), {*d, c.number(*eps, c.type(*d).dtype())});
  return d ? c.emit(p == 1 ? op("reduce_l1") : op("reduce_l2"), {*d, c.int_constant({-1})},
                    {{"keepdims", static_cast<std::int64_t>(keep)}})
           : d;
}

Values pairwise_distance(Call& c) {
  auto a = c.tensor("x1"), b = c.tensor("x2");
  const auto p = c.real_or("p", 2);
  const auto keep = c.flag_or("keepdim", false);
  if (!a || !b || !p || !keep) return Failure{};
  return single(c, distance(c, *a, *b, *p, *keep));
}

}  // namespace perfc::torch
