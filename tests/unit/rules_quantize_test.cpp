/// Quantisation.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

const OpId kQuantize = op("qnn.quantize");
const OpId kDequantize = op("qnn.dequantize");

Arg u8(Shape s) { return tensor(std::move(s), DType::UInt8); }
Arg i8(Shape s) { return tensor(std::move(s), DType::Int8); }
Attrs axis(std::int64_t a) { return {{"axis", a}}; }

TEST(Quantize, ResultDType) {
  const Arg x = tensor({2, 3, 4});
  EXPECT_EQ(type_of(kQuantize, {x, tensor({})}), "Tensor[(2, 3, 4), uint8]");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({}), i8({})}), "Tensor[(2, 3, 4), int8]");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({1}), i8({})}), "Tensor[(2, 3, 4), int8]");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({3})}, {{"output_dtype", std::string("float8e4m3fn")}}),
            "Tensor[(2, 3, 4), float8e4m3fn]");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({}), i8({})}, {{"output_dtype", std::string("uint8")}}),
            "qnn.quantize: output_dtype uint8 and zero_point int8 differ");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({})}, {{"output_dtype", std::string("int64")}}),
            "qnn.quantize: quantises to int64, which is no quantised dtype");
  EXPECT_EQ(type_of(kQuantize, {u8({2, 3}), tensor({})}), "qnn.quantize: x must be floating point or int32, is uint8");
}

TEST(Quantize, AxisAndBlocks) {
  const Arg x = tensor({2, 5});
  EXPECT_EQ(type_of(kQuantize, {x, tensor({5}), u8({5})}), "Tensor[(2, 5), uint8]");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({2}), u8({2})}, axis(-2)), "Tensor[(2, 5), uint8]");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({4})}), "qnn.quantize: scale has 4 values, axis 1 of x has 5");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({5})}, axis(2)), "qnn.quantize: axis 2 is out of range for rank 2");
  const auto blocked = [&](Shape scale, std::int64_t block) {
    return type_of(kQuantize, {x, tensor(std::move(scale))}, {{"axis", std::int64_t{1}}, {"block_size", block}});
  };
  EXPECT_EQ(blocked({2, 3}, 2), "Tensor[(2, 5), uint8]");
  EXPECT_EQ(blocked({2, 2}, 2), "qnn.quantize: axis 1 of scale has 2 blocks for 5 values in blocks of 2");
  EXPECT_EQ(blocked({3, 3}, 2), "qnn.quantize: dim 0 of scale and x differ: 3 and 2");
  EXPECT_EQ(blocked({2, 3}, -2), "qnn.quantize: block_size is negative: -2");
  EXPECT_EQ(type_of(kQuantize, {x, tensor({5}), u8({2})}),
            "qnn.quantize: scale and zero_point differ in shape: (5,) and (2,)");
}

TEST(Dequantize, ResultDType) {
  EXPECT_EQ(type_of(kDequantize, {i8({N, 3}), tensor({3}, DType::Float16)}), "Tensor[(N, 3), float16]");
  EXPECT_EQ(type_of(kDequantize, {i8({N, 3}), tensor({3})}, {{"output_dtype", std::string("bfloat16")}}),
            "Tensor[(N, 3), bfloat16]");
  EXPECT_EQ(type_of(kDequantize, {tensor({4}, DType::Int32), tensor({})}), "Tensor[(4,), float32]");
  EXPECT_EQ(type_of(kDequantize, {i8({2, 3}), tensor({}), u8({})}),
            "qnn.dequantize: operands 0 and 2 differ in type: int8 and uint8");
  EXPECT_EQ(type_of(kDequantize, {tensor({2, 3}), tensor({})}), "qnn.dequantize: x must be quantised, is float32");
}

TEST(DynamicQuantize, ThreeResults) {
  EXPECT_EQ(call(op("qnn.dynamic_quantize"), {tensor({N, 3})}).types,
            (std::vector<std::string>{"Tensor[(N, 3), uint8]", "Tensor[(), float32]", "Tensor[(), uint8]"}));
}

TEST(QLinear, BinaryConcatWhere) {
  const Arg s = tensor({});
  EXPECT_EQ(type_of(op("qnn.add"), {u8({2, 3}), s, u8({}), u8({3}), s, u8({}), s, u8({})}), "Tensor[(2, 3), uint8]");
  EXPECT_EQ(type_of(op("qnn.multiply"), {u8({2, 3}), s, u8({}), u8({4}), s, u8({}), s, u8({})}),
            "qnn.multiply: shapes (2, 3) and (4,) do not broadcast: 3 against 4");
  EXPECT_EQ(type_of(op("qnn.concatenate"), {s, u8({}), u8({2, 3}), s, u8({}), u8({2, 4}), s, u8({})}, axis(1)),
            "Tensor[(2, 7), uint8]");
  EXPECT_EQ(type_of(op("qnn.concatenate"), {s, u8({}), u8({2, 3}), s, u8({}), u8({5, 4}), s, u8({})}, axis(1)),
            "qnn.concatenate: dims of the inputs differ: 2 and 5");
  EXPECT_EQ(type_of(op("qnn.concatenate"), {s, u8({}), u8({2, 3}), s}, axis(1)),
            "qnn.concatenate: takes Y_scale, Y_zero_point and triples, got 4 operands");
  EXPECT_EQ(type_of(op("qnn.where"), {tensor({2, 1}, DType::Bool), u8({3}), s, u8({}), u8({1}), s, u8({}), s, u8({})}),
            "Tensor[(2, 3), uint8]");
}

}  // namespace
}  // namespace perfc::testing
