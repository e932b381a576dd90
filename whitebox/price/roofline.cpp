#include "whitebox/price/roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "whitebox/constants/attention.h"
#include "whitebox/constants/compiled.h"
#include "whitebox/constants/convolutions.h"
#include "whitebox/constants/depthwise.h"
#include "whitebox/constants/elements.h"
#include "whitebox/constants/hopper.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/products.h"
#include "whitebox/constants/recurrences.h"
#include "whitebox/constants/training.h"
#include "whitebox/constants/units.h"
#include "whitebox/price/attention_factor.h"
#include "whitebox/price/depthwise.h"
#include "whitebox/price/grouped_product.h"
#include "whitebox/price/hopper_attention.h"
#include "whitebox/price/hopper_convolution.h"
#include "whitebox/price/hopper_training.h"
#include "whitebox/price/learned_factor.h"
#include "whitebox/price/linear_attention.h"
#include "whitebox/price/product_price.h"

namespace perfc {
namespace {

/// Share of what a kernel was handed that it still finds: all up to the cache's usable part, little far beyond it.
double found_share(double usable, double bytes) {
  const double fits = std::min(usable / bytes, 1.0);
  return fits * fits * fits * fits;
}

/// FLOP/s of the matrix units in 16 bits.
double half_peak(const Device& d) {
  return std::max(figure(d.matrix_tflops, "float16"), figure(d.matrix_tflops, "bfloat16")) * 1e12;
}

/// Whether what was learned of a class of chips holds for this one of it. Of Graphics, L40S alone was measured, and
/// what that says of others made them worse (docs/judged.md, square products).
bool is_like_measured(const Device& d, ChipClass chip) {
  const double least_w = constants::kLeastGraphicsPower * half_peak(d) / constants::kFlopsOfTeraflop;
  return chip != ChipClass::Graphics || (d.architecture == "ada" && d.tdp_w >= least_w);
}

/// What the time of products depends on; none: the device is no GPU, or its entry says too little of it.
/// `share`: what was measured of this device beyond its class.
std::optional<ProductDevice> product_device(const Device& d, Units units, double peak, double share) {
  if (d.kind != "gpu" || d.sms <= 0 || d.boost_clock_mhz <= 0 || d.l2_mib <= 0 || d.tdp_w <= 0) return std::nullopt;
  const auto chip = chip_class(d, units);
  if (!chip) return std::nullopt;
  return ProductDevice{.chip = *chip,
                       .sms = static_cast<double>(d.sms),
                       .clock = d.boost_clock_mhz * 1e6,
                       .peak = peak,
                       .half_peak = units == Units::Matrix ? half_peak(d) : peak,
                       .bandwidth = d.bandwidth_gb_s * 1e9,
                       .cache = d.l2_mib * constants::kBytesPerMib,
                       .tdp_w = d.tdp_w,
                       .share = share,
                       .learned = learned_class(*chip) && is_like_measured(d, *chip)};
}

ProductFactors own_factors(const Device& d) {
  ProductFactors out;
  for (const auto& [key, factor] : kProductFactors) out.*factor = figure(d.efficiency, key, 1);
  return out;
}

}  // namespace

bool takes_hopper_kernels(const Device& d) {
  return d.architecture == "hopper" || (d.architecture == "blackwell" && d.memory_type == "hbm");
}

Rates::Rates(const Device& d, Precision p)
    : launch_us(d.launch_us), serial_us(constants::kSerialStepUs), cache(d.l2_mib * constants::kBytesPerMib),
      sms(d.sms) {
  const auto share = [&](const char* key, double fallback) { return figure(d.efficiency, key, fallback); };
  const double full = figure(d.vector_tflops, "float32", 1) * 1e12;
  vector[0] = full;
  vector[1] = std::max(full, figure(d.vector_tflops, "float16") * 1e12);
  // Matrix units: AMP uses them for what runs in 16 bits, float32 only where they take it as it is (AMD's).
  const bool tf32 = p == Precision::Tf32 || p == Precision::Default;
  if (tf32) without_tf32 = std::make_shared<const Rates>(d, Precision::Fp32);
  tf32_products = p != Precision::Default;
  // What int8 and fp8 leave in 16 bits is bfloat16 where the device has it.
  const bool bfloat16 = p == Precision::Bf16 || (quantises_layers(p) && d.matrix_tflops.contains("bfloat16"));
  this->bfloat16 = bfloat16;
  grouped_kernel = has_grouped_kernel(d, bfloat16);
  half_weights = float_bytes(p) == 2;
  const char* wanted = tf32 ? "tf32" : bfloat16 ? "bfloat16" : p == Precision::Fp32 ? "float32" : "float16";
  for (int half = 0; half < 2; ++half) {
    const std::string_view unit = p == Precision::Amp && half == 0 ? "float32" : wanted;
    const double rate = figure(d.matrix_tflops, unit) * 1e12;
    full_matrix[half] = unit == "float32" && rate >= vector[half];
    on_vector[half] = !full_matrix[half] && rate < vector[half];
    matrix[half] = on_vector[half] ? vector[half] : rate;
    matmul[half] = on_vector[half] ? share("vector_matmul", 0.75) : share("matmul", 0.7);
    convolution[half] = on_vector[half] ? share("vector_convolution", 0.75) : share("convolution", 0.7);
    // MIOpen times its kernels and takes the fastest, on whichever units. [MIOpen, "Find and immediate mode"]
    if (full_matrix[half])
      convolution[half] = std::max(convolution[half], share("vector_convolution", 0.75) * vector[half] / matrix[half]);
  }
  for (int half = 0; half < 2; ++half) {
    const Units units = on_vector[half] ? Units::Vector : full_matrix[half] ? Units::FullMatrix : Units::Matrix;
    product[half] = product_device(d, units, matrix[half], share("dense_product", 1));
    sustained[half] = product[half] ? sustained_flops(*product[half]) : std::numeric_limits<double>::infinity();
    if (!is_amd(d))  // whose convolutions are MIOpen's
      convolution_product[half] = product_device(d, units, matrix[half], share("dense_convolution", 1));
    product_bytes[half] = half ? 2 : float_bytes(p);
    if (product[half] && units == Units::Matrix && product_bytes[half] == 2) product[half]->own = own_factors(d);
  }
  matrix8 = figure(d.matrix_tflops, p == Precision::Fp8 ? "float8" : "int8") * 1e12;
  if (matrix8 > 0) product8 = product_device(d, Units::Matrix, matrix8, share("dense_product", 1));
  cudnn = d.kind == "gpu" && !is_amd(d);
  hopper = takes_hopper_kernels(d);
  recurrent_us = d.kind == "gpu" ? constants::kRecurrentStepUs : 0;
  resident_us = cudnn ? constants::kResidentStepUs : recurrent_us;
  depthwise = share("depthwise", 0.6);
  if (d.architecture == "turing") windows = 1 / constants::kTuringWindows;
  elementwise = share("vector", 0.85);
  layout = is_amd(d) ? 0 : share("layout", 1.0);  // MIOpen's kernels take channels first
  bandwidth = d.bandwidth_gb_s * 1e9 * share("bandwidth", 0.8);
  gather = d.bandwidth_gb_s * 1e9 * share("gather", 0.5);
  memory = memory_facts(d, bandwidth);
  // Chips with GDDR are short of power; of AMD's, what products reach. [studies/kernels/attention.py, SUSTAINED]
  const double held = is_amd(d) ? matmul[1] : d.memory_type == "hbm" ? 1 : std::min(sustained[1] / matrix[1], 1.0);
  attention = attention_facts(d, bandwidth, matrix[1], held);
  flash = has_cudnn_attention(d) && d.stack.attention == StackAttention::Flash;
  if (flash) attention = flash_attention_facts(d, bandwidth);
  for (const bool half : {false, true}) efficient_attention[half] = efficient_attention_facts(d, half);
  if (!flash && product[1] && product_bytes[1] == 2) {
    attention.products = product[1]->chip;
    attention.learned = product[1]->learned;
  }
}

namespace {

/// FLOP/s that a kernel of the vector units reaches. What limits it is counted in lanes of float32, whatever the width:
/// such kernels sum in 32 bits and wait for loads.
double vector_rate(const Kernel& k, const Rates& r) {
  const double most = r.vector[k.half] * r.depthwise;
  if (!r.cudnn || k.limits.vector_share <= 0) return most;
  const double lanes = r.memory.lanes > 0 ? r.memory.lanes : constants::kLimitLanes;
  return std::min(r.vector[0] * k.limits.vector_share * r.windows * constants::kLimitLanes / lanes, most);
}

/// FLOP/s that a product reaches by how tensor cores load its rows.
double matrix_rate(const Kernel& k, const Rates& r) {
  const double vector = r.vector[k.half], matrix = r.matrix[k.half];
  if (r.full_matrix[k.half] || k.placement.aligned == 1) return matrix;
  if (k.placement.aligned > 0) return std::max(vector, constants::kNarrowLoads * matrix);
  const bool forwards = k.pass == Pass::Inference || k.pass == Pass::Forward;
  if (!r.hopper || !forwards || k.extents.products > 1 || r.on_vector[k.half] || r.product_bytes[k.half] == 2)
    return vector;
  return constants::kOddProduct32 * r.memory.sms * r.memory.clock_hz;
}

}  // namespace

double moved_bytes(const Kernel& k, const Rates& r) {
  double bytes = k.traffic.bytes + k.traffic.epilogue_bytes;
  if (k.traffic.state_weights > r.cache) bytes += k.traffic.state_weights * std::max(k.traffic.steps - 1, 0.0);
  if (bytes <= 0) return 0;
  return bytes * (1 - (1 - 1 / constants::kCacheGain) * found_share(constants::kCacheShare * r.cache, bytes) *
                          k.traffic.handed_bytes / k.traffic.bytes);
}

namespace {

/// A depthwise kernel of cuDNN's, by its thread blocks.
Priced price_blocks(const Kernel& k, const Rates& r) {
  const BlockClocks& of = k.limits.depthwise;
  const double us = 1e6 * k.limits.slowdown, first_us = of.first / r.memory.clock_hz * us;
  Priced p;
  p.compute_us = clocks_us(of.blocks * of.each / r.windows, r) * k.limits.slowdown;
  p.memory_us = moved_bytes(k, r) / r.bandwidth * us;
  p.launch_us = r.launch_us;
  p.exposed_us = std::max(first_us + constants::kStreamGapUs - p.launch_us, 0.0);
  p.sustained_us = 2 * k.work.macs / r.sustained[k.half] * 1e6;
  p.add_up(p.roofline_us());
  return p;
}

void be_memory_bound(const Kernel& k, const MemoryBoundTime& t, Priced& p) {
  const double us = 1e6 * k.limits.slowdown;
  p.memory_us = t.memory_s * us;
  p.compute_us = std::max(p.compute_us, t.multiprocessor_s * us);
  p.exposed_us = (t.work_s - std::max(t.memory_s, t.multiprocessor_s)) * us;
}

/// What an H200's profiles show of memory-bound kernels that chips before do not.
void be_hopper(const Kernel& k, MemoryBoundProblem& bound) {
  if (k.placement.transposed) bound.byte_clocks *= constants::kTransposed;
  if (bound.kind != MemoryBoundKind::LayerNorm) return;
  bound.least_clocks = bound.row_share * (constants::kLayerNormWave + constants::kLayerNormWaveColumn * bound.columns);
  if (k.half) bound.row_share *= constants::kHalfLayerNorm;
}

/// What flash kernels do not take, PyTorch's memory-efficient one computes: masks, keys and values of unequal width
/// (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, check_for_attn_mask, check_head_dim_size_flash).
double mask_factor(const Kernel& k) {
  const bool refused = k.attention.masked || (k.attention.unequal && !k.attention.in_engine);
  return refused ? constants::kMaskedAttention : 1;
}

void be_attention(const Kernel& k, const AttentionTime& t, double sustained_s, Priced& p) {
  const double us = 1e6 * k.limits.slowdown * mask_factor(k);
  p.compute_us = std::max(t.compute_s, sustained_s) * us;
  p.memory_us = t.memory_s * us;
  p.exposed_us = (t.work_s - std::max(t.compute_s, t.memory_s)) * us;
}

/// Priced by what cuDNN's or PyTorch's own kernels took on a Hopper, where no law of the chip's kernels stands.
bool takes_hopper_attention(const Kernel& k, const AttentionProblem& problem, const Rates& r) {
  if (!r.hopper || (r.flash && k.half) || k.attention.in_engine) return false;
  // Blackwell's instructions do twice as much per clock: cuDNN's kernels for them, from 9.14 on, are those that made
  // its law (FlashAttention-4, arXiv 2603.05451); what takes a mask was measured on Hopper alone.
  const bool has_own_law = k.half && !k.attention.masked && r.attention.chip == AttentionChip::Tcgen05;
  return !has_own_law && has_hopper_attention(problem);
}

/// Fused attention by the kernel that prices it, if one does; gives the multiply–accumulates that count for power.
std::optional<double> price_attention(const Kernel& k, const Rates& r, Priced& p) {
  const auto problem = attention_problem(k);
  if (!problem) return std::nullopt;
  const double macs = attention_macs(*problem);
  if (takes_hopper_attention(k, *problem, r)) {
    const double time_s = hopper_attention_time(*problem, k.half, k.attention.masked, lanes_of(r));
    p.compute_us = std::max(time_s, k.half ? 2 * macs / r.sustained[1] : 0) * 1e6 * k.limits.slowdown;
    p.exposed_us = 0;
    return macs;
  }
  if (const auto& efficient = r.efficient_attention[k.half]; efficient && takes(*efficient, *problem)) {
    // Three products in TF32 for one: far from the power limit.
    const double sustained = efficient->tf32 ? 0 : 2 * macs / r.sustained[k.half];
    const double by_engine = k.attention.in_engine && k.half ? constants::kEngineAttention : 1;
    const double time_s = efficient_attention_time(*problem, *efficient) * by_engine;
    p.compute_us = std::max(time_s, sustained) * 1e6 * k.limits.slowdown;
    p.exposed_us = 0;
    return macs;
  }
  if (r.on_vector[1] || !has_flash_kernel(k, *problem, r.attention.sms)) return std::nullopt;
  const auto time = r.attention.learned ? learned_attention_time : attention_time;
  be_attention(k, time(*problem, r.attention), 2 * macs / r.sustained[1], p);
  return macs;
}

Priced price_at(const Kernel& k, const Rates& r) {
  if (is_linear_attention(k, r)) return price_linear_attention(k, r);
  if (is_grouped_product(k)) return price_grouped_product(k, r);
  if (is_tiled_product(k, r)) return price_product(k, r);
  if (is_odd_product(k, r)) return price_odd_product(k, r);
  if (const auto us = depthwise_gradient_us(k, r)) return priced_whole(*us);
  if (const auto us = hopper_gradient_us(k, r)) return priced_whole(*us);
  if (const auto us = hopper_batch_norm_us(k, r)) return priced_whole(*us);
  if (const auto us = group_convolution_us(k, r)) return priced_whole(*us);
  if (is_implicit_product(k, r)) return price_convolution(k, r);
  if (k.limits.depthwise.blocks > 0 && r.cudnn && r.memory.sms > 0) return price_blocks(k, r);
  if (k.kind == KernelKind::Depthwise && r.hopper) return priced_whole(depthwise_us(k, r) * k.limits.slowdown);
  Priced p;
  const double vector = r.vector[k.half];
  const double matrix = matrix_rate(k, r);
  double rate = vector * r.elementwise;
  switch (k.kind) {
    case KernelKind::Matmul:
      rate = (multiplies_eight_bits(k.quantised) ? std::max(matrix, r.matrix8) : matrix) * r.matmul[k.half] *
             k.limits.tile_share;
      break;
    case KernelKind::Convolution:
      rate = matrix * r.convolution[k.half];
      if (r.on_vector[k.half]) rate = std::max(rate, vector * r.depthwise);
      break;
    case KernelKind::Depthwise:
      rate = vector_rate(k, r);
      break;
    case KernelKind::Vector:
    case KernelKind::Gather:
      break;
  }
  const double bytes = moved_bytes(k, r);
  const auto padded = [](double extent, double tile) { return std::ceil(extent / tile) * tile; };
  double macs = k.work.macs, computed = macs;
  if (k.kind == KernelKind::Matmul && k.extents.products > 1 && k.placement.aligned == 0 && !r.on_vector[k.half]) {
    macs = k.extents.products * padded(k.extents.m, constants::kTileRows) *
           padded(k.extents.n, constants::kTileColumns) * padded(k.extents.k, constants::kTileDepth);
  }
  // What limits long products limits convolutions, too: studies/kernels/power.py.
  const double multiplied = std::max(2 * macs / rate, 2 * macs / r.sustained[k.half]);
  const double us = 1e6 * k.limits.slowdown;
  p.compute_us = (multiplied + k.work.flops / (vector * r.elementwise)) * us;
  p.memory_us = bytes / (k.kind == KernelKind::Gather ? r.gather : r.bandwidth) * us;
  if (k.kind == KernelKind::Convolution && is_converted(k) && !r.on_vector[k.half])
    p.conversion_us = 2 * r.layout * p.memory_us;  // read and written
  if (r.memory.sms > 0) {
    if (auto bound = memory_bound_problem(k)) {
      if (!r.cudnn) bound->byte_clocks = 0;
      if (r.hopper) be_hopper(k, *bound);
      be_memory_bound(k, memory_bound_time(*bound, r.memory), p);
      if (bound->kind == MemoryBoundKind::Generated)
        p.exposed_us += std::max(constants::kGeneratedUs + constants::kStreamGapUs - r.launch_us, 0.0);
    }
  }
  if (const auto attention = r.memory.sms > 0 ? price_attention(k, r, p) : std::nullopt) {
    computed = *attention;
  } else {
    p.compute_us *= mask_factor(k);
    p.memory_us *= mask_factor(k);
  }
  if (k.limits.blocks > 0) {  // the other multiprocessors wait
    const double busy = std::lerp(k.limits.busy_cached, k.limits.busy_missed, missed(r.memory, k.traffic.bytes));
    p.compute_us *= std::max(1.0, busy * r.sms / k.limits.blocks);
    p.memory_us *= std::max(1.0, std::min<double>(r.sms, r.bandwidth / constants::kBlockBandwidth) / k.limits.blocks);
  }
  if (k.limits.tail_clocks > 0 && r.memory.clock_hz > 0) p.exposed_us += k.limits.tail_clocks / r.memory.clock_hz * 1e6;
  p.serial_us = k.limits.serial_steps * r.serial_us;
  if (k.limits.blocks_held > 0) p.serial_us *= std::ceil(k.limits.blocks / (r.sms * k.limits.blocks_held));
  if (k.traffic.state_weights > 0)
    p.serial_us = std::max(p.serial_us, k.traffic.steps * (k.traffic.resident ? r.resident_us : r.recurrent_us));
  p.launch_us = r.launch_us;
  p.sustained_us = 2 * computed / r.sustained[k.half] * 1e6;
  p.add_up(p.roofline_us() + p.waiting_us());
  return p;
}

/// A convolution of images of fewer than four channels (a network's first layer), or a gradient of one.
bool has_no_tf32_kernel(const Kernel& k) {
  const Extents& e = k.extents;
  if (k.kind != KernelKind::Convolution || e.weights <= 0) return false;
  return std::min(e.n, e.weights / (e.products * e.window * e.n)) < constants::kTf32Channels;
}

/// What a kernel takes in a training step beyond what it would in inference, where only steps were measured, not their
/// kernels.
double training_factor(const Kernel& k, const Rates& r) {
  return k.pass == Pass::Inference || r.hopper ? 1 : constants::kTrainingStep;
}

Priced stretched(Priced p, double factor) {
  for (double Priced::*us : {&Priced::compute_us, &Priced::memory_us, &Priced::exposed_us, &Priced::conversion_us,
                             &Priced::serial_us, &Priced::sustained_us})
    p.*us *= factor;
  p.time_us = (p.time_us - p.launch_us) * factor + p.launch_us;
  return p;
}

Priced faster_of_widths(const Kernel& k, const Rates& r) {
  if (!r.without_tf32) return price_at(k, r);
  const Priced full = price_at(k, *r.without_tf32);
  if (!r.tf32_products && k.kind == KernelKind::Matmul) return full;
  if (!r.hopper && has_no_tf32_kernel(k)) return full;
  const Priced other = price_at(k, r);
  return full.time_us < other.time_us ? full : other;
}

/// A product of whole 16 bytes as TorchInductor pads it, if it does: where arithmetic bounds it, and that product with
/// copies of its operands is faster by a tenth. [torch/_inductor/fx_passes/pad_mm.py, is_mm_compute_bound,
/// is_padded_faster]
std::optional<Priced> padded_product(const Kernel& k, const Rates& r, const Priced& plain) {
  constexpr double kGain = 1.1, kBalance = 0.5;  // both are its own
  if (k.traffic.padding_bytes <= 0 || r.on_vector[k.half]) return std::nullopt;
  const Extents& e = k.extents;
  const double intensity = e.m * e.n * e.k / (e.m * e.k + e.k * e.n + e.m * e.n);
  if (intensity <= kBalance * r.matrix[k.half] / r.bandwidth) return std::nullopt;
  Kernel padded = k;
  const auto whole = [&](double extent) {
    const double part = constants::kVectorLoad / r.product_bytes[k.half];
    return extent > 1 ? std::ceil(extent / part) * part : extent;
  };
  padded.extents.m = whole(e.m), padded.extents.n = whole(e.n), padded.extents.k = whole(e.k);
  padded.work.macs *= padded.extents.m * padded.extents.n * padded.extents.k / (e.m * e.n * e.k);
  padded.placement.aligned = 1;
  Priced out = faster_of_widths(padded, r);
  const double copies_us = k.traffic.padding_bytes / r.bandwidth * 1e6 + r.launch_us;
  out.conversion_us += copies_us;
  out.time_us += copies_us;
  return out.time_us * kGain < plain.time_us ? std::optional(out) : std::nullopt;
}

}  // namespace

Priced price(const Kernel& k, const Rates& r) {
  Priced p = faster_of_widths(k, r);
  if (const auto padded = padded_product(k, r, p)) p = *padded;
  const double factor = training_factor(k, r);
  return factor == 1 ? p : stretched(p, factor);
}

}  // namespace perfc
