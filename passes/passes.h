#pragma once
/// The passes, one file each; `pass_table.cpp` lists them with a summary.
/// Every pass leaves its argument as it is and returns a graph of the same
/// meaning (`bind-shapes` and `rebatch`: of the same model at other shapes).
#include "ir/rewriter.h"
#include "passes/pass.h"

namespace perfc::passes {

Result<Graph> infer_types(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> bind_shapes(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> rebatch(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> fold_constants(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> simplify_control_flow(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> eliminate_identity(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> recognise_patterns(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> fold_batch_norm(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> common_subexpressions(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> eliminate_dead(const Graph&, const PassOptions&, Diagnostics&);
Result<Graph> filter_operators(const Graph&, const PassOptions&, Diagnostics&);

}  // namespace perfc::passes
