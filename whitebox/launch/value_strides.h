#pragma once
/// The strides that eager PyTorch gives values on CUDA, which decide where a reshape, a product or a call of
/// contiguous() has to copy.
#include <vector>

#include "ir/graph.h"
#include "ir/operand_set.h"
#include "ir/strides.h"

namespace perfc {

/// By node, the operands that autocast casts for this call.
using CastOperands = std::vector<OperandSet>;

/// By node, of the results that have its first result's rank. `channels_last`: images and convolutions' weights were
/// laid out so.
std::vector<Strides> value_strides(const Graph&, bool channels_last, bool half = false, const CastOperands& = {});

/// Strides of an operand as a call reads it: a cast of what is not dense is dense, its dims in the same order
/// (aten/src/ATen/native/TensorConversions.cpp, _to_copy).
Strides strides_read(const Graph&, NodeId user, std::size_t operand, const std::vector<Strides>&, const CastOperands&);

/// Whether PyTorch takes strides for channels last (c10/core/MemoryFormat.h, is_channels_last_strides_2d and _3d).
bool suggests_channels_last(const Type&, const Strides&);

/// Of what an elementwise kernel writes that reads one tensor of these strides (TensorIterator).
Strides elementwise_strides(const Type&, const Strides&);

/// Whether a tensor, repeated along the leading dims of `result`, is a view of three dims.
bool is_product_view(const Type&, const Strides&, const Type& result);

/// Whether fused attention reads its operands as they lie: the last dim's elements side by side
/// (aten/src/ATen/native/transformers/sdp_utils_cpp.h, check_last_dim_stride_equals_1_dense).
bool fused_attention_reads(const Graph&, NodeId, const std::vector<Strides>&, const CastOperands& = {});

/// Whether a call may have `product_operands`: known without strides.
bool multiplies_matrices(const Node&);
/// The operands of a contraction as the batched product wants them: (batch, rows, columns).
struct ProductOperands {
  bool copies[2] = {false, false};  ///< which no view can make
  bool swapped = false;             ///< the second is the left factor
  Strides result;                   ///< of the contraction's result
};
/// torch.matmul of operands with three dims or more; torch.einsum of two operands (aten/src/ATen/native/Linear.cpp,
/// sumproduct_pair). Nothing for other calls.
std::optional<ProductOperands> product_operands(const Graph&, NodeId, const std::vector<Strides>&,
                                                const CastOperands& = {});

}  // namespace perfc
