#pragma once
/// `costs`, and what `perfc` is where siblings of what is asked for were in training (random splits): costs per kind of
/// work and machine (cost_model.h), corrected by extremely randomised trees, a kernel regression and small networks on
/// counters, amounts of work and their ratios, and words of regions' names.
///
///   ln time = ln time by costs + Σ of weight × correction(inputs), weights ≥ 0, at most 1 together
///
/// and, where held-back workloads agree, half of that and half of what a launch and a rate per kernel say
/// (launch_and_rate.h). Corrections know siblings of what they have seen and mislead elsewhere; how much of which helps
/// with what will be held back is measured by holding back the same within the training rows, and so are the sharpness,
/// the size of the trees' leaves, and whether words are read at all. What a machine's data sheet says of a cost is
/// where its fit begins and is pulled to.
#include <array>

#include "counters/models/kernel_regression.h"
#include "counters/models/launch_and_rate.h"
#include "counters/models/machine_costs.h"
#include "counters/models/networks.h"
#include "counters/models/relative_model.h"
#include "counters/models/trees.h"

namespace perfc {

class CorrectedCosts final : public StoredModel {
 public:
  enum class Correction : unsigned char { None, ByLikeness };
  explicit CorrectedCosts(Correction correction) : correction_(correction) {}
  Status fit(const CounterProblem&, std::span<const std::size_t> rows, SplitKind, const Random&, Diagnostics&) override;
  FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows) const override;

  void save(Checkpoint&) const override;
  Status restore(const CounterDataset& names, std::size_t machines, const Checkpoint&, Diagnostics&) override;
  /// The reference's, or the machines' mean as costs tell it.
  double base(const CounterProblem&, std::size_t row) const override;
  std::optional<double> interval() const override { return interval_; }
  std::vector<std::string> words() const override;
  std::string findings() const override;

  /// How much the corrections count, all together.
  double shrinkage() const { return weights_[0] + weights_[1] + weights_[2]; }

 private:
  struct Parts {
    std::vector<MachineCosts> costs;  ///< per machine
    CounterInputs inputs;
    Trees trees;
    KernelRegression likeness;
    Networks networks;
    CounterInputs counters;
    Networks direct;                ///< on counters alone, of the whole relative time; if `step_` has a share
    LaunchAndRate launch_and_rate;  ///< if `rate_share_` is not 0
  };
  /// What validation chooses, and how much effort goes into one fit.
  struct Choice {
    double sharpness = 1;
    InputKind inputs = InputKind::CountersAndWork;
    std::size_t least_leaf = 1;
    std::size_t trees = 200;
    NetworkOptions networks;
  };
  /// How far a prediction goes towards the direct networks': this share of the way, and no further than the limit, in
  /// ln.
  struct Step {
    double share = 0, limit = 0;
  };
  static const Step kStep;
  /// Predictions for held-back rows, all folds one after the other.
  struct HeldBack;

  Result<Parts> fit_parts(const CounterProblem&, std::span<const std::size_t> rows, const Choice&, const Random&,
                          Diagnostics&) const;
  static FeatureMatrix by_costs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows);
  /// Of trees, likeness and networks.
  using Weights = std::array<double, 3>;
  static std::array<FeatureMatrix, 3> corrections(const Parts&, const CounterProblem&,
                                                  std::span<const std::size_t> rows, const FeatureMatrix& by_costs);
  /// Inputs of the correction: the columns, and what the costs say.
  static FeatureMatrix correction_inputs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows,
                                         const FeatureMatrix& by_costs);
  static Trees fit_trees(const FeatureMatrix& x, const FeatureMatrix& left, const Choice&, const Random&);

  static Status fit_direct(Parts&, const CounterProblem&, std::span<const std::size_t> rows, const Random&,
                           Diagnostics&);
  static FeatureMatrix by_direct(const Parts&, const CounterProblem&, std::span<const std::size_t> rows);
  static FeatureMatrix stepped(FeatureMatrix y, const FeatureMatrix& direct, const Step&);

  Result<HeldBack> hold_back(const CounterProblem&, std::span<const std::size_t> rows,
                             const std::vector<std::vector<std::size_t>>& folds, const Choice&, const Random&,
                             Diagnostics&) const;

  /// What was held back, all folds one after the other.
  struct Validation {
    const std::vector<std::vector<std::size_t>>& folds;
    const FeatureMatrix& target;
  };
  /// Decides on a further part of the prediction: `best` is what the parts so far say of what was held back, and then
  /// what they say with it, if it was taken.
  Status consider_step(const CounterProblem&, std::span<const std::size_t> rows, const Validation&, FeatureMatrix& best,
                       const Random&, Diagnostics&);
  void consider_launch_and_rate(const CounterProblem&, std::span<const std::size_t> rows, const Validation&,
                                FeatureMatrix& best);

  Correction correction_;
  Parts parts_;
  Weights weights_{};
  Step step_;
  double rate_share_ = 0;  ///< of launch_and_rate in the prediction
  double interval_ = 0;
};

}  // namespace perfc
