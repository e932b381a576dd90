#pragma once
/// What the largest elements of rows take, and rows in order.
#include "ir/graph.h"

namespace perfc {

/// Of a `topk`'s kernels, beside reading its operand and writing its results once.
struct Selection {
  double steps = 0;        ///< of each thread, one after the other
  double bytes = 0;        ///< of further passes over the data
  double blocks = 0;       ///< thread blocks, one per row; 0: many per row
  double blocks_held = 0;  ///< of these, what an SM holds at once
};

/// As PyTorch's kernels do it (aten/src/ATen/native/cuda/TensorTopK.cu, Sort.cpp): a thread block per row finds the
/// last value that it keeps by its digits, reading the whole row for each; of long rows many blocks do; the values kept
/// are then sorted. `width`: bytes of an element. Empty where types are not static.
Selection selection_of(const Graph&, NodeId topk, double width);

}  // namespace perfc
