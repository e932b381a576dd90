/// Rules for resizing and sampling.
#include <cmath>

#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Operand indices of Resize (X, roi, scales, sizes) and Upsample (X, scales).
std::size_t scales_operand(const InferContext& c) { return c.op() == op("image.resize2d") ? 2 : 1; }

/// The axes that scales and sizes speak of: attribute, or all.
Result<std::vector<std::size_t>> resized_axes(const InferContext& c, std::size_t rank) {
  if (c.attrs.has("axes")) return normalize_axes(c, c.attrs.ints_or_empty("axes"), rank);
  std::vector<std::size_t> all(rank);
  for (std::size_t i = 0; i < rank; ++i) all[i] = i;
  return all;
}

const std::vector<double>* floats(const InferContext& c, std::size_t i) {
  const Data* d = c.data(i);
  return d && d->floats() && !d->floats()->empty() ? d->floats() : nullptr;
}

/// An operand that is there and not the empty tensor exporters put for "none".
bool given(const InferContext& c, std::size_t i) { return c.has(i) && c.type(i).elements() != 0; }

Result<Dim> scaled(const InferContext& c, const Dim& d, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) return c.error("scales must be positive, one is {}", scale);
  if (!d.known()) return scale == 1.0 ? d : Dim::unknown();
  // In single precision, as the runtimes do: 10 × 0.7f is 7 there, 6.99… in double.
  const double out = std::floor(static_cast<float>(d.value()) * static_cast<float>(scale));
  if (!(out <= 9e15)) return c.error("scale {} makes the result too large", scale);
  return Dim(static_cast<std::int64_t>(out));
}

}  // namespace

Status resize(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  const std::string_view mode = c.attrs.string_or("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear" && mode != "cubic") {
    return c.error("mode '{}' is none of nearest, linear, cubic", mode);
  }
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const std::size_t scales_at = scales_operand(c);
  bool by_scales = given(c, scales_at);
  const bool by_sizes = scales_at == 2 && given(c, 3);
  if (by_scales && by_sizes && !known_length(c, scales_at)) by_scales = false;  // may be empty at run time
  if (by_scales && by_sizes) return c.error("gives both scales and sizes");
  if (!by_scales && !by_sizes) return c.error("gives neither scales nor sizes");
  if (by_scales && !require_dtype(
                       c, scales_at, "scales", [](DType d) { return d == DType::Float32; }, "float32"))
    return Failure{};
  if (by_sizes && !require_dtype(c, 3, "sizes", is_int64, "int64")) return Failure{};
  const auto axes = resized_axes(c, shape.size());
  if (!axes) return Failure{};

  const std::size_t which = by_scales ? scales_at : 3;
  if (const auto n = known_length(c, which); n && *n != static_cast<std::int64_t>(axes->size())) {
    return c.error("{} has {} entries for {} axes", by_scales ? "scales" : "sizes", *n, axes->size());
  }
  if (by_scales) {
    const auto* scales = floats(c, scales_at);
    for (std::size_t i = 0; i < axes->size(); ++i) {
      Dim& d = shape[(*axes)[i]];
      if (!scales) {
        d = Dim::unknown();
        continue;
      }
      const auto s = scaled(c, d, (*scales)[i]);
      if (!s) return Failure{};
      d = *s;
    }
  } else {
    const auto* sizes = ints(c, 3);
    const std::string_view policy = c.attrs.string_or("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
      return c.error("keep_aspect_ratio_policy '{}' is none of stretch, not_larger, not_smaller", policy);
    }
    double ratio = 0;
    if (policy != "stretch" && sizes) {
      // One scale for all axes: the smallest or the largest that was asked for.
      for (std::size_t i = 0; i < axes->size(); ++i) {
        const Dim& d = shape[(*axes)[i]];
        if (!d.known() || !(*sizes)[i].known() || d.value() == 0) {
          ratio = 0;
          break;
        }
        const double r = static_cast<double>((*sizes)[i].value()) / static_cast<double>(d.value());
        ratio = i == 0 ? r : policy == "not_larger" ? std::min(ratio, r) : std::max(ratio, r);
      }
    }
    for (std::size_t i = 0; i < axes->size(); ++i) {
      Dim& d = shape[(*axes)[i]];
      if (!sizes || (policy != "stretch" && ratio <= 0)) {
        d = Dim::unknown();
      } else if (policy != "stretch") {
        // Halves round up, as ONNX defines for this attribute.
        const double size = std::floor(ratio * static_cast<double>(d.value()) + 0.5);
        if (!(size <= 9e15)) return c.error("sizes make the result too large");
        d = Dim(static_cast<std::int64_t>(size));
      } else {
        const auto size = as_dim(c, (*sizes)[i], "sizes");
        if (!size) return Failure{};
        d = *size;
      }
    }
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// (X [n, c, spatial…], grid [n, spatial'…, 2 or 3]) → [n, c, spatial'…].
Status grid_sample(InferContext& c) {
  if (!require_rank(c, 0, "X", 3, kAnyRank)) return Failure{};
  if (!require_dtype(c, 1, "grid", is_float, "floating point")) return Failure{};
  const std::string_view mode = c.attrs.string_or("mode", "linear");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear" && mode != "cubic" && mode != "bicubic") {
    return c.error("mode '{}' is none of nearest, linear, cubic", mode);
  }
  const bool first = ranked(c, 0);
  const bool second = ranked(c, 1);
  if (first && second && c.type(0).rank() != c.type(1).rank()) {
    return c.error("X {} and grid {} differ in rank", to_string(c.type(0)), to_string(c.type(1)));
  }
  if (!first && !second) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  const std::size_t rank = first ? c.type(0).rank() : c.type(1).rank();
  Shape shape = unknown_shape(rank);
  if (first) {
    shape[0] = c.type(0).shape()[0];
    shape[1] = c.type(0).shape()[1];
  }
  if (second) {
    const Shape& g = c.type(1).shape();
    if (g.back().known() && !g.back().is(static_cast<std::int64_t>(rank) - 2)) {
      return c.error("the last dim of grid must be {}, is {}", rank - 2, g.back().value());
    }
    const auto batch = same_dim(c, shape[0], g[0], "batch of X and grid");
    if (!batch) return Failure{};
    shape[0] = *batch;
    for (std::size_t i = 2; i < rank; ++i) shape[i] = g[i - 1];
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// (theta [n, 2, 3] or [n, 3, 4], size) → grid [n, h, w, 2] or [n, d, h, w, 3].
Status affine_grid(InferContext& c) {
  if (!require_rank(c, 0, "theta", 3)) return Failure{};
  const auto count = known_length(c, 1);
  if (count && *count != 4 && *count != 5) return c.error("size must have 4 or 5 entries, has {}", *count);
  std::int64_t rank = count.value_or(0);
  if (!count && ranked(c, 0) && c.type(0).shape()[1].known()) rank = c.type(0).shape()[1].value() + 2;
  if (rank != 4 && rank != 5) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  if (ranked(c, 0)) {
    const Shape& t = c.type(0).shape();
    if ((t[1].known() && !t[1].is(rank - 2)) || (t[2].known() && !t[2].is(rank - 1))) {
      return c.error("theta must be [n, {}, {}], is {}", rank - 2, rank - 1, to_string(c.type(0)));
    }
  }
  Shape shape = unknown_shape(static_cast<std::size_t>(rank));
  if (ranked(c, 0)) shape[0] = c.type(0).shape()[0];
  if (const auto* size = ints(c, 1)) {
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
      const auto d = as_dim(c, (*size)[i == 0 ? 0 : i + 1], "size");
      if (!d) return Failure{};
      if (i > 0 || !shape[0].known()) shape[i] = *d;
    }
  }
  shape.back() = Dim(rank - 2);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// Encoded bytes → uint8 [height, width, channels].
Status image_decode(InferContext& c) {
  // TensorFlow holds a file in one string.
  const bool text = c.type(0).is_tensor() && c.type(0).dtype() == DType::String;
  if (!require_dtype(
          c, 0, "encoded_stream", [](DType d) { return d == DType::UInt8 || d == DType::String; }, "uint8") ||
      !require_rank(c, 0, "encoded_stream", text ? 0 : 1)) {
    return Failure{};
  }
  const std::string_view format = c.attrs.string_or("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale") {
    return c.error("pixel_format '{}' is none of RGB, BGR, Grayscale", format);
  }
  c.set(0, Type::tensor(DType::UInt8, {Dim::unknown(), Dim::unknown(), Dim(format == "Grayscale" ? 1 : 3)}));
  return ok();
}

/// Multiply–adds per result element: 1 for nearest, 2 per tap for 2^d linear and
/// 4^d cubic taps, d the number of resized axes.
void resize_cost(const CostContext& c, OpCost& cost) {
  const std::string_view mode = c.attrs().string_or("mode", "nearest");
  const double n = c.result_elements(0);
  cost.flops = n;
  if (mode == "nearest" || !c.type(0).is_static() || !c.result(0).is_static()) return;
  const Shape& in = c.type(0).shape();
  const Shape& out = c.result(0).shape();
  int axes = 0;
  for (std::size_t i = 0; i < in.size() && i < out.size(); ++i) axes += in[i] != out[i];
  cost.flops = n * 2 * std::pow(mode == "cubic" ? 4.0 : 2.0, std::max(axes, 1));
}

/// Each component of the grid is a row of theta times a homogeneous position.
void affine_grid_cost(const CostContext& c, OpCost& cost) {
  cost.macs = c.result_elements(0) * c.dim(0, -1);
  cost.flops = 0;
}

/// Taps as for resizing, each a read of its own: where they lie the grid says. The coordinates cost 4 operations per
/// axis.
void grid_sample_cost(const CostContext& c, OpCost& cost) {
  const std::string_view mode = c.attrs().string_or("mode", "linear");
  const double axes = c.type(1).is_tensor() && c.type(1).ranked() ? static_cast<double>(c.type(1).rank()) - 2 : 2;
  const double taps = mode == "nearest" ? 1 : std::pow(mode == "cubic" || mode == "bicubic" ? 4.0 : 2.0, axes);
  cost.flops = c.result_elements(0) * 2 * taps + c.elements(1) * 4;
  cost.bytes_read = byte_size(c.type(0).dtype(), c.result_elements(0) * taps) + c.type(1).bytes();
}

}  // namespace perfc::rules
