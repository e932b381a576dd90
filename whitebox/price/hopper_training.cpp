#include "whitebox/price/hopper_training.h"

#include <algorithm>
#include <cmath>

#include "ir/layout.h"
#include "whitebox/constants/convolutions.h"
#include "whitebox/constants/hopper.h"
#include "whitebox/price/hopper_convolution.h"
#include "whitebox/price/order_conversion.h"

namespace perfc {
namespace {

/// The convolution that a gradient is of.
struct Convolution {
  double groups = 1, channels = 0, results = 0;  ///< channels of a group, of its data and its result
  double in = 0, out = 0;                        ///< positions of all samples
  double window = 1, stride = 1;
  double elements() const { return groups * (in * channels + out * results); }
  double macs() const { return groups * out * channels * results * window; }
};

Convolution convolution_of(const Kernel& k) {
  const Extents& e = k.extents;
  Convolution c{.groups = std::max(e.products, 1.0), .window = e.window, .stride = e.stride};
  if (k.pass == Pass::WeightGradient) {
    c.channels = e.m / e.window;
    c.results = e.n;
    c.out = e.k;
    c.in = c.out * c.stride;
  } else {
    c.channels = e.n;
    c.results = e.weights / (c.groups * e.window * e.n);
    c.in = e.m;
    c.out = k.work.macs / (c.groups * c.channels * c.results * e.window);
  }
  return c;
}

/// As the convolution forwards, whose kernels these resemble.
std::optional<double> groups_us(const Kernel& k, const Rates& r) {
  Kernel forwards = k;
  forwards.pass = Pass::Inference;
  if (k.pass == Pass::WeightGradient) std::swap(forwards.extents.m, forwards.extents.k);
  forwards.limits.slowdown = 1;
  return group_convolution_us(forwards, r);
}

double image_us(const Kernel& k, const Convolution& c, const Rates& r) {
  const double width = r.product_bytes[k.half];
  const double element = width == 2 ? constants::kImageGradientElement16 : constants::kImageGradientElement32;
  const double tiles = std::ceil(c.results / constants::kImageGradientChannels);
  const double own = clocks_us(c.out * (constants::kImageGradientClocks + element * tiles * c.window), r) + r.launch_us;
  const bool converts = k.placement.channels_first && !r.on_vector[k.half];
  return own + clocks_us(constants::kImagePaddingClocks * c.in * c.channels, r) +
         (converts ? order_conversion_us(k, r, width) : 0);
}

double lanes_us(const constants::LaneGradient& g, const Convolution& c, double macs, double width, const Rates& r) {
  return g.us + (g.arithmetic * 2 * macs / r.vector[0] + g.traffic * c.elements() * width / r.bandwidth) * 1e6;
}

Product product_of(double m, double n, double k, double width) {
  return {.m = m, .n = n, .k = k, .a_bytes = width, .b_bytes = width, .c_bytes = width};
}

/// Multiplied on float32 lanes, by kernels that mostly take channels first.
double on_lanes_us(const Kernel& k, const Convolution& c, const Rates& r) {
  const double width = r.product_bytes[k.half];
  const double converted = k.placement.channels_first ? 0 : order_conversion_us(k, r, width);
  if (k.pass != Pass::WeightGradient) {
    // Where a window of one element has strides, the positions between stay zero.
    const bool points = c.window == 1 && c.stride > 1;
    const Product p = points ? product_of(c.out, c.channels, c.results, width)
                             : product_of(c.in, c.channels, c.macs() / (c.in * c.channels), width);
    double best = lane_gradient_time(lanes_of(r), p) * 1e6;
    if (c.window > 1 && c.stride == 1)
      best = std::min(best, lanes_us(constants::kSpectralData, c, c.macs(), width, r) +
                                constants::kSpectralWeightsUs * c.channels * c.results);
    return best + converted;
  }
  const auto filled = [](double x) {
    return std::ceil(x / constants::kLaneGradientTile) * constants::kLaneGradientTile;
  };
  const double macs = filled(c.results) * filled(c.channels * c.window) * c.out;
  double best = lanes_us(constants::kLaneWeights, c, macs, width, r);
  if (c.window == constants::kWinogradWindow * constants::kWinogradWindow && c.stride == 1)
    best = std::min(best, lanes_us(constants::kWinogradWeights, c, c.macs(), width, r));
  return best + (c.window > 1 ? converted : 0);
}

double product_us(const Product& p, ProductDevice device, ChipClass chip) {
  device.chip = chip;
  return product_time(device, p).total * 1e6 + gap_us(chip);
}

/// Of the weights, on tensor cores.
double weights_us(const Kernel& k, const Convolution& c, const Rates& r) {
  const double width = r.product_bytes[k.half];
  const ProductDevice& device = *r.convolution_product[k.half];
  const bool points = c.window == 1 && c.stride == 1, first = k.placement.channels_first;
  Product p = product_of(c.channels * c.window, c.results, c.out, width);
  p.a_repeats = std::max(1.0, c.window * c.out / c.in);
  if (points) {
    const double us = product_us(p, device, first || width == 4 ? ChipClass::HopperTf32 : ChipClass::Hopper);
    const bool aligned = plane_loads(k.extents.row * k.extents.row * width) == PlaneLoads::Tma;
    return us * (!first ? 1 : !aligned ? constants::kOddPoints : width == 4 ? constants::kTf32Points : 1);
  }
  const ChipClass chip = width == 4 ? ChipClass::HopperWeightGradientsTf32 : ChipClass::HopperWeightGradients;
  return product_us(p, device, chip) + (first ? order_conversion_us(k, r, width) : 0);
}

/// The same of the data. None: a product of matrices as they lie, priced as forwards.
std::optional<double> data_us(const Kernel& k, const Convolution& c, const Rates& r) {
  if (c.window == 1 && c.stride == 1) return std::nullopt;
  const double width = r.product_bytes[k.half], rows = c.out / c.in * c.window * c.results;
  Product p = product_of(c.in, c.channels, rows, width);
  p.a_repeats = std::max(1.0, c.in * rows / (c.out * c.results));
  return product_us(p, *r.convolution_product[k.half], ChipClass::HopperDataGradients) +
         (k.placement.channels_first ? order_conversion_us(k, r, width) : 0);
}

}  // namespace

std::optional<double> hopper_gradient_us(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  const bool convolution = k.kind == KernelKind::Convolution || k.kind == KernelKind::Depthwise;
  if (!convolution || !r.hopper || e.weights <= 0 || e.window <= 0) return std::nullopt;
  // A transposed convolution is the gradient of another's data (aten/src/ATen/native/cudnn/ConvShared.cpp,
  // cudnn_convolution_transpose_forward).
  const bool gradient = k.pass == Pass::DataGradient || k.pass == Pass::WeightGradient;
  if (!gradient && !is_transposed_convolution(k.ops.front())) return std::nullopt;
  if (!r.convolution_product[k.half] || multiplies_eight_bits(k.quantised)) return std::nullopt;
  const Convolution c = convolution_of(k);
  if (c.groups > 1) return groups_us(k, r);
  if (k.pass == Pass::WeightGradient && c.channels <= constants::kFirstChannels) return image_us(k, c, r);
  if (r.on_vector[k.half]) return on_lanes_us(k, c, r);
  return k.pass == Pass::WeightGradient ? weights_us(k, c, r) : data_us(k, c, r);
}

std::optional<double> hopper_batch_norm_us(const Kernel& k, const Rates& r) {
  const double channels = k.extents.weights;
  if (!r.hopper || channels <= 0 || k.ops.front() != op("nn.batch_norm")) return std::nullopt;
  const bool backward = k.pass == Pass::DataGradient, first = k.placement.channels_first;
  const double elements = k.extents.m * k.extents.n, rows = elements / channels;
  const double read = rows * (k.half ? 2 : 4) * (backward ? 2 : 1);
  const constants::BatchNormKernels& kernels = r.half_weights ? constants::kOwnBatchNorm
                                               : k.half       ? constants::kCudnnBatchNorm16
                                                              : constants::kCudnnBatchNorm32;
  const bool once = !r.half_weights && read <= constants::kReadOnceBytes;
  const constants::BatchNormClocks& c =
      first ? once ? kernels.once[backward] : kernels.first[backward] : kernels.last[backward];
  const double moved_us = constants::kBatchNormTraffic * memory_us(k, r);
  return c.us + std::max(clocks_us(elements * c.element, r), moved_us) + rows * c.row / r.memory.clock_hz * 1e6;
}

}  // namespace perfc
