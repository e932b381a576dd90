#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/counters.h"
#include "counters/data/profile_workloads.h"
#include "counters/models/counter_predictor.h"
#include "pipeline/counter_weights.h"
#include "pipeline/profile.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string input, model, mapping, output;
  std::vector<std::string> machines;
  bool regions = false, json = false;
};

/// Missing columns that are listed for people; --json lists all.
constexpr std::size_t kMostListed = 8;

/// The fastest first.
void sort_by_time(std::vector<RelativeTime>& times) {
  std::stable_sort(times.begin(), times.end(), [](const RelativeTime& a, const RelativeTime& b) { return a.log_ratio < b.log_ratio; });
}

std::vector<std::string> order_of(const std::vector<RelativeTime>& sorted) {
  std::vector<std::string> names;
  for (const RelativeTime& t : sorted) names.push_back(t.machine);
  return names;
}

std::string missing_text(const std::vector<std::string>& missing, std::size_t columns) {
  if (missing.empty()) return {};
  const std::span shown(missing.data(), std::min(missing.size(), kMostListed));
  return fmt::format("  missing: {} of {} columns; what they likely hold stands in and widens the intervals: {}{}\n", missing.size(), columns,
                     fmt::join(shown, ", "), missing.size() > shown.size() ? ", …" : "");
}

std::string text(const WorkloadPrediction& p, const std::string& model, const std::string& base, std::size_t columns) {
  std::string out = fmt::format("{}: time relative to {}, 90 % interval, by the model {}\n", p.workload, base, model);
  for (const RelativeTime& t : p.machines) {
    out += fmt::format("  {:<24} {:>10.4g}", t.machine, std::exp(t.log_ratio));
    if (t.low < t.high) out += fmt::format("  {:.4g} to {:.4g}", std::exp(t.low), std::exp(t.high));
    out += "\n";
  }
  return out + fmt::format("  order: {}\n", fmt::join(order_of(p.machines), " < ")) + missing_text(p.missing, columns);
}

Json to_json(const WorkloadPrediction& p) {
  Json machines = Json::array();
  for (const RelativeTime& t : p.machines) {
    machines.push_back({{"machine", t.machine}, {"relative_time", std::exp(t.log_ratio)}, {"low", std::exp(t.low)}, {"high", std::exp(t.high)}});
  }
  return {{"workload", p.workload}, {"machines", std::move(machines)}, {"order", order_of(p.machines)}, {"missing", p.missing}};
}

std::size_t columns_of(const CounterPredictor& p) { return p.names().counters.size() + p.names().work.size() + (p.reference().empty() ? 0 : 1); }

bool knows(const CounterPredictor& p, const std::vector<std::string>& machines) {
  const auto& known = p.names().machines;
  return std::all_of(machines.begin(), machines.end(), [&](const std::string& m) { return std::find(known.begin(), known.end(), m) != known.end(); });
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
std::optional<Input> read(const Options& o) {
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

std::size_t columns_found(const CounterDataset& d) {
  std::size_t most = 0;
  const auto known = [](const std::vector<double>& v) { return static_cast<std::size_t>(std::count_if(v.begin(), v.end(), [](double x) { return !std::isnan(x); })); };
  for (const auto& w : d.workloads) most = std::max(most, known(w.counters) + known(w.work) + known(w.seconds));
  return most;
}

struct Chosen {
  std::string name;
  CounterPredictor predictor;
};

/// The built-in model that knows the machines and of whose columns the input has the largest share.
std::optional<Chosen> choose_built_in(const Options& o, const Input& in, int& code) {
  std::optional<Chosen> best;
  double most = -1;
  std::string known;
  for (const BuiltInCounterModel& row : built_in_counter_models()) {
    Diagnostics diags{std::string(row.name)};
    auto p = CounterPredictor::parse(row.bytes(), diags);
    if (!p) return print(diags), code = kBadInput, std::nullopt;
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", row.name, fmt::join(p->names().machines, ", "));
    const double share = static_cast<double>(columns_found(in.workloads(*p, WorkloadOf::WholeRun))) / static_cast<double>(columns_of(*p));
    if (!knows(*p, o.machines) || share <= most) continue;
    most = share;
    best = Chosen{std::string(row.name), std::move(*p)};
  }
  if (!best) {
    code = fail(kBadUsage, fmt::format("--machines: no built-in model knows {} ({}); `perfc counters train` makes one from times that you have", fmt::join(o.machines, " and "), known));
  }
  return best;
}

std::optional<Chosen> choose(const Options& o, const Input& in, int& code) {
  if (o.model.empty()) return choose_built_in(o, in, code);
  const auto models = built_in_counter_models();
  const auto row = std::find_if(models.begin(), models.end(), [&](const BuiltInCounterModel& m) { return m.name == o.model; });
  Diagnostics diags(o.model);
  auto p = row != models.end() ? CounterPredictor::parse(row->bytes(), diags) : CounterPredictor::open(o.model, diags);
  print(diags);
  if (!p) return code = kBadInput, std::nullopt;
  for (const std::string& m : o.machines) {
    if (knows(*p, {m})) continue;
    code = fail(kBadUsage, fmt::format("--machines: '{}' is none of the model's {}", m, fmt::join(p->names().machines, ", ")));
    return {};
  }
  return Chosen{o.model, std::move(*p)};
}

int run(const Options& o) {
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  const auto in = read(o);
  if (!in) return kBadInput;
  int code = kFine;
  const auto chosen = choose(o, *in, code);
  if (!chosen) return code;
  const CounterPredictor& predictor = chosen->predictor;
  const CounterDataset workloads = in->workloads(predictor, o.regions ? WorkloadOf::Region : WorkloadOf::WholeRun);
  if (columns_found(workloads) == 0) {
    return fail(kBadInput, fmt::format("{}: holds none of the {} columns of the model '{}'; `perfc counters show` tells what it holds", o.input, columns_of(predictor), chosen->name));
  }
  const std::string base = predictor.reference().empty() ? fmt::format("the geometric mean of {}", fmt::join(predictor.machines(), ", ")) : predictor.reference();
  Json all = Json::array();
  for (WorkloadPrediction& p : predictor.predict(workloads)) {
    std::erase_if(p.machines, [&](const RelativeTime& t) { return !o.machines.empty() && std::find(o.machines.begin(), o.machines.end(), t.machine) == o.machines.end(); });
    sort_by_time(p.machines);
    if (o.json) all.push_back(to_json(p));
    else out->write(text(p, chosen->name, base, columns_of(predictor)));
  }
  if (o.json) {
    const Json j{{"schema", "perfc.relative/1"}, {"model", chosen->name}, {"relative_to", base}, {"columns", columns_of(predictor)}, {"workloads", std::move(all)}};
    out->write(j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return out->commit() ? kFine : kBadInput;
}

std::string built_in_names() {
  std::vector<std::string_view> names;
  for (const BuiltInCounterModel& m : built_in_counter_models()) names.push_back(m.name);
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

void add_counters_predict(CLI::App& group, Action& action) {
  auto o = std::make_shared<Options>();
  CLI::App* sub = group.add_subcommand("predict", "Predict on which machines a profiled program runs faster, and by how much (docs/counters.md)");
  sub->add_option("profile", o->input, "What a profiler wrote, as `perfc counters show` reads it, or CSV of workloads with the model's columns")->required();
  sub->add_option("--machines", o->machines, "Only these of the model's machines, comma-separated")->delimiter(',');
  sub->add_option("--model", o->model, fmt::format("{} or a checkpoint that `perfc counters train` wrote [the built-in one that fits best]", built_in_names()));
  sub->add_option("--mapping", o->mapping, "CSV file that tells what the columns of a plain CSV profile are");
  sub->add_flag("--regions", o->regions, "Each region of the profile (kernel, row of a table) on its own");
  sub->add_flag("--json", o->json, "As JSON");
  sub->add_option("-o,--output", o->output, "Write to a file instead of standard output");
  sub->callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace perfc::cli
