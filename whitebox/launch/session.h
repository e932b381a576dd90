#pragma once
#include "whitebox/launch/kernel_maker.h"
#include "whitebox/launch/plan_writer.h"

namespace perfc {

/// Kernels of a session of ONNX Runtime's CPU provider: one per operator that is not computed from weights alone, each
/// of which writes its result in order; transposes, slices and broadcasts are copies. Convolutions and what stands
/// between them keep their data in blocks of channels; where it enters and leaves them, it is copied.
void plan_session(const PlannedGraph&, const KernelMaker&, PlanWriter&);

}  // namespace perfc
