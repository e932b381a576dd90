#pragma once
/// What running sums take.
#include "whitebox/launch/planned_graph.h"

namespace perfc {

/// What a kernel's threads do, and in how many blocks.
struct Scan {
  double clocks = 0;       ///< of an SM, of all blocks
  double steps = 0;        ///< of a thread, one load after the other
  double blocks = 0;       ///< thread blocks; 0: nothing waits
  double blocks_held = 0;  ///< of these, what an SM holds at once; 0: all
};

/// Of a call that scans (OpDef::scans), as PyTorch's kernels do it (aten/src/ATen/native/cuda/ScanUtils.cuh). Along the
/// last axis blocks of 512 threads walk over some rows at a time, two elements a thread, and scan them in shared memory
/// by Sklansky's method; along another one a thread walks down a column. One row alone is CUB's, which waits for
/// nothing. Empty where the type is not static.
Scan scan_of(const PlannedGraph&, NodeId);

}  // namespace perfc
