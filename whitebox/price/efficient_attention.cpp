#include "whitebox/price/efficient_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "whitebox/constants/attention.h"
#include "whitebox/constants/hopper.h"
#include "whitebox/constants/units.h"

namespace perfc {
namespace {

double tiles_of(double extent, double tile) { return std::ceil(extent / tile); }

/// Heads that its accumulators hold have square tiles.
CausalTiles efficient_tiles(const AttentionProblem& a) {
  CausalTiles out = a.channels <= constants::kEfficientHead ? CausalTiles{.queries = 64, .keys = 64}
                                                            : CausalTiles{.queries = 32, .keys = 128};
  out.rows = tiles_of(a.queries, out.queries);
  out.reach = a.window > 0 ? a.window : std::numeric_limits<double>::infinity();
  return out;
}

double clocks_of_score(double channels, const EfficientAttentionFacts& d) {
  // q · kᵀ walks over the channels in steps, the scores times v give whole tiles of them.
  const double walked = tiles_of(channels, constants::kEfficientStep) * constants::kEfficientStep;
  const double given = tiles_of(channels, constants::kEfficientHead) * constants::kEfficientHead;
  return 2 * (walked + given) / (d.flops_clock * d.share) + d.channel_clocks * (walked + given) / 2 + d.score_clocks;
}

}  // namespace

std::optional<EfficientAttentionFacts> efficient_attention_facts(const Device& d, bool half) {
  if (d.kind != "gpu" || is_amd(d) || d.sms <= 0 || d.boost_clock_mhz <= 0) return std::nullopt;
  EfficientAttentionFacts out{.sms = static_cast<double>(d.sms), .clock_hz = d.boost_clock_mhz * 1e6};
  const auto per_clock = [&out](double tflops) {
    return tflops * constants::kFlopsOfTeraflop / (out.sms * out.clock_hz);
  };
  const double lanes = per_clock(figure(d.vector_tflops, "float32"));
  const bool before_ampere = d.architecture == "volta" || d.architecture == "turing";
  const bool old_instructions = d.memory_type == "hbm" && d.architecture != "ampere" && !before_ampere;
  if (half) {
    out.flops_clock = per_clock(figure(d.matrix_tflops, "float16"));
    if (out.flops_clock <= 0) return std::nullopt;
    if (old_instructions) out.flops_clock *= constants::kMmaSyncShare;
    out.wide_heads = !before_ampere;
    out.share = constants::kEfficientHalf.share;
    out.score_clocks = constants::kEfficientHalf.score_clocks;
    return out;
  }
  const double tf32 = per_clock(figure(d.matrix_tflops, "tf32"));
  if (tf32 > 0 && !before_ampere) {  // three products in TF32 make one in float32
    out.flops_clock = tf32 / 3 * (old_instructions ? constants::kMmaSyncShare : 1);
    out.channel_clocks = constants::kEfficientTf32.channel_clocks;
    out.tf32 = true;
    return out;
  }
  if (lanes <= 0) return std::nullopt;
  out.flops_clock = lanes;
  out.share = constants::kEfficientLanes.share;
  return out;
}

bool takes(const EfficientAttentionFacts& d, const AttentionProblem& a) {
  return !d.wide_heads || a.channels > constants::kFlashHead;
}

double efficient_attention_time(const AttentionProblem& a, const EfficientAttentionFacts& d) {
  const CausalTiles tile = efficient_tiles(a);
  const double all_keys = tiles_of(a.keys, tile.keys),
               of_tile = tile.queries * tile.keys * clocks_of_score(a.channels, d);
  const double longest = all_keys * of_tile + constants::kEfficientBlock;
  const double mean = (a.causal ? mean_key_tiles(a, tile) : all_keys) * of_tile + constants::kEfficientBlock;
  return thread_block_clocks(tile.rows * a.heads, longest, mean, constants::kEfficientTail, d.sms) / d.clock_hz;
}

}  // namespace perfc
