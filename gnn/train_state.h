#pragma once
/// What a run has to remember to go on after a kill. Private to the trainer.
#include <limits>

#include "gnn/checkpoint.h"
#include "gnn/trainer.h"

namespace perfc {

struct TrainState {
  std::uint64_t step = 0;  ///< steps done
  double epoch_loss = 0;   ///< sum of the losses of this epoch's steps so far
  std::uint64_t best_epoch = 0;
  double best_loss = std::numeric_limits<double>::infinity();
  std::vector<NamedTensor> best;  ///< parameters of the best epoch; empty before the first
  std::uint64_t log_bytes = 0;    ///< the log up to here belongs to the steps done
};

/// Writes the state with the parameters and the optimiser's moments.
Status save_state(const TrainState&, const TrainOptions&, TrainingTask&, Adam&, Diagnostics&);

/// Reads it back; refuses the state of a run with other options or samples.
Result<TrainState> load_state(const TrainOptions&, TrainingTask&, Adam&, Diagnostics&);

}  // namespace perfc
