#include "counters/models/machine_transfer.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gnn/trainer.h"

namespace perfc {
namespace {

constexpr double kSharpness = 2;
/// Machines whose data sheets differ by a factor of e^this are half as good a guide, about.
constexpr double kReach = 0.6;
/// 1 / variance of ln of a cost, at least and at most, whatever the known machines say.
constexpr double kLeastPrecision = 0.5, kMostPrecision = 16;
/// Variances of a weight, of the offset, and of what no machine tells.
constexpr double kWeightVariance = 0.04, kOffsetVariance = 0.25, kNoiseVariance = 0.1;

double log_seconds(const CounterProblem& p, std::size_t row, std::size_t machine) {
  return std::log(p.data->workloads[row].seconds[machine]);
}
double log_sheet(const CounterProblem& p, std::size_t machine, std::size_t kind) {
  return p.data_sheet.empty() ? std::nan("") : std::log(p.data_sheet[machine][kind]);
}

std::vector<std::size_t> measured_on(const CounterProblem& p, std::size_t machine) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < p.data->workloads.size(); ++r) {
    if (!std::isnan(p.data->workloads[r].seconds[machine])) rows.push_back(r);
  }
  return rows;
}

std::vector<double> likeness_of(const CounterProblem& p, std::span<const std::size_t> known, std::size_t machine) {
  std::vector<double> squares;
  for (const std::size_t m : known) {
    double sum = 0, count = 0;
    for (std::size_t k = 0; k < p.data->work.size(); ++k) {
      const double apart = log_sheet(p, m, k) - log_sheet(p, machine, k);
      if (!std::isnan(apart)) sum += apart * apart, ++count;
    }
    squares.push_back(count > 0 ? sum / count : 0);
  }
  const double least = *std::min_element(squares.begin(), squares.end());
  double all = 0;
  for (double& s : squares) all += s = std::exp(-(s - least) / (2 * kReach * kReach));
  for (double& s : squares) s /= all;
  return squares;
}

/// What the known machines need of their data sheets, carried over to this one's.
CostPrior prior_of(const CounterProblem& p, std::span<const std::size_t> known, const std::vector<MachineCosts>& costs,
                   std::span<const double> likeness, std::size_t machine) {
  CostPrior prior;
  for (std::size_t k = 0; k < p.data->work.size(); ++k) {
    bool told = !std::isnan(log_sheet(p, machine, k));
    for (const std::size_t m : known) told &= !std::isnan(log_sheet(p, m, k));
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const double efficiency = costs[i].log_cost[k] - (told ? log_sheet(p, known[i], k) : 0);
      mean += likeness[i] * efficiency;
      square += likeness[i] * efficiency * efficiency;
    }
    prior.log_cost.push_back(mean + (told ? log_sheet(p, machine, k) : 0));
    prior.precision.push_back(std::clamp(1 / std::max(square - mean * mean, 1e-9), kLeastPrecision, kMostPrecision));
  }
  return prior;
}

double r2(const std::vector<double>& errors, const std::vector<double>& truth) {
  const double mean = std::accumulate(truth.begin(), truth.end(), 0.0) / static_cast<double>(truth.size());
  double left = 0, spread = 0;
  for (const double e : errors) left += e * e;
  for (const double t : truth) spread += (t - mean) * (t - mean);
  return 1 - left / spread;
}

/// The baseline: the likest machine's time, × the median ratio that the samples show.
double nearest_offset(const CounterProblem& p, std::size_t nearest, std::size_t machine,
                      std::span<const std::size_t> rows) {
  std::vector<double> ratios;
  for (const std::size_t r : rows) {
    const double ratio = log_seconds(p, r, machine) - log_seconds(p, r, nearest);
    if (!std::isnan(ratio)) ratios.push_back(ratio);
  }
  if (ratios.empty()) return 0;
  std::sort(ratios.begin(), ratios.end());
  return (ratios[ratios.size() / 2] + ratios[(ratios.size() - 1) / 2]) / 2;
}

}  // namespace

MachineCosts MachineTransfer::costs_of(const CounterProblem& p, std::size_t machine) {
  const auto rows = measured_on(p, machine);
  const FeatureMatrix work = work_rows(*p.data, rows);
  std::vector<double> logs;
  logs.reserve(rows.size());
  for (const std::size_t r : rows) logs.push_back(log_seconds(p, r, machine));
  const CostFit fit{.sharpness = kSharpness};
  return fit_costs(work, logs, vague_prior(work, logs, fit.precision), fit);
}

std::vector<double> MachineTransfer::residuals(const CounterProblem& p, std::size_t row) const {
  std::vector<double> out;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const double e = log_seconds(p, row, known_[i]) - predict_log_seconds(known_costs_[i], p.data->workloads[row].work);
    out.push_back(std::isnan(e) ? 0 : e);
  }
  return out;
}

MachineTransfer MachineTransfer::fit(const CounterProblem& p, std::span<const std::size_t> known, std::size_t machine,
                                     std::span<const std::size_t> rows) {
  std::vector<MachineCosts> costs;
  for (const std::size_t m : known) costs.push_back(costs_of(p, m));
  return fit(p, known, std::move(costs), machine, rows);
}

MachineTransfer MachineTransfer::fit(const CounterProblem& p, std::span<const std::size_t> known,
                                     std::vector<MachineCosts> costs, std::size_t machine,
                                     std::span<const std::size_t> rows) {
  MachineTransfer out;
  out.known_.assign(known.begin(), known.end());
  out.known_costs_ = std::move(costs);
  out.likeness_ = out.weights_ = likeness_of(p, known, machine);
  const CostPrior prior = prior_of(p, known, out.known_costs_, out.likeness_, machine);
  out.costs_ = {prior.log_cost, kSharpness};
  if (rows.empty()) return out;

  // Costs explain what likeness to others does not; weights then explain what costs leave over.
  const auto n = static_cast<Eigen::Index>(rows.size()), machines = static_cast<Eigen::Index>(known.size());
  Eigen::MatrixXd x(n, machines + 1);
  std::vector<double> target;
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::size_t row = rows[static_cast<std::size_t>(i)];
    const auto r = out.residuals(p, row);
    for (Eigen::Index m = 0; m < machines; ++m) x(i, m) = r[static_cast<std::size_t>(m)];
    x(i, machines) = 1;
    target.push_back(log_seconds(p, row, machine) - std::inner_product(r.begin(), r.end(), out.weights_.begin(), 0.0));
  }
  out.costs_ = fit_costs(work_rows(*p.data, rows), target, prior, {.sharpness = kSharpness});
  Eigen::VectorXd left(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    left(i) = target[at] - predict_log_seconds(out.costs_, p.data->workloads[rows[at]].work);
  }
  Eigen::VectorXd variance = Eigen::VectorXd::Constant(machines + 1, kWeightVariance);
  variance(machines) = kOffsetVariance;
  Eigen::MatrixXd normal = x.transpose() * x / kNoiseVariance;
  normal.diagonal() += variance.cwiseInverse();
  const Eigen::VectorXd change = normal.ldlt().solve(x.transpose() * left / kNoiseVariance);
  for (Eigen::Index m = 0; m < machines; ++m) out.weights_[static_cast<std::size_t>(m)] += change(m);
  out.offset_ = change(machines);
  return out;
}

double MachineTransfer::predict(const CounterProblem& p, std::size_t row) const {
  const auto r = residuals(p, row);
  return offset_ + predict_log_seconds(costs_, p.data->workloads[row].work) +
         std::inner_product(r.begin(), r.end(), weights_.begin(), 0.0);
}

double interval_of(std::vector<double> errors) {
  if (errors.empty()) return 0;
  for (double& e : errors) e = std::abs(e);
  const auto at = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() * 9 / 10);
  std::nth_element(errors.begin(), at, errors.end());
  return *at;
}

std::vector<AdaptationPoint> learning_curve(const CounterProblem& p, std::span<const std::size_t> machines,
                                            const AdaptationOptions& o) {
  std::vector<MachineCosts> all_costs;
  for (const std::size_t m : machines) all_costs.push_back(MachineTransfer::costs_of(p, m));
  std::vector<AdaptationPoint> curve;
  for (const std::size_t samples : o.samples) {
    AdaptationPoint& point = curve.emplace_back(AdaptationPoint{.samples = samples});
    std::vector<std::vector<double>> by_machine(machines.size());
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const auto known = without(machines, std::span(&machines[m], 1));
      std::vector<MachineCosts> costs = all_costs;
      costs.erase(costs.begin() + static_cast<std::ptrdiff_t>(m));
      const auto rows = measured_on(p, machines[m]);
      // Without samples nothing is drawn: one seed says all.
      for (std::uint64_t seed = o.first_seed; seed < o.first_seed + (samples == 0 ? 1 : o.seeds); ++seed) {
        const auto order = shuffled(rows.size(), Random(seed).stream("samples").stream(machines[m]), 0);
        std::vector<std::size_t> drawn, rest;
        for (std::size_t i = 0; i < order.size(); ++i) (i < samples ? drawn : rest).push_back(rows[order[i]]);
        const MachineTransfer model = MachineTransfer::fit(p, known, costs, machines[m], drawn);
        const auto& likeness = model.likeness();
        const std::size_t nearest =
            known[static_cast<std::size_t>(std::max_element(likeness.begin(), likeness.end()) - likeness.begin())];
        const double offset = nearest_offset(p, nearest, machines[m], drawn);
        std::vector<double> errors, nearest_errors, truth;
        for (const std::size_t r : rest) {
          const double t = log_seconds(p, r, machines[m]), by_nearest = log_seconds(p, r, nearest) + offset;
          if (std::isnan(by_nearest)) continue;
          truth.push_back(t);
          errors.push_back(model.predict(p, r) - t);
          nearest_errors.push_back(by_nearest - t);
        }
        point.scores.push_back(r2(errors, truth));
        point.nearest_scores.push_back(r2(nearest_errors, truth));
        by_machine[m].insert(by_machine[m].end(), errors.begin(), errors.end());
        point.nearest_errors.insert(point.nearest_errors.end(), nearest_errors.begin(), nearest_errors.end());
      }
    }
    double within = 0;
    for (std::size_t m = 0; m < machines.size(); ++m) {
      std::vector<double> others;
      for (std::size_t i = 0; i < machines.size(); ++i) {
        if (i != m) others.insert(others.end(), by_machine[i].begin(), by_machine[i].end());
      }
      const double interval = interval_of(std::move(others));
      for (const double e : by_machine[m]) within += std::abs(e) <= interval ? 1 : 0;
      point.errors.insert(point.errors.end(), by_machine[m].begin(), by_machine[m].end());
    }
    point.covered = within / static_cast<double>(point.errors.size());
  }
  return curve;
}

}  // namespace perfc
