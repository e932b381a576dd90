#include "learning/predictors.h"

#include <fmt/format.h>

#include <algorithm>

#include "learning/corrected.h"
#include "learning/corrected_training.h"
#include "learning/default_weights.h"
#include "learning/pmgns_predictor.h"
#include "learning/pmgns_training.h"
#include "pipeline/reports.h"

namespace perfc {
namespace {

constexpr LearnedPredictor kLearned[] = {
    {.models = [] { return std::vector{std::string(kCorrectedName)}; },
     .open = open_corrected,
     .train = train_corrected,
     .find_rate = find_corrected_rate,
     .options = "--device-file, --folds, --held-out, --leave-out-both and --keep-left-out",
     .has_options = [](const TrainRequest& r) { return r.corrected != CorrectedRequest{}; }},
    {.models = pmgns_names,
     .open = open_pmgns,
     .train = train_pmgns,
     .find_rate = find_pmgns_rate,
     .options = "--recipe and --loss",
     .has_options = [](const TrainRequest& r) { return r.pmgns != PmgnsRequest{}; }},
};

/// Of a request; null: said why.
const LearnedPredictor* find_trainable(const TrainRequest& request, Diagnostics& diags) {
  const LearnedPredictor* row = find_learned(request.model);
  if (!row) {
    diags.error(fmt::format("unknown model '{}'; there are {}", request.model, fmt::join(trainable_models(), ", ")));
  }
  return row;
}

}  // namespace

std::vector<std::string> trainable_models() {
  std::vector<std::string> names;
  for (const LearnedPredictor& row : kLearned) std::ranges::move(row.models(), std::back_inserter(names));
  return names;
}

const LearnedPredictor* find_learned(std::string_view model) {
  const auto row = std::ranges::find_if(kLearned, [&](const LearnedPredictor& p) {
    const auto names = p.models();
    return std::ranges::find(names, model) != names.end();
  });
  return row == std::end(kLearned) ? nullptr : &*row;
}

std::string unread_options(const TrainRequest& request) {
  for (const LearnedPredictor& row : kLearned) {
    if (&row == find_learned(request.model) || !row.has_options(request)) continue;
    return fmt::format("{} are options of {}; --model is {}", row.options, fmt::join(row.models(), ", "),
                       request.model);
  }
  return "";
}

Result<std::unique_ptr<Predictor>> open_predictor(const std::string& name_or_path, OpaquePolicy opaque,
                                                  Diagnostics& diags) {
  if (name_or_path == kWhiteboxName) return make_whitebox(opaque);
  auto checkpoint =
      name_or_path == kDefaultName ? parse_checkpoint(default_weights(), diags) : read_checkpoint(name_or_path, diags);
  if (!checkpoint) return Failure{};
  const LearnedPredictor* row = find_learned(checkpoint->model);
  if (!row) {
    return diags.error(fmt::format("unknown model '{}'; there are {}", checkpoint->model.substr(0, 80),
                                   fmt::join(trainable_models(), ", ")));
  }
  return row->open(std::move(*checkpoint), opaque, diags);
}

Result<std::vector<Report>> predict(const Request& request, Diagnostics& diags) {
  auto devices = find_devices(request, diags);
  if (!devices) return Failure{};
  auto file = ModelFile::open(request, diags);
  if (!file) return Failure{};
  const auto predictor = find_predictor(request, diags);
  if (!predictor) return Failure{};
  return full_reports(*file, *devices, **predictor, request, Alternatives::Untold, diags);
}

Result<std::unique_ptr<Predictor>> find_predictor(const Request& request, Diagnostics& diags) {
  Diagnostics in_checkpoint(request.predictor == kDefaultName ? "the built-in weights" : request.predictor);
  auto predictor = open_predictor(request.predictor, request.opaque, in_checkpoint);
  diags.append(in_checkpoint);
  return predictor;
}

Result<TrainOutcome> train(const TrainRequest& request, Communicator& ranks, Diagnostics& diags) {
  const LearnedPredictor* row = find_trainable(request, diags);
  return row ? row->train(request, ranks, diags) : Failure{};
}

Result<RangeTest> find_learning_rate(const TrainRequest& request, Diagnostics& diags) {
  const LearnedPredictor* row = find_trainable(request, diags);
  return row ? row->find_rate(request, diags) : Failure{};
}

}  // namespace perfc
