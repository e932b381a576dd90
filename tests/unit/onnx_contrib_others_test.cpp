/// com.microsoft's operators of other subjects than language models of today: which of the IR's they become, of which
/// types, and what is refused. What they compute: tests/onnx_out/contrib_test.py.
#include "tests/unit/onnx_contrib.h"

namespace perfc {
namespace {

using namespace testing;

TEST(OnnxOthers, PaddingOfBatches) {
  const ContribOperand x{kFloat32, {2, 5, 8}}, counts{kInt32, {2}};
  EXPECT_EQ(contrib("RemovePadding", "", {x, counts}, {"y", "places", "sums", "most"}),
            "Tensor[(?, 8), float32] Tensor[(2, 5), int32] Tensor[(3,), int32] Tensor[(1,), int32] = (reshape) "
            "(shape_of) (squeeze) (arange) (cast) (expand_dims) (less) (reshape) (shape_of) (cast) (topk) (cumsum) "
            "(cast) cast compress (shape_of) (reshape) (concatenate) (max)");
  EXPECT_EQ(contrib("RestorePadding", "", {{kFloat32, {7, 8}}, {kInt32, {2, 5}}}),
            "Tensor[(2, 5, 8), float32] = (reshape) (cast) (shape_of) (shape_of) (concatenate) (full) (shape_of) "
            "(strided_slice) (expand_dims) (shape_of) (shape_of) (concatenate) scatter_nd reshape");
  refused(contrib("RemovePadding", "", {x, {kInt32, {3}}}), "sequence_token_count must be (2,), is (3,)");
  refused(contrib("RestorePadding", "", {x, {kInt32, {2, 5}}}), "input must have 2 dims, has 3");
}

TEST(OnnxOthers, BiasesByDistance) {
  const ContribOperand table{kFloat32, {32, 8}}, length{kInt64, {1}, {6}}, open{kInt64, {1}};
  const std::string far = int_attribute("max_distance", 128);
  EXPECT_EQ(contrib("RelativePositionBias", far, {table, length, length}),
            "Tensor[(1, 8, 6, 6), float32] = (reshape) (reshape) (arange) (expand_dims) (arange) (subtract) "
            "(maximum) (cast) (divide) (log) (multiply) (cast) (add) (minimum) (less) (where) (add) take (transpose) "
            "(expand_dims)");
  EXPECT_EQ(result_type(contrib_node("RelativePositionBias", far, {table, open, length})).substr(0, 12),
            "Tensor[(1, 8");
  refused(contrib("RelativePositionBias", "", {table, length, length}), "has no attribute 'max_distance'");
  refused(contrib("RelativePositionBias", int_attribute("max_distance", 0), {table, length, length}),
          "max_distance is 0 for 32 buckets");
  refused(contrib("RelativePositionBias", far, {table, {kInt64, {2}}, length}), "query_length must be an integer");
}

TEST(OnnxOthers, WhatHasNoKnownCostIsTyped) {
  EXPECT_EQ(contrib("Inverse", "", {{kFloat32, {3, 4, 4}}}), "Tensor[(3, 4, 4), float32] = opaque");
  EXPECT_EQ(contrib("DynamicTimeWarping", "", {{kFloat32, {5, 9}}}), "Tensor[(2, ?), int32] = opaque");
  const ContribOperand x{kFloat32, {1, 64, 32}}, w{kFloat32, {32, 96}}, b{kFloat32, {96}}, mask{kFloat32, {1, 64}};
  EXPECT_EQ(contrib("LongformerAttention", "", {x, w, b, mask, w, b, {kInt32, {1, 64}}}),
            "Tensor[(1, 64, 32), float32] = opaque");
  refused(contrib("Inverse", "", {{kFloat32, {3, 4}}}), "rows and columns of X differ: 4 and 3");
}

TEST(OnnxOthers, DistancesAndWindows) {
  const ContribOperand a{kFloat32, {5, 9}}, b{kFloat32, {7, 9}};
  const std::string euclidean = text_attribute("metric", "euclidean");
  EXPECT_EQ(contrib("CDist", euclidean, {a, b}),
            "Tensor[(5, 7), float32] = nn.dense (reduce_sum_square) (add) (reduce_sum_square) (add) (maximum) "
            "(sqrt)");
  EXPECT_EQ(contrib_macs(contrib_node("CDist", euclidean, {a, b}), op("nn.dense")), 5.0 * 7 * 9);
  refused(contrib("CDist", text_attribute("metric", "cosine"), {a, b}), "metric 'cosine' has no kernel");
  EXPECT_EQ(contrib("UnfoldTensor", int_attribute("size", 3) + int_attribute("dim", 0), {a}),
            "Tensor[(3, 9, 3), float32] = (arange) (expand_dims) (arange) (add) take (transpose)");
  refused(contrib("UnfoldTensor", int_attribute("size", 10), {a}), "windows of 10 every 1 over 9");
  refused(contrib("UnfoldTensor", int_attribute("size", 3) + int_attribute("dim", 2), {a}), "axis 2 is out of range");
  EXPECT_EQ(contrib("TorchEmbedding", "", {a, {kInt64, {2, 3}}}), "Tensor[(2, 3, 9), float32] = take");
  refused(contrib("TorchEmbedding", "", {{kFloat32, {9}}, {kInt64, {2, 3}}}), "weight must have 2 dims, has 1");
}

TEST(OnnxOthers, ComplexProducts) {
  EXPECT_EQ(contrib("ComplexMul", "", {{kFloat16, {5, 9, 2}}, {kFloat16, {9, 2}}}),
            "Tensor[(5, 9, 2), float16] = multiply (strided_slice) (strided_slice) (concatenate) (multiply) "
            "(strided_slice) (strided_slice) (add) (strided_slice) (strided_slice) (subtract) (concatenate)");
  refused(contrib("ComplexMulConj", "", {{kFloat16, {5, 3}}, {kFloat16, {5, 2}}}), "the last dim: 3 and 2");
}

TEST(OnnxOthers, Images) {
  const ContribOperand x{kFloat32, {1, 3, 8, 8}}, w{kFloat32, {3, 4, 3, 3}}, pads{kInt64, {4}, {1, 1, 1, 1}};
  const std::string two = ints_attribute("strides", {2, 2});
  EXPECT_EQ(contrib("ConvTransposeWithDynamicPads", two, {x, w, pads}),
            "Tensor[(1, 4, 15, 15), float32] = nn.conv2d_transpose");
  refused(contrib("ConvTransposeWithDynamicPads", two, {x, w, {kInt64, {4}}}), "give it with --value");
  EXPECT_EQ(contrib("MaxpoolWithMask", ints_attribute("kernel_shape", {2, 2}) + two, {x, {kInt32, {1, 3, 8, 8}}}),
            "Tensor[(1, 3, 4, 4), float32] = (cast) (where) nn.max_pool2d");
  const ContribOperand rois{kFloat32, {6, 4}}, images{kInt32, {6}}, size{kInt32, {2}, {4, 5}};
  EXPECT_EQ(contrib("CropAndResize", "", {x, rois, images, size}),
            "Tensor[(6, 3, 4, 5), float32] = cast vision.roi_align");
  refused(contrib("CropAndResize", "", {x, rois, images, {kInt32, {2}}}), "crop_size");
  refused(contrib("CropAndResize", "", {x, rois, images, {kInt32, {2}, {4, 0}}}), "output size 4×0 must be positive");
}

TEST(OnnxOthers, DropoutGivesAMaskOfBits) {
  const ContribOperand x{kFloat32, {3, 50}}, bias{kFloat32, {50}};
  EXPECT_EQ(contrib("BitmaskDropout", "", {x}, {"y", "mask"}),
            "Tensor[(3, 50), float32] Tensor[(5,), uint32] = nn.dropout (size_of) (add) (floor_divide) (expand_dims) "
            "(full)");
  EXPECT_EQ(contrib("BitmaskBiasDropout", "", {x, bias, x}, {"y", "mask"}),
            "Tensor[(3, 50), float32] Tensor[(5,), uint32] = add add nn.dropout (size_of) (add) (floor_divide) "
            "(expand_dims) (full)");
  refused(contrib("BitmaskBiasDropout", "", {x}), "operand 1 (bias) is missing");
}

TEST(OnnxOthers, NumbersOfFewBits) {
  const ContribOperand a{kUInt8, {2, 5}}, b{kUInt8, {5}}, zero{kUInt8, {}};
  EXPECT_EQ(contrib("MulInteger", "", {a, zero, b}),
            "Tensor[(2, 5), int32] = (cast) (reshape) (cast) (subtract) (cast) multiply");
  refused(contrib("MulInteger", "", {a, b, b}), "operand 1, a zero point, must be a number, is");
  const std::string rows = ints_attribute("axes", {1}) + int_attribute("keepdims", 0);
  EXPECT_EQ(contrib("ReduceSumInteger", rows, {a}), "Tensor[(2,), uint32] = (cast) sum_axes");
  EXPECT_EQ(contrib("ReduceSumInteger", rows, {{kInt8, {2, 5}}}), "Tensor[(2,), int32] = (cast) sum_axes");
  refused(contrib("ReduceSumInteger", "", {a}), "needs attributes 'axes' and 'keepdims'");
  const ContribOperand m{kInt16, {2, 5}}, n{kUInt16, {5, 3}};
  EXPECT_EQ(contrib("MatMulInteger16", "", {m, n}), "Tensor[(2, 3), int32] = (cast) (cast) nn.batch_matmul");
  EXPECT_EQ(contrib_macs(contrib_node("MatMulInteger16", "", {m, n}), op("nn.batch_matmul")), 30);
  EXPECT_EQ(contrib("MatMulInteger16", "", {{kUInt16, {2, 5}}, n}),
            "Tensor[(2, 3), int32] = (cast) (cast) nn.batch_matmul");
  EXPECT_EQ(contrib("IsAllFinite", "", {{kFloat16, {2, 5}}, {kFloat16, {3}}}),
            "Tensor[(), bool] = isnan (isinf) (logical_or) (any) (expand_dims) isnan (isinf) (logical_or) (any) "
            "(expand_dims) (concatenate) (any) (logical_not)");
  refused(contrib("IsAllFinite", "", {}), "has no operand");
}

TEST(OnnxOthers, UniqueCounts) {
  EXPECT_EQ(contrib("Unique", "", {{kFloat32, {20}}}, {"y", "places", "counts"}),
            "Tensor[(?,), float32] Tensor[(20,), int64] Tensor[(?,), int64] = unique");
  refused(contrib("Unique", "", {{kFloat32, {4, 5}}}), "x must have 1 dims, has 2");
}

TEST(OnnxOthers, DecodersByFlags) {
  const ContribOperand query{kFloat16, {3, 2, 8}}, key{kFloat16, {5, 2, 8}}, by_q{kFloat16, {8, 8}},
      by_kv{kFloat16, {8, 16}}, bias{kFloat16, {24}}, cache{kFloat16, {2, 4, 6, 2}}, yes{kBool, {}, {1}},
      no{kBool, {}, {0}}, open{kBool, {}};
  const std::string heads = int_attribute("num_heads", 4);
  const auto given = [&](const ContribOperand& of_keys, const ContribOperand& cached) {
    return std::vector<ContribOperand>{query, key,   by_q,    by_kv,  bias,   kOmitted,
                                       cache, cache, of_keys, cached, cached, no};
  };
  const std::vector<std::string> outputs{"y", "k", "v"};
  EXPECT_EQ(contrib("DecoderAttention", heads, given(no, yes), outputs),
            "Tensor[(3, 2, 8), float16] Tensor[(2, 4, 9, 2), float16] Tensor[(2, 4, 9, 2), float16] = "
            "nn.batch_matmul (strided_slice) (add) (reshape) transpose nn.batch_matmul (strided_slice) "
            "(strided_slice) (add) (reshape) transpose concatenate (strided_slice) (strided_slice) (add) (reshape) "
            "transpose concatenate nn.sdpa transpose reshape");
  EXPECT_EQ(contrib("DecoderAttention", heads, given(yes, yes), outputs),
            "Tensor[(3, 2, 8), float16] Tensor[(2, 4, 6, 2), float16] Tensor[(2, 4, 6, 2), float16] = "
            "nn.batch_matmul (strided_slice) (add) (reshape) transpose nn.sdpa transpose reshape");
  refused(contrib("DecoderAttention", heads, given(open, yes), outputs),
          "operand 8 (static_kv), which decides what is computed");
  refused(contrib("DecoderAttention", int_attribute("num_heads", 3), given(no, no), outputs),
          "8 features do not divide into 3 heads");
}

TEST(OnnxOthers, QuantisedEmbeddings) {
  const ContribOperand ids{kInt32, {2, 5}}, words{kUInt8, {100, 8}}, vector{kUInt8, {8}}, scale{kFloat32, {}},
      zero{kUInt8, {}};
  EXPECT_EQ(contrib("QEmbedLayerNormalization", "",
                    {ids, kOmitted, words, words, kOmitted, vector, vector, ids, scale, scale, kOmitted, scale, scale,
                     zero, zero, kOmitted, zero, zero},
                    {"y", "z"}),
            "Tensor[(2, 5, 8), float32] Tensor[(2,), int32] = (shape_of) (squeeze) (arange) (take) (qnn.dequantize) "
            "(take) (qnn.dequantize) (add) (qnn.dequantize) (qnn.dequantize) nn.layer_norm (sum_axes)");
  refused(contrib("QEmbedLayerNormalization", "",
                  {ids, ids, words, words, kOmitted, vector, vector, ids, scale, scale, kOmitted, scale, scale, zero,
                   zero, kOmitted, zero, zero},
                  {"y", "z"}),
          "are given together or not at all");
}

}  // namespace
}  // namespace perfc
