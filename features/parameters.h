#pragma once
/// What of a file's constants is a parameter of the network.
#include <vector>

#include "ir/graph.h"

namespace perfc {

/// Elements of a graph's floating-point and quantised constants, by what they
/// are. Scalars and integer tensors are neither.
struct Parameters {
  double learned = 0;  ///< what frameworks count as parameters
  /// Tables that an exporter computed in advance and stored, often once per
  /// layer: relative-position biases and masks (added to attention scores),
  /// rotary sines and cosines (multiplied element by element over two or more
  /// dims; a learned scale varies along the channels only).
  double tables = 0;
};

Parameters count_parameters(const Graph&);

/// By node of the outer graph, the learned parameters that it is the first to read, those of its bodies included; they
/// sum to `count_parameters(graph).learned` but for constants that nobody reads.
std::vector<double> learned_parameters_by_reader(const Graph&);

}  // namespace perfc
