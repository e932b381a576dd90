/// The pattern language and its matcher.
#include "passes/pattern.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace perfc::passes {
namespace {

struct Build {
  Diagnostics diags{"test"};
  GraphBuilder b{diags};

  ValueId input(Shape shape = {2, 8}) { return b.var(Type::tensor(DType::Float32, std::move(shape)), "x"); }
  ValueId scalar(double v) { return b.constant(float_scalar(v)); }
  ValueId call(OpId o, std::vector<ValueId> operands, Attrs attrs = {}) {
    auto v = b.value({.op = o, .operands = std::move(operands), .attrs = std::move(attrs)});
    EXPECT_TRUE(v) << diags.str();
    return v ? *v : ValueId{};
  }
  Graph done(std::vector<ValueId> results) { return b.finish("main", std::move(results), {}); }
};

bool matches(const Pattern& pattern, const Graph& g, Match& match) {
  return pattern.match(MatchGraph(g), static_cast<NodeId>(g.size() - 1), match);
}
bool matches(const char* pattern, const Graph& g) {
  Match local;
  return matches(Pattern(pattern), g, local);
}

TEST(Pattern, AddAndMultiplyMatchInBothOrders) {
  Build t;
  const ValueId x = t.input();
  const ValueId gate = t.call(op("sigmoid"), {x});
  const Graph g = t.done({t.call(op("multiply"), {gate, x})});
  EXPECT_TRUE(matches("multiply(%x, sigmoid(%x))", g));
  EXPECT_FALSE(matches("add(%x, sigmoid(%x))", g));
}

TEST(Pattern, ARepeatedNameIsOneValue) {
  Build t;
  const ValueId x = t.input();
  const ValueId y = t.input();
  const Graph g = t.done({t.call(op("multiply"), {x, t.call(op("sigmoid"), {y})})});
  EXPECT_FALSE(matches("multiply(%x, sigmoid(%x))", g));
  EXPECT_TRUE(matches("multiply(%x, sigmoid(%y))", g));
}

TEST(Pattern, NumbersMatchToOnePerMille) {
  Build t;
  const ValueId x = t.input();
  const Graph near = t.done({t.call(op("multiply"), {x, t.scalar(1.7021)})});
  EXPECT_TRUE(matches("multiply(%x, 1.702)", near));
  Build u;
  const ValueId y = u.input();
  const Graph far = u.done({u.call(op("multiply"), {y, u.scalar(1.71)})});
  EXPECT_FALSE(matches("multiply(%x, 1.702)", far));
}

TEST(Pattern, InnerCallsMustNotBeUsedElsewhere) {
  Build t;
  const ValueId x = t.input();
  const ValueId gate = t.call(op("sigmoid"), {x});
  const ValueId root = t.call(op("multiply"), {x, gate});
  const Graph g = t.done({root, gate});
  EXPECT_FALSE(matches("multiply(%x, sigmoid(%x))", g));
}

TEST(Pattern, AlternativesBindWhatWasTaken) {
  Build t;
  const ValueId x = t.input();
  const ValueId root = t.call(op("nn.relu"), {t.call(op("sqrt"), {x})});
  const Graph g = t.done({root});
  const Pattern pattern("%s = sqrt(%x) nn.relu({exp(%y) | %s})");
  Match m;
  ASSERT_TRUE(matches(pattern, g, m));
  EXPECT_EQ(m["x"], x);
  EXPECT_FALSE(m["y"]);
  EXPECT_EQ(m.interior, std::vector<NodeId>{1});
}

TEST(PatternDeath, AWrongPatternIsABug) {
  EXPECT_DEATH(Pattern("nn.no_such(%x)"), "no operator nn.no_such");
  EXPECT_DEATH(Pattern("sqrt(%x"), "'\\)' expected");
}

}  // namespace
}  // namespace perfc::passes
