/// Rules for blocks, crops, triangles and one-hot encodings.
#include "ir/layout.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Axes of a rank-4 operand 0.
Result<TensorAxes> image_axes(const InferContext& c) {
  const auto axes = data_axes(c.attrs, 4);
  if (!axes) return c.error("data_layout '{}' does not fit 4 axes", c.attrs.string_or("data_layout", ""));
  return *axes;
}

/// Block size of depth ↔ space on a rank-4 operand 0.
Result<std::int64_t> block_size(const InferContext& c) {
  if (!require_rank(c, 0, "input", 4)) return Failure{};
  const auto b = int_attr(c, "blocksize");
  if (!b) return Failure{};
  if (*b < 1) return c.error("blocksize must be positive, got {}", *b);
  return *b;
}

/// Axes that a centred crop changes: all of them without the attribute.
Result<std::vector<std::size_t>> crop_axes(const InferContext& c, std::size_t rank) {
  std::vector<std::int64_t> axes = c.attrs.ints_or_empty("axes");
  if (!c.attrs.has("axes")) {
    for (std::size_t a = 0; a < rank; ++a) axes.push_back(static_cast<std::int64_t>(a));
  }
  return normalize_axes(c, axes, rank);
}

}  // namespace

Status depth_to_space(InferContext& c) {
  const auto b = block_size(c);
  if (!b) return Failure{};
  const std::string_view mode = c.attrs.string_or("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return c.error("unknown mode '{}'", mode);
  if (!ranked(c, 0)) return set_tensor(c, unknown_shape(4));
  const auto axes = image_axes(c);
  if (!axes) return Failure{};
  Shape shape = c.type(0).shape();
  Dim& channels = shape[axes->channel];
  const SymInt area = SymInt(*b) * *b;
  if (channels.known() && (!area.known() || channels.value() % area.value() != 0)) {
    return c.error("{} channels do not divide by the square of blocksize {}", channels.value(), *b);
  }
  channels = trunc_div(channels, area);
  for (std::size_t a : axes->spatial) shape[a] = shape[a] * *b;
  return set_tensor(c, std::move(shape));
}

Status space_to_depth(InferContext& c) {
  const auto b = block_size(c);
  if (!b) return Failure{};
  if (!ranked(c, 0)) return set_tensor(c, unknown_shape(4));
  const auto axes = image_axes(c);
  if (!axes) return Failure{};
  Shape shape = c.type(0).shape();
  for (std::size_t a : axes->spatial) {
    if (shape[a].known() && shape[a].value() % *b != 0) {
      return c.error("dim {} of {} does not divide by blocksize {}", a, to_string(c.type(0)), *b);
    }
    shape[a] = trunc_div(shape[a], *b);
  }
  shape[axes->channel] = shape[axes->channel] * *b * *b;
  return set_tensor(c, std::move(shape));
}

Status center_crop_pad(InferContext& c) {
  if (!require_tensor(c, 0, "input_data") || !require_dtype(c, 1, "shape", is_index, "int32 or int64") ||
      !require_rank(c, 1, "shape", 0, 1)) {
    return Failure{};
  }
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axes = crop_axes(c, shape.size());
  if (!axes) return Failure{};
  const auto length = known_length(c, 1);
  if (length && *length != static_cast<std::int64_t>(axes->size())) {
    return c.error("shape has {} entries for {} axes", *length, axes->size());
  }
  const auto* wanted = ints(c, 1);
  for (std::size_t k = 0; k < axes->size(); ++k) {
    const auto d = as_dim(c, wanted ? (*wanted)[k] : SymInt::unknown(), "shape");
    if (!d) return Failure{};
    shape[(*axes)[k]] = *d;
  }
  return set_tensor(c, std::move(shape));
}

Status eye_like(InferContext& c) {
  if (!require_rank(c, 0, "input", 2)) return Failure{};
  c.set(0, c.type(0).with_dtype(c.attrs.dtype_or("dtype", c.type(0).dtype())));
  return ok();
}

Status one_hot(InferContext& c) {
  if (!require_dtype(c, 0, "indices", is_numeric, "a numeric type") ||
      !require_dtype(c, 1, "depth", is_numeric, "a numeric type") || !require_rank(c, 1, "depth", 0, 1) ||
      !require_rank(c, 2, "values", 1)) {
    return Failure{};
  }
  const auto axis_attr = int_attr(c, "axis", -1);
  if (!axis_attr) return Failure{};
  const auto values = known_length(c, 2);
  if (values && *values != 2) return c.error("values must be [off, on], got {} entries", *values);
  const DType dtype = c.type(2).dtype();
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axis = normalize_axis(c, *axis_attr, shape.size() + 1);
  if (!axis) return Failure{};
  SymInt depth;
  const Data* d = c.data(1);
  if (d && d->size() == 1) {
    if (d->ints()) depth = d->ints()->front();
    else if (d->floats() && d->floats()->front() >= 0 && d->floats()->front() < 0x1p62) {
      depth = static_cast<std::int64_t>(d->floats()->front());
    }
  }
  const auto extent = as_dim(c, depth, "depth");
  if (!extent) return Failure{};
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*axis), *extent);
  c.set(0, Type::tensor(dtype, std::move(shape)));
  return ok();
}

/// The long-gone ONNX Crop: "border" is left, top, right, bottom; "scale", if
/// given, is the height and width to keep from the top left corner of that.
Status crop(InferContext& c) {
  if (!require_rank(c, 0, "input", 4)) return Failure{};
  const auto border = int_list(c, "border", 4, 0, 0);
  const auto scale = int_list(c, "scale", 2, 0, 0);
  if (!border || !scale) return Failure{};
  if (!ranked(c, 0)) return set_tensor(c, unknown_shape(4));
  Shape shape = c.type(0).shape();
  for (std::size_t k : {0, 1}) {  // height, then width
    const SymInt margins = SymInt((*border)[1 - k]) + (*border)[3 - k];
    Dim& extent = shape[2 + k];
    extent = c.attrs.has("scale") ? Dim((*scale)[k]) : margins.known() ? extent - margins : Dim::unknown();
    if (extent.known() && extent.value() < 0) return c.error("border is wider than {}", to_string(c.type(0)));
  }
  return set_tensor(c, std::move(shape));
}

Status reverse_sequence(InferContext& c) {
  if (!require_rank(c, 0, "input", 2, kAnyRank) || !require_dtype(c, 1, "sequence_lens", is_index, "int32 or int64") ||
      !require_rank(c, 1, "sequence_lens", 1)) {
    return Failure{};
  }
  const auto batch = int_attr(c, "batch_axis", 1);
  const auto time = int_attr(c, "time_axis", 0);
  if (!batch || !time) return Failure{};
  if (*batch == *time) return c.error("batch_axis and time_axis are both {}", *time);
  if (ranked(c, 0)) {
    const auto b = normalize_axis(c, *batch, c.type(0).rank(), "batch_axis");
    if (!b || !normalize_axis(c, *time, c.type(0).rank(), "time_axis")) return Failure{};
    if (ranked(c, 1) &&
        !same_dim(c, c.type(0).shape()[*b], c.type(1).shape()[0], "batch and length of sequence_lens")) {
      return Failure{};
    }
  }
  c.set(0, c.type(0));
  return ok();
}

Status trilu(InferContext& c) {
  if (!require_rank(c, 0, "input", 2, kAnyRank)) return Failure{};
  if (c.has(1) && !require_dtype(c, 1, "k", is_int64, "int64")) return Failure{};
  c.set(0, c.type(0));
  return ok();
}

}  // namespace perfc::rules
