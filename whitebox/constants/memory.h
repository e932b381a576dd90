#pragma once
/// What a run needs in memory: whitebox/memory/memory.cpp, convolution_workspace.cpp, on_device.cpp.
/// [Sources]: whitebox/constants/README.md.
#include <cstdint>

namespace perfc::constants {

/// Byte of a row's mean and 1/deviation, float32. [counted]
inline constexpr double kStatisticsBytes = 8;
/// Byte of cuBLAS' workspace, ":4096:2:16:8". [aten/src/ATen/cuda/CublasHandlePool.cpp]
inline constexpr double kProductWorkspace = 2 * 4096 * 1024 + 8 * 16 * 1024;
/// 1: Winograd's tiles beside their values, 6×6 of 4×4: F(4×4, 3×3). [Lavin and Gray, CVPR 2016]
inline constexpr double kForwardTiles = 36.0 / 16;
/// 1: the same of gradients; of 36, 45, 54 and 64 sixteenths the nearest to GPUMemNet's rows. [memory]
inline constexpr double kGradientTiles = 45.0 / 16;
/// Padded images transformed at a power of two between these, or tiles. [cuDNN API reference, cudnnConvolutionForward]
inline constexpr double kNarrowestTransform = 8, kWidestTransform = 256, kTransformTile = 32;
/// Events per GiB of a convolution's data: a monitor sees its search, as a Poisson process. GPUMemNet. [memory]
inline constexpr double kSeenPerGib = 0.116;
/// 1: odds of the need that is shown. (our choice)
inline constexpr double kShownOdds = 0.1;
/// 1: of the upper end of the 90 % interval. (its meaning)
inline constexpr double kUpperOdds = 0.05;
/// Factor on what the allocator reserves: with it 90 % of the runs of networks whose context others told lie within
/// their interval, MIGProfiler's and GPUMemNet's in the mean. [memory]
inline constexpr double kReservedInterval = 1.15;

// ---- PyTorch's caching allocator [c10/cuda/CUDACachingAllocator.cpp]
inline constexpr std::uint64_t kMib = 1024 * 1024;
inline constexpr std::uint64_t kRounding = 512;                                  ///< byte: kMinBlockSize
inline constexpr std::uint64_t kSmall = kMib, kSmallSegment = 2 * kMib;          ///< byte: kSmallSize, kSmallBuffer
inline constexpr std::uint64_t kMedium = 10 * kMib, kMediumSegment = 20 * kMib;  ///< byte: kMinLargeAlloc, …
inline constexpr std::uint64_t kLargeRounding = 2 * kMib;                        ///< byte: kRoundLarge

}  // namespace perfc::constants
