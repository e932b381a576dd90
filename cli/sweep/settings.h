#pragma once
/// All that the rows of a sweep depend on, as the file beside its table has it.
#include <optional>
#include <string>

#include "cli/sweep/plan.h"

namespace perfc::cli {

/// JSON of options, devices, models with their sizes and times, and digests of the files that options name. Empty: such
/// a file cannot be read, which was printed.
std::optional<std::string> sweep_settings(const PredictOptions&, const SweepPlan&);

/// Whether `file`, beside `table`, has these settings; prints what differs where it has not.
bool same_settings(const std::string& file, const std::string& settings, const std::string& table);

}  // namespace perfc::cli
