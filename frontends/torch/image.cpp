/// Resizing, sampling, regions of interest.
#include <cmath>

#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

/// The sizes that a resize gives: as told, or scaled extents rounded down.
Result<ValueId> target_sizes(Call& c, ValueId x, std::size_t spatial) {
  std::vector<Value> dims{c.size_of(x, 0), c.size_of(x, 1)};
  const List* sizes = c.arg("output_size").list();
  if (sizes) {
    if (sizes->items->size() != spatial && sizes->items->size() != 1)
      return c.error("'output_size' does not fit the data");
    for (std::size_t i = 0; i < spatial; ++i) dims.push_back((*sizes->items)[sizes->items->size() == 1 ? 0 : i]);
    return c.int_vector(dims);
  }
  if (c.arg("output_size").scalar()) {
    for (std::size_t i = 0; i < spatial; ++i) dims.push_back(c.arg("output_size"));
    return c.int_vector(dims);
  }
  const List* scales = c.arg("scale_factors").list();
  const Scalar* scale = c.arg("scale_factors").scalar();
  if (!scale && (!scales || scales->items->empty())) return c.error("gives neither sizes nor scales");
  for (std::size_t i = 0; i < spatial; ++i) {
    const Scalar* s = scale ? scale : (*scales->items)[std::min(i, scales->items->size() - 1)].scalar();
    const auto factor = s ? s->number() : std::nullopt;
    if (!factor || !(*factor > 0)) return c.error("a scale must be a known positive number");
    const auto extent = c.known_dim(x, i + 2, "an extent of the data");
    if (!extent) return Failure{};
    const double size = std::floor(static_cast<double>(*extent) * *factor);
    if (!(size >= 1 && size < 1e15)) return c.error(fmt::format("a scale of {} makes an extent of {}", *factor, size));
    dims.emplace_back(Scalar::of(static_cast<std::int64_t>(size)));
  }
  return c.int_vector(dims);
}

}  // namespace

/// upsample_{nearest,linear,bilinear,bicubic,trilinear}{1,2,3}d and their antialiased forms,
/// and torch.nn.functional's interpolate, whose mode is an argument.
Values upsample(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  const bool any = c.row->name == "__interpolate";
  const std::string name = any ? c.text_or("mode", "nearest") : std::string(c.row->name);
  const std::size_t digit = name.find_first_of("123");
  const std::size_t spatial = any                          ? std::max<std::size_t>(*rank, 3) - 2
                              : digit == std::string::npos ? 2
                                                           : static_cast<std::size_t>(name[digit] - '0');
  if (any && name == "area")
    return c.error("interpolate by area is an adaptive pool: export with adaptive_avg_pool instead");
  if (*rank != spatial + 2) return c.error(fmt::format("data of rank {}, {} is needed", *rank, spatial + 2));
  auto sizes = target_sizes(c, *x, spatial);
  const auto aligned = c.flag_or("align_corners", false), antialias = c.flag_or("antialias", name.ends_with("_aa"));
  if (!sizes || !aligned || !antialias) return Failure{};
  const std::string mode = name.find("nearest") != std::string::npos ? "nearest"
                           : name.find("cubic") != std::string::npos ? "cubic"
                                                                     : "linear";
  const bool exact = name.find("exact") != std::string::npos;
  Attrs attrs{{"coordinate_transformation_mode", std::string(*aligned                      ? "align_corners"
                                                             : mode == "nearest" && !exact ? "asymmetric"
                                                                                           : "half_pixel")},
              {"mode", mode}};
  if (*antialias) {  // weights of a window add up to one
    attrs.set("antialias", std::int64_t{1});
    attrs.set("exclude_outside", std::int64_t{1});
  }
  if (mode == "cubic") attrs.set("cubic_coeff_a", *antialias ? -0.5 : -0.75);
  if (mode == "nearest") attrs.set("nearest_mode", std::string(exact ? "round_prefer_ceil" : "floor"));
  return single(c, c.emit(op("image.resize2d"), {*x, ValueId{}, ValueId{}, *sizes}, std::move(attrs)));
}

Values grid_sample(Call& c) {
  auto x = c.tensor("input"), grid = c.tensor("grid");
  const auto mode = c.integer_or("interpolation_mode", 0), padding = c.integer_or("padding_mode", 0);
  const auto aligned = c.flag_or("align_corners", false);
  if (!x || !grid || !mode || !padding || !aligned) return Failure{};
  static constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
  static constexpr std::string_view kPadding[] = {"zeros", "border", "reflection"};
  if (*mode < 0 || *mode > 2 || *padding < 0 || *padding > 2) return c.error("an unknown mode");
  return single(c, c.emit(op("image.grid_sample"), {*x, *grid},
                          {{"align_corners", static_cast<std::int64_t>(*aligned)},
                           {"mode", std::string(kModes[*mode])},
                           {"padding_mode", std::string(kPadding[*padding])}}));
}
Values affine_grid(Call& c) {
  auto theta = c.tensor("theta"), size = c.int_vector("size");
  const auto aligned = c.flag_or("align_corners", false);
  if (!theta || !size || !aligned) return Failure{};
  return single(
      c, c.emit(op("image.affine_grid"), {*theta, *size}, {{"align_corners", static_cast<std::int64_t>(*aligned)}}));
}

/// Boxes that survive: the IR's operator on a batch of one and one class gives
/// (batch, class, box) triples, of which the last column is asked for.
Values nms(Call& c) {
  auto boxes = c.tensor("dets"), scores = c.tensor("scores");
  const auto threshold = c.real("iou_threshold");
  if (!boxes || !scores || !threshold) return Failure{};
  auto b = c.expand_dims(*boxes, {0}), s = c.expand_dims(*scores, {0, 1});
  if (!b || !s) return Failure{};
  auto b32 = c.cast(*b, DType::Float32), s32 = c.cast(*s, DType::Float32);
  if (!b32 || !s32) return Failure{};
  auto data = std::make_shared<Data>();
  data->elements = std::vector<double>{*threshold};
  auto chosen = c.emit(op("vision.non_max_suppression"), {*b32, *s32, c.int_constant({INT32_MAX}),
                                                          c.constant({Type::tensor(DType::Float32, {1}), data})});
  return chosen ? single(c, c.emit(op("take"), {*chosen, c.number(2, DType::Int64)}, {{"axis", std::int64_t{1}}}))
                : Failure{};
}

/// Regions (batch, x1, y1, x2, y2) in one matrix.
Values roi_align(Call& c) {
  auto x = c.tensor("input"), rois = c.tensor("rois");
  const auto scale = c.real("spatial_scale");
  const auto height = c.integer("pooled_height"), width = c.integer("pooled_width");
  if (!x || !rois || !scale || !height || !width) return Failure{};
  if (std::string_view(c.row->name).ends_with("roi_pool")) {
    auto y = c.emit(op("vision.roi_pool"), {*x, *rois},
                    {{"pooled_shape", std::vector<std::int64_t>{*height, *width}}, {"spatial_scale", *scale}});
    if (!y) return Failure{};
    auto out = c.result(*y);
    if (out && c.outputs() > 1) out->push_back(Value::none());
    return out;
  }
  const auto ratio = c.integer_or("sampling_ratio", -1);
  const auto aligned = c.flag_or("aligned", false);
  if (!ratio || !aligned) return Failure{};
  auto boxes = c.slice(*rois, 1, 1, 5, 1), batch = c.slice(*rois, 1, 0, 1, 1);
  auto column = batch ? c.reshape(*batch, {-1}) : batch;
  auto index = column ? c.cast(*column, DType::Int64) : column;
  if (!boxes || !index) return Failure{};
  return single(c,
                c.emit(op("vision.roi_align"), {*x, *boxes, *index},
                       {{"coordinate_transformation_mode", std::string(*aligned ? "half_pixel" : "output_half_pixel")},
                        {"output_height", *height},
                        {"output_width", *width},
                        {"sampling_ratio", std::max<std::int64_t>(*ratio, 0)},
                        {"spatial_scale", *scale}}));
}

}  // namespace perfc::torch
