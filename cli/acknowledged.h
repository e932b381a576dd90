#pragma once
/// Regressions that are meant, from a file.
#include <optional>
#include <string>
#include <vector>

#include "compare/threshold.h"

namespace perfc::cli {

/// Empty: something is wrong with the file, which was printed.
std::optional<std::vector<Acknowledgement>> read_acknowledgements(const std::string& path);

}  // namespace perfc::cli
