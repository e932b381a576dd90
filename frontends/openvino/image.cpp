/// Resizing, sampling, regions of interest, patches, Fourier transforms.
#include <algorithm>
#include <cmath>

#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 22;  ///< of windows along an axis, read as indices

/// Axes that an Interpolate names: an operand, the attribute of opset 1, or all.
Result<Ints> resized_axes(const Call& c, std::size_t operand, std::int64_t rank) {
  const auto given = c.has(operand) ? c.ints(operand, "the axes") : c.list_or("axes", {});
  if (!given) return Failure{};
  Ints axes;
  for (std::int64_t a : *given) {
    const auto axis = c.axis(a, rank);
    if (!axis) return Failure{};
    axes.push_back(*axis);
  }
  for (std::int64_t a = 0; given->empty() && a < rank; ++a) axes.push_back(a);
  return axes;
}

std::string mode_of(const Call& c) {
  const std::string_view mode = c.text_or("mode", "nearest");
  return mode == "cubic" || mode == "bicubic_pillow" ? "cubic" : mode == "nearest" ? "nearest" : "linear";
}

}  // namespace

/// Opset 1: (data, sizes). Opset 4: (data, sizes, scales, axes?). Opset 11: (data, sizes or scales, axes?).
Values interpolate(Call& c) {
  const auto x = c.tensor(0);
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const bool by_scales = c.text_or("shape_calculation_mode", "sizes") == "scales";
  const bool apart = c.layer.version == "opset4";
  const auto axes = resized_axes(c, apart ? 3 : 2, *rank);
  if (!axes) return Failure{};
  const std::string coordinates(c.flag("align_corners") ? "align_corners"
                                                        : c.text_or("coordinate_transformation_mode", "half_pixel"));
  Operand sizes = ValueId{}, scales = ValueId{};
  if (by_scales) scales = c.cast(c.tensor(apart ? 2 : 1), DType::Float32);
  else sizes = c.int_vector(1);
  return c.finish(op("image.resize2d"), {x, ValueId{}, scales, sizes},
                  {{"axes", *axes}, {"coordinate_transformation_mode", coordinates}, {"mode", mode_of(c)}});
}

Values grid_sample(Call& c) {
  const std::string_view mode = c.text_or("mode", "bilinear");
  return c.finish(op("image.grid_sample"), {c.tensor(0), c.tensor(1)},
                  {{"align_corners", static_cast<std::int64_t>(c.flag("align_corners"))},
                   {"mode", std::string(mode == "nearest"   ? "nearest"
                                        : mode == "bicubic" ? "cubic"
                                                            : "linear")},
                   {"padding_mode", std::string(c.text_or("padding_mode", "zeros"))}});
}

/// (data, regions [n, 5]); bilinear ones sample like RoIAlign with one point per bin.
Values roi_pool(Call& c) {
  const std::int64_t height = c.integer_or("pooled_h", c.integer_or("output_h", 1)),
                     width = c.integer_or("pooled_w", c.integer_or("output_w", 1));
  const double scale = c.real_or("spatial_scale", 1);
  if (c.text_or("method", "max") != "bilinear") {
    return c.finish(op("vision.roi_pool"), {c.tensor(0), c.tensor(1)},
                    {{"pooled_shape", Ints{height, width}}, {"spatial_scale", scale}});
  }
  auto image = c.reshape(c.cast(c.slice(c.tensor(1), 1, 0, 1), DType::Int64), {-1});
  return c.finish(op("vision.roi_align"), {c.tensor(0), c.slice(c.tensor(1), 1, 1, 5), image},
                  {{"output_height", height},
                   {"output_width", width},
                   {"sampling_ratio", std::int64_t{1}},
                   {"spatial_scale", scale}});
}

/// (data, regions [n, 4], images [n]).
Values roi_align(Call& c) {
  return c.finish(op("vision.roi_align"), {c.tensor(0), c.tensor(1), c.cast(c.tensor(2), DType::Int64)},
                  {{"output_height", c.integer_or("pooled_h", 1)},
                   {"output_width", c.integer_or("pooled_w", 1)},
                   {"sampling_ratio", std::max<std::int64_t>(c.integer_or("sampling_ratio", 0), 0)},
                   {"spatial_scale", c.real_or("spatial_scale", 1)}});
}

/// [n, c, h, w] → [n, kh · kw · c, rows, columns]: each place of a window is a strided slice.
Values extract_patches(Call& c) {
  auto x = c.tensor(0);
  const auto sizes = c.list_or("sizes", {}), strides = c.list_or("strides", {}), rates = c.list_or("rates", {});
  const auto rank = c.rank(x);
  if (!sizes || !strides || !rates || !rank) return Failure{};
  if (*rank != 4 || sizes->size() != 2 || strides->size() != 2 || rates->size() != 2) return c.unpriced();
  const auto channels = c.known_dim(*x, 1);
  if (!channels) return Failure{};
  Ints pads(8, 0), places;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto extent = c.known_dim(*x, static_cast<std::int64_t>(i) + 2);
    if (!extent) return Failure{};
    if ((*sizes)[i] < 1 || (*strides)[i] < 1 || (*rates)[i] < 1 || *extent >= kMostPlaces ||
        (*sizes)[i] >= kMostPlaces || (*rates)[i] >= kMostPlaces)
      return c.error("windows that make no sense");
    const std::int64_t reach = ((*sizes)[i] - 1) * (*rates)[i] + 1;
    std::int64_t n = (*extent - reach) / (*strides)[i] + 1;
    if (c.text_or("auto_pad", "valid") != "valid") {
      n = (*extent + (*strides)[i] - 1) / (*strides)[i];
      const std::int64_t total = std::max<std::int64_t>(0, (n - 1) * (*strides)[i] + reach - *extent);
      pads[2 + i] = total / 2;
      pads[6 + i] = total - total / 2;
    }
    if (n < 1 || n * (*sizes)[i] >= kMostPlaces) return c.error(fmt::format("a window of {} over {}", reach, *extent));
    places.push_back(n);
  }
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p > 0; }))
    x = c.emit(op("nn.pad"), {x, c.int_constant(pads)});
  for (std::size_t i = 0; i < 2; ++i) {
    Ints index;
    for (std::int64_t k = 0; k < (*sizes)[i]; ++k) {
      for (std::int64_t p = 0; p < places[i]; ++p) index.push_back(k * (*rates)[i] + p * (*strides)[i]);
    }
    x = c.emit(op("take"), {x, c.int_constant(index)}, {{"axis", static_cast<std::int64_t>(i) + 2}});
  }
  std::int64_t depth = 0;
  if (__builtin_mul_overflow(*channels, (*sizes)[0] * (*sizes)[1], &depth))
    return c.error("a result beyond all bounds");
  auto windows = c.reshape(x, {0, *channels, (*sizes)[0], places[0], (*sizes)[1], places[1]});
  return one(c.reshape(c.transpose(windows, {0, 2, 4, 1, 3, 5}), {0, depth, places[0], places[1]}));
}

/// Complex numbers are a last dim of 2. (data, axes, lengths?): axes must be the last ones.
Values fourier(Call& c) {
  const auto x = c.tensor(0);
  const auto rank = c.rank(x);
  const auto axes = c.ints(1, "the axes");
  if (!rank || !axes) return Failure{};
  const auto n = static_cast<std::int64_t>(axes->size());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto axis = c.axis((*axes)[static_cast<std::size_t>(i)], *rank - 1);
    if (!axis) return Failure{};
    if (*axis != *rank - 1 - n + i) return c.unpriced();
  }
  if (n < 1 || n > 3 || c.has(2)) return c.unpriced();
  auto y = c.emit(op("signal.fft"), {c.emit(op("as_complex"), {x})}, {{"mode", std::string("c2c")}, {"rank", n}});
  return one(c.emit(op("as_real"), {y}));
}

}  // namespace perfc::openvino
