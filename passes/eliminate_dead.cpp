#include "passes/passes.h"

namespace perfc::passes {

Result<Graph> eliminate_dead(Graph graph, const PassOptions& options, Diagnostics& diags) {
  const auto launched = [&](const Node& n) { return options.mode == ExecMode::Eager && is_launched_unread(n); };
  const auto unused = [](const Graph& g) {
    const auto uses = g.use_counts();
    for (NodeId id = 0; id < g.size(); ++id) {
      if (uses[id] == 0 && g.node(id).kind != NodeKind::Var) return true;
    }
    return false;
  };
  const bool has_bodies = any_call(graph, [](const Graph& g, NodeId id) { return !g.node(id).regions.empty(); });
  if (!has_bodies && !unused(graph)) return graph;

  // Params stay: they are the graph's signature, and a region's must match its call.
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    std::vector<bool> live(g.size(), false);
    for (ValueId v : g.results()) live[v.node] = true;
    for (ValueId v : g.params()) live[v.node] = true;
    for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
      if (launched(g.node(id))) live[id] = true;
      if (!live[id]) continue;
      for (ValueId v : g.node(id).operands) {
        if (v) live[v.node] = true;
      }
    }
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      if (live[id] && !rewriter.copy(id)) return Failure{};
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
