/// The largest elements of rows: by which kernels, and what they took on an H100 PCIe (docs/whitebox.md).
#include "whitebox/launch/selection.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"
#include "kernel_plan.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

Graph topk(int rows, int length, int kept, int sorted) {
  return graph_of(
      fmt::format("def @main(%x: Tensor[({}, {}), float32]) {{\n"
                  "  %1 = const[{}] : Tensor[(1,), int64];\n"
                  "  %2:2 = topk(%x, %1, axis=-1, sorted={});\n  (%2.0)\n}}",
                  rows, length, kept, sorted));
}

Selection selection(int rows, int length, int kept, int sorted = 0) {
  return selection_of(topk(rows, length, kept, sorted), 2, 4);
}

double us(int rows, int length, int kept) {
  Diagnostics diags;
  const Rates rates(*DeviceTable::builtin().find("h100-pcie", diags), Precision::Fp32);
  return price(plan_of(topk(rows, length, kept, 0), {.precision = Precision::Fp32}).kernels.at(0), rates).time_us;
}

/// Published with 2.6 µs more of a launch than a kernel's here: "one trivial kernel costs 4.65".
TEST(TopK, IsWhatOneBlockAndManyTake) {
  for (const auto& [length, measured] : {std::pair{4096, 23.2}, {8192, 38.8}, {12288, 65.2}, {16384, 84.1}})
    EXPECT_NEAR((us(1, length, 2048) + 2.6) / measured, 1, 0.16) << length;
  for (const auto& [length, measured] : {std::pair{32768, 49.5}, {65536, 54.6}, {131072, 61.0}})
    EXPECT_NEAR((us(1, length, 2048) + 2.6) / measured, 1, 0.2) << length;
  EXPECT_NEAR((us(8, 131072, 2048) + 2.6) / 78.2, 1, 0.2);
}

TEST(TopK, RowsRunBesideEachOtherUntilMultiprocessorsAreFull) {
  EXPECT_EQ(us(8, 8192, 64), us(1, 8192, 64));
  EXPECT_GT(us(16384, 128, 8), 2 * us(2048, 128, 8));
}

TEST(TopK, MoreRowsAreSharedAmongBlocksSooner) {
  EXPECT_EQ(selection(20, 16384, 8).blocks, 20);
  EXPECT_EQ(selection(21, 16384, 8).blocks, 0);
  EXPECT_EQ(selection(5000, 399, 8).blocks, 5000);
  EXPECT_EQ(selection(5000, 400, 8).blocks, 0);
}

TEST(TopK, SortsWhatItKeeps) {
  const double found = selection(1, 8192, 256).steps;
  EXPECT_GT(selection(1, 8192, 256, 1).steps, found + 7);
  EXPECT_EQ(selection(1, 8192, 1, 1).steps, selection(1, 8192, 1).steps);
  // A whole row in order: no value is looked for, and long ones go by radix.
  EXPECT_LT(selection(1, 1024, 1024, 1).steps, selection(1, 1024, 1023, 1).steps);
  EXPECT_EQ(selection(1, 100000, 100000, 1).steps, 0);
  EXPECT_GT(selection(1, 100000, 100000, 1).bytes, 8.0 * 100000 * 4);
  EXPECT_EQ(selection(1, 0, 0).steps, 0);
}

}  // namespace
}  // namespace perfc
