#include "counters/models/kernel_regression.h"

#include <Eigen/Dense>

#include <cmath>

#include "counters/models/tensors.h"

namespace perfc {
namespace {

/// Distance over which rows are alike, per root of the number of columns (which is how far
/// apart normalised rows lie), and the variance of what cannot be known, relative to the kernel's.
constexpr double kKernelReach = 1.25, kKernelNoise = 0.05;

}  // namespace

std::vector<double> KernelRegression::similarity(std::span<const double> row) const {
  std::vector<double> k;
  const double reach = kKernelReach * std::sqrt(static_cast<double>(rows_.columns));
  for (std::size_t r = 0; r < rows_.rows; ++r) {
    double square = 0;
    for (std::size_t c = 0; c < rows_.columns; ++c) square += (row[c] - rows_.at(r, c)) * (row[c] - rows_.at(r, c));
    const double d = std::sqrt(3 * square) / reach;
    k.push_back((1 + d) * std::exp(-d));
  }
  return k;
}

KernelRegression KernelRegression::fit(const FeatureMatrix& x, const FeatureMatrix& y,
                                       const std::vector<Column>& columns,
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
    kernel(r, r) += kKernelNoise;
    for (Eigen::Index o = 0; o < outputs; ++o)
      left(r, o) = y.at(row, static_cast<std::size_t>(o)) - out.mean_[static_cast<std::size_t>(o)];
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
  save_normaliser(prefix, normaliser_, out);
  out.push_back(vector_tensor(prefix + "start", mean_));
  out.push_back(matrix_tensor(prefix + "rows", rows_));
  out.push_back(matrix_tensor(prefix + "weights", weights_));
}

Result<KernelRegression> KernelRegression::restore(const std::string& prefix, const std::vector<NamedTensor>& tensors,
                                                   std::size_t columns, std::size_t outputs, Diagnostics& diags) {
  TensorReader read(tensors, diags);
  auto normaliser = read.normaliser(prefix, columns);
  KernelRegression out;
  out.mean_ = read.vector(prefix + "start", outputs);
  out.rows_ = read.rows(prefix + "rows", columns);
  out.weights_ = read.matrix(prefix + "weights", out.rows_.rows, outputs);
  if (!normaliser || !read.good()) return Failure{};
  out.normaliser_ = std::move(*normaliser);
  return out;
}

}  // namespace perfc
