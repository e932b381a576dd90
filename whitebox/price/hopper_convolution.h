#pragma once
/// Convolutions by cuDNN 9 on Hopper, and on data-centre Blackwell as far as one knows. There it takes other kernels
/// than before: no Winograd, no split of k, wgmma for windows in 16 bits and TF32, a kernel per group in float32, and
/// for groups without a kernel of their own transforms that pad them. Laws and constants are of profiles of one H200
/// (studies/hopper, whitebox/constants/hopper.h, which names the kernels).
#include <optional>

#include "whitebox/launch/kernels.h"
#include "whitebox/price/lane_blocks.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// µs of the kernels of a convolution of groups of several channels, launches and conversions included. None: otherwise
/// priced, as on other chips.
std::optional<double> group_convolution_us(const Kernel&, const Rates&);

/// The same of one that reads an image of up to four channels, or has one position. None: a dense convolution, which is
/// priced as a product, or a device without such kernels.
std::optional<double> hopper_convolution_us(const Kernel&, const Rates&);

/// Who loads an image channels first as it lies, by the byte of its positions: TMA or kernels of mma.sync. What neither
/// loads is converted.
enum class PlaneLoads : unsigned char { Tma, MmaSync, Neither };
PlaneLoads plane_loads(double bytes);

/// µs of `clocks` of an SM that all of them share.
double clocks_us(double clocks, const Rates&);
/// µs of what a kernel moves at the bandwidth that is reached.
double memory_us(const Kernel&, const Rates&);

/// The float32 lanes of a device.
Lanes lanes_of(const Rates&);

}  // namespace perfc
