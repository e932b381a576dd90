#include "whitebox/price/matmul_time.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "whitebox/constants/kernels.h"
#include "whitebox/constants/products.h"
#include "whitebox/constants/quantised_products.h"
#include "whitebox/constants/units.h"

namespace perfc {
namespace {

using constants::ProductConstants;

/// What a product moves, and what of it the L2 cache holds.
struct Moved {
  double a = 0, b = 0, c = 0;    ///< bytes of the operands and the result
  double read = 0, written = 0;  ///< of them, between L2 and DRAM, if each is read once
  double stays = 0;              ///< 1: share of what a wave of tiles read that later waves find in L2
};

/// 1 where `bytes` are few beside the cache, 0 where they are many; `sharpness`: how abruptly.
double held(double bytes, double cache, double sharpness) { return 1 / (1 + std::pow(bytes / cache, sharpness)); }

Moved moved(const ProductDevice& d, const ProductConstants& chip, const Product& p) {
  Moved out{.a = p.batch * p.m * p.k * p.a_bytes / p.a_repeats,
            .b = p.batch * p.k * p.n * p.b_bytes,
            .c = p.batch * p.m * p.n * p.c_bytes};
  const double cache = d.cache * chip.l2_share;
  const double turns = p.second == SecondOperand::Data ? 1 : p.turns;
  const double hot_b = turns > 0 ? held(turns * out.b, cache, constants::kWeightsSharpness) : 0;
  const double hot_data = held(std::max(turns, 1.0) * out.b + out.a + out.c, cache, constants::kDataSharpness);
  out.read = out.b * (1 - hot_b) + out.a * (1 - hot_data);
  out.written = out.c * (1 - hot_data);
  out.stays = held(out.a + out.b, cache, constants::kWaveSharpness);
  return out;
}

/// Clocks per second of what waits for the L2 cache and memory.
double waiting_hz(double clock) {
  return constants::kLatencyHz * std::pow(clock / constants::kLatencyHz, constants::kLatencyPower);
}

/// Bytes that waves of tiles read again: those in flight form a square of the result.
double read_again(const Product& p, const Moved& bytes, double tile_m, double tile_n, double rows, double columns,
                  double in_flight) {
  const double flight = std::min(rows * columns, in_flight);
  double wave_rows = std::min(rows, std::max(1.0, std::sqrt(flight * tile_n / tile_m)));
  const double wave_columns = std::min(columns, std::max(1.0, flight / wave_rows));
  wave_rows = std::min(rows, std::max(1.0, flight / wave_columns));
  const double waves = p.batch * rows * columns / (wave_rows * wave_columns);
  const double wave =
      (wave_rows / rows * p.m * p.a_bytes / p.a_repeats + wave_columns / columns * p.n * p.b_bytes) * p.k;
  return std::max(0.0, waves * wave - bytes.a - bytes.b) * (1 - bytes.stays);
}

/// 1: of an epilogue's clocks, what a product takes.
double epilogue_share(ChipClass chip, const Product& p) {
  const bool since_volta = chip == ChipClass::Vector || chip == ChipClass::VectorVolta ||
                           chip == ChipClass::VectorAmpere || chip == ChipClass::VectorAda;
  return since_volta && p.batch == 1 ? std::min(1.0, p.k / constants::kShallowDepth) : 1;
}

/// A product of one row or column: a kernel without tiles, bound by what it reads.
double gemv_time(const ProductDevice& d, const ProductConstants& chip, const Product& p, const Moved& bytes,
                 double step) {
  const double l2 = constants::kGemvL2Share * chip.l2_bytes_clock * d.clock * d.sms;
  return chip.gemv_clocks / d.clock + std::ceil(p.k / step) * chip.gemv_step_clocks / waiting_hz(d.clock) +
         std::max(bytes.read / (chip.read_share * d.bandwidth), (bytes.a + bytes.b) / l2);
}

/// A chip class' constants, with what was measured of the device.
ProductConstants constants_of(const ProductDevice& d) {
  ProductConstants c = constants::kProducts[static_cast<std::size_t>(d.chip)];
  c.launch_clocks *= d.own.launch;
  c.gemv_clocks *= d.own.launch;
  c.tensor_share *= d.own.tensor;
  c.read_share *= d.own.read;
  c.write_share *= d.own.write;
  c.step_clocks *= d.own.step;
  c.l2_bytes_clock *= d.own.l2;
  c.tile_clocks *= d.own.tile;
  c.power_share *= d.own.power;
  c.split_clocks *= d.own.split;
  return c;
}

const constants::QuantisedFactors& factors_of(Quantised quantised, ChipClass chip) {
  if (quantised == Quantised::Weights) return constants::kQuantisedWeights;
  if (quantised != Quantised::Float8) return constants::kQuantisedBoth;
  return chip == ChipClass::Hopper      ? constants::kFloat8OnHopper
         : chip == ChipClass::Blackwell ? constants::kFloat8OnBlackwell
                                        : constants::kFloat8OnGraphics;
}

/// The same for kernels of quantised operands.
ProductConstants constants_of(const ProductDevice& d, Quantised quantised) {
  ProductConstants c = constants_of(d);
  if (quantised == Quantised::None) return c;
  const auto& f = factors_of(quantised, d.chip);
  c.launch_clocks *= f.launch_clocks;
  c.tensor_share *= f.tensor_share;
  c.read_share *= f.read_share;
  c.step_clocks *= f.step_clocks;
  c.l2_bytes_clock *= f.l2_bytes_clock;
  c.split_clocks *= f.split_clocks;
  c.power_share *= f.power_share;
  c.gemv_clocks *= f.gemv_clocks;
  c.gemv_step_clocks *= f.gemv_step_clocks;
  c.stream_bytes *= f.stream_bytes;
  c.exposed *= f.exposed;
  c.tile_clocks *= f.tile_clocks;
  return c;
}

/// The same for a product: data-centre chips since A100 multiply 32 bits on tensor cores as TF32.
ProductConstants constants_of(const ProductDevice& d, const Product& p) {
  ProductConstants c = constants_of(d, p.quantised);
  const bool data_centre = d.chip == ChipClass::Ga100 || d.chip == ChipClass::Hopper || d.chip == ChipClass::Blackwell;
  if (data_centre && p.a_bytes == 4) c.exposed = std::max(c.exposed, constants::kTf32Exposed);
  const bool windows = d.chip >= ChipClass::HopperWindows && d.chip <= ChipClass::HopperWeightGradientsTf32;
  if (windows) c.tile_clocks *= p.a_bytes / 2;  // of what it writes
  return c;
}

}  // namespace

std::string_view name(ChipClass chip) {
  constexpr std::string_view kNames[] = {"Vector",
                                         "VectorHopper",
                                         "VectorPascal",
                                         "VectorVolta",
                                         "VectorAmpere",
                                         "VectorAda",
                                         "Graphics",
                                         "GraphicsAmpere",
                                         "GeForce",
                                         "Turing",
                                         "Ga100",
                                         "Volta",
                                         "Hopper",
                                         "HopperTf32",
                                         "HopperWindows",
                                         "HopperDataGradients",
                                         "HopperWeightGradients",
                                         "HopperWeightGradientsTf32",
                                         "Blackwell",
                                         "Cdna",
                                         "CdnaHalf",
                                         "Cdna3Half"};
  static_assert(std::size(kNames) == kChipClasses.size());
  return kNames[static_cast<std::size_t>(chip)];
}

double gap_us(ChipClass chip) {
  switch (chip) {
    case ChipClass::Graphics:
    case ChipClass::GraphicsAmpere:
    case ChipClass::Turing:
    case ChipClass::Ga100:
    case ChipClass::Volta:
    case ChipClass::Hopper:
    case ChipClass::Blackwell:
      return constants::kStreamGapUs;
    default:
      return 0;
  }
}

std::optional<ChipClass> chip_class(const Device& d, Units units) {
  const bool hbm = d.memory_type == "hbm", ampere = d.architecture == "ampere";
  if (is_amd(d)) {
    if (units == Units::Vector) return std::nullopt;
    if (units == Units::FullMatrix) return ChipClass::Cdna;
    return d.architecture == "cdna1" || d.architecture == "cdna2" ? ChipClass::CdnaHalf : ChipClass::Cdna3Half;
  }
  if (units == Units::FullMatrix) return std::nullopt;
  if (units == Units::Vector) {
    if (d.architecture == "pascal") return ChipClass::VectorPascal;
    if (d.architecture == "volta" || d.architecture == "turing") return ChipClass::VectorVolta;
    if (hbm) return ampere ? ChipClass::Vector : ChipClass::VectorHopper;
    return ampere ? ChipClass::VectorAmpere : ChipClass::VectorAda;
  }
  if (d.architecture == "hopper") return ChipClass::Hopper;
  if (d.architecture == "blackwell" && hbm) return ChipClass::Blackwell;
  if (d.architecture == "turing") return ChipClass::Turing;
  if (hbm) return d.architecture == "volta" ? ChipClass::Volta : ChipClass::Ga100;
  const bool half_rate = figure(d.matrix_tflops, "float16") < constants::kFullRate * figure(d.vector_tflops, "float32");
  return half_rate ? ChipClass::GeForce : ampere ? ChipClass::GraphicsAmpere : ChipClass::Graphics;
}

double sustained_flops(const ProductDevice& d, Quantised quantised) {
  const ProductConstants chip = constants_of(d, quantised);
  const double half_peak = d.half_peak > 0 ? d.half_peak : d.peak, relative = d.peak / half_peak;
  return d.share * chip.power_share * std::pow(half_peak, 1 - chip.power_exponent) *
         std::pow(d.tdp_w * constants::kFlopsOfTeraflop, chip.power_exponent) *
         (relative > 1 ? std::sqrt(relative) : relative);
}

ProductTime product_time(const ProductDevice& d, const Product& p) {
  const ProductConstants chip = constants_of(d, p);
  const Moved bytes = moved(d, chip, p);
  const double step = constants::kStepBytes / std::max(p.a_bytes, p.b_bytes), k_step = p.k_step > 0 ? p.k_step : step;
  const double l2_rate = chip.l2_bytes_clock * d.clock * d.sms;
  const double sustained = p.gathers * 2 * p.batch * p.m * p.n * p.k / sustained_flops(d, p.quantised);
  const double launch = chip.launch_clocks / d.clock;
  const double waiting = waiting_hz(d.clock);
  const double full_tile = chip.tile_clocks / d.clock * epilogue_share(d.chip, p);
  const double tile_rate = d.share * d.peak / d.sms * chip.tensor_share;  // FLOP/s of an SM

  ProductTime best{.total = 1e30};
  double fastest = best.total;  // at the boost clock, of tiles that the power limit makes alike
  const auto tiles = std::span(constants::kProductTiles).first(chip.tiles);
  for (const auto& [tile_m, tile_n] : tiles) {
    if ((tile_m > 64 && tile_m >= 2 * p.m) || (tile_n > 64 && tile_n >= 2 * p.n)) continue;  // half of it does as well
    const double rows = std::ceil(p.m / tile_m), columns = std::ceil(p.n / tile_n);
    const double area = tile_m * tile_n, count = p.batch * rows * columns;
    const double at_once = std::max(
        1.0, std::min(constants::kTilesAtOnce, std::floor(constants::kTilesAtOnce * constants::kFullTile / area)));
    const double again = read_again(p, bytes, tile_m, tile_n, rows, columns, d.sms * at_once);
    const double dram = (bytes.read + chip.spill * again) / (chip.read_share * d.bandwidth) +
                        bytes.written / (chip.write_share * d.bandwidth);
    const double l2 = p.batch * (columns * p.m * p.a_bytes + rows * p.n * p.b_bytes) * p.k / l2_rate;
    const double traffic = std::max(dram, l2);
    const double epilogue = full_tile * area / constants::kFullTile;
    const double row_bytes = tile_m * p.a_bytes + tile_n * p.b_bytes;
    for (const double split : constants::kProductSplits) {
      const double steps = std::ceil(p.k / split / step), depth = std::ceil(p.k / split / k_step) * k_step;
      const double per_sm = std::ceil(count * split / d.sms), waves = std::ceil(per_sm / at_once);
      const double tensor = per_sm * 2 * area * depth / tile_rate;
      const double stream = waves * row_bytes * depth / (chip.stream_bytes * d.clock);
      const double latency = waves * steps * chip.step_clocks / waiting;
      const double arithmetic = p.gathers * (std::max({tensor, stream, latency}) + waves * epilogue);
      const double boosted = std::max(arithmetic, traffic) + chip.exposed * std::min(arithmetic, traffic);
      double time = std::max(boosted, sustained) + launch;
      if (split > 1)
        time += chip.split_clocks / waiting + 2 * constants::kSumBytes * split * p.batch * p.m * p.n / l2_rate;
      if (std::tie(time, boosted) >= std::tie(best.total, fastest)) continue;
      best = {time, launch, std::max(arithmetic, sustained), traffic};
      fastest = boosted;
    }
  }
  if (p.m == 1 || p.n == 1) {
    const double time = gemv_time(d, chip, p, bytes, step);
    const double gemv_launch = chip.gemv_clocks / d.clock;
    if (chip.always_gemv || time < best.total) best = {time, gemv_launch, 0, time - gemv_launch};
  }
  return best;
}

}  // namespace perfc
