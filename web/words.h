#pragma once
/// Words of a command line into options (options/command.h), for a page without one.
#include <string>
#include <vector>

#include "ir/support/diagnostics.h"
#include "options/command.h"

namespace perfc::web {

/// `--name value`, `--name=value`, flags, and models without a name. False: `usage` says what is wrong.
bool read_words(const std::vector<std::string>& words, const Command&, Diagnostics& usage);

}  // namespace perfc::web
