#include "whitebox/price/kernel_problems.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "whitebox/constants/attention.h"
#include "whitebox/constants/convolutions.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/memory_bound.h"
#include "whitebox/constants/units.h"

namespace perfc {
namespace {

std::optional<MemoryBoundKind> kind_of(const Kernel& k) {
  if (k.ops.empty()) return std::nullopt;
  const Category category = def(k.ops.front()).category;
  if (k.kind == KernelKind::Gather) {
    if (category != Category::Gather) return std::nullopt;
    return k.placement.whole_rows ? MemoryBoundKind::Elementwise : MemoryBoundKind::Gather;
  }
  if (k.kind != KernelKind::Vector) return std::nullopt;
  if (k.limits.row_blocks > 0) return MemoryBoundKind::LayerNorm;
  if (k.limits.on_lanes) return MemoryBoundKind::BatchNorm;
  if (k.limits.generated) return MemoryBoundKind::Generated;
  if (category != Category::Softmax) return MemoryBoundKind::Elementwise;
  if (k.extents.n <= constants::kSoftmaxWarpColumns) return MemoryBoundKind::SoftmaxWarp;
  return k.extents.n <= constants::kSoftmaxBlockColumns ? MemoryBoundKind::SoftmaxBlock : MemoryBoundKind::SoftmaxTwice;
}

/// float32 lanes of an SM: what the peak is made of.
double lanes_of(const Device& d) {
  const auto peak = d.vector_tflops.find("float32");
  const double per_lane = 2.0 * d.sms * d.boost_clock_mhz * 1e6;
  return peak == d.vector_tflops.end() || per_lane <= 0 ? 0 : peak->second * 1e12 / per_lane;
}

/// Bytes that kernels load for the channels of one position of a window. Images of up to four channels have kernels of
/// their own (sm80_xmma_fprop_image_first_layer, nchwToNhwc3To4Kernel).
double loaded_bytes(double channels, double width) {
  if (channels <= constants::kFirstChannels) return constants::kFirstChannels * width;
  const double bytes = channels * width;
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
  p.k = k.extents.window * loaded_bytes(k.extents.k / k.extents.window, width) / width;
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
  const bool rms = *kind == MemoryBoundKind::LayerNorm && k.ops.front() == op("nn.rms_norm");
  return MemoryBoundProblem{.kind = *kind,
                            .rows = k.extents.m,
                            .columns = k.extents.n,
                            .read = k.traffic.bytes - written,
                            .written = written,
                            .byte_clocks = k.limits.byte_clocks,
                            .row_share = rms ? constants::kRmsNormRows : 1,
                            .hot = k.traffic.bytes > 0 ? k.traffic.handed_bytes / k.traffic.bytes : 0};
}

namespace {

/// Of keys and values: none of a cache that was there before the run.
double handed_share(const Kernel& k) {
  if (k.attention.writes_cache || k.traffic.bytes <= 0) return 0;
  return std::min(k.traffic.handed_bytes / k.traffic.bytes, 1.0);
}

}  // namespace

std::optional<AttentionProblem> attention_problem(const Kernel& k) {
  const AttentionSpan& s = k.attention;
  const bool fused = k.kind == KernelKind::Matmul && k.ops.size() == 1;
  if (!fused || s.batch <= 0 || s.keys < 1 || s.key_heads < 1 || s.channels < 1) return std::nullopt;
  return AttentionProblem{.batch = s.batch,
                          .heads = s.batch * s.heads,
                          .key_heads = s.batch * s.key_heads,
                          .queries = s.queries,
                          .keys = s.keys,
                          .channels = s.channels,
                          .causal = s.causal,
                          .past = s.past,
                          .window = s.window,
                          .writes_cache = s.writes_cache,
                          .hot = handed_share(k)};
}

bool has_flash_kernel(const Kernel& k, const AttentionProblem& a, double sms) {
  if (!k.half || k.placement.aligned <= 0 || a.channels > constants::kFlashHead) return false;
  switch (form_of(a)) {
    case AttentionForm::Decode:
      return true;
    case AttentionForm::Prefill:
      return a.queries > 1;
    case AttentionForm::Encoder:
      break;
  }
  return a.queries >= constants::kFewQueries || a.heads >= constants::kFullSms * sms;
}

namespace {

AttentionChip attention_chip(const Device& d) {
  if (d.architecture == "hopper") return AttentionChip::Wgmma;
  if (d.architecture == "blackwell" && d.memory_type == "hbm") return AttentionChip::Tcgen05;
  return is_amd(d) ? AttentionChip::Other : AttentionChip::MmaSync;
}

/// Thread blocks of a single query's kernel on an SM. FlashAttention-2's: 164 KiB of shared memory, not 100.
double resident_blocks(const Device& d) {
  const bool two = d.memory_type == "hbm" && (d.architecture == "ampere" || d.architecture == "blackwell");
  return two ? 2 : 1;
}

}  // namespace

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
  return {.chip = attention_chip(d),
          .bandwidth = bandwidth,
          .reading = std::max(bandwidth, constants::kReadShare * d.bandwidth_gb_s * 1e9),
          .l2_bytes = m.l2_bytes,
          .sms = m.sms,
          .clock_hz = m.clock_hz,
          .matrix_flops = matrix_flops,
          .resident = resident_blocks(d),
          .lanes = m.lanes,
          .exponentials = d.exponentials,
          .sustained = sustained,
          .tdp_w = d.tdp_w,
          .grace = d.grace};
}

bool has_cudnn_attention(const Device& d) {
  const AttentionChip chip = attention_chip(d);
  return chip == AttentionChip::Wgmma || chip == AttentionChip::Tcgen05;
}

AttentionFacts flash_attention_facts(const Device& d, double bandwidth) {
  const MemoryFacts m = memory_facts(d, bandwidth);
  AttentionFacts out =
      attention_facts(d, bandwidth, constants::kMmaSyncFlops * m.sms * m.clock_hz, constants::kFlash2Share);
  out.chip = AttentionChip::MmaSync;
  return out;
}

}  // namespace perfc
