/// Rules for pooling and regions of interest.
#include "ir/infer_context.h"
#include "ir/layout.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Axes of operand 0. com.microsoft's NHWC and quantised pools put channels last when they say so.
Result<TensorAxes> data_axes_of(const InferContext& c, std::size_t rank) {
  const auto axes = data_axes(c.attrs, rank);
  if (!axes) return c.error("data_layout '{}' does not fit {} axes", c.attrs.string_or("data_layout", ""), rank);
  return *axes;
}

}  // namespace

/// X [n, c, spatial…] → [n, c, windows…]; MaxPool's second result holds indices.
Status pool(InferContext& c) {
  if (!require_rank(c, 0, "X", 3, kAnyRank)) return Failure{};
  if (!c.attrs.has("kernel_size")) return c.error("has no attribute 'kernel_shape'");
  const std::vector<std::int64_t> kernel = c.attrs.ints_or_empty("kernel_size");
  const std::size_t spatial = ranked(c, 0) ? c.type(0).rank() - 2 : kernel.size();
  if (kernel.size() != spatial) {
    return c.error("kernel_shape has {} entries for {} spatial axes", kernel.size(), spatial);
  }
  const auto strides = int_list(c, "strides", spatial, 1, 1);
  const auto dilation = int_list(c, "dilation", spatial, 1, 1);
  const auto padding = int_list(c, "padding", 2 * spatial, 0, 0);
  const auto automatic = auto_pad(c);
  if (!strides || !dilation || !padding || !automatic) return Failure{};
  Shape shape = ranked(c, 0) ? c.type(0).shape() : unknown_shape(spatial + 2);
  const auto axes = data_axes_of(c, shape.size());
  if (!axes) return Failure{};
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto extent =
        window_extent(c, shape[axes->spatial[i]],
                      {.kernel = kernel[i],
                       .stride = (*strides)[i],
                       .dilation = (*dilation)[i],
                       .pad_begin = (*padding)[i],
                       .pad_end = (*padding)[spatial + i],
                       .auto_pad = *automatic,
                       .rounding = c.attrs.int_or("ceil_mode", 0) != 0 ? Rounding::Ceil : Rounding::Floor});
    if (!extent) return Failure{};
    shape[axes->spatial[i]] = *extent;
  }
  if (c.results() > 2) return c.error("has {} results, at most 2 exist", c.results());
  if (c.results() > 1) c.set(1, Type::tensor(DType::Int64, shape));
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// Every spatial axis becomes 1.
Status global_pool(InferContext& c) {
  if (!require_rank(c, 0, "X", 2, kAnyRank)) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axes = data_axes_of(c, shape.size());
  if (!axes) return Failure{};
  for (std::size_t i : axes->spatial) shape[i] = Dim(1);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// (X, indices, output_shape?) → the inverse of a max pool.
Status max_unpool(InferContext& c) {
  if (!require_rank(c, 0, "X", 3, kAnyRank)) return Failure{};
  if (!require_dtype(c, 1, "indices", is_int64, "int64")) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const std::size_t spatial = shape.size() - 2;
  if (ranked(c, 1) && c.type(1).rank() != shape.size()) {
    return c.error("X {} and indices {} differ in rank", to_string(c.type(0)), to_string(c.type(1)));
  }
  if (c.has(2)) {
    const auto* out = ints(c, 2);
    if (out && out->size() != shape.size())
      return c.error("output_shape has {} entries, X has rank {}", out->size(), shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (!out) {
        shape[i] = Dim::unknown();
        continue;
      }
      const auto d = as_dim(c, (*out)[i], "output_shape");
      if (!d) return Failure{};
      shape[i] = *d;
    }
  } else {
    if (!c.attrs.has("kernel_size")) return c.error("has no attribute 'kernel_shape'");
    const auto kernel = int_list(c, "kernel_size", spatial, 1, 1);
    const auto strides = int_list(c, "strides", spatial, 1, 1);
    const auto padding = int_list(c, "padding", 2 * spatial, 0, 0);
    if (!kernel || !strides || !padding) return Failure{};
    for (std::size_t i = 0; i < spatial; ++i) {
      Dim& d = shape[i + 2];
      d = (d - SymInt(1)) * SymInt((*strides)[i]) + SymInt((*kernel)[i]) -
          (SymInt((*padding)[i]) + SymInt((*padding)[spatial + i]));
    }
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// (X [n, c, h, w], rois [k, 4], batch_indices [k]) → [k, c, out_h, out_w], or as data_layout says.
Status roi_align(InferContext& c) {
  if (!require_rank(c, 0, "X", 4) || !require_rank(c, 1, "rois", 2) || !require_rank(c, 2, "batch_indices", 1))
    return Failure{};
  const std::int64_t height = c.attrs.int_or("output_height", 1);
  const std::int64_t width = c.attrs.int_or("output_width", 1);
  if (height < 1 || width < 1) return c.error("output size {}×{} must be positive", height, width);
  Dim rois;
  if (ranked(c, 1)) {
    rois = c.type(1).shape()[0];
    const Dim& four = c.type(1).shape()[1];
    if (four.known() && !four.is(4)) return c.error("rois have {} coordinates, not 4", four.value());
  }
  if (ranked(c, 2)) {
    const auto same = same_dim(c, rois, c.type(2).shape()[0], "number of rois and batch_indices");
    if (!same) return Failure{};
    rois = *same;
  }
  const auto axes = data_axes_of(c, 4);
  if (!axes) return Failure{};
  Shape shape(4, rois);
  shape[axes->channel] = ranked(c, 0) ? c.type(0).shape()[axes->channel] : Dim::unknown();
  shape[axes->spatial[0]] = Dim(height);
  shape[axes->spatial[1]] = Dim(width);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// (X [n, c, h, w], rois [k, 5]) → [k, c, pooled…].
Status roi_pool(InferContext& c) {
  if (!require_rank(c, 0, "X", 4) || !require_dims(c, 1, "rois", {Dim::unknown(), 5})) return Failure{};
  const auto pooled = int_list(c, "pooled_shape", 2, 1, 1);
  if (!pooled) return Failure{};
  if (!c.attrs.has("pooled_shape")) return c.error("has no attribute 'pooled_shape'");
  c.set(0, Type::tensor(c.type(0).dtype(),
                        {ranked(c, 1) ? c.type(1).shape()[0] : Dim::unknown(),
                         ranked(c, 0) ? c.type(0).shape()[1] : Dim::unknown(), Dim((*pooled)[0]), Dim((*pooled)[1])}));
  return ok();
}

/// One operation per element of each window.
void pool_cost(const CostContext& c, OpCost& cost) {
  cost.flops = c.result_elements(0) * window_elements(c.attrs(), c.type(0));
}

/// sampling_ratio² bilinear samples of 8 operations per result element; ratio 0
/// (adaptive) counts as 2, the usual value of detection models.
void roi_align_cost(const CostContext& c, OpCost& cost) {
  const auto given = static_cast<double>(c.attrs().int_or("sampling_ratio", 0));
  const double ratio = given > 0 ? given : 2;
  cost.flops = c.result_elements(0) * ratio * ratio * 8;
}

}  // namespace perfc::rules
