#include "whitebox/launch/split_reduction.h"

#include <algorithm>
#include <cmath>

#include "whitebox/launch/element_clocks.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/geometry.h"
#include "whitebox/launch/norm_statistics.h"

namespace perfc {
namespace {

// All of them: torch/_inductor/choices.py, reduction_split_factor, and ir.py, Reduction.num_splits; but for the SMs, of
// which eager reductions have as many (constants::kReductionBlocks; our choice: an H200's).
/// SMs, threads of one; elements that a thread adds up at least and at most; threads of a block.
constexpr double kSplitSms = 132, kSmThreads = 2048, kLeastOfThread = 32, kMostOfThread = 512, kSplitThreads = 256;
/// Rows are split if they are longer than this, and fewer.
constexpr double kRowLeast = 8192, kRowResults = 2 * kSplitSms;
/// Elements of a column that a thread adds up side by side, columns of a block; columns are split if they are fewer.
constexpr double kColumnLoads = 4, kColumnResults = 128, kFewResults = 64 * kSplitSms;

/// Elements that a thread adds up: few, or so many that the threads of all SMs have some.
double of_thread(double elements, double filling) {
  if (elements < kLeastOfThread * kSplitSms * kSmThreads) return kLeastOfThread;
  return elements < kMostOfThread * kSplitSms * kSmThreads ? std::max(filling, kLeastOfThread) : kMostOfThread;
}

double parts_of_rows(double results, double length) {
  if (results >= kRowResults || length <= kRowLeast) return 1;
  const double blocks = std::ceil(kSplitSms * kSmThreads / (2 * kSplitThreads) / results);
  return std::ceil(length / kSplitThreads / of_thread(results * length, std::ceil(length / kSplitThreads / blocks)));
}

double parts_of_columns(double results, double length) {
  const double blocks = std::ceil(kSplitSms * kSmThreads / kSplitThreads / std::ceil(results / kColumnResults));
  return std::ceil(length / kColumnLoads / of_thread(results * length, std::ceil(length / kColumnLoads / blocks)));
}

}  // namespace

SplitReduction split_reduction(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  SplitReduction out;
  bool rows = true;
  if (const auto norm = norm_statistics(of, id)) {
    out.results = norm->rows;
    out.length = norm->length;
    const Type& data = of.g.type(n.operands[0]);
    rows = !of.layout.channels_last[n.operands[0].node] ||
           static_cast<double>(data.shape()[0].value() * data.shape()[1].value()) > norm->rows;
  } else if (is_row_norm(n) && of.g.type(n.operands[0]).is_static()) {
    const Extents e = extents_of_rows(n, elementwise_extents(of.g.type(n.operands[0]), of.elements(n.operands[0])));
    out.results = e.m;
    out.length = e.n;
  } else if (def(n.op).category == Category::Reduction && !def(n.op).scans && !n.attrs.has("axis")) {
    out.results = of.elements({id, 0});
    out.length = out.results > 0 ? of.elements(n.operands[0]) / out.results : 0;
    rows = reduces_rows(of, id);
  }
  const bool several = out.results > 1, enough = out.length <= kLeastOfThread || out.results >= kFewResults;
  if (out.results < 1 || (several && enough)) return out;
  out.parts = rows || !several ? parts_of_rows(out.results, out.length) : parts_of_columns(out.results, out.length);
  return out;
}

}  // namespace perfc
