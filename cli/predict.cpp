#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/answers.h"
#include "pipeline/reports.h"

namespace perfc::cli {
namespace {

struct PredictArguments : AnswerOptions {
  std::string output;
  bool fail_on_oom = false;
};

/// What all models of a call have in common.
struct Job {
  const PredictArguments& o;
  Request request;  ///< but for its model and batch
  std::vector<std::optional<std::int64_t>> batches;
  std::vector<Device> devices;
  const Emit& emit;
  std::unique_ptr<Predictor> predictor;  ///< of reports
  Output out;
};

/// A model at one batch: its reports, or none where the text of its graph was written.
Result<std::vector<Report>> predict_batch(Job& job, ModelFile& file, Request request, Diagnostics& diags) {
  if (job.emit.of_reports)
    return reports_at(file, job.devices, *job.predictor, request, job.emit, job.o, job.batches.size(), diags);
  const auto graph = file.at(request, diags);
  if (!graph) return Failure{};
  const auto text = job.emit.of_graph({job.o, request, *graph, job.devices, diags});
  if (!text) return Failure{};
  job.out.write(*text);
  return std::vector<Report>{};
}

/// A model at every batch: its reports go to `reports`. False: something could not be predicted, which was said.
bool predict_model(Job& job, const std::string& model, std::vector<Report>& reports) {
  Request request = job.request;
  request.model = model;
  const std::string name = model == "-" ? "<stdin>" : model;
  Diagnostics opening(name);
  auto file = ModelFile::open(request, opening);
  if (!file) {
    print(opening);
    return false;
  }
  bool good = true;
  std::vector<std::vector<Report>> of_batches;
  std::set<std::string> said;  // of all batches, each warning once
  for (const auto& batch : job.batches) {
    request.batch = batch;
    Diagnostics diags(name);
    auto found = predict_batch(job, *file, request, diags);
    if (!found) {
      print(diags);
      good = false;
      continue;
    }
    if (!job.o.quiet) print_new_warnings(diags, said);
    of_batches.push_back(std::move(*found));
  }
  std::ranges::move(by_device(std::move(of_batches)), std::back_inserter(reports));
  return good;
}

int run_predict(const PredictArguments& o) {
  const auto request = to_request(o, Batches::Several);
  if (!request) return kBadUsage;
  Diagnostics usage;
  const Emit* emit = emit_of(o, usage);
  if (!emit) return fail(kBadUsage, usage.all().front().message);
  if (o.fail_on_oom && !emit->of_reports)
    return fail(kBadUsage, fmt::format("--fail-on-oom: --emit={} predicts no memory", o.emit));
  // Devices are checked before models are read: a typo costs nothing.
  int code = kFine;
  auto devices = devices_of(o, *request, code);
  if (!devices) return code;
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  Job job{o, *request, to_batches(o), std::move(*devices), *emit, nullptr, std::move(*out)};
  if (emit->of_reports) {
    Diagnostics diags;
    auto found = find_predictor(*request, diags);
    print(diags);
    if (!found) return kBadInput;
    job.predictor = std::move(*found);
  }
  std::vector<Report> reports;
  code = kFine;
  for (const std::string& model : o.models) {
    if (!predict_model(job, model, reports)) code = kBadInput;
  }
  if (emit->of_reports && reports.empty()) return code;
  if (emit->of_reports) job.out.write(emit->of_reports(reports, o, colour_for(job.out)));
  if (!job.out.commit()) return kBadInput;
  const bool too_large = std::ranges::any_of(reports, [](const Report& r) { return !r.fits(); });
  return code == kFine && o.fail_on_oom && too_large ? int{kBudgetExceeded} : code;
}

}  // namespace

Command predict_command() {
  auto o = std::make_shared<PredictArguments>();
  Command c{"predict", "Latency, memory, energy and MIG slice of models (the default)",
            [o] { return run_predict(*o); }};
  add_predict_options(c, *o, Batches::Several);
  add_answer_options(c, *o);
  c.option("-o,--output", o->output, "Write to a file instead of standard output").that_names(Names::File);
  c.option("--fail-on-oom", o->fail_on_oom, "Exit with 3 where a device's memory does not hold the run");
  return c;
}

}  // namespace perfc::cli
