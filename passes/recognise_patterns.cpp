#include <algorithm>

#include "ir/layout.h"
#include "passes/decomposed.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// A per-channel weight as a vector, whatever 1s it was stored with.
Result<ValueId> as_vector(GraphBuilder& b, ValueId v) {
  const Type& type = b.type(v);
  const auto count = type.elements();
  if (!count || type.rank() == 1) return v;
  const Node& n = b.node(v.node);
  if (n.kind == NodeKind::Constant) {
    return b.constant({Type::tensor(type.dtype(), {*count}), n.results[0].data}, n.name, n.loc);
  }
  return b.value({.op = op("reshape"),
                  .operands = {v, b.constant(int64_vector({*count}))},
                  .name = n.name,
                  .loc = n.loc});
}

/// Adds the one operator that stands for a match.
Result<ValueId> add_recognised(Rewriter& rewriter, const Recognised& r, NodeId root) {
  GraphBuilder& b = rewriter.builder();
  const Node& n = rewriter.source().node(root);
  CallSpec call{.op = r.op, .attrs = r.attrs, .results = 1, .declared = {n.results[0].type}, .name = n.name, .loc = n.loc};
  for (std::size_t i = 0; i < r.operands.size(); ++i) {
    ValueId v = rewriter[r.operands[i]];
    if (i >= r.vectors_from && r.operands[i]) {
      auto vector = as_vector(b, v);
      if (!vector) return Failure{};
      v = *vector;
    }
    if (i == 1 && !r.key_perm.empty()) {
      Attrs attrs;
      attrs.set("perm", r.key_perm);
      auto keys = b.value({.op = op("transpose"), .operands = {v}, .attrs = attrs, .name = n.name, .loc = n.loc});
      if (!keys) return Failure{};
      v = *keys;
    }
    call.operands.push_back(v);
  }
  for (std::size_t i = r.vectors_from; i < call.operands.size(); ++i) {
    // A scale of 1 or a shift of 0 that the source left out.
    if (!call.operands[i]) call.operands[i] = b.constant({b.type(call.operands.back()), nullptr}, n.name, n.loc);
  }
  return b.value(std::move(call));
}

Result<Graph> fuse_decomposed(const Graph& graph, const Decompositions& decompositions, Diagnostics& diags) {
  const auto found = decompositions.find(MatchGraph(graph));
  std::vector<const Recognised*> by_root(graph.size(), nullptr);
  std::vector<bool> gone(graph.size(), false);
  for (const auto& [root, r] : found) {
    by_root[root] = &r;
    for (NodeId id : r.interior) gone[id] = true;
  }
  Rewriter rewriter(graph, diags);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (gone[id]) continue;
    if (!by_root[id]) {
      if (!rewriter.copy(id)) return Failure{};
      continue;
    }
    auto value = add_recognised(rewriter, *by_root[id], id);
    if (!value) return Failure{};
    rewriter.map({id, 0}, *value);
  }
  return rewriter.finish();
}

// ---- Canonical products: nn.dense for weights of rank 2, biases as nn.bias_add

bool is_conv(const Node& n) {
  return n.is(op("nn.conv1d")) || n.is(op("nn.conv2d")) || n.is(op("nn.conv3d")) || n.is(op("nn.conv1d_transpose")) ||
         n.is(op("nn.conv2d_transpose")) || n.is(op("nn.conv3d_transpose"));
}

bool is_product_with_weight(const MatchGraph& g, const Node& n) {
  if (!n.is(op("nn.batch_matmul")) || g.is_weight(n.operands[0]) || !g.is_weight(n.operands[1])) return false;
  const Type& weight = g.type(n.operands[1]);
  const Type& x = g.type(n.operands[0]);
  return weight.ranked() && weight.rank() == 2 && x.ranked() && x.rank() >= 2 && n.attrs.int_or("transA", 0) == 0 &&
         n.attrs.int_or("transBatchA", 0) == 0 && n.attrs.int_or("transBatchB", 0) == 0;
}

/// Dim of a convolution's or dense's result that its bias runs along.
std::size_t bias_axis(const Node& n, const Type& result) {
  return is_conv(n) ? channel_axis(n.attrs, result.rank()) : result.rank() - 1;
}

/// A weight with one element per entry of `axis`, which broadcasts along the others.
bool is_bias(const MatchGraph& g, ValueId v, const Type& result, std::size_t axis) {
  if (!g.is_weight(v) || !g.type(v).is_static() || !result.ranked() || axis >= result.rank()) return false;
  const Type& type = g.type(v);
  const std::size_t from_end = result.rank() - axis;
  if (!result.shape()[axis].known() || type.rank() > result.rank() || type.rank() < from_end) return false;
  const std::int64_t extent = result.shape()[axis].value();
  return type.elements() == extent && type.shape()[type.rank() - from_end].is(extent);
}

class Products {
 public:
  Products(const Graph& graph, Diagnostics& diags)
      : g_(graph), rewriter_(graph, diags), only_first_result_(graph.size(), true) {
    const auto note = [&](ValueId v) {
      if (v && v.result > 0) only_first_result_[v.node] = false;
    };
    for (const Node& n : graph.nodes()) std::for_each(n.operands.begin(), n.operands.end(), note);
    std::for_each(graph.results().begin(), graph.results().end(), note);
  }

  Result<Graph> run() {
    const Graph& graph = g_.graph;
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& n = graph.node(id);
      Status status = n.kind == NodeKind::Call ? add(id) : rewriter_.copy(id);
      if (!status) return Failure{};
    }
    return rewriter_.finish();
  }

 private:
  Status add(NodeId id) {
    const Node& n = g_.graph.node(id);
    if (is_product_with_weight(g_, n)) return add_dense(id);
    if (n.is(op("nn.dense")) || is_conv(n)) return split_bias(id);
    if (n.is(op("nn.batch_norm")) && n.attrs.int_or("training_mode", 0) != 0 && only_first_result_[id]) {
      return drop_statistics(id);
    }
    if (n.is(op("add"))) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (adds_bias(n, i)) return add_bias(id, rewriter_[n.operands[i]], rewriter_[n.operands[1 - i]], bias_axis_of(n.operands[i]));
      }
    }
    return rewriter_.copy(id);
  }

  Status add_dense(NodeId id) {
    const Node& n = g_.graph.node(id);
    Attrs attrs;
    if (n.attrs.int_or("transB", 0) != 0) attrs.set("transB", std::int64_t{1});
    if (n.attrs.has("alpha")) attrs.set("alpha", n.attrs.float_or("alpha", 1));
    auto dense = rewriter_.builder().value({.op = op("nn.dense"),
                                            .operands = rewriter_.operands(id),
                                            .attrs = std::move(attrs),
                                            .declared = {n.results[0].type},
                                            .name = n.name,
                                            .loc = n.loc});
    if (!dense) return Failure{};
    rewriter_.map({id, 0}, *dense);
    return ok();
  }

  /// A norm in training mode takes its statistics from its operand (weight
  /// standardisation is written so); given ones only start running averages.
  Status drop_statistics(NodeId id) {
    const Node& n = g_.graph.node(id);
    std::vector<ValueId> operands = rewriter_.operands(id);
    operands.resize(3);
    auto norm = rewriter_.builder().value({.op = n.op,
                                           .operands = std::move(operands),
                                           .attrs = n.attrs,
                                           .results = 1,
                                           .declared = {n.results[0].type},
                                           .name = n.name,
                                           .loc = n.loc});
    if (!norm) return Failure{};
    rewriter_.map({id, 0}, *norm);
    return ok();
  }

  /// conv(x, w, b) → bias_add(conv(x, w), b), and the same for dense.
  Status split_bias(NodeId id) {
    const Node& n = g_.graph.node(id);
    if (n.operands.size() < 3 || !n.operands[2]) return rewriter_.copy(id);
    const Type& result = n.results[0].type;
    if (!result.ranked() || result.rank() < 2 || g_.type(n.operands[2]).dtype() != result.dtype()) return rewriter_.copy(id);
    const std::size_t axis = bias_axis(n, result);
    const bool dense = n.is(op("nn.dense"));
    if (dense && (n.attrs.float_or("beta", 1) != 1 || !is_bias(g_, n.operands[2], result, axis))) return rewriter_.copy(id);
    std::vector<ValueId> operands = rewriter_.operands(id);
    const ValueId bias = operands[2];
    operands.pop_back();
    Attrs attrs = n.attrs;
    attrs.erase("beta");
    if (!rewriter_.copy_declared(id, std::move(operands), std::move(attrs), {result})) return Failure{};
    return add_bias(id, rewriter_[{id, 0}], bias, axis);
  }

  /// Operand i of this addition is a product that nothing else reads, the
  /// other one its bias.
  bool adds_bias(const Node& n, std::size_t i) const {
    const ValueId product = n.operands[i];
    const Node& p = g_.node(product);
    if (g_.uses[product.node] != 1 || !(is_product_with_weight(g_, p) || p.is(op("nn.dense")) || is_conv(p))) return false;
    if (p.operands.size() > 2 && p.operands[2]) return false;
    const Type& type = g_.type(product);
    return type.ranked() && type == n.results[0].type && is_bias(g_, n.operands[1 - i], type, bias_axis_of(product));
  }

  std::size_t bias_axis_of(ValueId product) const { return bias_axis(g_.node(product), g_.type(product)); }

  Status add_bias(NodeId id, ValueId product, ValueId bias, std::size_t axis) {
    const Node& n = g_.graph.node(id);
    auto vector = as_vector(rewriter_.builder(), bias);
    if (!vector) return Failure{};
    Attrs attrs;
    attrs.set("axis", static_cast<std::int64_t>(axis));
    auto sum = rewriter_.builder().value({.op = op("nn.bias_add"),
                                          .operands = {product, *vector},
                                          .attrs = std::move(attrs),
                                          .declared = {n.results[0].type},
                                          .name = n.name,
                                          .loc = n.loc});
    if (!sum) return Failure{};
    rewriter_.map({id, 0}, *sum);
    return ok();
  }

  const MatchGraph g_;
  Rewriter rewriter_;
  std::vector<bool> only_first_result_;  // by old node
};

}  // namespace

Result<Graph> recognise_patterns(Graph graph, const PassOptions&, Diagnostics& diags) {
  static const Decompositions decompositions;
  return for_each_region(graph, diags, [&](const Graph& g) -> Result<Graph> {
    auto fused = fuse_decomposed(g, decompositions, diags);
    if (!fused) return Failure{};
    return Products(*fused, diags).run();
  });
}

}  // namespace perfc::passes
