#include "mig/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace perfc {
namespace {

constexpr double kEpsilon = 1e-7;
// Of improving a first plan.
constexpr int kPasses = 6;
constexpr std::size_t kStarts = 4;  ///< price vectors
constexpr std::size_t kNear = 12;   ///< sets of slices of a model, the cheapest

void add(MigCounts& to, const MigCounts& counts, int sign) {
  for (std::size_t p = 0; p < to.size(); ++p) to[p] += sign * counts[p];
}

double utilisation_in(const PackProblem& problem, std::size_t profile, std::size_t model, std::size_t clients) {
  const PackModel& m = problem.models[model];
  return utilisation_at(m.demand.rate_per_s, m.demand, *m.on[profile], static_cast<int>(clients), problem.limits);
}

}  // namespace

/// On the way down: what the models before took.
struct PackSearch::State {
  bool watts = false;
  int gpus = 0;
  std::uint64_t* steps = nullptr;
  MigCounts counts;
  double work_w = 0;
  std::vector<TakenSlice> open;                  ///< those that others may share
  std::vector<TakenSlice> closed;                ///< of models that took several
  std::unordered_map<std::string, double> seen;  ///< counts at a depth → least work
  std::optional<Taken> best;
  double best_w = std::numeric_limits<double>::infinity();
};

PackSearch::PackSearch(const PackProblem& problem) : problem_(problem), packer_(*problem.partitions, prices_) {
  for (const PackModel& m : problem.models) covers_.push_back(covers_of(m, problem));
  if (unservable() || too_large()) return;
  prices_ = good_prices(problem, covers_, 0);
  prepare_bounds(0);
  double gpus = 0;
  for (const Bound& b : bounds_) gpus = std::max(gpus, b.rest.front());
  least_gpus_ = std::max(1, static_cast<int>(std::ceil(gpus - kEpsilon)));
  if (problem.goal != PackGoal::Energy) return;
  // Prices that are good for power replace those for GPUs, which bound GPUs as well.
  std::vector<MigPrices> both = good_prices(problem, covers_, problem.idle_w);
  both.insert(both.end(), prices_.begin(), prices_.end());
  prices_ = std::move(both);
  prepare_bounds(problem.idle_w);
  for (const Bound& b : bounds_) least_power_w_ = std::max(least_power_w_, b.rest.front());
  least_power_w_ = std::max(least_power_w_, rest_work_w_.front() + problem.idle_w * least_gpus_);
}

std::optional<std::size_t> PackSearch::unservable() const {
  for (std::size_t m = 0; m < covers_.size(); ++m) {
    const auto& least = covers_[m].least;
    if (std::ranges::all_of(least, [](const Covers::Least& l) { return std::isinf(l.utilisation); })) return m;
  }
  return std::nullopt;
}

bool PackSearch::too_large() const {
  return std::ranges::any_of(covers_, [](const Covers& c) { return c.all.empty(); });
}

void PackSearch::prepare_bounds(double watts_per_gpu) {
  const std::size_t models = problem_.models.size();
  const double per_gpu = watts_per_gpu > 0 ? watts_per_gpu : 1;
  const auto alone = [&](std::size_t m, const MigPrices& prices) {
    return least_cost(problem_.models[m], covers_[m], prices, watts_per_gpu, problem_.limits);
  };
  order_.resize(models);
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, std::greater(), [&](std::size_t m) { return alone(m, prices_.front()); });
  rest_work_w_.assign(models + 1, 0);
  for (std::size_t i = models; i-- > 0;) {
    double least = std::numeric_limits<double>::infinity();
    for (const Cover& c : covers_[order_[i]].all) least = std::min(least, c.work_w);
    if (problem_.share || !covers_[order_[i]].complete) {
      for (const Covers::Least& l : covers_[order_[i]].least) least = std::min(least, l.work_w);
    }
    rest_work_w_[i] = rest_work_w_[i + 1] + least;
  }
  bounds_.clear();
  for (const MigPrices& prices : prices_) {
    for (const bool utilisation : {true, false}) {
      if (!utilisation && !problem_.share) continue;
      Bound b{&prices, utilisation, std::vector<double>(models + 1, 0)};
      for (std::size_t i = models; i-- > 0;) {
        double least = alone(order_[i], prices);
        for (std::size_t p = 0; problem_.share && p < prices.size(); ++p) {
          const Covers::Least& l = covers_[order_[i]].least[p];
          const double share = utilisation ? l.utilisation : l.memory;
          if (std::isfinite(share))
            least = std::min(least, share * prices[p] * per_gpu + (watts_per_gpu > 0 ? l.work_w : 0));
        }
        b.rest[i] = b.rest[i + 1] + least;
      }
      bounds_.push_back(std::move(b));
    }
  }
}

bool PackSearch::hopeless(const State& s, std::size_t depth) const {
  const bool in_watts = problem_.goal == PackGoal::Energy;
  const double per_gpu = in_watts ? problem_.idle_w : 1;
  const double limit_w = s.best_w - std::max(1.0, s.best_w) * kEpsilon;
  for (const Bound& b : bounds_) {
    double free = 0;  // of shared slices, which later models can have for nothing
    for (const TakenSlice& t : s.open) {
      double used = 0;
      for (const std::size_t m : t.models)
        used += b.utilisation ? covers_[m].least[t.profile].utilisation : covers_[m].least[t.profile].memory;
      free += std::max(0.0, 1 - used) * (*b.prices)[t.profile];
    }
    const double rest = std::max(0.0, b.rest[depth] - free * per_gpu);
    const double whole = cost(*b.prices, s.counts) * per_gpu + rest;
    if (!in_watts && whole > s.gpus + kEpsilon) return true;
    if (in_watts && s.watts && s.work_w + whole >= limit_w) return true;
    if (in_watts && cost(*b.prices, s.counts) > s.gpus + kEpsilon) return true;
  }
  if (s.watts) {
    const double work = s.work_w + rest_work_w_[depth];
    if (work + problem_.idle_w * std::max(least_gpus_, packer_.at_least(s.counts)) >= limit_w) return true;
  }
  return false;
}

bool PackSearch::seen(State& s, std::size_t depth) {
  if (problem_.share) return false;  // what is open counts too
  std::string key(reinterpret_cast<const char*>(s.counts.data()), s.counts.size() * sizeof(int));
  key.append(reinterpret_cast<const char*>(&depth), sizeof depth);
  const auto [at, is_new] = s.seen.emplace(std::move(key), s.work_w);
  if (is_new) return false;
  if (!s.watts || at->second <= s.work_w) return true;
  at->second = s.work_w;
  return false;
}

/// Power that the slice's work takes more with `model` in it; `fits`: whether all of them still keep their limits.
double PackSearch::share_work_w(const TakenSlice& slice, std::size_t model, bool& fits) const {
  const std::size_t p = slice.profile, clients = slice.models.size() + 1;
  fits = static_cast<int>(clients) <= problem_.clients[p] && problem_.models[model].demand.replicas <= 1 &&
         std::isfinite(covers_[model].least[p].utilisation);
  double utilisation = 0, memory = 0, work = 0, before = 0;
  std::vector<std::size_t> all = slice.models;
  all.push_back(model);
  for (const std::size_t m : all) {
    if (!fits) return 0;
    const ServiceOnSlice& on = *problem_.models[m].on[p];
    fits = gather_ms(problem_.models[m].demand, on, static_cast<int>(clients), problem_.limits) >= 0;
    const double u = utilisation_in(problem_, p, m, clients);
    utilisation += u;
    memory += on.memory_mib;
    work += u * on.work_w;
    if (m != model) before += utilisation_in(problem_, p, m, clients - 1) * on.work_w;
  }
  fits = fits && utilisation <= problem_.limits.utilisation * (1 + 1e-9) &&
         memory < problem_.partitions->profile(p).memory_mib * (1 - problem_.limits.headroom);
  return work - before;
}

bool PackSearch::leaf(State& s) {
  int most = s.gpus;
  if (s.watts && std::isfinite(s.best_w))
    most = static_cast<int>(std::min<double>(most, std::ceil((s.best_w - s.work_w) / problem_.idle_w)));
  std::vector<MigCounts> gpus;
  // With watts the fewest GPUs count, not just few enough.
  for (int n = s.watts ? packer_.at_least(s.counts) : most; n <= most && gpus.empty() && *s.steps > 0; ++n)
    gpus = packer_.onto(s.counts, n, *s.steps);
  if (gpus.empty()) return false;
  Taken t{.slices = s.closed, .gpus = std::move(gpus), .work_w = s.work_w};
  t.slices.insert(t.slices.end(), s.open.begin(), s.open.end());
  const double w = power_w(t);
  if (s.watts && w >= s.best_w) return false;
  s.best_w = w;
  s.best = std::move(t);
  return !s.watts;  // the first that fits will do
}

bool PackSearch::descend(State& s, std::size_t depth) {
  if (*s.steps == 0) return false;
  --*s.steps;
  if (hopeless(s, depth) || seen(s, depth)) return false;
  if (depth == order_.size()) return leaf(s);
  const std::size_t model = order_[depth];
  if (problem_.share) {
    for (std::size_t i = 0; i < s.open.size(); ++i) {
      bool fits = false;
      const double more = share_work_w(s.open[i], model, fits);
      if (!fits) continue;
      s.open[i].models.push_back(model);
      s.work_w += more;
      if (descend(s, depth + 1)) return true;
      s.work_w -= more;
      s.open[i].models.pop_back();
    }
  }
  const bool in_watts = problem_.goal == PackGoal::Energy;
  const double per_gpu = in_watts ? problem_.idle_w : 1;
  std::vector<std::pair<double, const Cover*>> ways;
  for (const Cover& c : covers_[model].all)
    ways.emplace_back(per_gpu * cost(prices_.front(), c.counts) + (in_watts ? c.work_w : 0), &c);
  std::ranges::stable_sort(ways, {}, &std::pair<double, const Cover*>::first);
  for (const auto& [price, cover] : ways) {
    add(s.counts, cover->counts, 1);
    s.work_w += cover->work_w;
    auto& slices = cover->single >= 0 ? s.open : s.closed;
    const std::size_t before = slices.size();
    for (std::size_t p = 0; p < cover->counts.size(); ++p) {
      for (int n = 0; n < cover->counts[p]; ++n) slices.push_back({.profile = p, .models = {model}});
    }
    const bool done = descend(s, depth + 1);
    slices.resize(before);
    s.work_w -= cover->work_w;
    add(s.counts, cover->counts, -1);
    if (done) return true;
  }
  return false;
}

PackSearch::Answer PackSearch::run(State& s, Taken& out, std::uint64_t& steps) {
  s.steps = &steps;
  s.counts.assign(problem_.partitions->profiles(), 0);
  descend(s, 0);
  const bool found = s.best.has_value();
  if (found) out = std::move(*s.best);
  if (found && !s.watts) return Answer::Yes;
  if (steps == 0) return Answer::GaveUp;
  return found ? Answer::Yes : Answer::No;
}

Taken PackSearch::taken(const std::vector<const Cover*>& chosen) const {
  Taken t;
  for (std::size_t m = 0; m < chosen.size(); ++m) {
    t.work_w += chosen[m]->work_w;
    for (std::size_t p = 0; p < chosen[m]->counts.size(); ++p) {
      for (int n = 0; n < chosen[m]->counts[p]; ++n) t.slices.push_back({.profile = p, .models = {m}});
    }
  }
  return t;
}

/// Each model takes what is cheapest by some prices; then one after the other changes where that helps.
bool PackSearch::quick(int gpus, bool watts, Taken& out) const {
  const double per_gpu = watts ? problem_.idle_w : 1;
  double best = std::numeric_limits<double>::infinity();
  for (const MigPrices& prices : std::span(prices_).first(std::min(kStarts, prices_.size()))) {
    const auto price = [&](const Cover& c) { return per_gpu * cost(prices, c.counts) + (watts ? c.work_w : 0); };
    std::vector<const Cover*> chosen;
    MigCounts counts(problem_.partitions->profiles(), 0);
    double work = 0;
    for (const Covers& c : covers_) {
      chosen.push_back(&*std::ranges::min_element(c.all, {}, price));
      add(counts, chosen.back()->counts, 1);
      work += chosen.back()->work_w;
    }
    const auto value = [&](const MigCounts& c, double w) {
      const auto packed = packer_.quick(c);
      if (packed.empty()) return std::numeric_limits<double>::infinity();
      const double over = std::max(0.0, static_cast<double>(packed.size()) - gpus);
      return static_cast<double>(packed.size()) * per_gpu + (watts ? w : 0) + 1e6 * over + 1e-3 * cost(prices, c);
    };
    double now = value(counts, work);
    bool better = true;
    for (int pass = 0; pass < kPasses && better; ++pass) {
      better = false;
      for (std::size_t m = 0; m < chosen.size(); ++m) {
        std::vector<const Cover*> near;
        for (const Cover& c : covers_[m].all) near.push_back(&c);
        const std::size_t some = std::min(kNear, near.size());
        std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(some), {},
                                  [&](const Cover* c) { return std::pair(price(*c), c); });
        for (const Cover* at : std::span(near).first(some)) {
          const Cover& c = *at;
          if (&c == chosen[m]) continue;
          MigCounts other = counts;
          add(other, chosen[m]->counts, -1);
          add(other, c.counts, 1);
          const double other_work = work - chosen[m]->work_w + c.work_w;
          if (const double then = value(other, other_work); then < now - 1e-9) {
            now = then, counts = std::move(other), work = other_work, chosen[m] = &c, better = true;
          }
        }
      }
    }
    if (now >= best) continue;
    auto packed = packer_.quick(counts);
    if (packed.empty() || static_cast<int>(packed.size()) > gpus) continue;
    best = now;
    out = taken(chosen);
    out.gpus = std::move(packed);
  }
  return std::isfinite(best);
}

PackSearch::Answer PackSearch::fit(int gpus, Taken& out, std::uint64_t& steps) {
  if (gpus < least_gpus_) return Answer::No;
  if (quick(gpus, false, out)) return Answer::Yes;
  State s{.gpus = gpus};
  return run(s, out, steps);
}

PackSearch::Answer PackSearch::least_power(int gpus, Taken& out, std::uint64_t& steps) {
  if (gpus < least_gpus_) return Answer::No;
  State s{.watts = true, .gpus = gpus};
  if (Taken first; quick(gpus, true, first)) {
    s.best_w = power_w(first);
    s.best = std::move(first);
  }
  return run(s, out, steps);
}

}  // namespace perfc
