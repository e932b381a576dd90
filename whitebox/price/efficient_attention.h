#pragma once
/// Time of PyTorch's memory-efficient attention: CUTLASS' fused kernel (examples/41_fused_multi_head_attention),
/// which computes what no flash kernel takes: 32 bits on any GPU, 16 bits on Volta and Turing, and heads of more than
/// 256 channels (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp). A thread block walks over the keys of a tile of
/// queries; its time is that of its scores. Constants: whitebox/constants/attention.h, from times that its authors
/// published (studies/kernels/efficient_attention.tsv).
#include <optional>

#include "devices/device.h"
#include "whitebox/price/attention_time.h"

namespace perfc {

/// What it asks of a device, for one width of elements.
struct EfficientAttentionFacts {
  double sms = 0, clock_hz = 0;
  double flops_clock = 0;                       ///< FLOP per clock of an SM's units, in what the kernel multiplies
  double share = 1;                             ///< 1: of that
  bool wide_heads = false;                      ///< only heads that flash kernels do not take: since Ampere, 16 bits
  bool tf32 = false;                            ///< its units are the tensor cores, in TF32
  double channel_clocks = 0, score_clocks = 0;  ///< beside it: of a score, per channel and at all
};

/// None where PyTorch has another kernel: no NVIDIA GPU. `half`: 16 bits.
std::optional<EfficientAttentionFacts> efficient_attention_facts(const Device&, bool half);
/// Whether PyTorch takes it.
bool takes(const EfficientAttentionFacts&, const AttentionProblem&);

/// Seconds of the SMs; memory and launch are not in it.
double efficient_attention_time(const AttentionProblem&, const EfficientAttentionFacts&);

}  // namespace perfc
