#include "whitebox/price/kernel_problems.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "whitebox/constants.h"

namespace perfc {
namespace {

std::optional<MemoryBoundKind> kind_of(const Kernel& k) {
  if (k.ops.empty()) return std::nullopt;
  const Category category = def(k.ops.front()).category;
  if (k.kind == KernelKind::Gather) {
    return category == Category::Gather ? std::optional(MemoryBoundKind::Gather) : std::nullopt;
  }
  if (k.kind != KernelKind::Vector) return std::nullopt;
  if (k.limits.row_blocks > 0) return MemoryBoundKind::LayerNorm;
  if (category != Category::Softmax) return MemoryBoundKind::Elementwise;
  return k.extents.n <= constants::kSoftmaxWarpColumns ? MemoryBoundKind::SoftmaxWarp : MemoryBoundKind::SoftmaxBlock;
}

/// float32 lanes of an SM: what the peak is made of.
double lanes_of(const Device& d) {
  const auto peak = d.vector_tflops.find("float32");
  const double per_lane = 2.0 * d.sms * d.boost_clock_mhz * 1e6;
  return peak == d.vector_tflops.end() || per_lane <= 0 ? 0 : peak->second * 1e12 / per_lane;
}

/// Bytes that kernels load for the channels of one position of a window.
double loaded_bytes(double bytes) {
  const double load = bytes <= 2 * constants::kVectorLoad ? constants::kVectorLoad : constants::kPositionStep;
  return std::ceil(bytes / load) * load;
}

}  // namespace

/// Bytes of a convolution's data, each element once.
double data_bytes(const Kernel& k, const Product& p, double width) {
  const double a = p.batch * p.m * p.k * width, b = p.batch * p.k * p.n * width, c = p.batch * p.m * p.n * width;
  return std::clamp(k.traffic.bytes - b - c, width, a);
}

Product implicit_vector_product(const Kernel& k, double width) {
  const Extents& e = k.extents;
  Product p{.batch = std::max(e.products, 1.0),
            .m = e.m,
            .n = e.n,
            .k = e.k,
            .a_bytes = width,
            .b_bytes = width,
            .c_bytes = width};
  p.a_repeats = p.batch * p.m * p.k * width / data_bytes(k, p, width);
  return p;
}

Product implicit_product(const Kernel& k, double width) {
  Product p = implicit_vector_product(k, width);
  p.k = k.extents.window * loaded_bytes(k.extents.k / k.extents.window * width) / width;
  p.a_repeats = p.batch * p.m * p.k * width / data_bytes(k, p, width);
  return p;
}

std::optional<WinogradProblem> winograd_problem(const Kernel& k, double width) {
  const Extents& e = k.extents;
  if (e.tiles <= 0 || e.window != 9 || e.stride != 1) return std::nullopt;
  const Product direct = implicit_vector_product(k, width);
  const double channels = e.k / e.window, per_tile = constants::kWinogradProducts;
  WinogradProblem out{.product = direct};
  out.product.batch *= per_tile;
  out.product.m = e.tiles;
  out.product.k = channels;
  out.product.a_repeats = 1;
  const double elements = per_tile * e.tiles * (channels + e.n) + (e.window + per_tile) * channels * e.n + e.m * e.n;
  out.transformed = data_bytes(k, direct, width) + direct.batch * elements * width;
  return out;
}

std::optional<MemoryBoundProblem> memory_bound_problem(const Kernel& k) {
  const auto kind = kind_of(k);
  if (!kind) return std::nullopt;
  const double written = std::min(k.extents.m * k.extents.n * (k.half ? 2 : 4), k.traffic.bytes);
  return MemoryBoundProblem{.kind = *kind,
                            .rows = k.extents.m,
                            .columns = k.extents.n,
                            .read = k.traffic.bytes - written,
                            .written = written,
                            .byte_clocks = k.limits.byte_clocks,
                            .hot = k.traffic.bytes > 0 ? k.traffic.handed_bytes / k.traffic.bytes : 0};
}

namespace {

/// Heads of keys and values, over the batch, by the bytes that are read of them.
double key_heads(const Kernel& k, const AttentionProblem& a) {
  const double queries = 2 * a.element_bytes * a.heads * a.queries * a.channels;  // and the result
  const double of_a_head = 2 * a.element_bytes * a.keys * a.channels;
  return std::clamp(std::round((k.traffic.bytes - queries) / of_a_head), 1.0, a.heads);
}

}  // namespace

std::optional<AttentionProblem> attention_problem(const Kernel& k) {
  const bool fused = k.kind == KernelKind::Matmul && k.ops.size() == 1 && k.half && k.placement.aligned > 0;
  if (!fused) return std::nullopt;
  const bool scaled = k.ops.front() == op("nn.sdpa"), grouped = k.ops.front() == op("nn.attention");
  if (!scaled && !grouped) return std::nullopt;
  AttentionProblem out{.heads = k.extents.products,
                       .queries = k.extents.m,
                       .keys = k.extents.k / 2,  // MACs per element of the result: a score's channels, and its value
                       .channels = k.extents.n};
  const bool fills_tiles = scaled && out.queries >= constants::kFewQueries;
  if (!fills_tiles && !is_decoding(out)) return std::nullopt;
  out.key_heads = key_heads(k, out);
  return out;
}

bool is_decoding(const AttentionProblem& a) {
  const double widest = *std::rbegin(constants::kAttentionWidths);
  return a.queries == 1 && a.keys >= 1 && a.heads >= 1 && a.channels >= 1 && a.channels <= widest;
}

MemoryFacts memory_facts(const Device& d, double bandwidth) {
  MemoryFacts out{.bandwidth = bandwidth, .l2_bytes = d.l2_mib * constants::kBytesPerMib};
  if (d.kind != "gpu" || d.sms <= 0 || d.boost_clock_mhz <= 0) return out;
  out.sms = d.sms;
  out.clock_hz = d.boost_clock_mhz * 1e6;
  out.lanes = lanes_of(d);
  return out;
}

AttentionFacts attention_facts(const Device& d, double bandwidth, double matrix_flops, double sustained) {
  const MemoryFacts m = memory_facts(d, bandwidth);
  return {.chip = d.architecture == "hopper" ? AttentionChip::Wgmma : AttentionChip::MmaSync,
          .bandwidth = bandwidth,
          .l2_bytes = m.l2_bytes,
          .sms = m.sms,
          .clock_hz = m.clock_hz,
          .matrix_flops = matrix_flops,
          .resident = d.architecture == "ampere" && d.memory_type == "hbm" ? 2.0 : 1.0,  // 164 KiB, not 100
          .lanes = m.lanes,
          .sustained = sustained};
}

}  // namespace perfc
