#include "whitebox/price/efficient_attention.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants.h"

namespace perfc {
namespace {

double tiles_of(double extent, double tile) { return std::ceil(extent / tile); }

/// Tiles of the kernel: heads that its accumulators hold have square ones.
struct EfficientTiles {
  double queries, keys;
};
EfficientTiles efficient_tiles(double channels) {
  const bool narrow = channels <= constants::kEfficientHead;
  return {narrow ? 64.0 : 32.0, narrow ? 64.0 : 128.0};
}

double clocks_of_score(double channels, const EfficientAttentionFacts& d) {
  // q · kᵀ walks over the channels in steps, the scores times v give whole tiles of them.
  const double walked = tiles_of(channels, constants::kEfficientStep) * constants::kEfficientStep;
  const double given = tiles_of(channels, constants::kEfficientHead) * constants::kEfficientHead;
  return 2 * (walked + given) / (d.flops_clock * d.share) + d.channel_clocks * (walked + given) / 2 + d.score_clocks;
}

/// Tiles of keys that a tile of queries meets, in the mean.
double mean_tiles(const AttentionProblem& a, const EfficientTiles& tile) {
  if (!a.causal) return tiles_of(a.keys, tile.keys);
  const double reach = a.window > 0 ? a.window : a.keys, rows = tiles_of(a.queries, tile.queries);
  const double step = std::ceil(rows / constants::kMostTilesCounted), counted = std::ceil(rows / step);
  double sum = 0;
  for (double i = 0; i < counted; ++i) {
    const double first = a.past + i * step * tile.queries, end = std::min(first + tile.queries, a.keys);
    sum += tiles_of(end, tile.keys) - std::floor(std::max(first - reach, 0.0) / tile.keys);
  }
  return std::max(sum / counted, 1.0);
}

double rate_of(const std::map<std::string, double>& rates, const char* dtype) {
  const auto at = rates.find(dtype);
  return at == rates.end() ? 0 : at->second * constants::kFlopsOfTeraflop;
}

}  // namespace

std::optional<EfficientAttentionFacts> efficient_attention_facts(const Device& d, bool half) {
  if (d.kind != "gpu" || is_amd(d) || d.sms <= 0 || d.boost_clock_mhz <= 0) return std::nullopt;
  EfficientAttentionFacts out{.sms = static_cast<double>(d.sms), .clock_hz = d.boost_clock_mhz * 1e6};
  const auto per_clock = [&out](double flops) { return flops / (out.sms * out.clock_hz); };
  const double lanes = per_clock(rate_of(d.vector_tflops, "float32"));
  const bool before_ampere = d.architecture == "volta" || d.architecture == "turing";
  if (half) {
    out.flops_clock = per_clock(rate_of(d.matrix_tflops, "float16"));
    if (!before_ampere || out.flops_clock <= 0) return std::nullopt;
    out.share = constants::kEfficientHalf.share;
    out.score_clocks = constants::kEfficientHalf.score_clocks;
    return out;
  }
  const double tf32 = per_clock(rate_of(d.matrix_tflops, "tf32"));
  if (tf32 > 0 && !before_ampere) {  // three products in TF32 make one in float32
    const bool old_instructions = d.memory_type == "hbm" && d.architecture != "ampere";
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

double efficient_attention_time(const AttentionProblem& a, const EfficientAttentionFacts& d) {
  const EfficientTiles tile = efficient_tiles(a.channels);
  const double of_tile = tile.queries * tile.keys * clocks_of_score(a.channels, d);
  const double block = mean_tiles(a, tile) * of_tile + constants::kEfficientBlock;
  const double longest = tiles_of(a.keys, tile.keys) * of_tile + constants::kEfficientBlock;
  const double blocks = tiles_of(a.queries, tile.queries) * a.heads;
  const double tail = blocks > d.sms ? constants::kEfficientTail * longest : 0;
  return std::max(longest, blocks * block / d.sms + tail) / d.clock_hz;
}

}  // namespace perfc
