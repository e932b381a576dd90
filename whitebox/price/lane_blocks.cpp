#include "whitebox/price/lane_blocks.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "whitebox/constants/hopper.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/products.h"

namespace perfc {
namespace {

using constants::LaneTile;

/// Clocks of blocks of one shape: as many as an SM gets, or one after the other along k.
double clocks_of(const Lanes& d, const Product& p, double rows, double columns, const LaneTile& tile) {
  const double blocks = p.batch * std::ceil(p.m / rows) * std::ceil(p.n / columns);
  const double per_sm = std::ceil(blocks / d.sms);
  return p.k * std::max(per_sm * tile.clocks, tile.alone) + per_sm * tile.epilogue;
}

double fastest_s(const Lanes& d, const Product& p, std::span<const LaneTile> tiles, bool either_way) {
  double best = 1e30;
  for (const LaneTile& t : tiles) {
    best = std::min(best, clocks_of(d, p, t.rows, t.columns, t));
    if (either_way) best = std::min(best, clocks_of(d, p, t.columns, t.rows, t));
  }
  const double bytes = p.batch * (p.m * p.k * p.a_bytes / p.a_repeats + p.k * p.n * p.b_bytes + p.m * p.n * p.c_bytes);
  return std::max(best / d.clock_hz, bytes / d.bandwidth);
}

/// A few rows: every block walks over all of k.
double few_rows_s(const Lanes& d, const Product& p) {
  const double blocks = p.batch * std::max(p.m, p.n) / constants::kFewRowsColumns;
  const double waves = std::max(1.0, blocks / (2 * d.sms));
  return (constants::kFewRowsUs + constants::kFewRowsStepUs * p.k * waves) * 1e-6;
}

/// Planes that fit a tile with the window around them.
bool fits_a_spectrum(const LaneWindows& c) { return c.window > 1 && c.row + c.window - 1 <= constants::kSpectrumTile; }

double spectrum_s(const Lanes& d, const LaneWindows& c) {
  const double plane = c.row * c.row, images = plane > 0 ? c.p.m / plane : 0;
  const double channels = images > 0 ? c.planes / images : 0;
  const double flops = constants::kFrequencies * images * channels * c.p.n * constants::kComplexFlops;
  const double transforms_us =
      constants::kSpectrumWeightUs * channels * c.p.n + constants::kSpectrumDataUs * images * (channels + c.p.n);
  return flops / (constants::kSpectrumShare * d.peak) + transforms_us * 1e-6;
}

}  // namespace

double lane_product_time(const Lanes& d, const Product& p) {
  if (std::min(p.m, p.n) <= constants::kFewRows) return few_rows_s(d, p);
  return fastest_s(d, p, constants::kLaneProducts, true) + constants::kLaneProductUs * 1e-6;
}

double lane_split_product_time(const Lanes& d, const Product& p) {
  double best = lane_product_time(d, p);
  for (const double parts : constants::kLaneSplits) {
    Product part = p;
    part.batch *= parts;
    part.k = std::ceil(p.k / parts);
    part.c_bytes = 0;
    if (part.k < constants::kLeastSplit) break;
    const double summed = 2 * constants::kSumBytes * parts * p.batch * p.m * p.n / constants::kLaneSumRate;
    best = std::min(best, lane_product_time(d, part) + constants::kLaneSplitUs * 1e-6 + summed);
  }
  return best;
}

double lane_convolution_time(const Lanes& d, const LaneWindows& c) {
  const double direct = fastest_s(d, c.p, constants::kLaneWindows, false) + constants::kLaneWindowUs * 1e-6;
  return fits_a_spectrum(c) ? std::min(direct, spectrum_s(d, c)) : direct;
}

double odd_planes_time(const Lanes& d, const Product& p) {
  return fastest_s(d, p, constants::kOddPlanes, true) + constants::kOddPlaneUs * 1e-6;
}

double lane_gradient_time(const Lanes& d, const Product& p) {
  return fastest_s(d, p, constants::kLaneGradients, false) + constants::kLaneGradientUs * 1e-6;
}

double lane_group_time(const Lanes& d, const Product& p) {
  return fastest_s(d, p, std::span(&constants::kLaneGroups, 1), false) + constants::kLaneGroupUs * 1e-6;
}

double lane_image_time(const Lanes& d, const Product& p, double window) {
  const bool middle = window > constants::kLaneImageWindow && window < constants::kIndexedWindow;
  const LaneTile& tile = middle ? constants::kLaneImages : constants::kIndexedImages;
  return fastest_s(d, p, std::span(&tile, 1), false) + (constants::kLaneGroupUs + constants::kStreamGapUs) * 1e-6;
}

}  // namespace perfc
