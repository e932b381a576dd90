#include "tests/unit/tf_graph.h"

namespace perfc::testing {
namespace {

using namespace tf;

TEST(TfOperators, ConvolutionKeepsChannelsLast) {
  const Imported m = import_graph(placeholder("x", {-1, 224, 224, 3}) + weight("w", {3, 3, 3, 32}) +
                                      node("y", "Conv2D", {"x", "w"}, conv_attrs("SAME", 2)),
                                  {.open_batch = 4});
  EXPECT_EQ(result_type(m), "Tensor[(4, 112, 112, 32), float32]");
  const Node* conv = only(m, op("nn.conv2d"));
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->attrs.string_or("data_layout", ""), "NHWC");
  EXPECT_EQ(conv->attrs.string_or("kernel_layout", ""), "HWIO");
  // SAME with stride 2 on an even extent: one row at the end only.
  EXPECT_EQ(conv->attrs.ints_or_empty("padding"), (std::vector<std::int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(macs(*m.graph), 4.0 * 112 * 112 * 32 * 27);
}

TEST(TfOperators, DepthwiseIsOneGroupPerChannel) {
  const Imported m = import_graph(placeholder("x", {1, 8, 8, 6}) + weight("w", {3, 3, 6, 2}) +
                                  node("y", "DepthwiseConv2dNative", {"x", "w"}, conv_attrs("VALID", 1)));
  EXPECT_EQ(result_type(m), "Tensor[(1, 6, 6, 12), float32]");
  EXPECT_EQ(only(m, op("nn.conv2d"))->attrs.int_or("groups", 1), 6);
  EXPECT_EQ(macs(*m.graph), 36.0 * 12 * 9);
}

TEST(TfOperators, PadBeforeAConvolutionIsItsPadding) {
  const Imported m = import_graph(
      placeholder("x", {1, 8, 8, 6}) + weight("w", {3, 3, 6, 2}) +
      node("p", "Const", {},
           attr("dtype", "type: DT_INT32") +
               attr("value",
                    "tensor { dtype: DT_INT32 tensor_shape { dim { size: 4 } dim { size: 2 } } "
                    "tensor_content: \"\\000\\000\\000\\000\\000\\000\\000\\000\\001\\000\\000\\000\\001\\000\\000\\000"
                    "\\001\\000\\000\\000\\001\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\" }")) +
      node("q", "Pad", {"x", "p"}) + node("y", "Conv2D", {"q", "w"}, conv_attrs("VALID", 1)));
  EXPECT_EQ(result_type(m), "Tensor[(1, 8, 8, 2), float32]");
  EXPECT_EQ(only(m, op("nn.pad")), nullptr);
  EXPECT_EQ(only(m, op("nn.conv2d"))->attrs.ints_or_empty("padding"), (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST(TfOperators, BlocksAroundAConvolutionAreDilation) {
  const std::string zeros = "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } dim { size: 2 } } int_val: 2 }";
  const std::string none = "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } dim { size: 2 } } int_val: 0 }";
  const Imported m = import_graph(placeholder("x", {1, 16, 16, 4}) + weight("w", {3, 3, 4, 8}) + ints("block", {2, 2}) +
                                  node("pads", "Const", {}, attr("dtype", "type: DT_INT32") + attr("value", zeros)) +
                                  node("crops", "Const", {}, attr("dtype", "type: DT_INT32") + attr("value", none)) +
                                  node("s", "SpaceToBatchND", {"x", "block", "pads"}) +
                                  node("c", "Conv2D", {"s", "w"}, conv_attrs("VALID", 1)) +
                                  node("y", "BatchToSpaceND", {"c", "block", "crops"}));
  EXPECT_EQ(result_type(m), "Tensor[(1, 16, 16, 8), float32]");
  const Node* conv = only(m, op("nn.conv2d"));
  ASSERT_NE(conv, nullptr) << m.diags.str();
  EXPECT_EQ(conv->attrs.ints_or_empty("dilation"), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(conv->attrs.ints_or_empty("padding"), (std::vector<std::int64_t>{2, 2, 2, 2}));
  EXPECT_EQ(only(m, op("transpose")), nullptr);
  EXPECT_EQ(macs(*m.graph), 256.0 * 8 * 36);
}

TEST(TfOperators, StridedSliceWithAllMasks) {
  // x[..., tf.newaxis, 1, 2:]
  const Imported m = import_graph(placeholder("x", {2, 3, 4, 5}) + ints("b", {0, 0, 1, 2}) + ints("e", {0, 0, 2, 0}) +
                                  ints("s", {1, 1, 1, 1}) +
                                  node("y", "StridedSlice", {"x", "b", "e", "s"},
                                       attr("ellipsis_mask", "i: 1") + attr("new_axis_mask", "i: 2") +
                                           attr("shrink_axis_mask", "i: 4") + attr("end_mask", "i: 8")));
  EXPECT_EQ(result_type(m), "Tensor[(2, 3, 1, 3), float32]");
}

TEST(TfOperators, BandsOfUnknownWidthAreTwoTriangles) {
  const std::string x = placeholder("x", {2, 8, 8});
  const Imported open =
      import_graph(x + placeholder("n", {}, "DT_INT32") + node("y", "MatrixBandPart", {"x", "n", "n"}));
  EXPECT_EQ(result_type(open), "Tensor[(2, 8, 8), float32]");
  EXPECT_EQ(count(open, op("trilu")), 2);
  const Imported lower = import_graph(x + int_scalar("all", -1) + int_scalar("none", 0) +
                                      node("y", "MatrixBandPart", {"x", "all", "none"}));
  ASSERT_EQ(count(lower, op("trilu")), 1);
  EXPECT_EQ(only(lower, op("trilu"))->attrs.int_or("upper", 1), 0);
}

TEST(TfOperators, ComplexNumbersAreMadeOfTheirParts) {
  const Imported m =
      import_graph(placeholder("x", {2, 8}) + node("c", "Complex", {"x", "x"}) + node("y", "FFT", {"c"}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 8), complex64]");
}

TEST(TfOperators, RollTurnsEveryAxis) {
  const Imported m = import_graph(placeholder("x", {2, 8, 8}) + ints("by", {-3, 0}) + ints("of", {1, 2}) +
                                  node("y", "Roll", {"x", "by", "of"}));
  ASSERT_EQ(count(m, op("roll")), 1);  // of none there is no kernel
  EXPECT_EQ(only(m, op("roll"))->attrs.int_or("shift", 0), -3);
  EXPECT_EQ(only(m, op("roll"))->attrs.int_or("axis", 0), 1);
}

TEST(TfOperators, AssignmentToASliceWritesThatSlice) {
  const std::string x = placeholder("x", {2, 8, 8}), part = placeholder("p", {2, 3, 8});
  const Imported known =
      import_graph(x + part + ints("at", {0, 5, 0}) + node("y", "XlaDynamicUpdateSlice", {"x", "p", "at"}));
  EXPECT_EQ(result_type(known), "Tensor[(2, 8, 8), float32]");
  EXPECT_EQ(count(known, op("strided_set")), 1);
  const Imported open = import_graph(x + part + placeholder("at", {3}, "DT_INT32") +
                                     node("y", "XlaDynamicUpdateSlice", {"x", "p", "at"}));
  EXPECT_EQ(count(open, op("strided_set")), 1) << open.diags.str();
  EXPECT_FALSE(import_graph(x + placeholder("p", {3, 8}) + ints("at", {0, 5, 0}) +
                            node("y", "XlaDynamicUpdateSlice", {"x", "p", "at"}))
                   .graph);
}

TEST(TfOperators, SegmentsAreScattered) {
  const std::string in = placeholder("x", {6, 5}) + int_placeholder("ids", {6});
  Imported m = import_graph(in + int_scalar("n", 3) + node("y", "UnsortedSegmentSum", {"x", "ids", "n"}));
  EXPECT_EQ(result_type(m), "Tensor[(3, 5), float32]");
  ASSERT_TRUE(only(m, op("scatter_nd")));
  EXPECT_EQ(only(m, op("scatter_nd"))->attrs.string_or("reduction", ""), "add");

  // Ids that are known tell how many segments there are; others leave it open.
  m = import_graph(placeholder("x", {6, 5}) + ints("ids", {0, 0, 1, 1, 3, 3}) + node("y", "SegmentMax", {"x", "ids"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 5), float32]");
  EXPECT_EQ(only(m, op("scatter_nd"))->attrs.string_or("reduction", ""), "max");
  m = import_graph(in + node("y", "SegmentSum", {"x", "ids"}));
  EXPECT_EQ(result_type(m), "Tensor[(?, 5), float32]");

  // Ids with several axes stand for all of them.
  m = import_graph(placeholder("x", {2, 3, 5}) + int_placeholder("ids", {2, 3}) + int_scalar("n", 7) +
                   node("y", "UnsortedSegmentSum", {"x", "ids", "n"}));
  EXPECT_EQ(result_type(m), "Tensor[(7, 5), float32]");
}

TEST(TfOperators, SparseSegmentsTakeRowsAndAverageThem) {
  const Imported m =
      import_graph(placeholder("table", {100, 16}) + int_placeholder("rows", {12}) + int_placeholder("ids", {12}) +
                   int_scalar("n", 4) + node("y", "SparseSegmentSqrtNWithNumSegments", {"table", "rows", "ids", "n"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 16), float32]");
  EXPECT_TRUE(only(m, op("take")));
  EXPECT_TRUE(only(m, op("sqrt")));
  EXPECT_TRUE(only(m, op("divide")));
}

TEST(TfOperators, HistogramsCount) {
  const std::string none =
      node("none", "Const", {}, attr("value", "tensor { dtype: DT_FLOAT tensor_" + shape({0}) + " }"));
  Imported m = import_graph(int_placeholder("x", {3, 4}) + int_scalar("n", 10) + none +
                            node("y", "Bincount", {"x", "n", "none"}));
  EXPECT_EQ(result_type(m), "Tensor[(10,), float32]");
  m = import_graph(int_placeholder("x", {3, 4}) + int_scalar("n", 10) + placeholder("w", {3, 4}) +
                   node("y", "DenseBincount", {"x", "n", "w"}));
  EXPECT_EQ(result_type(m), "Tensor[(3, 10), float32]");
}

TEST(TfOperators, SparseTensorsBecomeDense) {
  const std::string entries = placeholder("at", {9, 2}, "DT_INT64") + placeholder("v", {9});
  Imported m = import_graph(entries + ints("shape", {4, 6}) + placeholder("rest", {}) +
                            node("y", "SparseToDense", {"at", "shape", "v", "rest"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 6), float32]");
  m = import_graph(entries + ints("shape", {4, 6}) + placeholder("b", {6, 8}) +
                   node("y", "SparseTensorDenseMatMul", {"at", "v", "shape", "b"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 8), float32]");
  m = import_graph(entries + ints("shape", {4, 6}) + placeholder("b", {8, 4}) +
                   node("y", "SparseTensorDenseMatMul", {"at", "v", "shape", "b"},
                        attr("adjoint_a", "b: true") + attr("adjoint_b", "b: true")));
  EXPECT_EQ(result_type(m), "Tensor[(6, 8), float32]");
  m = import_graph(entries + ints("shape", {4, 6}) + placeholder("b", {4, 6}) +
                   node("y", "SparseTensorDenseAdd", {"at", "v", "shape", "b"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 6), float32]");
}

TEST(TfOperators, SparseTensorsChangeTheirShape) {
  Imported m = import_graph(placeholder("at", {9, 2}, "DT_INT64") + ints("from", {4, 6}) + ints("to", {2, -1, 3}) +
                            node("y", "SparseReshape", {"at", "from", "to"}) + node("shape", "Identity", {"y:1"}));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(result_type(m), "Tensor[(3,), int64]");
  const Data* d = m.graph->data(m.graph->results()[0]);
  ASSERT_TRUE(d && d->ints());
  EXPECT_EQ((*d->ints())[1], SymInt(4));
  m = import_graph(placeholder("at", {9, 2}, "DT_INT64") + ints("from", {4, 6}) + ints("to", {2, -1, 3}) +
                   node("y", "SparseReshape", {"at", "from", "to"}));
  EXPECT_EQ(result_type(m), "Tensor[(9, 3), int64]");

  m = import_graph(placeholder("at", {9, 2}, "DT_INT64") + placeholder("v", {9}) + ints("shape", {4, 6}) +
                   placeholder("rest", {}) + node("f", "SparseFillEmptyRows", {"at", "v", "shape", "rest"}) +
                   node("empty", "Identity", {"f:2"}) + node("went", "Identity", {"f:3"}));
  EXPECT_EQ(result_type(m, 0), "Tensor[(4,), bool]");
  EXPECT_EQ(result_type(m, 1), "Tensor[(?,), int64]");
  m = import_graph(placeholder("i", {9}, "DT_INT32") + ints("shape", {4, 6}) +
                   node("y", "UnravelIndex", {"i", "shape"}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 9), int32]");
}

TEST(TfOperators, SparseShapesThatOverflowAreRefused) {
  const Imported m =
      import_graph(placeholder("at", {9, 3}, "DT_INT64") + ints("from", {2147483647, 2147483647, 2147483647}) +
                   ints("to", {-1}) + node("y", "SparseReshape", {"at", "from", "to"}));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("the shape holds too many elements"), std::string::npos) << m.diags.str();
}

// ---- Cells, windows, images

TEST(TfOperators, CellsAreTheirProducts) {
  const std::string in = placeholder("x", {4, 10}) + placeholder("c", {4, 32}) + placeholder("h", {4, 32});
  Imported m = import_graph(in + weight("w", {42, 128}) + weight("p", {32}) + weight("b", {128}) +
                            node("cell", "LSTMBlockCell", {"x", "c", "h", "w", "p", "p", "p", "b"}) +
                            node("y", "Identity", {"cell:6"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 32), float32]");
  EXPECT_EQ(macs(*m.graph), 4.0 * 42 * 128);
  m = import_graph(placeholder("x", {4, 10}) + placeholder("h", {4, 32}) + weight("w", {42, 64}) +
                   weight("wc", {42, 32}) + weight("b", {64}) + weight("bc", {32}) +
                   node("cell", "GRUBlockCell", {"x", "h", "w", "wc", "b", "bc"}) + node("y", "Identity", {"cell:3"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 32), float32]");
  EXPECT_EQ(macs(*m.graph), 4.0 * 42 * 96);
}

TEST(TfOperators, DilationIsASumAndAComparisonPerElementOfTheWindow) {
  const std::string list = "list { i: 1 i: 2 i: 2 i: 1 }", ones = "list { i: 1 i: 1 i: 1 i: 1 }";
  const Imported m = import_graph(placeholder("x", {1, 9, 9, 3}) + weight("f", {3, 3, 3}) +
                                  node("y", "Dilation2D", {"x", "f"},
                                       attr("strides", list) + attr("rates", ones) + attr("padding", "s: \"SAME\"")));
  EXPECT_EQ(result_type(m), "Tensor[(1, 5, 5, 3), float32]");
  std::size_t sums = 0, comparisons = 0;
  for (const Node& n : m.graph->nodes()) {
    sums += n.is(op("add"));
    comparisons += n.is(op("maximum"));
  }
  EXPECT_EQ(sums, 9u);
  EXPECT_EQ(comparisons, 8u);
  const Imported bad =
      import_graph(placeholder("x", {1, 9, 9, 3}) + weight("f", {3, 3, 4}) + node("y", "Dilation2D", {"x", "f"}));
  EXPECT_NE(bad.diags.str().find("do not fit"), std::string::npos) << bad.diags.str();
}

TEST(TfOperators, ImagesHaveAsManyPixelsAsTheirFile) {
  const std::string file = node("file", "Placeholder", {}, attr("dtype", "type: DT_STRING") + attr("shape", shape({})));
  EXPECT_EQ(result_type(import_graph(file + node("image", "DecodeJpeg", {"file"}, attr("channels", "i: 3")))),
            "Tensor[(?, ?, 3), uint8]");
  EXPECT_EQ(result_type(import_graph(file + node("image", "DecodePng", {"file"}, attr("channels", "i: 1")))),
            "Tensor[(?, ?, 1), uint8]");
}

TEST(TfOperators, TheFirstBatchNormHasItsOperandsInAnotherOrder) {
  const Imported m = import_graph(placeholder("x", {1, 4, 4, 8}) + weight("mean", {8}) + weight("var", {8}) +
                                  weight("beta", {8}) + weight("gamma", {8}) +
                                  node("y", "BatchNormWithGlobalNormalization", {"x", "mean", "var", "beta", "gamma"},
                                       attr("variance_epsilon", "f: 0.001")));
  const Node* n = only(m, op("nn.batch_norm"));
  ASSERT_TRUE(n) << m.diags.str();
  EXPECT_EQ(n->attrs.int_or("axis", 1), 3);
  EXPECT_EQ(m.graph->node(n->operands[1]).name, "gamma");
  EXPECT_EQ(m.graph->node(n->operands[4]).name, "var");
}

TEST(TfOperators, BothResultsOfACrossEntropy) {
  const std::string t = attr("T", "type: DT_FLOAT"),
                    nodes = placeholder("x", {4, 10}) + placeholder("p", {4, 10}) + placeholder("l", {4}, "DT_INT64");
  const auto of = [&](const std::string& op, const std::string& labels, const std::string& output) {
    return result_type(import_graph(nodes + node("e", op, {"x", labels}, t) + node("y", "Neg", {"e" + output}, t)));
  };
  EXPECT_EQ(of("SparseSoftmaxCrossEntropyWithLogits", "l", ""), "Tensor[(4,), float32]");
  EXPECT_EQ(of("SparseSoftmaxCrossEntropyWithLogits", "l", ":1"), "Tensor[(4, 10), float32]");
  EXPECT_EQ(of("SoftmaxCrossEntropyWithLogits", "p", ""), "Tensor[(4,), float32]");
  EXPECT_EQ(of("SoftmaxCrossEntropyWithLogits", "p", ":1"), "Tensor[(4, 10), float32]");
}

}  // namespace
}  // namespace perfc::testing
