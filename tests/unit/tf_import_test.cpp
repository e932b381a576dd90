#include <gtest/gtest.h>

#include "frontends/frontend.h"
#include "ir/control_flow.h"
#include "ir/infer_context.h"
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

std::string attr(const std::string& key, const std::string& value) { return "attr { key: \"" + key + "\" value { " + value + " } } "; }

std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs, const std::string& attrs = "") {
  std::string out = "node { name: \"" + name + "\" op: \"" + op + "\" ";
  for (const std::string& i : inputs) out += "input: \"" + i + "\" ";
  return out + attrs + "}\n";
}

std::string placeholder(const std::string& name, const std::vector<int>& dims, const std::string& type = "DT_FLOAT") {
  return node(name, "Placeholder", {}, attr("dtype", "type: " + type) + attr("shape", shape(dims)));
}

std::string weight(const std::string& name, const std::vector<int>& dims) {
  std::string tensor_shape = "tensor_" + shape(dims);
  return node(name, "Const", {}, attr("dtype", "type: DT_FLOAT") + attr("value", "tensor { dtype: DT_FLOAT " + tensor_shape + " }"));
}

std::string ints(const std::string& name, const std::vector<int>& values) {
  std::string v;
  for (int x : values) v += "int_val: " + std::to_string(x) + " ";
  return node(name, "Const", {}, attr("dtype", "type: DT_INT32") +
                                     attr("value", "tensor { dtype: DT_INT32 tensor_" + shape({static_cast<int>(values.size())}) + " " + v + "}"));
}

std::string int_scalar(const std::string& name, int value) {
  return node(name, "Const", {}, attr("dtype", "type: DT_INT32") +
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
    for (const GraphRef& r : g.node(id).regions) total += macs(*r, repeat * static_cast<double>(trips.known() ? trips.value() : 1));
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
  const Imported m = import_graph(placeholder("x", {1, 8, 8, 6}) + weight("w", {3, 3, 6, 2}) +
                                  node("p", "Const", {}, attr("dtype", "type: DT_INT32") +
                                       attr("value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 4 } dim { size: 2 } } "
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
  const Imported m = import_graph(
      placeholder("x", {1, 16, 16, 4}) + weight("w", {3, 3, 4, 8}) + ints("block", {2, 2}) +
      node("pads", "Const", {}, attr("dtype", "type: DT_INT32") + attr("value", zeros)) +
      node("crops", "Const", {}, attr("dtype", "type: DT_INT32") + attr("value", none)) + node("s", "SpaceToBatchND", {"x", "block", "pads"}) +
      node("c", "Conv2D", {"s", "w"}, conv_attrs("VALID", 1)) + node("y", "BatchToSpaceND", {"c", "block", "crops"}));
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
  const Imported m = import_graph(
      placeholder("x", {2, 3, 4, 5}) + ints("b", {0, 0, 1, 2}) + ints("e", {0, 0, 2, 0}) + ints("s", {1, 1, 1, 1}) +
      node("y", "StridedSlice", {"x", "b", "e", "s"},
           attr("ellipsis_mask", "i: 1") + attr("new_axis_mask", "i: 2") + attr("shrink_axis_mask", "i: 4") + attr("end_mask", "i: 8")));
  EXPECT_EQ(result_type(m), "Tensor[(2, 3, 1, 3), float32]");
}

/// A SavedModel with one function that multiplies by a variable.
std::string saved_model(const std::string& body, const std::string& more_signatures = "") {
  return R"(saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" stripped_op_list { op { name: "MatMul" } } }
  graph_def {
    node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 8 } dim { size: 16 } } } } attr { key: "shared_name" value { s: "kernel" } } }
    node { name: "in" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "call" op: "StatefulPartitionedCall" input: "in" input: "v" attr { key: "f" value { func { name: "model" } } } }
    library { function {
      signature { name: "model" input_arg { name: "x" type: DT_FLOAT } input_arg { name: "w" type: DT_RESOURCE } output_arg { name: "out" type: DT_FLOAT } }
      ret { key: "out" value: "end:output:0" }
)" + body + R"(    } }
  }
  signature_def { key: "serving_default" value {
    inputs { key: "features" value { name: "in:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } dim { size: 8 } } } }
    outputs { key: "score" value { name: "call:0" dtype: DT_FLOAT } } } }
)" + more_signatures + "}\n";
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
  EXPECT_EQ(m.diags.str(), "m.pbtxt: error: --signature: the model has none named 'serving_defualt' (did you mean 'serving_default'?); "
                           "it has serving_default\n");
}

TEST(TfImport, FunctionThatCallsItselfIsRefused) {
  const Imported m = import_graph(saved_model(R"(
      node_def { name: "end" op: "PartitionedCall" input: "x" input: "w" attr { key: "f" value { func { name: "model" } } } }
)"));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("error: PartitionedCall: the function 'model' calls itself"), std::string::npos) << m.diags.str();
}

/// while i < 5: list[i] = x · w; i += 1
TEST(TfImport, WhileWithATensorListIsALoopOfKnownTrips) {
  const std::string graph = placeholder("x", {2, 8}) + weight("w", {8, 8}) + int_scalar("zero", 0) + int_scalar("five", 5) + ints("element", {2, 8}) +
                            node("list", "TensorListReserve", {"element", "five"}, attr("element_dtype", "type: DT_FLOAT")) +
                            node("loop", "StatelessWhile", {"zero", "five", "list", "x", "w"},
                                 attr("cond", "func { name: \"c\" }") + attr("body", "func { name: \"b\" }")) +
                            node("y", "TensorListStack", {"loop:2", "element"}, attr("element_dtype", "type: DT_FLOAT"));
  const std::string args = "input_arg { name: \"i\" type: DT_INT32 } input_arg { name: \"n\" type: DT_INT32 } input_arg { name: \"l\" type: DT_VARIANT } "
                           "input_arg { name: \"x\" type: DT_FLOAT } input_arg { name: \"w\" type: DT_FLOAT } ";
  const std::string library =
      "library { function { signature { name: \"c\" " + args + "output_arg { name: \"go\" type: DT_BOOL } } ret { key: \"go\" value: \"less:z:0\" } "
      "node_def { name: \"less\" op: \"Less\" input: \"i\" input: \"n\" } }\n"
      "function { signature { name: \"b\" " + args + "output_arg { name: \"oi\" } output_arg { name: \"on\" } output_arg { name: \"ol\" } "
      "output_arg { name: \"ox\" } output_arg { name: \"ow\" } } ret { key: \"oi\" value: \"next:z:0\" } ret { key: \"on\" value: \"n\" } "
      "ret { key: \"ol\" value: \"set:output_handle:0\" } ret { key: \"ox\" value: \"step:product:0\" } ret { key: \"ow\" value: \"w\" } "
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
      placeholder("x", {2, 8}) + weight("w", {8, 8}) + int_scalar("zero", 0) + int_scalar("five", 5) + int_scalar("one", 1) +
      node("enter_i", "Enter", {"zero"}, frame) + node("enter_x", "Enter", {"x"}, frame) +
      node("enter_w", "Enter", {"w"}, frame + attr("is_constant", "b: true")) + node("enter_n", "Enter", {"five"}, frame + attr("is_constant", "b: true")) +
      node("merge_i", "Merge", {"enter_i", "next_i"}) + node("merge_x", "Merge", {"enter_x", "next_x"}) + node("less", "Less", {"merge_i", "enter_n"}) +
      node("go", "LoopCond", {"less"}) + node("switch_i", "Switch", {"merge_i", "go"}) + node("switch_x", "Switch", {"merge_x", "go"}) +
      node("k", "Const", {"^switch_i"}, attr("dtype", "type: DT_INT32") + attr("value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 }")) +
      node("add", "Add", {"switch_i:1", "k"}) + node("step", "MatMul", {"switch_x:1", "enter_w"}) + node("next_i", "NextIteration", {"add"}) +
      node("next_x", "NextIteration", {"step"}) + node("exit_x", "Exit", {"switch_x"}) + node("y", "Identity", {"exit_x"}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 8), float32]");
  EXPECT_EQ(macs(*m.graph), 5.0 * 2 * 8 * 8);
}

TEST(TfImport, MergeOfSwitchesIsAnIf) {
  const Imported m = import_graph(placeholder("x", {2, 8}) + placeholder("p", {}, "DT_BOOL") + weight("w", {8, 8}) + node("s", "Switch", {"x", "p"}) +
                                  node("t", "MatMul", {"s:1", "w"}) + node("f", "Neg", {"s"}) + node("y", "Merge", {"f", "t"}));
  EXPECT_EQ(result_type(m), "Tensor[(2, 8), float32]");
  const Node* branch = only(m, op("if"));
  ASSERT_NE(branch, nullptr);
  ASSERT_EQ(branch->regions.size(), 2u);
  EXPECT_EQ(macs(*branch->regions[0]), 2.0 * 8 * 8);   // then: switch output 1
  EXPECT_EQ(macs(*branch->regions[1]), 0.0);
}

TEST(TfImport, UnknownOperatorIsOpaqueOrRefused) {
  const std::string shaped = attr("T", "type: DT_FLOAT") + attr("_output_shapes", "list { " + shape({2, 3}) + " }");
  const Imported typed = import_graph(placeholder("x", {2, 3}) + node("y", "Frobnicate", {"x"}, shaped));
  EXPECT_EQ(result_type(typed), "Tensor[(2, 3), float32]");
  EXPECT_NE(typed.diags.str().find("warning: unknown operator Frobnicate: kept as opaque"), std::string::npos) << typed.diags.str();
  const Imported untyped = import_graph(placeholder("x", {2, 3}) + node("y", "Frobnicate", {"x"}));
  EXPECT_FALSE(untyped.graph);
  EXPECT_NE(untyped.diags.str().find("m.pbtxt:2:6: node 1 'y': error: Frobnicate: unknown operator, and the file does not say"), std::string::npos)
      << untyped.diags.str();
}

TEST(TfImport, SerialisedStableHloIsRefused) {
  const Imported m = import_graph(placeholder("x", {2, 3}) + node("y", "XlaCallModule", {"x"}));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("error: XlaCallModule: its body is serialised StableHLO"), std::string::npos) << m.diags.str();
}

TEST(TfImport, TextIsReadInAllItsSpellings) {
  const Imported m = import_graph(R"(# a comment
node < name: 'x', op: "Place" "holder"; attr: { key: "dtype" value { type: 1 } } attr [ { key: "shape" value { shape { dim: [ { size: 2 }, { size: 0x3 } ] } } } ] >
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
  const Imported m = import_graph(placeholder("x", {2}) + node("a", "Add", {"x", "b"}) + node("b", "Neg", {"a"}) + node("y", "Neg", {"b"}));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("the graph has a cycle through this node"), std::string::npos) << m.diags.str();
}

}  // namespace
}  // namespace perfc::testing
