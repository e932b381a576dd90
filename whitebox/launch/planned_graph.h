#pragma once
/// A graph with what its kernels depend on; the planners of both ways of execution share one.
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/widths.h"

namespace perfc {

struct PlannedGraph {
  PlannedGraph(const Graph& graph, const ExecConfig& run)
      : g(graph), config(run), weight(graph.weight_only()), widths(g, config),
        layout(data_layout(g, config, weight, widths.cast_operands())) {}

  const Graph& g;
  const ExecConfig& config;
  std::vector<bool> weight;  ///< by node: computed from weights alone
  Widths widths;
  DataLayout layout;

  const Node& node(NodeId id) const { return g.node(id); }
  double elements(ValueId v) const { return static_cast<double>(g.type(v).elements().value_or(0)); }
  /// A weight, what is computed from weights alone, or an input of the graph: no kernel has just written it.
  bool is_stored(ValueId v) const { return weight[v.node] || g.node(v).kind != NodeKind::Call; }
};

}  // namespace perfc
