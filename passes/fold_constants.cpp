#include <algorithm>

#include "ir/tables.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// Scales of axes are computed from constants; longer vectors of floats are results of weights. Those
/// stay: the patterns that they are part of (the scale of a batch-norm in parts) are still to be
/// recognised, and a state that begins as zeros is no weight.
constexpr std::size_t kMostFloats = 8;

bool known(const ResultInfo& r) {
  if (!r.data || !r.type.is_static() || !r.type.is_tensor() || !r.data->fully_known()) return false;
  return !r.data->floats() || r.data->floats()->size() <= kMostFloats;
}

/// Moves elements without changing any: on a weight that nothing else uses, a
/// weight stored that way from the start.
bool is_layout(const Node& n) {
  const Moves moves = n.kind == NodeKind::Call ? def(n.op).moves : Moves::No;
  return moves == Moves::Reshapes || moves == Moves::Permutes || moves == Moves::Copies;
}

}  // namespace

Result<Graph> fold_constants(Graph graph, const PassOptions&, Diagnostics& diags) {
  const bool nothing = !any_call(graph, [](const Graph& g, NodeId id) {
    const Node& n = g.node(id);
    const bool all_known = !n.results.empty() && std::all_of(n.results.begin(), n.results.end(), known);
    return all_known || (is_layout(n) && g.node(n.operands[0]).kind == NodeKind::Constant);
  });
  if (nothing) return graph;
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    const std::vector<std::uint32_t> uses = g.use_counts();
    std::vector<bool> weight(g.size(), false), table(g.size(), false);
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      weight[id] = n.kind == NodeKind::Constant;
      // What is computed from a table is one; of layouts only the first operand is data.
      const std::size_t data_operands = is_layout(n) ? 1 : n.operands.size();
      table[id] = n.attrs.has(kTable);
      for (std::size_t i = 0; i < data_operands && i < n.operands.size(); ++i) {
        if (n.operands[i] && table[n.operands[i].node]) table[id] = true;
      }
      if (n.kind != NodeKind::Call) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      bool all_known = !n.results.empty();
      for (const ResultInfo& r : n.results) all_known = all_known && known(r);
      const bool moved_weight = !all_known && is_layout(n) && n.results[0].type.is_static() &&
                                weight[n.operands[0].node] && uses[n.operands[0].node] == 1;
      if (!all_known && !moved_weight) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      weight[id] = moved_weight || n.results.size() == 1;
      const std::string& name = moved_weight ? g.node(n.operands[0]).name : n.name;
      for (std::uint32_t r = 0; r < n.results.size(); ++r) {
        const ResultInfo& result = n.results[r];
        Literal literal{result.type, result.data};
        rewriter.map({id, r}, table[id] ? add_table(rewriter.builder(), std::move(literal), name, n.loc)
                                        : rewriter.builder().constant(std::move(literal), name, n.loc));
      }
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
