#pragma once
/// `data/devices.json` and `data/hosts.json`, embedded by cmake/Embed.cmake.
#include <string_view>

namespace perfc {
extern const std::string_view kBuiltinDevices;
extern const std::string_view kBuiltinHosts;
}  // namespace perfc
