#pragma once
/// A kernel of the plan as the problem of the model that prices its kind.
#include <optional>

#include "whitebox/launch/kernels.h"
#include "whitebox/price/attention_time.h"
#include "whitebox/price/matmul_time.h"
#include "whitebox/price/memory_bound_time.h"

namespace perfc {

/// A convolution, each of its groups, as the product of its windows (m) and its weights, which walks over the window's
/// positions one by one, each with all channels (Chetlur et al. 2014, "cuDNN"; CUTLASS, implicit_gemm_convolution.md).
/// `width`: bytes of an element.
Product implicit_product(const Kernel&, double width);
/// The same on vector units, whose kernels load single elements.
Product implicit_vector_product(const Kernel&, double width);

/// Winograd's F(4×4, 3×3), not fused: a product per element of a tile, between transforms that read and write tiles.
struct WinogradProblem {
  Product product;
  double transformed = 0;  ///< bytes of data, tiles, results and weights that the transforms move
};
/// None but for windows of 3 × 3 and stride 1 in two dims.
std::optional<WinogradProblem> winograd_problem(const Kernel&, double width);

/// None for products, convolutions, scatters and sorts.
std::optional<MemoryBoundProblem> memory_bound_problem(const Kernel&);

/// None but for attention that one kernel computes.
std::optional<AttentionProblem> attention_problem(const Kernel&);
/// Whether a flash kernel's time is known: in 16 bits of one query, causal, of so many queries that they fill tiles, or
/// of so many heads that they fill the SMs, for which keys are not split. Of several queries and few heads nothing was
/// measured.
bool has_flash_kernel(const Kernel&, const AttentionProblem&, double sms);

/// `bandwidth`: byte/s that streams reach. SMs are 0 on a CPU, and where their number or clock is unknown.
MemoryFacts memory_facts(const Device&, double bandwidth);

/// `matrix_flops`: of the precision, FLOP/s; `sustained`: AttentionFacts::sustained. No learned factor yet.
AttentionFacts attention_facts(const Device&, double bandwidth, double matrix_flops, double sustained);
/// Whether PyTorch has FlashAttention-2 and cuDNN's attention for it, and prefers the latter today (StackAttention).
bool has_cudnn_attention(const Device&);
/// FlashAttention-2 there, whose `mma.sync` leaves a part of the tensor cores idle.
AttentionFacts flash_attention_facts(const Device&, double bandwidth);

}  // namespace perfc
