/// The PyTorch front end, on small programs in TorchScript JSON.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontends/frontend.h"
#include "ir/builder.h"
#include "ir/eager_marks.h"
#include "ir/text/printer.h"

namespace perfc::testing {
namespace {

struct Imported {
  Diagnostics diags{"m.json"};
  std::optional<Graph> graph;
};

Imported import(std::string text, const ImportOptions& options = {}, std::string name = "m.json") {
  Imported m;
  m.diags = Diagnostics(name);
  auto graph = import_model(Source::from_bytes(name, std::move(text)), options, m.diags);
  if (!graph) return m;
  EXPECT_TRUE(verify(*graph, m.diags)) << m.diags.str();
  m.graph = *std::move(graph);
  return m;
}

/// A program of one tensor input "x" of this shape and these nodes; result "y".
std::string program(std::string_view shape, std::string_view nodes, std::string_view parameters = "",
                    std::string_view outputs = R"("y")") {
  return fmt::format(
      R"({{"format": "torchscript-json", "version": 1, "model": "m",
          "inputs": [{{"name": "x", "dtype": "float32", "shape": {}}}],
"outputs": [{}], "parameters": [{}], "nodes": [{}]}})",
      shape, outputs, parameters, nodes);
}
std::string node(std::string_view op, std::string_view inputs, std::string_view outputs, std::string_view more = "") {
  std::string in, out;
  for (auto [list, text] : {std::pair{inputs, &in}, std::pair{outputs, &out}}) {
    while (!list.empty()) {
      const std::size_t space = std::min(list.find(' '), list.size());
      const std::string name(list.substr(0, space));
      *text += (text->empty() ? "" : ", ") +
               (text == &in ? fmt::format("\"{}\"", name) : fmt::format(R"({{"name": "{}"}})", name));
      list.remove_prefix(std::min(space + 1, list.size()));
    }
  }
  return fmt::format(R"({{"op": "{}", "inputs": [{}], "outputs": [{}]{}}})", op, in, out, more);
}
std::string constant(std::string_view name, std::string_view type, std::string_view value) {
  return fmt::format(R"({{"op": "prim::Constant", "inputs": [], "outputs": [{{"name": "{}", "type": "{}"}}], )"
                     R"("attributes": {{"value": {}}}}})",
                     name, type, value);
}
template <class... Nodes>
std::string nodes(const Nodes&... each) {
  std::string out;
  ((out += (out.empty() ? "" : ",\n") + std::string(each)), ...);
  return out;
}

std::string result_type(const Imported& m, std::size_t i = 0) {
  return m.graph ? to_string(m.graph->type(m.graph->results()[i])) : m.diags.str();
}
std::size_t count(const Graph& g, OpId o) {
  return static_cast<std::size_t>(
      std::count_if(g.nodes().begin(), g.nodes().end(), [&](const Node& n) { return n.is(o); }));
}
const Node& find(const Graph& g, OpId o) {
  return *std::find_if(g.nodes().begin(), g.nodes().end(), [&](const Node& n) { return n.is(o); });
}

TEST(TorchImport, OneOperatorIsTyped) {
  const auto m = import(program("[1, 3]", node("aten::relu", "x", "y")));
  EXPECT_EQ(result_type(m), "Tensor[(1, 3), float32]");
  EXPECT_EQ(m.graph->name(), "m");
  EXPECT_EQ(m.graph->result_names()[0], "y");
}

TEST(TorchImport, ParametersAreConstantsOnceAndOnlyWhenUsed) {
  const auto m = import(program(
      "[2, 4]",
      nodes(constant("n", "NoneType", "null"), node("aten::linear", "x w n", "a"), node("aten::linear", "a w n", "y")),
      R"({"name": "w", "dtype": "float32", "shape": [4, 4]}, {"name": "v", "dtype": "float32", "shape": [9]})"));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(std::count_if(m.graph->nodes().begin(), m.graph->nodes().end(),
                          [](const Node& n) { return n.kind == NodeKind::Constant; }),
            1);
  EXPECT_EQ(count(*m.graph, op("nn.dense")), 2u);
}

TEST(TorchImport, AsStridedNeedsAStrideForEachSizeThatStaysInTheData) {
  const auto with_strides = [](const char* strides) {
    return import(program(
        "[4]",
        nodes(constant("two", "int", "2"), constant("far", "int", "9223372036854775807"),
              constant("none", "NoneType", "null"), node("prim::ListConstruct", "two two", "sizes"),
              node("prim::ListConstruct", strides, "strides"), node("aten::as_strided", "x sizes strides none", "y"))));
  };
  EXPECT_NE(with_strides("two").diags.str().find("has 2 sizes and 1 strides"), std::string::npos)
      << with_strides("two").diags.str();
  EXPECT_NE(with_strides("two far").diags.str().find("strides reach beyond the data"), std::string::npos)
      << with_strides("two far").diags.str();
}

/// Longformer's chunks of 2 w rows, one every w: a view of windows, whatever their size, and no gather of elements.
TEST(TorchImport, AsStridedOfOverlappingRowsIsWindows) {
  const auto m =
      import(program("[8, 4096, 64]", nodes(constant("n", "int", "8"), constant("chunks", "int", "7"),
                                            constant("rows", "int", "1024"), constant("width", "int", "64"),
                                            constant("a", "int", "262144"), constant("b", "int", "32768"),
                                            constant("one", "int", "1"), constant("none", "NoneType", "null"),
                                            node("prim::ListConstruct", "n chunks rows width", "sizes"),
                                            node("prim::ListConstruct", "a b width one", "strides"),
                                            node("aten::as_strided", "x sizes strides none", "y"))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(result_type(m), "Tensor[(8, 7, 1024, 64), float32]");
  const Node& windows = find(*m.graph, op("take"));
  EXPECT_EQ(windows.attrs.int_or("axis", 0), 1);
  EXPECT_EQ(to_string(m.graph->type(windows.operands[1])), "Tensor[(7, 1024), int64]");
}

TEST(TorchImport, SizesStayComputedSoThatTheBatchMayChange) {
  const auto m = import(program(
      "[2, 3, 4]", nodes(constant("zero", "int", "0"), constant("rest", "int", "-1"), node("aten::size", "x zero", "n"),
                         node("prim::ListConstruct", "n rest", "s"), node("aten::view", "x s", "y"))));
  EXPECT_EQ(result_type(m), "Tensor[(2, 12), float32]");
  EXPECT_EQ(count(*m.graph, op("shape_of")), 1u);
}

TEST(TorchImport, TracedArithmeticOnSizesIsPropagated) {
  const auto m = import(
      program("[5, 8]", nodes(constant("one", "int", "1"), constant("two", "int", "2"), constant("rest", "int", "-1"),
                              node("aten::size", "x one", "n"), node("prim::NumToTensor", "n", "t"),
                              node("aten::floor_divide", "t two", "h"), node("aten::Int", "h", "i"),
                              node("prim::ListConstruct", "rest two i", "s"), node("aten::reshape", "x s", "y"))));
  EXPECT_EQ(result_type(m), "Tensor[(5, 2, 4), float32]");
}

TEST(TorchImport, NumbersPromoteAsTorchDoes) {
  const auto half =
      R"({"format": "torchscript-json", "version": 1, "inputs": [{"name": "x", "dtype": "float16", "shape": [2]},
    {"name": "i", "dtype": "int64", "shape": [2]}], "outputs": ["a", "b", "c"], "parameters": [], "nodes": [)" +
      nodes(constant("f", "float", "1.5"), constant("one", "int", "1"), node("aten::add", "x f one", "a"),
            node("aten::mul", "x i", "b"), node("aten::div", "i one", "c")) +
      "]}";
  const auto m = import(half);
  EXPECT_EQ(result_type(m, 0), "Tensor[(2,), float16]");
  EXPECT_EQ(result_type(m, 1), "Tensor[(2,), float16]");
  EXPECT_EQ(result_type(m, 2), "Tensor[(2,), float32]");
}

TEST(TorchImport, ACopyThatNothingReadsIsLaunched) {
  const auto m = import(program("[2, 3]", nodes(node("aten::t", "x", "a"), node("aten::contiguous", "a", "unread"),
                                                node("aten::relu", "x", "y"))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  ASSERT_EQ(count(*m.graph, op("contiguous")), 1u);
  EXPECT_TRUE(find(*m.graph, op("contiguous")).attrs.has(kLaunched));
}

TEST(TorchImport, SumsScaleASummandAsTheyReadIt) {
  for (const char* inputs : {"x x two", "x f two", "f x two"}) {
    const auto m = import(program(
        "[2, 3]", nodes(constant("f", "float", "1.5"), constant("two", "int", "2"), node("aten::add", inputs, "y"))));
    ASSERT_TRUE(m.graph) << m.diags.str();
    EXPECT_EQ(count(*m.graph, op("multiply")), 0u) << inputs;
    EXPECT_TRUE(find(*m.graph, op("add")).attrs.has("alpha")) << inputs;
  }
}

TEST(TorchImport, DropoutIsACallInTrainingOnly) {
  const auto dropouts = [](const char* p, const char* train) {
    const std::string settings = nodes(constant("p", "float", p), constant("train", "bool", train));
    const std::string calls = nodes(node("aten::dropout", "x p train", "d"), node("aten::relu", "d", "y"));
    const auto m = import(program("[2, 3]", nodes(settings, calls)));
    EXPECT_TRUE(m.graph) << m.diags.str();
    return m.graph ? count(*m.graph, op("nn.dropout")) : 9;
  };
  EXPECT_EQ(dropouts("0.5", "false"), 0u);
  EXPECT_EQ(dropouts("0.0", "true"), 0u);
  EXPECT_EQ(dropouts("0.5", "true"), 1u);
}

/// What the importer writes survives the passes, which take a dropout without training for its operand.
TEST(TorchImport, ATrainingDropoutSaysSo) {
  const auto m = import(program("[2, 3]", nodes(constant("p", "float", "0.5"), constant("train", "bool", "true"),
                                                node("aten::dropout", "x p train", "y"))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  const Node& n = find(*m.graph, op("nn.dropout"));
  ASSERT_EQ(n.operands.size(), 3u);
  const Data* training = m.graph->data(n.operands[2]);
  ASSERT_TRUE(training && training->ints());
  EXPECT_TRUE(training->ints()->front().is(1));
}

TEST(TorchImport, InPlaceOperatorReplacesWhatItsViewsSee) {
  // a = x[:, 0]; x.relu_(); y = a + a: the addition must read the rectified data.
  const auto m = import(program("[2, 3]", nodes(constant("one", "int", "1"), constant("zero", "int", "0"),
                                                node("aten::select", "x one zero", "a"), node("aten::relu_", "x", "r"),
                                                node("aten::add", "a a one", "y"))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  const Node& sum = find(*m.graph, op("add"));
  const Node& view = m.graph->node(sum.operands[0]);
  ASSERT_TRUE(view.is(op("take")));
  EXPECT_TRUE(m.graph->node(view.operands[0]).is(op("nn.relu")));
}

TEST(TorchImport, ACastToTheOwnTypeIsTheSameTensorAndNoted) {
  // a = x.float(); y = a.pow(2); a.relu_(); z = x + 1: y reads behind a cast, z what was written through it.
  const auto m = import(program(
      "[2, 3]",
      nodes(constant("one", "int", "1"), constant("two", "int", "2"), node("aten::float", "x", "a"),
            node("aten::pow", "a two", "y"), node("aten::relu_", "a", "r"), node("aten::add", "x one one", "z")),
      "", R"("y", "z")"));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(count(*m.graph, op("cast")), 0u);
  EXPECT_EQ(find(*m.graph, op("power")).attrs.int_or(kRecast, 0), 1);
  const Node& sum = find(*m.graph, op("add"));
  EXPECT_FALSE(sum.attrs.has(kRecast));
  EXPECT_TRUE(m.graph->node(sum.operands[0]).is(op("nn.relu")));
}

TEST(TorchImport, WriteToAViewSetsASliceOfItsBase) {
  const auto m =
      import(program("[2, 4]", nodes(constant("one", "int", "1"), constant("three", "int", "3"),
                                     constant("v", "float", "0.5"), node("aten::slice", "x one one three one", "s"),
                                     node("aten::fill_", "s v", "f"), node("aten::relu", "x", "y"))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  const Node& relu = find(*m.graph, op("nn.relu"));
  EXPECT_TRUE(m.graph->node(relu.operands[0]).is(op("strided_set")));
  EXPECT_EQ(result_type(m), "Tensor[(2, 4), float32]");
}

TEST(TorchImport, WeightsOfFourBitsLieInTilesOfEightRows) {
  // 32 rows of 256 numbers: (N / 8, K / (16 · inner tiles), 32, inner tiles / 2). There is none to trace on a CPU.
  const auto m = import(
      program("[3, 256]", nodes(constant("group", "int", "64"), node("aten::_weight_int4pack_mm", "x w group s", "y")),
              R"({"name": "w", "dtype": "int32", "shape": [4, 2, 32, 4]},
         {"name": "s", "dtype": "float32", "shape": [4, 32, 2]})"));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(result_type(m), "Tensor[(3, 32), float32]");
}

TEST(TorchImport, WriteThroughAnExpandedViewIsRefused) {
  const auto m = import(program("[2, 1]", nodes(constant("two", "int", "2"), constant("no", "bool", "false"),
                                                node("prim::ListConstruct", "two two", "s"),
                                                node("aten::expand", "x s no", "e"), node("aten::relu_", "e", "y"))));
  EXPECT_FALSE(m.graph);
  EXPECT_EQ(
      m.diags.str(),
      "m.json: node 4 'relu_': error: aten::relu_: writes in place through a view made by broadcast_to, which several "
      "elements share or perfc "
      "cannot invert\n");
}

TEST(TorchImport, ReshapeOfATransposeIsACopy) {
  // r = x.t().reshape(6); r.relu_(); y = x + x: the copy's writes do not reach x.
  const auto copy =
      nodes(constant("one", "int", "1"), constant("zero", "int", "0"), constant("six", "int", "6"),
            node("prim::ListConstruct", "six", "s"), node("aten::transpose", "x zero one", "t"),
            node("aten::reshape", "t s", "r"), node("aten::relu_", "r", "w"), node("aten::add", "x x one", "y"));
  const auto m = import(program("[2, 3]", copy));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(m.graph->node(find(*m.graph, op("add")).operands[0]).kind, NodeKind::Var);
  // Without the transpose it is a view, and they do.
  const auto view =
      nodes(constant("one", "int", "1"), constant("six", "int", "6"), node("prim::ListConstruct", "six", "s"),
            node("aten::reshape", "x s", "r"), node("aten::relu_", "r", "w"), node("aten::add", "x x one", "y"));
  const auto v = import(program("[2, 3]", view));
  ASSERT_TRUE(v.graph) << v.diags.str();
  EXPECT_TRUE(v.graph->node(find(*v.graph, op("add")).operands[0]).is(op("reshape")));
}

constexpr std::string_view kIf =
    R"(, "blocks": [{"inputs": [], "nodes": [{"op": "aten::relu", "inputs": ["x"], "outputs": [{"name": "a"}]}],
                    "outputs": ["a"]},
  {"inputs": [], "nodes": [{"op": "aten::neg", "inputs": ["x"], "outputs": [{"name": "b"}]}], "outputs": ["b"]}])";

TEST(TorchImport, BranchOfAKnownConditionIsTaken) {
  const auto m = import(program("[2]", nodes(constant("no", "bool", "false"), node("prim::If", "no", "y", kIf))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(count(*m.graph, op("negative")), 1u);
  EXPECT_EQ(count(*m.graph, op("if")), 0u);
}

TEST(TorchImport, BranchOfAnUnknownConditionIsARegion) {
  const auto m = import(program("[2]", nodes(constant("none", "NoneType", "null"), node("aten::sum", "x none", "s"),
                                             node("aten::Bool", "s", "c"), node("prim::If", "c", "y", kIf))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  const Node& branch = find(*m.graph, op("if"));
  ASSERT_EQ(branch.regions.size(), 2u);
  EXPECT_EQ(branch.attrs.int_or("captures", -1), 1);
  EXPECT_EQ(count(*branch.regions[0], op("nn.relu")), 1u);
  EXPECT_EQ(result_type(m), "Tensor[(2,), float32]");
}

TEST(TorchImport, AValueOfANumberChoosesTheBranch) {
  const std::string text = fmt::format(
      R"({{"format": "torchscript-json", "version": 1, "model": "m",
          "inputs": [{{"name": "x", "dtype": "float32", "shape": [2]}}, {{"name": "rate", "type": "int"}}],
          "outputs": ["y"], "parameters": [], "nodes": [{}]}})",
      nodes(constant("limit", "int", "8000"), node("aten::gt", "rate limit", "c"), node("prim::If", "c", "y", kIf)));
  EXPECT_EQ(count(*import(text).graph, op("if")), 1u);
  ImportOptions options;
  options.values = {{"rate", {"16000"}}};
  EXPECT_EQ(count(*import(text, options).graph, op("nn.relu")), 1u);
  options.values = {{"rate", {"4000"}}};
  EXPECT_EQ(count(*import(text, options).graph, op("negative")), 1u);
}

std::string loop(std::string_view limit) {
  return nodes(
      constant("n", "int", limit), constant("yes", "bool", "true"),
      node("prim::Loop", "n yes x", "y", R"(, "blocks": [{"inputs": [{"name": "i", "type": "int"}, {"name": "h"}],
    "nodes": [{"op": "aten::tanh", "inputs": ["h"], "outputs": [{"name": "g"}]}], "outputs": ["yes", "g"]}])"));
}

TEST(TorchImport, CountedLoopIsUnrolled) {
  const auto m = import(program("[2]", loop("3")));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(count(*m.graph, op("tanh")), 3u);
}

TEST(TorchImport, LongLoopStaysALoop) {
  const auto m = import(program("[2]", loop("1000000")));
  ASSERT_TRUE(m.graph) << m.diags.str();
  const Node& l = find(*m.graph, op("loop"));
  EXPECT_EQ(count(*l.regions[0], op("tanh")), 1u);
  EXPECT_EQ(result_type(m), "Tensor[(2,), float32]");
}

TEST(TorchImport, ScriptedModuleAsksForShapes) {
  std::string text = program("null", node("aten::relu", "x", "y"));
  const auto m = import(text);
  EXPECT_FALSE(m.graph);
  EXPECT_EQ(
      m.diags.str(),
      "m.json: 'x': error: the file does not say the input's shape, as scripted modules do not; give it with --shape "
      "x=…, "
      "e.g. --shape x=1,3,224,224\n");
  ImportOptions options;
  options.shapes.push_back({"x", {2, 5}});
  EXPECT_EQ(result_type(import(text, options)), "Tensor[(2, 5), float32]");
}

TEST(TorchImport, OpenDimsBindByNameAndBatch) {
  ImportOptions options;
  options.open_batch = 8;
  EXPECT_EQ(result_type(import(program(R"(["batch", null])", node("aten::relu", "x", "y")), options)),
            "Tensor[(8, x.1), float32]");
  options.dims.emplace_back("x.1", 5);
  EXPECT_EQ(result_type(import(program(R"(["batch", null])", node("aten::relu", "x", "y")), options)),
            "Tensor[(8, 5), float32]");
}

TEST(TorchImport, UnknownOperatorIsOpaqueWhenItsTypeIsDeclared) {
  const std::string text = program(
      "[2]", R"({"op": "mine::op", "inputs": ["x"], "outputs": [{"name": "y", "dtype": "float32", "shape": [7]}], )"
             R"("scope": "__module.a/__module.a.b"})");
  const auto m = import(text);
  EXPECT_EQ(result_type(m), "Tensor[(7,), float32]");
  EXPECT_EQ(find(*m.graph, op("opaque")).attrs.string_or("source_op", ""), "mine::op");
  EXPECT_EQ(m.diags.str(),
            "m.json: node 0 'a.b/op': warning: mine::op: unknown operator: kept as opaque, its cost is not known\n");
}

TEST(TorchImport, UnknownOperatorWithoutATypeIsRefused) {
  const auto m = import(program("[2]", node("mine::op", "x", "y", R"(, "source": "net.py(3): forward")")));
  EXPECT_FALSE(m.graph);
  EXPECT_EQ(
      m.diags.str(),
      "m.json: node 0 'op': error: mine::op: unknown operator, and the file does not declare the type of its result "
      "'y' "
      "(from net.py(3): forward)\n");
}

TEST(TorchImport, ErrorsNameWhatIsWrong) {
  EXPECT_EQ(import(program("[2]", node("aten::relu", "z", "y"))).diags.str(),
            "m.json: node 0 'y': error: 'z' is used but nothing before makes it\n");
  EXPECT_EQ(
      import(program("[2, 3]", nodes(constant("d", "int", "5"), node("aten::unsqueeze", "x d", "y")))).diags.str(),
      "m.json: node 1 'unsqueeze': error: aten::unsqueeze: dim 5 is out of range for rank 3\n");
  EXPECT_EQ(import(program("[-2]", node("aten::relu", "x", "y"))).diags.str(), "m.json: 'x': error: negative dim -2\n");
  EXPECT_EQ(import(program("[2]", node("aten::conv2d", "x x", "y"))).diags.str().find("takes"), std::string::npos);
}

TEST(TorchImport, MalformedJsonIsLocated) {
  EXPECT_EQ(import("{\"format\": \"torchscript-json\",\n \"version\": oops}").diags.str().substr(0, 37),
            "m.json:2:13: error: malformed JSON: T");
  EXPECT_EQ(import("{\"format\": \"torchscript-json\"").diags.str(),
            "m.json:1:30: error: malformed JSON: the text ends too early; is the file complete?\n");
  EXPECT_EQ(import(R"({"format": "torchscript-json", "version": 2, "nodes": [], "outputs": []})").diags.str(),
            "m.json: error: TorchScript JSON of version 2; perfc reads version 1\n");
  EXPECT_EQ(import("{}").diags.str(),
            "m.json: error: not TorchScript JSON: \"format\" is not \"torchscript-json\"; export with `python -m "
            "perfc.export MODEL`\n");
  EXPECT_EQ(import(std::string(100'000, '[')).diags.str(),
            "m.json:1:513: error: objects and arrays nested deeper than 512 levels\n");
}

TEST(TorchImport, InterpolateTakesItsModeAsAnArgument) {
  const auto resized = [](std::string_view mode, std::string_view scale) {
    return import(program("[1, 2, 6, 8]", nodes(constant("n", "NoneType", "null"),
                                                constant("s", scale[0] == '[' ? "List[float]" : "float", scale),
                                                constant("m", "str", mode), constant("f", "bool", "false"),
                                                node("aten::__interpolate", "x n s m f n f", "y"))));
  };
  const auto bilinear = resized("\"bilinear\"", "2.0");
  EXPECT_EQ(result_type(bilinear), "Tensor[(1, 2, 12, 16), float32]");
  EXPECT_EQ(find(*bilinear.graph, op("image.resize2d")).attrs.string_or("mode", ""), "linear");
  const auto nearest = resized("\"nearest\"", "[0.5, 1.5]");
  EXPECT_EQ(result_type(nearest), "Tensor[(1, 2, 3, 12), float32]");
  EXPECT_EQ(find(*nearest.graph, op("image.resize2d")).attrs.string_or("mode", ""), "nearest");
  EXPECT_FALSE(resized("\"area\"", "2.0").graph);
}

TEST(TorchImport, ShapeAsTensorIsAVector) {
  EXPECT_EQ(result_type(import(program("[3, 5]", node("aten::_shape_as_tensor", "x", "y")))), "Tensor[(2,), int64]");
}

TEST(TorchImport, ConvolutionsTellStridesFromDilation) {
  const auto convolved = [](std::string_view strides, std::string_view dilation) {
    return import(program("[1, 4, 16, 16]",
                          nodes(constant("n", "NoneType", "null"), constant("s", "List[int]", strides),
                                constant("p", "List[int]", "[0, 0]"), constant("d", "List[int]", dilation),
                                constant("g", "int", "1"), node("aten::conv2d", "x w n s p d g", "y")),
                          R"({"name": "w", "dtype": "float32", "shape": [6, 4, 3, 3]})"));
  };
  EXPECT_EQ(result_type(convolved("[2, 2]", "[1, 1]")), "Tensor[(1, 6, 7, 7), float32]");    // (16 - 3) / 2 + 1
  EXPECT_EQ(result_type(convolved("[1, 1]", "[2, 2]")), "Tensor[(1, 6, 12, 12), float32]");  // 16 - (2 · 2 + 1) + 1
}

TEST(TorchImport, QuantisedTransposedConvolutionStandsBetweenConversions) {
  const auto m =
      import(program("[1, 4, 5, 5]",
                     nodes(constant("n", "NoneType", "null"), constant("s", "float", "0.1"), constant("z", "int", "3"),
                           constant("d", "int", "13"), constant("two", "List[int]", "[2, 2]"),
                           constant("one", "List[int]", "[1, 1]"), constant("zero", "List[int]", "[0, 0]"),
                           constant("g", "int", "1"), node("aten::quantize_per_tensor", "x s z d", "q"),
                           node("prim::TupleConstruct", "w n two zero one g one", "p"),
                           node("quantized::conv_transpose2d", "q p s z", "r"), node("aten::dequantize", "r", "y")),
                     R"({"name": "w", "dtype": "qint8", "shape": [4, 6, 3, 3]})"));
  EXPECT_EQ(result_type(m), "Tensor[(1, 6, 12, 12), float32]");  // (5 - 1) · 2 + 3 + 1
  EXPECT_EQ(count(*m.graph, op("nn.conv2d_transpose")), 1u);
  EXPECT_EQ(count(*m.graph, op("qnn.quantize")), 2u);
}

TEST(TorchImport, ListsAreRepeatedWithinReasonOnly) {
  const auto repeated = [](std::string_view times) {
    return import(program(
        "[2]", nodes(constant("l", "List[int]", "[1, 1]"), constant("k", "int", times), node("aten::mul", "l k", "s"),
                     constant("f", "bool", "false"), node("aten::expand", "x s f", "y"))));
  };
  EXPECT_EQ(result_type(repeated("1")), "Tensor[(1, 2), float32]");
  EXPECT_NE(repeated("9223372036854775807").diags.str().find("repeats a list too often"), std::string::npos);
  EXPECT_NE(repeated("-1").diags.str().find("repeats a list too often"), std::string::npos);
}

TEST(TorchImport, DeepBlocksAreRefused) {
  std::string inner = node("aten::relu", "x", "y");
  for (int i = 0; i < 90; ++i) {
    inner = node("prim::If", "c", "y",
                 fmt::format(R"(, "blocks": [{{"inputs": [], "nodes": [{}], "outputs": ["y"]}}, )"
                             R"({{"inputs": [], "nodes": [], "outputs": ["x"]}}])",
                             inner));
  }
  const auto m = import(program("[2]", nodes(constant("c", "bool", "true"), inner)));
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("blocks are nested deeper than 64"), std::string::npos) << m.diags.str();
}

TEST(TorchImport, EndlessLoopEnds) {
  // while True: the IR's loop, unrolled no further than the limits.
  const auto m = import(program("[2]", loop("9223372036854775807")));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(count(*m.graph, op("loop")), 1u);
}

TEST(TorchImport, DictsAreCopiedAndMadeOfPairs) {
  const auto m =
      import(program("[2]", nodes(constant("a", "str", "\"a\""), constant("b", "str", "\"b\""),
                                  node("prim::TupleConstruct", "a x", "p"), node("aten::relu", "x", "r"),
                                  node("prim::TupleConstruct", "b r", "q"), node("prim::ListConstruct", "p q", "pairs"),
                                  node("aten::dict", "pairs", "d"), node("aten::dict", "d", "e"),
                                  node("aten::_set_item", "e b x", ""), node("aten::__getitem__", "d b", "y"))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(count(*m.graph, op("nn.relu")), 1u);  // the copy alone was changed
  const auto bad = import(program("[2]", nodes(node("prim::ListConstruct", "x", "l"), node("aten::dict", "l", "y"))));
  EXPECT_NE(bad.diags.str().find("makes a dict of a tensor, not of pairs"), std::string::npos) << bad.diags.str();
}

TEST(TorchImport, NumbersAsKeysOfADict) {
  const auto m =
      import(program("[2]", nodes(constant("i", "int", "3"), constant("k", "str", "\"3\""),
                                  node("prim::DictConstruct", "", "d"), node("aten::str", "i", "s"),
                                  node("aten::_set_item", "d s x", ""), node("aten::__getitem__", "d k", "y"))));
  EXPECT_TRUE(m.graph) << m.diags.str();
}

TEST(TorchImport, RangesOfALoop) {
  const auto rounds = [](std::string_view from, std::string_view to, std::string_view step) {
    return import(
        program("[9]", nodes(constant("a", "int", from), constant("b", "int", to), constant("s", "int", step),
                             node("aten::__range_length", "a b s", "n"), node("prim::ListConstruct", "n", "l"),
                             constant("z", "NoneType", "null"), node("aten::new_zeros", "x l z z z z", "y"))));
  };
  EXPECT_EQ(result_type(rounds("0", "7", "3")), "Tensor[(3,), float32]");
  EXPECT_EQ(result_type(rounds("5", "-1", "-1")), "Tensor[(6,), float32]");
  EXPECT_EQ(result_type(rounds("5", "5", "1")), "Tensor[(0,), float32]");
  EXPECT_NE(rounds("0", "5", "0").diags.str().find("counts too far"), std::string::npos);
  EXPECT_NE(rounds("-9223372036854775807", "9223372036854775807", "1").diags.str().find("counts too far"),
            std::string::npos);
}

TEST(TorchImport, TensorsOfListsOfFloats) {
  const auto m =
      import(program("[3]", nodes(constant("l", "List[float]", "[0.5, 1, 2]"), constant("n", "NoneType", "null"),
                                  node("aten::as_tensor", "l n n", "t"), node("aten::sub", "x t", "y"))));
  EXPECT_EQ(result_type(m), "Tensor[(3,), float32]");
}

TEST(TorchImport, PlacesWhereAConditionHolds) {
  const auto m = import(program("[3]", nodes(constant("z", "int", "0"), node("aten::gt", "x z", "c"),
                                             node("aten::where", "c", "w"), node("prim::ListUnpack", "w", "i"),
                                             node("prim::ListConstruct", "i", "l"), node("aten::index", "x l", "y"))));
  EXPECT_EQ(result_type(m), "Tensor[(?,), float32]");
}

TEST(TorchImport, WhatVmapMapsHasItsDimInFront) {
  const std::string vmap = "torch._functorch.predispatch.";
  const auto mapped = [&](std::string_view out, std::string_view declared) {
    return import(
        program("[4, 6, 8]",
                nodes(constant("one", "int", "1"), constant("size", "int", "6"), constant("error", "str", "\"error\""),
                      constant("out", "int", out), node(vmap + "_vmap_increment_nesting", "size error", "a"),
                      node(vmap + "_add_batch_dim", "x one one", "b"), node("aten::relu", "b", "r"),
                      fmt::format(R"({{"op": "{}_remove_batch_dim", "inputs": ["r", "one", "size", "out"], "outputs": )"
                                  R"([{{"name": "y", "dtype": "float32", "shape": {}}}]}})",
                                  vmap, declared),
                      node(vmap + "_vmap_decrement_nesting", "", "e"))));
  };
  EXPECT_EQ(result_type(mapped("0", "[6, 4, 8]")), "Tensor[(6, 4, 8), float32]");
  EXPECT_EQ(result_type(mapped("2", "[4, 8, 6]")), "Tensor[(4, 8, 6), float32]");
  EXPECT_NE(result_type(mapped("0", "[4, 8]")).find("it counts dims from the front"), std::string::npos);
}

/// transformers' masks: each vmap maps a tensor of its own, and they meet within.
TEST(TorchImport, VmapsNestWithADimEach) {
  const std::string vmap = "torch._functorch.predispatch.";
  const auto inner = [&](std::string_view mapped) {
    return import(program(
        "[4]",
        nodes(constant("zero", "int", "0"), constant("one", "int", "1"), constant("two", "int", "2"),
              constant("four", "int", "4"), constant("six", "int", "6"), constant("error", "str", "\"error\""),
              node("aten::relu", "x", "w"), node(vmap + "_vmap_increment_nesting", "four error", "a"),
              node(vmap + "_add_batch_dim", "x zero one", "b"),
              node(vmap + "_vmap_increment_nesting", "six error", "c"),
              node(vmap + "_add_batch_dim", "w zero two", "d"), node("aten::mul", mapped, "m"),
              node(vmap + "_remove_batch_dim", "m two six zero", "n"), node(vmap + "_vmap_decrement_nesting", "", "e"),
              node(vmap + "_remove_batch_dim", "n one four zero", "y"),
              node(vmap + "_vmap_decrement_nesting", "", "f"))));
  };
  EXPECT_EQ(result_type(inner("b d")), "Tensor[(4, 4), float32]");
  EXPECT_EQ(result_type(inner("b b")), "Tensor[(4, 6), float32]");  // what it does not map is there for each sample
}

/// Some elements of x: "s" has an open first dim, "n" is its extent.
std::string some_of_x() {
  return nodes(constant("z", "int", "0"), node("aten::gt", "x z", "c"), node("aten::nonzero", "c", "s"),
               node("aten::size", "s z", "n"));
}

TEST(TorchImport, WhatDataDecidesIsTakenToBeThere) {
  const auto test = [](std::string_view asks, std::string_view number) {
    return import(program("[4, 6]", nodes(some_of_x(), constant("k", "int", number), node("aten::add", "n n", "m"),
                                          node(asks, "m k", "t"),
                                          fmt::format(R"({{"op": "prim::If", "inputs": ["t"], "outputs": [{{"name": )"
                                                      R"("y"}}], "blocks": [{{"nodes": [], "outputs": ["s"]}}, )"
                                                      R"({{"nodes": [], "outputs": ["x"]}}]}})"))));
  };
  EXPECT_EQ(result_type(test("aten::gt", "0")), "Tensor[(?, 2), int64]");
  EXPECT_EQ(result_type(test("aten::ge", "2")), "Tensor[(?, 2), int64]");
  EXPECT_EQ(result_type(test("aten::eq", "0")), "Tensor[(4, 6), float32]");
  EXPECT_EQ(result_type(test("aten::lt", "1")), "Tensor[(4, 6), float32]");
  const auto open = test("aten::gt", "2");  // two are sure, more are not
  EXPECT_TRUE(!open.graph || count(*open.graph, op("if")) == 1) << open.diags.str();
}

TEST(TorchImport, FlatDimsAreKnownBesideOpenOnes) {
  const auto m =
      import(program("[4, 6]", nodes(some_of_x(), constant("one", "int", "1"), constant("end", "int", "-1"),
                                     node("aten::unsqueeze", "s one", "u"), node("aten::flatten", "u one end", "y"))));
  EXPECT_EQ(result_type(m), "Tensor[(?, 2), int64]");
}

TEST(TorchImport, OnePartOfASplitIsTheWhole) {
  const auto m =
      import(program("[4, 6]", nodes(some_of_x(), node("prim::ListConstruct", "n", "l"),
                                     node("aten::split", "s l z", "p"), node("prim::ListUnpack", "p", "y"))));
  EXPECT_EQ(result_type(m), "Tensor[(?, 2), int64]");
}

/// Tokens by expert (JetMoe): `split_with_sizes` by counts.
TEST(TorchImport, PartsWhoseSizesFollowFromDataAreEqual) {
  const auto m = import(
      program("[7, 6]", nodes(some_of_x(), constant("one", "int", "1"), node("prim::ListConstruct", "n one n", "l"),
                              node("aten::split_with_sizes", "x l z", "p"), node("prim::ListUnpack", "p", "a b y"))));
  EXPECT_EQ(result_type(m), "Tensor[(3, 6), float32]");
  EXPECT_NE(m.diags.str().find("the sizes of 2 parts follow from data; taken as equal, 6 in all"), std::string::npos)
      << m.diags.str();
  const auto over = import(
      program("[7, 6]", nodes(some_of_x(), constant("nine", "int", "9"), node("prim::ListConstruct", "n nine", "l"),
                              node("aten::split_with_sizes", "x l z", "p"), node("prim::ListUnpack", "p", "a y"))));
  EXPECT_NE(over.diags.str().find("sizes do not add up to the extent 7"), std::string::npos) << over.diags.str();
}

TEST(TorchImport, DictsAreUpdated) {
  const auto updated = import(
      program("[3]", nodes(constant("a", "str", "\"a\""), constant("b", "str", "\"b\""), node("aten::relu", "x", "r"),
                           node("prim::DictConstruct", "a x", "d"), node("prim::DictConstruct", "a r b x", "e"),
                           node("aten::update", "d e", ""), node("aten::__getitem__", "d a", "y"))));
  ASSERT_TRUE(updated.graph) << updated.diags.str();
  EXPECT_EQ(count(*updated.graph, op("nn.relu")), 1u);
}

TEST(TorchImport, TypesAreAskedFor) {
  const auto asked = [](std::string_view of, std::string_view types) {
    return import(program("[3]", nodes(node("aten::relu", "x", "r"), node("prim::ListConstruct", "x", "l"),
                                       node("prim::TupleConstruct", "x", "p"), constant("i", "int", "1"),
                                       node("prim::isinstance", of, "t", types),
                                       R"({"op": "prim::If", "inputs": ["t"], "outputs": [{"name": "y"}], "blocks": [)"
                                       R"({"nodes": [], "outputs": ["r"]}, {"nodes": [], "outputs": ["x"]}]})")));
  };
  const auto is = [&](std::string_view of, std::string_view types) {
    const auto m = asked(of, fmt::format(R"(, "attributes": {{"types": {}}})", types));
    return m.graph && m.graph->node(m.graph->results()[0]).kind == NodeKind::Call;
  };
  EXPECT_TRUE(is("x", R"(["Tensor"])"));
  EXPECT_TRUE(is("l", R"(["tuple", "list"])"));
  EXPECT_TRUE(is("l", R"(["List[Tensor]"])"));
  EXPECT_TRUE(is("i", R"(["int"])"));
  EXPECT_FALSE(is("p", R"(["list"])"));
  EXPECT_FALSE(is("x", R"(["list", "tuple"])"));
  EXPECT_FALSE(is("l", R"(["List[int]"])"));
  EXPECT_NE(asked("x", "").diags.str().find("the file does not say of which types"), std::string::npos);
  EXPECT_NE(asked("x", R"(, "attributes": {"types": ["Device"]})").diags.str().find("a type that is not known here"),
            std::string::npos);
}

TEST(TorchImport, ListsThatGrowInARoundThatDataDecidesAreRefused) {
  const auto m = import(program(
      "[4, 6]", nodes(some_of_x(), constant("go", "bool", "true"), node("prim::ListConstruct", "x", "l"),
                      R"({"op": "prim::Loop", "inputs": ["n", "go"], "outputs": [], "blocks": [{"inputs": [{"name": )"
                      R"("i", "type": "int"}], "nodes": [{"op": "aten::append", "inputs": ["l", "x"], "outputs": )"
                      R"([{"name": "same"}]}], "outputs": ["go"]}]})",
                      node("aten::stack", "l z", "y"))));
  EXPECT_FALSE(m.graph) << "rounds would be lost";
  EXPECT_NE(m.diags.str().find("how many rounds it runs is not known"), std::string::npos) << m.diags.str();
}

TEST(TorchImport, ATruthChoosesBetweenNumbers) {
  const auto rows_of_ones = [](std::string_view truth) {
    return import(program(
        "[4, 6]",
        nodes(some_of_x(), constant("a", "int", "3"), constant("b", "int", "5"), constant("yes", "bool", "true"),
              node("aten::gt", "n b", "more"), node("torch.sym_ite", std::string(truth) + " a b", "rows"),
              node("prim::ListConstruct", "rows", "size"), constant("none", "NoneType", "null"),
              node("aten::ones", "size none none none none", "y"))));
  };
  const auto known = rows_of_ones("yes"), open = rows_of_ones("more");
  ASSERT_TRUE(known.graph && open.graph) << known.diags.str() << open.diags.str();
  EXPECT_EQ(to_string(known.graph->type(known.graph->results()[0])), "Tensor[(3,), float32]");
  EXPECT_EQ(to_string(open.graph->type(open.graph->results()[0])), "Tensor[(?,), float32]");
  EXPECT_NE(print_graph(*open.graph).find("where("), std::string::npos) << print_graph(*open.graph);
}

TEST(TorchImport, ProductsOfVectorsPromote) {
  const auto m =
      import(program("[4]", nodes(constant("double", "int", "7"), constant("no", "bool", "false"),
                                  constant("none", "NoneType", "null"), node("aten::to", "x double no no none", "wide"),
                                  node("aten::outer", "x wide", "y"))));
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(to_string(m.graph->type(m.graph->results()[0])), "Tensor[(4, 4), float64]");
}

TEST(TorchImport, ArchivesWithoutAProgramSayHowToExport) {
  const auto m = import("PK\x03\x04 no archive", {}, "m.pt");
  EXPECT_FALSE(m.graph);
  EXPECT_NE(m.diags.str().find("m.pt: error: damaged archive"), std::string::npos) << m.diags.str();
  EXPECT_EQ(import("\x80\x02 pickle", {}, "m.pt").diags.str(),
            "m.pt: error: cannot import: a Python pickle (weights, or a module by reference): it holds no program. "
            "Export the module with `python -m perfc.export module:factory`\n");
}

}  // namespace
}  // namespace perfc::testing
