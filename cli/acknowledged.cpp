/// Regressions that are meant, of `perfc diff --acknowledge`: docs/ci.md.
#include <fmt/format.h>

#include <algorithm>

#include "cli/acknowledged.h"
#include "cli/cli.h"
#include "cli/yaml_file.h"

namespace perfc::cli {
namespace {

/// One entry; what is wrong is said with its place.
bool read_acknowledgement(const YAML::Node& node, const std::string& file, Acknowledgement& out) {
  const auto complain = [&](const YAML::Node& at, const std::string& text) { return cli::complain(file, at, text); };
  if (!node.IsMap()) return complain(node, "a mapping with 'figure' and 'reason' was expected");
  out.place = fmt::format("{}:{}", file, node.Mark().line + 1);
  const std::map<std::string, std::string*> texts{
      {"model", &out.model}, {"device", &out.device}, {"figure", &out.figure}, {"reason", &out.reason}};
  for (const auto& item : node) {
    const auto key = item.first.as<std::string>();
    if (!item.second.IsScalar()) return complain(item.second, fmt::format("'{}' must be a single value", key));
    const auto value = item.second.as<std::string>();
    if (const auto t = texts.find(key); t != texts.end()) {
      *t->second = value;
    } else if (key == "up_to") {
      out.up_to = parse_step(value);
      if (!out.up_to) return complain(item.second, "'up_to' is a step, as +8% or 100 is");
    } else {
      const std::string near = did_you_mean(key, {"model", "device", "figure", "reason", "up_to"});
      return complain(item.first, fmt::format("unknown key '{}'{}", key,
                                              near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
    }
  }
  const bool known =
      out.figure == "oom" || std::ranges::find(figure_table(), out.figure, &FigureDef::key) != figure_table().end();
  if (!known) return complain(node, fmt::format("'figure' must be one of --fail-on, not '{}'", out.figure));
  if (out.reason.find_first_not_of(" \t\n") == std::string::npos) return complain(node, "'reason' is missing");
  out.reason = printable(out.reason);
  return true;
}

}  // namespace

std::optional<std::vector<Acknowledgement>> read_acknowledgements(const std::string& path) {
  std::vector<Acknowledgement> out;
  const bool good = read_yaml(path, [&](const YAML::Node& root) {
    if (!root.IsMap() || root.size() != 1 || !root["acknowledged"] || !root["acknowledged"].IsSequence()) {
      fail(kBadInput, fmt::format("{}: needs a list 'acknowledged' and nothing else (docs/ci.md)", path));
      return false;
    }
    bool all = true;
    for (const YAML::Node& entry : root["acknowledged"])
      all = read_acknowledgement(entry, path, out.emplace_back()) && all;
    return all;
  });
  return good ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace perfc::cli
