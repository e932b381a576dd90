/// Training steps on an H200, as PyTorch's profiler measured their kernels (studies/hopper, fit-training.tsv.xz).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "graphs.h"
#include "kernel_plan.h"
#include "measured.h"
#include "whitebox/launch/training_step.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

KernelPlan step_of(const std::string& text, const ExecConfig& config) {
  const Graph g = graph_of(text);
  KernelPlan plan = plan_of(g, config);
  add_training_step(g, config, plan);
  return plan;
}

/// µs of those kernels of a plan that `counts` counts.
template <class Counts>
double us(const KernelPlan& plan, Precision precision, Counts counts, const char* device = "h200") {
  Diagnostics diags("test");
  const Rates rates(*DeviceTable::builtin().find(device, diags), precision);
  double out = 0;
  for (const Kernel& k : plan.kernels) {
    if (counts(k)) out += price(k, rates).time_us * k.repeat;
  }
  return out;
}

bool is_gradient(const Kernel& k) { return k.pass > Pass::Forward; }

struct Convolution {
  int images, channels, side, results, window, stride, groups;
  double measured_us;  ///< both gradients, what converts their data, and the gaps
  Precision precision;
  Layout layout = Layout::Nchw;
};

TEST(HopperTraining, GradientsOfConvolutionsTakeWhatTheyTook) {
  constexpr auto kAmp = Precision::Amp, kTf32 = Precision::Tf32, kFp32 = Precision::Fp32, kBf16 = Precision::Bf16;
  constexpr auto kLast = Layout::Nhwc;
  for (const Convolution& c : std::vector<Convolution>{{64, 256, 56, 64, 1, 1, 1, 85.0, kAmp},
                                                       {32, 128, 28, 32, 3, 1, 1, 66.4, kAmp},
                                                       {32, 960, 19, 960, 3, 1, 960, 81.8, kAmp},
                                                       {32, 72, 56, 72, 5, 2, 72, 83.9, kAmp, kLast},
                                                       {32, 384, 14, 384, 3, 1, 1, 81.2, kAmp, kLast},
                                                       {64, 192, 16, 192, 7, 1, 192, 384.0, kTf32},
                                                       {16, 384, 14, 384, 7, 1, 384, 399.6, kTf32, kLast},
                                                       {64, 768, 17, 192, 1, 1, 1, 86.6, kTf32, kLast},
                                                       {64, 24, 56, 36, 1, 1, 1, 152.2, kFp32, kLast},
                                                       {16, 36, 28, 36, 3, 1, 1, 82.1, kFp32, kLast},
                                                       {16, 120, 28, 120, 3, 1, 5, 343.2, kFp32, kLast},
                                                       {32, 96, 112, 96, 3, 2, 96, 192.2, kBf16, kLast},
                                                       {128, 192, 56, 128, 1, 1, 1, 150.9, kBf16}}) {
    const char* dtype = float_bytes(c.precision) == 2 ? "float16" : "float32";
    const KernelPlan plan = step_of(fmt::format(R"(def @main(%x: Tensor[({0}, {1}, {2}, {2}), {8}]) {{
  %1 = weight : Tensor[({1}, 1, 1), {8}];
  %2 = multiply(%x, %1);
  %3 = weight : Tensor[({3}, {4}, {5}, {5}), {8}];
  %4 = nn.conv2d(%2, %3, groups={7}, padding=[{6}, {6}, {6}, {6}], strides=[{9}, {9}]);
  (%4)
}})",
                                                c.images, c.channels, c.side, c.results, c.channels / c.groups,
                                                c.window, c.window / 2, c.groups, dtype, c.stride),
                                    {.precision = c.precision, .layout = c.layout, .task = Task::Train});
    SCOPED_TRACE(fmt::format("{} channels, window {}", c.channels, c.window));
    expect_measured(us(plan, c.precision,
                       [](const Kernel& k) { return k.pass == Pass::DataGradient || k.pass == Pass::WeightGradient; }),
                    c.measured_us, 1.3);
  }
}

TEST(HopperTraining, BatchNormsTakeWhatTheyTook) {
  struct Norm {
    int images, channels, side;
    double measured_us;
    bool backward;
    Precision precision;
    Layout layout = Layout::Nchw;
  };
  for (const Norm& c : std::vector<Norm>{
           {32, 256, 56, 109.3, false, Precision::Amp},
           {64, 336, 28, 31.8, false, Precision::Amp},  // a block holds a channel
           {16, 192, 56, 93.8, true, Precision::Tf32},
           {64, 64, 112, 244.5, true, Precision::Tf32, Layout::Nhwc},
           {64, 64, 112, 159.7, false, Precision::Tf32, Layout::Nhwc},
           {128, 512, 14, 88.8, true, Precision::Bf16},  // PyTorch's own: cuDNN wants parameters in 32 bits
       }) {
    const KernelPlan plan =
        step_of(fmt::format(R"(def @main(%x: Tensor[({0}, {1}, {2}, {2}), {3}]) {{
  %1 = weight : Tensor[({1}), float32];
  %2 = weight : Tensor[({1}), float32];
  %3 = nn.batch_norm(%x, %1, %1, %2, %2);
  (%3)
}})",
                            c.images, c.channels, c.side, c.precision == Precision::Tf32 ? "float32" : "float16"),
                {.precision = c.precision, .layout = c.layout, .task = Task::Train});
    SCOPED_TRACE(fmt::format("{} channels of {}", c.channels, c.side));
    expect_measured(
        us(plan, c.precision,
           [&](const Kernel& k) { return k.ops.front() == op("nn.batch_norm") && is_gradient(k) == c.backward; }),
        c.measured_us, 1.35);
  }
}

constexpr auto kLayer = R"(def @main(%x: Tensor[({0}, {1}), {3}]) {{
  %1 = weight : Tensor[({1}), {3}];
  %2 = nn.layer_norm(%x, %1, %1, axis=-1, epsilon=1e-05);
  %3 = weight : Tensor[({1}, {2}), {3}];
  %4 = nn.dense(%2, %3);
  %5 = weight : Tensor[({2}), {3}];
  %6 = nn.bias_add(%4, %5, axis=-1);
  (%6)
}})";

TEST(HopperTraining, ParametersOfLayersTakeWhatTheyTook) {
  const auto step = [](int rows, int columns, int results, Precision p) {
    return step_of(fmt::format(kLayer, rows, columns, results, float_bytes(p) == 2 ? "float16" : "float32"),
                   {.precision = p, .task = Task::Train});
  };
  const auto norm = [](const Kernel& k) { return k.ops.front() == op("nn.layer_norm") && is_gradient(k); };
  // layer_norm_grad_input_kernel_vectorized, and GammaBetaBackwardCUDAKernelTemplate, whose 24 blocks take all rows.
  expect_measured(us(step(6304, 768, 768, Precision::Tf32), Precision::Tf32, norm), 48.2, 1.2);
  expect_measured(us(step(25216, 768, 768, Precision::Bf16), Precision::Bf16, norm), 148.6, 1.2);
  // The bias': 352 blocks share a column, and the last adds up what they leave.
  const auto sum = [](const Kernel& k) { return k.ops.front() == op("sum_axes"); };
  expect_measured(us(step(25216, 768, 768, Precision::Bf16), Precision::Bf16, sum), 42.8, 1.2);
  expect_measured(us(step(2048, 1024, 1024, Precision::Bf16), Precision::Bf16, sum), 11.7, 1.3);
}

TEST(HopperTraining, WeightsOfFewChannelsSplitTheirRows) {
  const auto weights = [](const Kernel& k) { return k.pass == Pass::WeightGradient; };
  const auto step = [](int rows, int columns, int results, Precision p) {
    return step_of(fmt::format(kLayer, rows, columns, results, "float32"), {.precision = p, .task = Task::Train});
  };
  expect_measured(us(step(50176, 64, 256, Precision::Fp32), Precision::Fp32, weights), 50.9, 1.25);
  expect_measured(us(step(2048, 768, 3072, Precision::Fp32), Precision::Fp32, weights), 243.6, 1.2);
  expect_measured(us(step(3152, 768, 3072, Precision::Tf32), Precision::Tf32, weights), 92, 1.25);
}

TEST(TrainingStep, OptimizersTakeAllWeightsAtOnce) {
  const auto passes = [](Optimizer o, int rows) {
    const ExecConfig config{.task = Task::Train, .optimizer = o};
    const KernelPlan plan = step_of(fmt::format(kLayer, 4, 64, rows, "float32"), config);
    std::vector<Kernel> out;
    for (const Kernel& k : plan.kernels) {
      if (k.ops.front() == op("add") && k.pass == Pass::Backward) out.push_back(k);
    }
    return out;
  };
  // lerp, mul, addcmul, sqrt, div, add, addcdiv (torch/optim/adam.py): 18 elements for each of the weights.
  const auto adam = passes(Optimizer::Adam, 1000);
  ASSERT_EQ(adam.size(), 7u);
  double bytes = 0;
  for (const Kernel& k : adam) bytes += k.traffic.bytes;
  EXPECT_EQ(bytes, 18 * 4.0 * (64 + 64 * 1000 + 1000));
  EXPECT_EQ(passes(Optimizer::Momentum, 1000).size(), 3u);
  // A launch takes 320 chunks of 65,536 elements.
  EXPECT_EQ(passes(Optimizer::Sgd, 320 * 1024).size(), 2u);
}

TEST(TrainingStep, AutocastCastsBiasesThereAndBack) {
  const ExecConfig config{.precision = Precision::Amp, .task = Task::Train};
  const KernelPlan plan = step_of(fmt::format(kLayer, 4, 64, 1000, "float32"), config);
  std::vector<double> forwards, backwards;
  for (const Kernel& k : plan.kernels) {
    if (k.ops.front() == op("cast")) (is_gradient(k) ? backwards : forwards).push_back(k.work.flops);
  }
  std::ranges::sort(forwards);
  std::ranges::sort(backwards);
  const std::vector<double> both{4 * 64, 1000, 64 * 1000};  // data, bias, weights: torch's autocast, linear
  EXPECT_EQ(forwards, both);
  EXPECT_EQ(backwards, both);
}

TEST(TrainingStep, ANormCountsItsBatches) {
  const ExecConfig config{.task = Task::Train};
  const KernelPlan plan = step_of(R"(def @main(%x: Tensor[(8, 16, 4, 4), float32]) {
  %1 = weight : Tensor[(16), float32];
  %2 = weight : Tensor[(16), float32];
  %3 = nn.batch_norm(%x, %1, %1, %2, %2);
  (%3)
})",
                                  config);
  const auto counts = std::ranges::count_if(plan.kernels, [](const Kernel& k) { return k.traffic.bytes == 16; });
  EXPECT_EQ(counts, 1);
}

}  // namespace
}  // namespace perfc
