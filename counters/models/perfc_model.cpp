#include "counters/models/perfc_model.h"

#include <fmt/format.h>

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

FeatureMatrix PerfcModel::correction_inputs(const Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows, const FeatureMatrix& costs) {
  const FeatureMatrix x = parts.inputs.rows(*p.data, rows);
  FeatureMatrix both{x.rows, x.columns + costs.columns, {}};
  for (std::size_t r = 0; r < x.rows; ++r) {
    const auto at = [](const FeatureMatrix& m, std::size_t row) { return m.values.begin() + static_cast<std::ptrdiff_t>(row * m.columns); };
    both.values.insert(both.values.end(), at(x, r), at(x, r + 1));
    both.values.insert(both.values.end(), at(costs, r), at(costs, r + 1));
  }
  return both;
}

FeatureMatrix PerfcModel::correction(const Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows, const FeatureMatrix& costs) {
  const FeatureMatrix x = correction_inputs(parts, p, rows, costs);
  FeatureMatrix y = parts.trees.predict(x);
  const FeatureMatrix smooth = parts.likeness.predict(x);
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] = (y.values[i] + smooth.values[i]) / 2;
  return y;
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
  const FeatureMatrix x = correction_inputs(parts, p, rows, costs);
  parts.trees = Trees::fit(x, left, {.kind = TreeOptions::Kind::Extra, .trees = trees, .least_leaf = least_leaf, .column_share = kColumnShare}, random);
  std::vector<Column> columns = parts.inputs.columns();
  std::vector<Normaliser::Scale> scales = parts.inputs.scales();
  for (const std::size_t m : p.machines) columns.push_back({"costs on " + p.data->machines[m], "1", {}});
  scales.resize(columns.size(), Normaliser::Scale::Linear);
  parts.likeness = KernelRegression::fit(x, left, columns, scales);
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
      const FeatureMatrix trees = correction(parts, p, part, costs);
      for (std::size_t s = 0; s < kShrinkages.size(); ++s) errors[s] += absolute_error(y, costs, trees, kShrinkages[s]);
    }
    for (std::size_t s = 0; s < kShrinkages.size(); ++s) {
      if (errors[s] < least) least = errors[s], shrinkage_ = kShrinkages[s], leaf = l;
    }
  }
  measure_interval(p, folds, rows, sharpness, leaf, random);
  parts_ = fit_parts(p, rows, sharpness, leaf, kTrees, random);
  return ok();
}

void PerfcModel::measure_interval(const CounterProblem& p, const std::vector<std::vector<std::size_t>>& folds, std::span<const std::size_t> rows,
                                  double sharpness, std::size_t leaf, const Random& random) {
  std::vector<double> errors;
  for (const auto& part : folds) {
    parts_ = fit_parts(p, without(rows, part), sharpness, leaf, kValidationTrees, random);
    const FeatureMatrix predicted = predict(p, part), y = p.target(part);
    for (std::size_t i = 0; i < y.values.size(); ++i) errors.push_back(std::abs(predicted.values[i] - y.values[i]));
  }
  if (errors.empty()) return;
  const auto at = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() * 9 / 10);
  std::nth_element(errors.begin(), at, errors.end());
  interval_ = *at;
}

void PerfcModel::save(std::vector<NamedTensor>& tensors, std::map<std::string, double>& settings) const {
  constexpr auto kMatrix = Parameter<float>::Kind::Matrix, kVector = Parameter<float>::Kind::Vector;
  const auto vector = [&](const char* name, const auto& values) {
    NamedTensor t{name, kVector, Matrix<float>(1, values.size())};
    std::transform(values.begin(), values.end(), t.value.data(), [](auto v) { return static_cast<float>(v); });
    tensors.push_back(std::move(t));
  };
  NamedTensor costs{"costs", kMatrix, Matrix<float>(parts_.costs.size(), parts_.costs.front().log_cost.size())};
  for (std::size_t m = 0; m < parts_.costs.size(); ++m) {
    for (std::size_t k = 0; k < parts_.costs[m].log_cost.size(); ++k) costs.value(m, k) = static_cast<float>(parts_.costs[m].log_cost[k]);
  }
  tensors.push_back(std::move(costs));
  vector("inputs.substitutes", parts_.inputs.substitutes());
  vector("inputs.none", parts_.inputs.none());
  std::vector<double> masked(parts_.inputs.substitutes().size(), 0);
  for (const std::size_t c : parts_.inputs.masked()) masked[c] = 1;
  vector("inputs.masked", masked);
  if (shrinkage_ > 0) {
    parts_.trees.save("trees.", tensors);
    parts_.likeness.save("likeness.", tensors);
  }
  settings["shrinkage"] = shrinkage_;
  settings["interval"] = interval_;
  settings["sharpness"] = parts_.costs.front().sharpness;
}

Status PerfcModel::restore(const CounterDataset& names, std::size_t machines, const std::vector<NamedTensor>& tensors,
                           const std::map<std::string, double>& settings, Diagnostics& diags) {
  const auto setting = [&](const char* name, double lowest, double highest, double& out) {
    const auto found = settings.find(name);
    if (found == settings.end() || !(found->second >= lowest && found->second <= highest)) return false;
    out = found->second;
    return true;
  };
  double sharpness = 1;
  if (!setting("shrinkage", 0, 1, shrinkage_) || !setting("interval", 0, 100, interval_) || !setting("sharpness", 1, 100, sharpness)) {
    return diags.error("checkpoint: shrinkage, interval or sharpness is missing or out of range");
  }
  const auto tensor = [&](const char* name, std::size_t rows, std::size_t columns) -> const Matrix<float>* {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& t) { return t.name == name; });
    if (found != tensors.end() && found->value.rows() == rows && found->value.columns() == columns) return &found->value;
    (void)diags.error(fmt::format("checkpoint: the tensor '{}' is missing or not {}x{}", name, rows, columns));
    return nullptr;
  };
  const auto* costs = tensor("costs", machines, names.work.size());
  const auto* substitutes = tensor("inputs.substitutes", 1, names.counters.size());
  const auto* none = tensor("inputs.none", 1, names.work.size());
  const auto* mask = tensor("inputs.masked", 1, names.counters.size());
  if (!costs || !substitutes || !none || !mask) return Failure{};
  parts_ = {};
  for (std::size_t m = 0; m < machines; ++m) {
    MachineCosts c{.sharpness = sharpness};
    for (std::size_t k = 0; k < costs->columns(); ++k) c.log_cost.push_back((*costs)(m, k));
    parts_.costs.push_back(std::move(c));
  }
  const auto numbers = [](const Matrix<float>& m) { return std::vector<double>(m.data(), m.data() + m.size()); };
  std::vector<std::size_t> masked;
  for (std::size_t c = 0; c < mask->size(); ++c) {
    if (mask->data()[c] != 0) masked.push_back(c);
  }
  parts_.inputs = CounterInputs::restore(names, InputKind::CountersAndWork, numbers(*substitutes), std::move(masked), numbers(*none));
  if (shrinkage_ == 0) return ok();
  auto trees = Trees::restore("trees.", tensors, parts_.inputs.columns().size() + machines, machines, diags);
  if (!trees) return Failure{};
  auto likeness = KernelRegression::restore("likeness.", tensors, parts_.inputs.columns().size() + machines, machines, diags);
  if (!likeness) return Failure{};
  parts_.trees = std::move(*trees);
  parts_.likeness = std::move(*likeness);
  return ok();
}

FeatureMatrix PerfcModel::predict(const CounterProblem& p, std::span<const std::size_t> rows) const {
  FeatureMatrix y = by_costs(parts_, p, rows);
  if (shrinkage_ == 0) return y;
  const FeatureMatrix trees = correction(parts_, p, rows, y);
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += shrinkage_ * trees.values[i];
  return y;
}

std::unique_ptr<RelativeModel> make_costs_model() { return std::make_unique<PerfcModel>(PerfcModel::Correction::None); }
std::unique_ptr<RelativeModel> make_perfc_model() { return std::make_unique<PerfcModel>(PerfcModel::Correction::Trees); }

}  // namespace perfc
