#pragma once
/// Peak memory of an inference: liveness of activations over the execution order.
#include "features/predictor.h"

namespace perfc {

struct ActivationMemory {
  double peak_bytes = 0;      ///< live at once, each tensor rounded up as the allocator does
  double largest_bytes = 0;   ///< largest single tensor
};

/// PyTorch's caching allocator hands out multiples of 512 bytes.
inline constexpr double kAllocatorRounding = 512;

/// Walks the graph in execution order. A tensor is born with its node and dies
/// after its last use; views share their operand's memory; params are live
/// from the start, results to the end. A body's peak counts at its node.
/// Eager execution keeps the scores of written-out attention twice, before and
/// after the softmax. `float_width`: bytes that a float32 activation takes.
ActivationMemory peak_activations(const Graph&, double float_width, ExecMode);

/// Bytes of all constants, bodies included. `float_width` as above.
double weight_bytes(const Graph&, double float_width);

}  // namespace perfc
