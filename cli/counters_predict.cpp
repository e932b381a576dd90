#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/counters.h"
#include "counters/models/counter_predictor.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string workloads, model, output;
  std::vector<std::string> machines;
  bool json = false;
};

/// The fastest first.
void sort_by_time(std::vector<RelativeTime>& times) {
  std::stable_sort(times.begin(), times.end(), [](const RelativeTime& a, const RelativeTime& b) { return a.log_ratio < b.log_ratio; });
}

std::string text(const std::string& name, const std::vector<RelativeTime>& times, const std::string& base) {
  std::string out = fmt::format("{}: time relative to {}, 90 % interval\n", name, base);
  for (const RelativeTime& t : times) {
    out += fmt::format("  {:<24} {:>10.4g}", t.machine, std::exp(t.log_ratio));
    if (t.low < t.high) out += fmt::format("  {:.4g} to {:.4g}", std::exp(t.low), std::exp(t.high));
    out += "\n";
  }
  return out;
}

Json to_json(const std::string& name, const std::vector<RelativeTime>& times) {
  Json machines = Json::array();
  for (const RelativeTime& t : times) {
    machines.push_back({{"machine", t.machine}, {"relative_time", std::exp(t.log_ratio)}, {"low", std::exp(t.low)}, {"high", std::exp(t.high)}});
  }
  return {{"workload", name}, {"machines", std::move(machines)}};
}

int run(const Options& o) {
  Diagnostics in_model(o.model), diags(o.workloads);
  const auto predictor = CounterPredictor::open(o.model, in_model);
  print(in_model);
  if (!predictor) return kBadInput;
  std::vector<std::string> known = predictor->machines();
  if (!predictor->reference().empty()) known.push_back(predictor->reference());
  for (const std::string& m : o.machines) {
    if (std::find(known.begin(), known.end(), m) != known.end()) continue;
    return fail(kBadUsage, fmt::format("--machines: '{}' is none of the model's {}", m, fmt::join(known, ", ")));
  }
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  const auto data = read_counter_dataset(o.workloads, diags);
  auto times = data ? predictor->predict(*data, diags) : Failure{};
  print(diags);
  if (!times) return kBadInput;
  const std::string base = predictor->reference().empty() ? fmt::format("the geometric mean of {}", fmt::join(predictor->machines(), ", ")) : predictor->reference();
  Json all = Json::array();
  for (std::size_t w = 0; w < times->size(); ++w) {
    std::vector<RelativeTime>& of = (*times)[w];
    std::erase_if(of, [&](const RelativeTime& t) { return !o.machines.empty() && std::find(o.machines.begin(), o.machines.end(), t.machine) == o.machines.end(); });
    sort_by_time(of);
    if (o.json) all.push_back(to_json(data->workloads[w].name, of));
    else out->write(text(data->workloads[w].name, of, base));
  }
  if (o.json) {
    const Json j{{"schema", "perfc.relative/1"}, {"relative_to", base}, {"workloads", std::move(all)}};
    out->write(j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

void add_counters_predict(CLI::App& group, Action& action) {
  auto o = std::make_shared<Options>();
  CLI::App* sub = group.add_subcommand("predict", "Predict on which machines workloads run faster, and by how much (docs/counters.md)");
  sub->add_option("workloads", o->workloads, "CSV of workloads with the model's counters and work; times only on its reference")->required();
  sub->add_option("--model", o->model, "Checkpoint that `perfc counters train` wrote")->required();
  sub->add_option("--machines", o->machines, "Only these of the model's machines, comma-separated")->delimiter(',');
  sub->add_flag("--json", o->json, "As JSON");
  sub->add_option("-o,--output", o->output, "Write to a file instead of standard output");
  sub->callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace perfc::cli
