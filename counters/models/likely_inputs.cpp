#include "counters/models/likely_inputs.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "counters/models/inputs.h"
#include "counters/models/tensors.h"

namespace perfc {
namespace {

using Vector = Eigen::VectorXd;
using Square = Eigen::MatrixXd;

/// Of a column's variance that others are taken not to know of: few rows feign likenesses.
constexpr double kOwnShare = 0.05, kLeastVariance = 1e-6;
/// Numbers further from the mean than this many deviations are not drawn.
constexpr double kFurthest = 6;
/// ln that neither overflows nor vanishes.
constexpr double kLargestLog = 300;

}  // namespace

std::vector<double> LikelyInputs::to_normal(const CounterDataset::Workload& w) const {
  std::vector<double> x;
  for (std::size_t c = 0; c < counters(); ++c)
    x.push_back(logarithmic_[c] != 0 ? std::log1p(std::max(w.counters[c], 0.0)) : w.counters[c]);
  for (std::size_t k = 0; k < none_.size(); ++k)
    x.push_back(std::isnan(w.work[k]) ? w.work[k] : w.work[k] > 0 ? std::log(w.work[k]) : none_[k]);
  if (mean_.size() > x.size()) x.push_back(std::log(w.seconds.back()));
  for (std::size_t c = 0; c < counters(); ++c) {
    if (std::isnan(w.counters[c])) x[c] = w.counters[c];  // max(NaN, 0) need not be NaN
  }
  return x;
}

CounterDataset::Workload LikelyInputs::from_normal(const CounterDataset::Workload& like,
                                                   const std::vector<double>& x) const {
  CounterDataset::Workload w = like;
  const auto of_log = [](double l) { return std::exp(std::clamp(l, -kLargestLog, kLargestLog)); };
  for (std::size_t c = 0; c < counters(); ++c) {
    if (std::isnan(w.counters[c]) && masked_[c] == 0) w.counters[c] = logarithmic_[c] != 0 ? of_log(x[c]) - 1 : x[c];
  }
  for (std::size_t k = 0; k < none_.size(); ++k) {
    if (std::isnan(w.work[k])) w.work[k] = x[counters() + k] > none_[k] ? of_log(x[counters() + k]) : 0;
  }
  if (mean_.size() > counters() + none_.size() && std::isnan(w.seconds.back())) w.seconds.back() = of_log(x.back());
  return w;
}

bool LikelyInputs::lacks(const CounterDataset::Workload& w) const {
  const auto missing = [](double v) { return std::isnan(v); };
  for (std::size_t c = 0; c < counters(); ++c) {
    if (missing(w.counters[c]) && masked_[c] == 0) return true;
  }
  return std::any_of(w.work.begin(), w.work.end(), missing) ||
         (mean_.size() > counters() + none_.size() && missing(w.seconds.back()));
}

LikelyInputs LikelyInputs::fit(const CounterDataset& d, std::span<const std::size_t> rows,
                               std::optional<std::size_t> reference) {
  LikelyInputs out;
  const CounterInputs inputs = CounterInputs::fit(d, rows, InputKind::CountersAndWork);
  out.none_ = inputs.none();
  out.masked_ = inputs.mask();
  for (std::size_t c = 0; c < d.counters.size(); ++c)
    out.logarithmic_.push_back(inputs.scales()[c] == Normaliser::Scale::Log ? 1 : 0);
  const std::size_t columns = d.counters.size() + d.work.size() + (reference ? 1 : 0);
  out.mean_.assign(columns, 0);
  Eigen::MatrixXd x(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    CounterDataset::Workload w = d.workloads[rows[r]];
    for (std::size_t c = 0; c < w.counters.size(); ++c) {
      if (std::isnan(w.counters[c])) w.counters[c] = inputs.substitutes()[c];
    }
    if (reference) w.seconds = {w.seconds[*reference]};
    const std::vector<double> of_row = out.to_normal(w);
    x.row(static_cast<Eigen::Index>(r)) = Eigen::Map<const Eigen::RowVectorXd>(of_row.data(), x.cols());
  }
  const Eigen::RowVectorXd mean = x.colwise().mean();
  x.rowwise() -= mean;
  Square s = x.transpose() * x / static_cast<double>(rows.size());
  const Vector own = s.diagonal();
  s *= 1 - kOwnShare;
  s.diagonal() = own.array() + kLeastVariance;
  std::copy(mean.data(), mean.data() + mean.size(), out.mean_.begin());
  out.covariance_ = {columns, columns, std::vector<double>(s.data(), s.data() + s.size())};
  return out;
}

std::vector<CounterDataset::Workload> LikelyInputs::complete(const CounterDataset::Workload& w, std::size_t draws,
                                                             const Random& random) const {
  if (!lacks(w)) return {w};
  std::vector<double> x = to_normal(w);
  std::vector<Eigen::Index> known, unknown;
  for (std::size_t c = 0; c < x.size(); ++c)
    (std::isnan(x[c]) ? unknown : known).push_back(static_cast<Eigen::Index>(c));
  const Eigen::Map<const Square> s(covariance_.values.data(), static_cast<Eigen::Index>(covariance_.rows),
                                   static_cast<Eigen::Index>(covariance_.columns));
  const Eigen::Map<const Vector> all(x.data(), static_cast<Eigen::Index>(x.size())),
      mean(mean_.data(), static_cast<Eigen::Index>(mean_.size()));
  Vector expected = mean(unknown);
  Square spread = s(unknown, unknown);
  if (!known.empty()) {
    const Square gain = Square(s(known, known)).ldlt().solve(Square(s(known, unknown))).transpose();
    expected += gain * (all(known) - mean(known));
    spread -= gain * s(known, unknown);
  }
  // LDLᵀ of what is nearly singular may have small negative pivots: nothing is drawn along those.
  const Eigen::LDLT<Square> factor(spread);
  const Vector deviation = factor.vectorD().cwiseMax(0).cwiseSqrt();
  const Square root = factor.transpositionsP().transpose() * Square(Square(factor.matrixL()) * deviation.asDiagonal());
  const Vector furthest = kFurthest * spread.diagonal().cwiseMax(0).cwiseSqrt();
  std::vector<CounterDataset::Workload> out;
  for (std::size_t n = 0; n <= draws; ++n) {
    Vector drawn = Vector::Zero(expected.size());
    for (Eigen::Index i = 0; n > 0 && i < drawn.size(); ++i)
      drawn(i) = random.stream(n).normal(static_cast<std::uint64_t>(i));
    const Vector value = expected + (root * drawn).cwiseMax(-furthest).cwiseMin(furthest);
    for (std::size_t i = 0; i < unknown.size(); ++i)
      x[static_cast<std::size_t>(unknown[i])] = value(static_cast<Eigen::Index>(i));
    out.push_back(from_normal(w, x));
  }
  return out;
}

void LikelyInputs::save(std::vector<NamedTensor>& out) const {
  out.push_back(vector_tensor("likely.logarithmic", logarithmic_));
  out.push_back(vector_tensor("likely.masked", masked_));
  out.push_back(vector_tensor("likely.none", none_));
  out.push_back(vector_tensor("likely.mean", mean_));
  out.push_back(matrix_tensor("likely.covariance", covariance_));
}

Result<LikelyInputs> LikelyInputs::restore(const std::vector<NamedTensor>& tensors, std::size_t counters,
                                           std::size_t work, bool reference, Diagnostics& diags) {
  const std::size_t columns = counters + work + (reference ? 1 : 0);
  TensorReader read(tensors, diags);
  LikelyInputs out;
  out.logarithmic_ = read.vector("likely.logarithmic", counters);
  out.masked_ = read.vector("likely.masked", counters);
  out.none_ = read.vector("likely.none", work);
  out.mean_ = read.vector("likely.mean", columns);
  out.covariance_ = read.matrix("likely.covariance", columns, columns);
  if (!read.good()) return Failure{};
  return out;
}

}  // namespace perfc
