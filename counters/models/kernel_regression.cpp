#include "counters/models/kernel_regression.h"

#include <Eigen/Dense>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace perfc {
namespace {

/// Distance over which rows are alike, per root of the number of columns (which is how far
/// apart normalised rows lie), and the variance of what cannot be known, relative to the kernel's.
constexpr double kReach = 1.25, kNoise = 0.05;

}  // namespace

std::vector<double> KernelRegression::similarity(std::span<const double> row) const {
  std::vector<double> k;
  const double reach = kReach * std::sqrt(static_cast<double>(rows_.columns));
  for (std::size_t r = 0; r < rows_.rows; ++r) {
    double square = 0;
    for (std::size_t c = 0; c < rows_.columns; ++c) square += (row[c] - rows_.at(r, c)) * (row[c] - rows_.at(r, c));
    const double d = std::sqrt(3 * square) / reach;
    k.push_back((1 + d) * std::exp(-d));
  }
  return k;
}

KernelRegression KernelRegression::fit(const FeatureMatrix& x, const FeatureMatrix& y, const std::vector<Column>& columns,
                                       const std::vector<Normaliser::Scale>& scales) {
  KernelRegression out;
  out.normaliser_ = Normaliser::fit(x, columns, scales);
  out.rows_ = x;
  out.normaliser_.apply(out.rows_);
  out.mean_.assign(y.columns, 0);
  const auto n = static_cast<Eigen::Index>(y.rows), outputs = static_cast<Eigen::Index>(y.columns);
  for (std::size_t k = 0; k < y.columns; ++k) {
    for (std::size_t r = 0; r < y.rows; ++r) out.mean_[k] += y.at(r, k) / static_cast<double>(y.rows);
  }
  Eigen::MatrixXd kernel(n, n), left(n, outputs);
  for (Eigen::Index r = 0; r < n; ++r) {
    const auto row = static_cast<std::size_t>(r);
    const auto k = out.similarity(std::span(out.rows_.values).subspan(row * x.columns, x.columns));
    kernel.row(r) = Eigen::Map<const Eigen::RowVectorXd>(k.data(), n);
    kernel(r, r) += kNoise;
    for (Eigen::Index o = 0; o < outputs; ++o) left(r, o) = y.at(row, static_cast<std::size_t>(o)) - out.mean_[static_cast<std::size_t>(o)];
  }
  const Eigen::MatrixXd weights = kernel.llt().solve(left);
  out.weights_ = {y.rows, y.columns, {}};
  for (Eigen::Index r = 0; r < n; ++r) {
    for (Eigen::Index o = 0; o < outputs; ++o) out.weights_.values.push_back(weights(r, o));
  }
  return out;
}

FeatureMatrix KernelRegression::predict(FeatureMatrix x) const {
  normaliser_.apply(x);
  FeatureMatrix y{x.rows, mean_.size(), {}};
  for (std::size_t r = 0; r < x.rows; ++r) {
    const auto k = similarity(std::span(x.values).subspan(r * x.columns, x.columns));
    for (std::size_t o = 0; o < mean_.size(); ++o) {
      double sum = mean_[o];
      for (std::size_t t = 0; t < k.size(); ++t) sum += k[t] * weights_.at(t, o);
      y.values.push_back(sum);
    }
  }
  return y;
}

void KernelRegression::save(const std::string& prefix, std::vector<NamedTensor>& out) const {
  const auto tensor = [&](const char* name, std::size_t rows, const std::vector<double>& values) {
    const auto kind = rows == 1 ? Parameter<float>::Kind::Vector : Parameter<float>::Kind::Matrix;
    NamedTensor t{prefix + name, kind, Matrix<float>(rows, values.size() / std::max<std::size_t>(rows, 1))};
    std::transform(values.begin(), values.end(), t.value.data(), [](double v) { return static_cast<float>(v); });
    out.push_back(std::move(t));
  };
  std::vector<double> logarithmic;
  for (const auto s : normaliser_.scales()) logarithmic.push_back(s == Normaliser::Scale::Log ? 1 : 0);
  tensor("logarithmic", 1, logarithmic);
  tensor("means", 1, normaliser_.means());
  tensor("deviations", 1, normaliser_.deviations());
  tensor("start", 1, mean_);
  tensor("rows", rows_.rows, rows_.values);
  tensor("weights", weights_.rows, weights_.values);
}

Result<KernelRegression> KernelRegression::restore(const std::string& prefix, const std::vector<NamedTensor>& tensors, std::size_t columns,
                                                   std::size_t outputs, Diagnostics& diags) {
  bool good = true;
  const auto tensor = [&](const char* name, std::size_t width) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& t) { return t.name == prefix + name; });
    FeatureMatrix m;
    if (found == tensors.end() || found->value.columns() != width) {
      if (good) (void)diags.error(fmt::format("checkpoint: the tensor '{}{}' is missing or has not {} columns", prefix, name, width));
      good = false;
      return m;
    }
    m = {found->value.rows(), width, std::vector<double>(found->value.data(), found->value.data() + found->value.size())};
    return m;
  };
  const FeatureMatrix logarithmic = tensor("logarithmic", columns), means = tensor("means", columns), deviations = tensor("deviations", columns),
                      start = tensor("start", outputs);
  KernelRegression out;
  out.rows_ = tensor("rows", columns);
  out.weights_ = tensor("weights", outputs);
  if (!good) return Failure{};
  const bool shaped = logarithmic.rows == 1 && means.rows == 1 && deviations.rows == 1 && start.rows == 1 && out.rows_.rows == out.weights_.rows;
  if (!shaped || std::any_of(deviations.values.begin(), deviations.values.end(), [](double d) { return !(d > 0); })) {
    return diags.error(fmt::format("checkpoint: the tensors '{}…' do not belong together", prefix));
  }
  std::vector<Normaliser::Scale> scales;
  for (const double l : logarithmic.values) scales.push_back(l != 0 ? Normaliser::Scale::Log : Normaliser::Scale::Linear);
  out.normaliser_ = Normaliser::restore(std::vector<Column>(columns), std::move(scales), means.values, deviations.values);
  out.mean_ = start.values;
  return out;
}

}  // namespace perfc
