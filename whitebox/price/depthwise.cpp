#include "whitebox/price/depthwise.h"

#include <algorithm>

#include "whitebox/constants/depthwise.h"
#include "whitebox/constants/hopper.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/launch/framework.h"
#include "whitebox/price/hopper_convolution.h"

namespace perfc {
namespace {

const constants::GradientClocks& gradient_clocks(const Kernel& k, const Rates& r) {
  const bool data = k.pass == Pass::DataGradient, half = r.product_bytes[k.half] == 2;
  const double window = k.extents.window;
  if (!k.placement.channels_first) {
    if (data) return half ? constants::kDepthwiseDataLast16 : constants::kDepthwiseDataLast32;
    if (half) return constants::kDepthwiseWeightsLast16;
    return window >= constants::kLargeGradientWindow ? constants::kDepthwiseWeightsLarge32
                                                     : constants::kDepthwiseWeightsLast32;
  }
  if (half && !r.bfloat16 && window <= constants::kLargeWindow) {
    if (!data) return constants::kDepthwiseWeightsFirst;
    return k.extents.stride > 1 ? constants::kDepthwiseDataStrided : constants::kDepthwiseDataFirst;
  }
  if (data) return half ? constants::kDepthwiseDataOwn16 : constants::kDepthwiseDataOwn32;
  return half ? constants::kDepthwiseWeightsOwn16 : constants::kDepthwiseWeightsOwn32;
}

/// Of a gradient: one channel of the data for each group, which is a product's column or row.
bool is_depthwise(const Kernel& k) {
  const Extents& e = k.extents;
  return e.products > 1 && (k.pass == Pass::WeightGradient ? e.m / e.window : e.n) <= 1;
}

}  // namespace

double depthwise_us(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  const double results = e.products * e.m * e.n;
  const double clocks =
      k.placement.channels_first
          ? depthwise_clocks({.window = e.window, .float32 = !k.half}, true).per_result(e.window, e.stride > 1)
          : constants::kDepthwiseLastElement * e.window;
  const double least = constants::kDepthwiseLeastUs + constants::kDepthwiseElementUs * e.window;
  return std::max({clocks_us(results * clocks, r), memory_us(k, r), least}) + constants::kStreamGapUs;
}

std::optional<double> depthwise_gradient_us(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  const bool gradient = k.pass == Pass::DataGradient || k.pass == Pass::WeightGradient;
  const bool convolution = k.kind == KernelKind::Convolution || k.kind == KernelKind::Depthwise;
  if (!gradient || !convolution || !r.cudnn || r.memory.sms <= 0 || e.weights <= 0 || e.window <= 0 || !is_depthwise(k))
    return std::nullopt;
  const bool falls_back = !k.placement.channels_first && e.window > constants::kFallbackFrom;
  if (falls_back && !r.hopper) return std::nullopt;
  const double result = k.work.macs / e.window;
  const double data = k.pass == Pass::WeightGradient ? e.products * e.k * e.stride : e.products * e.m;
  const constants::GradientClocks& g = gradient_clocks(k, r);
  const double elements = g.of_result ? result : std::max(data, result);
  return g.us + std::max(clocks_us(elements * (g.element + g.window * e.window), r), memory_us(k, r));
}

}  // namespace perfc
