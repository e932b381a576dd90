#pragma once
/// What eager PyTorch launches for a graph.
#include "whitebox/launch/kernel_maker.h"
#include "whitebox/launch/plan_writer.h"

namespace perfc {

/// A kernel per call, after autocast's casts for it and what has to be copied before it.
void plan_eager(const PlannedGraph&, const KernelMaker&, PlanWriter&);

}  // namespace perfc
