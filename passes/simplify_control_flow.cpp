#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// The region that an `if` takes, or −1 while its condition is open.
int taken_branch(const Node& n, const GraphBuilder& builder, std::span<const ValueId> operands) {
  if (!n.is(op("if")) || n.regions.size() != 2 || operands.empty() || !operands[0]) return -1;
  const Data* data = builder.data(operands[0]);
  if (!data || !data->ints() || data->size() != 1) return -1;
  const SymInt& value = data->ints()->front();
  if (!value.known()) return -1;
  return value.value() != 0 ? 0 : 1;  // then, else
}

/// Adds a region's nodes to the graph around it; its results' new ids.
Result<std::vector<ValueId>> inline_region(const Graph& region, std::span<const ValueId> captures, GraphBuilder& into) {
  Rewriter rewriter(region, into);
  for (std::size_t i = 0; i < region.params().size(); ++i) rewriter.map(region.params()[i], captures[i]);
  for (NodeId id = 0; id < region.size(); ++id) {
    if (region.node(id).kind != NodeKind::Var && !rewriter.copy(id)) return Failure{};
  }
  std::vector<ValueId> results;
  for (ValueId v : region.results()) results.push_back(rewriter[v]);
  return results;
}

/// Inlines every taken branch once; `inlined` counts them.
Result<Graph> inline_branches(Graph graph, Diagnostics& diags, std::size_t& inlined) {
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      const std::vector<ValueId> operands = rewriter.operands(id);
      const int branch = taken_branch(n, rewriter.builder(), operands);
      if (branch < 0 || n.regions[branch]->params().size() + 1 != operands.size() ||
          n.regions[branch]->results().size() != n.results.size()) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      auto results = inline_region(*n.regions[branch], std::span(operands).subspan(1), rewriter.builder());
      if (!results) return Failure{};
      ++inlined;
      for (std::uint32_t r = 0; r < n.results.size(); ++r) rewriter.map({id, r}, (*results)[r]);
    }
    return rewriter.finish();
  });
}

}  // namespace

Result<Graph> simplify_control_flow(Graph graph, const PassOptions&, Diagnostics& diags) {
  if (!any_call(graph, [](const Graph& g, NodeId id) { return g.node(id).is(op("if")); })) return graph;
  std::size_t inlined = 0;
  auto simpler = inline_branches(std::move(graph), diags, inlined);
  // A branch may hold further conditionals, whose conditions are known now.
  while (simpler && inlined > 0) {
    inlined = 0;
    simpler = inline_branches(std::move(*simpler), diags, inlined);
  }
  return simpler;
}

}  // namespace perfc::passes
