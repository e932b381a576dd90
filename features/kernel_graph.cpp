#include "features/kernel_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>

#include "features/columns.h"
#include "whitebox/launch/kernel_fields.h"

namespace perfc {
namespace {

/// A checkpoint's columns: `Precision::Default`, which no network was trained in, has none.
constexpr std::array kPrecisionColumns{Precision::Fp32, Precision::Tf32, Precision::Amp,
                                       Precision::Fp16, Precision::Bf16, Precision::Int8};
constexpr std::array kCategoryColumns{
    Category::Elementwise, Category::Activation,    Category::Convolution, Category::MatMul,  Category::Attention,
    Category::Recurrent,   Category::Normalization, Category::Softmax,     Category::Pooling, Category::Reduction,
    Category::Resize,      Category::DataMovement,  Category::Gather,      Category::Scatter, Category::Sort,
    Category::Shape,       Category::Quantize,      Category::Opaque};

double bounded_log2(double x, double lowest, double highest) {
  return x > 0 ? std::clamp(std::log2(x), lowest, highest) : lowest;
}

/// Tile of a product, and elements of a thread block elsewhere, that columns count in: what checkpoints were trained
/// with, whatever tiles the whitebox prices.
constexpr double kFeatureTileRows = 128, kFeatureTileColumns = 64, kFeatureTileDepth = 32;
constexpr double kFeatureBlockElements = 4096;

/// How much of the tiles that cover an extent it fills.
double fill(double extent, double tile) { return extent > 0 ? extent / (std::ceil(extent / tile) * tile) : 1; }

/// What the columns of a kernel read.
struct KernelRow {
  const Kernel& kernel;
  const Priced& priced;
  const Device& device;
  const ExecConfig& config;
  double share = 0;  ///< roofline time of all launches / that of the whole graph; 0: not known

  double waves() const {
    const Extents& e = kernel.extents;
    const bool product = kernel.kind == KernelKind::Matmul || kernel.kind == KernelKind::Convolution;
    const double tiles = product ? e.products * std::ceil(e.m / kFeatureTileRows) * std::ceil(e.n / kFeatureTileColumns)
                                 : std::ceil(e.m * e.n * e.products / kFeatureBlockElements);
    return tiles / std::max(device.sms, 1);
  }
};

constexpr ColumnDef<KernelRow> kKernelColumns[] =
    {
        {"half", "1", "computes in 16 bits", [](const KernelRow& r) -> double { return r.kernel.half; }},
        {"aligned", "1", "extents that tensor cores take: 1 at full rate, 0.5 with narrow loads",
         [](const KernelRow& r) { return r.kernel.placement.aligned; }},
        {"channels_first", "1", "convolution of channels-first data",
         [](const KernelRow& r) -> double { return r.kernel.placement.channels_first; }},
        {"wide_index", "1", "data that 32 bits cannot index",
         [](const KernelRow& r) -> double { return r.kernel.placement.wide_index; }},
        {"compiled", "1", "execution mode",
         [](const KernelRow& r) -> double { return r.config.mode == ExecMode::Compiled; }},
        {"nhwc", "1", "layout", [](const KernelRow& r) -> double { return r.config.layout == Layout::Nhwc; }},
        {"members", "log2", "1 + operators fused into it",
         [](const KernelRow& r) { return std::log2(1.0 + static_cast<double>(r.kernel.ops.size())); }},
        {"compute_to_memory", "log2", "time of arithmetic / time of memory",
         [](const KernelRow& r) {
  const bool computes = r.kernel.work.macs + r.kernel.work.flops > 0;
  return computes ? bounded_log2(r.priced.compute_us / r.priced.memory_us, -8, 8) : -8;
         }},
        {"work_to_launch", "log2", "roofline time / cost of a launch",
         [](const KernelRow& r) {
  return bounded_log2(r.priced.roofline_us() / std::max(r.device.launch_us, 1e-3), -8, 16);
         }},
                               {"bytes_to_l2", "log2", "bytes moved / L2 cache",
                                [](const KernelRow& r) {
  return bounded_log2(r.kernel.traffic.bytes / (std::max(r.device.l2_mib, 0.25) * 1024 * 1024), -12, 12);
                                }},
    {"share", "log2", "roofline time / that of the whole graph",
     [](const KernelRow& r) { return bounded_log2(r.share, -16, 0); }},
    {"m", "log2", "rows of the product or result",
     [](const KernelRow& r) { return bounded_log2(r.kernel.extents.m, 0, 30); }},
    {"n", "log2", "columns", [](const KernelRow& r) { return bounded_log2(r.kernel.extents.n, 0, 20); }},
    {"k", "log2", "depth", [](const KernelRow& r) { return bounded_log2(r.kernel.extents.k, -4, 20); }},
    {"products", "log2", "products, or groups of a convolution",
     [](const KernelRow& r) { return bounded_log2(r.kernel.extents.products, 0, 20); }},
    {"window", "log2", "elements of the convolution's kernel",
     [](const KernelRow& r) { return bounded_log2(r.kernel.extents.window, 0, 12); }},
    {"stride", "log2", "product of strides",
     [](const KernelRow& r) { return bounded_log2(r.kernel.extents.stride, 0, 8); }},
    {"channels_per_group", "log2", "of a grouped convolution",
     [](const KernelRow& r) { return bounded_log2(r.kernel.extents.channels_per_group, 0, 12); }},
    {"fill_m", "1", "share of tiles of 128 rows that is filled",
     [](const KernelRow& r) { return fill(r.kernel.extents.m, kFeatureTileRows); }},
    {"fill_n", "1", "share of tiles of 64 columns",
     [](const KernelRow& r) { return fill(r.kernel.extents.n, kFeatureTileColumns); }},
    {"fill_k", "1", "share of steps of 32 in depth",
     [](const KernelRow& r) { return fill(r.kernel.extents.k, kFeatureTileDepth); }},
    {"waves", "log2", "tiles / SMs", [](const KernelRow& r) { return bounded_log2(r.waves(), -8, 20); }},
    {"wave_fill", "1", "share of the last wave of tiles, of all waves",
     [](const KernelRow& r) { return r.waves() > 0 ? r.waves() / std::ceil(r.waves()) : 0; }},
    };

// Before them: kinds, categories and precisions, a column for each.
constexpr std::size_t kFixedColumns =
    kKernelKinds.size() + kCategoryColumns.size() + kPrecisionColumns.size() + std::size(kKernelColumns);

double count_of(const Kernel& k, Category category) {
  return static_cast<double>(std::ranges::count_if(k.ops, [&](OpId o) { return def(o).category == category; }));
}

/// Fills the fixed columns of a row; what is left is the vocabulary's.
std::span<double> fill_fixed(const KernelRow& r, std::span<double> row) {
  std::size_t at = 0;
  for (std::size_t kind = 0; kind < kKernelKinds.size(); ++kind) {
    row[at++] = static_cast<std::size_t>(r.kernel.kind) == kind;
  }
  for (const Category c : kCategoryColumns) row[at++] = std::log2(1.0 + count_of(r.kernel, c));
  for (const Precision p : kPrecisionColumns) row[at++] = p == r.config.precision;
  return fill_columns(kKernelColumns, r, row.subspan(at));
}

std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdULL;
  return h ^ (h >> 32);
}

std::uint64_t mix_field(std::uint64_t h, double x) { return mix(h, std::bit_cast<std::uint64_t>(x)); }
std::uint64_t mix_field(std::uint64_t h, KernelKind kind) { return mix(h, static_cast<std::uint64_t>(kind)); }
std::uint64_t mix_field(std::uint64_t h, Quantised q) { return mix(h, static_cast<std::uint64_t>(q)); }
std::uint64_t mix_field(std::uint64_t h, StateKernels s) { return mix(h, static_cast<std::uint64_t>(s)); }
std::uint64_t mix_field(std::uint64_t h, Pass p) { return mix(h, static_cast<std::uint64_t>(p)); }
std::uint64_t mix_field(std::uint64_t h, const decltype(Kernel::ops)& ops) {
  for (const OpId o : ops) h = mix(h, o.hash);
  return h;
}

/// What tells kernels apart before their neighbours do.
std::uint64_t own_colour(const Kernel& k) {
  std::uint64_t h = 0;
  visit_fields(k, [&h](const KernelField& field, const auto& value) {
    if (field.tells == Tells::Apart) h = mix_field(h, value);
  });
  return h;
}

}  // namespace

KernelGraph merge_equal(const KernelPlan& plan, int rounds) {
  const std::size_t n = plan.kernels.size();
  std::vector<std::vector<std::uint32_t>> neighbours(n);
  for (const auto& [from, to] : plan.edges) {
    neighbours[from].push_back(to);
    neighbours[to].push_back(from);
  }
  std::vector<std::uint64_t> colour(n), next(n), around;
  for (std::size_t i = 0; i < n; ++i) colour[i] = own_colour(plan.kernels[i]);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      around.clear();
      for (const std::uint32_t j : neighbours[i]) around.push_back(colour[j]);
      std::sort(around.begin(), around.end());
      next[i] = mix(colour[i], static_cast<std::uint64_t>(around.size()));
      for (const std::uint64_t a : around) next[i] = mix(next[i], a);
    }
    colour.swap(next);
  }
  KernelGraph out;
  out.host_calls = plan.host_calls;
  out.class_of.resize(n);
  const double calls = std::max(plan.host_calls.total(), 1.0);
  for (const HostCalls& c : plan.dispatched) out.dispatched.push_back(static_cast<float>(c.total() / calls));
  std::unordered_map<std::uint64_t, std::uint32_t> classes;
  for (std::size_t i = 0; i < n; ++i) {
    const auto [at, is_new] = classes.try_emplace(colour[i], static_cast<std::uint32_t>(out.kernels.size()));
    if (is_new) {
      out.kernels.push_back(plan.kernels[i]);
      out.count.push_back(0);
      out.first.push_back(static_cast<std::uint32_t>(i));
    }
    out.class_of[i] = at->second;
    out.count[at->second] += plan.kernels[i].repeat;
  }
  for (std::size_t c = 0; c < out.first.size(); ++c) {
    for (const std::uint32_t j : neighbours[out.first[c]]) out.edges.emplace_back(out.class_of[j], c);
  }
  return out;
}

std::vector<Column> kernel_columns(std::span<const std::string> vocabulary) {
  std::vector<Column> c;
  c.reserve(kKernelKinds.size() + std::size(kCategoryColumns) + std::size(kPrecisionColumns));
  for (const char* kind : kKernelKinds) c.push_back({std::string("kind.") + kind, "1", "execution unit and limit"});
  for (const Category category : kCategoryColumns) {
    c.push_back({"category." + std::string(name(category)), "log2", "1 + operators of this category"});
  }
  for (const Precision p : kPrecisionColumns) c.push_back({"precision." + std::string(name(p)), "1", "asked for"});
  append_columns(kKernelColumns, c);
  for (const std::string& op : vocabulary) c.push_back({"op." + op, "log2", "1 + how often it is computed"});
  return c;
}

std::vector<int> vocabulary_index(std::span<const std::string> vocabulary) {
  const auto rows = op_table();
  std::vector<int> index(rows.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = std::find(vocabulary.begin(), vocabulary.end(), rows[i]->name);
    if (at != vocabulary.end()) index[i] = static_cast<int>(at - vocabulary.begin());
  }
  return index;
}

FeatureMatrix kernel_features(const KernelGraph& g, std::span<const Priced> priced, const Device& device,
                              const ExecConfig& config, std::span<const int> vocabulary) {
  int words = 0;
  for (const int i : vocabulary) words = std::max(words, i + 1);
  FeatureMatrix m;
  m.rows = g.kernels.size();
  m.columns = kFixedColumns + static_cast<std::size_t>(words);
  m.values.assign(m.rows * m.columns, 0);
  double total_us = 0;
  for (std::size_t i = 0; i < m.rows; ++i) total_us += priced[i].roofline_us() * g.count[i];
  for (std::size_t i = 0; i < m.rows; ++i) {
    const double share = total_us > 0 ? priced[i].roofline_us() * g.count[i] / total_us : 0;
    const KernelRow row{g.kernels[i], priced[i], device, config, share};
    const std::span<double> word = fill_fixed(row, std::span(m.values).subspan(i * m.columns, m.columns));
    for (const OpId o : row.kernel.ops) {
      const int w = vocabulary[index_of(o)];
      if (w >= 0) word[static_cast<std::size_t>(w)] += 1;
    }
    for (double& times : word) times = std::log2(1 + times);
  }
  return m;
}

}  // namespace perfc
