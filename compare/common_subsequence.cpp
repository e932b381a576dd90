#include "compare/common_subsequence.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace perfc {
namespace {

using Symbols = std::span<const std::uint32_t>;
using Diff = std::ptrdiff_t;

/// A part of both sequences: [a0, a1) and [b0, b1).
struct Part {
  Diff a0, a1, b0, b1;
};

/// Where a path with the fewest differences passes, by a search from both ends. A diagonal is x − y.
class MiddlePoint {
 public:
  MiddlePoint(Symbols a, Symbols b, Diff most_steps)
      : a_(a), b_(b), most_steps_(most_steps), origin_(static_cast<Diff>(b.size()) + 1),
        forward_(a.size() + b.size() + 3), backward_(a.size() + b.size() + 3) {}

  /// Of a part whose first and last symbols differ; a point inside that is neither of its ends.
  std::pair<Diff, Diff> of(const Part& p) {
    const Diff low = p.a0 - p.b1, high = p.a1 - p.b0, start = p.a0 - p.b0, end = p.a1 - p.b1;
    const bool odd = ((start - end) & 1) != 0;
    Span ahead{start, start}, behind{end, end};
    at(forward_, start) = p.a0;
    at(backward_, end) = p.a1;
    for (Diff step = 1;; ++step) {
      ahead.widen(low, high, [&](Diff d) { at(forward_, d) = std::numeric_limits<Diff>::min() / 2; });
      for (Diff d = ahead.last; d >= ahead.first; d -= 2) {
        Diff x = std::max(at(forward_, d - 1) + 1, at(forward_, d + 1));
        while (x < p.a1 && x - d < p.b1 && a_[x] == b_[x - d]) ++x;
        at(forward_, d) = x;
        if (odd && behind.holds(d) && at(backward_, d) <= x) return {x, x - d};
      }
      behind.widen(low, high, [&](Diff d) { at(backward_, d) = std::numeric_limits<Diff>::max() / 2; });
      for (Diff d = behind.last; d >= behind.first; d -= 2) {
        Diff x = std::min(at(backward_, d - 1), at(backward_, d + 1) - 1);
        while (x > p.a0 && x - d > p.b0 && a_[x - 1] == b_[x - d - 1]) --x;
        at(backward_, d) = x;
        if (!odd && ahead.holds(d) && x <= at(forward_, d)) return {x, x - d};
      }
      if (step >= most_steps_) return farthest(p, ahead);
    }
  }

 private:
  /// Diagonals that were reached, every second one.
  struct Span {
    Diff first, last;
    bool holds(Diff d) const { return first <= d && d <= last; }
    /// One further on both sides, or one less at the border; `unset` makes the neighbours beyond unreachable.
    template <class Unset>
    void widen(Diff low, Diff high, Unset unset) {
      if (first > low) unset(--first - 1);
      else ++first;
      if (last < high) unset(++last + 1);
      else --last;
    }
  };

  Diff& at(std::vector<Diff>& of, Diff diagonal) { return of[static_cast<std::size_t>(diagonal + origin_)]; }

  std::pair<Diff, Diff> farthest(const Part& p, const Span& ahead) {
    std::pair<Diff, Diff> best{p.a0, p.b0};
    for (Diff d = ahead.first; d <= ahead.last; d += 2) {
      const Diff x = std::min({at(forward_, d), p.a1, p.b1 + d}), y = x - d;
      if (y >= p.b0 && x >= p.a0 && x + y > best.first + best.second) best = {x, y};
    }
    return best;
  }

  Symbols a_, b_;
  Diff most_steps_, origin_;
  std::vector<Diff> forward_, backward_;  ///< farthest x by diagonal
};

/// Indices of the symbols that the other sequence has too.
std::vector<std::size_t> shared(Symbols of, Symbols other) {
  const std::unordered_set<std::uint32_t> there(other.begin(), other.end());
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (there.contains(of[i])) out.push_back(i);
  }
  return out;
}

std::vector<std::uint32_t> chosen(Symbols of, const std::vector<std::size_t>& indices) {
  std::vector<std::uint32_t> out;
  out.reserve(indices.size());
  for (const std::size_t i : indices) out.push_back(of[i]);
  return out;
}

}  // namespace

IndexPairs common_subsequence(Symbols a_all, Symbols b_all, Diff most_steps) {
  const std::vector<std::size_t> a_at = shared(a_all, b_all), b_at = shared(b_all, a_all);
  const std::vector<std::uint32_t> a = chosen(a_all, a_at), b = chosen(b_all, b_at);
  IndexPairs out;
  MiddlePoint middle(a, b, most_steps);
  std::vector<Part> work{{0, static_cast<Diff>(a.size()), 0, static_cast<Diff>(b.size())}};
  while (!work.empty()) {
    Part p = work.back();
    work.pop_back();
    const auto take = [&](Diff x, Diff y) { out.emplace_back(a_at[x], b_at[y]); };
    for (; p.a0 < p.a1 && p.b0 < p.b1 && a[p.a0] == b[p.b0]; ++p.a0, ++p.b0) take(p.a0, p.b0);
    for (; p.a0 < p.a1 && p.b0 < p.b1 && a[p.a1 - 1] == b[p.b1 - 1]; --p.a1, --p.b1) take(p.a1 - 1, p.b1 - 1);
    if (p.a0 == p.a1 || p.b0 == p.b1) continue;
    const auto [x, y] = middle.of(p);
    work.push_back({p.a0, x, p.b0, y});
    work.push_back({x, p.a1, y, p.b1});
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace perfc
