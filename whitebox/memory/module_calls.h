#pragma once
/// How long Python keeps what it hands to modules.
#include <vector>

#include "ir/graph.h"

namespace perfc {

/// By node: the last call of the outermost module that was called with a value of this node; 0: none was. While a
/// module's `forward` runs, `torch.nn.Module.__call__` holds its arguments (torch/nn/modules/module.py, _call_impl),
/// so that their memory stays, read or not. A run of calls whose names go through one module (ir/module_path.h) is a
/// call of it, where a slash stands before a call's own name, as exporters write it. `weight`: which nodes are
/// computed from weights alone.
std::vector<NodeId> held_by_modules(const Graph&, const std::vector<bool>& weight);

}  // namespace perfc
