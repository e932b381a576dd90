#include "features/parameters.h"

#include <algorithm>

#include "ir/ops/attention_operands.h"
#include "ir/tables.h"

namespace perfc {
namespace {

/// What stands between a table and the softmax that its scores enter.
bool keeps_scores(const Node& n) {
  if (n.kind != NodeKind::Call) return false;
  const OpDef& d = def(n.op);
  return d.on_scores != OnScores::Nothing || d.moves == Moves::Converts || d.category == Category::Shape;
}

/// Whether that operand is attention scores, or is added to them. `score`: the result is.
bool reads_scores(const Node& n, std::size_t operand, bool score) {
  if (n.is(op("nn.sdpa"))) return operand == AttentionOperand::kMask;
  return n.is(op("nn.softmax")) || (score && keeps_scores(n));
}

/// Values that are attention scores or are added to them, by node.
std::vector<bool> scores(const Graph& g) {
  std::vector<bool> out(g.size(), false);
  for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
    const Node& n = g.node(id);
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (n.operands[i] && reads_scores(n, i, out[id])) out[n.operands[i].node] = true;
    }
  }
  return out;
}

bool varies_along_two_dims(const Type& t) {
  return std::ranges::count_if(t.shape(), [](const Dim& d) { return d.value() > 1; }) >= 2;
}

/// Does every use of each node read it as a table?
std::vector<bool> tables(const Graph& g) {
  const std::vector<bool> score = scores(g);
  std::vector<bool> out(g.size(), true), used(g.size(), false);
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (!v || g.node(v).kind != NodeKind::Constant) continue;
      // What a table is multiplied with is the data; the scale of a norm meets the norm's statistics.
      const bool meets_data = std::ranges::any_of(n.operands, [&](ValueId o) {
        return o && o != v && g.type(o) == g.type({id, 0});
      });
      const bool rotary =
          n.is(op("multiply")) && meets_data && g.type(v).is_static() && varies_along_two_dims(g.type(v));
      used[v.node] = true;
      out[v.node] = out[v.node] && (rotary || reads_scores(n, i, score[id]));
    }
  }
  for (NodeId id = 0; id < g.size(); ++id) out[id] = (out[id] && used[id]) || g.node(id).attrs.has(kTable);
  return out;
}

/// Elements of a constant, where it is a parameter of the network, be it learned or a table.
double parameter_elements(const Graph& g, NodeId id) {
  if (g.node(id).kind != NodeKind::Constant) return 0;
  const Type& t = g.node(id).results[0].type;
  if (!t.is_tensor() || !t.is_static() || t.rank() == 0) return 0;
  const bool weight = is_float(t.dtype()) || (is_integer(t.dtype()) && bits(t.dtype()) <= 8);
  return weight ? static_cast<double>(*t.elements()) : 0;
}

}  // namespace

Parameters count_parameters(const Graph& graph) {
  Parameters out;
  for (const Graph* g : with_bodies(graph)) {
    const std::vector<bool> table = tables(*g);
    for (NodeId id = 0; id < g->size(); ++id) (table[id] ? out.tables : out.learned) += parameter_elements(*g, id);
  }
  return out;
}

std::vector<double> learned_parameters_by_reader(const Graph& graph) {
  std::vector<double> out(graph.size(), 0);
  const std::vector<bool> table = tables(graph);
  std::vector<bool> read(graph.size(), false);
  for (NodeId id = 0; id < graph.size(); ++id) {
    for (const ValueId v : graph.node(id).operands) {
      if (!v || read[v.node] || table[v.node]) continue;
      read[v.node] = true;
      out[id] += parameter_elements(graph, v.node);
    }
    for (const GraphRef& body : graph.node(id).regions) out[id] += count_parameters(*body).learned;
  }
  return out;
}

}  // namespace perfc
