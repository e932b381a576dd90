/// ONNX Runtime's kernels on a CPU, on kernels small enough to compute by hand.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernel_plan.h"
#include "round_device.h"
#include "whitebox/constants/mlas.h"
#include "whitebox/price/kernel_prices.h"

namespace perfc {
namespace {

/// Two cores of 100 GFLOP/s each, so that a clock is 0.32 ns; launches and traffic take nothing.
Device a_cpu(int cores) {
  Device d;
  d.name = "cpu";
  d.kind = "cpu";
  d.vector_tflops = {{"float32", 0.1 * cores}};
  d.bandwidth_gb_s = 1e6;
  d.boost_clock_mhz = 1e8;
  d.l2_mib = 1e4;
  d.sms = cores;
  d.efficiency["bandwidth"] = 1;
  return d;
}

const ExecConfig kSession = on_runtime({}, Runtime::OnnxRuntimeCpu);

double us_of(const std::string& calls, const Device& d, std::size_t at = 0) {
  const Graph g = graph_of(calls.c_str());
  const KernelPlan plan = plan_of(g, kSession);
  return KernelPrices(d, plan, kSession).of(plan.kernels.at(at)).time_us;
}

std::string convolution(int inputs, int outputs, int groups = 1) {
  return fmt::format(R"(def @main(%x: Tensor[(1, {}, 32, 32), float32]) {{
  %1 = weight : Tensor[({}, {}, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1], groups={});
  (%2)
}})",
                     inputs, outputs, inputs / groups, groups);
}

TEST(Mlas, ConvolutionsFillBlocksOfChannels) {
  const Device d = a_cpu(1);
  const double macs = 1024.0 * 9 * 32 * 32;
  const double full = 2 * macs / (100e3 * constants::kMlasConvolution);
  EXPECT_NEAR(us_of(convolution(32, 32), d, 1), full, 1e-6 * full);  // behind the copy into blocks
  EXPECT_NEAR(us_of(convolution(20, 20), d, 1), full, 1e-6 * full);
  EXPECT_NEAR(us_of(convolution(3, 32), d), full * 3 / 32, 1e-6 * full);  // read as they lie
}

TEST(Mlas, OtherConvolutionsAreProductsOfGatheredWindows) {
  const Device d = a_cpu(1);
  const double rows = 1024.0 * 9 * 18, results = 1024.0 * 18;
  const double us = 2 * rows * 18 / (100e3 * constants::kMlasProduct) +
                    (rows * constants::kMlasPacking + results * constants::kMlasWriting) * 0.32e-3;
  EXPECT_NEAR(us_of(convolution(18, 18), d), us, 1e-6 * us);
  EXPECT_EQ(plan_of(graph_of(convolution(18, 18).c_str()), kSession).kernels.size(), 1u);
}

TEST(Mlas, DepthwiseConvolutionsTakeClocksPerElementOfTheirWindow) {
  const double clocks = 9 * constants::kMlasTap + constants::kMlasBlockOf + constants::kMlasEdges / 32;
  const double us = 1024.0 * 2 * clocks * 0.32e-3;
  EXPECT_NEAR(us_of(convolution(32, 32, 32), a_cpu(1), 1), us, 1e-6 * us);
}

TEST(Mlas, ThreadsShareWhatIsWorthIt) {
  const double one = us_of(convolution(32, 32), a_cpu(1), 1);
  EXPECT_NEAR(us_of(convolution(32, 32), a_cpu(2), 1), one / 2 + constants::kCpuThreadsUs, 1e-6 * one);
  const char* const small = R"(def @main(%x: Tensor[(16,), float32]) {
  %1 = exp(%x);
  (%1)
})";
  EXPECT_NEAR(us_of(small, a_cpu(2)), us_of(small, a_cpu(1)), 1e-9);
}

TEST(Mlas, WeightsThatNoCacheHoldsComeFromMemory) {
  Device d = a_cpu(1);
  d.vector_tflops["float32"] = 1e3;
  d.boost_clock_mhz = 1000;
  d.bandwidth_gb_s = 1;
  const double bytes = 4.0 * 512 * 1024;
  d.l2_mib = 100;
  const double found = us_of(kDense, d);
  d.l2_mib = 0.01;
  EXPECT_GT(us_of(kDense, d), bytes / 1e3);
  EXPECT_LT(found, bytes / 1e3);
}

TEST(Mlas, NetworksCorrectNothingAndTheHostIsTheDevice) {
  const Prediction p = predicted(graph_of(kDense), kSession, a_cpu(1));
  EXPECT_EQ(p.host_calls, 1);
  EXPECT_GT(p.latency_hi_ms / p.latency_ms, 1.24);
}

}  // namespace
}  // namespace perfc
