/// Most throughput, and slices that models share, held against enumerations of all placements.
#include "mig/pack.h"

#include <gtest/gtest.h>

#include "tests/unit/pack_cases.h"

namespace perfc {
namespace {

using namespace pack_cases;

TEST(Pack, MostThroughputIsThatOfAllPlacements) {
  std::mt19937 random(3);
  std::map<std::string, EveryPlace> places;
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const bool small = i % 2;  // four slots: two of these GPUs
    const Device d = device(small ? "a30" : kDevices[i / 2 % std::size(kDevices)]);
    const int gpus = d.name == "a30" ? 2 : 1;
    const MigPartitions partitions(d.mig);
    Case c = random_case(random, d, partitions, 1 + i % 3, 2);
    for (PackModel& m : c.problem.models) m.demand.rate_per_s *= 0.5;
    c.problem.goal = PackGoal::Throughput;
    c.problem.gpus = gpus;
    const Packing plan = pack(c.problem);
    if (plan.outcome == Packing::Outcome::Unservable) continue;
    EveryPlace& all = places.try_emplace(d.name, d).first->second;
    // Every partition, and every way to give its instances to models.
    double most = 0;
    const std::set<MigCounts> one = all.partitions();
    std::set<MigCounts> sums = one;
    if (gpus == 2) {
      sums.clear();
      for (const MigCounts& a : one) {
        for (const MigCounts& b : one) {
          MigCounts sum = a;
          for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += b[p];
          sums.insert(sum);
        }
      }
    }
    const std::size_t models = c.problem.models.size();
    for (const MigCounts& counts : sums) {
      std::vector<double> has(models, 0);
      std::vector<int> slices(models, 0);
      std::function<void(std::size_t, int)> give = [&](std::size_t p, int rest) {
        while (p < counts.size() && rest == 0) rest = ++p < counts.size() ? counts[p] : 0;
        if (p >= counts.size()) {
          double factor = std::numeric_limits<double>::infinity();
          for (std::size_t m = 0; m < models; ++m) {
            if (slices[m] < c.problem.models[m].demand.replicas) return;
            factor = std::min(factor, has[m] / c.problem.models[m].demand.rate_per_s);
          }
          most = std::max(most, factor);
          return;
        }
        give(p, rest - 1);
        for (std::size_t m = 0; m < models; ++m) {
          const double can = c.capacity(m, p);
          if (!(can > 0)) continue;
          has[m] += can;
          ++slices[m];
          give(p, rest - 1);
          has[m] -= can;
          --slices[m];
        }
      };
      give(0, counts[0]);
    }
    if (most < 1 - 1e-9) {
      EXPECT_EQ(plan.outcome, Packing::Outcome::TooFew);
      continue;
    }
    ASSERT_EQ(plan.outcome, Packing::Outcome::Found);
    EXPECT_TRUE(plan.proven()) << plan.gap();
    EXPECT_NEAR(plan.value, most, 1e-6 * most);
    expect_valid(c, plan);
    ++found;
  }
  EXPECT_GT(found, 25);
}

TEST(Pack, SharingIsThatOfAllGroups) {
  std::mt19937 random(4);
  std::map<std::string, EveryPlace> places;
  int shared = 0;
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const Device d = device(i % 3 ? "a30" : kDevices[i % std::size(kDevices)]);  // which has but four slots
    const MigPartitions partitions(d.mig);
    Case c = random_case(random, d, partitions, i % 3 ? 3 + i % 3 : 2, 1);
    for (PackModel& m : c.problem.models) {
      m.demand.rate_per_s *= 0.3;
      if (m.demand.max_latency_ms) *m.demand.max_latency_ms *= 2;
      for (auto& on : m.on) {
        if (on) on->memory_mib *= 0.15;
      }
    }
    c.problem.share = true;
    c.problem.goal = i % 2 ? PackGoal::Energy : PackGoal::Gpus;
    for (const MigProfile& p : d.mig) c.problem.clients.push_back(std::max(1, 2 * p.compute_slices));
    const Packing plan = pack(c.problem);
    if (plan.outcome == Packing::Outcome::Unservable) continue;
    EveryPlace& all = places.try_emplace(d.name, d).first->second;
    const std::size_t models = c.problem.models.size();
    // Every way to make groups; each group of several in one slice of every profile.
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::vector<std::size_t>> groups;
    const auto alone = [&](const std::vector<std::size_t>& g, std::size_t p) {  // W, or nothing if it cannot be
      double utilisation = 0, memory = 0, work = 0;
      const int n = static_cast<int>(g.size());
      if (n > c.problem.clients[p]) return -1.0;
      for (const std::size_t m : g) {
        const ServiceDemand& demand = c.problem.models[m].demand;
        if (demand.replicas > 1 || !(c.capacity(m, p) > 0)) return -1.0;
        const ServiceOnSlice& on = *c.problem.models[m].on[p];
        if (gather_ms(demand, on, n, c.problem.limits) < 0) return -1.0;
        const double u = utilisation_at(demand.rate_per_s, demand, on, n, c.problem.limits);
        utilisation += u;
        work += u * on.work_w;
        memory += on.memory_mib;
      }
      const bool good = utilisation <= c.problem.limits.utilisation && memory < c.mig[p].memory_mib * 0.95;
      return good ? work : -1.0;
    };
    std::function<void(std::size_t, MigCounts, double)> slices = [&](std::size_t g, MigCounts counts, double work) {
      if (g == groups.size()) {
        const int gpus = least_gpus(all, counts, 4);
        least = std::min(least, c.problem.goal == PackGoal::Gpus ? gpus : work + gpus * d.idle_w);
        return;
      }
      if (groups[g].size() == 1) {
        for (const MigCounts& set : c.sets(groups[g][0], 3)) {
          MigCounts sum = counts;
          for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += set[p];
          slices(g + 1, std::move(sum), work + c.work_w(groups[g][0], set));
        }
        return;
      }
      for (std::size_t p = 0; p < counts.size(); ++p) {
        const double w = alone(groups[g], p);
        if (w < 0) continue;
        ++counts[p];
        slices(g + 1, counts, work + w);
        --counts[p];
      }
    };
    std::function<void(std::size_t)> group = [&](std::size_t m) {
      if (m == models) return slices(0, MigCounts(c.mig.size(), 0), 0);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        groups[g].push_back(m);
        group(m + 1);
        groups[g].pop_back();
      }
      groups.push_back({m});
      group(m + 1);
      groups.pop_back();
    };
    group(0);
    ASSERT_EQ(plan.outcome, Packing::Outcome::Found);
    EXPECT_TRUE(plan.proven());
    EXPECT_NEAR(plan.value, least, 1e-5 * least);
    expect_valid(c, plan);
    for (const PackedSlice& s : plan.slices) shared += s.parts.size() > 1;
  }
  EXPECT_GT(shared, 20);
}

}  // namespace
}  // namespace perfc
