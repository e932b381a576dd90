/// Programs of torch.export: what run_decompositions() wrote, and what stays on the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "frontends/torch/importer.h"
#include "frontends/torch/pt2.h"
#include "frontends/torch/torch.h"
#include "ir/eager_marks.h"
#include "ir/text/printer.h"

namespace perfc::testing {
namespace {

/// "x" of floats with this shape, "c" a number that the program writes out, calls of them; "y" is the result.
std::string exported(std::string_view dialect, std::string_view shape, std::string_view calls) {
  const auto meta = [](std::string_view sizes) {
    return fmt::format(R"({{"dtype": 7, "sizes": [{}], "device": {{"type": "cpu"}}, "strides": [], "layout": 7}})",
                       sizes);
  };
  std::string sizes;
  for (const char digit : shape) sizes += fmt::format("{}{{\"as_int\": {}}}", sizes.empty() ? "" : ", ", digit);
  return fmt::format(
      R"({{"graph_module": {{"graph": {{"inputs": [], "outputs": [], "nodes": [{}],
             "tensor_values": {{"x": {}, "c": {}}}}},
           "signature": {{"input_specs": [
               {{"tensor_constant": {{"arg": {{"name": "c"}}, "tensor_constant_name": "c"}}}},
               {{"user_input": {{"arg": {{"as_tensor": {{"name": "x"}}}}}}}}],
             "output_specs": [{{"user_output": {{"arg": {{"as_tensor": {{"name": "y"}}}}}}}}]}}}},
          "range_constraints": {{}}, "schema_version": {{"major": 8, "minor": 8}}, "verifiers": ["{}"]}})",
      calls, meta(sizes), meta(""), dialect);
}

std::string tensor(std::string_view parameter, std::string_view name) {
  return fmt::format(R"({{"name": "{}", "arg": {{"as_tensor": {{"name": "{}"}}}}, "kind": 1}})", parameter, name);
}
std::string other(std::string_view parameter, std::string_view kind, std::string_view value) {
  return fmt::format(R"({{"name": "{}", "arg": {{"{}": {}}}, "kind": 1}})", parameter, kind, value);
}
/// A call, and of which function of the program it is a part.
template <class... Arguments>
std::string call_of(std::string_view of, std::string_view target, std::string_view result,
                    const Arguments&... arguments) {
  std::string inputs;
  ((inputs += (inputs.empty() ? "" : ", ") + std::string(arguments)), ...);
  return fmt::format(
      R"({{"target": "torch.ops.aten.{}", "inputs": [{}], "outputs": [{{"as_tensor": {{"name": "{}"}}}}], )"
      R"("metadata": {{"torch_fn": "f_1;method_descriptor.{}"}}}})",
      target, inputs, result, of);
}
template <class... Arguments>
std::string call(std::string_view target, std::string_view result, const Arguments&... arguments) {
  return call_of("some", target, result, arguments...);
}

Graph import(const std::string& text) {
  Diagnostics diags("m.pt2");
  const auto document = json::Document::parse(text, diags);
  if (document) {
    const auto program = torch::read_exported(*document, nullptr, diags);
    if (program) {
      if (auto graph = torch::Importer(*program, {}, diags).run()) return *std::move(graph);
    }
  }
  ADD_FAILURE() << diags.str();
  return {};
}

/// Operators in order, those that the host runs in brackets.
std::string calls_of(const Graph& g) {
  std::string out;
  for (const Node& n : g.nodes()) {
    if (n.kind != NodeKind::Call) continue;
    const bool inside = n.attrs.has(kInside);
    out += fmt::format("{}{}{}{}", out.empty() ? "" : " ", inside ? "(" : "", def(n.op).name, inside ? ")" : "");
  }
  return out;
}

TEST(Pt2Import, DecomposedClonesAreContiguousCallsAndDropouts) {
  constexpr std::string_view kContiguous = "1";  // MemoryFormat of torch/_export/serde/schema.py
  const std::string calls =
      call("clone.default", "a", tensor("self", "x"), other("memory_format", "as_memory_format", kContiguous)) + ", " +
      call("clone.default", "b", tensor("self", "a")) + ", " + call("relu.default", "y", tensor("self", "b"));
  const Graph program = import(exported("TRAINING", "23", calls)), decomposed = import(exported("ATEN", "23", calls));
  EXPECT_EQ(calls_of(program), "clone clone nn.relu");
  EXPECT_EQ(calls_of(decomposed), "contiguous copy nn.relu");
  const std::string asked = call_of("clone", "clone.default", "y", tensor("self", "x"));
  EXPECT_EQ(calls_of(import(exported("ATEN", "23", asked))), "clone");
  EXPECT_FALSE(program.written_by());
  EXPECT_EQ(decomposed.written_by(), WrittenBy::Decomposed);
}

TEST(Pt2Import, NormsOfOneSampleThatTakeItsStatisticsAreInstanceNorms) {
  const auto norm = [](std::string_view dialect, std::string_view shape) {
    const std::string none = other("weight", "as_none", "true");
    const std::string calls = call("_native_batch_norm_legit.no_stats", "y", tensor("input", "x"), none,
                                   other("bias", "as_none", "true"), other("training", "as_bool", "true"),
                                   other("momentum", "as_float", "0.1"), other("eps", "as_float", "1e-05"));
    return calls_of(import(exported(dialect, shape, calls)));
  };
  EXPECT_NE(norm("ATEN", "1344").find("nn.instance_norm"), std::string::npos);
  EXPECT_NE(norm("ATEN", "2344").find("nn.batch_norm"), std::string::npos);
  EXPECT_NE(norm("TRAINING", "1344").find("nn.batch_norm"), std::string::npos);
}

TEST(Pt2Import, EffectsAreTheirOperators) {
  const auto effect = [](std::string_view operation, std::string_view token, std::string_view results) {
    return fmt::format(R"({{"target": "torch.ops.higher_order.with_effects", "inputs": [{}, {}, {}],
                            "outputs": [{{"as_tensor": {{"name": "{}2"}}}}, {}]}})",
                       tensor("", token), other("", "as_operator", fmt::format("\"torch.ops.aten.{}\"", operation)),
                       tensor("", "x"), token, results);
  };
  const std::string calls = effect("_linalg_check_errors.default", "t", R"({"as_none": true})") +
                            ", " +  // a token in, another one out
                            effect("relu.default", "t2", R"({"as_tensor": {"name": "y"}})");
  EXPECT_EQ(calls_of(import(exported("ATEN", "23", calls))), "nn.relu");
}

TEST(Pt2Import, OverloadsGoByTheNamesOfTheirSchemas) {
  const auto of = [](const auto&... arguments) {
    return calls_of(import(exported("TRAINING", "23", call(arguments...))));
  };
  EXPECT_EQ(of("view.dtype", "y", tensor("self", "x"), other("dtype", "as_scalar_type", "4")), "bitcast");  // int32
  EXPECT_EQ(of("isin.Tensor_Scalar", "y", tensor("elements", "x"), other("test_element", "as_float", "3.0")), "equal");
  EXPECT_EQ(of("diag.default", "y", tensor("self", "x"), other("diagonal", "as_int", "1")).find("opaque"),
            std::string::npos);
}

TEST(Pt2Import, NumbersAreDrawnByAnyOverload) {
  const auto drawn = [](const std::string& overload, const auto&... arguments) {
    return calls_of(import(exported("TRAINING", "23", call("normal." + overload, "y", arguments...))));
  };
  EXPECT_EQ(drawn("Tensor_float", tensor("mean", "x"), other("std", "as_float", "2.0")), "random.normal_like add");
  EXPECT_EQ(drawn("float_Tensor", other("mean", "as_float", "2.0"), tensor("std", "x")),
            "random.normal_like multiply add");
  EXPECT_EQ(drawn("Tensor_Tensor", tensor("mean", "x"), tensor("std", "x")), "random.normal_like multiply add");
  EXPECT_EQ(drawn("float_float", other("mean", "as_float", "0.0"), other("std", "as_float", "1.0"),
                  other("size", "as_ints", "[2, 3]")),
            "random.normal");
}

/// torch.export writes the count of places that a program asserts into their type; else it is any up to all.
TEST(Pt2Import, AssertedCountsOfPlacesHold) {
  const auto places = [](std::string_view count) {
    std::string text = exported("TRAINING", "8", call("nonzero.default", "y", tensor("self", "x")));
    const std::string declared =
        fmt::format(R"("y": {{"dtype": 5, "sizes": [{}, {{"as_int": 1}}], "device": {{"type": "cpu"}}, )"
                    R"("strides": [], "layout": 7}}, )",
                    count);
    text.insert(text.find(R"("x": {)"), declared);
    const Graph g = import(text);
    return to_string(g.type(g.results()[0]));
  };
  EXPECT_EQ(places(R"({"as_int": 5})"), "Tensor[(5, 1), int64]");
  EXPECT_EQ(places(R"({"as_expr": {"expr_str": "u0", "hint": null}})"), "Tensor[(?, 1), int64]");
}

/// What comes of tensors of whose size data decides has the size that torch.export found for it (GLM-5's selected
/// blocks, padded to as many as there may be).
TEST(Pt2Import, SizesThatAProgramFindsOfOpenOnesHold) {
  std::string text = exported("TRAINING", "8",
                              call("nonzero.default", "n", tensor("self", "x")) + ", " +
                                  call("constant_pad_nd.default", "y", tensor("self", "n"),
                                       other("pad", "as_ints", "[0, 0, 0, 5]"), other("value", "as_int", "0")));
  text.insert(text.find(R"("x": {)"), R"("y": {"dtype": 5, "sizes": [{"as_int": 13}, {"as_int": 1}],
                                         "device": {"type": "cpu"}, "strides": [], "layout": 7}, )");
  const Graph g = import(text);
  EXPECT_EQ(to_string(g.type(g.results()[0])), "Tensor[(13, 1), int64]");
}

TEST(Pt2Import, NumbersThatAProgramWritesOutStayOnTheHost) {
  const std::string calls = call("lift_fresh_copy.default", "l", tensor("self", "c")) + ", " +
                            call("mul.Tensor", "m", tensor("self", "l"), other("other", "as_float", "3.0")) + ", " +
                            call("sqrt.default", "s", tensor("self", "m")) + ", " +
                            call("div.Tensor", "y", tensor("self", "x"), tensor("other", "s"));
  EXPECT_EQ(calls_of(import(exported("TRAINING", "23", calls))), "(copy) (multiply) (sqrt) divide");
}

/// What Mimi's convolutions pad by follows from a stride and an extent of a kernel that are buffers (padded.pt2: 8 and
/// 3, one in the file's weights, one in its constants).
TEST(Pt2Import, NumbersOfAModuleDecideShapes) {
  std::ifstream file(PERFC_SOURCE_DIR "/tests/fixtures/padded.pt2", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Diagnostics diags;
  const auto graph = torch::import_archive(Source::from_bytes("padded.pt2", std::move(bytes)), {}, diags);
  ASSERT_TRUE(graph) << diags.str();
  EXPECT_EQ(to_string(graph->type(graph->results()[0])), "Tensor[(1, 4, 37), float32]");
}

}  // namespace
}  // namespace perfc::testing
