#include "whitebox/price/hopper_attention.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/attention.h"
#include "whitebox/constants/hopper.h"

namespace perfc {
namespace {

/// Thread blocks of a tile of queries, one after the other on as many SMs as there are.
double half_us(const AttentionProblem& a, bool masked, const Lanes& d) {
  using namespace constants;
  const double turns = std::ceil(a.heads * std::ceil(a.queries / kCudnnTile) / d.sms);
  const double tiles = std::ceil(a.keys / kCudnnTile);
  const double met = a.causal ? std::min(tiles, kCudnnCausalShare * tiles + kCudnnCausalTiles) : tiles;
  const bool aligned = std::fmod(a.keys, kCudnnMaskStep) == 0;
  const double each = kCudnnTileUs + kCudnnChannelUs * std::max(a.channels, kEfficientHead) +
                      (masked ? aligned ? kCudnnMaskUs : kCudnnOddMaskUs : 0);
  return turns * (kCudnnBlockUs + met * each) + kCudnnUs;
}

double full_us(const AttentionProblem& a, bool masked, const Lanes& d) {
  using namespace constants;
  const double blocks = a.heads * std::ceil(a.queries / kEfficientHead), tiles = std::ceil(a.keys / kEfficientHead);
  const double met = a.causal ? (tiles + 1) / 2 : tiles;
  const double each = a.channels > kEfficientHead
                          ? kHopperEfficientWideUs * std::ceil(a.channels / (2 * kEfficientHead))
                          : kHopperEfficientUs;
  const double us = std::max(blocks * met * each / d.sms, met * kHopperEfficientAloneUs);
  return us * (masked ? kHopperEfficientMask : 1);
}

}  // namespace

bool has_hopper_attention(const AttentionProblem& a) {
  return !a.writes_cache && a.past == 0 && a.window == 0 && a.queries >= constants::kLeastCudnnQueries &&
         a.channels <= 2 * constants::kCudnnTile;
}

double hopper_attention_time(const AttentionProblem& a, bool half, bool masked, const Lanes& d) {
  const double clock = d.clock_hz / constants::kHopperClock;
  return (half ? half_us(a, masked, d) : full_us(a, masked, d)) / clock * 1e-6;
}

}  // namespace perfc
