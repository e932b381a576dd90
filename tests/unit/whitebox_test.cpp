/// Kernels, liveness and the roofline, on graphs small enough to compute by hand.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphs.h"
#include "kernel_plan.h"
#include "whitebox/constants.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/memory/memory.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

/// 1 TFLOP/s, 1 GB/s per … everything round, all shares 1.
Device round_device() {
  Device d;
  d.name = "round";
  d.kind = "gpu";
  d.vector_tflops = {{"float32", 1}};
  d.matrix_tflops = {{"float16", 4}};
  d.bandwidth_gb_s = 100;
  d.memory_mib = 1000;
  d.sms = 10;
  d.tdp_w = 100;
  d.idle_w = 20;
  d.launch_us = 2;
  for (const char* kind : {"matmul", "convolution", "vector_matmul", "vector_convolution", "depthwise", "vector",
                           "bandwidth", "gather", "layout"})
    d.efficiency[kind] = 1;
  return d;
}

Prediction predicted(const Graph& g, ExecConfig config, const Device& d) {
  Diagnostics diags("test");
  auto model = make_whitebox()->prepare(g, config, diags);
  EXPECT_TRUE(model) << diags.str();
  return model ? (*model)->on(d) : Prediction{};
}

const char* const kDense = R"(def @main(%x: Tensor[(256, 512), float32]) {
  %1 = weight : Tensor[(512, 1024), float32];
  %2 = nn.dense(%x, %1);
  (%2)
})";

TEST(Whitebox, ARooflineHasTwoSidesAndALaunch) {
  const double macs = 256.0 * 512 * 1024, bytes = 4 * (256 * 512 + 1024 * 512 + 256 * 1024);
  Device d = round_device();
  const Prediction compute = predicted(graph_of(kDense), {}, d);
  EXPECT_NEAR(compute.latency_ms, 2 * macs / 1e12 * 1e3 + 2e-3, 1e-9);
  EXPECT_EQ(compute.ops.at(0).bound, Bound::Compute);
  d.bandwidth_gb_s = 1;
  const Prediction memory = predicted(graph_of(kDense), {}, d);
  EXPECT_NEAR(memory.latency_ms, bytes / 1e9 * 1e3 + 2e-3, 1e-9);
  EXPECT_EQ(memory.ops.at(0).bound, Bound::Memory);
}

const char* const kConvolutionAndDense = R"(def @main(%x: Tensor[({0}, {1}, 56, 56), float32]) {{
  %1 = weight : Tensor[({1}, {1}, 3, 3), float32];
  %2 = weight : Tensor[(56, 512), float32];
  %3 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  %4 = nn.dense(%3, %2);
  (%4)
}})";

/// Device time of the operators of the graph above under a precision: convolution, product.
std::pair<double, double> convolution_and_dense_us(int batch, int channels, Precision p, const Device& d) {
  const Graph g = graph_of(fmt::format(fmt::runtime(kConvolutionAndDense), batch, channels));
  const Prediction out = predicted(g, {.precision = p}, d);
  EXPECT_EQ(out.ops.size(), 2u);
  return {out.ops.at(0).time_us, out.ops.at(1).time_us};
}

// Conversions to channels last made small TF32 convolutions slower than float32's, which cuDNN may take instead.
TEST(Whitebox, Tf32IsNeverSlowerThanFloat32AndTheDefaultHasItInConvolutionsOnly) {
  for (const Device& d : DeviceTable::builtin().all()) {
    for (const auto& [batch, channels] : {std::pair{1, 8}, {1, 64}, {64, 4}, {64, 64}, {64, 256}}) {
      SCOPED_TRACE(fmt::format("{}: batch {}, {} channels", d.name, batch, channels));
      const auto full = convolution_and_dense_us(batch, channels, Precision::Fp32, d);
      const auto tf32 = convolution_and_dense_us(batch, channels, Precision::Tf32, d);
      const auto untouched = convolution_and_dense_us(batch, channels, Precision::Default, d);
      EXPECT_LE(tf32.first, full.first);
      EXPECT_LE(tf32.second, full.second);
      EXPECT_EQ(untouched.first, tf32.first);
      EXPECT_EQ(untouched.second, full.second);
    }
  }
  Diagnostics diags("--device");
  const Device a100 = *DeviceTable::builtin().find("a100-80gb", diags);
  EXPECT_LT(convolution_and_dense_us(64, 256, Precision::Default, a100).first,
            0.8 * convolution_and_dense_us(64, 256, Precision::Fp32, a100).first);
}

const char* const kLongConvolution = R"(def @main(%x: Tensor[(64, 512, 56, 56), float32]) {
  %1 = weight : Tensor[(512, 512, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  (%2)
})";

Prediction of_long_convolution(Precision p, std::string_view device, double times_power = 1) {
  Diagnostics diags("--device");
  Device d = *DeviceTable::builtin().find(device, diags);
  d.tdp_w *= times_power;
  return predicted(graph_of(kLongConvolution), {.precision = p}, d);
}

// T4 ran convolutions at its data sheet's clock, of which 70 W leave a half.
TEST(Whitebox, ConvolutionsSlowDownUnderThePowerLimit) {
  const auto gain = [](Precision p, std::string_view device) {
    return of_long_convolution(p, device).device_ms / of_long_convolution(p, device, 4).device_ms;
  };
  EXPECT_GT(gain(Precision::Fp32, "t4"), 1.8);
  EXPECT_GT(gain(Precision::Fp16, "l4"), 1.15);
  EXPECT_GT(gain(Precision::Fp16, "rtx-pro-6000-maxq"), 1.15);
  EXPECT_NEAR(gain(Precision::Fp16, "rtx4090"), 1, 1e-9);
  EXPECT_NEAR(gain(Precision::Fp32, "p100"), 1, 1e-9);
}

TEST(Whitebox, KernelsAtThePowerLimitDrawItAndOthersLess) {
  EXPECT_GT(of_long_convolution(Precision::Fp32, "t4").power_w, 0.85 * 70);
  EXPECT_LT(of_long_convolution(Precision::Fp32, "t4").power_w, 70);
  EXPECT_LT(of_long_convolution(Precision::Fp32, "p100").power_w, 0.85 * 250);
}

const char* const kTwoLayers = R"(def @main(%x: Tensor[(4096, 4096), float32]) {
  %1 = weight : Tensor[(4096, 4096), float32];
  %2 = weight : Tensor[(4096, 4096), float32];
  %3 = nn.dense(%x, %1);
  %4 = nn.dense(%x, %2);
  %5 = add(%3, %4);
  (%5)
})";

TEST(Whitebox, Int8QuantisesDataOnceAndMultipliesInEightBits) {
  for (const ExecMode mode : {ExecMode::Eager, ExecMode::Compiled}) {
    const KernelPlan plan = plan_of(graph_of(kTwoLayers), {.precision = Precision::Int8, .mode = mode});
    const auto count = [&](auto&& of) { return std::ranges::count_if(plan.kernels, of); };
    EXPECT_EQ(count([](const Kernel& k) { return k.ops.front() == op("qnn.dynamic_quantize"); }), 1);
    EXPECT_EQ(count([](const Kernel& k) { return k.quantised == Quantised::Both; }), 2);
    const auto product = std::ranges::find(plan.kernels, Quantised::Both, &Kernel::quantised);
    if (mode == ExecMode::Eager) { EXPECT_EQ(product->traffic.bytes, 4096.0 * 4096 * (1 + 1 + 2)); }
  }
  Diagnostics diags("--device");
  for (const char* name : {"a100-80gb", "h100-sxm", "l40s", "l4", "rtx4090", "t4"}) {
    const Device d = *DeviceTable::builtin().find(name, diags);
    const double wide = predicted(graph_of(kTwoLayers), {.precision = Precision::Fp16}, d).device_ms;
    EXPECT_LT(predicted(graph_of(kTwoLayers), {.precision = Precision::Int8}, d).device_ms, wide) << name;
  }
}

TEST(Whitebox, Int8HoldsDenseWeightsInAByte) {
  Diagnostics diags("--device");
  const Device d = *DeviceTable::builtin().find("a100-80gb", diags);
  EXPECT_NEAR(predicted(graph_of(kTwoLayers), {.precision = Precision::Int8}, d).memory.weights_mib, 32, 0.1);
  EXPECT_NEAR(predicted(graph_of(kTwoLayers), {.precision = Precision::Bf16}, d).memory.weights_mib, 64, 0.1);
}

TEST(Whitebox, Int8IsRefusedWhereLittleRunsInEightBits) {
  const auto refusal = [](const char* text, ExecConfig config) {
    Diagnostics diags("net");
    EXPECT_FALSE(make_whitebox()->prepare(graph_of(text), config, diags));
    return diags.str();
  };
  const char* const convolution = R"(def @main(%x: Tensor[(1, 8, 32, 32), float32]) {
  %1 = weight : Tensor[(8, 8, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  (%2)
})";
  const std::string why = refusal(convolution, {.precision = Precision::Int8});
  EXPECT_NE(why.find("0.0 % of this model's products"), std::string::npos) << why;
  EXPECT_NE(why.find("--dtype bf16, fp16 or amp"), std::string::npos) << why;
  EXPECT_NE(refusal(kTwoLayers, {.precision = Precision::Int8, .task = Task::Train}).find("--task infer"),
            std::string::npos);
}

TEST(Whitebox, Float32ConvolutionsOfThreeByThreeRunWinograd) {
  const Device d = round_device();
  const char* const text = R"(def @main(%x: Tensor[(8, 256, 32, 32), float32], %w: Tensor[(256, 256, 3, 3), float32]) {{
  %2 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], strides=[{0}, {0}]);
  (%2)
}})";
  const auto time = [&](int stride) {
    return predicted(graph_of(fmt::format(fmt::runtime(text), stride)), {}, d).latency_ms - 2e-3;
  };
  const double macs = 8.0 * 256 * 256 * 9 * 32 * 32;
  EXPECT_NEAR(time(1), 2 * macs / (1e12 * 1.5) * 1e3, 1e-6);
  EXPECT_NEAR(time(2), 2 * macs / 4 / 1e12 * 1e3, 1e-6);
}

TEST(Whitebox, TensorCoresNeedADtypeAndExtentsOfEight) {
  const Device d = round_device();
  const Graph aligned = graph_of(kDense);
  const double full = predicted(aligned, {.precision = Precision::Fp32}, d).latency_ms;
  const double half = predicted(aligned, {.precision = Precision::Fp16}, d).latency_ms;
  EXPECT_NEAR((full - 2e-3) / (half - 2e-3), 4, 1e-6);
  const Graph odd = graph_of(R"(def @main(%x: Tensor[(256, 511), float32]) {
  %1 = weight : Tensor[(511, 1024), float32];
  %2 = nn.dense(%x, %1);
  (%2)
})");
  EXPECT_NEAR(predicted(odd, {.precision = Precision::Fp16}, d).latency_ms,
              predicted(odd, {.precision = Precision::Fp32}, d).latency_ms, 1e-3);
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
              product_time(*rates.convolution_product[1], same).total * 1e6, 1e-6);
  // A window walks along k, but its data come from memory once.
  const Priced window = convolution_on_a100(256, 256, 3, 1);
  EXPECT_LT(window.time_us, 9 * convolution_on_a100(256, 256, 1, 1).time_us);
  EXPECT_GT(window.compute_us, 5 * convolution_on_a100(256, 256, 1, 1).compute_us);
  // Positions of three channels are loaded as eight, those of 40 as 64.
  EXPECT_NEAR(convolution_on_a100(3, 64, 7, 1).compute_us, convolution_on_a100(8, 64, 7, 1).compute_us, 1e-6);
  EXPECT_NEAR(convolution_on_a100(40, 64, 3, 1).compute_us, convolution_on_a100(64, 64, 3, 1).compute_us, 1e-6);
}

TEST(Whitebox, NarrowGroupsDoNotFillTheirTiles) {
  const double dense = convolution_on_a100(256, 256, 3, 1).compute_us;
  EXPECT_GT(convolution_on_a100(256, 256, 3, 32).compute_us, 3 * dense / 32);
  EXPECT_GT(convolution_on_a100(256, 256, 3, 4).compute_us, dense / 4);
  EXPECT_GT(convolution_on_a100(256, 256, 3, 1, false).conversion_us, 0);
}

TEST(Whitebox, SmallModelsWaitForTheHost) {
  Device d = round_device();
  d.host.eager_us.fill(50);
  d.host.compiled_us = 1;
  const Graph g = graph_of(R"(def @main(%x: Tensor[(4,), float32]) {
  %1 = nn.relu(%x);
  %2 = exp(%1);
  %3 = nn.relu(%2);
  (%3)
})");
  EXPECT_NEAR(predicted(g, {.mode = ExecMode::Eager}, d).latency_ms, 0.150, 1e-9);
  EXPECT_NEAR(predicted(g, {.mode = ExecMode::Compiled}, d).latency_ms, 0.002, 1e-4);  // one fused kernel
}

TEST(Kernels, CompilersFuseWhatIsNotAProduct) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 128), float32]) {
  %1 = weight : Tensor[(128, 128), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.relu(%2);
  %4 = exp(%3);
  %5 = nn.softmax(%4, axis=-1);
  %6 = add(%5, %2);
  (%6)
})");
  EXPECT_EQ(plan_of(g, {.mode = ExecMode::Eager}).kernels.size(), 5u);
  const KernelPlan fused = plan_of(g, {.mode = ExecMode::Compiled});
  ASSERT_EQ(fused.kernels.size(), 2u);
  EXPECT_EQ(fused.kernels[1].traffic.bytes, 2 * 64 * 128 * 4);  // reads %2 once, writes %6
}

TEST(Kernels, AutocastCastsOnceToEachSide) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 128), float32]) {
  %1 = weight : Tensor[(128, 128), float32];
  %2 = nn.dense(%x, %1);
  %3 = exp(%2);
  (%3)
})");
  // x → half, weight → half, dense, dense's result → float, exp.
  EXPECT_EQ(plan_of(g, {.precision = Precision::Amp}).kernels.size(), 5u);
  EXPECT_EQ(plan_of(g, {.precision = Precision::Fp16}).kernels.size(), 2u);
}

TEST(Kernels, ADenseLayersBiasIsPartOfItsProduct) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32], %i: Tensor[(1, 8, 4, 4), float32]) {
  %2 = weight : Tensor[(16, 8), float32];
  %3 = nn.dense(%x, %2);
  %4 = weight : Tensor[(8,), float32];
  %5 = nn.bias_add(%3, %4, axis=1);
  %6 = weight : Tensor[(8, 8, 1, 1), float32];
  %7 = nn.conv2d(%i, %6, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %8 = nn.bias_add(%7, %4, axis=1);
  (%5, %8)
})");
  const KernelPlan s = plan_of(g, {});
  EXPECT_EQ(s.kernels.size(), 3u);  // dense with its bias, convolution, bias
  EXPECT_EQ(calls_of(s), (Calls{{"product", 1}, {"convolution", 1}, {"inner", 1}}));
}

TEST(Kernels, SelectsAreViews) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(3, 8), float32]) {
  %1 = const[2] : Tensor[(), int64];
  %2 = take(%x, %1, axis=0);
  %3 = nn.relu(%2);
  (%3)
})");
  EXPECT_EQ(plan_of(g, {}).kernels.size(), 1u);
}

TEST(Kernels, HalfNormsTakeAndGive16Bits) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 16), float32];
  %2 = nn.dense(%x, %1);
  %3 = weight : Tensor[(16,), float32];
  %4 = nn.layer_norm(%2, %3, %3);
  %5 = nn.dense(%4, %1);
  (%5)
})");
  const auto norm = [&](Norms norms) {
    const KernelPlan plan = plan_of(g, {.precision = Precision::Amp, .norms = norms});
    return std::pair(plan.kernels.size(), std::ranges::find_if(plan.kernels, [](const Kernel& k) {
                                            return k.ops.front() == op("nn.layer_norm");
                                          })->traffic.bytes);
  };
  // x and the weight are cast, then the norm's operand and result; or the norm's parameter instead.
  EXPECT_EQ(norm(Norms::Full), std::pair(std::size_t{7}, 8 * 16 * (4 + 4) + 2 * 16 * 4.0));
  EXPECT_EQ(norm(Norms::Half), std::pair(std::size_t{6}, 8 * 16 * (2 + 2) + 2 * 16 * 2.0));
}

TEST(Kernels, BatchNormKeepsTheWidthOfItsDataUnderAutocast) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 8, 4, 4), float32]) {
  %1 = weight : Tensor[(8, 8, 1, 1), float32];
  %2 = nn.conv2d(%x, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %3 = weight : Tensor[(8,), float32];
  %4 = nn.batch_norm(%2, %3, %3, %3, %3);
  (%4)
})");
  const KernelPlan s = plan_of(g, {.precision = Precision::Amp});
  ASSERT_EQ(s.kernels.size(), 4u);  // two casts, convolution, batch-norm
  EXPECT_EQ(s.kernels.back().traffic.bytes, 2 * 128 * 2 + 4 * 8 * 4);
}

TEST(Kernels, AReshapeOfATransposeCopies) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = transpose(%x, perm=[1, 0]);
  %2 = const[128] : Tensor[(1,), int64];
  %3 = reshape(%1, %2);
  (%3)
})");
  const KernelPlan s = plan_of(g, {});
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(s.kernels[0].traffic.bytes, 2 * 128 * 4);
}

TEST(Kernels, ViewsBetweenKernelsAreOneCallOfTheHost) {
  const Graph two_views = graph_of(R"(def @main(%x: Tensor[(16, 8), float32]) {
  %1 = nn.relu(%x);
  %2 = const[4, 4, 8] : Tensor[(3,), int64];
  %3 = reshape(%1, %2);
  %4 = transpose(%3, perm=[1, 0, 2]);
  %5 = exp(%4);
  %6 = log(%4);
  (%5, %6)
})");
  const Graph one_view = graph_of(R"(def @main(%x: Tensor[(16, 8), float32]) {
  %1 = nn.relu(%x);
  %2 = transpose(%1, perm=[1, 0]);
  %3 = exp(%2);
  %4 = log(%2);
  (%3, %4)
})");
  for (const Graph* g : {&two_views, &one_view}) {
    EXPECT_EQ(plan_of(*g, {}).kernels.size(), 3u);
    EXPECT_EQ(calls_of(plan_of(*g, {})), (Calls{{"kernel", 3}, {"view", 1}}));
  }
}

TEST(Kernels, HowAWeightIsStoredMakesNoDifference) {
  const auto plan = [](const std::string& weight, const std::string& attr) {
    return plan_of(graph_of("def @main(%x: Tensor[(64, 128), float32]) {\n  %1 = weight : Tensor[" + weight +
                            ", float32];\n  %2 = nn.dense(%x, %1" + attr + ");\n  (%2)\n}"),
                   {.precision = Precision::Amp});
  };
  const KernelPlan rows = plan("(128, 32)", ""), columns = plan("(32, 128)", ", transB=1");
  ASSERT_EQ(rows.kernels.size(), 3u);  // two casts, the product
  ASSERT_EQ(columns.kernels.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows.kernels[i].extents.m, columns.kernels[i].extents.m);
    EXPECT_EQ(rows.kernels[i].extents.n, columns.kernels[i].extents.n);
  }
}

TEST(Kernels, AFusedKernelHasTheGeometryOfItsReduction) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%x: Tensor[(64, 8, 16), float32]) {
  %1 = const[64, 128] : Tensor[(2,), int64];
  %2 = reshape(%x, %1);
  %3 = exp(%2);
  %4 = nn.softmax(%3, axis=-1);
  (%4)
})"),
                               {.mode = ExecMode::Compiled});
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(s.kernels[0].extents.m, 64);
  EXPECT_EQ(s.kernels[0].extents.n, 128);
  ASSERT_EQ(s.kernels[0].ops.size(), 2u);  // views are not computed
  EXPECT_EQ(s.kernels[0].ops[0], op("nn.softmax"));
  EXPECT_EQ(s.kernels[0].ops[1], op("exp"));
}

TEST(Kernels, OnlyTheResultsThatLeaveAFusedKernelAreWritten) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%x: Tensor[(4, 16), float32]) {
  %1 = exp(%x);
  %2:2 = split(%1, axis=1);
  %3 = nn.softmax(%2.0, axis=-1);
  %4 = weight : Tensor[(8, 8), float32];
  %5 = nn.dense(%2.1, %4);
  (%3, %5)
})"),
                               {.mode = ExecMode::Compiled});
  ASSERT_EQ(s.kernels.size(), 2u);
  EXPECT_EQ(s.kernels[0].traffic.bytes, (4 * 16 + 4 * 8 + 4 * 8) * 4);  // reads %x, writes %3 and %2.1
}

TEST(Kernels, PoolingToOnePositionIsAMean) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%x: Tensor[(4, 16, 7, 7), float32]) {
  %1 = nn.adaptive_avg_pool2d(%x);
  (%1)
})"),
                               {});
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(s.kernels[0].ops[0], op("mean"));
}

TEST(Kernels, AttentionWrittenOutKeepsItsScores) {
  const auto attention = [](const char* form) {
    return graph_of(std::string(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32]) {
  %1 = nn.sdpa(%q, %q, %q, scale=0.25)") +
                    form + R"();
  (%1)
})");
  };
  const Graph fused = attention(""), apart = attention(", explicit=1");
  EXPECT_EQ(plan_of(fused, {}).kernels.size(), 1u);
  const KernelPlan s = plan_of(apart, {});  // scale, product, softmax, product
  ASSERT_EQ(s.kernels.size(), 4u);
  const double scores = 2 * 4 * 32 * 32;
  EXPECT_EQ(s.kernels[1].work.macs, scores * 16);
  EXPECT_EQ(s.kernels[1].traffic.bytes, 4 * (2 * 2 * 4 * 32 * 16 + scores));
  EXPECT_EQ(s.kernels[1].work.macs + s.kernels[3].work.macs, plan_of(fused, {}).kernels[0].work.macs);
  // Beside q and the result: the scores before and after the softmax, and a dense copy of v.
  EXPECT_EQ(memory_needs(apart, {}).allocated - memory_needs(fused, {}).allocated,
            2 * 4 * scores + 4 * 2 * 4 * 32 * 16);
}

TEST(Kernels, HeadsThatShareKeysRunTheReferenceAttention) {
  const auto plan = [](const char* heads, const ExecConfig& config) {
    return plan_of(
        graph_of(fmt::format(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32], %k: Tensor[(2, {0}, 8, 16), float32]) {{
  %2 = nn.sdpa(%q, %k, %k);
  (%2)
}})",
                             heads)),
        config);
  };
  EXPECT_EQ(plan("4", {}).kernels.size(), 1u);
  const KernelPlan s = plan("1", {});
  const auto count = [&](OpId what) {
    return std::ranges::count_if(s.kernels, [&](const Kernel& k) { return k.ops[0] == what; });
  };
  EXPECT_EQ(count(op("nn.batch_matmul")), 2);
  EXPECT_EQ(count(op("copy")), 2);  // the queries are a stack of matrices as they lie
  const auto copy = std::ranges::find_if(
      s.kernels, [](const Kernel& k) { return k.ops[0] == op("copy") && k.extents.m * k.extents.n == 2 * 4 * 8 * 16; });
  ASSERT_NE(copy, s.kernels.end());  // of the keys, for each head
  EXPECT_EQ(copy->traffic.bytes, 4 * (2 * 8 * 16 + 2 * 4 * 8 * 16));
  EXPECT_EQ(plan("1", {.mode = ExecMode::Compiled}).kernels.size(), 6u);  // three copies, product, softmax, product
}

TEST(Kernels, AttentionScalesItsScoresWhereTheModelDoes) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32]) {
  %1 = nn.sdpa(%q, %q, %q, explicit=1, scale=0.25, scaled="scores");
  (%1)
})"),
                               {});
  ASSERT_EQ(s.kernels.size(), 4u);  // product, scale, softmax, product
  EXPECT_EQ(s.kernels[1].ops[0], op("multiply"));
  EXPECT_EQ(s.kernels[1].traffic.bytes, 2 * 4 * 2 * 4 * 32 * 32);
}

TEST(Kernels, BatchedProductsCopyWhatLiesPermuted) {
  const auto copies = [](const char* batch) {
    const std::string dims = std::string(batch) + ", 32, 4, 16";
    const KernelPlan s = plan_of(graph_of("def @main(%x: Tensor[(" + dims + R"(), float32]) {
  %1 = transpose(%x, perm=[0, 2, 1, 3]);
  %2 = nn.sdpa(%1, %1, %1, explicit=1);
  (%2)
})"),
                                 {});
    return std::ranges::count_if(s.kernels, [](const Kernel& k) { return k.ops[0] == op("copy"); });
  };
  EXPECT_EQ(copies("2"), 3);
  EXPECT_EQ(copies("1"), 0);  // its leading dims are one dim of a view
}

TEST(Kernels, LoopBodiesCountOncePerTrip) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64,), float32]) {
  %1 = const[7] : Tensor[(), int64];
  %2 = const[1] : Tensor[(), bool];
  %3 = loop(%1, %2, %x, captures=0) : Tensor[(64,), float32] {
    fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %v: Tensor[(64,), float32]) -> (Tensor[(), bool], Tensor[(64,), float32]) {
      %3 = nn.relu(%v);
      (%c, %3)
    }
  };
  (%3)
})");
  double work = 0;
  for (const Kernel& k : plan_of(g, {}).kernels) work += k.repeat * k.traffic.bytes;
  EXPECT_EQ(work, 7 * 2 * 64 * 4);
}

TEST(Memory, PeakIsWhatLivesAtOnce) {
  // 1 MiB each: at %3, %x is dead, %1 and %2 are read and %3 is written.
  const Graph g = graph_of(R"(def @main(%x: Tensor[(512, 512), float32]) {
  %1 = nn.relu(%x);
  %2 = exp(%1);
  %3 = add(%1, %2);
  %4 = nn.relu(%3);
  (%4)
})");
  // One more: the result of the run before.
  EXPECT_EQ(memory_needs(g, {}).allocated, 4 * kMib);
  EXPECT_EQ(memory_needs(g, {.precision = Precision::Amp}).allocated, 2 * kMib);
}

TEST(Memory, ViewsShareTheirOperandsMemory) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(512, 512), float32]) {
  %1 = transpose(%x, perm=[1, 0]);
  %2 = nn.relu(%1);
  (%2)
})");
  EXPECT_EQ(memory_needs(g, {}).allocated, 3 * kMib);
}

TEST(Whitebox, DenseProductsFillTheirTilesAndExposeTraffic) {
  Device d = round_device();
  d.launch_us = 0;
  d.host.eager_us.fill(0);
  const Graph g = graph_of(kDense);
  const KernelPlan plan = plan_of(g, {.precision = Precision::Fp16});
  ASSERT_TRUE(plan.kernels[0].placement.aligned);
  const Kernel& k = plan.kernels[0];
  const Priced roofline = price(k, Rates(d, Precision::Fp16));
  EXPECT_EQ(roofline.exposed_us, 0);
  d.product_half_depth = k.extents.k;
  d.product_overlap = 0.25;
  const Priced p = price(k, Rates(d, Precision::Fp16));
  EXPECT_NEAR(p.compute_us, 2 * roofline.compute_us, 1e-9 * roofline.compute_us);
  const Kernel full = plan_of(g, {}).kernels[0];  // in float32, without matrix units
  EXPECT_EQ(price(full, Rates(d, Precision::Fp32)).exposed_us, 0);
  EXPECT_NEAR(p.time_us, std::max(p.compute_us, p.memory_us) + 0.75 * std::min(p.compute_us, p.memory_us), 1e-9);
}

TEST(Whitebox, SmallBatchedProductsOfOddRowsFillNoTiles) {
  const auto us = [](int size) {
    const std::string n = std::to_string(size);
    const KernelPlan plan = plan_of(graph_of("def @main(%x: Tensor[(1000, " + n + ", " + n + R"(), float16]) {
  %1 = nn.batch_matmul(%x, %x);
  (%1)
})"),
                                    {.precision = Precision::Fp16});
    Device d = round_device();
    d.vector_tflops["float16"] = 2;
    return price(plan.kernels.back(), Rates(d, Precision::Fp16)).compute_us;
  };
  EXPECT_NEAR(us(9), 2 * 1000 * 128.0 * 64 * 16 / 2e12 * 1e6, 1e-9);
  EXPECT_LT(us(10), us(9));  // narrow loads, tensor cores
}

TEST(Whitebox, FusedAttentionComputesWholeTiles) {
  const auto us = [](int tokens, int head) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%q: Tensor[(8, 4, {}, {}), float16]) {{
  %1 = nn.sdpa(%q, %q, %q);
  (%1)
}})",
                                                         tokens, head)),
                                    {.precision = Precision::Fp16});
    Device d = round_device();
    d.boost_clock_mhz = 1000;
    return price(plan.kernels.back(), Rates(d, Precision::Fp16)).compute_us;
  };
  EXPECT_NEAR(us(196, 64) / us(256, 64), 1, 0.05);
  EXPECT_GT(us(257, 64) / us(256, 64), 2);
  EXPECT_NEAR(us(256, 32) / us(256, 64), 1, 0.05);
  EXPECT_NEAR(us(256, 128) / us(256, 64), 2, 0.15);  // products; what a block takes beside its tiles stays
}

TEST(Whitebox, WhatKernelsHandToEachOtherStaysInTheCache) {
  const KernelPlan plan = plan_of(graph_of(R"(def @main(%x: Tensor[(64, 1024), float32]) {
  %1 = weight : Tensor[(64, 1024), float32];
  %2 = add(%x, %1);
  %3 = nn.relu(%2);
  (%3)
})"),
                                  {});
  const double tensor = 64 * 1024 * 4;
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(plan.kernels[0].traffic.handed_bytes, tensor);  // its result: the input and the weight come from memory
  EXPECT_EQ(plan.kernels[1].traffic.handed_bytes, 2 * tensor);
  const auto us = [&](double l2_mib) {
    Device d = round_device();
    d.l2_mib = l2_mib;
    return price(plan.kernels[1], Rates(d, Precision::Fp32)).memory_us;
  };
  EXPECT_NEAR(us(0), 2 * tensor / 1e5, 1e-9);
  EXPECT_NEAR(us(4), us(0) / 3, 1e-9);
  EXPECT_NEAR(us(0.5), us(0) * (1 - 2.0 / 3 / 16), 1e-9);  // half of what it moves fits
}

TEST(Whitebox, RecurrencesReadTheirWeightsInEveryStep) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(10, 2, 64), float32]) {
  %1 = weight : Tensor[(1, 256, 64), float32];
  %2 = weight : Tensor[(1, 256, 64), float32];
  %3:3 = nn.lstm(%x, %1, %2, hidden_size=64);
  (%3.0)
})");
  const KernelPlan plan = plan_of(g, {});
  const Kernel& k = plan.kernels.back();
  constexpr double kStates = 10 * 2 * 64, kData = 10 * 2 * 64, kWeights = 2 * 256 * 64;
  constexpr double kLast = 2 * 2 * 64;  // of the hidden and of the cell state
  EXPECT_EQ(k.traffic.bytes,
            4 * (kData + kWeights + kStates + kLast) + 4 * 4 * 4 * kStates);  // four passes over four gates
  Device d = round_device();
  const double rate = d.bandwidth_gb_s * 1e3 * d.efficiency.at("bandwidth");  // bytes per µs
  d.l2_mib = 1;
  EXPECT_NEAR(price(k, Rates(d, Precision::Fp32)).memory_us, (k.traffic.bytes - k.traffic.handed_bytes * 2 / 3) / rate,
              1e-9);
  d.l2_mib = 0;
  EXPECT_NEAR(price(k, Rates(d, Precision::Fp32)).memory_us, (k.traffic.bytes + 9 * 4 * 256 * 64) / rate, 1e-9);
}

TEST(Whitebox, EachStepOfARecurrenceWaitsForTheOneBefore) {
  const auto us = [](int steps) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[({}, 2, 64), float32]) {{
  %1 = weight : Tensor[(1, 256, 64), float32];
  %2 = weight : Tensor[(1, 256, 64), float32];
  %3:3 = nn.lstm(%x, %1, %2, hidden_size=64);
  (%3.0)
}})",
                                         steps));
    return price(plan_of(g, {}).kernels.back(), Rates(round_device(), Precision::Fp32)).time_us -
           round_device().launch_us;
  };
  EXPECT_NEAR(us(16), 16 * constants::kRecurrentStepUs, 1e-6);
  EXPECT_NEAR(us(1024), 64 * us(16), 1e-6);
}

TEST(Whitebox, PowerFollowsWhatKernelsWaitFor) {
  Device d = round_device();  // 20 W idle, 100 W at most
  d.launch_us = 0;
  const auto held = [](double demand) { return std::pow(std::pow(demand, -10) + std::pow(97, -10), -0.1); };
  const Prediction compute = predicted(graph_of(kDense), {}, d);
  EXPECT_NEAR(compute.power_w, held(20 + (60 - 20)), 1e-9);
  EXPECT_NEAR(compute.energy_j, compute.power_w * compute.latency_ms / 1e3, 1e-12);
  d.bandwidth_gb_s = 1;
  const Prediction memory = predicted(graph_of(kDense), {}, d);
  EXPECT_NEAR(memory.power_w, held(20 + (60 - 20) * 2), 1e-9);
  // Errors of latency and of power, within 1.3, are independent.
  EXPECT_NEAR(std::log(memory.energy_hi_j / memory.energy_j),
              std::hypot(std::log(memory.latency_hi_ms / memory.latency_ms), std::log(1.3)), 1e-9);
  EXPECT_NEAR(memory.energy_j / memory.energy_lo_j, memory.energy_hi_j / memory.energy_j, 1e-9);
  d.launch_us = 1e6;  // waits nearly all the time
  EXPECT_NEAR(predicted(graph_of(kDense), {}, d).power_w, 20, 0.5);
}

TEST(Whitebox, SaysWhenTheModelDoesNotFit) {
  Device d = round_device();
  d.memory_mib = 3;
  const Prediction p = predicted(graph_of(kDense), {}, d);
  ASSERT_FALSE(p.warnings.empty());
  EXPECT_NE(p.warnings[0].find("will run out of memory"), std::string::npos);
  EXPECT_NEAR(p.memory.total_mib(),
              p.memory.context_mib + p.memory.weights_mib + p.memory.activations_mib + p.memory.workspace_mib, 1e-9);
}

TEST(Whitebox, TheIntervalSaysWhatWasCalibrated) {
  Device d = round_device();
  const Graph g = graph_of(kDense);
  const Prediction unknown = predicted(g, {.precision = Precision::Amp}, d);
  EXPECT_GT(unknown.latency_hi_ms / unknown.latency_ms, 1.5);
  EXPECT_NEAR(unknown.latency_hi_ms / unknown.latency_ms, unknown.latency_ms / unknown.latency_lo_ms, 1e-9);
  EXPECT_EQ(unknown.novelty, (std::vector<std::string>{"device round was not calibrated with measurements"}));
  d.interval = {{"amp", 1.25}};
  const Prediction known = predicted(g, {.precision = Precision::Amp}, d);
  EXPECT_NEAR(known.latency_ms / known.latency_lo_ms, 1.25, 1e-9);
  EXPECT_TRUE(known.novelty.empty());
  EXPECT_EQ(predicted(g, {.precision = Precision::Fp32}, d).novelty,
            (std::vector<std::string>{"precision fp32 was not calibrated, only amp"}));
}

/// Half the width, in ln, of a dense layer's interval.
double width_on(Device d, std::string_view architecture, int labels = 0) {
  d.architecture = architecture;
  d.boost_clock_mhz = 1000;
  d.l2_mib = 1;
  d.memory_type = "hbm";
  d.calibrated_labels = labels;
  const Prediction p = predicted(graph_of(kDense), {.precision = Precision::Fp16}, d);
  return std::log(p.latency_hi_ms / p.latency_ms);
}

TEST(Whitebox, TheLessWasMeasuredOfAChipTheWiderTheInterval) {
  const Device d = round_device();
  const double siblings = width_on(d, "ampere"), others = width_on(d, "volta"), nobody = width_on(d, "cdna");
  EXPECT_LT(siblings, others);
  EXPECT_LT(others, nobody);
  const double none = std::log(constants::kGraphFactor);  // what labels of the device cannot take away
  double before = nobody;
  for (const int labels : {3, 10, 30, 1000}) {
    const double now = width_on(d, "cdna", labels);
    EXPECT_LT(now, before) << labels;
    EXPECT_GT(now, none);
    before = now;
  }
  EXPECT_NEAR(before, none, 0.02);
}

TEST(Whitebox, RefusesUnknownOperatorsUnlessToldOtherwise) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(4,), float32]) {
  %1 = opaque(%x, source_op="Mystery", types=["Tensor[(4,), float32]"]) : Tensor[(4,), float32];
  (%1)
})");
  Diagnostics diags("test");
  EXPECT_FALSE(make_whitebox()->prepare(g, {}, diags));
  EXPECT_NE(diags.str().find("unknown operator Mystery"), std::string::npos) << diags.str();
  Diagnostics lenient("test");
  const auto model = make_whitebox(OpaquePolicy::Warn)->prepare(g, {}, lenient);
  ASSERT_TRUE(model);
  const Prediction p = (*model)->on(round_device());
  ASSERT_EQ(p.novelty.empty(), false);
  EXPECT_NE(p.warnings[0].find("1 of 1 operators"), std::string::npos) << p.warnings[0];
}

}  // namespace
}  // namespace perfc
