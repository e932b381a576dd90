/// How large dims can be that data decides, rule by rule, and what a fixed one becomes.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

/// What the rule says of a dim: "least typical most: by; usual"; "-": nothing.
std::string bound_of(OpId op, std::vector<Arg> args, Attrs attrs, std::size_t result, std::size_t axis,
                     int results = -1, std::vector<GraphRef> regions = {}) {
  Diagnostics diags("t");
  GraphBuilder builder(diags);
  CallSpec spec{.op = op, .attrs = std::move(attrs), .results = results, .regions = std::move(regions)};
  for (Arg& a : args) {
    if (!a.type) spec.operands.push_back({});
    else if (a.data) spec.operands.push_back(builder.constant({a.type, a.data}));
    else spec.operands.push_back(builder.var(a.type, "x"));
  }
  const auto id = builder.call(std::move(spec));
  if (!id) return diags.all().front().message;
  const auto b = builder.bound_of(*id, result, axis);
  if (!b) return "-";
  return fmt::format("{} {} {}: {}{}{}", b->least, b->typical, b->most, b->by, b->usual.empty() ? "" : "; ", b->usual);
}

TEST(DimBounds, NonzeroFindsEveryElementAtMost) {
  EXPECT_EQ(bound_of(op("nonzero"), {tensor({2, 3})}, {}, 0, 1), "1 6 6: elements of the operand");
  EXPECT_EQ(bound_of(op("nonzero"), {tensor({0, 3})}, {}, 0, 1), "0 0 0: elements of the operand");
  EXPECT_EQ(bound_of(op("nonzero"), {tensor({N, 3})}, {}, 0, 1), "-");
  EXPECT_EQ(bound_of(op("nonzero"), {unranked()}, {}, 0, 0), "-");
}

TEST(DimBounds, CompressKeepsWhatTheConditionAsks) {
  const Attrs axis{{"axis", std::int64_t{1}}};
  EXPECT_EQ(bound_of(op("compress"), {tensor({4, 9}), tensor({unknown}, DType::Bool)}, axis, 0, 1),
            "1 9 9: places that the condition asks");
  EXPECT_EQ(bound_of(op("compress"), {tensor({4, 9}), tensor({5}, DType::Bool)}, axis, 0, 1),
            "1 5 5: places that the condition asks");
  EXPECT_EQ(bound_of(op("compress"), {tensor({4, 9}), tensor({unknown}, DType::Bool)}, {}, 0, 0),
            "1 36 36: places that the condition asks");
  EXPECT_EQ(bound_of(op("compress"), {tensor({4, N}), tensor({unknown}, DType::Bool)}, axis, 0, 1), "-");
}

TEST(DimBounds, UniqueFindsAllDifferent) {
  EXPECT_EQ(bound_of(op("unique"), {tensor({4, 9})}, {}, 0, 0, 4), "1 36 36: elements of the operand");
  EXPECT_EQ(bound_of(op("unique"), {tensor({4, 9})}, {}, 3, 0, 4), "1 36 36: elements of the operand");
  EXPECT_EQ(bound_of(op("unique"), {tensor({4, 9})}, {{"axis", std::int64_t{-1}}}, 0, 1, 4),
            "1 9 9: slices of the operand");
  EXPECT_EQ(bound_of(op("unique"), {tensor({4, 9})}, {{"axis", std::int64_t{-1}}}, 1, 0, 4),
            "1 9 9: slices of the operand");
}

TEST(DimBounds, SuppressionKeepsTheLimitOfEveryClassAndImage) {
  const std::vector<Arg> few{tensor({2, 50, 4}), tensor({2, 3, 50}), scalar(10)};
  EXPECT_EQ(
      bound_of(op("vision.non_max_suppression"), few, {}, 0, 0),
      "1 20 60: boxes, or the limit per class, of all classes; an image keeps as many of all classes as it may of "
      "one");
  const std::vector<Arg> many{tensor({1, 50, 4}), tensor({1, 1, 50}), scalar(1000)};
  EXPECT_EQ(bound_of(op("vision.non_max_suppression"), many, {}, 0, 0),
            "1 50 50: boxes, or the limit per class, of all classes");
  const std::vector<Arg> open{tensor({1, N, 4}), tensor({1, 1, N}), scalar(1000)};
  EXPECT_EQ(bound_of(op("vision.non_max_suppression"), open, {}, 0, 0), "-");
}

TEST(DimBounds, PartsOfAnAxisAreTheWholeAtMost) {
  const std::vector<Arg> slice{tensor({4, 9}), ints({0}), ints({unknown}), ints({1}), ints({1})};
  EXPECT_EQ(bound_of(op("strided_slice"), slice, {}, 0, 1), "1 9 9: the operand's extent on that axis");
  EXPECT_EQ(bound_of(op("topk"), {tensor({4, 9}), ints({unknown})}, {}, 1, 1),
            "1 9 9: the operand's extent on that axis");
  EXPECT_EQ(bound_of(op("split"), {tensor({4, 9}), ints({unknown, unknown})}, {{"axis", std::int64_t{1}}}, 1, 1, 2),
            "1 9 9: the operand's extent on that axis");
}

TEST(DimBounds, BranchesGiveTheLarger) {
  const auto body = [](std::int64_t n) {
    Diagnostics diags("t");
    GraphBuilder b(diags);
    const ValueId v = b.constant({Type::tensor(DType::Float32, {n, 4}), nullptr});
    return std::make_shared<const Graph>(b.finish("b", {v}, {"y"}));
  };
  const std::vector<Arg> condition{tensor({}, DType::Bool)};
  EXPECT_EQ(bound_of(op("if"), condition, {}, 0, 0, 1, {body(0), body(7)}), "7 7 7: the branch that gives more");
  EXPECT_EQ(bound_of(op("if"), condition, {}, 0, 0, 1, {body(0), body(0)}), "0 0 0: the branch that gives more");
}

TEST(DimBounds, OperatorsWithoutARuleSayNothing) {
  EXPECT_EQ(bound_of(op("nn.relu"), {tensor({unknown})}, {}, 0, 0), "-");
}

TEST(DimBounds, TheAttributeFixesWhatIsOpenAndNothingElse) {
  const Attrs fixed{{"bound", Ints{0, 1, 5}}, {"bound_by", std::string("--bound")}};
  EXPECT_EQ(type_of(op("nonzero"), {tensor({2, 3})}, fixed), "Tensor[(2, 5), int64]");
  EXPECT_EQ(type_of(op("nonzero"), {ints({0, 5, 7, 0}, {2, 2})}, fixed), "Tensor[(2, 2), int64]");
  // Files are hostile: places that do not exist, negative extents, half a triple.
  for (const Ints& bad : {Ints{0, 7, 5}, Ints{-1, 1, 5}, Ints{9, 1, 5}, Ints{0, 1, -5}, Ints{0, 1}, Ints{}})
    EXPECT_EQ(type_of(op("nonzero"), {tensor({2, 3})}, {{"bound", bad}}), "Tensor[(2, ?), int64]");
}

}  // namespace
}  // namespace perfc::testing
