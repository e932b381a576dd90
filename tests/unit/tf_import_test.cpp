#include "ir/tables.h"
#include "tests/unit/tf_graph.h"

namespace perfc::testing {
namespace {

using namespace tf;

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
