#include "features/kernel_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>

#include "whitebox/launch/kernel_fields.h"

namespace perfc {
namespace {

constexpr std::array kPrecisionColumns{Precision::Fp32, Precision::Tf32, Precision::Amp,
                                       Precision::Fp16, Precision::Bf16, Precision::Int8};
constexpr std::array kCategoryColumns{
    Category::Elementwise, Category::Activation,    Category::Convolution, Category::MatMul,  Category::Attention,
    Category::Recurrent,   Category::Normalization, Category::Softmax,     Category::Pooling, Category::Reduction,
    Category::Resize,      Category::DataMovement,  Category::Gather,      Category::Scatter, Category::Sort,
    Category::Shape,       Category::Quantize,      Category::Opaque};

/// A row as it is filled; in the order of the columns.
class RowWriter {
 public:
  RowWriter(FeatureMatrix& m, std::size_t row) : at_(m.values.data() + row * m.columns), end_(at_ + m.columns) {}
  void put(double value) { *at_++ = value; }
  bool full() const { return at_ == end_; }
  double* rest() { return at_; }

 private:
  double *at_, *end_;
};

double bounded_log2(double x, double lowest, double highest) {
  return x > 0 ? std::clamp(std::log2(x), lowest, highest) : lowest;
}

/// How much of the tiles that cover an extent it fills.
double fill(double extent, double tile) { return extent > 0 ? extent / (std::ceil(extent / tile) * tile) : 1; }

std::vector<Column> fixed_columns() {
  std::vector<Column> c;
  for (const char* kind : kKernelKinds) c.push_back({std::string("kind.") + kind, "1", "execution unit and limit"});
  for (const Category category : kCategoryColumns)
    c.push_back({"category." + std::string(name(category)), "log2", "1 + operators of this category"});
  for (const Precision p : kPrecisionColumns) c.push_back({"precision." + std::string(name(p)), "1", "asked for"});
  c.insert(c.end(), {
                        {"half", "1", "computes in 16 bits"},
                        {"aligned", "1", "extents that tensor cores take: 1 at full rate, 0.5 with narrow loads"},
                        {"channels_first", "1", "convolution of channels-first data"},
                        {"wide_index", "1", "data that 32 bits cannot index"},
                        {"compiled", "1", "execution mode"},
                        {"nhwc", "1", "layout"},
                        {"members", "log2", "1 + operators fused into it"},
                        {"compute_to_memory", "log2", "time of arithmetic / time of memory"},
                        {"work_to_launch", "log2", "roofline time / cost of a launch"},
                        {"bytes_to_l2", "log2", "bytes moved / L2 cache"},
                        {"share", "log2", "roofline time / that of the whole graph"},
                        {"m", "log2", "rows of the product or result"},
                        {"n", "log2", "columns"},
                        {"k", "log2", "depth"},
                        {"products", "log2", "products, or groups of a convolution"},
                        {"window", "log2", "elements of the convolution's kernel"},
                        {"stride", "log2", "product of strides"},
                        {"channels_per_group", "log2", "of a grouped convolution"},
                        {"fill_m", "1", "share of tiles of 128 rows that is filled"},
                        {"fill_n", "1", "share of tiles of 64 columns"},
                        {"fill_k", "1", "share of steps of 32 in depth"},
                        {"waves", "log2", "tiles / SMs"},
                        {"wave_fill", "1", "share of the last wave of tiles, of all waves"},
                    });
  return c;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdULL;
  return h ^ (h >> 32);
}

std::uint64_t mix_field(std::uint64_t h, double x) { return mix(h, std::bit_cast<std::uint64_t>(x)); }
std::uint64_t mix_field(std::uint64_t h, KernelKind kind) { return mix(h, static_cast<std::uint64_t>(kind)); }
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
  out.host_ops = plan.host_ops;
  out.class_of.resize(n);
  std::unordered_map<std::uint64_t, std::uint32_t> classes;
  std::vector<std::uint32_t> representative;
  for (std::size_t i = 0; i < n; ++i) {
    const auto [at, is_new] = classes.try_emplace(colour[i], static_cast<std::uint32_t>(out.kernels.size()));
    if (is_new) {
      out.kernels.push_back(plan.kernels[i]);
      out.count.push_back(0);
      representative.push_back(static_cast<std::uint32_t>(i));
    }
    out.class_of[i] = at->second;
    out.count[at->second] += plan.kernels[i].repeat;
  }
  for (std::size_t c = 0; c < representative.size(); ++c) {
    for (const std::uint32_t j : neighbours[representative[c]]) out.edges.emplace_back(out.class_of[j], c);
  }
  return out;
}

std::vector<Column> kernel_columns(std::span<const std::string> vocabulary) {
  std::vector<Column> c = fixed_columns();
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
  static const std::size_t fixed = fixed_columns().size();
  int words = 0;
  for (const int i : vocabulary) words = std::max(words, i + 1);
  FeatureMatrix m;
  m.rows = g.kernels.size();
  m.columns = fixed + static_cast<std::size_t>(words);
  m.values.assign(m.rows * m.columns, 0);
  double total_us = 0;
  for (std::size_t i = 0; i < m.rows; ++i) total_us += priced[i].roofline_us() * g.count[i];
  const double sms = std::max(device.sms, 1), l2_bytes = std::max(device.l2_mib, 0.25) * 1024 * 1024;
  for (std::size_t i = 0; i < m.rows; ++i) {
    const Kernel& k = g.kernels[i];
    const Priced& p = priced[i];
    const Extents& e = k.extents;
    RowWriter row(m, i);
    for (std::size_t kind = 0; kind < kKernelKinds.size(); ++kind) row.put(static_cast<std::size_t>(k.kind) == kind);
    for (const Category category : kCategoryColumns) {
      row.put(std::log2(1.0 + static_cast<double>(
                                  std::ranges::count_if(k.ops, [&](OpId o) { return def(o).category == category; }))));
    }
    for (const Precision precision : kPrecisionColumns) row.put(precision == config.precision);
    row.put(k.half);
    row.put(k.placement.aligned);
    row.put(k.placement.channels_first);
    row.put(k.placement.wide_index);
    row.put(config.mode == ExecMode::Compiled);
    row.put(config.layout == Layout::Nhwc);
    row.put(std::log2(1.0 + static_cast<double>(k.ops.size())));
    row.put(k.work.macs + k.work.flops > 0 ? bounded_log2(p.compute_us / p.memory_us, -8, 8) : -8);
    row.put(bounded_log2(p.roofline_us() / std::max(device.launch_us, 1e-3), -8, 16));
    row.put(bounded_log2(k.traffic.bytes / l2_bytes, -12, 12));
    row.put(total_us > 0 ? bounded_log2(p.roofline_us() * g.count[i] / total_us, -16, 0) : -16);
    row.put(bounded_log2(e.m, 0, 30));
    row.put(bounded_log2(e.n, 0, 20));
    row.put(bounded_log2(e.k, -4, 20));
    row.put(bounded_log2(e.products, 0, 20));
    row.put(bounded_log2(e.window, 0, 12));
    row.put(bounded_log2(e.stride, 0, 8));
    row.put(bounded_log2(k.extents.channels_per_group, 0, 12));
    row.put(fill(e.m, 128));
    row.put(fill(e.n, 64));
    row.put(fill(e.k, 32));
    const bool product = k.kind == KernelKind::Matmul || k.kind == KernelKind::Convolution;
    const double tiles =
        product ? e.products * std::ceil(e.m / 128) * std::ceil(e.n / 64) : std::ceil(e.m * e.n * e.products / 4096);
    const double waves = tiles / sms;
    row.put(bounded_log2(waves, -8, 20));
    row.put(waves > 0 ? waves / std::ceil(waves) : 0);
    double* words_at = row.rest();
    for (const OpId o : k.ops) {
      const int w = vocabulary[index_of(o)];
      if (w >= 0) words_at[w] += 1;
    }
    for (int w = 0; w < words; ++w) words_at[w] = std::log2(1 + words_at[w]);
  }
  return m;
}

}  // namespace perfc
