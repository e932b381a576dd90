#include <fmt/format.h>

#include "cli/cli.h"
#include "ir/support/csv.h"
#include "learning/evaluation.h"

namespace perfc::cli {
namespace {

struct EvalArguments {
  std::string predictor = "default", data, split, device_file, host, predictions, plot, output;
  LabelFilter filter;
  std::uint64_t seed = 1;
  std::size_t threads = 0;
  bool markdown = false, quiet = false;
};

/// Predicts every label; those that cannot be predicted stay empty and are counted.
struct Estimates {
  std::vector<Estimate> of;
  std::size_t left_out = 0;
};

/// Devices by name; a name that is not known is reported once per label's line.
Result<std::map<std::string, Device>> devices_of_labels(const Dataset& dataset, const EvalArguments& o,
                                                        Diagnostics& diags) {
  std::map<std::string, Device> devices;
  for (const Label& l : dataset.labels) {
    if (devices.contains(l.device)) continue;
    auto d = find_devices({.devices = {l.device}, .device_file = o.device_file, .host = o.host}, diags);
    if (!d) return diags.error(l.loc, {}, "this row's device");
    devices.emplace(l.device, std::move(d->at(0)));
  }
  return devices;
}

Result<Estimates> estimate(const Predictor& predictor, const Dataset& dataset, const EvalArguments& o,
                           Diagnostics& diags) {
  const auto devices = devices_of_labels(dataset, o, diags);
  if (!devices) return Failure{};
  Estimates all{.of = std::vector<Estimate>(dataset.labels.size())};
  std::vector<std::string> failures(dataset.labels.size());
  const auto left_out = for_each_graph(
      dataset.labels, o.threads,
      [&](const Graph& graph, std::span<const std::size_t> labels) {
    for (const std::size_t i : labels) {
      const Label& l = dataset.labels[i];
      if (l.task != "infer") {
        failures[i] = fmt::format("no predictor of task '{}'", l.task);
        continue;
      }
      Diagnostics messages(l.model);
      const auto model = predictor.prepare(graph, l.exec, messages);
      if (!model) {
        failures[i] = messages.all().empty() ? "no prediction" : to_string(messages.all().front());
        continue;
      }
      const Prediction p = (*model)->on(devices->at(l.device));
      all.of[i] = {p.latency_ms, p.memory.total_mib(), p.energy_j, p.latency_lo_ms, p.latency_hi_ms};
    }
      },
      diags);
  if (!left_out) return Failure{};
  all.left_out = *left_out;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (failures[i].empty()) continue;
    ++all.left_out;
    diags.warning(dataset.labels[i].loc, {}, "left out: " + failures[i]);
  }
  return all;
}

/// One line per label of latency that was predicted.
std::string to_csv(const Dataset& dataset, const Split& split, std::span<const Estimate> estimates) {
  std::string out =
      "model,architecture,family,batch,device,dtype,mode,layout,norms,part,measured_ms,predicted_ms,lo_ms,hi_ms\n";
  for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
    const Label& l = dataset.labels[i];
    const Estimate& e = estimates[i];
    if (std::isnan(l.latency_ms) || std::isnan(e.latency_ms)) continue;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", csv_field(l.model),
                       csv_field(l.architecture), csv_field(l.family), l.batch ? fmt::to_string(*l.batch) : "",
                       csv_field(l.device), name(l.exec.precision), name(l.exec.mode), name(l.exec.layout),
                       name(l.exec.norms), kPartNames[static_cast<std::size_t>(split.at(l.architecture))], l.latency_ms,
                       e.latency_ms, e.latency_lo_ms, e.latency_hi_ms);
  }
  return out;
}

int run_eval(const EvalArguments& o) {
  Diagnostics in_checkpoint(o.predictor == kWhiteboxName || o.predictor == kDefaultName ? "" : o.predictor);
  const auto predictor = open_predictor(o.predictor, OpaquePolicy::Refuse, in_checkpoint);
  print(in_checkpoint);
  if (!predictor) return kBadInput;
  auto out = Output::open(o.output);
  auto predictions = o.predictions.empty() ? std::nullopt : Output::open(o.predictions);
  auto plot = o.plot.empty() ? std::nullopt : Output::open(o.plot);
  if (!out || (!predictions && !o.predictions.empty()) || (!plot && !o.plot.empty())) return kBadInput;

  Diagnostics in_labels(o.data), in_split(o.split);
  auto dataset = read_dataset(o.data, in_labels);
  if (dataset) {
    keep(*dataset, o.filter);
    if (dataset->labels.empty()) in_labels.error("no label ran in the chosen setting");
  }
  if (in_labels.errors() > 0) return print(in_labels), kBadInput;
  const auto split =
      o.split.empty() ? Result<Split>(random_split(*dataset, o.seed)) : read_split(o.split, *dataset, in_split);
  print(in_split);
  if (!split) return kBadInput;
  const auto estimates = estimate(**predictor, *dataset, o, in_labels);
  if (!o.quiet || !estimates) print(in_labels);
  if (!estimates) return kBadInput;
  out->write(to_table(evaluate(*dataset, *split, estimates->of), o.markdown ? TableStyle::Markdown : TableStyle::Text));
  if (estimates->left_out > 0) say("perfc: {} of {} labels left out\n", estimates->left_out, dataset->labels.size());
  if (predictions) {
    predictions->write(to_csv(*dataset, *split, estimates->of));
    if (!predictions->commit()) return kBadInput;
  }
  if (plot) {
    plot->write(to_svg(*dataset, *split, estimates->of));
    if (!plot->commit()) return kBadInput;
  }
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command eval_command() {
  auto o = std::make_shared<EvalArguments>();
  Command c{"eval", "Errors of a predictor on measured labels, per head, split and family",
            [o] { return run_eval(*o); }};
  c.option("predictor", o->predictor, "default, whitebox, or the path of a checkpoint [default]");
  c.option("--data", o->data, "Labels, a CSV file beside its model files (docs/gnn.md)").required();
  c.option("--split", o->split, "CSV with architecture,split (training, validation, test) [70/15/15 % by --seed]");
  c.option("--seed", o->seed, "Of the split that `perfc train` made with the same seed [1]");
  add_label_filter(c, o->filter);
  c.option("--device-file", o->device_file, "JSON file with devices of your own");
  c.option("--host", o->host,
           "What dispatched to them: a name of `perfc devices --hosts`, or a host file [the device's]");
  c.option("--threads", o->threads, "[one per core]").must_be(WholeBetween{0, 1024});
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  c.option("--predictions", o->predictions, "Also write every label's prediction and interval to a CSV file");
  c.option("--plot", o->plot, "Also draw measured against predicted latency, an SVG file");
  c.option("--markdown", o->markdown, "As a Markdown table");
  c.option("--quiet,-q", o->quiet, "Do not name the labels that are left out");
  return c;
}

}  // namespace perfc::cli
