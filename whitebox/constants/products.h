#pragma once
/// Dense products: whitebox/price/matmul_time.cpp, product_price.cpp.
/// [Sources]: whitebox/constants/README.md.
#include <cstddef>
#include <iterator>

namespace perfc::constants {

/// 1: of the tensor cores' rate with loads of two elements (even extents). eva02_large: 2730 columns. [timm]
inline constexpr double kNarrowLoads = 0.65;
/// Rows, columns, depth of the tiles of batched products of odd extents. volo: 9×9 by 9×32. [timm]
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
