#include "whitebox/memory/convolution_workspace.h"

#include <algorithm>
#include <optional>

#include "ir/layout.h"
#include "whitebox/constants/convolutions.h"
#include "whitebox/constants/memory.h"

namespace perfc {
namespace {

/// Of a convolution whose windows are known.
struct Windows {
  const Type& weight;
  TensorAxes axes;
  std::int64_t groups = 1;
  std::int64_t extent(std::size_t axis) const { return weight.shape()[axis].value(); }
};

std::optional<Windows> windows_of(const Graph& g, const Node& n) {
  const auto axes = kernel_axes(g, n);
  const Type& weight = g.type(n.operands[1]);
  if (!axes || !weight.is_static()) return std::nullopt;
  return Windows{weight, *axes, n.attrs.int_or("groups", 1)};
}

/// Of a planar convolution in one group, its window if it is square; else 0.
std::int64_t square_window(const Windows& w) {
  if (w.groups > 1 || w.axes.spatial.size() != 2) return 0;
  const std::int64_t height = w.extent(w.axes.spatial[0]);
  return height == w.extent(w.axes.spatial[1]) ? height : 0;
}

/// A window of one position that moves by one is a product of the data as it lies.
bool reads_points(const Windows& w, const Node& n) {
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  return std::ranges::all_of(w.axes.spatial, [&](std::size_t a) { return is_one(w.extent(a)); }) &&
         std::ranges::all_of(n.attrs.ints_or_empty("strides"), is_one);
}

/// Tensor cores' kernels want channels last: of what lies otherwise cuDNN makes copies, and of the result
/// (studies/hopper: nchwToNhwcKernel, nhwcToNchwKernel). Depthwise kernels take either.
double copies(const Windows& w, bool channels_last, const ConvolutionBytes& bytes) {
  const bool depthwise = w.groups > 1 && std::min(w.extent(w.axes.channel), w.extent(w.axes.outer)) == 1;
  return channels_last || depthwise ? 0 : bytes.data + bytes.weight + bytes.result;
}

/// Winograd's algorithm in three kernels holds its operand and result as transformed tiles (Lavin and Gray, CVPR
/// 2016), `times` what they were. What strided 3×3 convolutions take is about as much; other windows run without.
double tiles(const Windows& w, double times, const ConvolutionBytes& bytes) {
  return square_window(w) == constants::kWinogradWindow ? times * (bytes.data + bytes.result) : 0;
}

/// Gradients of larger windows multiply the lowered operand: every window a row (Chellapilla, Puri and Simard 2006).
double lowered(const Graph& g, const Node& n, const Windows& w, const ConvolutionBytes& bytes) {
  const bool transposed = is_transposed_convolution(n.op);
  const Type& places = transposed ? g.type(n.operands[0]) : n.results[0].type;
  if (!places.is_static() || *w.weight.elements() == 0) return 0;
  const auto channels = static_cast<double>(w.extent(transposed ? w.axes.channel : w.axes.outer));
  return static_cast<double>(*places.elements()) / channels * static_cast<double>(*w.weight.elements()) / channels *
         bytes.element;
}

}  // namespace

double convolution_workspace(const Graph& g, NodeId id, ConvolutionWorkspace kind, bool channels_last,
                             const ConvolutionBytes& bytes) {
  const Node& n = g.node(id);
  const auto w = windows_of(g, n);
  if (!w || kind == ConvolutionWorkspace::None) return 0;
  if (kind == ConvolutionWorkspace::Tiles) return tiles(*w, constants::kForwardTiles, bytes);
  return reads_points(*w, n) ? 0 : copies(*w, channels_last, bytes);
}

double gradient_workspace(const Graph& g, NodeId id, ConvolutionWorkspace kind, bool channels_last,
                          const ConvolutionBytes& bytes) {
  const Node& n = g.node(id);
  const auto w = windows_of(g, n);
  if (!w || kind == ConvolutionWorkspace::None) return 0;
  if (kind == ConvolutionWorkspace::Copies) return copies(*w, channels_last, bytes);
  return square_window(*w) > constants::kWinogradWindow ? lowered(g, n, *w, bytes)
                                                        : tiles(*w, constants::kGradientTiles, bytes);
}

}  // namespace perfc
