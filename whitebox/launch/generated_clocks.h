#pragma once
/// What the kernels that TorchInductor writes compute of each element, beside what they move: roots, divisions and
/// exponentials take an SM longer than memory takes for 16 bits where that is fast.
#include "whitebox/launch/planned_graph.h"

namespace perfc {

/// Clocks of an SM, of all elements that a call computes within such a kernel; 0: no more than its loads and stores.
double generated_clocks(const PlannedGraph&, NodeId);

}  // namespace perfc
