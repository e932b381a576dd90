#pragma once
/// Memory that convolutions take beside their operands and their result while they run.
#include "ir/graph.h"

namespace perfc {

enum class ConvolutionWorkspace {
  None,
  Tiles,   ///< 3×3 windows Winograd's tiles, gradients of wider ones the lowered operand: on float32 lanes
  Copies,  ///< data and result in the order of channels of tensor cores' kernels, where they lie otherwise
};

/// Bytes of a convolution's values as its kernel has them, and of an element.
struct ConvolutionBytes {
  double data = 0, weight = 0, result = 0;
  double element = 4;
};

/// Bytes of a call with data and weights. `channels_last`: its data lies so.
double convolution_workspace(const Graph&, NodeId, ConvolutionWorkspace, bool channels_last, const ConvolutionBytes&);
/// The same of its gradients: the larger of both.
double gradient_workspace(const Graph&, NodeId, ConvolutionWorkspace, bool channels_last, const ConvolutionBytes&);

}  // namespace perfc
