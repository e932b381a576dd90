#pragma once
/// Kernels of PyTorch's own whose multiprocessors count and divide indices, so that neither memory nor vector units
/// limit them: broadcasts, strided copies, concatenations of rows, rolls, poolings, reductions of short rows,
/// upsampling. Clocks are of profiles of one H200 and, for some, of an A100 (studies/hopper;
/// whitebox/constants/elements.h).
#include "whitebox/launch/planned_graph.h"

namespace perfc {

/// Clocks of an SM, of all elements together, of a call's own kernel in eager PyTorch; 0: it walks over memory in loads
/// of several elements, which memory limits.
double element_clocks(const PlannedGraph&, NodeId);

/// µs of a reduction that threads wait for, however much an SM could do meanwhile; 0: it is none.
double reduction_us(const PlannedGraph&, NodeId);

/// Whether what a reduction adds up lies side by side.
bool reduces_rows(const PlannedGraph&, NodeId);

/// Clocks of an SM per element of a kernel that counts indices.
double indexed_clocks(bool half);

/// As element_clocks(), of a copy in row-major order of a value that lies otherwise.
double copy_clocks(const PlannedGraph&, ValueId, bool half);

/// Whether such a copy turns rows to columns.
bool turns_rows(const PlannedGraph&, ValueId);

}  // namespace perfc
