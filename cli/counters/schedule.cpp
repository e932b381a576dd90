#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/counters/counters.h"
#include "cli/counters/models.h"
#include "counters/schedule/jobs.h"
#include "frontends/frontend.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CountersScheduleArguments {
  std::string jobs, machines, model, output;
  std::uint64_t seed = 1, draws = 100;
  double rate = 0;
  bool json = false;
};

/// How one policy did; of the random one, the mean over the draws.
struct Outcome {
  const PolicyRow* row;
  double makespan_s = 0, mean_turnaround_s = 0;
};

/// Workloads of a dataset as jobs, with times by a model.
std::optional<JobList> predicted_jobs(const CountersScheduleArguments& o, const std::vector<MachineKind>& fleet,
                                      std::string& model, int& code) {
  Diagnostics diags(o.jobs);
  const auto data = read_counter_dataset(o.jobs, diags);
  print(diags);
  if (!data) return code = kBadInput, std::nullopt;
  std::vector<std::string> names;
  names.reserve(fleet.size());
  for (const MachineKind& m : fleet) names.push_back(m.name);
  const auto chosen = choose_counter_model(
      o.model, names, [&](const CounterPredictor& p) { return p.aligned(*data); }, code);
  if (!chosen) return {};
  model = chosen->name;
  const CounterDataset aligned = chosen->predictor.aligned(*data);
  if (columns_found(aligned) == 0) {
    return code = fail(kBadInput, fmt::format("{}: holds none of the {} columns of the model '{}'", o.jobs,
                                              columns_of(chosen->predictor), model)),
           std::nullopt;
  }
  const auto predictions = chosen->predictor.predict(aligned);
  if (!predictions.empty() && std::isnan(predictions.front().log_base_s)) {
    return code = fail(
               kBadInput,
               fmt::format(
                   "{}: tells relative times, which cannot be added up to a schedule; train it with --reference, or "
                   "take the model perfc",
                   model)),
           std::nullopt;
  }
  JobList out{.jobs = {}, .measured = true};
  for (std::size_t w = 0; w < predictions.size(); ++w) {
    Job& job = out.jobs.emplace_back();
    job.name = predictions[w].workload;
    for (const MachineKind& m : fleet) {
      const auto& of = predictions[w].machines;
      const auto at = std::find_if(of.begin(), of.end(), [&](const RelativeTime& t) { return t.machine == m.name; });
      job.predicted_s.push_back(std::exp(at->log_ratio + predictions[w].log_base_s));
      const auto measured = data->machine(m.name);
      const double seconds =
          measured ? data->workloads[w].seconds[*measured] : std::numeric_limits<double>::quiet_NaN();
      if (std::isnan(seconds)) out.measured = false;
      job.actual_s.push_back(std::isnan(seconds) ? job.predicted_s.back() : seconds);
    }
  }
  return out;
}

template <class T, class Parse>
std::optional<T> parse_file(const std::string& path, const Parse& parse) {
  Diagnostics diags(path);
  const auto source = Source::open(path, diags);
  Result<T> parsed = source ? parse(source->bytes(), diags) : Result<T>(Failure{});
  print(diags);
  if (!parsed) return {};
  return std::move(*parsed);
}

Json to_json(const JobList& list, const std::vector<MachineKind>& fleet, const JobSchedule& plan,
             const std::vector<Outcome>& outcomes, const std::string& model) {
  Json placements = Json::array(), policies = Json::array();
  for (const JobPlacement& p : plan.placements) {
    placements.push_back({{"job", list.jobs[p.job].name},
                          {"machine", fleet[p.kind].name},
                          {"number", p.number},
                          {"predicted_s", list.jobs[p.job].predicted_s[p.kind]},
                          {"start_s", p.start_s},
                          {"end_s", p.end_s}});
  }
  for (const Outcome& x : outcomes)
    policies.push_back(
        {{"policy", x.row->name}, {"makespan_s", x.makespan_s}, {"mean_turnaround_s", x.mean_turnaround_s}});
  return {{"schema", "perfc.schedule/1"},
          {"model", model.empty() ? Json() : Json(model)},
          {"measured", list.measured},
          {"policies", std::move(policies)},
          {"schedule", std::move(placements)}};
}

std::string text(const CountersScheduleArguments& o, const JobList& list, const std::vector<MachineKind>& fleet,
                 const JobSchedule& plan, const std::vector<Outcome>& outcomes) {
  std::string out =
      fmt::format("{:<32} {:<24} {:>12} {:>12} {:>12}\n", "job", "machine", "predicted s", "start s", "end s");
  for (const JobPlacement& p : plan.placements) {
    const std::string machine =
        fleet[p.kind].count > 1 ? fmt::format("{} {}", fleet[p.kind].name, p.number) : fleet[p.kind].name;
    out += fmt::format("{:<32} {:<24} {:>12.6g} {:>12.6g} {:>12.6g}\n", list.jobs[p.job].name, machine,
                       list.jobs[p.job].predicted_s[p.kind], p.start_s, p.end_s);
  }
  out += fmt::format("\n{:<12} {:>12} {:>10} {:>18}\n", "policy", "makespan s", "× oracle", "mean turnaround s");
  const auto oracle =
      std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& x) { return x.row->policy == Policy::Oracle; });
  for (const Outcome& x : outcomes) {
    out += fmt::format("{:<12} {:>12.6g} {:>10.3f} {:>18.6g}  {}{}\n", x.row->name, x.makespan_s,
                       x.makespan_s / oracle->makespan_s, x.mean_turnaround_s, x.row->summary,
                       x.row->policy == Policy::Random ? fmt::format(", mean of {}", o.draws) : "");
  }
  return list.measured
             ? out
             : out + "\nNot all jobs have a measured time on every machine: they are taken to run as predicted.\n";
}

int run_counters_schedule(const CountersScheduleArguments& o) {
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  const auto fleet = parse_file<std::vector<MachineKind>>(o.machines, parse_fleet);
  if (!fleet) return kBadInput;
  int code = kBadInput;
  std::string model;
  std::optional<JobList> list;
  if (looks_like_counter_dataset(o.jobs)) {
    list = predicted_jobs(o, *fleet, model, code);
  } else if (!o.model.empty()) {
    return fail(
        kBadUsage,
        fmt::format("--model: {} is no dataset of workloads (docs/counters.md) whose times it could predict", o.jobs));
  } else {
    list = parse_file<JobList>(
        o.jobs, [&](std::string_view bytes, Diagnostics& diags) { return parse_jobs(bytes, *fleet, diags); });
  }
  if (!list) return code;
  if (o.rate > 0 && list->arrivals) return fail(kBadUsage, fmt::format("--rate: {} has the column arrival_s", o.jobs));
  const Random random(o.seed);
  if (o.rate > 0) draw_arrivals(list->jobs, o.rate, random.stream("arrivals"));
  JobSchedule plan;
  std::vector<Outcome> outcomes;
  for (const PolicyRow& row : policy_table()) {
    const std::uint64_t draws = row.policy == Policy::Random ? o.draws : 1;
    Outcome& x = outcomes.emplace_back(Outcome{.row = &row});
    for (std::uint64_t d = 0; d < draws; ++d) {
      JobSchedule s = simulate(list->jobs, *fleet, row.policy, random.stream("machines").stream(d));
      x.makespan_s += s.makespan_s / static_cast<double>(draws);
      x.mean_turnaround_s += s.mean_turnaround_s / static_cast<double>(draws);
      if (row.policy == Policy::Predicted) plan = std::move(s);
    }
  }
  if (o.json)
    out->write(to_json(*list, *fleet, plan, outcomes, model).dump(2, ' ', false, Json::error_handler_t::replace) +
               "\n");
  else out->write(text(o, *list, *fleet, plan, outcomes));
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command counters_schedule_command() {
  auto o = std::make_shared<CountersScheduleArguments>();
  Command c{"schedule", "Put jobs on machines by predicted times, and simulate what that saves (docs/counters.md)",
            [o] { return run_counters_schedule(*o); }};
  c.option("jobs", o->jobs,
           "CSV of jobs with predicted:MACHINE, time:MACHINE and arrival_s, or a dataset of workloads whose times a "
           "model predicts")
      .required();
  c.option("--machines", o->machines, R"(JSON: {"machines": [{"name": "quartz", "count": 2}, ...]})").required();
  c.option("--model", o->model, counter_model_help());
  c.option("--rate", o->rate, "Jobs arrive at random, so many a second on average [all at once]").must_be(Positive{});
  c.option("--draws", o->draws, "Random schedules to take the mean of [100]").must_be(WholeBetween{1, 10000});
  c.option("--seed", o->seed, "Of arrivals and random schedules [1]");
  c.option("--json", o->json, "As JSON");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  return c;
}

}  // namespace perfc::cli
