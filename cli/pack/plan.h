#pragma once
/// A plan of `perfc pack`, and what is written of it.
#include "cli/pack/workload.h"
#include "mig/moves.h"

namespace perfc::cli {

/// The GPUs of a host that are of the plan's kind.
struct PackHost {
  std::vector<std::size_t> index;  ///< as nvidia-smi counts them
  std::vector<bool> mig_enabled;
  std::vector<std::vector<HostInstance>> instances;  ///< by GPU
  std::vector<MigCounts> counts;                     ///< the same by profile
  std::size_t others = 0;                            ///< GPUs of other kinds, which are left alone
};

struct PackPlan {
  Device device;
  std::vector<WorkloadEntry> entries;
  PackProblem problem;
  Packing packing;
  SliceOptions slices;
  std::optional<PackHost> host;
  std::optional<MovePlan> moves;  ///< with a host

  /// As nvidia-smi counts them.
  std::size_t gpu_index(std::size_t gpu) const { return host ? host->index[gpu] : gpu; }
  /// What is on each GPU that the plan uses when it is carried out: kept instances that nobody uses are there too.
  std::vector<std::pair<std::size_t, MigCounts>> partitions() const;
};

std::string plan_text(const PackPlan&, Colour);
/// Schema perfc.pack/1: docs/pack.md.
std::string plan_json(const PackPlan&);
/// A configuration of NVIDIA's mig-parted, named "perfc".
std::string plan_mig_parted(const PackPlan&);
/// `resources.limits` per model and profile, with the number of pods.
std::string plan_kubernetes(const PackPlan&);
/// nvidia-smi commands that carry the plan out.
std::string plan_commands(const PackPlan&);

}  // namespace perfc::cli
