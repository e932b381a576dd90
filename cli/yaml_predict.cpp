#include "cli/yaml_predict.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/support/text.h"

namespace perfc::cli {
namespace {

/// "N=4", or several of them. What an entry says replaces what the defaults say.
bool read_list(const YAML::Node& node, std::vector<std::string>& out) {
  out.clear();
  if (node.IsScalar()) out.push_back(node.as<std::string>());
  if (!node.IsSequence()) return node.IsScalar();
  for (const YAML::Node& item : node) {
    if (!item.IsScalar()) return false;
    out.push_back(item.as<std::string>());
  }
  return true;
}

}  // namespace

PredictKeys::PredictKeys(PredictOptions& o)
    : texts{{"batch", &o.batch},         {"dtype", &o.dtype},         {"mode", &o.mode},
            {"runtime", &o.runtime},     {"layout", &o.layout},       {"norms", &o.norms},
            {"opaque", &o.opaque},       {"dynamic", &o.dynamic},     {"host", &o.host},
            {"stack", &o.stack},         {"task", &o.task},           {"optimizer", &o.optimizer},
            {"predictor", &o.predictor}, {"signature", &o.signature}, {"pacing", &o.pacing}},
      lists{{"dim", &o.dims},     {"shape", &o.shapes},           {"batch_axis", &o.batch_axes},
            {"value", &o.values}, {"trip_count", &o.trip_counts}, {"bound", &o.bounds}} {}

PredictKeys::Read PredictKeys::read(const std::string& key, const YAML::Node& value, const std::string& file) const {
  if (const auto list = lists.find(key); list != lists.end()) {
    if (read_list(value, *list->second)) return Read::Good;
    complain(file, value, fmt::format("'{}' must be a text or a list of texts", key));
    return Read::Wrong;
  }
  const auto text = texts.find(key);
  if (text == texts.end()) return Read::Unknown;
  if (!value.IsScalar()) {
    complain(file, value, fmt::format("'{}' must be a single value", key));
    return Read::Wrong;
  }
  *text->second = value.as<std::string>();
  return Read::Good;
}

std::vector<std::string> PredictKeys::names() const {
  std::vector<std::string> out;
  for (const auto& [name, slot] : texts) out.push_back(name);
  for (const auto& [name, slot] : lists) out.push_back(name);
  return out;
}

bool unknown_key(const std::string& file, const YAML::Node& key, const std::vector<std::string>& known) {
  const auto name = key.as<std::string>();
  const std::string near = did_you_mean(name, known);
  return complain(
      file, key,
      fmt::format("unknown key '{}'{}", name, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

bool read_positive(const std::string& file, const std::string& key, const YAML::Node& value, double& out) {
  double number = 0;
  if (!YAML::convert<double>::decode(value, number) || !std::isfinite(number) || number <= 0)
    return complain(file, value, fmt::format("'{}' must be a positive number", key));
  out = number;
  return true;
}

}  // namespace perfc::cli
