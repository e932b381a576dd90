#pragma once
/// Choosing MIG profiles.
#include <optional>
#include <string>
#include <vector>

#include "whitebox/predictor.h"

namespace perfc {

/// DIPPM Eq. 2 (arXiv 2303.11733): the profile by predicted memory on the whole
/// A100-40GB, intervals closed from below. Empty: does not fit.
std::string dippm_profile(double memory_mb);

struct MigGoals {
  std::optional<double> max_latency_ms;
  std::optional<double> min_throughput_per_s;  ///< samples per second of all instances
  double headroom = 0.05;                      ///< share of the slice's memory kept free
};

/// One profile, judged.
struct MigOption {
  MigProfile profile;
  bool fits = false;
  double memory_mib = 0;
  double latency_ms = 0;
  double throughput_per_s = 0;  ///< of max_instances instances, samples per second
  double energy_j = 0;          ///< per batch
  std::string why;              ///< why it is refused, empty when eligible
};

struct MigDecision {
  std::optional<std::string> profile;  ///< cheapest eligible one
  std::string dippm;                   ///< what Eq. 2 says (A100-40GB only), else empty
  std::vector<MigOption> options;
  std::string why;  ///< one sentence
};

/// Judges every profile of `device`. Cheapest: fewest compute slices, then
/// fewest memory slices.
MigDecision choose_profile(const PreparedModel&, const Device& device, std::int64_t batch, const MigGoals&);

}  // namespace perfc
