#include "passes/passes.h"

namespace perfc::passes {

Result<Graph> infer_types(Graph graph, const PassOptions&, Diagnostics& diags) {
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      // Not `copy`, which takes calls over whose operands are as they were.
      if (!(n.kind == NodeKind::Call ? rewriter.copy_with(id, rewriter.operands(id), n.attrs) : rewriter.copy(id))) {
        return Failure{};
      }
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
