#include "counters/models/cost_model.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace perfc {
namespace {

constexpr double kLeastLogSeconds = -20.7;  // a nanosecond

/// ln of the time; `share` becomes its derivative by each kind's ln cost.
double log_time(std::span<const double> log_cost, double sharpness, std::span<const double> work,
                std::vector<double>& share) {
  share.assign(work.size(), 0);
  double most = -1e300;
  for (std::size_t k = 0; k < work.size(); ++k) {
    if (work[k] > 0) most = std::max(most, log_cost[k] + std::log(work[k]));
  }
  if (most == -1e300) return kLeastLogSeconds;
  double sum = 0;
  for (std::size_t k = 0; k < work.size(); ++k) {
    if (work[k] > 0) sum += share[k] = std::exp(sharpness * (log_cost[k] + std::log(work[k]) - most));
  }
  for (double& s : share) s /= sum;
  return most + std::log(sum) / sharpness;
}

std::span<const double> row_of(const FeatureMatrix& m, std::size_t r) {
  return std::span(m.values).subspan(r * m.columns, m.columns);
}

double huber(double e, double delta) { return std::abs(e) <= delta ? e * e / 2 : delta * (std::abs(e) - delta / 2); }

}  // namespace

CostPrior vague_prior(const FeatureMatrix& work, std::span<const double> log_seconds, double precision) {
  CostPrior p;
  for (std::size_t k = 0; k < work.columns; ++k) {
    std::vector<double> alone;
    for (std::size_t r = 0; r < work.rows; ++r) {
      if (work.at(r, k) > 0) alone.push_back(log_seconds[r] - std::log(work.at(r, k)));
    }
    double median = 0;
    if (!alone.empty()) {
      const auto middle = alone.begin() + static_cast<std::ptrdiff_t>(alone.size() / 2);
      std::nth_element(alone.begin(), middle, alone.end());
      median = *middle;
    }
    p.log_cost.push_back(median - 2);
    p.precision.push_back(precision);
  }
  return p;
}

MachineCosts fit_costs(const FeatureMatrix& work, std::span<const double> log_seconds, const CostPrior& prior,
                       const CostFit& fit) {
  const auto kinds = static_cast<Eigen::Index>(work.columns);
  std::vector<double> cost = prior.log_cost, share;
  const auto objective = [&](std::span<const double> c) {
    double sum = 0;
    for (std::size_t r = 0; r < work.rows; ++r)
      sum += huber(log_time(c, fit.sharpness, row_of(work, r), share) - log_seconds[r], fit.huber);
    for (std::size_t k = 0; k < c.size(); ++k) sum += prior.precision[k] / 2 * std::pow(c[k] - prior.log_cost[k], 2);
    return sum;
  };
  double now = objective(cost), damping = 1;
  for (std::size_t step = 0; step < fit.steps && damping < 1e12; ++step) {
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(kinds, kinds);
    Eigen::VectorXd slope = Eigen::VectorXd::Zero(kinds);
    for (std::size_t r = 0; r < work.rows; ++r) {
      const double error = log_time(cost, fit.sharpness, row_of(work, r), share) - log_seconds[r];
      const double weight = std::abs(error) <= fit.huber ? 1 : fit.huber / std::abs(error);
      const Eigen::Map<const Eigen::VectorXd> s(share.data(), kinds);
      slope += weight * error * s;
      hessian += weight * s * s.transpose();
    }
    for (Eigen::Index k = 0; k < kinds; ++k) {
      const auto i = static_cast<std::size_t>(k);
      slope(k) += prior.precision[i] * (cost[i] - prior.log_cost[i]);
      hessian(k, k) += prior.precision[i] + damping;
    }
    const Eigen::VectorXd move = hessian.ldlt().solve(slope);
    std::vector<double> tried = cost;
    for (Eigen::Index k = 0; k < kinds; ++k) tried[static_cast<std::size_t>(k)] -= std::clamp(move(k), -3.0, 3.0);
    const double then = objective(tried);
    if (!(then < now)) {
      damping *= 4;
      continue;
    }
    const double gained = now - then;
    cost = std::move(tried);
    now = then;
    damping = std::max(damping / 4, 1e-6);
    if (gained < 1e-9 * (1 + now)) break;
  }
  return {std::move(cost), fit.sharpness};
}

double predict_log_seconds(const MachineCosts& costs, std::span<const double> work) {
  std::vector<double> share;
  return log_time(costs.log_cost, costs.sharpness, work, share);
}

}  // namespace perfc
