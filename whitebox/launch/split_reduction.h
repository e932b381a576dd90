#pragma once
/// How TorchInductor shares out reductions of few results: in two kernels, the first of which adds up parts.
#include "whitebox/launch/planned_graph.h"

namespace perfc {

/// A reduction's results, or the rows whose moments a norm wants, and the elements of each.
struct SplitReduction {
  double results = 0, length = 0;
  double parts = 1;  ///< of each result's elements; 1: one kernel does
};

/// Of a reduction or a norm of rows, groups or instances; of other calls one part. On every device as on one of 132
/// SMs.
/// [torch/_inductor/ir.py, Reduction.num_splits; choices.py, reduction_split_factor]
SplitReduction split_reduction(const PlannedGraph&, NodeId);

}  // namespace perfc
