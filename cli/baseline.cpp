/// `perfc baseline`: figures to hold later versions against. docs/ci.md.
#include "compare/baseline.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/cli.h"
#include "compare/versions.h"

namespace perfc::cli {
namespace {

struct BaselineArguments : PredictOptions {
  std::string output;
};

int run_baseline(const BaselineArguments& o) {
  auto request = to_request(o, Batches::Several);
  if (!request) return kBadUsage;
  int code = kFine;
  const auto devices = devices_of(o, *request, code);
  if (!devices) return code;
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  Diagnostics diags;
  const auto predictor = find_predictor(*request, diags);
  print(diags);
  if (!predictor) return kBadInput;
  namespace fs = std::filesystem;
  const fs::path folder = o.output.empty() || o.output == "-" ? fs::path() : fs::path(o.output).parent_path();
  Baseline baseline;
  bool good = true;
  for (const std::string& model : o.models) {
    if (model == "-") return fail(kBadUsage, "baseline: a model from standard input has no name to be found by");
    Diagnostics of_model(model);
    request->model = model;
    auto file = ModelFile::open(*request, of_model);
    bool done = static_cast<bool>(file);
    for (const auto& batch : to_batches(o)) {
      if (!done) break;
      request->batch = batch;
      const auto version = predict_version(*file, *request, *devices, **predictor, of_model);
      done = static_cast<bool>(version);
      if (!done) break;
      const std::string name = fs::absolute(model)
                                   .lexically_normal()
                                   .lexically_relative(fs::absolute(folder / "x").lexically_normal().parent_path())
                                   .generic_string();
      for (std::size_t d = 0; d < devices->size(); ++d)
        baseline[printable(name)][baseline_key(version->reports[d])] = baseline_entry(*version, d);
    }
    if (done) print_warnings(of_model);
    else print(of_model);
    good = good && done;
  }
  if (!good) return kBadInput;  // half a baseline would pass what it lacks
  out->write(baseline_json(baseline));
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command baseline_command() {
  auto o = std::make_shared<BaselineArguments>();
  Command c{"baseline", "Write figures for `perfc check --baseline` to compare with", [o] { return run_baseline(*o); }};
  add_predict_options(c, *o, Batches::Several);
  c.option("-o,--output", o->output, "Write to a file instead of standard output; models are named relative to it");
  return c;
}

}  // namespace perfc::cli
