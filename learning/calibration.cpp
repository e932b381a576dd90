#include "learning/calibration.h"

#include <Eigen/Dense>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "learning/kernel_calibration.h"
#include "learning/predictors.h"
#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

/// A constant that is fitted: terms and the host's costs, which grow, or shares of peak, which shrink as the device
/// gets slower.
struct Constant {
  std::vector<double Device::*> terms;
  std::vector<const char*> shares;
  bool of_host = false;
};
const std::vector<Constant>& time_constants() {
  static const std::vector<Constant> all{
      {{&Device::launch_us}, {}},
      {{}, {}, true},
      {{}, {"matmul", "vector_matmul", "dense_product"}},
      {{}, {"convolution", "vector_convolution", "dense_convolution"}},
      {{}, {"depthwise"}},
      {{}, {"bandwidth", "vector"}},
      {{}, {"gather"}},
  };
  return all;
}
const std::vector<Constant>& power_constants() {
  static const std::vector<Constant> all{
      {{&Device::idle_w}, {}}, {{&Device::active_power}, {}}, {{&Device::memory_power}, {}}};
  return all;
}

/// Spreads in ln: of a label's error that no constant explains, and of the constants around
/// where they stood, of what they share and of each one's own.
struct Spreads {
  double error, shared, own;
};
constexpr Spreads kTimeSpreads{0.12, 0.4, 0.2}, kPowerSpreads{0.08, 0.4, 0.3};
/// What is known of a device before its labels, as parts of those spreads: of one whose data sheet and kernels say
/// nearly all (GeForce, 5 to 7 % off as a whole without a label), and of one of which nothing like it was measured. The
/// labels decide which it is.
constexpr double kPriorScales[] = {0.2, 1};
/// Errors beyond this, in ln, pull only linearly (Huber 1964): most models lie within it, and the others
/// are wrong by what no constant of the device explains. Both found on some devices hold on the others.
constexpr double kOutlier = 0.05;
constexpr int kSteps = 12;
constexpr double kDifference = 0.02, kSettled = 1e-3;
constexpr std::string_view kCalibrated = "-calibrated";

/// To four significant digits: more would be noise.
double rounded(double v) { return std::stod(fmt::format("{:.4g}", v)); }

/// What device files accept of the constants that are fitted.
constexpr double kMostTerm = 1e4, kMostActivePower = 1, kMostMemoryPower = 10;

/// `more` by constant, in ln.
Device with(Device d, const std::vector<Constant>& constants, const Eigen::VectorXd& more) {
  for (std::size_t c = 0; c < constants.size(); ++c) {
    const double factor = std::exp(more(static_cast<Eigen::Index>(c)));
    for (double Device::*term : constants[c].terms) d.*term = std::min(d.*term * factor, kMostTerm);
    if (constants[c].of_host) d.host = d.host.slowed(factor);
    for (const char* share : constants[c].shares) {
      if (const auto at = d.efficiency.find(share); at != d.efficiency.end())
        at->second = std::min(at->second / factor, kMostEfficiency);
    }
  }
  d.idle_w = std::min(d.idle_w, d.tdp_w);
  d.active_power = std::min(d.active_power, kMostActivePower);
  d.memory_power = std::min(d.memory_power, kMostMemoryPower);
  return d;
}

Device rounded(Device d, const std::vector<Constant>& constants) {
  for (const Constant& c : constants) {
    for (double Device::*term : c.terms) d.*term = rounded(d.*term);
    if (c.of_host) {
      for (double& us : d.host.eager_us) us = rounded(us);
      d.host.compiled_us = rounded(d.host.compiled_us);
    }
    for (const char* share : c.shares) {
      if (const auto at = d.efficiency.find(share); at != d.efficiency.end()) at->second = rounded(at->second);
    }
  }
  return d;
}

/// Constants in ln around where they stood, how uncertain the labels leave each (its standard deviation), and how
/// likely the labels are under the prior (ln of Laplace's approximation, but for what all priors share).
struct Found {
  Eigen::VectorXd at, deviation;
  double evidence = 0;
};

/// A label's model, and what was measured of it.
struct MeasuredRun {
  const PreparedModel* model = nullptr;
  double value = 0;
};

class Fit {
 public:
  /// `predicted`: the member of a prediction that was measured.
  Fit(Device device, const std::vector<Constant>& constants, const Spreads& spreads, double Prediction::*predicted,
      std::vector<MeasuredRun> measured)
      : device_(std::move(device)), constants_(constants), spreads_(spreads), predicted_(predicted),
        measured_(std::move(measured)) {}

  /// By the prior under which the labels are likelier (MacKay 1992).
  Found run() const {
    Found best = run(kPriorScales[0]);
    for (const double scale : std::span(kPriorScales).subspan(1)) {
      if (Found other = run(scale); other.evidence > best.evidence) best = std::move(other);
    }
    return best;
  }

 private:
  /// Gauss and Newton's method on outlier-weighted squares.
  Found run(double scale) const {
    const auto n = static_cast<Eigen::Index>(constants_.size()), labels = static_cast<Eigen::Index>(measured_.size());
    Eigen::VectorXd at = Eigen::VectorXd::Zero(n);
    Eigen::MatrixXd hessian;
    // Covariance of the constants: each one's own, and what all share.
    const Eigen::MatrixXd covariance = scale * scale *
                                       (Eigen::MatrixXd::Constant(n, n, spreads_.shared * spreads_.shared) +
                                        spreads_.own * spreads_.own * Eigen::MatrixXd::Identity(n, n));
    const Eigen::MatrixXd prior = covariance.inverse();
    for (int step = 0; step < kSteps; ++step) {
      const Eigen::VectorXd errors = this->errors(at);
      Eigen::MatrixXd slopes(labels, n);
      for (Eigen::Index c = 0; c < n; ++c) {
        Eigen::VectorXd moved = at;
        moved(c) += kDifference;
        slopes.col(c) = (this->errors(moved) - errors) / kDifference;
      }
      const Eigen::VectorXd weights = errors.unaryExpr([&](double e) {
        return std::min(1.0, kOutlier / std::max(std::abs(e), 1e-12)) / (spreads_.error * spreads_.error);
      });
      hessian = slopes.transpose() * weights.asDiagonal() * slopes + prior;
      const Eigen::VectorXd change =
          hessian.ldlt().solve(-(slopes.transpose() * weights.asDiagonal() * errors + prior * at));
      at += change.cwiseMax(-1).cwiseMin(1);
      if (change.cwiseAbs().maxCoeff() < kSettled) break;
    }
    const double volumes = 0.5 * (std::log(covariance.determinant()) + std::log(hessian.determinant()));
    return {at, hessian.inverse().diagonal().cwiseSqrt(), -volumes - loss(errors(at)) - 0.5 * at.dot(prior * at)};
  }

  /// Huber's, of all labels.
  double loss(const Eigen::VectorXd& errors) const {
    return errors
        .unaryExpr([&](double e) {
          const double off = std::abs(e);
          const double squared = off <= kOutlier ? off * off : kOutlier * (2 * off - kOutlier);
          return 0.5 * squared / (spreads_.error * spreads_.error);
        })
        .sum();
  }

 public:
  Device fitted(const Eigen::VectorXd& at) const { return rounded(with(device_, constants_, at), constants_); }

  double mean_error(const Eigen::VectorXd& at) const { return perfc::mean_error(errors(at)); }

 private:
  /// ln(predicted / measured) by label.
  Eigen::VectorXd errors(const Eigen::VectorXd& at) const {
    const Device d = with(device_, constants_, at);
    Eigen::VectorXd out(static_cast<Eigen::Index>(measured_.size()));
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      out(static_cast<Eigen::Index>(i)) =
          std::log(std::max(measured_[i].model->on(d).*predicted_, 1e-9) / measured_[i].value);
    }
    return out;
  }

  Device device_;
  const std::vector<Constant>& constants_;
  Spreads spreads_;
  double Prediction::*predicted_;
  std::vector<MeasuredRun> measured_;
};

/// What the labels say of the host: they leave it as uncertain as the fit is of its costs, and no more than it was.
void name_host(Device& d, const Found& found, std::size_t labels) {
  const auto& constants = time_constants();
  const auto at = std::find_if(constants.begin(), constants.end(), [](const Constant& c) { return c.of_host; });
  const double width = constants::kNinetyOfDeviation * found.deviation(at - constants.begin());
  d.host.interval = std::min(d.host.interval, rounded(std::exp(width)));
  d.host.kinds.clear();
  if (!d.host.name.ends_with(kCalibrated)) d.host.name += kCalibrated;
  d.host.title = d.host.name;
  d.host.source = fmt::format("perfc devices calibrate, {} labels", labels);
}

}  // namespace

Result<Calibration> calibrate(const CalibrationRequest& request, Diagnostics& diags) {
  if (lists_kernels(request.data)) return calibrate_on_kernels(request, diags);
  Diagnostics in_labels(request.data);
  auto dataset = read_dataset(request.data, in_labels);
  if (dataset) {
    keep(*dataset, request.filter);
    std::erase_if(dataset->labels, [](const Label& l) { return l.task != "infer" || std::isnan(l.latency_ms); });
    if (dataset->labels.empty()) in_labels.error("no label has a latency of inference");
    for (const Label& l : dataset->labels) {
      if (l.device == dataset->labels[0].device) continue;
      in_labels.error(l.loc, {},
                      fmt::format("device '{}' after '{}': one device is calibrated at a time; choose with --device",
                                  l.device, dataset->labels[0].device));
      break;
    }
  }
  diags.append(in_labels);
  if (diags.errors() > 0) return Failure{};
  const auto devices = find_devices(
      {.devices = {dataset->labels[0].device}, .device_file = request.device_file, .host = request.host}, diags);
  const auto predictor = find_predictor({.predictor = request.predictor}, diags);
  if (!devices || !predictor) return Failure{};

  Calibration out{.device = devices->at(0)};
  std::vector<std::unique_ptr<PreparedModel>> prepared(dataset->labels.size());
  std::vector<std::string> failures(dataset->labels.size());
  Diagnostics in_models(request.data);
  const auto left_out = for_each_graph(
      dataset->labels, request.threads,
      [&](const Graph& graph, std::span<const std::size_t> labels) {
    for (const std::size_t i : labels) {
      Diagnostics messages(dataset->labels[i].model);
      if (auto model = (*predictor)->prepare(graph, dataset->labels[i].exec, messages)) prepared[i] = std::move(*model);
      else failures[i] = messages.all().empty() ? "no prediction" : to_string(messages.all().front());
    }
      },
      in_models);
  std::vector<MeasuredRun> times, powers;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    const Label& l = dataset->labels[i];
    if (!failures[i].empty()) in_models.warning(l.loc, {}, "left out: " + failures[i]);
    if (!prepared[i]) continue;
    times.push_back({prepared[i].get(), l.latency_ms});
    if (!std::isnan(l.energy_j)) powers.push_back({prepared[i].get(), l.energy_j / l.latency_ms * 1e3});
  }
  diags.append(in_models);
  if (!left_out) return Failure{};
  if (times.empty()) return diags.error("no label can be predicted");
  out.labels = times.size();
  out.left_out = dataset->labels.size() - times.size();
  const Fit time(out.device, time_constants(), kTimeSpreads, &Prediction::latency_ms, std::move(times));
  const Found found = time.run();
  out.error_before = time.mean_error(Eigen::VectorXd::Zero(found.at.size()));
  out.error_after = time.mean_error(found.at);
  out.device = time.fitted(found.at);
  name_host(out.device, found, out.labels);
  // How long kernels work decides how much power they draw, so power comes after time.
  if (!powers.empty()) {
    out.power_labels = powers.size();
    const Fit power(out.device, power_constants(), kPowerSpreads, &Prediction::power_w, std::move(powers));
    const Eigen::VectorXd drawn = power.run().at;
    out.power_error_before = power.mean_error(Eigen::VectorXd::Zero(drawn.size()));
    out.power_error_after = power.mean_error(drawn);
    out.device = power.fitted(drawn);
  }
  out.device.calibrated_labels = static_cast<int>(out.labels);
  if (!request.name.empty()) out.device.name = request.name;
  return out;
}

}  // namespace perfc
