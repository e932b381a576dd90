#include "counters/models/counter_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "counters/data/name_words.h"

namespace perfc {
namespace {

/// Likely values of what a workload lacks that its interval comes from.
constexpr std::size_t kDraws = 200;
constexpr std::uint64_t kDrawSeed = 1;
/// Parts that are held back in turn for the interval of models that hold nothing back themselves.
constexpr std::size_t kFolds = 4;
/// In ln: more is no statement about a time.
constexpr double kMostInterval = 100;

std::vector<std::optional<std::size_t>> positions(const std::vector<Column>& wanted, const std::vector<Column>& given) {
  std::vector<std::optional<std::size_t>> at;
  for (const Column& w : wanted) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const Column& g) { return g.name == w.name; });
    at.push_back(found == given.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - given.begin())));
  }
  return at;
}

/// Of a model whose `fit` holds nothing back: what nine of ten errors are within when others like it are.
Result<double> held_back_interval(const StoredModelRow& row, const VaeTraining& how, const CounterProblem& p,
                                  std::span<const std::size_t> rows, SplitKind kind, const Random& random,
                                  Diagnostics& diags) {
  FeatureMatrix target{0, p.machines.size(), {}}, predicted = target;
  for (const auto& part : held_back(*p.data, rows, kind, kFolds, random.stream("interval"))) {
    const auto rest = without(rows, part);
    if (rest.empty()) return diags.error("one application alone cannot be held back for the interval");
    const auto model = row.make(how);
    if (!model->fit(p, rest, kind, random.stream("interval fit"), diags)) return Failure{};
    const FeatureMatrix y = p.target(part), of_part = model->predict(p, part);
    target.values.insert(target.values.end(), y.values.begin(), y.values.end());
    predicted.values.insert(predicted.values.end(), of_part.values.begin(), of_part.values.end());
  }
  return std::min(nine_of_ten(target, predicted), kMostInterval);
}

CounterProblem problem_of(const CounterDataset& d, std::size_t machines, bool with_reference) {
  CounterProblem p{.data = &d};
  for (std::size_t m = 0; m < machines; ++m) p.machines.push_back(m);
  if (with_reference) p.reference = machines;
  return p;
}

}  // namespace

Result<CounterPredictor> CounterPredictor::train(const StoredModelRow& row, const VaeTraining& how,
                                                 const CounterProblem& p, SplitKind kind, std::uint64_t seed,
                                                 Diagnostics& diags) {
  CounterPredictor out;
  out.kind_ = row.checkpoint;
  out.model_ = row.make(how);
  out.names_.counters = p.data->counters;
  out.names_.work = p.data->work;
  for (const std::size_t m : p.machines) out.machines_.push_back(p.data->machines[m]);
  if (p.reference) out.reference_ = p.data->machines[*p.reference];
  out.names_.machines = out.machines_;
  if (p.reference) out.names_.machines.push_back(out.reference_);
  const std::vector<std::size_t> rows = p.measured();
  if (!out.model_->fit(p, rows, kind, Random(seed), diags)) return Failure{};
  const auto interval = out.model_->interval() ? Result<double>(*out.model_->interval())
                                               : held_back_interval(row, how, p, rows, kind, Random(seed), diags);
  if (!interval) return Failure{};
  out.interval_ = *interval;
  out.likely_ = LikelyInputs::fit(*p.data, rows, p.reference);
  return out;
}

Checkpoint CounterPredictor::checkpoint(std::map<std::string, std::string> provenance) const {
  Checkpoint c{.model = std::string(kind_)};
  c.tables = {{"counters", names_.counters, {}}, {"work", names_.work, {}}};
  for (const std::string& m : machines_) c.outputs.push_back({m, "ln of relative time", 1});
  provenance["reference"] = reference_;
  c.provenance = std::move(provenance);
  model_->save(c);
  c.settings["interval"] = interval_;
  likely_.save(c.tensors);
  return c;
}

Result<CounterPredictor> CounterPredictor::open(const std::string& path, Diagnostics& diags) {
  const auto c = read_checkpoint(path, diags);
  return c ? of_checkpoint(*c, diags) : Failure{};
}

Result<CounterPredictor> CounterPredictor::parse(std::string_view bytes, Diagnostics& diags) {
  const auto c = parse_checkpoint(bytes, diags);
  return c ? of_checkpoint(*c, diags) : Failure{};
}

Result<CounterPredictor> CounterPredictor::of_checkpoint(const Checkpoint& c, Diagnostics& diags) {
  const auto table = stored_model_table();
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const StoredModelRow& r) { return r.checkpoint == c.model; });
  if (row == table.end())
    return diags.error(
        fmt::format("holds the model '{}', which is none of relative performance", c.model.substr(0, 80)));
  if (c.tables.size() != 2 || c.tables[0].name != "counters" || c.tables[1].name != "work" || c.outputs.empty()) {
    return diags.error("checkpoint: wants the tables 'counters' and 'work', and outputs");
  }
  if (c.tables[0].columns.size() > kMostCounters || c.tables[1].columns.size() > kMostWork) {
    return diags.error(fmt::format("checkpoint: more than {} counters or {} kinds of work", kMostCounters, kMostWork));
  }
  CounterPredictor out;
  out.names_.counters = c.tables[0].columns;
  out.names_.work = c.tables[1].columns;
  for (const OutputColumn& o : c.outputs) out.machines_.push_back(o.name);
  if (const auto r = c.provenance.find("reference"); r != c.provenance.end()) out.reference_ = r->second;
  out.names_.machines = out.machines_;
  if (!out.reference_.empty()) out.names_.machines.push_back(out.reference_);
  const auto interval = c.settings.find("interval");
  if (interval == c.settings.end() || !(interval->second >= 0 && interval->second <= kMostInterval))
    return diags.error("checkpoint: interval is missing or out of range");
  out.interval_ = interval->second;
  out.kind_ = row->checkpoint;
  out.model_ = row->make({});
  if (!out.model_->restore(out.names_, out.machines_.size(), c, diags)) return Failure{};
  auto likely = LikelyInputs::restore(c.tensors, out.names_.counters.size(), out.names_.work.size(),
                                      !out.reference_.empty(), diags);
  if (!likely) return Failure{};
  out.likely_ = std::move(*likely);
  return out;
}

CounterDataset CounterPredictor::aligned(const CounterDataset& d) const {
  const auto counters = positions(names_.counters, d.counters), work = positions(names_.work, d.work);
  const auto reference = reference_.empty() ? std::nullopt : d.machine(reference_);
  CounterDataset out = names_;
  for (const CounterDataset::Workload& w : d.workloads) {
    CounterDataset::Workload& a = out.workloads.emplace_back();
    a.loc = w.loc;
    a.name = w.name;
    a.region = w.region;
    for (const auto& c : counters) a.counters.push_back(c ? w.counters[*c] : kMissing);
    for (const auto& k : work) a.work.push_back(k ? w.work[*k] : kMissing);
    a.seconds.assign(names_.machines.size(), kMissing);
    if (reference) a.seconds.back() = w.seconds[*reference];
  }
  return out;
}

WorkloadPrediction CounterPredictor::predict_one(const CounterDataset::Workload& w) const {
  WorkloadPrediction out{.workload = w.name};
  const auto named = words_of(w.region);
  for (std::string& word : model_->words()) {
    if (std::binary_search(named.begin(), named.end(), word)) out.words.push_back(std::move(word));
  }
  for (std::size_t c = 0; c < w.counters.size(); ++c) {
    if (std::isnan(w.counters[c])) out.missing.push_back("counter:" + names_.counters[c].name);
  }
  for (std::size_t k = 0; k < w.work.size(); ++k) {
    if (std::isnan(w.work[k])) out.missing.push_back("work:" + names_.work[k].name);
  }
  if (!reference_.empty() && std::isnan(w.seconds.back())) out.missing.push_back("time:" + reference_);

  CounterDataset likely = names_;
  likely.workloads = likely_.complete(w, kDraws, Random(kDrawSeed));
  std::vector<std::size_t> rows(likely.workloads.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const CounterProblem problem = problem_of(likely, machines_.size(), !reference_.empty());
  const FeatureMatrix y = model_->predict(problem, rows);
  out.log_base_s = model_->base(problem, 0);
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    const double at = y.at(0, m);
    std::vector<double> drawn;
    for (std::size_t r = 1; r < y.rows; ++r) {
      if (std::isfinite(y.at(r, m))) drawn.push_back(y.at(r, m));
    }
    std::sort(drawn.begin(), drawn.end());
    // 9 of 10 draws lie between these; draws and the model's own error are independent.
    const double below = drawn.empty() ? 0 : std::max(at - drawn[drawn.size() / 20], 0.0);
    const double above = drawn.empty() ? 0 : std::max(drawn[drawn.size() - 1 - drawn.size() / 20] - at, 0.0);
    out.machines.push_back({machines_[m], at, at - std::hypot(interval_, below), at + std::hypot(interval_, above)});
  }
  if (!reference_.empty()) out.machines.push_back({reference_, 0, 0, 0});
  return out;
}

std::vector<WorkloadPrediction> CounterPredictor::predict(const CounterDataset& aligned) const {
  std::vector<WorkloadPrediction> all;
  for (const CounterDataset::Workload& w : aligned.workloads) all.push_back(predict_one(w));
  return all;
}

}  // namespace perfc
