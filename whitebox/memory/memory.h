#pragma once
/// Memory of a run on a GPU: the graph's tensors in the order in which eager
/// PyTorch allocates and frees them, given to its allocator (caching_allocator.h).
#include <utility>
#include <vector>

#include "whitebox/memory/algorithm_search.h"
#include "whitebox/memory/convolution_workspace.h"
#include "whitebox/predictor.h"

namespace perfc {

/// Bytes that a process takes beside the context.
struct MemoryNeeds {
  double weights = 0;    ///< parameters and buffers, as stored
  double gradients = 0;  ///< of the parameters
  double optimizer = 0;  ///< its state and temporaries
  double workspace = 0;  ///< largest of a convolution
  double reserved = 0;   ///< by the allocator: all of the above, activations and what lies unused between them
  double allocated = 0;  ///< most in use at once: what the allocator can shrink to before memory runs out
  bool convolves = false, multiplies = false;  ///< calls cuDNN's convolutions; cuBLAS, which has a workspace
  std::vector<AlgorithmSearch> searches;       ///< with cudnn_benchmark: in order, in float32
};

/// Two runs of the model (steps, in training): the second finds the memory of the first.
/// A view shares its operand's memory, a reshape of strided data is a copy. Bodies of
/// control flow count by their own peak.
MemoryNeeds memory_needs(const Graph&, const ExecConfig&, ConvolutionWorkspace = ConvolutionWorkspace::Copies);

/// The same of two kinds of workspaces.
std::pair<MemoryNeeds, MemoryNeeds> memory_needs_of_both(const Graph&, const ExecConfig&, ConvolutionWorkspace,
                                                         ConvolutionWorkspace);

/// The same run, with what it takes and gives back written down (whitebox/memory/memory_course.h).
struct MemoryLog;
MemoryNeeds memory_needs(const Graph&, const ExecConfig&, ConvolutionWorkspace, MemoryLog&);

/// Bytes of all constants, bodies included. `float_width`: bytes that a float32 takes.
double weight_bytes(const Graph&, double float_width);

}  // namespace perfc
