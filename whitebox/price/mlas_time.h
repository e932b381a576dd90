#pragma once
/// Time of ONNX Runtime's kernels on a CPU (MLAS: onnxruntime/core/mlas). What a core computes, and what it moves
/// between its caches or memory and itself, work side by side; threads share the work.
#include "devices/device.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// What a CPU gives such kernels.
struct MlasDevice {
  /// `stored_bytes`: of all weights and inputs of a run. They come from the last cache where they fit into it.
  MlasDevice(const Device&, double stored_bytes);

  double flops = 0;    ///< per second, of a core
  double clock_s = 0;  ///< of what the table of operators counts in
  double threads = 1;
  double cache_rate = 0;                ///< byte/s of a core from caches
  double core_rate = 0;                 ///< byte/s of a core from memory …
  double memory_rate = 0;               ///< … and of all cores
  double cache_bytes = 0;               ///< that handed data finds again
  double stored_share = 0;              ///< of weights and inputs, what caches hold from run to run
  double product = 1, convolution = 1;  ///< factors on their rates: what was measured of this CPU
  double launch_us = 0;
};

Priced mlas_price(const Kernel&, const MlasDevice&);

}  // namespace perfc
