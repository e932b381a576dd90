#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/frontend.h"
#include "ir/control_flow.h"
#include "ir/infer_context.h"
#include "ir/tables.h"
#include "ir/text/printer.h"

namespace perfc::testing {
namespace {

struct Imported {
  Result<Graph> graph = Failure{};
  Diagnostics diags{"m.pbtxt"};
};

Imported import_graph(std::string text, const ImportOptions& options = {}) {
  Imported out;
  const Source source = Source::from_bytes("m.pbtxt", std::move(text));
  out.graph = import_model(source, options, out.diags);
  return out;
}

std::string shape(const std::vector<int>& dims) {
  std::string out = "shape { ";
  for (int d : dims) out += "dim { size: " + std::to_string(d) + " } ";
  return out + "}";
}

std::string attr(const std::string& key, const std::string& value) {
  return "attr { key: \"" + key + "\" value { " + value + " } } ";
}

std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                 const std::string& attrs = "") {
  std::string out = "node { name: \"" + name + "\" op: \"" + op + "\" ";
  for (const std::string& i : inputs) out += "input: \"" + i + "\" ";
  return out + attrs + "}\n";
}

std::string placeholder(const std::string& name, const std::vector<int>& dims, const std::string& type = "DT_FLOAT") {
  return node(name, "Placeholder", {}, attr("dtype", "type: " + type) + attr("shape", shape(dims)));
}

std::string weight(const std::string& name, const std::vector<int>& dims) {
  std::string tensor_shape = "tensor_" + shape(dims);
  return node(name, "Const", {},
              attr("dtype", "type: DT_FLOAT") + attr("value", "tensor { dtype: DT_FLOAT " + tensor_shape + " }"));
}

std::string ints(const std::string& name, const std::vector<int>& values) {
  std::string v;
  for (int x : values) v += "int_val: " + std::to_string(x) + " ";
  return node(
      name, "Const", {},
      attr("dtype", "type: DT_INT32") +
          attr("value", "tensor { dtype: DT_INT32 tensor_" + shape({static_cast<int>(values.size())}) + " " + v + "}"));
}

std::string int_scalar(const std::string& name, int value) {
  return node(name, "Const", {},
              attr("dtype", "type: DT_INT32") +
                  attr("value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: " + std::to_string(value) + " }"));
}

std::string conv_attrs(const std::string& padding, int stride, const std::string& more = "") {
  const std::string s = std::to_string(stride);
  return attr("T", "type: DT_FLOAT") + attr("padding", "s: \"" + padding + "\"") + attr("data_format", "s: \"NHWC\"") +
         attr("strides", "list { i: 1 i: " + s + " i: " + s + " i: 1 }") + more;
}

std::string result_type(const Imported& m, std::size_t i = 0) {
  EXPECT_TRUE(m.graph) << m.diags.str();
  return m.graph ? to_string(m.graph->type(m.graph->results()[i])) : "";
}

int count(const Imported& m, OpId id) {
  return m.graph ? static_cast<int>(std::ranges::count_if(m.graph->nodes(), [&](const Node& n) { return n.is(id); }))
                 : -1;
}

const Node* only(const Imported& m, OpId id) {
  const Node* found = nullptr;
  if (!m.graph) return nullptr;
  for (const Node& n : m.graph->nodes()) {
    if (!n.is(id)) continue;
    EXPECT_EQ(found, nullptr) << "two of " << def(id).name;
    found = &n;
  }
  return found;
}

double macs(const Graph& g, double repeat = 1) {
  double total = 0;
  for (NodeId id = 0; id < g.size(); ++id) {
    total += repeat * op_cost(g, id).macs;
    const SymInt trips = g.node(id).regions.empty() ? SymInt(1) : trip_count(g, id);
    for (const GraphRef& r : g.node(id).regions)
      total += macs(*r, repeat * static_cast<double>(trips.known() ? trips.value() : 1));
  }
  return total;
}

TEST(TfImport, ConvolutionKeepsChannelsLast) {
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

TEST(TfImport, DepthwiseIsOneGroupPerChannel) {
  const Imported m = import_graph(placeholder("x", {1, 8, 8, 6}) + weight("w", {3, 3, 6, 2}) +
                                  node("y", "DepthwiseConv2dNative", {"x", "w"}, conv_attrs("VALID", 1)));
  EXPECT_EQ(result_type(m), "Tensor[(1, 6, 6, 12), float32]");
  EXPECT_EQ(only(m, op("nn.conv2d"))->attrs.int_or("groups", 1), 6);
  EXPECT_EQ(macs(*m.graph), 36.0 * 12 * 9);
}

TEST(TfImport, PadBeforeAConvolutionIsItsPadding) {
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

TEST(TfImport, BlocksAroundAConvolutionAreDilation) {
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

TEST(TfImport, StridedSliceWithAllMasks) {
  // x[..., tf.newaxis, 1, 2:]
  const Imported m = import_graph(placeholder("x", {2, 3, 4, 5}) + ints("b", {0, 0, 1, 2}) + ints("e", {0, 0, 2, 0}) +
                                  ints("s", {1, 1, 1, 1}) +
                                  node("y", "StridedSlice", {"x", "b", "e", "s"},
                                       attr("ellipsis_mask", "i: 1") + attr("new_axis_mask", "i: 2") +
                                           attr("shrink_axis_mask", "i: 4") + attr("end_mask", "i: 8")));
  EXPECT_EQ(result_type(m), "Tensor[(2, 3, 1, 3), float32]");
}

/// A SavedModel with one function that multiplies by a variable.
std::string saved_model(const std::string& body, const std::string& more_signatures = "") {
  return R"(saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" stripped_op_list { op { name: "MatMul" } } }
  graph_def {
    node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 8 } dim { size: 16 } } } }
           attr { key: "shared_name" value { s: "kernel" } } }
    node { name: "in" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "call" op: "StatefulPartitionedCall" input: "in" input: "v"
           attr { key: "f" value { func { name: "model" } } } }
    library { function {
      signature { name: "model" input_arg { name: "x" type: DT_FLOAT } input_arg { name: "w" type: DT_RESOURCE }
                  output_arg { name: "out" type: DT_FLOAT } }
      ret { key: "out" value: "end:output:0" }
)" + body +
         R"(    } }
  }
  signature_def { key: "serving_default" value {
    inputs { key: "features" value { name: "in:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } dim { size: 8 } } } }
    outputs { key: "score" value { name: "call:0" dtype: DT_FLOAT } } } }
)" + more_signatures +
         "}\n";
}

constexpr const char* kModelBody = R"(
      node_def { name: "read" op: "ReadVariableOp" input: "w" attr { key: "dtype" value { type: DT_FLOAT } } }
      node_def { name: "product" op: "MatMul" input: "x" input: "read:value:0" }
      node_def { name: "end" op: "Identity" input: "product:product:0" }
)";

TEST(TfImport, SavedModelInlinesItsFunctionAndReadsVariables) {
  const Imported m = import_graph(saved_model(kModelBody), {.open_batch = 2});
  EXPECT_EQ(result_type(m), "Tensor[(2, 16), float32]");
  EXPECT_EQ(m.graph->result_names(), std::vector<std::string>{"score"});
  EXPECT_EQ(macs(*m.graph), 2.0 * 8 * 16);
  EXPECT_EQ(m.diags.warnings(), 0u) << m.diags.str();
}

TEST(TfImport, UnknownSignatureNamesThoseThereAre) {
  ImportOptions options;
  options.signature = "serving_defualt";
  const Imported m = import_graph(saved_model(kModelBody), options);
  EXPECT_FALSE(m.graph);
  EXPECT_EQ(
      m.diags.str(),
      "m.pbtxt: error: --signature: the model has none named 'serving_defualt' (did you mean 'serving_default'?); "
      "it has serving_default\n");
}

TEST(TfImport, FunctionThatCallsItselfIsRefused) {
  const Imported m = import_graph(saved_model(R"(
      node_def { name: "end" op: "PartitionedCall" input: "x" input: "w"
                 attr { key: "f" value { func { name: "model" } } } }
)"));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("error: PartitionedCall: the function 'model' calls itself"), std::string::npos)
      << m.diags.str();
}

/// while i < 5: list[i] = x · w; i += 1
TEST(TfImport, WhileWithATensorListIsALoopOfKnownTrips) {
  const std::string graph =
      placeholder("x", {2, 8}) + weight("w", {8, 8}) + int_scalar("zero", 0) + int_scalar("five", 5) +
      ints("element", {2, 8}) +
      node("list", "TensorListReserve", {"element", "five"}, attr("element_dtype", "type: DT_FLOAT")) +
      node("loop", "StatelessWhile", {"zero", "five", "list", "x", "w"},
           attr("cond", "func { name: \"c\" }") + attr("body", "func { name: \"b\" }")) +
      node("y", "TensorListStack", {"loop:2", "element"}, attr("element_dtype", "type: DT_FLOAT"));
  const std::string args =
      "input_arg { name: \"i\" type: DT_INT32 } input_arg { name: \"n\" type: DT_INT32 } input_arg { name: \"l\" "
      "type: DT_VARIANT } "
      "input_arg { name: \"x\" type: DT_FLOAT } input_arg { name: \"w\" type: DT_FLOAT } ";
  const std::string library =
      "library { function { signature { name: \"c\" " + args +
      "output_arg { name: \"go\" type: DT_BOOL } } ret { key: \"go\" value: \"less:z:0\" } "
      "node_def { name: \"less\" op: \"Less\" input: \"i\" input: \"n\" } }\n"
      "function { signature { name: \"b\" " +
      args +
      "output_arg { name: \"oi\" } output_arg { name: \"on\" } output_arg { name: \"ol\" } "
      "output_arg { name: \"ox\" } output_arg { name: \"ow\" } } ret { key: \"oi\" value: \"next:z:0\" } ret { key: "
      "\"on\" value: \"n\" } "
      "ret { key: \"ol\" value: \"set:output_handle:0\" } ret { key: \"ox\" value: \"step:product:0\" } ret { key: "
      "\"ow\" value: \"w\" } "
      "node_def { name: \"one\" op: \"Const\" attr { key: \"dtype\" value { type: DT_INT32 } } "
      "attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } } "
      "node_def { name: \"next\" op: \"AddV2\" input: \"i\" input: \"one:output:0\" } "
      "node_def { name: \"step\" op: \"MatMul\" input: \"x\" input: \"w\" } "
      "node_def { name: \"set\" op: \"TensorListSetItem\" input: \"l\" input: \"i\" input: \"step:product:0\" } } }\n";
  const Imported m = import_graph(graph + library);
  EXPECT_EQ(result_type(m), "Tensor[(5, 2, 8), float32]");
  EXPECT_EQ(macs(*m.graph), 5.0 * 2 * 8 * 8);
}

/// The same loop as TensorFlow 1 wrote it.
TEST(TfImport, EnterAndExitAreALoop) {
  const std::string frame = attr("frame_name", "s: \"while\"");
  const Imported m = import_graph(
      placeholder("x", {2, 8}) + weight("w", {8, 8}) + int_scalar("zero", 0) + int_scalar("five", 5) +
      int_scalar("one", 1) + node("enter_i", "Enter", {"zero"}, frame) + node("enter_x", "Enter", {"x"}, frame) +
      node("enter_w", "Enter", {"w"}, frame + attr("is_constant", "b: true")) +
      node("enter_n", "Enter", {"five"}, frame + attr("is_constant", "b: true")) +
      node("merge_i", "Merge", {"enter_i", "next_i"}) + node("merge_x", "Merge", {"enter_x", "next_x"}) +
      node("less", "Less", {"merge_i", "enter_n"}) + node("go", "LoopCond", {"less"}) +
      node("switch_i", "Switch", {"merge_i", "go"}) + node("switch_x", "Switch", {"merge_x", "go"}) +
      node("k", "Const", {"^switch_i"},
           attr("dtype", "type: DT_INT32") + attr("value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 }")) +
      node("add", "Add", {"switch_i:1", "k"}) + node("step", "MatMul", {"switch_x:1", "enter_w"}) +
      node("next_i", "NextIteration", {"add"}) + node("next_x", "NextIteration", {"step"}) +
      node("exit_x", "Exit", {"switch_x"}) + node("y", "Identity", {"exit_x"}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 8), float32]");
  EXPECT_EQ(macs(*m.graph), 5.0 * 2 * 8 * 8);
}

TEST(TfImport, MergeOfSwitchesIsAnIf) {
  const Imported m = import_graph(placeholder("x", {2, 8}) + placeholder("p", {}, "DT_BOOL") + weight("w", {8, 8}) +
                                  node("s", "Switch", {"x", "p"}) + node("t", "MatMul", {"s:1", "w"}) +
                                  node("f", "Neg", {"s"}) + node("y", "Merge", {"f", "t"}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 8), float32]");
  const Node* branch = only(m, op("if"));
  ASSERT_NE(branch, nullptr);
  ASSERT_EQ(branch->regions.size(), 2u);
  EXPECT_EQ(macs(*branch->regions[0]), 2.0 * 8 * 8);  // then: switch output 1
  EXPECT_EQ(macs(*branch->regions[1]), 0.0);
}

/// As Keras writes dropouts: every condition reads the same learning phase.
TEST(TfImport, ConditionsInARowMayShareTheirPredicate) {
  std::string graph = placeholder("x", {2, 4}) + placeholder("p", {}, "DT_BOOL");
  std::string last = "x";
  for (const std::string& i : {std::string("0"), std::string("1"), std::string("2")}) {
    graph += node("s" + i, "Switch", {last, "p"}) + node("no" + i, "Relu", {"s" + i}) +
             node("yes" + i, "Neg", {"s" + i + ":1"}) + node("m" + i, "Merge", {"no" + i, "yes" + i});
    last = "m" + i;
  }
  const Imported m = import_graph(graph + node("y", "Identity", {last}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 4), float32]");
  ASSERT_TRUE(m.graph);
  EXPECT_EQ(
      std::count_if(m.graph->nodes().begin(), m.graph->nodes().end(), [](const Node& n) { return n.is(op("if")); }), 3);
}

TEST(TfImport, BandsOfUnknownWidthAreTwoTriangles) {
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

TEST(TfImport, ComplexNumbersAreMadeOfTheirParts) {
  const Imported m =
      import_graph(placeholder("x", {2, 8}) + node("c", "Complex", {"x", "x"}) + node("y", "FFT", {"c"}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 8), complex64]");
}

TEST(TfImport, RollTurnsEveryAxis) {
  const Imported m = import_graph(placeholder("x", {2, 8, 8}) + ints("by", {-3, 0}) + ints("of", {1, 2}) +
                                  node("y", "Roll", {"x", "by", "of"}));
  ASSERT_EQ(count(m, op("roll")), 1);  // of none there is no kernel
  EXPECT_EQ(only(m, op("roll"))->attrs.int_or("shift", 0), -3);
  EXPECT_EQ(only(m, op("roll"))->attrs.int_or("axis", 0), 1);
}

TEST(TfImport, AssignmentToASliceWritesThatSlice) {
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

TEST(TfImport, WhatFollowsFromOpenDimsNamesThem) {
  const Imported m = import_graph(placeholder("x", {1, -1}) + node("n", "Shape", {"x"}) + ints("row", {1, 2}) +
                                  node("pads", "Reshape", {"n", "row"}) + node("y", "Pad", {"x", "pads"}));
  EXPECT_NE(m.diags.str().find("not known while dims of inputs are open; bind them with --dim x.1=N"),
            std::string::npos)
      << m.diags.str();
}

TEST(TfImport, UnknownOperatorIsOpaqueOrRefused) {
  const std::string shaped = attr("T", "type: DT_FLOAT") + attr("_output_shapes", "list { " + shape({2, 3}) + " }");
  const Imported typed = import_graph(placeholder("x", {2, 3}) + node("y", "Frobnicate", {"x"}, shaped));
  EXPECT_EQ(result_type(typed), "Tensor[(2, 3), float32]");
  EXPECT_NE(typed.diags.str().find("warning: unknown operator Frobnicate: kept as opaque"), std::string::npos)
      << typed.diags.str();
  const Imported untyped = import_graph(placeholder("x", {2, 3}) + node("y", "Frobnicate", {"x"}));
  EXPECT_FALSE(untyped.graph);
  EXPECT_NE(untyped.diags.str().find(
                "m.pbtxt:2:6: node 1 'y': error: Frobnicate: unknown operator, and the file does not say"),
            std::string::npos)
      << untyped.diags.str();
}

TEST(TfImport, SerialisedStableHloIsRefused) {
  const Imported m = import_graph(placeholder("x", {2, 3}) + node("y", "XlaCallModule", {"x"}));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("error: XlaCallModule: its body is serialised StableHLO"), std::string::npos)
      << m.diags.str();
}

TEST(TfImport, TextIsReadInAllItsSpellings) {
  const Imported m = import_graph(R"(# a comment
node < name: 'x', op: "Place" "holder"; attr: { key: "dtype" value { type: 1 } }
       attr [ { key: "shape" value { shape { dim: [ { size: 2 }, { size: 0x3 } ] } } } ] >
node { name: "y" op: "Relu" input: ["x"] unknown_field { nested { deep: [1, 2] } } [some.extension] { a: 1 } }
)");
  EXPECT_EQ(result_type(m), "Tensor[(2, 3), float32]");
}

TEST(TfImport, SyntaxErrorsAreLocated) {
  const Imported m = import_graph("node {\n  name: \"x\"\n  op \"Relu\"\n}\n");
  EXPECT_FALSE(m.graph);
  EXPECT_EQ(m.diags.str(), "m.pbtxt:3:6: error: ':' or '{' was expected after 'op'\n");
}

TEST(TfImport, CyclesAreRefused) {
  const Imported m = import_graph(placeholder("x", {2}) + node("a", "Add", {"x", "b"}) + node("b", "Neg", {"a"}) +
                                  node("y", "Neg", {"b"}));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("the graph has a cycle through this node"), std::string::npos) << m.diags.str();
}

// ---- Segments, histograms, sparse tensors

std::string int_placeholder(const std::string& name, const std::vector<int>& dims) {
  return placeholder(name, dims, "DT_INT32");
}

TEST(TfImport, SegmentsAreScattered) {
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

TEST(TfImport, SparseSegmentsTakeRowsAndAverageThem) {
  const Imported m =
      import_graph(placeholder("table", {100, 16}) + int_placeholder("rows", {12}) + int_placeholder("ids", {12}) +
                   int_scalar("n", 4) + node("y", "SparseSegmentSqrtNWithNumSegments", {"table", "rows", "ids", "n"}));
  EXPECT_EQ(result_type(m), "Tensor[(4, 16), float32]");
  EXPECT_TRUE(only(m, op("take")));
  EXPECT_TRUE(only(m, op("sqrt")));
  EXPECT_TRUE(only(m, op("divide")));
}

TEST(TfImport, HistogramsCount) {
  const std::string none =
      node("none", "Const", {}, attr("value", "tensor { dtype: DT_FLOAT tensor_" + shape({0}) + " }"));
  Imported m = import_graph(int_placeholder("x", {3, 4}) + int_scalar("n", 10) + none +
                            node("y", "Bincount", {"x", "n", "none"}));
  EXPECT_EQ(result_type(m), "Tensor[(10,), float32]");
  m = import_graph(int_placeholder("x", {3, 4}) + int_scalar("n", 10) + placeholder("w", {3, 4}) +
                   node("y", "DenseBincount", {"x", "n", "w"}));
  EXPECT_EQ(result_type(m), "Tensor[(3, 10), float32]");
}

TEST(TfImport, SparseTensorsBecomeDense) {
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

TEST(TfImport, SparseTensorsChangeTheirShape) {
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

TEST(TfImport, SparseShapesThatOverflowAreRefused) {
  const Imported m =
      import_graph(placeholder("at", {9, 3}, "DT_INT64") + ints("from", {2147483647, 2147483647, 2147483647}) +
                   ints("to", {-1}) + node("y", "SparseReshape", {"at", "from", "to"}));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("the shape holds too many elements"), std::string::npos) << m.diags.str();
}

// ---- Cells, windows, images

TEST(TfImport, CellsAreTheirProducts) {
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

TEST(TfImport, DilationIsASumAndAComparisonPerElementOfTheWindow) {
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

TEST(TfImport, ImagesHaveAsManyPixelsAsTheirFile) {
  const std::string file = node("file", "Placeholder", {}, attr("dtype", "type: DT_STRING") + attr("shape", shape({})));
  EXPECT_EQ(result_type(import_graph(file + node("image", "DecodeJpeg", {"file"}, attr("channels", "i: 3")))),
            "Tensor[(?, ?, 3), uint8]");
  EXPECT_EQ(result_type(import_graph(file + node("image", "DecodePng", {"file"}, attr("channels", "i: 1")))),
            "Tensor[(?, ?, 1), uint8]");
}

TEST(TfImport, TheFirstBatchNormHasItsOperandsInAnotherOrder) {
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

TEST(TfImport, BothResultsOfACrossEntropy) {
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

TEST(TfImport, WhatIsTakenFromAQueueIsAnInputTypedByTheQueue) {
  const std::string types = attr("component_types", "list { type: DT_FLOAT type: DT_INT64 }");
  const std::string queue =
      node("q", "FIFOQueueV2", {}, types + attr("shapes", "list { " + shape({8, 3}) + " " + shape({}) + " }"));
  const std::string t = attr("T", "type: DT_FLOAT");
  const Imported one = import_graph(queue + node("d", "QueueDequeueV2", {"q"}, types) + node("y", "Relu", {"d"}, t));
  EXPECT_EQ(result_type(one), "Tensor[(8, 3), float32]");
  const Imported many = import_graph(queue + int_scalar("n", 32) + node("d", "QueueDequeueManyV2", {"q", "n"}, types) +
                                     node("y", "Relu", {"d:0"}, t) + node("z", "Neg", {"d:1"}));
  EXPECT_EQ(result_type(many), "Tensor[(d.0, 8, 3), float32]");
  EXPECT_EQ(many.graph->params().size(), 2u);
}

TEST(TfImport, MetaGraphsAreReadAsText) {
  const std::string nodes = placeholder("x", {2, 8}) + node("y", "Relu", {"x"}, attr("T", "type: DT_FLOAT"));
  EXPECT_EQ(result_type(import_graph("meta_info_def { tensorflow_version: \"1.15\" }\ngraph_def {\n" + nodes + "}\n")),
            "Tensor[(2, 8), float32]");
  EXPECT_EQ(import_graph("# as written\ngraph_def { }\n").diags.str(),
            "m.pbtxt: error: not a TensorFlow model: it holds no node\n");
}

TEST(TfImport, ConstantsBesideVariablesAreTables) {
  const std::string graph = placeholder("x", {2, 16}) + weight("ones", {16}) + node("y", "Mul", {"x", "ones"});
  const Imported frozen = import_graph(graph);
  const Imported trained =
      import_graph(graph + node("v", "VarHandleOp", {}, attr("dtype", "type: DT_FLOAT") + attr("shape", shape({4}))));
  const auto tables = [](const Imported& m) {
    return std::count_if(m.graph->nodes().begin(), m.graph->nodes().end(),
                         [](const Node& n) { return n.kind == NodeKind::Constant && n.attrs.has(kTable); });
  };
  ASSERT_TRUE(frozen.graph && trained.graph);
  EXPECT_EQ(tables(frozen), 0);
  EXPECT_EQ(tables(trained), 1);
}

}  // namespace
}  // namespace perfc::testing
