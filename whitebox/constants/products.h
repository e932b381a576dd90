#pragma once
/// Dense products: whitebox/price/matmul_time.cpp, product_price.cpp.
/// [Sources]: whitebox/constants/README.md.
#include <cstddef>
#include <iterator>

namespace perfc::constants {

/// 1: of the tensor cores' rate with loads of two elements (even extents). eva02_large: 2730 columns. [timm]
inline constexpr double kNarrowLoads = 0.65;
/// Products of odd extents in 16 bits, by kernels of Turing that load element by element
/// (cutlass_75_tensorop_f16_s1688gemm_f16_128x128_tn_align1): rows and columns of a tile, the smaller where m or n has
/// no more; elements of k at a time (our choice). Clocks of an SM per element of a tile; FLOP per clock and SM; µs of a
/// launch and the gap behind it. 39 products, 6 %. [hopper: studies/hopper/fit_inference.py prints them]
inline constexpr double kOddTile = 128, kSmallOddTile = 64, kOddTileDepth = 32;
inline constexpr double kOddElementClocks = 0.275, kOddFlops = 391, kOddLaunchUs = 3.34;
/// How much longer AMD's products in 16 bits take where rows along k or of the result are odd: 235 of rocBLAS' kernels
/// on MI100 and MI250X, 60 µs and longer. [kernels: studies/kernels/rocblas_products.py]
inline constexpr double kOddCdna = 1.17;
/// Of PyTorch's one kernel for products of groups (aten/src/ATen/native/cuda/GroupMM.cu) on Hopper and Blackwell: up to
/// how many rows of a group, or columns, it takes the smaller tile; rows of a tile and of the one beside it in its
/// cluster, which a group's last rows fill in part; time beside that of batched products of those rows; µs of the
/// kernel that writes the groups' addresses and of their being read. 18 products, 2 %. [kernels:
/// studies/kernels/grouped_products.py]
inline constexpr double kSmallGroup = 128, kSmallGroupedTile = 128, kGroupedTile = 256;
inline constexpr double kGroupedTime = 1.22, kGroupedLaunchUs = 15;
/// Rows of a tile of the kernels that runtimes beside PyTorch choose by trials; they take as long as batched products.
/// A choice; what judges it is vLLM's. [kernels: studies/kernels/grouped_products.py --judge]
inline constexpr double kTunedGroupedTile = 64;
/// Calls of views from Python that take the host as long as the four views that C++ makes of each group, where there is
/// no such kernel (GroupedMMUtils.h). A choice: so Qwen1.5-MoE takes 68 ms on an A100 with `--host server` and 98 with
/// a host of 2020; somebody had 64. [huggingface/transformers#42697]
inline constexpr double kViewsOfGroup = 1;
/// Rows, columns, depth of the tiles of other batched products of odd extents. volo: 9×9 by 9×32. [timm]
inline constexpr double kTileRows = 128, kTileColumns = 64, kTileDepth = 16;
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
/// Byte of an element of the narrowest weights: 4 bits. [ONNX, MatMulNBits]
inline constexpr double kNarrowestWeight = 0.5;
/// k from which on a product by itself, in float32 on vector units since Volta, takes all of its class' `tile_clocks`,
/// below in proportion. What a class has is what batches of small products take; by themselves, with k up to 16, 32 and
/// 64, an A100's come out at 1.09, 0.98 and 0.88 of what was measured (with all of it 2.46, 1.82 and 1.24), a V100's at
/// 1.05, 1.04 and 0.90 (1.26, 1.20 and 1.03). [kernels: studies/kernels/fit_products.py --shallow]
inline constexpr double kShallowDepth = 128;
/// Byte of a partial sum of split-K. [counted]
inline constexpr double kSumBytes = 4;
/// 1: of the L2 cache's rate, what products of one row reach. A100, L40S. [kernels]
inline constexpr double kGemvL2Share = 0.5;
/// 1: of the shorter of arithmetic and traffic, what does not hide in TF32 on data-centre chips, at least. Fitted to
/// MIGProfiler's BERTs on slices of an A100 of 40 GB. [studies/fit_mig.py; square products on H100 and H20 agree]
inline constexpr double kTf32Exposed = 0.85;
/// How abruptly weights, data and the reads of a wave no longer fit in the L2 cache. [kernels]
inline constexpr double kWeightsSharpness = 8, kDataSharpness = 4, kWaveSharpness = 2;
/// W per TFLOP/s of peak in 16 bits from which on a graphics chip is like L40S (0.97), of which a factor was learned;
/// L4 (0.6) is not. (our choice)
inline constexpr double kLeastGraphicsPower = 0.75;
/// Rate of tensor cores in fp16 by the vector units' in fp32: 4 on A10, L4, L40S, RTX A6000; 2 on GeForce, which runs
/// them at half rate. This tells them apart. [NVIDIA's Ampere GA102 and Ada architecture whitepapers]
inline constexpr double kFullRate = 3;
/// A clock in Hz (an H100's), and how the time of what waits for the L2 cache and memory falls as an SM's clock grows:
/// their own clocks differ less between chips. [kernels; studies/kernels/fit_products.py --law]
inline constexpr double kLatencyHz = 1.98e9, kLatencyPower = 0.5;
inline constexpr double kNever = 1e12;  ///< clocks of a reduction that no kernel does
/// What a chip class' kernels reach. Only their joint effect is identified: a launch and an epilogue, or a share above
/// 1 and what does not overlap, trade off.
struct ProductConstants {
  double launch_clocks;     ///< launch, prologue and drain
  double tensor_share;      ///< 1: of the peak, in full tiles
  double read_share;        ///< 1: of the memory's bandwidth, reading
  double write_share;       ///< 1: the same, writing
  double step_clocks;       ///< of kLatencyHz: latency of a step along k
  double stream_bytes;      ///< byte per clock that one CTA reads
  double l2_bytes_clock;    ///< byte per clock and SM that the L2 cache delivers
  double exposed;           ///< 1: of the shorter of arithmetic and traffic, what does not hide behind the longer
  double split_clocks;      ///< of kLatencyHz: adding up what split-K computed
  double gemv_clocks;       ///< launch of a product of one row
  double gemv_step_clocks;  ///< of kLatencyHz: its latency per step along k
  double power_share;       ///< 1: of the peak, what long work sustains at 1 W of TDP per TFLOP/s of peak …
  double power_exponent;    ///< … and how it grows with the W: 0.5 if power grows as f², 1 if it does as f
  double l2_share;          ///< 1: of the L2 cache's size, what operands find there
  double tile_clocks;       ///< epilogue of a full tile
  double spill;             ///< 1: of what waves read again, what the L2 cache does not hold
  std::size_t tiles;        ///< of kProductTiles
  bool always_gemv;         ///< cuBLAS takes its GEMV for one row, whether or not another kernel were faster
};
/// By ChipClass: NeuSight's float32 on A100, and on P4, P100, V100 and T4 (with the launch of Graphics: NeuSight's has
/// the host's in it); L40S; RTX 3090 and 4090 (LLMServingSim's layers); A100; H100 and H200; B200, B300, GB200 and
/// GB300; NeuSight's float32 on MI100 and MI210 (with the launch of Graphics); AMD's tuned kernels in bfloat16 on MI210
/// and MI355X, which differ in power. [kernels] Others are another class' by the FLOPs per clock of an SM (RATE_LAW in
/// studies/kernels/product_model.py), with what square products say: shares in float32, of H20 and of L4, A40 and RTX
/// 4090, and TFLOP/s per W by process (RTX A2000 and A4000; L4; V100; T4, between 24 TFLOP/s at 70 W
/// (forums.developer.nvidia.com/t/264462) and 41.6 (Jia et al., "Dissecting the NVidia Turing T4 GPU", 2019)), in
/// float32 of T4 and V100 what these and RTX 6000 sustain (studies/power_limits.py). [square]
// clang-format off
inline constexpr ProductConstants kProducts[] = {
    // launch_clocks  tensor_share  read_share  write_share  step_clocks  stream_bytes
    // l2_bytes_clock  exposed  split_clocks  gemv_clocks  gemv_step_clocks  power_share
    // power_exponent  l2_share  tile_clocks  spill      tiles  always_gemv
    // Vector
    {           4900,        0.942,      0.857,       0.661,        2500,           64,
                 42.2,     0.5,         3340,        5300,             21.5,           1,
                    0,     0.05,       42000, 0.208, kMmaTiles,       false},
    // VectorHopper
    {           4900,        0.897,      0.857,       0.661,        1720,         90.5,
                 84.4,     0.5,         3340,        5300,             21.5,           1,
                    0,     0.05,       21000, 0.208, kMmaTiles,       false},
    // VectorPascal
    {           4900,         0.95,      0.754,         0.6,        1390,           64,
                 18.9,   0.316,        50000,        5300,             21.5,      0.0441,
                    1,     0.05,       28300,     2, kMmaTiles,       false},
    // VectorVolta
    {           4900,            1,      0.663,         0.6,        1210,           64,
                 25.6,   0.435,        12200,        5300,             21.5,       0.054,
                    1,   0.0609,       13000,  1.91, kMmaTiles,       false},
    // VectorAmpere
    {           4900,        0.686,      0.857,       0.661,        1720,         90.5,
                 84.4,     0.5,         3340,        5300,             21.5,        0.08,
                    1,     0.05,       10800, 0.208, kMmaTiles,       false},
    // VectorAda
    {           4900,        0.686,      0.857,       0.661,        1720,         90.5,
                 84.4,     0.5,         3340,        5300,             21.5,        0.15,
                    1,     0.05,       10800, 0.208, kMmaTiles,       false},
    // Graphics
    {           4900,        0.976,      0.823,       0.727,         484,           64,
                 11.9,     0.3,         4770,        5300,             21.5,       0.696,
                    1,    0.877,        7570,     2, kMmaTiles,        true},
    // GraphicsAmpere
    {           4900,        0.976,      0.823,       0.727,         484,           64,
                 11.9,     0.3,         4770,        5300,             21.5,        0.41,
                    1,    0.877,        7570,     2, kMmaTiles,        true},
    // GeForce
    {           4900,         1.19,      0.942,        0.73,         609,           64,
                 14.8,   0.249,         4690,        5300,             21.5,       0.684,
                  0.5,    0.877,        7500,     2, kMmaTiles,        true},
    // Turing
    {           4900,        0.976,      0.823,       0.727,         484,           64,
                 11.9,     0.3,         4770,        5300,             21.5,       0.343,
                    1,    0.877,        7570,     2, kMmaTiles,        true},
    // Ga100
    {           4680,         1.17,      0.784,        0.64,         444,         52.6,
                 28.2,   0.323,         4240,        4450,             95.1,       0.703,
                  0.5,    0.105,        5970, 0.564, kMmaTiles,       false},
    // Volta
    {           4680,         1.17,      0.784,        0.64,         628,         37.2,
                 14.1,   0.323,         4240,        4450,             95.1,        0.32,
                    1,    0.105,       11900, 0.564, kMmaTiles,       false},
    // Hopper
    {           5150,          1.2,      0.924,        1.05,         166,         87.2,
                  102,   0.343,         5630,        7300,              138,       0.968,
                  0.5,    0.455,        4220,     0, kAllTiles,       false},
    // HopperTf32
    {           8390,         1.16,      0.924,        1.05,         246,         34.2,
                  102,   0.313,         5630,        7300,              138,       0.968,
                  0.5,    0.455,       10200,     0, kAllTiles,       false},
    // HopperWindows
    {          11500,          1.2,      0.924,        1.05,         108,         37.2,
                  102,   0.343,       kNever,        7300,              138,       0.968,
                  0.5,    0.455,        7270,     0, kAllTiles,       false},
    // HopperDataGradients
    {          16600,         1.03,      0.924,        1.05,         299,         27.4,
                  102,   0.017,       kNever,        7300,              138,       0.968,
                  0.5,    0.455,        7170,     0, kAllTiles,       false},
    // HopperWeightGradients
    {           2930,         1.19,      0.924,        1.05,         501,         83.5,
                  102,   0.476,        23000,        7300,              138,       0.968,
                  0.5,    0.455,       16600,     0, kAllTiles,       false},
    // HopperWeightGradientsTf32
    {           6000,         1.26,      0.924,        1.05,        1310,         14.2,
                  102,   0.556,        19700,        7300,              138,       0.968,
                  0.5,    0.455,        8450,     0, kAllTiles,       false},
    // Blackwell
    {           4130,          1.2,      0.899,        1.05,         138,          135,
                  181,   0.504,         6360,        4840,              107,           1,
                  0.5,    0.386,        2230,     0, kAllTiles,       false},
    // Cdna
    {           4900,        0.792,       0.66,        1.05,        1600,           64,
                 29.8,    1.04,         5420,        5300,             21.5,       0.259,
                  0.5,    0.181,         101, 0.619, kMmaTiles,       false},
    // CdnaHalf
    {          11800,         1.17,      0.677,       0.612,         167,         33.1,
                 20.5,   0.522,         3770,      kNever,               16,       0.518,
                  0.5,   0.0823,       10200, 0.367, kMmaTiles,       false},
    // Cdna3Half
    {          11800,         1.17,      0.677,       0.612,         167,         33.1,
                 20.5,   0.522,         3770,      kNever,               16,       0.695,
                  0.5,   0.0823,       10200, 0.367, kMmaTiles,       false},
};
// clang-format on

/// ln of the learned factor on products in 16 bits, and on quantised ones, at most. (our choice)
inline constexpr double kMostLearned = 0.4, kMostLearnedQuantised = 0.7;
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

}  // namespace perfc::constants
