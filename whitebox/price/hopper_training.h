#pragma once
/// What a training step launches on Hopper beside products, and on data-centre Blackwell as far as one knows: cuDNN 9's
/// gradients of convolutions and batch norms, PyTorch's own batch norms. Laws and constants are of profiles of one
/// H200's training steps (studies/hopper, whitebox/constants/hopper.h, which names the kernels).
#include <optional>

#include "whitebox/launch/kernels.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// µs of the kernels of a convolution's gradient, launches and conversions included. None: it is no such gradient, or
/// the device has not such kernels.
std::optional<double> hopper_gradient_us(const Kernel&, const Rates&);

/// The same of a batch norm of a training step, either way.
std::optional<double> hopper_batch_norm_us(const Kernel&, const Rates&);

}  // namespace perfc
