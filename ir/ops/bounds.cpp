/// How large the dims can be that data decides (`OpDef::bound`). Operands whose own dims are open bound nothing.
#include <algorithm>

#include "ir/dim_bounds.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

std::optional<DimBound> at_most(const Dim& d, std::string_view by) {
  if (!d.known() || d.value() < 0) return std::nullopt;
  return DimBound{.least = std::min<std::int64_t>(d.value(), 1), .typical = d.value(), .most = d.value(), .by = by};
}

std::optional<DimBound> selected(const Dim& d, std::string_view of) {
  auto bound = at_most(d, of);
  if (bound) bound->selects = true;
  return bound;
}

}  // namespace

/// nonzero: every element may be one.
std::optional<DimBound> elements_bound(const InferContext& c, std::size_t, std::size_t axis) {
  const auto n = c.type(0).is_tensor() ? c.type(0).elements() : std::nullopt;
  return n && axis == 1 ? selected(Dim(*n), "elements of the operand") : std::nullopt;
}

/// Parts of an axis (slices, splits, the largest k): the whole of it.
std::optional<DimBound> axis_bound(const InferContext& c, std::size_t result, std::size_t axis) {
  if (!ranked(c, 0) || !c.result(result).ranked() || c.type(0).rank() != c.result(result).rank()) return std::nullopt;
  return at_most(c.type(0).shape()[axis], "the operand's extent on that axis");
}

/// compress: what a condition that holds throughout keeps of the axis, or of all elements.
std::optional<DimBound> selection_bound(const InferContext& c, std::size_t, std::size_t axis) {
  const bool of_axis = c.attrs.has("axis");
  const auto n = c.type(0).is_tensor() ? c.type(0).elements() : std::nullopt;
  Dim all = of_axis ? dim_of(c, 0, static_cast<int>(axis)) : n ? Dim(*n) : Dim::unknown();
  const Dim asked = dim_of(c, 1, 0);
  if (!all.known() || (asked.known() && asked.value() < all.value())) all = asked;
  return selected(all, "places that the condition asks");
}

/// unique: all entries may differ.
std::optional<DimBound> unique_bound(const InferContext& c, std::size_t result, std::size_t axis) {
  if (!ranked(c, 0)) return std::nullopt;
  const std::int64_t along = c.attrs.int_or("axis", 0);
  const auto rank = static_cast<std::int64_t>(c.type(0).rank());
  if (!c.attrs.has("axis") || rank == 0) {
    const auto n = c.type(0).elements();
    return n ? at_most(Dim(*n), "elements of the operand") : std::nullopt;
  }
  const std::int64_t at = along < 0 ? along + rank : along;
  if (at < 0 || at >= rank) return std::nullopt;
  const bool of_axis = result > 0 || axis == static_cast<std::size_t>(at);
  return at_most(c.type(0).shape()[of_axis ? static_cast<std::size_t>(at) : axis], "slices of the operand");
}

/// non_max_suppression: of every image and class all boxes, or as many as are asked for. Over all classes an image
/// usually keeps no more than it may of one: post-processing that asks for k of a class keeps about k of an image
/// (the graph that detectors export; COCO counts 100 of an image, https://cocodataset.org/#detection-eval).
std::optional<DimBound> suppression_bound(const InferContext& c, std::size_t, std::size_t axis) {
  if (axis != 0) return std::nullopt;
  Dim of_class = dim_of(c, 0, 1);
  const auto asked = known_scalar(c, 2);
  if (!of_class.known()) of_class = dim_of(c, 1, 2);
  if (!of_class.known()) return std::nullopt;
  if (asked && *asked < of_class.value()) of_class = std::max<std::int64_t>(*asked, 0);
  const Dim images = dim_of(c, 0, 0), classes = dim_of(c, 1, 1);
  const Dim of_images = of_class * images, all = of_images * classes;
  if (!of_images.known()) return std::nullopt;
  auto bound = at_most(all, "boxes, or the limit per class, of all classes");
  if (bound && classes.known() && classes.value() > 1) {
    bound->typical = of_images.value();
    bound->usual = "an image keeps as many of all classes as it may of one";
  }
  return bound;
}

/// if: the larger of what its branches give.
std::optional<DimBound> branches_bound(const InferContext& c, std::size_t result, std::size_t axis) {
  std::int64_t most = -1;
  for (std::size_t r = 0; r < c.regions(); ++r) {
    const Graph& body = c.region(r);
    if (result >= body.results().size()) return std::nullopt;
    const Type& type = body.type(body.results()[result]);
    if (!type.is_tensor() || !type.ranked() || axis >= type.rank() || !type.shape()[axis].known()) return std::nullopt;
    most = std::max(most, type.shape()[axis].value());
  }
  auto bound = at_most(Dim(most), "the branch that gives more");
  if (bound) bound->least = most;  // each branch is as its own dims are
  return bound;
}

}  // namespace perfc::rules
