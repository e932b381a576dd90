#pragma once
/// Kernels that memory bounds: whitebox/price/memory_bound_time.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// What the SMs need of one kind; clocks of an SM that is full, or of a row alone on it. [kernels], all rows below
struct MemoryBound {
  double row = 0, column = 0, byte = 0;  ///< clocks per row, per element of it, per byte read or written
  double alone = 0, alone_column = 0;    ///< clocks of one row, and per element of it
  double again = 0;                      ///< further passes over what it reads, which the L2 cache may hold by then
  double step = 0;                       ///< columns that a warp loads at a time; 0: as many as there are
  double lanes = 0;                      ///< 1: of these clocks, what is arithmetic on the 64 lanes that they are for
  double resident = 0;                   ///< rows on an SM at a time [thread blocks of 128 and of 1,024 of 2,048]
  double overlap = 1;                    ///< p of the p-norm of memory and SMs: 1, nothing hides; large, all does
};
inline constexpr double kLanes = 64;  ///< float32 lanes of an SM of the chips that most rows are from: V100, T4, A100
inline constexpr MemoryBound kElementwiseTime{.byte = 0.06, .overlap = 7.65};
inline constexpr MemoryBound kSoftmaxWarpTime{.column = 0.171, .overlap = 1};
/// Clocks per row beside that, whose columns a warp fills up to a power of two. [hopper]
inline constexpr double kSoftmaxRowClocks = 14;
/// cuDNN's batch norms channels first, of `byte_clocks` for `kLanes`; `lanes`: an H200's take 0.094 and, 16 bits, 0.15.
/// [hopper]
inline constexpr MemoryBound kBatchNormTime{.byte = 0.0608, .lanes = 0.6, .overlap = 8.39};
/// Longer rows: a thread block keeps its row in registers (cunn_SoftMaxForwardReg, since PyTorch 2.7; 3,411 clocks of a
/// row of 4,096, in 16 bits as in 32) or, beyond them, reads it twice. [hopper; kernels]
inline constexpr MemoryBound kSoftmaxBlockTime{.column = 0.833, .resident = 2, .overlap = 3.3};
inline constexpr MemoryBound kSoftmaxTwiceTime{.column = 1.31, .again = 1.19, .resident = 2, .overlap = 3.3};
inline constexpr MemoryBound kLayerNormTime{.row = 442,
                                            .column = 0.412,
                                            .alone_column = 3.62,
                                            .again = 1.01,
                                            .step = 128,
                                            .lanes = 0.216,
                                            .resident = 16,
                                            .overlap = 3.35};
/// 1: of what a layer norm's rows take, those of an RMS norm, which is the same kernel (layer_norm_kernel.cu,
/// vectorized_layer_norm_kernel) without a mean. [studies/hopper/fit_elements.py]
inline constexpr double kRmsNormRows = 0.53;
inline constexpr MemoryBound kGatherTime{.column = 1.78, .alone = 5340, .overlap = 1.14};
/// Clocks per row where a gather of few rows walks over them: an index, then what it points to. [kernels]
inline constexpr double kSmallGatherClocks = 1310;
/// Rows up to which it does. [Indexing.cu, index_select_out_cuda_impl]
inline constexpr double kSmallGatherRows = 16;
/// Columns up to which a warp keeps a row of softmax in registers, and up to which a block does: nine of each of 1,024
/// threads. [SoftMax.cu, host_softmax, PyTorch 2.10]
inline constexpr double kSoftmaxWarpColumns = 2048, kSoftmaxBlockColumns = 9 * 1024;

}  // namespace perfc::constants
