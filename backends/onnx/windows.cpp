/// Convolutions and pools. ONNX's are [n, c, spatial…]; other layouts are transposed before and after.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backends/onnx/rows.h"
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

Status max_pool(CallWriter& c) {
  auto attrs = window_attributes(c, "ceil_mode storage_order");
  return attrs ? in_standard_layout(c, "MaxPool", *attrs, false) : Status(Failure{});
}

Status avg_pool(CallWriter& c) {
  auto attrs = window_attributes(c, "ceil_mode count_include_pad");
  return attrs ? in_standard_layout(c, "AveragePool", *attrs, false) : Status(Failure{});
}

/// To one position; several have windows of different sizes in general.
Status adaptive_pool(CallWriter& c) {
  auto attrs = onnx_attributes(c, "output_size data_layout");
  if (!attrs) return Failure{};
  const bool one = std::all_of(c.result().shape().begin(), c.result().shape().end(), [](const Dim&) { return true; });
  const auto size = c.attrs.ints_or_empty("output_size");
  if (!one || std::any_of(size.begin(), size.end(), [](std::int64_t n) { return n != 1; })) {
    return c.error(
        fmt::format("pooling to {} positions has no form in ONNX, only that to one", fmt::join(size, " × ")));
  }
  const bool max = c.node.is(op("nn.adaptive_max_pool2d"));
  return in_standard_layout(c, max ? "GlobalMaxPool" : "GlobalAveragePool", {}, false);
}

}  // namespace perfc::backends::write
