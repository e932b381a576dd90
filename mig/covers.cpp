#include "mig/covers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace perfc {
namespace {

constexpr std::size_t kMostCovers = 3000;   ///< of a model; beyond it, sets of two profiles only
constexpr std::size_t kMostCompared = 400;  ///< for replacing one another
constexpr int kRounds = 400;                ///< of multiplicative weights
constexpr std::size_t kPrices = 12;         ///< kept
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-9;  ///< of comparing sums of rates

/// Sets of slices with enough capacity of which none can be left out.
struct Lister {
  const PackModel& model;
  const PackProblem& problem;
  std::vector<std::size_t> usable;  ///< profiles, those with most capacity first
  std::vector<double> capacity;     ///< by profile
  std::vector<Cover> found;
  MigCounts counts;
  bool overflow = false;

  bool enough(double served, int slices) const {
    return slices >= std::max(1, model.demand.replicas) && served >= model.demand.rate_per_s * (1 - kSlack);
  }
  /// Whether each slice is needed. `served` and `slices` are of `counts`.
  bool smallest(double served, int slices) const {
    return std::ranges::all_of(usable,
                               [&](std::size_t p) { return !counts[p] || !enough(served - capacity[p], slices - 1); });
  }
  void add(double served, int slices) {
    if (!smallest(served, slices)) return;
    if (found.size() == kMostCovers) {
      overflow = true;
      return;
    }
    found.push_back({.counts = counts});
  }
  /// With profiles from usable[at] on; each further slice is of less capacity.
  void list(std::size_t at, double served, int slices) {
    if (overflow) return;
    if (enough(served, slices)) return add(served, slices);
    if (slices > kMostPackGpus * 8) {
      overflow = true;
      return;
    }
    for (std::size_t i = at; i < usable.size() && !overflow; ++i) {
      ++counts[usable[i]];
      list(i, served + capacity[usable[i]], slices + 1);
      --counts[usable[i]];
    }
  }
  /// Of one profile as many as there may be, and the rest of another.
  void list_pairs() {
    found.clear();
    const auto many = [&](double rate, std::size_t p) {
      return rate <= 0 ? 0 : static_cast<int>(std::min(1e6, std::ceil(rate * (1 - kSlack) / capacity[p])));
    };
    const double rate = model.demand.rate_per_s;
    for (const std::size_t p : usable) {
      const int most = std::max(model.demand.replicas, many(rate, p));
      for (const std::size_t q : usable) {
        const int step = std::max(1, most / 64);
        for (int n = p == q ? most : 0; n <= most; n += step) {
          counts.assign(counts.size(), 0);
          counts[p] += n;
          const int rest = std::max(many(rate - n * capacity[p], q), std::max(1, model.demand.replicas) - n);
          if (p != q) counts[q] += std::max(0, rest);
          const double served = counts[p] * capacity[p] + (p == q ? 0 : counts[q] * capacity[q]);
          const int slices = std::accumulate(counts.begin(), counts.end(), 0);
          if (enough(served, slices) && smallest(served, slices)) found.push_back({.counts = counts});
        }
      }
    }
    counts.assign(counts.size(), 0);
    std::ranges::sort(found, {}, &Cover::counts);
    const auto same = [](const Cover& a, const Cover& b) { return a.counts == b.counts; };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());  // clang 14: no std::ranges::unique
  }
};

/// Each slice of `b` fits inside one of `a`'s of its own.
bool replaces(const MigPartitions& partitions, const MigCounts& b, const MigCounts& a) {
  MigCounts room = a, rest = b;
  for (std::size_t i = 0; i < a.size(); ++i) {  // equal profiles first: they fill a place without loss
    const int both = std::min(room[i], rest[i]);
    room[i] -= both;
    rest[i] -= both;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; rest[i] > 0 && j < a.size(); ++j) {
      if (i == j || room[j] == 0 || !partitions.lies_inside(i, j)) continue;
      const int both = std::min(room[j], rest[i]);
      room[j] -= both;
      rest[i] -= both;
    }
    if (rest[i] > 0) return false;
  }
  return true;
}

void drop_replaced(const PackProblem& problem, std::vector<Cover>& covers) {
  if (covers.size() > kMostCompared) return;
  std::vector<Cover> kept;
  for (const Cover& c : covers) {
    const auto replaced_by = [&](const Cover& other) {
      return &other != &c && other.counts != c.counts && replaces(*problem.partitions, other.counts, c.counts) &&
             (problem.goal != PackGoal::Energy || other.work_w <= c.work_w) &&
             // of two that replace each other the first stays
             (!replaces(*problem.partitions, c.counts, other.counts) || &other < &c);
    };
    if (std::ranges::none_of(covers, replaced_by)) kept.push_back(c);
  }
  covers = std::move(kept);
}

}  // namespace

Covers covers_of(const PackModel& model, const PackProblem& problem) {
  const std::size_t profiles = problem.partitions->profiles();
  Lister lister{model, problem, {}, std::vector<double>(profiles, 0), {}, MigCounts(profiles, 0)};
  Covers out;
  out.least.assign(profiles, {kNone, kNone, kNone});
  for (std::size_t p = 0; p < profiles; ++p) {
    if (!model.on[p] || problem.partitions->profile(p).starts.empty()) continue;
    const ServiceOnSlice& on = *model.on[p];
    const double room = problem.partitions->profile(p).memory_mib * (1 - problem.limits.headroom);
    if (!(on.memory_mib < room)) continue;
    lister.capacity[p] = capacity_per_s(model.demand, on, 1, problem.limits);
    if (!(lister.capacity[p] > 0)) continue;
    lister.usable.push_back(p);
    const double work = model.demand.rate_per_s * on.batch_ms / 1e3 / model.demand.batch;
    out.least[p] = {work / problem.limits.utilisation, on.memory_mib / room, work * on.work_w};
  }
  std::ranges::stable_sort(lister.usable, std::greater(), [&](std::size_t p) { return lister.capacity[p]; });
  if (lister.usable.empty()) return out;
  lister.list(0, 0, 0);
  out.complete = !lister.overflow;
  if (lister.overflow) lister.list_pairs();
  out.all = std::move(lister.found);
  for (Cover& c : out.all) {
    const int slices = std::accumulate(c.counts.begin(), c.counts.end(), 0);
    double all = 0;
    for (std::size_t p = 0; p < profiles; ++p) all += c.counts[p] * lister.capacity[p];
    for (std::size_t p = 0; p < profiles; ++p) {
      if (!c.counts[p]) continue;
      if (slices == 1) c.single = static_cast<int>(p);
      const double rate = model.demand.rate_per_s * lister.capacity[p] / all;
      c.work_w +=
          c.counts[p] * model.on[p]->work_w * utilisation_at(rate, model.demand, *model.on[p], 1, problem.limits);
    }
  }
  if (!problem.share) drop_replaced(problem, out.all);
  return out;
}

double cost(const MigPrices& prices, const MigCounts& counts) {
  double sum = 0;
  for (std::size_t p = 0; p < counts.size(); ++p) sum += prices[p] * counts[p];
  return sum;
}

double least_cost(const PackModel& model, const Covers& covers, const MigPrices& prices, double watts_per_gpu,
                  const ServiceLimits& limits) {
  const double per_gpu = watts_per_gpu > 0 ? watts_per_gpu : 1;
  const bool watts = watts_per_gpu > 0;
  double least = kNone;
  for (const Cover& c : covers.all) least = std::min(least, per_gpu * cost(prices, c.counts) + (watts ? c.work_w : 0));
  if (covers.complete) return least;
  // Whatever it takes, each request costs what it costs on its best profile, and each slice what the cheapest costs.
  double by_rate = kNone, by_slice = kNone;
  for (std::size_t p = 0; p < prices.size(); ++p) {
    if (covers.least[p].utilisation == kNone) continue;
    const double capacity = capacity_per_s(model.demand, *model.on[p], 1, limits);
    by_rate = std::min(by_rate,
                       model.demand.rate_per_s / capacity * prices[p] * per_gpu + (watts ? covers.least[p].work_w : 0));
    by_slice = std::min(by_slice, prices[p] * per_gpu);
  }
  return std::min(least, std::max(by_rate, by_slice * model.demand.replicas));
}

std::vector<MigPrices> good_prices(const PackProblem& problem, const std::vector<Covers>& covers,
                                   double watts_per_gpu) {
  const auto& maximal = problem.partitions->maximal();
  const std::size_t profiles = problem.partitions->profiles();
  const double per_gpu = watts_per_gpu > 0 ? watts_per_gpu : 1;
  MigPrices weight(profiles, 0);
  for (std::size_t p = 0; p < profiles; ++p) {
    for (const MigCounts& m : maximal) {
      if (m[p]) weight[p] = std::max(weight[p], 1.0 / m[p]);  // a GPU full of it costs about 1
    }
    int most = 0;
    for (const MigCounts& m : maximal) most = std::max(most, m[p]);
    weight[p] = most ? 1.0 / most : 0;
  }
  std::vector<std::pair<double, MigPrices>> seen;
  for (int round = 0; round < kRounds; ++round) {
    const MigCounts* full = nullptr;
    double dearest = 0;
    for (const MigCounts& m : maximal) {
      if (const double c = cost(weight, m); !full || c > dearest) dearest = c, full = &m;
    }
    if (!(dearest > 0)) break;
    MigPrices prices = weight;
    for (double& p : prices) p /= dearest;
    double bound = 0;
    std::vector<double> demand(profiles, 0);
    for (std::size_t m = 0; m < covers.size(); ++m) {
      bound += least_cost(problem.models[m], covers[m], prices, watts_per_gpu, problem.limits);
      const Cover* best = nullptr;
      double least = kNone;
      for (const Cover& c : covers[m].all) {
        const double costs = per_gpu * cost(prices, c.counts) + (watts_per_gpu > 0 ? c.work_w : 0);
        if (costs < least) least = costs, best = &c;
      }
      for (std::size_t p = 0; best && p < profiles; ++p) demand[p] += best->counts[p];
    }
    seen.emplace_back(bound, prices);
    // Dearer what the models' cheapest sets take more of than the dearest partition has for its share of the GPUs.
    const double gpus = std::max(1e-9, cost(prices, MigCounts(demand.begin(), demand.end())));
    const double step = 0.5 / std::sqrt(1.0 + round);
    for (std::size_t p = 0; p < profiles; ++p)
      weight[p] = prices[p] * std::exp(step * std::clamp((demand[p] / gpus - (*full)[p]) / 7, -1.0, 1.0));
  }
  std::ranges::stable_sort(seen, std::greater(), &std::pair<double, MigPrices>::first);
  std::vector<MigPrices> out;
  for (std::size_t i = 0; i < seen.size() && out.size() < kPrices; i += 1 + i / 2) out.push_back(seen[i].second);
  return out;
}

}  // namespace perfc
