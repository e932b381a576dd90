/// `perfc check`: the gate for a CI pipeline. Budgets: docs/ci.md.
#include <fmt/format.h>
#include <tinyxml2.h>

#include <filesystem>
#include <set>

#include "cli/budgets.h"
#include "cli/cli.h"
#include "compare/baseline.h"
#include "compare/formats/words.h"
#include "compare/threshold.h"
#include "compare/versions.h"
#include "ir/support/input_file.h"

namespace perfc::cli {
namespace {

struct CheckArguments {
  std::vector<std::string> models;
  std::string budget, junit, baseline;
};

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
  for (const Limit& l : limit_table()) {
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

/// The baselines that entries name, each read once.
class Baselines {
 public:
  /// Null: it cannot be read, which was printed.
  const Baseline* at(const std::string& path) {
    if (const auto known = read_.find(path); known != read_.end()) return &known->second;
    Diagnostics diags(path);
    const auto file = InputFile::open(path, diags);
    Result<Baseline> baseline = Failure{};
    if (file) baseline = parse_baseline(file->bytes(), diags);
    print(diags);
    return baseline ? &(read_[path] = std::move(*baseline)) : nullptr;
  }

 private:
  std::map<std::string, Baseline> read_;
};

/// The model's name in a baseline file: its path from there.
std::string name_in(const std::string& baseline, const std::string& model) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(baseline).lexically_normal().parent_path();
  return printable(fs::absolute(model).lexically_normal().lexically_relative(folder).generic_string());
}

/// The steps from the baseline; empty: the model cannot be predicted, or its file read, which was printed.
std::optional<std::vector<Row>> judge_steps(const Budget& b, const std::string& path, const Request& request,
                                            Baselines& baselines, Diagnostics& diags) {
  Diagnostics usage;
  auto thresholds = parse_thresholds(b.fail_on.empty() ? kUsualSteps : b.fail_on, usage);
  if (thresholds && std::ranges::any_of(*thresholds, [](const Threshold& t) { return t.figure == Figure::Cost; }))
    thresholds = usage.error("'cost' is of `perfc diff --price` alone: here it is as the latency is");
  if (!thresholds) {
    say("{}: error: 'fail_on': {}\n", b.model, usage.all().front().message);
    return std::nullopt;
  }
  const Baseline* baseline = baselines.at(path);
  auto devices = find_devices(request, diags);
  auto predictor = find_predictor(request, diags);
  auto file = ModelFile::open(request, diags);
  if (!baseline || !devices || !predictor || !file) return std::nullopt;
  const auto version = predict_version(*file, request, *devices, **predictor, diags);
  if (!version) return std::nullopt;
  const Report& r = version->reports.front();
  const auto model = baseline->find(name_in(path, b.model));
  const BaselineEntry* base = nullptr;
  if (model != baseline->end()) {
    const auto entry = model->second.find(baseline_key(r));
    base = entry == model->second.end() ? nullptr : &entry->second;
  }
  if (!base) return std::vector<Row>{{b.model, r.device.name, "baseline", "new", "none: not in " + path}};
  Comparisons comparison;
  comparison.models.push_back({.model = b.model, .batch = r.features.batch});
  comparison.models[0].devices.push_back(compare_entries(*base, baseline_entry(*version, 0), r.device.name));
  const std::vector<Finding> found = findings(comparison, *thresholds);
  std::vector<Row> rows;
  for (const Threshold& t : *thresholds) {
    const FigureChange* c = comparison.models[0].devices[0].find(t.figure.value_or(Figure::Memory));
    const std::string step = c && c->verdict != Verdict::New ? words::step(*c) : "not known of both";
    const bool exceeded = std::ranges::any_of(found, [&](const Finding& f) { return f.figure == t.figure; });
    rows.push_back({b.model, r.device.name, t.figure ? fmt::format("Δ {}", def(*t.figure).key) : "Δ fits", step,
                    t.step.text, exceeded});
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
  auto budgets = read_budgets(o.budget, !o.baseline.empty());
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
  Baselines baselines;
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
    const bool own = o.baseline.empty() && !b.baseline.empty();
    const std::string baseline = own && fs::path(b.baseline).is_relative() ? (base / b.baseline).string()
                                 : own                                     ? b.baseline
                                                                           : o.baseline;
    if (baseline.empty()) continue;
    Diagnostics of_steps(b.model);
    auto steps = judge_steps(b, baseline, *request, baselines, of_steps);
    if (!steps) {
      print(of_steps);
      return kBadInput;
    }
    std::ranges::move(*steps, std::back_inserter(rows));
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
  c.option("--baseline", o->baseline,
           "File of `perfc baseline`: figures may not be certainly worse than these by more than 'fail_on' allows "
           "[5 % of latency, memory and energy]");
  c.option("--junit", o->junit, "Write the result as JUnit XML too");
  return c;
}

}  // namespace perfc::cli
