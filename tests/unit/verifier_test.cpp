#include <gtest/gtest.h>

#include "ir/builder.h"

namespace perfc {
namespace {

class Verifier : public testing::Test {
 protected:
  ValueId relu(ValueId x) {
    const auto y = builder.value({.op = op("nn.relu"), .operands = {x}, .name = "act"});
    EXPECT_TRUE(y) << building.str();
    return y ? *y : ValueId{};
  }
  /// What the verifier says of the graph that has been built.
  std::string said(std::vector<ValueId> results) {
    Diagnostics diags("g");
    const bool good = static_cast<bool>(verify(builder.finish("main", std::move(results), {}), diags));
    EXPECT_EQ(good, diags.errors() == 0);
    return diags.str();
  }

  const Type pair = Type::tensor(DType::Float32, {2});
  Diagnostics building{"building"};
  GraphBuilder builder{building};
};

TEST_F(Verifier, AcceptsWhatTheBuilderInfers) {
  const ValueId x = builder.var(pair, "x");
  EXPECT_EQ(said({relu(x)}), "");
}

TEST_F(Verifier, EveryValueIsTyped) {
  builder.var(Type{}, "x");
  EXPECT_EQ(said({}), "g: 'x': error: broken graph: %0 param: has no type\n");
}

TEST_F(Verifier, ResultsExist) {
  const ValueId x = builder.var(pair, "x");
  EXPECT_EQ(said({x, {7, 0}, {0, 1}, {}}),
            "g: error: broken graph: 'main' returns a value that does not exist\n"
            "g: error: broken graph: 'main' returns a value that does not exist\n"
            "g: error: broken graph: 'main' returns a value that does not exist\n");
}

TEST_F(Verifier, ContentsFitTheirType) {
  const Literal one = int64_scalar(1);
  const ValueId c = builder.constant({Type::tensor(DType::Int64, {3}), one.data}, "shape");
  EXPECT_EQ(said({c}), "g: 'shape': error: broken graph: %0 constant: 1 elements are known of Tensor[(3,), int64]\n");
}

TEST_F(Verifier, DimsAreNotNegative) {
  const ValueId c = builder.constant({Type::tensor(DType::Int64, {-1}), nullptr}, "w");
  EXPECT_EQ(said({c}), "g: 'w': error: broken graph: %0 constant: has a negative dim: Tensor[(-1,), int64]\n");
}

TEST_F(Verifier, RegionsAreCheckedToo) {
  Diagnostics inner("inner");
  GraphBuilder body(inner);
  const ValueId p = body.var(pair, "p");
  body.constant({Type{}, nullptr}, "broken");
  const auto region = std::make_shared<const Graph>(body.finish("body", {p}, {}));

  const ValueId condition = builder.var(Type::tensor(DType::Bool, {}), "condition");
  const ValueId x = builder.var(pair, "x");
  const auto y = builder.value({.op = op("if"),
                                .operands = {condition, x},
                                .attrs = {{"captures", std::int64_t{1}}},
                                .regions = {region, region}});
  ASSERT_TRUE(y) << building.str();
  EXPECT_EQ(said({*y}),
            "g: 'broken': error: broken graph: %1 constant: has no type\n"
            "g: 'broken': error: broken graph: %1 constant: has no type\n");
}

}  // namespace
}  // namespace perfc
