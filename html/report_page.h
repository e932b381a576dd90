#pragma once
/// Reports as a page to look at (docs/report.md).
#include <string>
#include <vector>

#include "pipeline/pipeline.h"

namespace perfc {

/// `add_details` has been called on every report.
std::string to_html(const std::vector<Report>&);

}  // namespace perfc
