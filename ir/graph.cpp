#include "ir/graph.h"

#include <algorithm>

namespace perfc {

std::vector<std::uint32_t> Graph::use_counts() const {
  std::vector<std::uint32_t> uses(nodes_.size(), 0);
  for (const Node& n : nodes_) {
    for (ValueId v : n.operands) {
      if (v) ++uses[v.node];
    }
  }
  for (ValueId v : results_) ++uses[v.node];
  return uses;
}

std::vector<bool> Graph::weight_only() const {
  std::vector<bool> weight(nodes_.size(), false);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& n = nodes_[id];
    if (n.kind == NodeKind::Var) continue;
    weight[id] = n.kind == NodeKind::Constant ||
                 (def(n.op).category != Category::Random &&
                  std::all_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return !v || weight[v.node]; }));
  }
  return weight;
}

namespace {

bool same_node(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.name != b.name) return false;
  if (a.kind == NodeKind::Call && a.op != b.op) return false;
  if (!std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end())) return false;
  if (!(a.attrs == b.attrs)) return false;
  if (a.results.size() != b.results.size() || a.regions.size() != b.regions.size()) return false;
  for (std::size_t i = 0; i < a.results.size(); ++i) {
    if (!(a.results[i].type == b.results[i].type)) return false;
  }
  if (a.kind == NodeKind::Constant) {
    const DataRef& x = a.results[0].data;
    const DataRef& y = b.results[0].data;
    if (!x != !y || (x && !(*x == *y))) return false;
  }
  return true;
}

}  // namespace

bool operator==(const Graph& first, const Graph& second) {
  std::vector<std::pair<const Graph*, const Graph*>> work{{&first, &second}};
  while (!work.empty()) {
    const auto [a, b] = work.back();
    work.pop_back();
    if (a == b) continue;
    if (a->name() != b->name() || a->size() != b->size() || a->params() != b->params() ||
        a->results() != b->results() || a->result_names() != b->result_names()) {
      return false;
    }
    for (NodeId id = 0; id < a->size(); ++id) {
      const Node& x = a->node(id);
      const Node& y = b->node(id);
      if (!same_node(x, y)) return false;
      for (std::size_t r = 0; r < x.regions.size(); ++r) { work.emplace_back(x.regions[r].get(), y.regions[r].get()); }
    }
  }
  return true;
}

std::vector<const Graph*> with_bodies(const Graph& graph) {
  std::vector<const Graph*> out{&graph};
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const Node& n : out[i]->nodes()) {
      for (const GraphRef& body : n.regions) out.push_back(body.get());
    }
  }
  return out;
}

std::size_t total_nodes(const Graph& graph) {
  std::size_t total = 0;
  for (const Graph* g : with_bodies(graph)) total += g->size();
  return total;
}

}  // namespace perfc
