#pragma once
/// Every number of the whitebox that no data sheet has: value, unit, what it is, where it is from and what refits it.
/// Constants of single devices (shares of peaks, costs of a launch) are in data/devices.json, of kernels that only run
/// on Hopper in hopper_constants.h.
///
/// Sources, at the end of each line:
///   [timm]       by hand on timm's runs on RTX 3090, 4090 and 5090, with the models that the line names;
///                `studies/timm_whitebox.py` says how well all of them are then predicted
///   [NeuSight]   by hand on NeuSight's measured operators; `studies/fit_operators.py` says how well
///   [kernels]    measured kernels: `studies/kernels/memory_bound.py`, `studies/kernels/attention.py` and
///                `studies/kernels/fit_products.py` print it; docs/judged.md says how well it does
///   [square]     square products that others timed: `studies/kernels/square_products.py`
///   [efficient]  CUTLASS's attention as its authors timed it: `studies/kernels/efficient_attention.py`
///   [hopper]     profiles of one H200: `studies/hopper`
///   [memory]     `studies/fit_memory.py` prints it
///   [power]      `studies/fit_power.py` prints it
///   [cpu]        by hand on operators in ONNX Runtime on an EPYC 9004: `studies/cpu/operators.csv`
///   [counted]    what the kernels read and write, element by element
///   [FILE]       a fact of PyTorch, TorchInductor or cuDNN: the file or the documentation that says it
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace perfc::constants {

inline constexpr double kBytesPerMib = 1024.0 * 1024.0;  ///< byte/MiB

// ---- Kernels in general: whitebox/price/roofline.cpp
/// 1: of the tensor cores' rate with loads of two elements (even extents). eva02_large: 2730 columns. [timm]
inline constexpr double kNarrowLoads = 0.65;
/// µs per step of a thread that waits for its own loads. efficientformerv2: 0.29, 0.24, 0.33 on the three. [timm]
inline constexpr double kSerialStepUs = 0.28;
/// Rows, columns, depth of the tiles of batched products of odd extents. volo: 9×9 by 9×32. [timm]
inline constexpr double kTileRows = 128, kTileColumns = 64, kTileDepth = 16;
/// 1: of the L2 cache, what kernels can hand to each other in it. Small models at batch 256. [timm]
inline constexpr double kCacheShare = 0.5;
/// 1: how much faster than memory it is. Small models at batch 256, RTX 4090 against 3090. [timm]
inline constexpr double kCacheGain = 3;

// ---- Dense products: whitebox/price/matmul_time.cpp
/// Rows and columns of a CTA's tile: those of CUTLASS' kernels, and further ones of Hopper's and Blackwell's.
/// [github.com/NVIDIA/cutlass, media/docs/profiler.md; names of cuBLAS' kernels]
struct ProductTile {
  double m, n;
};
inline constexpr ProductTile kProductTiles[] = {
    {16, 32},   {16, 64},   {16, 128},  {32, 32},  {32, 64},  {32, 128},  {64, 16},   {64, 32},  {64, 64},
    {64, 128},  {64, 256},  {128, 16},  {128, 32}, {128, 64}, {128, 128}, {128, 256}, {256, 64}, {256, 128},
    {256, 256}, {128, 192}, {192, 128}, {64, 192}, {128, 96}, {96, 128},  {256, 192}, {64, 96},  {96, 64}};
inline constexpr std::size_t kAllTiles = std::size(kProductTiles);
inline constexpr std::size_t kMmaTiles = 19;  ///< of them, those of kernels without TMA
/// CTAs that share a tile's k. (our choice)
inline constexpr double kProductSplits[] = {1, 2, 3, 4, 6, 8, 16, 32};
/// Elements of a full tile, and such tiles in flight on an SM: what its registers accumulate. [counted]
inline constexpr double kFullTile = 128 * 128, kTilesAtOnce = 2;
/// Byte of a row that a step along k reads: 64 elements of 16 bits. [CUTLASS' default tiles]
inline constexpr double kStepBytes = 128;
/// Byte that a thread loads at once, and that a step takes of the channels of a convolution's position, unless there
/// are fewer. [CUTLASS, media/docs/implicit_gemm_convolution.md]
inline constexpr double kVectorLoad = 16, kPositionStep = 64;
/// Channels that kernels for a network's first layer take in 16 bits, and the fewest that kernels in TF32 take. [cuDNN,
/// by name: first_layer, nchwToNhwc3To4Kernel, nhwc_align4]
inline constexpr double kFirstChannels = 4, kTf32Channels = 4;
/// Convolutions on vector units: positions of a tile of Winograd's F(4×4, 3×3) along an axis, and products per tile.
/// [Lavin and Gray, CVPR 2016]
inline constexpr double kWinogradTile = 4, kWinogradProducts = 36;
/// 1: what implicit products, and Winograd's algorithm with its transforms, take beside cuBLAS' products of their
/// extents. NeuSight's on P4, P100, V100 and T4. [studies/kernels/convolution.py]
inline constexpr double kImplicitTime = 1.22, kWinogradTime = 1.43;
/// Byte of an element of the narrowest weights: 4 bits. [ONNX, MatMulNBits]
inline constexpr double kNarrowestWeight = 0.5;
/// Byte of a partial sum of split-K. [counted]
inline constexpr double kSumBytes = 4;
/// 1: of the L2 cache's rate, what products of one row reach. A100, L40S. [kernels]
inline constexpr double kGemvL2Share = 0.5;
/// 1: of the shorter of arithmetic and traffic, what does not hide in TF32 on data-centre chips, at least. Fitted to
/// MIGProfiler's BERTs on slices of an A100 of 40 GB. [studies/fit_mig.py; square products on H100 and H20 agree]
inline constexpr double kTf32Exposed = 0.85;
inline constexpr double kFlopsOfTeraflop = 1e12;  ///< FLOP/TFLOP
/// How abruptly weights, data and the reads of a wave no longer fit in the L2 cache. [kernels]
inline constexpr double kWeightsSharpness = 8, kDataSharpness = 4, kWaveSharpness = 2;
/// W per TFLOP/s of peak in 16 bits from which on a graphics chip is like L40S (0.97), of which a factor was learned;
/// L4 (0.6) is not. (our choice)
inline constexpr double kLeastGraphicsPower = 0.75;
/// Rate of tensor cores in fp16 by the vector units' in fp32: 4 on A10, L4, L40S, RTX A6000; 2 on GeForce, which runs
/// them at half rate. This tells them apart. [NVIDIA's Ampere GA102 and Ada architecture whitepapers]
inline constexpr double kFullRate = 3;
inline constexpr double kNever = 1e12;  ///< ns of a reduction that no kernel does
/// What a chip class' kernels reach. Only their joint effect is identified: a launch and an epilogue, or a share above
/// 1 and what does not overlap, trade off.
struct ProductConstants {
  double launch_clocks;   ///< launch, prologue and drain
  double tensor_share;    ///< 1: of the peak, in full tiles
  double read_share;      ///< 1: of the memory's bandwidth, reading
  double write_share;     ///< 1: the same, writing
  double step_ns;         ///< latency of a step along k
  double stream_bytes;    ///< byte per clock that one CTA reads
  double l2_bytes_clock;  ///< byte per clock and SM that the L2 cache delivers
  double exposed;         ///< 1: of the shorter of arithmetic and traffic, what does not hide behind the longer
  double split_ns;        ///< adding up what split-K computed
  double gemv_clocks;     ///< launch of a product of one row
  double gemv_step_ns;    ///< its latency per step along k
  double power_share;     ///< 1: of the peak, what long work sustains at 1 W of TDP per TFLOP/s of peak …
  double power_exponent;  ///< … and how it grows with the W: 0.5 if power grows as f², 1 if it does as f
  double l2_share;        ///< 1: of the L2 cache's size, what operands find there
  double tile_ns;         ///< epilogue of a full tile
  double spill;           ///< 1: of what waves read again, what the L2 cache does not hold
  std::size_t tiles;      ///< of kProductTiles
  bool always_gemv;       ///< cuBLAS takes its GEMV for one row, whether or not another kernel were faster
};
/// By ChipClass: NeuSight's float32 on A100, and on P4, P100, V100 and T4 (with the launch of Graphics: NeuSight's has
/// the host's in it); L40S; RTX 3090 and 4090 (LLMServingSim's layers); A100; H100 and H200; B200, B300, GB200 and
/// GB300; NeuSight's float32 on MI100 and MI210 (with the launch of Graphics). [kernels] Of chips of which square
/// products alone were published, another class' but for a share and the power in TFLOP/s per W: float32 of H20, with
/// A100's steps and epilogues by the rate of an SM, and of L4, A40 and RTX 4090, power by process (RTX A2000 and A4000;
/// L4); 16 bits of RTX A2000 and A4000; V100; T4, between 24 TFLOP/s at 70 W (forums.developer.nvidia.com/t/264462) and
/// 41.6 (Jia et al., "Dissecting the NVidia Turing T4 GPU", 2019). [square]
// clang-format off
inline constexpr ProductConstants kProducts[] = {
    // launch_clocks  tensor_share  read_share  write_share  step_ns  stream_bytes  l2_bytes_clock  exposed  split_ns
    // gemv_clocks  gemv_step_ns  power_share  power_exponent  l2_share  tile_ns    spill      tiles  always_gemv
    // Vector
    {           4950,        0.965,      0.844,       0.602,    2440,          490,           22.6,   0.325,      338,
              5390,         10.8,           1,              0,   0.0501,   29200,   0.111, kMmaTiles,       false},
    // VectorHopper
    {           4950,        0.897,      0.844,       0.602,     869,          490,           22.6,   0.325,      338,
              5390,         10.8,           1,              0,   0.0501,   10400,   0.111, kMmaTiles,       false},
    // VectorPascal
    {           4950,        0.938,      0.774,       0.602,     484,           64,           21.8,   0.379,    26300,
              5390,         10.8,      0.0441,              1,     0.05,   21500,       2, kMmaTiles,       false},
    // VectorVolta
    {           4950,         1.05,      0.722,       0.601,    1390,           64,           29.2,   0.553,     7440,
              5390,         10.8,      0.0468,              1,    0.061,    7100,       2, kMmaTiles,       false},
    // VectorAmpere
    {           4950,        0.686,      0.844,       0.602,    2440,          490,           22.6,   0.325,      338,
              5390,         10.8,        0.08,              1,   0.0501,    5140,   0.111, kMmaTiles,       false},
    // VectorAda
    {           4950,        0.686,      0.844,       0.602,    2440,          490,           22.6,   0.325,      338,
              5390,         10.8,        0.15,              1,   0.0501,    5140,   0.111, kMmaTiles,       false},
    // Graphics
    {           4950,        0.951,      0.836,        0.76,     212,         29.9,             14,   0.378,     2240,
              5390,         10.8,       0.696,              1,    0.876,    2870,       2, kMmaTiles,        true},
    // GraphicsAmpere
    {           4950,        0.951,      0.836,        0.76,     212,         29.9,             14,   0.378,     2240,
              5390,         10.8,        0.41,              1,    0.876,    2870,       2, kMmaTiles,        true},
    // GeForce
    {           4950,         1.19,      0.934,       0.763,     229,         29.9,           14.4,   0.251,     2240,
              5390,         10.8,       0.684,            0.5,    0.876,    2820,    1.99, kMmaTiles,        true},
    // Turing
    {           4950,        0.951,      0.836,        0.76,     212,         29.9,             14,   0.378,     2240,
              5390,         10.8,       0.343,              1,    0.876,    2870,       2, kMmaTiles,        true},
    // Ga100
    {           4670,         1.16,      0.782,       0.636,     269,         51.9,           28.1,    0.31,     2570,
              4470,         54.4,       0.703,            0.5,    0.112,    4270,   0.785, kMmaTiles,       false},
    // Volta
    {           4670,          0.9,      0.782,       0.636,     269,         51.9,           28.1,    0.31,     2570,
              4470,         54.4,        0.32,              1,    0.112,    4270,   0.785, kMmaTiles,       false},
    // Hopper
    {           5190,          1.1,      0.922,        0.95,    82.6,         72.2,            106,   0.311,     2830,
              8190,          140,       0.968,            0.5,    0.467,    2000, 0.00698, kAllTiles,       false},
    // HopperTf32
    {           8390,         1.16,      0.922,        0.95,     124,         34.2,            106,   0.313,     2830,
              8190,          140,       0.968,            0.5,    0.467,    5140, 0.00698, kAllTiles,       false},
    // HopperWindows
    {          11500,          1.2,      0.922,        0.95,    54.3,         37.2,            106,   0.311,    kNever,
              8190,          140,       0.968,            0.5,    0.467,    3670, 0.00698, kAllTiles,       false},
    // HopperDataGradients
    {          16600,         1.03,      0.922,        0.95,     151,         27.4,            106,   0.017,    kNever,
              8190,          140,       0.968,            0.5,    0.467,    3620, 0.00698, kAllTiles,       false},
    // HopperWeightGradients
    {           2930,         1.19,      0.922,        0.95,     253,         83.5,            106,   0.476,     11600,
              8190,          140,       0.968,            0.5,    0.467,    8380, 0.00698, kAllTiles,       false},
    // HopperWeightGradientsTf32
    {           6000,         1.26,      0.922,        0.95,     662,         14.2,            106,   0.556,      9940,
              8190,          140,       0.968,            0.5,    0.467,    4270, 0.00698, kAllTiles,       false},
    // Blackwell
    {           4010,          1.2,      0.903,        1.05,    67.5,          141,            183,    0.55,     3150,
              4860,          170,        1.01,            0.5,    0.387,    1040,       0, kAllTiles,       false},
    // Cdna
    {           4950,        0.761,      0.666,        1.05,    1000,           10,           34.9,   0.984,     4690,
              5390,         10.8,       0.259,            0.5,    0.131,    51.4, 0.00125, kMmaTiles,       false},
};
// clang-format on

/// ln of the learned factor on products in 16 bits, and on quantised ones, at most. (our choice)
inline constexpr double kMostLearned = 0.4, kMostLearnedQuantised = 0.7;
/// Extents of the attention that trained its factor. [studies/kernels/attention_factor.py]
struct MeasuredAttention {
  double least_keys, most_keys, most_heads, most_channels;
};
/// By AttentionForm.
inline constexpr MeasuredAttention kMeasuredAttention[] = {{13, 65536, 2048, 80},      // Encoder
                                                           {16, 16384, 24576, 256},    // Prefill
                                                           {2, 131072, 196608, 256}};  // Decode
inline constexpr double kLeastMeasuredChannels = 64;
/// Extents of the products that trained it: rows of A; columns of B, and of A.
/// [studies/kernels/product_factor.py, quantised_factor.py]
struct MeasuredProducts {
  double most_rows, least, most;
};
/// By Quantised.
inline constexpr MeasuredProducts kMeasuredProducts[] = {{32768, 32, 65536},   // None
                                                         {8192, 128, 65536},   // Weights
                                                         {8192, 128, 65536},   // Both
                                                         {8192, 128, 65536},   // Whole
                                                         {32768, 32, 65536}};  // Float8

/// What products with quantised operands change: factors on their chip class' constants; where both operands have 8
/// bits the peak is that of 8-bit units. TensorRT-LLM's: weight-only (int8, int4) and SmoothQuant kernels on A100 and
/// L40S, whose launch takes longer than cuBLAS'; fp8 by cuBLASLt on L40S, on H100 and H200, and on B200, B300, GB200
/// and GB300. [studies/kernels/fit_quantised.py prints it]
struct QuantisedFactors {
  double launch_clocks = 1, tensor_share = 1, read_share = 1, step_ns = 1, l2_bytes_clock = 1, split_ns = 1,
         power_share = 1, gemv_clocks = 1, gemv_step_ns = 1, stream_bytes = 1, exposed = 1, tile_ns = 1;
};
inline constexpr QuantisedFactors kQuantisedWeights{.launch_clocks = 2.57,
                                                    .tensor_share = 0.99,
                                                    .read_share = 1.09,
                                                    .step_ns = 1.03,
                                                    .l2_bytes_clock = 0.743,
                                                    .split_ns = 3.74,
                                                    .power_share = 1.01,
                                                    .gemv_clocks = 2.58,
                                                    .gemv_step_ns = 2.99};
inline constexpr QuantisedFactors kQuantisedBoth{.launch_clocks = 2.33,
                                                 .tensor_share = 1.55,
                                                 .read_share = 1.08,
                                                 .step_ns = 0.77,
                                                 .l2_bytes_clock = 0.923,
                                                 .split_ns = 20.1,
                                                 .power_share = 1.72,
                                                 .gemv_clocks = 1.86,
                                                 .gemv_step_ns = 0.232};
inline constexpr QuantisedFactors kFloat8OnGraphics{.tensor_share = 0.88,
                                                    .read_share = 1.05,
                                                    .step_ns = 0.643,
                                                    .l2_bytes_clock = 1.76,
                                                    .split_ns = 1.74,
                                                    .power_share = 0.948,
                                                    .gemv_clocks = 1.05,
                                                    .gemv_step_ns = 0.651,
                                                    .stream_bytes = 1.05,
                                                    .exposed = 1.02,
                                                    .tile_ns = 0.925};
inline constexpr QuantisedFactors kFloat8OnHopper{.tensor_share = 0.86,
                                                  .read_share = 0.941,
                                                  .step_ns = 1.1,
                                                  .l2_bytes_clock = 1.36,
                                                  .split_ns = 0.921,
                                                  .power_share = 1.23,
                                                  .stream_bytes = 1.28,
                                                  .exposed = 0.921,
                                                  .tile_ns = 1.06};
inline constexpr QuantisedFactors kFloat8OnBlackwell{.tensor_share = 0.791,
                                                     .read_share = 0.925,
                                                     .step_ns = 1.02,
                                                     .l2_bytes_clock = 1.43,
                                                     .split_ns = 1.23,
                                                     .power_share = 1.29,
                                                     .stream_bytes = 0.466,
                                                     .exposed = 0.859,
                                                     .tile_ns = 1.11};
/// Operations per element that is quantised: |x|, maximum, scale, rounding. [counted]
inline constexpr double kQuantisingOperations = 4;
/// 1: of a model's products, those in 8 bits from which `--dtype int8` or `fp8` says something of it. (our choice)
inline constexpr double kLeastEightBits = 0.5;

/// µs between the ends of kernels on a stream, which launches in a graph do not have: so the products' tables were
/// measured, but for GeForce's.
inline constexpr double kStreamGapUs = 1.3;  // [hopper]

// ---- Boxes that overlap: whitebox/launch/suppression_parts.cpp
/// Score from which on boxes are picked one by one; below, all are sorted. [efficientNMSInference.cu]
inline constexpr double kDenseThreshold = 0.007;
/// Operations of a comparison: intersection, two areas, union, quotient. [counted in torchvision's nms_kernel.cu]
inline constexpr double kOverlapOperations = 19;
/// Boxes whose comparison with another one is a word. [torchvision's nms_kernel.cu; ONNX Runtime's
/// non_max_suppression_impl.cu]
inline constexpr double kOverlapsOfWord = 64, kOverlapsOfShortWord = 32;
// ---- The largest elements of a row: whitebox/launch/selection.cpp, [PyTorch's TensorTopK.cu; an H100 PCIe's times of
// torch.topk, docs/whitebox.md: 39 and 84 µs for rows of 8,192 and 16,384, 50 to 61 for 32,768 to 131,072]
/// Threads of a row's block, and of an SM.
inline constexpr double kSelectThreads = 1024, kThreadsOfSm = 2048;
/// Bits that a pass over the row tells, and passes that then find and write what is kept.
inline constexpr double kSelectBits = 2, kSelectPasses = 2;
/// Of many blocks for a row: passes over the data, and what 21 kernels take, in steps of kSerialStepUs.
inline constexpr double kManyBlockPasses = 6, kManyBlockSteps = 160;
/// A second kernel sorts: its launch and each of its stages in such steps. Beyond so many it sorts by radix.
inline constexpr double kSecondKernelSteps = 7, kSortStep = 0.5, kMostSortedInBlock = 4096;
/// Bits of the key that a pass of a radix sort goes by. [NVIDIA/cccl, cub: DeviceRadixSort, DeviceSegmentedRadixSort]
inline constexpr double kSortedBits = 8, kSegmentSortedBits = 6;

// ---- Kernels that memory bounds: whitebox/price/memory_bound_time.cpp
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
inline constexpr MemoryBound kElementwiseTime{.byte = 0.0608, .overlap = 8.39};
/// Of TorchInductor's: per byte, for loads and stores; per element that is summed with others (norms of rows, softmax,
/// means), and that belongs to an image and is brought into the order of channels, which lie apart; µs of a kernel
/// beside its work. What operators compute is a column of theirs. [hopper, fit_generated.py]
inline constexpr MemoryBound kGeneratedTime{.byte = 0.0125};
inline constexpr double kGeneratedRow = 0.3, kGeneratedImages = 1.55, kGeneratedUs = 1.5;
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
inline constexpr double kWideningClocks = 0.64;
/// Clocks of an SM per row that a reduction's warp takes (reduce_kernel<512, 1>), however short it is: an A100's take
/// 54 [profile]; and per element read where it walks over columns (reduce_kernel<128, 4>): large ones take
/// 0.17 to 0.2, with short ones, which wait, 0.3 fits. [hopper]
inline constexpr double kReducedRowClocks = 59, kReducedColumnClocks = 0.2;
/// … per row of argmax and argmin. [hopper]
inline constexpr double kFoundRowClocks = 201;
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
/// µs that a reduction takes beside a launch, however little it adds up, and per load of a thread, one after the other:
/// rows; columns, of which a thread has four at a time or fewer; what adding up the sums of several blocks takes.
/// [hopper]
inline constexpr double kReducedRowUs = 1.45, kRowLoadUs = 0.225, kReducedColumnUs = 2.44, kColumnLoadUs = 0.26,
                        kNarrowColumnLoadUs = 0.11, kSplitColumnUs = 3;
/// cuDNN's kernels between the orders of channels (nchwToNhwcKernel, nhwcToNchwKernel): positions of a tile of 32
/// channels, and clocks of an SM per element that a tile holds and per element that it has room for. [transposes.py]
inline constexpr double kOrderTile = 32, kOrderElementClocks = 0.306, kOrderTileClocks = 0.349;
inline constexpr MemoryBound kSoftmaxWarpTime{.column = 0.171, .overlap = 1};
/// Clocks per row beside that, whose columns a warp fills up to a power of two. [hopper]
inline constexpr double kSoftmaxRowClocks = 14;
/// cuDNN's batch norms channels first, of `byte_clocks` for `kLanes`; `lanes`: an H200's take 0.094 and, 16 bits, 0.15.
/// [hopper]
inline constexpr MemoryBound kBatchNormTime{.byte = 0.0608, .lanes = 0.6, .overlap = 8.39};
inline constexpr MemoryBound kSoftmaxBlockTime{.column = 1.31, .again = 1.19, .resident = 2, .overlap = 3.3};
inline constexpr MemoryBound kLayerNormTime{.row = 442,
                                            .column = 0.409,
                                            .alone_column = 3.58,
                                            .again = 1.01,
                                            .step = 128,
                                            .lanes = 0.215,
                                            .resident = 16,
                                            .overlap = 3.32};
inline constexpr MemoryBound kGatherTime{.column = 1.8, .alone = 1000, .overlap = 1.49};
/// Clocks per row where a gather of few rows walks over them: an index, then what it points to. [kernels]
inline constexpr double kSmallGatherClocks = 1290;
/// Rows up to which it does. [Indexing.cu, index_select_out_cuda_impl]
inline constexpr double kSmallGatherRows = 16;
/// Columns up to which a warp keeps a row of softmax in registers. [SoftMax.cu, host_softmax]
inline constexpr double kSoftmaxWarpColumns = 1024;
/// 1: of the L2 cache, what a kernel moves is found there up to this. [kernels]
inline constexpr double kCacheUse = 0.683;

// ---- Fused attention: whitebox/price/attention_time.cpp
// [kernels] but for what is said of tiles: studies/kernels/attention.py prints it.
/// Every query meets every key.
struct Encoder {
  double share;  ///< of the clocks that units need one by one: dependences, synchronisation
  double tail;   ///< of a thread block, by which the last wave ends later
  double block;  ///< clocks per thread block beside its tiles: queries in, result out
};
/// Causal.
struct Prefill {
  double share, tail, block;
  double alone;  ///< 1: of a tile's time, what it takes where thread blocks are few
  double cache;  ///< byte per clock and SM that a kernel before it puts into the cache
};
/// A single query.
struct Decoding {
  double bandwidth;  ///< 1: of what reading reaches
  double stream;     ///< byte per clock that a thread block reads …
  double reach;      ///< … or 1: of what memory gives an SM; kernels keep as much under way as saturates it
  double block;      ///< clocks per thread block beside that
  double exposed;    ///< 1: of the shorter of SMs and memory, what does not hide
  double combine;    ///< clocks of adding up the parts
  double use;        ///< 1: of the L2 cache, up to which keys and values are found there
};
/// A class of kernels.
struct AttentionKernels {
  double queries;  ///< of a thread block's tile [flash_fwd_launch_template.h, FlashAttention-2; tile_size.h, -3]
  double rows;     ///< of queries that an instruction multiplies with the keys it reads [PTX ISA: mma.sync, wgmma]
  double causal_queries;  ///< as `queries`, of a causal kernel [run_mha_fwd_splitkv_dispatch, FlashAttention-2]
  bool narrow_tiles;      ///< tiles of keys by channels, and FlashAttention-2's heuristic of parts [the same]
  bool packs_queries;  ///< of few queries, those of the heads that share keys fill a tile [pack_gqa, FlashAttention-3]
  Encoder encoder;
  Prefill prefill;
  Decoding decoding;
};
/// By AttentionChip.
inline constexpr AttentionKernels kAttention[] = {
    // MmaSync
    {.queries = 128,
     .rows = 16,
     .causal_queries = 64,
     .narrow_tiles = true,
     .packs_queries = false,
     .encoder = {.share = 1.08, .tail = 0.361, .block = 2000},
     .prefill = {.share = 1.06, .tail = 0.613, .block = 3860, .alone = 1.61, .cache = 9.01},
     .decoding = {.bandwidth = 1.01,
                  .stream = 10.5,
                  .reach = 2.68,
                  .block = 5170,
                  .exposed = 0.579,
                  .combine = 13400,
                  .use = 0.794}},
    // Wgmma
    {.queries = 192,
     .rows = 64,
     .causal_queries = 128,
     .narrow_tiles = false,
     .packs_queries = true,
     .encoder = {.share = 0.961, .tail = 0.494, .block = 6460},
     .prefill = {.share = 0.896, .tail = 0.246, .block = 6580, .alone = 0.691, .cache = 4.51},
     .decoding = {.bandwidth = 0.962,
                  .stream = 14.6,
                  .reach = 0.812,
                  .block = 4240,
                  .exposed = 0.0533,
                  .combine = 3420,
                  .use = 0.571}},
    // Tcgen05
    {.queries = 192,
     .rows = 128,
     .causal_queries = 128,
     .narrow_tiles = false,
     .packs_queries = false,
     .encoder = {.share = 1.1, .tail = 0.514, .block = 7910},
     .prefill = {.share = 1.14, .tail = 0.6, .block = 5190, .alone = 1.96, .cache = 7.05},
     .decoding = {.bandwidth = 1.11,
                  .stream = 3.23,
                  .reach = 1.27,
                  .block = 3660,
                  .exposed = 0.124,
                  .combine = 1300,
                  .use = 0.729}},
    // Other: constants of all three at once
    {.queries = 128,
     .rows = 16,
     .causal_queries = 128,
     .narrow_tiles = false,
     .packs_queries = false,
     .encoder = {.share = 1.06, .tail = 0.437, .block = 7900},
     .prefill = {.share = 1.04, .tail = 0.616, .block = 5000, .alone = 1.17, .cache = 6.11},
     .decoding = {.bandwidth = 1.02,
                  .stream = 11.8,
                  .reach = 2.51,
                  .block = 5120,
                  .exposed = 0.34,
                  .combine = 6040,
                  .use = 0.74}},
};
/// 1: of the sheet's bandwidth, what reading alone reaches, of any memory. [kernels]
inline constexpr double kReadShare = 0.915;
/// Tiles of queries of a causal kernel whose keys are counted one by one. (our choice)
inline constexpr double kMostTilesCounted = 256;
/// Keys of a step of such a kernel, at least. [flash_fwd_launch_template.h, run_mha_fwd_splitkv_dispatch: 64 to 256]
inline constexpr double kLeastDecodingTile = 64;
/// FlashAttention-2: 1 of the SMs, filled without parts; of the best filling, what suffices; parts at most.
/// [flash_api.cpp, num_splits_heuristic]
inline constexpr double kFullSms = 0.8, kEnoughFilling = 0.85, kMostDecodingSplits = 128;
/// Parts that FlashAttention-3's kernels are tried with. (our choice)
inline constexpr double kDecodingSplits[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
/// Channels of a head that kernels exist for. [FlashAttention, hdim64 … hdim256]
inline constexpr double kAttentionWidths[] = {64, 96, 128, 192, 256};
/// Bytes per clock of an SM's shared memory: 32 banks of 4. [CUDA C++ Programming Guide]
inline constexpr double kSharedMemoryBytes = 128;
/// Queries below which kernels split the keys instead. [flash_api.cpp, set_params_splitkv: tiles of 64]
inline constexpr double kFewQueries = 64;
/// Operations per score on float32 lanes: maximum, scale, sum, conversion. [counted]
inline constexpr double kSoftmaxOperations = 4;

// ---- Memory-efficient attention: whitebox/price/efficient_attention.cpp
/// What a score takes: 1 of the units' rate, and clocks beside it, per channel of a head and at all.
struct EfficientAttention {
  double share = 1, channel_clocks = 0, score_clocks = 0;
};
/// In 16 bits on Volta and Turing: V100, heads of 40 and 128 channels. [efficient]
inline constexpr EfficientAttention kEfficientHalf{.share = 0.36, .score_clocks = 0.376};
/// In 32 bits with tensor cores, each product three in TF32 (cutlass::arch::OpMultiplyAddFastF32): A100. [efficient]
inline constexpr EfficientAttention kEfficientTf32{.channel_clocks = 0.0125};
/// In 32 bits without: Quadro GP100. [efficient]
inline constexpr EfficientAttention kEfficientLanes{.share = 0.61};
/// Channels that its accumulators hold in square tiles, and that a step walks over. [kernel_forward.h, kMaxK, ThreadK]
inline constexpr double kEfficientHead = 64, kEfficientStep = 32;
/// Clocks of a thread block beside its scores; 1: of the longest block, what the last wave adds. As flash kernels.
inline constexpr double kEfficientBlock = 600, kEfficientTail = 0.361;
/// 1: of the rate of Hopper's tensor cores, what Ampere's instructions reach there. [Luo et al. 2024, arXiv 2402.13499]
inline constexpr double kMmaSyncShare = 0.63;

// ---- Attention
/// Factor on the time of flash kernels for what they do not take, a mask: the memory-efficient kernel's. beit against
/// vit [timm]; A100 by its authors. [efficient]
inline constexpr double kMaskedAttention = 2;
/// Queries and keys of a tile of fused attention. [FlashAttention-2, Dao 2023]
inline constexpr double kAttentionQueries = 128, kAttentionKeys = 128;
/// Channels of a head below which exponentials take what products save. Transformers with narrow heads. [timm]
inline constexpr double kAttentionHead = 64;

// ---- Recurrences
/// Passes over a recurrence's gates, and byte of each, as cuDNN computes them. [counted]
inline constexpr double kGatePasses = 4, kGateBytes = 4;
/// µs per step of a recurrence on a GPU, however little it computes: the product with the state and the cell wait for
/// each other and for the step before. LSTM of 256 units, batch 4: 1.63 ms for 150 steps on a GTX 1080 Ti.
/// [DeepBench, github.com/baidu-research/DeepBench, README, RNN results; docs/whitebox.md has its other figures]
inline constexpr double kRecurrentStepUs = 10.9;
/// The same of a layer whose weights stay in the multiprocessors (cuDNN's RNN_blockPersist_fp_GRU): 1.265 ms for ten
/// runs of two layers of 128 units, 100 steps, batch 32, float32, RTX 5070 Ti Laptop, PyTorch 2.10.
/// [anshulk-cmu/HDAI---cuDNN-Profiling, docs, table 5.3]
inline constexpr double kResidentStepUs = 0.63;
/// Units up to which a layer is such a one: LSTM and GRU; one gate (RNN). [aten/src/ATen/native/cudnn/RNN.cpp,
/// use_rnn_persist_small_h]
inline constexpr double kResidentUnits = 192, kResidentUnitsOfOneGate = 384;

// ---- Convolutions with groups: whitebox/launch/framework.cpp, vector_limit
/// Lanes of the SMs on which the shares below were found. The rates are the SM's, whose loads such kernels wait for: an
/// SM with half the lanes reaches twice the share.
inline constexpr double kLimitLanes = 128;
/// Clocks of an SM per result of a depthwise convolution: besides and per element of its window; times `strided` where
/// it has strides.
struct DepthwiseClocks {
  double result, element, strided;
  double per_result(double window, bool has_strides) const {
    return (result + element * window) * (has_strides ? strided : 1);
  }
};
/// PyTorch's own kernels (conv_depthwise2d_forward_kernel): of float32, and of bfloat16 up to 5×5
/// [studies/kernels/depthwise.py; strides, bfloat16: hopper]; of 16 bits, and of both on Hopper, beyond 5×5, which are
/// not unrolled (…_generic). [hopper]
inline constexpr DepthwiseClocks kDepthwiseOwn{1.76, 0.112, 1.15}, kDepthwiseGeneric{0, 0.18, 1.1};
/// A depthwise kernel of cuDNN's, in clocks: `first` of the whole kernel and `element` for each element of its window,
/// which a thread loads one after the other; `block3`, `block5` and `block7` of an SM for a block of its threads with
/// windows of 3×3, 5×5 and 7×7, `strided` times as many with strides.
struct DepthwiseBlocks {
  double first, element, block3, block5, block7, strided;
};
/// Channels first in float16 up to 5×5 (conv2d_c1_k1_nchw_shmem_tiling), with strides by their results; channels last
/// in 16 bits from kTiledImages images on (conv2d_c1_k1_nhwc_specialized), with fewer, and in 32 bits
/// (conv2d_c1_k1_nhwc). [hopper] An A100's published times say 5,200 for block7 of the last. [docs/whitebox.md,
/// "Depthwise convolutions"]
inline constexpr DepthwiseBlocks kDepthwiseFirst{3510, 0, 1710, 4000, 4000, 1},
    kDepthwiseFirstStrided{3430, 0, 960, 1930, 1930, 1}, kDepthwiseTiled{8180, 191, 1990, 3550, 10800, 1.58},
    kDepthwiseLast16{1270, 359, 678, 1630, 5290, 1.96}, kDepthwiseLast32{1840, 108, 734, 1920, 5260, 1.51};
/// Images from which on it is the tiled one: 8 are, 4 are not. [hopper]
inline constexpr double kTiledImages = 8;
/// What such kernels take longer on Turing, whose L1 cache gives 64 byte per clock. [studies/kernels/depthwise.py]
inline constexpr double kTuringWindows = 1.3;
/// 1: of the same. Groups of 2 to 7 channels, channels first. dla. [timm]
inline constexpr double kFewChannels = 0.07;
/// 1: of the same. cuDNN's fallback, channels last. convmixer, coatnet. [timm]
inline constexpr double kFallback = 0.011;
/// 1: of the same. That fallback with data of 2³¹ elements and more. Runs with torch 2.4. [timm]
inline constexpr double kWideFallback = 0.0035;
/// Elements of the largest windows that cuDNN takes. [aten/src/ATen/native/Convolution.cpp, use_cudnn_depthwise]
inline constexpr double kLargeWindow = 5 * 5;
/// The same, channels last. convmixer, fastvit. [timm]
inline constexpr double kFallbackFrom = 7 * 7;

// ---- Data that lies elsewhere
/// Factor on the time of copies between channels first and last. Group norms, channels last. [timm]
inline constexpr double kReordering = 2;
/// Elements from which 32 bits cannot index. [aten/src/ATen/native/TensorIterator.cpp, can_use_32bit_indexing]
inline constexpr std::int64_t kWideIndexFrom = std::int64_t{1} << 31;
/// Factor on the time of such: split convolutions, concatenations part by part, compiled kernels. [timm]
inline constexpr double kSplitConvolution = 1.3, kPartByPart = 2, kWideCompiled = 1.2;

// ---- TorchInductor's own thresholds
/// Factors on the time of convolutions channels last. [torch/_inductor/graph.py of 2.9, decide_layout_opt]
inline constexpr double kGroupedLast = 1.358, kSmallLast = 0.783, kNarrowingLast = 0.725, kOtherLast = 0.823;
/// Channels that count as small there. [the same]
inline constexpr double kSmallChannels = 64;
/// Elements from which a reduction is a loop. [torch/_inductor/config.py, unroll_reductions_threshold]
inline constexpr std::int64_t kUnrolledReduction = 8;
/// Parts that a concatenation fuses. [torch/_inductor/config.py, max_pointwise_cat_inputs]
inline constexpr std::size_t kMostFusedParts = 8;
/// Reads of an expression with several readers. [torch/_inductor/config.py, realize_reads_threshold]
inline constexpr std::size_t kMostReads = 4;
/// Reads of one with a single reader. [torch/_inductor/config.py, realize_acc_reads_threshold]
inline constexpr std::size_t kMostReadsOfOneReader = 8;
/// Operations of an expression. [torch/_inductor/config.py, realize_opcount_threshold]
inline constexpr int kMostOperations = 30;
/// Operations that an activation and another elementwise operator count, roughly, casts included. (our choice)
inline constexpr int kOperationsOfActivation = 6, kOperationsOfElementwise = 2;
/// Values that a batch-norm reads beside its data: moments, scale. [counted]
inline constexpr std::size_t kStatistics = 3;

// ---- TensorRT
/// TensorRT's fused attention on Turing, beside PyTorch's: 0.62 to 0.77 in two profiles of RF-DETR on a T4, each beside
/// its own products (docs/whitebox.md, "TensorRT's engines").
inline constexpr double kEngineAttention = 0.7;
/// Channels of an image that is a picture: TensorRT's kernels for it compute no activation but ReLU. [two engines of
/// YOLO: docs/whitebox.md]
inline constexpr double kImageChannels = 4;

// ---- Training steps: whitebox/launch/training_step.cpp
/// What the kernels of a step take of the time that inference's would per byte and MAC: published steps wait a little
/// between them, or multiply more slowly than profiles do. docs/whitebox.md, "What profiles of training say".
inline constexpr double kTrainingStep = 1.1;
/// … and what the host's calls take that autograd records forwards and its engine makes backwards: 40 steps of 22
/// models that wait for an H200's host. [hopper]
inline constexpr double kTrainingCalls = 1.37;
/// A gradient's kernel that walks over windows: its µs, clocks of an SM per element of the larger of data and result,
/// or of the result alone, and per element of its window.
struct GradientClocks {
  double us, element, window;
  bool of_result = false;
};
/// Of depthwise convolutions' data. Channels first in float16 (dgrad2d_c1_k1_nchw_shmem_tiling; with strides
/// dgrad2d_grouped_direct_kernel); PyTorch's own in all else (conv_depthwise2d_backward_kernel), 16 and 32 bits;
/// channels last (dgrad2d_c1_k1_nhwc_specialized), 16 and 32 bits. All of the next lines: [hopper]; timm's steps on an
/// RTX 3090 judge them [studies/timm_training.py].
inline constexpr GradientClocks kDepthwiseDataFirst{6.1, 0, 0.073}, kDepthwiseDataStrided{1.2, 0, 0.427},
    kDepthwiseDataOwn16{2.6, 3.3, 0.104}, kDepthwiseDataOwn32{0, 1.9, 0.27}, kDepthwiseDataLast16{3.2, 0.25, 0.068},
    kDepthwiseDataLast32{2.7, 0, 0.105};
/// … of their weights: wgrad2d_shmem_tiling; conv_depthwise2d_grad_weight_kernel, per element of the result;
/// wgrad2d_c1_k1_nhwc, of 32 bits depthwise_convolution_wgrad_tiling; of large windows in 32 bits
/// wgrad2d_grouped_direct_kernel.
inline constexpr GradientClocks kDepthwiseWeightsFirst{5.5, 0.63, 0.041}, kDepthwiseWeightsOwn16{6.6, 1, 0.416, true},
    kDepthwiseWeightsOwn32{6.3, 1, 0.343, true}, kDepthwiseWeightsLast16{11.4, 0.21, 0.025},
    kDepthwiseWeightsLast32{16.7, 0, 0.08}, kDepthwiseWeightsLarge32{0, 0, 1.34};
/// Elements of a window from which on they do.
inline constexpr double kLargeGradientWindow = 7 * 7;
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

// ---- Memory
/// Byte of a position that pooling keeps: int64, PyTorch's indices. [counted]
inline constexpr double kIndexBytes = 8;
/// Byte of a dropped or kept element: bool. [counted]
inline constexpr double kMaskBytes = 1;
/// Byte of a row's mean and 1/deviation, float32. [counted]
inline constexpr double kStatisticsBytes = 8;
/// Byte of cuBLAS' workspace, ":4096:2:16:8". [aten/src/ATen/cuda/CublasHandlePool.cpp]
inline constexpr double kProductWorkspace = 2 * 4096 * 1024 + 8 * 16 * 1024;
/// 1: Winograd's tiles beside their values, 6×6 of 4×4: F(4×4, 3×3). [Lavin and Gray, CVPR 2016]
inline constexpr double kForwardTiles = 36.0 / 16;
/// 1: the same of gradients; of 36, 45, 54 and 64 sixteenths the nearest to GPUMemNet's rows. [memory]
inline constexpr double kGradientTiles = 45.0 / 16;
inline constexpr std::int64_t kWinogradWindow = 3;
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

// ---- Power
/// 1: of the TDP, what the demand bends to, and how sharply. Zeus' traces. [power]
inline constexpr double kPowerLimit = 0.97, kPowerSharpness = 10;
/// 1: of the rate that the power limit lets last, from which on a kernel takes more power than others. Zeus' traces,
/// of 0.6, 0.65 and 0.7. [power]
inline constexpr double kHeldFrom = 0.65;
/// Factor that 90 % of the powers of traces lie within whose GPU was left out; a network left out: 1.20. [power]
inline constexpr double kPowerInterval = 1.24;

// ---- Intervals: whitebox/price/evidence.cpp, whitebox.cpp
/// MAPE in % of the models that price a kind of kernels, on shapes that no fit saw: of devices that fits saw, of a
/// device left out beside siblings of its class, of a class left out; and of the roofline, for what has no model.
/// docs/judged.md: means over devices and kernels. `factor`: standard deviation, in ln, of what devices need beyond.
struct KernelErrors {
  double own, siblings, others, none, factor;
};
/// By PriceKind. On vector units no class was left out. Convolutions on matrix units: as products, with the spread of
/// `dense_convolution` over GeForce (1.2) and A100 (1); of `depthwise`, for depthwise ones, whose roofline is all there
/// is. Memory-bound kernels of another class: MI100, MI210. [kernels]
inline constexpr KernelErrors kKernelErrors[] = {
    {5.2, 6.0, 18.0, 26.7, 0},     // Product
    {19.5, 25.8, 25.8, 52.4, 0},   // VectorProduct
    {5.4, 6.7, 16.9, 63.3, 0},     // Attention
    {7.4, 7.6, 18.0, 26.7, 0.13},  // Convolution
    {31.1, 32.4, 32.4, 44.7, 0},   // VectorConvolution
    {0, 0, 0, 0, 0.5},             // Depthwise
    {7.2, 9.9, 17.8, 31.1, 0},     // Memory
};
/// Shapes of a kind in a network, over which errors that are a shape's own average out. (our choice)
inline constexpr double kShapesOfANetwork = 5;
/// 90 % of normal errors by their mean absolute value, and by their standard deviation. [counted]
inline constexpr double kNinetyOfMape = 2.06, kNinetyOfDeviation = 1.645;
/// Constants that calibration fits: learning/calibration.cpp. [counted]
inline constexpr double kFittedConstants = 7;
/// Factor of the 90 % interval for what graphs add to their kernels on a device with runs: families left out. [timm]
inline constexpr double kGraphFactor = 1.2;
/// The same for what whole models add on a class of chips without runs: caches between kernels, clocks, versions of
/// libraries. (our choice, until some are measured)
inline constexpr double kStrangerFactor = 1.4;
/// Sharpness of the larger of the device's and the host's time; that of the networks (gnn/models/corrected.h).
inline constexpr double kOverlapSharpness = 8;

// ---- ONNX Runtime's CPU provider: whitebox/launch/blocked_layout.cpp, whitebox/price/mlas_time.cpp
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

// ---- PyTorch's caching allocator [c10/cuda/CUDACachingAllocator.cpp]
inline constexpr std::uint64_t kMib = 1024 * 1024;
inline constexpr std::uint64_t kRounding = 512;                                  ///< byte: kMinBlockSize
inline constexpr std::uint64_t kSmall = kMib, kSmallSegment = 2 * kMib;          ///< byte: kSmallSize, kSmallBuffer
inline constexpr std::uint64_t kMedium = 10 * kMib, kMediumSegment = 20 * kMib;  ///< byte: kMinLargeAlloc, …
inline constexpr std::uint64_t kLargeRounding = 2 * kMib;                        ///< byte: kRoundLarge

}  // namespace perfc::constants
