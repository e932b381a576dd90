#pragma once
/// Time of a kernel on a device: dense products by their tiles (whitebox/price/matmul_time.h), the rest by the roofline
/// (Williams, Waterman, Patterson, CACM 2009) with shares of the peaks that kernels of its kind reach.
#include <algorithm>
#include <memory>
#include <optional>

#include "whitebox/launch/kernels.h"
#include "whitebox/price/efficient_attention.h"
#include "whitebox/price/kernel_problems.h"
#include "whitebox/price/matmul_time.h"

namespace perfc {

/// Whether cuDNN takes the kernels that it takes on Hopper (hopper_convolution.h).
bool takes_hopper_kernels(const Device&);

/// What a device gives each kind of kernel under one precision, looked up once.
struct Rates {
  Rates(const Device&, Precision);

  /// Under TF32 and PyTorch's default, rates in float32: libraries may take TF32 kernels, not must. [cuBLAS,
  /// CUBLAS_COMPUTE_32F_FAST_TF32; cuDNN, CUDNN_FMA_MATH among the engines that its heuristics rank]
  std::shared_ptr<const Rates> without_tf32;
  bool tf32_products = true;  ///< else products never take TF32

  double vector[2], matrix[2];  ///< FLOP/s, for 32 and 16 bits
  /// Shares of peak. Products reach others on vector units (float32 without tensor
  /// cores) than on matrix units, and convolutions there may use Winograd's algorithm.
  double matmul[2], convolution[2];  ///< for 32 and 16 bits
  double depthwise, elementwise;
  double windows = 1;           ///< how fast the SMs load windows, relative to those on which `vector_share` was found
  double layout;                ///< of a convolution's data, what conversions to channels last and back move
  bool on_vector[2];            ///< products of 32, of 16 bits run on the vector units
  bool full_matrix[2];          ///< the same on matrix units that take float32: any extents, any layout
  double bandwidth, gather;     ///< byte/s that are reached
  double launch_us, serial_us;  ///< of a launch; of a dependent step
  double recurrent_us;          ///< of a recurrence's step, at least …
  double resident_us;           ///< … and where its weights stay in the multiprocessors
  bool cudnn;                   ///< runs cuDNN's kernels, and PyTorch's own for CUDA
  bool bfloat16 = false;        ///< 16 bits are bfloat16, which fewer kernels take
  bool half_weights = false;    ///< weights have 16 bits, too: not under AMP
  bool grouped_kernel = false;  ///< products of groups are one kernel: grouped_product.h
  bool hopper = false;          ///< takes_hopper_kernels()
  bool flash = false;           ///< FlashAttention-2 where the device has cuDNN's attention, too
  double cache;                 ///< bytes
  double sms;
  MemoryFacts memory;        ///< for kernels that memory bounds
  AttentionFacts attention;  ///< for fused attention in 16 bits
  /// For fused attention in 32 and in 16 bits that flash kernels do not take; none: they do, or it is no NVIDIA GPU.
  std::optional<EfficientAttentionFacts> efficient_attention[2];
  /// Of dense products, for 32 and 16 bits; none: nothing is known of the chip, or it is no GPU.
  std::optional<ProductDevice> product[2];
  std::optional<ProductDevice> convolution_product[2];  ///< the same of convolutions
  double sustained[2];      ///< FLOP/s that those units hold under the power limit; infinite where nobody measured them
  double product_bytes[2];  ///< per element of their operands
  /// Of products in 8 bits; none: the device has no units for them.
  std::optional<ProductDevice> product8;
  double matrix8 = 0;  ///< FLOP/s of those units; 0: none
};

/// One launch of a kernel.
struct Priced {
  double compute_us = 0;
  double memory_us = 0;
  double exposed_us = 0;     ///< of the shorter of the two, what does not hide behind the longer
  double conversion_us = 0;  ///< of kernels beside a convolution's own that convert its data to channels last and back
  double launch_us = 0;
  double serial_us = 0;     ///< of steps that wait for each other
  double sustained_us = 0;  ///< what its multiplications take at the rate that the power limit lets last; 0: unknown
  double time_us = 0;       ///< the largest of the three, what does not hide, and the launch
  Bound bound = Bound::Memory;
  double roofline_us() const { return std::max(compute_us, memory_us) + exposed_us + conversion_us; }
  /// What it takes in all and what bounds it, where the work behind its launch takes so long.
  void add_up(double work_us) {
    time_us = work_us + launch_us;
    bound = work_us < launch_us ? Bound::Launch : compute_us > memory_us ? Bound::Compute : Bound::Memory;
  }
  /// What serial steps take beyond the roofline: latency, which no share of a peak changes.
  double waiting_us() const { return std::max(serial_us - roofline_us(), 0.0); }
};
Priced price(const Kernel&, const Rates&);
/// Bytes of memory's time: those that another kernel left in the L2 cache take less of it.
double moved_bytes(const Kernel&, const Rates&);

}  // namespace perfc
