/// What users say of inputs: which dim counts samples, what they hold; and what follows for branches and loops.
#include "ir/control_flow.h"
#include "tests/unit/onnx_text.h"

namespace perfc::testing {
namespace {

constexpr int kInt64 = 7, kBool = 9;

std::string relu(const std::vector<std::string>& dims) {
  return "graph { node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n" + value("input", "x", dims) +
         value("output", "y", dims) + "}";
}

TEST(InputOptions, BatchAxisSaysWhichOpenDimIsBound) {
  ImportOptions options;
  options.open_batch = 8;
  options.batch_axes = {{"x", 1}};
  EXPECT_EQ(result_type(import_text(relu({"T", "N", "4"}), options)), "Tensor[(T, 8, 4), float32]");
  options.batch_axes = {{"x", -1}};
  EXPECT_EQ(result_type(import_text(relu({"T", "4", "N"}), options)), "Tensor[(T, 4, 8), float32]");
  options.batch_axes = {{"x", std::nullopt}};
  EXPECT_EQ(result_type(import_text(relu({"T", "N", "4"}), options)), "Tensor[(T, N, 4), float32]");
}

TEST(InputOptions, AllIsOfInputsThatHaveTheDim) {
  EXPECT_EQ(batch_place({{"all", 1}}, "x", 3).axis, 1u);
  EXPECT_EQ(batch_place({{"all", 1}}, "lengths", 1).axis, 0u);
  EXPECT_FALSE(batch_place({{"all", 1}}, "lengths", 1).given);
  EXPECT_EQ(batch_place({{"all", 1}, {"x", 2}}, "x", 3).axis, 2u);
  EXPECT_FALSE(batch_place({{"all", std::nullopt}}, "x", 3).axis.has_value());
  EXPECT_FALSE(batch_place({}, "flag", 0).axis.has_value());
}

TEST(InputOptions, ASymbolOnAnotherAxisIsNoBatch) {
  // Steps come first in x, which the user said; y's first dim has the name of those steps.
  ImportOptions options;
  options.open_batch = 8;
  options.batch_axes = {{"x", 1}};
  const auto m = import_text("graph { node { input: \"x\" input: \"y\" output: \"z\" op_type: \"MatMul\" }\n" +
                                 value("input", "x", {"steps_", "n"}) + value("input", "y", {"steps_", "n", "5"}) +
                                 value("output", "z", {}) + "}",
                             options);
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(to_string(m.graph->type(m.graph->params()[1])), "Tensor[(steps_, 8, 5), float32]");
}

/// `then` fits any x, `otherwise` only one of 257 columns.
std::string by_rate(const std::string& condition) {
  return "graph { initializer { name: \"rate\" data_type: 7 int64_data: 16000 }"
         " initializer { name: \"columns\" dims: 2 data_type: 7 int64_data: -1 int64_data: 257 }"
         " node { input: \"sr\" input: \"rate\" output: \"c\" op_type: \"Equal\" }"
         " node { name: \"choice\" input: \"" +
         condition +
         "\" output: \"y\" op_type: \"If\""
         " attribute { name: \"then_branch\" type: GRAPH g { node { input: \"x\" output: \"t\" op_type: \"Relu\" }"
         " output { name: \"t\" } } }"
         " attribute { name: \"else_branch\" type: GRAPH g { node { name: \"narrow\" input: \"x\" input: \"columns\""
         " output: \"e\" op_type: \"Reshape\" } output { name: \"e\" } } } }\n" +
         value("input", "x", {"1", "512"}) + value("input", "sr", {}, kInt64) + "output { name: \"y\" } }";
}

TEST(InputOptions, AValueChoosesTheBranchAndTheOtherIsNotRead) {
  ImportOptions options;
  options.values = {{"sr", {"16000"}}};
  const auto m = import_text(by_rate("c"), options);
  EXPECT_EQ(result_type(m), "Tensor[(1, 512), float32]");
  options.values = {{"sr", {"8000"}}};
  const auto other = import_text(by_rate("c"), options);
  EXPECT_FALSE(other.graph);
  EXPECT_EQ(other.diags.str().find("--value"), std::string::npos) << other.diags.str();
}

TEST(InputOptions, ABranchThatCannotBeTypedNamesTheInputThatDecides) {
  const auto m = import_text(by_rate("c"));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("'narrow': error: reshape:"), std::string::npos) << m.diags.str();
  EXPECT_NE(m.diags.str().find("'choice': note: which branch runs is not known, so that both have to make sense; what "
                               "the input sr holds decides, say it with --value sr=…"),
            std::string::npos)
      << m.diags.str();
}

TEST(InputOptions, ValuesAreOfTheInputsType) {
  const std::string body = "graph { node { input: \"x\" output: \"y\" op_type: \"Identity\" }\n" +
                           value("input", "x", {"2"}, 2) + value("output", "y", {"2"}, 2) + "}";
  ImportOptions options;
  options.values = {{"x", {"255", "0"}}};
  EXPECT_TRUE(import_text(body, options).graph);
  options.values = {{"x", {"256"}}};
  EXPECT_NE(import_text(body, options).diags.str().find("Tensor[(2,), uint8] does not hold 256"), std::string::npos);
  options.values = {{"x", {"1", "2", "3"}}};
  EXPECT_NE(import_text(body, options).diags.str().find("3 values are given, the input has 2"), std::string::npos);
}

/// i counts from 0; each round adds 1 and goes on while `test` of (i, next, round) holds.
std::string counting(const std::string& test, const std::string& limit = "") {
  return "graph { initializer { name: \"three\" data_type: 7 int64_data: 3 }"
         " initializer { name: \"one\" data_type: 7 int64_data: 1 }"
         " initializer { name: \"zero\" data_type: 7 int64_data: 0 }"
         " initializer { name: \"yes\" data_type: 9 int32_data: 1 }"
         " node { name: \"while\" input: \"" +
         limit +
         "\" input: \"yes\" input: \"zero\" input: \"x\" output: \"n\" output: \"y\" op_type: \"Loop\""
         " attribute { name: \"body\" type: GRAPH g {"
         " node { input: \"i\" input: \"one\" output: \"next\" op_type: \"Add\" }"
         " node { input: \"h\" output: \"r\" op_type: \"Relu\" }" +
         test + " " + value("input", "round", {}, kInt64) + value("input", "on", {}, kBool) +
         value("input", "i", {}, kInt64) + value("input", "h", {"4"}) +
         " output { name: \"go\" } output { name: \"next\" } output { name: \"r\" } } } }\n" +
         value("input", "x", {"4"}) + value("output", "y", {"4"}) + "}";
}

SymInt rounds(const Imported& m) {
  EXPECT_TRUE(m.graph) << m.diags.str();
  for (NodeId id = 0; m.graph && id < m.graph->size(); ++id) {
    if (m.graph->node(id).is(op("loop"))) return trip_count(*m.graph, id);
  }
  return {};
}

TEST(InputOptions, AnOnnxLoopThatCountsRunsAsOftenAsItCounts) {
  const std::string less = "node { input: \"next\" input: \"three\" output: \"go\" op_type: \"Less\" }";
  EXPECT_EQ(rounds(import_text(counting(less))), SymInt(3));
  EXPECT_EQ(rounds(import_text(counting(less, "one"))), SymInt(1));
  // What is compared was there before the round, so that one more runs.
  EXPECT_EQ(rounds(import_text(counting("node { input: \"i\" input: \"three\" output: \"go\" op_type: \"Less\" }"))),
            SymInt(4));
  EXPECT_EQ(
      rounds(import_text(counting("node { input: \"round\" input: \"three\" output: \"go\" op_type: \"Less\" }"))),
      SymInt(4));
  EXPECT_EQ(rounds(import_text(counting("node { input: \"next\" input: \"three\" output: \"l\" op_type: \"Less\" }"
                                        "node { input: \"on\" input: \"l\" output: \"go\" op_type: \"And\" }"))),
            SymInt(3));
}

TEST(InputOptions, ALoopThatEndsByDataRunsAnUnknownNumberOfTimes) {
  const auto m = import_text(counting(
      "node { input: \"r\" output: \"s\" op_type: \"ReduceMax\" attribute { name: \"keepdims\" i: 0 type: INT } }"
      "node { input: \"s\" output: \"go\" op_type: \"Cast\" attribute { name: \"to\" i: 9 type: INT } }"));
  EXPECT_EQ(rounds(m), SymInt::unknown());
}

}  // namespace
}  // namespace perfc::testing
