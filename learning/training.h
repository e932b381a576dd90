#pragma once
/// What `perfc train` is asked for and what it returns; learning/predictors.h trains.
#include "gnn/trainer.h"
#include "learning/pmgns_data.h"

namespace perfc {

/// What happens to the state that an earlier, unfinished run left behind.
enum class Resume : unsigned char {
  No,   ///< it is thrown away
  Yes,  ///< the run goes on from it, to the bytes of an unbroken run; without a state it begins
};

/// Whether "corrected" also trains networks that leave out a device and a fold of
/// families at once. They only go into the file of held-out predictions.
enum class LeaveOutBoth : unsigned char { No, Yes };

/// What only "corrected" reads.
struct CorrectedRequest {
  std::string device_file;  ///< devices of the user's own; empty: none
  std::size_t folds = 5;    ///< of families: as many networks
  std::string held_out;     ///< CSV of its networks' predictions of what each left out; empty: none
  LeaveOutBoth leave_out_both = LeaveOutBoth::No;
  bool keep_left_out = false;  ///< also write OUT.without.DEVICE, the predictor of one without runs on it
  friend bool operator==(const CorrectedRequest&, const CorrectedRequest&) = default;
};

/// What only PMGNS reads.
struct PmgnsRequest {
  Recipe recipe = Recipe::Published;
  std::optional<LossKind> loss;  ///< empty: the recipe's
  friend bool operator==(const PmgnsRequest&, const PmgnsRequest&) = default;
};

struct TrainRequest {
  std::string model = "pmgns-sage";  ///< one of trainable_models()
  std::string data;                  ///< labels, see learning/dataset.h
  std::string split;                 ///< file of the split; empty: random_split by the seed
  std::string out;                   ///< checkpoint; its state is kept beside it, in OUT.state
  LabelFilter filter;
  CorrectedRequest corrected;
  PmgnsRequest pmgns;

  // Empty: the predictor's own, or its recipe's.
  std::optional<std::size_t> batch;
  std::optional<double> learning_rate;
  std::optional<Schedule::Shape> schedule;

  std::uint64_t epochs = 10, patience = 0, save_every = 0;
  std::uint64_t seed = 1;
  std::size_t threads = 0;  ///< per rank; 0: one per core
  Resume resume = Resume::No;
  std::string log;  ///< JSON lines; empty: none
  std::function<Next(const Progress&)> on_step;
};

struct TrainOutcome {
  TrainReport report;
  std::size_t training = 0, validation = 0, left_out = 0;  ///< labels
};

/// "step,learning_rate,loss,smoothed" lines.
std::string to_csv(const RangeTest&);

}  // namespace perfc
