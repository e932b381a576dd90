/// Reductions, sorting, counting.
#include "frontends/openvino/table.h"

namespace perfc::openvino {

/// (data, axes): axes that are not known leave the file's declaration.
Values reduce(Call& c) {
  auto axes = c.int_vector(1);
  if (!axes) return Failure{};
  if (const Dim n = c.dim(*axes, 0); n.is(0)) return one(c.tensor(0));
  return c.finish(c.row->op, {c.tensor(0), axes},
                  {{"keepdims", static_cast<std::int64_t>(c.flag("keep_dims", false))}});
}

/// (data, k) → values, indices.
Values top_k(Call& c) {
  const std::int64_t axis = c.integer_or("axis", -1);
  return c.finish(op("topk"), {c.tensor(0), c.int_vector(1)},
                  {{"axis", axis},
                   {"largest", static_cast<std::int64_t>(c.text_or("mode", "max") == "max")},
                   {"sorted", static_cast<std::int64_t>(c.text_or("sort", "value") != "none")}},
                  2);
}

Values cum_sum(Call& c) {
  const auto axis = c.has(1) ? c.tensor(1) : Operand(c.number(0, DType::Int64));
  return c.finish(op("cumsum"), {c.tensor(0), axis},
                  {{"exclusive", static_cast<std::int64_t>(c.flag("exclusive"))},
                   {"reverse", static_cast<std::int64_t>(c.flag("reverse"))}});
}

Values non_zero(Call& c) { return c.finish(op("nonzero"), {c.tensor(0)}); }

/// (data, axis?) → values, indices, places in the values, counts.
Values unique(Call& c) {
  Attrs attrs{{"sorted", static_cast<std::int64_t>(c.flag("sorted", true))}};
  if (c.has(1)) {
    const auto axis = c.ints(1, "the axis");
    if (!axis) return Failure{};
    if (axis->size() != 1) return c.error(fmt::format("{} axes instead of one", axis->size()));
    attrs.set("axis", axis->front());
  }
  return c.finish(op("unique"), {c.tensor(0)}, std::move(attrs), c.layer.outputs.size());
}

}  // namespace perfc::openvino
