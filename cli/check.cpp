/// `perfc check`: the gate for a CI pipeline. Budgets: docs/ci.md.
#include <fmt/format.h>
#include <tinyxml2.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "cli/cli.h"
#include "ir/support/input_file.h"

namespace perfc::cli {
namespace {

struct CheckArguments {
  std::vector<std::string> models;
  std::string budget, junit;
};

/// One entry of the budget file: what to predict, and the limits.
struct Budget {
  PredictOptions predict;
  std::string model, device = "a100-40gb";
  std::map<std::string, double> limits;  ///< by key of kLimits
  std::string mig_profile;               ///< at most this profile, empty: no limit
  bool fits = false;                     ///< the device's memory must hold the run
  int line = 0;
};

/// Keys with a number as limit, and the figure they bound.
struct Limit {
  const char* key;
  const char* unit;
  double (*figure)(const Report&);
};
constexpr Limit kLimits[] = {
    {"max_latency_ms", "ms", [](const Report& r) { return r.prediction.latency_ms; }},
    {"max_memory_mib", "MiB", [](const Report& r) { return r.prediction.memory.total_mib(); }},
    {"max_energy_j", "J", [](const Report& r) { return r.prediction.energy_j; }},
    {"max_macs", "MAC", [](const Report& r) { return r.features.macs; }},
    {"max_params", "params", [](const Report& r) { return r.features.params; }},
};

/// Reads one mapping into a budget; unknown keys and wrong values are errors
/// with their line.
bool read_entry(const YAML::Node& node, const std::string& file, Budget& b) {
  const auto complain = [&](const YAML::Node& at, const std::string& text) {
    say("{}:{}:{}: error: {}\n", file, at.Mark().line + 1, at.Mark().column + 1, text);
    return false;
  };
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
                                            {"stack", &b.predict.stack}};
  bool good = true;
  for (const auto& item : node) {
    const auto key = item.first.as<std::string>();
    const YAML::Node& value = item.second;
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

std::optional<std::vector<Budget>> read_budgets(const std::string& path) {
  Diagnostics diags(path);
  const auto file = InputFile::open(path, diags);
  print(diags);
  if (!file) return std::nullopt;
  YAML::Node root;
  try {
    root = YAML::Load(std::string(file->bytes()));
  } catch (const YAML::Exception& e) {
    say("{}:{}:{}: error: {}\n", path, e.mark.line + 1, e.mark.column + 1, e.msg);
    return std::nullopt;
  }
  std::vector<Budget> out;
  try {
    if (!root.IsMap() || !root["models"] || !root["models"].IsSequence()) {
      fail(kBadInput, fmt::format("{}: needs a list 'models' (docs/ci.md)", path));
      return std::nullopt;
    }
    bool good = true;
    Budget defaults;
    for (const auto& item : root) {
      const auto key = item.first.as<std::string>();
      if (key == "models") continue;
      if (key == "defaults") {
        good = read_entry(item.second, path, defaults) && good;
        continue;
      }
      say("{}:{}:{}: error: unknown key '{}'; there are defaults and models\n", path, item.first.Mark().line + 1,
          item.first.Mark().column + 1, key);
      good = false;
    }
    for (const YAML::Node& entry : root["models"]) {
      Budget b = defaults;
      good = read_entry(entry, path, b) && good;
      if (good && b.model.empty()) {
        say("{}:{}:{}: error: 'model' is missing\n", path, entry.Mark().line + 1, entry.Mark().column + 1);
        good = false;
      }
      if (good && b.limits.empty() && b.mig_profile.empty() && !b.fits) {
        say("{}:{}:{}: error: '{}' has no limit\n", path, entry.Mark().line + 1, entry.Mark().column + 1, b.model);
        good = false;
      }
      out.push_back(std::move(b));
    }
    if (!good) return std::nullopt;
  } catch (const YAML::Exception& e) {
    say("{}:{}:{}: error: {}\n", path, e.mark.line + 1, e.mark.column + 1, e.msg);
    return std::nullopt;
  }
  return out;
}

/// One figure against its limit.
struct Row {
  std::string model, device, figure, value, limit;
  bool exceeded = false;
};

std::vector<Row> judge(const Budget& b, const Report& r) {
  std::vector<Row> rows;
  const auto add = [&](std::string figure, std::string value, std::string limit, bool exceeded) {
    rows.push_back({b.model, r.device.name, std::move(figure), std::move(value), std::move(limit), exceeded});
  };
  for (const Limit& l : kLimits) {
    const auto limit = b.limits.find(l.key);
    if (limit == b.limits.end()) continue;
    const double figure = l.figure(r);
    add(std::string(l.key).substr(4), fmt::format("{:.5g} {}", figure, l.unit),
        fmt::format("{:g} {}", limit->second, l.unit), figure > limit->second);
  }
  if (b.fits) {
    add("fits", fmt::format("{:.0f} MiB", r.prediction.memory.needed_mib()),
        fmt::format("{:.0f} MiB{}", r.device.memory_mib,
                    r.largest_batch.value_or(0) > 0 ? fmt::format(", which batch {} fits", *r.largest_batch) : ""),
        !r.fits());
  }
  if (!b.mig_profile.empty()) {
    // Profiles are listed from the cheapest on: the chosen one must not come later.
    const auto& options = r.mig ? r.mig->options : std::vector<MigOption>{};
    const auto index = [&](const std::string& name) {
      return std::find_if(options.begin(), options.end(), [&](const MigOption& o) { return o.profile.name == name; }) -
             options.begin();
    };
    const std::string chosen = r.mig && r.mig->profile ? *r.mig->profile : "none";
    add("mig_profile", chosen, b.mig_profile, !r.mig || !r.mig->profile || index(chosen) > index(b.mig_profile));
  }
  return rows;
}

bool write_junit(Output& out, const std::vector<Row>& rows,
                 const std::vector<std::pair<std::string, std::string>>& failures) {
  tinyxml2::XMLDocument doc;
  doc.InsertEndChild(doc.NewDeclaration());
  tinyxml2::XMLElement* suite = doc.NewElement("testsuite");
  doc.InsertEndChild(suite);
  std::size_t exceeded = 0;
  for (const Row& r : rows) {
    tinyxml2::XMLElement* c = doc.NewElement("testcase");
    c->SetAttribute("classname", fmt::format("{} on {}", r.model, r.device).c_str());
    c->SetAttribute("name", r.figure.c_str());
    if (r.exceeded) {
      ++exceeded;
      tinyxml2::XMLElement* f = doc.NewElement("failure");
      f->SetAttribute("message", fmt::format("{} exceeds {}", r.value, r.limit).c_str());
      c->InsertEndChild(f);
    }
    suite->InsertEndChild(c);
  }
  for (const auto& [model, message] : failures) {
    tinyxml2::XMLElement* c = doc.NewElement("testcase");
    c->SetAttribute("classname", model.c_str());
    c->SetAttribute("name", "predict");
    tinyxml2::XMLElement* e = doc.NewElement("error");
    e->SetAttribute("message", message.c_str());
    c->InsertEndChild(e);
    suite->InsertEndChild(c);
  }
  suite->SetAttribute("name", "perfc check");
  suite->SetAttribute("tests", static_cast<unsigned>(rows.size() + failures.size()));
  suite->SetAttribute("failures", static_cast<unsigned>(exceeded));
  suite->SetAttribute("errors", static_cast<unsigned>(failures.size()));
  tinyxml2::XMLPrinter printer;
  doc.Print(&printer);
  out.write(printer.CStr());
  return out.commit();
}

int run_check(const CheckArguments& o) {
  auto budgets = read_budgets(o.budget);
  if (!budgets) return kBadInput;
  auto junit = o.junit.empty() ? std::nullopt : Output::open(o.junit);
  if (!junit && !o.junit.empty()) return kBadInput;
  namespace fs = std::filesystem;
  const fs::path base = fs::path(o.budget).parent_path();
  // Models on the command line choose among the budgets, by path or file name.
  if (!o.models.empty()) {
    std::vector<Budget> chosen;
    for (const std::string& model : o.models) {
      const std::size_t before = chosen.size();
      for (const Budget& b : *budgets) {
        if (b.model != model && fs::path(b.model).filename() != fs::path(model).filename()) continue;
        chosen.push_back(b);
        chosen.back().model = model;
      }
      if (chosen.size() == before) return fail(kBadUsage, fmt::format("{} has no budget for {}", o.budget, model));
    }
    budgets = std::move(chosen);
  } else {
    for (Budget& b : *budgets) b.model = fs::path(b.model).is_absolute() ? b.model : (base / b.model).string();
  }
  std::vector<Row> rows;
  std::vector<std::pair<std::string, std::string>> failures;
  for (Budget& b : *budgets) {
    b.predict.devices = {b.device};
    auto request = to_request(b.predict);
    if (!request) return kBadInput;
    request->model = b.model;
    Diagnostics diags(b.model);
    auto reports = predict(*request, diags);
    print(diags);
    if (!reports) {
      failures.emplace_back(b.model, diags.str());
      continue;
    }
    if (!b.mig_profile.empty()) {
      const auto& profiles = reports->front().device.mig;
      if (std::none_of(profiles.begin(), profiles.end(),
                       [&](const MigProfile& p) { return p.name == b.mig_profile; })) {
        return fail(kBadInput,
                    fmt::format("{}:{}: {} has no MIG profile '{}'", o.budget, b.line, b.device, b.mig_profile));
      }
    }
    for (Row& r : judge(b, reports->front())) rows.push_back(std::move(r));
  }
  auto out = Output::open("");
  std::size_t wide_model = 5, wide_device = 6;
  for (const Row& r : rows) {
    wide_model = std::max(wide_model, r.model.size());
    wide_device = std::max(wide_device, r.device.size());
  }
  bool exceeded = false;
  for (const Row& r : rows) {
    out->write(fmt::format("{}  {:<{}}  {:<{}}  {:<12} {:>16}  limit {}\n", r.exceeded ? "EXCEEDED" : "ok      ",
                           r.model, wide_model, r.device, wide_device, r.figure, r.value, r.limit));
    exceeded = exceeded || r.exceeded;
  }
  for (const auto& [model, message] : failures) out->write(fmt::format("FAILED    {}\n", model));
  if (!out->commit()) return kBadInput;
  if (junit && !write_junit(*junit, rows, failures)) return kBadInput;
  return !failures.empty() ? kBadInput : exceeded ? kBudgetExceeded : kFine;
}

}  // namespace

Command check_command() {
  auto o = std::make_shared<CheckArguments>();
  Command c{"check", "Hold models against budgets; exit 3 when one is exceeded", [o] { return run_check(*o); }};
  c.option("models", o->models, "Model files [all of the budget file]");
  c.option("--budget", o->budget, "YAML file with budgets (docs/ci.md)").required();
  c.option("--junit", o->junit, "Write the result as JUnit XML too");
  return c;
}

}  // namespace perfc::cli
