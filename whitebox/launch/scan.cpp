#include "whitebox/launch/scan.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/selection.h"

namespace perfc {
namespace {

/// Threads of a block, the powers of two that of them go along a row, and elements of a thread.
/// [ScanUtils.cuh, get_log_num_threads_x_inner_scan]
constexpr double kThreads = 512, kLogThreads = 9, kLogLeast = 4, kPerThread = 2;
/// Blocks that an SM holds at most. [CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"]
constexpr double kMostBlocks = 32;

/// The first power of two that reaches `x`.
double log2_above(double x) { return std::ceil(std::log2(std::max(x, 1.0))); }

Scan along_rows(double rows, double length) {
  const double difference = log2_above(length) - log2_above(rows);
  const double across = std::clamp(std::trunc((kLogThreads + difference) / 2), kLogLeast, kLogThreads);
  const double threads = std::exp2(across);
  const double stages = across + 1 + constants::kScanMemoryStages, each = kPerThread * threads;
  return {.clocks = rows * std::ceil(length / each) * each * stages * constants::kScanClocks,
          .blocks = std::ceil(rows * threads / kThreads)};
}

Scan along_columns(double outer, double length, double inner) {
  const double threads = std::min(inner, kThreads);
  return {.steps = length,
          .blocks = outer * std::ceil(inner / threads),
          .blocks_held = std::min(std::floor(constants::kThreadsOfSm / threads), kMostBlocks)};
}

/// The axis that a scan runs over, where it is known.
std::optional<std::size_t> scanned_axis(const PlannedGraph& of, const Node& n, std::size_t rank) {
  const Data* data = of.g.data(n.operands[1]);
  const auto given = data ? data->known_ints() : std::nullopt;
  if (!given || given->size() != 1) return std::nullopt;
  return normalized_axis(given->front(), rank);
}

}  // namespace

Scan scan_of(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  const Type& t = of.g.type({id, 0});
  if (!t.is_static() || t.rank() == 0 || t.elements() == 0) return {};
  const auto axis = scanned_axis(of, n, t.rank());
  if (!axis) return {};
  double outer = 1, inner = 1;
  for (std::size_t a = 0; a < t.rank(); ++a) {
    if (a != *axis) (a < *axis ? outer : inner) *= static_cast<double>(t.shape()[a].value());
  }
  const auto length = static_cast<double>(t.shape()[*axis].value());
  if (outer * inner == 1) return {};
  return *axis + 1 == t.rank() ? along_rows(outer, length) : along_columns(outer, length, inner);
}

}  // namespace perfc
