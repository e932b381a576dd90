#pragma once
/// Graphviz output: `perfc model.onnx --emit=dot | dot -Tsvg`.
#include <string>

#include "ir/graph.h"

namespace perfc {

/// The graph as a `digraph`. Params are ellipses, weights and literals dashed
/// boxes, calls boxes with operator, name and result types. Each region is a
/// cluster; dotted edges lead from its results to the call it belongs to.
std::string print_dot(const Graph&);

}  // namespace perfc
