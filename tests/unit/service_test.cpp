/// What slices serve, and the way from the instances that exist to those of a plan.
#include "mig/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mig/moves.h"

namespace perfc {
namespace {

TEST(Service, ABatchOfOneWaitsAsInAnMD1Queue) {
  const ServiceDemand d{.rate_per_s = 50, .batch = 1};
  const ServiceOnSlice on{.batch_ms = 10};
  const ServiceLimits limits{.utilisation = 0.8};
  EXPECT_DOUBLE_EQ(capacity_per_s(d, on, 1, limits), 80);
  EXPECT_DOUBLE_EQ(utilisation_at(50, d, on, 1, limits), 0.5);
  // Pollaczek-Khinchine: ρ s / (2 (1 − ρ)) = 0.5 · 10 / 1 = 5 ms
  EXPECT_DOUBLE_EQ(request_ms(50, 0.5, d, on, 1, limits), 15);
}

TEST(Service, WhatTheLimitLeavesIsForGathering) {
  ServiceDemand d{.rate_per_s = 100, .batch = 8, .max_latency_ms = 100};
  const ServiceOnSlice on{.batch_ms = 20};
  const ServiceLimits limits{.utilisation = 0.5};
  // A batch and its mean wait at 50 %: 20 + 10 ms; 70 are left.
  EXPECT_DOUBLE_EQ(gather_ms(d, on, 1, limits), 70);
  // Full batches: 0.5 · 8 / 20 ms = 200/s, in which 70 ms gather 15 requests: enough.
  EXPECT_DOUBLE_EQ(capacity_per_s(d, on, 1, limits), 200);
  // At 100/s 70 ms gather 1 + 7 = 8: just full.
  EXPECT_DOUBLE_EQ(utilisation_at(100, d, on, 1, limits), 100 * 0.020 / 8);
  EXPECT_DOUBLE_EQ(request_ms(100, 0.25, d, on, 1, limits), 70 + 20 * 0.25 / (2 * 0.75) + 20);
  // Slower requests go in batches that are not full, which cost as much.
  EXPECT_DOUBLE_EQ(utilisation_at(10, d, on, 1, limits), 10 * 0.020 / 1.7);
  // A limit so close that batches never fill: x · 20 ms / (1 + x · 1 ms) = 0.5.
  d.max_latency_ms = 31;
  const double most = capacity_per_s(d, on, 1, limits);
  EXPECT_NEAR(most * 0.020 / (1 + most * 0.001), 0.5, 1e-12);
  EXPECT_NEAR(utilisation_at(most, d, on, 1, limits), 0.5, 1e-12);
  d.max_latency_ms = 29;
  EXPECT_EQ(capacity_per_s(d, on, 1, limits), 0);
}

TEST(Service, SharingStretchesBatches) {
  const ServiceDemand d{.rate_per_s = 10, .batch = 1, .max_latency_ms = 50};
  const ServiceOnSlice on{.batch_ms = 10};
  const ServiceLimits limits{.utilisation = 0.5};
  EXPECT_DOUBLE_EQ(gather_ms(d, on, 1, limits), 50 - 10 - 5);
  EXPECT_DOUBLE_EQ(gather_ms(d, on, 3, limits), 50 - 30 - 15);
  EXPECT_LT(gather_ms(d, on, 4, limits), 0);
}

struct Moves : testing::Test {
  Moves() : device(*DeviceTable::builtin().find("a100-40gb", diags)), partitions(device.mig) {}
  MigCounts of(std::initializer_list<std::pair<const char*, int>> wanted) const {
    MigCounts out(device.mig.size(), 0);
    for (std::size_t p = 0; p < out.size(); ++p) {
      for (const auto& [name, n] : wanted) out[p] += device.mig[p].name == name ? n : 0;
    }
    return out;
  }
  MovePlan plan(const MigCounts& wanted, std::vector<MigCounts> current, std::size_t most) const {
    return plan_moves(partitions, wanted, current, most, 100000);
  }
  Diagnostics diags{"test"};
  Device device;
  MigPartitions partitions;
};

TEST_F(Moves, NoneWhereAllIsThere) {
  const MovePlan same = plan(of({{"3g.20gb", 2}}), {of({{"3g.20gb", 2}})}, 1);
  EXPECT_EQ(same.moves, 0);
  EXPECT_EQ(same.bound, 0);
  EXPECT_TRUE(same.gpus.at(0).untouched());
  // What nobody uses stays.
  const MovePlan part = plan(of({{"2g.10gb", 1}}), {of({{"2g.10gb", 2}, {"1g.5gb", 1}})}, 1);
  EXPECT_EQ(part.moves, 0);
}

TEST_F(Moves, BesideWhatCanOnlyLieInOnePlace) {
  // 4g lies at 0 whatever happened before, so that 3g has 4-7.
  const MovePlan beside = plan(of({{"4g.20gb", 1}, {"3g.20gb", 1}}), {of({{"4g.20gb", 1}})}, 1);
  EXPECT_EQ(beside.moves, 1);
  EXPECT_EQ(beside.gpus.at(0).keep, of({{"4g.20gb", 1}}));
}

TEST_F(Moves, AllAnewWhereAnInstanceMayBeInTheWay) {
  // 1g may lie at 0 to 3, where 4g has to be.
  const MovePlan anew = plan(of({{"4g.20gb", 1}, {"1g.5gb", 1}}), {of({{"1g.5gb", 1}})}, 1);
  EXPECT_EQ(anew.moves, 3);
  EXPECT_TRUE(anew.gpus.at(0).from_scratch());
  // Three of 2g and a 1g: wherever two 2g lie, the third has a place, unless the driver puts the 1g there first.
  const MovePlan third = plan(of({{"2g.10gb", 3}}), {of({{"2g.10gb", 2}})}, 1);
  EXPECT_EQ(third.moves, 1);
}

TEST_F(Moves, OntoTheGpuThatHasThem) {
  const std::vector<MigCounts> host{of({{"7g.40gb", 1}}), of({{"3g.20gb", 2}}), of({})};
  const MovePlan moves = plan(of({{"3g.20gb", 2}}), host, 1);
  EXPECT_EQ(moves.moves, 0);
  EXPECT_TRUE(moves.gpus.at(1).used());
  EXPECT_FALSE(moves.gpus.at(0).used());
  EXPECT_TRUE(moves.gpus.at(0).untouched());
  // On an empty GPU nothing has to be destroyed first.
  const MovePlan more = plan(of({{"3g.20gb", 2}, {"4g.20gb", 1}}), host, 2);
  EXPECT_EQ(more.moves, 1);
  EXPECT_TRUE(more.gpus.at(2).used());
  EXPECT_TRUE(plan(of({{"7g.40gb", 2}}), {of({})}, 1).gpus.empty());
}

TEST_F(Moves, SlicesFollow) {
  Packing packing;
  const auto profile = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(device.mig, name, &MigProfile::name) - device.mig.begin());
  };
  packing.slices = {{.profile = profile("4g.20gb")}, {.profile = profile("3g.20gb")}, {.profile = profile("7g.40gb")}};
  const MovePlan moves = plan(of({{"4g.20gb", 1}, {"3g.20gb", 1}, {"7g.40gb", 1}}), {of({}), of({{"4g.20gb", 1}})}, 2);
  follow(partitions, moves, packing);
  ASSERT_EQ(packing.slices.size(), 3U);
  EXPECT_EQ(packing.slices[0].gpu, 0U);
  EXPECT_EQ(device.mig[packing.slices[0].profile].name, "7g.40gb");
  EXPECT_EQ(packing.slices[0].start, 0);
  EXPECT_EQ(packing.slices[1].start, -1);  // beside what is kept
}

}  // namespace
}  // namespace perfc
