#pragma once
/// Models onto MIG slices of GPUs of one kind, exactly: docs/pack.md.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mig/partition.h"
#include "mig/service.h"

namespace perfc {

enum class PackGoal {
  Gpus,        ///< fewest GPUs
  Energy,      ///< least power: of GPUs that are used, and of the work on them
  Throughput,  ///< most requests in the mix that is asked for: the largest factor on all rates
};

struct PackModel {
  ServiceDemand demand;
  std::vector<std::optional<ServiceOnSlice>> on;  ///< by profile; none: it may not run there
};

struct PackProblem {
  const MigPartitions* partitions = nullptr;
  std::vector<PackModel> models;
  std::optional<int> gpus;  ///< that there are; none: as many as it takes. Throughput needs them
  double idle_w = 0;        ///< of one GPU
  ServiceLimits limits;
  PackGoal goal = PackGoal::Gpus;
  bool share = false;              ///< under MPS several models that need one slice each can have one together
  std::vector<int> clients;        ///< most models in a slice, by profile; of `share`
  std::uint64_t effort = 400'000;  ///< steps of the search, so that its answer does not depend on the machine
};

struct PackedSlice {
  struct Part {
    std::size_t model = 0;
    double rate_per_s = 0, capacity_per_s = 0, utilisation = 0, request_ms = 0;
  };
  std::size_t profile = 0;
  std::size_t gpu = 0;
  int start = 0;  ///< slot
  std::vector<Part> parts;
  double utilisation = 0, memory_mib = 0;
};

/// What was found, and what is proven of it.
struct Packing {
  enum class Outcome {
    Found,
    Unservable,  ///< `unservable`: a model that no slice serves
    TooFew,      ///< the GPUs do not do: proven
    NotFound,    ///< the search ended before a plan was found or excluded
  };
  Outcome outcome = Outcome::NotFound;
  std::size_t unservable = 0;
  std::vector<PackedSlice> slices;  ///< by GPU and start
  std::size_t gpus = 0;
  double power_w = 0;
  double factor = 0;  ///< of Throughput
  /// GPUs, W or the factor, and what no plan can be better than; equal where the plan is proven to be the best.
  double value = 0, bound = 0;
  bool proven() const { return outcome == Outcome::Found && value == bound; }
  /// |value − bound| as a share of the bound.
  double gap() const { return value == bound ? 0 : bound > 0 ? std::abs(value - bound) / bound : 1; }
};

/// Most models of a problem.
inline constexpr std::size_t kMostPackModels = 1000;
/// Most GPUs of a plan.
inline constexpr int kMostPackGpus = 1024;

/// By branch and bound: what each model takes in turn, bounded by prices of profiles that no partition exceeds (the
/// dual of the packing as a linear program). A model takes a smallest set of slices that serve its rate, each of which
/// gets a part of the rate in proportion to its capacity.
Packing pack(const PackProblem&);

}  // namespace perfc
