#include "counters/models/launch_and_rate.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "counters/models/tensors.h"

namespace perfc {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Deviations of u and of v by each of their parts; of the inputs, all columns together.
struct Spread {
  double constant, inputs, region, application;
};
constexpr Spread kLaunch{5, 0.6, 0.3, 0.1}, kRate{5, 1.8, 0.5, 0.2};
/// Of a part, what a machine has of its own beside what all share, as variances.
constexpr double kOwn = 0.36;
constexpr double kNoise = 0.15;           ///< of ln time
constexpr std::size_t kMostTimes = 1000;  ///< rows × machines that are read: the effort grows with their cube
constexpr int kSolverSteps = 25, kShortSteps = 3;
constexpr double kConverged = 1e-2, kLongestStep = 3;
constexpr double kLaunchQuantile = 0.1;  ///< of ln time, where u begins

std::string region_name(const CounterDataset::Workload& w) { return w.application + "/" + w.region; }
/// What has no region's name is known by its counters alone.
bool is_named(const CounterDataset::Workload& w) { return !w.region.empty(); }

/// Covariances of u or v between workloads.
MatrixXd covariance(const CounterDataset& d, std::span<const std::size_t> rows, const MatrixXd& x, const Spread& s) {
  MatrixXd k = (x * x.transpose()) * (s.inputs * s.inputs / static_cast<double>(std::max<Index>(x.cols(), 1)));
  k.array() += s.constant * s.constant;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const CounterDataset::Workload &a = d.workloads[rows[i]], &b = d.workloads[rows[j]];
      if (!is_named(a) || !is_named(b) || a.application != b.application) continue;
      k(static_cast<Index>(i), static_cast<Index>(j)) +=
          s.application * s.application + (a.region == b.region ? s.region * s.region : 0);
    }
  }
  return k;
}

/// Workloads × machines → what machines share and their own: y × (1 1ᵀ + kOwn I).
MatrixXd across_machines(const MatrixXd& y) { return (kOwn * y).colwise() + y.rowwise().sum(); }

MatrixXd dense(const FeatureMatrix& m) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(m.values.data(), static_cast<Index>(m.rows), static_cast<Index>(m.columns));
}

/// Per column of x, whose last ones are ln work, its share: those kinds equally that every workload has some of, and
/// not always as much.
std::vector<double> shares_of_work(const CounterDataset& d, std::span<const std::size_t> rows, std::size_t columns) {
  std::vector<double> shares(columns, 0);
  std::vector<std::size_t> carried;
  for (std::size_t k = 0; k < d.work.size(); ++k) {
    double least = 1e300, largest = 0;
    for (const std::size_t r : rows) {
      const double amount = d.workloads[r].work[k];
      least = std::min(least, amount > 0 ? amount : 0);
      largest = std::max(largest, amount);
    }
    if (least > 0 && largest > least) carried.push_back(columns - d.work.size() + k);
  }
  for (const std::size_t c : carried) shares[c] = 1 / static_cast<double>(carried.size());
  return shares;
}

/// u = u0 + covariance of u × dual.u at every workload (rows) and machine (columns), and v alike.
struct Dual {
  double u0, v0;
  MatrixXd u, v;
};

/// The likeliest u and v, given ln times and ln work.
Dual solve(const MatrixXd& times, const MatrixXd& offset, const MatrixXd& ku, const MatrixXd& kv) {
  const Index n = times.rows(), m = times.cols();
  std::vector<double> sorted(times.data(), times.data() + times.size());
  const auto quantile =
      sorted.begin() + static_cast<std::ptrdiff_t>(kLaunchQuantile * static_cast<double>(sorted.size()));
  std::nth_element(sorted.begin(), quantile, sorted.end());
  Dual dual{.u0 = *quantile, .v0 = (times - offset).mean(), .u = {}, .v = {}};
  MatrixXd u = MatrixXd::Constant(n, m, dual.u0), v = MatrixXd::Constant(n, m, dual.v0);
  for (int step = 0; step < kSolverSteps; ++step) {
    // Shares of the launch in the time: slopes of ln time by u; the rest is that by v.
    const MatrixXd rate = v + offset, larger = u.cwiseMax(rate);
    const MatrixXd predicted = larger.array() + ((u - larger).array().exp() + (rate - larger).array().exp()).log();
    const MatrixXd share = (u - predicted).array().exp(), rest = 1 - share.array();
    const MatrixXd target =
        (times - predicted).array() + share.array() * (u.array() - dual.u0) + rest.array() * (v.array() - dual.v0);
    MatrixXd k(n * m, n * m);
    for (Index a = 0; a < m; ++a) {
      for (Index b = 0; b < m; ++b) {
        k.block(a * n, b * n, n, n) =
            (1 + (a == b ? kOwn : 0)) * (share.col(a).asDiagonal() * ku * share.col(b).asDiagonal() +
                                         rest.col(a).asDiagonal() * kv * rest.col(b).asDiagonal())
                                            .eval();
      }
    }
    k.diagonal().array() += kNoise * kNoise;
    const VectorXd solved = k.llt().solve(Eigen::Map<const VectorXd>(target.data(), n * m));
    const Eigen::Map<const MatrixXd> both(solved.data(), n, m);
    dual.u = across_machines(share.cwiseProduct(both));
    dual.v = across_machines(rest.cwiseProduct(both));
    const double length = step < kShortSteps ? 0.5 : 1;
    const MatrixXd du =
        (length * ((ku * dual.u).array() + dual.u0 - u.array())).cwiseMin(kLongestStep).cwiseMax(-kLongestStep);
    const MatrixXd dv =
        (length * ((kv * dual.v).array() + dual.v0 - v.array())).cwiseMin(kLongestStep).cwiseMax(-kLongestStep);
    u += du, v += dv;
    if (std::max(du.cwiseAbs().maxCoeff(), dv.cwiseAbs().maxCoeff()) < kConverged) break;
  }
  return dual;
}

}  // namespace

FeatureMatrix LaunchAndRate::columns(const CounterDataset& d, std::span<const std::size_t> rows,
                                     const CounterInputs& inputs) {
  const FeatureMatrix all = inputs.rows(d, rows);
  const std::vector<double> mask = inputs.mask();
  const std::size_t masked = static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 1.0));
  FeatureMatrix x{all.rows, d.counters.size() + masked + inputs.none().size(), {}};
  for (std::size_t r = 0; r < x.rows; ++r) {
    const auto begin = all.values.begin() + static_cast<std::ptrdiff_t>(r * all.columns);
    x.values.insert(x.values.end(), begin, begin + static_cast<std::ptrdiff_t>(x.columns));
  }
  return x;
}

std::vector<double> LaunchAndRate::log_work(const FeatureMatrix& x) const {
  std::vector<double> sums(x.rows, 0);
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t c = 0; c < x.columns; ++c) sums[r] += kinds_[c] * x.at(r, c);
  }
  return sums;
}

LaunchAndRate LaunchAndRate::fit(const CounterProblem& p, std::span<const std::size_t> rows,
                                 const CounterInputs& inputs) {
  const CounterDataset& d = *p.data;
  const std::size_t machines = p.machines.size(), most = std::max<std::size_t>(kMostTimes / machines, 2);
  std::vector<std::size_t> read;
  const std::size_t count = std::min(rows.size(), most);
  for (std::size_t i = 0; i < count; ++i) read.push_back(rows[i * rows.size() / count]);

  LaunchAndRate out;
  FeatureMatrix x = columns(d, read, inputs);
  out.kinds_ = shares_of_work(d, read, x.columns);
  const std::vector<double> work = out.log_work(x);

  std::vector<Column> names(inputs.columns().begin(),
                            inputs.columns().begin() + static_cast<std::ptrdiff_t>(x.columns));
  std::vector<Normaliser::Scale> scales(inputs.scales().begin(),
                                        inputs.scales().begin() + static_cast<std::ptrdiff_t>(x.columns));
  out.normaliser_ = Normaliser::fit(x, std::move(names), scales);
  out.normaliser_.apply(x);
  out.range_ = ColumnRange::fit(x);
  const MatrixXd input = dense(x);

  const auto n = static_cast<Index>(read.size()), m = static_cast<Index>(machines);
  MatrixXd times(n, m), offset(n, m);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < m; ++j)
      times(i, j) =
          std::log(d.workloads[read[static_cast<std::size_t>(i)]].seconds[p.machines[static_cast<std::size_t>(j)]]);
    offset.row(i).setConstant(work[static_cast<std::size_t>(i)]);
  }
  const Dual dual = solve(times, offset, covariance(d, read, input, kLaunch), covariance(d, read, input, kRate));

  // From the dual to weights and effects.
  const auto weights = [&](const MatrixXd& of, const Spread& s, double start) {
    MatrixXd w(1 + input.cols(), m);
    w.row(0) = (s.constant * s.constant * of.colwise().sum()).array() + start;
    w.bottomRows(input.cols()) =
        input.transpose() * of * (s.inputs * s.inputs / static_cast<double>(std::max<Index>(input.cols(), 1)));
    return w;
  };
  const MatrixXd wu = weights(dual.u, kLaunch, dual.u0), wv = weights(dual.v, kRate, dual.v0);
  out.weights_ = {static_cast<std::size_t>(wu.rows()), 2 * machines, {}};
  for (Index r = 0; r < wu.rows(); ++r) {
    for (Index j = 0; j < m; ++j) out.weights_.values.push_back(wu(r, j));
    for (Index j = 0; j < m; ++j) out.weights_.values.push_back(wv(r, j));
  }
  for (Index i = 0; i < n; ++i) {
    const CounterDataset::Workload& w = d.workloads[read[static_cast<std::size_t>(i)]];
    if (!is_named(w)) continue;
    const auto add =
        [&](std::map<std::string, std::vector<double>>& effects, const std::string& name, double launch, double rate) {
      std::vector<double>& e = effects.try_emplace(name, 2 * machines, 0.0).first->second;
      for (Index j = 0; j < m; ++j) {
        e[static_cast<std::size_t>(j)] += launch * launch * dual.u(i, j);
        e[machines + static_cast<std::size_t>(j)] += rate * rate * dual.v(i, j);
      }
    };
    add(out.regions_, region_name(w), kLaunch.region, kRate.region);
    add(out.applications_, w.application, kLaunch.application, kRate.application);
  }
  return out;
}

FeatureMatrix LaunchAndRate::predict(const CounterProblem& p, std::span<const std::size_t> rows,
                                     const CounterInputs& inputs) const {
  FeatureMatrix x = columns(*p.data, rows, inputs);
  const std::vector<double> work = log_work(x);
  normaliser_.apply(x);
  range_.apply(x);
  const std::size_t machines = weights_.columns / 2;
  FeatureMatrix y{rows.size(), machines, {}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const CounterDataset::Workload& w = p.data->workloads[rows[r]];
    std::vector<double> parts(weights_.values.begin(),
                              weights_.values.begin() + static_cast<std::ptrdiff_t>(weights_.columns));
    for (std::size_t c = 0; c < x.columns; ++c) {
      for (std::size_t j = 0; j < parts.size(); ++j) parts[j] += x.at(r, c) * weights_.at(1 + c, j);
    }
    const auto add = [&](const std::map<std::string, std::vector<double>>& effects, const std::string& name) {
      const auto found = effects.find(name);
      for (std::size_t j = 0; found != effects.end() && j < parts.size(); ++j) parts[j] += found->second[j];
    };
    if (is_named(w)) add(regions_, region_name(w)), add(applications_, w.application);
    std::vector<double> times;
    double mean = 0;
    for (std::size_t j = 0; j < machines; ++j) {
      const double launch = parts[j], rate = parts[machines + j] + work[r], larger = std::max(launch, rate);
      times.push_back(larger + std::log(std::exp(launch - larger) + std::exp(rate - larger)));
      mean += times.back() / static_cast<double>(machines);
    }
    const double base = p.reference ? p.base(rows[r]) : mean;
    for (const double t : times) y.values.push_back(t - base);
  }
  return y;
}

void LaunchAndRate::save(const std::string& prefix, std::vector<NamedTensor>& tensors) const {
  save_normaliser(prefix, normaliser_, tensors);
  tensors.push_back(vector_tensor(prefix + "low", range_.low));
  tensors.push_back(vector_tensor(prefix + "high", range_.high));
  tensors.push_back(vector_tensor(prefix + "kinds", kinds_));
  tensors.push_back(matrix_tensor(prefix + "weights", weights_));
  for (const auto& [name, effect] : regions_) tensors.push_back(vector_tensor(prefix + "region." + name, effect));
  for (const auto& [name, effect] : applications_)
    tensors.push_back(vector_tensor(prefix + "application." + name, effect));
}

Result<LaunchAndRate> LaunchAndRate::restore(const std::string& prefix, const std::vector<NamedTensor>& tensors,
                                             const CounterDataset& names, const CounterInputs& inputs,
                                             std::size_t machines, Diagnostics& diags) {
  const std::size_t width = columns(names, {}, inputs).columns;
  LaunchAndRate out;
  TensorReader read(tensors, diags);
  auto normaliser = read.normaliser(prefix, width);
  out.range_ = {read.vector(prefix + "low", width), read.vector(prefix + "high", width)};
  out.kinds_ = read.vector(prefix + "kinds", width);
  out.weights_ = read.matrix(prefix + "weights", 1 + width, 2 * machines);
  const std::string region = prefix + "region.", application = prefix + "application.";
  for (const NamedTensor& t : tensors) {
    if (t.name.starts_with(region)) out.regions_[t.name.substr(region.size())] = read.vector(t.name, 2 * machines);
    if (t.name.starts_with(application))
      out.applications_[t.name.substr(application.size())] = read.vector(t.name, 2 * machines);
  }
  if (!normaliser || !read.good()) return Failure{};
  out.normaliser_ = std::move(*normaliser);
  return out;
}

}  // namespace perfc
