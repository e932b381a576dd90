#include "counters/models/machine_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "counters/data/name_words.h"

namespace perfc {
namespace {

constexpr std::array<double, 3> kSharpnesses{1, 2, 4};
/// 1 / variance of ln of a cost that a data sheet tells: within a factor of 1.6 mostly.
constexpr double kDataSheetPrecision = 4;
/// ln of what work costs that is not read: nothing, and a number that float32 holds.
constexpr double kFree = -1000;

FeatureMatrix chosen_work(const FeatureMatrix& work, const WorkKinds& kinds) {
  FeatureMatrix out{work.rows, static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), true)), {}};
  for (std::size_t i = 0; i < work.values.size(); ++i) {
    if (kinds[i % work.columns]) out.values.push_back(work.values[i]);
  }
  return out;
}

}  // namespace

WorkKinds all_work(const CounterDataset& d) { return WorkKinds(d.work.size(), true); }

WorkKinds work_of_the_program(const CounterDataset& d) {
  WorkKinds kinds;
  for (const Column& k : d.work) {
    const auto words = words_of(k.name);
    kinds.push_back(!std::binary_search(words.begin(), words.end(), "seconds"));
  }
  return kinds;
}

std::vector<MachineCosts> fit_machine_costs(const CounterProblem& p, std::span<const std::size_t> rows,
                                            double sharpness, const WorkKinds& kinds) {
  const FeatureMatrix work = chosen_work(work_rows(*p.data, rows), kinds);
  const CostFit fit{.sharpness = sharpness};
  std::vector<MachineCosts> all;
  for (const std::size_t m : p.machines) {
    std::vector<double> logs;
    for (const std::size_t r : rows) logs.push_back(std::log(p.data->workloads[r].seconds[m]));
    CostPrior prior = vague_prior(work, logs, fit.precision);
    for (std::size_t k = 0, c = 0; k < kinds.size() && !p.data_sheet.empty(); ++k) {
      if (!kinds[k]) continue;
      if (!std::isnan(p.data_sheet[m][k]))
        prior.log_cost[c] = std::log(p.data_sheet[m][k]), prior.precision[c] = kDataSheetPrecision;
      ++c;
    }
    const MachineCosts fitted = fit_costs(work, logs, prior, fit);
    MachineCosts& costs = all.emplace_back(MachineCosts{.sharpness = sharpness});
    for (std::size_t k = 0, c = 0; k < kinds.size(); ++k)
      costs.log_cost.push_back(kinds[k] ? fitted.log_cost[c++] : kFree);
  }
  return all;
}

FeatureMatrix predict_log_seconds(std::span<const MachineCosts> costs, const CounterProblem& p,
                                  std::span<const std::size_t> rows) {
  FeatureMatrix y{rows.size(), costs.size(), {}};
  for (const std::size_t r : rows) {
    for (const MachineCosts& c : costs) y.values.push_back(predict_log_seconds(c, p.data->workloads[r].work));
  }
  return y;
}

FeatureMatrix relative_to_base(const CounterProblem& p, std::span<const std::size_t> rows, FeatureMatrix y) {
  for (std::size_t r = 0; r < y.rows; ++r) {
    double base = 0;
    for (std::size_t m = 0; m < y.columns; ++m) base += y.at(r, m) / static_cast<double>(y.columns);
    if (p.reference) base = p.base(rows[r]);
    for (std::size_t m = 0; m < y.columns; ++m) y.at(r, m) -= base;
  }
  return y;
}

double absolute_error(const FeatureMatrix& y, const FeatureMatrix& prediction) {
  double sum = 0;
  for (std::size_t i = 0; i < y.values.size(); ++i) sum += std::abs(prediction.values[i] - y.values[i]);
  return sum;
}

FeatureMatrix between(FeatureMatrix y, const FeatureMatrix& z, double share) {
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += share * (z.values[i] - y.values[i]);
  return y;
}

void append(FeatureMatrix& to, const FeatureMatrix& more) {
  to.rows += more.rows;
  to.columns = more.columns;
  to.values.insert(to.values.end(), more.values.begin(), more.values.end());
}

double choose_sharpness(const CounterProblem& p, std::span<const std::size_t> rows,
                        const std::vector<std::vector<std::size_t>>& folds, const WorkKinds& kinds) {
  double chosen = kSharpnesses[0], least = std::numeric_limits<double>::infinity();
  for (const double s : kSharpnesses) {
    double error = 0;
    for (const auto& part : folds) {
      const auto costs = fit_machine_costs(p, without(rows, part), s, kinds);
      error += absolute_error(p.target(part), relative_to_base(p, part, predict_log_seconds(costs, p, part)));
    }
    if (error < least) least = error, chosen = s;
  }
  return chosen;
}

}  // namespace perfc
