/// What every table compares with: models that know nothing of machines or work.
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <map>

#include "counters/models/machine_costs.h"
#include "counters/models/relative_model.h"
#include "counters/models/trees.h"

namespace perfc {
namespace {

class MeanModel final : public RelativeModel {
 public:
  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind, const Random&,
             Diagnostics&) override {
    const FeatureMatrix y = p.target(rows);
    mean_.assign(y.columns, 0);
    for (std::size_t r = 0; r < y.rows; ++r) {
      for (std::size_t k = 0; k < y.columns; ++k) mean_[k] += y.at(r, k) / static_cast<double>(y.rows);
    }
    return ok();
  }
  FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows) const override {
    FeatureMatrix y{rows.size(), mean_.size(), {}};
    for (std::size_t r = 0; r < rows.size(); ++r) y.values.insert(y.values.end(), mean_.begin(), mean_.end());
    return y;
  }

 private:
  std::vector<double> mean_;
};

/// Knows names alone: the mean of the training rows of the same kernel, and of all where there are none.
class LookupModel final : public RelativeModel {
 public:
  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind kind, const Random& random,
             Diagnostics& diags) override {
    std::map<Kernel, std::vector<std::size_t>> kernels;
    for (const std::size_t r : rows) kernels[kernel_of(p, r)].push_back(r);
    for (const auto& [kernel, of] : kernels) {
      if (!means_[kernel].fit(p, of, kind, random, diags)) return Failure{};
    }
    return all_.fit(p, rows, kind, random, diags);
  }
  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    FeatureMatrix y{0, p.machines.size(), {}};
    for (const std::size_t r : rows) {
      const auto found = means_.find(kernel_of(p, r));
      append(y, (found == means_.end() ? all_ : found->second).predict(p, std::span(&r, 1)));
    }
    return y;
  }

 private:
  using Kernel = std::pair<std::string, std::string>;  ///< application and region
  static Kernel kernel_of(const CounterProblem& p, std::size_t row) {
    const CounterDataset::Workload& w = p.data->workloads[row];
    return {w.application, w.region};
  }
  std::map<Kernel, MeanModel> means_;
  MeanModel all_;
};

/// Counters with mean 0 and deviation 1 in training.
class Normalised {
 public:
  FeatureMatrix fit(const CounterProblem& p, std::span<const std::size_t> rows) {
    inputs_ = CounterInputs::fit(*p.data, rows, InputKind::Counters);
    FeatureMatrix x = inputs_.rows(*p.data, rows);
    normaliser_ = Normaliser::fit(x, inputs_.columns(), inputs_.scales());
    normaliser_.apply(x);
    return x;
  }
  FeatureMatrix rows(const CounterProblem& p, std::span<const std::size_t> rows) const {
    FeatureMatrix x = inputs_.rows(*p.data, rows);
    normaliser_.apply(x);
    return x;
  }

 private:
  CounterInputs inputs_;
  Normaliser normaliser_;
};

/// Ridge regression with as much shrinkage as one deviation per column deserves.
class LinearModel final : public RelativeModel {
 public:
  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind, const Random&,
             Diagnostics&) override {
    const FeatureMatrix x = inputs_.fit(p, rows), y = p.target(rows);
    const Eigen::MatrixXd a = with_one(x);
    const Eigen::Map<const Rows> b(y.values.data(), static_cast<Eigen::Index>(y.rows),
                                   static_cast<Eigen::Index>(y.columns));
    Eigen::MatrixXd normal = a.transpose() * a;
    normal.diagonal().head(a.cols() - 1).array() += kShrinkage;
    normal(a.cols() - 1, a.cols() - 1) += 1e-9;
    weights_ = normal.ldlt().solve(a.transpose() * b);
    return ok();
  }
  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    const Eigen::MatrixXd y = with_one(inputs_.rows(p, rows)) * weights_;
    FeatureMatrix out{rows.size(), static_cast<std::size_t>(y.cols()), {}};
    for (Eigen::Index r = 0; r < y.rows(); ++r) {
      for (Eigen::Index k = 0; k < y.cols(); ++k) out.values.push_back(y(r, k));
    }
    return out;
  }

 private:
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  static constexpr double kShrinkage = 10;
  static Eigen::MatrixXd with_one(const FeatureMatrix& x) {
    Eigen::MatrixXd a(static_cast<Eigen::Index>(x.rows), static_cast<Eigen::Index>(x.columns) + 1);
    a.leftCols(a.cols() - 1) = Eigen::Map<const Rows>(x.values.data(), a.rows(), a.cols() - 1);
    a.col(a.cols() - 1).setOnes();
    return a;
  }
  Normalised inputs_;
  Eigen::MatrixXd weights_;
};

class KnnModel final : public RelativeModel {
 public:
  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind, const Random&,
             Diagnostics&) override {
    x_ = inputs_.fit(p, rows);
    y_ = p.target(rows);
    return ok();
  }
  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    const FeatureMatrix x = inputs_.rows(p, rows);
    FeatureMatrix y{x.rows, y_.columns, std::vector<double>(x.rows * y_.columns, 0)};
    const std::size_t nearest = std::min(kNeighbours, x_.rows);
    std::vector<std::pair<double, std::size_t>> distances(x_.rows);
    for (std::size_t r = 0; r < x.rows; ++r) {
      for (std::size_t t = 0; t < x_.rows; ++t) {
        double sum = 0;
        for (std::size_t c = 0; c < x.columns; ++c) sum += std::pow(x.at(r, c) - x_.at(t, c), 2);
        distances[t] = {sum, t};
      }
      std::partial_sort(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(nearest), distances.end());
      for (std::size_t n = 0; n < nearest; ++n) {
        for (std::size_t k = 0; k < y.columns; ++k)
          y.at(r, k) += y_.at(distances[n].second, k) / static_cast<double>(nearest);
      }
    }
    return y;
  }

 private:
  static constexpr std::size_t kNeighbours = 5;
  Normalised inputs_;
  FeatureMatrix x_, y_;
};

class TreeModel final : public RelativeModel {
 public:
  explicit TreeModel(const TreeOptions& o) : options_(o) {}
  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind, const Random& random,
             Diagnostics&) override {
    inputs_ = CounterInputs::fit(*p.data, rows, InputKind::Counters);
    trees_ = Trees::fit(inputs_.rows(*p.data, rows), p.target(rows), options_, random);
    return ok();
  }
  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    return trees_.predict(inputs_.rows(*p.data, rows));
  }

 private:
  TreeOptions options_;
  CounterInputs inputs_;
  Trees trees_;
};

}  // namespace

std::unique_ptr<RelativeModel> make_mean_model() { return std::make_unique<MeanModel>(); }
std::unique_ptr<RelativeModel> make_lookup_model() { return std::make_unique<LookupModel>(); }
std::unique_ptr<RelativeModel> make_linear_model() { return std::make_unique<LinearModel>(); }
std::unique_ptr<RelativeModel> make_knn_model() { return std::make_unique<KnnModel>(); }
std::unique_ptr<RelativeModel> make_forest_model() { return std::make_unique<TreeModel>(TreeOptions{.trees = 100}); }
std::unique_ptr<RelativeModel> make_boosting_model() {
  return std::make_unique<TreeModel>(TreeOptions{
      .kind = TreeOptions::Kind::Boosting, .trees = 200, .least_leaf = 3, .deepest = 3, .column_share = 0.5});
}

}  // namespace perfc
