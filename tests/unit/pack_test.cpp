/// Packing models onto MIG slices, held against enumerations of all placements.
#include "mig/pack.h"

#include <gtest/gtest.h>

#include "tests/unit/pack_cases.h"

namespace perfc {
namespace {

using namespace pack_cases;

TEST(MigPartitions, AreThoseOfEveryPlace) {
  for (const Device& d : DeviceTable::builtin().all()) {
    if (d.mig.empty()) continue;
    SCOPED_TRACE(d.name);
    const MigPartitions partitions(d.mig);
    EveryPlace places(d);
    const std::set<MigCounts> all = places.partitions();
    for (const MigCounts& m : partitions.maximal()) {
      EXPECT_TRUE(all.count(m));
      EXPECT_EQ(partitions.place(m).size(), static_cast<std::size_t>(std::accumulate(m.begin(), m.end(), 0)));
    }
    for (const MigCounts& counts : all) EXPECT_TRUE(partitions.holds(counts));
    // and what one more instance makes is one of them or none
    for (MigCounts counts : all) {
      for (std::size_t p = 0; p < counts.size(); ++p) {
        ++counts[p];
        EXPECT_EQ(partitions.holds(counts), all.count(counts) > 0);
        --counts[p];
      }
    }
  }
}

TEST(MigPartitions, OfAnA100AreNvidias) {
  // MIG User Guide, "A100 MIG Profiles": the combinations of 7g, 4g, 3g, 2g and 1g of an A100, as its diagram has them.
  const Device d = device("a100-40gb");
  const MigPartitions partitions(d.mig);
  const auto index = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(d.mig, name, &MigProfile::name) - d.mig.begin());
  };
  const auto holds = [&](std::map<const char*, int> wanted) {
    MigCounts counts(d.mig.size(), 0);
    for (const auto& [name, n] : wanted) counts[index(name)] = n;
    return partitions.holds(counts);
  };
  for (const auto& good : std::vector<std::map<const char*, int>>{{{"7g.40gb", 1}},
                                                                  {{"4g.20gb", 1}, {"3g.20gb", 1}},
                                                                  {{"4g.20gb", 1}, {"2g.10gb", 1}, {"1g.5gb", 1}},
                                                                  {{"4g.20gb", 1}, {"1g.5gb", 3}},
                                                                  {{"3g.20gb", 2}},
                                                                  {{"3g.20gb", 1}, {"2g.10gb", 2}},
                                                                  {{"3g.20gb", 1}, {"2g.10gb", 1}, {"1g.5gb", 2}},
                                                                  {{"3g.20gb", 1}, {"1g.5gb", 4}},
                                                                  {{"2g.10gb", 3}, {"1g.5gb", 1}},
                                                                  {{"1g.5gb", 7}},
                                                                  {{"1g.10gb", 4}},
                                                                  {{"1g.5gb", 6}, {"1g.5gb+me", 1}}})
    EXPECT_TRUE(holds(good));
  for (const auto& bad : std::vector<std::map<const char*, int>>{{{"4g.20gb", 2}},
                                                                 {{"3g.20gb", 2}, {"1g.5gb", 1}},
                                                                 {{"1g.5gb", 8}},
                                                                 {{"1g.5gb", 7}, {"1g.10gb", 1}},
                                                                 {{"1g.5gb+me", 2}},
                                                                 {{"7g.40gb", 1}, {"1g.5gb", 1}},
                                                                 {{"2g.10gb", 4}}})
    EXPECT_FALSE(holds(bad));
}

TEST(Pack, FewestGpusAreThoseOfAllPlacements) {
  std::mt19937 random(1);
  std::map<std::string, EveryPlace> places;
  int of_several = 0;
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    const Device d = device(kDevices[i % std::size(kDevices)]);
    const MigPartitions partitions(d.mig);
    const int models = 1 + i % 3;
    Case c = random_case(random, d, partitions, models, 3);
    if (i % 2) c.problem.gpus = 2;
    const Packing plan = pack(c.problem);
    EveryPlace& all = places.try_emplace(d.name, d).first->second;
    bool unservable = false;
    for (std::size_t m = 0; m < c.problem.models.size(); ++m) unservable = unservable || c.sets(m, 3).empty();
    if (unservable) {
      EXPECT_EQ(plan.outcome, Packing::Outcome::Unservable);
      continue;
    }
    const double least =
        least_over_sets(c, 3, [&](const MigCounts& counts, double) { return least_gpus(all, counts, 6); });
    if (c.problem.gpus && least > *c.problem.gpus) {
      EXPECT_EQ(plan.outcome, Packing::Outcome::TooFew);
      continue;
    }
    ASSERT_EQ(plan.outcome, Packing::Outcome::Found);
    EXPECT_TRUE(plan.proven());
    EXPECT_EQ(plan.value, least);
    of_several += least > 1;
    expect_valid(c, plan);
  }
  EXPECT_GT(of_several, 30);  // or the cases are too easy
}

TEST(Pack, LeastPowerIsThatOfAllPlacements) {
  std::mt19937 random(2);
  std::map<std::string, EveryPlace> places;
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE(i);
    const Device d = device(kDevices[i % std::size(kDevices)]);
    const MigPartitions partitions(d.mig);
    Case c = random_case(random, d, partitions, 1 + i % 3, 3);
    c.problem.goal = PackGoal::Energy;
    c.problem.gpus = 3;
    const Packing plan = pack(c.problem);
    if (plan.outcome == Packing::Outcome::Unservable) continue;
    EveryPlace& all = places.try_emplace(d.name, d).first->second;
    const double least = least_over_sets(c, 3, [&](const MigCounts& counts, double work) {
      const int gpus = least_gpus(all, counts, 3);
      return gpus > 3 ? std::numeric_limits<double>::infinity() : work + gpus * d.idle_w;
    });
    if (std::isinf(least)) {
      EXPECT_EQ(plan.outcome, Packing::Outcome::TooFew);
      continue;
    }
    ASSERT_EQ(plan.outcome, Packing::Outcome::Found);
    EXPECT_TRUE(plan.proven());
    EXPECT_NEAR(plan.value, least, 1e-5 * least);
    EXPECT_NEAR(plan.power_w, least, 1e-5 * least);
    expect_valid(c, plan);
  }
}

TEST(Pack, FiftyModelsOnSixteenGpusWithinTheUsualEffort) {
  std::mt19937 random(5);
  for (const PackGoal goal : {PackGoal::Gpus, PackGoal::Energy, PackGoal::Throughput}) {
    SCOPED_TRACE(static_cast<int>(goal));
    const Device d = device("a100-40gb");
    const MigPartitions partitions(d.mig);
    Case c = random_case(random, d, partitions, 50, 3);
    for (PackModel& m : c.problem.models) {
      m.demand.replicas = 1;
      if (m.demand.max_latency_ms) *m.demand.max_latency_ms *= 2;
      m.demand.rate_per_s *= 0.3;
      for (auto& on : m.on) {
        if (on) on->memory_mib *= 0.3;
      }
    }
    c.problem.goal = goal;
    c.problem.gpus = 16;
    const Packing plan = pack(c.problem);  // how long that takes: bench/pack.py
    ASSERT_EQ(plan.outcome, Packing::Outcome::Found);
    EXPECT_LT(plan.gap(), 0.01);
    expect_valid(c, plan);
  }
}

}  // namespace
}  // namespace perfc
