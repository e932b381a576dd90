/// Products of stacks of matrices that PyTorch's decompositions write over one stack: `matmul` of (N, H, L, E) and
/// (N, H, E, S) becomes two views, `bmm` of (N·H, L, E) and (N·H, E, S), and a view of its result.
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// The operand of a reshape that only merges its leading dims into one, to (B, m, n).
ValueId unmerged(const Graph& g, ValueId flat) {
  const Node& n = g.node(flat);
  if (!n.is(op("reshape")) || !g.type(flat).is_static() || !g.type(n.operands[0]).is_static()) return {};
  const Shape &from = g.type(n.operands[0]).shape(), &to = g.type(flat).shape();
  const bool merges = to.size() == 3 && from.size() > 3 && from[from.size() - 2] == to[1] && from.back() == to[2];
  return merges ? n.operands[0] : ValueId{};
}

struct FlatProduct {
  ValueId product, left, right;
};

/// The product behind a reshape that undoes what `unmerged` looks for.
std::optional<FlatProduct> flat_product(const Graph& g, const std::vector<std::uint32_t>& uses, const Node& last) {
  if (!last.is(op("reshape")) || last.results.size() != 1) return std::nullopt;
  const ValueId product = last.operands[0];
  const Node& n = g.node(product);
  if (!n.is(op("nn.batch_matmul")) || n.operands.size() != 2 || uses[product.node] != 1 || n.attrs.size() > 0)
    return std::nullopt;
  const ValueId left = unmerged(g, n.operands[0]), right = unmerged(g, n.operands[1]);
  if (!left || !right || !last.results[0].type.is_static()) return std::nullopt;
  const Shape &a = g.type(left).shape(), &b = g.type(right).shape();
  Shape expected = a;
  expected.back() = b.back();
  const bool same_stack = a.size() == b.size() && std::equal(a.begin(), a.end() - 2, b.begin());
  if (!same_stack || last.results[0].type.shape() != expected) return std::nullopt;
  return FlatProduct{product, left, right};
}

Result<Graph> unflattened(Graph graph, Diagnostics& diags) {
  const std::vector<std::uint32_t> uses = graph.use_counts();
  std::vector<std::optional<FlatProduct>> found(graph.size());
  std::vector<bool> gone(graph.size(), false);
  bool any = false;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).kind != NodeKind::Call) continue;
    found[id] = flat_product(graph, uses, graph.node(id));
    if (!found[id]) continue;
    any = gone[found[id]->product.node] = true;
    for (ValueId merged : graph.node(found[id]->product).operands) gone[merged.node] = uses[merged.node] == 1;
  }
  if (!any) return graph;
  Rewriter rewriter(graph, diags);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (gone[id]) continue;
    if (!found[id]) {
      if (!rewriter.copy(id)) return Failure{};
      continue;
    }
    const Node& product = graph.node(found[id]->product);
    auto made = rewriter.builder().value({.op = product.op,
                                          .operands = {rewriter[found[id]->left], rewriter[found[id]->right]},
                                          .name = product.name,
                                          .loc = product.loc});
    if (!made) return Failure{};
    rewriter.map({id, 0}, *made);
  }
  return rewriter.finish();
}

}  // namespace

Result<Graph> unflatten_products(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.mode == ExecMode::Eager && options.written_by == WrittenBy::Program) return graph;
  return for_each_region(std::move(graph), diags, [&](Graph g) { return unflattened(std::move(g), diags); });
}

}  // namespace perfc::passes
