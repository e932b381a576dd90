#pragma once
/// `--price`: what devices cost.
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace perfc::cli {

/// "DEVICE=PRICE" per hour, of devices among `devices`. Empty: something is wrong, which was printed; bad usage then.
std::optional<Prices> prices_of(const std::vector<std::string>& given, const std::vector<Device>& devices);

}  // namespace perfc::cli
