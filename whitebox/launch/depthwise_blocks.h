#pragma once
/// Depthwise convolutions by the thread blocks of cuDNN's kernels. How many there are follows from the extents: all 328
/// grids channels last of an H200's profiles are these (studies/hopper/fit_inference.py), on any chip by the same
/// library.
#include <optional>

#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"

namespace perfc {

/// Of a depthwise convolution with these extents. None: another kernel takes it (`vector_limit`), or nothing is known
/// of its planes.
std::optional<BlockClocks> depthwise_blocks(const ConvolutionGroup&, const Extents&);

}  // namespace perfc
