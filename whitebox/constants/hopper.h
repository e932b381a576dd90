#pragma once
/// Kernels that only Hopper and data-centre Blackwell run: convolutions, training steps, attention.
/// Source of all where a line names none: profiles of one H200, `studies/hopper`; fit.py and fit_gradients.py there
/// print those of products, windows on lanes and training steps again, fit_inference.py those of groups, images,
/// depthwise windows, spectra, few rows and attention beside what ships.

namespace perfc::constants {

// ---- Products: whitebox/price/roofline.cpp
/// FLOP per clock and SM of a product with odd extents in TF32, which kernels of Ampere compute
/// (cutlass_80_tensorop_s1688gemm). GPT-2's 50,257 words, batches of 1 to 8: 122 TFLOP/s.
inline constexpr double kOddProduct32 = 466;
/// 1: of the rate of Hopper's tensor cores, what Ampere's instructions reach there. [Luo et al. 2024, arXiv 2402.13499]
inline constexpr double kMmaSyncShare = 0.63;

// ---- Convolutions by cuDNN 9 on Hopper and data-centre Blackwell: whitebox/price/hopper_convolution.cpp
/// µs of PyTorch's own depthwise kernel at least, and per element of its window, one after the other.
inline constexpr double kDepthwiseLeastUs = 1.6, kDepthwiseElementUs = 0.09;
/// Clocks of an SM per result and element of its window, channels last beyond 7×7, where cuDNN falls back on other
/// chips: as up to 7×7 in 32 bits. (our choice)
inline constexpr double kDepthwiseLastElement = 0.106;
/// A block that multiplies on float32 lanes: rows and columns; clocks of a full SM per element of k, and of an idle
/// one; its epilogue. Products (sm80_xmma_gemm_f32f32_…_ffma) and convolutions
/// (sm80_xmma_fprop_implicit_gemm_f32f32_…_ffma): neither splits k. µs beside them.
struct LaneTile {
  double rows, columns, clocks, alone, epilogue;
};
inline constexpr LaneTile kLaneProducts[] = {
    {32, 32, 23, 47.6, 31.8}, {128, 32, 53.5, 108.7, 1122}, {256, 64, 169.5, 169.5, 9749}};
inline constexpr LaneTile kLaneWindows[] = {
    {32, 32, 27.9, 62.3, 1287}, {128, 32, 70.3, 86.8, 2431}, {256, 64, 265.8, 265.8, 9287}};
inline constexpr double kLaneProductUs = 4.03, kLaneWindowUs = 3.16;
/// What TF32 takes longer where both operands lie across k, as a weights' gradient does: its wgmma reads them along k.
inline constexpr double kTf32Across = 1.35;
/// Parts into which k is split where both operands lie across it (cublasLt::splitKreduce_kernel), elements of k in one
/// at least, µs that adding them up takes, byte/s of partial sums.
inline constexpr double kLaneSplits[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
inline constexpr double kLeastSplit = 64, kLaneSplitUs = 3.2, kLaneSumRate = 5.5e12;
/// Products of up to so many rows have a kernel of their own (gemmSN_TN_kernel): µs, µs per element of k where blocks
/// of so many columns fill half of what the SMs hold.
inline constexpr double kFewRows = 16, kFewRowsUs = 3, kFewRowsStepUs = 0.006, kFewRowsColumns = 8;
/// Convolutions as products of their spectra (fft2d_r2c_32x32, of complex numbers): positions of a tile, frequencies of
/// one; real FLOP of a complex product; FLOP/s that these reach of the lanes' peak; µs per plane of weights, of data.
inline constexpr double kSpectrumTile = 32, kFrequencies = 544, kComplexFlops = 8, kSpectrumShare = 0.6,
                        kSpectrumWeightUs = 2.3e-3, kSpectrumDataUs = 2.6e-3;
/// Kernels per group (implicit_convolve_sgemm), blocks as above; of images (indexed kernels). What channels last take
/// longer (convolve_common_engine_float_NHWC). µs beside them.
inline constexpr LaneTile kLaneGroups{32, 32, 52.5, 120, 0}, kLaneImages{32, 32, 26.2, 90, 0},
    kIndexedImages{32, 32, 40, 90, 0};
/// The same blocks by mma.sync (cutlass_80_tensorop_…_align2): windows of one element in 16 bits channels first, a
/// product per image, where a plane's bytes are multiples of kMmaBytes and not of kTmaBytes (14 × 14). µs beside them.
inline constexpr LaneTile kOddPlanes[] = {
    {32, 32, 5.4, 5.4, 3414}, {64, 64, 17.6, 25.9, 374}, {128, 128, 25.2, 39.8, 5178}};
inline constexpr double kOddPlaneUs = 3.1;
/// Elements of the window from which images take indexed kernels again.
inline constexpr double kIndexedWindow = 16 * 16;
inline constexpr double kLaneGroupUs = 2.16, kLaneGroupsLast = 1.3;
/// µs of all groups of one image at once (conv2d_grouped_direct_kernel).
inline constexpr double kDirectGroupsUs = 25;
/// Clocks of an SM per result of a kernel of its own for groups (of 4 to 64 channels, in multiples of 32 groups): 16
/// bits, TF32. µs of one at least.
inline constexpr double kGroupClocks16 = 0.95, kGroupClocks32 = 1.5, kGroupLeastUs = 4.5;
/// What else pads its groups by kernels of tensor transforms. Channels last: clocks per element of the data, of the
/// result, and µs; up to `kFewGroups` groups are cut apart, three kernels each. Channels first the same.
struct PaddedGroups {
  double data, result, us, group_us;
};
inline constexpr double kFewGroups = 4;
inline constexpr PaddedGroups kPaddedLast{2.5, 4.24, 36, 0}, kCutLast{0.97, 1.75, 0, 10.9},
    kPaddedFirst{0.4, 3.1, 26, 0};
/// Images of up to four channels on tensor cores, without shared memory (indexed_wo_smem): rows and columns of a tile;
/// its clocks per element of the window and besides, in a full SM and alone.
inline constexpr double kImageRows = 128, kImageColumns = 32, kImageElementClocks = 131, kImageTileClocks = 1290,
                        kImageAlone = 490, kImageAloneClocks = 2900;
/// The image that has a kernel of its own: 7 × 7 with strides of 2 to 64 channels in 16 bits
/// (image_first_layer_…_k64c4r7s7_stride2x2). Clocks per element of filling its channels up (nhwcAddPaddingKernel).
inline constexpr double kOwnImageWindow = 49, kOwnImageStride = 4, kOwnImageChannels = 64, kImagePaddingClocks = 1.5;
/// What data-centre Blackwell's convolutions with windows take beside its products, as Hopper's. (our choice)
inline constexpr double kBlackwellWindows = 1.4;
/// … or in blocks of channels filled up (cutlass_tensorop_…fprop_optimized): elements of a tile and its columns at
/// most; µs per element of the window, and besides.
inline constexpr double kFilledTile = 128 * 128, kFilledColumns = 128, kFilledElementUs = 0.3, kFilledUs = 2;
/// Elements of the window up to which float32 lanes multiply images that lie channels first (implicit_convolve_sgemm,
/// precomputed_convolve_sgemm).
inline constexpr double kLaneImageWindow = 4 * 4;
/// Clocks per element of k of a window that has one position (a VGG's first layer after its last pooling): channels
/// first, and in bfloat16, float32 lanes multiply it in blocks that walk over all of k (precomputed_convolve_sgemm).
inline constexpr double kOnePositionClocks = 240;
/// Byte of which an image's positions must be a multiple for TMA, and for kernels of mma.sync (cutlass_80_tensorop), to
/// load them as they lie.
inline constexpr double kTmaBytes = 16, kMmaBytes = 4;

// ---- Layer norms on Hopper: whitebox/price/roofline.cpp
/// 1: of a row's clocks, what data in 16 bits takes (rows of 32 to 1,024 columns 0.72 to 0.77). Clocks of one wave of
/// rows at least, and per column. [studies/hopper/fit_elements.py, whose least mean error is at 0.76, 4,720 and 1.5]
inline constexpr double kHalfLayerNorm = 0.76, kLayerNormWave = 4720, kLayerNormWaveColumn = 1.5;

// ---- Training steps on Hopper: whitebox/price/hopper_training.cpp
/// Of windows of one element channels first: what a gradient of the data reaches of the peak that the convolution does
/// by kernels of mma.sync; what the weights' takes longer, for its products of single images are added up
/// (reduce_wgrad_nchw_helper), where an image's positions are no multiple of kTmaBytes, and in TF32.
inline constexpr double kPointsShare = 0.7, kOddPoints = 2.2, kTf32Points = 1.4;
/// Clocks of an SM per position of the weights' gradient of an image of up to four channels, and per element of the
/// window and tile of so many output channels: 16, 32 bits.
inline constexpr double kImageGradientClocks = 45, kImageGradientChannels = 64, kImageGradientElement16 = 1,
                        kImageGradientElement32 = 2;
/// Blocks on float32 lanes, of the data; µs beside them.
inline constexpr LaneTile kLaneGradients[] = {{32, 32, 21.4, 76.9, 770}, {128, 64, 115, 115, 53900}};
inline constexpr double kLaneGradientUs = 4.6;
/// A kernel's µs, what it takes of the arithmetic at the lanes' peak, and of the traffic of data and result: of
/// weights, in tiles of so many channels (wgrad_alg0_engine_NHWC), by Winograd (winogradWgradDelta4x4), of data by
/// spectra (fft2d_r2c_32x32); µs per plane of its weights.
struct LaneGradient {
  double us, arithmetic, traffic;
};
inline constexpr double kLaneGradientTile = 32, kSpectralWeightsUs = 1e-3;
inline constexpr LaneGradient kLaneWeights{4.3, 3.15, 2.9}, kWinogradWeights{19, 0.28, 13},
    kSpectralData{75, 0.28, 15.5};

/// A batch norm in training, forwards and backwards: µs, clocks of an SM per element, and clocks per element of a
/// channel, which a thread block walks over.
struct BatchNormClocks {
  double us, element, row;
};
struct BatchNormKernels {
  BatchNormClocks once[2], first[2], last[2];  ///< what a block holds of a channel; channels first; channels last
};
/// cuDNN's (bn_fw_tr_1C11_singleread, bn_fw_tr_1C11_kernel_NCHW, batchnorm_fwtr_nhwc_semiPersist and their backward
/// kernels), 16 and 32 bits; PyTorch's of weights in 16 bits (batch_norm_collect_statistics_kernel,
/// batch_norm_transform_input_kernel, batch_norm_backward_kernel).
inline constexpr BatchNormKernels kCudnnBatchNorm16{
    {{7.7, 0.36, 0}, {8.1, 0.67, 0}}, {{0, 0.53, 1.13}, {0, 0.56, 2.4}}, {{8.6, 0.36, 0.112}, {8, 0.56, 0.12}}},
    kCudnnBatchNorm32{
        {{9, 0.5, 0}, {8.5, 1.39, 0}}, {{6.5, 0.57, 0.76}, {6.1, 0.58, 2.6}}, {{7.7, 0.83, 0.082}, {7.1, 1.2, 0.07}}},
    kOwnBatchNorm{{}, {{9.8, 1.4, 1.17}, {3.5, 1.43, 2.8}}, {{12.4, 1, 0.25}, {10.6, 0.9, 0.11}}};
/// Byte of a channel, of all that is read of it, that a thread block holds. 1: of what three passes forwards and five
/// backwards move, the part that reaches memory (the H200's clocks are what its memory takes for it).
inline constexpr double kReadOnceBytes = 120e3, kBatchNormTraffic = 0.85;

// ---- Fused attention on Hopper: whitebox/price/hopper_attention.cpp
inline constexpr double kHopperClock = 1.98e9;  ///< Hz at which the µs below were measured
/// cuDNN's kernel (cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma): queries and keys of a tile; µs of a
/// block, per tile of keys, per channel of one; of a mask per tile, whose rows are multiples of so many elements or
/// not; of the call. 1 of its tiles, and tiles, that a causal block meets as the last wave leaves them. Fewest queries.
inline constexpr double kCudnnTile = 128, kCudnnBlockUs = 1.27, kCudnnTileUs = 0.63, kCudnnChannelUs = 0.0075,
                        kCudnnMaskUs = 1.26, kCudnnOddMaskUs = 4.26, kCudnnMaskStep = 8, kCudnnUs = 3.4,
                        kCudnnCausalShare = 0.62, kCudnnCausalTiles = 2.4, kLeastCudnnQueries = 17;
/// The memory-efficient kernel in 32 bits (fmha_cutlassF_f32_aligned_64x64_rf_sm80): µs of an SM per tile of 64
/// queries and keys, up to 64 channels and per 128; of a block alone; what a mask makes of it.
inline constexpr double kHopperEfficientUs = 5.04, kHopperEfficientWideUs = 6.76, kHopperEfficientAloneUs = 8.6,
                        kHopperEfficientMask = 1.02;

}  // namespace perfc::constants
