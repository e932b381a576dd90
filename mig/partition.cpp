#include "mig/partition.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace perfc {
namespace {

constexpr std::size_t kMostStates = 20000;  ///< of the enumeration; NVIDIA's devices take some hundreds

bool below(const MigCounts& a, const MigCounts& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

/// Places instances one after the other, those of equal profiles from left to right.
struct Placer {
  const MigPartitions& all;
  std::size_t most;
  std::vector<std::vector<MigPlacement>> found;
  std::vector<MigPlacement> placed;

  void place(const std::vector<std::size_t>& wanted, std::size_t at, unsigned taken) {
    if (found.size() >= most) return;
    if (at == wanted.size()) {
      found.push_back(placed);
      return;
    }
    const std::size_t profile = wanted[at];
    const bool again = at > 0 && wanted[at - 1] == profile;
    for (const int start : all.profile(profile).starts) {
      if (again && start <= placed.back().start) continue;
      const MigPlacement here{profile, start};
      if (all.slots(here) & taken) continue;
      placed.push_back(here);
      place(wanted, at + 1, taken | all.slots(here));
      placed.pop_back();
    }
  }
};

}  // namespace

MigPartitions::MigPartitions(std::span<const MigProfile> profiles) : profiles_(profiles.begin(), profiles.end()) {
  for (MigProfile& p : profiles_) std::ranges::sort(p.starts);
  const int ofa = std::accumulate(profiles_.begin(), profiles_.end(), 0,
                                  [](int most, const MigProfile& p) { return std::max(most, p.ofa); });
  int slots = 0;
  for (const MigProfile& p : profiles_) {
    for (const int start : p.starts) slots = std::max(slots, start + p.size);
  }
  // What can lie before each slot, from the first one on: nothing begins there, or an instance.
  std::vector<std::set<MigCounts>> before(static_cast<std::size_t>(slots) + 1);
  before[0].insert(MigCounts(profiles_.size(), 0));
  std::size_t states = 0;
  for (int slot = 0; slot < slots; ++slot) {
    const std::set<MigCounts>& here = before[static_cast<std::size_t>(slot)];
    before[static_cast<std::size_t>(slot) + 1].insert(here.begin(), here.end());
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      const MigProfile& p = profiles_[i];
      if (std::ranges::find(p.starts, slot) == p.starts.end()) continue;
      for (const MigCounts& counts : here) {
        int engines = p.ofa;
        for (std::size_t j = 0; j < counts.size(); ++j) engines += counts[j] * profiles_[j].ofa;
        if (counts[i] == p.max_instances || engines > ofa) continue;
        MigCounts with = counts;
        ++with[i];
        before[static_cast<std::size_t>(slot) + static_cast<std::size_t>(p.size)].insert(std::move(with));
        if (++states > kMostStates) return;
      }
    }
  }
  const std::set<MigCounts>& all = before.back();
  for (const MigCounts& c : all) {
    const bool maximal =
        std::ranges::none_of(all, [&](const MigCounts& other) { return other != c && below(c, other); });
    if (maximal) maximal_.push_back(c);
  }
}

bool MigPartitions::holds(const MigCounts& counts) const {
  return std::ranges::any_of(maximal_, [&](const MigCounts& m) { return below(counts, m); });
}

unsigned MigPartitions::slots(const MigPlacement& p) const {
  const int size = profiles_[p.profile].size;
  return (size >= 32 ? ~0U : (1U << size) - 1U) << p.start;
}

std::vector<std::vector<MigPlacement>> MigPartitions::places(const MigCounts& counts, std::size_t most) const {
  if (!holds(counts)) return {};
  std::vector<std::size_t> order(profiles_.size()), wanted;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return profiles_[a].size > profiles_[b].size; });
  for (const std::size_t i : order) wanted.insert(wanted.end(), static_cast<std::size_t>(counts[i]), i);
  Placer placer{*this, most, {}, {}};
  placer.place(wanted, 0, 0);
  return std::move(placer.found);
}

std::vector<MigPlacement> MigPartitions::place(const MigCounts& counts) const {
  auto found = places(counts, 1);
  return found.empty() ? std::vector<MigPlacement>{} : std::move(found.front());
}

bool MigPartitions::lies_inside(std::size_t inner, std::size_t outer) const {
  const MigProfile& i = profiles_[inner];
  const MigProfile& o = profiles_[outer];
  if (i.ofa > o.ofa || i.max_instances < o.max_instances || o.starts.empty()) return false;
  return std::ranges::all_of(o.starts, [&](int start) {
    const unsigned room = slots({outer, start});
    return std::ranges::any_of(i.starts, [&](int s) { return (slots({inner, s}) & ~room) == 0; });
  });
}

}  // namespace perfc
