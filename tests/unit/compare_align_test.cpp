/// What changed between two graphs: compare/align.h.
#include "compare/align.h"

#include <fmt/format.h>

#include "compare/common_subsequence.h"
#include "tests/unit/graphs.h"

namespace perfc {
namespace {

/// A chain of 3×3 convolutions with ReLUs; each convolution by its number of channels and its name.
struct Layer {
  int channels;
  std::string name;
};
std::string chain(const std::vector<Layer>& layers, int inputs = 8) {
  std::string body;
  int id = 1, channels = inputs;
  std::string last = "%x";
  for (const Layer& l : layers) {
    const std::string type = fmt::format("Tensor[(1, {}, 14, 14), float32]", l.channels);
    body += fmt::format("%{} = weight : Tensor[({}, {}, 3, 3), float32];\n", id, l.channels, channels);
    body +=
        fmt::format("%{} = nn.conv2d({}, %{}, padding=[1, 1, 1, 1]) : {} @\"{}\";\n", id + 1, last, id, type, l.name);
    body += fmt::format("%{} = nn.relu(%{}) : {} @\"{}.act\";\n", id + 2, id + 1, type, l.name);
    last = fmt::format("%{}", id + 2);
    id += 3;
    channels = l.channels;
  }
  return fmt::format(
      "def @main(%x: Tensor[(1, {}, 14, 14), float32]) -> (Tensor[(1, {}, 14, 14), float32]) {{\n{}({})\n}}", inputs,
      channels, body, last);
}

/// Lines such as "reshaped nn.conv2d b: (1, 8, 14, 14) → …" of what is not the same.
std::vector<std::string> changes(const std::string& base_text, const std::string& head_text) {
  const Graph base = graph_of(base_text), head = graph_of(head_text);
  std::vector<std::string> out;
  for (const AlignedNode& n : align(base, head)) {
    if (n.kind == ChangeKind::None) continue;
    const Node& node = n.head == ValueId::kNone ? base.node(n.base) : head.node(n.head);
    out.push_back(fmt::format("{} {}: {}", name(n.kind), node.name, describe(n, base, head)));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(Align, RenamedNodesAreNoChange) {
  const std::string base = chain({{8, "a"}, {16, "b"}, {16, "c"}, {8, "d"}});
  EXPECT_EQ(changes(base, base), Lines{});
  EXPECT_EQ(changes(base, chain({{8, "w"}, {16, "x"}, {16, "y"}, {8, "z"}})), Lines{});
  // Names that belong to others do not lead astray.
  EXPECT_EQ(changes(base, chain({{8, "b"}, {16, "c"}, {16, "d"}, {8, "a"}})), Lines{});
}

TEST(Align, OneLayerWidenedIsItAndWhatFollows) {
  EXPECT_EQ(
      changes(chain({{8, "a"}, {16, "b"}, {8, "c"}, {8, "d"}}), chain({{8, "a"}, {24, "b"}, {8, "c"}, {8, "d"}})),
      (Lines{"reshaped b: (1, 16, 14, 14) → (1, 24, 14, 14); weight 1: (16, 8, 3, 3) → (24, 8, 3, 3)",
             "reshaped b.act: (1, 16, 14, 14) → (1, 24, 14, 14)",
             "reshaped c: operand 0: (1, 16, 14, 14) → (1, 24, 14, 14); weight 1: (8, 16, 3, 3) → (8, 24, 3, 3)"}));
}

TEST(Align, AnInsertedBlockIsAllThatIsAdded) {
  const Lines one{"added new: Tensor[(1, 16, 14, 14), float32]", "added new.act: Tensor[(1, 16, 14, 14), float32]"};
  // Among equal blocks the names say which one is new, at either end and in the middle.
  const std::string base = chain({{8, "a"}, {16, "b"}, {16, "c"}, {16, "d"}, {8, "e"}});
  EXPECT_EQ(changes(base, chain({{8, "a"}, {16, "b"}, {16, "new"}, {16, "c"}, {16, "d"}, {8, "e"}})), one);
  EXPECT_EQ(changes(base, chain({{8, "a"}, {16, "b"}, {16, "c"}, {16, "new"}, {16, "d"}, {8, "e"}})), one);
  EXPECT_EQ(changes(base, chain({{8, "a"}, {16, "b"}, {16, "c"}, {16, "d"}, {16, "new"}, {8, "e"}})), one);
  EXPECT_EQ(
      changes(chain({{8, "a"}, {16, "b"}, {16, "gone"}, {16, "c"}}), chain({{8, "a"}, {16, "b"}, {16, "c"}})),
      (Lines{"removed gone: Tensor[(1, 16, 14, 14), float32]", "removed gone.act: Tensor[(1, 16, 14, 14), float32]"}));
}

TEST(Align, NumbersInNamesThatShiftChangeNothing) {
  // An exporter numbers its nodes: with one more at the front, every later name belongs to another.
  EXPECT_EQ(changes(chain({{16, "n0"}, {8, "n1"}, {8, "n2"}, {8, "n3"}}),
                    chain({{16, "n0"}, {16, "n1"}, {8, "n2"}, {8, "n3"}, {8, "n4"}})),
            (Lines{"added n1: Tensor[(1, 16, 14, 14), float32]", "added n1.act: Tensor[(1, 16, 14, 14), float32]"}));
}

TEST(Align, OtherAttributesAreAltered) {
  const auto text = [](const char* pads, const char* kernel) {
    return fmt::format(
        "def @main(%x: Tensor[(1, 8, 14, 14), float32]) -> (Tensor[(1, 8, 14, 14), float32]) {{\n%1 = weight : "
        "Tensor[(8, 8, {}), float32];\n%2 = nn.conv2d(%x, %1, padding={}) : Tensor[(1, 8, 14, 14), float32] @\"c\";\n"
        "(%2)\n}}",
        kernel, pads);
  };
  EXPECT_EQ(changes(text("[1, 1, 1, 1]", "3, 3"), text("[2, 2, 2, 2]", "5, 5")),
            Lines{"altered c: padding: [1, 1, 1, 1] → [2, 2, 2, 2]"});
}

TEST(Align, ASkipFromElsewhereIsRewired) {
  const auto text = [](const char* skip) {
    return fmt::format(
        "def @main(%x: Tensor[(1, 8), float32]) -> (Tensor[(1, 8), float32]) {{\n%1 = nn.relu(%x) : Tensor[(1, 8), "
        "float32] @\"a\";\n%2 = sigmoid(%1) : Tensor[(1, 8), float32] @\"b\";\n%3 = add({}, %2) : Tensor[(1, 8), "
        "float32] @\"sum\";\n(%3)\n}}",
        skip);
  };
  EXPECT_EQ(changes(text("%1"), text("%x")), Lines{"rewired sum: Tensor[(1, 8), float32]"});
}

TEST(Align, AnInputOfAnotherShapeIsAChangeOfItsOwn) {
  const Lines lines = changes(chain({{8, "a"}}, 8), chain({{8, "a"}}, 4));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "reshaped x: (1, 8, 14, 14) → (1, 4, 14, 14)");
}

TEST(Align, GraphsWithoutAnythingInCommon) {
  EXPECT_EQ(changes("def @main(%x: Tensor[(4,), float32]) -> (Tensor[(4,), float32]) {\n(%x)\n}",
                    "def @main(%x: Tensor[(4,), float32]) -> (Tensor[(4,), float32]) {\n%1 = nn.relu(%x) : "
                    "Tensor[(4,), float32] @\"r\";\n(%1)\n}"),
            Lines{"added r: Tensor[(4,), float32]"});
}

TEST(CommonSubsequence, IsAsLongAsTheTableSays) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint32_t> a(random(12)), b(random(12));
    const std::uint32_t symbols = 1 + random(4);
    for (auto& x : a) x = random(symbols);
    for (auto& x : b) x = random(symbols);
    std::vector<std::vector<std::size_t>> longest(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 1; i <= a.size(); ++i) {
      for (std::size_t j = 1; j <= b.size(); ++j) {
        longest[i][j] =
            a[i - 1] == b[j - 1] ? longest[i - 1][j - 1] + 1 : std::max(longest[i - 1][j], longest[i][j - 1]);
      }
    }
    for (const std::ptrdiff_t most_steps : {1, 512}) {
      const IndexPairs pairs = common_subsequence(a, b, most_steps);
      for (std::size_t k = 0; k < pairs.size(); ++k) {
        ASSERT_EQ(a[pairs[k].first], b[pairs[k].second]);
        ASSERT_TRUE(k == 0 || (pairs[k - 1].first < pairs[k].first && pairs[k - 1].second < pairs[k].second));
      }
      ASSERT_TRUE(most_steps == 1 || pairs.size() == longest[a.size()][b.size()]);
    }
  }
}

TEST(CommonSubsequence, LongSequencesWithoutMuchInCommon) {
  // A table of their lengths would have 10¹⁰ entries.
  std::uint32_t state = 7;
  std::vector<std::uint32_t> a(100000), b(100000);
  for (auto* side : {&a, &b}) {
    for (auto& x : *side) x = (state = state * 1664525 + 1013904223) / 65536 % 40;
  }
  EXPECT_GT(common_subsequence(a, b, 16).size(), a.size() / 10);
}

}  // namespace
}  // namespace perfc
