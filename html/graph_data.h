#pragma once
/// A graph as pages have it.
#include <string>

#include "ir/graph.h"

namespace perfc {

/// JSON, by node id: `ops`, `types` and `scopes` are tables; `nodes` has columns with places in them (`op`, `type`,
/// `scope`; −1: none), `name`, `x` and `y` of the drawing (−1: weights are not drawn) and `params`, learned parameters
/// that it is the first to read. A scope is a module: its `name` and its `parent`'s place before it (−1: the model).
/// `edges`: from, to, from, to, …; `routes`: [edge, x in each layer that it passes, …], of the edges that do.
std::string graph_json(const Graph&);

}  // namespace perfc
