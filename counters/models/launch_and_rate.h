#pragma once
/// Time as a launch and a rate: seconds on machine m = e^u + e^v × work, where work is the geometric mean of the kinds
/// of it, and u and v are each
///
///   constant(m) + inputs · weights(m) + effect of the region(m) + effect of the application(m)
///
/// — a launch that a kernel always costs, and what the machine makes of its work. Effects are Gaussian around nothing
/// (a mixed-effects model: Laird and Ware, Biometrics 1982), and most of each is shared by all machines. So a kernel's
/// times at one size say what it will take at another: less than in proportion where it is launches that were measured.
/// Fitted to logarithms of times by Gauss–Newton, in the dual (Rasmussen and Williams 2006, section 2.1.2).
#include <map>

#include "counters/models/networks.h"
#include "counters/models/relative_model.h"

namespace perfc {

class LaunchAndRate {
 public:
  /// Inputs are counters and logarithms of work: the columns of CounterInputs ahead of ratios.
  static LaunchAndRate fit(const CounterProblem&, std::span<const std::size_t> rows, const CounterInputs&);
  /// Rows × machines, in the units of `CounterProblem::target`.
  FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows, const CounterInputs&) const;

  void save(const std::string& prefix, std::vector<NamedTensor>&) const;
  static Result<LaunchAndRate> restore(const std::string& prefix, const std::vector<NamedTensor>&,
                                       const CounterDataset& names, const CounterInputs&, std::size_t machines,
                                       Diagnostics&);

 private:
  static FeatureMatrix columns(const CounterDataset&, std::span<const std::size_t> rows, const CounterInputs&);
  /// ln of the work of rows of `columns`.
  std::vector<double> log_work(const FeatureMatrix&) const;

  Normaliser normaliser_;
  ColumnRange range_;
  std::vector<double> kinds_;  ///< per column, its share of ln work
  FeatureMatrix weights_;      ///< constant and columns × machines of u, then of v
  /// By name: per machine those of u, then those of v.
  std::map<std::string, std::vector<double>> regions_, applications_;
};

}  // namespace perfc
