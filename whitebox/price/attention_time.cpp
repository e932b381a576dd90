#include "whitebox/price/attention_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "whitebox/constants/attention.h"
#include "whitebox/constants/kernels.h"

namespace perfc {
namespace {

const constants::AttentionKernels& attention_kernels(AttentionChip chip) {
  return constants::kAttention[static_cast<std::size_t>(chip)];
}

/// Channels that kernels exist for, at least those given.
double computed_channels(double channels, AttentionChip chip) {
  if (chip == AttentionChip::MmaSync && channels <= constants::kNarrowestHead) return constants::kNarrowestHead;
  for (const double width : constants::kAttentionWidths) {
    if (channels <= width) return width;
  }
  return channels;
}

/// Clocks of an SM per score; `share`: of the clocks that units need one by one.
double score_clocks(const AttentionProblem& a, const AttentionFacts& d, double share) {
  const double channels = computed_channels(a.channels, d.chip);
  const double products = 4 * channels / (d.matrix_flops / (d.sms * d.clock_hz));
  const double operands =
      2 * a.element_bytes * channels / attention_kernels(d.chip).rows / constants::kSharedMemoryBytes;
  const double softmax = 1 / d.exponentials + constants::kSoftmaxOperations / d.lanes;
  return std::sqrt(products * products + operands * operands + softmax * softmax) / (share * d.sustained);
}

double waves_s(double blocks, double longest, double mean, double tail, const AttentionFacts& d) {
  return thread_block_clocks(blocks, longest, mean, tail, d.sms) / d.clock_hz;
}

/// Of what is moved, bytes that the L2 cache does not hold.
double missed_bytes(double moved, const AttentionFacts& d, double use, double power) {
  return moved > 0 ? moved / (1 + std::pow(use * d.l2_bytes / moved, power)) : 0;
}
double missed_bytes(double moved, const AttentionFacts& d) { return missed_bytes(moved, d, constants::kCacheUse, 4); }

AttentionTime encoder_time(const AttentionProblem& a, const AttentionFacts& d) {
  const constants::AttentionKernels& k = attention_kernels(d.chip);
  const constants::Encoder& c = k.encoder;
  const double tiles = std::ceil(a.keys / constants::kAttentionKeys);
  const double block = tiles * k.queries * constants::kAttentionKeys * score_clocks(a, d, c.share) + c.block;
  const double moved = 2 * a.element_bytes * a.heads * (a.queries + a.keys) * a.channels;
  AttentionTime out{.compute_s = waves_s(attention_blocks(a, d.chip), block, block, c.tail, d),
                    .memory_s = missed_bytes(moved, d) / d.bandwidth};
  out.work_s = std::max(out.compute_s, out.memory_s);
  return out;
}

// ---- Prefill

CausalTiles causal_tiles(const AttentionProblem& a, AttentionChip chip) {
  const constants::AttentionKernels& k = attention_kernels(chip);
  const bool dense = reads_no_cache(a, chip);
  CausalTiles t{.queries = dense ? k.queries : k.causal_queries, .keys = constants::kAttentionKeys};
  if (k.narrow_tiles && !dense) t.keys = a.channels <= 64 ? 256 : a.channels <= 128 ? 128 : 64;
  t.packed = k.packs_queries && a.queries < t.queries;
  t.rows = std::ceil((t.packed ? a.queries * a.heads / a.key_heads : a.queries) / t.queries);
  t.reach = a.window > 0 ? a.window : std::numeric_limits<double>::infinity();
  return t;
}

AttentionTime prefill_time(const AttentionProblem& a, const AttentionFacts& d) {
  const constants::AttentionKernels& k = attention_kernels(d.chip);
  const bool dense = reads_no_cache(a, d.chip);
  constants::Prefill c = k.prefill;
  if (dense) c.share = k.encoder.share, c.block = constants::kDenseCausalBlock;
  const CausalTiles t = causal_tiles(a, d.chip);
  const double tile = t.queries * t.keys * score_clocks(a, d, c.share);
  const double blocks = attention_blocks(a, d.chip), most = std::ceil(std::min(a.keys, t.reach + t.queries) / t.keys);
  const bool few = k.narrow_tiles && !dense && blocks < constants::kFullSms * d.sms;
  const double splits = few ? std::clamp(std::floor(d.sms / blocks), 1.0, most) : 1;
  const double longest = std::ceil(most / splits) * tile * c.alone + c.block * (splits > 1 ? 2 : 1);
  const double average = mean_key_tiles(a, t) * tile + c.block;
  const double of_head = 2 * a.element_bytes * a.channels;
  const double written = a.writes_cache ? 2 * of_head * a.queries * a.key_heads : 0;
  const double read = of_head * (a.queries * a.heads + std::min(a.keys, t.reach + a.queries) * a.key_heads);
  const double tokens = a.batch * a.queries, row = std::pow(written / tokens / constants::kCacheRow, c.row);
  const double writing = std::max(missed_bytes(written, d) / d.bandwidth, tokens / d.sms * c.token * row / d.clock_hz);
  AttentionTime out{.compute_s = waves_s(blocks, longest, average, c.tail, d)};
  const double memory = missed_bytes(read, d) / d.bandwidth;
  out.memory_s = memory + writing;
  out.work_s = std::max(out.compute_s, memory) + c.exposed * std::min(out.compute_s, memory) + writing;
  return out;
}

// ---- Decoding

/// Keys of a step of a single query's kernel.
double decoding_tile(AttentionChip chip, double channels) {
  if (!attention_kernels(chip).narrow_tiles) return constants::kLeastDecodingTile;
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

AttentionTime decoding_time(const AttentionProblem& a, const AttentionFacts& d) {
  const constants::Decoding& c = attention_kernels(d.chip).decoding;
  const double keys = a.window > 0 ? std::min(a.keys, a.window) : a.keys;
  const double tile = decoding_tile(d.chip, a.channels), tiles = std::ceil(keys / tile);
  const double key_bytes = 2 * a.element_bytes * a.channels;
  const double read = key_bytes * keys * a.key_heads;
  const double cold = (1 - a.hot) * read + a.hot * missed_bytes(read, d, c.use, 8);
  const double dram = cold / (c.bandwidth * d.reading);
  const double share = c.reach * d.reading / (d.sms * d.clock_hz * d.resident);
  const double stream = std::pow(std::pow(c.stream, 4) + std::pow(share, 4), 0.25);
  const auto with_splits = [&](double splits) {
    const double part = std::ceil(tiles / splits) * tile * key_bytes;
    const double waves = std::ceil(a.key_heads * splits / (d.sms * d.resident));
    const double streams = waves * (part / stream + c.block) / d.clock_hz;
    const double work =
        std::max(streams, dram) + c.exposed * std::min(streams, dram) + (splits > 1 ? c.combine / d.clock_hz : 0);
    return AttentionTime{.compute_s = streams, .memory_s = dram, .work_s = work};
  };
  if (attention_kernels(d.chip).narrow_tiles) {
    // It is asked with all keys that the cache has.
    return with_splits(flash2_splits(a.key_heads, 2 * d.sms, std::ceil(a.keys / tile)));
  }
  AttentionTime best = with_splits(1);
  for (const double splits : constants::kDecodingSplits) {
    if ((splits - 1) * tile >= keys) break;
    const AttentionTime t = with_splits(splits);
    if (t.work_s < best.work_s) best = t;
  }
  return best;
}

}  // namespace

double mean_key_tiles(const AttentionProblem& a, const CausalTiles& t) {
  const auto tiles = [&t](double begin, double end) {
    return std::max(std::ceil(end / t.keys) - std::floor(begin / t.keys), 0.0);
  };
  if (t.packed) return std::max(tiles(std::max(a.past - t.reach, 0.0), a.keys), 1.0);
  const double step = std::ceil(t.rows / constants::kMostTilesCounted), counted = std::ceil(t.rows / step);
  double sum = 0;
  for (double i = 0; i < counted; ++i) {
    const double first = a.past + i * step * t.queries;
    sum += tiles(std::max(first - t.reach, 0.0), std::clamp(first + t.queries, 0.0, a.keys));
  }
  return std::max(sum / counted, 1.0);
}

double thread_block_clocks(double blocks, double longest, double mean, double tail, double sms) {
  return std::max(longest, blocks * mean / sms + (blocks > sms ? tail * longest : 0));
}

bool reads_no_cache(const AttentionProblem& a, AttentionChip chip) {
  return chip == AttentionChip::MmaSync && !a.writes_cache && a.queries == a.keys &&
         a.queries >= constants::kFewQueries;
}

double attention_macs(const AttentionProblem& a) {
  double pairs = a.queries * a.keys;
  if (a.causal) {
    const double reach = a.window > 0 ? std::min(a.window, a.keys) : a.keys;
    const double rising = std::clamp(reach - a.past, 0.0, a.queries);  // queries that meet all keys before them
    pairs = rising * a.past + rising * (rising + 1) / 2 + (a.queries - rising) * reach;
  }
  return 2 * a.heads * pairs * a.channels;
}

double attention_blocks(const AttentionProblem& a, AttentionChip chip) {
  switch (form_of(a)) {
    case AttentionForm::Decode:
      return a.key_heads;
    case AttentionForm::Encoder:
      return std::ceil(a.queries / attention_kernels(chip).queries) * a.heads;
    case AttentionForm::Prefill:
      break;
  }
  const CausalTiles t = causal_tiles(a, chip);
  return t.rows * (t.packed ? a.key_heads : a.heads);
}

AttentionTime attention_time(const AttentionProblem& a, const AttentionFacts& d) {
  switch (form_of(a)) {
    case AttentionForm::Decode:
      return decoding_time(a, d);
    case AttentionForm::Encoder:
      return encoder_time(a, d);
    case AttentionForm::Prefill:
      break;
  }
  return prefill_time(a, d);
}

}  // namespace perfc
