#include "whitebox/price/product_price.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/convolutions.h"
#include "whitebox/constants/hopper.h"
#include "whitebox/constants/products.h"
#include "whitebox/constants/quantised_products.h"
#include "whitebox/price/hopper_convolution.h"
#include "whitebox/price/hopper_training.h"
#include "whitebox/price/learned_factor.h"
#include "whitebox/price/order_conversion.h"

namespace perfc {

namespace {

/// Whether the units that multiply are fed alike whatever the extents, or (AMD in 16 bits) nearly so.
bool takes_any_extents(const Kernel& k, const Rates& r) {
  const bool amd = r.product[k.half] && is_cdna_half(r.product[k.half]->chip);
  return r.on_vector[k.half] || r.full_matrix[k.half] || amd;
}

}  // namespace

bool is_tiled_product(const Kernel& k, const Rates& r) {
  if (k.kind != KernelKind::Matmul || !r.product[k.half] || k.traffic.state_weights > 0) return false;
  if (k.ops.empty() || def(k.ops.front()).category != Category::MatMul) return false;
  const Extents& e = k.extents;
  const double macs = e.products * e.m * e.n * e.k;
  return macs > 0 && std::abs(k.work.macs / macs - 1) < 0.01 && (k.placement.aligned > 0 || takes_any_extents(k, r));
}

bool is_odd_product(const Kernel& k, const Rates& r) {
  const auto& product = r.product[k.half];
  const bool forwards = k.pass == Pass::Inference || k.pass == Pass::Forward;
  if (k.kind != KernelKind::Matmul || k.placement.aligned > 0 || k.traffic.state_weights > 0 || !forwards) return false;
  if (!r.cudnn || r.on_vector[k.half] || r.product_bytes[k.half] != 2 || k.quantised != Quantised::None) return false;
  if (!product || product->chip == ChipClass::Volta || k.ops.empty()) return false;
  return def(k.ops.front()).category == Category::MatMul && k.extents.m > 1 && k.extents.n > 1;
}

Priced price_odd_product(const Kernel& k, const Rates& r) {
  const ProductDevice& d = *r.product[k.half];
  const Extents& e = k.extents;
  const double side = std::min(e.m, e.n) > constants::kSmallOddTile ? constants::kOddTile : constants::kSmallOddTile;
  const double tiles = e.products * std::ceil(e.m / side) * std::ceil(e.n / side);
  const double depth = std::ceil(e.k / constants::kOddTileDepth) * constants::kOddTileDepth;
  const double clocks = side * side * (constants::kOddElementClocks + 2 * depth / constants::kOddFlops);
  const double us = 1e6 * k.limits.slowdown;
  Priced out{.compute_us = std::ceil(tiles / d.sms) * clocks / d.clock * us,
             .memory_us = moved_bytes(k, r) / r.bandwidth * us,
             .launch_us = constants::kOddLaunchUs,
             .sustained_us = 2 * k.work.macs / r.sustained[k.half] * us};
  out.add_up(std::max(out.roofline_us(), out.sustained_us));
  return out;
}

bool is_converted(const Kernel& k) {
  return k.placement.channels_first && (k.extents.window > 1 || k.extents.stride > 1);
}

namespace {

/// With the learned factor where a kernel is of those that were measured: aligned operands, one product.
ProductTime time_of(const Kernel& k, const ProductDevice& device, const Product& p) {
  const bool measured = device.learned && has_learned_factor(device.chip, p);
  return measured && k.placement.aligned == 1 ? learned_product_time(device, p) : product_time(device, p);
}

}  // namespace

Priced priced_whole(double us) { return {.compute_us = us, .time_us = us, .bound = Bound::Compute}; }

Priced price_product(const Kernel& k, const Rates& r) {
  const bool eight = multiplies_eight_bits(k.quantised) && r.product8;
  ProductDevice device = eight ? *r.product8 : *r.product[k.half];
  if (device.chip == ChipClass::Hopper && !eight && r.product_bytes[k.half] == 4) device.chip = ChipClass::HopperTf32;
  const bool across = device.chip == ChipClass::HopperTf32 && k.pass == Pass::WeightGradient;
  const Extents& e = k.extents;
  const bool odd = is_cdna_half(device.chip) && (std::fmod(e.k, 2) == 1 || std::fmod(e.n, 2) == 1);
  const double slowdown = k.limits.slowdown * (across ? constants::kTf32Across : odd ? constants::kOddCdna : 1);
  if (!takes_any_extents(k, r) && k.placement.aligned < 1)
    device.peak = std::max(r.vector[k.half], constants::kNarrowLoads * device.peak);
  const double width = r.product_bytes[k.half], read = multiplies_eight_bits(k.quantised) ? 1 : width;
  Product p{.batch = e.products,
            .m = e.m,
            .n = e.n,
            .k = e.k,
            .a_bytes = read,
            .b_bytes = read,
            .c_bytes = k.quantised == Quantised::Whole ? 1 : width};
  const double a = p.batch * p.m * p.k * read, b = p.batch * p.k * p.n, c = p.batch * p.m * p.n * p.c_bytes;
  p.b_bytes = std::clamp((k.traffic.bytes - a - c) / b, constants::kNarrowestWeight, read);
  if (eight || (k.quantised == Quantised::Weights && !r.on_vector[k.half])) p.quantised = k.quantised;
  if (k.traffic.handed_bytes >= a + b * p.b_bytes) p.second = SecondOperand::Data;
  if (r.hopper && r.on_vector[k.half] && !eight && p.m > 1 && p.n > 1) {
    const double epilogue = k.traffic.epilogue_bytes / r.bandwidth;
    const auto time = k.pass == Pass::WeightGradient ? lane_split_product_time : lane_product_time;
    return priced_whole((time(lanes_of(r), p) + epilogue) * 1e6 * slowdown);
  }
  const ProductTime t = time_of(k, device, p);
  // PyTorch for AMD copies a bias into the result, which the product then reads (aten/src/ATen/native/cuda/Blas.cpp,
  // addmm_out_cuda_impl: cublasLt's epilogue is off there). NeuSight's linear layers, of float32, had it.
  const double biased = is_cdna_half(device.chip) ? 2 * k.traffic.biased_bytes : 0;
  const double beside =
      (std::max(k.traffic.bytes - a - b * p.b_bytes - c, 0.0) + k.traffic.epilogue_bytes + biased) / r.bandwidth;

  Priced out;
  out.launch_us = t.launch * 1e6 + gap_us(device.chip) + (biased > 0 ? r.launch_us : 0);
  out.compute_us = t.arithmetic * 1e6 * slowdown;
  out.memory_us = t.traffic * 1e6 * slowdown;
  const double work = (t.total - t.launch + beside) * 1e6 * slowdown;
  out.exposed_us = std::max(work - std::max(out.compute_us, out.memory_us), 0.0);
  out.sustained_us = 2 * k.work.macs / sustained_flops(device, p.quantised) * 1e6;
  out.add_up(work);
  return out;
}

bool is_implicit_product(const Kernel& k, const Rates& r) {
  return k.kind == KernelKind::Convolution && r.convolution_product[k.half] && k.extents.m > 0 && k.extents.k > 0;
}

namespace {

/// `beside_us`: of kernels before and after the product; `factor` on the time of all.
Priced priced_as(const Product& p, const ProductDevice& device, double beside_us, double factor) {
  const ProductTime t = product_time(device, p);
  const double us = 1e6 * factor, work = (t.total - t.launch) * us + beside_us * factor;
  Priced out{
      .compute_us = t.arithmetic * us, .memory_us = t.traffic * us + beside_us * factor, .launch_us = t.launch * 1e6};
  out.exposed_us = std::max(work - std::max(out.compute_us, out.memory_us), 0.0);
  out.sustained_us = p.gathers * 2 * p.batch * p.m * p.n * p.k / sustained_flops(device) * us;
  return out;
}

/// On Hopper cuDNN has no Winograd, and its kernels take channels first.
Priced price_on_hopper_lanes(const Kernel& k, const Rates& r) {
  const double width = r.product_bytes[k.half], us = 1e6 * k.limits.slowdown;
  const Extents& e = k.extents;
  const LaneWindows c{.p = implicit_vector_product(k, width),
                      .window = e.stride > 1 ? 0 : std::sqrt(e.window),
                      .planes = e.row > 0 ? e.m / (e.row * e.row) * e.k / e.window : 0,
                      .row = e.row};
  Priced out{.compute_us = lane_convolution_time(lanes_of(r), c) * us};
  out.exposed_us = k.traffic.epilogue_bytes / r.bandwidth * us;
  if (!k.placement.channels_first) out.conversion_us = order_conversion_us(k, r, width);
  return out;
}

Priced price_on_vector_units(const Kernel& k, const Rates& r, const ProductDevice& device) {
  if (r.hopper) return price_on_hopper_lanes(k, r);
  const double width = r.product_bytes[k.half];
  const double epilogue_us = k.traffic.epilogue_bytes / r.bandwidth * 1e6;
  const bool is_product = k.extents.window == 1 && k.extents.stride == 1;  // of matrices as they lie
  Product product = implicit_vector_product(k, width);
  if (!is_product) {
    product.k_step = constants::kWindowStep;
    product.gathers = constants::kImplicitTime;
  }
  const Priced direct = priced_as(product, device, epilogue_us, k.limits.slowdown);
  const auto winograd = winograd_problem(k, width);
  if (!winograd) return direct;
  Priced fast = priced_as(winograd->product, device, winograd->transformed / r.bandwidth * 1e6 + epilogue_us,
                          constants::kWinogradTime * k.limits.slowdown);
  // Its transforms take channels first.
  if (r.cudnn && !k.placement.channels_first) fast.conversion_us = order_conversion_us(k, r, width);
  return fast.roofline_us() < direct.roofline_us() ? fast : direct;
}

/// Whose kernels multiply a convolution on Hopper's tensor cores, at what share of the peak.
struct HopperProduct {
  std::optional<ChipClass> chip;
  double share = 1;
  bool converted = false;  ///< to channels last, though it is a product as it lies
};
HopperProduct hopper_product(const Kernel& k, double width) {
  const Extents& e = k.extents;
  if (e.window > 1 || e.stride > 1) return {.chip = ChipClass::HopperWindows};
  const double gradient = k.pass == Pass::DataGradient && k.placement.channels_first ? constants::kPointsShare : 1;
  if (width == 4) return {.chip = ChipClass::HopperTf32, .share = gradient};
  if (!k.placement.channels_first || e.row <= 0) return {.chip = ChipClass::Hopper};
  // What lies side by side: positions, and of one position channels.
  const double plane = e.row * e.row;
  const PlaneLoads loads = plane_loads((plane > 1 ? plane : e.k) * width);
  if (loads == PlaneLoads::Tma) return {.chip = ChipClass::Hopper};
  if (loads == PlaneLoads::Neither) return {.chip = ChipClass::HopperWindows, .converted = true};
  const double filled = plane / (std::ceil(plane / constants::kFilledColumns) * constants::kFilledColumns);
  return {.chip = ChipClass::HopperTf32, .share = gradient * constants::kMmaSyncShare * (e.m > plane ? filled : 1)};
}

Priced price_on_matrix_units(const Kernel& k, const Rates& r, ProductDevice device) {
  const bool eight = multiplies_eight_bits(k.quantised) && r.product8;
  if (eight && r.on_vector[k.half]) device = *r.product8;
  else if (eight) device.peak = r.product8->peak;
  if (eight && k.quantised != Quantised::Float8)  // what products of these integers sustain
    device.own.power *= constants::kQuantisedBoth.power_share;
  if (k.placement.aligned < 1) device.peak = std::max(r.vector[k.half], constants::kNarrowLoads * device.peak);
  const double epilogue_us = k.traffic.epilogue_bytes / r.bandwidth * 1e6;
  const double width = eight ? 1 : r.product_bytes[k.half];
  const bool windows = k.extents.window > 1 || k.extents.stride > 1;
  const double factor =
      k.limits.slowdown * (windows && device.chip == ChipClass::Blackwell ? constants::kBlackwellWindows : 1);
  const HopperProduct hopper = device.chip == ChipClass::Hopper && !eight ? hopper_product(k, width) : HopperProduct{};
  if (hopper.chip) device.chip = *hopper.chip;
  device.peak *= hopper.share;
  Priced out = priced_as(implicit_product(k, width), device, epilogue_us, factor);
  out.launch_us += gap_us(device.chip);
  if (is_converted(k) || hopper.converted) out.conversion_us = order_conversion_us(k, r, width);
  return out;
}

}  // namespace

Priced price_convolution(const Kernel& k, const Rates& r) {
  if (const auto us = hopper_convolution_us(k, r)) return priced_whole(*us);
  const ProductDevice& device = *r.convolution_product[k.half];
  const bool eight = multiplies_eight_bits(k.quantised) && r.product8;
  Priced out =
      r.on_vector[k.half] && !eight ? price_on_vector_units(k, r, device) : price_on_matrix_units(k, r, device);
  out.add_up(out.roofline_us());
  return out;
}

}  // namespace perfc
