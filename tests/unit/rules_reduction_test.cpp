/// Reductions, sorting, selection.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

const Attrs kDrop{{"keepdims", std::int64_t{0}}};

TEST(Reduce, AxesKeptDroppedOrUnknown) {
  EXPECT_EQ(type_of(op("mean"), {tensor({N, 3, 4}), ints({-1})}), "Tensor[(N, 3, 1), float32]");
  EXPECT_EQ(type_of(op("mean"), {tensor({N, 3, 4}), ints({1, 2})}, kDrop), "Tensor[(N,), float32]");
  EXPECT_EQ(type_of(op("mean"), {tensor({N, 3, 4})}, kDrop), "Tensor[(), float32]");
  EXPECT_EQ(type_of(op("mean"), {tensor({N, 3}), ints({})}, {{"noop_with_empty_axes", std::int64_t{1}}}),
            "Tensor[(N, 3), float32]");
  EXPECT_EQ(type_of(op("mean"), {tensor({N, 3, 4}), tensor({1}, DType::Int64)}), "Tensor[(?, ?, ?), float32]");
  EXPECT_EQ(type_of(op("mean"), {tensor({N, 3, 4}), tensor({1}, DType::Int64)}, kDrop), "Tensor[(?, ?), float32]");
  EXPECT_EQ(type_of(op("qnn.reduce_mean"), {tensor({N, 3, 4}, DType::UInt8), tensor({}), tensor({}, DType::UInt8)},
                    {{"axes", Ints{2}}}),
            "Tensor[(N, 3, 1), uint8]");
  EXPECT_EQ(type_of(op("mean"), {tensor({2, 3}), ints({2})}), "mean: axes 2 is out of range for rank 2");
  EXPECT_EQ(type_of(op("mean"), {tensor({2, 3}), ints({1, -1})}), "mean: axes name axis 1 twice");
  EXPECT_EQ(type_of(op("mean"), {tensor({2, 3}), ints({0, 0, 0})}), "mean: 3 axes to reduce, input has rank 2");
}

TEST(Reduce, Contents) {
  EXPECT_EQ(data_of(op("prod"), {ints({2, N, 0})}, kDrop), "[0]");
  EXPECT_EQ(data_of(op("prod"), {ints({2, 3, 4})}), "[24]");
  EXPECT_EQ(data_of(op("prod"), {ints({1, N})}), "[N]");
  EXPECT_EQ(data_of(op("sum_axes"), {ints({1, 2, 3, N}, {2, 2}), ints({1})}, kDrop), "[3, ?]");
  EXPECT_EQ(data_of(op("sum_axes"), {ints({1, 2, 3, 4}, {2, 2}), ints({0})}, kDrop), "[4, 6]");
  EXPECT_EQ(data_of(op("max"), {ints({1, 7, 3})}), "[7]");
  EXPECT_EQ(data_of(op("min"), {ints({N, N})}), "[N]");
  EXPECT_EQ(data_of(op("max"), {ints({unknown, 3})}), "-");
  EXPECT_EQ(data_of(op("mean"), {floats({1, 2, 6})}), "[3]");
  EXPECT_EQ(data_of(op("max"), {ints({})}), "-") << "the maximum of nothing";
}

TEST(ArgReduce, Types) {
  EXPECT_EQ(type_of(op("argmax"), {tensor({N, 3})}), "Tensor[(1, 3), int64]");
  EXPECT_EQ(type_of(op("argmax"), {tensor({N, 3})}, {{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}}),
            "Tensor[(N,), int64]");
  EXPECT_EQ(type_of(op("argmin"), {tensor({0, 3})}), "argmin: axis 0 is empty");
}

TEST(TopK, KeepsKAlongTheAxis) {
  const Outcome o = call(op("topk"), {tensor({N, 100}), ints({5})});
  EXPECT_EQ(o.types, (std::vector<std::string>{"Tensor[(N, 5), float32]", "Tensor[(N, 5), int64]"}));
  EXPECT_EQ(type_of(op("topk"), {tensor({4, 10}), tensor({1}, DType::Int64)}), "Tensor[(4, ?), float32]");
  EXPECT_EQ(type_of(op("topk"), {tensor({4, 10}), ints({11})}), "topk: K is 11, the axis has 10");
  EXPECT_EQ(type_of(op("topk"), {tensor({4, 10}), ints({-1})}), "topk: K holds a negative dim: -1");
}

TEST(Selection, DependsOnData) {
  const Outcome u = call(op("unique"), {tensor({2, 3})}, {}, 4);
  EXPECT_EQ(u.types, (std::vector<std::string>{"Tensor[(?,), float32]", "Tensor[(?,), int64]", "Tensor[(6,), int64]",
                                               "Tensor[(?,), int64]"}));
  EXPECT_EQ(type_of(op("nonzero"), {tensor({2, 3})}), "Tensor[(2, ?), int64]");
  const Outcome n = call(op("nonzero"), {ints({0, 5, 7, 0}, {2, 2})});
  EXPECT_EQ(n.types[0], "Tensor[(2, 2), int64]");
  EXPECT_EQ(n.data[0], "[0, 1, 1, 0]");
  EXPECT_EQ(type_of(op("vision.non_max_suppression"), {tensor({1, 50, 4}), tensor({1, 80, 50}), scalar(unknown)}),
            "Tensor[(?, 3), int64]");
  EXPECT_EQ(type_of(op("vision.non_max_suppression"), {tensor({1, 50, 4}), tensor({1, 80, 51})}),
            "vision.non_max_suppression: counts of boxes and scores differ: 50 and 51");
  EXPECT_EQ(type_of(op("vision.non_max_suppression"), {tensor({2, 50, 4}), tensor({2, 80, 50}), scalar(7)},
                    {{"padded_to", std::int64_t{7}}}),
            "Tensor[(14, 3), int64]");
}

TEST(Detection, PaddedSuppressionHasItsLimitOfEveryImage) {
  const std::vector<Arg> boxes{tensor({2, 50, 1, 4}), tensor({2, 50, 80})};
  const Attrs limits{{"max_per_class", std::int64_t{9}}, {"max_total", std::int64_t{20}}};
  EXPECT_EQ(type_of(op("vision.multiclass_nms"), boxes, limits), "Tensor[(2, 20, 4), float32]");
  const std::vector<Arg> anchored{boxes[0], boxes[1], tensor({1, 50, 4})};
  EXPECT_EQ(type_of(op("vision.multiclass_nms"), anchored, limits), "Tensor[(2, 20, 4), float32]");
  EXPECT_EQ(type_of(op("vision.multiclass_nms"), {boxes[0], boxes[1], tensor({1, 51, 4})}, limits),
            "vision.multiclass_nms: counts of boxes and anchors differ: 50 and 51");
  EXPECT_EQ(type_of(op("vision.multiclass_nms"), {tensor({2, 50, 3, 4}), boxes[1]}, limits),
            "vision.multiclass_nms: classes of boxes and scores differ: 3 and 80");
}

TEST(ReductionCost, ReadsEverything) { EXPECT_EQ(call(op("mean"), {tensor({8, 4}), ints({1})}).cost.flops, 32); }

TEST(Cumulative, ChecksItsAxis) {
  EXPECT_EQ(type_of(op("cumsum"), {tensor({N, 3}), scalar(-1)}), "Tensor[(N, 3), float32]");
  EXPECT_EQ(type_of(op("cumsum"), {tensor({N, 3}), scalar(2)}), "cumsum: axis 2 is out of range for rank 2");
}

}  // namespace
}  // namespace perfc::testing
