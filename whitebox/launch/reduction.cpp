#include "whitebox/launch/reduction.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/elements.h"

namespace perfc {
namespace {

/// Values of a thread from which on the threads of a block share a result, and values that each then has at least; from
/// which on blocks share one, and values that each of their threads then has. [Reduce.cuh]
constexpr double kSharedValues = 256, kSharedLeast = 16, kSplitValues = 256, kSplitLeast = 16;
constexpr double kBlockThreads = 512, kWarpThreads = 32, kVector = 4, kUnrolled = 4, kRowLoad = 16;

/// Results that a thread loads at a time.
double vector_of(double results) {
  for (double v = kVector; v > 1; v /= 2) {
    if (std::fmod(results, v) == 0) return v;
  }
  return 1;
}

/// Blocks that share a row of so many `values` for each of their threads.
double blocks_of_row(double values, double results) {
  const double most = std::ceil(values / kSplitLeast), least = std::ceil(values / kSplitValues);
  return std::max(std::min(std::ceil(constants::kReductionBlocks / results), most), least);
}

/// A warp loads a row, 16 byte a thread; a block does from so many elements on, and several do a longer one.
double row_us(const ReductionShape& s) {
  const double loads = std::ceil(s.length * s.width / (kWarpThreads * kRowLoad));
  const double warps = s.length / kWarpThreads >= kSharedValues ? kBlockThreads / kWarpThreads : 1;
  const double values = s.length / (kWarpThreads * warps);
  const bool splits = warps > 1 && values >= kSplitValues && s.results <= constants::kReductionBlocks;
  const double blocks = splits ? blocks_of_row(values, s.results) : 1;
  return constants::kReducedRowUs + constants::kRowLoadUs * std::ceil(loads / warps / blocks) +
         (splits ? constants::kSplitColumnUs : 0);
}

/// A thread adds up a column, or a part of it.
double column_us(const ReductionShape& s) {
  const double vector = vector_of(s.results), threads = kBlockThreads / vector;
  const double columns = last_power_of_two(s.results / vector);
  const double height = std::min(last_power_of_two(s.length), threads / std::min(columns, kWarpThreads));
  double values = s.length;
  bool splits = false;
  if (values >= height * kSharedLeast || values >= kSharedValues) {
    values = std::ceil(values / height);
    splits = values >= kSplitValues;
    if (splits) values = std::ceil(values / std::ceil(values / kSplitLeast));
  }
  const double each = vector == kVector ? constants::kColumnLoadUs : constants::kNarrowColumnLoadUs;
  return constants::kReducedColumnUs + each * std::ceil(values / kUnrolled) + (splits ? constants::kSplitColumnUs : 0);
}

}  // namespace

double last_power_of_two(double x) { return std::exp2(std::floor(std::log2(std::max(x, 1.0)))); }

double reduction_wait_us(const ReductionShape& s) { return s.rows ? row_us(s) : column_us(s); }

}  // namespace perfc
