#include "compare/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ir/support/json.h"
#include "pipeline/digits.h"

namespace perfc {
namespace {

using SortedJson = nlohmann::json;

constexpr std::string_view kSchema = "perfc.baseline/1";

/// Numbers of an entry by key.
struct NumberKey {
  const char* key;
  double FiguresOf::*place;
};
constexpr std::array kNumbers{
    NumberKey{"latency_ms", &FiguresOf::latency_ms},
    NumberKey{"latency_hi_ms", &FiguresOf::latency_hi_ms},
    NumberKey{"device_ms", &FiguresOf::device_ms},
    NumberKey{"host_ms", &FiguresOf::host_ms},
    NumberKey{"host_interval", &FiguresOf::host_interval},
    NumberKey{"memory_mib", &FiguresOf::memory_mib},
    NumberKey{"context_mib", &FiguresOf::context_mib},
    NumberKey{"energy_j", &FiguresOf::energy_j},
    NumberKey{"macs", &FiguresOf::macs},
    NumberKey{"params", &FiguresOf::params},
};

SortedJson entry_json(const BaselineEntry& e) {
  SortedJson out{{"batch", e.figures.batch}, {"fits", e.fits}, {"operators_us", SortedJson::object()}};
  for (const NumberKey& n : kNumbers) out[n.key] = six_digits(e.figures.*n.place);
  if (e.figures.largest_batch) out["largest_batch"] = *e.figures.largest_batch;
  if (e.figures.mig) out["mig"] = {{"profile", *e.figures.mig}, {"rank", e.figures.mig_rank}};
  for (const auto& [signature, us] : e.operators_us) out["operators_us"][signature] = six_digits(us);
  return out;
}

std::optional<double> real(const std::optional<json::Element>& e) {
  double v = 0;
  if (!e || e->get(v) || !std::isfinite(v)) return std::nullopt;
  return v;
}

Result<BaselineEntry> read_baseline_entry(const json::Element& e, const std::string& where, Diagnostics& diags) {
  BaselineEntry out;
  const auto wrong = [&](std::string_view key) {
    return diags.error(
        fmt::format("{}: '{}' is missing or of the wrong kind; `perfc baseline` writes the file anew", where, key));
  };
  for (const NumberKey& n : kNumbers) {
    const auto v = real(json::member(e, n.key));
    if (!v || *v < 0) return wrong(n.key);
    out.figures.*n.place = *v;
  }
  const auto batch = json::integer(json::member(e, "batch"));
  if (!batch || *batch < 1) return wrong("batch");
  out.figures.batch = *batch;
  const auto fits = json::member(e, "fits");
  if (!fits || fits->get(out.fits)) return wrong("fits");
  out.figures.largest_batch = json::integer(json::member(e, "largest_batch"));
  if (const auto mig = json::member(e, "mig")) {
    const auto profile = json::text(json::member(*mig, "profile"));
    const auto rank = json::integer(json::member(*mig, "rank"));
    if (!profile || !rank || *rank < 0 || *rank > 1000) return wrong("mig");
    out.figures.mig = printable(*profile);
    out.figures.mig_rank = static_cast<int>(*rank);
  }
  const auto operators = json::member(e, "operators_us");
  json::Object object;
  if (!operators || operators->get(object)) return wrong("operators_us");
  for (const auto& [signature, us] : object) {
    const auto v = real(us);
    if (!v || *v < 0) return wrong("operators_us");
    out.operators_us[std::string(signature)] = *v;
  }
  return out;
}

}  // namespace

std::string baseline_key(const Report& r) {
  return printable(fmt::format("{}, batch {}, {}", r.device.name, r.features.batch, setting_of(r)));
}

BaselineEntry baseline_entry(const Version& v, std::size_t device) {
  const Report& r = v.reports[device];
  BaselineEntry out{.figures = figures_of(r, v.largest_batch[device], {}), .fits = r.fits()};
  const std::vector<std::string> texts = signatures(v.graph);
  for (const OpEstimate& e : r.prediction.ops) {
    if (e.time_us > 0) out.operators_us[printable(texts[e.node])] += e.time_us;
  }
  return out;
}

std::string baseline_json(const Baseline& baseline) {
  SortedJson models = SortedJson::object();
  for (const auto& [model, entries] : baseline) {
    for (const auto& [key, entry] : entries) models[printable(model)][key] = entry_json(entry);
  }
  const SortedJson document{{"schema", kSchema}, {"models", std::move(models)}};
  return document.dump(1, ' ', false, SortedJson::error_handler_t::replace) + "\n";
}

Result<Baseline> parse_baseline(std::string_view text, Diagnostics& diags) {
  const auto document = json::Document::parse(text, diags);
  if (!document) return Failure{};
  if (json::text(json::member(document->root(), "schema")) != kSchema)
    return diags.error(fmt::format("is no {} file; `perfc baseline` writes one", kSchema));
  json::Object models;
  const auto member = json::member(document->root(), "models");
  if (!member || member->get(models)) return diags.error("'models' is missing");
  Baseline out;
  for (const auto& [model, value] : models) {
    json::Object entries;
    if (value.get(entries)) return diags.error(fmt::format("'{}' is no object", printable(model)));
    for (const auto& [key, entry] : entries) {
      auto read = read_baseline_entry(entry, fmt::format("{}, {}", printable(model), printable(key)), diags);
      if (!read) return Failure{};
      out[std::string(model)][std::string(key)] = std::move(*read);
    }
  }
  return out;
}

OnDevice compare_entries(const BaselineEntry& base, const BaselineEntry& head, std::string device) {
  double common = 0, all = 0;
  for (const auto& [signature, us] : base.operators_us) {
    all += us;
    const auto other = head.operators_us.find(signature);
    if (other != head.operators_us.end()) common += 2 * std::min(us, other->second);
  }
  for (const auto& [signature, us] : head.operators_us) all += us;
  OnDevice out{.device = std::move(device), .base_fits = base.fits, .head_fits = head.fits};
  out.changed_share = all > 0 ? std::clamp(1 - common / all, 0.0, 1.0) : 0;
  // Both as the file has them, so that a version equals itself.
  FiguresOf now = head.figures;
  for (const NumberKey& n : kNumbers) now.*n.place = six_digits(now.*n.place);
  out.figures = compare_figures(&base.figures, &now, out.changed_share);
  return out;
}

}  // namespace perfc
