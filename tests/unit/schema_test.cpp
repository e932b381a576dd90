/// Feature columns and matrices.
#include "features/schema.h"

#include <set>

#include "graphs.h"

namespace perfc {
namespace {

std::size_t column(const NodeSchema& s, std::string_view name) {
  const auto& columns = s.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  ADD_FAILURE() << "no column " << name;
  return 0;
}

Graph small() {
  return graph_of(R"(def @main(%x: Tensor[(2, 8, 10, 10), float32]) {
  %1 = weight : Tensor[(16, 4, 3, 5), float32];
  %2 = nn.conv2d(%x, %1, groups=2, kernel_size=[3, 5], strides=[1, 2], padding=[1, 2, 1, 2], dilation=[1, 1]);
  %3 = nn.relu(%2);
  %4 = add(%2, %3);
  (%4)
})");
}

TEST(Schema, DippmHasThePapersThirtyTwoColumns) {
  const NodeSchema& dippm = *find_schema("dippm");
  ASSERT_EQ(dippm.columns().size(), 32u);
  const NodeFeatures f = extract(small(), dippm);
  ASSERT_EQ(f.matrix.rows, 3u);
  const auto conv = [&](std::string_view name) { return f.matrix.at(0, column(dippm, name)); };
  EXPECT_EQ(conv("op:nn.conv2d"), 1);
  EXPECT_EQ(conv("stride_h"), 1);
  EXPECT_EQ(conv("stride_w"), 2);
  EXPECT_EQ(conv("padding_left"), 2);
  EXPECT_EQ(conv("groups"), 2);
  EXPECT_EQ(conv("channels"), 16);
  EXPECT_EQ(conv("kernel_h"), 3);
  EXPECT_EQ(conv("kernel_w"), 5);
  EXPECT_EQ(conv("shape_0"), 2);
  EXPECT_EQ(conv("shape_3"), 5);
  // relu is none of the sixteen operators: its row holds the shape alone.
  for (std::size_t c = 0; c < 28; ++c) EXPECT_EQ(f.matrix.at(1, c), 0) << dippm.columns()[c].name;
}

TEST(Schema, EdgesAreDataFlowBetweenCalls) {
  using Edges = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(data_flow_edges(small()), (Edges{{0, 1}, {0, 2}, {1, 2}}));
}

TEST(Schema, OperatorColumnsFollowTheCostRules) {
  const NodeSchema& ops = *find_schema("perfc-op");
  const NodeFeatures f = extract(small(), ops);
  const auto conv = [&](std::string_view name) { return f.matrix.at(0, column(ops, name)); };
  const double outputs = 2 * 16 * 10 * 5, macs = outputs * 4 * 15;
  EXPECT_EQ(conv("macs"), macs);
  EXPECT_EQ(conv("flops"), 2 * macs);
  EXPECT_EQ(conv("weight_bytes"), 16 * 4 * 15 * 4);
  EXPECT_EQ(conv("bytes_read"), 16 * 4 * 15 * 4 + 2 * 8 * 100 * 4);
  EXPECT_EQ(conv("bytes_written"), outputs * 4);
  EXPECT_EQ(conv("contraction"), 60);
  EXPECT_EQ(conv("kernel_volume"), 15);
  EXPECT_EQ(conv("category:convolution"), 1);
  EXPECT_EQ(f.matrix.at(2, column(ops, "category:elementwise")), 1);
}

/// A call whose second operand is left out has no weight to look at.
TEST(Schema, OperandsMayBeLeftOut) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 8), float32]) {
  %1 = const[6.0] : Tensor[(), float32];
  %2 = clip(%x, _, %1);
  (%2)
})");
  for (const NodeSchema& s : schemas()) EXPECT_EQ(extract(g, s).matrix.rows, 1u) << s.name;
}

TEST(Schema, EveryColumnIsDeclaredOnceWithUnitAndMeaning) {
  for (const NodeSchema& s : schemas()) {
    std::set<std::string> names;
    for (const Column& c : s.columns()) {
      EXPECT_TRUE(names.insert(c.name).second) << c.name;
      EXPECT_FALSE(c.unit.empty()) << c.name;
      EXPECT_FALSE(c.meaning.empty()) << c.name;
    }
  }
}

TEST(Schema, StaticFeaturesOfDippm) {
  EXPECT_EQ(dippm_static(small()), (std::vector<double>{2, 2 * 16 * 50 * 60 / 1e9, 1, 0, 1}));
}

TEST(Normaliser, GivesMeanZeroAndDeviationOneOnItsOwnRows) {
  FeatureMatrix m{4, 3, {1, 0, 5, 2, 9, 5, 3, 99, 5, 4, 999, 5}};
  const auto n = Normaliser::fit(m, {{"a", "1", "a"}, {"b", "byte", "b"}, {"c", "1", "constant"}},
                                 {Normaliser::Scale::Linear, Normaliser::Scale::Log, Normaliser::Scale::Linear});
  ASSERT_TRUE(n.apply(m));
  for (std::size_t c = 0; c < 2; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < 4; ++r) {
      sum += m.at(r, c);
      squares += m.at(r, c) * m.at(r, c);
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(squares / 4, 1, 1e-12);
  }
  // log1p of 0, 9, 99, 999 is evenly spaced.
  EXPECT_NEAR(m.at(1, 1) - m.at(0, 1), m.at(3, 1) - m.at(2, 1), 1e-12);
  EXPECT_EQ(m.at(2, 2), 0);  // a constant column
  FeatureMatrix narrow{1, 2, {1, 2}};
  EXPECT_FALSE(n.apply(narrow));
}

/// A ratio that is the same everywhere differs by its rounding, which says nothing; neither does float32 keep it.
TEST(Normaliser, RoundingIsNoDeviation) {
  FeatureMatrix m{
      3, 2, {std::log(4e3) - std::log(1e3), 1e6, std::log(4e7) - std::log(1e7), 1e6 + 10, std::log(4.0), 1e6 - 10}};
  const auto n = Normaliser::fit(m, {{"ratio", "1", ""}, {"narrow", "1", ""}}, {});
  EXPECT_EQ(n.deviations()[0], 1);
  EXPECT_NEAR(n.deviations()[1], 10 * std::sqrt(2.0 / 3), 1e-9);
}

}  // namespace
}  // namespace perfc
