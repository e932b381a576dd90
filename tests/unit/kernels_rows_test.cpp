/// What PyTorch's kernels of rows launch in eager mode: reductions, scans, norms, poolings, losses.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "devices/device.h"
#include "graphs.h"
#include "kernel_plan.h"
#include "whitebox/launch/reduction.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

using Names = std::vector<std::string>;

Device device(const char* name) {
  Diagnostics diags("test");
  return *DeviceTable::builtin().find(name, diags);
}

/// The plan of one call on %x, whose type is given.
KernelPlan plan_of_call(const std::string& type, const std::string& call, const ExecConfig& config = {}) {
  return plan_of(graph_of(fmt::format("def @main(%x: {}) {{\n  %1 = {};\n  (%1)\n}}", type, call)), config);
}

double us_of(const KernelPlan& plan, const char* name, Precision precision = Precision::Fp32) {
  const Rates rates(device(name), precision);
  double us = 0;
  for (const Kernel& k : plan.kernels) us += price(k, rates).time_us;
  return us;
}

// An H100 of 700 W took 8.42 ms for KernelBench's Frobenius norm of 1.9 billion elements and the quotient, and 8.43 for
// its mean of squared differences.
TEST(Reduction, BlocksShareALongRow) {
  const double block = reduction_wait_us({.results = 1, .length = 64 * 1024, .rows = true});
  EXPECT_LT(reduction_wait_us({.results = 1, .length = 1e9, .rows = true}), 3 * block);
  // as many rows as fill a device are not shared
  EXPECT_GT(reduction_wait_us({.results = 1000, .length = 1e6, .rows = true}), 10 * block);
  const KernelPlan plan = plan_of_call("Tensor[(1024, 1048576), float32]", "reduce_l2(%x, axes=[0, 1], keepdims=0)");
  EXPECT_NEAR(us_of(plan, "h100-sxm"), 4.295e9 / 2.95e12 * 1e6, 100);
}

// Few rows leave a block's threads to each of them: one of 4,096 in 32 bits is two loads of 512 threads, 64 are 32
// loads of a warp each. An H200's reductions of the latter take 5.4 µs beside a launch, of 16,000 elements to one 1.6.
TEST(Reduction, ABlockIsAsWideAsItsRowsLeaveRoom) {
  const auto us = [](double results, double length) {
    return reduction_wait_us({.results = results, .length = length, .rows = true});
  };
  EXPECT_LT(us(1, 4096), 2.5);
  EXPECT_GT(us(64, 4096), 3 * us(1, 4096));
  EXPECT_GT(us(8, 4096), us(4, 4096));
  EXPECT_DOUBLE_EQ(us(16, 4096), us(64, 4096));
  EXPECT_NEAR(us(1, 64000) - us(1, 16000), 8.3 - 3.65, 1.5);  // an H200's difference
}

TEST(Scan, WalksOverRowsInSharedMemory) {
  const auto of = [](const char* type, int axis) {
    return plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[{}, float32]) {{
  %1 = const[{}] : Tensor[(), int64];
  %2 = cumsum(%x, %1);
  (%2)
}})",
                                        type, axis)),
                   {});
  };
  // 4.65 ms on an H100 of 700 W, by KernelBench
  EXPECT_NEAR(us_of(of("(32768, 32768)", 1), "h100-sxm") / 4650, 1, 0.25);
  // Rows of 4,000 have 128 threads: 4 in a block.
  EXPECT_EQ(of("(128, 4000)", 1).kernels.at(0).limits.blocks, 32);
  // Down a column a thread takes one element after the other.
  const Kernel columns = of("(1000, 256)", 0).kernels.at(0);
  EXPECT_EQ(columns.limits.serial_steps, 1000);
  EXPECT_EQ(columns.limits.blocks, 1);
  EXPECT_EQ(of("(1000000,)", 0).kernels.at(0).limits.serial_steps, 0);
}

// 8.22 ms on an H100 of 700 W, 10.4 on an A100, 9.39 on a T4, by KernelBench
TEST(LayerNorm, ARowIsAllThatItNormalises) {
  const KernelPlan plan = plan_of(graph_of(R"(def @main(%x: Tensor[(16, 64, 256, 256), float32]) {
  %1 = weight : Tensor[(64, 256, 256), float32];
  %2 = nn.layer_norm(%x, %1, %1, axis=-3);
  (%2)
})"),
                                  {});
  EXPECT_EQ(plan.kernels.at(0).limits.row_blocks, 16);
  EXPECT_EQ(plan.kernels.at(0).extents.n, 64 * 256 * 256);
  EXPECT_NEAR(us_of(plan, "h100-sxm") / 8220, 1, 0.15);
  EXPECT_NEAR(us_of(plan, "a100-40gb") / 10400, 1, 0.15);
}

TEST(GroupNorm, FewRowsOccupyFewMultiprocessors) {
  const auto plan = [](int groups) {
    return plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(16, 64, 256, 256), float32]) {{
  %1 = weight : Tensor[(64,), float32];
  %2 = nn.group_norm(%x, %1, %1, num_groups={});
  (%2)
}})",
                                        groups)),
                   {});
  };
  ASSERT_EQ(ops_of(plan(8)), (Names{"mean", "nn.group_norm"}));
  EXPECT_EQ(plan(8).kernels[0].limits.blocks, 16 * 8);
  // 0.675 ms on an H100 of 700 W, 1.21 on an A100, by KernelBench
  EXPECT_NEAR(us_of(plan(8), "h100-sxm") / 675, 1, 0.15);
  EXPECT_NEAR(us_of(plan(8), "a100-40gb") / 1210, 1, 0.2);
  EXPECT_LT(us_of(plan(64), "h100-sxm"), 0.6 * us_of(plan(8), "h100-sxm"));
}

TEST(BatchNorm, AProgramExportedInTrainingAddsUpItsBatch) {
  const auto kernel = [](int training) {
    return plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(8, 64, 16, 16), float32]) {{
  %1 = weight : Tensor[(64,), float32];
  %2 = nn.batch_norm(%x, %1, %1{});
  (%2)
}})",
                                        training != 0 ? ", training_mode=1" : ", %1, %1")),
                   {.layout = Layout::Nchw})
        .kernels.at(0);
  };
  EXPECT_NEAR(kernel(1).traffic.bytes / kernel(0).traffic.bytes, 1.5, 0.01);
  EXPECT_EQ(kernel(1).limits.blocks, 64);
  EXPECT_EQ(kernel(0).limits.blocks, 0);
}

TEST(Pooling, AThreadWalksOverItsWindowInAnyNumberOfDims) {
  const auto clocks = [](const char* type, const char* call) {
    const Kernel k = plan_of_call(type, call).kernels.at(0);
    return k.limits.byte_clocks * k.traffic.bytes;
  };
  EXPECT_NEAR(clocks("Tensor[(8, 16, 64), float32]",
                     "nn.max_pool1d(%x, kernel_size=[8], strides=[1], padding=[0, 0], dilation=[1])"),
              8 * 16 * 57 * (2.05 + 0.238 * 8), 1);
  EXPECT_NEAR(clocks("Tensor[(8, 16, 8, 8, 8), float32]",
                     "nn.avg_pool3d(%x, kernel_size=[2, 2, 2], strides=[2, 2, 2], padding=[0, 0, 0, 0, 0, 0])"),
              8 * 16 * 64 * (2.05 + 0.238 * 8), 1);
}

TEST(CrossEntropy, IsASoftmaxAndOneBlockThatPicks) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(32768, 4096), float32], %y: Tensor[(32768,), int64]) {
  %2 = nn.cross_entropy(%x, %y);
  (%2)
})");
  const KernelPlan plan = plan_of(g, {});
  ASSERT_EQ(ops_of(plan), (Names{"nn.log_softmax", "nn.cross_entropy"}));
  EXPECT_EQ(plan.kernels[0].traffic.bytes, 2.0 * 32768 * 4096 * 4);
  EXPECT_EQ(plan.kernels[1].limits.serial_steps, 2 * 32);  // 1,024 threads
  EXPECT_LT(plan.kernels[1].traffic.bytes, 2e6);
}

TEST(Attention, OfHeadsThatNoFlashKernelTakesIsTheMemoryEfficientKernels) {
  // 44.1 ms on an A10G, by KernelBench; a flash kernel would take a third of it
  const Graph g = graph_of(R"(def @main(%q: Tensor[(32, 32, 512, 1024), float16]) {
  %1 = nn.sdpa(%q, %q, %q);
  (%1)
})");
  EXPECT_NEAR(us_of(plan_of(g, {.precision = Precision::Fp16}), "a10g", Precision::Fp16) / 44100, 1, 0.15);
}

}  // namespace
}  // namespace perfc
