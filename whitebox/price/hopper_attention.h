#pragma once
/// Fused attention as PyTorch runs it on Hopper: cuDNN's kernel in 16 bits, which it prefers there since 2.11
/// (StackAttention), and CUTLASS's memory-efficient one in 32.
/// Laws and constants are of profiles of one H200 (studies/hopper; whitebox/constants/hopper.h).
#include "whitebox/price/attention_time.h"
#include "whitebox/price/lane_blocks.h"

namespace perfc {

/// Whether these kernels compute it: many queries, all at once.
bool has_hopper_attention(const AttentionProblem&);

/// Seconds, launch not included. `masked`: a mask or a bias is added to the scores.
double hopper_attention_time(const AttentionProblem&, bool half, bool masked, const Lanes&);

}  // namespace perfc
