#include "counters/models/counter_predictor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace perfc {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::optional<std::size_t>> positions(const std::vector<Column>& wanted, const std::vector<Column>& given) {
  std::vector<std::optional<std::size_t>> at;
  for (const Column& w : wanted) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const Column& g) { return g.name == w.name; });
    at.push_back(found == given.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - given.begin())));
  }
  return at;
}

CounterProblem problem_of(const CounterDataset& d, std::size_t machines, bool with_reference) {
  CounterProblem p{.data = &d};
  for (std::size_t m = 0; m < machines; ++m) p.machines.push_back(m);
  if (with_reference) p.reference = machines;
  return p;
}

}  // namespace

Result<CounterPredictor> CounterPredictor::train(const CounterProblem& p, SplitKind kind, std::uint64_t seed, Diagnostics& diags) {
  CounterPredictor out;
  out.names_.counters = p.data->counters;
  out.names_.work = p.data->work;
  for (const std::size_t m : p.machines) out.machines_.push_back(p.data->machines[m]);
  if (p.reference) out.reference_ = p.data->machines[*p.reference];
  out.names_.machines = out.machines_;
  if (p.reference) out.names_.machines.push_back(out.reference_);
  if (!out.model_.fit(p, p.measured(), kind, Random(seed), diags)) return Failure{};
  return out;
}

Checkpoint CounterPredictor::checkpoint(std::map<std::string, std::string> provenance) const {
  Checkpoint c{.model = std::string(kCounterModelName)};
  c.tables = {{"counters", names_.counters, {}}, {"work", names_.work, {}}};
  for (const std::string& m : machines_) c.outputs.push_back({m, "ln of relative time", 1});
  provenance["reference"] = reference_;
  c.provenance = std::move(provenance);
  model_.save(c.tensors, c.settings);
  return c;
}

Result<CounterPredictor> CounterPredictor::open(const std::string& path, Diagnostics& diags) {
  const auto c = read_checkpoint(path, diags);
  if (!c) return Failure{};
  if (c->model != kCounterModelName) return diags.error(fmt::format("holds the model '{}', not '{}'", c->model.substr(0, 80), kCounterModelName));
  if (c->tables.size() != 2 || c->tables[0].name != "counters" || c->tables[1].name != "work" || c->outputs.empty()) {
    return diags.error("checkpoint: wants the tables 'counters' and 'work', and outputs");
  }
  CounterPredictor out;
  out.names_.counters = c->tables[0].columns;
  out.names_.work = c->tables[1].columns;
  for (const OutputColumn& o : c->outputs) out.machines_.push_back(o.name);
  if (const auto r = c->provenance.find("reference"); r != c->provenance.end()) out.reference_ = r->second;
  out.names_.machines = out.machines_;
  if (!out.reference_.empty()) out.names_.machines.push_back(out.reference_);
  if (!out.model_.restore(out.names_, out.machines_.size(), c->tensors, c->settings, diags)) return Failure{};
  return out;
}

Result<std::vector<std::vector<RelativeTime>>> CounterPredictor::predict(const CounterDataset& d, Diagnostics& diags) const {
  const auto counters = positions(names_.counters, d.counters), work = positions(names_.work, d.work);
  for (std::size_t k = 0; k < work.size(); ++k) {
    if (!work[k]) return diags.error(fmt::format("the column 'work:{}' is missing, which the model needs", names_.work[k].name));
  }
  const auto reference = reference_.empty() ? std::nullopt : d.machine(reference_);
  if (!reference_.empty() && !reference) {
    return diags.error(fmt::format("the column 'time:{}' is missing: the model predicts times relative to it", reference_));
  }
  if (const auto lacking = std::count(counters.begin(), counters.end(), std::nullopt); lacking > 0) {
    diags.warning(fmt::format("{} of the model's {} counters are missing", lacking, counters.size()));
  }
  CounterDataset aligned = names_;
  std::vector<std::size_t> rows;
  for (const CounterDataset::Workload& w : d.workloads) {
    CounterDataset::Workload& a = aligned.workloads.emplace_back();
    a.name = w.name;
    for (const auto& c : counters) a.counters.push_back(c ? w.counters[*c] : kMissing);
    for (const auto& k : work) a.work.push_back(w.work[*k]);
    a.seconds.assign(names_.machines.size(), kMissing);
    if (reference) {
      a.seconds.back() = w.seconds[*reference];
      if (std::isnan(a.seconds.back())) return diags.error(w.loc, {}, fmt::format("time:{}: '{}' was not measured there", reference_, w.name));
    }
    rows.push_back(rows.size());
  }
  const FeatureMatrix y = model_.predict(problem_of(aligned, machines_.size(), !reference_.empty()), rows);
  std::vector<std::vector<RelativeTime>> all;
  for (std::size_t r = 0; r < y.rows; ++r) {
    auto& of_row = all.emplace_back();
    for (std::size_t m = 0; m < machines_.size(); ++m) {
      of_row.push_back({machines_[m], y.at(r, m), y.at(r, m) - model_.interval(), y.at(r, m) + model_.interval()});
    }
    if (reference) of_row.push_back({reference_, 0, 0, 0});
  }
  return all;
}

}  // namespace perfc
