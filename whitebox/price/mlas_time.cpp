#include "whitebox/price/mlas_time.h"

#include <algorithm>
#include <cmath>

#include "ir/layout.h"
#include "whitebox/constants/mlas.h"
#include "whitebox/constants/units.h"

namespace perfc {
namespace {

using namespace constants;

double look_up(const Device& d, const char* key, double fallback) {
  const auto it = d.efficiency.find(key);
  return it == d.efficiency.end() ? fallback : it->second;
}

double filled(double extent, double block) { return std::ceil(extent / block) * block; }

double both(double a, double b) {
  return std::pow(std::pow(a, kCpuOverlap) + std::pow(b, kCpuOverlap), 1 / kCpuOverlap);
}

double seconds(double macs, double share, const MlasDevice& d) { return 2 * macs / (d.flops * share); }

/// Blocks of channels beside each other are multiply-adds of whole registers.
double convolution_in_blocks(const Kernel& k, const MlasDevice& d) {
  const Extents& e = k.extents;
  const double inputs = e.k / e.window;
  if (e.products > 1 && inputs == 1) {
    const double edges = e.row > 0 ? std::min(kMlasEdges / e.row, kMlasEdge) : 0;
    const double clocks = kMlasTap * e.window + kMlasBlockOf + edges;
    return e.m * std::ceil(e.products / kMlasBlock) * clocks * d.clock_s;
  }
  const double read = inputs < kMlasBlock ? inputs : filled(inputs, kMlasBlock);
  return seconds(e.products * e.m * filled(e.n, kMlasBlock) * read * e.window, kMlasConvolution, d);
}

/// Windows become rows (im2col), which a product reads; backwards, the product's rows are added up (col2im).
double convolution_by_product(const Kernel& k, const MlasDevice& d) {
  const Extents& e = k.extents;
  const double results = e.products * e.m * e.n;
  double moved = 0;
  if (is_transposed_convolution(k.ops.front())) moved = results * e.window / e.stride;
  else if (e.window > 1 || e.stride > 1) moved = e.products * e.m * e.k;
  return seconds(k.work.macs, kMlasProduct, d) + (moved * kMlasPacking + results * kMlasWriting) * d.clock_s;
}

double product(const Kernel& k, const MlasDevice& d) {
  const Extents& e = k.extents;
  const double macs = e.products * e.m * e.n * e.k;
  if (macs <= 0 || std::abs(k.work.macs / macs - 1) > 0.01) return seconds(k.work.macs, kMlasProduct, d);
  const double first = e.products * e.m * e.k * 4, second = e.products * e.k * e.n * 4;
  const bool packs = k.traffic.handed_bytes >= first + second;
  return seconds(macs * filled(e.n, kMlasBlock) / e.n, kMlasProduct, d) +
         (packs ? e.products * e.k * e.n * kMlasPacking * d.clock_s : 0);
}

/// A step's product waits for its weights; that with the inputs is one for all steps.
double recurrence(const Kernel& k, const MlasDevice& d) {
  const Traffic& t = k.traffic;
  const double states = std::min(t.steps * t.state_weights / 4 * std::max(k.extents.m, 1.0), k.work.macs);
  return seconds(k.work.macs - states, kMlasProduct, d) +
         both(seconds(states, kMlasProduct, d), t.steps * t.state_weights / d.cache_rate);
}

double elementwise(const Kernel& k, const MlasDevice& d) {
  double clocks = 0;
  const double written = k.extents.m * k.extents.n, all = written * std::max(k.extents.k, 1.0);
  for (const OpId o : k.ops) {
    const Mlas& m = def(o).mlas;
    const bool windows = def(o).runs.fusion == Fusion::Window;
    if (m.clocks <= 0) clocks += kMlasFlop * k.work.flops / static_cast<double>(k.ops.size());
    else clocks += m.clocks * (windows ? k.work.flops : all) + m.row_clocks * k.extents.m;
  }
  return clocks * d.clock_s;
}

double arithmetic(const Kernel& k, const MlasDevice& d) {
  const Category c = k.ops.empty() ? Category::Opaque : def(k.ops.front()).category;
  if (c == Category::Convolution && k.extents.m > 0)
    return (k.placement.blocked ? convolution_in_blocks(k, d) : convolution_by_product(k, d)) / d.convolution;
  if (k.traffic.state_weights > 0) return recurrence(k, d) / d.product;
  if (k.work.macs > 0) return product(k, d) / d.product;
  return elementwise(k, d);
}

double rate(double found, double slow, double fast) { return 1 / (found / fast + (1 - found) / slow); }

/// Of one core, when `sharers` read memory at once.
double traffic(const Kernel& k, const MlasDevice& d, double sharers) {
  const double handed = k.traffic.handed_bytes + k.traffic.epilogue_bytes;
  const double stored = std::max(k.traffic.bytes - k.traffic.handed_bytes, 0.0);
  const double memory = std::min(d.core_rate, d.memory_rate / sharers);
  const double found = handed > 0 ? std::min(d.cache_bytes / handed, 1.0) : 1;
  return handed / rate(found, memory, d.cache_rate) + stored / rate(d.stored_share, memory, d.cache_rate);
}

bool one_thread(const Kernel& k) { return !k.ops.empty() && def(k.ops.front()).mlas.one_thread; }

}  // namespace

MlasDevice::MlasDevice(const Device& d, double stored_bytes)
    : threads(std::max(d.sms, 1)), product(look_up(d, "dense_product", 1)),
      convolution(look_up(d, "dense_convolution", 1)), launch_us(d.launch_us) {
  const auto peak = d.vector_tflops.find("float32");
  flops = (peak == d.vector_tflops.end() ? 1e-2 : peak->second) * 1e12 / threads;
  clock_s = kMlasClockFlops / flops;
  cache_rate = d.boost_clock_mhz > 0 ? kCpuCacheBytes * d.boost_clock_mhz * 1e6 : kCpuCacheBytes / clock_s;
  const double share = look_up(d, "bandwidth", 0.7);
  memory_rate = d.bandwidth_gb_s * 1e9 * share;
  core_rate = std::min(d.core_bandwidth_gb_s > 0 ? d.core_bandwidth_gb_s * 1e9 * share : memory_rate, cache_rate);
  cache_bytes = kCpuCacheShare * d.l2_mib * kBytesPerMib;
  stored_share = stored_bytes > 0 ? std::min(cache_bytes / stored_bytes, 1.0) : 1;
}

Priced mlas_price(const Kernel& k, const MlasDevice& d) {
  const double sharers = one_thread(k) ? 1 : d.threads;
  const double alone_s = both(arithmetic(k, d), traffic(k, d, 1));
  const double shared_s = both(arithmetic(k, d), traffic(k, d, sharers)) / sharers + kCpuThreadsUs * 1e-6;
  const double parts = sharers > 1 && shared_s < alone_s ? sharers : 1;
  Priced p;
  p.launch_us = d.launch_us + (parts > 1 ? kCpuThreadsUs : 0);
  p.compute_us = arithmetic(k, d) / parts * 1e6;
  p.memory_us = traffic(k, d, parts) / parts * 1e6;
  const double work = both(p.compute_us, p.memory_us);
  p.exposed_us = work - std::max(p.compute_us, p.memory_us);
  p.time_us = work + p.launch_us;
  p.bound = work < p.launch_us ? Bound::Launch : p.compute_us > p.memory_us ? Bound::Compute : Bound::Memory;
  return p;
}

}  // namespace perfc
