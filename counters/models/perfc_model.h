#pragma once
/// Ours: costs per kind of work and machine (cost_model.h), corrected by the mean of extremely
/// randomised trees and a kernel regression on counters, amounts of work and their ratios.
///
///   ln time = ln time by costs + shrinkage × correction(inputs)
///
/// Corrections know siblings of what they have seen and mislead elsewhere; how much of them
/// helps with what will be held back is measured by holding back the same
/// within the training rows, and so is the sharpness. What a machine's data sheet says of a
/// cost is where its fit begins and is pulled to.
#include <map>

#include "counters/models/cost_model.h"
#include "counters/models/kernel_regression.h"
#include "counters/models/relative_model.h"
#include "counters/models/trees.h"

namespace perfc {

class PerfcModel final : public RelativeModel {
 public:
  enum class Correction : unsigned char { None, Trees };
  explicit PerfcModel(Correction correction) : correction_(correction) {}
  Status fit(const CounterProblem&, std::span<const std::size_t> rows, SplitKind, const Random&, Diagnostics&) override;
  FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows) const override;

  double shrinkage() const { return shrinkage_; }
  /// Nine of ten held-back predictions of `fit` were no further off than this, in ln.
  double interval() const { return interval_; }

  void save(std::vector<NamedTensor>&, std::map<std::string, double>& settings) const;
  /// `names`: the columns of `fit`; machines: outputs.
  Status restore(const CounterDataset& names, std::size_t machines, const std::vector<NamedTensor>&, const std::map<std::string, double>& settings, Diagnostics&);

 private:
  struct Parts {
    std::vector<MachineCosts> costs;  ///< per machine
    CounterInputs inputs;
    Trees trees;
    KernelRegression likeness;
  };
  static std::vector<MachineCosts> fit_machines(const CounterProblem&, std::span<const std::size_t> rows, double sharpness);
  Parts fit_parts(const CounterProblem&, std::span<const std::size_t> rows, double sharpness, std::size_t least_leaf, std::size_t trees,
                  const Random&) const;
  static FeatureMatrix by_costs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows);
  static FeatureMatrix correction(const Parts&, const CounterProblem&, std::span<const std::size_t> rows, const FeatureMatrix& by_costs);
  /// Inputs of the correction: the columns, and what the costs say.
  static FeatureMatrix correction_inputs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows, const FeatureMatrix& by_costs);

  void measure_interval(const CounterProblem&, const std::vector<std::vector<std::size_t>>& folds, std::span<const std::size_t> rows, double sharpness,
                        std::size_t leaf, const Random&);

  Correction correction_;
  Parts parts_;
  double shrinkage_ = 0, interval_ = 0;
};

}  // namespace perfc
