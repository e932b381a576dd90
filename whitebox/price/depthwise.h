#pragma once
/// Depthwise convolutions by the clocks that their kernels, cuDNN's and PyTorch's own, take of an SM. Measured on an
/// H200 (studies/hopper; whitebox/constants/depthwise.h names the kernels); gradients count alike on every NVIDIA
/// GPU, as timm's steps on an RTX 3090 show (studies/timm_training.py).
#include <optional>

#include "whitebox/launch/kernels.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// µs of PyTorch's own kernel of a depthwise convolution on Hopper, its launch included. Other chips: `vector_limit`.
double depthwise_us(const Kernel&, const Rates&);

/// µs of the kernels of a depthwise convolution's gradient, launches included. None: it is no such gradient, or the
/// device has not such kernels.
std::optional<double> depthwise_gradient_us(const Kernel&, const Rates&);

}  // namespace perfc
