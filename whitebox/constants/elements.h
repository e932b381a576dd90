#pragma once
/// Kernels whose elements take longer than memory does, and reductions.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

// ---- Elements: whitebox/launch/element_clocks.cpp
/// Clocks of an SM per result of a pooling and per element of its windows, over which a thread per result walks
/// (DilatedMaxPool2d.cu, AveragePool2d.cu): of 3 × 3 and 2 × 2, 16 and 32 bits alike. [hopper] An A100's of 3 × 3 take
/// 4.0 and, channels last, 4.6 per result. [profile]
struct WindowClocks {
  double result, element;
};
inline constexpr WindowClocks kPoolingFirst{2.05, 0.238}, kPoolingLast{3.9, 0.1};
/// The same of its gradient, for which a thread per element of the data walks over the windows that hold it: 2.28 and
/// 1.46 ms there. [profile]
inline constexpr double kPoolingGradientFirst = 1.51, kPoolingGradientLast = 0.97;
/// Clocks of an SM per element written where kernels count and divide indices (elementwise_kernel, offset calculators):
/// broadcasts and strided operands, 16 and 32 bits; operands of 16 and 32 bits together, which are cast one by one
/// (unrolled_elementwise_kernel, LoadWithCast), and those that are indexed, too; rolls, per axis (roll_cuda_kernel).
/// All of the next lines: [hopper]
inline constexpr double kIndexedClocks16 = 0.7, kIndexedClocks32 = 0.8, kMixedClocks = 1.03, kMixedIndexedClocks = 1.09,
                        kRollClocks = 1.2;
/// … times as many where copies turn rows to columns. On Hopper alone: an RTX 3090's and PyTorch 2.4's, in 500 runs of
/// networks, show 0.08 ± 0.19 of it.
inline constexpr double kTransposed = 2;
/// … concatenations along the axis that lies innermost (CatArrayBatchedCopy_alignedK_contig), and of strided parts.
inline constexpr double kConcatenatedRows = 0.63, kConcatenatedStrided = 1.3;
/// … at least, per thread block: each part gets as many as its largest asks for, 512 elements a block, 16 byte a thread
/// where parts are whole pieces, and no more than 32 for each SM (of an H200: devices are not asked for theirs).
/// [Shape.cu, parallel_cat; hopper: DenseNet-121's]
inline constexpr double kConcatenatedBlockClocks = 170, kConcatenatedBlock = 512, kConcatenatedBlocks = 4224;
/// … upsampling: nearest, channels first and last (UpSampleNearest2d.cu); bilinear, channels last
/// (UpSampleBilinear2d.cu).
inline constexpr double kNearestFirst = 0.75, kNearestLast = 1.65, kLinearLast = 2.4;
/// … GELU in 16 bits, whose error function takes longer than its memory.
inline constexpr double kGeluClocks16 = 0.34;
/// … casts from 16 to 32 bits, which are not loaded in vectors (unrolled_elementwise_kernel).
inline constexpr double kWideningClocks = 0.76;

// ---- Reductions: whitebox/launch/reduction.cpp
/// Clocks of an SM per row that a reduction's warp takes (reduce_kernel<512, 1>), however short it is: an A100's take
/// 54 [profile]; and per element read where it walks over columns (reduce_kernel<128, 4>): large ones take
/// 0.17 to 0.2, with short ones, which wait, 0.3 fits. [hopper]
inline constexpr double kReducedRowClocks = 59, kReducedColumnClocks = 0.2;
/// … per row of argmax and argmin. [hopper]
inline constexpr double kFoundRowClocks = 201;
/// µs that a reduction takes beside a launch, however little it adds up, and per load of a thread, one after the other:
/// rows; columns, of which a thread has four at a time or fewer; what adding up the sums of several blocks takes.
/// [hopper]
inline constexpr double kReducedRowUs = 1.45, kRowLoadUs = 0.225, kReducedColumnUs = 2.44, kColumnLoadUs = 0.26,
                        kNarrowColumnLoadUs = 0.11, kSplitColumnUs = 3;
/// Thread blocks of 512 that a device of 132 SMs holds, up to which blocks share a row. [Reduce.cuh, target_grid_size]
inline constexpr double kReductionBlocks = 528;

}  // namespace perfc::constants
