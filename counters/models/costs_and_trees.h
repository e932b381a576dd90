#pragma once
/// What `perfc` is where kernels, suites or applications are to be predicted of which training saw nothing.
///
///   ln time = ½ ln time by costs + ½ what extremely randomised trees say
///
/// Costs (cost_model.h) extrapolate as physics does and know nothing of likeness; trees on counters, amounts of work
/// and their ratios never leave what they have seen. Their errors are little alike, and on some tens of kernels the
/// mean of two such errs less than weights that are fitted to them (Bates and Granger 1969; Claeskens et al. 2016, "The
/// forecast combination puzzle"): other shares have to beat it clearly on what validation holds back.
///
/// - Where amounts of work hold times on the machine of the profile, costs are the mean of two fits, by all work and by
///   the program's own: a time that waits for memory in other ways than the target's is no share of the target's.
/// - Beside a reference, whose times are known, trees predict ln of seconds; else, where relative times alone are asked
///   for, they say costs and what costs leave over of training rows.
/// - No machine is faster than its data sheet: trees' times are at least the longest that one kind of work takes at
///   the machine's peak (the roofline; Williams et al. 2009).
#include "counters/models/machine_costs.h"
#include "counters/models/relative_model.h"
#include "counters/models/trees.h"

namespace perfc {

class CostsAndTrees final : public StoredModel {
 public:
  Status fit(const CounterProblem&, std::span<const std::size_t> rows, SplitKind, const Random&, Diagnostics&) override;
  FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows) const override;

  void save(Checkpoint&) const override;
  Status restore(const CounterDataset& names, std::size_t machines, const Checkpoint&, Diagnostics&) override;
  /// Does the checkpoint hold one?
  static bool holds(const Checkpoint&);
  double base(const CounterProblem&, std::size_t row) const override;
  std::optional<double> interval() const override { return interval_; }
  std::vector<std::string> words() const override;
  std::string findings() const override;

 private:
  /// Costs by one choice of kinds of work.
  struct Reading {
    WorkKinds kinds;
    double sharpness = 1;
    std::vector<MachineCosts> costs;  ///< per machine
  };
  struct Parts {
    std::vector<Reading> readings;
    CounterInputs inputs;
    Trees trees;
    FeatureMatrix peak;  ///< machines × kinds of work, seconds per unit by data sheets; 0: not known
  };
  static Parts fit_parts(const CounterProblem&, std::span<const std::size_t> rows, std::vector<Reading>, InputKind,
                         std::size_t trees, const Random&);
  /// Rows × machines, ln of seconds: the readings' mean.
  static FeatureMatrix log_seconds_by_costs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows);
  static FeatureMatrix by_costs(const Parts&, const CounterProblem&, std::span<const std::size_t> rows);
  static FeatureMatrix by_trees(const Parts&, const CounterProblem&, std::span<const std::size_t> rows);

  Parts parts_;
  double share_ = 0;  ///< of the trees
  double interval_ = 0;
};

}  // namespace perfc
