#pragma once
/// The counter models of data/models, as built into the program.
#include <span>
#include <string_view>

namespace perfc {

struct BuiltInCounterModel {
  std::string_view name;  ///< what `--model` calls it
  std::string_view (*bytes)();
};
std::span<const BuiltInCounterModel> built_in_counter_models();

}  // namespace perfc
