#pragma once
/// Random packing problems, and what all placements make of them: an enumeration that shares nothing with mig/.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "mig/pack.h"

namespace perfc::pack_cases {

inline Device device(const std::string& name) {
  Diagnostics diags("test");
  return *DeviceTable::builtin().find(name, diags);
}

inline constexpr const char* kDevices[] = {"a100-40gb", "a30", "h100-sxm", "h200", "b200"};

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
inline Case random_case(std::mt19937& random, const Device& d, const MigPartitions& partitions, int models,
                        int slices) {
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
inline double least_over_sets(const Case& c, int most,
                              const std::function<double(const MigCounts&, double work_w)>& value) {
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

inline int least_gpus(EveryPlace& places, const MigCounts& counts, int most) {
  for (int gpus = 1; gpus <= most; ++gpus) {
    if (places.fits(counts, gpus)) return gpus;
  }
  return most + 1;
}

/// A plan is one: its instances lie at places of their profiles, apart, and every limit is kept.
inline void expect_valid(const Case& c, const Packing& plan) {
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

}  // namespace perfc::pack_cases
