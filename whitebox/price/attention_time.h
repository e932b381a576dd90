#pragma once
/// Time of fused attention (FlashAttention-2 and -3: what PyTorch's scaled_dot_product_attention runs):
/// softmax(q · kᵀ) · v in tiles of queries by keys that never leave an SM. A score costs, per SM,
///
///     √(products² + operands² + softmax²) clocks
///
/// for two products on the matrix units, keys and values from shared memory, and an exponential with what surrounds it.
/// A thread block computes whole tiles; the kernel ends with its last wave. One query (decoding) is another kernel:
/// thread blocks stream keys and values of heads that share them, in parts side by side where there are few such heads.
/// A launch is not in it. Constants: whitebox/constants.h, fitted on measured kernels by studies/kernels/attention.py.
namespace perfc {

struct AttentionProblem {
  double heads = 0;      ///< over the whole batch
  double key_heads = 0;  ///< heads of keys and values, over the whole batch; 0: as many
  double queries = 0, keys = 0;
  double channels = 0;  ///< of a head
  double element_bytes = 2;
};

/// How a chip feeds its matrix units.
enum class AttentionChip {
  MmaSync,  ///< a warp's mma.sync from registers: Volta to Ada, Blackwell of workstations and games
  Wgmma,    ///< a warpgroup's wgmma from shared memory: Hopper
};

/// What it asks of a device.
struct AttentionFacts {
  AttentionChip chip = AttentionChip::MmaSync;
  double bandwidth = 0;  ///< byte/s that streams reach
  double l2_bytes = 0;
  double sms = 0, clock_hz = 0;
  double matrix_flops = 0;   ///< FLOP/s of the matrix units at that clock
  double resident = 1;       ///< thread blocks of a single query's kernel that an SM's shared memory has room for
  double lanes = 128;        ///< float32 operations per clock of an SM
  double exponentials = 16;  ///< per clock of an SM
  double sustained = 1;      ///< of the clock, what the chip holds under long matrix work
};

struct AttentionTime {
  double compute_s = 0;  ///< of the SMs
  double memory_s = 0;
  double work_s = 0;  ///< the longer, and what of the shorter does not hide
};
/// Every query meets every key.
AttentionTime attention_time(const AttentionProblem&, const AttentionFacts&);
/// One query per head.
AttentionTime decoding_time(const AttentionProblem&, const AttentionFacts&);

}  // namespace perfc
