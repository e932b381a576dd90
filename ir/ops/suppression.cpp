/// Rules for the suppression of boxes.
#include "ir/ops/suppression.h"

#include <algorithm>

#include "ir/ops/eval_helpers.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

/// (boxes [b, n, 1 or classes, 4], scores [b, n, classes], anchors [1 or b, n, 4]?) → the best `max_total` of every
/// sample, of the `max_per_class` best of a class: boxes [b, k, 4], scores and classes [b, k], and how many are real
/// [b]. Classes are integers where `integer_classes` says so; boxes are offsets from the anchors where there are any.
Status multiclass_nms(InferContext& c) {
  if (!require_rank(c, 0, "boxes", 4) || !require_rank(c, 1, "scores", 3) || !require_same_dtype(c, 0, 1))
    return Failure{};
  const auto per_class = int_attr(c, "max_per_class");
  const auto total = int_attr(c, "max_total");
  const auto integers = flag_attr(c, "integer_classes", false);
  if (!per_class || !total || !integers) return Failure{};
  if (*per_class < 0 || *total < 0)
    return c.error("max_per_class {} and max_total {} must not be negative", *per_class, *total);
  if (ranked(c, 0) && !same_dim(c, dim_of(c, 0, 3), 4, "last dim of boxes and coordinates of a box")) return Failure{};
  const auto batch = same_dim(c, dim_of(c, 0, 0), dim_of(c, 1, 0), "batches of boxes and scores");
  if (!batch || !same_dim(c, dim_of(c, 0, 1), dim_of(c, 1, 1), "counts of boxes and scores")) return Failure{};
  if (const Dim of = dim_of(c, 0, 2), classes = dim_of(c, 1, 2); of.known() && !of.is(1) && classes.known())
    if (!same_dim(c, of, classes, "classes of boxes and scores")) return Failure{};
  if (c.has(2)) {
    if (!require_rank(c, 2, "anchors", 3) || !require_same_dtype(c, 0, 2)) return Failure{};
    if (!same_dim(c, dim_of(c, 0, 1), dim_of(c, 2, 1), "counts of boxes and anchors")) return Failure{};
  }
  if (c.results() > 4) return c.error("has {} results, at most 4 exist", c.results());
  const DType dtype = c.type(0).dtype();
  c.set(0, Type::tensor(dtype, {*batch, Dim(*total), 4}));
  c.set(1, Type::tensor(dtype, {*batch, Dim(*total)}));
  c.set(2, Type::tensor(*integers ? DType::Int32 : dtype, {*batch, Dim(*total)}));
  c.set(3, Type::tensor(DType::Int32, {*batch}));
  return ok();
}

/// (boxes [b, n, 4], scores [b, classes, n], limit per class?, …) → rows [k, 3]: (image, class, box). How many is data,
/// unless `padded_to` says the rows of an image.
Status non_max_suppression(InferContext& c) {
  if (!require_rank(c, 0, "boxes", 3) || !require_rank(c, 1, "scores", 3)) return Failure{};
  if (!require_dtype(c, 0, "boxes", is_float, "a floating-point type") ||
      !require_dtype(c, 1, "scores", is_float, "a floating-point type")) {
    return Failure{};
  }
  if (ranked(c, 0) && ranked(c, 1)) {
    const Shape& boxes = c.type(0).shape();
    const Shape& scores = c.type(1).shape();
    if (!same_dim(c, boxes[2], 4, "last dim of boxes and coordinates of a box") ||
        !same_dim(c, boxes[0], scores[0], "batches of boxes and scores") ||
        !same_dim(c, boxes[1], scores[2], "counts of boxes and scores")) {
      return Failure{};
    }
  }
  const std::int64_t padded = c.attrs.int_or("padded_to", 0);
  if (padded < 0) return c.error("padded_to {} must not be negative", padded);
  // How many are selected is data; none when the limit per class is absent or 0.
  const bool none = !c.has(2) || known_scalar(c, 2) == 0;
  const Dim rows = padded > 0 ? dim_of(c, 0, 0) * Dim(padded) : none ? Dim(0) : Dim::unknown();
  c.set(0, Type::tensor(DType::Int64, {rows, 3}));
  return ok();
}

std::optional<SuppressionGeometry> non_max_suppression_geometry(const CostContext& c) {
  if (!c.type(0).is_static() || !c.type(1).is_static() || !c.result(0).is_static()) return std::nullopt;
  SuppressionGeometry out{
      .images = c.dim(0, 0), .classes = c.dim(1, 1), .boxes = c.dim(0, 1), .per_class = c.dim(0, 1)};
  out.kept = c.result_elements(0) / 3;
  const auto number = [&](std::size_t operand) -> std::optional<double> {
    const Data* data = c.data(operand);
    if (!data || data->size() != 1 || !data->fully_known()) return std::nullopt;
    if (const auto* whole = data->ints()) return static_cast<double>(whole->front().value());
    const auto* reals = data->floats();
    return reals ? std::optional(reals->front()) : std::nullopt;
  };
  if (const auto limit = number(2)) out.per_class = std::clamp(*limit, 0.0, out.boxes);
  out.threshold = number(4);
  return out;
}

std::optional<SuppressionGeometry> multiclass_nms_geometry(const CostContext& c) {
  if (!c.type(0).is_static() || !c.type(1).is_static()) return std::nullopt;
  SuppressionGeometry out{.images = c.dim(1, 0),
                          .classes = c.dim(1, 2),
                          .boxes = c.dim(1, 1),
                          .box_classes = c.dim(0, 2),
                          .class_by_class = c.attrs().int_or("class_by_class", 0) != 0};
  out.kept = out.images * static_cast<double>(c.attrs().int_or("max_total", 0));
  out.per_class = std::min(static_cast<double>(c.attrs().int_or("max_per_class", 0)), out.boxes);
  if (c.attrs().has("score_threshold")) out.threshold = c.attrs().float_or("score_threshold", 0);
  return out;
}

}  // namespace perfc::rules
