#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/counters/counters.h"
#include "cli/counters/models.h"

namespace perfc::cli {
namespace {

struct CountersTrainArguments {
  std::string data, reference, data_sheet, out, split = "application", licence, model = "perfc";
  VaeOptionsGiven vae;
  std::vector<std::string> machines;
  std::uint64_t seed = 1;
};

std::vector<std::string> stored_model_names() {
  std::vector<std::string> names;
  for (const StoredModelRow& r : stored_model_table()) names.emplace_back(r.name);
  return names;
}

int run_counters_train(const CountersTrainArguments& o) {
  const auto table = stored_model_table();
  const StoredModelRow& model =
      *std::find_if(table.begin(), table.end(), [&](const StoredModelRow& r) { return r.name == o.model; });
  const auto vae = vae_training(o.vae, {o.model});
  if (!vae) return kBadUsage;
  Diagnostics diags(o.data), in_sheet(o.data_sheet), in_out;
  auto file = OutputFile::open(o.out, in_out);
  if (!file) return print(in_out), kBadInput;
  const auto data = read_counter_dataset(o.data, diags);
  if (!data) return print(diags), kBadInput;
  auto problem = make_problem(*data, o.machines, o.reference, diags);
  if (problem && !o.data_sheet.empty() && !read_data_sheet(o.data_sheet, *problem, in_sheet))
    return print(in_sheet), kBadInput;
  const SplitKind kind = split_kind(o.split);
  const auto predictor = problem && check_split(*data, kind, diags)
                             ? CounterPredictor::train(model, *vae, *problem, kind, o.seed, diags)
                             : Failure{};
  print(diags);
  if (!predictor) return kBadInput;
  const auto rows = problem->measured().size();
  const Checkpoint c = predictor->checkpoint({{"data", fmt::format("{:016x}", data->hash)},
                                              {"licence", o.licence},
                                              {"seed", std::to_string(o.seed)},
                                              {"validation", o.split},
                                              {"workloads", std::to_string(rows)}});
  if (!file->commit(write_checkpoint(c), in_out)) return print(in_out), kBadInput;
  const std::string findings = predictor->findings();
  auto out = Output::open("");
  out->write(fmt::format("{}: {} trained on {} workloads for {}{}{}\n", o.out, o.model, rows,
                         fmt::join(predictor->machines(), ", "), findings.empty() ? "" : "; ", findings));
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command counters_train_command() {
  auto o = std::make_shared<CountersTrainArguments>();
  Command c{"train", "Train a predictor of relative performance on all workloads of a dataset (docs/counters.md)",
            [o] { return run_counters_train(*o); }};
  c.option("--data", o->data, "CSV of workloads: counters, work and times (docs/counters.md)").required();
  c.option("-o,--out", o->out, "Checkpoint to write").required();
  c.option("--machines", o->machines, "Machines to predict, comma-separated [all]").separated_by(',');
  c.option("--reference", o->reference,
           "Machine whose times are known; the others are relative to it [none: to their mean]");
  c.option("--data-sheet", o->data_sheet, "CSV with machine,work,units_per_s: what machines do at their peak");
  c.option("--model", o->model, fmt::format("Of {} [perfc]", fmt::join(stored_model_names(), ", ")))
      .must_be(OneOf{stored_model_names()});
  add_vae_options(c, o->vae);
  c.option("--validation", o->split,
           fmt::format("What validation holds back, as what is to be predicted will be new: {} [application]",
                       fmt::join(split_names(), ", ")))
      .must_be(OneOf{split_names()});
  c.option("--licence", o->licence, "Of the data, for the checkpoint");
  c.option("--seed", o->seed, "Of validation and trees [1]");
  return c;
}

}  // namespace perfc::cli
