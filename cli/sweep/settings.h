#pragma once
/// Whether a table was made with the settings of this sweep.
#include <string>

#include "cli/cli.h"

namespace perfc::cli {

/// Whether `file`, beside `table`, has these settings (sweep/settings.h); prints what differs where it has not.
bool same_settings(const std::string& file, const std::string& settings, const std::string& table);

}  // namespace perfc::cli
