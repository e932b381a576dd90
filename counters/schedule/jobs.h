#pragma once
/// Jobs and fleets from files.
#include "counters/schedule/schedule.h"
#include "ir/support/diagnostics.h"

namespace perfc {

/// {"machines": [{"name": "quartz", "count": 2}, …]}, count 1 where it is left out. Names are unique.
Result<std::vector<MachineKind>> parse_fleet(std::string_view json, Diagnostics&);

/// A CSV table of jobs, one row each:
///
///   column              meaning
///   job                 its name; required
///   arrival_s           when it joins the queue, ≥ 0; empty or no column: 0
///   predicted:MACHINE   seconds > 0; empty: it does not run there
///   time:MACHINE        seconds that it really takes; empty or no column: as predicted
///
/// Machines that the fleet has not are left out; every job must have a predicted time on one of the fleet's.
struct JobList {
  std::vector<Job> jobs;
  bool arrivals = false;  ///< the table has the column arrival_s
  bool measured = false;  ///< and a time for every predicted one
};
Result<JobList> parse_jobs(std::string_view csv, std::span<const MachineKind>, Diagnostics&);

/// Arrivals of a Poisson process with so many jobs per second, in the order of the list.
void draw_arrivals(std::vector<Job>&, double per_s, const Random&);

}  // namespace perfc
