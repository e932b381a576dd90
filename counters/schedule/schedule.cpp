#include "counters/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace perfc {
namespace {

constexpr std::array kPolicies{
    PolicyRow{Policy::Predicted, "predicted", "list scheduling on predicted times"},
    PolicyRow{Policy::Oracle, "oracle", "list scheduling on the times themselves"},
    PolicyRow{Policy::Random, "random", "any machine"},
    PolicyRow{Policy::RoundRobin, "round-robin", "one machine after the other"},
    PolicyRow{Policy::SingleBest, "single-best", "the kind that is predicted to need least time for all jobs"},
};

constexpr double kNever = std::numeric_limits<double>::infinity();

/// One machine and what waits on it.
struct Queue {
  std::size_t kind = 0, number = 0;
  struct Entry {
    double start_s, end_s, believed_s;  ///< how long the scheduler thinks that it runs
  };
  std::vector<Entry> entries;

  double end_s() const { return entries.empty() ? 0 : entries.back().end_s; }
  /// When the scheduler, at `now`, thinks that all is done: it sees what has begun and what has ended.
  double believed_end(double now) const {
    double at = now;
    auto pending = entries.begin();
    // Ends are in order: what ended before now counts no more.
    pending = std::partition_point(pending, entries.end(), [&](const Entry& e) { return e.end_s <= now; });
    for (auto e = pending; e != entries.end(); ++e)
      at = e->start_s <= now ? std::max(now, e->start_s + e->believed_s) : at + e->believed_s;
    return at;
  }
};

double mean_time(const std::vector<double>& times) {
  double sum = 0, known = 0;
  for (const double t : times) {
    if (!std::isnan(t)) sum += t, ++known;
  }
  return known > 0 ? sum / known : 0;
}

/// Jobs as they are decided on: by arrival, then as listed or, for list scheduling, the longest first.
std::vector<std::size_t> decisions(std::span<const Job> jobs, Policy policy) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [&](const Job& j) {
    if (policy == Policy::Predicted) return mean_time(j.predicted_s);
    return policy == Policy::Oracle ? mean_time(j.actual_s) : 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (jobs[a].arrival_s != jobs[b].arrival_s) return jobs[a].arrival_s < jobs[b].arrival_s;
    return length(jobs[a]) > length(jobs[b]);
  });
  return order;
}

std::size_t single_best(std::span<const Job> jobs, std::size_t kinds) {
  std::size_t best = 0, best_runs = 0;
  double least = kNever;
  for (std::size_t k = 0; k < kinds; ++k) {
    double sum = 0;
    std::size_t runs = 0;
    for (const Job& j : jobs) {
      if (!std::isnan(j.predicted_s[k])) sum += j.predicted_s[k], ++runs;
    }
    if (runs > best_runs || (runs == best_runs && sum < least)) best = k, best_runs = runs, least = sum;
  }
  return best;
}

class Simulation {
 public:
  Simulation(std::span<const Job> jobs, std::span<const MachineKind> fleet, Policy policy, const Random& random)
      : jobs_(jobs), policy_(policy), random_(random),
        best_kind_(policy == Policy::SingleBest ? single_best(jobs, fleet.size()) : 0) {
    for (std::size_t k = 0; k < fleet.size(); ++k) {
      for (std::size_t n = 0; n < fleet[k].count; ++n) queues_.push_back({.kind = k, .number = n, .entries = {}});
    }
  }

  JobSchedule run() {
    JobSchedule s;
    double first = kNever;
    for (const std::size_t j : decisions(jobs_, policy_)) {
      const Job& job = jobs_[j];
      Queue& q = queues_[choose(job)];
      const double start = std::max(job.arrival_s, q.end_s()), end = start + job.actual_s[q.kind];
      q.entries.push_back({start, end, believed(job, q.kind)});
      s.placements.push_back({j, q.kind, q.number, start, end});
      first = std::min(first, job.arrival_s);
      s.makespan_s = std::max(s.makespan_s, end);
      s.mean_turnaround_s += (end - job.arrival_s) / static_cast<double>(jobs_.size());
    }
    if (!jobs_.empty()) s.makespan_s -= first;
    return s;
  }

 private:
  double believed(const Job& job, std::size_t kind) const {
    return policy_ == Policy::Oracle ? job.actual_s[kind] : job.predicted_s[kind];
  }
  bool runs(const Job& job, const Queue& q) const { return !std::isnan(job.predicted_s[q.kind]); }

  std::size_t choose(const Job& job) {
    switch (policy_) {
      case Policy::Random: {
        std::vector<std::size_t> able;
        for (std::size_t q = 0; q < queues_.size(); ++q) {
          if (runs(job, queues_[q])) able.push_back(q);
        }
        return able[random_.index(drawn_++, able.size())];
      }
      case Policy::RoundRobin:
        while (!runs(job, queues_[next_ % queues_.size()])) ++next_;
        return next_++ % queues_.size();
      case Policy::Predicted:
      case Policy::Oracle:
      case Policy::SingleBest:
        break;
    }
    const bool best_able = policy_ == Policy::SingleBest && !std::isnan(job.predicted_s[best_kind_]);
    std::size_t chosen = 0;
    double soonest = kNever;
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      if (!runs(job, queues_[q]) || (best_able && queues_[q].kind != best_kind_)) continue;
      const double end = queues_[q].believed_end(job.arrival_s) + believed(job, queues_[q].kind);
      if (end < soonest) soonest = end, chosen = q;
    }
    return chosen;
  }

  std::span<const Job> jobs_;
  Policy policy_;
  Random random_;
  std::size_t best_kind_, next_ = 0;
  std::uint64_t drawn_ = 0;
  std::vector<Queue> queues_;
};

}  // namespace

std::span<const PolicyRow> policy_table() { return kPolicies; }

JobSchedule simulate(std::span<const Job> jobs, std::span<const MachineKind> fleet, Policy policy,
                     const Random& random) {
  return Simulation(jobs, fleet, policy, random).run();
}

}  // namespace perfc
