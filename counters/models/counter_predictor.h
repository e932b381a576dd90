#pragma once
/// A trained model of relative performance as a file, and its answers for new workloads.
#include "counters/models/perfc_model.h"
#include "gnn/checkpoint.h"

namespace perfc {

inline constexpr std::string_view kCounterModelName = "perfc-counters";

/// What a prediction says of one workload on one machine.
struct RelativeTime {
  std::string machine;
  double log_ratio = 0;   ///< ln of the time relative to the reference's, or to the machines' mean
  double low = 0, high = 0;  ///< of log_ratio: holds 9 of 10 workloads like those that were held back in training
};

class CounterPredictor {
 public:
  /// Trains on all measured workloads of the problem.
  static Result<CounterPredictor> train(const CounterProblem&, SplitKind, std::uint64_t seed, Diagnostics&);
  Checkpoint checkpoint(std::map<std::string, std::string> provenance) const;
  static Result<CounterPredictor> open(const std::string& path, Diagnostics&);

  const std::vector<std::string>& machines() const { return machines_; }
  const std::string& reference() const { return reference_; }
  double shrinkage() const { return model_.shrinkage(); }

  /// Per workload, per machine. Columns go by name: counters that the data lacks are missing,
  /// kinds of work and times on the reference have to be there.
  Result<std::vector<std::vector<RelativeTime>>> predict(const CounterDataset&, Diagnostics&) const;

 private:
  CounterDataset names_;                ///< columns and machines, the reference last; no workloads
  std::vector<std::string> machines_;
  std::string reference_;               ///< empty: none
  PerfcModel model_{PerfcModel::Correction::Trees};
};

}  // namespace perfc
