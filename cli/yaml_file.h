#pragma once
/// YAML files that people write: budgets, and regressions that are meant.
#include <yaml-cpp/yaml.h>

#include <functional>
#include <string>

namespace perfc::cli {

/// Prints what is wrong at a place of a file; false.
bool complain(const std::string& file, const YAML::Node& at, const std::string& text);

/// Hands a file's root to `read`. What cannot be opened or is no YAML is printed with its place. False: that, or `read`
/// says so.
bool read_yaml(const std::string& path, const std::function<bool(const YAML::Node&)>& read);

}  // namespace perfc::cli
