/// What a backward pass launches, and what its kernels reach.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>

#include "graphs.h"
#include "kernel_plan.h"
#include "whitebox/launch/training_step.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

KernelPlan step_of(const Graph& g, const ExecConfig& config) {
  KernelPlan plan = plan_of(g, config);
  add_training_step(g, config, plan);
  return plan;
}

/// Kinds of a 3×3 convolution's two gradients.
std::vector<KernelKind> gradients(int groups, int width, Layout layout) {
  const int channels = groups * width;
  const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(8, {0}, 16, 16), float32]) {{
  %1 = weight : Tensor[({0}, {0}, 1, 1), float32];
  %2 = nn.conv2d(%x, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %3 = weight : Tensor[({0}, {1}, 3, 3), float32];
  %4 = nn.conv2d(%2, %3, kernel_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups={2});
  (%4)
}})",
                                       channels, width, groups));
  const KernelPlan plan = step_of(g, {.precision = Precision::Fp16, .layout = layout, .task = Task::Train});
  std::vector<KernelKind> out;
  std::size_t forward = 0;
  for (const Kernel& k : plan.kernels) {
    if (k.work.macs > 0 && k.extents.channels_per_group != kUngrouped && forward++ > 0) out.push_back(k.kind);
  }
  return out;
}

TEST(TrainingStep, GroupedGradientsFallBackChannelsLast) {
  constexpr auto kOnMatrixUnits = KernelKind::Convolution, kFallsBack = KernelKind::Depthwise;
  EXPECT_EQ(gradients(4, 16, Layout::Nchw), std::vector(2, kOnMatrixUnits));
  EXPECT_EQ(gradients(4, 16, Layout::Nhwc), std::vector(2, kFallsBack));
  EXPECT_EQ(gradients(32, 8, Layout::Nhwc), std::vector(2, kOnMatrixUnits));
  EXPECT_EQ(gradients(32, 24, Layout::Nhwc), std::vector(2, kFallsBack));
}

/// Extents of the gradient of a convolution's data, 3 × 3 from 32 to 128 channels.
Extents data_gradient(int stride) {
  const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(8, 32, 16, 16), float32]) {{
  %1 = weight : Tensor[(32, 32, 1, 1), float32];
  %2 = nn.conv2d(%x, %1);
  %3 = weight : Tensor[(128, 32, 3, 3), float32];
  %4 = nn.conv2d(%2, %3, strides=[{0}, {0}], padding=[1, 1, 1, 1]);
  (%4)
}})",
                                       stride));
  const KernelPlan plan = step_of(g, {.precision = Precision::Fp16, .task = Task::Train});
  return plan.kernels.at(2).extents;  // the last convolution's gradients come first
}

TEST(TrainingStep, AConvolutionsGradientIsAConvolutionOfTheOtherChannels) {
  const Extents whole = data_gradient(1);
  EXPECT_EQ(whole.m, 8 * 16 * 16);
  EXPECT_EQ(whole.n, 32);
  EXPECT_EQ(whole.k, 9 * 128);
  const Extents halved = data_gradient(2);  // each position of the data was in a quarter of the windows
  EXPECT_EQ(halved.m, 8 * 16 * 16);
  EXPECT_EQ(halved.n, 32);
  EXPECT_EQ(halved.k, 9 * 128 / 4.0);
}

/// µs on a device of 40 multiprocessors that the batch norms of a step take beyond their launches.
double batch_norm_us(int channels, int extent, Layout layout) {
  const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(8, {0}, {1}, {1}), float32]) {{
  %1 = weight : Tensor[({0}, {0}, 1, 1), float32];
  %2 = nn.conv2d(%x, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %3 = weight : Tensor[({0},), float32];
  %4 = nn.batch_norm(%2, %3, %3, %3, %3);
  (%4)
}})",
                                       channels, extent));
  const Device d{.kind = "gpu", .vector_tflops = {{"float32", 10}}, .bandwidth_gb_s = 1000, .sms = 40};
  double us = 0;
  for (const Kernel& k : step_of(g, {.layout = layout, .task = Task::Train}).kernels) {
    if (k.ops.front() == op("nn.batch_norm")) us += price(k, Rates(d, Precision::Fp32)).memory_us;
  }
  return us;
}

TEST(TrainingStep, ABatchNormChannelsFirstHasABlockPerChannel) {
  // As many elements in a quarter of the channels: 10 of 40 multiprocessors work.
  EXPECT_NEAR(batch_norm_us(10, 32, Layout::Nchw) / batch_norm_us(40, 16, Layout::Nchw), 4, 0.01);
  EXPECT_NEAR(batch_norm_us(10, 32, Layout::Nhwc) / batch_norm_us(40, 16, Layout::Nhwc), 1, 0.01);
  EXPECT_NEAR(batch_norm_us(80, 16, Layout::Nchw) / batch_norm_us(40, 16, Layout::Nchw), 2, 0.01);
}

/// µs of a depthwise convolution's gradient.
double depthwise_gradient_us(const ExecConfig& config) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 128, 16, 16), float32]) {
  %1 = weight : Tensor[(128, 128, 1, 1), float32];
  %2 = nn.conv2d(%x, %1);
  %3 = weight : Tensor[(128, 1, 3, 3), float32];
  %4 = nn.conv2d(%2, %3, padding=[1, 1, 1, 1], groups=128);
  (%4)
})");
  const Device d{.kind = "gpu",
                 .architecture = "volta",
                 .vector_tflops = {{"float32", 10}},
                 .bandwidth_gb_s = 1000,
                 .sms = 40,
                 .boost_clock_mhz = 1000};
  double slowest = 0;
  for (const Kernel& k : step_of(g, config).kernels) {
    if (k.kind == KernelKind::Depthwise && k.pass == Pass::WeightGradient)
      slowest = std::max(slowest, price(k, Rates(d, Precision::Fp32)).roofline_us());
  }
  return slowest;
}

TEST(TrainingStep, ACompiledOnesGradientsLieAsTheCompilerLaysTheirConvolutions) {
  const ExecConfig last{.layout = Layout::Nhwc, .task = Task::Train};
  const double first = depthwise_gradient_us({.task = Task::Train});
  EXPECT_LT(depthwise_gradient_us(last), first);
  EXPECT_EQ(depthwise_gradient_us({.mode = ExecMode::Compiled, .task = Task::Train}), depthwise_gradient_us(last));
}

/// What elementwise kernels of a step move, in 4 KiB: values of 1,024 float32.
std::map<std::string, std::vector<double>> moved(const Graph& g, ExecMode mode) {
  std::map<std::string, std::vector<double>> out;
  for (const Kernel& k : step_of(g, {.mode = mode, .task = Task::Train, .optimizer = Optimizer::Sgd}).kernels) {
    if (k.work.macs == 0) out[std::string(def(k.ops.front()).name)].push_back(k.traffic.bytes / 4096);
  }
  return out;
}

TEST(TrainingStep, AnActivationThatACompilerFusedHasItsGradient) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(32, 32), float32]) {
  %1 = weight : Tensor[(32, 32), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.dense(%2, %1);
  %4 = add(%2, %3);
  %5 = nn.gelu(%4);
  (%5)
})");
  // Forwards it reads both and writes the result; a gradient is written from the result's and what was kept.
  EXPECT_EQ(moved(g, ExecMode::Compiled)["add"], (std::vector<double>{3, 4.5, 1, 3}));
  // Eager PyTorch adds in a kernel of its own, whose gradient is the result's, and sums %2's by another.
  EXPECT_EQ(moved(g, ExecMode::Eager)["nn.gelu"], (std::vector<double>{2, 3}));
  EXPECT_EQ(moved(g, ExecMode::Eager)["add"], (std::vector<double>{3, 3, 3}));
}

}  // namespace
}  // namespace perfc
