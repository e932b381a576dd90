#pragma once
/// PMGNS (DIPPM, arXiv 2303.11733) as a predictor: latency, memory and energy as its checkpoint's outputs cover them,
/// the rest from the whitebox.
#include "gnn/checkpoint.h"
#include "gnn/models/pmgns.h"
#include "gnn/task.h"
#include "whitebox/predictor.h"

namespace perfc {

Result<std::unique_ptr<Predictor>> open_pmgns(Checkpoint, OpaquePolicy, Diagnostics&);

/// Outputs of one sample, in the network's units.
std::vector<double> run(Pmgns<float>&, const GraphSample&, ThreadPool&);

}  // namespace perfc
