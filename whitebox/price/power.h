#pragma once
/// Power of a device while a model runs, by what its kernels do:
///
///     idle + (TDP − idle) · (active · kernels + matrix · products + memory · traffic) + joules per FLOP · FLOP/s
///
/// held below the TDP. Of the run's time, `kernels` is the share in which one is on the device; `products`, what
/// those on matrix units take at the rate that the power limit lets last, or at the peak where none is known;
/// `traffic`, what bytes take at the rate of streams. FLOPs are those of vector units, which cost about as much on
/// every GPU, where what a product and a byte cost follows from what the chip was made for. Constants:
/// Device::active_power, Device::memory_power, whitebox/constants/runs.h.
#include "devices/device.h"
#include "whitebox/predictor.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// What the power of a run follows; µs and FLOPs of one.
struct PowerLoad {
  double kernels_us = 0;  ///< in which a kernel is on the device
  double matrix_us = 0;   ///< that products on matrix units take where only the power limit holds them
  double traffic_us = 0;  ///< that bytes to and from memory take at the rate of streams
  double vector_flops = 0;
  /// `time_us`: what the kernel takes in all its runs.
  void add(const Kernel&, const Priced&, const Rates&, double time_us);
};

PowerParts power_parts(const PowerLoad&, const Device&, double latency_ms);

/// The demand as the power limit holds it, by lower clocks.
double held_power_w(double demand_w, const Device&);

}  // namespace perfc
