#pragma once
/// A trained model of relative performance as a file, and its answers for new workloads.
#include "counters/models/likely_inputs.h"
#include "counters/models/relative_model.h"
#include "gnn/checkpoint.h"

namespace perfc {

/// What a prediction says of one workload on one machine.
struct RelativeTime {
  std::string machine;
  double log_ratio = 0;      ///< ln of the time relative to the reference's, or to the machines' mean
  double low = 0, high = 0;  ///< of log_ratio: holds 9 of 10 workloads like those that were held back in training
};

struct WorkloadPrediction {
  std::string workload;
  std::vector<RelativeTime> machines;  ///< as in training; the reference last, at 0
  double log_base_s = 0;             ///< ln of the seconds that log_ratio is relative to; NaN: the model does not tell
  std::vector<std::string> words;    ///< of its region's name, those that the model reads
  std::vector<std::string> missing;  ///< columns that the workload lacks: "counter:NAME", "work:NAME", "time:MACHINE"
};

class CounterPredictor {
 public:
  /// Trains a row of `stored_model_table` on all measured workloads of the problem.
  static Result<CounterPredictor> train(const StoredModelRow&, const VaeTraining&, const CounterProblem&, SplitKind,
                                        std::uint64_t seed, Diagnostics&);
  Checkpoint checkpoint(std::map<std::string, std::string> provenance) const;
  static Result<CounterPredictor> open(const std::string& path, Diagnostics&);
  /// From a file's bytes.
  static Result<CounterPredictor> parse(std::string_view bytes, Diagnostics&);

  /// Columns and machines that it was trained on, the reference last; no workloads.
  const CounterDataset& names() const { return names_; }
  const std::vector<std::string>& machines() const { return machines_; }
  const std::string& reference() const { return reference_; }
  /// What training found, for people; may be empty.
  std::string findings() const { return model_->findings(); }

  /// The data's workloads with the columns of `names`, in that order; NaN where the data lacks one.
  CounterDataset aligned(const CounterDataset&) const;
  /// Of workloads with the columns of `names`. Where some are NaN, what they most likely were stands in
  /// (likely_inputs.h), and the interval is wider by what other likely values would change.
  std::vector<WorkloadPrediction> predict(const CounterDataset& aligned) const;

 private:
  static Result<CounterPredictor> of_checkpoint(const Checkpoint&, Diagnostics&);
  WorkloadPrediction predict_one(const CounterDataset::Workload&) const;
  CounterDataset names_;
  std::vector<std::string> machines_;
  std::string reference_;  ///< empty: none
  std::string_view kind_;  ///< StoredModelRow::checkpoint
  std::unique_ptr<StoredModel> model_;
  double interval_ = 0;  ///< nine of ten held-back predictions were no further off than this, in ln
  LikelyInputs likely_;
};

}  // namespace perfc
