#pragma once
/// Training steps: whitebox/launch/training_step.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// What the kernels of a step take of the time that inference's would per byte and MAC: published steps wait a little
/// between them, or multiply more slowly than profiles do. docs/whitebox.md, "What profiles of training say".
inline constexpr double kTrainingStep = 1.1;
/// … and what the host's calls take that autograd records forwards and its engine makes backwards: 40 steps of 22
/// models that wait for an H200's host say 1.37, 18 of 20 others on another's 1.68.
/// [studies/hopper/judge.py, calls alone, of judge-training and fit]
inline constexpr double kTrainingCalls = 1.5;
/// 1: of the vector units' peak, times √channels: gradients of groups that have no kernel. regnet, nfnet. [timm]
inline constexpr double kGroupGradient = 0.0095;
/// Groups come in multiples of so many, and have so many channels at most, where there is one. regnet, resnest. [timm]
inline constexpr double kGradientGroups = 32, kGradientChannels = 32;
/// What a backward kernel moves against the forward one: the gradient and what was kept. [counted]
inline constexpr double kBackwardBytes = 3.0 / 2.0;
/// The same of a norm, which reads both twice (for the sums, for the result), and what it computes. [counted]
inline constexpr double kNormBackwardBytes = 5.0 / 2.0, kNormBackwardFlops = 2;
/// What a batch norm moves in training against inference: one more pass for statistics. [counted]
inline constexpr double kBatchStatisticsBytes = 3.0 / 2.0;
/// What a layer norm's gradient of its data takes of what it takes forwards, by its rows. Rows up to which a block
/// walks over all of them for the parameters' gradient; clocks per row. [hopper]
inline constexpr double kLayerNormBackward = 0.72, kManyRows = 64 * 1024, kParameterRowClocks = 6.5;
/// Columns of a block that adds them up, blocks that run at once, and elements of a column from which on blocks share
/// it. [aten/src/ATen/native/cuda/Reduce.cuh: 32 × 4 threads, 4 columns and at least 16 elements each; 16 blocks on
/// each of an H200's SMs] Clocks of a sum besides, of the last block, per block whose sums it reads, so many at most.
/// [hopper]
inline constexpr double kSumBlockColumns = 128, kSumBlocks = 16 * 132, kLeastSummed = 64, kSumClocks = 5700,
                        kSumTailClocks = 7700, kSumBlockClocks = 119, kMostSumBlocks = 1024;
/// An optimizer's pass over all weights: elements that it reads and writes of each, tensors of a launch at most.
/// [torch/optim/adam.py, _multi_tensor_adam, and sgd.py; depth_to_max_tensors in
/// aten/src/ATen/native/cuda/MultiTensorApply.cuh]
struct OptimizerPass {
  double moved, tensors;
};
inline constexpr OptimizerPass kSgdPasses[] = {{3, 64}}, kMomentumPasses[] = {{2, 110}, {3, 64}, {3, 64}},
                               kAdamPasses[] = {{3, 64}, {2, 110}, {3, 48}, {2, 64}, {2, 96}, {2, 110}, {4, 48}};
/// Elements of a chunk, chunks of a launch at most. [there]
inline constexpr double kChunk = 65536, kMostChunks = 320;

}  // namespace perfc::constants
