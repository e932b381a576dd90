/// Prices of single kernels, by hand.
#include "whitebox/price/roofline.h"

#include <gtest/gtest.h>

#include "whitebox/constants/products.h"

namespace perfc {
namespace {

Rates rates_of(const char* device, Precision precision = Precision::Fp32) {
  Diagnostics diags("test");
  return Rates(*DeviceTable::builtin().find(device, diags), precision);
}

Kernel half_kernel(OpId of, KernelKind kind, Extents extents, double elements) {
  Kernel k;
  k.ops.push_back(of);
  k.kind = kind;
  k.half = true;
  k.extents = extents;
  k.traffic.bytes = 2 * elements;
  return k;
}

Kernel batched_product(double products, double m, double n, double depth) {
  Kernel k = half_kernel(op("nn.batch_matmul"), KernelKind::Matmul, {.m = m, .n = n, .k = depth, .products = products},
                         products * (m * depth + depth * n + m * n));
  k.work.macs = products * m * n * depth;
  return k;
}

/// whitebox/constants/kernels.h, kSerialStepUs: 0.28 µs for each load that a thread waits for, and a launch.
TEST(Roofline, StepsThatWaitForEachOther) {
  const Rates rates = rates_of("rtx4090");
  Kernel k;
  k.ops.push_back(op("nn.relu"));
  k.traffic.bytes = 1024;
  k.limits.serial_steps = 2048;
  EXPECT_NEAR(price(k, rates).time_us, 2048 * 0.28 + rates.launch_us, 0.1);
}

/// studies/hopper/measured: µs of single kernels on an H200.
TEST(Roofline, OddProductsAreWhatAnH200Takes) {
  const Rates rates = rates_of("h200", Precision::Fp16);
  EXPECT_NEAR(price(batched_product(12288, 49, 49, 32), rates).time_us, 88.0, 9);
  EXPECT_NEAR(price(batched_product(12288, 49, 32, 49), rates).time_us, 118.8, 12);
  EXPECT_NEAR(price(batched_product(96, 197, 197, 64), rates).time_us, 19.3, 3);
  EXPECT_NEAR(price(batched_product(1, 2048, 50257, 1024), rates).time_us, 2193, 50);
}

TEST(Roofline, OddProductsHaveNoSuchKernelsOnVolta) {
  const Kernel odd = batched_product(96, 197, 197, 64);
  EXPECT_EQ(price(odd, rates_of("a100-80gb", Precision::Fp16)).launch_us, constants::kOddLaunchUs);
  EXPECT_NE(price(odd, rates_of("v100-16gb", Precision::Fp16)).launch_us,
            price(odd, rates_of("a100-80gb", Precision::Fp16)).launch_us);
}

/// studies/kernels/rocblas_products.py: rows of odd length cost AMD little, an odd number of rows nothing.
TEST(Roofline, OddProductsOfAmd) {
  const Rates rates = rates_of("mi250x", Precision::Fp16);
  const auto us = [&](double m, double n, double k) { return price(batched_product(768, m, n, k), rates).time_us; };
  EXPECT_NEAR(us(198, 64, 197) / us(198, 64, 198), constants::kOddCdna, 0.03);
  EXPECT_NEAR(us(198, 197, 64) / us(198, 198, 64), constants::kOddCdna, 0.03);
  EXPECT_NEAR(us(197, 198, 64) / us(198, 198, 64), 1, 0.02);
}

/// Filling 2,000 × 3,072 results of 16 bits with a bias and reading them again, at 0.8 of 1.638 TB/s, and a launch.
TEST(Roofline, AmdCopiesABiasIntoTheResult) {
  Kernel k = batched_product(1, 2000, 3072, 768), biased = k;
  biased.traffic.biased_bytes = 2 * 2000 * 3072;
  const Rates amd = rates_of("mi250x", Precision::Fp16), nvidia = rates_of("a100-80gb", Precision::Fp16);
  EXPECT_NEAR(price(biased, amd).time_us - price(k, amd).time_us, 18.7 + amd.launch_us, 0.5);
  EXPECT_EQ(price(biased, nvidia).time_us, price(k, nvidia).time_us);
}

/// studies/hopper/measured: rows of 4,096 stay in a block's registers. Of 50,257 words a block reads them twice.
TEST(Roofline, LongRowsOfSoftmaxAreWhatAnH200Takes) {
  const Rates rates = rates_of("h200", Precision::Fp16);
  const auto softmax = [&](double rows, double columns) {
    const double elements = 2 * rows * columns;
    return price(half_kernel(op("nn.softmax"), KernelKind::Vector, {.m = rows, .n = columns}, elements), rates).time_us;
  };
  EXPECT_NEAR(softmax(16384, 4096), 213.5, 11);
  EXPECT_GT(softmax(1024, 9217) / softmax(1024, 9216), 1.4);
}

}  // namespace
}  // namespace perfc
