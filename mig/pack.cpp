#include "mig/pack.h"

#include <algorithm>
#include <cmath>

#include "mig/search.h"

namespace perfc {
namespace {

constexpr double kExact = 1e-9;  ///< relative: a factor beyond by this much is a better one

/// Slices onto the places of their GPUs, those of equal profile in the order of their models.
void place(const PackProblem& problem, const Taken& taken, Packing& out) {
  std::vector<std::vector<const TakenSlice*>> waiting(problem.partitions->profiles());
  for (const TakenSlice& s : taken.slices) waiting[s.profile].push_back(&s);
  for (auto& all : waiting) {
    std::ranges::stable_sort(all, [](const TakenSlice* a, const TakenSlice* b) { return a->models < b->models; });
    std::ranges::reverse(all);  // taken from the back
  }
  for (std::size_t gpu = 0; gpu < taken.gpus.size(); ++gpu) {
    auto places = problem.partitions->place(taken.gpus[gpu]);
    std::ranges::sort(places, {}, &MigPlacement::start);
    for (const MigPlacement& at : places) {
      if (waiting[at.profile].empty()) continue;
      PackedSlice slice{.profile = at.profile, .gpu = gpu, .start = at.start};
      for (const std::size_t m : waiting[at.profile].back()->models) slice.parts.push_back({.model = m});
      waiting[at.profile].pop_back();
      out.slices.push_back(std::move(slice));
    }
  }
  out.gpus = taken.gpus.size();
}

/// Rates in proportion to what the slices can do, and what follows from them.
void fill(const PackProblem& problem, double factor, Packing& out) {
  std::vector<double> capacity(problem.models.size(), 0);
  const auto on = [&](const PackedSlice& s, std::size_t m) -> const ServiceOnSlice& {
    return *problem.models[m].on[s.profile];
  };
  for (PackedSlice& s : out.slices) {
    const int clients = static_cast<int>(s.parts.size());
    for (PackedSlice::Part& p : s.parts) {
      p.capacity_per_s = capacity_per_s(problem.models[p.model].demand, on(s, p.model), clients, problem.limits);
      capacity[p.model] += p.capacity_per_s;
    }
  }
  for (PackedSlice& s : out.slices) {
    const int clients = static_cast<int>(s.parts.size());
    for (PackedSlice::Part& p : s.parts) {
      const ServiceDemand& d = problem.models[p.model].demand;
      p.rate_per_s = capacity[p.model] > 0 ? factor * d.rate_per_s * p.capacity_per_s / capacity[p.model] : 0;
      p.utilisation = utilisation_at(p.rate_per_s, d, on(s, p.model), clients, problem.limits);
      s.utilisation += p.utilisation;
      s.memory_mib += on(s, p.model).memory_mib;
    }
    for (PackedSlice::Part& p : s.parts) {
      p.request_ms = request_ms(p.rate_per_s, s.utilisation, problem.models[p.model].demand, on(s, p.model), clients,
                                problem.limits);
      out.power_w += p.utilisation * on(s, p.model).work_w;
    }
  }
  out.power_w += problem.idle_w * static_cast<double>(out.gpus);
  out.factor = factor;
}

Packing finished(const PackProblem& problem, const Taken& taken, double factor, double value, double bound) {
  Packing out{.outcome = Packing::Outcome::Found, .value = value, .bound = bound};
  place(problem, taken, out);
  fill(problem, factor, out);
  return out;
}

Packing fewest_gpus(const PackProblem& problem, PackSearch& search) {
  const int most = problem.gpus.value_or(kMostPackGpus);
  std::uint64_t left = problem.effort;
  int bound = search.least_gpus();
  Taken taken;
  for (int gpus = bound; gpus <= most; ++gpus) {
    std::uint64_t steps = left / 2, given = steps;
    const auto answer = search.fit(gpus, taken, steps);
    left -= given - steps;
    if (answer == PackSearch::Answer::Yes)
      return finished(problem, taken, 1, static_cast<double>(taken.gpus.size()), bound);
    if (answer == PackSearch::Answer::No && bound == gpus) bound = gpus + 1;
  }
  Packing out{.outcome = bound > most ? Packing::Outcome::TooFew : Packing::Outcome::NotFound};
  out.bound = bound;
  return out;
}

Packing least_power(const PackProblem& problem, PackSearch& search) {
  Taken taken;
  std::uint64_t steps = problem.effort;
  const auto answer = search.least_power(problem.gpus.value_or(kMostPackGpus), taken, steps);
  if (taken.gpus.empty()) {
    const bool proven = answer == PackSearch::Answer::No;
    Packing out{.outcome = proven ? Packing::Outcome::TooFew : Packing::Outcome::NotFound};
    out.bound = proven ? problem.gpus.value_or(kMostPackGpus) + 1 : search.least_gpus();
    return out;
  }
  const double value = search.power_w(taken);
  return finished(problem, taken, 1, value,
                  answer == PackSearch::Answer::Yes ? value : std::min(value, search.least_power_w()));
}

/// The factor that a plan's slices carry.
double factor_of(const PackProblem& problem, const Taken& taken) {
  Packing as;
  place(problem, taken, as);
  fill(problem, 1, as);
  std::vector<double> capacity(problem.models.size(), 0);
  double factor = std::numeric_limits<double>::infinity();
  for (const PackedSlice& s : as.slices) {
    if (s.parts.size() > 1) factor = std::min(factor, problem.limits.utilisation / s.utilisation);
    for (const PackedSlice::Part& p : s.parts) capacity[p.model] += p.capacity_per_s;
  }
  for (std::size_t m = 0; m < problem.models.size(); ++m) {
    if (problem.models[m].demand.rate_per_s > 0)
      factor = std::min(factor, capacity[m] / problem.models[m].demand.rate_per_s);
  }
  return factor;
}

/// Rates so large that not even all GPUs for one model alone do: a proven bound.
double beyond(const PackProblem& problem) {
  double factor = std::numeric_limits<double>::infinity();
  for (const PackModel& m : problem.models) {
    double most = 0;
    for (const MigCounts& partition : problem.partitions->maximal()) {
      double sum = 0;
      for (std::size_t p = 0; p < partition.size(); ++p) {
        if (m.on[p]) sum += partition[p] * capacity_per_s(m.demand, *m.on[p], 1, problem.limits);
      }
      most = std::max(most, sum);
    }
    if (m.demand.rate_per_s > 0) factor = std::min(factor, most * *problem.gpus / m.demand.rate_per_s);
  }
  return factor * (1 + kExact);
}

Packing most_throughput(const PackProblem& problem) {
  const auto at = [&](double factor) {
    PackProblem scaled = problem;
    for (PackModel& m : scaled.models) m.demand.rate_per_s *= factor;
    return scaled;
  };
  std::uint64_t left = problem.effort;
  Taken best;
  double carried = 0, bound = beyond(problem), gave_up_at = std::numeric_limits<double>::infinity();
  // Whether the factor can be carried; what is found raises `carried`, what is excluded lowers `bound`.
  const auto try_factor = [&](double factor) {
    const PackProblem scaled = at(factor);
    PackSearch search(scaled);
    Taken taken;
    std::uint64_t steps = left / 8, given = steps;
    auto answer = PackSearch::Answer::No;
    if (!search.unservable() && !search.too_large()) answer = search.fit(*problem.gpus, taken, steps);
    left -= given - steps;
    if (answer == PackSearch::Answer::Yes) {
      best = std::move(taken);
      carried = std::max(factor, factor_of(problem, best));
    } else if (answer == PackSearch::Answer::No) {
      bound = std::min(bound, factor);
    } else {
      gave_up_at = std::min(gave_up_at, factor);
    }
    return answer;
  };
  const auto first = try_factor(1);
  if (first != PackSearch::Answer::Yes) {
    Packing out{.outcome = first == PackSearch::Answer::No ? Packing::Outcome::TooFew : Packing::Outcome::NotFound};
    out.bound = *problem.gpus + (first == PackSearch::Answer::No ? 1 : 0);
    return out;
  }
  // Bisection below what is excluded or was given up; whenever that is close, the least step beyond what is carried.
  for (double close = 1e-4; std::min(bound, gave_up_at) > carried * (1 + kExact);) {
    const double top = std::min(bound, gave_up_at);
    if (top > carried * (1 + close)) {
      try_factor(std::sqrt(top * carried));
      continue;
    }
    const double next = carried * (1 + kExact);
    if (next >= top || try_factor(next) != PackSearch::Answer::Yes) break;
    close = std::max(close / 16, 2 * kExact);
  }
  // What the search gave up may still be excluded by prices alone.
  for (double low = std::max(carried, std::min(bound, gave_up_at)); bound > low * (1 + 1e-3);) {
    const double middle = std::sqrt(low * bound);
    const PackProblem scaled = at(middle);
    const PackSearch search(scaled);
    const bool excluded = search.unservable() || search.too_large() || search.least_gpus() > *problem.gpus;
    (excluded ? bound : low) = middle;
  }
  const bool proven = bound <= carried * (1 + 2 * kExact);
  return finished(problem, best, carried, carried, proven ? carried : bound);
}

}  // namespace

Packing pack(const PackProblem& given) {
  PackProblem problem = given;
  problem.idle_w = std::max(problem.idle_w, 1e-6);  // power is counted in GPUs' idling
  PackSearch search(problem);
  if (const auto model = search.unservable()) {
    Packing out{.outcome = Packing::Outcome::Unservable};
    out.unservable = *model;
    return out;
  }
  if (search.too_large() || search.least_gpus() > problem.gpus.value_or(kMostPackGpus)) {
    Packing out{.outcome = Packing::Outcome::TooFew};
    out.bound = search.too_large() ? kMostPackGpus + 1 : search.least_gpus();
    return out;
  }
  switch (problem.goal) {
    case PackGoal::Gpus:
      return fewest_gpus(problem, search);
    case PackGoal::Energy:
      return least_power(problem, search);
    case PackGoal::Throughput:
      return most_throughput(problem);
  }
  return {};
}

}  // namespace perfc
