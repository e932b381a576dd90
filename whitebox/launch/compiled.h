#pragma once
/// What TorchInductor runs for a graph.
#include "whitebox/launch/kernel_maker.h"
#include "whitebox/launch/plan_writer.h"

namespace perfc {

/// One kernel per group of fused calls; bytes are what crosses the groups' borders,
/// in 16 bits where only matrix units read it: casts are part of the kernel that writes.
void plan_compiled(const PlannedGraph&, const KernelMaker&, PlanWriter&);

}  // namespace perfc
