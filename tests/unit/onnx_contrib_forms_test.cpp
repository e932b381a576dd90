/// ONNX operators whose operands or defaults differ by operator set or domain.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "frontends/frontend.h"
#include "ir/eager_marks.h"
#include "ir/infer_context.h"

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

/// In 16 bits a session runs this operator as one kernel, but the arithmetic that it stands for as five.
TEST(OnnxForms, GeluIsKnownFromItsArithmetic) {
  for (const char* domain : {"", "domain: \"com.microsoft\""}) {
    Diagnostics diags("m.onnxtxt");
    const auto graph =
        one_node(20, fmt::format("op_type: \"Gelu\" {} input: \"x\"", domain), input("x", 10, {2, 4}), diags);
    ASSERT_TRUE(graph) << diags.str();
    EXPECT_TRUE(graph->node(graph->results()[0]).attrs.has(kOneOperator)) << domain;
  }
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

/// Of a node of com.microsoft: the MACs of all its products of groups, and how many it has; or the diagnostics.
std::string groups_of(const std::string& node, const std::string& inputs) {
  Diagnostics diags("m.onnxtxt");
  const auto graph = one_node(21, node, inputs, diags);
  if (!graph) return diags.str();
  double macs = 0;
  int products = 0;
  for (NodeId id = 0; id < graph->size(); ++id) {
    const Node& n = graph->node(id);
    if (n.kind != NodeKind::Call || !n.is(op("nn.grouped_matmul"))) continue;
    macs += op_cost(*graph, id).macs;
    ++products;
  }
  return fmt::format("{}, {} products, {:.0f} MACs", to_string(graph->type(graph->results()[0])), products, macs);
}

TEST(OnnxForms, MixturesOfExpertsAreProductsOfGroups) {
  const auto number = [](const char* name, int i) {
    return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", name, i);
  };
  const auto text = [](const char* name, const char* s) {
    return fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, s);
  };
  const std::string moe = "op_type: \"MoE\" domain: \"com.microsoft\" input: \"x\" input: \"r\" input: \"u\" ";
  // Two halves of 32: one multiplies the other's activation. 10 tokens with 2 of 8 experts each.
  const std::string x = input("x", 1, {2, 5, 64}) + input("r", 1, {10, 8}), up = input("u", 1, {8, 64, 64}),
                    down = input("d", 1, {8, 64, 32});
  const std::string swiglu = number("k", 2) + text("activation_type", "swiglu") + number("swiglu_fusion", 1) +
                             number("normalize_routing_weights", 1);
  EXPECT_EQ(groups_of(moe + "input: \"\" input: \"d\" " + swiglu, x + up + down),
            fmt::format("Tensor[(2, 5, 64), float32], 2 products, {} MACs", 20 * 64 * (64 + 32)));
  // A third layer instead of halves, with biases.
  const std::string three =
      moe + "input: \"b\" input: \"d\" input: \"c\" input: \"g\" " + number("k", 2) + text("activation_type", "silu");
  EXPECT_EQ(groups_of(three, x + up + input("b", 1, {8, 64}) + input("d", 1, {8, 64, 64}) + input("c", 1, {8, 64}) +
                                 input("g", 1, {8, 64, 64})),
            fmt::format("Tensor[(2, 5, 64), float32], 3 products, {} MACs", 3 * 20 * 64 * 64));
  // Weights of 4 bits, two in a byte, with scales for blocks of 32.
  const std::string qmoe =
      "op_type: \"QMoE\" domain: \"com.microsoft\" input: \"x\" input: \"r\" input: \"u\" input: \"s\" "
      "input: \"\" input: \"d\" input: \"t\" ";
  const std::string packed = x + input("u", 2, {8, 64, 32}) + input("s", 1, {8, 64, 2}) + input("d", 2, {8, 64, 16}) +
                             input("t", 1, {8, 64, 1});
  EXPECT_EQ(groups_of(qmoe + swiglu + number("expert_weight_bits", 4), packed),
            fmt::format("Tensor[(2, 5, 64), float32], 2 products, {} MACs", 20 * 64 * (64 + 32)));
  EXPECT_NE(groups_of(qmoe + swiglu + number("expert_weight_bits", 8), packed).find("rows of weight have 32 bytes"),
            std::string::npos);
  const auto says = [&](const std::string& node, const char* what) {
    const std::string message = groups_of(node, x + up + down);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says(moe + "input: \"\" input: \"d\" " + number("k", 9), "k is 9, there are 8 experts");
  says(moe + number("k", 2), "operand 4 is missing");
  says(moe + "input: \"\" input: \"d\" " + text("activation_type", "magic"), "unknown activation_type 'magic'");
}

// Types as ONNX Runtime 1.32 infers them.
TEST(OnnxForms, StateSpaceOperatorsOfMicrosoft) {
  const auto node = [](const char* type, std::initializer_list<const char*> inputs, const std::string& rest = "") {
    std::string out = fmt::format("op_type: \"{}\" domain: \"com.microsoft\" ", type);
    for (const char* i : inputs) out += fmt::format("input: \"{}\" ", i);
    return out + rest;
  };
  const std::string heads =
      "attribute { name: \"q_num_heads\" type: INT i: 2 } "
      "attribute { name: \"kv_num_heads\" type: INT i: 4 } ";
  EXPECT_EQ(import_node(21, node("LinearAttention", {"q", "k", "v", "", "g", "b"}, heads),
                        input("q", 1, {2, 6, 32}) + input("k", 1, {2, 6, 32}) + input("v", 1, {2, 6, 32}) +
                            input("g", 1, {2, 6, 4}) + input("b", 1, {2, 6, 4})),
            "Tensor[(2, 6, 32), float32]");
  const std::string gates = input("g", 1, {12, 4}) + input("b", 1, {12, 4}) + input("s", 1, {2, 4, 32, 64});
  EXPECT_EQ(import_node(21, node("GatedDeltaNet", {"q", "k", "v", "", "g", "b", "s"}),
                        input("q", 1, {12, 2, 64}) + input("k", 1, {12, 2, 64}) + input("v", 1, {12, 4, 32}) + gates),
            "Tensor[(12, 4, 32), float32]");
  const std::string x = input("x", 1, {6, 8}) + input("w", 1, {8, 1, 4}) + input("e", 6, {3});
  EXPECT_EQ(import_node(21, node("VarlenCausalConvWithState", {"x", "w", "e", "", "s"}), x + input("s", 1, {2, 8, 3})),
            "Tensor[(6, 8), float32]");
  const auto says = [&](const std::string& what, const std::string& inputs, const char* message) {
    const std::string said = import_node(21, what, inputs);
    EXPECT_NE(said.find(message), std::string::npos) << said;
  };
  says(node("VarlenCausalConvWithState", {"x", "w", "e"}), x, "operand 4 is missing");
  says(node("VarlenCausalConvWithState", {"x", "w", "e", "", "s"}), x + input("s", 1, {2, 8, 4}),
       "past_state must be (2, 8, 3)");
  says(node("VarlenCausalConvWithState", {"x", "w", "e", "", "s", "", "d", "m"}),
       x + input("s", 1, {2, 8, 3}) + input("d", 1, {6, 2, 8}) + input("m", 1, {6, 1}), "kernel_delta");
  says(node("GatedDeltaNet", {"q", "k", "v", "", "g", "b"}),
       input("q", 1, {12, 2, 64}) + input("k", 1, {12, 2, 64}) + input("v", 1, {12, 4, 32}) + gates,
       "how many sequences there are");
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
