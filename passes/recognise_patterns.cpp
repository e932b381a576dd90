#include <algorithm>
#include <map>

#include "ir/layout.h"
#include "ir/ops/attention_operands.h"
#include "ir/quantised_marks.h"
#include "ir/tables.h"
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
  return b.value(
      {.op = op("reshape"), .operands = {v, b.constant(int64_vector({*count}))}, .name = n.name, .loc = n.loc});
}

/// Keys or values (batch, groups, length, channels), each group's for its heads, as transformers' repeat_kv has them.
Result<ValueId> repeated_heads(GraphBuilder& b, ValueId v, std::int64_t repeats, const Node& n) {
  std::vector<std::int64_t> shape;
  for (const Dim& d : b.type(v).shape()) shape.push_back(d.value());
  const auto emit = [&](OpId what, ValueId x, std::vector<std::int64_t> extents) {
    return b.value({.op = what, .operands = {x, b.constant(int64_vector(extents))}, .name = n.name, .loc = n.loc});
  };
  auto out = emit(op("expand_dims"), v, {2});
  if (out) out = emit(op("broadcast_to"), *out, {shape[0], shape[1], repeats, shape[2], shape[3]});
  if (out) out = emit(op("reshape"), *out, {shape[0], shape[1] * repeats, shape[2], shape[3]});
  return out;
}

/// Masks of numbers → the masks of bools that they were computed from.
using BoolMasks = std::map<ValueId, ValueId>;

ValueId mask_of_bools(Rewriter& rewriter, ValueId numbers, BoolMasks& masks) {
  const auto [found, fresh] = masks.try_emplace(numbers);
  if (fresh) {
    const Node& n = rewriter.source().node(numbers);
    const Type& type = rewriter.source().type(numbers);
    found->second = rewriter.builder().constant({Type::tensor(DType::Bool, type.shape()), nullptr}, n.name);
  }
  return found->second;
}

/// The scale of 1, or the shift of 0, that the source left out: contents only where they are to be run.
ValueId add_neutral(GraphBuilder& b, const Type& type, double element, Contents contents, const Node& n) {
  std::shared_ptr<Data> data;
  if (const auto count = type.elements(); contents == Contents::Kept && count) {
    data = std::make_shared<Data>();
    data->elements = std::vector<double>(static_cast<std::size_t>(*count), element);
  }
  return add_table(b, {type, data}, n.name, n.loc);
}

/// Adds the one operator that stands for a match.
Result<ValueId> add_recognised(Rewriter& rewriter, const Recognised& r, NodeId root, BoolMasks& masks,
                               Contents contents) {
  GraphBuilder& b = rewriter.builder();
  const Node& n = rewriter.source().node(r.named.value_or(root));
  CallSpec call{.op = r.op, .attrs = r.attrs, .results = 1, .name = n.name, .loc = n.loc};
  if (r.arranged.empty()) call.declared = {n.results[0].type};
  for (std::size_t i = 0; i < r.operands.size(); ++i) {
    ValueId v = rewriter[r.operands[i]];
    if (i == 0) {
      for (const NodeId id : r.query_views) {
        const Node& view = rewriter.source().node(id);
        std::vector<ValueId> operands{v};
        for (std::size_t k = 1; k < view.operands.size(); ++k) operands.push_back(rewriter[view.operands[k]]);
        auto seen = b.value(
            {.op = view.op, .operands = std::move(operands), .attrs = view.attrs, .name = view.name, .loc = view.loc});
        if (!seen) return Failure{};
        v = *seen;
      }
    }
    if (i < r.arranged.size()) {
      auto seen = viewed(b, v, r.arranged[i], n);
      if (seen && r.repeats > 1 && (i == AttentionOperand::kK || i == AttentionOperand::kV))
        seen = repeated_heads(b, *seen, r.repeats, n);
      if (!seen) return Failure{};
      v = *seen;
    }
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
    if (i == AttentionOperand::kMask && r.mask_of_bools) v = mask_of_bools(rewriter, r.operands[i], masks);
    call.operands.push_back(v);
  }
  if (r.vectors_from < call.operands.size()) {
    const auto vectors = std::span(call.operands).subspan(r.vectors_from);
    const ValueId present = *std::ranges::find_if(vectors, [](ValueId v) { return bool(v); });
    const Type type = b.type(present);
    for (ValueId& v : vectors) {
      if (!v) v = add_neutral(b, type, &v == vectors.data() ? 1 : 0, contents, n);
    }
  }
  auto made = b.value(std::move(call));
  return made ? viewed(b, *made, r.result, n) : made;
}

Result<Graph> fuse_decomposed(Graph graph, Recognise what, Contents contents, Diagnostics& diags) {
  static const Decompositions decompositions;
  auto found = decompositions.find(MatchGraph(graph, contents), what);
  if (found.empty()) return graph;
  std::vector<const Recognised*> by_root(graph.size(), nullptr);
  std::vector<bool> gone(graph.size(), false);
  for (auto& [root, r] : found) {
    r.mask_of_bools = r.mask_of_bools && contents == Contents::Types;  // what the mask was is not known
    by_root[root] = &r;
    for (NodeId id : r.interior) gone[id] = true;
  }
  Rewriter rewriter(graph, diags);
  BoolMasks masks;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (gone[id]) continue;
    if (!by_root[id]) {
      if (!rewriter.copy(id)) return Failure{};
      continue;
    }
    auto value = add_recognised(rewriter, *by_root[id], id, masks, contents);
    if (!value) return Failure{};
    rewriter.map({id, 0}, *value);
  }
  return rewriter.finish();
}

// ---- Canonical products: nn.dense for weights of rank 2, biases as nn.bias_add

/// nn.dense and convolutions.
bool is_product(const Node& n) { return n.kind == NodeKind::Call && def(n.op).splits_bias; }
bool is_conv(const Node& n) { return is_product(n) && def(n.op).category == Category::Convolution; }

/// The matrix that is repeated for each of a stack: run_decompositions() writes `linear` so where its data lies
/// permuted.
ValueId repeated_matrix(const MatchGraph& g, ValueId v) {
  const Node& n = g.node(v);
  if (n.kind != NodeKind::Call || !n.is(op("broadcast_to"))) return v;
  const Type &stack = g.type(v), &matrix = g.type(n.operands[0]);
  const bool repeats = matrix.is_static() && stack.is_static() && matrix.rank() == 2 && stack.rank() > 2 &&
                       matrix.shape()[0] == stack.shape()[stack.rank() - 2] &&
                       matrix.shape()[1] == stack.shape().back();
  return repeats ? n.operands[0] : v;
}

bool is_product_with_weight(const MatchGraph& g, const Node& n) {
  if (!n.is(op("nn.batch_matmul")) || !g.is_weight(n.operands[1])) return false;
  const Type& weight = g.type(repeated_matrix(g, n.operands[1]));
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

/// Whether an addition of a weight behind a product is that product's bias. A program that adds it launches it.
enum class Additions : bool { Stay, AreBiases };

/// Finds first what each node becomes, so that a graph with nothing to change is not rebuilt.
class Products {
 public:
  Products(const Graph& graph, Additions additions)
      : g_(graph), additions_(additions), only_first_result_(graph.size(), true), plan_(graph.size()) {
    const auto note = [&](ValueId v) {
      if (v && v.result > 0) only_first_result_[v.node] = false;
    };
    for (const Node& n : graph.nodes()) std::for_each(n.operands.begin(), n.operands.end(), note);
    std::for_each(graph.results().begin(), graph.results().end(), note);
    for (NodeId id = 0; id < graph.size(); ++id) plan_[id] = wanted(id);
  }

  bool none() const {
    return std::all_of(plan_.begin(), plan_.end(), [](Change c) { return c == Change::None; });
  }

  Result<Graph> run(Diagnostics& diags) const {
    Rewriter rewriter(g_.graph, diags);
    for (NodeId id = 0; id < g_.graph.size(); ++id) {
      if (!add(rewriter, id)) return Failure{};
    }
    return rewriter.finish();
  }

 private:
  enum class Change : std::uint8_t { None, Dense, SplitBias, DropStatistics, AddBiasOfSecond, AddBiasOfFirst };

  Change wanted(NodeId id) const {
    const Node& n = g_.graph.node(id);
    if (n.kind != NodeKind::Call) return Change::None;
    if (is_product_with_weight(g_, n)) return Change::Dense;
    if (is_product(n)) return splits_bias(n) ? Change::SplitBias : Change::None;
    if (n.is(op("nn.batch_norm")) && n.attrs.int_or("training_mode", 0) != 0 && only_first_result_[id]) {
      return Change::DropStatistics;
    }
    if (additions_ == Additions::Stay) return Change::None;
    if (n.is(op("add")) && adds_bias(n, 0)) return Change::AddBiasOfSecond;
    if (n.is(op("add")) && adds_bias(n, 1)) return Change::AddBiasOfFirst;
    return Change::None;
  }

  Status add(Rewriter& rewriter, NodeId id) const {
    const Node& n = g_.graph.node(id);
    const auto add_bias_to = [&](std::size_t product) {
      return add_bias(rewriter, id, rewriter[n.operands[product]], rewriter[n.operands[1 - product]],
                      bias_axis_of(n.operands[product]));
    };
    switch (plan_[id]) {
      case Change::None:
        break;
      case Change::Dense:
        return add_dense(rewriter, id);
      case Change::SplitBias:
        return split_bias(rewriter, id);
      case Change::DropStatistics:
        return drop_statistics(rewriter, id);
      case Change::AddBiasOfSecond:
        return add_bias_to(0);
      case Change::AddBiasOfFirst:
        return add_bias_to(1);
    }
    return rewriter.copy(id);
  }

  /// A weight that a transpose turns, as where it is shared with an embedding, is read as it lies.
  Status add_dense(Rewriter& rewriter, NodeId id) const {
    const Node& n = g_.graph.node(id);
    bool turned = n.attrs.int_or("transB", 0) != 0;
    std::vector<ValueId> operands = rewriter.operands(id);
    const ValueId matrix = repeated_matrix(g_, n.operands[1]);
    operands[1] = rewriter[matrix];
    const Node& w = g_.node(matrix);
    if (w.kind == NodeKind::Call && w.is(op("transpose")) &&
        w.attrs.ints_or_empty("perm") == std::vector<std::int64_t>{1, 0}) {
      turned = !turned;
      operands[1] = rewriter[w.operands[0]];
    }
    Attrs attrs;
    if (turned) attrs.set("transB", std::int64_t{1});
    if (n.attrs.has("alpha")) attrs.set("alpha", n.attrs.float_or("alpha", 1));
    copy_quantised_marks(n.attrs, attrs);
    auto dense = rewriter.builder().value({.op = op("nn.dense"),
                                           .operands = std::move(operands),
                                           .attrs = std::move(attrs),
                                           .declared = {n.results[0].type},
                                           .name = n.name,
                                           .loc = n.loc});
    if (!dense) return Failure{};
    rewriter.map({id, 0}, *dense);
    return ok();
  }

  /// A norm in training mode takes its statistics from its operand (weight
  /// standardisation is written so); given ones only start running averages.
  Status drop_statistics(Rewriter& rewriter, NodeId id) const {
    const Node& n = g_.graph.node(id);
    std::vector<ValueId> operands = rewriter.operands(id);
    operands.resize(3);
    auto norm = rewriter.builder().value({.op = n.op,
                                          .operands = std::move(operands),
                                          .attrs = n.attrs,
                                          .results = 1,
                                          .declared = {n.results[0].type},
                                          .name = n.name,
                                          .loc = n.loc});
    if (!norm) return Failure{};
    rewriter.map({id, 0}, *norm);
    return ok();
  }

  /// This convolution or dense has a bias that can stand on its own.
  bool splits_bias(const Node& n) const {
    if (n.operands.size() < 3 || !n.operands[2]) return false;
    const Type& result = n.results[0].type;
    if (!result.ranked() || result.rank() < 2 || g_.type(n.operands[2]).dtype() != result.dtype()) return false;
    if (is_conv(n)) return true;
    return n.attrs.float_or("beta", 1) == 1 && is_bias(g_, n.operands[2], result, bias_axis(n, result));
  }

  /// conv(x, w, b) → bias_add(conv(x, w), b), and the same for dense.
  Status split_bias(Rewriter& rewriter, NodeId id) const {
    const Node& n = g_.graph.node(id);
    const Type& result = n.results[0].type;
    std::vector<ValueId> operands = rewriter.operands(id);
    const ValueId bias = operands[2];
    operands.pop_back();
    Attrs attrs = n.attrs;
    attrs.erase("beta");
    if (!rewriter.copy_declared(id, std::move(operands), std::move(attrs), {result})) return Failure{};
    return add_bias(rewriter, id, rewriter[{id, 0}], bias, bias_axis(n, result));
  }

  /// Operand i of this addition is a product that nothing else reads, the
  /// other one its bias.
  bool adds_bias(const Node& n, std::size_t i) const {
    const ValueId product = n.operands[i];
    const Node& p = g_.node(product);
    if (g_.uses[product.node] != 1 || !(is_product_with_weight(g_, p) || is_product(p))) return false;
    if (p.operands.size() > 2 && p.operands[2]) return false;
    const Type& type = g_.type(product);
    return type.ranked() && type == n.results[0].type && is_bias(g_, n.operands[1 - i], type, bias_axis_of(product));
  }

  std::size_t bias_axis_of(ValueId product) const { return bias_axis(g_.node(product), g_.type(product)); }

  Status add_bias(Rewriter& rewriter, NodeId id, ValueId product, ValueId bias, std::size_t axis) const {
    const Node& n = g_.graph.node(id);
    auto vector = as_vector(rewriter.builder(), bias);
    if (!vector) return Failure{};
    Attrs attrs;
    attrs.set("axis", static_cast<std::int64_t>(axis));
    copy_quantised_marks(n.attrs, attrs);
    auto sum = rewriter.builder().value({.op = op("nn.bias_add"),
                                         .operands = {product, *vector},
                                         .attrs = std::move(attrs),
                                         .declared = {n.results[0].type},
                                         .name = n.name,
                                         .loc = n.loc});
    if (!sum) return Failure{};
    rewriter.map({id, 0}, *sum);
    return ok();
  }

  const MatchGraph g_;
  const Additions additions_;
  std::vector<bool> only_first_result_;  // by old node
  std::vector<Change> plan_;             // by old node
};

Result<Graph> with_canonical_products(Graph graph, Additions additions, Diagnostics& diags) {
  const Products products(graph, additions);
  return products.none() ? std::move(graph) : products.run(diags);
}

Result<Graph> recognise(Graph graph, Recognise what, const PassOptions& options, Diagnostics& diags) {
  return for_each_region(std::move(graph), diags, [&](Graph g) -> Result<Graph> {
    auto fused = fuse_decomposed(std::move(g), what, options.contents, diags);
    return fused ? with_canonical_products(std::move(*fused), Additions::AreBiases, diags) : std::move(fused);
  });
}

}  // namespace

Result<Graph> recognise_patterns(Graph graph, const PassOptions& options, Diagnostics& diags) {
  const bool lowered = options.written_by == WrittenBy::Lowered;
  return recognise(std::move(graph), lowered ? Recognise::Lowered : Recognise::Everything, options, diags);
}

Result<Graph> recognise_operators(Graph graph, const PassOptions& options, Diagnostics& diags) {
  switch (options.written_by) {
    case WrittenBy::Program:
      return for_each_region(std::move(graph), diags,
                             [&](Graph g) { return with_canonical_products(std::move(g), Additions::Stay, diags); });
    case WrittenBy::Decomposed:
    case WrittenBy::Exporter:
      return recognise(std::move(graph), Recognise::Operators, options, diags);
    case WrittenBy::Framework:
    case WrittenBy::Converter:
    case WrittenBy::Lowered:
      break;
  }
  return recognise_patterns(std::move(graph), options, diags);
}

}  // namespace perfc::passes
