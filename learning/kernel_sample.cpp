#include "learning/kernel_sample.h"

#include <fmt/format.h>

#include <cmath>

namespace perfc {
namespace {

/// Normalised columns are cut at this many deviations.
constexpr double kMostDeviations = 6;
/// A column may lie this far outside of its range in training (log2 for most: twice).
constexpr double kRangeMargin = 1;

/// Adds what a row has outside of training's range to the notes; true: anything.
class NoveltyNotes {
 public:
  explicit NoveltyNotes(const KernelTable& t) : table_(t) {}

  bool look_at(const Kernel& k, std::span<const double> row, double share) {
    bool unfamiliar = false;
    for (const OpId o : k.ops) {
      if (table_.index[index_of(o)] >= 0) continue;
      operators_[std::string(def(o).name)] += share;
      unfamiliar = true;
    }
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c] >= table_.low[c] - kRangeMargin && row[c] <= table_.high[c] + kRangeMargin) continue;
      columns_[c] += share;
      unfamiliar = true;
    }
    return unfamiliar;
  }

  std::vector<std::string> text() const {
    std::vector<std::string> out;
    for (const auto& [name, share] : operators_) {
      if (share >= kWorthSaying)
        out.push_back(fmt::format("operator {} is not in training ({:.0f} % of the time)", name, 100 * share));
    }
    for (const auto& [column, share] : columns_) {
      if (share < kWorthSaying) continue;
      const Column& c = table_.features.columns[column];
      out.push_back(
          fmt::format("{} ({}) outside of what training saw ({:.0f} % of the time)", c.name, c.meaning, 100 * share));
    }
    return out;
  }

 private:
  static constexpr double kWorthSaying = 0.01;
  const KernelTable& table_;
  std::map<std::string, double> operators_;
  std::map<std::size_t, double> columns_;
};

KernelSight look_at(const KernelGraph& graph, std::vector<Priced> priced, const Device& device,
                    const ExecConfig& config, const KernelTable& table) {
  KernelSight out{.priced = std::move(priced)};
  double total_us = 0;
  for (std::size_t i = 0; i < graph.kernels.size(); ++i) {
    out.shares.push_back(out.priced[i].time_us * graph.count[i]);
    total_us += out.shares.back();
  }
  for (double& share : out.shares) share = total_us > 0 ? share / total_us : 0;
  out.rows = kernel_features(graph, out.priced, device, config, table.index);
  return out;
}

void normalise(FeatureMatrix& rows, const KernelTable& table) {
  table.features.normaliser->apply(rows);
  for (double& v : rows.values) v = std::clamp(v, -kMostDeviations, kMostDeviations);
}

/// Of no vendor. Checkpoints hold fingerprints made on it: another device wants them trained anew.
const Device& middling_device() {
  static const Device device{
      .name = "middling",
      .kind = "gpu",
      .vector_tflops = {{"float32", 40}, {"float16", 40}},
      .matrix_tflops = {{"tf32", 75}, {"float16", 150}, {"bfloat16", 150}, {"int8", 300}, {"float8", 300}},
      .bandwidth_gb_s = 1000,
      .l2_mib = 40,
      .sms = 108,
      .boost_clock_mhz = 1700,
      .memory_mib = 32768,
      .tdp_w = 400,
      .launch_us = 2};
  return device;
}

}  // namespace

KernelGraph kernel_graph(const KernelPlan& plan, std::size_t convolutions) {
  return merge_equal(plan, static_cast<int>(convolutions));
}

Precision KernelTable::like_trained(Precision p) const {
  const bool known = precisions.empty() || precisions.contains(p);
  const bool sixteen = p == Precision::Fp16 || p == Precision::Bf16;
  return !known && sixteen && precisions.contains(Precision::Amp) ? Precision::Amp : p;
}

std::vector<Priced> prices_of(const KernelGraph& graph, const Device& device, Precision precision) {
  const Rates rates(device, precision);
  std::vector<Priced> out;
  for (const Kernel& k : graph.kernels) out.push_back(price(k, rates));
  return out;
}

KernelSight kernel_sight(const KernelGraph& graph, std::vector<Priced> priced, const Device& device,
                         const ExecConfig& config, const KernelTable& table) {
  KernelSight out = look_at(graph, std::move(priced), device, config, table);
  NoveltyNotes notes(table);
  for (std::size_t i = 0; i < out.rows.rows; ++i) {
    const std::span<const double> row = std::span(out.rows.values).subspan(i * out.rows.columns, out.rows.columns);
    if (notes.look_at(graph.kernels[i], row, out.shares[i])) out.unfamiliar += out.shares[i];
  }
  out.novelty = notes.text();
  return out;
}

GraphSample kernel_sample(const KernelGraph& graph, std::span<const Priced> priced, FeatureMatrix rows, double host_ms,
                          const KernelTable& table, const DeviceTerms& terms) {
  normalise(rows, table);
  GraphSample s;
  s.adjacency = {.nodes = rows.rows, .edges = graph.edges, .self_edges = Adjacency::SelfEdges::Allow};
  s.nodes.resize(rows.rows, kKernelColumns + rows.columns);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const auto kind = static_cast<std::size_t>(graph.kernels[i].kind);
    s.nodes(i, kCountColumn) = static_cast<float>(graph.count[i]);
    s.nodes(i, kWorkColumn) = static_cast<float>(priced[i].roofline_us() * terms[kind]);
    s.nodes(i, kLaunchColumn) = static_cast<float>(priced[i].launch_us * terms[kLaunchTerm]);
    s.nodes(i, kKindColumn) = static_cast<float>(kind);
    s.nodes(i, kWaitingColumn) = static_cast<float>(priced[i].waiting_us());
    for (std::size_t c = 0; c < rows.columns; ++c) {
      s.nodes(i, kKernelColumns + c) = static_cast<float>(rows.at(i, c));
    }
  }
  s.globals.assign(kGlobalColumns, 0);
  s.globals[kHostColumn] = static_cast<float>(host_ms * 1e3 * terms[kHostTerm]);
  return s;
}

std::vector<float> fingerprint(const KernelGraph& graph, const ExecConfig& config, const KernelTable& table) {
  const Device& device = middling_device();
  KernelSight sight = look_at(graph, prices_of(graph, device, config.precision), device, config, table);
  FeatureMatrix& rows = sight.rows;
  normalise(rows, table);
  std::vector<double> mean(rows.columns, 0);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (std::size_t c = 0; c < rows.columns; ++c) mean[c] += sight.shares[i] * rows.at(i, c);
  }
  return {mean.begin(), mean.end()};
}

}  // namespace perfc
