/// Element-wise operators: types, refusals, contents, costs.
#include <limits>

#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

TEST(Elementwise, BroadcastsKnownSymbolicAndUnknownDims) {
  EXPECT_EQ(type_of(op("add"), {tensor({2, 1, 4}), tensor({3, 1})}), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(type_of(op("add"), {tensor({N, 4}), tensor({1, 4})}), "Tensor[(N, 4), float32]");
  EXPECT_EQ(type_of(op("add"), {tensor({N, 4}), tensor({8, 1})}), "Tensor[(8, 4), float32]");
  EXPECT_EQ(type_of(op("add"), {tensor({N}), tensor({SymInt::symbol("M")})}), "Tensor[(?,), float32]");
  EXPECT_EQ(type_of(op("add"), {tensor({unknown}), tensor({1})}), "Tensor[(?,), float32]");
  EXPECT_EQ(type_of(op("add"), {tensor({0}), tensor({1})}), "Tensor[(0,), float32]");
  EXPECT_EQ(type_of(op("add"), {unranked(), tensor({1})}), "Tensor[*, float32]");
  EXPECT_EQ(type_of(op("sum"), {tensor({2, 1}), tensor({1, 3}), tensor({})}), "Tensor[(2, 3), float32]");
}

TEST(Elementwise, RefusesWhatDoesNotFit) {
  EXPECT_EQ(type_of(op("add"), {tensor({2, 3}), tensor({4})}),
            "add: shapes (2, 3) and (4,) do not broadcast: 3 against 4");
  EXPECT_EQ(type_of(op("multiply"), {tensor({2}), tensor({2}, DType::Int64)}),
            "multiply: operands 0 and 1 differ in type: float32 and int64");
  EXPECT_EQ(type_of(op("add"), {tensor({2}, DType::String), tensor({2}, DType::String)}),
            "add: operand 0 must have a numeric type, got string");
  EXPECT_EQ(type_of(op("logical_not"), {tensor({2}, DType::Int32)}),
            "logical_not: operand 0 must have bool, got int32");
  EXPECT_EQ(type_of(op("sigmoid"), {tensor({2}, DType::Int32)}),
            "sigmoid: operand 0 must have a floating-point type, got int32");
  EXPECT_EQ(type_of(op("negative"), {tensor({2}, DType::UInt8)}),
            "negative: operand 0 must have a signed type, got uint8");
  EXPECT_EQ(type_of(op("where"), {tensor({2}, DType::Int32), tensor({2}), tensor({2})}),
            "where: condition must be bool, got int32");
  EXPECT_EQ(type_of(op("clip"), {tensor({2}), omitted(), tensor({}, DType::Int64)}),
            "clip: operands 0 and 2 differ in type: float32 and int64");
  EXPECT_EQ(type_of(op("nn.relu"), {{Type::sequence(Type::tensor(DType::Float32, {}))}}),
            "nn.relu: operand 0 must be a tensor, got Sequence[Tensor[(), float32]]");
}

TEST(Elementwise, ResultTypes) {
  EXPECT_EQ(type_of(op("less"), {tensor({N}), tensor({1})}), "Tensor[(N,), bool]");
  EXPECT_EQ(type_of(op("power"), {tensor({2}), tensor({}, DType::Int64)}), "Tensor[(2,), float32]");
  EXPECT_EQ(type_of(op("isnan"), {tensor({2})}), "Tensor[(2,), bool]");
  EXPECT_EQ(type_of(op("cast"), {tensor({N})}, {{"to", "float16"}}), "Tensor[(N,), float16]");
  EXPECT_EQ(type_of(op("cast"), {tensor({N})}), "cast: attribute to is missing");
  EXPECT_EQ(type_of(op("cast"), {tensor({N})}, {{"to", "float17"}}),
            "cast: attribute to names no element type: 'float17'");
  EXPECT_EQ(type_of(op("bitcast"), {tensor({3})}, {{"to", "int32"}}), "Tensor[(3,), int32]");
  EXPECT_EQ(type_of(op("bitcast"), {tensor({3})}, {{"to", "int8"}}), "bitcast: float32 and int8 differ in width");
  EXPECT_EQ(type_of(op("where"), {tensor({2, 1}, DType::Bool), tensor({3}), tensor({})}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of(op("copy"), {{Type::sequence(Type::unranked(DType::Float32))}}), "Sequence[Tensor[*, float32]]");
  const Outcome dropout = call(op("nn.dropout"), {tensor({2, N})}, {}, 2);
  EXPECT_EQ(dropout.types, (std::vector<std::string>{"Tensor[(2, N), float32]", "Tensor[(2, N), bool]"}));
}

TEST(Elementwise, SlopesAndBiases) {
  EXPECT_EQ(type_of(op("nn.prelu"), {tensor({2, 3, 4}), tensor({3, 1})}), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(type_of(op("nn.prelu"), {tensor({2, 3, 4}), tensor({3})}), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(type_of(op("nn.prelu"), {tensor({2, 3, 4}), tensor({5})}),
            "nn.prelu: slope of shape (5,) does not broadcast to (2, 3, 4)");
  EXPECT_EQ(type_of(op("nn.prelu"), {tensor({3}), tensor({2, 3})}),
            "nn.prelu: slope of shape (2, 3) does not broadcast to (3,)");
  EXPECT_EQ(type_of(op("nn.bias_add"), {tensor({2, 3, 4}), tensor({5})}),
            "nn.bias_add: length of bias and last dim of operand 0 differ: 5 and 4");
  EXPECT_EQ(type_of(op("nn.bias_split_gelu"), {tensor({2, 6}), tensor({6})}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of(op("nn.bias_split_gelu"), {tensor({2, 5}), tensor({5})}),
            "nn.bias_split_gelu: last dim must be even, got 5");
}

TEST(ElementwiseContents, IntegersKeepWhatIsKnown) {
  EXPECT_EQ(data_of(op("add"), {ints({2, N, unknown}), scalar(0)}), "[2, N, ?]");
  EXPECT_EQ(data_of(op("add"), {ints({2, N}), scalar(3)}), "[5, ?]");
  EXPECT_EQ(data_of(op("multiply"), {ints({N, unknown, 4}), ints({1, 0, 3})}), "[N, 0, 12]");
  EXPECT_EQ(data_of(op("subtract"), {ints({N, N}), ints({N, 0})}), "[0, N]");
  EXPECT_EQ(data_of(op("divide"), {ints({-7, 7, N, 1}), ints({2, -2, 1, 0})}), "[-3, -3, N, ?]");
  EXPECT_EQ(data_of(op("mod"), {ints({-7, 7}), ints({3, -3})}), "[2, -2]");
  EXPECT_EQ(data_of(op("mod"), {ints({-7, 7}), ints({3, -3})}, {{"fmod", std::int64_t{1}}}), "[-1, 1]");
  EXPECT_EQ(data_of(op("power"), {ints({2, -1, 3}), ints({10, 3, 50})}), "[1024, -1, ?]");
  EXPECT_EQ(data_of(op("maximum"), {ints({3, N}), ints({5, N})}), "[5, N]");
  EXPECT_EQ(data_of(op("minimum"), {ints({3, N}), ints({5, 1}), ints({4, 1})}), "[3, ?]");
  EXPECT_EQ(data_of(op("add"), {ints({1, 2}), tensor({2}, DType::Int64)}), "-") << "nothing known";
}

TEST(ElementwiseContents, OverflowIsUnknownAndNarrowTypesWrap) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(data_of(op("divide"), {ints({kMin, 8}), ints({-1, 2})}), "[?, 4]");
  EXPECT_EQ(data_of(op("mod"), {ints({kMin}), ints({-1})}), "[0]");
  EXPECT_EQ(data_of(op("negative"), {ints({kMin, 3})}), "[?, -3]");
  EXPECT_EQ(data_of(op("add"), {ints({250}, DType::UInt8), ints({10}, DType::UInt8)}), "[4]");
  EXPECT_EQ(data_of(op("multiply"), {ints({100}, DType::Int8), ints({2}, DType::Int8)}), "[-56]");
  // uint64 is kept as two's complement: −2 is 2^64 − 2
  EXPECT_EQ(data_of(op("divide"), {ints({-2}, DType::UInt64), ints({2}, DType::UInt64)}), "[9223372036854775807]");
  EXPECT_EQ(data_of(op("less"), {ints({-2}, DType::UInt64), ints({2}, DType::UInt64)}), "[0]");
}

TEST(ElementwiseContents, ComparisonsAndLogic) {
  EXPECT_EQ(data_of(op("equal"), {ints({1, N, N, unknown}), ints({1, N, -1, 1})}), "[1, 1, 0, ?]");
  EXPECT_EQ(data_of(op("greater"), {ints({3, N}), ints({2, -1})}), "[1, 1]");
  EXPECT_EQ(data_of(op("logical_and"), {ints({0, 1}, DType::Bool), ints({unknown, 1}, DType::Bool)}), "[0, 1]");
  EXPECT_EQ(data_of(op("logical_not"), {ints({0, 1, unknown}, DType::Bool)}), "[1, 0, ?]");
  EXPECT_EQ(data_of(op("where"), {ints({1, 0, unknown}, DType::Bool), ints({N, 2, 5}), ints({7, 8, 5})}), "[N, 8, 5]");
}

/// The idiom by which exporters keep −1 in Expand: Where(Equal(shape, −1), 1, shape).
TEST(ElementwiseContents, ExpandIdiomSeesThatSymbolsAreNotMinusOne) {
  EXPECT_EQ(data_of(op("equal"), {ints({N, -1, 3}), ints({-1})}), "[0, 1, 0]");
}

TEST(ElementwiseContents, CastsTruncateWrapAndNormalise) {
  EXPECT_EQ(data_of(op("cast"), {floats({-1.9, 2.5})}, {{"to", "int64"}}), "[-1, 2]");
  EXPECT_EQ(data_of(op("cast"), {floats({1e30})}, {{"to", "int64"}}), "-");
  EXPECT_EQ(data_of(op("cast"), {ints({300, -1})}, {{"to", "uint8"}}), "[44, 255]");
  EXPECT_EQ(data_of(op("cast"), {ints({300, -1})}, {{"to", "int4"}}), "[-4, -1]");
  EXPECT_EQ(data_of(op("cast"), {ints({5, 0})}, {{"to", "bool"}}), "[1, 0]");
  EXPECT_EQ(data_of(op("cast"), {ints({N, 2})}, {{"to", "int32"}}), "[N, 2]");
  EXPECT_EQ(data_of(op("cast"), {ints({N, 2})}, {{"to", "float32"}}), "-");
  EXPECT_EQ(data_of(op("cast"), {ints({16777217})}, {{"to", "float32"}}), "[16777216]");
  EXPECT_EQ(data_of(op("cast"), {floats({0.1})}, {{"to", "float16"}}), "[0.0999755859375]");
  EXPECT_EQ(data_of(op("cast"), {floats({70000})}, {{"to", "float16"}}), "[inf]");
  EXPECT_EQ(data_of(op("cast"), {floats({0.1})}, {{"to", "float8e5m2"}}), "-");
  EXPECT_EQ(data_of(op("cast_like"), {ints({3}), tensor({1})}), "[3]");
}

/// ceil(224 / 2) as exporters of SAME padding compute it.
TEST(ElementwiseContents, FloatChains) {
  EXPECT_EQ(data_of(op("divide"), {floats({225}), floats({2})}), "[112.5]");
  EXPECT_EQ(data_of(op("ceil"), {floats({112.5, -0.5})}), "[113, -0]");
  EXPECT_EQ(data_of(op("floor"), {floats({112.5})}), "[112]");
  EXPECT_EQ(data_of(op("round"), {floats({0.5, 1.5, -2.5})}), "[0, 2, -2]");
  EXPECT_EQ(data_of(op("sqrt"), {floats({2})}), fmt::format("[{}]", static_cast<double>(1.41421356f)));
  EXPECT_EQ(data_of(op("clip"), {floats({-1, 5}), omitted(), Arg{Type::tensor(DType::Float32, {}), floats({3}).data}}),
            "[-1, 3]");
  EXPECT_EQ(data_of(op("clip"), {ints({-1, N}), scalar(0)}), "[0, ?]");
  EXPECT_EQ(data_of(op("power"), {floats({2}), ints({3})}), "[8]");
  EXPECT_EQ(data_of(op("less"), {floats({1, NAN}), floats({2, 2})}), "[1, 0]");
  EXPECT_EQ(data_of(op("not_equal"), {floats({1, 2, NAN}), floats({1, 3, NAN})}), "[0, 1, 1]");
}

TEST(ElementwiseCost, CountsOperations) {
  EXPECT_EQ(call(op("add"), {tensor({4, 5}), tensor({5})}).cost.flops, 20);
  EXPECT_EQ(call(op("sum"), {tensor({4, 5}), tensor({5}), tensor({5})}).cost.flops, 40);
  EXPECT_EQ(call(op("mean_of"), {tensor({4, 5}), tensor({5}), tensor({5})}).cost.flops, 60);
  EXPECT_EQ(call(op("tanh"), {tensor({4, 5})}).cost.flops, 160);
  const OpCost copy = call(op("copy"), {tensor({4, 5})}).cost;
  EXPECT_EQ(copy.flops + copy.bytes_read + copy.bytes_written, 0);
}

}  // namespace
}  // namespace perfc::testing
