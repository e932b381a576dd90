#include "whitebox/launch/depthwise_blocks.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace perfc {
namespace {

struct Grid {
  double images, channels, side, window;  ///< side: of the results
  bool strides;
  double blocks;
};

double blocks_of(const Grid& g, bool channels_last, bool float32 = false) {
  const ConvolutionGroup group{.window = g.window,
                               .channels_last = channels_last,
                               .float16 = !float32,
                               .float32 = float32,
                               .has_strides = g.strides};
  const Extents e{.m = g.images * g.side * g.side, .n = 1, .k = g.window, .products = g.channels, .row = g.side};
  return depthwise_blocks(group, e).value_or(BlockClocks{}).blocks;
}

/// Grids of an H200's profiles (studies/hopper): conv2d_c1_k1_nhwc_specialized, conv2d_c1_k1_nhwc and
/// conv2d_c1_k1_nchw_shmem_tiling.
TEST(DepthwiseBlocks, AreTheGridsThatRan) {
  for (const Grid& g : std::vector<Grid>{{16, 12, 56, 9, false, 100},
                                         {32, 32, 112, 9, false, 2128},
                                         {16, 40, 14, 9, false, 25},
                                         {32, 768, 7, 49, false, 288},
                                         {64, 1536, 10, 9, false, 3072},
                                         {32, 96, 56, 9, true, 2352},
                                         {16, 24, 28, 25, true, 84},
                                         {64, 256, 20, 9, true, 1920}}) {
    EXPECT_EQ(blocks_of(g, true), g.blocks) << fmt::format("{} images of {} by {}", g.images, g.channels, g.side);
  }
  // Few images, and 32 bits.
  EXPECT_EQ(blocks_of({1, 480, 14, 25, false, 0}, true), 92);
  EXPECT_EQ(blocks_of({4, 768, 7, 49, false, 0}, true), 192);
  EXPECT_EQ(blocks_of({64, 1024, 14, 9, false, 0}, true, true), 12544);
  EXPECT_EQ(blocks_of({16, 960, 19, 9, false, 0}, true, true), 6000);
  for (const Grid& g : std::vector<Grid>{{32, 144, 56, 9, false, 2 * 108 * 32},
                                         {64, 64, 128, 9, false, 4 * 104 * 64},
                                         {16, 240, 28, 25, false, 90 * 16},
                                         {16, 480, 14, 9, false, 60 * 16}})
    EXPECT_EQ(blocks_of(g, false), g.blocks);
}

TEST(DepthwiseBlocks, ArePyTorchsWhereCudnnHasNone) {
  const Extents e{.m = 32 * 14 * 14, .n = 1, .k = 49, .products = 64, .row = 14};
  EXPECT_FALSE(depthwise_blocks({.window = 49, .float16 = true}, e));
  EXPECT_FALSE(depthwise_blocks({.window = 9, .float32 = true}, e));
  EXPECT_FALSE(depthwise_blocks({.window = 81, .channels_last = true}, e));
  EXPECT_FALSE(depthwise_blocks({.inputs = 2, .window = 9, .channels_last = true}, e));
  EXPECT_FALSE(depthwise_blocks({.window = 9, .channels_last = true, .own_kernels = true}, e));
}

}  // namespace
}  // namespace perfc
