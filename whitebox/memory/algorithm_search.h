#pragma once
/// cuDNN's search for the fastest algorithm of a convolution (torch.backends.cudnn.benchmark), as a monitor of memory
/// sees it. The largest workspaces tried are those of Fourier transforms, which also 1×1 windows are tried with:
/// gigabytes, for an instant. PyTorch tries what there is room for, so that no run fails for them.
#include <array>
#include <cstdint>
#include <optional>

#include "ir/graph.h"

namespace perfc {

struct AlgorithmSearch {
  double allocated = 0;  ///< bytes in use meanwhile
  double whole = 0;      ///< workspace with images transformed as a whole, in bytes; 0: they are too large
  double tiled = 0;      ///< … in tiles of 32×32; 0: the window is larger
  double data = 0;       ///< bytes of operand, weight and result
  std::array<std::int64_t, 9> shape{};  ///< a shape is searched once
};

/// Of a float32 convolution, but for what is in use. Nothing where transforms do not apply: they want two dims, one
/// group, stride and dilation 1. (cuDNN's documentation wants channels first, too; GPUMemNet's focalnets, whose data
/// lies channels last, took as much.)
std::optional<AlgorithmSearch> search_of(const Graph&, NodeId);

}  // namespace perfc
