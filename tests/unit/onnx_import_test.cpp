/// The ONNX front end, on small models in protobuf text form.
#include "tests/unit/onnx_text.h"

namespace perfc::testing {
namespace {

TEST(OnnxImport, ElementwiseModelIsTyped) {
  const auto m = import_text("graph { name: \"g\" node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n" +
                             value("input", "x", {"1", "3"}) + value("output", "y", {"1", "3"}) + "}");
  EXPECT_EQ(result_type(m), "Tensor[(1, 3), float32]");
  EXPECT_EQ(m.graph->name(), "g");
  EXPECT_EQ(m.graph->result_names()[0], "y");
}

/// torch.onnx names nodes "node_linear_3", and says in their metadata of which module they are.
TEST(OnnxImport, ModulesOfTheDynamoExporterAreInNames) {
  const auto name = [](const std::string& scopes) {
    const auto m = import_text("graph { node { input: \"x\" output: \"y\" op_type: \"Relu\" name: \"node_relu\" " +
                               std::string("metadata_props { key: \"namespace\" value: \"a: B/c: D\" } ") +
                               "metadata_props { key: \"pkg.torch.onnx.name_scopes\" value: \"" + scopes + "\" } }\n" +
                               value("input", "x", {"1", "3"}) + value("output", "y", {"1", "3"}) + "}");
    return m.graph ? m.graph->node(1).name : m.diags.str();
  };
  EXPECT_EQ(name("['', 'blocks.0', 'blocks.0.act', 'relu']"), "blocks.0.act/node_relu");
  EXPECT_EQ(name("['', \\\"it's\\\", 'relu']"), "it's/node_relu");
  for (const char* none : {"['', 'relu']", "['relu']", "[]", "", "['', 'blocks", "relu"})
    EXPECT_EQ(name(none), "node_relu") << none;
}

TEST(OnnxImport, UnsortedNodesAreSorted) {
  const auto m = import_text(
      "graph { node { input: \"a\" output: \"y\" op_type: \"Relu\" } node { input: \"x\" output: \"a\" op_type: "
      "\"Abs\" }\n" +
      value("input", "x", {"4"}) + value("output", "y", {"4"}) + "}");
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_TRUE(m.graph->node(1).is(op("abs")));
  EXPECT_TRUE(m.graph->node(2).is(op("nn.relu")));
}

TEST(OnnxImport, CycleIsRefused) {
  const auto m = import_text(
      "graph { node { input: \"b\" output: \"a\" op_type: \"Relu\" } node { input: \"a\" output: \"b\" op_type: "
      "\"Abs\" }\n" +
      value("input", "x", {"4"}) + value("output", "b", {"4"}) + "}");
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("the graph has a cycle through this node"), std::string::npos) << m.diags.str();
}

TEST(OnnxImport, DuplicateNameIsRefusedWithItsPlace) {
  const auto m = import_text(
      "graph {\nnode { input: \"x\" output: \"y\" op_type: \"Relu\" }\nnode { input: \"x\" output: \"y\" op_type: "
      "\"Abs\" }\n" +
      value("input", "x", {"4"}) + value("output", "y", {"4"}) + "}");
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("output 'y' is defined a second time"), std::string::npos) << m.diags.str();
}

TEST(OnnxImport, UndefinedInputIsLocated) {
  const auto m = import_text("graph {\n  node { input: \"nope\" output: \"y\" op_type: \"Relu\" name: \"r\" }\n" +
                             value("output", "y", {"4"}) + "}");
  EXPECT_FALSE(m.graph);
  EXPECT_EQ(m.diags.str(), "m.onnxtxt:4:8: node 0 'r': error: Relu: reads 'nope', which nothing produces\n");
}

TEST(OnnxImport, OpenBatchBindsTheLeadingSymbolEverywhere) {
  ImportOptions options;
  options.open_batch = 32;
  const auto m = import_text("graph { node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n" +
                                 value("input", "x", {"batch", "3"}) + value("output", "y", {"batch", "3"}) + "}",
                             options);
  EXPECT_EQ(result_type(m), "Tensor[(32, 3), float32]");
}

TEST(OnnxImport, OpenBatchLeavesSequenceLengthsAlone) {
  ImportOptions options;
  options.open_batch = 32;
  const auto m = import_text("graph { node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n" +
                                 value("input", "x", {"seq_len", "3"}) + value("output", "y", {"seq_len", "3"}) + "}",
                             options);
  EXPECT_EQ(result_type(m), "Tensor[(seq_len, 3), float32]");
}

TEST(OnnxImport, PlaceholdersAreNotOneDim) {  // Paddle2ONNX names every dim that it does not know `?`
  ImportOptions options;
  options.open_batch = 4;
  for (const char* none : {"?", "None", "-1"}) {
    const auto m = import_text("graph { node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n" +
                                   value("input", "x", {none, "3", none, none}) + value("output", "y", {none}) + "}",
                               options);
    EXPECT_EQ(result_type(m), "Tensor[(4, 3, x.2, x.3), float32]");
  }
}

TEST(OnnxImport, ShapeOptionBindsSymbolsAndChecksNames) {
  ImportOptions options;
  options.shapes = {{"x", {2, 5}}};
  const std::string body = "graph { node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n" +
                           value("input", "x", {"N", "L"}) + value("output", "y", {"N", "L"}) + "}";
  EXPECT_EQ(result_type(import_text(body, options)), "Tensor[(2, 5), float32]");
  options.shapes = {{"xx", {2, 5}}};
  const auto bad = import_text(body, options);
  EXPECT_FALSE(bad.graph);
  EXPECT_NE(bad.diags.str().find("no input is named 'xx' (did you mean 'x'?)"), std::string::npos) << bad.diags.str();
}

TEST(OnnxImport, AttributesOfOldOpsetsBecomeOperands) {
  const std::string body =
      "graph { node { input: \"x\" output: \"y\" op_type: \"Squeeze\" attribute { name: \"axes\" ints: 0 type: INTS } "
      "}\n" +
      value("input", "x", {"1", "3"}) + value("output", "y", {"3"}) + "}";
  EXPECT_EQ(result_type(import_text(body, {}, 11)), "Tensor[(3,), float32]");
}

TEST(OnnxImport, LegacyBroadcastAlignsAtItsAxis) {
  const auto m = import_text(
      "graph { node { input: \"x\" input: \"b\" output: \"y\" op_type: \"Add\""
      " attribute { name: \"broadcast\" i: 1 type: INT } attribute { name: \"axis\" i: 1 type: INT } }\n" +
          value("input", "x", {"2", "3", "4"}) + value("input", "b", {"3"}) + value("output", "y", {"2", "3", "4"}) +
          "}",
      {}, 6);
  EXPECT_EQ(result_type(m), "Tensor[(2, 3, 4), float32]");
}

constexpr const char* kIf =
    "node { input: \"c\" output: \"y\" op_type: \"If\""
    " attribute { name: \"then_branch\" type: GRAPH g { node { input: \"x\" output: \"t\" op_type: \"Relu\" } output "
    "{ name: \"t\" } } }"
    " attribute { name: \"else_branch\" type: GRAPH g { node { input: \"x\" output: \"e\" op_type: \"Abs\" } output { "
    "name: \"e\" } } } }\n";

TEST(OnnxImport, ConvertersOfOtherFrameworksAreKnown) {
  const auto writer = [](const std::string& producer) {
    const auto m = import_text("producer_name: \"" + producer +
                               "\"\ngraph { node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n" +
                               value("input", "x", {"4"}) + value("output", "y", {"4"}) + "}");
    return m.graph ? m.graph->written_by() : std::nullopt;
  };
  EXPECT_EQ(writer("tf2onnx"), WrittenBy::Converter);
  EXPECT_EQ(writer("PaddlePaddle"), WrittenBy::Converter);
  EXPECT_FALSE(writer("pytorch"));
}

/// tf2onnx keeps TensorFlow's name of what ONNX does not have: Keras' GELU is x · 0.5 · erfc(−x / √2).
TEST(OnnxImport, TensorFlowsErfcIsOneLessErf) {
  const auto m = import_text(
      "graph { node { input: \"x\" output: \"n\" op_type: \"Neg\" } node { input: \"n\" output: \"y\" op_type: "
      "\"Erfc\" }\n" +
      value("input", "x", {"4"}) + value("output", "y", {"4"}) + "}");
  EXPECT_EQ(result_type(m), "Tensor[(4,), float32]");
  ASSERT_TRUE(m.graph);
  EXPECT_TRUE(m.graph->node(m.graph->results()[0].node).is(op("add")));
  EXPECT_NE(m.diags.str().find("is TensorFlow's"), std::string::npos);
}

TEST(OnnxImport, GlobalPoolingOfRowsIsAMean) {
  const auto pooled = [](const std::vector<std::string>& dims) {
    const auto m = import_text("graph { node { input: \"x\" output: \"y\" op_type: \"GlobalAveragePool\" }\n" +
                               value("input", "x", dims) + value("output", "y", {}) + "}");
    return result_type(m) + (m.graph && m.graph->node(m.graph->results()[0].node).is(op("mean")) ? " mean" : "");
  };
  EXPECT_EQ(pooled({"2", "3", "5"}), "Tensor[(2, 3, 1), float32] mean");
  EXPECT_EQ(pooled({"2", "3", "5", "5"}), "Tensor[(2, 3, 1, 1), float32]");
}

TEST(OnnxImport, IfCapturesItsFreeNames) {
  const auto m = import_text(std::string("graph { ") + kIf + value("input", "c", {}, 9) + value("input", "x", {"4"}) +
                             value("output", "y", {"4"}) + "}");
  ASSERT_TRUE(m.graph) << m.diags.str();
  const Node& n = m.graph->node(m.graph->results()[0]);
  EXPECT_TRUE(n.is(op("if")));
  EXPECT_EQ(n.attrs.int_or("captures", -1), 1);
  ASSERT_EQ(n.regions.size(), 2u);
  EXPECT_EQ(n.regions[0]->params().size(), 1u);
  EXPECT_EQ(to_string(n.results[0].type), "Tensor[(4,), float32]");
}

TEST(OnnxImport, IfWithKnownConditionIsItsBranch) {
  const auto m = import_text(std::string("graph { initializer { name: \"c\" data_type: 9 int32_data: 0 } ") + kIf +
                             value("input", "x", {"4"}) + value("output", "y", {"4"}) + "}");
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_TRUE(m.graph->node(m.graph->results()[0]).is(op("abs")));
}

const std::string kCaller =
    "graph { node { input: \"x\" output: \"y\" op_type: \"F\" domain: \"d\" name: \"call\" }\n" +
    value("input", "x", {"4"}) + value("output", "y", {"4"}) + "}\n";

TEST(OnnxImport, LocalFunctionsAreInlined) {
  const auto m =
      import_text(kCaller +
                  "functions { name: \"F\" domain: \"d\" input: \"a\" output: \"b\" opset_import { version: 20 }"
                  " node { input: \"a\" output: \"b\" op_type: \"Relu\" name: \"r\" } }");
  ASSERT_TRUE(m.graph) << m.diags.str();
  const Node& n = m.graph->node(m.graph->results()[0]);
  EXPECT_TRUE(n.is(op("nn.relu")));
  EXPECT_EQ(n.name, "call/r");
}

TEST(OnnxImport, SelfReferentialFunctionIsRefused) {
  const auto m =
      import_text(kCaller +
                  "functions { name: \"F\" domain: \"d\" input: \"a\" output: \"b\" opset_import { version: 20 }"
                  " node { input: \"a\" output: \"b\" op_type: \"F\" domain: \"d\" } }");
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("the function calls itself"), std::string::npos) << m.diags.str();
}

TEST(OnnxImport, UnknownOperatorIsOpaqueWithTheDeclaredType) {
  const auto m = import_text("graph { node { input: \"x\" output: \"y\" op_type: \"Magic\" domain: \"my.ops\" }\n" +
                             value("input", "x", {"4"}) + value("output", "y", {"7", "2"}) + "}");
  EXPECT_EQ(result_type(m), "Tensor[(7, 2), float32]");
  EXPECT_EQ(m.diags.warnings(), 1u);
  EXPECT_NE(m.diags.str().find("unknown operator my.ops:Magic"), std::string::npos);
}

TEST(OnnxImport, InitializerOfTheWrongSizeIsRefused) {
  const auto m = import_text(
      "graph { initializer { name: \"w\" data_type: 1 dims: 3 raw_data: \"\\000\\000\" }"
      " node { input: \"w\" output: \"y\" op_type: \"Relu\" }\n" +
      value("output", "y", {"3"}) + "}");
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("needs 12 bytes of raw_data, the file has 2"), std::string::npos) << m.diags.str();
}

TEST(OnnxImport, TextSyntaxErrorsAreLocated) {
  Diagnostics diags("m.onnxtxt");
  const Source s = Source::from_bytes("m.onnxtxt", "ir_version: 9\ngraph {\n  node { input: x }\n}\n");
  EXPECT_FALSE(import_model(s, {}, diags));
  EXPECT_EQ(diags.str(), "m.onnxtxt:3:17: error: field 'input': 'x' is not of its kind\n");
}

TEST(OnnxImport, TruncatedBinaryIsLocated) {
  Diagnostics diags("m.onnx");
  const Source s = Source::from_bytes("m.onnx", std::string("\x08\x09\x3a\x7f\x0a", 5));
  EXPECT_FALSE(import_model(s, {}, diags));
  EXPECT_NE(diags.str().find("m.onnx: @2: error: damaged or truncated file"), std::string::npos) << diags.str();
}

}  // namespace
}  // namespace perfc::testing
