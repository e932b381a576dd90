#pragma once
/// What a model can take, and prices of profiles that bound what plans need.
#include "mig/pack.h"

namespace perfc {

/// Slices that serve one model together.
struct Cover {
  MigCounts counts;
  double work_w = 0;
  int single = -1;  ///< the profile where it is one slice
};

/// All that a model can take.
struct Covers {
  std::vector<Cover> all;
  bool complete = true;  ///< false: there are more, too many to list
  /// Of one slice by profile, for bounds: share of its utilisation and of its memory that the model takes at least, and
  /// the power of its work. Infinite where it cannot share one.
  struct Least {
    double utilisation, memory, work_w;
  };
  std::vector<Least> least;
};

/// Smallest sets of slices that serve the model; without `share` those that others can replace in every plan are left
/// out. None: no slice serves it.
Covers covers_of(const PackModel&, const PackProblem&);

/// A price per profile such that the instances on one GPU cost at most 1: what a plan's slices cost is then a lower
/// bound of its GPUs.
using MigPrices = std::vector<double>;
double cost(const MigPrices&, const MigCounts&);

/// A lower bound of what a model adds to a plan's cost: GPUs, or W where `watts_per_gpu` is not 0.
double least_cost(const PackModel&, const Covers&, const MigPrices&, double watts_per_gpu, const ServiceLimits&);

/// Prices under which the models' least costs add up to much, the best first. Found by multiplicative weights on the
/// linear program's dual.
std::vector<MigPrices> good_prices(const PackProblem&, const std::vector<Covers>&, double watts_per_gpu);

}  // namespace perfc
