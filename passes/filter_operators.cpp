#include <algorithm>

#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// Keeps elements and their order, changes the shape only.
bool is_view(const Node& n) { return n.kind == NodeKind::Call && def(n.op).moves == Moves::Reshapes; }

/// Nodes that results need, operands before users, each subtree of operands
/// finished before the next begins: the order in which Relay's post-order
/// visitor meets them. Params come first, as the signature says.
std::vector<NodeId> post_order(const Graph& g, const std::vector<NodeId>& roots) {
  std::vector<NodeId> order;
  std::vector<bool> seen(g.size(), false);
  for (ValueId p : g.params()) {
    seen[p.node] = true;
    order.push_back(p.node);
  }
  struct Visit {
    NodeId node;
    std::size_t next;  // operand to look at
  };
  std::vector<Visit> stack;
  for (const NodeId root : roots) {
    if (!seen[root]) stack.push_back({root, 0});
    seen[root] = true;
    while (!stack.empty()) {
      Visit& top = stack.back();
      const Node& n = g.node(top.node);
      if (top.next == n.operands.size()) {
        order.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const ValueId v = n.operands[top.next++];
      if (v && !seen[v.node]) {
        seen[v.node] = true;
        stack.push_back({v.node, 0});
      }
    }
  }
  return order;
}

std::vector<NodeId> nodes_of_results(const Graph& g) {
  std::vector<NodeId> out;
  for (ValueId v : g.results()) out.push_back(v.node);
  return out;
}

std::vector<NodeId> depth_first(const Graph& g) { return post_order(g, nodes_of_results(g)); }

/// The same nodes, and those that eager execution launches for nothing, as the source has them.
std::vector<NodeId> program_order(const Graph& g) {
  std::vector<NodeId> roots = nodes_of_results(g);
  for (NodeId id = 0; id < g.size(); ++id) {
    if (is_launched_unread(g.node(id))) roots.push_back(id);
  }
  std::vector<NodeId> order = post_order(g, roots);
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(g.params().size()), order.end());
  return order;
}

/// What becomes of chains of views.
enum class Chains : bool { Stay, Merge };

Result<Graph> merge_views_in(std::vector<NodeId> (*order_of)(const Graph&), Chains chains, Graph graph,
                             Diagnostics& diags) {
  return for_each_region(std::move(graph), diags, [&](Graph g) -> Result<Graph> {
    const std::vector<NodeId> order = order_of(g);
    // A view that only another view looks at is a step on the way.
    std::vector<std::uint32_t> uses(g.size(), 0);
    for (NodeId id : order) {
      for (ValueId v : g.node(id).operands) {
        if (v) ++uses[v.node];
      }
    }
    for (ValueId v : g.results()) ++uses[v.node];
    std::vector<bool> skipped(g.size(), false);
    for (NodeId id : order) {
      const Node& n = g.node(id);
      if (chains == Chains::Stay || !is_view(n) || !n.results[0].type.is_static()) continue;
      const ValueId from = n.operands[0];
      if (is_view(g.node(from)) && uses[from.node] == 1) skipped[from.node] = true;
    }

    const bool in_order = order.size() == g.size() && std::is_sorted(order.begin(), order.end());
    if (in_order && std::find(skipped.begin(), skipped.end(), true) == skipped.end()) return g;

    std::vector<bool> needed(g.size(), false);  // constants used only as skipped views' targets are not
    for (ValueId v : g.params()) needed[v.node] = true;
    for (ValueId v : g.results()) needed[v.node] = true;
    for (const NodeId id : order) {
      if (is_launched_unread(g.node(id))) needed[id] = true;
    }
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& n = g.node(*it);
      if (!needed[*it]) continue;
      const bool merges = is_view(n) && skipped[n.operands[0].node];
      for (std::size_t i = 0; i < n.operands.size(); ++i) {
        if (n.operands[i] && !(i > 0 && (skipped[*it] || merges))) needed[n.operands[i].node] = true;
      }
    }

    Rewriter rewriter(g, diags);
    for (NodeId id : order) {
      const Node& n = g.node(id);
      if (!needed[id]) continue;
      if (skipped[id]) {
        rewriter.map({id, 0}, rewriter[n.operands[0]]);
        continue;
      }
      if (!is_view(n) || !skipped[n.operands[0].node]) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      std::vector<std::int64_t> target;
      for (const Dim& d : n.results[0].type.shape()) target.push_back(d.value());
      const ValueId shape = rewriter.builder().constant(int64_vector(target));
      auto view = rewriter.builder().value(
          {.op = op("reshape"), .operands = {rewriter[n.operands[0]], shape}, .name = n.name, .loc = n.loc});
      if (!view) return Failure{};
      rewriter.map({id, 0}, *view);
    }
    return rewriter.finish();
  });
}

}  // namespace

Result<Graph> merge_views(Graph graph, const PassOptions& options, Diagnostics& diags) {
  // The first of a program's views that has to copy does so where it stands.
  const bool stay = options.written_by == WrittenBy::Program && options.mode == ExecMode::Eager;
  return merge_views_in(program_order, stay ? Chains::Stay : Chains::Merge, std::move(graph), diags);
}

Result<Graph> filter_operators(Graph graph, const PassOptions&, Diagnostics& diags) {
  return merge_views_in(depth_first, Chains::Merge, std::move(graph), diags);
}

}  // namespace perfc::passes
