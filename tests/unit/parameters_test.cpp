/// What counts as a parameter.
#include "features/parameters.h"

#include "graphs.h"

namespace perfc {
namespace {

Parameters count(const std::string& body) { return count_parameters(graph_of(body)); }

TEST(Parameters, BiasesAndMasksOfAttentionAreTables) {
  const Parameters p = count(R"(def @main(%q: Tensor[(1, 2, 8, 4), float32], %s: Tensor[(2, 8, 8), float32]) {
  %2 = weight : Tensor[(1, 2, 8, 8), float32];
  %3 = nn.sdpa(%q, %q, %q, %2);
  %4 = weight : Tensor[(2, 8, 8), float32];
  %5 = add(%s, %4);
  %6 = nn.softmax(%5, axis=-1);
  (%3, %6)
})");
  EXPECT_EQ(p.tables, 128 + 128);
  EXPECT_EQ(p.learned, 0);
}

TEST(Parameters, RotaryTablesAreNotLearnedButScalesAre) {
  const Parameters p = count(R"(def @main(%x: Tensor[(1, 2, 8, 4), float32]) {
  %1 = weight : Tensor[(8, 4), float32];
  %2 = multiply(%x, %1);
  %3 = weight : Tensor[(4,), float32];
  %4 = multiply(%2, %3);
  %5 = weight : Tensor[(2, 1, 1), float32];
  %6 = multiply(%4, %5);
  (%6)
})");
  EXPECT_EQ(p.tables, 32);
  EXPECT_EQ(p.learned, 4 + 2);
}

/// Group normalisation in parts: the scale meets the deviation, not the data.
TEST(Parameters, ScalesOfGroupsAreLearned) {
  const Parameters p =
      count(R"(def @main(%deviation: Tensor[(1, 1, 1, 4, 1), float32], %x: Tensor[(1, 8, 8, 4, 16), float32]) {
  %2 = weight : Tensor[(1, 1, 1, 4, 16), float32];
  %3 = multiply(%deviation, %2);
  %4 = multiply(%x, %3);
  (%4)
})");
  EXPECT_EQ(p.learned, 64);
  EXPECT_EQ(p.tables, 0);
}

TEST(Parameters, WhatTheFileCallsATableIsOne) {
  const Parameters p = count(R"(def @main(%x: Tensor[(2, 4), float32]) {
  %1 = table weight : Tensor[(4,), float32];
  %2 = multiply(%x, %1);
  %3 = table const[0.5, 0.25, 0.5, 0.75] : Tensor[(4,), float32] @"mean";
  %4 = subtract(%2, %3);
  %5 = weight : Tensor[(4,), float32];
  %6 = add(%4, %5);
  (%6)
})");
  EXPECT_EQ(p.learned, 4);
  EXPECT_EQ(p.tables, 8);
}

TEST(Parameters, WhatAlsoFeedsSomethingElseIsLearned) {
  const Parameters p = count(R"(def @main(%q: Tensor[(1, 2, 8, 4), float32]) {
  %1 = weight : Tensor[(1, 2, 8, 8), float32];
  %2 = nn.sdpa(%q, %q, %q, %1);
  %3 = nn.batch_matmul(%1, %q);
  (%2, %3)
})");
  EXPECT_EQ(p.learned, 128);
}

TEST(Parameters, PositionEmbeddingsAreLearned) {
  const Parameters p = count(R"(def @main(%x: Tensor[(1, 8, 4), float32]) {
  %1 = weight : Tensor[(1, 8, 4), float32];
  %2 = add(%x, %1);
  (%2)
})");
  EXPECT_EQ(p.learned, 32);
  EXPECT_EQ(p.tables, 0);
}

TEST(Parameters, BelongToTheirFirstReader) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 4), float32]) {
  %1 = weight : Tensor[(4, 4), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.dense(%2, %1);
  %4 = weight : Tensor[(4,), float32];
  %5 = add(%3, %4);
  %6 = table weight : Tensor[(4,), float32];
  %7 = add(%5, %6);
  (%7)
})");
  EXPECT_EQ(learned_parameters_by_reader(g), (std::vector<double>{0, 0, 16, 0, 0, 4, 0, 0}));
}

}  // namespace
}  // namespace perfc
