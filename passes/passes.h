#pragma once
/// The passes, one file each; `pass_table.cpp` lists them with a summary.
/// Every pass leaves its argument as it is and returns a graph of the same
/// meaning (`bind-shapes` and `rebatch`: of the same model at other shapes).
#include "ir/eager_marks.h"
#include "ir/rewriter.h"
#include "passes/pass.h"

namespace perfc::passes {

/// Does `test(graph, id)` hold for any call, bodies included? Passes that find
/// nothing to do hand their graph back without a rebuild.
template <class Test>
bool any_call(const Graph& graph, Test test) {
  std::vector<const Graph*> work{&graph};
  while (!work.empty()) {
    const Graph& g = *work.back();
    work.pop_back();
    for (NodeId id = 0; id < g.size(); ++id) {
      if (g.node(id).kind != NodeKind::Call) continue;
      if (test(g, id)) return true;
      for (const GraphRef& body : g.node(id).regions) work.push_back(body.get());
    }
  }
  return false;
}

/// Whether eager execution launches a call though nothing may read it (`kLaunched`). A single number that nobody reads
/// was written out of an operator that a pattern has put back.
inline bool is_launched_unread(const Node& n) {
  return n.kind == NodeKind::Call && n.attrs.has(kLaunched) &&
         !(n.results[0].type.ranked() && n.results[0].type.rank() == 0);
}

Result<Graph> infer_types(Graph, const PassOptions&, Diagnostics&);
Result<Graph> bind_shapes(Graph, const PassOptions&, Diagnostics&);
Result<Graph> bind_trip_counts(Graph, const PassOptions&, Diagnostics&);
Result<Graph> rebatch(Graph, const PassOptions&, Diagnostics&);
Result<Graph> bound_dims(Graph, const PassOptions&, Diagnostics&);
Result<Graph> unroll_loops(Graph, const PassOptions&, Diagnostics&);
Result<Graph> fold_constants(Graph, const PassOptions&, Diagnostics&);
Result<Graph> simplify_control_flow(Graph, const PassOptions&, Diagnostics&);
Result<Graph> eliminate_identity(Graph, const PassOptions&, Diagnostics&);
Result<Graph> unflatten_products(Graph, const PassOptions&, Diagnostics&);
Result<Graph> recognise_patterns(Graph, const PassOptions&, Diagnostics&);
Result<Graph> recognise_operators(Graph, const PassOptions&, Diagnostics&);
Result<Graph> drop_trivial_masks(Graph, const PassOptions&, Diagnostics&);
Result<Graph> fold_batch_norm(Graph, const PassOptions&, Diagnostics&);
Result<Graph> restore_folded(Graph, const PassOptions&, Diagnostics&);
Result<Graph> fold_quantisation(Graph, const PassOptions&, Diagnostics&);
Result<Graph> common_subexpressions(Graph, const PassOptions&, Diagnostics&);
Result<Graph> eliminate_dead(Graph, const PassOptions&, Diagnostics&);
Result<Graph> merge_views(Graph, const PassOptions&, Diagnostics&);
Result<Graph> filter_operators(Graph, const PassOptions&, Diagnostics&);

}  // namespace perfc::passes
