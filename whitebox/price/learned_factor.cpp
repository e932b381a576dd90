#include "whitebox/price/learned_factor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ir/support/embed_bytes.h"
#include "whitebox/constants/products.h"
#include "whitebox/price/trees.h"

PERFC_EMBED_BYTES(perfc_product_trees, PERFC_KERNEL_MODELS "/products.trees");
PERFC_EMBED_BYTES(perfc_quantised_trees, PERFC_KERNEL_MODELS "/quantised.trees");

namespace perfc {
namespace {

constexpr std::size_t kQuantisedFeatures = 2;  ///< before those of all products
constexpr std::size_t kFactorFeatures = 32;
using FactorFeatures = std::array<float, kQuantisedFeatures + kFactorFeatures>;

/// A kind's number in the trees of quantised products; none where its kernels were not measured.
std::optional<int> quantised_kind(Quantised quantised, ChipClass chip) {
  const bool mma = chip == ChipClass::Ga100 || chip == ChipClass::Graphics;
  if (quantised == Quantised::Weights && mma) return 0;
  if (quantised == Quantised::Both && mma) return 1;
  if (quantised == Quantised::Float8 && chip != ChipClass::Ga100 && learned_class(chip)) return 2;
  return std::nullopt;
}

/// In the order of FEATURES in studies/kernels/quantised_factor.py, whose last are those of product_factor.py.
FactorFeatures features_of(const ProductDevice& d, const Product& p) {
  constexpr double kTiles[][2] = {{64, 64}, {128, 128}, {128, 256}, {256, 128}};
  constexpr std::size_t kTileCount = std::size(kTiles);
  const double m = p.m, n = p.n, k = p.k, b_bytes = p.quantised == Quantised::None ? 2 : p.b_bytes;
  const double intensity = m * n * k / (m * k + k * n + m * n);
  FactorFeatures out{};
  std::size_t at = 0;
  const auto add = [&](double value) { out[at++] = static_cast<float>(value); };
  add(quantised_kind(p.quantised, d.chip).value_or(0));
  add(b_bytes);
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
  add(b_bytes * k * n / d.bandwidth * 1e6);
  add((p.a_bytes * m * k + p.c_bytes * m * n) / d.bandwidth * 1e6);
  add(b_bytes * k * n / d.cache);
  add(1e3 / d.tdp_w);
  for (std::size_t i = 0; i < kTileCount; ++i) {
    const double whole = std::ceil(tiles[i] / d.sms) * d.sms;
    add(whole * 2 * kTiles[i][0] * kTiles[i][1] * k / d.peak * 1e6);
  }
  return out;
}

/// 1 within the extents that were measured, 0 an octave beyond.
double familiarity(const Product& p) {
  const auto& [rows, least, most] = constants::kMeasuredProducts[static_cast<std::size_t>(p.quantised)];
  const auto within = [](double extent, double least, double most) {
    return std::clamp(1 - std::log2(std::max({least / extent, extent / most, 1.0})), 0.0, 1.0);
  };
  return std::min({within(p.m, 1, rows), within(p.n, least, most), within(p.k, least, most)});
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

bool has_learned_factor(ChipClass chip, const Product& p) {
  const bool plain = p.quantised == Quantised::None && p.a_bytes == 2;
  const bool quantised = quantised_kind(p.quantised, chip) && (p.quantised != Quantised::Weights || p.a_bytes == 2);
  return learned_class(chip) && p.batch == 1 && (plain || quantised);
}

double learned_factor(const ProductDevice& d, const Product& p) {
  const double familiar = p.batch == 1 ? familiarity(p) : 0;
  if (familiar == 0) return 1;
  const FactorFeatures x = features_of(d, p);
  const bool quantised = p.quantised != Quantised::None;
  const double most = quantised ? constants::kMostLearnedQuantised : constants::kMostLearned;
  const double found = quantised ? sum_of_trees(perfc_quantised_trees, x)
                                 : sum_of_trees(perfc_product_trees, std::span(x).subspan(kQuantisedFeatures));
  return std::exp(familiar * std::clamp(found, -most, most));
}

ProductTime learned_product_time(const ProductDevice& d, const Product& p) {
  const ProductTime tiles = product_time(d, p);
  Product twice = p;
  twice.m = 2 * p.m;
  const double total =
      std::min(tiles.total * learned_factor(d, p), product_time(d, twice).total * learned_factor(d, twice));
  const double factor = total / tiles.total;
  return {factor * tiles.total, factor * tiles.launch, factor * tiles.arithmetic, factor * tiles.traffic};
}

}  // namespace perfc
