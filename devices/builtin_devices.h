#pragma once
/// `data/devices.json`, embedded by cmake/Embed.cmake.
#include <string_view>

namespace perfc {
extern const std::string_view kBuiltinDevices;
}
