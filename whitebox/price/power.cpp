#include "whitebox/price/power.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

double products_us(const Kernel& k, const Priced& p, const Rates& r) {
  if (p.sustained_us > 0) return p.sustained_us;
  const double rate = std::isfinite(r.sustained[k.half]) ? r.sustained[k.half] : r.matrix[k.half];
  return 2 * k.work.macs / rate * 1e6;
}

/// Of a FLOP on vector units. A CPU has no others, and draws its TDP at their peak.
double vector_joules(const Device& d) {
  if (d.kind == "gpu") return constants::kVectorPicojoules * 1e-12;
  const auto peak = d.vector_tflops.find("float32");
  if (peak == d.vector_tflops.end() || peak->second <= 0) return 0;
  return (1 - d.active_power) * std::max(d.tdp_w - d.idle_w, 0.0) / (peak->second * 1e12);
}

}  // namespace

void PowerLoad::add(const Kernel& k, const Priced& p, const Rates& r, double time_us) {
  const Rates& of = r.without_tf32 && !r.tf32_products && k.kind == KernelKind::Matmul ? *r.without_tf32 : r;
  const bool multiplies = k.kind == KernelKind::Matmul || k.kind == KernelKind::Convolution;
  const bool on_matrix = multiplies && !of.on_vector[k.half];
  kernels_us += time_us;
  if (on_matrix) matrix_us += std::min(products_us(k, p, of) * k.repeat, time_us);
  // Winograd's convolutions multiply less than their definition says: no more than the units can.
  const double flops = (k.work.flops + (on_matrix ? 0 : 2 * k.work.macs)) * k.repeat;
  vector_flops += std::min(flops, of.vector[k.half] * time_us / 1e6);
  traffic_us += std::min(moved_bytes(k, of) / of.bandwidth * 1e6 * k.repeat, time_us);
}

PowerParts power_parts(const PowerLoad& load, const Device& device, double latency_ms) {
  PowerParts out{.idle_w = std::max(device.idle_w, 1.0)};
  if (latency_ms <= 0) return out;
  const double watts = std::max(device.tdp_w - out.idle_w, 0.0) / (latency_ms * 1e3);
  out.kernels_w = device.active_power * watts * load.kernels_us;
  out.vector_w = vector_joules(device) * load.vector_flops / (latency_ms / 1e3);
  out.matrix_w = constants::kMatrixPower * watts * load.matrix_us;
  out.memory_w = device.memory_power * watts * load.traffic_us;
  return out;
}

double held_power_w(double demand_w, const Device& device) {
  const double limit = std::max(constants::kPowerLimit * device.tdp_w, device.idle_w);
  const double sharpness = constants::kPowerSharpness;
  return std::pow(std::pow(demand_w, -sharpness) + std::pow(limit, -sharpness), -1 / sharpness);
}

}  // namespace perfc
