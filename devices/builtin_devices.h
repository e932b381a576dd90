#pragma once
/// `data/devices.json`, `data/hosts.json` and `data/stacks.json`, embedded by cmake/Embed.cmake.
#include <string_view>

namespace perfc {
extern const std::string_view kBuiltinDevices;
extern const std::string_view kBuiltinHosts;
extern const std::string_view kBuiltinStacks;
}  // namespace perfc
