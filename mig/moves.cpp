#include "mig/moves.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace perfc {
namespace {

constexpr std::size_t kMostArrangements = 5000;

int count(const MigCounts& c) { return std::accumulate(c.begin(), c.end(), 0); }

MigCounts less(MigCounts a, const MigCounts& b) {
  for (std::size_t p = 0; p < a.size(); ++p) a[p] = std::max(0, a[p] - b[p]);
  return a;
}

/// All counts up to `most`.
std::vector<MigCounts> up_to(const MigCounts& most) {
  std::vector<MigCounts> out{MigCounts(most.size(), 0)};
  for (std::size_t p = 0; p < most.size(); ++p) {
    const std::size_t before = out.size();
    for (int n = 1; n <= most[p]; ++n) {
      for (std::size_t i = 0; i < before; ++i) {
        out.push_back(out[i]);
        out.back()[p] = n;
      }
    }
  }
  return out;
}

/// Ways to get from what is on a GPU to what is wanted there.
class Steps {
 public:
  explicit Steps(const MigPartitions& partitions) : partitions_(partitions) {
    order_.resize(partitions.profiles());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, std::greater(), [&](std::size_t p) { return partitions_.profile(p).size; });
  }

  /// The one with the fewest moves; none: one GPU cannot hold it.
  const GpuMoves* best(const MigCounts& current, const MigCounts& use) {
    const auto [at, is_new] = known_.emplace(std::pair(current, use), std::nullopt);
    if (is_new) at->second = find(current, use);
    return at->second ? &*at->second : nullptr;
  }

 private:
  std::optional<GpuMoves> find(const MigCounts& current, const MigCounts& use) {
    if (!partitions_.holds(use)) return std::nullopt;
    std::vector<GpuMoves> ways;
    for (MigCounts& keep : up_to(current)) {
      GpuMoves way{.use = use, .keep = keep, .destroy = less(current, keep), .create = less(use, keep)};
      ways.push_back(std::move(way));
    }
    std::ranges::stable_sort(ways, {}, [](const GpuMoves& w) { return count(w.destroy) + count(w.create); });
    for (GpuMoves& way : ways) {
      if (works(current, way)) return std::move(way);
    }
    return std::nullopt;
  }

  bool works(const MigCounts& current, const GpuMoves& way) const {
    if (count(way.create) == 0 || count(way.keep) == 0) return true;
    MigCounts after = way.keep;
    for (std::size_t p = 0; p < after.size(); ++p) after[p] += way.create[p];
    if (!partitions_.holds(after)) return false;
    const auto all = partitions_.places(current, kMostArrangements);
    if (all.size() == kMostArrangements || all.empty()) return false;
    std::set<unsigned> tried;
    return std::ranges::all_of(all, [&](const std::vector<MigPlacement>& places) {
      return works_beside(places, 0, way.keep, 0, way.create, tried);
    });
  }
  /// Whichever of the instances at these places are the kept ones.
  bool works_beside(const std::vector<MigPlacement>& places, std::size_t at, MigCounts keep, unsigned taken,
                    const MigCounts& create, std::set<unsigned>& tried) const {
    if (count(keep) == 0) {
      if (!tried.insert(taken).second) return true;  // a failure ended the search
      return driver_places(create, taken);
    }
    if (at == places.size()) return true;  // not a choice of the kept ones
    if (!works_beside(places, at + 1, keep, taken, create, tried)) return false;
    if (keep[places[at].profile] == 0) return true;
    --keep[places[at].profile];
    return works_beside(places, at + 1, keep, taken | partitions_.slots(places[at]), create, tried);
  }
  /// The larger first, each wherever the driver may put it.
  bool driver_places(MigCounts create, unsigned taken) const {
    for (const std::size_t p : order_) {
      if (create[p] == 0) continue;
      --create[p];
      bool any = false;
      for (const int start : partitions_.profile(p).starts) {
        const unsigned slots = partitions_.slots({p, start});
        if (slots & taken) continue;
        any = true;
        if (!driver_places(create, taken | slots)) return false;
      }
      return any;
    }
    return true;
  }

  const MigPartitions& partitions_;
  std::vector<std::size_t> order_;
  std::map<std::pair<MigCounts, MigCounts>, std::optional<GpuMoves>> known_;
};

struct MoveSearch {
  const MigPartitions& partitions;
  const std::vector<MigCounts>& current;
  std::uint64_t steps;
  Steps ways;
  std::vector<MigCounts> later;  ///< by GPU: instances that exist from there on
  int full = 1;                  ///< instances on one GPU at most
  std::vector<GpuMoves> chosen, best;
  int best_moves = std::numeric_limits<int>::max();
  std::map<std::tuple<std::size_t, std::size_t, MigCounts>, int> seen;

  int at_least(std::size_t gpu, const MigCounts& rest) const { return count(less(rest, later[gpu])); }

  void descend(std::size_t gpu, std::size_t left, const MigCounts& rest, int moves) {
    if (steps == 0) return;
    --steps;
    if (moves + at_least(gpu, rest) >= best_moves) return;
    if (count(rest) == 0) {
      best_moves = moves;
      best = chosen;
      for (; gpu < current.size(); ++gpu) {
        const MigCounts none(rest.size(), 0);
        best.push_back({.gpu = gpu, .use = none, .keep = current[gpu], .destroy = none, .create = none});
      }
      return;
    }
    if (gpu == current.size() || static_cast<std::size_t>((count(rest) + full - 1) / full) > left) return;
    const auto [at, is_new] = seen.emplace(std::tuple(gpu, left, rest), moves);
    if (!is_new && at->second <= moves) return;
    at->second = moves;
    std::set<MigCounts> uses;
    for (MigCounts m : partitions.maximal()) {
      for (std::size_t p = 0; p < m.size(); ++p) m[p] = std::min(m[p], rest[p]);
      for (MigCounts& use : up_to(m)) uses.insert(std::move(use));
    }
    std::vector<std::tuple<int, int, GpuMoves>> options;
    for (const MigCounts& use : uses) {
      if (left == 0 && count(use) > 0) continue;
      const GpuMoves* way = ways.best(current[gpu], use);
      if (!way) continue;
      int slots = 0;
      for (std::size_t p = 0; p < use.size(); ++p) slots += use[p] * partitions.profile(p).size;
      const int here = count(way->destroy) + count(way->create);
      options.emplace_back(here + at_least(gpu + 1, less(rest, use)), -slots, *way);
      std::get<GpuMoves>(options.back()).gpu = gpu;
    }
    std::ranges::stable_sort(options, [](const auto& a, const auto& b) {
      return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
    });
    for (const auto& [bound, slots, way] : options) {
      if (moves + bound >= best_moves) break;
      chosen.push_back(way);
      descend(gpu + 1, left - (way.used() ? 1 : 0), less(rest, way.use),
              moves + count(way.destroy) + count(way.create));
      chosen.pop_back();
    }
  }
};

}  // namespace

bool GpuMoves::used() const { return count(use) > 0; }
bool GpuMoves::untouched() const { return count(destroy) + count(create) == 0; }
bool GpuMoves::from_scratch() const { return count(keep) == 0; }

MovePlan plan_moves(const MigPartitions& partitions, const MigCounts& wanted, const std::vector<MigCounts>& current,
                    std::size_t most, std::uint64_t effort) {
  MoveSearch search{partitions, current, effort, Steps(partitions), {}, 1, {}, {}};
  search.later.assign(current.size() + 1, MigCounts(wanted.size(), 0));
  for (std::size_t gpu = current.size(); gpu-- > 0;) {
    for (std::size_t p = 0; p < wanted.size(); ++p) search.later[gpu][p] = search.later[gpu + 1][p] + current[gpu][p];
  }
  for (const MigCounts& m : partitions.maximal()) search.full = std::max(search.full, count(m));
  search.descend(0, most, wanted, 0);
  MovePlan out{.gpus = std::move(search.best)};
  if (out.gpus.empty()) return out;
  out.moves = search.best_moves;
  out.bound = search.steps > 0 ? out.moves : std::min(out.moves, search.at_least(0, wanted));
  return out;
}

void follow(const MigPartitions& partitions, const MovePlan& moves, Packing& plan) {
  std::vector<PackedSlice> waiting = std::move(plan.slices);
  plan.slices.clear();
  for (const GpuMoves& gpu : moves.gpus) {
    std::vector<MigPlacement> places;
    if (gpu.from_scratch()) {
      places = partitions.place(gpu.use);
    } else {
      for (std::size_t p = 0; p < gpu.use.size(); ++p)
        places.insert(places.end(), static_cast<std::size_t>(gpu.use[p]), MigPlacement{p, -1});
    }
    std::ranges::stable_sort(places, {}, &MigPlacement::start);
    for (const MigPlacement& at : places) {
      const auto slice = std::ranges::find(waiting, at.profile, &PackedSlice::profile);
      if (slice == waiting.end()) continue;
      slice->gpu = gpu.gpu;
      slice->start = at.start;
      plan.slices.push_back(std::move(*slice));
      waiting.erase(slice);
    }
  }
}

}  // namespace perfc
