#pragma once
/// Values of fused operators that no kernel writes.
#include <vector>

#include "ir/graph.h"

namespace perfc {

/// By node: its results stay in the registers of a kernel. Importers write an operator that is one kernel as several
/// calls, of which all but one are marked kInside: what those before it make, and what those behind it read of it, is
/// in no memory, as long as only calls of the same operator read it.
std::vector<bool> stays_in_kernel(const Graph&);

}  // namespace perfc
