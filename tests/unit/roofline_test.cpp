/// Prices of single kernels, by hand.
#include "whitebox/price/roofline.h"

#include <gtest/gtest.h>

namespace perfc {
namespace {

Rates rates_of(const char* device) {
  Diagnostics diags("test");
  return Rates(*DeviceTable::builtin().find(device, diags), Precision::Fp32);
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

}  // namespace
}  // namespace perfc
