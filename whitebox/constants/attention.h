#pragma once
/// Attention: whitebox/price/attention_time.cpp, efficient_attention.cpp, attention_factor.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

// ---- Fused: whitebox/price/attention_time.cpp
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
  double alone;    ///< 1: of a tile's time, what it takes where thread blocks are few
  double exposed;  ///< 1: of the shorter of SMs and memory, what does not hide
  double token;    ///< clocks of an SM in which a kernel before it puts a token into the cache, of kCacheRow bytes …
  double row;      ///< … and the power with which they grow with these
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
     .prefill =
         {.share = 0.902, .tail = 0.536, .block = 2460, .alone = 1.16, .exposed = 0.204, .token = 358, .row = 0.654},
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
     .prefill =
         {.share = 0.939, .tail = 0.344, .block = 4430, .alone = 0.633, .exposed = 0.616, .token = 357, .row = 0.679},
     .decoding = {.bandwidth = 0.948,
                  .stream = 14.7,
                  .reach = 0.778,
                  .block = 4250,
                  .exposed = 0.0405,
                  .combine = 3410,
                  .use = 0.49}},
    // Tcgen05
    {.queries = 192,
     .rows = 128,
     .causal_queries = 128,
     .narrow_tiles = false,
     .packs_queries = false,
     .encoder = {.share = 1.09, .tail = 0.507, .block = 8040},
     .prefill =
         {.share = 1.17, .tail = 0.659, .block = 4190, .alone = 1.83, .exposed = 0.59, .token = 250, .row = 0.722},
     .decoding = {.bandwidth = 1.09,
                  .stream = 3.95,
                  .reach = 1.44,
                  .block = 3830,
                  .exposed = 0.151,
                  .combine = 2230,
                  .use = 0.707}},
    // Other: constants of all three at once
    {.queries = 128,
     .rows = 16,
     .causal_queries = 128,
     .narrow_tiles = false,
     .packs_queries = false,
     .encoder = {.share = 1.05, .tail = 0.441, .block = 7970},
     .prefill =
         {.share = 0.986, .tail = 0.621, .block = 3780, .alone = 0.973, .exposed = 0.424, .token = 313, .row = 0.68},
     .decoding = {.bandwidth = 1.01,
                  .stream = 11.9,
                  .reach = 2.5,
                  .block = 5130,
                  .exposed = 0.317,
                  .combine = 6010,
                  .use = 0.74}},
};
/// 1: of the sheet's bandwidth, what reading alone reaches, of any memory. [kernels]
inline constexpr double kReadShare = 0.915;
/// Clocks of a thread block of FlashAttention-2's causal kernel that reads no cache; its share is the encoder's.
/// [hopper: fit_inference.py, six such kernels of FlashAttention-2 on an H200, 2.8 % off]
inline constexpr double kDenseCausalBlock = 8000;
/// Byte of a token's keys and values, read and written. (our choice of unit)
inline constexpr double kCacheRow = 1024;
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
/// The narrowest of mma.sync's. [flash_api.cpp of FlashAttention-2, HEADDIM_SWITCH]
inline constexpr double kNarrowestHead = 32;
/// FLOPs per clock of an SM that mma.sync reaches on Hopper, 0.629 of wgmma's 4,096, and here of data-centre Blackwell.
/// [Luo et al. 2024, "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking"]
inline constexpr double kMmaSyncFlops = 2576;
/// 1: of A100's law, what FlashAttention-2 reaches there: 0.35 of an H100's peak. [FlashAttention-3, arXiv 2407.08608;
/// hopper: fit_inference.py, 21 of its kernels on an H200, median 0.94; 0.98 of 13 that are none of MobileViT's]
inline constexpr double kFlash2Share = 0.81;
/// Bytes per clock of an SM's shared memory: 32 banks of 4. [CUDA C++ Programming Guide]
inline constexpr double kSharedMemoryBytes = 128;
/// Queries below which kernels split the keys instead. [flash_api.cpp, set_params_splitkv: tiles of 64]
inline constexpr double kFewQueries = 64;
/// Operations per score on float32 lanes: maximum, scale, sum, conversion. [counted]
inline constexpr double kSoftmaxOperations = 4;

// ---- Memory-efficient: whitebox/price/efficient_attention.cpp
/// What a score takes: 1 of the units' rate, and clocks beside it, per channel of a head and at all.
struct EfficientAttention {
  double share = 1, channel_clocks = 0, score_clocks = 0;
};
/// In 16 bits: V100, heads of 40 and 128 channels. [efficient] Since Ampere of wider heads than flash kernels take.
inline constexpr EfficientAttention kEfficientHalf{.share = 0.36, .score_clocks = 0.376};
/// In 32 bits with tensor cores, each product three in TF32 (cutlass::arch::OpMultiplyAddFastF32): A100. [efficient]
inline constexpr EfficientAttention kEfficientTf32{.channel_clocks = 0.0125};
/// In 32 bits without: Quadro GP100. [efficient]
inline constexpr EfficientAttention kEfficientLanes{.share = 0.61};
/// Channels of a head that flash kernels take at most. [sdp_utils.cpp, check_head_dim_size_flash]
inline constexpr double kFlashHead = 256;
/// Channels that its accumulators hold in square tiles, and that a step walks over. [kernel_forward.h, kMaxK, ThreadK]
inline constexpr double kEfficientHead = 64, kEfficientStep = 32;
/// Clocks of a thread block beside its scores; 1: of the longest block, what the last wave adds. As flash kernels.
inline constexpr double kEfficientBlock = 600, kEfficientTail = 0.361;

// ---- Any
/// Factor on the time of flash kernels for what they do not take (a mask, keys and values of unequal width): the
/// memory-efficient kernel's. beit against vit [timm]; A100 by its authors. [efficient]
inline constexpr double kMaskedAttention = 2;
/// Queries and keys of a tile of fused attention. [FlashAttention-2, Dao 2023]
inline constexpr double kAttentionQueries = 128, kAttentionKeys = 128;
/// Channels of a head below which exponentials take what products save. Transformers with narrow heads. [timm]
inline constexpr double kAttentionHead = 64;
/// TensorRT's fused attention on Turing, beside PyTorch's: 0.62 to 0.77 in two profiles of RF-DETR on a T4, each beside
/// its own products (docs/whitebox.md, "TensorRT's engines").
inline constexpr double kEngineAttention = 0.7;

// ---- The learned factor: whitebox/price/attention_factor.cpp
/// Extents of the attention that trained its factor. [studies/kernels/attention_factor.py]
struct MeasuredAttention {
  double least_keys, most_keys, most_heads, most_channels;
};
/// By AttentionForm.
inline constexpr MeasuredAttention kMeasuredAttention[] = {{13, 65536, 2048, 80},      // Encoder
                                                           {16, 16384, 24576, 256},    // Prefill
                                                           {2, 131072, 196608, 256}};  // Decode
inline constexpr double kLeastMeasuredChannels = 64;

}  // namespace perfc::constants
