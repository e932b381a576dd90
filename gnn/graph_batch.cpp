#include "gnn/graph_batch.h"

#include <fmt/format.h>

namespace perfc {

Result<GraphBatch> GraphBatch::join(std::span<const Adjacency* const> parts, Diagnostics& diags) {
  constexpr std::size_t kLimit = std::size_t{1} << 31;
  std::size_t nodes = 0, edges = 0;
  for (const Adjacency* a : parts) {
    if (a->nodes > kLimit - nodes || a->edges.size() > kLimit - edges) {
      return diags.error("graph batch: more than 2^31 nodes or edges");
    }
    for (const auto& [from, to] : a->edges) {
      if (from >= a->nodes || to >= a->nodes) {
        return diags.error(fmt::format("graph batch: edge {} -> {} in a graph of {} nodes", from, to, a->nodes));
      }
      if (from == to && a->self_edges == Adjacency::SelfEdges::Refuse)
        return diags.error(fmt::format("graph batch: edge from node {} to itself", from));
    }
    nodes += a->nodes;
    edges += a->edges.size();
  }

  GraphBatch b;
  b.node_offsets_.reserve(parts.size() + 1);
  b.graph_of_.reserve(nodes);
  b.in_offsets_.assign(nodes + 1, 0);
  b.out_offsets_.assign(nodes + 1, 0);
  for (const Adjacency* a : parts) {
    const std::size_t base = b.nodes();
    for (const auto& [from, to] : a->edges) {
      ++b.in_offsets_[base + to + 1];
      ++b.out_offsets_[base + from + 1];
    }
    b.graph_of_.resize(base + a->nodes, static_cast<Index>(b.graphs()));
    b.node_offsets_.push_back(static_cast<Index>(base + a->nodes));
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    b.in_offsets_[n + 1] += b.in_offsets_[n];
    b.out_offsets_[n + 1] += b.out_offsets_[n];
  }

  b.senders_.resize(edges);
  std::vector<Index> next(b.in_offsets_.begin(), b.in_offsets_.end() - 1);
  for (std::size_t g = 0; g < parts.size(); ++g) {
    const auto base = b.node_offsets_[g];
    for (const auto& [from, to] : parts[g]->edges) { b.senders_[next[base + to]++] = base + static_cast<Index>(from); }
  }
  // Transposing the rows by receiver keeps each sender's edges in receiver order.
  b.receivers_.resize(edges);
  b.out_edges_.resize(edges);
  next.assign(b.out_offsets_.begin(), b.out_offsets_.end() - 1);
  for (std::size_t n = 0; n < nodes; ++n) {
    for (std::size_t e = b.in(n); e < b.in(n + 1); ++e) {
      const Index p = next[b.senders_[e]]++;
      b.receivers_[p] = static_cast<Index>(n);
      b.out_edges_[p] = static_cast<Index>(e);
    }
  }
  return b;
}

}  // namespace perfc
