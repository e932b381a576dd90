#pragma once
/// Time of a kernel that memory bounds, or the multiprocessors' loads and stores: a share of the bandwidth alone says
/// neither what a small kernel takes nor what one takes that reads element by element. Two terms overlap:
///
///     memory           bytes · (1 − share that the L2 cache holds) / bandwidth
///     multiprocessors  max(rows / SMs · clocks of a row in a full SM, clocks of a row alone) / clock
///
/// A launch is not in it. Constants: whitebox/constants/memory_bound.h, one set for all GPUs, fitted on measured
/// kernels by studies/kernels/memory_bound.py.
namespace perfc {

/// Kernels of PyTorch that differ in what an SM does per row, element or byte.
enum class MemoryBoundKind {
  Elementwise,   ///< four elements per thread and load: vectorized_elementwise_kernel (CUDALoops.cuh); copies and casts
  Generated,     ///< by TorchInductor, in Triton: what its expressions compute hides behind what it moves, or is longer
  BatchNorm,     ///< cuDNN's channels first, whose `byte_clocks` are for 64 float32 lanes
  SoftmaxWarp,   ///< up to kSoftmaxWarpColumns: a warp keeps its row in registers (PersistentSoftmax.cuh)
  SoftmaxBlock,  ///< up to kSoftmaxBlockColumns: a thread block does (SoftMax.cu, cunn_SoftMaxForwardReg)
  SoftmaxTwice,  ///< more: a thread block per row reads it again for the sum (cunn_SoftMaxForward)
  LayerNorm,     ///< a thread block of four warps per row reads it twice (layer_norm_kernel.cu)
  Gather,        ///< a thread per element, which first loads its row's index (Indexing.cu, indexSelectLargeIndex)
};

struct MemoryBoundProblem {
  MemoryBoundKind kind = MemoryBoundKind::Elementwise;
  double rows = 0, columns = 0;  ///< of what it writes; columns: the axis that a row's threads share
  double read = 0, written = 0;  ///< bytes, each counted once
  double byte_clocks = 0;        ///< clocks of an SM per byte, where more than those of its kind
  double row_share = 1;          ///< 1: of what its kind takes for a row and its elements
  double least_clocks = 0;       ///< of one wave of rows, where more than its kind's
  double hot = 1;                ///< share of them that kernels before have just written or kernels behind read next
};

/// What it asks of a device.
struct MemoryFacts {
  double bandwidth = 0;  ///< byte/s that streams reach
  double l2_bytes = 0;
  double sms = 0;  ///< 0 where unknown: memory alone counts
  double clock_hz = 0;
  double lanes = 0;  ///< float32 lanes of an SM; 0: unknown, counts as 64
};

struct MemoryBoundTime {
  double memory_s = 0;          ///< DRAM alone
  double multiprocessor_s = 0;  ///< SMs alone
  double work_s = 0;            ///< both, as far as they overlap
};

/// Share that the L2 cache does not hold of what a kernel meets again after so many bytes.
double missed(const MemoryFacts&, double bytes);

MemoryBoundTime memory_bound_time(const MemoryBoundProblem&, const MemoryFacts&);

}  // namespace perfc
