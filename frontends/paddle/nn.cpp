/// Convolutions, pools, normalisation, softmax.
#include <algorithm>

#include "frontends/common/adaptive_pool.h"
#include "frontends/paddle/table.h"
#include "ir/eager_marks.h"

namespace perfc::paddle {
namespace {

/// Where data has its axes. Kernels are (out, in, spatial…) whatever the data's layout.
struct Layout {
  std::string name;  ///< "NHWC"; empty: channels stand second
  std::size_t channel = 1, first_spatial = 2;
};

Layout layout_of(const Call& c, std::int64_t rank) {
  const std::string_view format = c.text_or("data_format|data_layout", "NCHW");
  if (!format.ends_with('C') || rank < 3) return {};
  static constexpr std::string_view kLast[] = {"NWC", "NHWC", "NDHWC"};
  return {std::string(kLast[std::min<std::int64_t>(rank - 3, 2)]), static_cast<std::size_t>(rank - 1), 1};
}

Result<Ints> per_axis(const Call& c, std::string_view name, std::size_t n, std::int64_t fallback) {
  auto v = c.ints_or(name, Ints(n, fallback));
  if (!v) return Failure{};
  if (v->empty()) return Ints(n, fallback);
  if (v->size() == 1 && n > 1) return Ints(n, v->front());
  if (v->size() != n) return c.error(fmt::format("'{}' has {} entries for {} spatial axes", name, v->size(), n));
  return v;
}

/// Geometry of a sliding window as the IR's attributes. Paddings come as one
/// number per axis, as (begin, end) pairs, or as a rule.
Result<Attrs> window(const Call& c, ValueId x, const Layout& layout, const Ints& kernel) {
  const std::size_t n = kernel.size();
  const auto strides = per_axis(c, "strides", n, 1);
  auto dilation = per_axis(c, "dilations", n, 1);
  const auto given = c.ints_or("paddings|padding", Ints(n, 0));
  if (!strides || !dilation || !given) return Failure{};
  Ints pads(2 * n, 0);
  const std::string_view rule = c.text_or("padding_algorithm", "EXPLICIT");
  if (rule == "SAME") {
    // Output: extent / stride rounded up; of an odd total the end gets more. Dilation is not applied.
    dilation = Ints(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const auto extent = c.known_dim(x, static_cast<std::int64_t>(layout.first_spatial + i));
      if (!extent) return Failure{};
      if ((*strides)[i] < 1 || kernel[i] < 1 || kernel[i] > (1 << 30) || (*strides)[i] > (1 << 30) ||
          *extent > (std::int64_t{1} << 40)) {
        return c.error("the window's extents make no sense");
      }
      const std::int64_t windows = (*extent + (*strides)[i] - 1) / (*strides)[i];
      const std::int64_t total = std::max<std::int64_t>(0, (windows - 1) * (*strides)[i] + kernel[i] - *extent);
      pads[i] = total / 2;
      pads[n + i] = total - total / 2;
    }
  } else if (rule != "VALID") {
    if (given->size() == 2 * n) {
      for (std::size_t i = 0; i < n; ++i) {
        pads[i] = (*given)[2 * i];
        pads[n + i] = (*given)[2 * i + 1];
      }
    } else if (given->size() == n || given->size() == 1) {
      for (std::size_t i = 0; i < n; ++i) pads[i] = pads[n + i] = (*given)[given->size() == 1 ? 0 : i];
    } else {
      return c.error(fmt::format("'paddings' has {} entries for {} spatial axes", given->size(), n));
    }
  }
  Attrs attrs{{"padding", std::move(pads)}, {"strides", *strides}};
  if (std::any_of(dilation->begin(), dilation->end(), [](std::int64_t d) { return d != 1; }))
    attrs.set("dilation", *dilation);
  if (!layout.name.empty()) attrs.set("data_layout", layout.name);
  return attrs;
}

constexpr OpFamily kMaxPools = family("nn.max_pool?d"), kAveragePools = family("nn.avg_pool?d");

struct Filter {
  ValueId id;
  Ints kernel;
};
Result<Filter> filter_of(Call& c) {
  const auto w = c.tensor("Filter");
  const auto rank = c.rank(w);
  if (!rank) return Failure{};
  if (*rank < 3 || *rank > 5) return c.error(fmt::format("a filter of rank {}", *rank));
  Filter f{*w, {}};
  for (std::int64_t i = 2; i < *rank; ++i) {
    const auto extent = c.known_dim(*w, i);
    if (!extent) return Failure{};
    f.kernel.push_back(*extent);
  }
  return f;
}

/// Adaptive pools that give more than they read repeat elements.
Operand repeated(Call& c, ValueId x, const Ints& sizes, const Layout& layout) {
  Ints axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) axes.push_back(static_cast<std::int64_t>(layout.first_spatial + i));
  return c.emit(op("image.resize2d"), {x, ValueId{}, ValueId{}, c.int_constant(sizes)},
                {{"axes", axes}, {"mode", "nearest"}});
}

/// Pools whose kernel is as wide as the data, or told by the size of the result.
Operand adaptive(Call& c, ValueId x, const Ints& sizes, const Layout& layout, bool max) {
  if (std::all_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s == 1; })) {
    Attrs attrs;
    if (!layout.name.empty()) attrs.set("data_layout", layout.name);
    return c.emit(max ? op("nn.adaptive_max_pool2d") : op("nn.adaptive_avg_pool2d"), {x}, std::move(attrs));
  }
  Ints kernel, strides;
  bool uneven = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto extent = c.known_dim(x, static_cast<std::int64_t>(layout.first_spatial + i));
    if (!extent) return Failure{};
    if (sizes[i] > *extent) return repeated(c, x, sizes, layout);
    const auto w = adaptive_window(*extent, sizes[i] == -1 ? *extent : sizes[i]);
    if (!w) return c.error(fmt::format("{} windows over an extent of {}", sizes[i], *extent));
    kernel.push_back(w->kernel);
    strides.push_back(w->stride);
    uneven = uneven || w->uneven;
  }
  Attrs attrs{{"kernel_size", kernel}, {"strides", strides}};
  if (uneven) attrs = with_mark(std::move(attrs), kUneven);
  if (!layout.name.empty()) attrs.set("data_layout", layout.name);
  return c.emit((max ? kMaxPools : kAveragePools).with_dims(sizes.size()), {x}, std::move(attrs));
}

}  // namespace

Operand fused_activation(Call& c, Operand x, std::string_view name) {
  if (name.empty() || name == "identity") return x;
  if (name == "relu") return c.emit(op("nn.relu"), {x});
  if (name == "relu6") return x ? c.emit(op("clip"), {x, c.number(0, c.dtype(*x)), c.number(6, c.dtype(*x))}) : x;
  if (name == "sigmoid") return c.emit(op("sigmoid"), {x});
  if (name == "tanh") return c.emit(op("tanh"), {x});
  if (name == "gelu") return c.emit(op("nn.gelu"), {x});
  if (name == "leaky_relu") return c.emit(op("nn.leaky_relu"), {x}, {{"alpha", c.real_or("fuse_alpha|alpha", 0.02)}});
  if (name == "hard_swish") return c.emit(op("nn.hard_swish"), {x});
  if (name == "hard_sigmoid") return c.emit(op("nn.hard_sigmoid"), {x}, {{"alpha", 0.2}, {"beta", 0.5}});
  if (name == "swish" || name == "silu") return c.emit(op("nn.silu"), {x});
  if (name == "mish") return c.emit(op("nn.mish"), {x});
  return c.error(fmt::format("fused activation '{}' is not known", name));
}

/// (Input, Filter, Bias?, ResidualData?), fused forms with an activation.
Values convolution(Call& c) {
  const auto x = c.tensor("Input");
  const auto f = filter_of(c);
  if (!x || !f) return Failure{};
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank != static_cast<std::int64_t>(f->kernel.size()) + 2)
    return c.error(fmt::format("data of rank {} for a filter of rank {}", *rank, f->kernel.size() + 2));
  const Layout layout = layout_of(c, *rank);
  auto attrs = window(c, *x, layout, f->kernel);
  if (!attrs) return Failure{};
  attrs->set("groups", c.integer_or("groups", 1));
  if (!layout.name.empty())
    attrs->set("kernel_layout", std::string(f->kernel.size() == 1 ? "OIW" : f->kernel.size() == 2 ? "OIHW" : "OIDHW"));
  const auto bias = c.tensor_or_none("Bias|bias"), sum = c.tensor_or_none("ResidualData|residual");
  if (!bias || !sum) return Failure{};
  auto y = c.emit(family("nn.conv?d").with_dims(f->kernel.size()), {x, f->id, bias}, *std::move(attrs));
  if (*sum) y = c.emit(op("add"), {y, sum});
  return one(fused_activation(c, y, c.text_or("fuse_activation|activation", "")));
}

/// (Input, Filter (in, out / groups, …), Bias?).
Values transposed_convolution(Call& c) {
  const auto x = c.tensor("Input");
  const auto f = filter_of(c);
  if (!x || !f) return Failure{};
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const std::size_t n = f->kernel.size();
  if (*rank != static_cast<std::int64_t>(n) + 2)
    return c.error(fmt::format("data of rank {} for a filter of rank {}", *rank, n + 2));
  const Layout layout = layout_of(c, *rank);
  auto attrs = window(c, *x, layout, f->kernel);
  if (!attrs) return Failure{};
  attrs->set("groups", c.integer_or("groups", 1));
  if (!layout.name.empty()) attrs->set("kernel_layout", std::string(n == 1 ? "IOW" : n == 2 ? "IOHW" : "IODHW"));
  auto sizes = c.ints_or("output_size|OutputSizeTensor", {});
  const auto extra = per_axis(c, "output_padding", n, 0);
  const auto bias = c.tensor_or_none("Bias|bias");
  if (!sizes || !extra || !bias) return Failure{};
  if (sizes->size() == n) attrs->set("output_shape", *sizes);
  else if (std::any_of(extra->begin(), extra->end(), [](std::int64_t e) { return e != 0; }))
    attrs->set("output_padding", *extra);
  return one(c.emit(family("nn.conv?d_transpose").with_dims(n), {x, f->id, bias}, *std::move(attrs)));
}

/// (Input, Offset, Filter, Mask?).
Values deformable_convolution(Call& c) {
  const auto x = c.tensor("Input"), offset = c.tensor("Offset"), mask = c.tensor_or_none("Mask");
  const auto f = filter_of(c);
  if (!x || !offset || !mask || !f) return Failure{};
  auto attrs = window(c, *x, {}, f->kernel);
  if (!attrs) return Failure{};
  attrs->set("groups", c.integer_or("groups", 1));
  attrs->set("offset_group", c.integer_or("deformable_groups", 1));
  return one(c.emit(op("nn.deformable_conv2d"), {x, f->id, offset, ValueId{}, mask}, *std::move(attrs)));
}

/// pool2d, pool3d, max_pool2d_with_index, …: adaptive and global forms by attribute.
Values pool(Call& c) {
  const auto x = c.tensor("X|x");
  const auto rank = c.rank(x);
  const auto kernel = c.ints("kernel_size|ksize");
  if (!rank || !kernel) return Failure{};
  if (*rank < 3 || *rank > 5) return c.error(fmt::format("data of rank {}", *rank));
  const auto n = static_cast<std::size_t>(*rank) - 2;
  const Layout layout = layout_of(c, *rank);
  const bool with_index = c.row->outputs.find("Mask") != std::string_view::npos;
  const bool max = with_index || c.text_or("pooling_type", "max") == "max";
  if (c.flag("global_pooling")) return one(adaptive(c, *x, Ints(n, 1), layout, max));
  Ints sizes = *kernel;
  if (sizes.size() == 1) sizes.assign(n, sizes.front());
  if (sizes.size() != n) return c.error(fmt::format("'ksize' has {} entries for {} spatial axes", sizes.size(), n));
  if (c.flag("adaptive")) return one(adaptive(c, *x, sizes, layout, max));
  auto attrs = window(c, *x, layout, sizes);
  if (!attrs) return Failure{};
  attrs->set("kernel_size", sizes);
  if (c.flag("ceil_mode")) attrs->set("ceil_mode", std::int64_t{1});
  if (!max && !c.flag("exclusive", true)) attrs->set("count_include_pad", std::int64_t{1});
  const double p = c.real_or("norm_type", 0);
  if (p > 0) {
    attrs->set("p", static_cast<std::int64_t>(p));
    return one(c.emit(op("nn.lp_pool"), {x}, *std::move(attrs)));
  }
  return c.emit_all((max ? kMaxPools : kAveragePools).with_dims(n), {x}, *std::move(attrs), with_index ? 2 : 1);
}

Values max_unpool(Call& c) {
  const auto x = c.tensor("X"), indices = c.tensor("Indices");
  const auto rank = c.rank(x);
  if (!rank || !indices) return Failure{};
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(*rank - 2, 1));
  const auto sizes = c.ints("output_size");
  auto places = c.cast(indices, DType::Int64);
  if (!sizes) return Failure{};
  if (sizes->size() != n)
    return c.error(fmt::format("'output_size' has {} entries for {} spatial axes", sizes->size(), n));
  auto shape = c.join({c.shape_of(x, 0, 2), c.int_constant(*sizes)}, 0);
  return one(c.emit(op("nn.max_unpool"), {x, places, shape}));
}

/// (X, Scale, Bias, Mean, Variance); fused forms add Z and an activation.
Values batch_norm(Call& c) {
  const auto x = c.tensor("X"), mean = c.tensor("Mean"), variance = c.tensor("Variance");
  const auto rank = c.rank(x);
  const auto scale = c.tensor_or_none("Scale"), bias = c.tensor_or_none("Bias"), sum = c.tensor_or_none("Z");
  if (!rank || !mean || !variance || !scale || !bias || !sum) return Failure{};
  const Layout layout = layout_of(c, *rank);
  const std::size_t channel = *rank == 2 ? 1 : layout.channel;
  const Dim n = c.dim(*x, static_cast<std::int64_t>(channel));
  const ValueId s = *scale ? *scale : c.uniform(1, n, c.dtype(*mean)),
                b = *bias ? *bias : c.uniform(0, n, c.dtype(*mean));
  Attrs attrs{{"epsilon", c.real_or("epsilon", 1e-5)}};
  if (channel != 1) attrs.set("axis", static_cast<std::int64_t>(channel));
  const bool training = !c.flag("is_test") && !c.flag("use_global_stats");
  if (training) attrs.set("training_mode", std::int64_t{1});
  auto y = c.emit(op("nn.batch_norm"), {x, s, b, mean, variance}, std::move(attrs));
  if (*sum) y = c.emit(op("add"), {y, sum});
  return one(fused_activation(c, y, c.text_or("act_type", "")));
}

/// Scale and shift are vectors of the normalised dims' size.
Values layer_norm(Call& c) {
  auto x = c.tensor("X"), scale = c.tensor_or_none("Scale"), bias = c.tensor_or_none("Bias");
  const auto rank = c.rank(x);
  if (!rank || !scale || !bias) return Failure{};
  const auto first = c.axis(c.integer_or("begin_norm_axis", 1), *rank);
  if (!first) return Failure{};
  const auto fit = [&](Operand v, double otherwise) -> Operand {
    if (!*v) return otherwise == 0 ? v : Operand(c.uniform(otherwise, c.dim(*x, *rank - 1), c.dtype(*x)));
    if (*first == *rank - 1) return v;
    Ints shape;
    for (std::int64_t i = *first; i < *rank; ++i) {
      const auto extent = c.known_dim(*x, i);
      if (!extent) return Failure{};
      shape.push_back(*extent);
    }
    return c.reshape(v, shape);
  };
  return one(c.emit(op("nn.layer_norm"), {x, fit(scale, 1), fit(bias, 0)},
                    {{"axis", *first - *rank}, {"epsilon", c.real_or("epsilon", 1e-5)}}));
}

/// (x, bias?, residual?, norm_weight, norm_bias?): sums first.
Values rms_norm(Call& c) {
  auto x = c.tensor("x");
  const auto bias = c.tensor_or_none("bias"), residual = c.tensor_or_none("residual"),
             scale = c.tensor("norm_weight|scale"), shift = c.tensor_or_none("norm_bias");
  if (!bias || !residual || !shift) return Failure{};
  if (*bias) x = c.emit(op("add"), {x, bias});
  if (*residual) x = c.emit(op("add"), {x, residual});
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto first = c.axis(c.integer_or("begin_norm_axis", -1), *rank);
  if (!first) return Failure{};
  auto y = c.emit(op("nn.rms_norm"), {x, scale}, {{"axis", *first - *rank}, {"epsilon", c.real_or("epsilon", 1e-6)}});
  if (*shift) y = c.emit(op("add"), {y, shift});
  if (!y || !*residual) return one(y);
  return std::vector<ValueId>{*y, *x};
}

Values group_norm(Call& c) {
  const auto x = c.tensor("X"), scale = c.tensor_or_none("Scale"), bias = c.tensor_or_none("Bias");
  const auto rank = c.rank(x);
  if (!rank || !scale || !bias) return Failure{};
  const Layout layout = layout_of(c, *rank);
  const Dim n = c.dim(*x, static_cast<std::int64_t>(layout.channel));
  Attrs attrs{{"epsilon", c.real_or("epsilon", 1e-5)}, {"num_groups", c.integer_or("groups", 1)}};
  if (!layout.name.empty()) attrs.set("channels_last", std::int64_t{1});
  return one(c.emit(op("nn.group_norm"),
                    {x, *scale ? *scale : c.uniform(1, n, c.dtype(*x)), *bias ? *bias : c.uniform(0, n, c.dtype(*x))},
                    std::move(attrs)));
}

Values instance_norm(Call& c) {
  const auto x = c.tensor("X"), scale = c.tensor_or_none("Scale"), bias = c.tensor_or_none("Bias");
  const auto rank = c.rank(x);
  if (!rank || !scale || !bias) return Failure{};
  const Dim n = c.dim(*x, 1);
  return one(c.emit(op("nn.instance_norm"),
                    {x, *scale ? *scale : c.uniform(1, n, c.dtype(*x)), *bias ? *bias : c.uniform(0, n, c.dtype(*x))},
                    {{"epsilon", c.real_or("epsilon", 1e-5)}}));
}

/// (X, Scale, Bias): x · scale + bias per channel.
Values affine_channel(Call& c) {
  const auto x = c.tensor("X"), scale = c.tensor("Scale"), bias = c.tensor("Bias");
  const auto rank = c.rank(x);
  if (!rank || !scale || !bias) return Failure{};
  const Layout layout = layout_of(c, *rank);
  Ints shape(static_cast<std::size_t>(*rank) - layout.channel, 1);
  if (shape.empty()) return c.error("data without channels");
  shape.front() = -1;
  return one(c.emit(op("add"), {c.emit(op("multiply"), {x, c.reshape(scale, shape)}), c.reshape(bias, shape)}));
}

/// Identity at inference; the old mode scales there instead of in training.
Values dropout(Call& c) {
  auto x = c.tensor("X");
  if (!x) return Failure{};
  if (!c.flag("is_test")) return one(c.emit(op("nn.dropout"), {x}));
  if (c.text_or("dropout_implementation|mode", "downgrade_in_infer") == "upscale_in_train") return one(x);
  const auto p = c.real("p|dropout_prob", 0.5);
  if (!p) return Failure{};
  return one(*p == 0 ? x : c.emit(op("multiply"), {x, c.number(1 - *p, c.dtype(*x))}));
}

Values softmax(Call& c) { return one(c.emit(c.row->op, {c.tensor("X")}, {{"axis", c.integer_or("axis", -1)}})); }

/// softmax(x + mask).
Values softmax_with_mask(Call& c) {
  auto x = c.tensor("X");
  if (c.operation.type.ends_with("upper_triangle")) {
    auto ones = x ? c.emit(op("trilu"), {x}, {{"upper", std::int64_t{0}}}) : x;
    return one(c.emit(op("nn.softmax"), {ones}, {{"axis", std::int64_t{-1}}}));
  }
  return one(c.emit(op("nn.softmax"), {c.emit(op("add"), {x, c.tensor("Mask")})}, {{"axis", std::int64_t{-1}}}));
}

}  // namespace perfc::paddle
