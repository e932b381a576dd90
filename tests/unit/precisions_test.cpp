/// What each precision runs, at which rate, and under which limit of power.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "graphs.h"
#include "kernel_plan.h"
#include "round_device.h"

namespace perfc {
namespace {

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
  EXPECT_GT(gain(Precision::Fp32, "t4"), 1.5);
  EXPECT_GT(gain(Precision::Fp16, "l4"), 1.15);
  EXPECT_GT(gain(Precision::Fp16, "rtx-pro-6000-maxq"), 1.15);
  EXPECT_NEAR(gain(Precision::Fp16, "rtx4090"), 1, 1e-9);
  EXPECT_NEAR(gain(Precision::Fp32, "p100"), 1, 1e-9);
}

TEST(Whitebox, KernelsAtThePowerLimitDrawItAndOthersLess) {
  EXPECT_GT(of_long_convolution(Precision::Fp32, "t4").power_w, 0.75 * 70);
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

TEST(Whitebox, Fp8MultipliesInFloat8WhereTheDeviceHasIt) {
  const KernelPlan plan = plan_of(graph_of(kTwoLayers), {.precision = Precision::Fp8});
  EXPECT_EQ(std::ranges::count(plan.kernels, Quantised::Float8, &Kernel::quantised), 2);
  Diagnostics diags("--device");
  for (const char* name : {"h100-sxm", "h200", "b200", "l40s", "l4", "rtx4090", "mi300x"}) {
    const Device d = *DeviceTable::builtin().find(name, diags);
    const double wide = predicted(graph_of(kTwoLayers), {.precision = Precision::Bf16}, d).device_ms;
    const double narrow = predicted(graph_of(kTwoLayers), {.precision = Precision::Fp8}, d).device_ms;
    EXPECT_LT(narrow, 0.85 * wide) << name;  // 8 bits sustain √2 of what 16 do on L40S
    EXPECT_GT(narrow, 0.4 * wide) << name;
  }
  const Device without = *DeviceTable::builtin().find("a100-80gb", diags);
  const Prediction p = predicted(graph_of(kTwoLayers), {.precision = Precision::Fp8}, without);
  const std::string text = "a100-80gb has no float8 matrix units; its products are priced in 16 bits";
  EXPECT_EQ(std::ranges::count(p.warnings, text), 1);
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

}  // namespace
}  // namespace perfc
