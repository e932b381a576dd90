/// Products of groups of rows with a matrix each: which matrices are read, and what runs where PyTorch has one kernel
/// for all groups and where it has none.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "graphs.h"
#include "ir/ops/grouped_rows.h"
#include "kernel_plan.h"
#include "round_device.h"
#include "whitebox/price/grouped_product.h"

namespace perfc {
namespace {

constexpr double kGroups = 64, kMatrix = 512.0 * 256;

Graph experts(int rows) {
  return graph_of(fmt::format(R"(def @main(%x: Tensor[({}, 512), bfloat16], %ends: Tensor[(64,), int32]) {{
  %2 = weight : Tensor[(64, 512, 256), bfloat16];
  %3 = nn.grouped_matmul(%x, %2, %ends) @experts;
  (%3)
}})",
                              rows));
}

constexpr ExecConfig kBf16{.precision = Precision::Bf16};

TEST(GroupedRows, OfRowsAtRandomAsManyGroupsAreTouchedAsDrawsFromThemFind) {
  const auto touched = [](double groups, double rows) { return GroupedRows{.groups = groups, .rows = rows}.touched(); };
  EXPECT_DOUBLE_EQ(touched(1, 7), 1);
  EXPECT_DOUBLE_EQ(touched(8, 1), 1);
  EXPECT_DOUBLE_EQ(touched(8, 2), 1.875);  // 1 + 7/8
  EXPECT_NEAR(touched(8, 4096), 8, 1e-9);
  EXPECT_LT(touched(128, 8), 8);
}

// One token's eight experts of 128 were priced as all 128: eleven times what fused kernels take on an A100.
TEST(GroupedProducts, MatricesOfGroupsWithoutRowsAreNotRead) {
  for (const ExecMode mode : {ExecMode::Eager, ExecMode::Compiled}) {
    for (const int rows : {1, 2, 40, 5000}) {
      SCOPED_TRACE(fmt::format("{}, {} rows", name(mode), rows));
      const double touched = GroupedRows{.groups = kGroups, .rows = static_cast<double>(rows)}.touched();
      const Graph g = experts(rows);
      const KernelPlan plan = plan_of(g, {.precision = Precision::Bf16, .mode = mode});
      ASSERT_EQ(plan.kernels.size(), 1u);
      const Kernel& k = plan.kernels[0];
      EXPECT_DOUBLE_EQ(k.extents.groups, kGroups);
      EXPECT_DOUBLE_EQ(k.extents.products, touched);
      EXPECT_DOUBLE_EQ(k.extents.m, rows / touched);
      const double data = 2.0 * rows * (512 + 256);
      EXPECT_NEAR(k.traffic.bytes - data - 4 * kGroups, 2 * touched * kMatrix, 1e-6 * k.traffic.bytes);
      EXPECT_NEAR(k.traffic.handed_bytes, rows * 2.0 * 256, 1);  // inputs are stored, the result is handed on
      EXPECT_DOUBLE_EQ(k.work.macs, rows * kMatrix);
    }
  }
  const OpCost cost = op_cost(experts(1), 3);
  EXPECT_DOUBLE_EQ(cost.weight_bytes, 2 * kMatrix);
}

TEST(GroupedProducts, HopperAndBlackwellOfDataCentresHaveOneKernelInBfloat16) {
  for (const char* one : {"h100-sxm", "h200", "b200", "gb300", "mi300x", "mi355x"})
    EXPECT_TRUE(has_grouped_kernel(device(one), true)) << one;
  for (const char* none : {"a100-80gb", "l40s", "rtx5090", "rtx-pro-6000-server", "t4", "mi250x"})
    EXPECT_FALSE(has_grouped_kernel(device(none), true)) << none;
  EXPECT_FALSE(has_grouped_kernel(device("h100-sxm"), false));
}

// Without such a kernel PyTorch waits for the groups' ends and calls a product for each, with rows or not.
TEST(GroupedProducts, ElsewhereEachGroupIsAKernelAndACall) {
  const Graph g = experts(32);
  const KernelPlan plan = plan_of(g, kBf16);
  const Device a100 = device("a100-80gb");
  const Rates rates(a100, Precision::Bf16);
  Kernel one = plan.kernels[0];
  const double touched = one.extents.products;
  one.extents.groups = 0;
  one.extents.products = 1;
  for (double* all : {&one.work.macs, &one.traffic.bytes, &one.traffic.handed_bytes}) *all /= touched;
  EXPECT_DOUBLE_EQ(price(plan.kernels[0], rates).time_us, touched * price(one, rates).time_us);

  const Prediction on_a100 = predicted(g, kBf16, a100), on_h100 = predicted(g, kBf16, device("h100-sxm"));
  EXPECT_DOUBLE_EQ(on_h100.host_calls, 1);
  EXPECT_DOUBLE_EQ(on_a100.host_calls, 1 + 1 + 2 * kGroups);  // the copy of the ends; a product and its views each
  EXPECT_GT(on_a100.host_ms, kGroups / 2 * on_h100.host_ms);
}

TEST(GroupedProducts, RuntimesBesidePyTorchHaveOneKernelOnAnyGpu) {
  const Device a100 = device("a100-80gb");
  const ExecConfig session = on_runtime(kBf16, Runtime::OnnxRuntime);
  const KernelPlan plan = plan_of(experts(32), session);
  EXPECT_TRUE(plan.kernels[0].limits.all_groups);
  const Rates rates(a100, Precision::Bf16);
  const double us = price(plan.kernels[0], rates).time_us;
  EXPECT_LT(us, 0.5 * price(plan_of(experts(32), kBf16).kernels[0], rates).time_us);
  // What ONNX Runtime's other kernels take beside PyTorch's is not in it.
  EXPECT_NEAR(1e3 * predicted(experts(32), session, a100).device_ms, us, 0.01 * us);
  const auto says_loop = [&](const ExecConfig& config) {
    const auto warnings = predicted(experts(32), config, a100).warnings;
    return std::ranges::any_of(warnings,
                               [](const std::string& w) { return w.find("calls 64 products") != std::string::npos; });
  };
  EXPECT_TRUE(says_loop(kBf16));
  EXPECT_FALSE(says_loop(session));
}

// Its tiles lie within a group each: rows are filled up, and bytes are not.
TEST(GroupedProducts, OneKernelTakesLongerThanABatchedProductOfItsTiles) {
  const Rates rates(device("h100-sxm"), Precision::Bf16);
  const KernelPlan plan = plan_of(experts(64 * 512), kBf16);
  Kernel batched = plan.kernels[0];
  batched.extents.groups = 0;
  const double ratio = price(plan.kernels[0], rates).time_us / price(batched, rates).time_us;
  EXPECT_GT(ratio, 1.22);
  EXPECT_LT(ratio, 2.0);
}

}  // namespace
}  // namespace perfc
