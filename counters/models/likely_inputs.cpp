#include "counters/models/likely_inputs.h"

#include <Eigen/Dense>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "counters/models/inputs.h"

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
  for (std::size_t c = 0; c < counters(); ++c) x.push_back(logarithmic_[c] != 0 ? std::log1p(std::max(w.counters[c], 0.0)) : w.counters[c]);
  for (std::size_t k = 0; k < none_.size(); ++k) x.push_back(std::isnan(w.work[k]) ? w.work[k] : w.work[k] > 0 ? std::log(w.work[k]) : none_[k]);
  if (mean_.size() > x.size()) x.push_back(std::log(w.seconds.back()));
  for (std::size_t c = 0; c < counters(); ++c) {
    if (std::isnan(w.counters[c])) x[c] = w.counters[c];  // max(NaN, 0) need not be NaN
  }
  return x;
}

CounterDataset::Workload LikelyInputs::from_normal(const CounterDataset::Workload& like, const std::vector<double>& x) const {
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
  return std::any_of(w.work.begin(), w.work.end(), missing) || (mean_.size() > counters() + none_.size() && missing(w.seconds.back()));
}

LikelyInputs LikelyInputs::fit(const CounterDataset& d, std::span<const std::size_t> rows, std::optional<std::size_t> reference) {
  LikelyInputs out;
  const CounterInputs inputs = CounterInputs::fit(d, rows, InputKind::CountersAndWork);
  out.none_ = inputs.none();
  out.masked_.assign(d.counters.size(), 0);
  for (const std::size_t c : inputs.masked()) out.masked_[c] = 1;
  for (std::size_t c = 0; c < d.counters.size(); ++c) out.logarithmic_.push_back(inputs.scales()[c] == Normaliser::Scale::Log ? 1 : 0);
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

std::vector<CounterDataset::Workload> LikelyInputs::complete(const CounterDataset::Workload& w, std::size_t draws, const Random& random) const {
  if (!lacks(w)) return {w};
  std::vector<double> x = to_normal(w);
  std::vector<Eigen::Index> known, unknown;
  for (std::size_t c = 0; c < x.size(); ++c) (std::isnan(x[c]) ? unknown : known).push_back(static_cast<Eigen::Index>(c));
  const Eigen::Map<const Square> s(covariance_.values.data(), static_cast<Eigen::Index>(covariance_.rows), static_cast<Eigen::Index>(covariance_.columns));
  const Eigen::Map<const Vector> all(x.data(), static_cast<Eigen::Index>(x.size())), mean(mean_.data(), static_cast<Eigen::Index>(mean_.size()));
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
    for (Eigen::Index i = 0; n > 0 && i < drawn.size(); ++i) drawn(i) = random.stream(n).normal(static_cast<std::uint64_t>(i));
    const Vector value = expected + (root * drawn).cwiseMax(-furthest).cwiseMin(furthest);
    for (std::size_t i = 0; i < unknown.size(); ++i) x[static_cast<std::size_t>(unknown[i])] = value(static_cast<Eigen::Index>(i));
    out.push_back(from_normal(w, x));
  }
  return out;
}

void LikelyInputs::save(std::vector<NamedTensor>& out) const {
  const auto tensor = [&](const char* name, std::size_t rows, const std::vector<double>& values) {
    const auto kind = rows == 1 ? Parameter<float>::Kind::Vector : Parameter<float>::Kind::Matrix;
    NamedTensor t{name, kind, Matrix<float>(rows, values.size() / rows)};
    std::transform(values.begin(), values.end(), t.value.data(), [](double v) { return static_cast<float>(v); });
    out.push_back(std::move(t));
  };
  tensor("likely.logarithmic", 1, logarithmic_);
  tensor("likely.masked", 1, masked_);
  tensor("likely.none", 1, none_);
  tensor("likely.mean", 1, mean_);
  tensor("likely.covariance", std::max<std::size_t>(covariance_.rows, 1), covariance_.values);
}

Result<LikelyInputs> LikelyInputs::restore(const std::vector<NamedTensor>& tensors, std::size_t counters, std::size_t work, bool reference, Diagnostics& diags) {
  bool good = true;
  const auto tensor = [&](const char* name, std::size_t rows, std::size_t columns) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& t) { return t.name == name; });
    if (found != tensors.end() && found->value.rows() == rows && found->value.columns() == columns) {
      return std::vector<double>(found->value.data(), found->value.data() + found->value.size());
    }
    if (good) (void)diags.error(fmt::format("checkpoint: the tensor '{}' is missing or not {}x{}", name, rows, columns));
    good = false;
    return std::vector<double>();
  };
  const std::size_t columns = counters + work + (reference ? 1 : 0);
  LikelyInputs out;
  out.logarithmic_ = tensor("likely.logarithmic", 1, counters);
  out.masked_ = tensor("likely.masked", 1, counters);
  out.none_ = tensor("likely.none", 1, work);
  out.mean_ = tensor("likely.mean", 1, columns);
  out.covariance_ = {columns, columns, tensor("likely.covariance", columns, columns)};
  if (!good) return Failure{};
  return out;
}

}  // namespace perfc
