#pragma once
/// How well a model orders and scales machines for workloads that it did not see.
#include "counters/models/relative_model.h"

namespace perfc {

/// Of predictions against targets, rows × machines, both in ln of relative times. With a
/// reference, `order` and what follows count it among the machines, at 0.
struct RelativeMetrics {
  double r2 = 0;           ///< 1 − squared error / squared deviation from each machine's mean
  double ratio_error = 0;  ///< median of |predicted / true ratio − 1|
  double order = 0;        ///< share of workloads with all machines in the right order
  double pairs = 0;        ///< share of pairs of machines in the right order
  double auc = 0;          ///< area under the ROC curve of "has the majority order"; NaN if all or none have
  double top1 = 0;         ///< share of workloads whose predicted fastest machine is it
  double regret = 0;       ///< mean of time on the predicted fastest / on the fastest − 1
};
struct MetricRow {
  std::string_view name;
  double RelativeMetrics::*value;
  enum class Shown : unsigned char { Number, Percent } shown;
};
std::span<const MetricRow> metric_table();

enum class ReferenceColumn : unsigned char { No, Yes };
/// `majority`: targets of the training rows, whose most frequent order is the majority's.
RelativeMetrics measure(const FeatureMatrix& prediction, const FeatureMatrix& target, const FeatureMatrix& majority,
                        ReferenceColumn);

/// A metric over seeds: mean, and half the width of its 95 % confidence interval (Student's t).
struct MeanOverSeeds {
  double mean = 0, half_width = 0;
};
MeanOverSeeds mean_over_seeds(std::span<const double>);

/// Where a split's models are measured.
enum class MeasuredOn : unsigned char {
  HeldBack,  ///< on what the split holds back
  /// on folds of its training rows, each by a model that did not see it: for choosing between models without a look at
  /// what is reported
  Training,
};

struct CounterEvalOptions {
  std::vector<std::string> models;  ///< names of `relative_model_table`
  SplitKind split = SplitKind::Random;
  std::uint64_t seeds = 10;
  std::uint64_t first_seed = 1;
  VaeTraining vae;  ///< of `vae-dnn`
  MeasuredOn on = MeasuredOn::HeldBack;
  std::vector<std::string> without;  ///< applications that are neither trained nor measured on
  std::size_t folds = 0;             ///< but for Random: this many groups of what is held back; 0: each alone
};

/// What a model said of a workload that was held back.
struct HeldBackPrediction {
  std::string_view model;
  std::uint64_t seed = 0;
  std::size_t workload = 0;                 ///< of the dataset
  std::vector<double> predicted, measured;  ///< per machine of the problem
};

/// Per model, per row of `metric_table`. Random: a fifth is held back, drawn anew per seed.
/// Else every kernel, application or suite is held back in turn, and its predictions by a model that saw none of it are
/// measured together.
/// `predictions`: where to put them all, or null.
Result<std::vector<std::vector<MeanOverSeeds>>> evaluate_counters(
    const CounterProblem&, const CounterEvalOptions&, Diagnostics&,
    std::vector<HeldBackPrediction>* predictions = nullptr);

}  // namespace perfc
