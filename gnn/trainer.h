#pragma once
/// Training: epochs of shuffled batches, Adam, early stopping, a log, and a state
/// file from which a killed run goes on as if nothing had happened. What is
/// trained is a TrainingTask (gnn/task.h): graphs, rows or anything else.
///
/// The same seed, samples, options and number of threads give the same weights,
/// bit for bit; so does a run that was killed and resumed. All randomness comes
/// from the seed and the step's number (gnn/random.h), none from time or order.
#include <functional>
#include <map>

#include "gnn/communicator.h"
#include "gnn/optimizer.h"
#include "gnn/task.h"

namespace perfc {

/// How far a run is, for a progress bar.
struct Progress {
  std::uint64_t epoch = 0, epochs = 0;  ///< from 1
  std::uint64_t step = 0, steps = 0;    ///< of the whole run, from 1
  double loss = 0;                      ///< of the step's batch
  double learning_rate = 0;
  double seconds = 0;       ///< since this process began to train
  double seconds_left = 0;  ///< at the mean speed so far
};
enum class Next : unsigned char { GoOn, Stop };

struct TrainOptions {
  std::uint64_t epochs = 10;
  std::size_t batch = 32;  ///< samples per step, over all ranks
  std::uint64_t seed = 1;
  std::size_t threads = 1;  ///< of this rank; 0: one per core
  Schedule schedule;
  AdamOptions adam;
  std::uint64_t patience = 0;  ///< epochs without a better validation loss until the run ends; 0: all epochs
  std::string state_path;      ///< empty: no state is kept. An existing state is resumed
  std::map<std::string, std::string> identity;   ///< what else a resumed run must share, e.g. a hash of the labels
  std::uint64_t save_every = 0;                  ///< steps between saves, beside the one after each epoch; 0: none
  std::string log_path;                          ///< JSON lines, one per epoch; empty: none
  std::function<Next(const Progress&)> on_step;  ///< Stop (of any rank): save the state and return
};

struct EpochLog {
  std::uint64_t epoch = 0, steps = 0;
  double train_loss = 0, validation_loss = 0;  ///< validation: NaN without samples
  double learning_rate = 0;                    ///< of the epoch's last step
};

enum class Ending : unsigned char { AllEpochs, EarlyStop, Stopped };

/// The parameters end as those of the best epoch by validation loss, or of the
/// last one without validation samples; after `Stopped`, as they were.
struct TrainReport {
  Ending ending = Ending::AllEpochs;
  std::uint64_t steps = 0;
  std::uint64_t best_epoch = 0;  ///< 0: none yet
  double best_loss = 0;
  std::vector<EpochLog> epochs;  ///< of this process
};

/// Fails on a loss that is not finite, on a state of another run (naming the
/// option that differs), and on files that cannot be read or written.
Result<TrainReport> train(TrainingTask&, const TrainOptions&, Communicator&, Diagnostics&);

/// Learning-rate range test (Smith, WACV 2017): the rate grows from low to high,
/// step by step, until the loss blows up. The parameters are left as they were.
struct RangeTestOptions {
  double low = 1e-7, high = 1;
  std::size_t steps = 100;
  std::size_t batch = 32;
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  AdamOptions adam;
};
struct RangeTest {
  struct Point {
    double learning_rate, loss, smoothed;
  };
  std::vector<Point> curve;
  double suggestion = 0;  ///< in the decade over which the smoothed loss falls most; 0: it never falls
};
Result<RangeTest> find_learning_rate(TrainingTask&, const RangeTestOptions&, Diagnostics&);

/// Indices 0..count−1 in the order of an epoch (Fisher and Yates).
std::vector<std::size_t> shuffled(std::size_t count, const Random&, std::uint64_t epoch);

}  // namespace perfc
