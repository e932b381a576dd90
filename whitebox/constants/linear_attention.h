#pragma once
/// Linear attention and causal convolutions before it: whitebox/price/linear_attention.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// Tokens of a chunk, and what clocks and bytes below are of: channels of a key and as many of a value, and so elements
/// of a state, channels of both.
inline constexpr double kChunkTokens = 64, kHeadChannels = 128;
inline constexpr double kChunkState = kHeadChannels * kHeadChannels, kTokenChannels = kHeadChannels + kHeadChannels;

/// flash-linear-attention's chunk_gated_delta_rule, which PyTorch models call: kernels, µs of the launch of each beside
/// the device's own, clocks of an SM for a chunk of a head in all of them, clocks of a chunk that waits for the one
/// before (chunk_gated_delta_rule_fwd_h), bytes that they move per token of a head of 128 + 128 channels in 16 bits,
/// the share of these that lie in the L2 cache at once, and what an empty chunk has of a full one's clocks and bytes.
/// One set for all GPUs: 12 to 23 % off, and a class of chips that no fit saw 8 to 31 %.
/// [kernels: studies/kernels/linear_attention.py; shared/data/datacenter/gated_delta_net]
inline constexpr double kLibraryKernels = 7, kLibraryLaunchUs = 1.58;
inline constexpr double kLibraryChunkClocks = 34150, kLibraryWaitClocks = 5310;
inline constexpr double kLibraryTokenBytes = 5924, kLibraryResident = 0.29, kLibraryEmptyChunk = 0.65;
/// Calls of fused attention that take the host as long as the launch of one kernel of it from Triton does: 375 µs for a
/// chunked call and 82 µs for a single token's behind an H200. [ONNX Runtime, docs/contrib_ops/cuda/gdn.md, §7, its FLA
/// columns, by the host `server-2024`]
inline constexpr double kTritonCalls = 3.5;

/// ONNX Runtime's GatedDeltaNet [the same page, §5 to §7 and §11, H200]. Chunks of 64 tokens for halves of a head's
/// values, a thread block each, one to an SM; where 99 KiB of shared memory do not hold them, of 32, which takes a
/// tenth longer.
inline constexpr double kChunkClocks = 48000, kChunkValues = 64, kNarrowChunks = 1.1;
/// Two kernels instead, where thread blocks leave so much of the last wave empty and a sequence has two chunks.
inline constexpr double kFullWaves = 0.85, kSplitChunks = 0.85;
/// Tokens from which it takes chunks; clocks of one by itself: 1.36 µs.
inline constexpr double kLeastChunked = 32, kWarpTokenClocks = 2690;
/// ONNX Runtime's LinearAttention: a thread block keeps the state of a head and takes one token after the other (1.80
/// to 1.95 µs with 48 heads); where there are more heads than SMs another kernel has 10.8 µs for 192 heads.
inline constexpr double kTokenClocks = 3720, kOverfullTokenClocks = 111.7;

/// Clocks of an SM per byte that a causal convolution moves. [kernels: causal_conv1d_fn of vLLM 0.24 and SGLang 0.5.14,
/// H100, H200 and B200 alike; studies/kernels/linear_attention.py prints 0.109]
inline constexpr double kCausalByteClocks = 0.108;

}  // namespace perfc::constants
