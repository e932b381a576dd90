#include "ir/bgl.h"

#include <gtest/gtest.h>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>

#include "ir/dot.h"
#include "ir/text/parser.h"

namespace perfc {
namespace {

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<DataFlow>));

Graph parsed(const std::string& text) {
  Diagnostics diags("graph.pir");
  auto graph = parse_graph("#[version = \"perfc-ir/1\"]\n" + text, diags);
  EXPECT_TRUE(graph) << diags.str();
  return graph ? std::move(*graph) : Graph();
}

Graph diamond() {
  return parsed(
      "def @diamond(%x: Tensor[(4,), float32]) -> (y: Tensor[(4,), float32]) {\n"
      "  %1 = exp(%x);\n"
      "  %2 = clip(%x, _, %x);\n"
      "  %3 = log(%x) @dead;\n"
      "  %4 = add(%1, %2);\n"
      "  (%4)\n"
      "}\n");
}

TEST(BoostGraph, EdgesLeadFromOperandToUser) {
  const Graph g = diamond();
  const DataFlow flow(g);
  EXPECT_EQ(num_vertices(flow), 5u);
  EXPECT_EQ(num_edges(flow), 6u);
  EXPECT_EQ(out_degree(0, flow), 4u);
  EXPECT_EQ(in_degree(2, flow), 2u);
  EXPECT_EQ(degree(4, flow), 2u);
  const auto [first, last] = in_edges(2, flow);
  const std::vector<DataFlow::Edge> in(first, last);
  EXPECT_EQ(in, (std::vector<DataFlow::Edge>{{0, 2, 0, 0}, {0, 2, 2, 0}}));
}

TEST(BoostGraph, TopologicalSort) {
  const Graph g = diamond();
  const DataFlow flow(g);
  std::vector<NodeId> users_first;
  boost::topological_sort(flow, std::back_inserter(users_first));
  std::vector<std::size_t> place(g.size());
  for (std::size_t i = 0; i < users_first.size(); ++i) place[users_first[i]] = i;
  ASSERT_EQ(users_first.size(), 5u);
  for (NodeId id = 0; id < g.size(); ++id) {
    for (ValueId v : g.node(id).operands) {
      if (!v) continue;
      EXPECT_GT(place[v.node], place[id]);
    }
  }
}

TEST(BoostGraph, BreadthFirstDistances) {
  const Graph g = diamond();
  const DataFlow flow(g);
  std::vector<int> distance(g.size(), 0);
  boost::breadth_first_search(
      flow, NodeId{0},
      boost::visitor(boost::make_bfs_visitor(boost::record_distances(distance.data(), boost::on_tree_edge()))));
  EXPECT_EQ(distance, (std::vector<int>{0, 1, 1, 1, 2}));
}

TEST(BoostGraph, EmptyGraph) {
  const Graph g = parsed("def @main() { () }");
  const DataFlow flow(g);
  std::vector<NodeId> order;
  boost::topological_sort(flow, std::back_inserter(order));
  EXPECT_TRUE(order.empty());
}

TEST(Dot, RegionsAreClusters) {
  const Graph g = parsed(
      "def @\"a \\\"b\\\"\"(%c: Tensor[(), bool], %x: Tensor[(4,), float32]) -> (y: Tensor[(4,), float32], "
      "Tensor[(2,), float32]) {\n"
      "  %2 = if(%c, %x, captures=1) @choice {\n"
      "    fn @yes(%v: Tensor[(4,), float32]) { %1 = exp(%v); (%1) }\n"
      "    fn @no(%v: Tensor[(4,), float32]) { (%v) }\n"
      "  };\n"
      "  %3 = weight : Tensor[(4,), float32] @w;\n"
      "  %4:2 = split(%3, axis=0, num_outputs=2) : (Tensor[(2,), float32], Tensor[(2,), float32]);\n"
      "  %5 = nn.relu(%4.1);\n"
      "  (%2, %5)\n"
      "}\n");
  EXPECT_EQ(print_dot(g),
            "digraph \"a \\\"b\\\"\" {\n"
            "  node [shape=box, fontname=\"Helvetica\", fontsize=10];\n"
            "  edge [fontname=\"Helvetica\", fontsize=8];\n"
            "  n0 [shape=ellipse, label=\"c\\nTensor[(), bool]\"];\n"
            "  n1 [shape=ellipse, label=\"x\\nTensor[(4,), float32]\"];\n"
            "  n2 [label=\"if\\nchoice\\nTensor[(4,), float32]\"];\n"
            "  subgraph cluster_n2_0_ {\n"
            "    label=\"if yes\";\n"
            "    n2_0_0 [shape=ellipse, label=\"v\\nTensor[(4,), float32]\"];\n"
            "    n2_0_1 [label=\"exp\\nTensor[(4,), float32]\"];\n"
            "    n2_0_0 -> n2_0_1;\n"
            "  }\n"
            "  n2_0_1 -> n2 [style=dotted];\n"
            "  subgraph cluster_n2_1_ {\n"
            "    label=\"if no\";\n"
            "    n2_1_0 [shape=ellipse, label=\"v\\nTensor[(4,), float32]\"];\n"
            "  }\n"
            "  n2_1_0 -> n2 [style=dotted];\n"
            "  n3 [style=dashed, label=\"w\\nTensor[(4,), float32]\"];\n"
            "  n4 [label=\"split\\nTensor[(2,), float32]\\nTensor[(2,), float32]\"];\n"
            "  n5 [label=\"nn.relu\\nTensor[(2,), float32]\"];\n"
            "  n0 -> n2;\n"
            "  n1 -> n2;\n"
            "  n3 -> n4;\n"
            "  n4 -> n5 [taillabel=\"1\"];\n"
            "  r0 [shape=ellipse, label=\"y\"];\n"
            "  n2 -> r0;\n"
            "  r1 [shape=ellipse, label=\"result 1\"];\n"
            "  n5 -> r1;\n"
            "}\n");
}

}  // namespace
}  // namespace perfc
