#pragma once
/// Time of attention without a softmax (ir/ops/linear_attention.h). Chunks of tokens are products of small matrices
/// that wait for each other: neither the matrix units' peak nor the bandwidth bounds them, but how many clocks an SM
/// takes for one, and how many there are (Yang et al., arXiv 2412.06464, §3).
#include "whitebox/price/roofline.h"

namespace perfc {

/// Whether its kernels are known here: several tokens at once, in Triton on any GPU, ONNX Runtime's on those of NVIDIA.
/// Of Triton's on AMD nothing was measured: a compute unit is taken for an SM.
bool is_linear_attention(const Kernel&, const Rates&);
Priced price_linear_attention(const Kernel&, const Rates&);

}  // namespace perfc
