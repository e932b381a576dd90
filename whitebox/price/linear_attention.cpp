#include "whitebox/price/linear_attention.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/linear_attention.h"

namespace perfc {
namespace {

double chunks_of(const StateSpan& s) { return std::ceil(s.tokens / constants::kChunkTokens); }

double state_share(const StateSpan& s) { return s.keys * s.values / constants::kChunkState; }

/// Chunks of all heads side by side, and what their kernels hand to each other through memory.
Priced price_library(const Kernel& k, const Rates& r) {
  const StateSpan& s = k.state;
  const double chunks = chunks_of(s);
  const double all = s.sequences * s.heads * chunks *
                     std::lerp(constants::kLibraryEmptyChunk, 1.0, s.tokens / (chunks * constants::kChunkTokens));
  const double clocks = std::max(all * constants::kLibraryChunkClocks * state_share(s) / r.memory.sms,
                                 chunks * constants::kLibraryWaitClocks);
  const double width = (k.half ? 1 : 2) * (s.keys + s.values) / constants::kTokenChannels;
  const double bytes = all * constants::kChunkTokens * constants::kLibraryTokenBytes * width;
  Priced p;
  p.compute_us = clocks / r.memory.clock_hz * 1e6;
  p.memory_us = bytes * missed(r.memory, bytes * constants::kLibraryResident) / r.bandwidth * 1e6;
  p.exposed_us = std::hypot(p.compute_us, p.memory_us) - std::max(p.compute_us, p.memory_us);
  p.launch_us = constants::kLibraryKernels * (r.launch_us + constants::kLibraryLaunchUs);
  return p;
}

/// Of shared memory a thread block can have 163 KiB and more, not 99 (CUDA C++ Programming Guide, table of compute
/// capabilities: 8.0, 9.0, 10.0; not 8.6, 8.9, 12.0).
bool has_large_blocks(const Rates& r) { return r.hopper || r.product[1]->chip == ChipClass::Ga100; }

/// Clocks of ONNX Runtime's chunks, a thread block for each sequence, head and part of its values.
double chunked_clocks(const StateSpan& s, const Rates& r) {
  const double waves = s.sequences * s.heads * s.values / constants::kChunkValues / r.memory.sms;
  const double clocks = std::ceil(waves) * chunks_of(s) * constants::kChunkClocks;
  if (!has_large_blocks(r)) return clocks * constants::kNarrowChunks;
  const bool splits = waves / std::ceil(waves) < constants::kFullWaves && s.tokens >= 2 * constants::kChunkTokens;
  return splits ? clocks * constants::kSplitChunks : clocks;
}

/// Of its kernels that take one token after the other.
double token_clocks(const StateSpan& s, const Rates& r) {
  const double heads = s.sequences * s.heads, keys = s.keys / constants::kHeadChannels;
  if (s.kernels == StateKernels::Chunks) return s.tokens * constants::kWarpTokenClocks * std::max(keys, 1.0);
  const double clocks = heads <= r.memory.sms ? constants::kTokenClocks : heads * constants::kOverfullTokenClocks;
  return s.tokens * clocks * keys;
}

/// mma.sync.m16n8k16: Ampere and later.
bool is_ampere_or_later(const Rates& r) {
  if (r.hopper) return true;
  if (!r.product[1]) return false;
  const ChipClass chip = r.product[1]->chip;
  return chip == ChipClass::Ga100 || chip == ChipClass::Graphics || chip == ChipClass::GraphicsAmpere ||
         chip == ChipClass::GeForce;
}

/// As gated_delta_net_plan.h, SelectPlan, does.
bool takes_chunks(const Kernel& k, const Rates& r) {
  const StateSpan& s = k.state;
  return s.kernels == StateKernels::Chunks && k.half && !r.bfloat16 && !s.by_channel && s.keys == 128 &&
         s.values == 128 && s.tokens >= constants::kLeastChunked && is_ampere_or_later(r);
}

}  // namespace

bool is_linear_attention(const Kernel& k, const Rates& r) {
  if (k.state.kernels == StateKernels::None || k.state.tokens <= 1) return false;
  return (r.cudnn || k.state.kernels == StateKernels::Library) && r.memory.sms > 0 && r.memory.clock_hz > 0;
}

Priced price_linear_attention(const Kernel& k, const Rates& r) {
  if (k.state.kernels == StateKernels::Library) {
    Priced p = price_library(k, r);
    p.add_up(p.roofline_us());
    return p;
  }
  const double clocks = takes_chunks(k, r) ? chunked_clocks(k.state, r) : token_clocks(k.state, r);
  Priced p;
  p.memory_us = moved_bytes(k, r) / r.bandwidth * 1e6;
  p.compute_us = clocks / r.memory.clock_hz * 1e6;
  p.launch_us = r.launch_us;
  p.add_up(p.roofline_us());
  return p;
}

}  // namespace perfc
