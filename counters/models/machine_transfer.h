#pragma once
/// Times on a machine of which few are known, or none, from workloads' times on other machines
/// and from what data sheets say of all of them.
///
///   ln time = ln time by the machine's costs + Σ over known machines of weight × their residual
///
/// - Costs (cost_model.h) begin at the data sheet times what machines like it need of theirs: their efficiency.
///   Workloads measured on the machine pull them from there.
/// - A residual is what a known machine's costs leave over for the workload; machines alike leave over alike.
///   Weights begin at the likeness of data sheets and follow the measured workloads (Bayesian linear
///   regression; Bishop 2006, equations 3.50 to 3.54).
#include "counters/models/cost_model.h"
#include "counters/models/relative_model.h"

namespace perfc {

class MachineTransfer {
 public:
  /// What data sheets are silent on costs what it costs on average. Known machines need a few measured workloads each;
  /// `rows`: those of the new machine.
  static MachineTransfer fit(const CounterProblem&, std::span<const std::size_t> known, std::size_t machine,
                             std::span<const std::size_t> rows);
  /// With the known machines' costs at hand.
  static MachineTransfer fit(const CounterProblem&, std::span<const std::size_t> known, std::vector<MachineCosts> costs,
                             std::size_t machine, std::span<const std::size_t> rows);
  /// A machine's costs from all workloads measured on it.
  static MachineCosts costs_of(const CounterProblem&, std::size_t machine);
  /// ln seconds.
  double predict(const CounterProblem&, std::size_t row) const;
  /// Of the known machines, by data sheet; adds up to 1.
  const std::vector<double>& likeness() const { return likeness_; }

 private:
  std::vector<double> residuals(const CounterProblem&, std::size_t row) const;
  std::vector<std::size_t> known_;
  std::vector<MachineCosts> known_costs_;
  std::vector<double> likeness_, weights_;
  MachineCosts costs_;
  double offset_ = 0;
};

/// How well a machine is predicted from `samples` workloads measured on it, each of `machines` in turn left out.
struct AdaptationPoint {
  std::size_t samples = 0;
  std::vector<double> errors;          ///< ln predicted − ln measured, of all workloads but the samples
  std::vector<double> nearest_errors;  ///< of the baseline: the time on the likest machine, × the samples' median ratio
  std::vector<double> scores;          ///< R² of ln seconds, one per machine and seed
  std::vector<double> nearest_scores;
  double covered = 0;  ///< share of errors within `interval` of the other machines' errors
};
/// Nine of ten |errors|.
double interval_of(std::vector<double> errors);

struct AdaptationOptions {
  std::vector<std::size_t> samples{0, 1, 2, 5, 10, 20};
  std::uint64_t seeds = 5, first_seed = 1;
};
/// `machines`: at least three, each with more measured workloads than the largest number of samples.
std::vector<AdaptationPoint> learning_curve(const CounterProblem&, std::span<const std::size_t> machines,
                                            const AdaptationOptions&);

}  // namespace perfc
