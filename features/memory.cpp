#include "features/memory.h"

#include <algorithm>
#include <cmath>

#include "features/framework.h"

namespace perfc {
namespace {

double tensor_bytes(const Type& t, double float_width) {
  if (t.kind() == TypeKind::Sequence || t.kind() == TypeKind::Optional) return tensor_bytes(t.element(), float_width);
  if (!t.is_static() || !t.is_tensor()) return 0;
  const double own = bits(t.dtype()) / 8.0;
  return static_cast<double>(*t.elements()) * (t.dtype() == DType::Float32 ? std::min(own, float_width) : own);
}

double rounded(double bytes) { return std::ceil(bytes / kAllocatorRounding) * kAllocatorRounding; }

bool shares_operand(const Graph& g, const Node& n) {
  if (n.kind != NodeKind::Call || n.operands.empty() || !n.operands[0]) return false;
  return def(n.op).category == Category::Shape || n.is(op("copy")) || n.is(op("nn.dropout")) || is_strided_view(g, n);
}

}  // namespace

ActivationMemory peak_activations(const Graph& graph, double float_width, ExecMode mode) {
  ActivationMemory out;
  // The node whose memory each node's results live in.
  std::vector<NodeId> owner(graph.size());
  std::vector<NodeId> last_use(graph.size(), 0);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    owner[id] = shares_operand(graph, n) ? owner[n.operands[0].node] : id;
    for (ValueId v : n.operands) {
      if (v) last_use[owner[v.node]] = std::max(last_use[owner[v.node]], id);
    }
  }
  const auto end = static_cast<NodeId>(graph.size());
  for (ValueId v : graph.results()) last_use[owner[v.node]] = end;
  std::vector<std::vector<NodeId>> dies(graph.size() + 1);
  std::vector<double> size(graph.size(), 0);
  double live = 0;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::Constant && owner[id] == id) {
      for (const ResultInfo& r : n.results) {
        const double bytes = tensor_bytes(r.type, float_width);
        size[id] += rounded(bytes);
        out.largest_bytes = std::max(out.largest_bytes, bytes);
      }
      live += size[id];
      dies[std::max(last_use[id], id)].push_back(id);
    }
    double inside = 0;
    if (mode == ExecMode::Eager) {
      if (const auto attention = written_out_attention(graph, id)) inside = 2 * rounded(attention->scores * float_width);
    }
    for (const GraphRef& body : n.regions) {
      const ActivationMemory m = peak_activations(*body, float_width, mode);
      inside = std::max(inside, m.peak_bytes);
      out.largest_bytes = std::max(out.largest_bytes, m.largest_bytes);
    }
    out.peak_bytes = std::max(out.peak_bytes, live + inside);
    for (NodeId dead : dies[id]) live -= size[dead];
  }
  return out;
}

double weight_bytes(const Graph& graph, double float_width) {
  double total = 0;
  for (const Graph* g : with_bodies(graph)) {
    for (const Node& n : g->nodes()) {
      if (n.kind == NodeKind::Constant) total += tensor_bytes(n.results[0].type, float_width);
    }
  }
  return total;
}

}  // namespace perfc
