#pragma once
/// What a machine charges for work: time = (Σ (cost × amount of work)^p)^(1/p), costs ≥ 0.
///
/// A roofline with one cost per kind of work and machine: seconds per byte, per operation,
/// per launch, per operation of the longest thread. Sharpness p says how kinds overlap: 1,
/// one after the other; large, the dearest hides the others. Monotone in every amount, so that it extrapolates to
/// unseen applications as physics does. Costs are kept as logarithms and fitted to logarithms of times, with Huber's
/// loss (relative errors count, outliers do not rule) and a pull towards a prior that keeps costs finite that no
/// workload shows.
#include <span>
#include <vector>

#include "features/schema.h"

namespace perfc {

/// Costs of one machine, ln of seconds per unit of each kind of work.
struct MachineCosts {
  std::vector<double> log_cost;
  double sharpness = 1;
};

/// What costs are believed to be before any time is seen, and how firmly.
struct CostPrior {
  std::vector<double> log_cost;   ///< per kind of work
  std::vector<double> precision;  ///< 1 / variance of log_cost
};

struct CostFit {
  double sharpness = 1;
  double huber = 1;         ///< errors of ln time beyond this count linearly
  double precision = 0.04;  ///< of `vague_prior`
  std::size_t steps = 100;  ///< Gauss–Newton with Levenberg's damping, at most
};

/// Kinds that each explain all of the time on their own, times e^-2: below what any can be.
CostPrior vague_prior(const FeatureMatrix& work, std::span<const double> log_seconds, double precision);

/// work: workloads × kinds, ≥ 0. Rows without any work are ignored.
MachineCosts fit_costs(const FeatureMatrix& work, std::span<const double> log_seconds, const CostPrior&,
                       const CostFit& = {});

/// ln seconds of one workload; work that is nothing counts as a nanosecond in all.
double predict_log_seconds(const MachineCosts&, std::span<const double> work);

}  // namespace perfc
