#pragma once
/// What norms add up before they normalise, where PyTorch has a kernel for it.
#include <optional>

#include "whitebox/launch/kernels.h"
#include "whitebox/launch/planned_graph.h"

namespace perfc {

/// Means and variances of a norm's data: `rows` of them, each of `length` elements.
struct NormStatistics {
  double rows = 0, length = 0;
};

/// Those of group norms and of instance norms in inference: a kernel reads the data, a thread block per row
/// (aten/src/ATen/native/cuda/group_norm_kernel.cu, RowwiseMomentsCUDAKernel; Normalization.cuh,
/// batch_norm_collect_statistics_kernel), before another one reads it again. Others are part of the norm's kernel.
std::optional<NormStatistics> norm_statistics(const PlannedGraph&, NodeId);

/// `kernel`, which reads the data, held to what its threads take, an element after the other, `width` byte each.
void limit_statistics(const NormStatistics&, double width, Kernel& kernel);

}  // namespace perfc
