#include "cli/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/yaml_file.h"

namespace perfc::cli {
namespace {

constexpr Limit kLimits[] = {
    {"max_latency_ms", "ms", [](const Report& r) { return r.prediction.latency_ms; }},
    {"max_memory_mib", "MiB", [](const Report& r) { return r.prediction.memory.total_mib(); }},
    {"max_energy_j", "J", [](const Report& r) { return r.prediction.energy_j; }},
    {"max_macs", "MAC", [](const Report& r) { return r.features.macs; }},
    {"max_params", "params", [](const Report& r) { return r.features.params; }},
};

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

/// Reads one mapping into a budget; unknown keys and wrong values are errors
/// with their line.
bool read_entry(const YAML::Node& node, const std::string& file, Budget& b) {
  const auto complain = [&](const YAML::Node& at, const std::string& text) { return cli::complain(file, at, text); };
  if (!node.IsMap()) return complain(node, "a mapping with 'model' and limits was expected");
  b.line = node.Mark().line + 1;
  std::map<std::string, std::string*> texts{{"model", &b.model},
                                            {"device", &b.device},
                                            {"batch", &b.predict.batch},
                                            {"dtype", &b.predict.dtype},
                                            {"mode", &b.predict.mode},
                                            {"runtime", &b.predict.runtime},
                                            {"layout", &b.predict.layout},
                                            {"norms", &b.predict.norms},
                                            {"opaque", &b.predict.opaque},
                                            {"dynamic", &b.predict.dynamic},
                                            {"mig_profile", &b.mig_profile},
                                            {"host", &b.predict.host},
                                            {"stack", &b.predict.stack},
                                            {"task", &b.predict.task},
                                            {"optimizer", &b.predict.optimizer},
                                            {"baseline", &b.baseline},
                                            {"fail_on", &b.fail_on},
                                            {"predictor", &b.predict.predictor},
                                            {"signature", &b.predict.signature}};
  const std::map<std::string, std::vector<std::string>*> lists{
      {"dim", &b.predict.dims},     {"shape", &b.predict.shapes},           {"batch_axis", &b.predict.batch_axes},
      {"value", &b.predict.values}, {"trip_count", &b.predict.trip_counts}, {"bound", &b.predict.bounds}};
  bool good = true;
  for (const auto& item : node) {
    const auto key = item.first.as<std::string>();
    const YAML::Node& value = item.second;
    if (const auto list = lists.find(key); list != lists.end()) {
      if (!read_list(value, *list->second))
        good = complain(value, fmt::format("'{}' must be a text or a list of texts", key));
      continue;
    }
    if (!value.IsScalar()) {
      good = complain(value, fmt::format("'{}' must be a single value", key));
      continue;
    }
    if (const auto t = texts.find(key); t != texts.end()) {
      *t->second = value.as<std::string>();
      continue;
    }
    if (key == "fits") {
      if (!YAML::convert<bool>::decode(value, b.fits) || !b.fits)
        good = complain(value, "'fits' must be true: the device's memory has to hold the run; leave it out otherwise");
      continue;
    }
    const auto limit =
        std::find_if(std::begin(kLimits), std::end(kLimits), [&](const Limit& l) { return key == l.key; });
    if (limit == std::end(kLimits)) {
      std::vector<std::string> known{"fits"};
      for (const auto& [name, slot] : texts) known.push_back(name);
      for (const auto& [name, slot] : lists) known.push_back(name);
      for (const Limit& l : kLimits) known.emplace_back(l.key);
      const std::string near = did_you_mean(key, known);
      good = complain(item.first, fmt::format("unknown key '{}'{}", key,
                                              near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
      continue;
    }
    double number = 0;
    if (!YAML::convert<double>::decode(value, number) || !std::isfinite(number) || number <= 0) {
      good = complain(value, fmt::format("'{}' must be a positive number", key));
      continue;
    }
    b.limits[key] = number;
  }
  return good;
}

}  // namespace

std::span<const Limit> limit_table() { return kLimits; }

std::optional<std::vector<Budget>> read_budgets(const std::string& path, bool has_baseline) {
  std::vector<Budget> out;
  const bool good = read_yaml(path, [&](const YAML::Node& root) {
    if (!root.IsMap() || !root["models"] || !root["models"].IsSequence()) {
      fail(kBadInput, fmt::format("{}: needs a list 'models' (docs/ci.md)", path));
      return false;
    }
    bool all = true;
    Budget defaults;
    for (const auto& item : root) {
      const auto key = item.first.as<std::string>();
      if (key == "models") continue;
      all = (key == "defaults"
                 ? read_entry(item.second, path, defaults)
                 : complain(path, item.first, fmt::format("unknown key '{}'; there are defaults and models", key))) &&
            all;
    }
    for (const YAML::Node& entry : root["models"]) {
      Budget b = defaults;
      all = read_entry(entry, path, b) && all;
      if (all && b.model.empty()) all = complain(path, entry, "'model' is missing");
      if (all && b.limits.empty() && b.mig_profile.empty() && !b.fits && b.baseline.empty() && !has_baseline)
        all = complain(path, entry, fmt::format("'{}' has no limit", b.model));
      if (!b.fail_on.empty() && b.baseline.empty() && !has_baseline)
        all = complain(path, entry, "'fail_on' needs a 'baseline', or --baseline");
      out.push_back(std::move(b));
    }
    return all;
  });
  return good ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace perfc::cli
