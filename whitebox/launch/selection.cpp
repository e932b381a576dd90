#include "whitebox/launch/selection.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/selection.h"

namespace perfc {
namespace {

constexpr double kWarp = 32, kBitsPerByte = 8, kIndexBytes = 8;

struct Rows {
  double count = 1, length = 1, kept = 1;
};

/// TensorTopK.cu, should_use_multiblock.
bool by_many_blocks(const Rows& r) {
  struct Step {
    double rows, length;
  };
  constexpr Step kSteps[] = {{20, 20000}, {40, 10000}, {80, 8000}, {199, 5000}, {799, 3000}, {4000, 800}};
  const auto* step = std::ranges::find_if(kSteps, [&](const Step& s) { return r.count <= s.rows; });
  return r.length >= (step == std::end(kSteps) ? 400 : step->length);
}

void select(const Rows& r, double width, Selection& out) {
  if (by_many_blocks(r)) {
    out.bytes += constants::kManyBlockPasses * r.count * r.length * width;
    out.steps += constants::kManyBlockSteps;
    return;
  }
  const double threads = std::min(std::ceil(r.length / kWarp) * kWarp, constants::kSelectThreads);
  const double digits = std::min(kBitsPerByte * width / constants::kSelectBits, std::log2(r.length));
  out.steps += (digits + constants::kSelectPasses) * std::ceil(r.length / threads);
  out.blocks = r.count;
  out.blocks_held = constants::kThreadsOfSm / threads;
}

void sort(const Rows& r, double width, Selection& out) {
  if (r.kept > constants::kMostSortedInBlock) {
    const double passes = std::ceil(kBitsPerByte * width / constants::kSortedBits);
    out.bytes += r.count * r.kept * (width + 2 * passes * (width + kIndexBytes));
    return;
  }
  const double stages = std::ceil(std::log2(r.kept));
  out.steps += constants::kSecondKernelSteps + constants::kSortStep * stages * (stages + 1) / 2;
}

}  // namespace

Selection selection_of(const Graph& g, NodeId id, double width) {
  const Node& n = g.node(id);
  const Type &data = g.type(n.operands[0]), &result = n.results[0].type;
  if (!data.is_static() || !result.is_static() || data.rank() == 0) return {};
  const auto rank = static_cast<std::int64_t>(data.rank());
  const auto axis = static_cast<std::size_t>((n.attrs.int_or("axis", -1) + rank) % rank);
  Rows rows{.length = static_cast<double>(data.shape()[axis].value()),
            .kept = static_cast<double>(result.shape()[axis].value())};
  if (rows.kept < 1) return {};
  rows.count = static_cast<double>(*data.elements()) / rows.length;
  Selection out;
  if (rows.kept < rows.length) select(rows, width, out);
  if (rows.kept > 1 && n.attrs.int_or("sorted", 1) != 0) sort(rows, width, out);
  return out;
}

}  // namespace perfc
