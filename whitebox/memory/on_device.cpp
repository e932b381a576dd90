#include "whitebox/memory/on_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "whitebox/constants/memory.h"
#include "whitebox/constants/units.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

double mib(double bytes) { return bytes / constants::kBytesPerMib; }

/// What a monitor sees beyond the need while cuDNN tries algorithms. A search takes time in proportion to its
/// convolution's data, and a monitor that looks now and then sees one as a Poisson process sees an event.
/// Shown is what one run in ten exceeds.
void add_searches(const MemoryNeeds& needs, const Device& device, Prediction& out) {
  struct Seen {
    double mib, gib;
  };
  std::vector<Seen> seen;
  const double need = out.memory.needed_mib();
  for (const AlgorithmSearch& s : needs.searches) {
    const double used = out.memory.context_mib + mib(s.allocated), free = device.memory_mib - used;
    double workspace = 0;
    for (const double w : {s.whole, s.tiled}) {
      if (mib(w) <= free) workspace = std::max(workspace, mib(w));
    }
    if (used + workspace > need) seen.push_back({used + workspace, mib(s.data) / 1024});
  }
  std::ranges::sort(seen, std::greater{}, &Seen::mib);
  double gib = 0;
  for (const Seen& s : seen) {
    gib += s.gib;
    out.memory_odds.push_back({s.mib, 1 - std::exp(-constants::kSeenPerGib * gib)});
    if (out.memory.search_mib == 0 && out.memory_odds.back().odds >= constants::kShownOdds)
      out.memory.search_mib = s.mib - need;
  }
}

/// The context is uncertain by its stack's factor, what the allocator reserves by that of runs which nobody fitted:
/// what either moves the sum by, joined in squares of logarithms, as a time's parts are (whitebox.h). Searches that one
/// run in twenty exceeds count upwards.
void add_memory_interval(const Device& device, Prediction& out) {
  const MemoryBreakdown& m = out.memory;
  const double context = m.context_mib, reserved = m.needed_mib() - context, need = m.needed_mib();
  if (need <= 0) return;
  const double stack = device.stack.interval, factor = constants::kReservedInterval;
  const auto moved = [&](double of_context, double of_reserved) {
    return std::hypot(std::log((context * of_context + reserved) / need),
                      std::log((context + reserved * of_reserved) / need));
  };
  out.memory_lo_mib = need * std::exp(-moved(1 / stack, 1 / factor));
  out.memory_hi_mib = need * std::exp(moved(stack, factor));
  const auto seen = std::ranges::find_if(out.memory_odds,  // most first
                                         [](const MemoryOdds& o) { return o.odds >= constants::kUpperOdds; });
  if (seen != out.memory_odds.end()) out.memory_hi_mib = std::max(out.memory_hi_mib, seen->memory_mib);
  if (m.total_mib() <= device.memory_mib) out.memory_hi_mib = std::min(out.memory_hi_mib, device.memory_mib);
}

/// What cuBLAS' workspace takes there beyond the one that was simulated.
double more_workspace_mib(const MemoryNeeds& needs, const Device& device) {
  if (!needs.multiplies) return 0;
  return device.stack.product_workspace(device.architecture) - mib(constants::kProductWorkspace);
}

/// What convolutions want where cuDNN has no use for Winograd's tiles.
ConvolutionWorkspace without_tiles(Precision precision) {
  return precision == Precision::Fp32 ? ConvolutionWorkspace::None : ConvolutionWorkspace::Copies;
}

}  // namespace

ConvolutionWorkspace workspace_on(const Device& device, Precision precision) {
  const bool whole = precision == Precision::Fp32 || precision == Precision::Tf32 || precision == Precision::Default;
  const bool tensor_cores = device.kind == "gpu" && !is_amd(device) && precision != Precision::Fp32 &&
                            device.matrix_tflops.contains(whole ? "tf32" : "float16");
  return tensor_cores || takes_hopper_kernels(device) ? without_tiles(precision) : ConvolutionWorkspace::Tiles;
}

NeedsOnDevices::NeedsOnDevices(const Graph& graph, const ExecConfig& config) : precision_(config.precision) {
  std::tie(usual_, with_tiles_) =
      memory_needs_of_both(graph, config, without_tiles(precision_), ConvolutionWorkspace::Tiles);
}

const MemoryNeeds& NeedsOnDevices::on(const Device& device) const {
  return workspace_on(device, precision_) == ConvolutionWorkspace::Tiles ? with_tiles_ : usual_;
}

double least_mib(const MemoryNeeds& needs, const Device& device) {
  return device.stack.context(resident_threads(device), needs.convolves) + mib(needs.allocated) +
         more_workspace_mib(needs, device);
}

/// Near the device's limit the allocator gives back what lies unused before it fails.
void add_memory(const MemoryNeeds& needs, const Device& device, Prediction& out) {
  MemoryBreakdown& m = out.memory;
  m.context_mib = device.stack.context(resident_threads(device), needs.convolves);
  m.weights_mib = mib(needs.weights);
  m.gradients_mib = mib(needs.gradients);
  m.optimizer_mib = mib(needs.optimizer);
  const double least = least_mib(needs, device) - m.context_mib, larger = more_workspace_mib(needs, device);
  const double reserved =
      std::clamp(device.memory_mib - m.context_mib, least, std::max(least, mib(needs.reserved) + larger));
  m.allocated_mib = least;
  const double rest = std::max(0.0, reserved - m.weights_mib - m.gradients_mib - m.optimizer_mib);
  m.workspace_mib = std::min(mib(needs.workspace) + larger, rest);
  m.activations_mib = rest - m.workspace_mib;
  add_searches(needs, device, out);
  add_memory_interval(device, out);
}

}  // namespace perfc
