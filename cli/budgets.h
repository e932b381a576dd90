#pragma once
/// The budget file of `perfc check`: docs/ci.md.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace perfc::cli {

/// One entry of the budget file: what to predict, and the limits.
struct Budget {
  PredictOptions predict;
  std::string model, device = "a100-40gb";
  std::map<std::string, double> limits;  ///< by key of `limit_table`
  std::string mig_profile;               ///< at most this profile, empty: no limit
  std::string baseline;                  ///< file of an earlier version's figures, empty: none
  std::string fail_on;                   ///< thresholds of the step from there; empty: `kUsualSteps`
  bool fits = false;                     ///< the device's memory must hold the run
  int line = 0;
};
inline constexpr const char* kUsualSteps = "latency=+5%,memory=+5%,energy=+5%";

/// Keys with a number as limit, and the figure they bound.
struct Limit {
  const char* key;
  const char* unit;
  double (*figure)(const Report&);
};
std::span<const Limit> limit_table();

/// Every entry with the defaults. `has_baseline`: entries without a limit are held against one. Empty: something is
/// wrong with the file, which was printed.
std::optional<std::vector<Budget>> read_budgets(const std::string& path, bool has_baseline);

}  // namespace perfc::cli
