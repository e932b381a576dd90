#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/counters/counters.h"
#include "cli/counters/models.h"
#include "counters/data/profile_workloads.h"
#include "counters/models/evaluation.h"
#include "ir/support/csv.h"

namespace perfc::cli {
namespace {

struct CountersEvalArguments {
  std::string data, reference, data_sheet, split = "application", output, predictions;
  std::vector<std::string> machines;
  CounterEvalOptions eval;
  VaeOptionsGiven vae;
  bool markdown = false, within = false, without_names = false;
};

std::vector<std::string> relative_model_names() {
  std::vector<std::string> names;
  for (const RelativeModelRow& r : relative_model_table()) names.emplace_back(r.name);
  return names;
}

std::string shown(const MetricRow& m, const MeanOverSeeds& e) {
  if (std::isnan(e.mean)) return "-";
  return m.shown == MetricRow::Shown::Percent ? fmt::format("{:.1f} ± {:.1f} %", 100 * e.mean, 100 * e.half_width)
                                              : fmt::format("{:.3f} ± {:.3f}", e.mean, e.half_width);
}

std::string table(const CountersEvalArguments& o, const std::vector<std::vector<MeanOverSeeds>>& values) {
  std::string out = o.markdown ? "| model |" : fmt::format("{:<10}", "model");
  for (const MetricRow& m : metric_table())
    out += o.markdown ? fmt::format(" {} |", m.name) : fmt::format(" {:>16}", m.name);
  if (o.markdown) {
    out += "\n|---|";
    for (std::size_t k = 0; k < metric_table().size(); ++k) out += "---|";
  }
  out += "\n";
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += o.markdown ? fmt::format("| {} |", o.eval.models[i]) : fmt::format("{:<10}", o.eval.models[i]);
    for (std::size_t k = 0; k < metric_table().size(); ++k) {
      const std::string cell = shown(metric_table()[k], values[i][k]);
      out += o.markdown ? fmt::format(" {} |", cell) : fmt::format(" {:>16}", cell);
    }
    out += "\n";
  }
  return out;
}

std::string predictions_csv(const CounterProblem& p, const std::vector<HeldBackPrediction>& all) {
  std::string out = "model,seed,workload,machine,predicted,measured\n";
  for (const HeldBackPrediction& h : all) {
    for (std::size_t m = 0; m < h.predicted.size(); ++m) {
      out += fmt::format("{},{},{},{},{:.6g},{:.6g}\n", h.model, h.seed, csv_field(p.data->workloads[h.workload].name),
                         csv_field(p.data->machines[p.machines[m]]), std::exp(h.predicted[m]), std::exp(h.measured[m]));
    }
  }
  return out;
}

int run_counters_eval(CountersEvalArguments& o) {
  if (o.eval.models.empty()) o.eval.models = relative_model_names();
  for (const std::string& name : o.eval.models) {
    if (find_relative_model(name)) continue;
    const std::string near = did_you_mean(name, relative_model_names());
    return fail(kBadUsage, fmt::format("--models: '{}' is none of {}{}", name, fmt::join(relative_model_names(), ", "),
                                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  const auto vae = vae_training(o.vae, o.eval.models);
  if (!vae) return kBadUsage;
  o.eval.vae = *vae;
  o.eval.on = o.within ? MeasuredOn::Training : MeasuredOn::HeldBack;
  o.eval.split = split_kind(o.split);
  if (o.eval.split == SplitKind::Random && o.eval.folds > 0)
    return fail(kBadUsage, "--folds: --split random holds a fifth back; kernel, application and suite have groups");
  auto out = Output::open(o.output);
  auto to_file = o.predictions.empty() ? std::nullopt : Output::open(o.predictions);
  if (!out || (!to_file && !o.predictions.empty())) return kBadInput;
  Diagnostics diags(o.data);
  auto data = read_counter_dataset(o.data, diags);
  if (!data) return print(diags), kBadInput;
  if (o.without_names) forget_names(*data);
  auto problem = make_problem(*data, o.machines, o.reference, diags);
  if (problem && !o.data_sheet.empty()) {
    Diagnostics in_sheet(o.data_sheet);
    const bool read = bool(read_data_sheet(o.data_sheet, *problem, in_sheet));
    print(in_sheet);
    if (!read) return kBadInput;
  }
  std::vector<HeldBackPrediction> predictions;
  const auto values =
      problem ? evaluate_counters(*problem, o.eval, diags, to_file ? &predictions : nullptr) : Failure{};
  print(diags);
  if (!values) return kBadInput;
  if (to_file) {
    to_file->write(predictions_csv(*problem, predictions));
    if (!to_file->commit()) return kBadInput;
  }
  out->write(table(o, *values));
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command counters_eval_command() {
  auto o = std::make_shared<CountersEvalArguments>();
  Command c{"eval", "Train and measure models of relative performance on a dataset (docs/counters.md)",
            [o] { return run_counters_eval(*o); }};
  c.option("--data", o->data, "CSV of workloads: counters, work and times (docs/counters.md)").required();
  c.option("--machines", o->machines, "Machines to predict, comma-separated [all]").separated_by(',');
  c.option("--reference", o->reference,
           "Machine whose times are known; the others are relative to it [none: to their mean]");
  c.option("--data-sheet", o->data_sheet,
           "CSV with machine,work,units_per_s: what machines do at their peak (data/counters/machines.csv)");
  c.option("--split", o->split, fmt::format("What is held back: {} [application]", described_splits()))
      .must_be(OneOf{split_names()});
  c.option("--folds", o->eval.folds,
           "Hold back this many groups of kernels, applications or suites in turn [each alone]")
      .must_be(WholeBetween{2, 1000});
  c.option("--without", o->eval.without, "Leave these applications out altogether, comma-separated").separated_by(',');
  c.option("--within", o->within,
           "Leave a fifth out for good and measure by five folds of the rest: for choosing models without a look at "
           "what is reported");
  c.option("--without-names", o->without_names,
           "Read no names of regions, nor work that they tell: what is counted alone");
  c.option("--models", o->eval.models, fmt::format("Of {} [all]", fmt::join(relative_model_names(), ", ")))
      .separated_by(',');
  add_vae_options(c, o->vae);
  c.option("--seeds", o->eval.seeds, "Repetitions, with seeds from --seed on [10]").must_be(WholeBetween{1, 1000});
  c.option("--seed", o->eval.first_seed, "Of splits and models [1]");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  c.option("--predictions", o->predictions, "CSV file for every prediction of what was held back, as relative times");
  c.option("--markdown", o->markdown, "As a Markdown table");
  return c;
}

}  // namespace perfc::cli
