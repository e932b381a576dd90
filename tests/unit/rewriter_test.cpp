/// Rebuilding graphs: value map, declared types, regions.
#include "ir/rewriter.h"

#include <gtest/gtest.h>

namespace perfc {
namespace {

Type f32(Shape shape) { return Type::tensor(DType::Float32, std::move(shape)); }
Type b1() { return Type::tensor(DType::Bool, {}); }

struct Build {
  Diagnostics diags{"test"};
  GraphBuilder b{diags};
  ValueId call(OpId o, std::vector<ValueId> operands, std::vector<Type> declared = {}) {
    auto v = b.value({.op = o, .operands = std::move(operands), .declared = std::move(declared)});
    EXPECT_TRUE(v) << diags.str();
    return v ? *v : ValueId{};
  }
  Graph done(std::vector<ValueId> results) { return b.finish("main", std::move(results), {"y"}); }
};

TEST(Rewriter, CopyingEverythingGivesTheSameGraph) {
  Build t;
  const ValueId x = t.b.var(f32({2, 3}), "x");
  const Graph g = t.done({t.call(op("add"), {x, t.b.constant(float_scalar(1))})});
  Rewriter r(g, t.diags);
  for (NodeId id = 0; id < g.size(); ++id) ASSERT_TRUE(r.copy(id));
  EXPECT_TRUE(r.finish() == g);
}

TEST(Rewriter, MappedValuesAreUsedInstead) {
  Build t;
  const ValueId x = t.b.var(f32({2, 3}), "x");
  const ValueId copied = t.call(op("copy"), {x});
  const Graph g = t.done({t.call(op("nn.relu"), {copied})});
  Rewriter r(g, t.diags);
  ASSERT_TRUE(r.copy(0));
  r.map(copied, r[x]);
  ASSERT_TRUE(r.copy(2));
  const Graph after = r.finish();
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after.node(1).operands[0], (ValueId{0, 0}));
}

TEST(Rewriter, DeclaredTypesGoWhenAnOperandChanges) {
  Build t;
  const ValueId x = t.b.var(f32({Dim::unknown(), 3}), "x");
  const Graph g = t.done({t.call(op("nn.relu"), {x}, {f32({16, 3})})});
  ASSERT_EQ(to_string(g.type(g.results()[0])), "Tensor[(16, 3), float32]");

  auto same = retype(g, {}, t.diags);
  ASSERT_TRUE(same);
  EXPECT_EQ(to_string(same->type(same->results()[0])), "Tensor[(16, 3), float32]");

  auto other = retype(g, {{f32({8, 3}), nullptr}}, t.diags);
  ASSERT_TRUE(other);
  EXPECT_EQ(to_string(other->type(other->results()[0])), "Tensor[(8, 3), float32]");
}

/// while (cond) x = concat(x, x): the carried value grows.
GraphRef doubling_body() {
  Build t;
  t.b.var(Type::tensor(DType::Int64, {}), "i");
  const ValueId cond = t.b.var(b1(), "cond");
  const ValueId x = t.b.var(f32({4, 3}), "x");
  auto twice = t.b.value({.op = op("concatenate"), .operands = {x, x}, .attrs = {{"axis", std::int64_t{0}}}});
  EXPECT_TRUE(twice) << t.diags.str();
  return std::make_shared<const Graph>(t.b.finish("body", {cond, *twice}, {"cond", "x"}));
}

TEST(RetypeRegions, WidensCarriedValuesUntilTheyKeepTheirType) {
  Diagnostics diags("test");
  const std::vector<ResultInfo> operands{
      {Type::tensor(DType::Int64, {}), nullptr}, {b1(), nullptr}, {f32({4, 3}), nullptr}};
  auto regions = retype_regions(op("loop"), {}, {doubling_body()}, operands, diags);
  ASSERT_TRUE(regions) << diags.str();
  const Graph& body = *regions->front();
  EXPECT_EQ(to_string(body.type(body.params()[2])), "Tensor[(?, 3), float32]");
  EXPECT_EQ(to_string(body.type(body.results()[1])), "Tensor[(?, 3), float32]");
}

}  // namespace
}  // namespace perfc
