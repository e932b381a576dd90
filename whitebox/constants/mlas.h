#pragma once
/// ONNX Runtime's CPU provider: whitebox/launch/blocked_layout.cpp, whitebox/price/mlas_time.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// Channels of a block with AVX-512, and of which a number must be a multiple to be filled up to blocks.
/// [onnxruntime/core/mlas/lib/platform.cpp, NchwcBlockSize; nchwc_transformer.cc]
inline constexpr double kMlasBlock = 16, kMlasChannels = 4;
/// FLOP of a core in what the table of operators calls a clock: two multiply-adds of 256 bits. [counted]
inline constexpr double kMlasClockFlops = 32;
/// 1: of a core's peak, what convolutions in blocks and other products reach. [cpu]
inline constexpr double kMlasConvolution = 0.97, kMlasProduct = 0.96;
/// Clocks per element: of gathering windows to rows, or packing a second operand that is data; of adding up and writing
/// a convolution's result otherwise than in blocks. [cpu]
inline constexpr double kMlasPacking = 1, kMlasWriting = 0.55;
/// Clocks of a depthwise convolution in blocks per block of a result: per element of its window, besides, and at the
/// edges of a row, by its length and at most. [cpu]
inline constexpr double kMlasTap = 1.07, kMlasBlockOf = 1.7, kMlasEdges = 148, kMlasEdge = 12;
/// Clocks per unit of work of operators whose row says none. [cpu]
inline constexpr double kMlasFlop = 0.3;
/// Byte per clock of a core from its caches, and share of the last one's size that data finds. [cpu]
inline constexpr double kCpuCacheBytes = 21, kCpuCacheShare = 0.5;
/// Sharpness of the larger of arithmetic and traffic. [cpu]
inline constexpr double kCpuOverlap = 4;
/// µs until all threads have begun and ended. [cpu]
inline constexpr double kCpuThreadsUs = 2.5;

}  // namespace perfc::constants
