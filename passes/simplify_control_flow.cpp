#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// The region that an `if` takes, or −1 while its condition is open.
int taken_branch(const Node& n, const GraphBuilder& builder, ValueId condition) {
  const Data* data = builder.data(condition);
  if (!n.is(op("if")) || n.regions.size() != 2 || !data || !data->ints() || data->size() != 1) return -1;
  const SymInt& value = data->ints()->front();
  if (!value.known()) return -1;
  return value.value() != 0 ? 0 : 1;  // then, else
}

/// Adds a region's nodes to the graph around it; its results' new ids.
Result<std::vector<ValueId>> inline_region(const Graph& region, std::span<const ValueId> captures,
                                           GraphBuilder& into) {
  Rewriter rewriter(region, into);
  for (std::size_t i = 0; i < region.params().size(); ++i) rewriter.map(region.params()[i], captures[i]);
  for (NodeId id = 0; id < region.size(); ++id) {
    if (region.node(id).kind != NodeKind::Var && !rewriter.copy(id)) return Failure{};
  }
  std::vector<ValueId> results;
  for (ValueId v : region.results()) results.push_back(rewriter[v]);
  return results;
}

}  // namespace

Result<Graph> simplify_control_flow(const Graph& graph, const PassOptions&, Diagnostics& diags) {
  return for_each_region(graph, diags, [&](const Graph& g) -> Result<Graph> {
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      const std::vector<ValueId> operands = rewriter.operands(id);
      const int branch = operands.empty() ? -1 : taken_branch(n, rewriter.builder(), operands[0]);
      if (branch < 0 || n.regions[branch]->params().size() + 1 != operands.size() ||
          n.regions[branch]->results().size() != n.results.size()) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      auto results = inline_region(*n.regions[branch], std::span(operands).subspan(1), rewriter.builder());
      if (!results) return Failure{};
      for (std::uint32_t r = 0; r < n.results.size(); ++r) rewriter.map({id, r}, (*results)[r]);
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
