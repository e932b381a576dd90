/// Resizing, sampling, regions of interest.
#include <algorithm>
#include <cmath>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// Sizes that the attributes or operands of a resize tell, in the order in which
/// they outrank each other: SizeTensor, OutSize, a scale, out_d/out_h/out_w. A scale of
/// extents that are not known stays one.
Operand target_sizes(Call& c, ValueId x, const Ints& axes, Operand& by_scale) {
  if (c.operands("SizeTensor")) return c.int_vector("SizeTensor");
  if (c.operands("OutSize")) return c.int_vector("OutSize");
  std::vector<double> scales;
  if (const auto* given = c.operands("Scale")) {
    const Data* d = given->size() == 1 ? c.data(given->front()) : nullptr;
    if (!d || !d->floats()) return c.error("'Scale' must be known when importing");
    scales = *d->floats();
  } else if (const Attr* a = c.attr("scale")) {
    if (const auto* list = std::get_if<std::vector<double>>(a)) scales = *list;
    if (const auto* ints = std::get_if<Ints>(a)) scales.assign(ints->begin(), ints->end());
    if (const auto* one = std::get_if<double>(a)) scales = {*one};
  }
  std::erase_if(scales, [](double s) { return !(s > 0); });
  if (!scales.empty()) {
    if (scales.size() != 1 && scales.size() != axes.size()) return c.error(fmt::format("{} scales for {} axes", scales.size(), axes.size()));
    if (scales.size() == 1) scales.resize(axes.size(), scales.front());
    if (std::any_of(axes.begin(), axes.end(), [&](std::int64_t a) { return !c.dim(x, a).known(); })) {
      const auto n = static_cast<std::int64_t>(scales.size());
      auto data = std::make_shared<Data>();
      data->elements = std::move(scales);
      by_scale = c.constant({Type::tensor(DType::Float32, {n}), std::move(data)});
      return ValueId{};
    }
    Ints sizes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const double size = std::floor(static_cast<double>(c.dim(x, axes[i]).value()) * scales[i]);
      if (!(size >= 1 && size < 1e15)) return c.error(fmt::format("a scale makes an extent of {}", size));
      sizes.push_back(static_cast<std::int64_t>(size));
    }
    return c.ints_constant(sizes);
  }
  Ints sizes{c.integer_or("out_d", -1), c.integer_or("out_h", -1), c.integer_or("out_w", -1)};
  sizes.erase(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(axes.size()));
  for (std::int64_t s : sizes) {
    if (s < 1) return c.error("gives neither sizes nor scales");
  }
  return c.ints_constant(sizes);
}

/// Regions of a batch: which image each belongs to does not matter for shapes and work.
Operand image_of_region(Call& c, Operand boxes, DType dtype) {
  auto data = std::make_shared<Data>();
  if (is_float(dtype)) data->elements = std::vector<double>{0};
  else data->elements = std::vector<SymInt>{SymInt(0)};
  return c.emit(op("full"), {c.shape_of(boxes, 0, 1)}, {{"value", Literal{Type::tensor(dtype, {1}), std::move(data)}}});
}

}  // namespace

/// *_interp and *_interp_v2.
Values interpolate(Call& c) {
  const auto x = c.in("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank < 3 || *rank > 5) return c.error(fmt::format("data of rank {}", *rank));
  const bool last = c.text_or("data_format|data_layout", "NCHW").ends_with('C');
  Ints axes;
  for (std::int64_t a = last ? 1 : 2; a < (last ? *rank - 1 : *rank); ++a) axes.push_back(a);
  Operand scales = ValueId{};
  const auto sizes = target_sizes(c, *x, axes, scales);
  const std::string_view type = c.operation.type;
  const bool nearest = type.starts_with("nearest"), cubic = type.starts_with("bicubic");
  const std::string mode(nearest ? "nearest" : cubic ? "cubic" : "linear");
  const std::string coordinates(c.flag("align_corners", false)               ? "align_corners"
                                : nearest || c.integer_or("align_mode", 1) == 1 ? "asymmetric"
                                                                                : "half_pixel");
  return one(c.emit(op("image.resize2d"), {x, ValueId{}, scales, sizes},
                    {{"axes", axes}, {"coordinate_transformation_mode", coordinates}, {"mode", mode}}));
}

Values grid_sample(Call& c) {
  const std::string_view mode = c.text_or("mode", "bilinear");
  return one(c.emit(op("image.grid_sample"), {c.in("X"), c.in("Grid")},
                    {{"align_corners", static_cast<std::int64_t>(c.flag("align_corners", true))}, {"mode", std::string(mode == "nearest" ? "nearest" : "linear")},
                     {"padding_mode", std::string(c.text_or("padding_mode", "zeros"))}}));
}

Values affine_grid(Call& c) {
  return one(c.emit(op("image.affine_grid"), {c.in("Theta"), c.int_vector("OutputShape|output_shape")},
                    {{"align_corners", static_cast<std::int64_t>(c.flag("align_corners", true))}}));
}

/// (X, ROIs [n, 4], RoisNum?).
Values roi_align(Call& c) {
  const auto x = c.in("X"), boxes = c.in("ROIs");
  auto batch = image_of_region(c, boxes, DType::Int64);
  return one(c.emit(op("vision.roi_align"), {x, boxes, batch},
                    {{"output_height", c.integer_or("pooled_height", 1)}, {"output_width", c.integer_or("pooled_width", 1)},
                     {"sampling_ratio", std::max<std::int64_t>(c.integer_or("sampling_ratio", -1), 0)}, {"spatial_scale", c.real_or("spatial_scale", 1)}}));
}

Values roi_pool(Call& c) {
  const auto x = c.in("X"), boxes = c.in("ROIs");
  if (!boxes) return Failure{};
  auto column = c.reshape(image_of_region(c, boxes, c.dtype(*boxes)), {-1, 1});
  auto rois = c.emit(op("concatenate"), {column, boxes}, {{"axis", std::int64_t{1}}});
  return one(c.emit(op("vision.roi_pool"), {x, rois},
                    {{"pooled_shape", Ints{c.integer_or("pooled_height", 1), c.integer_or("pooled_width", 1)}}, {"spatial_scale", c.real_or("spatial_scale", 1)}}));
}

/// Boxes [n, 4], best first, that overlap no better one: their indices.
Values non_max_suppression(Call& c) {
  auto boxes = c.in("Boxes");
  if (!boxes) return Failure{};
  boxes = c.cast(boxes, DType::Float32);
  auto scores = c.emit(op("full"), {c.shape_of(boxes, 0, 1)});
  auto kept = c.emit(op("vision.non_max_suppression"), {c.expand_dims(boxes, {0}), c.expand_dims(scores, {0, 1}), c.ints_constant({INT32_MAX})});
  return one(c.emit(op("take"), {kept, c.number(2, DType::Int64)}, {{"axis", std::int64_t{1}}}));
}

}  // namespace perfc::paddle
