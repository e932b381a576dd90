#include "learning/pmgns_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "ir/support/output_file.h"
#include "learning/held_out.h"
#include "learning/pmgns_data.h"
#include "learning/pmgns_predictor.h"

namespace perfc {

namespace {

/// What a recipe trains with.
struct RecipeRow {
  std::size_t batch;
  double learning_rate;
  Schedule::Shape schedule;
  LossKind loss;
};
constexpr std::array<RecipeRow, 2> kRecipes{
    {{kPmgnsBatch, kPmgnsLearningRate, Schedule::Shape::Constant, LossKind::Huber},
     {16, 1e-3, Schedule::Shape::Cosine, LossKind::LogRatio}}};
constexpr std::string_view kInterval = "latency_interval_factor";
constexpr std::size_t kFewestForInterval = 10;

std::string joined(const std::set<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// Everything that a run needs, made from a request.
class PmgnsSession {
 public:
  static Result<std::unique_ptr<PmgnsSession>> open(const TrainRequest& r, Diagnostics& diags) {
    auto s = std::unique_ptr<PmgnsSession>(new PmgnsSession(r));
    Diagnostics in_labels(r.data);
    auto dataset = read_dataset(r.data, in_labels);
    if (dataset) {
      s->dataset_ = std::move(*dataset);
      keep(s->dataset_, r.filter);
      if (s->dataset_.labels.empty()) in_labels.error("no label ran in the chosen setting");
    }
    const bool readable = in_labels.errors() == 0;
    Result<PmgnsData> data = Failure{};
    if (readable && s->read_split(diags))
      data = pmgns_data(s->dataset_, s->split_, r.pmgns.recipe, r.threads, in_labels);
    diags.append(in_labels);
    if (!data) return Failure{};
    s->data_ = std::move(*data);
    s->build(*find_pmgns(r.model));
    return s;
  }

  TrainingTask& task() { return *task_; }
  const PmgnsData& data() const { return data_; }

  TrainOptions options() const {
    const TrainRequest& r = request_;
    return {.epochs = r.epochs,
            .batch = r.batch.value_or(recipe().batch),
            .seed = r.seed,
            .threads = r.threads,
            .schedule = {.shape = r.schedule.value_or(recipe().schedule),
                         .peak = r.learning_rate.value_or(recipe().learning_rate)},
            .patience = r.patience,
            .state_path = r.out + ".state",
            .identity = {{"labels", fmt::format("{:016x}", dataset_.hash)},
                         {"model", r.model},
                         {"recipe", std::string(kRecipeNames[static_cast<std::size_t>(r.pmgns.recipe)])}},
            .save_every = r.save_every,
            .log_path = r.log,
            .on_step = r.on_step};
  }

  Checkpoint checkpoint(const TrainReport& report) {
    std::set<std::string> sources, licences;
    for (const Label& l : dataset_.labels) {
      sources.insert(l.source.empty() ? "not stated" : l.source);
      licences.insert(l.licence.empty() ? "not stated" : l.licence);
    }
    const TrainOptions o = options();
    Checkpoint c{.model = request_.model, .tables = data_.tables, .outputs = data_.outputs};
    c.settings = {{"graph_hidden", static_cast<double>(network_.graph_hidden)},
                  {"linear_hidden", static_cast<double>(network_.linear_hidden)}};
    if (const auto factor = interval()) c.settings[std::string(kInterval)] = *factor;
    c.provenance = {
        {"setting", setting_of(dataset_.labels.front())},
        {"labels", fmt::format("{} training, {} validation, hash {:016x}", data_.training.size(),
                               data_.validation.size(), dataset_.hash)},
        {"split", request_.split.empty() ? fmt::format("random by architecture, seed {}", request_.seed)
                                         : std::filesystem::path(request_.split).filename().string()},
        {"sources", joined(sources)},
        {"licences", joined(licences)},
        {"recipe", std::string(kRecipeNames[static_cast<std::size_t>(request_.pmgns.recipe)])},
        {"optimiser", fmt::format("Adam, {} {}, batch {}", name(o.schedule.shape), o.schedule.peak, o.batch)},
        {"seed", fmt::format("{}", request_.seed)},
        {"epochs", fmt::format("{}", request_.epochs)},
        {"best_epoch", fmt::format("{}", report.best_epoch)}};
    c.tensors = save(task_->parameters());
    return c;
  }

 private:
  explicit PmgnsSession(const TrainRequest& r) : request_(r) {}
  const RecipeRow& recipe() const { return kRecipes[static_cast<std::size_t>(request_.pmgns.recipe)]; }

  Status read_split(Diagnostics& diags) {
    if (request_.split.empty()) {
      split_ = random_split(dataset_, request_.seed);
      return ok();
    }
    Diagnostics in_split(request_.split);
    auto split = perfc::read_split(request_.split, dataset_, in_split);
    diags.append(in_split);
    if (!split) return Failure{};
    split_ = std::move(*split);
    return ok();
  }

  void build(PmgnsOptions network) {
    network.outputs = data_.outputs.size();
    network_ = network;
    model_ = std::make_unique<Pmgns<float>>(network);
    initialise(parameters<float>(*model_), Random(request_.seed).stream("weights"));
    task_ = std::make_unique<GraphTask>(*model_, data_.training, data_.validation,
                                        Loss{.kind = request_.pmgns.loss.value_or(recipe().loss)});
  }

  /// The factor around the prediction that holds 90 % of the measured latencies: split
  /// conformal prediction (Vovk, Gammerman, Shafer 2005) on the validation part, or on
  /// the training part where that is too small.
  std::optional<double> interval() {
    const auto output = std::find_if(data_.outputs.begin(), data_.outputs.end(),
                                     [](const OutputColumn& o) { return o.name == "latency"; });
    if (output == data_.outputs.end()) return {};
    const auto column = static_cast<std::size_t>(output - data_.outputs.begin());
    std::vector<double> factors = factors_of(data_.validation, column);
    if (factors.size() < kFewestForInterval) factors = factors_of(data_.training, column);
    if (factors.empty()) return {};
    std::sort(factors.begin(), factors.end());
    const auto rank = static_cast<std::size_t>(std::ceil(kIntervalShare * static_cast<double>(factors.size() + 1)));
    return factors[std::min(rank, factors.size()) - 1];
  }

  std::vector<double> factors_of(std::span<const GraphSample> samples, std::size_t column) {
    ThreadPool threads(request_.threads);
    std::vector<double> factors;
    for (const GraphSample& s : samples) {
      if (std::isnan(s.targets[column])) continue;
      const std::vector<double> outputs = run(*model_, s, threads);
      factors.push_back(std::exp(
          std::abs(std::log(std::max(outputs[column], kSmallestRatio) / static_cast<double>(s.targets[column])))));
    }
    return factors;
  }

  const TrainRequest& request_;
  Dataset dataset_;
  Split split_;
  PmgnsData data_;
  PmgnsOptions network_;
  std::unique_ptr<Pmgns<float>> model_;
  std::unique_ptr<GraphTask> task_;
};

}  // namespace

Result<TrainOutcome> train_pmgns(const TrainRequest& request, Communicator& ranks, Diagnostics& diags) {
  Result<OutputFile> file = ranks.rank() == 0 ? OutputFile::open(request.out, diags) : Failure{};
  if (ranks.rank() == 0 && !file) return Failure{};
  auto session = PmgnsSession::open(request, diags);
  if (!session) return Failure{};
  const TrainOptions options = (*session)->options();
  std::error_code error;
  if (request.resume == Resume::No && ranks.rank() == 0) std::filesystem::remove(options.state_path, error);
  double arrived = 1;
  ranks.sum(std::span(&arrived, 1));  // nobody looks for the state before it is gone
  auto report = train((*session)->task(), options, ranks, diags);
  if (!report) return Failure{};
  TrainOutcome outcome{std::move(*report), (*session)->data().training.size(), (*session)->data().validation.size(),
                       (*session)->data().left_out};
  if (outcome.report.ending == Ending::Stopped || ranks.rank() != 0) return outcome;
  if (!file->commit(write_checkpoint((*session)->checkpoint(outcome.report)), diags)) return Failure{};
  std::filesystem::remove(options.state_path, error);
  return outcome;
}

Result<RangeTest> find_pmgns_rate(const TrainRequest& request, Diagnostics& diags) {
  auto session = PmgnsSession::open(request, diags);
  if (!session) return Failure{};
  const TrainOptions o = (*session)->options();
  return find_learning_rate((*session)->task(),
                            {.batch = o.batch, .seed = o.seed, .threads = o.threads, .adam = o.adam}, diags);
}

}  // namespace perfc
