#pragma once
/// Opens what profilers have written and reads it.
#include <string>

#include "counters/profile.h"

namespace perfc {

/// `path`: a file, "-" for standard input, or a directory that is one profile
/// (an HPCToolkit database, a folder of PAPI's ranks). `mapping`: what the columns
/// of a plain CSV file mean, or empty; see docs/counters.md.
Result<Profile> load_profile(const std::string& path, const std::string& mapping, Diagnostics&);

}  // namespace perfc
