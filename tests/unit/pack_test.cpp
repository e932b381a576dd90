/// Packing models onto MIG slices, held against enumerations of all placements.
#include "mig/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace perfc {
namespace {

Device device(const std::string& name) {
  Diagnostics diags("test");
  return *DeviceTable::builtin().find(name, diags);
}

constexpr const char* kDevices[] = {"a100-40gb", "a30", "h100-sxm", "h200", "b200"};

/// Whether instances go onto GPUs, by trying every place of every one of them.
class EveryPlace {
 public:
  explicit EveryPlace(const Device& d) : mig_(d.mig) {}

  bool fits(const MigCounts& counts, int gpus) {
    const auto [at, is_new] = known_.emplace(std::pair(counts, gpus), false);
    if (is_new) {
      std::vector<std::size_t> wanted;
      for (std::size_t p = 0; p < counts.size(); ++p)
        wanted.insert(wanted.end(), static_cast<std::size_t>(counts[p]), p);
      std::ranges::sort(wanted, std::greater(), [&](std::size_t p) { return mig_[p].size; });
      std::vector<Gpu> all(static_cast<std::size_t>(gpus));
      known_[{counts, gpus}] = place(wanted, 0, all);
    }
    return known_[{counts, gpus}];
  }
  /// All counts that one GPU holds.
  std::set<MigCounts> partitions() {
    std::set<MigCounts> out;
    std::function<void(MigCounts, std::size_t)> grow = [&](MigCounts counts, std::size_t from) {
      if (!fits(counts, 1)) return;
      out.insert(counts);
      for (std::size_t p = from; p < mig_.size(); ++p) {
        ++counts[p];
        grow(counts, p);
        --counts[p];
      }
    };
    grow(MigCounts(mig_.size(), 0), 0);
    return out;
  }

 private:
  struct Gpu {
    std::set<int> slots;
    std::map<std::size_t, int> of;
    int ofa = 0;
  };
  bool place(const std::vector<std::size_t>& wanted, std::size_t at, std::vector<Gpu>& gpus) {
    if (at == wanted.size()) return true;
    const MigProfile& p = mig_[wanted[at]];
    for (Gpu& gpu : gpus) {
      if (gpu.of[wanted[at]] == p.max_instances || gpu.ofa + p.ofa > 1) continue;
      for (const int start : p.starts) {
        bool is_free = true;
        for (int s = start; s < start + p.size; ++s) is_free = is_free && !gpu.slots.count(s);
        if (!is_free) continue;
        for (int s = start; s < start + p.size; ++s) gpu.slots.insert(s);
        ++gpu.of[wanted[at]];
        gpu.ofa += p.ofa;
        if (place(wanted, at + 1, gpus)) return true;
        for (int s = start; s < start + p.size; ++s) gpu.slots.erase(s);
        --gpu.of[wanted[at]];
        gpu.ofa -= p.ofa;
      }
    }
    return false;
  }
  std::vector<MigProfile> mig_;
  std::map<std::pair<MigCounts, int>, bool> known_;
};

struct Case {
  PackProblem problem;
  std::vector<MigProfile> mig;

  double capacity(std::size_t m, std::size_t p, int clients = 1) const {
    const auto& on = problem.models[m].on[p];
    if (!on || !(on->memory_mib < mig[p].memory_mib * (1 - problem.limits.headroom))) return 0;
    return capacity_per_s(problem.models[m].demand, *on, clients, problem.limits);
  }
  bool serves(std::size_t m, const MigCounts& counts) const {
    double sum = 0;
    int slices = 0;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (counts[p] && !(capacity(m, p) > 0)) return false;
      sum += counts[p] * capacity(m, p);
      slices += counts[p];
    }
    return slices >= problem.models[m].demand.replicas && sum >= problem.models[m].demand.rate_per_s * (1 - 1e-9);
  }
  bool needs_each(std::size_t m, MigCounts counts) const {
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (!counts[p]) continue;
      --counts[p];
      if (std::accumulate(counts.begin(), counts.end(), 0) > 0 && serves(m, counts)) return false;
      ++counts[p];
    }
    return true;
  }
  double work_w(std::size_t m, const MigCounts& counts) const {
    double all = 0, w = 0;
    for (std::size_t p = 0; p < counts.size(); ++p) all += counts[p] * capacity(m, p);
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (!counts[p]) continue;
      const ServiceDemand& d = problem.models[m].demand;
      const ServiceOnSlice& on = *problem.models[m].on[p];
      w += counts[p] * on.work_w * utilisation_at(d.rate_per_s * capacity(m, p) / all, d, on, 1, problem.limits);
    }
    return w;
  }
  /// Sets of at most `most` slices that serve a model and of which it needs each.
  std::vector<MigCounts> sets(std::size_t m, int most) const {
    std::vector<MigCounts> out;
    std::function<void(MigCounts, std::size_t, int)> grow = [&](MigCounts counts, std::size_t from, int slices) {
      if (slices > 0 && serves(m, counts) && needs_each(m, counts)) out.push_back(counts);
      for (std::size_t p = from; slices < most && p < mig.size(); ++p) {
        if (!(capacity(m, p) > 0)) continue;
        ++counts[p];
        grow(counts, p, slices + 1);
        --counts[p];
      }
    };
    grow(MigCounts(mig.size(), 0), 0, 0);
    return out;
  }
};

/// Random models on a random device, with rates that at most `slices` of its smallest usable slices serve.
Case random_case(std::mt19937& random, const Device& d, const MigPartitions& partitions, int models, int slices) {
  const auto between = [&](double lo, double hi) { return std::uniform_real_distribution<>(lo, hi)(random); };
  Case c;
  c.mig = d.mig;
  c.problem.partitions = &partitions;
  c.problem.idle_w = d.idle_w;
  for (int i = 0; i < models; ++i) {
    PackModel m;
    m.demand.batch = 1 << std::uniform_int_distribution<>(0, 4)(random);
    const double whole_ms = between(1, 20), memory = between(0.02, 0.6) * d.memory_mib, serial = between(0, 0.6);
    for (const MigProfile& p : d.mig) {
      const bool plain = p.name.find('+') == std::string::npos;
      const double share = static_cast<double>(p.sms) / d.sms;
      if (plain || between(0, 1) < 0.1)
        m.on.emplace_back(ServiceOnSlice{whole_ms * (serial + (1 - serial) / share), memory, between(5, 300) * share});
      else m.on.emplace_back(std::nullopt);
    }
    if (between(0, 1) < 0.5) m.demand.max_latency_ms = whole_ms * between(2, 20);
    if (between(0, 1) < 0.2) m.demand.replicas = 2;
    double least = 0;
    c.problem.models.push_back(m);
    for (std::size_t p = 0; p < d.mig.size(); ++p) {
      const double can = c.capacity(c.problem.models.size() - 1, p);
      if (can > 0 && (least == 0 || can < least)) least = can;
    }
    c.problem.models.back().demand.rate_per_s = least * between(0.05, slices * 0.999);
  }
  return c;
}

/// The least of `value` over all choices of a set per model.
double least_over_sets(const Case& c, int most, const std::function<double(const MigCounts&, double work_w)>& value) {
  std::vector<std::vector<MigCounts>> sets;
  for (std::size_t m = 0; m < c.problem.models.size(); ++m) sets.push_back(c.sets(m, most));
  double least = std::numeric_limits<double>::infinity();
  std::function<void(std::size_t, MigCounts, double)> choose = [&](std::size_t m, MigCounts counts, double work) {
    if (m == sets.size()) {
      least = std::min(least, value(counts, work));
      return;
    }
    for (const MigCounts& set : sets[m]) {
      MigCounts sum = counts;
      for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += set[p];
      choose(m + 1, std::move(sum), work + c.work_w(m, set));
    }
  };
  choose(0, MigCounts(c.mig.size(), 0), 0);
  return least;
}

int least_gpus(EveryPlace& places, const MigCounts& counts, int most) {
  for (int gpus = 1; gpus <= most; ++gpus) {
    if (places.fits(counts, gpus)) return gpus;
  }
  return most + 1;
}

/// A plan is one: its instances lie at places of their profiles, apart, and every limit is kept.
void expect_valid(const Case& c, const Packing& plan) {
  const PackProblem& problem = c.problem;
  std::map<std::size_t, std::set<int>> slots;
  std::map<std::size_t, int> ofa;
  std::map<std::pair<std::size_t, std::size_t>, int> of;
  std::vector<double> rate(problem.models.size(), 0);
  std::vector<int> slices(problem.models.size(), 0);
  for (const PackedSlice& s : plan.slices) {
    const MigProfile& p = c.mig[s.profile];
    EXPECT_TRUE(std::ranges::find(p.starts, s.start) != p.starts.end()) << p.name << " at " << s.start;
    for (int slot = s.start; slot < s.start + p.size; ++slot) EXPECT_TRUE(slots[s.gpu].insert(slot).second);
    EXPECT_LE(++of[std::pair(s.gpu, s.profile)], p.max_instances);
    EXPECT_LE(ofa[s.gpu] += p.ofa, 1);
    EXPECT_LE(s.utilisation, problem.limits.utilisation * (1 + 1e-6));
    EXPECT_LT(s.memory_mib, p.memory_mib * (1 - problem.limits.headroom));
    EXPECT_FALSE(s.parts.empty());
    for (const PackedSlice::Part& part : s.parts) {
      rate[part.model] += part.rate_per_s;
      ++slices[part.model];
      const double limit = problem.models[part.model].demand.max_latency_ms.value_or(1e300);
      EXPECT_LE(part.request_ms, limit * (1 + 1e-6));
    }
  }
  for (std::size_t m = 0; m < problem.models.size(); ++m) {
    EXPECT_NEAR(rate[m], problem.models[m].demand.rate_per_s * plan.factor, 1e-6 * (1 + rate[m]));
    EXPECT_GE(slices[m], problem.models[m].demand.replicas);
  }
  EXPECT_EQ(slots.size(), plan.gpus);
}

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

TEST(Pack, FiftyModelsOnSixteenGpusInTwoSeconds) {
  std::mt19937 random(5);
  for (const PackGoal goal : {PackGoal::Gpus, PackGoal::Energy, PackGoal::Throughput}) {
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
    // By the processor's time, for the machine has other work: less than 2 s, where steps of a search are what takes it.
    const std::clock_t began = std::clock();
    const Packing plan = pack(c.problem);
    EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 2);
    EXPECT_LT(plan.gap(), 0.01);
    ASSERT_EQ(plan.outcome, Packing::Outcome::Found);
    expect_valid(c, plan);
  }
}

}  // namespace
}  // namespace perfc
