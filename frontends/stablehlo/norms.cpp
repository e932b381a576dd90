/// Batch norms, and the other norms that torch_xla writes as such.
#include <fmt/format.h>

#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

using Ints = Emitter::Ints;

Attrs with_epsilon(const Call& c) {
  Attrs attrs;
  if (const auto text = c.operation.find("epsilon")) {
    const auto contents = dense_contents(fmt::format("dense<{}>", text->substr(0, text->find_first_of(" :"))),
                                         Type::tensor(DType::Float32, {}));
    if (contents && contents->data) attrs.set("epsilon", (*contents->data->floats())[0]);
  }
  return attrs;
}

/// torch_xla writes layer norm of (…, C) and group norm of (N, C, …) as a batch norm in training mode of one sample
/// whose channels are the rows, or the groups of all samples, with a scale of 1 and an offset of 0
/// (math_native_layer_norm and math_group_norm of PyTorch's ATen/native/{layer,group}_norm.cpp).
bool normalises_rows(const Call& c, std::int64_t axis) {
  const Type& x = c.type(0);
  return axis == 1 && x.is_static() && x.rank() == 3 && x.shape()[0].is(1) && c.number_of(1) == 1 &&
         c.number_of(2) == 0;
}

/// The same as a layer norm where the rows are the last dim of what was reshaped, else as an instance norm of groups;
/// scale and shift follow as calls of their own, which passes join with this one.
Result<Value> rows_normalised(const Call& c, ValueId x, Attrs attrs) {
  const Node* view = c.made_by(c.operands[0], op("reshape"));
  const ValueId source = view ? view->operands[0] : c.operands[0].base;
  const Shape& given = c.type(0).shape();
  const Shape from = c.type(source).is_static() ? c.type(source).shape() : given;
  const std::int64_t rows = given[1].value(), width = given[2].value();
  Result<ValueId> y = Failure{};
  if (!from.empty() && from.back().is(width)) {
    attrs.set("axis", std::int64_t{-1});
    y = c.emit(op("nn.layer_norm"), {source, c.uniform(1, width, c.dtype(x))}, std::move(attrs));
    if (y && !view) {
      Value out = c.operands[0];  // placed as the operand was
      out.base = *y;
      return out;
    }
  } else {
    const bool grouped = from.size() > 2 && from[0].value() > 0 && rows % from[0].value() == 0;
    const std::int64_t samples = grouped ? from[0].value() : 1, groups = rows / samples;
    y = c.emit(op("nn.instance_norm"),
               {c.reshape(grouped ? source : x, {samples, groups, width}), c.uniform(1, groups, c.dtype(x)),
                c.uniform(0, groups, c.dtype(x))},
               std::move(attrs));
  }
  if (!y) return Failure{};
  return c.reshaped(c.whole(*y), c.type(0));
}

}  // namespace

/// batch_norm_inference(x, scale, offset, mean, variance)
Result<Values> batch_norm_inference(Call& c, const OpRow&) {
  auto axis = c.required_integer("feature_index");
  auto parts = c.tensors(0, c.operands.size());
  if (!axis || !parts) return Failure{};
  if (parts->size() != 5) return c.error(fmt::format("has {} operands, not 5", parts->size()));
  Attrs attrs = with_epsilon(c);
  if (*axis != 1) attrs.set("axis", *axis);
  return one(c.whole(c.emit(op("nn.batch_norm"), *std::move(parts), std::move(attrs))));
}

/// batch_norm_training(x, scale, offset) → y, mean, variance of the batch
Result<Values> batch_norm_training(Call& c, const OpRow&) {
  auto axis = c.required_integer("feature_index");
  if (!axis) return Failure{};
  if (c.operands.size() != 3 || c.operation.result_types.size() != 3)
    return c.error(fmt::format("has {} operands and {} results, not 3 of each", c.operands.size(),
                               c.operation.result_types.size()));
  const auto rank = static_cast<std::int64_t>(c.type(0).rank());
  if (*axis < 0 || *axis >= rank) return c.error(fmt::format("feature_index {} is not one of {} dims", *axis, rank));
  auto parts = c.tensors(0, 3);
  if (!parts) return Failure{};
  Attrs attrs = with_epsilon(c);
  const ValueId x = parts->front();
  Result<Value> y = Failure{};
  if (normalises_rows(c, *axis)) {
    y = rows_normalised(c, x, std::move(attrs));
  } else {
    attrs.set("training_mode", std::int64_t{1});
    if (*axis != 1) attrs.set("axis", *axis);
    y = c.whole(c.emit(op("nn.batch_norm"), *std::move(parts), std::move(attrs)));
  }
  if (!y) return Failure{};
  Ints others;  // the statistics are dropped where nothing reads them
  for (std::int64_t i = 0; i < rank; ++i) {
    if (i != *axis) others.push_back(i);
  }
  auto mean = c.reduction(op("mean"), x, others);
  if (!mean) return Failure{};
  auto apart = c.emit(op("subtract"), {x, *mean});
  if (!apart) return Failure{};
  auto squares = c.emit(op("multiply"), {*apart, *apart});
  if (!squares) return Failure{};
  auto variance = c.reduction(op("mean"), *squares, others);
  if (!variance) return Failure{};
  return Values{*y, c.without(c.whole(*mean), others), c.without(c.whole(*variance), others)};
}

}  // namespace perfc::stablehlo
