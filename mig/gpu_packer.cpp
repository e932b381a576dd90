#include <algorithm>
#include <cmath>
#include <set>

#include "mig/search.h"

namespace perfc {
namespace {

constexpr double kRounding = 1e-7;  ///< of sums of prices

bool nothing(const MigCounts& c) {
  return std::ranges::all_of(c, [](int n) { return n == 0; });
}

/// What of `counts` one such GPU takes.
MigCounts taken_by(const MigCounts& partition, const MigCounts& counts) {
  MigCounts out(counts.size());
  for (std::size_t p = 0; p < counts.size(); ++p) out[p] = std::min(partition[p], counts[p]);
  return out;
}

MigCounts without(MigCounts counts, const MigCounts& taken) {
  for (std::size_t p = 0; p < counts.size(); ++p) counts[p] -= taken[p];
  return counts;
}

std::string key_of(const MigCounts& counts, int gpus) {
  std::string key(reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof(int));
  key.append(reinterpret_cast<const char*>(&gpus), sizeof gpus);
  return key;
}

}  // namespace

int GpuPacker::at_least(const MigCounts& counts) const {
  double most = 0;
  for (const MigPrices& prices : prices_) most = std::max(most, cost(prices, counts));
  return static_cast<int>(std::ceil(most - kRounding));
}

std::vector<MigCounts> GpuPacker::quick(MigCounts counts) const {
  std::vector<MigCounts> out;
  if (prices_.empty()) return out;
  while (!nothing(counts)) {
    const MigCounts* best = nullptr;
    double most = -1;
    for (const MigCounts& m : partitions_.maximal()) {
      double worth = 0;  // a little for each instance, so that what costs nothing is placed too
      for (std::size_t p = 0; p < counts.size(); ++p) worth += std::min(m[p], counts[p]) * (prices_.front()[p] + 1e-6);
      if (worth > most) most = worth, best = &m;
    }
    if (!best || !(most > 0)) return {};
    MigCounts taken = taken_by(*best, counts);
    counts = without(std::move(counts), taken);
    out.push_back(std::move(taken));
  }
  return out;
}

bool GpuPacker::search(const MigCounts& counts, int gpus, std::vector<MigCounts>& out, std::uint64_t& steps) {
  if (nothing(counts)) return true;
  if (at_least(counts) > gpus || steps == 0) return false;
  --steps;
  const std::string key = key_of(counts, gpus);
  if (impossible_.count(key)) return false;
  // The profile of which the fewest fit onto a GPU has to go somewhere.
  std::size_t hardest = counts.size();
  double most = -1;
  for (std::size_t p = 0; p < counts.size(); ++p) {
    if (const double size = partitions_.profile(p).size; counts[p] > 0 && size > most) most = size, hardest = p;
  }
  std::set<MigCounts> tried;
  for (const MigCounts& m : partitions_.maximal()) {
    if (m[hardest] > 0) tried.insert(taken_by(m, counts));
  }
  std::vector<MigCounts> ways(tried.begin(), tried.end());
  const auto worth = [&](const MigCounts& c) { return cost(prices_.front(), c); };
  std::ranges::stable_sort(ways, [&](const MigCounts& a, const MigCounts& b) { return worth(a) > worth(b); });
  for (const MigCounts& way : ways) {
    out.push_back(way);
    if (search(without(counts, way), gpus - 1, out, steps)) return true;
    out.pop_back();
  }
  if (steps > 0) impossible_.insert(key);
  return false;
}

std::vector<MigCounts> GpuPacker::onto(const MigCounts& counts, int gpus, std::uint64_t& steps) {
  std::vector<MigCounts> out = quick(counts);
  if (!out.empty() && static_cast<int>(out.size()) <= gpus) return out;
  out.clear();
  if (prices_.empty() || !search(counts, gpus, out, steps)) return {};
  return out;
}

}  // namespace perfc
