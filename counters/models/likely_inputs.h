#pragma once
/// What a profile that lacks some of a model's columns most likely held there.
///
/// One normal distribution over all columns of the training rows: counters (those that span
/// magnitudes by ln (1 + x)), ln of amounts of work, ln of the reference's seconds. Given the
/// known ones the missing ones have a mean and a spread (Bishop 2006, equations 2.81, 2.82):
/// the mean is predicted from, draws tell how much wider the prediction's interval is.
/// Counters that training rows lack too stay missing: the model has learned what that means.
#include "counters/data/counter_dataset.h"
#include "gnn/random.h"
#include "gnn/safetensors.h"

namespace perfc {

class LikelyInputs {
 public:
  static LikelyInputs fit(const CounterDataset&, std::span<const std::size_t> rows,
                          std::optional<std::size_t> reference);

  /// The workload with its missing numbers (NaN) at their means, then `draws` with them drawn;
  /// the workload alone where nothing is missing. Reference seconds stand last in `seconds`.
  std::vector<CounterDataset::Workload> complete(const CounterDataset::Workload&, std::size_t draws,
                                                 const Random&) const;
  /// Whether it lacks anything that `complete` would fill.
  bool lacks(const CounterDataset::Workload&) const;

  void save(std::vector<NamedTensor>&) const;
  static Result<LikelyInputs> restore(const std::vector<NamedTensor>&, std::size_t counters, std::size_t work,
                                      bool reference, Diagnostics&);

 private:
  std::size_t counters() const { return logarithmic_.size(); }
  std::vector<double> to_normal(const CounterDataset::Workload&) const;
  CounterDataset::Workload from_normal(const CounterDataset::Workload&, const std::vector<double>&) const;

  std::vector<double> logarithmic_;  ///< per counter: 1, or 0
  std::vector<double> masked_;       ///< per counter: 1 where training rows lack it too
  std::vector<double> none_;         ///< per kind of work: what ln stands for none
  std::vector<double> mean_;         ///< per column: counters, work, the reference
  FeatureMatrix covariance_;
};

}  // namespace perfc
