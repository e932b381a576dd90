#pragma once
/// Training of PMGNS (gnn/models/pmgns.h).
#include "learning/training.h"

namespace perfc {

/// The request's model is one of `pmgns_names`.
Result<TrainOutcome> train_pmgns(const TrainRequest&, Communicator&, Diagnostics&);
Result<RangeTest> find_pmgns_rate(const TrainRequest&, Diagnostics&);

}  // namespace perfc
