#pragma once
/// Jobs on machines of several kinds: where a list scheduler with predicted times puts them, and
/// what a simulated queue then takes beside other policies.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gnn/random.h"

namespace perfc {

/// Times are per kind of machine, in seconds; NaN: the job does not run there.
struct Job {
  std::string name;
  double arrival_s = 0;
  std::vector<double> predicted_s;
  std::vector<double> actual_s;  ///< of the kinds that have a predicted one
};

/// `count` equal machines; a job runs on one of them, alone.
struct MachineKind {
  std::string name;
  std::size_t count = 1;
};
/// Machines that a fleet may have.
inline constexpr std::size_t kMostMachines = 10'000;

/// Who decides, when a job arrives, which machine's queue it joins. Queues run in the order of joining.
///
/// Predicted and Oracle are list scheduling (Graham 1969, for machines of several speeds: earliest finish
/// first, as in HEFT, Topcuoglu et al. 2002): of jobs that arrive at once the longest first, each to the machine on
/// which it would finish first. Predicted believes predictions for what has not ended yet; Oracle knows the times.
enum class Policy : unsigned char { Predicted, Oracle, Random, RoundRobin, SingleBest };

struct PolicyRow {
  Policy policy;
  std::string_view name, summary;
};
std::span<const PolicyRow> policy_table();

struct JobPlacement {
  std::size_t job = 0, kind = 0;
  std::size_t number = 0;  ///< of the machines of that kind, from 0
  double start_s = 0, end_s = 0;
};
struct JobSchedule {
  std::vector<JobPlacement> placements;  ///< in the order of decisions
  double makespan_s = 0;                 ///< from the first arrival to the last end
  double mean_turnaround_s = 0;          ///< from arrival to end
};

/// Every job must run on some machine of the fleet. `random`: of the policy Random alone.
JobSchedule simulate(std::span<const Job>, std::span<const MachineKind>, Policy, const Random& random);

}  // namespace perfc
