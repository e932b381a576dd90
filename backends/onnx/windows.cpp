/// Convolutions and pools. ONNX's are [n, c, spatial…]; other layouts are transposed before and after.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "backends/onnx/rows.h"
#include "ir/eager_marks.h"
#include "ir/layout.h"

namespace perfc::backends::write {
namespace {

using Perm = std::vector<std::int64_t>;

/// Outer axis, channels, spatial axes.
Perm order_of(const TensorAxes& axes) {
  Perm out{static_cast<std::int64_t>(axes.outer), static_cast<std::int64_t>(axes.channel)};
  for (const std::size_t a : axes.spatial) out.push_back(static_cast<std::int64_t>(a));
  return out;
}

bool is_sorted(const Perm& perm) { return std::is_sorted(perm.begin(), perm.end()); }

Perm inverse(const Perm& perm) {
  Perm out(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) out[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return out;
}

std::string moved(CallWriter& c, const std::string& value, const Perm& perm) {
  return is_sorted(perm) ? value : c.value("Transpose", {value}, {{"perm", perm}});
}

constexpr std::string_view kWindow = "auto_pad dilation groups kernel_size padding strides ";

/// Layouts are not ONNX's attributes.
Result<Attrs> window_attributes(CallWriter& c, std::string_view own) {
  auto attrs = onnx_attributes(c, fmt::format("{}{} data_layout kernel_layout channels_last", kWindow, own));
  if (!attrs) return Failure{};
  for (const std::string_view name : {"data_layout", "kernel_layout", "channels_last"}) attrs->erase(name);
  return attrs;
}

/// The operator on data in ONNX's layout; results go back into theirs.
Status in_standard_layout(CallWriter& c, std::string_view op, const Attrs& attrs, bool has_kernel) {
  CallWriter::Names inputs = c.operands;
  Perm data;
  if (c.type(0).ranked() && c.type(0).rank() >= 2) {
    const auto axes = data_axes(c.attrs, c.type(0).rank());
    if (!axes) return c.error("its data_layout does not fit its operand");
    data = order_of(*axes);
  }
  inputs[0] = moved(c, inputs[0], data);
  if (has_kernel && c.type(1).ranked() && c.type(1).rank() >= 2) {
    const auto direction = is_transposed_convolution(c.node.op) ? ConvDirection::Transposed : ConvDirection::Forward;
    const auto axes = kernel_axes(c.attrs, c.type(1).rank(), direction);
    if (!axes) return c.error("its kernel_layout does not fit its operand");
    Perm kernel = order_of(*axes);
    if (direction == ConvDirection::Transposed) std::swap(kernel[0], kernel[1]);
    inputs[1] = moved(c, inputs[1], kernel);
  }
  if (is_sorted(data)) return c.finish(op, std::move(inputs), attrs);
  if (c.results.size() > 1) return c.error("several results in a layout other than NCHW have no form in ONNX");
  return c.finish("Transpose", {c.value(op, std::move(inputs), attrs)}, {{"perm", inverse(data)}});
}

}  // namespace

Status conv(CallWriter& c) {
  auto attrs = window_attributes(c, "");
  return attrs ? in_standard_layout(c, "Conv", *attrs, true) : Status(Failure{});
}

Status conv_transpose(CallWriter& c) {
  auto attrs = window_attributes(c, "output_padding output_shape");
  return attrs ? in_standard_layout(c, "ConvTranspose", *attrs, true) : Status(Failure{});
}

namespace {

/// Window i of `windows` covers [⌊i·n/w⌋, ⌈(i+1)·n/w⌉): all windows of one axis, joined.
std::string windows_along(CallWriter& c, const std::string& value, std::int64_t axis, std::int64_t n,
                          std::int64_t windows, std::string_view reduction) {
  CallWriter::Names parts;
  for (std::int64_t i = 0; i < windows; ++i) {
    const std::int64_t first = i * n / windows, end = ((i + 1) * n + windows - 1) / windows;
    const std::string part = c.value("Slice", {value, c.ints({first}), c.ints({end}), c.ints({axis})});
    parts.push_back(c.value(reduction, {part, c.ints({axis})}, {{"keepdims", std::int64_t{1}}}));
  }
  return parts.size() == 1 ? parts[0] : c.value("Concat", parts, {{"axis", axis}});
}

/// Adaptive pools whose windows differ in size: one axis after the other.
Status uneven_pool(CallWriter& c, std::string_view reduction) {
  constexpr std::int64_t kMostWindows = 1024;
  const Type &x = c.type(0), &y = c.result();
  if (c.read > 1) return c.error("the positions of windows that differ in size have no form in ONNX");
  c.results.resize(1);
  const auto axes = x.ranked() && x.rank() >= 2 ? data_axes(c.attrs, x.rank()) : std::nullopt;
  if (!axes || !y.ranked() || y.rank() != x.rank()) return c.error("its data_layout does not fit its operand");
  std::string value = c.operands[0];
  for (const std::size_t a : axes->spatial) {
    const Dim &n = x.shape()[a], &windows = y.shape()[a];
    if (!n.known() || !windows.known() || windows.value() < 1 || windows.value() > kMostWindows)
      return c.error("windows that differ in size have a form in ONNX for known extents, at most 1,024");
    if (n == windows) continue;
    value = windows_along(c, value, static_cast<std::int64_t>(a), n.value(), windows.value(), reduction);
  }
  return c.finish_as(value);
}

}  // namespace

/// Positions are those within all of the data, or within a plane of it, as PyTorch has them.
Status max_pool(CallWriter& c) {
  if (c.attrs.has(kUneven)) return uneven_pool(c, "ReduceMax");
  auto attrs = window_attributes(c, "ceil_mode storage_order indices");
  if (!attrs) return Failure{};
  if (!attrs->has("indices")) return in_standard_layout(c, "MaxPool", *attrs, false);
  attrs->erase("indices");
  if (c.results.size() < 2 || c.read < 2) {
    c.results.resize(1);
    return in_standard_layout(c, "MaxPool", *attrs, false);
  }
  std::int64_t plane = 1;
  for (std::size_t a = 2; c.type(0).ranked() && a < c.type(0).rank(); ++a) {
    const Dim& extent = c.type(0).shape()[a];
    if (!extent.known()) return c.error("positions within planes of unknown extents have no form in ONNX");
    plane *= std::max<std::int64_t>(extent.value(), 1);
  }
  const std::string within = std::exchange(c.results[1], c.model().unique(c.results[1]));
  if (!in_standard_layout(c, "MaxPool", *attrs, false)) return Failure{};
  const std::string everywhere = std::exchange(c.results[1], within);
  return c.add("Mod", {everywhere, c.model().literal(int64_scalar(plane), "plane")}, {within});
}

Status avg_pool(CallWriter& c) {
  if (c.attrs.has(kUneven)) return uneven_pool(c, "ReduceMean");
  auto attrs = window_attributes(c, "ceil_mode count_include_pad");
  return attrs ? in_standard_layout(c, "AveragePool", *attrs, false) : Status(Failure{});
}

/// ONNX's positions count through all of the result, PyTorch's through a plane of it.
Status max_unpool(CallWriter& c) {
  auto attrs = onnx_attributes(c, "indices kernel_size padding strides");
  if (!attrs) return Failure{};
  CallWriter::Names inputs = c.operands;
  if (attrs->has("indices")) {
    attrs->erase("indices");
    const Type &x = c.type(0), &y = c.result();
    if (!x.is_static() || !y.is_static() || x.rank() < 3)
      return c.error("planes of unknown extents have no form in ONNX");
    const std::int64_t planes = x.shape()[0].value() * x.shape()[1].value();
    std::vector<std::int64_t> starts{x.shape()[0].value(), x.shape()[1].value()}, kernel(x.rank() - 2, 1);
    starts.resize(x.rank(), 1);
    const auto number = [&](std::int64_t n) { return c.model().literal(int64_scalar(n), "number"); };
    const std::int64_t plane = planes > 0 ? *y.elements() / planes : 1;
    const std::string first =
        c.value("Range", {number(0), number(planes * plane), number(std::max<std::int64_t>(plane, 1))});
    inputs[1] = c.value("Add", {inputs[1], c.value("Reshape", {first, c.ints(starts)})});
    // The extents of the result are an operand; ONNX asks for a window all the same.
    if (!attrs->has("kernel_shape")) attrs->set("kernel_shape", kernel);
  }
  return c.finish("MaxUnpool", inputs, *attrs);
}

Status adaptive_pool(CallWriter& c) {
  if (!onnx_attributes(c, "data_layout")) return Failure{};
  const bool max = c.node.is(op("nn.adaptive_max_pool2d"));
  return in_standard_layout(c, max ? "GlobalMaxPool" : "GlobalAveragePool", {}, false);
}

}  // namespace perfc::backends::write
