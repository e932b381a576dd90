#include <gtest/gtest.h>

#include <set>

#include "frontends/frontend.h"
#include "frontends/paddle/paddle.h"
#include "ir/builder.h"
#include "ir/control_flow.h"
#include "tests/unit/paddle_program.h"

namespace perfc::testing {
namespace {

using namespace paddle;

struct Imported {
  Result<Graph> graph = Failure{};
  Diagnostics diags;
};

Imported import_bytes(const char* file, std::string bytes, const ImportOptions& options = {}) {
  Imported out{.diags = Diagnostics(file)};
  const Source source = Source::from_bytes(file, std::move(bytes));
  out.graph = import_model(source, options, out.diags);
  if (out.graph) {
    Diagnostics verdict("verify");
    EXPECT_TRUE(verify(*out.graph, verdict)) << verdict.str();
  }
  return out;
}
Imported program(const std::string& main, const std::string& further_blocks = "", const ImportOptions& options = {}) {
  return import_bytes("m.pdmodel", block(0, -1, main) + further_blocks, options);
}
Imported pir(const std::vector<std::string>& operations, const ImportOptions& options = {}) {
  return import_bytes("m.json", pir_program(operations), options);
}

std::string result_type(const Imported& m, std::size_t i = 0) {
  if (!m.graph) return m.diags.str();
  return i < m.graph->results().size() ? to_string(m.graph->type(m.graph->results()[i])) : "no such result";
}

const Node* only(const Imported& m, OpId id) {
  const Node* found = nullptr;
  if (!m.graph) return found;
  for (const Node& n : m.graph->nodes()) {
    if (!n.is(id)) continue;
    EXPECT_EQ(found, nullptr) << "twice: " << def(id).name;
    found = &n;
  }
  return found;
}

/// One operator on inputs of these types, both of its outputs' slots by name.
struct Input {
  std::string slot;
  Dims dims;
  Element element = kFloat32;
};
Imported one_operation(const std::string& type, const std::vector<Input>& inputs, const Attributes& attrs,
                       const std::string& out = "Out", const ImportOptions& options = {}) {
  std::string variables, feeds;
  Slots slots;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    variables += variable(name, inputs[i].element, inputs[i].dims);
    feeds += feed(name, static_cast<int>(i));
    if (!slots.empty() && slots.back().first == inputs[i].slot) slots.back().second.push_back(name);
    else slots.push_back({inputs[i].slot, {name}});
  }
  return program(variables + feeds + operation(type, slots, {{out, {"y"}}}, attrs) + fetch("y"), "", options);
}
std::string type_of(const std::string& type, const std::vector<Input>& inputs, const Attributes& attrs = {},
                    const std::string& out = "Out") {
  return result_type(one_operation(type, inputs, attrs, out));
}

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

// ---- Operators

TEST(PaddleOperators, Convolutions) {
  const auto conv = [](const Attributes& attrs, const Dims& x = {1, 3, 9, 9}) {
    return type_of("conv2d", {{"Input", x}, {"Filter", {6, 3, 3, 3}}}, attrs, "Output");
  };
  EXPECT_EQ(conv({}), "Tensor[(1, 6, 7, 7), float32]");
  EXPECT_EQ(conv({{"paddings", Dims{1, 2, 0, 3}}}), "Tensor[(1, 6, 10, 10), float32]");  // pairs per axis
  EXPECT_EQ(conv({{"padding_algorithm", std::string("SAME")}, {"strides", Dims{2, 2}}, {"paddings", Dims{0, 0}}}),
            "Tensor[(1, 6, 5, 5), float32]");
  EXPECT_EQ(conv({{"padding_algorithm", std::string("VALID")}, {"paddings", Dims{4, 4}}}),
            "Tensor[(1, 6, 7, 7), float32]");
  EXPECT_EQ(conv({{"data_format", std::string("NHWC")}}, {1, 9, 9, 3}), "Tensor[(1, 7, 7, 6), float32]");
  EXPECT_EQ(type_of("depthwise_conv2d", {{"Input", {1, 8, 5, 5}}, {"Filter", {8, 1, 3, 3}}}, {{"groups", 8}}, "Output"),
            "Tensor[(1, 8, 3, 3), float32]");
  EXPECT_EQ(type_of("conv3d", {{"Input", {1, 2, 5, 5, 5}}, {"Filter", {4, 2, 3, 3, 3}}}, {}, "Output"),
            "Tensor[(1, 4, 3, 3, 3), float32]");
  EXPECT_EQ(type_of("conv2d_transpose", {{"Input", {1, 4, 5, 5}}, {"Filter", {4, 2, 2, 2}}}, {{"strides", Dims{2, 2}}},
                    "Output"),
            "Tensor[(1, 2, 10, 10), float32]");
  EXPECT_EQ(type_of("conv2d_transpose", {{"Input", {1, 4, 5, 5}}, {"Filter", {4, 2, 3, 3}}},
                    {{"strides", Dims{2, 2}}, {"output_size", Dims{12, 12}}}, "Output"),
            "Tensor[(1, 2, 12, 12), float32]");
  EXPECT_EQ(
      type_of("deformable_conv",
              {{"Input", {1, 4, 6, 6}}, {"Offset", {1, 18, 4, 4}}, {"Filter", {8, 4, 3, 3}}, {"Mask", {1, 9, 4, 4}}},
              {{"strides", Dims{1, 1}}, {"paddings", Dims{0, 0}}, {"dilations", Dims{1, 1}}}, "Output"),
      "Tensor[(1, 8, 4, 4), float32]");
}

TEST(PaddleOperators, Pools) {
  const auto pool = [](const Attributes& attrs) { return type_of("pool2d", {{"X", {1, 3, 8, 8}}}, attrs); };
  EXPECT_EQ(pool({{"ksize", Dims{3, 3}},
                  {"strides", Dims{2, 2}},
                  {"paddings", Dims{0, 0}},
                  {"pooling_type", std::string("max")}}),
            "Tensor[(1, 3, 3, 3), float32]");
  EXPECT_EQ(
      pool({{"ksize", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"ceil_mode", true}, {"pooling_type", std::string("avg")}}),
      "Tensor[(1, 3, 4, 4), float32]");
  EXPECT_EQ(pool({{"ksize", Dims{1, 1}}, {"adaptive", true}, {"pooling_type", std::string("avg")}}),
            "Tensor[(1, 3, 1, 1), float32]");
  EXPECT_EQ(pool({{"ksize", Dims{4, 2}}, {"adaptive", true}, {"pooling_type", std::string("avg")}}),
            "Tensor[(1, 3, 4, 2), float32]");
  EXPECT_EQ(pool({{"ksize", Dims{2, 2}}, {"global_pooling", true}}), "Tensor[(1, 3, 1, 1), float32]");
  EXPECT_EQ(type_of("max_pool2d_with_index", {{"X", {1, 3, 8, 8}}}, {{"ksize", Dims{2, 2}}, {"strides", Dims{2, 2}}}),
            "Tensor[(1, 3, 4, 4), float32]");
  EXPECT_EQ(type_of("pool3d", {{"X", {1, 3, 4, 4, 4}}}, {{"ksize", Dims{2, 2, 2}}, {"strides", Dims{2, 2, 2}}}),
            "Tensor[(1, 3, 2, 2, 2), float32]");
}

TEST(PaddleOperators, Products) {
  EXPECT_EQ(type_of("mul", {{"X", {2, 3, 4}}, {"Y", {12, 5}}}, {{"x_num_col_dims", 1}}), "Tensor[(2, 5), float32]");
  EXPECT_EQ(type_of("mul", {{"X", {2, 3, 4}}, {"Y", {4, 5}}}, {{"x_num_col_dims", 2}}), "Tensor[(2, 3, 5), float32]");
  EXPECT_EQ(type_of("mul", {{"X", {2, 3, 4, 5}}, {"Y", {20, 6}}}, {{"x_num_col_dims", 2}}),
            "Tensor[(2, 3, 6), float32]");
  EXPECT_EQ(type_of("matmul_v2", {{"X", {2, 3, 4}}, {"Y", {2, 5, 4}}}, {{"trans_y", true}}),
            "Tensor[(2, 3, 5), float32]");
  EXPECT_EQ(type_of("matmul", {{"X", {4, 3}}, {"Y", {4, 5}}}, {{"transpose_X", true}, {"alpha", 0.5}}),
            "Tensor[(3, 5), float32]");
  EXPECT_EQ(type_of("bmm", {{"X", {2, 3, 4}}, {"Y", {2, 4, 5}}}), "Tensor[(2, 3, 5), float32]");
  EXPECT_EQ(type_of("mv", {{"X", {3, 4}}, {"Vec", {4}}}), "Tensor[(3,), float32]");
  EXPECT_EQ(type_of("dot", {{"X", {3, 4}}, {"Y", {3, 4}}}), "Tensor[(3,), float32]");
  EXPECT_EQ(type_of("addmm", {{"Input", {3, 5}}, {"X", {3, 4}}, {"Y", {4, 5}}}, {{"Alpha", 2.0}}),
            "Tensor[(3, 5), float32]");
  EXPECT_EQ(type_of("fc", {{"Input", {2, 3, 4}}, {"W", {12, 5}}, {"Bias", {5}}},
                    {{"in_num_col_dims", 1}, {"activation_type", std::string("relu")}}),
            "Tensor[(2, 5), float32]");
  EXPECT_EQ(type_of("einsum", {{"Operands", {2, 3}}, {"Operands", {3, 4}}}, {{"equation", std::string("ab,bc->ac")}}),
            "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("lookup_table", {{"W", {10, 4}}, {"Ids", {3, 1}, kInt64}}), "Tensor[(3, 4), float32]");
  EXPECT_EQ(type_of("lookup_table_v2", {{"W", {10, 4}}, {"Ids", {3, 1}, kInt64}}), "Tensor[(3, 1, 4), float32]");
  EXPECT_EQ(type_of("flash_attn", {{"q", {2, 7, 8, 16}}, {"k", {2, 9, 2, 16}}, {"v", {2, 9, 2, 16}}}, {}, "out"),
            "Tensor[(2, 7, 8, 16), float32]");
}

TEST(PaddleOperators, Normalisation) {
  const Input x{"X", {2, 6, 4, 4}}, c{"Scale", {6}}, b{"Bias", {6}};
  EXPECT_EQ(type_of("batch_norm", {x, c, b, {"Mean", {6}}, {"Variance", {6}}}, {{"is_test", true}}, "Y"),
            "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("group_norm", {x, c, b}, {{"groups", 3}}, "Y"), "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("instance_norm", {x, c, b}, {}, "Y"), "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("layer_norm", {x, {"Scale", {96}}, {"Bias", {96}}}, {{"begin_norm_axis", 1}}, "Y"),
            "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("affine_channel", {x, c, b}), "Tensor[(2, 6, 4, 4), float32]");
  const auto trained = one_operation("batch_norm", {x, c, b, {"Mean", {6}}, {"Variance", {6}}}, {}, "Y");
  ASSERT_NE(only(trained, op("nn.batch_norm")), nullptr);
  EXPECT_EQ(only(trained, op("nn.batch_norm"))->attrs.int_or("training_mode", 0), 1);
}

TEST(PaddleOperators, DropoutScalesInTheOldMode) {
  const auto in = [](const Attributes& attrs) { return one_operation("dropout", {{"X", {2, 3}}}, attrs); };
  const auto old =
      in({{"is_test", true}, {"dropout_prob", 0.25}, {"dropout_implementation", std::string("downgrade_in_infer")}});
  ASSERT_NE(only(old, op("multiply")), nullptr);
  EXPECT_DOUBLE_EQ(old.graph->data(only(old, op("multiply"))->operands[1])->floats()->front(), 0.75);
  EXPECT_EQ(in({{"is_test", true}, {"dropout_implementation", std::string("upscale_in_train")}}).graph->size(), 1u);
  EXPECT_NE(only(in({{"is_test", false}}), op("nn.dropout")), nullptr);
}

TEST(PaddleOperators, Views) {
  EXPECT_EQ(type_of("reshape2", {{"X", {2, 3, 4}}}, {{"shape", Dims{0, -1}}}), "Tensor[(2, 12), float32]");
  EXPECT_EQ(type_of("flatten_contiguous_range", {{"X", {2, 3, 4, 5}}}, {{"start_axis", 1}, {"stop_axis", 2}}),
            "Tensor[(2, 12, 5), float32]");
  EXPECT_EQ(type_of("flatten2", {{"X", {2, 3, 4, 5}}}, {{"axis", 2}}), "Tensor[(6, 20), float32]");
  EXPECT_EQ(type_of("transpose2", {{"X", {2, 3, 4}}}, {{"axis", Dims{2, 0, 1}}}), "Tensor[(4, 2, 3), float32]");
  EXPECT_EQ(type_of("squeeze2", {{"X", {1, 3, 1, 5}}}, {{"axes", Dims{0, 1}}}),
            "Tensor[(3, 1, 5), float32]");  // dim 1 is 3 and stays
  EXPECT_EQ(type_of("unsqueeze2", {{"X", {3, 5}}}, {{"axes", Dims{0, -1}}}), "Tensor[(1, 3, 5, 1), float32]");
  EXPECT_EQ(type_of("unsqueeze2", {{"X", {3, 5}}}, {{"axes", Dims{1, 1}}}),
            "Tensor[(3, 1, 1, 5), float32]");  // one after the other
  EXPECT_EQ(
      type_of("slice", {{"Input", {4, 6, 8}}},
              {{"axes", Dims{0, 2}}, {"starts", Dims{1, -3}}, {"ends", Dims{2, 100}}, {"decrease_axis", Dims{0}}}),
      "Tensor[(6, 3), float32]");
  EXPECT_EQ(type_of("strided_slice", {{"Input", {9}}},
                    {{"axes", Dims{0}}, {"starts", Dims{8}}, {"ends", Dims{-10}}, {"strides", Dims{-2}}}),
            "Tensor[(5,), float32]");
  EXPECT_EQ(type_of("concat", {{"X", {2, 3}}, {"X", {2, 5}}}, {{"axis", -1}}), "Tensor[(2, 8), float32]");
  EXPECT_EQ(type_of("stack", {{"X", {2, 3}}, {"X", {2, 3}}}, {{"axis", -1}}, "Y"), "Tensor[(2, 3, 2), float32]");
  EXPECT_EQ(type_of("expand_v2", {{"X", {1, 3}}}, {{"shape", Dims{2, 4, -1}}}), "Tensor[(2, 4, 3), float32]");
  EXPECT_EQ(type_of("expand_as_v2", {{"X", {1, 3}}, {"Y", {2, 3}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("expand", {{"X", {1, 3}}}, {{"expand_times", Dims{2, 2}}}), "Tensor[(2, 6), float32]");
  EXPECT_EQ(type_of("tile", {{"X", {3}}}, {{"repeat_times", Dims{2, 2}}}), "Tensor[(2, 6), float32]");
  EXPECT_EQ(type_of("flip", {{"X", {2, 3}}}, {{"axis", Dims{0, 1}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("roll", {{"X", {4, 3}}}, {{"shifts", Dims{1, -1}}, {"axis", Dims{0, 1}}}),
            "Tensor[(4, 3), float32]");
  EXPECT_EQ(type_of("pad", {{"X", {2, 3}}}, {{"paddings", Dims{0, 1, 2, 0}}}), "Tensor[(3, 5), float32]");
  EXPECT_EQ(type_of("pad2d", {{"X", {1, 1, 4, 4}}}, {{"paddings", Dims{1, 2, 3, 4}}, {"mode", std::string("reflect")}}),
            "Tensor[(1, 1, 7, 11), float32]");
  EXPECT_EQ(type_of("pad3d", {{"X", {1, 1, 4, 4, 4}}}, {{"paddings", Dims{1, 0, 2, 0, 3, 0}}}),
            "Tensor[(1, 1, 7, 6, 5), float32]");
  EXPECT_EQ(type_of("pixel_shuffle", {{"X", {1, 8, 3, 3}}}, {{"upscale_factor", 2}}), "Tensor[(1, 2, 6, 6), float32]");
  EXPECT_EQ(
      type_of("pixel_shuffle", {{"X", {1, 3, 3, 8}}}, {{"upscale_factor", 2}, {"data_format", std::string("NHWC")}}),
      "Tensor[(1, 6, 6, 2), float32]");
  EXPECT_EQ(type_of("shuffle_channel", {{"X", {1, 8, 3, 3}}}, {{"group", 2}}), "Tensor[(1, 8, 3, 3), float32]");
  EXPECT_EQ(type_of("temporal_shift", {{"X", {8, 8, 3, 3}}}, {{"seg_num", 4}, {"shift_ratio", 0.25}}),
            "Tensor[(8, 8, 3, 3), float32]");
  EXPECT_EQ(type_of("crop_tensor", {{"X", {4, 6}}}, {{"shape", Dims{2, -1}}, {"offsets", Dims{1, 2}}}),
            "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("set_value", {{"Input", {4, 6}}},
                    {{"axes", Dims{0}},
                     {"starts", Dims{1}},
                     {"ends", Dims{3}},
                     {"steps", Dims{1}},
                     {"fp32_values", std::vector<double>{7}}}),
            "Tensor[(4, 6), float32]");
  // A window of two axes, one of them in steps.
  EXPECT_EQ(type_of("set_value", {{"Input", {4, 6}}},
                    {{"axes", Dims{0, 1}},
                     {"starts", Dims{1, -5}},
                     {"ends", Dims{3, 6}},
                     {"steps", Dims{1, 2}},
                     {"fp32_values", std::vector<double>{7}}}),
            "Tensor[(4, 6), float32]");
}

TEST(PaddleOperators, SplitsGiveAllTheirParts) {
  const auto parts = [](const std::string& type, const std::string& slot, const Attributes& attrs, const Dims& x) {
    const auto m =
        program(variable("x", kFloat32, x) + feed("x") + operation(type, {{"X", {"x"}}}, {{slot, {"a", "b"}}}, attrs) +
                fetch("a", 0) + fetch("b", 1));
    return result_type(m, 0) + " " + result_type(m, 1);
  };
  EXPECT_EQ(parts("split", "Out", {{"num", 2}, {"axis", 1}}, {2, 6}),
            "Tensor[(2, 3), float32] Tensor[(2, 3), float32]");
  EXPECT_EQ(parts("split", "Out", {{"sections", Dims{2, -1}}, {"axis", -1}}, {2, 6}),
            "Tensor[(2, 2), float32] Tensor[(2, 4), float32]");
  EXPECT_EQ(parts("unstack", "Y", {{"axis", 0}}, {2, 6}), "Tensor[(6,), float32] Tensor[(6,), float32]");
  EXPECT_NE(parts("split", "Out", {{"sections", Dims{7, -1}}, {"axis", 1}}, {2, 6})
                .find("split: 'sections' does not fit the data"),
            std::string::npos);
}

TEST(PaddleOperators, ListsOfPir) {
  const std::string half = pir_type("t_f32", {2, 3}), whole = pir_type("t_f32", {2, 6});
  const std::string list = fmt::format(R"({{"#":"0.t_vec","D":[{},{}]}})", half, half);
  const auto ints = [](int number, const Dims& values) {
    return pir_operation("1.full_int_array", {},
                         {pir_result(number, pir_type("t_i64", {static_cast<int>(values.size())}))},
                         {{"value", values}, {"dtype", std::string("int64")}});
  };
  const auto m = pir({pir_input(1, "x", whole), ints(2, {3, 3}), ints(3, {1}),
                      pir_operation("1.split", {1, 2, 3}, {pir_result(4, list)}),
                      pir_operation("0.split", {4}, {pir_result(5, half), pir_result(6, half)}),
                      pir_operation("0.combine", {6, 5}, {pir_result(7, list)}),
                      pir_operation("1.concat", {7, 3}, {pir_result(8, whole)}), pir_output(8)});
  EXPECT_EQ(result_type(m), "Tensor[(2, 6), float32]");
  EXPECT_EQ(m.diags.str(), "");
}

TEST(PaddleOperators, Reductions) {
  const Input x{"X", {2, 3, 4}};
  EXPECT_EQ(type_of("reduce_mean", {x}, {{"dim", Dims{1}}, {"keep_dim", true}}), "Tensor[(2, 1, 4), float32]");
  EXPECT_EQ(type_of("reduce_max", {x}, {{"dim", Dims{-1}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("reduce_any", {{"X", {2, 3}, kBool}}, {{"dim", Dims{0}}}), "Tensor[(3,), bool]");
  EXPECT_EQ(type_of("mean", {x}), "Tensor[(), float32]");
  EXPECT_EQ(type_of("logsumexp", {x}, {{"axis", Dims{0}}}), "Tensor[(3, 4), float32]");
  EXPECT_EQ(type_of("p_norm", {x}, {{"porder", 3.0}, {"axis", 1}}), "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("frobenius_norm", {x}, {{"dim", Dims{1, 2}}}), "Tensor[(2,), float32]");
  EXPECT_EQ(type_of("arg_max", {x}, {{"axis", 2}, {"dtype", static_cast<int>(kInt32)}}), "Tensor[(2, 3), int32]");
  EXPECT_EQ(type_of("arg_min", {x}, {{"flatten", true}}), "Tensor[(), int64]");
  EXPECT_EQ(type_of("cumsum", {x}, {{"flatten", true}}), "Tensor[(24,), float32]");
  EXPECT_EQ(type_of("argsort", {x}, {{"axis", 1}}, "Indices"), "Tensor[(2, 3, 4), int64]");
  EXPECT_EQ(type_of("top_k_v2", {x}, {{"k", 2}, {"axis", -1}}), "Tensor[(2, 3, 2), float32]");
  EXPECT_EQ(type_of("kthvalue", {x}, {{"k", 2}, {"axis", 1}}), "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("where_index", {{"Condition", {3, 4}, kBool}}), "Tensor[(?, 2), int64]");
}

TEST(PaddleOperators, Gathers) {
  EXPECT_EQ(type_of("gather", {{"X", {5, 4}}, {"Index", {3, 1}, kInt64}}), "Tensor[(3, 4), float32]");
  EXPECT_EQ(type_of("index_select", {{"X", {5, 4}}, {"Index", {3}, kInt32}}, {{"dim", 1}}), "Tensor[(5, 3), float32]");
  EXPECT_EQ(type_of("gather_nd", {{"X", {5, 4, 2}}, {"Index", {3, 2}, kInt32}}), "Tensor[(3, 2), float32]");
  EXPECT_EQ(type_of("take_along_axis", {{"Input", {5, 4}}, {"Index", {5, 2}, kInt64}}, {{"Axis", 1}}, "Result"),
            "Tensor[(5, 2), float32]");
  EXPECT_EQ(type_of("index_sample", {{"X", {5, 4}}, {"Index", {5, 2}, kInt64}}), "Tensor[(5, 2), float32]");
  EXPECT_EQ(type_of("put_along_axis", {{"Input", {5, 4}}, {"Index", {5, 2}, kInt64}, {"Value", {5, 2}}},
                    {{"Axis", 1}, {"Reduce", std::string("add")}}, "Result"),
            "Tensor[(5, 4), float32]");
  EXPECT_EQ(type_of("scatter", {{"X", {5, 4}}, {"Ids", {3}, kInt32}, {"Updates", {3, 4}}}), "Tensor[(5, 4), float32]");
  EXPECT_EQ(type_of("scatter_nd_add", {{"X", {5, 4}}, {"Index", {3, 1}, kInt32}, {"Updates", {3, 4}}}),
            "Tensor[(5, 4), float32]");
  EXPECT_EQ(type_of("one_hot_v2", {{"X", {3}, kInt64}}, {{"depth", 7}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(3, 7), float32]");
  EXPECT_EQ(type_of("one_hot", {{"X", {3, 1}, kInt64}}, {{"depth", 7}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(3, 7), float32]");
  EXPECT_EQ(type_of("multiplex", {{"X", {3, 4}}, {"X", {3, 4}}, {"Ids", {3, 1}, kInt32}}), "Tensor[(3, 4), float32]");
}

TEST(PaddleOperators, Creation) {
  const auto made = [](const std::string& type, const Attributes& attrs) {
    return result_type(program(operation(type, {}, {{"Out", {"y"}}}, attrs) + fetch("y")));
  };
  EXPECT_EQ(made("fill_constant",
                 {{"shape", Dims{2, 3}}, {"str_value", std::string("inf")}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(2, 3), float32]");
  EXPECT_EQ(
      made("assign_value", {{"shape", Dims{3}}, {"dtype", static_cast<int>(kInt32)}, {"int32_values", Dims{1, 2, 3}}}),
      "Tensor[(3,), int32]");
  EXPECT_NE(
      made("assign_value", {{"shape", Dims{4}}, {"dtype", static_cast<int>(kInt32)}, {"int32_values", Dims{1, 2, 3}}})
          .find("has 3 values"),
      std::string::npos);
  EXPECT_EQ(made("eye", {{"num_rows", 3}, {"num_columns", -1}}), "Tensor[(3, 3), float32]");
  EXPECT_EQ(made("gaussian_random", {{"shape", Dims{2, 5}}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(2, 5), float32]");
  EXPECT_EQ(type_of("fill_any_like", {{"X", {2, 3}}}, {{"value", 1.0}, {"dtype", static_cast<int>(kInt64)}}),
            "Tensor[(2, 3), int64]");
  EXPECT_EQ(type_of("fill_constant_batch_size_like", {{"Input", {7, 2}}},
                    {{"shape", Dims{-1, 5}}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(7, 5), float32]");
  EXPECT_EQ(type_of("size", {{"Input", {7, 2}}}), "Tensor[(), int64]");
}

TEST(PaddleOperators, Images) {
  const Input x{"X", {1, 3, 8, 8}};
  EXPECT_EQ(type_of("bilinear_interp_v2", {x}, {{"out_h", 16}, {"out_w", 20}, {"align_corners", false}}),
            "Tensor[(1, 3, 16, 20), float32]");
  EXPECT_EQ(type_of("nearest_interp_v2", {x}, {{"scale", std::vector<double>{2, 0.5}}, {"out_h", -1}, {"out_w", -1}}),
            "Tensor[(1, 3, 16, 4), float32]");
  EXPECT_EQ(type_of("bicubic_interp_v2", {{"X", {1, 8, 8, 3}}},
                    {{"scale", std::vector<double>{2}}, {"data_layout", std::string("NHWC")}}),
            "Tensor[(1, 16, 16, 3), float32]");
  EXPECT_NE(type_of("bilinear_interp", {x}).find("gives neither sizes nor scales"), std::string::npos);
  EXPECT_EQ(type_of("grid_sampler", {x, {"Grid", {1, 5, 6, 2}}}, {}, "Output"), "Tensor[(1, 3, 5, 6), float32]");
  EXPECT_EQ(type_of("affine_grid", {{"Theta", {2, 2, 3}}}, {{"output_shape", Dims{2, 3, 4, 5}}}, "Output"),
            "Tensor[(2, 4, 5, 2), float32]");
  EXPECT_EQ(type_of("roi_align", {x, {"ROIs", {9, 4}}}, {{"pooled_height", 7}, {"pooled_width", 5}}),
            "Tensor[(9, 3, 7, 5), float32]");
  EXPECT_EQ(type_of("roi_pool", {x, {"ROIs", {9, 4}}}, {{"pooled_height", 7}, {"pooled_width", 5}}),
            "Tensor[(9, 3, 7, 5), float32]");
}

TEST(PaddleOperators, Detection) {
  const auto two = [](const std::string& type, const std::vector<Input>& inputs, const Attributes& attrs,
                      const std::string& first, const std::string& second) {
    return type_of(type, inputs, attrs, first) + " " + type_of(type, inputs, attrs, second);
  };
  EXPECT_EQ(two("yolo_box", {{"X", {1, 18, 4, 4}}, {"ImgSize", {1, 2}, kInt32}},
                {{"anchors", Dims{10, 13, 16, 30}}, {"class_num", 4}}, "Boxes", "Scores"),
            "Tensor[(1, 32, 4), float32] Tensor[(1, 32, 4), float32]");
  EXPECT_EQ(type_of("prior_box", {{"Input", {2, 3, 8, 6}}, {"Image", {2, 3, 32, 32}}},
                    {{"min_sizes", std::vector<double>{2, 4}},
                     {"max_sizes", std::vector<double>{5, 8}},
                     {"aspect_ratios", std::vector<double>{1, 2}},
                     {"flip", true}},
                    "Boxes"),
            "Tensor[(8, 6, 8, 4), float32]");
  EXPECT_EQ(type_of("box_coder", {{"PriorBox", {9, 4}}, {"TargetBox", {2, 9, 4}}},
                    {{"code_type", std::string("decode_center_size")}}, "OutputBox"),
            "Tensor[(2, 9, 4), float32]");
  EXPECT_EQ(type_of("box_coder", {{"PriorBox", {9, 4}}, {"TargetBox", {5, 4}}},
                    {{"code_type", std::string("encode_center_size")}}, "OutputBox"),
            "Tensor[(5, 9, 4), float32]");
  EXPECT_EQ(two("multiclass_nms3", {{"BBoxes", {2, 20, 4}}, {"Scores", {2, 3, 20}}},
                {{"nms_top_k", 10}, {"keep_top_k", 25}}, "Out", "NmsRoisNum"),
            "Tensor[(50, 6), float32] Tensor[(2,), int32]");
}

TEST(PaddleOperators, WindowsAsColumns) {
  EXPECT_EQ(type_of("unfold", {{"X", {2, 3, 8, 8}}},
                    {{"kernel_sizes", Dims{3, 3}},
                     {"strides", Dims{2, 2}},
                     {"paddings", Dims{1, 1, 1, 1}},
                     {"dilations", Dims{1, 1}}},
                    "Y"),
            "Tensor[(2, 27, 16), float32]");
  EXPECT_EQ(type_of("fold", {{"X", {2, 12, 12}}}, {{"output_sizes", Dims{4, 5}}, {"kernel_sizes", Dims{2, 2}}}, "Y"),
            "Tensor[(2, 3, 4, 5), float32]");
  EXPECT_NE(type_of("unfold", {{"X", {2, 3, 8, 8}}}, {{"kernel_sizes", Dims{9, 9}}}, "Y")
                .find("unfold: a window of 9 over an extent of 8"),
            std::string::npos);
}

TEST(PaddleOperators, UnsupportedFormsAreOpaque) {
  const auto m = program(variable("x", kFloat32, {3, 3}) + variable("y", kFloat32, {2}) + feed("x") +
                         operation("diagonal", {{"Input", {"x"}}}, {{"Out", {"y"}}}, {{"offset", 1}}) + fetch("y"));
  EXPECT_EQ(result_type(m), "Tensor[(2,), float32]");
  EXPECT_NE(m.diags.str().find("diagonal: this form of it is not supported; kept as opaque"), std::string::npos)
      << m.diags.str();
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

TEST(PaddleOperators, RecurrentLayers) {
  const auto layer = [](const std::string& mode, int gates, const std::vector<std::string>& states) {
    std::string variables =
        variable("x", kFloat32, {7, 2, 5}) + variable("h", kFloat32, {2, 2, 4}) + variable("c", kFloat32, {2, 2, 4});
    std::vector<std::string> weights;
    for (const char* d : {"f", "b"}) {
      weights.push_back(std::string("w") + d);
      weights.push_back(std::string("r") + d);
      variables += weight(weights[weights.size() - 2], {gates * 4, 5}) + weight(weights.back(), {gates * 4, 4});
    }
    for (const char* name : {"b0", "b1", "b2", "b3"}) {
      weights.emplace_back(name);
      variables += weight(name, {gates * 4});
    }
    return program(variables + feed("x") + feed("h", 1) + feed("c", 2) +
                   operation("rnn", {{"Input", {"x"}}, {"PreState", states}, {"WeightList", weights}},
                             {{"Out", {"y"}}, {"State", {"last"}}},
                             {{"mode", mode}, {"is_bidirec", true}, {"num_layers", 1}, {"hidden_size", 4}}) +
                   fetch("y", 0) + fetch("last", 1));
  };
  const auto gru = layer("GRU", 3, {"h"});
  EXPECT_EQ(result_type(gru, 0), "Tensor[(7, 2, 8), float32]");
  EXPECT_EQ(result_type(gru, 1), "Tensor[(2, 2, 4), float32]");
  const Node* node = only(gru, op("nn.gru"));
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(to_string(gru.graph->type(node->operands[3])), "Tensor[(2, 24), float32]");
  EXPECT_EQ(result_type(layer("LSTM", 4, {"h", "c"}), 0), "Tensor[(7, 2, 8), float32]");
  EXPECT_NE(result_type(layer("LSTM", 4, {"h"}), 0).find("rnn: 1 initial states"), std::string::npos);
}

TEST(PaddleOperators, ElementwiseTypesAndActivations) {
  const Input x{"X", {2, 3}};
  for (const char* type : {"relu",
                           "relu6",
                           "sigmoid",
                           "tanh",
                           "gelu",
                           "leaky_relu",
                           "elu",
                           "selu",
                           "hard_sigmoid",
                           "hard_swish",
                           "swish",
                           "mish",
                           "softplus",
                           "softsign",
                           "softshrink",
                           "hard_shrink",
                           "thresholded_relu",
                           "logsigmoid",
                           "tanh_shrink",
                           "brelu",
                           "square",
                           "rsqrt",
                           "log1p",
                           "log2",
                           "log10",
                           "expm1",
                           "abs",
                           "erf",
                           "reciprocal",
                           "trunc",
                           "scale",
                           "softmax",
                           "log_softmax",
                           "pow",
                           "clip",
                           "assign",
                           "increment",
                           "stanh",
                           "soft_relu"}) {
    EXPECT_EQ(type_of(type, {x}), "Tensor[(2, 3), float32]") << type;
  }
  EXPECT_EQ(type_of("elementwise_mod", {{"X", {2, 3}, kInt64}, {"Y", {3}, kInt32}}), "Tensor[(2, 3), int64]");
  EXPECT_EQ(type_of("elementwise_floordiv", {{"X", {2, 3}, kInt64}, {"Y", {1}, kInt64}}), "Tensor[(2, 3), int64]");
  EXPECT_EQ(type_of("not_equal", {x, {"Y", {3}}}), "Tensor[(2, 3), bool]");
  EXPECT_EQ(type_of("isfinite_v2", {x}), "Tensor[(2, 3), bool]");
  EXPECT_EQ(type_of("where", {{"Condition", {2, 3}, kBool}, x, {"Y", {2, 3}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("cast", {x}, {{"out_dtype", static_cast<int>(kInt32)}}), "Tensor[(2, 3), int32]");
  EXPECT_EQ(type_of("prelu", {{"X", {2, 3, 4, 4}}, {"Alpha", {1, 3, 1, 1}}}, {{"mode", std::string("channel")}}),
            "Tensor[(2, 3, 4, 4), float32]");
  EXPECT_EQ(type_of("maxout", {{"X", {2, 6, 4, 4}}}, {{"groups", 2}}), "Tensor[(2, 3, 4, 4), float32]");
  EXPECT_EQ(type_of("sum", {x, {"X", {2, 3}}, {"X", {2, 3}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("bitwise_and", {{"X", {2}, kBool}, {"Y", {2}, kBool}}), "Tensor[(2,), bool]");
  EXPECT_EQ(type_of("isclose", {{"Input", {2, 3}}, {"Other", {2, 3}}}), "Tensor[(2, 3), bool]");
  EXPECT_EQ(type_of("dist", {x, {"Y", {2, 3}}}, {{"p", 2.0}}), "Tensor[(), float32]");
  EXPECT_EQ(type_of("swiglu", {{"x", {2, 6}}}, {}, "out"), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("softmax_with_cross_entropy", {{"Logits", {2, 5}}, {"Label", {2, 1}, kInt64}}, {}, "Loss"),
            "Tensor[(2, 1), float32]");
}

/// The operators that TVM 0.19's converter knows, by name, as its converter lists them.
TEST(PaddleOperators, NoneOfTvmsIsMissing) {
  constexpr std::string_view kNames =
      "abs acos addmm arg_max arg_min argsort asin assign assign_value atan batch_norm bicubic_interp_v2 "
      "bilinear_interp_v2 bmm brelu cast ceil clip concat "
      "conv2d conv2d_transpose conv3d cos cosh cumsum depthwise_conv2d depthwise_conv2d_transpose dist dot dropout "
      "elementwise_add elementwise_div "
      "elementwise_floordiv elementwise_max elementwise_min elementwise_mod elementwise_mul elementwise_pow "
      "elementwise_prod elementwise_sub elu equal erf exp "
      "expand_v2 expand_as_v2 eye feed fill_any_like fill_constant fill_constant_batch_size_like fill_zeros_like "
      "flatten_contiguous_range floor floor_mod flip "
      "gather gather_nd gaussian_random gelu greater_equal greater_than grid_sampler group_norm hard_shrink "
      "hard_sigmoid hard_swish index_select instance_norm "
      "isfinite_v2 isinf_v2 isnan_v2 layer_norm leaky_relu less_equal less_than linspace log log2 log10 log1p "
      "logical_and logical_not logical_or logical_xor "
      "logsigmoid log_softmax logsumexp lookup_table_v2 matmul matmul_v2 meshgrid mish mul mv nearest_interp_v2 norm "
      "not_equal one_hot_v2 p_norm pad1d pad2d pad3d "
      "pixel_shuffle pool2d pool3d pow prelu range relu relu6 reshape2 round roi_align reciprocal reduce_all "
      "reduce_any reduce_max reduce_min reduce_prod reduce_sum "
      "reduce_mean rnn rsqrt scale scatter scatter_nd_add selu set_value shape sigmoid sign silu sin sinh size slice "
      "softmax softmax_with_cross_entropy softplus "
      "softsign softshrink split stack strided_slice sqrt square squeeze2 swish take_along_axis tan tanh tanh_shrink "
      "top_k thresholded_relu tile top_k_v2 transpose2 "
      "unique unsqueeze2 unstack where where_index";
  std::set<std::string, std::less<>> known;
  for (const OpCoverage& o : perfc::paddle::coverage()) known.insert(o.source);
  std::string_view rest = kNames;
  std::size_t count = 0;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    ++count;
    EXPECT_TRUE(known.count(name)) << name;
  }
  EXPECT_EQ(count, 163u);
}

/// What paddle.vision's models are saved with, in PIR's names.
TEST(PaddleOperators, NoneOfPaddleVisionIsMissing) {
  std::set<std::string, std::less<>> known;
  for (const OpCoverage& o : perfc::paddle::coverage()) known.insert(o.source);
  for (const char* name : {"add",
                           "batch_norm",
                           "builtin.combine",
                           "builtin.split",
                           "channel_shuffle",
                           "concat",
                           "conv2d",
                           "data",
                           "depthwise_conv2d",
                           "dropout",
                           "fetch",
                           "flatten",
                           "full",
                           "full_int_array",
                           "hardsigmoid",
                           "hardswish",
                           "matmul",
                           "mean",
                           "multiply",
                           "pool2d",
                           "relu",
                           "relu6",
                           "reshape",
                           "scale",
                           "shape64",
                           "sigmoid",
                           "slice",
                           "softmax",
                           "split",
                           "split_with_num",
                           "squeeze",
                           "swish",
                           "transpose",
                           "unsqueeze",
                           "if",
                           "while"}) {
    EXPECT_TRUE(known.count(name)) << name;
  }
}

}  // namespace
}  // namespace perfc::testing
