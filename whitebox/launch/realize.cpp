#include "whitebox/launch/realize.h"

#include <algorithm>
#include <optional>
#include <set>

#include "whitebox/constants/compiled.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

/// One position per channel: what squeeze and excite computes on. Its convolutions have biases, not norms.
bool is_pooled(const Type& t) {
  return t.is_static() && t.rank() == 4 && t.shape()[2].value() == 1 && t.shape()[3].value() == 1;
}

class Realizer {
 public:
  Realizer(const Graph& g, const std::vector<bool>& adds_itself, const DataLayout& layout)
      : g_(g), adds_itself_(adds_itself), readers_(g.size()), only_computing_(g.size(), true), reads_(g.size()) {
    for (ValueId v : g.results()) only_computing_[v.node] = false;
    for (NodeId id = g.size(); id-- > 0;) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call) continue;
      const bool computes = is_any_view(g, n) ? only_computing_[id] && readers_[id].any() && !layout.copied[id]
                                              : is_elementwise(n) || is_reduction(g, n) ||
                                                    def(n.op).category == Category::Reduction ||
                                                    def(n.op).category == Category::Softmax;
      for (ValueId v : n.operands) {
        if (!v) continue;
        if (!computes) only_computing_[v.node] = false;
        readers_[v.node].add(is_any_view(g, n) ? readers_[id] : Readers{id});
      }
    }
  }

  void inline_calls(Realization& to) {
    std::vector<bool>& out = to.inlined;
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Call || (!is_any_view(g_, n) && !is_elementwise(n))) continue;
      Reads& r = reads_[id];
      for (ValueId v : n.operands) {
        if (!v) continue;
        if (out[v.node]) {
          const Reads& through = reads_[v.node];
          r.values.insert(through.values.begin(), through.values.end());
          r.statistics = std::max(r.statistics, through.statistics);
          r.operations += through.operations;
        } else if (g_.node(v).kind != NodeKind::Constant || g_.type(v).rank() > 0) {
          r.values.insert(v);
        }
      }
      if (is_any_view(g_, n)) {
        out[id] = only_computing_[id] && n.operands[0] && out[n.operands[0].node];
        if (out[id]) to.looks[id] = look_through(g_, to, n.operands[0]);
        continue;
      }
      r.operations += def(n.op).category == Category::Activation ? constants::kOperationsOfActivation
                                                                 : constants::kOperationsOfElementwise;
      if (is_folded_norm(g_, n)) r.statistics = constants::kStatistics;
      if (!only_computing_[id] || adds_itself_[id]) continue;
      const std::size_t most = readers_[id].several ? constants::kMostReads : constants::kMostReadsOfOneReader;
      out[id] = r.values.size() + r.statistics <= most && r.operations <= constants::kMostOperations;
    }
  }

  /// The norm that a product's operand is, behind views, if nothing else reads it.
  std::optional<NodeId> norm_behind(ValueId v) const {
    while (g_.node(v).kind == NodeKind::Call && is_any_view(g_, g_.node(v))) v = g_.node(v).operands[0];
    const Node& n = g_.node(v);
    if (n.kind != NodeKind::Call || !readers_[v.node].any() || readers_[v.node].several) return std::nullopt;
    return is_row_norm(n) ? std::optional(v.node) : std::nullopt;
  }

 private:
  /// Who reads a value, as far as it matters.
  struct Readers {
    NodeId first = ValueId::kNone;
    bool several = false;
    bool any() const { return first != ValueId::kNone; }
    void add(const Readers& other) {
      several = several || other.several || (any() && other.any() && first != other.first);
      if (!any()) first = other.first;
    }
  };
  struct Reads {
    std::set<ValueId> values;
    std::size_t statistics = 0;
    int operations = 0;
  };

  const Graph& g_;
  const std::vector<bool>& adds_itself_;
  std::vector<Readers> readers_;      ///< of each node, through views
  std::vector<bool> only_computing_;  ///< by node: what reads it could compute it as well
  std::vector<Reads> reads_;
};

}  // namespace

bool is_folded_norm(const Graph& g, const Node& n) {
  if (!n.is(op("nn.bias_add"))) return false;
  const Node& from = g.node(n.operands[0]);
  return from.kind == NodeKind::Call && def(from.op).category == Category::Convolution &&
         g.node(from.operands[1]).kind != NodeKind::Call && !is_pooled(g.type(n.operands[0]));
}

Look look_through(const Graph& g, const Realization& r, ValueId v) {
  if (!r.inlined[v.node] || !is_any_view(g, g.node(v))) return {v, 1, {}};
  const ValueId whole = g.node(v).operands[0];
  const auto elements = [&](ValueId x) { return static_cast<double>(g.type(x).elements().value_or(0)); };
  Look out = r.looks[v.node];
  if (elements(whole) > elements(v)) {
    out.share *= elements(v) / elements(whole);
    out.part = v;
  }
  return out;
}

Realization realize(const Graph& g, const std::vector<bool>& adds_itself, const DataLayout& layout,
                    const std::vector<bool>& weight) {
  Realizer realizer(g, adds_itself, layout);
  const std::vector<bool> none(g.size(), false);
  Realization out{none, std::vector<Look>(g.size()), none, none};
  realizer.inline_calls(out);
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || !n.is(op("nn.dense")) || !compiled_copies_data(g, id, layout, weight)) continue;
    const auto norm = realizer.norm_behind(n.operands[0]);
    if (norm) out.two_kernels[*norm] = out.in_order[id] = true;
  }
  return out;
}

}  // namespace perfc
