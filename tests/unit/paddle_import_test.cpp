#include "ir/control_flow.h"
#include "tests/unit/paddle_imported.h"

namespace perfc::testing {
namespace {

using namespace paddle;

// ---- Both dialects

TEST(Paddle, ReadsProgramDesc) {
  const auto m =
      program(variable("x", kFloat32, {-1, 3, 8, 8}) + weight("w", {4, 3, 3, 3}) + weight("b", {4}) + feed("x") +
              operation("conv2d", {{"Input", {"x"}}, {"Filter", {"w"}}}, {{"Output", {"c"}}},
                        {{"strides", Dims{2, 2}}, {"paddings", Dims{1, 1}}, {"groups", 1}}) +
              operation("elementwise_add", {{"X", {"c"}}, {"Y", {"b"}}}, {{"Out", {"y"}}}, {{"axis", 1}}) + fetch("y"));
  EXPECT_EQ(result_type(m), "Tensor[(x.0, 4, 4, 4), float32]");
  ASSERT_TRUE(m.graph);
  EXPECT_EQ(m.graph->name(), "m");
  EXPECT_EQ(m.graph->result_names()[0], "y");
  const Node* conv = only(m, op("nn.conv2d"));
  ASSERT_NE(conv, nullptr);
  const Node& w = m.graph->node(conv->operands[1]);
  EXPECT_EQ(w.kind, NodeKind::Constant);
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.results[0].data, nullptr);
  // The bias is aligned with dim 1.
  EXPECT_EQ(to_string(m.graph->type(only(m, op("add"))->operands[1])), "Tensor[(4, 1, 1), float32]");
}

TEST(Paddle, ReadsPir) {
  const auto m =
      pir({pir_weight(1, {4, 3, 3, 3}), pir_input(2, "image", pir_type("t_f32", {2, 3, 8, 8})),
           pir_operation("1.conv2d", {2, 1}, {pir_result(3, pir_type("t_f32", {2, 4, 8, 8}))},
                         {{"strides", Dims{1, 1}}, {"paddings", Dims{1, 1}}, {"struct_name", std::string("/Conv2D/")}}),
           pir_operation("1.relu_", {3}, {pir_result(4, pir_type("t_f32", {2, 4, 8, 8}))}), pir_output(4)});
  EXPECT_EQ(result_type(m), "Tensor[(2, 4, 8, 8), float32]");
  EXPECT_EQ(m.diags.str(), "");
  ASSERT_NE(only(m, op("nn.relu")), nullptr);
  EXPECT_EQ(only(m, op("nn.conv2d"))->name, "Conv2D/%3");
  EXPECT_EQ(m.graph->node(m.graph->params()[0]).name, "image");
}

TEST(Paddle, ContentTellsTheFormat) {
  EXPECT_TRUE(import_bytes("model", block(0, -1,
                                          variable("x", kFloat32, {2}) + feed("x") +
                                              operation("relu", {{"X", {"x"}}}, {{"Out", {"y"}}}) + fetch("y")))
                  .graph);
  EXPECT_TRUE(import_bytes("-", pir_program({pir_input(1, "x", pir_type("t_f32", {2})), pir_output(1)})).graph);
}

TEST(Paddle, BatchAndDimsBindOpenDims) {
  const std::string main = variable("x", kFloat32, {-1, 3, -1}) + feed("x") +
                           operation("relu", {{"X", {"x"}}}, {{"Out", {"y"}}}) + fetch("y");
  EXPECT_EQ(result_type(program(main, "", {.open_batch = 8})), "Tensor[(8, 3, x.2), float32]");
  EXPECT_EQ(result_type(program(main, "", {.dims = {{"x.2", 5}}})), "Tensor[(x.0, 3, 5), float32]");
  EXPECT_EQ(result_type(program(main, "", {.shapes = {{"x", {7, 3, 9}}}})), "Tensor[(7, 3, 9), float32]");
}

TEST(Paddle, ResultsTakeTheFormThatTheFileDeclares) {
  // Shapes are int32, and there were no 0-d tensors before 2.5.
  const auto m = program(variable("x", kFloat32, {2, 3}) + variable("s", kInt32, {2}) + variable("y", kFloat32, {1}) +
                         feed("x") + operation("shape", {{"Input", {"x"}}}, {{"Out", {"s"}}}) +
                         operation("reduce_sum", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"reduce_all", true}}) +
                         fetch("s", 0) + fetch("y", 1));
  EXPECT_EQ(result_type(m, 0), "Tensor[(2,), int32]");
  EXPECT_EQ(result_type(m, 1), "Tensor[(1,), float32]");
}

TEST(Paddle, ContradictionsAreWarnedOf) {
  const auto m = program(variable("x", kFloat32, {2, 3}) + variable("y", kFloat32, {2, 4}) + feed("x") +
                         operation("relu", {{"X", {"x"}}}, {{"Out", {"y"}}}) + fetch("y"));
  EXPECT_EQ(result_type(m), "Tensor[(2, 3), float32]");
  EXPECT_NE(
      m.diags.str().find(
          "warning: relu: the result is Tensor[(2, 3), float32], but the file declares Tensor[(2, 4), float32]; using "
          "the former"),
      std::string::npos)
      << m.diags.str();
}

// ---- Unknown and damaged

TEST(Paddle, UnknownOperatorsAreOpaque) {
  const auto m = program(variable("x", kFloat32, {-1, 3}) + variable("y", kFloat32, {-1, 7}) + feed("x") +
                             operation("no_such_op", {{"X", {"x"}}}, {{"Out", {"y"}}}) + fetch("y"),
                         "", {.open_batch = 4});
  EXPECT_EQ(result_type(m), "Tensor[(4, 7), float32]");
  ASSERT_NE(only(m, op("opaque")), nullptr);
  EXPECT_EQ(only(m, op("opaque"))->attrs.string_or("source_op", ""), "no_such_op");
  EXPECT_NE(m.diags.str().find("m.pdmodel: node 1 'y' @"), std::string::npos) << m.diags.str();
  EXPECT_NE(m.diags.str().find("no_such_op: unknown operator; kept as opaque: its cost is not known"),
            std::string::npos)
      << m.diags.str();
}

TEST(Paddle, UnknownOperatorsNeedDeclaredTypes) {
  const auto m = program(variable("x", kFloat32, {3}) + feed("x") +
                         operation("no_such_op", {{"X", {"x"}}}, {{"Out", {"y"}}}) + fetch("y"));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(
      m.diags.str().find("no_such_op: is not known to perfc, and the file does not declare the type of its result 'y'"),
      std::string::npos)
      << m.diags.str();
}

TEST(Paddle, WhatNothingMakesIsNamed) {
  const auto m = program(variable("x", kFloat32, {3}) + feed("x") +
                         operation("elementwise_add", {{"X", {"x"}}, {"Y", {"z"}}}, {{"Out", {"y"}}}) +
                         operation("relu", {{"X", {"y"}}}, {{"Out", {"r"}}}) + fetch("r"));
  EXPECT_FALSE(m.graph);
  EXPECT_EQ(m.diags.errors(), 1u) << m.diags.str();  // what hangs on it is not reported again
  EXPECT_NE(m.diags.str().find("elementwise_add: 'z' is used but nothing before makes it"), std::string::npos)
      << m.diags.str();
}

TEST(Paddle, TruncatedFilesAreRefused) {
  const std::string whole = block(0, -1,
                                  variable("x", kFloat32, {2, 3}) + weight("w", {3, 4}) + feed("x") +
                                      operation("mul", {{"X", {"x"}}, {"Y", {"w"}}}, {{"Out", {"y"}}}) + fetch("y"));
  ASSERT_TRUE(import_bytes("m.pdmodel", whole).graph);
  for (std::size_t n = 1; n < whole.size(); ++n) {
    const auto m = import_bytes("m.pdmodel", whole.substr(0, n));
    EXPECT_FALSE(m.graph) << n;
    EXPECT_EQ(m.diags.errors(), 1u) << n << ": " << m.diags.str();
  }
}

TEST(Paddle, PirWithoutItsPartsIsRefused) {
  const auto said = [](const std::string& text) {
    const auto m = import_bytes("m.pir.json", text);
    EXPECT_FALSE(m.graph);
    return m.diags.str();
  };
  EXPECT_NE(said(R"({"base_code":{"magic":"pir"}})").find("not a PIR program: it holds no regions"), std::string::npos);
  EXPECT_NE(said(R"({"program":{"regions":[{"blocks":[]}]}})").find("a region must hold one block"), std::string::npos);
  EXPECT_NE(said(R"({"program":{"regions":[{"blocks":[{"ops":[{"#":"1.relu","I":[{"%":"x"}]}]}]}]}})")
                .find("an operand without a number"),
            std::string::npos);
  EXPECT_NE(said(pir_program({pir_operation("1.relu", {7}, {pir_result(8, pir_type("t_f32", {2}))}), pir_output(8)}))
                .find("'%7' is used but nothing before makes it"),
            std::string::npos);
  EXPECT_NE(said(R"({"program":)").find("error"), std::string::npos);
}

TEST(Paddle, BlocksWithinThemselvesAreRefused) {
  const std::string loop = operation("while", {{"X", {"x"}}, {"Condition", {"c"}}}, {{"Out", {"x"}}}, {}, 1);
  const auto m =
      program(variable("x", kFloat32, {2}) + variable("c", kBool, {1}) + feed("x") + feed("c", 1) + loop + fetch("x"),
              block(1, 0, loop));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("blocks are nested deeper than 64, or within themselves"), std::string::npos)
      << m.diags.str();
}

// ---- Control flow

/// i = 0; while (i < 4) { x = x · w; i = i + 1 }
TEST(Paddle, WhileOfProgramDescBecomesALoop) {
  const auto fill = [](const std::string& name, double value) {
    return operation("fill_constant", {}, {{"Out", {name}}},
                     {{"shape", Dims{1}}, {"value", value}, {"dtype", static_cast<int>(kInt64)}});
  };
  const std::string compare = operation("less_than", {{"X", {"i"}}, {"Y", {"n"}}}, {{"Out", {"go"}}});
  const std::string variables = variable("x", kFloat32, {2, 3}) + weight("w", {3, 3}) + variable("i", kInt64, {1}) +
                                variable("n", kInt64, {1}) + variable("go", kBool, {1});
  const auto m = program(
      variables + feed("x") + fill("i", 0) + fill("n", 4) + compare +
          operation("while", {{"X", {"x", "i", "n"}}, {"Condition", {"go"}}},
                    {{"Out", {"x", "i"}}, {"StepScopes", {"scopes"}}}, {}, 1) +
          fetch("x"),
      block(1, 0,
            variable("t", kFloat32, {2, 3}) + operation("matmul_v2", {{"X", {"x"}}, {"Y", {"w"}}}, {{"Out", {"t"}}}) +
                operation("assign", {{"X", {"t"}}}, {{"Out", {"x"}}}) +
                operation("increment", {{"X", {"i"}}}, {{"Out", {"i"}}}, {{"step", 1.0}}) + compare));
  EXPECT_EQ(result_type(m), "Tensor[(2, 3), float32]");
  ASSERT_TRUE(m.graph) << m.diags.str();
  ASSERT_NE(only(m, op("loop")), nullptr);
  for (NodeId id = 0; id < m.graph->size(); ++id) {
    if (m.graph->node(id).is(op("loop"))) { EXPECT_EQ(trip_count(*m.graph, id), SymInt(4)); }
  }
}

TEST(Paddle, OppositeConditionalBlocksBecomeOneIf) {
  const std::string variables = variable("x", kFloat32, {2, 3}) + variable("c", kBool, {1}) +
                                variable("n", kBool, {1}) + variable("m", kInt32, {1}) +
                                variable("a", kFloat32, {2, 3}) + variable("b", kFloat32, {2, 3}) +
                                variable("p", kFloat32, {2, 3}) + variable("q", kFloat32, {2, 3});
  const auto select = [](const std::string& no, const std::string& yes, const std::string& out) {
    return operation("select_input", {{"X", {no, yes}}, {"Mask", {"m"}}}, {{"Out", {out}}});
  };
  const auto m = program(
      variables + variable("y", kFloat32, {2, 3}) + variable("z", kFloat32, {2, 3}) + feed("x") + feed("c", 1) +
          operation("conditional_block", {{"Cond", {"c"}}, {"Input", {"x"}}}, {{"Out", {"a", "p"}}},
                    {{"is_scalar_condition", true}}, 1) +
          operation("logical_not", {{"X", {"c"}}}, {{"Out", {"n"}}}) +
          operation("conditional_block", {{"Cond", {"n"}}, {"Input", {"x"}}}, {{"Out", {"b", "q"}}},
                    {{"is_scalar_condition", true}}, 2) +
          operation("cast", {{"X", {"c"}}}, {{"Out", {"m"}}}, {{"out_dtype", static_cast<int>(kInt32)}}) +
          select("b", "a", "y") + select("q", "p", "z") + fetch("y") + fetch("z", 1),
      block(1, 0,
            operation("relu", {{"X", {"x"}}}, {{"Out", {"a"}}}) + operation("tanh", {{"X", {"x"}}}, {{"Out", {"p"}}})) +
          block(
              2, 0,
              operation("exp", {{"X", {"x"}}}, {{"Out", {"b"}}}) + operation("sin", {{"X", {"x"}}}, {{"Out", {"q"}}})));
  EXPECT_EQ(result_type(m, 1), "Tensor[(2, 3), float32]");
  const Node* branch = only(m, op("if"));
  ASSERT_NE(branch, nullptr);
  ASSERT_EQ(branch->regions.size(), 2u);
  EXPECT_TRUE(branch->regions[0]->node(branch->regions[0]->results()[0]).is(op("nn.relu")));
  EXPECT_TRUE(branch->regions[1]->node(branch->regions[1]->results()[1]).is(op("sin")));
}

TEST(Paddle, KnownBranchesRunInPlace) {
  const auto m = program(variable("x", kFloat32, {2}) + variable("c", kBool, {1}) + feed("x") +
                             operation("fill_constant", {}, {{"Out", {"c"}}},
                                       {{"shape", Dims{1}}, {"value", 1.0}, {"dtype", static_cast<int>(kBool)}}) +
                             operation("conditional_block", {{"Cond", {"c"}}, {"Input", {"x"}}}, {{"Out", {"y"}}},
                                       {{"is_scalar_condition", true}}, 1) +
                             fetch("y"),
                         block(1, 0, operation("relu", {{"X", {"x"}}}, {{"Out", {"y"}}})));
  EXPECT_EQ(result_type(m), "Tensor[(2,), float32]");
  EXPECT_EQ(only(m, op("if")), nullptr);
  EXPECT_NE(only(m, op("nn.relu")), nullptr);
}

TEST(Paddle, PirIfAndWhile) {
  const std::string matrix = pir_type("t_f32", {4, 4}), truth = pir_type("t_bool", {1}), count = pir_type("t_i32", {1});
  const auto full = [&](int number, double value, const std::string& type) {
    return pir_operation("1.full", {}, {pir_result(number, type)},
                         {{"shape", Dims{1}}, {"value", value}, {"dtype", std::string("int32")}});
  };
  const std::string body = pir_region(
      {R"({"#":-1,"TT":)" + count + "}", R"({"#":-2,"TT":)" + matrix + "}"},
      {pir_operation("1.matmul", {-2, 1}, {pir_result(10, matrix)}), full(11, 1, count),
       pir_operation("1.add", {-1, 11}, {pir_result(12, count)}),
       pir_operation("1.less_than", {12, 4}, {pir_result(13, truth)}), pir_operation("2.yield", {13, 12, 10}, {})});
  const std::string then =
      pir_region({}, {pir_operation("1.relu", {7}, {pir_result(20, matrix)}), pir_operation("2.yield", {20}, {})});
  const std::string otherwise =
      pir_region({}, {pir_operation("1.tanh", {7}, {pir_result(21, matrix)}), pir_operation("2.yield", {21}, {})});
  const auto m = pir({pir_weight(1, {4, 4}), pir_input(2, "x", matrix), pir_input(8, "c", truth), full(3, 0, count),
                      full(4, 3, count), pir_operation("1.less_than", {3, 4}, {pir_result(5, truth)}),
                      pir_operation("1.while", {5, 3, 2}, {pir_result(6, count), pir_result(7, matrix)}, {}, body),
                      pir_operation("1.if", {8}, {pir_result(9, matrix)}, {}, then + "," + otherwise), pir_output(9)});
  EXPECT_EQ(result_type(m), "Tensor[(4, 4), float32]");
  ASSERT_TRUE(m.graph) << m.diags.str();
  ASSERT_NE(only(m, op("if")), nullptr);
  for (NodeId id = 0; id < m.graph->size(); ++id) {
    if (m.graph->node(id).is(op("loop"))) { EXPECT_EQ(trip_count(*m.graph, id), SymInt(3)); }
  }
  EXPECT_NE(only(m, op("loop")), nullptr);
}

/// PIR's loops change values from outside of their body in place.
class PaddleInPlace : public ::testing::Test {
 protected:
  std::string matrix = pir_type("t_f32", {2, 2}), truth = pir_type("t_bool", {}), count = pir_type("t_i64", {});
  std::string array = R"({"#":"0.t_dtensorarray","D":[{"#":"0.t_f32"},[],"NCHW"]})";

  std::string full(int number, double value) const {
    return pir_operation("1.full", {}, {pir_result(number, count)},
                         {{"shape", Dims{}}, {"value", value}, {"dtype", std::string("int64")}});
  }
  std::string step() const { return pir_operation("1.increment_", {2}, {pir_result(12, count)}, {{"value", 1.0}}); }
  std::string test(int result) const { return pir_operation("1.less_than", {2, 3}, {pir_result(result, truth)}); }
};

TEST_F(PaddleInPlace, LoopsThatFillArraysRun) {
  const std::string body = pir_region(
      {}, {pir_operation("1.relu", {1}, {pir_result(10, matrix)}),
           pir_operation("1.array_write_", {5, 10, 2}, {pir_result(11, array)}), step(), test(13),
           pir_operation("1.assign_out_", {13, 4}, {pir_result(14, truth)}), pir_operation("2.yield", {4}, {})});
  const std::string create = pir_operation("1.create_array", {}, {pir_result(5, array)}),
                    loop = pir_operation("1.while", {4}, {}, {}, body);
  const auto m =
      pir({pir_input(1, "x", matrix), full(2, 0), full(3, 3), test(4), create, loop,
           pir_operation("1.array_to_tensor", {5},
                         {pir_result(20, pir_type("t_f32", {-1, 2, 2})), pir_result(21, pir_type("t_i32", {-1}))},
                         {{"axis", 0}, {"use_stack", true}}),
           pir_output(20)});
  EXPECT_EQ(result_type(m), "Tensor[(3, 2, 2), float32]");
  EXPECT_EQ(only(m, op("loop")), nullptr);
  const auto open =
      pir({pir_input(1, "x", matrix), full(2, 0), pir_input(3, "n", count), test(4), create, loop, pir_output(1)});
  EXPECT_FALSE(open.graph);
  EXPECT_NE(open.diags.str().find("while: fills a list, and how often it runs is not known when importing"),
            std::string::npos)
      << open.diags.str();
}

TEST_F(PaddleInPlace, WhatIsChangedIsCarried) {
  const std::string body =
      pir_region({R"({"#":-1,"TT":)" + matrix + "}"}, {pir_operation("1.matmul", {-1, -1}, {pir_result(10, matrix)}),
                                                       step(), test(13), pir_operation("2.yield", {13, 10}, {})});
  const auto m = pir({pir_input(1, "x", matrix), full(2, 0), full(3, 6), test(4),
                      pir_operation("1.while", {4, 1}, {pir_result(5, matrix)}, {}, body), pir_output(5)});
  EXPECT_EQ(result_type(m), "Tensor[(2, 2), float32]");
  ASSERT_TRUE(m.graph) << m.diags.str();
  ASSERT_NE(only(m, op("loop")), nullptr);
  for (NodeId id = 0; id < m.graph->size(); ++id) {
    if (m.graph->node(id).is(op("loop"))) { EXPECT_EQ(trip_count(*m.graph, id), SymInt(6)); }
  }
}

}  // namespace
}  // namespace perfc::testing
