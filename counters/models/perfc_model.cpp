#include "counters/models/perfc_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace perfc {
namespace {

constexpr std::size_t kTrees = 200, kValidationTrees = 50, kValidationFolds = 4;
constexpr std::array<double, 3> kSharpnesses{1, 2, 4};
/// 1 / variance of ln of a cost that a data sheet tells: within a factor of 1.6 mostly.
constexpr double kDataSheetPrecision = 4;
constexpr std::array<double, 5> kShrinkages{0, 0.25, 0.5, 0.75, 1};
constexpr std::array<std::size_t, 2> kLeastLeaves{1, 4};
/// Of the columns, tried at each node.
constexpr double kColumnShare = 0.5;

/// Of logarithms: the mean would be ruled by a few that nobody can predict.
double absolute_error(const FeatureMatrix& y, const FeatureMatrix& costs, const FeatureMatrix& trees, double shrinkage) {
  double sum = 0;
  for (std::size_t i = 0; i < y.values.size(); ++i) sum += std::abs(costs.values[i] + shrinkage * trees.values[i] - y.values[i]);
  return sum;
}

}  // namespace

FeatureMatrix PerfcModel::by_costs(const Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows) {
  FeatureMatrix y{rows.size(), parts.costs.size(), {}};
  for (const std::size_t r : rows) {
    std::vector<double> logs;
    double mean = 0;
    for (const MachineCosts& c : parts.costs) {
      logs.push_back(predict_log_seconds(c, p.data->workloads[r].work));
      mean += logs.back() / static_cast<double>(parts.costs.size());
    }
    const double base = p.reference ? p.base(r) : mean;
    for (const double l : logs) y.values.push_back(l - base);
  }
  return y;
}

FeatureMatrix PerfcModel::tree_inputs(const Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows, const FeatureMatrix& costs) {
  const FeatureMatrix x = parts.inputs.rows(*p.data, rows);
  FeatureMatrix both{x.rows, x.columns + costs.columns, {}};
  for (std::size_t r = 0; r < x.rows; ++r) {
    const auto at = [](const FeatureMatrix& m, std::size_t row) { return m.values.begin() + static_cast<std::ptrdiff_t>(row * m.columns); };
    both.values.insert(both.values.end(), at(x, r), at(x, r + 1));
    both.values.insert(both.values.end(), at(costs, r), at(costs, r + 1));
  }
  return both;
}

std::vector<MachineCosts> PerfcModel::fit_machines(const CounterProblem& p, std::span<const std::size_t> rows, double sharpness) {
  const FeatureMatrix work = work_rows(*p.data, rows);
  const CostFit fit{.sharpness = sharpness};
  std::vector<MachineCosts> all;
  for (const std::size_t m : p.machines) {
    std::vector<double> logs;
    for (const std::size_t r : rows) logs.push_back(std::log(p.data->workloads[r].seconds[m]));
    CostPrior prior = vague_prior(work, logs, fit.precision);
    for (std::size_t k = 0; k < work.columns && !p.data_sheet.empty(); ++k) {
      if (std::isnan(p.data_sheet[m][k])) continue;
      prior.log_cost[k] = std::log(p.data_sheet[m][k]);
      prior.precision[k] = kDataSheetPrecision;
    }
    all.push_back(fit_costs(work, logs, prior, fit));
  }
  return all;
}

PerfcModel::Parts PerfcModel::fit_parts(const CounterProblem& p, std::span<const std::size_t> rows, double sharpness, std::size_t least_leaf,
                                        std::size_t trees, const Random& random) const {
  Parts parts{.costs = fit_machines(p, rows, sharpness)};
  parts.inputs = CounterInputs::fit(*p.data, rows, InputKind::CountersAndWork);
  if (correction_ == Correction::None) return parts;
  const FeatureMatrix costs = by_costs(parts, p, rows);
  FeatureMatrix left = p.target(rows);
  for (std::size_t i = 0; i < left.values.size(); ++i) left.values[i] -= costs.values[i];
  parts.trees = Trees::fit(tree_inputs(parts, p, rows, costs), left,
                           {.kind = TreeOptions::Kind::Extra, .trees = trees, .least_leaf = least_leaf, .column_share = kColumnShare}, random);
  return parts;
}

Status PerfcModel::fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind kind, const Random& random, Diagnostics&) {
  const auto folds = held_back(*p.data, rows, kind, kValidationFolds, random.stream("validation"));
  double sharpness = kSharpnesses[0], least = std::numeric_limits<double>::infinity();
  for (const double s : kSharpnesses) {
    double error = 0;
    for (const auto& part : folds) {
      const FeatureMatrix costs = by_costs({.costs = fit_machines(p, without(rows, part), s)}, p, part);
      error += absolute_error(p.target(part), costs, costs, 0);
    }
    if (error < least) least = error, sharpness = s;
  }
  std::size_t leaf = kLeastLeaves[0];
  shrinkage_ = 0;
  least = std::numeric_limits<double>::infinity();
  for (const std::size_t l : kLeastLeaves) {
    if (correction_ == Correction::None) break;
    std::array<double, kShrinkages.size()> errors{};
    for (const auto& part : folds) {
      const Parts parts = fit_parts(p, without(rows, part), sharpness, l, kValidationTrees, random);
      const FeatureMatrix costs = by_costs(parts, p, part), y = p.target(part);
      const FeatureMatrix trees = parts.trees.predict(tree_inputs(parts, p, part, costs));
      for (std::size_t s = 0; s < kShrinkages.size(); ++s) errors[s] += absolute_error(y, costs, trees, kShrinkages[s]);
    }
    for (std::size_t s = 0; s < kShrinkages.size(); ++s) {
      if (errors[s] < least) least = errors[s], shrinkage_ = kShrinkages[s], leaf = l;
    }
  }
  parts_ = fit_parts(p, rows, sharpness, leaf, kTrees, random);
  return ok();
}

FeatureMatrix PerfcModel::predict(const CounterProblem& p, std::span<const std::size_t> rows) const {
  FeatureMatrix y = by_costs(parts_, p, rows);
  if (shrinkage_ == 0) return y;
  const FeatureMatrix trees = parts_.trees.predict(tree_inputs(parts_, p, rows, y));
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += shrinkage_ * trees.values[i];
  return y;
}

std::unique_ptr<RelativeModel> make_costs_model() { return std::make_unique<PerfcModel>(PerfcModel::Correction::None); }
std::unique_ptr<RelativeModel> make_perfc_model() { return std::make_unique<PerfcModel>(PerfcModel::Correction::Trees); }

}  // namespace perfc
