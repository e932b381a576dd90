/// Convolutions: types, diagnostics and exact costs.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

const OpId kConv = op("nn.conv2d");
const OpId kTranspose = op("nn.conv2d_transpose");

Attrs window(Ints kernel, Ints strides, Ints padding) {
  return {{"kernel_size", std::move(kernel)}, {"strides", std::move(strides)}, {"padding", std::move(padding)}};
}

TEST(Conv, ResNetStem) {
  const Outcome o =
      call(kConv, {tensor({1, 3, 224, 224}), tensor({64, 3, 7, 7})}, window({7, 7}, {2, 2}, {3, 3, 3, 3}));
  EXPECT_EQ(o.types.at(0), "Tensor[(1, 64, 112, 112), float32]");
  EXPECT_EQ(o.cost.macs, 118013952);
  EXPECT_EQ(o.cost.flops, 0);
  EXPECT_EQ(o.cost.bytes_read, 4.0 * (3 * 224 * 224 + 64 * 3 * 49));
  EXPECT_EQ(o.cost.bytes_written, 4.0 * 64 * 112 * 112);
}

TEST(Conv, MacsScaleWithBatchAndNotWithGroups) {
  const Outcome batch =
      call(kConv, {tensor({32, 3, 224, 224}), tensor({64, 3, 7, 7})}, window({7, 7}, {2, 2}, {3, 3, 3, 3}));
  EXPECT_EQ(batch.cost.macs, 32.0 * 118013952);
  // MobileNet's depthwise 3×3 on 112 × 112 × 32, and a ResNeXt 32×4d block.
  Attrs depthwise = window({3, 3}, {1, 1}, {1, 1, 1, 1});
  depthwise.set("groups", std::int64_t{32});
  const Outcome d = call(kConv, {tensor({1, 32, 112, 112}), tensor({32, 1, 3, 3}), tensor({32})}, depthwise);
  EXPECT_EQ(d.types.at(0), "Tensor[(1, 32, 112, 112), float32]");
  EXPECT_EQ(d.cost.macs, 112 * 112 * 32 * 9);
  EXPECT_EQ(d.cost.flops, 112 * 112 * 32);
  const Outcome grouped = call(kConv, {tensor({1, 128, 56, 56}), tensor({128, 4, 3, 3})}, depthwise);
  EXPECT_EQ(grouped.cost.macs, 56 * 56 * 128 * 4 * 9);
}

TEST(Conv, AnyRankAndKernelFromTheWeight) {
  EXPECT_EQ(type_of(op("nn.conv1d"), {tensor({1, 80, 3000}), tensor({384, 80, 3})},
                    {{"strides", Ints{2}}, {"padding", Ints{1, 1}}}),
            "Tensor[(1, 384, 1500), float32]");
  const Outcome o = call(op("nn.conv3d"), {tensor({2, 3, 16, 112, 112}), tensor({64, 3, 3, 7, 7})},
                         {{"strides", Ints{1, 2, 2}}, {"padding", Ints{1, 3, 3, 1, 3, 3}}});
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 64, 16, 56, 56), float32]");
  EXPECT_EQ(o.cost.macs, 2.0 * 64 * 16 * 56 * 56 * 3 * 3 * 7 * 7);
  EXPECT_EQ(type_of(kConv, {tensor({1, 2, 5, 5, 5, 5}), tensor({3, 2, 2, 2, 2, 2})}),
            "Tensor[(1, 3, 4, 4, 4, 4), float32]");
}

TEST(Conv, DilationAndAutoPad) {
  EXPECT_EQ(type_of(kConv, {tensor({1, 3, 32, 32}), tensor({8, 3, 3, 3})}, {{"dilation", Ints{2, 2}}}),
            "Tensor[(1, 8, 28, 28), float32]");
  for (const char* same : {"SAME_UPPER", "SAME_LOWER"}) {
    EXPECT_EQ(type_of(kConv, {tensor({1, 3, 7, 8}), tensor({8, 3, 3, 3})},
                      {{"strides", Ints{2, 2}}, {"auto_pad", std::string(same)}}),
              "Tensor[(1, 8, 4, 4), float32]");
  }
  EXPECT_EQ(type_of(kConv, {tensor({1, 3, 7, 7}), tensor({8, 3, 3, 3})},
                    {{"padding", Ints{1, 1, 1, 1}}, {"auto_pad", std::string("VALID")}}),
            "Tensor[(1, 8, 5, 5), float32]");
  EXPECT_EQ(type_of(kConv, {tensor({1, 3, 7, 7}), tensor({8, 3, 3, 3})}, {{"auto_pad", std::string("SAME")}}),
            "nn.conv2d: unknown auto_pad 'SAME'");
}

TEST(Conv, PartlyKnownShapes) {
  EXPECT_EQ(type_of(kConv, {tensor({N, 3, unknown, 8}), tensor({8, 3, 3, 3})}), "Tensor[(N, 8, ?, 6), float32]");
  EXPECT_EQ(type_of(kConv, {tensor({1, 3, N, N}), tensor({8, 3, 3, 3})}, window({3, 3}, {1, 1}, {1, 1, 1, 1})),
            "Tensor[(1, 8, N, N), float32]");
  EXPECT_EQ(type_of(kConv, {unranked(), tensor({8, 3, 3, 3})}), "Tensor[(?, 8, ?, ?), float32]");
  EXPECT_EQ(type_of(kConv, {tensor({1, 3, 8, 8}), unranked()}), "Tensor[(1, ?, ?, ?), float32]");
}

TEST(Conv, Refuses) {
  const Arg x = tensor({1, 3, 8, 8});
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 4, 3, 3})}),
            "nn.conv2d: weight expects 4 channels (4 in each of 1 groups), operand has 3");
  EXPECT_EQ(type_of(kConv, {tensor({1, 4, 8, 8}), tensor({9, 2, 3, 3})}, {{"groups", std::int64_t{2}}}),
            "nn.conv2d: 9 result channels do not divide into 2 groups");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 3, 3})}, {{"groups", std::int64_t{0}}}),
            "nn.conv2d: group must be positive, is 0");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 3})}),
            "nn.conv2d: weight Tensor[(8, 3, 3), float32] must have the rank of X Tensor[(1, 3, 8, 8), float32]");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 9, 3})}),
            "nn.conv2d: window of extent 9 does not fit into 8 with padding 0 and 0");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 3, 3})}, {{"kernel_size", Ints{5, 5}}}),
            "nn.conv2d: kernel_shape and weight differ: 5 and 3");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 3, 3})}, {{"strides", Ints{1, 0}}}),
            "nn.conv2d: strides holds 0, expected 1 or more");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 3, 3})}, {{"padding", Ints{1, 1}}}),
            "nn.conv2d: padding has 2 entries, expected 4");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 3, 3}), tensor({7})}),
            "nn.conv2d: bias and result channels differ: 7 and 8");
  EXPECT_EQ(type_of(kConv, {x, tensor({8, 3, 3, 3}, DType::Float16)}),
            "nn.conv2d: operands 0 and 1 differ in type: float32 and float16");
  EXPECT_EQ(type_of(kConv, {tensor({3, 8}), tensor({8, 3})}),
            "nn.conv2d: X must have rank 3 or more, got Tensor[(3, 8), float32]");
}

TEST(FusedConv, CountsBiasSumAndActivation) {
  const Outcome o =
      call(op("nn.fused_conv"), {tensor({1, 8, 4, 4}), tensor({8, 8, 1, 1}), tensor({8}), tensor({1, 8, 4, 4})},
           {{"activation", std::string("Relu")}});
  EXPECT_EQ(o.cost.macs, 128 * 8);
  EXPECT_EQ(o.cost.flops, 3 * 128);
}

TEST(ConvNhwc, TakesWeightsOfEitherLayout) {
  const Arg x = tensor({1, 14, 15, 32});
  const Outcome last = call(op("nn.nhwc_conv"), {x, tensor({64, 3, 5, 32})});
  EXPECT_EQ(last.types.at(0), "Tensor[(1, 12, 11, 64), float32]");
  const Outcome first = call(op("nn.nhwc_conv"), {x, tensor({64, 32, 3, 5})});
  EXPECT_EQ(first.types.at(0), "Tensor[(1, 12, 11, 64), float32]");
  EXPECT_EQ(last.cost.macs, 12.0 * 11 * 64 * 3 * 5 * 32);
  EXPECT_EQ(first.cost.macs, last.cost.macs);
  EXPECT_EQ(type_of(op("nn.nhwc_conv"), {tensor({1, 9, 9, 3}), tensor({8, 3, 5, 3})}, {{"kernel_size", Ints{5, 3}}}),
            "Tensor[(1, 5, 7, 8), float32]");  // both layouts fit the channels, the kernel decides
  EXPECT_EQ(type_of(op("nn.nhwc_conv"), {x, tensor({64, 31, 3, 5})}),
            "nn.nhwc_conv: weight expects 5 channels (5 in each of 1 groups), operand has 32");
}

TEST(ConvTranspose, Extents) {
  const Outcome o =
      call(kTranspose, {tensor({1, 64, 32, 32}), tensor({64, 32, 4, 4})}, window({4, 4}, {2, 2}, {1, 1, 1, 1}));
  EXPECT_EQ(o.types.at(0), "Tensor[(1, 32, 64, 64), float32]");
  EXPECT_EQ(o.cost.macs, 32.0 * 32 * 64 * 32 * 16);
  Attrs padded = window({3, 3}, {2, 2}, {1, 1, 1, 1});
  padded.set("output_padding", Ints{1, 1});
  padded.set("groups", std::int64_t{4});
  const Outcome grouped = call(kTranspose, {tensor({1, 8, 5, 5}), tensor({8, 3, 3, 3}), tensor({12})}, padded);
  EXPECT_EQ(grouped.types.at(0), "Tensor[(1, 12, 10, 10), float32]");
  EXPECT_EQ(grouped.cost.macs, 5 * 5 * 8 * 3 * 9);
  EXPECT_EQ(grouped.cost.flops, 1200);
  EXPECT_EQ(type_of(kTranspose, {tensor({1, 8, 5, 5}), tensor({8, 4, 3, 3})},
                    {{"strides", Ints{3, 2}}, {"auto_pad", std::string("SAME_UPPER")}}),
            "Tensor[(1, 4, 15, 10), float32]");
  EXPECT_EQ(type_of(kTranspose, {tensor({1, 8, 5, 5}), tensor({8, 4, 3, 3})}, {{"dilation", Ints{2, 2}}}),
            "Tensor[(1, 4, 9, 9), float32]");
}

TEST(ConvTranspose, OutputShapeDecidesAlone) {
  EXPECT_EQ(type_of(kTranspose, {tensor({1, 1, 3, 3}), tensor({1, 2, 3, 3})},
                    {{"strides", Ints{3, 2}}, {"output_shape", Ints{10, 8}}, {"output_padding", Ints{0, 0, 1, 1}}}),
            "Tensor[(1, 2, 10, 8), float32]");
  EXPECT_EQ(type_of(kTranspose, {tensor({1, 1, 3, 3}), tensor({1, 2, 3, 3})}, {{"output_shape", Ints{1, 2, 10, 8}}}),
            "Tensor[(1, 2, 10, 8), float32]");
  EXPECT_EQ(type_of(kTranspose, {tensor({1, 1, 3, 3}), tensor({1, 2, 3, 3})}, {{"output_shape", Ints{10}}}),
            "nn.conv2d_transpose: output_shape has 1 entries for 2 spatial axes");
  EXPECT_EQ(type_of(kTranspose, {tensor({1, 2, 3, 3}), tensor({1, 2, 3, 3})}),
            "nn.conv2d_transpose: channels of X and weight differ: 2 and 1");
  EXPECT_EQ(type_of(kTranspose, {tensor({1, 1, 1, 3}), tensor({1, 2, 1, 3})}, {{"padding", Ints{1, 0, 1, 0}}}),
            "nn.conv2d_transpose: padding 2 removes more than there is on axis 2");
}

TEST(DeformConv, SamplesPerOffsetGroup) {
  const OpId deform = op("nn.deformable_conv2d");
  const Outcome o = call(
      deform, {tensor({1, 4, 6, 6}), tensor({8, 4, 3, 3}), tensor({1, 36, 4, 4}), tensor({8}), tensor({1, 18, 4, 4})},
      {{"offset_group", std::int64_t{2}}});
  EXPECT_EQ(o.types.at(0), "Tensor[(1, 8, 4, 4), float32]");
  EXPECT_EQ(o.cost.macs, 16 * 8 * 36);
  EXPECT_EQ(o.cost.flops, 16 * 8 + 9 * 16 * 9 * 4);  // bias; 9 operations, 16 places, 9 points, 4 channels
  EXPECT_EQ(type_of(deform, {tensor({1, 4, 6, 6}), tensor({8, 4, 3, 3}), tensor({1, 18, 6, 6})}),
            "nn.deformable_conv2d: offset must be (1, 18, 4, 4), got Tensor[(1, 18, 6, 6), float32]");
  EXPECT_EQ(type_of(deform, {tensor({1, 4, 6, 6}), tensor({8, 4, 3, 3}), tensor({1, 54, 4, 4})},
                    {{"offset_group", std::int64_t{3}}}),
            "nn.deformable_conv2d: 4 channels do not divide into 3 offset groups");
}

TEST(CausalConv, KeepsItsState) {
  const Outcome o =
      call(op("nn.causal_conv"), {tensor({2, 16, 10}), tensor({16, 1, 4}), tensor({16}), tensor({2, 16, 3})}, {}, 2);
  EXPECT_EQ(o.types, (std::vector<std::string>{"Tensor[(2, 16, 10), float32]", "Tensor[(2, 16, 3), float32]"}));
  EXPECT_EQ(o.cost.macs, 2 * 16 * 10 * 4);
  EXPECT_EQ(type_of(op("nn.causal_conv"), {tensor({2, 16, 10}), tensor({8, 1, 4})}),
            "nn.causal_conv: channels of X and weight differ: 16 and 8");
}

TEST(CausalConv, HasItsChannelsAndStateInManyPlaces) {
  const OpId conv = op("nn.causal_conv");
  const auto types = [&](Shape x, Shape weight, const Attrs& attrs, std::vector<Arg> rest = {}) {
    std::vector<Arg> args{tensor(std::move(x)), tensor(std::move(weight))};
    args.insert(args.end(), rest.begin(), rest.end());
    return call(conv, args, attrs, 2).types;
  };
  using Types = std::vector<std::string>;
  const auto number = [](std::int64_t n) { return n; };
  const Attrs last{{"channels_last", number(1)}};
  // Of ONNX Runtime 1.32
  EXPECT_EQ(types({2, 8, 6}, {8, 1, 4}, {{"dilation", number(2)}}),
            (Types{"Tensor[(2, 8, 6), float32]", "Tensor[(2, 8, 6), float32]"}));
  EXPECT_EQ(types({2, 6, 2, 4}, {8, 1, 4}, last),
            (Types{"Tensor[(2, 6, 2, 4), float32]", "Tensor[(2, 3, 2, 4), float32]"}));
  EXPECT_EQ(types({6, 8}, {8, 1, 4}, {}, {omitted(), tensor({2, 8, 3})}),
            (Types{"Tensor[(6, 8), float32]", "Tensor[(2, 8, 3), float32]"}));
  Attrs windows = last;
  windows.set("state_window", number(2));
  EXPECT_EQ(types({2, 6, 8}, {8, 1, 4}, windows),
            (Types{"Tensor[(2, 6, 8), float32]", "Tensor[(2, 2, 3, 8), float32]"}));
  Attrs part = last;
  part.set("input_channels", number(8));
  part.set("input_channel_offset", number(4));
  part.set("state_channels_last", number(0));
  EXPECT_EQ(types({2, 6, 16}, {8, 1, 4}, part), (Types{"Tensor[(2, 6, 8), float32]", "Tensor[(2, 8, 3), float32]"}));
  part.set("input_channel_offset", number(9));
  EXPECT_EQ(type_of(conv, {tensor({2, 6, 16}), tensor({8, 1, 4})}, part),
            "nn.causal_conv: channels 9 to 17 are not in X, which has 16");
  EXPECT_EQ(type_of(conv, {tensor({2, 8, 6}), tensor({8, 1, 4})}, {{"activation", std::string("magic")}}),
            "nn.causal_conv: unknown activation 'magic'");
  EXPECT_EQ(type_of(conv, {tensor({2, 8, 6}), tensor({8, 1, 0})}), "nn.causal_conv: weight has no elements");
}

TEST(ConvInteger, AccumulatesInInt32) {
  const auto u8 = [](Shape s) { return tensor(std::move(s), DType::UInt8); };
  const Outcome o = call(op("qnn.conv2d_integer"), {u8({1, 1, 3, 3}), u8({1, 1, 2, 2}), u8({})});
  EXPECT_EQ(o.types.at(0), "Tensor[(1, 1, 2, 2), int32]");
  EXPECT_EQ(o.cost.macs, 16);
  EXPECT_EQ(o.cost.flops, 0);
  EXPECT_EQ(type_of(op("qnn.conv2d_integer"), {tensor({1, 1, 3, 3}), u8({1, 1, 2, 2})}),
            "qnn.conv2d_integer: x must be int8 or uint8, got float32");
  EXPECT_EQ(type_of(op("qnn.conv2d_integer"), {u8({1, 1, 3, 3}), u8({1, 1, 2, 2}), tensor({}, DType::Int8)}),
            "qnn.conv2d_integer: operands 0 and 2 differ in type: uint8 and int8");
}

TEST(QLinearConv, ChannelsLastMovesDataNotWeights) {
  const auto u8 = [](Shape s) { return tensor(std::move(s), DType::UInt8); };
  const auto operands = [&](Arg x) {
    return std::vector<Arg>{std::move(x),
                            tensor({}),
                            u8({}),
                            tensor({8, 3, 3, 3}, DType::Int8),
                            tensor({8}),
                            tensor({8}, DType::Int8),
                            tensor({}),
                            u8({}),
                            tensor({8}, DType::Int32)};
  };
  const Outcome first = call(op("qnn.conv2d"), operands(u8({1, 3, 10, 12})));
  EXPECT_EQ(first.types.at(0), "Tensor[(1, 8, 8, 10), uint8]");
  EXPECT_EQ(first.cost.macs, 640 * 27);
  EXPECT_EQ(first.cost.flops, 2 * 640);
  const Outcome last = call(op("qnn.conv2d"), operands(u8({1, 10, 12, 3})), {{"channels_last", std::int64_t{1}}});
  EXPECT_EQ(last.types.at(0), "Tensor[(1, 8, 10, 8), uint8]");
  auto float_bias = operands(u8({1, 3, 10, 12}));
  float_bias[8] = tensor({8});
  EXPECT_EQ(type_of(op("qnn.conv2d"), float_bias), "qnn.conv2d: bias must be int32, got float32");
}

TEST(Col2Im, PlacesBlocks) {
  const Outcome o = call(op("col2im"), {tensor({1, 5, 5}), ints({5, 5}), ints({1, 5})});
  EXPECT_EQ(o.types.at(0), "Tensor[(1, 1, 5, 5), float32]");
  EXPECT_EQ(o.cost.flops, 25);
  EXPECT_EQ(type_of(op("col2im"), {tensor({1, 10, 12}), ints({3, 4, 5}), ints({1, 1, 5})}),
            "Tensor[(1, 2, 3, 4, 5), float32]");
  EXPECT_EQ(type_of(op("col2im"), {tensor({1, 5, 4}), ints({5, 5}), ints({1, 5})}),
            "col2im: columns of X and places of the block differ: 4 and 5");
  EXPECT_EQ(type_of(op("col2im"), {tensor({1, 7, 5}), ints({5, 5}), ints({1, 5})}),
            "col2im: 7 rows do not divide into blocks of 5");
  EXPECT_EQ(type_of(op("col2im"), {tensor({1, 5, 5}), tensor({2}, DType::Int64), ints({1, 5})}),
            "Tensor[(1, 1, ?, ?), float32]");
}

}  // namespace
}  // namespace perfc::testing
