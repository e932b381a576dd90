#include "whitebox/price/learned_factor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/support/embed_bytes.h"
#include "whitebox/constants.h"
#include "whitebox/price/trees.h"

PERFC_EMBED_BYTES(perfc_product_trees, PERFC_PRODUCT_TREES);

namespace perfc {
namespace {

constexpr std::size_t kFactorFeatures = 28;
using FactorFeatures = std::array<float, kFactorFeatures>;

/// In the order of FEATURES in studies/kernels/product_factor.py.
FactorFeatures features_of(const ProductDevice& d, const Product& p) {
  constexpr double kTiles[][2] = {{64, 64}, {128, 128}, {128, 256}, {256, 128}};
  constexpr std::size_t kTileCount = std::size(kTiles);
  const double m = p.m, n = p.n, k = p.k;
  const double intensity = m * n * k / (m * k + k * n + m * n);
  FactorFeatures out{};
  std::size_t at = 0;
  const auto add = [&](double value) { out[at++] = static_cast<float>(value); };
  add(static_cast<double>(*learned_class(d.chip)));
  for (const double extent : {m, n, k, intensity, m * n, n * k, m * k}) add(extent);
  for (const double rest : {std::fmod(m, 128), std::fmod(n, 128), std::fmod(n, 256)}) add(rest);
  double tiles[kTileCount];
  for (std::size_t i = 0; i < kTileCount; ++i) {
    tiles[i] = std::ceil(m / kTiles[i][0]) * std::ceil(n / kTiles[i][1]);
    add(tiles[i]);
  }
  for (std::size_t i = 0; i < kTileCount; ++i) add(m * n / (tiles[i] * kTiles[i][0] * kTiles[i][1]));
  for (const double count : tiles) add(count / d.sms);
  add(2 * m * n * k / d.peak * 1e6);
  add(2 * k * n / d.bandwidth * 1e6);
  add(2 * (m * k + m * n) / d.bandwidth * 1e6);
  add(2 * k * n / d.cache);
  add(1e3 / d.tdp_w);
  return out;
}

/// 1 within the extents that were measured, 0 an octave beyond.
double familiarity(const Product& p) {
  const auto within = [](double extent, double least, double most) {
    return std::clamp(1 - std::log2(std::max({least / extent, extent / most, 1.0})), 0.0, 1.0);
  };
  return std::min({within(p.m, 1, constants::kMostMeasuredRows),
                   within(p.n, constants::kLeastMeasured, constants::kMostMeasured),
                   within(p.k, constants::kLeastMeasured, constants::kMostMeasured)});
}

}  // namespace

std::optional<int> learned_class(ChipClass chip) {
  switch (chip) {
    case ChipClass::Ga100:
      return 0;
    case ChipClass::Graphics:
      return 1;
    case ChipClass::Hopper:
      return 2;
    case ChipClass::Blackwell:
      return 3;
    default:
      return std::nullopt;
  }
}

bool has_learned_factor(ChipClass chip) { return learned_class(chip).has_value(); }

double learned_factor(const ProductDevice& d, const Product& p) {
  const double familiar = p.batch == 1 ? familiarity(p) : 0;
  if (familiar == 0) return 1;
  const double found = sum_of_trees(perfc_product_trees, features_of(d, p));
  return std::exp(familiar * std::clamp(found, -constants::kMostLearned, constants::kMostLearned));
}

ProductTime learned_product_time(const ProductDevice& d, const Product& p) {
  const ProductTime tiles = product_time(d, p);
  double total = tiles.total * learned_factor(d, p);
  Product half = p;
  half.m = std::floor(p.m / 2);
  if (half.m >= 2) total = std::max(total, product_time(d, half).total * learned_factor(d, half));
  const double factor = total / tiles.total;
  return {factor * tiles.total, factor * tiles.launch, factor * tiles.arithmetic, factor * tiles.traffic};
}

}  // namespace perfc
