#include <algorithm>
#include <span>

#include "passes/passes.h"

namespace perfc::passes {
namespace {

struct Operand {
  const Type* type = nullptr;  ///< null: left out
  const Data* data = nullptr;
};

/// A call and what is known of its operands: in the old graph, or in the one under construction.
struct Candidate {
  const Node& node;
  std::span<const Operand> operands;

  const Type& type(std::size_t i) const {
    static const Type none;
    return has(i) ? *operands[i].type : none;
  }
  const Data* data(std::size_t i) const { return has(i) ? operands[i].data : nullptr; }
  bool has(std::size_t i) const { return i < operands.size() && operands[i].type; }
  const Type& result() const { return node.results[0].type; }
};

/// Same dtype and shape, and the shape is certain.
bool same_shape(const Type& a, const Type& b) {
  return a.is_tensor() && a.ranked() && a == b &&
         std::all_of(a.shape().begin(), a.shape().end(), [](const Dim& d) { return d.known() || d.symbolic(); });
}

bool all_ints(const Data* data, std::int64_t value) {
  return data && data->ints() &&
         std::all_of(data->ints()->begin(), data->ints()->end(), [&](const SymInt& s) { return s.is(value); });
}

bool all_equal(const Data* data, double value) {
  if (!data || data->size() == 0) return false;
  if (const auto* f = data->floats()) {
    return std::all_of(f->begin(), f->end(), [&](double x) { return x == value; });
  }
  return all_ints(data, static_cast<std::int64_t>(value));
}

// Each rule: is result 0 the same value as the first operand?
bool always(const Candidate&) { return true; }
bool same_type(const Candidate& c) { return same_shape(c.type(0), c.result()); }
bool single(const Candidate& c) { return c.operands.size() == 1 && c.type(0) == c.result(); }
bool same_dtype(const Candidate& c) { return c.type(0).is_tensor() && c.type(0).dtype() == c.result().dtype(); }
bool unbounded(const Candidate& c) {
  return !c.has(1) && !c.has(2) && !c.node.attrs.has("min") && !c.node.attrs.has("max");
}
/// Inference leaves values alone; only a call that insists on training does not.
bool not_training(const Candidate& c) { return !c.has(2) || all_ints(c.data(2), 0); }

bool no_permutation(const Candidate& c) {
  if (!c.type(0).ranked()) return false;
  const std::vector<std::int64_t> perm = c.node.attrs.ints_or_empty("perm");
  if (perm.empty()) return c.type(0).rank() <= 1;  // absent: reversed
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// The whole range in the same order: a reversal has the same shape too.
bool whole_slice(const Candidate& c) {
  if (!same_type(c)) return false;
  if (!c.has(4)) return true;
  const Data* steps = c.data(4);
  return steps && steps->ints() && std::all_of(steps->ints()->begin(), steps->ints()->end(), [](const SymInt& s) {
           return s.known() && s.value() > 0;
         });
}

bool no_padding(const Candidate& c) { return same_type(c) && all_ints(c.data(1), 0); }

/// Scalars of the program only: a tensor of ones may be a weight that was
/// never trained, or one whose contents the exporter left out.
bool neutral(const Candidate& c, std::size_t other, double value) {
  return same_type(c) && c.type(other).ranked() && c.type(other).rank() == 0 && all_equal(c.data(other), value);
}
bool plus_zero(const Candidate& c) { return neutral(c, 1, 0); }
bool times_one(const Candidate& c) { return neutral(c, 1, 1); }

struct Rule {
  OpId op;
  bool (*identity)(const Candidate&);
};

constexpr Rule kRules[] = {
    {op("copy"), always},
    {op("clone"), always},
    {op("contiguous"), always},
    {op("nn.dropout"), not_training},
    {op("cast"), same_dtype},
    {op("cast_like"), same_dtype},
    {op("clip"), unbounded},
    {op("reshape"), same_type},
    {op("squeeze"), same_type},
    {op("expand_dims"), same_type},
    {op("nn.batch_flatten"), same_type},
    {op("broadcast_to"), same_type},
    {op("tile"), same_type},
    {op("transpose"), no_permutation},
    {op("strided_slice"), whole_slice},
    {op("nn.pad"), no_padding},
    {op("split"), single},
    {op("concatenate"), single},
    {op("sum"), single},
    {op("maximum"), single},
    {op("minimum"), single},
    {op("mean_of"), single},
    {op("add"), plus_zero},
    {op("subtract"), plus_zero},
    {op("multiply"), times_one},
    {op("divide"), times_one},
    {op("power"), times_one},
};

/// The operand that a call returns as it is, or an empty id. `graph`: where the operands' ids are from.
template <class Values>
ValueId same_as(const Node& n, std::span<const ValueId> operands, const Values& graph) {
  for (const Rule& rule : kRules) {
    if (!n.is(rule.op) || operands.empty() || !operands[0]) continue;
    SmallVec<Operand, 4> known;
    for (ValueId v : operands) known.push_back(v ? Operand{&graph.type(v), graph.data(v)} : Operand{});
    const std::span<const Operand> all(known.data(), known.size());
    if (rule.identity({n, all})) return operands[0];
    if (def(rule.op).commutes && operands.size() == 2) {
      std::swap(known[0], known[1]);
      if (rule.identity({n, all})) return operands[1];
    }
  }
  return {};
}

/// A transpose of a transpose as one: `perm` of the whole, and what it applies
/// to. False when `n` is anything else.
bool merge_transposes(const Node& n, const GraphBuilder& builder, std::vector<ValueId>& operands, Attrs& attrs) {
  if (!n.is(op("transpose"))) return false;
  const Node& inner = builder.node(operands[0].node);
  if (!inner.is(op("transpose"))) return false;
  const auto first = inner.attrs.ints_or_empty("perm");
  const auto second = n.attrs.ints_or_empty("perm");
  if (first.empty() || first.size() != second.size()) return false;
  std::vector<std::int64_t> both;
  for (std::int64_t axis : second) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(first.size())) return false;
    both.push_back(first[axis]);
  }
  attrs.set("perm", both);
  operands[0] = inner.operands[0];
  return true;
}

/// Whether these two transposes leave the order of dims as it was.
bool undoes(const Node& second, const Node& first) {
  const auto inner = first.attrs.ints_or_empty("perm"), outer = second.attrs.ints_or_empty("perm");
  if (inner.empty() || inner.size() != outer.size()) return false;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const std::int64_t axis = outer[i];
    if (axis < 0 || axis >= static_cast<std::int64_t>(inner.size()) || inner[axis] != static_cast<std::int64_t>(i))
      return false;
  }
  return true;
}

/// By node: copies that run_decompositions() wrote. A reshape that has to copy is contiguous() and a view, and
/// scaled_dot_product_attention ends by a transpose, contiguous() and the transpose back.
std::vector<bool> copies_of_decompositions(const Graph& g) {
  std::vector<bool> out(g.size(), false);
  std::vector<bool> kept(g.size(), false);  // read by what is neither
  for (ValueId v : g.results()) kept[v.node] = true;
  for (const Node& n : g.nodes()) {
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (!v || !g.node(v).is(op("contiguous"))) continue;
      const Node& before = g.node(g.node(v).operands[0]);
      const bool back = n.is(op("transpose")) && before.is(op("transpose")) && undoes(n, before);
      (back || (i == 0 && def(n.op).moves == Moves::Reshapes) ? out : kept)[v.node] = true;
    }
  }
  for (NodeId id = 0; id < g.size(); ++id) out[id] = out[id] && !kept[id];
  return out;
}

/// Which calls may go.
struct Removable {
  std::vector<std::uint32_t> result_uses;  ///< by node: users of results other than the first
  std::vector<bool> decomposed;            ///< by node: copies that run_decompositions() wrote; empty: none did
  bool launched;                           ///< those too that may launch a kernel, which computes nothing then

  Removable(const Graph& g, const PassOptions& options)
      : result_uses(g.size(), 0), launched(options.mode == ExecMode::Compiled || !is_pytorch(options.written_by)) {
    for (const Node& n : g.nodes()) {
      for (ValueId v : n.operands) result_uses[v ? v.node : 0] += v && v.result > 0;
    }
    for (ValueId v : g.results()) result_uses[v.node] += v.result > 0;
    if (options.written_by == WrittenBy::Decomposed) decomposed = copies_of_decompositions(g);
  }
  /// Its first result may be another value's then.
  bool has(const Graph& g, NodeId id) const {
    const Node& n = g.node(id);
    return n.kind == NodeKind::Call && !n.results.empty() && result_uses[id] == 0 &&
           (launched || (!decomposed.empty() && decomposed[id]) || def(n.op).runs.launch == Launch::View ||
            def(n.op).runs.launch == Launch::StridedView);
  }
};

/// Is there nothing in the old graph for any rule?
bool unaffected(const Graph& g, const Removable& removable) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (!removable.has(g, id)) continue;
    if (same_as(n, {n.operands.data(), n.operands.size()}, g)) return false;
    if (n.is(op("transpose")) && g.node(n.operands[0]).is(op("transpose"))) return false;
  }
  return true;
}

}  // namespace

Result<Graph> eliminate_identity(Graph graph, const PassOptions& options, Diagnostics& diags) {
  return for_each_region(std::move(graph), diags, [&](Graph g) -> Result<Graph> {
    const Removable removable(g, options);
    if (unaffected(g, removable)) return g;

    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (removable.has(g, id)) {
        std::vector<ValueId> operands = rewriter.operands(id);
        Attrs attrs = n.attrs;
        const bool merged = merge_transposes(n, rewriter.builder(), operands, attrs);
        Node probe = merged ? n : Node{};
        if (merged) probe.attrs = attrs;
        const ValueId same = same_as(merged ? probe : n, operands, rewriter.builder());
        if (same) {
          rewriter.map({id, 0}, same);
          continue;
        }
        if (merged) {
          if (!rewriter.copy_with(id, std::move(operands), std::move(attrs))) return Failure{};
          continue;
        }
      }
      if (!rewriter.copy(id)) return Failure{};
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
