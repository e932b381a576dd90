/// Convolutions as products, and what they do not fill.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"
#include "kernel_plan.h"
#include "round_device.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/training.h"
#include "whitebox/price/evidence.h"
#include "whitebox/price/kernel_problems.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

/// Of a 3 × 3 convolution of 256 channels in float32 on a V100, µs per position.
double us_per_position(int plane, int stride) {
  const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(32, 256, {0}, {0}), float32]) {{
  %1 = weight : Tensor[(256, 256, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1], strides=[{1}, {1}]);
  (%2)
}})",
                                       plane, stride));
  Diagnostics diags("test");
  const Prediction p = predicted(g, {}, *DeviceTable::builtin().find("v100-16gb", diags));
  const int side = plane / stride;
  return p.device_ms / (side * side);
}

TEST(Whitebox, Float32ConvolutionsRunWinogradWhereItPays) {
  EXPECT_GT(us_per_position(64, 2) / us_per_position(64, 1), 1.5);  // stride 1 only
  // Planes of 32 are whole tiles of 4 × 4; of 33 a fifth of the tiles is empty.
  EXPECT_GT(us_per_position(33, 1) / us_per_position(32, 1), 1.1);
}

TEST(Whitebox, Float32ConvolutionsByOneAreProducts) {
  Diagnostics diags("test");
  const Device v100 = *DeviceTable::builtin().find("v100-16gb", diags);
  const Rates rates(v100, Precision::Fp32);
  const auto gap = [&](int stride) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(32, 512, 32, 32), float32]) {{
  %1 = weight : Tensor[(512, 512, 1, 1), float32];
  %2 = nn.conv2d(%x, %1, strides=[{0}, {0}]);
  (%2)
}})",
                                                         stride)),
                                    {.precision = Precision::Fp32});
    const Kernel& k = plan.kernels[0];
    const ProductTime t = product_time(*rates.convolution_product[0], implicit_vector_product(k, 4));
    const Priced p = price(k, rates);
    return (p.time_us - p.launch_us) / ((t.total - t.launch) * 1e6);
  };
  EXPECT_NEAR(gap(1), 1, 1e-6);
  EXPECT_GT(gap(2), 1.1);  // gathers every other position
}

/// Of a 3 × 3 convolution of a large image in float32.
Priced price_of_image(std::string_view device, int channels) {
  Diagnostics diags("test");
  const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(16, {0}, 256, 256), float32]) {{
  %1 = weight : Tensor[(64, {0}, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, strides=[1, 1]);
  (%2)
}})",
                                                       channels)),
                                  {.precision = Precision::Fp32});
  return price(plan.kernels[0], Rates(*DeviceTable::builtin().find(device, diags), Precision::Fp32));
}

TEST(Whitebox, WindowsOnVectorUnitsTakeKInStepsOfEight) {
  const auto us = [](int channels) { return price_of_image("v100-16gb", channels).compute_us; };
  EXPECT_GT(us(7) / us(4), 1.4);  // 63 and 36 columns of k: of steps of 32 as many
  EXPECT_NEAR(us(3) / us(4), 0.8, 0.1);
}

// What KernelBench's authors measured of this layer: studies/kernelbench, 1/63.
TEST(Whitebox, GatheringWindowsTakesArithmeticAndMovesNoMore) {
  Diagnostics diags("test");
  const Device l40s = *DeviceTable::builtin().find("l40s", diags);
  const double written = 16.0 * 64 * 254 * 254 * 4;
  const Priced p = price_of_image("l40s", 3);
  EXPECT_EQ(p.bound, Bound::Memory);
  EXPECT_LT(p.memory_us, 1.6 * written / (l40s.bandwidth_gb_s * 1e3));
  EXPECT_NEAR(p.time_us, 470, 80);
}

TEST(Whitebox, ConvolutionsOfOddChannelsKeepTheTensorCores) {
  const auto us = [](int channels) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(8, 64, 32, 32), float16]) {{
  %1 = weight : Tensor[({}, 64, 3, 3), float16];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  (%2)
}})",
                                                         channels)),
                                    {.precision = Precision::Fp16});
    return price(plan.kernels[0], Rates(round_device(), Precision::Fp16)).compute_us / channels;
  };
  EXPECT_NEAR(us(373) / us(376), 1 / 0.65, 1e-6);
}

Device a100() {
  Diagnostics diags("test");
  return *DeviceTable::builtin().find("a100-80gb", diags);
}

/// A convolution of 32 × 28 × 28 positions on an A100 in float16.
Priced convolution_on_a100(int channels, int results, int window, int groups, bool channels_last = true) {
  const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(32, {0}, 28, 28), float16]) {{
  %1 = weight : Tensor[({1}, {2}, {3}, {3}), float16];
  %2 = nn.conv2d(%x, %1, padding=[{4}, {4}, {4}, {4}], groups={5});
  (%2)
}})",
                                       channels, results, channels / groups, window, window / 2, groups));
  const KernelPlan plan =
      plan_of(g, {.precision = Precision::Fp16, .layout = channels_last ? Layout::Nhwc : Layout::Nchw});
  return price(plan.kernels.at(0), Rates(a100(), Precision::Fp16));
}

TEST(Whitebox, ConvolutionsAreImplicitProducts) {
  const Rates rates(a100(), Precision::Fp16);
  const Product same{.m = 32 * 28 * 28, .n = 256, .k = 256};
  EXPECT_NEAR(convolution_on_a100(256, 256, 1, 1).time_us,
              product_time(*rates.convolution_product[1], same).total * 1e6 + constants::kStreamGapUs, 1e-6);
  // A window walks along k, but its data come from memory once.
  const Priced window = convolution_on_a100(256, 256, 3, 1);
  EXPECT_LT(window.time_us, 9 * convolution_on_a100(256, 256, 1, 1).time_us);
  EXPECT_GT(window.compute_us, 5 * convolution_on_a100(256, 256, 1, 1).compute_us);
  // Positions of three channels are loaded as four, those of five as eight, those of 40 as 64.
  EXPECT_NEAR(convolution_on_a100(3, 64, 7, 1).compute_us, convolution_on_a100(4, 64, 7, 1).compute_us, 1e-6);
  EXPECT_LT(convolution_on_a100(3, 64, 7, 1).compute_us, 0.75 * convolution_on_a100(8, 64, 7, 1).compute_us);
  EXPECT_NEAR(convolution_on_a100(5, 64, 7, 1).compute_us, convolution_on_a100(8, 64, 7, 1).compute_us, 1e-6);
  EXPECT_NEAR(convolution_on_a100(40, 64, 3, 1).compute_us, convolution_on_a100(64, 64, 3, 1).compute_us, 1e-6);
}

TEST(Whitebox, NarrowGroupsDoNotFillTheirTiles) {
  const double dense = convolution_on_a100(256, 256, 3, 1).compute_us;
  EXPECT_GT(convolution_on_a100(256, 256, 3, 32).compute_us, 3 * dense / 32);
  EXPECT_GT(convolution_on_a100(256, 256, 3, 4).compute_us, dense / 4);
  EXPECT_GT(convolution_on_a100(256, 256, 3, 1, false).conversion_us, 0);
}

TEST(Whitebox, ConversionsOfChannelsFirstDataWaitForMultiprocessors) {
  const auto conversion_us = [](const char* device, int planes, int window, Precision precision) {
    const char* type = precision == Precision::Fp16 ? "float16" : "float32";
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[({0}, 256, 64, 64), {3}]) {{
  %1 = weight : Tensor[(256, 256, {1}, {1}), {3}];
  %2 = nn.conv2d(%x, %1, padding=[{2}, {2}, {2}, {2}], strides=[2, 2]);
  (%2)
}})",
                                         planes, window, window / 2, type));
    const KernelPlan plan = plan_of(g, {.precision = precision, .layout = Layout::Nchw});
    Diagnostics diags("test");
    const Device d = *DeviceTable::builtin().find(device, diags);
    return price(plan.kernels.at(0), Rates(d, precision)).conversion_us - (window > 1 ? 3 : 2) * d.launch_us;
  };
  // An A100 of 80 GB has the multiprocessors of one of 40, and an L40S' memory is slow: in 16 bits only that one waits
  // for it.
  EXPECT_NEAR(conversion_us("a100-80gb", 64, 1, Precision::Fp16) / conversion_us("a100-40gb", 64, 1, Precision::Fp16),
              1, 0.01);
  EXPECT_GT(conversion_us("l40s", 64, 1, Precision::Fp16), conversion_us("a100-80gb", 64, 1, Precision::Fp16));
  EXPECT_GT(conversion_us("a100-40gb", 64, 1, Precision::Tf32),
            1.1 * conversion_us("a100-40gb", 64, 1, Precision::Fp16));
  // Weights of 3 × 3 fill 9 of a tile's 32 positions: 0.59 M of them take as long as more than twice as much data.
  const double weights_us =
      conversion_us("a100-80gb", 1, 3, Precision::Fp16) - conversion_us("a100-80gb", 1, 1, Precision::Fp16);
  EXPECT_NEAR(weights_us * 108 * 1410 / (256 * 256 * 9), 0.306 + 0.349 * 32 / 9, 0.01);
}

TEST(Whitebox, MostKernelsInTf32WriteChannelsFirst) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 256, 64, 64), float32]) {
  %1 = weight : Tensor[(256, 256, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  (%2)
})");
  const auto conversion_us = [&](const char* device, Pass pass) {
    Kernel k = plan_of(g, {.precision = Precision::Tf32, .layout = Layout::Nchw}).kernels.at(0);
    k.pass = pass;
    Diagnostics diags("test");
    return price(k, Rates(*DeviceTable::builtin().find(device, diags), Precision::Tf32)).conversion_us;
  };
  EXPECT_NEAR(conversion_us("l4", Pass::Inference) / conversion_us("l4", Pass::Forward) * constants::kTrainingStep,
              (1 + 0.4) / (1 + 1), 0.02);
  EXPECT_EQ(conversion_us("h100-sxm", Pass::Inference), conversion_us("h100-sxm", Pass::Forward));
}

TEST(Whitebox, FirstLayersHaveNoKernelInTf32) {
  const auto us = [](int channels, Precision precision) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(64, {0}, 224, 224), float32]) {{
  %1 = weight : Tensor[(64, {0}, 7, 7), float32];
  %2 = nn.conv2d(%x, %1, padding=[3, 3, 3, 3], strides=[2, 2]);
  (%2)
}})",
                                         channels));
    return price(plan_of(g, {.precision = precision}).kernels.at(0), Rates(a100(), precision)).time_us;
  };
  EXPECT_EQ(us(3, Precision::Tf32), us(3, Precision::Fp32));
  EXPECT_LT(us(4, Precision::Tf32), us(4, Precision::Fp32));
}

/// Half of the 90 % interval, in ln, that the kernels of a call on an A100 leave.
double width_of_call(const std::string& data, const std::string& weight, const std::string& call) {
  const Graph g =
      graph_of(fmt::format("def @main(%x: {}) {{\n  %1 = weight : {};\n  %2 = {};\n  (%2)\n}}", data, weight, call));
  Diagnostics diags("test");
  const Device d = *DeviceTable::builtin().find("a100-40gb", diags);
  KernelEvidence evidence(d, Rates(d, Precision::Tf32));
  for (const Kernel& k : plan_of(g, {.precision = Precision::Tf32}).kernels) evidence.add(k, 1);
  return evidence.width();
}

TEST(KernelEvidence, FormsOfConvolutionsThatNobodyMeasuredAreWide) {
  const char* image = "Tensor[(8, 64, 32, 32), float32]";
  const char* weight = "Tensor[(64, 64, 3, 3), float32]";
  const double plain = width_of_call(image, weight, "nn.conv2d(%x, %1)");
  EXPECT_LT(plain, 0.4);
  EXPECT_NEAR(width_of_call(image, weight, "nn.conv2d_transpose(%x, %1)"), plain, 1e-9);
  for (const double wide : {width_of_call(image, weight, "nn.conv2d(%x, %1, dilation=[2, 2])"),
                            width_of_call(image, weight, "nn.conv2d_transpose(%x, %1, strides=[2, 2])"),
                            width_of_call(image, "Tensor[(64, 16, 3, 3), float32]", "nn.conv2d(%x, %1, groups=4)"),
                            width_of_call("Tensor[(8, 16, 8, 32, 32), float32]", "Tensor[(16, 16, 3, 3, 3), float32]",
                                          "nn.conv3d(%x, %1)")})
    EXPECT_GT(wide, 1.2);
}

}  // namespace
}  // namespace perfc
