/// Pooling and regions of interest: extents, diagnostics and costs.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

const OpId kMax = op("nn.max_pool2d");
const OpId kAvg = op("nn.avg_pool2d");
const std::int64_t kOn = 1;

Attrs window(Ints kernel, Ints strides, Ints padding = {}, std::int64_t ceil = 0) {
  return {{"kernel_size", std::move(kernel)},
          {"strides", std::move(strides)},
          {"padding", std::move(padding)},
          {"ceil_mode", ceil}};
}

std::string pool1d(std::int64_t input, std::int64_t kernel, std::int64_t stride, Ints padding, std::int64_t ceil) {
  return type_of(op("nn.max_pool1d"), {tensor({1, 1, input})}, window({kernel}, {stride}, std::move(padding), ceil));
}

TEST(Pool, ResNetStem) {
  const Outcome o = call(kMax, {tensor({1, 64, 112, 112})}, window({3, 3}, {2, 2}, {1, 1, 1, 1}));
  EXPECT_EQ(o.types, (std::vector<std::string>{"Tensor[(1, 64, 56, 56), float32]"}));
  EXPECT_EQ(o.cost.macs, 0);
  EXPECT_EQ(o.cost.flops, 64 * 56 * 56 * 9);
}

TEST(Pool, CeilMode) {
  EXPECT_EQ(pool1d(10, 3, 2, {}, 0), "Tensor[(1, 1, 4), float32]");
  EXPECT_EQ(pool1d(10, 3, 2, {}, 1), "Tensor[(1, 1, 5), float32]");
  EXPECT_EQ(pool1d(11, 3, 2, {}, 1), "Tensor[(1, 1, 5), float32]");  // divides: nothing to round
  // A last window in the trailing padding is dropped: here at 6, behind 1 + 4.
  EXPECT_EQ(pool1d(4, 1, 2, {1, 1}, 1), "Tensor[(1, 1, 3), float32]");
  EXPECT_EQ(pool1d(4, 1, 2, {0, 1}, 1), "Tensor[(1, 1, 2), float32]");  // also when nothing was rounded
  EXPECT_EQ(pool1d(4, 1, 2, {0, 1}, 0), "Tensor[(1, 1, 3), float32]");
  EXPECT_EQ(pool1d(4, 1, 1, {0, 2}, 1), "Tensor[(1, 1, 5), float32]");
  EXPECT_EQ(pool1d(2, 1, 3, {0, 0}, 1), "Tensor[(1, 1, 1), float32]");  // would start at 3
  EXPECT_EQ(pool1d(4, 1, 3, {0, 0}, 1), "Tensor[(1, 1, 2), float32]");
}

/// transformers' EfficientNet averages 18×18 by windows of 2,560 (`nn.AvgPool2d(hidden_dim, ceil_mode=True)`).
TEST(Pool, WindowsBeyondAllOfTheData) {
  const Outcome o = call(kAvg, {tensor({1, 8, 18, 18})}, window({2560, 2560}, {2560, 2560}, {}, 1));
  EXPECT_EQ(o.types, (std::vector<std::string>{"Tensor[(1, 8, 1, 1), float32]"}));
  EXPECT_EQ(o.cost.flops, 8 * 18 * 18);
  Attrs last = window({9, 3}, {9, 3}, {}, 1);
  last.set("channels_last", kOn);
  EXPECT_EQ(call(kAvg, {tensor({1, 6, 6, 4})}, last).cost.flops, 4 * 2 * 6 * 3);
  EXPECT_EQ(pool1d(3, 4, 2, {}, 1), "Tensor[(1, 1, 1), float32]");
  EXPECT_EQ(pool1d(INT64_MAX - 1, 1, INT64_MAX, {}, 1), "Tensor[(1, 1, 1), float32]");  // no sum overflows
  EXPECT_NE(pool1d(3, 5, 2, {}, 1).find("does not fit"), std::string::npos);
  EXPECT_NE(pool1d(3, 4, 2, {}, 0).find("does not fit"), std::string::npos);
}

TEST(Pool, IndicesDilationAndAutoPad) {
  const Outcome o = call(kMax, {tensor({2, 3, 8, 8}, DType::Float16)}, window({2, 2}, {2, 2}), 2);
  EXPECT_EQ(o.types, (std::vector<std::string>{"Tensor[(2, 3, 4, 4), float16]", "Tensor[(2, 3, 4, 4), int64]"}));
  EXPECT_EQ(type_of(kMax, {tensor({1, 1, 7, 7})}, {{"kernel_size", Ints{3, 3}}, {"dilation", Ints{2, 3}}}),
            "Tensor[(1, 1, 3, 1), float32]");
  EXPECT_EQ(type_of(kAvg, {tensor({1, 1, 7, 9})},
                    {{"kernel_size", Ints{3, 3}}, {"strides", Ints{2, 4}}, {"auto_pad", std::string("SAME_LOWER")}}),
            "Tensor[(1, 1, 4, 3), float32]");
  EXPECT_EQ(type_of(op("nn.avg_pool3d"), {tensor({1, 2, 6, 8, 10})}, {{"kernel_size", Ints{2, 3, 4}}}),
            "Tensor[(1, 2, 5, 6, 7), float32]");
  EXPECT_EQ(type_of(kMax, {tensor({N, 3, unknown, 8})}, window({2, 2}, {2, 2})), "Tensor[(N, 3, ?, 4), float32]");
}

TEST(Pool, ChannelsLast) {
  Attrs attrs = window({2, 2}, {2, 2});
  attrs.set("channels_last", kOn);
  EXPECT_EQ(type_of(kMax, {tensor({1, 8, 6, 3}, DType::UInt8)}, attrs), "Tensor[(1, 4, 3, 3), uint8]");
}

TEST(Pool, Refuses) {
  EXPECT_EQ(type_of(kMax, {tensor({1, 3, 8, 8})}), "nn.max_pool2d: has no attribute 'kernel_shape'");
  EXPECT_EQ(type_of(kMax, {tensor({1, 3, 8, 8})}, {{"kernel_size", Ints{2}}}),
            "nn.max_pool2d: kernel_shape has 1 entries for 2 spatial axes");
  EXPECT_EQ(type_of(kMax, {tensor({1, 3, 8, 8})}, {{"kernel_size", Ints{9, 2}}}),
            "nn.max_pool2d: window of extent 9 does not fit into 8 with padding 0 and 0");
  EXPECT_EQ(type_of(kMax, {tensor({1, 3, 8, 8})}, {{"kernel_size", Ints{0, 2}}}),
            "nn.max_pool2d: kernel extent must be positive, got 0");
  EXPECT_EQ(type_of(kMax, {tensor({3, 8})}, {{"kernel_size", Ints{}}}),
            "nn.max_pool2d: X must have rank 3 or more, got Tensor[(3, 8), float32]");
}

TEST(GlobalPool, ReadsEverything) {
  const Outcome o = call(op("nn.adaptive_avg_pool2d"), {tensor({N, 2048, 7, 7})});
  EXPECT_EQ(o.types.at(0), "Tensor[(N, 2048, 1, 1), float32]");
  EXPECT_EQ(call(op("nn.adaptive_avg_pool2d"), {tensor({2, 2048, 7, 7})}).cost.flops, 2 * 2048 * 49);
  EXPECT_EQ(type_of(op("nn.adaptive_max_pool2d"), {tensor({1, 4, 5, 6, 7})}), "Tensor[(1, 4, 1, 1, 1), float32]");
}

TEST(MaxUnpool, InvertsExtents) {
  const Arg x = tensor({1, 1, 2, 2});
  const Arg indices = tensor({1, 1, 2, 2}, DType::Int64);
  EXPECT_EQ(type_of(op("nn.max_unpool"), {x, indices}, window({2, 2}, {2, 2})), "Tensor[(1, 1, 4, 4), float32]");
  EXPECT_EQ(type_of(op("nn.max_unpool"), {x, indices, ints({1, 1, 5, 5})}, window({2, 2}, {2, 2})),
            "Tensor[(1, 1, 5, 5), float32]");
  EXPECT_EQ(type_of(op("nn.max_unpool"), {x, indices, ints({5, 5})}, window({2, 2}, {2, 2})),
            "nn.max_unpool: output_shape has 2 entries, X has rank 4");
  EXPECT_EQ(type_of(op("nn.max_unpool"), {x, indices}), "nn.max_unpool: has no attribute 'kernel_shape'");
  EXPECT_EQ(type_of(op("nn.max_unpool"), {x, x}, window({2, 2}, {2, 2})),
            "nn.max_unpool: indices must be int64, got float32");
}

TEST(Roi, AlignAndPool) {
  const Outcome o = call(
      op("vision.roi_align"), {tensor({1, 256, 50, 50}), tensor({1000, 4}), tensor({1000}, DType::Int64)},
      {{"output_height", std::int64_t{7}}, {"output_width", std::int64_t{7}}, {"sampling_ratio", std::int64_t{3}}});
  EXPECT_EQ(o.types.at(0), "Tensor[(1000, 256, 7, 7), float32]");
  EXPECT_EQ(o.cost.flops, 1000.0 * 256 * 49 * 9 * 8);
  EXPECT_EQ(
      type_of(op("vision.roi_align"), {tensor({1, 256, 50, 50}), tensor({1000, 5}), tensor({1000}, DType::Int64)}),
      "vision.roi_align: rois have 5 coordinates, not 4");
  EXPECT_EQ(type_of(op("vision.roi_align"), {tensor({1, 256, 50, 50}), tensor({N, 4}), tensor({3}, DType::Int64)}),
            "Tensor[(3, 256, 1, 1), float32]");
  EXPECT_EQ(type_of(op("vision.roi_pool"), {tensor({1, 256, 50, 50}), tensor({N, 5})}, {{"pooled_shape", Ints{2, 3}}}),
            "Tensor[(N, 256, 2, 3), float32]");
  EXPECT_EQ(type_of(op("vision.roi_pool"), {tensor({1, 256, 50, 50}), tensor({N, 4})}, {{"pooled_shape", Ints{2, 3}}}),
            "vision.roi_pool: rois must be (?, 5), got Tensor[(N, 4), float32]");
}

}  // namespace
}  // namespace perfc::testing
