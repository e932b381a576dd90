/// Schema perfc.diff/1: docs/json.md.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "compare/formats/escape.h"
#include "compare/formats/format.h"
#include "compare/formats/words.h"
#include "pipeline/digits.h"

namespace perfc {
namespace {

using Json = nlohmann::ordered_json;

/// Of a model, as its repository has it.
std::string path_of(const DiffReport& r, const std::string& model) {
  return r.comparison.root.empty() ? model : r.comparison.root + "/" + model;
}

std::string sentence(const Finding& f) {
  return fmt::format("{} (batch {}, {}): {}; allowed: {}", f.model, f.batch, f.device, f.what, f.limit);
}

/// By which tools know a finding again in another run.
std::string identity(const Finding& f) { return fmt::format("{} {} {} {}", f.model, f.batch, f.device, f.key()); }

/// FNV-1a of 64 bits, in hexadecimal.
std::string digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

Json number(const std::optional<double>& x) { return x ? Json(six_digits(*x)) : Json(nullptr); }

Json figure_json(const FigureChange& c) {
  const FigureDef& d = def(c.figure);
  Json out{{"figure", d.key}, {"unit", d.unit}};
  if (c.figure == Figure::Mig) {
    out["base"] = c.base ? Json(c.base_text) : Json(nullptr);
    out["head"] = c.head ? Json(c.head_text) : Json(nullptr);
  } else {
    const bool counted = c.figure == Figure::LargestBatch || c.figure == Figure::Macs || c.figure == Figure::Params;
    const auto value = [&](const std::optional<double>& v) { return v && counted ? Json(*v) : number(v); };
    out["base"] = value(c.base);
    out["head"] = value(c.head);
  }
  out["relative"] = number(c.relative());
  const bool uncertain = c.ratio_lo != c.ratio_hi;
  out["relative_interval"] = uncertain ? Json{six_digits(c.ratio_lo - 1), six_digits(c.ratio_hi - 1)} : Json(nullptr);
  out["verdict"] = name(c.verdict);
  out["certain"] = c.certain;
  return out;
}

/// What bounds one version, and how uncertain its time is by itself.
Json version_json(const std::optional<FiguresOf>& f) {
  if (!f) return nullptr;
  return {{"latency_ms", six_digits(f->latency_ms)},
          {"latency_factor", six_digits(f->latency_ms > 0 ? f->latency_hi_ms / f->latency_ms : 1)},
          {"device_ms", six_digits(f->device_ms)},
          {"host_ms", six_digits(f->host_ms)},
          {"host_factor", f->host_interval}};
}

Json change_json(const Change& c, const std::vector<OnDevice>& devices) {
  Json us = Json::object();
  for (std::size_t d = 0; d < devices.size(); ++d)
    us[devices[d].device] = {six_digits(c.base_us[d]), six_digits(c.head_us[d])};
  return {{"kind", name(c.kind)},
          {"op", c.op},
          {"what", c.what},
          {"count", c.count},
          {"names", c.names},
          {"params", {c.base_params, c.head_params}},
          {"macs", {c.base_macs, c.head_macs}},
          {"device_us", std::move(us)}};
}

Json model_json(const ModelComparison& m) {
  if (!m.error.empty()) return {{"model", m.model}, {"error", m.error}};
  Json devices = Json::array(), changes = Json::array();
  for (const OnDevice& on : m.devices) {
    Json figures = Json::array();
    for (const FigureChange& c : on.figures) figures.push_back(figure_json(c));
    devices.push_back({{"device", on.device},
                       {"predictor", on.predictor},
                       {"base", version_json(on.base)},
                       {"head", version_json(on.head)},
                       {"fits", {on.base_fits, on.head_fits}},
                       {"changed_share", six_digits(on.changed_share)},
                       {"unchanged_us", {six_digits(on.unchanged_base_us), six_digits(on.unchanged_head_us)}},
                       {"figures", std::move(figures)}});
  }
  for (const Change& c : m.changes) changes.push_back(change_json(c, m.devices));
  constexpr std::array<std::string_view, 3> kPresence{"both", "base", "head"};
  return {{"model", m.model},
          {"in", kPresence[static_cast<std::size_t>(m.presence)]},
          {"batch", m.batch},
          {"setting", m.setting},
          {"operators", m.operators},
          {"operators_changed", m.operators_changed},
          {"devices", std::move(devices)},
          {"changes", std::move(changes)}};
}

}  // namespace

std::string diff_json(const DiffReport& r) {
  Json models = Json::array(), exceeded = Json::array();
  for (const ModelComparison& m : r.comparison.models) models.push_back(model_json(m));
  for (const Finding& f : r.findings) {
    exceeded.push_back({{"model", f.model},
                        {"batch", f.batch},
                        {"device", f.device},
                        {"figure", f.key()},
                        {"what", f.what},
                        {"limit", f.limit},
                        {"acknowledged", f.acknowledged.empty() ? Json(nullptr) : Json(f.acknowledged)}});
  }
  const Json document{{"schema", "perfc.diff/1"},
                      {"base", r.comparison.base},
                      {"head", r.comparison.head},
                      {"models", std::move(models)},
                      {"exceeded", std::move(exceeded)},
                      {"failures", r.failures()},
                      {"notes", r.notes}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string diff_sarif(const DiffReport& r) {
  Json rules = Json::array(), results = Json::array();
  const auto rule = [&](std::string_view key, std::string_view title) {
    const std::string text = key == "oom"
                                 ? "The device no longer holds the run"
                                 : "The predicted " + std::string(title) + " is worse than the threshold allows";
    rules.push_back({{"id", "perfc/" + std::string(key)}, {"shortDescription", {{"text", text}}}});
  };
  for (const FigureDef& f : figure_table()) rule(f.key, f.title);
  rule("oom", "");
  rules.push_back({{"id", "perfc/unreadable"}, {"shortDescription", {{"text", "A model could not be compared"}}}});
  const auto located = [&](const std::string& name) {
    return Json::array(
        {{{"physicalLocation",
           {{"artifactLocation", {{"uri", uri_path(path_of(r, name))}}}, {"region", {{"startLine", 1}}}}}}});
  };
  for (const Finding& f : r.findings) {
    Json result{{"ruleId", "perfc/" + std::string(f.key())},
                {"level", f.acknowledged.empty() ? "error" : "note"},
                {"message", {{"text", sentence(f)}}},
                {"locations", located(f.model)},
                {"partialFingerprints", {{"perfc/v1", identity(f)}}}};
    if (!f.acknowledged.empty())
      result["suppressions"] = Json::array({{{"kind", "external"}, {"justification", f.acknowledged}}});
    results.push_back(std::move(result));
  }
  for (const ModelComparison& m : r.comparison.models) {
    if (m.error.empty()) continue;
    results.push_back({{"ruleId", "perfc/unreadable"},
                       {"level", "error"},
                       {"message", {{"text", m.error}}},
                       {"locations", located(m.model)}});
  }
  const Json document{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", Json::array({{{"tool", {{"driver", {{"name", "perfc"}, {"rules", std::move(rules)}}}}},
                                             {"results", std::move(results)}}})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string diff_codequality(const DiffReport& r) {
  Json violations = Json::array();
  const auto add = [&](std::string_view check, std::string_view severity, const std::string& model,
                       const std::string& description, const std::string& known_by) {
    violations.push_back({{"description", description},
                          {"check_name", fmt::format("perfc/{}", check)},
                          {"fingerprint", digest(known_by)},
                          {"severity", severity},
                          {"location", {{"path", path_of(r, model)}, {"lines", {{"begin", 1}}}}}});
  };
  for (const Finding& f : r.findings) {
    const bool meant = !f.acknowledged.empty();
    add(f.key(),
        meant              ? "info"
        : f.key() == "oom" ? "critical"
                           : "major",
        f.model, meant ? fmt::format("{} (meant: {})", sentence(f), f.acknowledged) : sentence(f), identity(f));
  }
  for (const ModelComparison& m : r.comparison.models) {
    if (!m.error.empty()) add("unreadable", "blocker", m.model, m.error, m.model);
  }
  return violations.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace perfc
