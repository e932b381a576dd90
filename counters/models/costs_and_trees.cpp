#include "counters/models/costs_and_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "counters/data/name_words.h"
#include "counters/models/tensors.h"

namespace perfc {
namespace {

constexpr std::size_t kGroupFolds = 4, kTreesOfFold = 50, kTreesInAll = 200;
/// Leaves of less would hold the builds of one kernel alone.
constexpr std::size_t kLeafRows = 3;
constexpr double kTriedColumns = 0.5;  ///< of all, at each node
/// Of the trees. The first stands unless it errs half as much again as another: folds of a few groups say little.
constexpr std::array<double, 3> kTreeShares{0.5, 0, 1};
constexpr double kClearlyBetter = 0.5;
/// Words of names have to gain this much of the error.
constexpr double kWordsBetter = 0.02;
constexpr const char* kTreesShare = "trees.share";

FeatureMatrix log_measured(const CounterProblem& p, std::span<const std::size_t> rows) {
  FeatureMatrix y{rows.size(), p.machines.size(), {}};
  for (const std::size_t r : rows) {
    for (const std::size_t m : p.machines) y.values.push_back(std::log(p.data->workloads[r].seconds[m]));
  }
  return y;
}

FeatureMatrix difference(FeatureMatrix y, const FeatureMatrix& less) {
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] -= less.values[i];
  return y;
}

FeatureMatrix peak_of(const CounterProblem& p) {
  FeatureMatrix peak{p.machines.size(), p.data->work.size(), {}};
  for (const std::size_t m : p.machines) {
    for (std::size_t k = 0; k < peak.columns; ++k) {
      const double seconds = p.data_sheet.empty() ? kMissing : p.data_sheet[m][k];
      peak.values.push_back(std::isnan(seconds) ? 0 : seconds);
    }
  }
  return peak;
}

/// The longest that one kind of work takes at the machine's peak.
double least_seconds(const FeatureMatrix& peak, std::size_t machine, std::span<const double> work) {
  double least = 0;
  for (std::size_t k = 0; k < work.size(); ++k) least = std::max(least, peak.at(machine, k) * work[k]);
  return least;
}

}  // namespace

CostsAndTrees::Parts CostsAndTrees::fit_parts(const CounterProblem& p, std::span<const std::size_t> rows,
                                              std::vector<Reading> readings, InputKind read, std::size_t trees,
                                              const Random& random) {
  Parts parts{.readings = std::move(readings),
              .inputs = CounterInputs::fit(*p.data, rows, read),
              .trees = {},
              .peak = peak_of(p)};
  for (Reading& r : parts.readings) r.costs = fit_machine_costs(p, rows, r.sharpness, r.kinds);
  parts.trees = Trees::fit(
      parts.inputs.rows(*p.data, rows),
      p.reference ? log_measured(p, rows) : difference(p.target(rows), by_costs(parts, p, rows)),
      {.kind = TreeOptions::Kind::Extra, .trees = trees, .least_leaf = kLeafRows, .column_share = kTriedColumns},
      random);
  return parts;
}

FeatureMatrix CostsAndTrees::log_seconds_by_costs(const Parts& parts, const CounterProblem& p,
                                                  std::span<const std::size_t> rows) {
  FeatureMatrix mean;
  double read = 0;
  for (const Reading& r : parts.readings) {
    FeatureMatrix y = predict_log_seconds(r.costs, p, rows);
    ++read;
    mean = mean.values.empty() ? std::move(y) : between(std::move(mean), y, 1 / read);
  }
  return mean;
}

FeatureMatrix CostsAndTrees::by_costs(const Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows) {
  return relative_to_base(p, rows, log_seconds_by_costs(parts, p, rows));
}

FeatureMatrix CostsAndTrees::by_trees(const Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows) {
  FeatureMatrix y = parts.trees.predict(parts.inputs.rows(*p.data, rows));
  if (!p.reference) {
    const FeatureMatrix costs = by_costs(parts, p, rows);
    for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += costs.values[i];
    return y;
  }
  for (std::size_t r = 0; r < y.rows; ++r) {
    for (std::size_t m = 0; m < y.columns; ++m) {
      const double least = least_seconds(parts.peak, m, p.data->workloads[rows[r]].work);
      if (least > 0) y.at(r, m) = std::max(y.at(r, m), std::log(least));
    }
  }
  return relative_to_base(p, rows, std::move(y));
}

Status CostsAndTrees::fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind kind,
                          const Random& random, Diagnostics&) {
  const auto folds = held_back(*p.data, rows, kind, kGroupFolds, random.stream("validation"));
  std::vector<Reading> readings{{.kinds = all_work(*p.data)}};
  const WorkKinds own = work_of_the_program(*p.data);
  const auto count = std::count(own.begin(), own.end(), true);
  if (count > 0 && count < static_cast<std::ptrdiff_t>(own.size())) readings.push_back({.kinds = own});
  for (Reading& r : readings) r.sharpness = choose_sharpness(p, rows, folds, r.kinds);

  InputKind read = InputKind::CountersAndWork;
  double least = std::numeric_limits<double>::infinity();
  for (const InputKind tried : {InputKind::CountersAndWork, InputKind::All}) {
    if (tried == InputKind::All && shared_words(*p.data, rows).empty()) continue;
    FeatureMatrix target, costs, trees;
    for (const auto& part : folds) {
      const Parts parts = fit_parts(p, without(rows, part), readings, tried, kTreesOfFold, random);
      append(target, p.target(part));
      append(costs, by_costs(parts, p, part));
      append(trees, by_trees(parts, p, part));
    }
    for (const double share : kTreeShares) {
      const FeatureMatrix y = between(costs, trees, share);
      const double error = absolute_error(target, y) * (share == kTreeShares[0] ? 1 : 1 + kClearlyBetter) *
                           (tried == InputKind::All ? 1 + kWordsBetter : 1);
      if (error >= least) continue;
      least = error, share_ = share, read = tried;
      interval_ = nine_of_ten(target, y);
    }
  }
  parts_ = fit_parts(p, rows, std::move(readings), read, kTreesInAll, random);
  return ok();
}

FeatureMatrix CostsAndTrees::predict(const CounterProblem& p, std::span<const std::size_t> rows) const {
  FeatureMatrix y = by_costs(parts_, p, rows);
  return share_ > 0 ? between(std::move(y), by_trees(parts_, p, rows), share_) : y;
}

void CostsAndTrees::save(Checkpoint& c) const {
  std::vector<NamedTensor>& tensors = c.tensors;
  for (std::size_t i = 0; i < parts_.readings.size(); ++i) {
    const Reading& r = parts_.readings[i];
    FeatureMatrix costs{r.costs.size(), r.kinds.size(), {}};
    for (const MachineCosts& m : r.costs) costs.values.insert(costs.values.end(), m.log_cost.begin(), m.log_cost.end());
    tensors.push_back(matrix_tensor(fmt::format("costs.{}", i), costs));
    c.settings[fmt::format("sharpness.{}", i)] = r.sharpness;
  }
  tensors.push_back(vector_tensor("inputs.substitutes", parts_.inputs.substitutes()));
  tensors.push_back(vector_tensor("inputs.none", parts_.inputs.none()));
  tensors.push_back(vector_tensor("inputs.masked", parts_.inputs.mask()));
  tensors.push_back(matrix_tensor("peak", parts_.peak));
  parts_.trees.save("trees.", tensors);
  c.vocabulary = parts_.inputs.words();
  c.settings[kTreesShare] = share_;
}

bool CostsAndTrees::holds(const Checkpoint& c) { return c.settings.contains(kTreesShare); }

Status CostsAndTrees::restore(const CounterDataset& names, std::size_t machines, const Checkpoint& c,
                              Diagnostics& diags) {
  const auto setting = [&](const std::string& name, double lowest, double highest) -> Result<double> {
    const auto found = c.settings.find(name);
    if (found == c.settings.end() || !(found->second >= lowest && found->second <= highest))
      return diags.error(fmt::format("checkpoint: {} is missing or out of range", name));
    return found->second;
  };
  const auto share = setting(kTreesShare, 0, 1);
  if (!share) return Failure{};
  if (c.vocabulary.size() > kMostWords) return diags.error(fmt::format("checkpoint: more than {} words", kMostWords));
  share_ = *share;
  parts_ = {};
  TensorReader read(c.tensors, diags);
  for (std::size_t i = 0; i == 0 || c.settings.contains(fmt::format("sharpness.{}", i)); ++i) {
    const auto sharpness = setting(fmt::format("sharpness.{}", i), 1, 100);
    const FeatureMatrix costs = read.matrix(fmt::format("costs.{}", i), machines, names.work.size());
    if (!sharpness || !read.good()) return Failure{};
    Reading& r = parts_.readings.emplace_back(Reading{.kinds = all_work(names), .sharpness = *sharpness, .costs = {}});
    for (std::size_t m = 0; m < machines; ++m) {
      MachineCosts& of_machine = r.costs.emplace_back(MachineCosts{.sharpness = *sharpness});
      for (std::size_t k = 0; k < costs.columns; ++k) of_machine.log_cost.push_back(costs.at(m, k));
    }
  }
  auto substitutes = read.vector("inputs.substitutes", names.counters.size());
  auto none = read.vector("inputs.none", names.work.size());
  const auto mask = read.vector("inputs.masked", names.counters.size());
  parts_.peak = read.matrix("peak", machines, names.work.size());
  if (!read.good()) return Failure{};
  parts_.inputs =
      CounterInputs::restore(names, InputKind::All, std::move(substitutes), mask, std::move(none), c.vocabulary);
  auto trees = Trees::restore("trees.", c.tensors, parts_.inputs.columns().size(), machines, diags);
  if (!trees) return Failure{};
  parts_.trees = std::move(*trees);
  return ok();
}

double CostsAndTrees::base(const CounterProblem& p, std::size_t row) const {
  if (p.reference) return p.base(row);
  const FeatureMatrix y = log_seconds_by_costs(parts_, p, std::span(&row, 1));
  double mean = 0;
  for (const double v : y.values) mean += v / static_cast<double>(y.columns);
  return mean;
}

std::vector<std::string> CostsAndTrees::words() const {
  return share_ > 0 ? parts_.inputs.words() : std::vector<std::string>{};
}

std::string CostsAndTrees::findings() const {
  std::string found = fmt::format("trees count {:.0f} %, costs the rest", 100 * share_);
  if (!words().empty()) found += fmt::format(", and trees read {} words of regions' names", words().size());
  return found;
}

}  // namespace perfc
