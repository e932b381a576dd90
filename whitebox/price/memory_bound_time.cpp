#include "whitebox/price/memory_bound_time.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/compiled.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/memory_bound.h"

namespace perfc {
namespace {

const constants::MemoryBound& constants_of(MemoryBoundKind kind) {
  switch (kind) {
    case MemoryBoundKind::Elementwise:
      return constants::kElementwiseTime;
    case MemoryBoundKind::Generated:
      return constants::kGeneratedTime;
    case MemoryBoundKind::BatchNorm:
      return constants::kBatchNormTime;
    case MemoryBoundKind::SoftmaxWarp:
      return constants::kSoftmaxWarpTime;
    case MemoryBoundKind::SoftmaxBlock:
      return constants::kSoftmaxBlockTime;
    case MemoryBoundKind::SoftmaxTwice:
      return constants::kSoftmaxTwiceTime;
    case MemoryBoundKind::LayerNorm:
      return constants::kLayerNormTime;
    case MemoryBoundKind::Gather:
      return constants::kGatherTime;
  }
  return constants::kElementwiseTime;
}

double memory_s(const MemoryBoundProblem& k, const MemoryFacts& d, const constants::MemoryBound& c) {
  const double moved = k.read + k.written;
  if (moved <= 0) return 0;
  // A row is read again while others of the same SMs are read and written.
  const double resident = k.rows > 0 ? std::min(1.0, std::max(d.sms, 1.0) * c.resident / k.rows) : 1;
  const double repeated = c.again > 0 ? c.again * k.read * missed(d, moved * resident) : 0;
  return (moved + repeated) * (1 - k.hot + k.hot * missed(d, moved)) / d.bandwidth;
}

/// Clocks of rows that wait for themselves alone. Few rows of a gather are another kernel's (Indexing.cu,
/// indexSelectSmallIndex), which takes them one after the other.
double alone_clocks(const MemoryBoundProblem& k, const constants::MemoryBound& c) {
  const bool few = k.kind == MemoryBoundKind::Gather && k.rows <= constants::kSmallGatherRows;
  return few ? constants::kSmallGatherClocks * k.rows : c.alone + c.alone_column * k.columns;
}

double multiprocessor_s(const MemoryBoundProblem& k, const MemoryFacts& d, const constants::MemoryBound& c) {
  if (d.sms <= 0 || d.clock_hz <= 0) return 0;
  const double columns = c.step > 0 ? std::ceil(k.columns / c.step) * c.step : k.columns;
  const double lanes = d.lanes > 0 ? 1 + c.lanes * (constants::kLanes / d.lanes - 1) : 1;
  const double all =
      (k.rows * k.row_share * (c.row + c.column * columns) + std::max(c.byte, k.byte_clocks) * (k.read + k.written)) *
      lanes / d.sms;
  return std::max({all, alone_clocks(k, c), k.least_clocks}) / d.clock_hz;
}

/// The longer of two and what does not hide behind it: the p-norm. p = 1: one after the other; large: all hides.
double overlapped(double a, double b, double p) {
  const double longer = std::max(a, b), shorter = std::min(a, b);
  return longer > 0 ? longer * std::pow(1 + std::pow(shorter / longer, p), 1 / p) : 0;
}

}  // namespace

double missed(const MemoryFacts& d, double bytes) {
  const double fits = bytes > 0 ? constants::kCacheUse * d.l2_bytes / bytes : 0;
  return 1 / (1 + fits * fits * fits * fits);
}

MemoryBoundTime memory_bound_time(const MemoryBoundProblem& k, const MemoryFacts& d) {
  const constants::MemoryBound& c = constants_of(k.kind);
  MemoryBoundTime out{.memory_s = memory_s(k, d, c), .multiprocessor_s = multiprocessor_s(k, d, c)};
  const bool counted = k.kind == MemoryBoundKind::Elementwise || k.kind == MemoryBoundKind::BatchNorm;
  const bool computes =
      k.kind == MemoryBoundKind::Generated || (counted && k.byte_clocks > c.byte);  // beside the loads
  out.work_s = computes ? std::max(out.memory_s, out.multiprocessor_s)
                        : overlapped(out.memory_s, out.multiprocessor_s, c.overlap);
  return out;
}

}  // namespace perfc
