/// The roofline and what is said of a run, on graphs small enough to compute by hand.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "graphs.h"
#include "kernel_plan.h"
#include "round_device.h"
#include "whitebox/constants/batch_norm.h"
#include "whitebox/constants/compiled.h"
#include "whitebox/constants/depthwise.h"
#include "whitebox/constants/recurrences.h"
#include "whitebox/constants/runs.h"
#include "whitebox/constants/training.h"
#include "whitebox/launch/kernel_fields.h"
#include "whitebox/launch/training_step.h"
#include "whitebox/price/kernel_prices.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

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

template <class T>
void change(T& field) {
  if constexpr (std::is_same_v<T, decltype(Kernel::ops)>) field.push_back(op("exp"));
  else field = static_cast<T>(field == static_cast<T>(1) ? 0 : 1);
}

TEST(Whitebox, KernelsThatDifferInAFieldAreNotAlike) {
  std::vector<std::string> names;
  Kernel any;
  visit_fields(any, [&](const KernelField& f, const auto&) { names.emplace_back(f.name); });
  for (const std::string& name : names) {
    KernelPlan plan;
    plan.kernels.resize(3);
    visit_fields(plan.kernels[1], [&](const KernelField& f, auto& field) {
      if (f.name == name) change(field);
    });
    const bool alike = name == "node" || name == "repeat";
    EXPECT_EQ(first_alike(plan), (std::vector<std::uint32_t>{0, alike ? 0U : 1U, 0})) << name;
  }
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
  // One fused kernel of 1 µs, and what a compiled graph's run takes: 2.65 calls of a kernel.
  EXPECT_NEAR(predicted(g, {.mode = ExecMode::Compiled}, d).latency_ms, 2.65 * 0.050 + 0.001, 1e-9);
}

TEST(Whitebox, AKernelWaitsForTheCallsBeforeIt) {
  Device d = round_device();
  d.host.eager_us.fill(1000);
  const auto chain = [](std::string_view first, std::string_view last) {
    return graph_of(fmt::format(R"(def @main(%x: Tensor[(4,), float32], %y: Tensor[(4096, 4096), float32]) {{
  %2 = nn.relu({});
  %3 = exp(%2);
  %4 = nn.relu({});
  %5 = exp(%4);
  (%3, %5)
}})",
                                first, last));
  };
  const Graph early = chain("%y", "%x"), late = chain("%x", "%y");
  const Prediction queued = predicted(late, {.pacing = Pacing::Queued}, d), waits = predicted(late, {}, d),
                   hides = predicted(early, {}, d);
  const double large = queued.device_ms / 2;  // a ReLU, or an exponential, of all elements; the small ones take 2 µs
  ASSERT_GT(large, 1);
  ASSERT_GT(queued.host_ms, queued.device_ms);
  EXPECT_NEAR(queued.latency_ms, 4, 1e-9);
  EXPECT_NEAR(hides.latency_ms, 4, 1e-9);
  // The third of four calls sends a large kernel, the fourth another: it waits for the longer of call and kernel.
  EXPECT_NEAR(waits.latency_ms, std::max(2.5 + 2 * large, 3.5 + large), 0.01);
  EXPECT_EQ(waits.device_ms, queued.device_ms);
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
  EXPECT_NEAR(us(256, 32) / us(256, 64), 0.5, 0.1);  // the narrowest kernel
  EXPECT_NEAR(us(256, 16) / us(256, 32), 1, 0.05);
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
  Device fast = round_device();
  fast.vector_tflops["float32"] = 1000;
  fast.bandwidth_gb_s = 1e5;
  const auto us = [&](int steps, int units) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[({0}, 2, 64), float32]) {{
  %1 = weight : Tensor[(1, {2}, 64), float32];
  %2 = weight : Tensor[(1, {2}, {1}), float32];
  %3:3 = nn.lstm(%x, %1, %2, hidden_size={1});
  (%3.0)
}})",
                                         steps, units, 4 * units));
    return price(plan_of(g, {}).kernels.back(), Rates(fast, Precision::Fp32)).time_us - fast.launch_us;
  };
  EXPECT_NEAR(us(16, 200), 16 * constants::kRecurrentStepUs, 1e-6);
  EXPECT_NEAR(us(1024, 200), 64 * us(16, 200), 1e-6);
  // Up to 192 units a persistent kernel keeps the weights.
  EXPECT_NEAR(us(1024, 192) / us(1024, 200), constants::kResidentStepUs / constants::kRecurrentStepUs, 1e-6);
}

/// Channels first, cuDNN's depthwise kernels are for float16 alone (use_cudnn_depthwise). Each kernel has its clocks.
TEST(Whitebox, DepthwiseIn32BitsAndBfloat16IsPyTorchsOwnKernel) {
  const auto plan = [](Precision precision, Layout layout, int side = 3, int stride = 1) {
    return plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(1, 8, 32, 32), float32]) {{
  %1 = weight : Tensor[(8, 1, {0}, {0}), float32];
  %2 = nn.conv2d(%x, %1, groups=8, strides=[{1}, {1}]);
  (%2)
}})",
                                        side, stride)),
                   {.precision = precision, .layout = layout});
  };
  const auto clocks = [&](Precision precision, Layout layout, int side, int stride = 1) {
    const double share = plan(precision, layout, side, stride).kernels.back().limits.vector_share;
    return side * side / (share * constants::kLimitLanes);
  };
  EXPECT_NEAR(clocks(Precision::Fp16, Layout::Nchw, 7), 49 * 0.18, 1e-9);  // cuDNN has none
  EXPECT_NEAR(clocks(Precision::Bf16, Layout::Nchw, 3), 1.76 + 9 * 0.112, 1e-9);
  EXPECT_NEAR(clocks(Precision::Bf16, Layout::Nchw, 3, 2), (1.76 + 9 * 0.112) * 1.15, 1e-9);
  // PyTorch's own in float32 costs something beside its window, so that small windows reach less of the peak.
  for (const Precision p : {Precision::Fp32, Precision::Tf32}) {
    EXPECT_NEAR(clocks(p, Layout::Nchw, 3), 1.76 + 9 * 0.112, 1e-9);
    EXPECT_NEAR(clocks(p, Layout::Nchw, 7), 1.76 + 49 * 0.112, 1e-9);
  }
  // cuDNN's are told by their thread blocks.
  for (const auto& [precision, layout] :
       {std::pair(Precision::Fp16, Layout::Nchw), std::pair(Precision::Fp16, Layout::Nhwc),
        std::pair(Precision::Fp32, Layout::Nhwc)}) {
    const Limits l = plan(precision, layout).kernels.back().limits;
    EXPECT_EQ(l.vector_share, 0);
    EXPECT_GT(l.depthwise.blocks * l.depthwise.each * l.depthwise.first, 0);
  }
  // It is the SM that limits it, however many lanes the SM has; other libraries have other kernels.
  const Kernel k = plan(Precision::Fp32, Layout::Nchw).kernels.back();
  const auto us = [&](double tflops, std::string architecture) {
    Device d = round_device();
    d.architecture = std::move(architecture);
    d.sms = 10;
    d.boost_clock_mhz = 1000;
    d.vector_tflops["float32"] = tflops;
    return price(k, Rates(d, Precision::Fp32)).compute_us;
  };
  EXPECT_NEAR(us(1.28, "ampere"), us(2.56, "ampere"), 1e-9);  // 64 and 128 lanes
  EXPECT_LT(us(1.28, "cdna2"), us(1.28, "ampere"));
  // … and not by a rate of 16 bits that such kernels, which sum in 32, do not use.
  const Kernel half = plan(Precision::Bf16, Layout::Nchw).kernels.back();
  for (const double rate16 : {1.28, 2.56, 5.12}) {
    Device d = round_device();
    d.architecture = "ampere";
    d.sms = 10;
    d.boost_clock_mhz = 1000;
    d.vector_tflops = {{"float32", 1.28}, {"float16", rate16}};
    const double us16 = price(half, Rates(d, Precision::Bf16)).compute_us;
    EXPECT_NEAR(half.work.macs / us16 / 10 / 1000, 9 / (1.76 + 9 * 0.112), 1e-6) << rate16;
  }
  EXPECT_NEAR(us(1.28, "turing") / us(1.28, "volta"), constants::kTuringWindows, 1e-9);  // half the L1 cache's bytes
}

TEST(Whitebox, BatchNormsOfCudnnMoveFewBytesPerClock) {
  const auto clocks = [](const ExecConfig& config) {
    return plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(1, 8, 32, 32), {}]) {{
  %1 = weight : Tensor[(8), float32];
  %2 = nn.batch_norm(%x, %1, %1, %1, %1);
  (%2)
}})",
                                        config.precision == Precision::Amp ? "float16" : "float32")),
                   config)
        .kernels.back()
        .limits.byte_clocks;
  };
  EXPECT_EQ(clocks({}), constants::kBatchNormByteClocks);
  EXPECT_EQ(clocks({.precision = Precision::Amp}), constants::kBatchNormHalfClocks);
  EXPECT_EQ(clocks({.layout = Layout::Nhwc}), constants::kBatchNormLastClocks32 / 8);
  EXPECT_EQ(clocks({.precision = Precision::Amp, .layout = Layout::Nhwc}), constants::kBatchNormLastClocks16 / 4);
  // Scale and shift in 16 bits: PyTorch's own kernels, which read and write 2 byte.
  EXPECT_EQ(clocks({.precision = Precision::Fp16}), constants::kOwnBatchNormFirstClocks / 4);
  EXPECT_EQ(clocks({.precision = Precision::Fp16, .layout = Layout::Nhwc}), constants::kOwnBatchNormLastClocks / 4);
  // TorchInductor's divides by a root.
  const double compiled = clocks({.mode = ExecMode::Compiled});
  EXPECT_NEAR(compiled, constants::kGeneratedTime.byte + def(op("nn.batch_norm")).generated_clocks / 8, 0.006);
  Diagnostics diags;
  const Device a100 = *DeviceTable::builtin().find("a100-80gb", diags);
  Kernel k = plan_of(graph_of(R"(def @main(%x: Tensor[(64, 64, 112, 112), float32]) {
  %1 = weight : Tensor[(64), float32];
  %2 = nn.batch_norm(%x, %1, %1, %1, %1);
  (%2)
})"),
                     {})
                 .kernels.back();
  const Priced p = price(k, Rates(a100, Precision::Fp32));
  EXPECT_NEAR(k.traffic.bytes / p.time_us / 1e3, 1035, 60);  // GB/s, and a launch beside what was measured
}

TEST(Whitebox, BatchNormsAndMaxPoolsOfATrainingStepTakeWhatAProfileSays) {
  Diagnostics diags;
  const Device a100 = *DeviceTable::builtin().find("a100-40gb", diags);
  // ResNet-50's stem under AMP at batch 128: ms by kind of kernel, without what a step takes beside its kernels.
  const Graph g = graph_of(R"(def @main(%x: Tensor[(128, 3, 224, 224), float32]) {
  %1 = weight : Tensor[(64, 3, 7, 7), float32];
  %2 = nn.conv2d(%x, %1, strides=[2, 2], padding=[3, 3, 3, 3], dilation=[1, 1], groups=1);
  %3 = weight : Tensor[(64), float32];
  %4 = nn.batch_norm(%2, %3, %3, %3, %3);
  %5 = nn.relu(%4);
  %6 = nn.max_pool2d(%5, kernel_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], dilation=[1, 1]);
  (%6)
})");
  const auto step = [&](Layout layout) {
    const ExecConfig config{.precision = Precision::Amp, .layout = layout, .task = Task::Train};
    KernelPlan plan = plan_of(g, config);
    add_training_step(g, config, plan);
    std::map<OpId, std::vector<double>> out;
    for (const Kernel& k : plan.kernels)
      out[k.ops.front()].push_back(price(k, Rates(a100, Precision::Amp)).time_us / 1e3 / constants::kTrainingStep);
    return out;
  };
  auto first = step(Layout::Nchw), last = step(Layout::Nhwc);
  const auto norms = first[op("nn.batch_norm")];
  ASSERT_EQ(norms.size(), 2u);
  // bn_fw_tr_1C11_kernel_NCHW, a thread block per channel, so 64 of 108 SMs, and bn_bw_1C11_kernel_new: the constant is
  // of all 53 norms, of which these are the longest.
  EXPECT_NEAR(norms[0] / 2.124, 1, 0.4);
  EXPECT_NEAR(norms[1] / 2.938, 1, 0.25);
  EXPECT_LT(last[op("nn.batch_norm")][0], norms[0] / 2);
  EXPECT_NEAR(first[op("nn.max_pool2d")].at(1) / 2.280, 1, 0.05);
  EXPECT_NEAR(last[op("nn.max_pool2d")].at(1) / 1.455, 1, 0.05);
}

TEST(Whitebox, PowerFollowsWhatKernelsDo) {
  const double flops = 2 * 256.0 * 512 * 1024, bytes = 4 * (256 * 512 + 1024 * 512 + 256 * 1024);
  Device d = round_device();  // 20 W idle, 100 W at most
  d.launch_us = 0;
  d.active_power = 0.25;
  d.memory_power = 0.5;
  const Prediction compute = predicted(graph_of(kDense), {}, d);  // arithmetic all the time
  EXPECT_NEAR(compute.power.idle_w, 20, 1e-9);
  EXPECT_NEAR(compute.power.kernels_w, 0.25 * 80, 1e-9);
  EXPECT_NEAR(compute.power.vector_w, constants::kVectorPicojoules, 1e-9);  // 1 TFLOP/s
  EXPECT_EQ(compute.power.matrix_w, 0);                                     // float32
  EXPECT_NEAR(compute.power.memory_w, 0.5 * 80 * (bytes / 1e11) / (flops / 1e12), 1e-9);
  d.idle_w = 90;
  const Prediction held = predicted(graph_of(kDense), {}, d);
  EXPECT_GT(held.power.sum_w(), 97);
  EXPECT_LT(held.power_w, 97);
  d.idle_w = 20;
  // 10-norm of what it wants and 0.97 of the limit
  EXPECT_NEAR(compute.power_w, std::pow(std::pow(compute.power.sum_w(), -10) + std::pow(97, -10), -0.1), 1e-9);
  EXPECT_NEAR(compute.energy_j, compute.power_w * compute.latency_ms / 1e3, 1e-12);
  d.bandwidth_gb_s = 1;
  const Prediction memory = predicted(graph_of(kDense), {}, d);  // traffic all the time
  EXPECT_NEAR(memory.power.memory_w, 0.5 * 80, 1e-9);
  EXPECT_NEAR(memory.power.vector_w, constants::kVectorPicojoules * flops / 1e12 / (bytes / 1e9), 1e-9);
  // Errors of latency and of power, are independent.
  const double of_time = std::log(memory.latency_hi_ms / memory.latency_ms);
  EXPECT_NEAR(std::log(memory.energy_hi_j / memory.energy_j), std::hypot(of_time, std::log(constants::kPowerInterval)),
              1e-9);
  EXPECT_NEAR(memory.energy_j / memory.energy_lo_j, memory.energy_hi_j / memory.energy_j, 1e-9);
  d.bandwidth_gb_s = 100;
  d.host.eager_us.fill(1e6);  // the device waits nearly all the time
  EXPECT_NEAR(predicted(graph_of(kDense), {}, d).power_w, 20, 0.5);
}

/// Tensor cores at the rate that the power limit lets last draw more than it at the boost clock, so that it holds them.
TEST(Whitebox, LongProductsDrawTheLimit) {
  const Prediction p = predicted(graph_of(R"(def @main(%x: Tensor[(8192, 8192), float16]) {
  %1 = weight : Tensor[(8192, 8192), float16];
  %2 = nn.dense(%x, %1);
  (%2)
})"),
                                 {.precision = Precision::Fp16}, device("h100-sxm"));
  EXPECT_GT(p.power.matrix_w, 0.8 * constants::kMatrixPower * (700 - p.power.idle_w));
  EXPECT_GT(p.power.sum_w(), 700);
  EXPECT_NEAR(p.power_w, 0.97 * 700, 0.01 * 700);
}

TEST(Whitebox, NeedsNoLessWhereMemoryIsShort) {
  Device d = round_device();
  d.memory_mib = 3;
  const Prediction p = predicted(graph_of(kDense), {}, d);
  EXPECT_GT(p.memory.needed_mib(), d.memory_mib);
  EXPECT_NEAR(p.memory.total_mib(),
              p.memory.context_mib + p.memory.weights_mib + p.memory.activations_mib + p.memory.workspace_mib, 1e-9);
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
