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

}  // namespace

AttentionTime attention_time(const AttentionProblem& a, const AttentionFacts& d) {
  const constants::Attention& c = constants_of(d.chip);
  const double tiles = std::ceil(a.keys / constants::kAttentionKeys);
  const double block = tiles * c.queries * constants::kAttentionKeys * score_clocks(a, d, c) + c.block;
  const double moved = 2 * a.element_bytes * a.heads * (a.queries + a.keys) * a.channels;
  const double fits = moved > 0 ? constants::kCacheUse * d.l2_bytes / moved : 0;
  AttentionTime out{.compute_s = waves_s(std::ceil(a.queries / c.queries) * a.heads, block, d, c),
                    .memory_s = moved / (1 + fits * fits * fits * fits) / d.bandwidth};
  out.work_s = std::max(out.compute_s, out.memory_s);
  return out;
}

}  // namespace perfc
