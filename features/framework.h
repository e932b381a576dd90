#pragma once
/// What PyTorch does with an operator on CUDA: which calls launch no kernel,
/// which run in which width under autocast, which a compiler fuses. The one
/// place to look when a framework's habits change; `kernels.cpp` follows it.
#include <optional>

#include "ir/graph.h"

namespace perfc {

/// No kernel and no copy, whatever comes after.
bool is_view(const Node&);
/// Strided views of eager PyTorch: no kernel until somebody needs them dense.
/// A `take` of one constant index is a select.
bool is_strided_view(const Graph&, const Node&);
/// The bias of a dense layer, which the matrix product adds on its way out
/// (cuBLASLt). cuDNN's convolutions leave theirs to a kernel of its own.
bool is_epilogue(const Graph&, const Node&);

/// Attention that a model wrote out (`nn.sdpa` with explicit=1): eager execution
/// keeps its scores in memory.
struct WrittenOutAttention {
  double scores = 0;              ///< elements: batch × heads × queries × keys
  double qk_macs = 0, av_macs = 0;
};
std::optional<WrittenOutAttention> written_out_attention(const Graph&, NodeId);

/// Matrix products and what consists of them; autocast runs them in float16.
bool uses_matrix_unit(Category);
/// Operators that autocast runs in float32 (PyTorch docs, "CUDA Ops that can
/// autocast to float32").
bool wants_full(const Node&);
/// Of these, what reads float16 as it is and writes float32 (autocast sets their
/// `dtype` argument instead of casting the operand).
bool widens_itself(const Node&);
/// Operators whose result has the width of their data, whatever their parameters have.
bool parameters_follow_data(const Node&);

/// What a compiler fuses with its neighbours, and which of that ends a group.
bool fuses(const Node&);
bool is_reduction(Category);

}  // namespace perfc
