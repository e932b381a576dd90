#include "whitebox/price/order_conversion.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/convolutions.h"
#include "whitebox/constants/layouts.h"

namespace perfc {
namespace {

/// A kernel that writes `elements` in the other order of channels; `filled`: of its tiles of positions and channels.
double reordered_s(double elements, double filled, double width, double hot, const MemoryFacts& d) {
  const double clocks = constants::kOrderElementClocks + constants::kOrderTileClocks / filled;
  const MemoryBoundProblem problem{.rows = elements,
                                   .columns = 1,
                                   .read = elements * width,
                                   .written = elements * width,
                                   .byte_clocks = clocks / (2 * width),
                                   .hot = hot};
  return memory_bound_time(problem, d).work_s;
}

/// Of a kernel's tile along an axis, what `extent` fills.
double filled(double extent) { return extent / (std::ceil(extent / constants::kOrderTile) * constants::kOrderTile); }

}  // namespace

ConvolutionElements convolution_elements(const Kernel& k, double width) {
  const Extents& e = k.extents;
  ConvolutionElements out{.result = e.products * e.m * e.n};
  out.data = std::max(k.traffic.bytes / width - e.weights - out.result, 0.0);
  return out;
}

double order_conversion_us(const Kernel& k, const Rates& r, double width) {
  const Extents& e = k.extents;
  const double weights = e.window > 1 ? e.weights : 0;
  const ConvolutionElements of = convolution_elements(k, width);
  const double hot = k.traffic.bytes > 0 ? std::min(k.traffic.handed_bytes / k.traffic.bytes, 1.0) : 0;
  const double kernels = weights > 0 ? 3 : 2;
  // Images alone have few channels that all are read at once.
  const double channels = e.products == 1 && e.window > 0 ? e.k / e.window : constants::kOrderTile;
  const double read = r.hopper && channels <= constants::kFirstChannels ? filled(channels) : 1;
  const bool writes_first = width == 4 && !r.hopper && k.pass == Pass::Inference;
  const double results = writes_first ? constants::kTf32ResultsConverted : 1;
  const double work_s = reordered_s(of.data, read, width, hot, r.memory) +
                        results * reordered_s(of.result, 1, width, hot, r.memory) +
                        reordered_s(weights, filled(e.window), width, 0, r.memory);
  return r.layout * (work_s * 1e6 * k.limits.slowdown + kernels * r.launch_us);
}

}  // namespace perfc
