/// What shields.io draws a badge from: https://shields.io/badges/endpoint-badge, schema version 1.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "compare/formats/format.h"
#include "compare/formats/words.h"

namespace perfc {
namespace {

/// Latencies of models that both versions have.
std::vector<const FigureChange*> latencies(const Comparisons& c) {
  std::vector<const FigureChange*> out;
  for (const ModelComparison& m : c.models) {
    for (const OnDevice& d : m.devices) {
      const FigureChange* change = d.find(Figure::Latency);
      if (change && change->base && change->head) out.push_back(change);
    }
  }
  return out;
}

std::string steps(const std::vector<const FigureChange*>& of) {
  if (of.empty()) return "nothing to compare";
  if (of.size() == 1) {
    const std::string by = words::relative(*of.front());
    return by == "=" ? words::head(*of.front()) : fmt::format("{} ({})", words::head(*of.front()), by);
  }
  const auto known = [](const FigureChange* c) { return c->relative().value_or(0); };
  const auto [least, most] = std::ranges::minmax(of, {}, known);
  if (known(least) == 0 && known(most) == 0) return "latency unchanged";
  return fmt::format("latency {} to {}", words::percent(known(least)), words::percent(known(most)));
}

}  // namespace

std::string diff_badge(const DiffReport& r) {
  const bool unreadable = std::ranges::any_of(r.comparison.models, [](const auto& m) { return !m.error.empty(); });
  const std::size_t failures = r.failures();
  std::string message = steps(latencies(r.comparison));
  if (failures > 0) message = fmt::format("{} beyond {}; {}", failures, failures == 1 ? "a limit" : "limits", message);
  if (unreadable) message = "a model cannot be read";
  const nlohmann::ordered_json badge{{"schemaVersion", 1},
                                     {"label", "perfc"},
                                     {"message", message},
                                     {"color", unreadable || failures > 0 ? "red"
                                               : r.findings.empty()       ? "brightgreen"
                                                                          : "yellow"},
                                     {"isError", unreadable}};
  return badge.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace perfc
