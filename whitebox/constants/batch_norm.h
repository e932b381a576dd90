#pragma once
/// Batch norms by cuDNN's and by PyTorch's own kernels: whitebox/launch/batch_norm.cpp.
/// [Sources]: whitebox/constants/README.md.
#include "whitebox/constants/memory_bound.h"

namespace perfc::constants {

/// Clocks of an SM per byte of cuDNN's batch norm (bn_fw_inf_1C11_kernel_NCHW): 253.7 GB in 245.1 ms on an A800 of 108
/// SMs and 1.41 GHz, seven runs of DUF-52L in float32 [Weepingchestnut/LbasicSR, lbasicsr/archs/duf_arch.py]. On an RTX
/// 5070 Ti Laptop, ResNet-18's move 636 MB in 0.87 to 0.97 ms, in-place ReLUs 590 MB in 0.66.
/// [anshulk-cmu/HDAI---cuDNN-Profiling, docs, execution logs 1 and 2]
inline constexpr double kBatchNormByteClocks = 0.147;
/// … channels first with data in 16 bits, of which a byte is more elements: in training ResNet-50's under AMP at batch
/// 128 take 13.5 and 19.9 ms forwards and backwards on an A100 (bn_fw_tr_1C11_kernel_NCHW, bn_bw_1C11_kernel_new).
/// [profile]
inline constexpr double kBatchNormTrainingClocks16 = 0.2;
/// … in inference, of 64 lanes. [hopper]
inline constexpr double kBatchNormHalfClocks = 0.21;
/// Clocks of a plane at least, channels first; µs that one waits for its parameters and then its data. [hopper]
inline constexpr double kBatchNormPlaneClocks = 236, kBatchNormFirstUs = 1.7;
/// Thread blocks that keep an SM busy where the L2 cache holds what they read and write, and where memory does.
struct Busy {
  double cached, missed;
};
/// cuDNN's batch norm channels last (bn_fw_inf_1C11_kernel_NHWC), 16 and 32 bits: clocks of an SM per element, nearly
/// the same, for it counts indices, on lanes that Ampere's have as many of. [hopper]
inline constexpr double kBatchNormLastClocks16 = 0.78, kBatchNormLastClocks32 = 0.84;
inline constexpr Busy kBatchNormLastBusy{1.65, 2.9};
/// Elements of an image that a thread block takes, doubled up to so often until an image has no more than so many
/// blocks: as all 265 of the profiles' have it. [hopper]
inline constexpr double kBatchNormBlock = 8192, kBatchNormBlocks = 16;
inline constexpr int kBatchNormDoublings = 4;
/// PyTorch's own batch norm, of parameters in 16 bits: clocks of an SM per element channels last
/// (batch_norm_transform_input_channels_last_kernel), and channels first (batch_norm_transform_input_kernel), of a
/// plane at least. [hopper]
inline constexpr double kOwnBatchNormLastClocks = 0.4, kOwnBatchNormFirstClocks = 0.6, kOwnBatchNormPlaneClocks = 158;
inline constexpr Busy kOwnBatchNormBusy{2.1, 3};
/// Channels and elements of one that its thread block takes channels last, its threads, and blocks along a channel at
/// most (Normalization.cuh, flexible_launch_configs).
inline constexpr double kOwnBatchNormChannels = 32, kOwnBatchNormSerial = 16, kOwnBatchNormThreads = 512,
                        kOwnBatchNormBlocks = 128;

/// Threads of a block that adds up a norm's statistics, such blocks that an SM holds, and clocks that each of its
/// threads takes for an element: a load and Welford's step, whose division waits. Half of what a layer norm's kernel,
/// which reads four elements at a time twice, takes for them (kLayerNormTime, alone_column: 3.62 of 128 threads).
/// [group_norm_kernel.cu; cuda_utils::kCUDABlockReduceNumThreads; kernels]
inline constexpr double kStatisticsThreads = 512, kStatisticsHeld = 4, kStatisticsClocks = 926;
static_assert(kStatisticsClocks == static_cast<int>(kLayerNormTime.alone_column * 128 * 4 / 2),
              "fitted again with the layer norm's");

}  // namespace perfc::constants
