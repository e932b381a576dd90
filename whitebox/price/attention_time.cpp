#include "whitebox/price/attention_time.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants.h"

namespace perfc {
namespace {

const constants::Attention& constants_of(AttentionChip chip) {
  return chip == AttentionChip::Wgmma ? constants::kWgmmaAttention : constants::kMmaAttention;
}

/// Channels that kernels exist for, at least those given.
double computed_channels(double channels) {
  for (const double width : constants::kAttentionWidths) {
    if (channels <= width) return width;
  }
  return channels;
}

/// Clocks of an SM per score.
double score_clocks(const AttentionProblem& a, const AttentionFacts& d, const constants::Attention& c) {
  const double channels = computed_channels(a.channels);
  const double products = 4 * channels / (d.matrix_flops / (d.sms * d.clock_hz));
  const double operands = 2 * a.element_bytes * channels / c.rows / constants::kSharedMemoryBytes;
  const double softmax = 1 / d.exponentials + constants::kSoftmaxOperations / d.lanes;
  return std::sqrt(products * products + operands * operands + softmax * softmax) / (c.share * d.sustained);
}

/// Seconds of thread blocks of equal length: the last starts when the others are nearly done.
double waves_s(double blocks, double clocks, const AttentionFacts& d, const constants::Attention& c) {
  const double tail = blocks > d.sms ? c.tail * clocks : 0;
  return std::max(clocks, blocks * clocks / d.sms + tail) / d.clock_hz;
}

/// Of what is moved, seconds for what the L2 cache does not hold.
double memory_s(double moved, const AttentionFacts& d) {
  const double fits = moved > 0 ? constants::kCacheUse * d.l2_bytes / moved : 0;
  return moved / (1 + fits * fits * fits * fits) / d.bandwidth;
}

const constants::Decoding& decoding_of(AttentionChip chip) {
  return chip == AttentionChip::Wgmma ? constants::kWgmmaDecoding : constants::kMmaDecoding;
}

/// Keys of a step of a single query's kernel.
double decoding_tile(AttentionChip chip, double channels) {
  if (chip == AttentionChip::Wgmma) return constants::kLeastDecodingTile;
  return channels <= 64    ? 4 * constants::kLeastDecodingTile
         : channels <= 128 ? 2 * constants::kLeastDecodingTile
                           : constants::kLeastDecodingTile;
}

/// FlashAttention-2's parts: the fewest that fill the waves to 85 % of the best. [flash_api.cpp, num_splits_heuristic,
/// which is given twice the SMs]
double flash2_splits(double blocks, double sms, double tiles) {
  if (blocks >= constants::kFullSms * sms) return 1;
  const double most = std::min({constants::kMostDecodingSplits, sms, tiles});
  const auto eligible = [tiles](double s) { return s == 1 || std::ceil(tiles / s) != std::ceil(tiles / (s - 1)); };
  const auto filling = [=](double s) { return blocks * s / sms / std::ceil(blocks * s / sms); };
  double best = 0;
  for (double s = 1; s <= most; ++s) {
    if (eligible(s)) best = std::max(best, filling(s));
  }
  double s = 1;
  while (s < most && !(eligible(s) && filling(s) >= constants::kEnoughFilling * best)) ++s;
  return s;
}

}  // namespace

AttentionTime decoding_time(const AttentionProblem& a, const AttentionFacts& d) {
  const constants::Decoding& c = decoding_of(d.chip);
  const double tile = decoding_tile(d.chip, a.channels), tiles = std::ceil(a.keys / tile);
  const double sequences = a.key_heads > 0 ? a.key_heads : a.heads;
  const double dram = memory_s(2 * a.element_bytes * a.keys * a.channels * sequences, d) / c.bandwidth;
  const auto with_splits = [&](double splits) {
    const double part = std::ceil(tiles / splits) * tile * 2 * a.element_bytes * a.channels;
    const double waves = std::ceil(sequences * splits / (d.sms * d.resident));
    const double streams = waves * (part / c.stream + c.block) / d.clock_hz;
    const double work =
        std::max(streams, dram) + c.exposed * std::min(streams, dram) + (splits > 1 ? c.combine / d.clock_hz : 0);
    return AttentionTime{.compute_s = streams, .memory_s = dram, .work_s = work};
  };
  if (d.chip == AttentionChip::MmaSync) return with_splits(flash2_splits(sequences, 2 * d.sms, tiles));
  AttentionTime best = with_splits(1);
  for (const double splits : constants::kDecodingSplits) {
    if ((splits - 1) * tile >= a.keys) break;
    const AttentionTime t = with_splits(splits);
    if (t.work_s < best.work_s) best = t;
  }
  return best;
}

AttentionTime attention_time(const AttentionProblem& a, const AttentionFacts& d) {
  const constants::Attention& c = constants_of(d.chip);
  const double tiles = std::ceil(a.keys / constants::kAttentionKeys);
  const double block = tiles * c.queries * constants::kAttentionKeys * score_clocks(a, d, c) + c.block;
  const double moved = 2 * a.element_bytes * a.heads * (a.queries + a.keys) * a.channels;
  AttentionTime out{.compute_s = waves_s(std::ceil(a.queries / c.queries) * a.heads, block, d, c),
                    .memory_s = memory_s(moved, d)};
  out.work_s = std::max(out.compute_s, out.memory_s);
  return out;
}

}  // namespace perfc
