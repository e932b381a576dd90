#pragma once
/// A Graph as the Boost.Graph library sees graphs, for its algorithms.
///
/// Vertices are node ids; there is one edge per operand, from the node that
/// computes it to the node that uses it, so parallel edges occur. Models
/// VertexListGraph, EdgeListGraph and BidirectionalGraph. Regions are graphs of
/// their own and do not show. A view: the Graph must outlive it. Building it
/// takes time and memory linear in the number of operands.
///
///   const DataFlow flow(graph);
///   std::vector<NodeId> order;
///   boost::topological_sort(flow, std::back_inserter(order));   // users first
#include <algorithm>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>
#include <vector>

#include "ir/graph.h"

namespace perfc {

class DataFlow {
 public:
  /// One use of a value.
  struct Edge {
    NodeId source = 0;         ///< computes the value
    NodeId target = 0;         ///< uses it
    std::uint32_t slot = 0;    ///< as this operand
    std::uint32_t result = 0;  ///< which result of `source`
    friend bool operator==(const Edge&, const Edge&) = default;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  explicit DataFlow(const Graph& graph)
      : graph_(&graph), first_in_(graph.size() + 1, 0), first_out_(graph.size() + 1, 0) {
    for (NodeId id = 0; id < graph.size(); ++id) {
      const auto& operands = graph.node(id).operands;
      for (std::uint32_t slot = 0; slot < operands.size(); ++slot) {
        if (!operands[slot]) continue;
        by_target_.push_back({operands[slot].node, id, slot, operands[slot].result});
        ++first_out_[operands[slot].node + 1];
      }
      first_in_[id + 1] = by_target_.size();
    }
    for (NodeId id = 0; id < graph.size(); ++id) first_out_[id + 1] += first_out_[id];
    by_source_.resize(by_target_.size());
    std::vector<std::size_t> next(first_out_.begin(), first_out_.end());
    for (const Edge& e : by_target_) by_source_[next[e.source]++] = e;
  }

  const Graph& graph() const { return *graph_; }
  std::size_t size() const { return graph_->size(); }

  using EdgeRange = std::pair<const Edge*, const Edge*>;
  EdgeRange all() const { return {by_target_.data(), by_target_.data() + by_target_.size()}; }
  EdgeRange into(NodeId v) const { return {by_target_.data() + first_in_[v], by_target_.data() + first_in_[v + 1]}; }
  EdgeRange out_of(NodeId v) const {
    return {by_source_.data() + first_out_[v], by_source_.data() + first_out_[v + 1]};
  }

 private:
  const Graph* graph_;
  std::vector<Edge> by_target_, by_source_;
  std::vector<std::size_t> first_in_, first_out_;  // by node: where its edges begin
};

// ---- What Boost.Graph looks up by argument-dependent lookup

inline auto vertices(const DataFlow& g) {
  return std::pair(boost::counting_iterator<NodeId>(0),
                   boost::counting_iterator<NodeId>(static_cast<NodeId>(g.size())));
}
inline std::size_t num_vertices(const DataFlow& g) { return g.size(); }
inline DataFlow::EdgeRange edges(const DataFlow& g) { return g.all(); }
inline std::size_t num_edges(const DataFlow& g) { return static_cast<std::size_t>(g.all().second - g.all().first); }
inline NodeId source(const DataFlow::Edge& e, const DataFlow&) { return e.source; }
inline NodeId target(const DataFlow::Edge& e, const DataFlow&) { return e.target; }
inline DataFlow::EdgeRange out_edges(NodeId v, const DataFlow& g) { return g.out_of(v); }
inline DataFlow::EdgeRange in_edges(NodeId v, const DataFlow& g) { return g.into(v); }
inline std::size_t out_degree(NodeId v, const DataFlow& g) {
  return static_cast<std::size_t>(g.out_of(v).second - g.out_of(v).first);
}
inline std::size_t in_degree(NodeId v, const DataFlow& g) {
  return static_cast<std::size_t>(g.into(v).second - g.into(v).first);
}
inline std::size_t degree(NodeId v, const DataFlow& g) { return in_degree(v, g) + out_degree(v, g); }
inline boost::typed_identity_property_map<NodeId> get(boost::vertex_index_t, const DataFlow&) { return {}; }
inline NodeId get(boost::vertex_index_t, const DataFlow&, NodeId v) { return v; }

}  // namespace perfc

namespace boost {

template <>
struct graph_traits<perfc::DataFlow> {
  using vertex_descriptor = perfc::NodeId;
  using edge_descriptor = perfc::DataFlow::Edge;
  using directed_category = bidirectional_tag;
  using edge_parallel_category = allow_parallel_edge_tag;
  struct traversal_category : vertex_list_graph_tag, edge_list_graph_tag, bidirectional_graph_tag {};
  using vertex_iterator = counting_iterator<perfc::NodeId>;
  using edge_iterator = const perfc::DataFlow::Edge*;
  using out_edge_iterator = const perfc::DataFlow::Edge*;
  using in_edge_iterator = const perfc::DataFlow::Edge*;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return perfc::ValueId::kNone; }
};

template <>
struct property_map<perfc::DataFlow, vertex_index_t> {
  using type = typed_identity_property_map<perfc::NodeId>;
  using const_type = type;
};

}  // namespace boost
