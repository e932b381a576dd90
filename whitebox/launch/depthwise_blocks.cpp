#include "whitebox/launch/depthwise_blocks.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/depthwise.h"

namespace perfc {
namespace {

using constants::DepthwiseBlocks;

/// A convolution's results: planes of so many rows and columns.
struct Planes {
  double images, channels, rows, columns;
};

/// Planes are taken to be square, unless there are fewer rows.
Planes planes_of(const Extents& e) {
  const double rows = std::min(e.row, e.m / e.row);
  return {.images = e.m / (rows * e.row), .channels = e.products, .rows = rows, .columns = e.row};
}

double parts(double extent, double part) { return std::ceil(extent / part); }

/// Channels first: a block has eight channels and 10 rows of 40 columns, or a small plane as it is, of which one half
/// as high takes half as long.
double first_blocks(const Planes& p) {
  constexpr double kChannels = 8, kRows = 10, kColumns = 40, kSmall = 16;
  const double groups = p.images * parts(p.channels, kChannels);
  if (p.rows <= kSmall && p.columns <= kSmall) return groups * (2 * p.rows <= kSmall ? 0.5 : 1);
  return groups * parts(p.rows, kRows) * parts(p.columns, kColumns);
}

/// Channels last: a thread has eight channels of three rows (two with strides) of two columns, four threads a row's
/// eight columns.
double tiled_blocks(const Planes& p, bool strides) {
  constexpr double kThreads = 128, kChannels = 8, kRows = 3, kStridedRows = 2, kColumns = 8, kAcross = 4;
  const double threads = parts(p.rows, strides ? kStridedRows : kRows) * kAcross * parts(p.columns, kColumns);
  return parts(p.images * threads * p.channels / kChannels, kThreads);
}

const DepthwiseBlocks& kernel_of(const ConvolutionGroup& c, const Planes& p) {
  if (!c.channels_last) return c.has_strides ? constants::kDepthwiseFirstStrided : constants::kDepthwiseFirst;
  if (c.float32) return constants::kDepthwiseLast32;
  return p.images < constants::kTiledImages ? constants::kDepthwiseLast16 : constants::kDepthwiseTiled;
}

/// Channels last otherwise: 256 threads have a channel of two rows of two columns each.
double plain_blocks(const Planes& p) {
  constexpr double kThreads = 256, kSide = 2;
  return parts(p.images * p.channels * parts(p.rows, kSide) * parts(p.columns, kSide), kThreads);
}

double blocks_of(const DepthwiseBlocks& kernel, const ConvolutionGroup& c, const Planes& p) {
  if (&kernel == &constants::kDepthwiseFirst) return first_blocks(p);
  if (&kernel == &constants::kDepthwiseTiled) return tiled_blocks(p, c.has_strides);
  constexpr double kStridedResults = 512;  // that the clocks are of
  return c.channels_last ? plain_blocks(p) : p.images * p.channels * p.rows * p.columns / kStridedResults;
}

/// Of windows between those that were measured, in between.
double block_clocks(const DepthwiseBlocks& kernel, const ConvolutionGroup& c) {
  constexpr double k3 = 3 * 3, k5 = 5 * 5, k7 = 7 * 7;
  const double large = std::clamp((c.window - k5) / (k7 - k5), 0.0, 1.0);
  const double small = std::clamp((c.window - k3) / (k5 - k3), 0.0, 1.0);
  const double clocks =
      c.window > k5 ? std::lerp(kernel.block5, kernel.block7, large) : std::lerp(kernel.block3, kernel.block5, small);
  return clocks * (c.has_strides ? kernel.strided : 1);
}

}  // namespace

std::optional<BlockClocks> depthwise_blocks(const ConvolutionGroup& c, const Extents& e) {
  if (!is_cudnn_depthwise(c) || c.own_kernels || e.row <= 0 || e.m < e.row) return std::nullopt;
  const Planes planes = planes_of(e);
  const DepthwiseBlocks& kernel = kernel_of(c, planes);
  return BlockClocks{.blocks = blocks_of(kernel, c, planes),
                     .each = block_clocks(kernel, c),
                     .first = kernel.first + kernel.element * c.window};
}

}  // namespace perfc
