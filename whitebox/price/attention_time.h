#pragma once
/// Time of fused attention (FlashAttention-2, -3 and -4, TensorRT-LLM's kernels): softmax(q · kᵀ) · v in tiles of
/// queries by keys that never leave an SM. A score costs, per SM,
///
///     √(products² + operands² + softmax²) clocks
///
/// for two products on the matrix units, keys and values from shared memory, and an exponential with what surrounds it.
/// A thread block computes whole tiles; the kernel ends with its last wave. Causal attention skips tiles of keys after
/// the queries' own, or before their window; a kernel that writes keys and values into a cache runs before it. One
/// query (decoding) is another kernel: thread blocks stream keys and values of heads that share them, in parts side by
/// side where there are few such heads. A launch is not in it. Constants: whitebox/constants/attention.h, fitted on
/// measured kernels by studies/kernels/attention.py, whose attention_model.py computes the same.
#include <cstdint>

#include "whitebox/price/matmul_time.h"

namespace perfc {

struct AttentionProblem {
  double batch = 1;
  double heads = 0;      ///< over the whole batch
  double key_heads = 0;  ///< heads of keys and values, over the whole batch; at most `heads`
  double queries = 0, keys = 0;
  double channels = 0;  ///< of a head
  double element_bytes = 2;
  bool causal = false;        ///< a query meets no key after its own
  double past = 0;            ///< of causal attention: keys before the first query's own
  double window = 0;          ///< of causal attention: keys that a query meets at most; 0: all
  bool writes_cache = false;  ///< keys and values of the queries are put into a cache first
  double hot = 1;  ///< of the keys and values of one query, the share that this run's kernels wrote: L2 may hold it
};

/// Which form prices it.
enum class AttentionForm : std::uint8_t {
  Encoder,  ///< every query meets every key
  Prefill,  ///< causal
  Decode,   ///< one query
};
inline AttentionForm form_of(const AttentionProblem& a) {
  return a.queries == 1 ? AttentionForm::Decode : a.causal ? AttentionForm::Prefill : AttentionForm::Encoder;
}

/// How a chip feeds its matrix units.
enum class AttentionChip : std::uint8_t {
  MmaSync,  ///< a warp's mma.sync from registers: Volta to Ada, Blackwell of workstations and games
  Wgmma,    ///< a warpgroup's wgmma from shared memory: Hopper
  Tcgen05,  ///< tcgen05 with tensor memory: Blackwell of data centres
  Other,    ///< nobody measured it: constants of all others at once
};

/// What it asks of a device.
struct AttentionFacts {
  AttentionChip chip = AttentionChip::MmaSync;
  ChipClass products = ChipClass::GeForce;  ///< whose learned factor is its own, where there is one
  bool learned = false;                     ///< `learned_attention_time` may correct it
  double bandwidth = 0;                     ///< byte/s that streams reach
  double reading = 0;                       ///< the same of a kernel that hardly writes
  double l2_bytes = 0;
  double sms = 0, clock_hz = 0;
  double matrix_flops = 0;   ///< FLOP/s of the matrix units at that clock
  double resident = 1;       ///< thread blocks of a single query's kernel that run on an SM side by side
  double lanes = 128;        ///< float32 operations per clock of an SM
  double exponentials = 16;  ///< per clock of an SM
  double sustained = 1;      ///< of the clock, what the chip holds under long matrix work
  double tdp_w = 0;
  bool grace = false;  ///< a Grace CPU launches its kernels
};

struct AttentionTime {
  double compute_s = 0;  ///< of the SMs
  double memory_s = 0;
  double work_s = 0;  ///< the longer, and what of the shorter does not hide
};
/// By the problem's form.
AttentionTime attention_time(const AttentionProblem&, const AttentionFacts&);

/// Tiles of a causal kernel, and how its thread blocks lie in them.
struct CausalTiles {
  double queries = 0, keys = 0;  ///< of a tile
  bool packed = false;           ///< a block takes the queries of all heads that share keys
  double rows = 0;               ///< tiles of queries
  double reach = 0;              ///< keys that a query meets at most
};
/// Tiles of keys per tile of queries, in the mean over these; of many, some are counted.
double mean_key_tiles(const AttentionProblem&, const CausalTiles&);
/// Clocks of thread blocks of `mean` clocks, at most `longest`, on so many SMs: the last starts when the others are
/// nearly done, and shows by `tail`.
double thread_block_clocks(double blocks, double longest, double mean, double tail, double sms);

/// Whether FlashAttention-2 computes a causal problem by its kernel without a cache, which walks over the keys as that
/// for every key does. [aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd]
bool reads_no_cache(const AttentionProblem&, AttentionChip);

/// Multiply–accumulates, but those that a causal mask or a window hides.
double attention_macs(const AttentionProblem&);
/// Thread blocks of its kernel, without parts of keys side by side.
double attention_blocks(const AttentionProblem&, AttentionChip);

}  // namespace perfc
