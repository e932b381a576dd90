/// Rules for convolutions.
///
/// MACs of a convolution: result elements × (input channels / groups) × kernel
/// volume. Padding counts like data, as in TVM's get_total_mac_number and fvcore.
#include <algorithm>

#include "ir/infer_context.h"
#include "ir/layout.h"
#include "ir/ops/carried_state.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Of data and kernels: where the attributes say, or last whatever they say.
enum class Channels { ByAttributes, Last };

/// An operand that the operator does not have.

/// Where a convolution finds its operands, and how they are laid out.
struct ConvForm {
  std::size_t x = 0;
  std::size_t weight = 1;
  std::size_t bias = 2;
  Channels data = Channels::ByAttributes;
  Channels filter = Channels::ByAttributes;  ///< Last: [out, kernel…, in / groups]
  ConvDirection direction = ConvDirection::Forward;
};

/// What the weight and the attributes say together.
struct Geometry {
  std::size_t spatial = 0;
  TensorAxes data, filter;
  std::int64_t groups = 1;
  std::vector<Dim> kernel;
  std::vector<std::int64_t> strides, dilation, padding;
  AutoPad automatic = AutoPad::NotSet;
};

/// Axes with the channels last and what is outermost first.
TensorAxes channels_last(std::size_t rank) {
  TensorAxes axes{0, rank - 1, {}};
  for (std::size_t i = 1; i + 1 < rank; ++i) axes.spatial.push_back(i);
  return axes;
}

Result<TensorAxes> axes_of_data(const InferContext& c, Channels channels, std::size_t rank) {
  if (channels == Channels::Last) return channels_last(rank);
  const auto axes = data_axes(c.attrs, rank);
  if (!axes) return c.error("data_layout '{}' does not fit {} axes", c.attrs.string_or("data_layout", ""), rank);
  return *axes;
}

Result<TensorAxes> axes_of_filter(const InferContext& c, const ConvForm& f, std::size_t rank) {
  if (f.filter == Channels::Last) return channels_last(rank);
  const auto axes = kernel_axes(c.attrs, rank, f.direction);
  if (!axes) return c.error("kernel_layout '{}' does not fit {} axes", c.attrs.string_or("kernel_layout", ""), rank);
  return *axes;
}

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
  const auto data = axes_of_data(c, f.data, g.spatial + 2);
  const auto filter = axes_of_filter(c, f, g.spatial + 2);
  if (!data || !filter) return Failure{};
  g.data = *data;
  g.filter = *filter;
  g.kernel.assign(g.spatial, Dim::unknown());
  if (!kernel.empty() && kernel.size() != g.spatial) {
    return c.error("kernel_shape has {} entries for {} spatial axes", kernel.size(), g.spatial);
  }
  for (std::size_t i = 0; i < g.spatial; ++i) {
    if (!kernel.empty()) g.kernel[i] = Dim(kernel[i]);
    if (!ranked(c, f.weight)) continue;
    const auto same =
        same_dim(c, g.kernel[i], c.type(f.weight).shape()[g.filter.spatial[i]], "kernel_shape and weight");
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

/// Type of a forward convolution.
Result<Type> forward(const InferContext& c, const ConvForm& f, DType dtype) {
  const auto g = geometry(c, f);
  if (!g) return Failure{};
  const bool have_x = ranked(c, f.x);
  const bool have_w = ranked(c, f.weight);
  Shape shape = have_x ? c.type(f.x).shape() : unknown_shape(g->spatial + 2);
  const std::size_t channel_axis = g->data.channel;
  if (have_w) {
    const Shape& w = c.type(f.weight).shape();
    const Dim& per_group = w[g->filter.channel];
    const Dim& out = w[g->filter.outer];
    const Dim& in = shape[channel_axis];
    if (have_x && in.known() && per_group.known() && !(per_group * SymInt(g->groups)).is(in.value())) {
      return c.error("weight expects {} channels ({} in each of {} groups), operand has {}",
                     to_string(per_group * SymInt(g->groups)), per_group.value(), g->groups, in.value());
    }
    if (out.known() && out.value() % g->groups != 0) {
      return c.error("{} result channels do not divide into {} groups", out.value(), g->groups);
    }
  }
  const Dim out = have_w ? c.type(f.weight).shape()[g->filter.outer] : Dim::unknown();
  if (c.has(f.bias)) {
    if (!require_rank(c, f.bias, "bias", 1)) return Failure{};
    if (ranked(c, f.bias) && !same_dim(c, c.type(f.bias).shape()[0], out, "bias and result channels")) return Failure{};
  }
  shape[channel_axis] = out;
  for (std::size_t i = 0; i < g->spatial; ++i) {
    Dim& d = shape[g->data.spatial[i]];
    const auto extent = window_extent(c, d,
                                      {.kernel = g->kernel[i],
                                       .stride = g->strides[i],
                                       .dilation = g->dilation[i],
                                       .pad_begin = g->padding[i],
                                       .pad_end = g->padding[g->spatial + i],
                                       .auto_pad = g->automatic});
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

/// MACs of a forward convolution: a weight holds, for every result channel, what
/// one result element is made of.
void forward_macs(const CostContext& c, OpCost& cost, std::size_t weight) {
  const Type& w = c.type(weight);
  const auto axes = w.ranked() ? kernel_axes(c.attrs(), w.rank(), ConvDirection::Forward) : std::nullopt;
  const double out = axes ? c.dim(weight, static_cast<int>(axes->outer)) : 0;
  if (w.is_static() && out > 0) cost.macs = c.result_elements(0) * c.elements(weight) / out;
}

/// Bias, added tensor and activation of a fused kernel: one operation per
/// result element each.
void epilogue_flops(const CostContext& c, OpCost& cost, std::size_t bias, std::size_t sum = kNoOperand) {
  const double n = c.result_elements(0);
  cost.flops = (c.has(bias) ? n : 0) + (c.has(sum) ? n : 0);
  const std::string_view activation = c.attrs().string_or("activation", "");
  if (!activation.empty() && activation != "none") cost.flops += n;
}

/// Weights of channels-last convolutions come in either layout, by which pass of
/// onnxruntime moved the channels. The one whose input channels fit counts, then
/// the one whose kernel fits, then [out, kernel…, in / groups].
Channels filter_layout(const InferContext& c) {
  if (!ranked(c, 0) || !ranked(c, 1)) return Channels::Last;
  const Shape& x = c.type(0).shape();
  const Shape& w = c.type(1).shape();
  if (w.size() < 3 || w.size() != x.size()) return Channels::Last;
  const SymInt groups = c.attrs.int_or("groups", 1);
  const std::vector<std::int64_t> kernel = c.attrs.ints_or_empty("kernel_size");
  const auto fits = [&](Channels layout) {
    const bool last = layout == Channels::Last;
    const SymInt in = (last ? w.back() : w[1]) * groups;
    if (in.known() && x.back().known() && in != x.back()) return false;
    for (std::size_t i = 0; i < kernel.size() && i + 2 < w.size(); ++i) {
      const Dim& k = w[i + (last ? 1 : 2)];
      if (k.known() && !k.is(kernel[i])) return false;
    }
    return true;
  };
  return !fits(Channels::Last) && fits(Channels::ByAttributes) ? Channels::ByAttributes : Channels::Last;
}

}  // namespace

/// (X [n, in, spatial…], W [out, in / groups, kernel…], bias?, sum?).
Status conv(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  return set_forward(c, {}, c.type(0).dtype());
}

/// The same with channels last: X [n, spatial…, in].
Status conv_nhwc(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  return set_forward(c, {.data = Channels::Last, .filter = filter_layout(c)}, c.type(0).dtype());
}

/// (X, W [in, out / groups, kernel…] or as kernel_layout says, bias?). Extents by
/// ONNX ConvTranspose.
Status conv_transpose(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  const auto g = geometry(c, {.direction = ConvDirection::Transposed});
  if (!g) return Failure{};
  Shape shape = ranked(c, 0) ? c.type(0).shape() : unknown_shape(g->spatial + 2);
  Dim out;
  if (ranked(c, 1)) {
    const Shape& w = c.type(1).shape();
    const Dim& in = w[g->filter.channel];
    if (!same_dim(c, shape[g->data.channel], in, "channels of X and weight")) return Failure{};
    if (in.known() && in.value() % g->groups != 0) {
      return c.error("{} channels do not divide into {} groups", in.value(), g->groups);
    }
    out = w[g->filter.outer] * SymInt(g->groups);
  }
  if (c.has(2)) {
    if (!require_rank(c, 2, "bias", 1)) return Failure{};
    if (ranked(c, 2) && !same_dim(c, c.type(2).shape()[0], out, "bias and result channels")) return Failure{};
  }
  shape[g->data.channel] = out;
  std::vector<std::int64_t> wanted = c.attrs.ints_or_empty("output_shape");
  // output_shape decides alone; some files carry a meaningless output_padding beside it.
  const auto extra = wanted.empty() ? int_list(c, "output_padding", g->spatial, 0, 0)
                                    : Result<std::vector<std::int64_t>>(std::vector<std::int64_t>{});
  if (!extra) return Failure{};
  // Some exporters give the whole shape, most the spatial part.
  if (wanted.size() == g->spatial + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != g->spatial) {
    return c.error("output_shape has {} entries for {} spatial axes", wanted.size(), g->spatial);
  }
  for (std::size_t i = 0; i < g->spatial; ++i) {
    Dim& d = shape[g->data.spatial[i]];
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
    const SymInt pads =
        g->automatic == AutoPad::Valid ? SymInt(0) : SymInt(g->padding[i]) + SymInt(g->padding[g->spatial + i]);
    d = (d - SymInt(1)) * SymInt(g->strides[i]) + SymInt((*extra)[i]) + reach - pads;
    if (d.known() && d.value() < 0)
      return c.error("padding {} removes more than there is on axis {}", to_string(pads), g->data.spatial[i]);
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// (X, W, offset [n, offset groups · points · 2, out…], bias?, mask [n, offset
/// groups · points, out…]?): every kernel point is displaced and weighted.
Status deform_conv(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  auto type = forward(c, {.bias = 3}, c.type(0).dtype());
  if (!type) return Failure{};
  const std::int64_t offset_groups = c.attrs.int_or("offset_group", 1);
  if (offset_groups < 1) return c.error("offset_group must be positive, is {}", offset_groups);
  const Dim in = dim_of(c, 0, 1);
  if (in.known() && in.value() % offset_groups != 0) {
    return c.error("{} channels do not divide into {} offset groups", in.value(), offset_groups);
  }
  const auto spatial = static_cast<std::int64_t>(type->rank()) - 2;
  SymInt points = offset_groups;
  for (int i = 0; i < spatial; ++i) points = points * dim_of(c, 1, i + 2);
  Shape expected = type->shape();
  expected[1] = points * SymInt(spatial);
  if (!require_same_dtype(c, 0, 2) || !require_dims(c, 2, "offset", expected)) return Failure{};
  expected[1] = points;
  if (c.has(4) && (!require_same_dtype(c, 0, 4) || !require_dims(c, 4, "mask", expected))) return Failure{};
  c.set(0, std::move(*type));
  return ok();
}

namespace {

/// Where a causal convolution's data and state have their channels and tokens: (B, channels, …, tokens), or with
/// `channels_last` (B, tokens, channels, …), or (tokens, channels) of sequences one behind the other.
struct CausalLayout {
  bool packed = false, channels_last = false;
  Dim channels;
};

Result<CausalLayout> causal_layout(const InferContext& c) {
  CausalLayout out;
  const Shape& x = c.type(0).shape();
  out.packed = x.size() == 2;
  out.channels_last = out.packed || c.attrs.int_or("channels_last", 0) == 1;
  out.channels = x[1];
  if (out.channels_last && !out.packed) {
    out.channels = x[2];
    for (std::size_t d = 3; d < x.size(); ++d) out.channels = out.channels * x[d];
  }
  const std::int64_t part = c.attrs.int_or("input_channels", 0), from = c.attrs.int_or("input_channel_offset", 0);
  if (part == 0 && from == 0) return out;
  if (!out.channels_last || out.packed || x.size() != 3) return c.error("input_channels needs channels last, 3 dims");
  const bool inside = part >= 1 && from >= 0 && from <= INT32_MAX && part <= INT32_MAX;
  if (!inside || (out.channels.known() && from + part > out.channels.value()))
    return c.error("channels {} to {} are not in X, which has {}", from, from + part, to_string(out.channels));
  out.channels = Dim(part);
  return out;
}

/// Tokens that a causal convolution looks back.
Result<Dim> causal_reach(const InferContext& c) {
  const std::int64_t dilation = c.attrs.int_or("dilation", 1), length = c.attrs.int_or("state_length", 0);
  if (dilation < 1 || dilation > INT32_MAX) return c.error("dilation is {}, out of range", dilation);
  if (length < 0 || length > INT32_MAX) return c.error("state_length is {}, out of range", length);
  if (length > 0) return Dim(length);
  const Dim window = dim_of(c, 1, -1);
  if (window.is(0)) return c.error("weight has no elements");
  return (window - Dim(1)) * Dim(dilation);
}

/// The last tokens, which the next call continues from; with `state_window` those of each of the last steps.
Result<Shape> causal_state(const InferContext& c, const CausalLayout& of) {
  const auto reach = causal_reach(c);
  if (!reach) return Failure{};
  Shape state = c.type(0).shape();
  const std::int64_t state_last = c.attrs.int_or("state_channels_last", -1);
  if (of.packed) {
    state = {c.has(3) && ranked(c, 3) ? c.type(3).shape()[0] : Dim::unknown(), of.channels, *reach};
  } else if (state.size() == 3 && state_last >= 0) {
    state = state_last == 1 ? Shape{state[0], *reach, of.channels} : Shape{state[0], of.channels, *reach};
  } else if (of.channels_last) {
    state[1] = *reach;
    if (state.size() == 3) state[2] = of.channels;
  } else {
    state.back() = *reach;
  }
  return windowed_state(c, std::move(state));
}

}  // namespace

/// Causal depthwise convolution of state-space models: (X, W [channels, 1, …, k], bias?, past_state?) → Y, the present
/// state, and with `state_update_capacity` the tokens of X that began this call. Along the tokens alone it looks back.
Status causal_conv(InferContext& c) {
  if (!require_rank(c, 0, "X", 2, kAnyRank) || !require_rank(c, 1, "weight", 2, kAnyRank)) return Failure{};
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  if (c.results() > 3) return c.error("has {} results, at most 3 exist", c.results());
  const std::string_view activation = c.attrs.string_or("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return c.error("unknown activation '{}'", activation);
  const DType dtype = c.type(0).dtype();
  if (!ranked(c, 0)) {
    for (std::size_t r = 0; r < c.results(); ++r) c.set(r, Type::unranked(dtype));
    return ok();
  }
  const auto layout = causal_layout(c);
  if (!layout) return Failure{};
  const auto channels = same_dim(c, layout->channels, dim_of(c, 1, 0), "channels of X and weight");
  if (!channels || !require_dims(c, 2, "bias", {*channels})) return Failure{};
  const auto state = causal_state(c, *layout);
  if (!state || !require_dims(c, 3, "past_state", *state)) return Failure{};
  Shape y = c.type(0).shape();
  if (c.attrs.int_or("input_channels", 0) > 0) y.back() = *channels;
  c.set(0, Type::tensor(dtype, std::move(y)));
  if (c.results() > 1) c.set(1, Type::tensor(dtype, *state));
  if (c.results() < 3) return ok();
  const auto captured = captured_tokens(c);
  if (!captured) return Failure{};
  c.set(2, Type::tensor(dtype, {layout->packed ? state->front() : dim_of(c, 0, 0), *captured, *channels}));
  return ok();
}

namespace {

/// A zero point has its tensor's dtype and is one value, or one per channel.
Status zero_point_of_channels(const InferContext& c, std::size_t i, std::size_t of) {
  if (!c.has(i)) return ok();
  if (!require_same_dtype(c, of, i)) return Failure{};
  return require_rank(c, i, "zero point", 0, 1);
}

/// A scale is one value, or one per channel.
Status scale(const InferContext& c, std::size_t i, std::string_view role) {
  if (!require_dtype(c, i, role, is_float, "floating point")) return Failure{};
  return require_rank(c, i, role, 0, 1);
}

}  // namespace

/// (x, w, x_zero?, w_zero?) → int32.
Status conv_integer(InferContext& c) {
  if (!require_dtype(c, 0, "x", is_8_bit, "int8 or uint8") || !require_dtype(c, 1, "w", is_8_bit, "int8 or uint8"))
    return Failure{};
  if (!zero_point_of_channels(c, 2, 0) || !zero_point_of_channels(c, 3, 1)) return Failure{};
  return set_forward(c, {.bias = kNoOperand}, DType::Int32);
}

/// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?) → y_zero's
/// dtype. com.microsoft's channels_last moves the channels of x and y, not of w.
Status qlinear_conv(InferContext& c) {
  if (!require_dtype(c, 0, "x", is_8_bit, "int8 or uint8") || !require_dtype(c, 3, "w", is_8_bit, "int8 or uint8"))
    return Failure{};
  if (!zero_point_of_channels(c, 2, 0) || !zero_point_of_channels(c, 5, 3)) return Failure{};
  if (!scale(c, 1, "x_scale") || !scale(c, 4, "w_scale") || !scale(c, 6, "y_scale")) return Failure{};
  if (c.has(7) && !require_dtype(c, 7, "y_zero_point", is_8_bit, "int8 or uint8")) return Failure{};
  if (c.has(8) && !require_dtype(
                      c, 8, "bias", [](DType d) { return d == DType::Int32; }, "int32"))
    return Failure{};
  return set_forward(c, {.weight = 3, .bias = 8}, c.has(7) ? c.type(7).dtype() : c.type(0).dtype());
}

/// (X [n, c · block, l], image_shape, block_shape) → [n, c, image…]; l is the
/// number of places a block has in the padded image.
Status col2im(InferContext& c) {
  if (!require_rank(c, 0, "X", 3)) return Failure{};
  const auto length = known_length(c, 1);
  if (!length) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  if (!require_length(c, *length, "image_shape")) return Failure{};
  const auto spatial = static_cast<std::size_t>(*length);
  const auto blocks = known_length(c, 2);
  if (blocks && *blocks != *length) return c.error("block_shape has {} entries, image_shape {}", *blocks, *length);
  const auto strides = int_list(c, "strides", spatial, 1, 1);
  const auto dilation = int_list(c, "dilation", spatial, 1, 1);
  const auto padding = int_list(c, "padding", 2 * spatial, 0, 0);
  if (!strides || !dilation || !padding) return Failure{};
  const auto* image = ints(c, 1);
  const auto* block = ints(c, 2);
  Shape shape{dim_of(c, 0, 0), Dim::unknown()};
  SymInt size = 1, places = 1;
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto d = as_dim(c, image ? (*image)[i] : SymInt::unknown(), "image_shape");
    if (!d) return Failure{};
    shape.push_back(*d);
    const SymInt k = block ? (*block)[i] : SymInt::unknown();
    const auto here = window_extent(c, *d,
                                    {.kernel = k,
                                     .stride = (*strides)[i],
                                     .dilation = (*dilation)[i],
                                     .pad_begin = (*padding)[i],
                                     .pad_end = (*padding)[spatial + i]});
    if (!here) return Failure{};
    size = size * k;
    places = places * *here;
  }
  if (!same_dim(c, dim_of(c, 0, 2), places, "columns of X and places of the block")) return Failure{};
  const Dim rows = dim_of(c, 0, 1);
  if (rows.known() && size.known()) {
    if (rows.value() % size.value() != 0)
      return c.error("{} rows do not divide into blocks of {}", rows.value(), size.value());
    shape[1] = Dim(rows.value() / size.value());
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

void conv_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 1);
  epilogue_flops(c, cost, 2, c.node().is(op("nn.fused_conv")) ? 3 : kNoOperand);
}

void conv_nhwc_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 1);
  epilogue_flops(c, cost, 2, 3);
}

/// Every input element meets (result channels / groups) × kernel volume weights.
void conv_transpose_cost(const CostContext& c, OpCost& cost) {
  const Type& w = c.type(1);
  const auto axes = w.ranked() ? kernel_axes(c.attrs(), w.rank(), ConvDirection::Transposed) : std::nullopt;
  const double in = axes ? c.dim(1, static_cast<int>(axes->channel)) : 0;
  if (in > 0) cost.macs = c.elements(0) * c.elements(1) / in;
  epilogue_flops(c, cost, 2);
}

/// Every channel of an offset group is sampled bilinearly at every kernel point:
/// 4 taps, 8 operations, and one for the mask.
void deform_conv_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 1);
  epilogue_flops(c, cost, 3);
  const auto offset_groups = static_cast<double>(c.attrs().int_or("offset_group", 1));
  const double samples = c.elements(2) / 2 * c.dim(0, 1) / offset_groups;
  cost.flops += samples * (c.has(4) ? 9 : 8);
}

void conv_integer_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 1);
  cost.flops = 0;
}

void qlinear_conv_cost(const CostContext& c, OpCost& cost) {
  forward_macs(c, cost, 3);
  cost.flops = 2 * c.result_elements(0);  // requantisation
}

}  // namespace perfc::rules
