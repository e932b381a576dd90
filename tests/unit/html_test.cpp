/// Pages: the drawing of graphs, memory over the execution order, what names may not do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graphs.h"
#include "html/graph_data.h"
#include "html/layout.h"
#include "html/page.h"
#include "pipeline/details.h"
#include "whitebox/memory/memory_course.h"

namespace perfc {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

TEST(LayeredLayout, OperandsStandAboveTheirUsers) {
  const Edges edges{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {0, 4}};
  const LayeredLayout l = layered_layout(5, edges);
  EXPECT_EQ(l.layer, (std::vector<std::uint32_t>{0, 1, 2, 2, 3}));
  EXPECT_EQ(l.layers, 4u);
  EXPECT_GE(std::abs(l.x[2] - l.x[3]), 1);             // neighbours in a layer
  EXPECT_NEAR(l.x[1], (l.x[2] + l.x[3]) / 2, 0.51);    // over the middle of what it feeds
  ASSERT_EQ(l.on[5].size(), 2u);                       // the long edge passes two layers …
  EXPECT_GE(std::abs(l.on[5][1] - l.x[2]), 1 - 1e-5);  // … beside the nodes in them
  EXPECT_GE(std::abs(l.on[5][1] - l.x[3]), 1 - 1e-5);
  EXPECT_EQ(*std::ranges::min_element(l.x), 0);
}

TEST(LayeredLayout, AnInputStandsOverItsFirstUser) {
  // A chain of six; a second input joins at its end.
  const LayeredLayout l = layered_layout(7, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 6}, {5, 6}});
  EXPECT_EQ(l.layer[5], l.layer[6] - 1);
}

TEST(LayeredLayout, LongGraphsStandUpright) {
  // Residual blocks, a thousand of them, whose skips lie at one side.
  Edges edges;
  for (std::uint32_t at = 0; at < 4000; at += 4) {
    for (std::uint32_t i = 0; i < 4; ++i) edges.emplace_back(at + i, at + i + 1);
    edges.emplace_back(at, at + 4);
  }
  EXPECT_LE(layered_layout(4001, edges).width, 4);
}

TEST(LayeredLayout, EmptyAndApart) {
  EXPECT_EQ(layered_layout(0, {}).layers, 0u);
  const LayeredLayout l = layered_layout(3, {});
  EXPECT_EQ(l.layers, 1u);
  EXPECT_EQ(l.width, 2);
}

TEST(LayeredLayout, EdgesOverManyLayersRunStraight) {
  Edges edges;
  for (std::uint32_t i = 0; i < 4000; ++i) edges.emplace_back(i, i + 1);
  for (std::uint32_t i = kLongestRoute + 1; i <= 4000; ++i) edges.emplace_back(0, i);
  const LayeredLayout l = layered_layout(4001, edges);
  std::size_t places = 0;
  for (const auto& on : l.on) places += on.size();
  EXPECT_EQ(places, 0u);
  EXPECT_LE(l.width, 1);
}

constexpr const char* kSkip = R"(
def @main(%x: Tensor[(1048576), float32]) {
  %1 = exp(%x) : Tensor[(1048576), float32];
  %2 = negative(%1) : Tensor[(1048576), float32];
  %3 = add(%1, %2) : Tensor[(1048576), float32];
  (%3)
}
)";

TEST(MemoryCourse, IsTheRunOfMemoryNeeds) {
  const Graph g = graph_of(kSkip);
  for (const Task task : {Task::Infer, Task::Forward, Task::Train}) {
    const ExecConfig config{.task = task};
    const MemoryCourse c = memory_course(g, config);
    double most = c.before, held = 0;
    for (const MemoryMoment& m : c.moments) {
      EXPECT_GE(m.most, m.after);
      most = std::max(most, m.most);
    }
    for (const auto& [node, bytes] : c.held) held += bytes;
    EXPECT_EQ(most, memory_needs(g, config).allocated);
    EXPECT_EQ(c.moments[c.peak].most, most);
    EXPECT_EQ(held, most);
  }
}

TEST(MemoryCourse, ByHand) {
  constexpr double kTensor = 4.0 * 1048576;
  const MemoryCourse c = memory_course(graph_of(kSkip), {});
  ASSERT_EQ(c.moments.size(), 3u);   // of operators
  EXPECT_EQ(c.before, 2 * kTensor);  // the input and the last result
  EXPECT_EQ(c.moments[0].most, 3 * kTensor);
  EXPECT_EQ(c.moments[1].most, 4 * kTensor);
  EXPECT_EQ(c.moments[1].after, 4 * kTensor);  // the sum reads both
  EXPECT_EQ(c.moments[2].most, 5 * kTensor);
  EXPECT_EQ(c.peak, 2u);
}

TEST(Page, NamesEndNoScript) {
  const std::string page =
      to_string(Page{.title = "<b>", .body = "<main></main>\n", .data = R"({"n":"</script><!--"})"});
  EXPECT_NE(page.find("<title>&lt;b&gt;</title>"), std::string::npos);
  EXPECT_NE(page.find(R"({"n":"\u003c/script>\u003c!--"})"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("Michael Bostock"), std::string::npos);  // D3's licence
}

TEST(Page, GraphsHaveNoMarkup) {
  Graph g = graph_of(kSkip);
  const std::string json = graph_json(g);
  EXPECT_NE(json.find(R"("ops":["input","exp","negative","add"])"), std::string::npos) << json;
  EXPECT_NE(json.find(R"j("types":["float32 (1048576,)"])j"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("edges":[0,1,1,2,1,3,2,3])"), std::string::npos) << json;
}

TEST(Details, BatchesAround) {
  EXPECT_EQ(batches_around(1, 100), (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(batches_around(32, 100), (std::vector<std::int64_t>{4, 8, 16, 32, 64, 128, 256}));
  EXPECT_EQ(batches_around(24, 100), (std::vector<std::int64_t>{2, 4, 8, 16, 24, 32, 64, 128}));
  EXPECT_EQ(batches_around(8, 5000), (std::vector<std::int64_t>{2, 4, 8, 16, 32}));
  EXPECT_EQ(batches_around(std::int64_t{1} << 40, 100).back(), std::int64_t{1} << 40);
}

}  // namespace
}  // namespace perfc
