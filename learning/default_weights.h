#pragma once
/// data/models/default.safetensors, as built into the program.
#include <string_view>

namespace perfc {

std::string_view default_weights();

}  // namespace perfc
