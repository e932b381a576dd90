/// Products that PyTorch's decompositions write over merged leading dims: `matmul` of (N, H, L, E) and (N, H, E, S)
/// becomes two views, `bmm` of (N·H, L, E) and (N·H, E, S), and a view of its result; `linear` of (N, L, E) a view,
/// `addmm` of (N·L, E), and a view. torch_xla lowers the same to products and sums.
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

/// The operand of a reshape that only merges its leading dims into one, to (B, n).
ValueId unmerged_rows(const Graph& g, ValueId flat) {
  const Node& n = g.node(flat);
  if (!n.is(op("reshape")) || !g.type(flat).is_static() || !g.type(n.operands[0]).is_static()) return {};
  const Shape &from = g.type(n.operands[0]).shape(), &to = g.type(flat).shape();
  return to.size() == 2 && from.size() > 2 && from.back() == to[1] ? n.operands[0] : ValueId{};
}

class DenseUnflattener {
 public:
  DenseUnflattener(const Graph& g, WrittenBy who, Diagnostics& diags)
      : g_(g), who_(who), rewriter_(g, diags), wide_(g.size()) {}

  Result<Graph> run() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      if (!visit(id)) return Failure{};
    }
    return rewriter_.finish();
  }

  static bool applies(const Graph& g, WrittenBy who, NodeId id) {
    const Node& n = g.node(id);
    const bool lowered = who == WrittenBy::Lowered && n.is(op("nn.batch_matmul")) && n.attrs.size() == 0;
    return (n.is(op("nn.dense")) || lowered) && unmerged_rows(g, n.operands[0]) && n.results[0].type.is_static() &&
           g.type(n.operands[1]).rank() == 2;
  }

 private:
  Status visit(NodeId id) {
    const Node& n = g_.node(id);
    if (n.kind == NodeKind::Call && applies(g_, who_, id))
      return widen(id, rewriter_[unmerged_rows(g_, n.operands[0])], n.attrs);
    const ValueId wide = n.kind == NodeKind::Call && !n.operands.empty() ? wide_[n.operands[0].node] : ValueId{};
    if (wide && n.is(op("nn.bias_add")) && n.operands.size() == 2) {
      Attrs attrs = n.attrs;
      attrs.set("axis", static_cast<std::int64_t>(rewriter_.builder().type(wide).rank()) - 1);
      return widen(id, wide, std::move(attrs));
    }
    if (wide && n.is(op("add")) && g_.type(n.operands[1]).rank() == 1 && n.results[0].type == g_.type(n.operands[0]))
      return widen(id, wide, n.attrs);
    if (wide && n.is(op("reshape"))) return view(id, wide);
    return rewriter_.copy(id);
  }

  /// A call over the dims that were merged, and what others than a bias or a view see of it.
  Status widen(NodeId id, ValueId data, Attrs attrs) {
    const Node& n = g_.node(id);
    CallSpec call{.op = n.op, .operands = {data}, .attrs = std::move(attrs), .name = n.name, .loc = n.loc};
    for (std::size_t i = 1; i < n.operands.size(); ++i)
      call.operands.push_back(n.operands[i] ? rewriter_[n.operands[i]] : ValueId{});
    const auto made = rewriter_.builder().value(std::move(call));
    if (!made) return Failure{};
    wide_[id] = *made;
    return reshape(id, *made);
  }

  Status view(NodeId id, ValueId wide) {
    if (rewriter_.builder().type(wide) != g_.node(id).results[0].type) return reshape(id, wide);
    rewriter_.map({id, 0}, wide);
    return ok();
  }

  Status reshape(NodeId id, ValueId wide) {
    const Node& n = g_.node(id);
    std::vector<std::int64_t> shape;
    for (const Dim& d : n.results[0].type.shape()) shape.push_back(d.value());
    const ValueId to = rewriter_.builder().constant(int64_vector(shape));
    const auto made =
        rewriter_.builder().value({.op = op("reshape"), .operands = {wide, to}, .name = n.name, .loc = n.loc});
    if (!made) return Failure{};
    rewriter_.map({id, 0}, *made);
    return ok();
  }

  const Graph& g_;
  const WrittenBy who_;
  Rewriter rewriter_;
  std::vector<ValueId> wide_;  ///< by node: the same with its leading dims, in the new graph
};

Result<Graph> with_unflattened_dense(Graph graph, WrittenBy who, Diagnostics& diags) {
  bool any = false;
  for (NodeId id = 0; id < graph.size() && !any; ++id)
    any = graph.node(id).kind == NodeKind::Call && DenseUnflattener::applies(graph, who, id);
  return any ? DenseUnflattener(graph, who, diags).run() : Result<Graph>(std::move(graph));
}

}  // namespace

Result<Graph> unflatten_products(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.mode == ExecMode::Eager && options.written_by == WrittenBy::Program) return graph;
  auto out = for_each_region(std::move(graph), diags, [&](Graph g) -> Result<Graph> {
    auto stacks = unflattened(std::move(g), diags);
    return stacks ? with_unflattened_dense(std::move(*stacks), options.written_by, diags) : Failure{};
  });
  // Views that nothing reads any more would hide that a bias is a product's only reader.
  return out && options.written_by == WrittenBy::Lowered ? eliminate_dead(std::move(*out), options, diags)
                                                         : std::move(out);
}

}  // namespace perfc::passes
