#pragma once
/// Ours: costs per kind of work and machine (cost_model.h), corrected by extremely
/// randomised trees on counters, amounts of work and their ratios.
///
///   ln time = ln Σ cost × work + shrinkage × trees(inputs)
///
/// Trees know siblings of what they have seen and mislead elsewhere; how much of their
/// correction helps with what will be held back is measured by holding back the same
/// within the training rows, and so is the sharpness. What a machine's data sheet says of a
/// cost is where its fit begins and is pulled to.
#include "counters/models/cost_model.h"
#include "counters/models/relative_model.h"
#include "counters/models/trees.h"

namespace perfc {

class PerfcModel final : public RelativeModel {
 public:
  enum class Correction : unsigned char { None, Trees };
  explicit PerfcModel(Correction correction) : correction_(correction) {}
  Status fit(const CounterProblem&, std::span<const std::size_t> rows, SplitKind, const Random&, Diagnostics&) override;
  FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows) const override;

 private:
  struct Parts {
    std::vector<MachineCosts> costs;  ///< per machine
    CounterInputs inputs;
    Trees trees;
  };
  static std::vector<MachineCosts> fit_machines(const CounterProblem&, std::span<const std::size_t> rows, double sharpness);
  Parts fit_parts(const CounterProblem&, std::span<const std::size_t> rows, double sharpness, std::size_t least_leaf, std::size_t trees,
                  const Random&) const;
  static FeatureMatrix by_costs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows);
  /// Inputs of the trees: the columns, and what the costs say.
  static FeatureMatrix tree_inputs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows, const FeatureMatrix& by_costs);

  Correction correction_;
  Parts parts_;
  double shrinkage_ = 0;
};

}  // namespace perfc
