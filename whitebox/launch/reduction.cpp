#include "whitebox/launch/reduction.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/elements.h"

namespace perfc {
namespace {

/// Values of a thread from which on the threads of a block share a result, for each of the block's rows and at most;
/// from which on blocks share one, and values that each of their threads then has at least. [Reduce.cuh]
constexpr double kSharedRowValues = 16, kSharedValues = 256, kSplitValues = 256, kSplitLeast = 16;
/// Threads of a block; values of a thread, 16 byte of a row that has so many elements, else of as many steps; results
/// that a thread adds up side by side. [Reduce.cuh]
constexpr double kBlockThreads = 512, kWarpThreads = 32, kRowLoad = 16, kVectorRow = 128, kUnrolled = 4, kVector = 4;

/// Results that a thread loads at a time.
double vector_of(double results) {
  for (double v = kVector; v > 1; v /= 2) {
    if (std::fmod(results, v) == 0) return v;
  }
  return 1;
}

/// A thread's loads, one after the other; whether each is of four results, and whether blocks share one.
struct ThreadLoads {
  double loads = 0;
  bool wide = false, splits = false;
};

/// setReduceConfig: a block is as wide as what lies side by side, but for the results that it has room for.
ThreadLoads thread_loads(const ReductionShape& s) {
  const double vector = s.rows ? 1 : vector_of(s.results), most = kBlockThreads / vector;
  const double load = s.rows ? kRowLoad / s.width : kUnrolled;
  const double beside = s.rows ? std::floor(s.length / (s.length >= kVectorRow ? load : 1)) : s.results / vector;
  const double widest = std::min(last_power_of_two(beside), most);
  const double height =
      std::min(last_power_of_two(s.rows ? s.results : s.length), most / std::min(widest, kWarpThreads));
  const double width = std::min(widest, most / height);

  double values = s.rows ? std::ceil(s.length / width) : s.length;
  double results = s.rows ? 1 : width * vector;  // of a block
  const bool shares = values >= std::min(kSharedRowValues * height, kSharedValues);
  if (shares) {
    values = std::ceil(values / height);
  } else {
    results *= height;
  }
  const double grid = std::ceil(s.results / results);
  const double room = constants::kReductionBlocks * kBlockThreads / (width * height);
  double blocks = 1;
  if (shares && values >= kSplitValues && grid <= room) {
    blocks =
        std::max(std::min(std::ceil(room / grid), std::ceil(values / kSplitLeast)), std::ceil(values / kSplitValues));
  }
  return {std::ceil(std::ceil(values / blocks) / load), vector == kVector, blocks > 1};
}

}  // namespace

double last_power_of_two(double x) { return std::exp2(std::floor(std::log2(std::max(x, 1.0)))); }

double reduction_wait_us(const ReductionShape& s) {
  const ThreadLoads of = thread_loads(s);
  const double least = s.rows ? constants::kReducedRowUs : constants::kReducedColumnUs;
  const double each = s.rows    ? constants::kRowLoadUs
                      : of.wide ? constants::kColumnLoadUs
                                : constants::kNarrowColumnLoadUs;
  return least + each * of.loads + (of.splits ? constants::kSplitColumnUs : 0);
}

}  // namespace perfc
