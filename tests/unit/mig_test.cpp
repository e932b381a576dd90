/// Choosing MIG profiles.
#include "mig/mig.h"

#include <gtest/gtest.h>

namespace perfc {
namespace {

/// A model that needs `memory_mib` and takes 100 ms of a whole GPU's SMs.
struct Fixed : PreparedModel {
  explicit Fixed(double memory_mib) : memory_mib(memory_mib) {}
  Prediction on(const Device& d) const override {
    Prediction p;
    p.latency_ms = 100.0 * 108 / d.sms;
    p.memory.weights_mib = memory_mib;
    return p;
  }
  double memory_mib;
};

Device a100() {
  Diagnostics diags("test");
  return *DeviceTable::builtin().find("a100-40gb", diags);
}

TEST(DippmRule, IntervalsAreClosedFromBelow) {
  EXPECT_EQ(dippm_profile(4999.9), "1g.5gb");
  EXPECT_EQ(dippm_profile(5000), "2g.10gb");
  EXPECT_EQ(dippm_profile(10000), "3g.20gb");
  EXPECT_EQ(dippm_profile(20000), "7g.40gb");
  EXPECT_EQ(dippm_profile(40000), "");
  EXPECT_EQ(dippm_profile(0), "");
}

TEST(ChooseProfile, TheSmallestThatFitsWithHeadroom) {
  // 1g.5gb has 4864 MiB, of which 5 % stay free: 4620.8.
  EXPECT_EQ(choose_profile(Fixed(4620), a100(), 1, {}).profile, "1g.5gb");
  // Then 1g.10gb, which has one compute slice like it and twice the memory.
  const MigDecision larger = choose_profile(Fixed(4621), a100(), 1, {});
  EXPECT_EQ(larger.profile, "1g.10gb");
  EXPECT_NE(larger.options.front().why.find("needs 4621 of 4864 MiB"), std::string::npos) << larger.options.front().why;
}

TEST(ChooseProfile, MeetsTheGoals) {
  // 100 ms × 108 SMs: 1g 771 ms, 2g 386, 3g 257, 4g 193, 7g 110.
  EXPECT_EQ(choose_profile(Fixed(100), a100(), 1, {.max_latency_ms = 400}).profile, "2g.10gb");
  EXPECT_EQ(choose_profile(Fixed(100), a100(), 1, {.max_latency_ms = 120}).profile, "7g.40gb");
  EXPECT_FALSE(choose_profile(Fixed(100), a100(), 1, {.max_latency_ms = 100}).profile);
  // Seven of 1g.5gb make 9.07 batches of 8 per second.
  const MigDecision all = choose_profile(Fixed(100), a100(), 8, {.min_throughput_per_s = 72});
  EXPECT_EQ(all.profile, "1g.5gb");
  EXPECT_NEAR(all.options.front().throughput_per_s, 7 * 8 / 0.7714, 0.1);
}

TEST(ChooseProfile, NothingFits) {
  const MigDecision none = choose_profile(Fixed(41000), a100(), 1, {});
  EXPECT_FALSE(none.profile);
  EXPECT_EQ(none.why, "no profile fits and meets the goals");
  Device card = a100();
  card.mig.clear();
  EXPECT_EQ(choose_profile(Fixed(1), card, 1, {}).why, "the device has no MIG profiles");
}

}  // namespace
}  // namespace perfc
