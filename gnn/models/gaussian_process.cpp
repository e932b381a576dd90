#include "gnn/models/gaussian_process.h"

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include <cmath>
#include <numeric>

#include "gnn/gemm.h"

namespace perfc {
namespace {

/// A column that hardly varies is not stretched beyond this deviation.
constexpr double kLeastDeviation = 0.05;
/// Added to the diagonal of the points' kernel, which may be singular: equal graphs are equal points.
constexpr double kJitter = 1e-3;
/// Kernels below e^-this are 0.
constexpr double kFar = 20;

std::vector<float> deviations(const Matrix<float>& x) {
  std::vector<float> out(x.columns());
  const auto n = static_cast<double>(x.rows());
  for (std::size_t c = 0; c < x.columns(); ++c) {
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < x.rows(); ++r) sum += static_cast<double>(x(r, c));
    for (std::size_t r = 0; r < x.rows(); ++r)
      squares += (static_cast<double>(x(r, c)) - sum / n) * (static_cast<double>(x(r, c)) - sum / n);
    out[c] = static_cast<float>(std::sqrt(squares / n) + kLeastDeviation);
  }
  return out;
}

/// a × b: the kernel between the rows of two sets, from |p − q|² = p·p + q·q − 2 p·q.
Matrix<double> kernel(const Matrix<float>& a, std::span<const int> groups_a, const Matrix<float>& b,
                      std::span<const int> groups_b, double length, ThreadPool& threads) {
  // In double: the difference of large squares must not make the matrix indefinite.
  const auto widened = [](const Matrix<float>& m) {
    Matrix<double> out(m.rows(), m.columns());
    std::copy_n(m.data(), m.size(), out.data());
    return out;
  };
  Matrix<double> products;
  multiply(threads, widened(a), Transpose::No, widened(b), Transpose::Yes, products);
  const auto squares = [](const Matrix<float>& m) {
    std::vector<double> out(m.rows(), 0);
    for (std::size_t r = 0; r < m.rows(); ++r) {
      for (std::size_t c = 0; c < m.columns(); ++c)
        out[r] += static_cast<double>(m(r, c)) * static_cast<double>(m(r, c));
    }
    return out;
  };
  const std::vector<double> aa = squares(a), bb = squares(b);
  Matrix<double> k(a.rows(), b.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      const double far = std::max(aa[i] + bb[j] - 2 * products(i, j), 0.0) / (2 * length * length);
      k(i, j) = far > kFar ? 0 : std::exp(-far) * (groups_a[i] == groups_b[j] ? 1 : GaussianProcess::kOtherGroup);
    }
  }
  return k;
}

}  // namespace

GaussianProcess::GaussianProcess(double length, std::vector<float> scale, Matrix<float> points,
                                 std::vector<float> weights, std::vector<int> groups)
    : length_(length), scale_(std::move(scale)), points_(std::move(points)), weights_(std::move(weights)),
      groups_(std::move(groups)), known_(groups_.begin(), groups_.end()) {}

Result<GaussianProcess> GaussianProcess::fit(const Matrix<float>& x, std::span<const double> y,
                                             std::span<const int> groups, const GaussianProcessOptions& o,
                                             Random random, ThreadPool& threads, Diagnostics& diags) {
  GaussianProcess out;
  out.length_ = o.length;
  if (x.rows() == 0) return out;
  out.scale_ = deviations(x);
  Matrix<float> scaled(x.rows(), x.columns());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (std::size_t c = 0; c < x.columns(); ++c) scaled(r, c) = x(r, c) / out.scale_[c];
  }
  out.chosen_.resize(x.rows());
  std::iota(out.chosen_.begin(), out.chosen_.end(), std::size_t{0});
  if (x.rows() > o.most_points) {
    std::sort(out.chosen_.begin(), out.chosen_.end(),
              [&](std::size_t a, std::size_t b) { return random.bits(a) < random.bits(b); });
    out.chosen_.resize(o.most_points);
    std::sort(out.chosen_.begin(), out.chosen_.end());
  }
  const std::size_t points = out.chosen_.size();
  out.points_.resize(points, x.columns());
  for (std::size_t p = 0; p < points; ++p) {
    std::copy_n(scaled.data() + out.chosen_[p] * x.columns(), x.columns(), out.points_.data() + p * x.columns());
    out.groups_.push_back(groups[out.chosen_[p]]);
  }
  out.known_.insert(out.groups_.begin(), out.groups_.end());
  const Matrix<double> across = kernel(out.points_, out.groups_, scaled, groups, o.length, threads);
  Matrix<double> system = kernel(out.points_, out.groups_, out.points_, out.groups_, o.length, threads);
  for (std::size_t p = 0; p < points; ++p) system(p, p) += kJitter;
  std::for_each(system.data(), system.data() + system.size(), [&](double& v) { v *= o.noise; });
  multiply(threads, across, Transpose::No, across, Transpose::Yes, system, Store::Add);
  const auto rows = static_cast<Eigen::Index>(points);
  const Eigen::Map<const Matrix<double>::Dense> a(system.data(), rows, rows);
  const Eigen::Map<const Matrix<double>::Dense> k(across.data(), rows, static_cast<Eigen::Index>(x.rows()));
  const Eigen::LLT<Matrix<double>::Dense> factors(a);
  const Eigen::VectorXd weights =
      factors.solve(k * Eigen::Map<const Eigen::VectorXd>(y.data(), static_cast<Eigen::Index>(y.size())));
  if (factors.info() != Eigen::Success || !weights.allFinite()) {
    return diags.error(fmt::format(
        "the Gaussian process of {} residuals has no solution: predictions are not finite, or training diverged (a "
        "lower --lr helps)",
        y.size()));
  }
  out.weights_.resize(points);
  for (std::size_t p = 0; p < points; ++p) out.weights_[p] = static_cast<float>(weights(static_cast<Eigen::Index>(p)));
  return out;
}

std::vector<GaussianProcess::Estimate> GaussianProcess::at(std::span<const float> x, std::span<const int> asked) const {
  std::vector<Estimate> out(asked.size());
  Eigen::ArrayXf scaled(static_cast<Eigen::Index>(x.size()));
  for (std::size_t c = 0; c < x.size(); ++c) scaled(static_cast<Eigen::Index>(c)) = x[c] / scale_[c];
  const auto groups = static_cast<double>(known_.size());
  std::vector<double> others;
  // For a group without points: each point's weight, averaged over the groups that may ask.
  for (const int group : asked)
    others.push_back(known_.contains(group) ? kOtherGroup : (1 + kOtherGroup * (groups - 1)) / groups);
  for (std::size_t p = 0; p < weights_.size(); ++p) {
    const Eigen::Map<const Eigen::ArrayXf> point(points_.data() + p * points_.columns(), scaled.size());
    const double far = static_cast<double>((point - scaled).square().sum()) / (2 * length_ * length_);
    if (far > kFar) continue;
    const double k = std::exp(-far);
    for (std::size_t g = 0; g < asked.size(); ++g) {
      if (k > out[g].similarity) out[g].similarity = k, out[g].nearest = p;
      out[g].mean += k * (groups_[p] == asked[g] ? 1 : others[g]) * static_cast<double>(weights_[p]);
    }
  }
  return out;
}

}  // namespace perfc
