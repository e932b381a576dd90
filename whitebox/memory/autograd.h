#pragma once
/// What PyTorch's autograd does with an operator: what it keeps of the forward
/// pass, and whose memory gradients take. Source: PyTorch's
/// tools/autograd/derivatives.yaml and the C++ functions that it names.
#include <vector>

#include "whitebox/predictor.h"

namespace perfc {

/// Elements of a static tensor; 0 of anything else.
inline double elements(const Type& t) {
  return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) : 0.0;
}

/// Which nodes' results need a gradient: learned weights and what is computed from them.
std::vector<bool> needs_gradient(const Graph&);

/// What a call keeps for its backward pass.
struct Kept {
  std::uint64_t operands = 0;  ///< bit i: the i-th operand (the first 64)
  bool result = false;
  double extra_bytes = 0;  ///< masks, indices, attention scores, statistics: tensors of no node
};

/// `needs` is the graph's needs_gradient; nothing is kept of nodes outside of it.
/// `float_width`: bytes that a float32 activation takes.
Kept kept_for_backward(const Graph&, NodeId, const std::vector<bool>& needs, double float_width);

/// The gradient of this operand lies in the memory of the result's gradient
/// (sums hand it on, views of it are views).
bool passes_gradient(const Graph&, NodeId, std::size_t operand);

/// Copies of the weights that an optimizer allocates, in PyTorch's multi-tensor
/// ("foreach") implementations.
struct OptimizerMemory {
  int states = 0;       ///< kept between steps
  int temporaries = 0;  ///< during a step
};
OptimizerMemory optimizer_memory(Optimizer);

}  // namespace perfc
