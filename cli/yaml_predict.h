#pragma once
/// Entries of YAML files that say how a model is predicted.
#include <map>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/yaml_file.h"

namespace perfc::cli {

/// Keys of an entry and where their values go: the options of the same names.
struct PredictKeys {
  std::map<std::string, std::string*> texts;
  std::map<std::string, std::vector<std::string>*> lists;
  explicit PredictKeys(PredictOptions&);

  enum class Read { Unknown, Good, Wrong };
  /// Reads one key; what is wrong with its value is printed. Unknown: it is none of these.
  Read read(const std::string& key, const YAML::Node& value, const std::string& file) const;
  /// Their names, for suggestions.
  std::vector<std::string> names() const;
};

/// Prints that there is no such key, with the nearest of `known`; false.
bool unknown_key(const std::string& file, const YAML::Node& key, const std::vector<std::string>& known);
/// A positive number; what is wrong is printed.
bool read_positive(const std::string& file, const std::string& key, const YAML::Node& value, double& out);

}  // namespace perfc::cli
