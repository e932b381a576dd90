/// Views and shape arithmetic.
#include <limits>

#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

TEST(Reshape, CopiesAndInfers) {
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3, 4}), ints({0, -1})}), "Tensor[(2, 12), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({N, 3, 4}), ints({0, -1})}), "Tensor[(N, 12), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({N, 3, 4}), ints({-1, 12})}), "Tensor[(N, 12), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({N, 3, 4}), ints({N, -1})}), "Tensor[(N, 12), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({N, 3, 4}), ints({-1, 6})}), "Tensor[(?, 6), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({unknown, 6}), ints({0, 2, -1})}), "Tensor[(?, 2, 3), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3}), ints({})}),
            "reshape: Tensor[(2, 3), float32] has 6 elements, shape () has 1");
  EXPECT_EQ(type_of(op("reshape"), {tensor({1, 1}), ints({})}), "Tensor[(), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({0, 4}), ints({-1, 2})}), "Tensor[(0, 2), float32]");
  EXPECT_EQ(type_of(op("reshape"), {unranked(), ints({-1, 2})}), "Tensor[(?, 2), float32]");
}

TEST(Reshape, PartlyKnownTarget) {
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3, 4}), tensor({3}, DType::Int64)}), "Tensor[(?, ?, ?), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3, 4}), tensor({1}, DType::Int64)}), "Tensor[(24,), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3, 4}), ints({unknown, 4})}), "Tensor[(6, 4), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3, 4}), ints({unknown, -1})}), "Tensor[(?, ?), float32]");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3, 4}), tensor({unknown}, DType::Int64)}), "Tensor[*, float32]");
}

TEST(Reshape, Refuses) {
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3}), ints({4, 2})}),
            "reshape: Tensor[(2, 3), float32] has 6 elements, shape (4, 2) has 8");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3}), ints({-1, 4})}),
            "reshape: Tensor[(2, 3), float32] does not reshape into (-1, 4)");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3}), ints({-1, -1})}),
            "reshape: shape (-1, -1) holds −1 more than once");
  EXPECT_EQ(type_of(op("reshape"), {tensor({2, 3}), ints({-2, 3})}), "reshape: shape holds -2");
  EXPECT_EQ(type_of(op("reshape"), {tensor({6}), ints({2, 3, 0})}),
            "reshape: shape asks for dim 2 of an input of rank 1");
  EXPECT_EQ(type_of(op("reshape"), {tensor({6}), floats({6})}), "reshape: shape must be int32 or int64, got float32");
  EXPECT_EQ(type_of(op("reshape"), {tensor({0, 3}), ints({0, -1})}, {{"allowzero", std::int64_t{1}}}),
            "reshape: shape holds both 0 and −1 although allowzero is set");
  EXPECT_EQ(type_of(op("reshape"), {tensor({6}), tensor({std::int64_t{1} << 40}, DType::Int64)}),
            "reshape: shape asks for rank 1099511627776, which is beyond 1024");
}

TEST(Reshape, KeepsContents) {
  EXPECT_EQ(data_of(op("reshape"), {ints({N, 2}), ints({2, 1})}), "[N, 2]");
  EXPECT_EQ(data_of(op("squeeze"), {ints({N}), ints({0})}), "[N]");
  EXPECT_EQ(data_of(op("expand_dims"), {scalar(N), ints({0})}), "[N]");
}

TEST(Squeeze, DropsOnes) {
  EXPECT_EQ(type_of(op("squeeze"), {tensor({1, N, 1}), ints({0, -1})}), "Tensor[(N,), float32]");
  EXPECT_EQ(type_of(op("squeeze"), {tensor({1, 3, 1})}), "Tensor[(3,), float32]");
  EXPECT_EQ(type_of(op("squeeze"), {tensor({1, N, 1})}), "Tensor[*, float32]");
  EXPECT_EQ(type_of(op("squeeze"), {tensor({1, N, 1}), tensor({1}, DType::Int64)}), "Tensor[(?, ?), float32]");
  EXPECT_EQ(type_of(op("squeeze"), {tensor({2, 1}), ints({0})}), "squeeze: axis 0 of Tensor[(2, 1), float32] is not 1");
  EXPECT_EQ(type_of(op("squeeze"), {tensor({2, 1}), ints({2})}), "squeeze: axes 2 is out of range for rank 2");
  EXPECT_EQ(type_of(op("squeeze"), {tensor({1, 1}), ints({0, -2})}), "squeeze: axes name axis 0 twice");
}

TEST(ExpandDims, AddsOnes) {
  EXPECT_EQ(type_of(op("expand_dims"), {tensor({N}), ints({0, -1})}), "Tensor[(1, N, 1), float32]");
  EXPECT_EQ(type_of(op("expand_dims"), {tensor({N}), tensor({2}, DType::Int64)}), "Tensor[(?, ?, ?), float32]");
  EXPECT_EQ(type_of(op("expand_dims"), {tensor({N}), ints({2})}), "expand_dims: axes 2 is out of range for rank 2");
}

TEST(Flatten, SplitsAtAxis) {
  EXPECT_EQ(type_of(op("nn.batch_flatten"), {tensor({N, 3, 4})}), "Tensor[(N, 12), float32]");
  EXPECT_EQ(type_of(op("nn.batch_flatten"), {tensor({2, 3, 4})}, {{"axis", std::int64_t{-1}}}),
            "Tensor[(6, 4), float32]");
  EXPECT_EQ(type_of(op("nn.batch_flatten"), {tensor({2, 3})}, {{"axis", std::int64_t{0}}}), "Tensor[(1, 6), float32]");
  EXPECT_EQ(type_of(op("nn.batch_flatten"), {tensor({2, 3})}, {{"axis", std::int64_t{3}}}),
            "nn.batch_flatten: axis 3 is out of range for rank 2");
}

TEST(ShapeOf, SlicesTheDims) {
  const Outcome all = call(op("shape_of"), {tensor({N, 3, unknown})});
  EXPECT_EQ(all.types[0], "Tensor[(3,), int64]");
  EXPECT_EQ(all.data[0], "[N, 3, ?]");
  EXPECT_EQ(data_of(op("shape_of"), {tensor({N, 3, 4})}, {{"start", std::int64_t{-2}}}), "[3, 4]");
  EXPECT_EQ(data_of(op("shape_of"), {tensor({N, 3, 4})}, {{"start", std::int64_t{-9}}, {"end", std::int64_t{9}}}),
            "[N, 3, 4]");
  EXPECT_EQ(type_of(op("shape_of"), {tensor({N, 3, 4})}, {{"start", std::int64_t{2}}, {"end", std::int64_t{1}}}),
            "Tensor[(0,), int64]");
  EXPECT_EQ(type_of(op("shape_of"), {unranked()}), "Tensor[(?,), int64]");
  EXPECT_EQ(data_of(op("size_of"), {tensor({2, 3})}), "[6]");
  EXPECT_EQ(data_of(op("size_of"), {tensor({N, 1})}), "[N]");
  EXPECT_EQ(data_of(op("size_of"), {tensor({N, 2})}), "-");
}

TEST(Arange, CountsSteps) {
  const Outcome r = call(op("arange"), {scalar(1), scalar(8), scalar(3)});
  EXPECT_EQ(r.types[0], "Tensor[(3,), int64]");
  EXPECT_EQ(r.data[0], "[1, 4, 7]");
  EXPECT_EQ(data_of(op("arange"), {scalar(5), scalar(0), scalar(-2)}), "[5, 3, 1]");
  EXPECT_EQ(type_of(op("arange"), {scalar(0), scalar(N), scalar(1)}), "Tensor[(N,), int64]");
  EXPECT_EQ(type_of(op("arange"), {scalar(0), scalar(N), scalar(2)}), "Tensor[(?,), int64]");
  EXPECT_EQ(type_of(op("arange"), {scalar(5), scalar(1), scalar(1)}), "Tensor[(0,), int64]");
  EXPECT_EQ(type_of(op("arange"), {scalar(0), scalar(5), scalar(0)}), "arange: delta is 0");
  EXPECT_EQ(type_of(op("arange"), {scalar(0), tensor({}, DType::Float32), scalar(1)}),
            "arange: operands 0 and 1 differ in type: int64 and float32");
  EXPECT_EQ(type_of(op("arange"), {scalar(std::numeric_limits<std::int64_t>::min()),
                                   scalar(std::numeric_limits<std::int64_t>::max()), scalar(1)}),
            "Tensor[(?,), int64]");
}

TEST(Full, TakesItsShapeFromContents) {
  EXPECT_EQ(type_of(op("full"), {ints({2, N})}), "Tensor[(2, N), float32]");
  EXPECT_EQ(type_of(op("full"), {ints({})}), "Tensor[(), float32]");
  EXPECT_EQ(type_of(op("full"), {tensor({2}, DType::Int64)}), "Tensor[(?, ?), float32]");
  EXPECT_EQ(type_of(op("full"), {ints({2, -3})}), "full: shape holds a negative dim: -3");
  const Outcome r = call(op("full"), {ints({2})}, {{"value", int64_vector({7})}});
  EXPECT_EQ(r.types[0], "Tensor[(2,), int64]");
  EXPECT_EQ(r.data[0], "[7, 7]");
  EXPECT_EQ(type_of(op("full"), {ints({2})}, {{"value", int64_vector({7, 8})}}),
            "full: value must have one element, got Tensor[(2,), int64]");
  EXPECT_EQ(call(op("full"), {ints({1000, 1000})}).data[0], "-") << "too large to carry contents";
}

}  // namespace
}  // namespace perfc::testing
