#pragma once
/// Time of a dense product C[m,n] = A[m,k] · B[k,n] on a GPU, by what its kernels do: the result is cut into tiles,
/// each the work of a thread block (CTA) on a multiprocessor (SM); tiles run in waves; a tile walks along k in steps
/// of 128 bytes per row, each of which takes arithmetic, a share of the L2 cache's rate, or a latency, whichever is
/// longest; where tiles are few, k is split among several CTAs. cuBLAS chooses among such kernels by heuristics; here
/// the fastest is taken. Constants per class of chip: `constants::kProducts`. Its twin in Python, which fits them, is
/// studies/kernels/product_model.py; docs/whitebox.md says how well it does.
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "devices/device.h"
#include "whitebox/launch/kernels.h"

namespace perfc {

/// Chips whose kernels for products are of one kind.
enum class ChipClass {
  Vector,                     ///< on vector units (float32 without TF32): A100
  VectorHopper,               ///< the same on Hopper and data-centre Blackwell, whose SMs have twice the lanes
  VectorPascal,               ///< the same on Pascal
  VectorVolta,                ///< the same on Volta and Turing, whose SMs are alike
  VectorAmpere,               ///< the same on graphics chips of Ampere (GA10x)
  VectorAda,                  ///< the same on graphics chips since Ada
  Graphics,                   ///< mma.sync, one L2 cache, GDDR memory: Ada, GB20x
  GraphicsAmpere,             ///< the same, with the power of an 8 nm chip: GA10x
  GeForce,                    ///< the same chips with tensor cores at half rate and clocks beyond the data sheet's
  Turing,                     ///< as Graphics, with the power of a 12 nm chip
  Ga100,                      ///< mma.sync, an L2 cache of two halves, HBM: A100, A30
  Volta,                      ///< as Ga100, with the rate and the power of V100's tensor cores
  Hopper,                     ///< wgmma and TMA
  HopperTf32,                 ///< TF32 there, much of it by kernels of mma.sync
  HopperWindows,              ///< convolutions there that are no products of matrices as they lie: 16 bits and TF32
  HopperDataGradients,        ///< of the data of such convolutions
  HopperWeightGradients,      ///< of their weights: 16 bits …
  HopperWeightGradientsTf32,  ///< … and TF32
  Blackwell,                  ///< tcgen05 and TMA: data-centre Blackwell
  Cdna,                       ///< AMD's matrix cores in float32, by rocBLAS …
  CdnaHalf,                   ///< … and in 16 bits, by hipBLASLt and AMD's own kernels: MI100 and MI200 series
  Cdna3Half,                  ///< the same from MI300 on, with their power
};
inline constexpr auto kChipClasses = [] {
  std::array<ChipClass, static_cast<std::size_t>(ChipClass::Cdna3Half) + 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<ChipClass>(i);
  return all;
}();
std::string_view name(ChipClass);
/// AMD's products in 16 bits, which take any extents.
constexpr bool is_cdna_half(ChipClass c) { return c == ChipClass::CdnaHalf || c == ChipClass::Cdna3Half; }
/// µs between kernels on a stream, of products whose tables have it not.
double gap_us(ChipClass);
/// Units that multiply.
enum class Units {
  Vector,
  Matrix,      ///< of 16 or 8 bits, or TF32
  FullMatrix,  ///< matrix units that take float32 as it is: AMD's
};
/// By architecture and memory type, of a GPU. None: no kernels of such a chip were measured (fewer bits than 32 on
/// AMD's).
std::optional<ChipClass> chip_class(const Device&, Units);

/// Factors on the constants of a device's class, by products in 16 bits that were measured on the device.
struct ProductFactors {
  double launch = 1, tensor = 1, read = 1, write = 1, step = 1, l2 = 1, tile = 1, power = 1, split = 1;
};
/// Their names among a device's efficiencies (devices/device.h).
struct ProductFactor {
  std::string_view key;
  double ProductFactors::*factor;
};
inline constexpr ProductFactor kProductFactors[] = {
    {"product_launch", &ProductFactors::launch}, {"product_tensor", &ProductFactors::tensor},
    {"product_read", &ProductFactors::read},     {"product_write", &ProductFactors::write},
    {"product_step", &ProductFactors::step},     {"product_l2", &ProductFactors::l2},
    {"product_tile", &ProductFactors::tile},     {"product_power", &ProductFactors::power},
    {"product_split", &ProductFactors::split}};

/// What a product's time depends on of a device.
struct ProductDevice {
  ChipClass chip = ChipClass::Graphics;
  double sms = 1;
  double clock = 1;  ///< Hz, boost
  double peak = 1;   ///< FLOP/s of the units that it runs on
  /// Theirs in 16 bits, by which power is counted: TF32 takes twice the energy per FLOP, 8 bits 1/√2. 0: `peak`.
  double half_peak = 0;
  double bandwidth = 1;  ///< byte/s of memory
  double cache = 1;      ///< bytes of L2
  double tdp_w = 1;
  double share = 1;      ///< of the rate that chips of its class reach, what was measured of this device
  bool learned = false;  ///< products in 16 bits of such chips were measured: whitebox/price/learned_factor.h
  ProductFactors own;
};

/// Who wrote B before.
enum class SecondOperand {
  Weights,  ///< nobody: they come from memory, for a network's weights are more than the L2 cache holds
  Data,     ///< a kernel just now: it is in the L2 cache if it fits
};

/// `batch` times m × k by k × n.
struct Product {
  double batch = 1, m = 1, n = 1, k = 1;
  double a_bytes = 2, b_bytes = 2, c_bytes = 2;  ///< per element of A, B and C
  /// Of a convolution, an implicit product: how often an element of its data stands in A. A product's stands once.
  double a_repeats = 1;
  /// Of windows on vector units: columns of k that arithmetic takes at a time, 0 for as many as a step reads; and how
  /// much longer it takes for gathering them, but not what it moves.
  double k_step = 0, gathers = 1;
  SecondOperand second = SecondOperand::Weights;
  Quantised quantised = Quantised::None;  ///< Both: `ProductDevice::peak` is that of 8 bits
  double turns = 0;  ///< copies of B that take turns, in a benchmark of this product alone; 0: a network
};

/// Seconds.
struct ProductTime {
  double total = 0;
  double launch = 0;
  double arithmetic = 0;  ///< tiles: arithmetic, latency of steps, epilogues; no faster than the power limit lets it
  double traffic = 0;     ///< DRAM or L2, the longer
};
/// FLOP/s that work on these units sustains: clocks fall until the chip keeps to its power limit.
double sustained_flops(const ProductDevice&, Quantised = Quantised::None);
ProductTime product_time(const ProductDevice&, const Product&);

}  // namespace perfc
