#pragma once
/// Kernels of any kind: whitebox/price/roofline.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// µs per step of a thread that waits for its own loads. efficientformerv2: 0.29, 0.24, 0.33 on the three. [timm]
inline constexpr double kSerialStepUs = 0.28;
/// 1: of the L2 cache, what kernels can hand to each other in it. Small models at batch 256. [timm]
inline constexpr double kCacheShare = 0.5;
/// 1: how much faster than memory it is. Small models at batch 256, RTX 4090 against 3090. [timm]
inline constexpr double kCacheGain = 3;
/// 1: of the L2 cache, what a kernel moves is found there up to this. [kernels]
inline constexpr double kCacheUse = 0.683;
/// Byte per second that a thread block loads where few of them share the memory: 512 threads with 16 byte each on their
/// way for 0.6 µs are 13.7 · 10⁹, an A100's whole bandwidth by its SMs 14.4. [counted; data sheet]
inline constexpr double kBlockBandwidth = 14.4e9;
/// Byte that a thread loads at once. [CUTLASS, media/docs/implicit_gemm_convolution.md]
inline constexpr double kVectorLoad = 16;
/// µs between the ends of kernels on a stream, which launches in a graph do not have: so the products' tables were
/// measured, but for GeForce's.
inline constexpr double kStreamGapUs = 1.3;  // [hopper]

}  // namespace perfc::constants
