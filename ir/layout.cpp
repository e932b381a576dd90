#include "ir/layout.h"

#include <algorithm>

namespace perfc {
namespace {

std::optional<TensorAxes> parse(std::string_view layout, std::size_t rank, char outer, char channel) {
  if (layout.size() != rank) return std::nullopt;
  TensorAxes axes;
  axes.outer = layout.find(outer);
  axes.channel = layout.find(channel);
  if (axes.outer == layout.npos || axes.channel == layout.npos) return std::nullopt;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i == axes.outer || i == axes.channel) continue;
    if (layout[i] != 'D' && layout[i] != 'H' && layout[i] != 'W') return std::nullopt;
    axes.spatial.push_back(i);
  }
  return axes;
}

TensorAxes with(std::size_t rank, std::size_t outer, std::size_t channel) {
  TensorAxes axes{outer, channel, {}};
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != outer && i != channel) axes.spatial.push_back(i);
  }
  return axes;
}

}  // namespace

std::optional<TensorAxes> data_axes(const Attrs& attrs, std::size_t rank) {
  const std::string_view layout = attrs.string_or("data_layout", "");
  if (!layout.empty()) return parse(layout, rank, 'N', 'C');
  return with(rank, 0, attrs.int_or("channels_last", 0) != 0 && rank > 0 ? rank - 1 : 1);
}

std::optional<TensorAxes> kernel_axes(const Attrs& attrs, std::size_t rank, ConvDirection direction) {
  const std::string_view layout = attrs.string_or("kernel_layout", "");
  if (!layout.empty()) return parse(layout, rank, 'O', 'I');
  return direction == ConvDirection::Forward ? with(rank, 0, 1) : with(rank, 1, 0);
}

bool is_transposed_convolution(OpId id) { return def(id).transposed; }

std::optional<TensorAxes> kernel_axes(const Graph& g, const Node& n) {
  if (n.operands.size() < 2 || !n.operands[1]) return std::nullopt;
  const Type& w = g.type(n.operands[1]);
  if (!w.is_tensor() || !w.ranked() || w.rank() < 2) return std::nullopt;
  return kernel_axes(n.attrs, w.rank(),
                     is_transposed_convolution(n.op) ? ConvDirection::Transposed : ConvDirection::Forward);
}

std::size_t channel_axis(const Attrs& attrs, std::size_t rank) {
  const auto axes = data_axes(attrs, rank);
  return axes ? axes->channel : 1;
}

double window_elements(const Attrs& attrs, const Type& data) {
  const auto axes = data.is_tensor() && data.ranked() ? data_axes(attrs, data.rank()) : std::nullopt;
  double window = 1;
  std::size_t i = 0;
  for (std::int64_t k : attrs.ints_or_empty("kernel_size")) {
    if (axes && i < axes->spatial.size()) {
      const Dim& extent = data.shape()[axes->spatial[i]];
      if (extent.known()) k = std::min(k, extent.value());
    }
    window *= static_cast<double>(k);
    ++i;
  }
  return window;
}

}  // namespace perfc
