/// Convolutions, pools, normalisation, products.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/common/absorb_pad.h"
#include "frontends/tf/translators.h"

namespace perfc::tf {
namespace {

/// Where the axes of data stand, by `data_format`.
struct Format {
  std::string layout;  ///< "NHWC"
  bool channels_last = true;
  std::size_t channel = 0;
  std::vector<std::size_t> spatial;
};

Result<Format> format_of(const Call& c, std::size_t rank) {
  Format f;
  f.layout = c.string_attr("data_format", rank == 5 ? "NDHWC" : "NHWC");
  if (f.layout.size() != rank || (f.layout[0] != 'N') || (f.layout[1] != 'C' && f.layout.back() != 'C')) {
    return c.error(fmt::format("data_format '{}' of data with {} axes is not supported", f.layout, rank));
  }
  f.channels_last = f.layout.back() == 'C';
  f.channel = f.channels_last ? rank - 1 : 1;
  for (std::size_t i = 1; i < rank; ++i) {
    if (i != f.channel) f.spatial.push_back(i);
  }
  return f;
}

/// The spatial entries of a list with one entry per axis; 1 along the others.
Result<std::vector<std::int64_t>> spatial_entries(const Call& c, const Format& f, const std::vector<std::int64_t>& all,
                                                  std::string_view role) {
  std::vector<std::int64_t> out(f.spatial.size(), 1);
  if (all.empty()) return out;
  if (all.size() != f.layout.size())
    return c.error(fmt::format("{} has {} entries for {} axes", role, all.size(), f.layout.size()));
  for (std::size_t i = 0; i < f.spatial.size(); ++i) out[i] = all[f.spatial[i]];
  if (all[0] != 1 || all[f.channel] != 1)
    return c.error(fmt::format("{} other than 1 along the batch or the channels is not supported", role));
  for (std::int64_t v : out) {
    if (v < 1) return c.error(fmt::format("{} holds {}", role, v));
  }
  return out;
}

/// Geometry of a sliding window as the IR's attributes.
struct Window {
  std::vector<std::int64_t> kernel, strides, dilation;
};

/// `padding` = SAME, VALID or EXPLICIT. SAME is written as numbers where the
/// extents are known (tf.nn, "Notes on padding"): of an odd total, the end gets more.
Status set_padding(const Call& c, const Format& f, const Type& x, const Window& w, Attrs& attrs) {
  const std::string_view padding = c.string_attr("padding", "VALID");
  const std::size_t n = f.spatial.size();
  if (padding == "VALID") return ok();
  std::vector<std::int64_t> pads(2 * n, 0);
  if (padding == "EXPLICIT") {
    const std::vector<std::int64_t> given = c.ints_attr("explicit_paddings");
    if (given.size() != 2 * f.layout.size()) {
      return c.error(fmt::format("explicit_paddings has {} entries for {} axes", given.size(), f.layout.size()));
    }
    for (std::size_t axis = 0; axis < f.layout.size(); ++axis) {
      const bool spatial = axis != 0 && axis != f.channel;
      if (const std::int64_t begin = given[2 * axis], end = given[2 * axis + 1];
          begin < 0 || end < 0 || (!spatial && (begin || end))) {
        return c.error(fmt::format("explicit_paddings has {} and {} for axis {} of {}", begin, end, axis, f.layout));
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      pads[i] = given[2 * f.spatial[i]];
      pads[n + i] = given[2 * f.spatial[i] + 1];
    }
    attrs.set("padding", pads);
    return ok();
  }
  if (padding != "SAME") return c.error(fmt::format("padding '{}' is none of SAME, VALID, EXPLICIT", padding));
  for (std::size_t i = 0; i < n; ++i) {
    const Dim& d = x.shape()[f.spatial[i]];
    std::int64_t reach = 0;
    if (!d.known() || i >= w.kernel.size() || __builtin_mul_overflow(w.kernel[i] - 1, w.dilation[i], &reach) ||
        reach > (std::int64_t{1} << 40) || d.value() > (std::int64_t{1} << 40)) {
      attrs.set("auto_pad", std::string("SAME_UPPER"));
      return ok();
    }
    const std::int64_t windows = (d.value() + w.strides[i] - 1) / w.strides[i];
    const std::int64_t total = std::max<std::int64_t>(0, (windows - 1) * w.strides[i] + reach + 1 - d.value());
    pads[i] = total / 2;
    pads[n + i] = total - total / 2;
  }
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; })) attrs.set("padding", pads);
  return ok();
}

void set_window(const Window& w, Attrs& attrs) {
  const auto any = [](const std::vector<std::int64_t>& v) {
    return std::any_of(v.begin(), v.end(), [](std::int64_t x) { return x != 1; });
  };
  if (any(w.strides)) attrs.set("strides", w.strides);
  if (any(w.dilation)) attrs.set("dilation", w.dilation);
}

/// A weight seen with other dims. Weights without contents need no view.
Result<ValueId> weight_view(const Call& c, ValueId w, const std::vector<std::int64_t>& shape) {
  const Node& n = c.builder().node(w.node);
  if (n.kind == NodeKind::Constant) {
    Shape dims(shape.begin(), shape.end());
    return c.builder().constant({Type::tensor(n.results[0].type.dtype(), std::move(dims)), n.results[0].data}, n.name,
                                n.loc);
  }
  return c.reshape(w, shape);
}

struct ConvInputs {
  ValueId x, filter;
  Format format;
  Window window;
  std::string kernel_layout;
};

/// Checks what all convolutions share. `filter` is (spatial…, in, out).
Result<ConvInputs> conv_inputs(const Call& c, std::size_t x_at, std::size_t filter_at) {
  auto x = c.tensor(x_at);
  auto filter = c.tensor(filter_at);
  if (!x || !filter) return Failure{};
  ConvInputs in{*x, *filter, {}, {}, {}};
  const Type& w = c.builder().type(*filter);
  if (!w.ranked() || w.rank() < 3 || w.rank() > 5 || !w.is_static())
    return c.error(fmt::format("filter {} must have 3 to 5 known dims", to_string(w)));
  const Type& data = c.builder().type(*x);
  if (!data.ranked() || data.rank() != w.rank())
    return c.error(fmt::format("data {} must have the rank of the filter {}", to_string(data), to_string(w)));
  auto format = format_of(c, w.rank());
  if (!format) return Failure{};
  in.format = std::move(*format);
  auto strides = spatial_entries(c, in.format, c.ints_attr("strides"), "strides");
  auto dilation = spatial_entries(c, in.format, c.ints_attr("dilations"), "dilations");
  if (!strides || !dilation) return Failure{};
  in.window.strides = std::move(*strides);
  in.window.dilation = std::move(*dilation);
  for (std::size_t i = 0; i + 2 < w.rank(); ++i) in.window.kernel.push_back(w.shape()[i].value());
  in.kernel_layout = in.format.layout;
  std::erase(in.kernel_layout, 'N');
  std::erase(in.kernel_layout, 'C');
  return in;
}

Result<ValueId> emit_conv(const Call& c, ConvInputs& in, std::int64_t groups) {
  Attrs attrs;
  set_window(in.window, attrs);
  if (in.format.channels_last) attrs.set("data_layout", in.format.layout);
  attrs.set("kernel_layout", in.kernel_layout + "IO");
  if (groups != 1) attrs.set("groups", groups);
  if (!set_padding(c, in.format, c.builder().type(in.x), in.window, attrs)) return Failure{};
  in.x = absorb_pad(c, in.x, in.format.spatial, PadsWith::Zero, attrs);
  return c.emit(family("nn.conv?d").with_dims(in.format.spatial.size()), {in.x, in.filter}, std::move(attrs));
}

Result<ValueId> forward_conv(const Call& c) {
  auto in = conv_inputs(c, 0, 1);
  if (!in) return Failure{};
  const Type& w = c.builder().type(in->filter);
  const std::int64_t per_group = w.shape()[w.rank() - 2].value();
  const Dim& channels = c.builder().type(in->x).shape()[in->format.channel];
  std::int64_t groups = 1;
  if (channels.known() && per_group > 0) {
    if (channels.value() % per_group != 0) {
      return c.error(fmt::format("{} channels do not divide into groups of {}", channels.value(), per_group));
    }
    groups = std::max<std::int64_t>(1, channels.value() / per_group);
  }
  return emit_conv(c, *in, groups);
}

std::int64_t bias_axis(const Call& c, ValueId x) {
  const Type& t = c.builder().type(x);
  const std::string_view format = c.string_attr("data_format", "NHWC");
  return format.starts_with("NC") || !t.ranked() || t.rank() < 2 ? 1 : static_cast<std::int64_t>(t.rank()) - 1;
}

Result<ValueId> activation(const Call& c, ValueId x, std::string_view name) {
  if (name == "Relu") return c.emit(op("nn.relu"), {x});
  if (name == "Relu6") return c.emit(op("clip"), {x, c.number_like(x, 0), c.number_like(x, 6)});
  if (name == "Elu") return c.emit(op("nn.elu"), {x});
  if (name == "Tanh") return c.emit(op("tanh"), {x});
  if (name == "Sigmoid") return c.emit(op("sigmoid"), {x});
  if (name == "LeakyRelu") return c.emit(op("nn.leaky_relu"), {x}, {{"alpha", c.float_attr("leakyrelu_alpha", 0.2)}});
  if (name == "GeluExact") return c.emit(op("nn.gelu"), {x});
  if (name == "GeluApproximate") return c.emit(op("nn.fast_gelu"), {x});
  return c.error(fmt::format("fused operator '{}' is not known", name));
}

Result<ValueId> batch_norm(const Call& c, std::vector<ValueId> operands, double epsilon, const Format& f) {
  Attrs attrs{{"epsilon", epsilon}};
  if (f.channel != 1) attrs.set("axis", static_cast<std::int64_t>(f.channel));
  return c.emit(op("nn.batch_norm"), std::move(operands), std::move(attrs));
}

/// What follows the product of a fused operator, by `fused_ops`.
Result<Values> epilogue(Call& c, ValueId x, std::size_t first_argument) {
  const auto fused = c.attr("fused_ops");
  std::size_t next = first_argument;
  for (std::string_view name : fused ? fused->strings : std::vector<std::string_view>{}) {
    Result<ValueId> y = Failure{};
    if (name == "BiasAdd") {
      auto bias = c.tensor(next++);
      if (!bias) return Failure{};
      y = c.emit(op("nn.bias_add"), {x, *bias}, {{"axis", bias_axis(c, x)}});
    } else if (name == "Add") {
      auto other = c.tensor(next++);
      if (!other) return Failure{};
      y = c.emit(op("add"), {x, *other});
    } else if (name == "FusedBatchNorm") {
      auto parts = c.tensors(next, next + 4);
      if (!parts) return Failure{};
      next += 4;
      const auto format = format_of(c, c.builder().type(x).rank());
      if (!format) return Failure{};
      parts->insert(parts->begin(), x);
      y = batch_norm(c, *parts, c.float_attr("epsilon", 1e-4), *format);
    } else {
      y = activation(c, x, name);
    }
    if (!y) return Failure{};
    x = *y;
  }
  return Values{Value::tensor(x)};
}

}  // namespace

Result<Values> convolution(Call& c, const OpRow&) {
  auto y = forward_conv(c);
  if (!y) return Failure{};
  return one(*y);
}

Result<Values> fused_convolution(Call& c, const OpRow&) {
  auto y = forward_conv(c);
  if (!y) return Failure{};
  return epilogue(c, *y, 2);
}

/// Filter (h, w, in, multiplier): as many groups as channels.
Result<Values> depthwise_convolution(Call& c, const OpRow& row) {
  auto in = conv_inputs(c, 0, 1);
  if (!in) return Failure{};
  const Shape w = c.builder().type(in->filter).shape();
  std::int64_t out = 0;
  if (w.size() != 4 || __builtin_mul_overflow(w[2].value(), w[3].value(), &out) || w[2].value() < 1)
    return c.error("filter must be (h, w, in, multiplier)");
  auto view = weight_view(c, in->filter, {w[0].value(), w[1].value(), 1, out});
  if (!view) return Failure{};
  in->filter = *view;
  auto y = emit_conv(c, *in, w[2].value());
  if (!y) return Failure{};
  return row.name.starts_with("_Fused") ? epilogue(c, *y, 2) : Result<Values>(one(*y));
}

/// (sizes of the result, filter (spatial…, out, in), data): the gradient of a
/// convolution with respect to its data is the transposed convolution.
Result<Values> transposed_convolution(Call& c, const OpRow&) {
  auto in = conv_inputs(c, 2, 1);
  if (!in) return Failure{};
  Attrs attrs;
  set_window(in->window, attrs);
  if (in->format.channels_last) attrs.set("data_layout", in->format.layout);
  attrs.set("kernel_layout", in->kernel_layout + "OI");
  const Data* sizes = c.inputs[0].is_tensor() ? c.builder().data(c.inputs[0].id) : nullptr;
  std::vector<std::int64_t> wanted;
  if (sizes && sizes->ints()) {
    const auto& all = *sizes->ints();
    const std::size_t n = in->format.spatial.size();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = all.size() == n ? i : in->format.spatial[i];
      if (at < all.size() && all[at].known() && all[at].value() >= 0) wanted.push_back(all[at].value());
    }
    if (wanted.size() != n) wanted.clear();
  }
  if (!wanted.empty()) {
    attrs.set("output_shape", wanted);
  } else if (c.string_attr("padding", "VALID") == "SAME") {
    attrs.set("auto_pad", std::string("SAME_UPPER"));
  }
  auto y =
      c.emit(family("nn.conv?d_transpose").with_dims(in->format.spatial.size()), {in->x, in->filter}, std::move(attrs));
  if (!y) return Failure{};
  return one(*y);
}

Result<Values> pooling(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const Type& type = c.builder().type(*x);
  if (!type.ranked() || type.rank() < 3 || type.rank() > 5)
    return c.error(fmt::format("data must have 3 to 5 axes, is {}", to_string(type)));
  auto format = format_of(c, type.rank());
  if (!format) return Failure{};
  std::vector<std::int64_t> ksize = c.ints_attr("ksize"), strides = c.ints_attr("strides");
  if (row.name == "MaxPoolV2") {
    auto k = c.ints(1, "ksize");
    auto s = c.ints(2, "strides");
    if (!k || !s) return Failure{};
    ksize = *k;
    strides = *s;
  }
  if (ksize.empty()) return c.error("has no ksize");
  auto kernel = spatial_entries(c, *format, ksize, "ksize");
  auto steps = spatial_entries(c, *format, strides, "strides");
  if (!kernel || !steps) return Failure{};
  const Window w{*kernel, *steps, std::vector<std::int64_t>(kernel->size(), 1)};
  Attrs attrs{{"kernel_size", *kernel}};
  set_window(w, attrs);
  if (format->channels_last) attrs.set("data_layout", format->layout);
  if (!set_padding(c, *format, type, w, attrs)) return Failure{};
  const bool max = row.ir.starts_with("nn.max");
  if (max) *x = absorb_pad(c, *x, format->spatial, PadsWith::Least, attrs);
  const std::size_t n = format->spatial.size();
  const OpId id = (max ? family("nn.max_pool?d") : family("nn.avg_pool?d")).with_dims(n);
  return c.finish(id, {*x}, std::move(attrs), row.name == "MaxPoolWithArgmax" ? 2 : 1);
}

/// (x, scale, offset, mean, variance) → y and statistics that inference passes through.
Result<Values> fused_batch_norm(Call& c, const OpRow& row) {
  const bool training = c.int_attr("is_training", 1) != 0;
  auto operands = c.tensors(0, training ? 3 : 5);
  if (!operands) return Failure{};
  const Type& x = c.builder().type((*operands)[0]);
  if (!x.ranked()) return c.error("data of unknown rank; --shape gives the shape of the input");
  auto format = format_of(c, x.rank());
  if (!format) return Failure{};
  // Half-precision data with float statistics (V2, V3): the norm is one kernel all the same.
  Attrs attrs{{"epsilon", c.float_attr("epsilon", 1e-4)}};
  if (format->channel != 1) attrs.set("axis", static_cast<std::int64_t>(format->channel));
  if (training) attrs.set("training_mode", std::int64_t{1});
  auto y = c.emit(op("nn.batch_norm"), *operands, std::move(attrs));
  if (!y) return Failure{};
  if (row.name == "_FusedBatchNormEx") {
    ValueId v = *y;
    if (c.int_attr("num_side_inputs", 0) > 0) {
      auto side = c.tensor(5);
      if (!side) return Failure{};
      auto sum = c.emit(op("add"), {v, *side});
      if (!sum) return Failure{};
      v = *sum;
    }
    if (c.string_attr("activation_mode", "Identity") != "Identity") {
      auto a = activation(c, v, c.string_attr("activation_mode", ""));
      if (!a) return Failure{};
      v = *a;
    }
    *y = v;
  }
  Values out{Value::tensor(*y)};
  for (std::size_t i = 3; i < 5; ++i) out.push_back(training ? Value{} : c.inputs[i]);
  return out;
}

/// (x, mean, variance, offset, scale), the norm of the first releases; channels last.
Result<Values> global_batch_norm(Call& c, const OpRow&) {
  auto in = c.tensors(0, 5);
  if (!in) return Failure{};
  const auto rank = c.rank(0);
  if (!rank || *rank < 2) return c.error(fmt::format("normalises {}", to_string(c.type(0))));
  // Without scale_after_normalization the scale is there all the same, and one kernel reads it.
  return c.finish(
      op("nn.batch_norm"), {(*in)[0], (*in)[4], (*in)[3], (*in)[1], (*in)[2]},
      {{"epsilon", c.float_attr("variance_epsilon", 1e-3)}, {"axis", static_cast<std::int64_t>(*rank - 1)}});
}

/// Greyscale dilation: the largest of x plus the filter over each window, by channel (tf.nn.dilation2d).
/// For every element of the window the data under it are taken, moved up by the filter, and compared.
Result<Values> dilation(Call& c, const OpRow&) {
  constexpr std::int64_t kMaxWindow = 1024;
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const Type x = c.builder().type((*operands)[0]);
  const Type filter = c.builder().type((*operands)[1]);
  if (!x.ranked() || x.rank() != 4 || !x.shape()[1].known() || !x.shape()[2].known() || !filter.ranked() ||
      filter.rank() != 3 || !filter.is_static() || !(x.shape()[3] == filter.shape()[2])) {
    return c.error(fmt::format("data {} and filter {} do not fit", to_string(x), to_string(filter)));
  }
  auto format = format_of(c, 4);
  if (!format) return Failure{};
  auto strides = spatial_entries(c, *format, c.ints_attr("strides"), "strides");
  auto rates = spatial_entries(c, *format, c.ints_attr("rates"), "rates");
  if (!strides || !rates) return Failure{};
  const Window w{{filter.shape()[0].value(), filter.shape()[1].value()}, *strides, *rates};
  constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;
  for (std::size_t i = 0; i < 2; ++i) {
    if (w.kernel[i] < 1 || w.kernel[i] > kMaxWindow || w.strides[i] > kMaxExtent || w.dilation[i] > kMaxExtent ||
        x.shape()[i + 1].value() > kMaxExtent) {
      return c.error(fmt::format("a window of {} at strides {} and rates {} is not supported", fmt::join(w.kernel, "×"),
                                 fmt::join(w.strides, "×"), fmt::join(w.dilation, "×")));
    }
  }
  if (w.kernel[0] * w.kernel[1] > kMaxWindow)
    return c.error(fmt::format("a window of {} elements is not supported", w.kernel[0] * w.kernel[1]));
  Attrs padding;
  if (!set_padding(c, *format, x, w, padding)) return Failure{};
  ValueId data = (*operands)[0];
  std::vector<std::int64_t> pads = padding.ints_or_empty("padding");
  if (!pads.empty()) {
    auto padded = c.emit(op("nn.pad"), {data, c.int_constant({0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0})});
    if (!padded) return Failure{};
    data = *padded;
  }
  pads.resize(4, 0);
  std::vector<std::int64_t> windows(2);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t room = x.shape()[i + 1].value() + pads[i] + pads[i + 2] - (w.kernel[i] - 1) * w.dilation[i] - 1;
    if (room < 0) return c.error(fmt::format("the window is larger than the data {}", to_string(x)));
    windows[i] = room / w.strides[i] + 1;
  }
  std::optional<ValueId> largest;
  for (std::int64_t k = 0; k < w.kernel[0] * w.kernel[1]; ++k) {
    const std::int64_t at[] = {k / w.kernel[1], k % w.kernel[1]};
    std::vector<std::int64_t> begin(2), end(2);
    for (std::size_t i = 0; i < 2; ++i) {
      begin[i] = at[i] * w.dilation[i];
      end[i] = begin[i] + (windows[i] - 1) * w.strides[i] + 1;
    }
    auto under = c.emit(op("strided_slice"), {data, c.int_constant(begin), c.int_constant(end), c.int_constant({1, 2}),
                                              c.int_constant(w.strides)});
    auto height = c.emit(op("strided_slice"), {(*operands)[1], c.int_constant({at[0], at[1]}),
                                               c.int_constant({at[0] + 1, at[1] + 1}), c.int_constant({0, 1})});
    if (!under || !height) return Failure{};
    auto sum = c.emit(op("add"), {*under, *height});
    if (sum && largest) sum = c.emit(op("maximum"), {*largest, *sum});
    if (!sum) return Failure{};
    largest = *sum;
  }
  return one(*largest);
}

Result<Values> bias_add(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const Type& x = c.builder().type((*operands)[0]);
  const Type& bias = c.builder().type((*operands)[1]);
  // Old graphs add scalars with it.
  if ((bias.ranked() && bias.rank() != 1) || (x.ranked() && x.rank() < 2)) return c.finish(op("add"), *operands);
  return c.finish(op("nn.bias_add"), *operands, {{"axis", bias_axis(c, (*operands)[0])}});
}

Result<Values> matmul(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  Attrs attrs;
  const bool batched = row.name.starts_with("Batch");
  if (c.int_attr(batched ? "adj_x" : "transpose_a", 0) != 0) attrs.set("transA", std::int64_t{1});
  if (c.int_attr(batched ? "adj_y" : "transpose_b", 0) != 0) attrs.set("transB", std::int64_t{1});
  auto y = c.emit(op("nn.batch_matmul"), *operands, std::move(attrs));
  if (!y) return Failure{};
  // BatchMatMulV3: 8-bit products with a wider result.
  const DType out = c.dtype_attr("Tout", c.builder().type(*y).dtype());
  auto cast = c.cast(*y, out);
  if (!cast) return Failure{};
  return row.name == "_FusedMatMul" ? epilogue(c, *cast, 2) : Result<Values>(one(*cast));
}

Result<Values> softmax(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  return c.finish(row_op(row), {*x}, {{"axis", std::int64_t{-1}}});
}

Result<Values> local_response_norm(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const std::int64_t radius = c.int_attr("depth_radius", 5);
  if (radius < 0 || radius > (1 << 20)) return c.error(fmt::format("depth_radius is {}", radius));
  return c.finish(op("nn.lrn"), {*x},
                  {{"size", 2 * radius + 1},
                   {"alpha", c.float_attr("alpha", 1)},
                   {"beta", c.float_attr("beta", 0.5)},
                   {"bias", c.float_attr("bias", 1)}});
}

Result<Values> clip_at_6(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto y = activation(c, *x, "Relu6");
  if (!y) return Failure{};
  return one(*y);
}

namespace {

/// A loss, and the gradient of what it is of: softmax less the target.
Result<Values> with_gradient(Call& c, ValueId loss, ValueId features, Result<ValueId> target) {
  const auto probability = c.emit(op("nn.softmax"), {features}, {{"axis", std::int64_t{-1}}});
  const auto gradient = c.emit(op("subtract"), {probability, target});
  if (!gradient) return Failure{};
  return Values{Value::tensor(loss), Value::tensor(*gradient)};
}

}  // namespace

/// (features, labels) → (loss of each row, features' gradient).
Result<Values> sparse_cross_entropy(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  auto y = c.emit(op("nn.cross_entropy"), *operands, {{"reduction", "none"}});
  const ValueId features = (*operands)[0];
  const auto classes = c.shape_of(features, 1, 2);
  const DType dtype = c.dtype(features);
  const auto zero_one = c.join({c.expand_dims(c.number(0, dtype), {0}), c.expand_dims(c.number(1, dtype), {0})}, 0);
  if (!y || !classes || !zero_one) return Failure{};
  const auto target =
      c.emit(op("one_hot"), {(*operands)[1], c.squeeze(*classes, {0}), *zero_one}, {{"axis", std::int64_t{-1}}});
  return with_gradient(c, *y, features, target);
}

/// (features, labels as probabilities) → (loss of each row, features' gradient).
Result<Values> cross_entropy(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const auto logarithms = c.emit(op("nn.log_softmax"), {(*operands)[0]}, {{"axis", std::int64_t{-1}}});
  const auto weighted = c.emit(op("multiply"), {(*operands)[1], logarithms});
  const auto sums = c.emit(op("sum_axes"), {weighted, c.int_constant({-1})}, {{"keepdims", std::int64_t{0}}});
  const auto loss = c.emit(op("negative"), {sums});
  if (!loss) return Failure{};
  return with_gradient(c, *loss, (*operands)[0], (*operands)[1]);
}

}  // namespace perfc::tf
