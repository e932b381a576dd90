#pragma once
/// Models that are folders: a SavedModel, PaddlePaddle's program beside its parameters.
#include <string>

#include "ir/support/diagnostics.h"

namespace perfc {

/// The model file of a folder; other paths as they are. Fails, with the folder's name in the message, where there is
/// none, or several and nothing says which.
Result<std::string> model_file_in(const std::string& path, Diagnostics&);

}  // namespace perfc
