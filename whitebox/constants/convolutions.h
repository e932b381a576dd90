#pragma once
/// Convolutions as products: whitebox/price/kernel_problems.cpp, product_price.cpp.
/// [Sources]: whitebox/constants/README.md.
#include <cstdint>

namespace perfc::constants {

/// Byte that a step takes of the channels of a convolution's position, unless there are fewer. [CUTLASS,
/// media/docs/implicit_gemm_convolution.md]
inline constexpr double kPositionStep = 64;
/// Channels that kernels for a network's first layer take in 16 bits, and the fewest that kernels in TF32 take. [cuDNN,
/// by name: first_layer, nchwToNhwc3To4Kernel, nhwc_align4]
inline constexpr double kFirstChannels = 4, kTf32Channels = 4;
/// Convolutions on vector units: positions of a tile of Winograd's F(4×4, 3×3) along an axis, and products per tile.
/// [Lavin and Gray, CVPR 2016]
inline constexpr double kWinogradTile = 4, kWinogradProducts = 36;
/// Columns of k that the kernels of implicit products take at a time. [cuDNN, by name: tilesize128x32x8, …32x32x8]
inline constexpr double kWindowStep = 8;
/// 1: what the arithmetic of implicit products, and Winograd's algorithm with its transforms, take beside cuBLAS'
/// products of their extents. NeuSight's on P4, P100, V100 and T4. [studies/kernels/convolution.py]
inline constexpr double kImplicitTime = 1.26, kWinogradTime = 1.45;
/// Elements of the window that Winograd's algorithm takes, along an axis. [there]
inline constexpr std::int64_t kWinogradWindow = 3;
/// Channels of an image that is a picture: TensorRT's kernels for it compute no activation but ReLU. [two engines of
/// YOLO: docs/whitebox.md]
inline constexpr double kImageChannels = 4;

}  // namespace perfc::constants
