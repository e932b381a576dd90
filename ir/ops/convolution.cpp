/// Rules for convolutions.
///
/// MACs of a convolution: result elements × (input channels / groups) × kernel
/// volume. Padding counts like data, as in TVM's get_total_mac_number and fvcore.
#include <algorithm>

#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

enum class Channels { First, Last };

/// Where a convolution finds its operands, and how they are laid out.
struct ConvForm {
  std::size_t x = 0;
  std::size_t weight = 1;
  std::size_t bias = 2;
  Channels channels = Channels::First;
};

/// What the weight and the attributes say together.
struct Geometry {
  std::size_t spatial = 0;
  std::int64_t groups = 1;
  std::vector<Dim> kernel;
  std::vector<std::int64_t> strides, dilation, padding;
  AutoPad automatic = AutoPad::NotSet;
};

/// Spatial axis i of the data, by layout.
std::size_t data_axis(Channels layout, std::size_t i) { return layout == Channels::First ? i + 2 : i + 1; }

Result<Geometry> geometry(const InferContext& c, const ConvForm& f) {
  if (!require_rank(c, f.x, "X", 3, kAnyRank) || !require_rank(c, f.weight, "weight", 3, kAnyRank)) return Failure{};
  Geometry g;
  const std::vector<std::int64_t> kernel = c.attrs.ints_or_empty("kernel_size");
  if (ranked(c, f.x)) {
    g.spatial = c.type(f.x).rank() - 2;
  } else if (ranked(c, f.weight)) {
    g.spatial = c.type(f.weight).rank() - 2;
  } else {
    g.spatial = kernel.size();
  }
  if (ranked(c, f.weight) && c.type(f.weight).rank() != g.spatial + 2) {
    return c.error("weight {} must have the rank of X {}", to_string(c.type(f.weight)), to_string(c.type(f.x)));
  }
  g.kernel.assign(g.spatial, Dim::unknown());
  if (!kernel.empty() && kernel.size() != g.spatial) {
    return c.error("kernel_shape has {} entries for {} spatial axes", kernel.size(), g.spatial);
  }
  for (std::size_t i = 0; i < g.spatial; ++i) {
    if (!kernel.empty()) g.kernel[i] = Dim(kernel[i]);
    if (!ranked(c, f.weight)) continue;
    const auto same = same_dim(c, g.kernel[i], c.type(f.weight).shape()[data_axis(f.channels, i)], "kernel_shape and weight");
    if (!same) return Failure{};
    g.kernel[i] = *same;
  }
  auto strides = int_list(c, "strides", g.spatial, 1, 1);
  auto dilation = int_list(c, "dilation", g.spatial, 1, 1);
  auto padding = int_list(c, "padding", 2 * g.spatial, 0, 0);
  const auto automatic = auto_pad(c);
  if (!strides || !dilation || !padding || !automatic) return Failure{};
  g.strides = std::move(*strides);
  g.dilation = std::move(*dilation);
  g.padding = std::move(*padding);
  g.automatic = *automatic;
  g.groups = c.attrs.int_or("groups", 1);
  if (g.groups < 1) return c.error("group must be positive, is {}", g.groups);
  return g;
}

/// Type of a forward convolution whose weight is [out, in / groups, kernel…]
/// (channels first) or [out, kernel…, in / groups].
Result<Type> forward(const InferContext& c, const ConvForm& f, DType dtype) {
  const auto g = geometry(c, f);
  if (!g) return Failure{};
  const bool have_x = ranked(c, f.x);
  const bool have_w = ranked(c, f.weight);
  Shape shape = have_x ? c.type(f.x).shape() : unknown_shape(g->spatial + 2);
  const std::size_t channel_axis = f.channels == Channels::First ? 1 : shape.size() - 1;
  if (have_w) {
    const Shape& w = c.type(f.weight).shape();
    const Dim& per_group = f.channels == Channels::First ? w[1] : w.back();
    const Dim& in = shape[channel_axis];
    if (have_x && in.known() && per_group.known() && !(per_group * SymInt(g->groups)).is(in.value())) {
      return c.error("weight expects {} channels ({} in each of {} groups), operand has {}",
                     to_string(per_group * SymInt(g->groups)), per_group.value(), g->groups, in.value());
    }
    if (w[0].known() && w[0].value() % g->groups != 0) {
      return c.error("{} result channels do not divide into {} groups", w[0].value(), g->groups);
    }
  }
  const Dim out = have_w ? c.type(f.weight).shape()[0] : Dim::unknown();
  if (c.has(f.bias)) {
    if (!require_rank(c, f.bias, "bias", 1)) return Failure{};
    if (ranked(c, f.bias) && !same_dim(c, c.type(f.bias).shape()[0], out, "bias and result channels")) return Failure{};
  }
  shape[channel_axis] = out;
  for (std::size_t i = 0; i < g->spatial; ++i) {
    Dim& d = shape[data_axis(f.channels, i)];
    const auto extent = window_extent(c, d, {.kernel = g->kernel[i], .stride = g->strides[i],
                                             .dilation = g->dilation[i], .pad_begin = g->padding[i],
                                             .pad_end = g->padding[g->spatial + i], .auto_pad = g->automatic});
    if (!extent) return Failure{};
    d = *extent;
  }
  return Type::tensor(dtype, std::move(shape));
}

Status set_forward(InferContext& c, const ConvForm& f, DType dtype) {
  auto type = forward(c, f, dtype);
  if (!type) return Failure{};
  c.set(0, std::move(*type));
  return ok();
}

/// MACs of a forward convolution: a weight is [out, what one result element is
/// made of] in either layout.
void forward_macs(const CostContext& c, OpCost& cost, std::size_t weight) {
  const Type& w = c.type(weight);
  if (!w.is_static() || w.rank() < 3) return;
  const double out = static_cast<double>(w.shape()[0].value());
  if (out > 0) cost.macs = c.result_elements(0) * c.elements(weight) / out;
}

}  // namespace

/// (X [n, in, spatial…], W [out, in / groups, kernel…], bias?, sum?).
Status conv(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  return set_forward(c, {}, c.type(0).dtype());
}

/// The same with channels last: X [n, spatial…, in], W [out, kernel…, in / groups].
Status conv_nhwc(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  return set_forward(c, {.channels = Channels::Last}, c.type(0).dtype());
}

/// (X, W [in, out / groups, kernel…], bias?). Extents by ONNX ConvTranspose.
Status conv_transpose(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  const auto g = geometry(c, {});
  if (!g) return Failure{};
  Shape shape = ranked(c, 0) ? c.type(0).shape() : unknown_shape(g->spatial + 2);
  Dim out;
  if (ranked(c, 1)) {
    const Shape& w = c.type(1).shape();
    if (!same_dim(c, shape[1], w[0], "channels of X and weight")) return Failure{};
    if (w[0].known() && w[0].value() % g->groups != 0) {
      return c.error("{} channels do not divide into {} groups", w[0].value(), g->groups);
    }
    out = w[1] * SymInt(g->groups);
  }
  if (c.has(2)) {
    if (!require_rank(c, 2, "bias", 1)) return Failure{};
    if (ranked(c, 2) && !same_dim(c, c.type(2).shape()[0], out, "bias and result channels")) return Failure{};
  }
  shape[1] = out;
  const auto extra = int_list(c, "output_padding", g->spatial, 0, 0);
  if (!extra) return Failure{};
  std::vector<std::int64_t> wanted = c.attrs.ints_or_empty("output_shape");
  // Some exporters give the whole shape, most the spatial part.
  if (wanted.size() == g->spatial + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != g->spatial) {
    return c.error("output_shape has {} entries for {} spatial axes", wanted.size(), g->spatial);
  }
  for (std::size_t i = 0; i < g->spatial; ++i) {
    Dim& d = shape[i + 2];
    if (!wanted.empty()) {
      if (wanted[i] < 0) return c.error("output_shape holds {}", wanted[i]);
      d = Dim(wanted[i]);
      continue;
    }
    if (g->automatic == AutoPad::SameUpper || g->automatic == AutoPad::SameLower) {
      d = d * SymInt(g->strides[i]);
      continue;
    }
    const SymInt reach = (g->kernel[i] - SymInt(1)) * SymInt(g->dilation[i]) + SymInt(1);
    const SymInt pads = g->automatic == AutoPad::Valid ? SymInt(0) : SymInt(g->padding[i]) + SymInt(g->padding[g->spatial + i]);
    d = (d - SymInt(1)) * SymInt(g->strides[i]) + SymInt((*extra)[i]) + reach - pads;
    if (d.known() && d.value() < 0) return c.error("padding {} removes more than there is on axis {}", to_string(pads), i + 2);
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// (X, W, offset, bias?, mask?): offsets are 2-D positions per kernel point.
Status deform_conv(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  auto type = forward(c, {.bias = 3}, c.type(0).dtype());
  if (!type) return Failure{};
  if (!require_rank(c, 2, "offset", type->rank())) return Failure{};
  const std::int64_t offset_groups = c.attrs.int_or("offset_group", 1);
  if (offset_groups < 1) return c.error("offset_group must be positive, is {}", offset_groups);
  if (ranked(c, 2) && ranked(c, 1)) {
    const std::size_t spatial = type->rank() - 2;
    SymInt points = SymInt(offset_groups) * SymInt(static_cast<std::int64_t>(spatial));
    for (std::size_t i = 0; i < spatial; ++i) points = points * c.type(1).shape()[i + 2];
    if (!same_dim(c, c.type(2).shape()[1], points, "channels of offset and kernel points")) return Failure{};
  }
  c.set(0, std::move(*type));
  return ok();
}

/// Causal 1-D depthwise convolution of state-space models: (X [b, channels, l],
/// W [channels, 1, k], bias?, past_state? [b, channels, k − 1]) → Y like X, and
/// the present state.
Status causal_conv(InferContext& c) {
  if (!require_rank(c, 0, "X", 3, kAnyRank) || !require_rank(c, 1, "weight", 2, kAnyRank)) return Failure{};
  if (ranked(c, 0) && ranked(c, 1) && !same_dim(c, c.type(0).shape()[1], c.type(1).shape()[0], "channels of X and weight")) return Failure{};
  if (c.results() > 2) return c.error("has {} results, at most 2 exist", c.results());
  c.set(0, c.type(0));
  if (c.results() > 1) {
    Shape state = ranked(c, 0) ? c.type(0).shape() : unknown_shape(3);
    state.back() = ranked(c, 1) ? c.type(1).shape().back() - SymInt(1) : Dim::unknown();
    c.set(1, c.has(3) ? merge(Type::tensor(c.type(0).dtype(), state), c.type(3)) : Type::tensor(c.type(0).dtype(), state));
  }
  return ok();
}

namespace {

bool is_8_bit(DType d) { return d == DType::Int8 || d == DType::UInt8; }

/// A zero point has its tensor's dtype and is one value, or one per channel.
Status zero_point(const InferContext& c, std::size_t i, std::size_t of) {
  if (!c.has(i)) return ok();
  if (!require_same_dtype(c, of, i)) return Failure{};
  return require_rank(c, i, "zero point", 0, 2);
}

}  // namespace

/// (x, w, x_zero?, w_zero?) → int32.
Status conv_integer(InferContext& c) {
  if (!require_dtype(c, 0, "x", is_8_bit, "int8 or uint8") || !require_dtype(c, 1, "w", is_8_bit, "int8 or uint8")) return Failure{};
  if (!zero_point(c, 2, 0) || !zero_point(c, 3, 1)) return Failure{};
  return set_forward(c, {.bias = 99}, DType::Int32);
}

/// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?) → y_zero's dtype.
Status qlinear_conv(InferContext& c) {
  if (!require_dtype(c, 0, "x", is_8_bit, "int8 or uint8") || !require_dtype(c, 3, "w", is_8_bit, "int8 or uint8")) return Failure{};
  if (!zero_point(c, 2, 0) || !zero_point(c, 5, 3)) return Failure{};
  const bool last = c.attrs.int_or("channels_last", 0) != 0;
  return set_forward(c, {.weight = 3, .bias = 8, .channels = last ? Channels::Last : Channels::First},
                     c.has(7) ? c.type(7).dtype() : c.type(0).dtype());
}

/// (X [n, c · block, l], image_shape, block_shape) → [n, c, image…].
Status col2im(InferContext& c) {
  if (!require_rank(c, 0, "X", 3)) return Failure{};
  const auto length = known_length(c, 1);
  if (!length) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  if (!require_length(c, *length, "image_shape")) return Failure{};
  const auto* image = ints(c, 1);
  const auto* block = ints(c, 2);
  Shape shape{ranked(c, 0) ? c.type(0).shape()[0] : Dim::unknown(), Dim::unknown()};
  if (ranked(c, 0) && block) {
    const SymInt size = product(block->data(), block->data() + block->size());
    const Dim& columns = c.type(0).shape()[1];
    if (columns.known() && size.known() && size.value() > 0) {
      if (columns.value() % size.value() != 0) return c.error("{} columns do not divide into blocks of {}", columns.value(), size.value());
      shape[1] = Dim(columns.value() / size.value());
    }
  }
  for (std::int64_t i = 0; i < *length; ++i) {
    const auto d = image ? as_dim(c, (*image)[static_cast<std::size_t>(i)], "image_shape") : Result<Dim>(Dim::unknown());
    if (!d) return Failure{};
    shape.push_back(*d);
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// A bias is one addition per result element; deformable kernels also sample
/// every point they read bilinearly (8 operations).
void conv_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 1);
  const bool deformable = c.node().is(op("nn.deformable_conv2d"));
  if (c.has(deformable ? 3 : 2)) cost.flops += c.result_elements(0);
  if (deformable) cost.flops += 8 * c.elements(2) / 2 * c.dim(0, 1);
}

void conv_nhwc_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 1);
  if (c.has(2)) cost.flops += c.result_elements(0);
}

/// Every input element meets (result channels / groups) × kernel volume weights.
void conv_transpose_cost(const CostContext& c, OpCost& cost) {
  const double in = c.dim(1, 0);
  if (in > 0) cost.macs = c.elements(0) * c.elements(1) / in;
  if (c.has(2)) cost.flops += c.result_elements(0);
}

void qlinear_conv_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 3);
  cost.flops += 2 * c.result_elements(0);  // requantisation
}

}  // namespace perfc::rules
