/// ONNX files outside the standard: what is mended with a warning, and what stays refused.
#include "tests/unit/onnx_text.h"

namespace perfc::testing {
namespace {

std::string ints_attr(std::string_view name, const std::vector<int>& values) {
  std::string out = " attribute { name: \"" + std::string(name) + "\" type: INTS";
  for (int v : values) out += " ints: " + std::to_string(v);
  return out + " }";
}
std::string int_attr(std::string_view name, int value) {
  return " attribute { name: \"" + std::string(name) + "\" type: INT i: " + std::to_string(value) + " }";
}
std::string string_attr(std::string_view name, std::string_view value) {
  return " attribute { name: \"" + std::string(name) + "\" type: STRING s: \"" + std::string(value) + "\" }";
}
/// An initializer of rank 1; elem 6 is int32, 7 int64.
std::string vector(std::string_view name, int elem, const std::vector<int>& values) {
  std::string out = "initializer { name: \"" + std::string(name) + "\" data_type: " + std::to_string(elem) +
                    " dims: " + std::to_string(values.size());
  for (int v : values) out += (elem == 7 ? " int64_data: " : " int32_data: ") + std::to_string(v);
  return out + " }\n";
}
/// An initializer of one float vector.
std::string floats(std::string_view name, const std::vector<double>& values) {
  std::string out =
      "initializer { name: \"" + std::string(name) + "\" data_type: 1 dims: " + std::to_string(values.size());
  for (double v : values) out += " float_data: " + std::to_string(v);
  return out + " }\n";
}

struct Outcome {
  std::string type;  ///< of the first result; empty when refused
  std::string messages;
  Imported imported;
};
/// One node 'n' from `node` (operator, inputs, attributes) with output y.
Outcome run(const std::string& node, const std::string& values, int opset = 20) {
  Outcome out;
  out.imported = import_text("graph { node { name: \"n\" output: \"y\" " + node + " }\n" + values + "}", {}, opset);
  out.messages = out.imported.diags.str();
  if (out.imported.graph) out.type = result_type(out.imported);
  return out;
}
std::string at_node(std::string_view text) { return "m.onnxtxt:3:14: node 0 'n': " + std::string(text) + "\n"; }

TEST(OnnxLenient, ConcatOfScalarsIsAVector) {
  const std::string node = "op_type: \"Concat\" input: \"a\" input: \"b\"" + int_attr("axis", 0);
  const auto m = run(node, value("input", "a", {}, 7) + value("input", "b", {}, 7) + value("output", "y", {"2"}, 7));
  EXPECT_EQ(m.type, "Tensor[(2,), int64]");
  EXPECT_EQ(m.messages, at_node("warning: Concat: operands of rank 0; taken as vectors of one element"));
  const auto mixed =
      run(node, value("input", "a", {}, 7) + value("input", "b", {"3"}, 7) + value("output", "y", {"4"}, 7));
  EXPECT_EQ(mixed.type, "Tensor[(4,), int64]");
  const auto matrix =
      run(node, value("input", "a", {}, 7) + value("input", "b", {"3", "3"}, 7) + value("output", "y", {"4"}, 7));
  EXPECT_EQ(matrix.messages, at_node("error: concatenate: input must have rank 1 or more, got Tensor[(), int64]"));
}

TEST(OnnxLenient, SqueezeKeepsADimOnlyWhereTheFileDeclaresSo) {
  const std::string node = "op_type: \"Squeeze\" input: \"x\" input: \"axes\"";
  const std::string x = value("input", "x", {"1", "5"}) + vector("axes", 7, {0, -1});
  const auto kept = run(node, x + value("output", "y", {"5"}));
  EXPECT_EQ(kept.type, "Tensor[(5,), float32]");
  EXPECT_EQ(
      kept.messages,
      at_node("warning: Squeeze: an axis of Tensor[(1, 5), float32] to be squeezed is not 1; it stays, as the file "
              "declares"));
  const auto dropped = run(node, x + value("output", "y", {}));
  EXPECT_EQ(dropped.messages, at_node("error: squeeze: axis 1 of Tensor[(1, 5), float32] is not 1"));
  const auto silent = run(node, x + "output { name: \"y\" }\n");
  EXPECT_EQ(silent.messages, at_node("error: squeeze: axis 1 of Tensor[(1, 5), float32] is not 1"));
}

TEST(OnnxLenient, LegacyBroadcastAttributesAreFollowedInNewOperatorSets) {
  const std::string node =
      "op_type: \"Add\" input: \"a\" input: \"b\"" + int_attr("broadcast", 1) + int_attr("axis", 1);
  const auto m = run(node,
                     value("input", "a", {"2", "3", "4", "5"}) + value("input", "b", {"3", "4"}) +
                         value("output", "y", {"2", "3", "4", "5"}),
                     8);
  EXPECT_EQ(m.type, "Tensor[(2, 3, 4, 5), float32]");
  EXPECT_EQ(
      m.messages,
      at_node("warning: Add: has attributes broadcast and axis, which operator set 8 has not; they are followed"));
  const auto bad = run(
      node,
      value("input", "a", {"4", "5"}) + value("input", "b", {"2", "3", "4", "5"}) + value("output", "y", {"4", "5"}),
      8);
  EXPECT_TRUE(bad.type.empty());
  EXPECT_NE(
      bad.messages.find("error: Add: axis 1 does not place Tensor[(2, 3, 4, 5), float32] in Tensor[(4, 5), float32]"),
      std::string::npos)
      << bad.messages;
  const auto plain =
      run("op_type: \"Add\" input: \"a\" input: \"b\"",
          value("input", "a", {"2", "3", "4", "5"}) + value("input", "b", {"3", "4"}) + value("output", "y", {}), 8);
  EXPECT_EQ(plain.messages, at_node("error: add: shapes (2, 3, 4, 5) and (3, 4) do not broadcast: 4 against 3"));
}

TEST(OnnxLenient, OperatorsOfMicrosoftWithoutTheirDomain) {
  const std::string attention = "op_type: \"Attention\" input: \"x\" input: \"w\"" + int_attr("num_heads", 2);
  const std::string values =
      value("input", "x", {"2", "4", "4"}) + value("input", "w", {"4", "12"}) + value("output", "y", {"2", "4", "4"});
  const auto m = run(attention, values, 19);
  EXPECT_EQ(m.type, "Tensor[(2, 4, 4), float32]");
  EXPECT_EQ(m.messages,
            at_node("warning: Attention: not in operator set 19 of ai.onnx; taken as that of com.microsoft"));
  EXPECT_TRUE(m.imported.graph->node(m.imported.graph->results()[0]).is(op("nn.fused_attention")));
  // From operator set 23 on there is an Attention in ai.onnx.
  EXPECT_EQ(run(attention, values, 23).messages, at_node("error: nn.attention: takes 3 to 7 operands, got 2"));

  const auto gelu =
      run("op_type: \"BiasGelu\" input: \"x\" input: \"b\"",
          value("input", "x", {"2", "4"}) + value("input", "b", {"4"}) + value("output", "y", {"2", "4"}));
  EXPECT_EQ(gelu.type, "Tensor[(2, 4), float32]");
  EXPECT_EQ(gelu.messages,
            at_node("warning: BiasGelu: not in operator set 20 of ai.onnx; taken as that of com.microsoft"));
}

TEST(OnnxLenient, AutoPadSame) {
  const std::string values = value("input", "x", {"1", "3", "33", "32"}) + value("input", "w", {"8", "3", "3", "3"}) +
                             value("output", "y", {"1", "8", "17", "16"});
  const std::string conv = "op_type: \"Conv\" input: \"x\" input: \"w\"" + ints_attr("strides", {2, 2});
  const auto m = run(conv + string_attr("auto_pad", "SAME"), values);
  EXPECT_EQ(m.type, "Tensor[(1, 8, 17, 16), float32]");
  EXPECT_EQ(m.messages, at_node("warning: Conv: auto_pad is SAME; taken as SAME_UPPER"));
  EXPECT_EQ(run(conv + string_attr("auto_pad", "SOME"), values).messages,
            at_node("error: nn.conv2d: unknown auto_pad 'SOME'"));
}

TEST(OnnxLenient, PadAxesInThePlaceOfTheValue) {
  const std::string node = "op_type: \"Pad\" input: \"x\" input: \"pads\" input: \"axes\"";
  const auto m = run(node, value("input", "x", {"3", "3"}) + vector("pads", 6, {1, 2}) + vector("axes", 6, {1}) +
                               value("output", "y", {"3", "6"}));
  EXPECT_EQ(m.type, "Tensor[(3, 6), float32]");
  EXPECT_EQ(m.messages,
            at_node("warning: Pad: operand 2 of Tensor[(1,), int32] is no padding value; taken as the axes"));
  // Two axes, pads for one.
  const auto bad = run(node, value("input", "x", {"3", "3"}) + vector("pads", 6, {1, 2}) + vector("axes", 6, {0, 1}) +
                                 value("output", "y", {"3", "6"}));
  EXPECT_EQ(bad.messages, at_node("error: nn.pad: operands 0 and 2 differ in type: float32 and int32"));
}

TEST(OnnxLenient, SliceAttributesTakeTheTypeOfTheOperands) {
  const auto m = run("op_type: \"Slice\" input: \"x\" input: \"s\" input: \"e\"" + ints_attr("axes", {0, 1}),
                     value("input", "x", {"3", "2"}) + vector("s", 6, {1, 0}) + vector("e", 6, {2, 2}) +
                         value("output", "y", {"1", "2"}));
  EXPECT_EQ(m.type, "Tensor[(1, 2), float32]");
  EXPECT_EQ(m.messages, "");
}

std::string branch(std::string_view attribute, const std::string& outputs) {
  return " attribute { name: \"" + std::string(attribute) +
         "\" type: GRAPH g { node { op_type: \"Relu\" input: \"x\" output: \"a\" }"
         " node { op_type: \"Abs\" input: \"x\" output: \"b\" } " +
         outputs + " } }";
}

TEST(OnnxLenient, SurplusOutputsOfBranches) {
  const std::string two = "output { name: \"a\" } output { name: \"b\" }";
  const std::string values = value("input", "c", {}, 9) + value("input", "x", {"4"}) + value("output", "y", {"4"});
  const auto m = run("op_type: \"If\" input: \"c\"" + branch("then_branch", two) + branch("else_branch", two), values);
  EXPECT_EQ(m.type, "Tensor[(4,), float32]");
  EXPECT_EQ(m.messages, at_node("warning: If: the branches have 2 outputs, the node takes the first 1"));
  const auto uneven =
      run("op_type: \"If\" input: \"c\"" + branch("then_branch", two) + branch("else_branch", "output { name: \"a\" }"),
          values);
  EXPECT_TRUE(uneven.type.empty());
}

TEST(OnnxLenient, UpsampleWithTheOperandsOfResize) {
  const auto m =
      run("op_type: \"Upsample\" input: \"x\" input: \"\" input: \"scales\"" + string_attr("mode", "nearest"),
          value("input", "x", {"1", "1", "2", "2"}) + floats("scales", {1, 1, 2, 3}) +
              value("output", "y", {"1", "1", "4", "6"}));
  EXPECT_EQ(m.type, "Tensor[(1, 1, 4, 6), float32]");
  EXPECT_EQ(m.messages, at_node("warning: Upsample: has the operands of Resize (X, roi, scales, sizes); taken as one"));
}

TEST(OnnxLenient, NotOfANumber) {
  const std::string node = "op_type: \"Not\" input: \"x\"";
  const auto number = run(node, value("input", "x", {"4"}, 6) + value("output", "y", {"4"}, 6));
  EXPECT_EQ(number.type, "Tensor[(4,), int32]");
  EXPECT_EQ(number.messages, at_node("warning: Not: operand is int32, not bool; whatever is not 0 counts as true"));
  EXPECT_EQ(run(node, value("input", "x", {"4"}, 6) + value("output", "y", {"4"}, 9)).type, "Tensor[(4,), bool]");
  EXPECT_EQ(run(node, value("input", "x", {"4"}, 9) + value("output", "y", {"4"}, 9)).messages, "");
  EXPECT_EQ(run(node, value("input", "x", {"4"}, 8) + value("output", "y", {"4"}, 9)).messages,
            at_node("error: logical_not: operand 0 must have bool, got string"));
}

TEST(OnnxLenient, MultinomialIndicesAsFloats) {
  const std::string node = "op_type: \"Multinomial\" input: \"x\"" + int_attr("sample_size", 7);
  const auto m = run(node + int_attr("dtype", 1), value("input", "x", {"3", "5"}) + value("output", "y", {"3", "7"}));
  EXPECT_EQ(m.type, "Tensor[(3, 7), float32]");
  EXPECT_EQ(m.messages,
            at_node("warning: Multinomial: dtype is float32, not int32 or int64; the indices are converted"));
  EXPECT_EQ(
      run(node + int_attr("dtype", 3), value("input", "x", {"3", "5"}) + value("output", "y", {"3", "7"}, 3)).messages,
      at_node("error: random.multinomial: dtype must be int32 or int64, is int8"));
}

TEST(OnnxLenient, EllipsesOfDifferentRankAreRefused) {
  const std::string node =
      "op_type: \"Einsum\" input: \"a\" input: \"b\"" + string_attr("equation", "...ij,...jk->...ik");
  const auto b = value("input", "b", {"6", "3", "4"}) + "output { name: \"y\" }\n";
  EXPECT_EQ(run(node, value("input", "a", {"1", "2", "3"}) + b).type, "Tensor[(6, 2, 4), float32]");
  EXPECT_EQ(run(node, value("input", "a", {"8", "1", "2", "3"}) + b).messages,
            at_node("error: Einsum: the ellipsis stands for 2 dims before and for 1 in input 1"));
}

TEST(OnnxLenient, AtenEmbeddingBag) {
  const std::string node =
      "op_type: \"ATen\" domain: \"org.pytorch.aten\" input: \"w\" input: \"i\" input: \"o\"" + int_attr("mode", 1);
  const std::string values =
      value("input", "w", {"10", "8"}) + value("input", "i", {"6"}, 7) + value("input", "o", {"3"}, 7);
  const auto m = run(node + string_attr("operator", "embedding_bag"), values + "output { name: \"y\" }\n");
  EXPECT_EQ(m.type, "Tensor[(3, 8), float32]");
  EXPECT_EQ(m.messages, "");
  EXPECT_EQ(m.imported.graph->node(m.imported.graph->results()[0]).attrs.string_or("mode", ""), "mean");
  const auto other = run(node + string_attr("operator", "cdist"), values + value("output", "y", {"3"}));
  EXPECT_EQ(other.type, "Tensor[(3,), float32]");
  EXPECT_EQ(other.messages, at_node("warning: unknown operator ATen:cdist: kept as opaque, its cost is not known"));
}

TEST(OnnxLenient, GlowDeclaresTypesInAttributes) {
  const std::string values = value("input", "x", {"3", "5"}) + "output { name: \"y\" }\n";
  const std::string node = "op_type: \"Glow_TopK\" input: \"x\"" + string_attr("o0_elemKind", "index64");
  const auto m = run(node + ints_attr("o0_shape", {3, 2}), values);
  EXPECT_EQ(m.type, "Tensor[(3, 2), int64]");
  EXPECT_EQ(m.messages, at_node("warning: unknown operator Glow_TopK: kept as opaque, its cost is not known"));
  const auto bad = run(node + ints_attr("o0_shape", {3, -2}), values);
  EXPECT_NE(bad.messages.find(
                "error: opaque: the file does not declare the type of result 0 of the unknown operator Glow_TopK"),
            std::string::npos)
      << bad.messages;
}

}  // namespace
}  // namespace perfc::testing
