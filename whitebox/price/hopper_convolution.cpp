#include "whitebox/price/hopper_convolution.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/convolutions.h"
#include "whitebox/constants/hopper.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/layouts.h"
#include "whitebox/launch/framework.h"
#include "whitebox/price/lane_blocks.h"
#include "whitebox/price/order_conversion.h"

namespace perfc {
namespace {

double width_of(const Kernel& k, const Rates& r) { return r.product_bytes[k.half]; }

double alone_us(double clocks, const Rates& r) { return clocks / r.memory.clock_hz * 1e6; }

bool has_groups(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  const bool convolution = k.kind == KernelKind::Convolution || k.kind == KernelKind::Depthwise;
  return convolution && e.products > 1 && e.channels_per_group > 1 && r.convolution_product[k.half] && e.m > 0 &&
         e.k > 0 && e.window > 0 && !multiplies_eight_bits(k.quantised);
}

/// Multiplied in float32: a kernel per group, or one for few results.
double groups_on_lanes_us(const Kernel& k, const Rates& r) {
  Product p = implicit_vector_product(k, width_of(k, r));
  p.batch = 1;
  const double one =
      lane_group_time(lanes_of(r), p) * 1e6 * (k.placement.channels_first ? 1 : constants::kLaneGroupsLast);
  const double all = k.extents.products * (one + constants::kStreamGapUs);
  const bool few = k.placement.channels_first && k.extents.m <= k.extents.row * k.extents.row;
  return few ? std::min(all, constants::kDirectGroupsUs + constants::kStreamGapUs) : all;
}

double groups_on_tensor_cores_us(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  const double width = width_of(k, r);
  const ConvolutionElements of = convolution_elements(k, width);
  const bool own = has_own_kernel(e.channels_per_group) && std::fmod(e.products * e.channels_per_group, 64) == 0 &&
                   (e.products >= constants::kOrderTile || e.channels_per_group >= 2 * constants::kOrderTile);
  if (own) {
    const double clocks = k.half ? constants::kGroupClocks16 : constants::kGroupClocks32;
    const double work = std::max({clocks_us(of.result * clocks, r), memory_us(k, r), constants::kGroupLeastUs});
    return work + r.launch_us + (k.placement.channels_first ? order_conversion_us(k, r, width) : 0);
  }
  const constants::PaddedGroups& p = k.placement.channels_first            ? constants::kPaddedFirst
                                     : e.products <= constants::kFewGroups ? constants::kCutLast
                                                                           : constants::kPaddedLast;
  return clocks_us(p.data * of.data + p.result * of.result, r) + p.us + p.group_us * e.products;
}

/// An image's channels filled up for a kernel that multiplies in blocks of them.
double padded_us(double data, const Rates& r) {
  return clocks_us(constants::kImagePaddingClocks * data, r) + 2 * r.launch_us;
}

double product_us(Product p, ProductDevice device) {
  device.chip = ChipClass::HopperWindows;
  return product_time(device, p).total * 1e6;
}

/// On tensor cores, of data that lies channels last.
double image_us(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  const double width = width_of(k, r), padded = padded_us(convolution_elements(k, width).data, r);
  const double tiles = std::ceil(e.m / constants::kImageRows) * std::ceil(e.n / constants::kImageColumns);
  const double tile = constants::kImageTileClocks + constants::kImageElementClocks * e.window;
  double best = std::max(clocks_us(tiles * tile, r),
                         alone_us(constants::kImageAloneClocks + constants::kImageAlone * e.window, r)) +
                r.launch_us;
  const ProductDevice& device = *r.convolution_product[k.half];
  const bool own = k.half && !r.bfloat16 && e.window == constants::kOwnImageWindow &&
                   e.stride == constants::kOwnImageStride && e.n == constants::kOwnImageChannels;
  if (own) best = std::min(best, product_us(implicit_product(k, width), device) + padded);
  const double columns =
      e.n <= constants::kFilledColumns / 2 ? constants::kFilledColumns / 2 : constants::kFilledColumns;
  const double blocks = std::ceil(e.m * columns / constants::kFilledTile) * std::ceil(e.n / columns);
  const double waves = std::ceil(blocks / r.memory.sms);
  const double filled_us = waves * (e.window * constants::kFilledElementUs + constants::kFilledUs);
  // Large patches are filled up but where there are few.
  const bool filled = e.window >= constants::kIndexedWindow && tiles > 2 * r.memory.sms;
  return filled ? filled_us + padded + r.launch_us : std::min(best, filled_us + padded + r.launch_us);
}

double image_on_lanes_us(const Kernel& k, const Rates& r) {
  return lane_image_time(lanes_of(r), implicit_vector_product(k, width_of(k, r)), k.extents.window) * 1e6;
}

double any_image_us(const Kernel& k, const Rates& r) {
  if (r.on_vector[k.half]) return image_on_lanes_us(k, r);
  if (!k.placement.channels_first) return image_us(k, r);
  const double converted = image_us(k, r) + order_conversion_us(k, r, width_of(k, r));
  return k.extents.window <= constants::kLaneImageWindow ? std::min(image_on_lanes_us(k, r), converted) : converted;
}

/// 16 bits channels first, windows of one element: do kernels of mma.sync multiply images as they lie?
bool has_odd_planes(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  const double width = width_of(k, r);
  const bool forwards = k.pass == Pass::Inference || k.pass == Pass::Forward;
  return forwards && k.placement.channels_first && width == 2 && e.window == 1 && e.stride == 1 && e.products <= 1 &&
         e.row > 1 && plane_loads(e.row * e.row * width) == PlaneLoads::MmaSync;
}

}  // namespace

PlaneLoads plane_loads(double bytes) {
  if (std::fmod(bytes, constants::kTmaBytes) == 0) return PlaneLoads::Tma;
  return std::fmod(bytes, constants::kMmaBytes) == 0 ? PlaneLoads::MmaSync : PlaneLoads::Neither;
}

double clocks_us(double clocks, const Rates& r) { return clocks / r.memory.sms / r.memory.clock_hz * 1e6; }
double memory_us(const Kernel& k, const Rates& r) { return k.traffic.bytes / r.bandwidth * 1e6; }

Lanes lanes_of(const Rates& r) {
  return {.sms = r.memory.sms, .clock_hz = r.memory.clock_hz, .peak = r.vector[0], .bandwidth = r.bandwidth};
}

std::optional<double> group_convolution_us(const Kernel& k, const Rates& r) {
  if (!r.hopper || !has_groups(k, r)) return std::nullopt;
  return (r.on_vector[k.half] ? groups_on_lanes_us(k, r) : groups_on_tensor_cores_us(k, r)) * k.limits.slowdown;
}

std::optional<double> hopper_convolution_us(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  if (!r.hopper || !r.convolution_product[k.half] || e.m <= 0 || e.k <= 0 || e.window <= 0) return std::nullopt;
  if (multiplies_eight_bits(k.quantised)) return std::nullopt;
  if (e.k / e.window <= constants::kFirstChannels) return any_image_us(k, r) * k.limits.slowdown;
  if (has_odd_planes(k, r)) {
    const double positions = e.row * e.row, width = width_of(k, r), images = std::max(1.0, e.m / positions);
    const Product p{.batch = images,
                    .m = e.n,
                    .n = positions,
                    .k = e.k,
                    .a_bytes = width,
                    .b_bytes = width,
                    .c_bytes = width,
                    .a_repeats = images};
    return odd_planes_time(lanes_of(r), p) * 1e6 * k.limits.slowdown;
  }
  const bool one_position = e.row == 1 && e.m > 1 && e.window > 1 && k.half;
  if (one_position && (k.placement.channels_first || r.bfloat16))
    return (alone_us(constants::kOnePositionClocks * e.k, r) + r.launch_us) * k.limits.slowdown;
  return std::nullopt;
}

}  // namespace perfc
