#pragma once
#include <string>

#include "ir/graph.h"

namespace perfc {
/// Graphviz text of a graph.
std::string to_dot(const Graph&);
}
