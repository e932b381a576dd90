/// ONNX operators whose operands or defaults differ by operator set or domain.
#include <gtest/gtest.h>

#include "frontends/frontend.h"

namespace perfc {
namespace {

Result<Graph> one_node(int opset, const std::string& node, const std::string& inputs, Diagnostics& diags) {
  const Source source = Source::from_bytes(
      "m.onnxtxt", "ir_version: 9\nopset_import { version: " + std::to_string(opset) +
                       " }\nopset_import { domain: \"com.microsoft\" version: 1 }\ngraph { name: \"g\" node { " + node +
                       " output: \"y\" }\n" + inputs + "output { name: \"y\" } }");
  return import_model(source, {}, diags);
}

/// First result's type of a one-node model, or the diagnostics.
std::string import_node(int opset, const std::string& node, const std::string& inputs) {
  Diagnostics diags("m.onnxtxt");
  const auto graph = one_node(opset, node, inputs, diags);
  return graph ? to_string(graph->type(graph->results()[0])) : diags.str();
}

/// The operator that computes the first result of a one-node model, or the diagnostics.
std::string import_operator(int opset, const std::string& node, const std::string& inputs) {
  Diagnostics diags("m.onnxtxt");
  const auto graph = one_node(opset, node, inputs, diags);
  return graph ? std::string(def(graph->node(graph->results()[0]).op).name) : diags.str();
}

std::string input(const std::string& name, int elem, const std::vector<int>& dims) {
  std::string out =
      "input { name: \"" + name + "\" type { tensor_type { elem_type: " + std::to_string(elem) + " shape { ";
  for (int d : dims) out += "dim { dim_value: " + std::to_string(d) + " } ";
  return out + "} } } }\n";
}

TEST(OnnxForms, DftAxisDefaultsByOperatorSet) {
  const std::string node = "op_type: \"DFT\" input: \"x\" attribute { name: \"onesided\" type: INT i: 1 }";
  const std::string x = input("x", 1, {2, 16, 30, 1});
  EXPECT_EQ(import_node(17, node, x), "Tensor[(2, 9, 30, 2), float32]");
  EXPECT_EQ(import_node(20, node, x), "Tensor[(2, 16, 16, 2), float32]");
}

TEST(OnnxForms, NhwcMaxPoolPutsChannelsLast) {
  EXPECT_EQ(import_node(17,
                        "op_type: \"NhwcMaxPool\" domain: \"com.microsoft\" input: \"x\" "
                        "attribute { name: \"kernel_shape\" type: INTS ints: 2 ints: 4 }",
                        input("x", 2, {1, 8, 12, 3})),
            "Tensor[(1, 7, 9, 3), uint8]");
}

TEST(OnnxForms, GemmFastGeluIsAProductAndAnActivation) {
  EXPECT_EQ(
      import_node(17, "op_type: \"GemmFastGelu\" domain: \"com.microsoft\" input: \"x\" input: \"w\" input: \"b\"",
                  input("x", 10, {2, 128, 768}) + input("w", 10, {768, 3072}) + input("b", 10, {3072})),
      "Tensor[(2, 128, 3072), float16]");
}

TEST(OnnxForms, GeluNamesItsApproximation) {
  const auto gelu = [](const char* approximate) {
    return import_operator(20, std::string("op_type: \"Gelu\" input: \"x\" ") + approximate, input("x", 1, {2, 4}));
  };
  EXPECT_EQ(gelu(""), "nn.gelu");
  EXPECT_EQ(gelu("attribute { name: \"approximate\" type: STRING s: \"none\" }"), "nn.gelu");
  EXPECT_EQ(gelu("attribute { name: \"approximate\" type: STRING s: \"tanh\" }"), "nn.fast_gelu");
}

/// A node of com.microsoft with operands x, y, … of these shapes: what computes its first result.
std::string contrib(const std::string& type, const std::string& attributes, const std::vector<std::vector<int>>& shapes,
                    bool operators = true) {
  std::string node = "op_type: \"" + type + "\" domain: \"com.microsoft\" ", inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    node += "input: \"" + name + "\" ";
    inputs += input(name, 1, shapes[i]);
  }
  return operators ? import_operator(17, node + attributes, inputs) : import_node(17, node + attributes, inputs);
}

TEST(OnnxForms, FusionsOfTheOptimiser) {
  const std::string relu = "attribute { name: \"activation\" type: STRING s: \"Relu\" }";
  const std::string leaky =
      "attribute { name: \"activation\" type: STRING s: \"LeakyRelu\" } "
      "attribute { name: \"activation_alpha\" type: FLOAT f: 0.2 }";
  EXPECT_EQ(contrib("FusedGemm", relu, {{4, 8}, {8, 16}, {16}}), "nn.relu");
  EXPECT_EQ(contrib("FusedGemm", leaky, {{4, 8}, {8, 16}}), "nn.leaky_relu");
  EXPECT_EQ(contrib("FusedMatMulActivation", relu, {{4, 8}, {8, 16}}, false), "Tensor[(4, 16), float32]");
  const std::string axis = "attribute { name: \"axis\" type: INT i: 3 }";
  EXPECT_EQ(contrib("BiasSoftmax", axis, {{2, 4, 8, 8}, {2, 1, 1, 8}}), "nn.softmax");
  EXPECT_EQ(contrib("BiasDropout", "", {{2, 8}, {8}, {2, 8}}), "nn.dropout");
  EXPECT_EQ(contrib("Trilu", "", {{8, 8}}), "trilu");
  const std::string activation = "attribute { name: \"activation\" type: STRING s: \"Magic\" }";
  EXPECT_EQ(contrib("FusedGemm", activation, {{4, 8}, {8, 16}}),
            "m.onnxtxt:4:24: node 0 'y': error: ms:FusedGemm: unknown activation 'Magic'\n");
}

TEST(OnnxForms, FusedMatMulTransposesStacksToo) {
  const auto flag = [](const char* name) {
    return "attribute { name: \"" + std::string(name) + "\" type: INT i: 1 } ";
  };
  const std::string alpha = "attribute { name: \"alpha\" type: FLOAT f: 0.125 } ";
  EXPECT_EQ(contrib("FusedMatMul", alpha + flag("transB"), {{2, 4, 8}, {2, 16, 8}}, false),
            "Tensor[(2, 4, 16), float32]");
  EXPECT_EQ(contrib("FusedMatMul", flag("transA") + flag("transBatchA"), {{8, 2, 4}, {2, 8, 16}}, false),
            "Tensor[(2, 4, 16), float32]");
}

TEST(OnnxForms, LayoutsOfOnnxRuntimeAreRefused) {
  const std::string message =
      import_node(17, "op_type: \"Conv\" domain: \"com.microsoft.nchwc\" input: \"x\" input: \"w\"",
                  input("x", 1, {1, 3, 8, 8}) + input("w", 1, {8, 3, 3, 3}));
  EXPECT_NE(message.find("save the optimised model at level extended"), std::string::npos) << message;
}

TEST(OnnxForms, LayerNormStashTypeIsAnElementType) {
  EXPECT_EQ(import_node(17,
                        "op_type: \"LayerNormalization\" input: \"x\" input: \"s\" output: \"n\" output: \"m\" "
                        "attribute { name: \"stash_type\" type: INT i: 16 }",
                        input("x", 1, {2, 4}) + input("s", 1, {4})),
            "Tensor[(2, 1), bfloat16]");
}

}  // namespace
}  // namespace perfc
