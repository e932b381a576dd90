/// Convolutions and pools of one to three dims, channels last unless told otherwise.
#include <algorithm>

#include "frontends/common/absorb_pad.h"
#include "frontends/common/adaptive_pool.h"
#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

constexpr OpFamily kConv = family("nn.conv?d"), kConvTransposed = family("nn.conv?d_transpose");
constexpr OpFamily kMaxPool = family("nn.max_pool?d"), kAveragePool = family("nn.avg_pool?d");

/// "DHW", "HW" or "W".
std::string spatial_letters(std::size_t n) { return std::string("DHW").substr(3 - n); }

/// Where the axes of the data stand.
struct Axes {
  std::size_t n = 0, channel = 1;
  std::vector<std::size_t> spatial;
  bool last = true;
};

/// Spatial dims as the class tells: the digit before its "D".
std::size_t dims_of(std::string_view class_name) {
  const std::size_t at = class_name.find_first_of("123");
  return at == class_name.npos ? 2 : static_cast<std::size_t>(class_name[at] - '0');
}

Result<Axes> axes_of(const Call& c, Operand x) {
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  Axes a{.n = dims_of(c.layer.class_name), .last = c.channels_last()};
  if (*rank != static_cast<std::int64_t>(a.n) + 2)
    return c.error(fmt::format("data of rank {} for {} spatial axes", *rank, a.n));
  a.channel = a.last ? a.n + 1 : 1;
  for (std::size_t i = 1; i < a.n + 2; ++i) {
    if (i != a.channel) a.spatial.push_back(i);
  }
  return a;
}

void set_layout(const Axes& a, Attrs& attrs) {
  if (a.last) attrs.set("data_layout", "N" + spatial_letters(a.n) + "C");
}

struct Geometry {
  Ints kernel, strides, dilation;
};

bool sensible(const Geometry& g) {
  const auto within = [](const Ints& v) {
    return std::ranges::all_of(v, [](std::int64_t i) { return i >= 1 && i < (1 << 28); });
  };
  return within(g.kernel) && within(g.strides) && within(g.dilation);
}

/// `padding`: same as numbers where the extents are known (of an odd total the end gets more), valid, causal.
void set_window(const Call& c, const Axes& a, ValueId x, const Geometry& g, Attrs& attrs) {
  const auto any = [](const Ints& v) { return std::ranges::any_of(v, [](std::int64_t i) { return i != 1; }); };
  if (any(g.strides)) attrs.set("strides", g.strides);
  if (any(g.dilation)) attrs.set("dilation", g.dilation);
  const std::string_view rule = c.text_or("padding", "valid");
  Ints pads(2 * a.n, 0);
  if (rule == "causal") {
    pads[0] = (g.kernel[0] - 1) * g.dilation[0];
  } else if (rule == "same") {
    for (std::size_t i = 0; i < a.n; ++i) {
      const Dim extent = c.dim(x, static_cast<std::int64_t>(a.spatial[i]));
      if (!extent.known() || extent.value() > (std::int64_t{1} << 40)) {
        attrs.set("auto_pad", std::string("SAME_UPPER"));
        return;
      }
      const std::int64_t windows = (extent.value() + g.strides[i] - 1) / g.strides[i];
      const std::int64_t total = std::max<std::int64_t>(
          0, (windows - 1) * g.strides[i] + (g.kernel[i] - 1) * g.dilation[i] + 1 - extent.value());
      pads[i] = total / 2;
      pads[a.n + i] = total - total / 2;
    }
  }
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; })) attrs.set("padding", pads);
}

Result<Geometry> geometry(const Call& c, std::size_t n) {
  const auto kernel = c.ints("kernel_size", n, 1), strides = c.ints("strides", n, 1),
             dilation = c.ints("dilation_rate", n, 1);
  if (!kernel || !strides || !dilation) return Failure{};
  Geometry g{*kernel, *strides, *dilation};
  if (!sensible(g)) return c.error("the window's extents make no sense");
  return g;
}

Operand bias_of(const Call& c, std::int64_t channels) {
  return c.flag("use_bias", true) ? c.weight("bias", {channels}) : Operand(ValueId{});
}

/// A forward convolution with a weight (spatial…, in / groups, out).
Operand forward(const Call& c, const Axes& a, ValueId x, const Geometry& g, Operand weight, Operand bias,
                std::int64_t groups) {
  Attrs attrs;
  set_layout(a, attrs);
  attrs.set("kernel_layout", spatial_letters(a.n) + "IO");
  if (groups != 1) attrs.set("groups", groups);
  set_window(c, a, x, g, attrs);
  const ValueId from = absorb_pad(c, x, a.spatial, PadsWith::Zero, attrs);
  return c.emit(kConv.with_dims(a.n), {from, weight, bias}, std::move(attrs));
}

}  // namespace

/// Conv1D to Conv3D: kernel (spatial…, in / groups, filters).
Values convolution(Call& c) {
  const auto x = c.tensor();
  const auto a = axes_of(c, x);
  const auto g = a ? geometry(c, a->n) : Result<Geometry>(Failure{});
  const auto in = g ? c.known_dim(*x, static_cast<std::int64_t>(a->channel)) : Result<std::int64_t>(Failure{});
  if (!in) return Failure{};
  const std::int64_t groups = c.integer_or("groups", 1), filters = c.integer_or("filters", -1);
  if (groups < 1 || *in % groups != 0) return c.error(fmt::format("{} channels in {} groups", *in, groups));
  Ints shape = g->kernel;
  shape.insert(shape.end(), {*in / groups, filters});
  return one(activate(c, forward(c, *a, *x, *g, c.weight("kernel", shape), bias_of(c, filters), groups)));
}

/// DepthwiseConv1D, DepthwiseConv2D: kernel (spatial…, in, multiplier), as many groups as channels.
Values depthwise_convolution(Call& c) {
  const auto x = c.tensor();
  const auto a = axes_of(c, x);
  const auto g = a ? geometry(c, a->n) : Result<Geometry>(Failure{});
  const auto in = g ? c.known_dim(*x, static_cast<std::int64_t>(a->channel)) : Result<std::int64_t>(Failure{});
  if (!in) return Failure{};
  std::int64_t out = 0;
  if (__builtin_mul_overflow(*in, c.integer_or("depth_multiplier", 1), &out)) return c.error("too many channels");
  Ints shape = g->kernel;
  shape.insert(shape.end(), {1, out});
  return one(activate(c, forward(c, *a, *x, *g, c.weight("kernel", shape), bias_of(c, out), *in)));
}

/// By channel, then over channels.
Values separable_convolution(Call& c) {
  const auto x = c.tensor();
  const auto a = axes_of(c, x);
  const auto g = a ? geometry(c, a->n) : Result<Geometry>(Failure{});
  const auto in = g ? c.known_dim(*x, static_cast<std::int64_t>(a->channel)) : Result<std::int64_t>(Failure{});
  if (!in) return Failure{};
  const std::int64_t filters = c.integer_or("filters", -1);
  std::int64_t between = 0;
  if (__builtin_mul_overflow(*in, c.integer_or("depth_multiplier", 1), &between)) return c.error("too many channels");
  Ints deep = g->kernel;
  deep.insert(deep.end(), {1, between});
  Ints wide(a->n, 1);
  wide.insert(wide.end(), {between, filters});
  const auto y = forward(c, *a, *x, *g, c.weight("depthwise_kernel", deep), ValueId{}, *in);
  if (!y) return Failure{};
  Attrs attrs;
  set_layout(*a, attrs);
  attrs.set("kernel_layout", spatial_letters(a->n) + "IO");
  return one(activate(c, c.emit(kConv.with_dims(a->n), {y, c.weight("pointwise_kernel", wide), bias_of(c, filters)},
                                std::move(attrs))));
}

/// Kernel (spatial…, filters, in). The result of padding `same` is stride times the data.
Values transposed_convolution(Call& c) {
  const auto x = c.tensor();
  const auto a = axes_of(c, x);
  const auto g = a ? geometry(c, a->n) : Result<Geometry>(Failure{});
  const auto in = g ? c.known_dim(*x, static_cast<std::int64_t>(a->channel)) : Result<std::int64_t>(Failure{});
  if (!in) return Failure{};
  const std::int64_t filters = c.integer_or("filters", -1);
  const Ints extra = c.list_or("output_padding", {});
  const bool same = c.text_or("padding", "valid") == "same";
  Attrs attrs;
  set_layout(*a, attrs);
  attrs.set("kernel_layout", spatial_letters(a->n) + "OI");
  attrs.set("strides", g->strides);
  if (std::ranges::any_of(g->dilation, [](std::int64_t d) { return d != 1; })) attrs.set("dilation", g->dilation);
  Ints sizes;
  for (std::size_t i = 0; i < a->n; ++i) {
    const Dim d = c.dim(*x, static_cast<std::int64_t>(a->spatial[i]));
    if (!d.known() || d.value() > (std::int64_t{1} << 30)) break;
    // keras/src/backend/common/backend_utils.py, compute_conv_transpose_output_shape.
    const std::int64_t reach = (g->kernel[i] - 1) * g->dilation[i] + 1, s = g->strides[i];
    const std::int64_t more = i < extra.size() ? extra[i] : -1;
    std::int64_t size = same ? d.value() * s : d.value() * s + std::max<std::int64_t>(reach - s, 0);
    if (more >= 0) size = (d.value() - 1) * s + reach - (same ? 2 * (reach / 2) : 0) + more;
    sizes.push_back(size);
  }
  if (sizes.size() == a->n) attrs.set("output_shape", sizes);
  else if (same) attrs.set("auto_pad", std::string("SAME_UPPER"));
  Ints shape = g->kernel;
  shape.insert(shape.end(), {filters, *in});
  return one(activate(c, c.emit(kConvTransposed.with_dims(a->n), {x, c.weight("kernel", shape), bias_of(c, filters)},
                                std::move(attrs))));
}

/// MaxPooling1D to AveragePooling3D; strides are the window where they are left out.
Values pool(Call& c) {
  auto x = c.tensor();
  const auto a = axes_of(c, x);
  const auto kernel = a ? c.ints("pool_size", a->n, 2) : Result<Ints>(Failure{});
  if (!kernel) return Failure{};
  const auto strides = c.given("strides") ? c.ints("strides", a->n, 1) : kernel;
  if (!strides) return Failure{};
  const Geometry g{*kernel, *strides, Ints(a->n, 1)};
  if (!sensible(g)) return c.error("the window's extents make no sense");
  const bool max = c.layer.class_name.starts_with("Max");
  Attrs attrs{{"kernel_size", *kernel}};
  set_layout(*a, attrs);
  set_window(c, *a, *x, g, attrs);
  if (max) x = absorb_pad(c, *x, a->spatial, PadsWith::Least, attrs);
  return one(c.emit((max ? kMaxPool : kAveragePool).with_dims(a->n), {x}, std::move(attrs)));
}

Values global_pool(Call& c) {
  const auto x = c.tensor();
  const auto a = axes_of(c, x);
  if (!a) return Failure{};
  const Ints axes(a->spatial.begin(), a->spatial.end());
  const bool max = c.layer.class_name.find("Max") != std::string_view::npos;
  return one(c.emit(max ? op("max") : op("mean"), {x, c.int_constant(axes)},
                    {{"keepdims", static_cast<std::int64_t>(c.flag("keepdims", false))}}));
}

Values adaptive_pool(Call& c) {
  const auto x = c.tensor();
  const auto a = axes_of(c, x);
  const auto sizes = a ? c.ints("output_size", a->n, 1) : Result<Ints>(Failure{});
  if (!sizes) return Failure{};
  Attrs attrs;
  set_layout(*a, attrs);
  Ints kernel, strides;
  for (std::size_t i = 0; i < a->n; ++i) {
    const auto extent = c.known_dim(*x, static_cast<std::int64_t>(a->spatial[i]));
    if (!extent) return Failure{};
    const auto w = adaptive_window(*extent, (*sizes)[i]);
    if (!w) return c.error(fmt::format("{} windows over an extent of {}", (*sizes)[i], *extent));
    kernel.push_back(w->kernel);
    strides.push_back(w->stride);
  }
  attrs.set("kernel_size", kernel);
  attrs.set("strides", strides);
  const bool max = c.layer.class_name.find("Max") != std::string_view::npos;
  return one(c.emit((max ? kMaxPool : kAveragePool).with_dims(a->n), {x}, std::move(attrs)));
}

}  // namespace perfc::keras
