#pragma once
/// What cuBLAS 13 and cuDNN 9 multiply on the float32 lanes of Hopper's SMs: blocks of a few shapes that walk along k.
/// Laws and constants are of profiles of one H200 (studies/hopper; whitebox/constants/hopper.h).
#include "whitebox/price/matmul_time.h"

namespace perfc {

/// What the time of such kernels depends on of a device.
struct Lanes {
  double sms = 1;
  double clock_hz = 1;
  double peak = 1;       ///< FLOP/s
  double bandwidth = 1;  ///< byte/s that is reached
};

/// Seconds of a product of more than one row and column.
double lane_product_time(const Lanes&, const Product&);
/// The same of a product of two operands that both lie across k, as a weights' gradient does: k may be split.
double lane_split_product_time(const Lanes&, const Product&);
/// Seconds of a convolution that is the product `p`; `window`: elements along an axis of its window, 0 where it has
/// strides; `planes`: of its data, `row`: positions of its result along an axis.
struct LaneWindows {
  Product p;
  double window = 0, planes = 0, row = 0;
};
double lane_convolution_time(const Lanes&, const LaneWindows&);
/// Seconds of the gradient of a convolution's data, as the product `p`.
double lane_gradient_time(const Lanes&, const Product&);
/// The same of windows of one element in 16 bits, a product per image, of planes that TMA does not take as they lie: by
/// mma.sync, in such blocks.
double odd_planes_time(const Lanes&, const Product&);
/// The same of one group of a convolution that has a kernel per group.
double lane_group_time(const Lanes&, const Product&);
/// The same of an image of up to four channels; `window`: elements of its kernel.
double lane_image_time(const Lanes&, const Product&, double window);

}  // namespace perfc
