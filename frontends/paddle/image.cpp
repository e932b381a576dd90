/// Resizing, sampling, regions of interest, windows, channels.
#include <algorithm>
#include <cmath>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 22;  ///< of windows along an axis, read as indices

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
    if (scales.size() != 1 && scales.size() != axes.size())
      return c.error(fmt::format("{} scales for {} axes", scales.size(), axes.size()));
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
    return c.int_constant(sizes);
  }
  Ints sizes{c.integer_or("out_d", -1), c.integer_or("out_h", -1), c.integer_or("out_w", -1)};
  sizes.erase(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(axes.size()));
  for (std::int64_t s : sizes) {
    if (s < 1) return c.error("gives neither sizes nor scales");
  }
  return c.int_constant(sizes);
}

/// Regions of a batch: which image each belongs to does not matter for shapes and work.
Operand image_of_region(Call& c, Operand boxes, DType dtype) { return c.full(c.shape_of(boxes, 0, 1), 0, dtype); }

}  // namespace

/// *_interp and *_interp_v2.
Values interpolate(Call& c) {
  const auto x = c.tensor("X");
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
  const std::string coordinates(c.flag("align_corners", false)                  ? "align_corners"
                                : nearest || c.integer_or("align_mode", 1) == 1 ? "asymmetric"
                                                                                : "half_pixel");
  return one(c.emit(op("image.resize2d"), {x, ValueId{}, scales, sizes},
                    {{"axes", axes}, {"coordinate_transformation_mode", coordinates}, {"mode", mode}}));
}

Values grid_sample(Call& c) {
  const std::string_view mode = c.text_or("mode", "bilinear");
  return one(c.emit(op("image.grid_sample"), {c.tensor("X"), c.tensor("Grid")},
                    {{"align_corners", static_cast<std::int64_t>(c.flag("align_corners", true))},
                     {"mode", std::string(mode == "nearest" ? "nearest" : "linear")},
                     {"padding_mode", std::string(c.text_or("padding_mode", "zeros"))}}));
}

Values affine_grid(Call& c) {
  return one(c.emit(op("image.affine_grid"), {c.tensor("Theta"), c.int_vector("OutputShape|output_shape")},
                    {{"align_corners", static_cast<std::int64_t>(c.flag("align_corners", true))}}));
}

/// (X, ROIs [n, 4], RoisNum?).
Values roi_align(Call& c) {
  const auto x = c.tensor("X"), boxes = c.tensor("ROIs");
  auto batch = image_of_region(c, boxes, DType::Int64);
  return one(c.emit(op("vision.roi_align"), {x, boxes, batch},
                    {{"output_height", c.integer_or("pooled_height", 1)},
                     {"output_width", c.integer_or("pooled_width", 1)},
                     {"sampling_ratio", std::max<std::int64_t>(c.integer_or("sampling_ratio", -1), 0)},
                     {"spatial_scale", c.real_or("spatial_scale", 1)}}));
}

Values roi_pool(Call& c) {
  const auto x = c.tensor("X"), boxes = c.tensor("ROIs");
  if (!boxes) return Failure{};
  auto column = c.reshape(image_of_region(c, boxes, c.dtype(*boxes)), {-1, 1});
  auto rois = c.emit(op("concatenate"), {column, boxes}, {{"axis", std::int64_t{1}}});
  return one(c.emit(op("vision.roi_pool"), {x, rois},
                    {{"pooled_shape", Ints{c.integer_or("pooled_height", 1), c.integer_or("pooled_width", 1)}},
                     {"spatial_scale", c.real_or("spatial_scale", 1)}}));
}

/// Boxes [n, 4], best first, that overlap no better one: their indices.
Values non_max_suppression(Call& c) {
  auto boxes = c.tensor("Boxes");
  if (!boxes) return Failure{};
  boxes = c.cast(boxes, DType::Float32);
  auto scores = c.emit(op("full"), {c.shape_of(boxes, 0, 1)});
  auto kept = c.emit(op("vision.non_max_suppression"),
                     {c.expand_dims(boxes, {0}), c.expand_dims(scores, {0, 1}), c.int_constant({INT32_MAX})});
  return one(c.emit(op("take"), {kept, c.number(2, DType::Int64)}, {{"axis", std::int64_t{1}}}));
}

/// Windows of an image as columns: (n, c, h, w) → (n, c · kh · kw, places).
Values unfold(Call& c) {
  auto x = c.tensor("X");
  const auto kernel = c.ints("kernel_sizes"), strides = c.ints_or("strides", {1, 1}),
             dilation = c.ints_or("dilations", {1, 1});
  auto pads = c.ints_or("paddings", {0, 0, 0, 0});
  const auto rank = c.rank(x);
  if (!kernel || !strides || !dilation || !pads || !rank) return Failure{};
  if (pads->size() == 2) pads = Ints{(*pads)[0], (*pads)[1], (*pads)[0], (*pads)[1]};
  if (*rank != 4 || kernel->size() != 2 || strides->size() != 2 || dilation->size() != 2 || pads->size() != 4)
    return c.unpriced();
  const auto within = [](const Ints& v, std::int64_t least) {
    return std::all_of(v.begin(), v.end(), [&](std::int64_t i) { return i >= least && i < (1 << 20); });
  };
  if (!within(*kernel, 1) || !within(*strides, 1) || !within(*dilation, 1) || !within(*pads, 0))
    return c.error("the window's extents make no sense");
  const auto channels = c.known_dim(*x, 1), height = c.known_dim(*x, 2), width = c.known_dim(*x, 3);
  if (!channels || !height || !width) return Failure{};
  if (*height >= kMostPlaces || *width >= kMostPlaces || *channels >= kMostPlaces) return c.unpriced();
  if (std::any_of(pads->begin(), pads->end(), [](std::int64_t p) { return p > 0; })) {
    x = c.emit(op("nn.pad"), {x, c.int_constant({0, 0, (*pads)[0], (*pads)[1], 0, 0, (*pads)[2], (*pads)[3]})});
  }
  const Ints extents{*height + (*pads)[0] + (*pads)[2], *width + (*pads)[1] + (*pads)[3]};
  Ints places;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = (*dilation)[i] * ((*kernel)[i] - 1) + 1;
    const std::int64_t n = extents[i] < reach ? 0 : (extents[i] - reach) / (*strides)[i] + 1;
    if (n < 1) return c.error(fmt::format("a window of {} over an extent of {}", reach, extents[i]));
    if (n * (*kernel)[i] >= kMostPlaces) return c.unpriced();
    Ints index;
    for (std::int64_t k = 0; k < (*kernel)[i]; ++k) {
      for (std::int64_t p = 0; p < n; ++p) index.push_back(k * (*dilation)[i] + p * (*strides)[i]);
    }
    places.push_back(n);
    x = c.emit(op("take"), {x, c.int_constant(index)}, {{"axis", static_cast<std::int64_t>(i) + 2}});
  }
  auto windows = c.reshape(x, {0, *channels, (*kernel)[0], places[0], (*kernel)[1], places[1]});
  std::int64_t rows = 0;
  if (__builtin_mul_overflow(*channels, (*kernel)[0] * (*kernel)[1], &rows))
    return c.error("a result beyond all bounds");
  return one(c.reshape(c.transpose(windows, {0, 1, 2, 4, 3, 5}), {0, rows, places[0] * places[1]}));
}

/// The reverse, overlaps added.
Values fold(Call& c) {
  const auto sizes = c.ints("output_sizes"), kernel = c.ints("kernel_sizes"), strides = c.ints_or("strides", {1, 1}),
             dilation = c.ints_or("dilations", {1, 1});
  auto pads = c.ints_or("paddings", {0, 0, 0, 0});
  if (!sizes || !kernel || !strides || !dilation || !pads) return Failure{};
  if (pads->size() == 2) pads = Ints{(*pads)[0], (*pads)[1], (*pads)[0], (*pads)[1]};
  return one(c.emit(op("col2im"), {c.tensor("X"), c.int_constant(*sizes), c.int_constant(*kernel)},
                    {{"dilation", *dilation}, {"padding", *pads}, {"strides", *strides}}));
}

/// pixel_shuffle: (n, c · r², h, w) → (n, c, h · r, w · r), and back.
Values pixel_shuffle(Call& c) {
  auto x = c.tensor("X");
  const std::int64_t r = c.integer_or("upscale_factor|downscale_factor|blocksize", 1);
  const bool last = c.text_or("data_format", "NCHW").ends_with('C');
  const bool up = c.operation.type == "pixel_shuffle";
  if (last) x = c.transpose(x, {0, 3, 1, 2});
  x = up ? c.emit(op("depth_to_space"), {x}, {{"blocksize", r}, {"mode", "CRD"}})
         : c.emit(op("space_to_depth"), {x}, {{"blocksize", r}});
  if (last) x = c.transpose(x, {0, 2, 3, 1});
  return one(x);
}

/// Channels of groups interleaved.
Values channel_shuffle(Call& c) {
  auto x = c.tensor("X");
  const std::int64_t groups = c.integer_or("groups|group", 1);
  const bool last = c.text_or("data_format", "NCHW").ends_with('C');
  if (last) x = c.transpose(x, {0, 3, 1, 2});
  const auto rank = c.rank(x);
  const auto channels = rank && *rank == 4 ? c.known_dim(*x, 1) : Result<std::int64_t>(c.error("needs data of rank 4"));
  if (!channels) return Failure{};
  if (groups < 1 || *channels % groups != 0)
    return c.error(fmt::format("{} channels do not divide into {} groups", *channels, groups));
  auto shape = c.whole_shape(*x);
  auto split =
      c.emit(op("reshape"),
             {x, c.join({c.shape_of(x, 0, 1), c.int_constant({groups, *channels / groups}), c.shape_of(x, 2, 4)}, 0)});
  auto y = c.emit(op("reshape"), {c.transpose(split, {0, 2, 1, 3, 4}), shape});
  return one(last ? c.transpose(y, {0, 2, 3, 1}) : y);
}

/// (n · segments, c, h, w): a part of the channels is taken from the segment before, a part from that behind.
Values temporal_shift(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  const std::int64_t segments = c.integer_or("seg_num", 1);
  const auto channels = rank && *rank == 4 ? c.known_dim(*x, 1) : Result<std::int64_t>(c.error("needs data of rank 4"));
  if (!channels) return Failure{};
  const auto moved =
      static_cast<std::int64_t>(static_cast<double>(*channels) * std::clamp(c.real_or("shift_ratio", 0.25), 0.0, 0.5));
  auto shape = c.whole_shape(*x);
  auto video = c.emit(op("reshape"), {x, c.join({c.int_constant({-1, segments}), c.shape_of(x, 1, 4)}, 0)});
  const auto part = [&](std::int64_t from, std::int64_t to, std::int64_t by) {
    auto p = c.slice(video, 2, from, to);
    if (by == 0) return p;
    Ints pads(10, 0);
    pads[by > 0 ? 1 : 6] = 1;
    auto wide = c.emit(op("nn.pad"), {p, c.int_constant(pads)});
    return by > 0 ? c.slice(wide, 1, 0, segments) : c.slice(wide, 1, 1, segments + 1);
  };
  auto y = c.join({part(0, moved, 1), part(moved, 2 * moved, -1), part(2 * moved, *channels, 0)}, 2);
  return one(c.emit(op("reshape"), {y, shape}));
}

}  // namespace perfc::paddle
