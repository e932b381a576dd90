#pragma once
/// Several graphs as one: rows of all graphs one after the other, and who sends
/// to whom. The adjacency matrix of the batch is block-diagonal, so no message
/// leaves its graph; nothing is padded.
///
/// Edges are kept twice, by receiver and by sender, as offsets into flat arrays
/// (compressed sparse rows): forward passes gather from senders, backward passes
/// from receivers, and no thread ever adds into another one's row.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/support/diagnostics.h"

namespace perfc {

/// One graph: rows 0..nodes−1 and edges (sender, receiver) between them, as
/// `data_flow_edges` of features/schema.h returns them.
struct Adjacency {
  std::size_t nodes = 0;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  /// Merged graphs (features/kernel_graph.h) have edges from a node to itself: a
  /// node of the class feeds another one of the same class.
  enum class SelfEdges : unsigned char { Refuse, Allow };
  SelfEdges self_edges = SelfEdges::Refuse;
};

class GraphBatch {
 public:
  using Index = std::uint32_t;

  /// Refuses edges out of range, edges from a node to itself where the adjacency
  /// does (layers that want them add their own), and more than 2^31 nodes or edges.
  static Result<GraphBatch> join(std::span<const Adjacency* const>, Diagnostics&);

  std::size_t graphs() const { return node_offsets_.size() - 1; }
  std::size_t nodes() const { return node_offsets_.back(); }
  std::size_t edges() const { return senders_.size(); }

  /// Rows [first(g), first(g + 1)) belong to graph g.
  std::size_t first(std::size_t graph) const { return node_offsets_[graph]; }
  /// The graph of each node.
  std::span<const Index> graph_of() const { return graph_of_; }

  /// Edges [in(n), in(n + 1)) end in node n; senders()[e] is where edge e starts.
  std::size_t in(std::size_t node) const { return in_offsets_[node]; }
  std::span<const Index> senders() const { return senders_; }
  std::size_t in_degree(std::size_t node) const { return in_offsets_[node + 1] - in_offsets_[node]; }
  std::span<const Index> senders_of(std::size_t node) const { return senders().subspan(in(node), in_degree(node)); }

  /// The same edges by sender: positions [out(n), out(n + 1)) start in node n;
  /// receivers()[p] is where they end, out_edges()[p] their index in `senders()`.
  std::size_t out(std::size_t node) const { return out_offsets_[node]; }
  std::span<const Index> receivers() const { return receivers_; }
  std::span<const Index> out_edges() const { return out_edges_; }
  std::span<const Index> receivers_of(std::size_t node) const {
    return receivers().subspan(out(node), out_offsets_[node + 1] - out(node));
  }

 private:
  std::vector<Index> node_offsets_{0}, graph_of_;
  std::vector<Index> in_offsets_{0}, senders_;
  std::vector<Index> out_offsets_{0}, receivers_, out_edges_;
};

}  // namespace perfc
