#pragma once
#include "whitebox/launch/kernel_maker.h"
#include "whitebox/launch/plan_writer.h"

namespace perfc {

/// Kernels of a session of ONNX Runtime: one per operator that is not computed from weights alone, each of which writes
/// its result in order; transposes, slices and broadcasts are copies. On the CPU provider convolutions and what stands
/// between them keep their data in blocks of channels; where it enters and leaves them, it is copied. On the CUDA
/// provider reshapes are no kernels (core/providers/cuda), and biases of products are.
void plan_session(const PlannedGraph&, const KernelMaker&, PlanWriter&);

}  // namespace perfc
