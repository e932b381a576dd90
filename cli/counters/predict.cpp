#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/counters/counters.h"
#include "cli/counters/models.h"
#include "counters/data/profile_workloads.h"
#include "pipeline/profile.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CountersPredictArguments {
  std::string input, model, mapping, output;
  std::vector<std::string> machines;
  bool regions = false, json = false;
};

/// Missing columns that are listed for people; --json lists all.
constexpr std::size_t kMostListed = 8;

/// The fastest first.
void sort_by_time(std::vector<RelativeTime>& times) {
  std::stable_sort(times.begin(), times.end(),
                   [](const RelativeTime& a, const RelativeTime& b) { return a.log_ratio < b.log_ratio; });
}

std::vector<std::string> order_of(const std::vector<RelativeTime>& sorted) {
  std::vector<std::string> names;
  names.reserve(sorted.size());
  for (const RelativeTime& t : sorted) names.push_back(t.machine);
  return names;
}

std::string missing_text(const std::vector<std::string>& missing, std::size_t columns) {
  if (missing.empty()) return {};
  const std::span shown(missing.data(), std::min(missing.size(), kMostListed));
  return fmt::format("  missing: {} of {} columns; what they likely hold stands in and widens the intervals: {}{}\n",
                     missing.size(), columns, fmt::join(shown, ", "), missing.size() > shown.size() ? ", …" : "");
}

std::string text(const WorkloadPrediction& p, const std::string& model, const std::string& base, std::size_t columns) {
  std::string out = fmt::format("{}: time relative to {}, 90 % interval, by the model {}\n", p.workload, base, model);
  for (const RelativeTime& t : p.machines) {
    out += fmt::format("  {:<24} {:>10.4g}", t.machine, std::exp(t.log_ratio));
    if (t.low < t.high) out += fmt::format("  {:.4g} to {:.4g}", std::exp(t.low), std::exp(t.high));
    out += "\n";
  }
  if (!p.words.empty()) out += fmt::format("  words of its name that the model knows: {}\n", fmt::join(p.words, ", "));
  return out + fmt::format("  order: {}\n", fmt::join(order_of(p.machines), " < ")) + missing_text(p.missing, columns);
}

Json to_json(const WorkloadPrediction& p) {
  Json machines = Json::array();
  for (const RelativeTime& t : p.machines) {
    machines.push_back({{"machine", t.machine},
                        {"relative_time", std::exp(t.log_ratio)},
                        {"low", std::exp(t.low)},
                        {"high", std::exp(t.high)}});
  }
  return {{"workload", p.workload},
          {"machines", std::move(machines)},
          {"order", order_of(p.machines)},
          {"words", p.words},
          {"missing", p.missing}};
}

/// What is to be predicted, before it is known by which model.
struct Input {
  std::optional<CounterDataset> table;
  std::optional<Profile> profile;

  CounterDataset workloads(const CounterPredictor& p, WorkloadOf of) const {
    return table ? p.aligned(*table) : workloads_of(*profile, p.names(), !p.reference().empty(), of);
  }
};

/// A dataset (docs/counters.md) or any profile.
std::optional<Input> read(const CountersPredictArguments& o) {
  Input in;
  Diagnostics diags(o.input);
  if (o.mapping.empty() && looks_like_counter_dataset(o.input)) {
    auto table = read_counter_dataset(o.input, diags);
    if (table) in.table = std::move(*table);
  } else {
    auto profile = load_profile(o.input, o.mapping, diags);
    if (profile) in.profile = std::move(*profile);
  }
  print(diags);
  return in.table || in.profile ? std::optional(std::move(in)) : std::nullopt;
}

int run_counters_predict(const CountersPredictArguments& o) {
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  const auto in = read(o);
  if (!in) return kBadInput;
  int code = kFine;
  const auto chosen = choose_counter_model(
      o.model, o.machines, [&](const CounterPredictor& p) { return in->workloads(p, WorkloadOf::WholeRun); }, code);
  if (!chosen) return code;
  const CounterPredictor& predictor = chosen->predictor;
  const CounterDataset workloads = in->workloads(predictor, o.regions ? WorkloadOf::Region : WorkloadOf::WholeRun);
  if (columns_found(workloads) == 0) {
    return fail(
        kBadInput,
        fmt::format("{}: holds none of the {} columns of the model '{}'; `perfc counters show` tells what it holds",
                    o.input, columns_of(predictor), chosen->name));
  }
  const std::string base = predictor.reference().empty()
                               ? fmt::format("the geometric mean of {}", fmt::join(predictor.machines(), ", "))
                               : predictor.reference();
  Json all = Json::array();
  for (WorkloadPrediction& p : predictor.predict(workloads)) {
    std::erase_if(p.machines, [&](const RelativeTime& t) {
      return !o.machines.empty() && std::find(o.machines.begin(), o.machines.end(), t.machine) == o.machines.end();
    });
    sort_by_time(p.machines);
    if (o.json) all.push_back(to_json(p));
    else out->write(text(p, chosen->name, base, columns_of(predictor)));
  }
  if (o.json) {
    const Json j{{"schema", "perfc.relative/1"},
                 {"model", chosen->name},
                 {"relative_to", base},
                 {"columns", columns_of(predictor)},
                 {"workloads", std::move(all)}};
    out->write(j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command counters_predict_command() {
  auto o = std::make_shared<CountersPredictArguments>();
  Command c{"predict", "Predict on which machines a profiled program runs faster, and by how much (docs/counters.md)",
            [o] { return run_counters_predict(*o); }};
  c.option("profile", o->input,
           "What a profiler wrote, as `perfc counters show` reads it, or CSV of workloads with the model's columns")
      .required();
  c.option("--machines", o->machines, "Only these of the model's machines, comma-separated").separated_by(',');
  c.option("--model", o->model, counter_model_help());
  c.option("--mapping", o->mapping, "CSV file that tells what the columns of a plain CSV profile are");
  c.option("--regions", o->regions, "Each region of the profile (kernel, row of a table) on its own");
  c.option("--json", o->json, "As JSON");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  return c;
}

}  // namespace perfc::cli
