#pragma once
/// All that the rows of a sweep depend on, as the file beside its table has it.
#include <string>

#include "sweep/plan.h"

namespace perfc {

inline constexpr const char* kSweepSchema = "perfc.sweep/1";

/// JSON of options, devices, models with their sizes and times, the program's version, and digests of the files that
/// options name. An error where such a file cannot be read.
Result<std::string> sweep_settings(const PredictOptions&, const SweepPlan&, std::string_view version, Diagnostics&);

}  // namespace perfc
