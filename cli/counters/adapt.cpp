#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/counters/counters.h"
#include "counters/models/machine_transfer.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CountersAdaptArguments {
  std::string data, data_sheet, machine, output;
  std::vector<std::string> machines;
  AdaptationOptions adaptation;
  bool markdown = false, json = false;
};

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x / static_cast<double>(v.size());
  return sum;
}

/// Median of |predicted / measured − 1|.
double ratio_error(const std::vector<double>& errors) {
  std::vector<double> ratios;
  ratios.reserve(errors.size());
  for (const double e : errors) ratios.push_back(std::abs(std::expm1(e)));
  std::sort(ratios.begin(), ratios.end());
  return ratios.empty() ? 0 : (ratios[ratios.size() / 2] + ratios[(ratios.size() - 1) / 2]) / 2;
}

std::string curve_text(const std::vector<AdaptationPoint>& curve, bool markdown) {
  const std::vector<std::string> head{
      "samples", "R²", "ratio error", "9 of 10 within", "covered", "likest machine: R²", "ratio error"};
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (const std::string& c : cells) out += markdown ? fmt::format("| {} ", c) : fmt::format("{:>19}", c);
    out += markdown ? "|\n" : "\n";
  };
  line(head);
  if (markdown) out += "|---|---|---|---|---|---|---|\n";
  for (const AdaptationPoint& p : curve) {
    line({std::to_string(p.samples), fmt::format("{:.3f}", mean(p.scores)),
          fmt::format("{:.1f} %", 100 * ratio_error(p.errors)),
          fmt::format("× {:.2f}", std::exp(interval_of(p.errors))), fmt::format("{:.1f} %", 100 * p.covered),
          fmt::format("{:.3f}", mean(p.nearest_scores)), fmt::format("{:.1f} %", 100 * ratio_error(p.nearest_errors))});
  }
  return out;
}

Json curve_json(const std::vector<AdaptationPoint>& curve) {
  Json points = Json::array();
  for (const AdaptationPoint& p : curve) {
    points.push_back({{"samples", p.samples},
                      {"r2", mean(p.scores)},
                      {"ratio_error", ratio_error(p.errors)},
                      {"interval_factor", std::exp(interval_of(p.errors))},
                      {"covered", p.covered},
                      {"likest_r2", mean(p.nearest_scores)},
                      {"likest_ratio_error", ratio_error(p.nearest_errors)}});
  }
  return {{"schema", "perfc.adaptation/1"}, {"curve", std::move(points)}};
}

/// Times of what was not measured on the machine.
std::string predictions(const CountersAdaptArguments& o, const CounterProblem& p, std::span<const std::size_t> known,
                        std::size_t machine) {
  std::vector<std::size_t> measured, others;
  for (std::size_t r = 0; r < p.data->workloads.size(); ++r)
    (std::isnan(p.data->workloads[r].seconds[machine]) ? others : measured).push_back(r);
  const auto model = MachineTransfer::fit(p, known, machine, measured);
  // What the known machines' times would have been off by, had as few workloads been measured on them.
  AdaptationOptions same = o.adaptation;
  same.samples = {measured.size()};
  const double interval = known.size() < 3 ? std::nan("") : interval_of(learning_curve(p, known, same).front().errors);
  Json rows = Json::array();
  std::string out = fmt::format("{}: seconds from {} measured workload{} and {} machines, 90 % interval\n", o.machine,
                                measured.size(), measured.size() == 1 ? "" : "s", known.size());
  for (const std::size_t r : others) {
    const double at = model.predict(p, r);
    const std::string& name = p.data->workloads[r].name;
    out += fmt::format("  {:<40} {:>12.4g}", name, std::exp(at));
    out += std::isnan(interval) ? "\n"
                                : fmt::format("  {:.4g} to {:.4g}\n", std::exp(at - interval), std::exp(at + interval));
    rows.push_back({{"workload", name},
                    {"seconds", std::exp(at)},
                    {"low", std::isnan(interval) ? Json() : Json(std::exp(at - interval))},
                    {"high", std::isnan(interval) ? Json() : Json(std::exp(at + interval))}});
  }
  if (!o.json) return out;
  const Json j{{"schema", "perfc.adapted/1"},
               {"machine", o.machine},
               {"samples", measured.size()},
               {"workloads", std::move(rows)}};
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Machines to know from, each with times of all that `samples` may ask for.
std::optional<std::vector<std::size_t>> known_machines(const CountersAdaptArguments& o, const CounterDataset& d,
                                                       std::size_t samples) {
  std::vector<std::string> names = o.machines;
  if (names.empty()) {
    for (const std::string& m : d.machines) {
      if (m != o.machine) names.push_back(m);
    }
  }
  std::vector<std::size_t> out;
  for (const std::string& name : names) {
    const auto m = d.machine(name);
    if (!m)
      return fail(kBadUsage, fmt::format("--machines: '{}' has no column of times in {}; there are {}", name, o.data,
                                         fmt::join(d.machines, ", "))),
             std::nullopt;
    if (name == o.machine)
      return fail(kBadUsage, fmt::format("--machines: '{}' is the new machine", name)), std::nullopt;
    if (std::find(out.begin(), out.end(), *m) != out.end())
      return fail(kBadUsage, fmt::format("--machines: '{}' stands twice", name)), std::nullopt;
    const auto times = static_cast<std::size_t>(std::count_if(
        d.workloads.begin(), d.workloads.end(), [&](const auto& w) { return !std::isnan(w.seconds[*m]); }));
    if (times < samples + 2)
      return fail(kBadInput, fmt::format("{}: '{}' has times of {} workloads; {} and two more are needed", o.data, name,
                                         times, samples)),
             std::nullopt;
    out.push_back(*m);
  }
  return out;
}

int run_counters_adapt(CountersAdaptArguments& o) {
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  Diagnostics diags(o.data), in_sheet(o.data_sheet);
  auto data = read_counter_dataset(o.data, diags);
  print(diags);
  if (!data) return kBadInput;
  if (data->work.empty())
    return fail(kBadInput, fmt::format("{}: has no column work:NAME, from which costs follow", o.data));
  if (!o.machine.empty() && !data->machine(o.machine)) {  // nothing was measured there
    data->machines.push_back(o.machine);
    for (auto& w : data->workloads) w.seconds.push_back(std::nan(""));
  }
  CounterProblem problem{.data = &*data};
  if (!o.data_sheet.empty() && !read_data_sheet(o.data_sheet, problem, in_sheet)) return print(in_sheet), kBadInput;
  std::size_t most = *std::max_element(o.adaptation.samples.begin(), o.adaptation.samples.end());
  const bool one_machine = !o.machine.empty();
  const std::size_t machine = one_machine ? data->machine(o.machine).value() : 0;
  if (one_machine) {
    most = static_cast<std::size_t>(std::count_if(data->workloads.begin(), data->workloads.end(),
                                                  [&](const auto& w) { return !std::isnan(w.seconds[machine]); }));
    if (most == data->workloads.size())
      return fail(
          kBadInput,
          fmt::format("{}: every workload was measured on '{}'; without --machine the learning curve is printed",
                      o.data, o.machine));
  }
  const auto known = known_machines(o, *data, most);
  if (!known) return o.machines.empty() ? kBadInput : kBadUsage;
  if (known->size() < (one_machine ? 1U : 3U))
    return fail(
        kBadInput,
        fmt::format("{}: a learning curve wants times on three machines, a new machine one that is known", o.data));
  if (one_machine) {
    out->write(predictions(o, problem, *known, machine));
  } else {
    const auto curve = learning_curve(problem, *known, o.adaptation);
    out->write(o.json ? curve_json(curve).dump(2) + "\n" : curve_text(curve, o.markdown));
  }
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command counters_adapt_command() {
  auto o = std::make_shared<CountersAdaptArguments>();
  Command c{"adapt",
            "Predict times on a machine of which few are known, or print how well that goes (docs/counters.md)",
            [o] { return run_counters_adapt(*o); }};
  c.option("--data", o->data, "CSV of workloads: work and times on machines (docs/counters.md)").required();
  c.option("--data-sheet", o->data_sheet,
           "CSV with machine,work,units_per_s: what machines do at their peak (data/counters/aiwc_machines.csv)");
  c.option("--machine", o->machine,
           "The new machine: predict what was not measured there; nothing need be [leave out each machine in turn]");
  c.option("--machines", o->machines, "Machines to know from, comma-separated [all others]").separated_by(',');
  c.option("--samples", o->adaptation.samples,
           "Points of the learning curve: how many workloads are measured on the machine [0,1,2,5,10,20]")
      .separated_by(',')
      .must_be(WholeBetween{0, 100000});
  c.option("--seeds", o->adaptation.seeds, "Draws of measured workloads [5]").must_be(WholeBetween{1, 1000});
  c.option("--seed", o->adaptation.first_seed, "Of the first draw [1]");
  c.option("--json", o->json, "As JSON");
  c.option("--markdown", o->markdown, "As a Markdown table");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  return c;
}

}  // namespace perfc::cli
