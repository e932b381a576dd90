#include "whitebox/price/attention_factor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/support/embed_bytes.h"
#include "whitebox/constants/attention.h"
#include "whitebox/constants/products.h"
#include "whitebox/price/learned_factor.h"
#include "whitebox/price/trees.h"

PERFC_EMBED_BYTES(perfc_attention_trees, PERFC_ATTENTION_TREES);

namespace perfc {
namespace {

constexpr std::size_t kAttentionFeatures = 23;
constexpr int kGraceBlackwell = 4;  ///< a class in these trees alone

double seen_keys(const AttentionProblem& a) { return a.window > 0 ? std::min(a.keys, a.window) : a.keys; }

/// In the order of FEATURES in studies/kernels/attention_factor.py.
std::array<float, kAttentionFeatures> attention_features(const AttentionProblem& a, const AttentionFacts& d,
                                                         double work_s) {
  const double keys = seen_keys(a), pairs = a.heads * a.queries * keys;
  const double moved = 2 * a.element_bytes * a.channels * (a.queries * a.heads + keys * a.key_heads);
  const auto filled = [](double extent) {
    return extent / (constants::kAttentionKeys * std::ceil(extent / constants::kAttentionKeys));
  };
  std::array<float, kAttentionFeatures> out{};
  std::size_t at = 0;
  const auto add = [&](double value) { out[at++] = static_cast<float>(value); };
  add(static_cast<double>(form_of(a)));
  add(d.grace && d.products == ChipClass::Blackwell ? kGraceBlackwell : *learned_class(d.products));
  for (const double v : {a.batch, a.heads, a.key_heads, a.heads / a.key_heads, a.key_heads / a.batch, a.queries, keys,
                         a.channels, a.window, filled(a.queries), filled(keys), pairs, moved})
    add(v);
  add(attention_blocks(a, d.chip) / d.sms);
  add(a.key_heads / d.sms);
  add(work_s * 1e6);
  add(4 * pairs * a.channels / d.matrix_flops * 1e6);
  add(moved / d.bandwidth * 1e6);
  add(pairs / (d.exponentials * d.sms * d.clock_hz) * 1e6);
  add(moved / d.l2_bytes);
  add(1e3 / d.tdp_w);
  return out;
}

/// 1 within the extents that were measured, 0 an octave beyond.
double attention_familiarity(const AttentionProblem& a) {
  const constants::MeasuredAttention& m = constants::kMeasuredAttention[static_cast<std::size_t>(form_of(a))];
  const auto within = [](double extent, double least, double most) {
    return std::clamp(1 - std::log2(std::max({least / extent, extent / most, 1.0})), 0.0, 1.0);
  };
  const bool decodes = form_of(a) == AttentionForm::Decode;
  // Elsewhere queries and keys were as many.
  return std::min({within(a.keys, m.least_keys, m.most_keys), within(a.heads, 1, m.most_heads),
                   within(a.channels, constants::kLeastMeasuredChannels, m.most_channels),
                   decodes ? 1 : within(a.queries, a.keys, a.keys)});
}

bool is_measured_form(const AttentionProblem& a, const AttentionFacts& d) {
  if (d.chip != AttentionChip::MmaSync) return true;
  if (form_of(a) == AttentionForm::Encoder) return d.products == ChipClass::Graphics;  // none on A100
  return form_of(a) == AttentionForm::Decode || !reads_no_cache(a, d.chip);
}

AttentionTime factored_attention(const AttentionProblem& a, const AttentionFacts& d) {
  const AttentionTime t = attention_time(a, d);
  const double factor = attention_factor(a, d);
  return {factor * t.compute_s, factor * t.memory_s, factor * t.work_s};
}

}  // namespace

double attention_factor(const AttentionProblem& a, const AttentionFacts& d) {
  const double familiar = is_measured_form(a, d) ? attention_familiarity(a) : 0;
  if (familiar == 0) return 1;
  const double found = sum_of_trees(perfc_attention_trees, attention_features(a, d, attention_time(a, d).work_s));
  return std::exp(familiar * std::clamp(found, -constants::kMostLearned, constants::kMostLearned));
}

AttentionTime learned_attention_time(const AttentionProblem& a, const AttentionFacts& d) {
  const AttentionTime own = factored_attention(a, d);
  AttentionProblem twice = a;
  twice.batch *= 2;
  twice.heads *= 2;
  twice.key_heads *= 2;
  const double less = std::min(factored_attention(twice, d).work_s / own.work_s, 1.0);
  return {less * own.compute_s, less * own.memory_s, less * own.work_s};
}

}  // namespace perfc
