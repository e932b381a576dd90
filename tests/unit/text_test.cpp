#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/builder.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace perfc {
namespace {

const std::string kHead = "#[version = \"perfc-ir/1\"]\n";

/// Prints, reads back, compares; also that printing again gives the same text.
void expect_round_trip(const Graph& graph) {
  const std::string text = print_graph(graph);
  Diagnostics diags("graph.pir");
  const auto back = parse_graph(text, diags);
  ASSERT_TRUE(back) << diags.str() << text;
  EXPECT_TRUE(*back == graph) << text << print_graph(*back);
  EXPECT_EQ(print_graph(*back), text);
  EXPECT_EQ(diags.str(), "");
}

std::string parsed(const std::string& text) {
  Diagnostics diags("graph.pir");
  const auto graph = parse_graph(kHead + text, diags);
  return graph ? diags.str() + print_graph(*graph) : diags.str();
}

Type f32(Shape shape) { return Type::tensor(DType::Float32, std::move(shape)); }

TEST(Text, PrintsRelaysManner) {
  Diagnostics diags;
  GraphBuilder b(diags);
  const ValueId x = b.var(f32({Dim::symbol("N"), 3}), "x");
  const ValueId w = b.constant({f32({3}), nullptr}, "fc.weight");
  const auto y = b.value({.op = op("add"), .operands = {x, w}, .name = "/fc/Add"});
  ASSERT_TRUE(y);
  const Graph g = b.finish("main", {*y}, {"logits"});
  EXPECT_EQ(print_graph(g), kHead +
                                "def @main(%x: Tensor[(N, 3), float32]) -> (logits: Tensor[(N, 3), float32]) {\n"
                                "  %1 = weight : Tensor[(3,), float32] @\"fc.weight\";\n"
                                "  %2 = add(%x, %1) : Tensor[(N, 3), float32] @\"/fc/Add\";\n"
                                "  (%2)\n"
                                "}\n");
  expect_round_trip(g);
}

TEST(Text, EveryKindOfAttribute) {
  const double odd_nan = std::bit_cast<double>(std::uint64_t{0xfff8000000000123});
  const auto strings = std::make_shared<Data>(Data{std::vector<std::string>{"a\"b\\", "\n\t\x01\x7f", "\xff", "é"}});
  Attrs attrs{{"i", std::numeric_limits<std::int64_t>::min()},
              {"one", std::int64_t{1}},
              {"one_real", 1.0},
              {"minus_zero", -0.0},
              {"tenth", 0.1},
              {"tiny", std::numeric_limits<double>::denorm_min()},
              {"huge", -std::numeric_limits<double>::max()},
              {"inf", -std::numeric_limits<double>::infinity()},
              {"nan", std::numeric_limits<double>::quiet_NaN()},
              {"odd_nan", odd_nan},
              {"s", std::string("inf")},
              {"with space", std::string(1, '\0')},
              {"ints", std::vector<std::int64_t>{1, -2}},
              {"no_ints", std::vector<std::int64_t>{}},
              {"floats", std::vector<double>{1.0, 1e300, std::numeric_limits<double>::infinity()}},
              {"no_floats", std::vector<double>{}},
              {"strings", std::vector<std::string>{"", "x"}},
              {"no_strings", std::vector<std::string>{}},
              {"tensor", int64_vector({1, 2})},
              {"texts", Literal{Type::tensor(DType::String, {4}), strings}},
              {"absent", Literal{f32({2, 2}), nullptr}},
              {"type", Type::sequence(f32({}))}};
  Diagnostics diags;
  GraphBuilder b(diags);
  const ValueId x = b.var(f32({1}), "x");
  const auto y = b.value({.op = op("nn.relu"), .operands = {x}, .attrs = attrs});
  ASSERT_TRUE(y) << diags.str();
  expect_round_trip(b.finish("", {*y}, {}));
}

TEST(Text, EveryKindOfType) {
  Diagnostics diags;
  GraphBuilder b(diags);
  std::vector<ValueId> all;
  const Type types[] = {
      f32({}),
      f32({1}),
      f32({Dim::unknown(), Dim::symbol("batch"), Dim::symbol("a b'c"), Dim::symbol("?"), Dim::symbol("3"),
           Dim::symbol(""), Dim::symbol("inf"), Dim::symbol("_"), 0, std::numeric_limits<std::int64_t>::max()}),
      Type::unranked(DType::Undefined),
      Type::sparse(DType::Int4, {2}),
      Type::sequence(Type::optional(Type::map(DType::String, Type::unranked(DType::BFloat16)))),
      Type::optional(Type{}),
      Type::opaque("torch.Foo"),
      Type::opaque("plain"),
      Type::opaque("")};
  for (const Type& t : types) all.push_back(b.var(t, "p\"" + std::to_string(all.size())));
  for (int i = 0; i <= static_cast<int>(DType::Complex128); ++i) {
    all.push_back(b.var(Type::tensor(static_cast<DType>(i), {2}), ""));
  }
  expect_round_trip(b.finish("a graph\n", all, {"out", "", "with space"}));
}

TEST(Text, ContentsOfConstants) {
  Diagnostics diags;
  GraphBuilder b(diags);
  const auto ints = [](std::vector<SymInt> v) { return std::make_shared<Data>(Data{std::move(v)}); };
  const auto i64 = [](std::int64_t n) { return Type::tensor(DType::Int64, {n}); };
  std::vector<ValueId> all{
      b.constant({i64(4), ints({1, SymInt::unknown(), SymInt::symbol("N"), SymInt::symbol("nan")})}, "shape"),
      b.constant({i64(0), ints({})}, ""),
      b.constant({f32({0}), std::make_shared<Data>(Data{std::vector<double>{}})}, ""),
      b.constant({Type::tensor(DType::String, {0}), std::make_shared<Data>(Data{std::vector<std::string>{}})}, ""),
      b.constant(float_scalar(0.1), ""),
      b.constant(int64_scalar(-7), ""),
      b.var(i64(1), "late param", {}, ints({5})),
      b.constant({f32({2}), nullptr}, "")};
  expect_round_trip(b.finish("main", all, {}));
}

TEST(Text, HandWrittenNames) {
  EXPECT_EQ(parsed("def @main(%x: Tensor[(2, 3), float32]) {\n"
                   "  // a comment\n"
                   "  %y = nn.relu(%x);  // types are inferred\n"
                   "  %z = add(%y, %x) : Tensor[(2, ?), float32] @\"the sum\";\n"
                   "  (%z, %1)\n"
                   "}\n"),
            kHead +
                "def @main(%x: Tensor[(2, 3), float32]) -> (Tensor[(2, 3), float32], Tensor[(2, 3), float32]) {\n"
                "  %1 = nn.relu(%x) : Tensor[(2, 3), float32] @y;\n"
                "  %2 = add(%1, %x) : Tensor[(2, 3), float32] @\"the sum\";\n"
                "  (%2, %1)\n"
                "}\n");
}

TEST(Text, AnnotationsAddWhatInferenceLeavesOpen) {
  EXPECT_EQ(parsed("def @main(%x: Tensor[(?,), float32]) {\n"
                   "  %1 = nn.relu(%x) : Tensor[(7,), float32];\n"
                   "  (%1)\n"
                   "}\n"),
            kHead +
                "def @main(%x: Tensor[(?,), float32]) -> (Tensor[(7,), float32]) {\n"
                "  %1 = nn.relu(%x) : Tensor[(7,), float32];\n"
                "  (%1)\n"
                "}\n");
}

TEST(Text, ErrorsAreLocatedAndCollected) {
  EXPECT_EQ(
      parsed("def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2,), float33]) {\n"
             "  %2 = nn.conv9d(%x);\n"
             "  %3 = nn.relu(%x) : Tensor[(2, 4), float32];\n"
             "  %4 = nn.relu(%2);\n"
             "  %5 = nn.relu(%9);\n"
             "  %6 = nn.relu(%x.1);\n"
             "  %7 = nn.relu(%x, alpha=1, alpha=2);\n"
             "  %8 = nn.relu(%x, scale=[1, 0.5]);\n"
             "  (%4)\n"
             "}\n"),
      "graph.pir:2:57: error: unknown element type 'float33' (did you mean 'float32'?)\n"
      "graph.pir:3:8: error: unknown operator 'nn.conv9d' (did you mean 'nn.conv1d'?)\n"
      "graph.pir:4:22: error: nn.relu: result 0 is Tensor[(2, 3), float32], the text says Tensor[(2, 4), float32]\n"
      "graph.pir:6:16: error: %9 is not defined before this use\n"
      "graph.pir:7:16: error: %x has 1 result, there is no .1\n"
      "graph.pir:8:29: error: attribute 'alpha' is given twice\n"
      "graph.pir:9:30: error: 0.5 does not belong into a list of integers\n");
}

TEST(Text, SyntaxErrors) {
  EXPECT_EQ(parsed("def @main(%x: Tensor[(2, 3), float32]) {\n  %1 = nn.relu(%x : None;\n"),
            "graph.pir:3:19: error: expected ')', found ':'\n");
  EXPECT_EQ(parsed("def @main() {\n"),
            "graph.pir:3:1: error: expected a statement or the results, found the end of the file\n");
  EXPECT_EQ(parsed("def @main(%x: Tensor[2, float32]) {\n"), "graph.pir:2:22: error: expected a shape, found '2'\n");
  EXPECT_EQ(parsed("def @main() {\n  %0 = weight : Tensor[(2,), float32] @\"open;\n  (%0)\n}"),
            "graph.pir:3:46: error: the quote is not closed on its line\n");
  EXPECT_EQ(parsed("def @main() { () } extra"), "graph.pir:2:20: error: expected the end of the file, found 'extra'\n");
  for (int byte = 1; byte < 256; ++byte) {  // anywhere, also where digits are looked for
    const std::string odd(1, static_cast<char>(byte));
    EXPECT_NE(parsed("def @main(%x: Tensor[(" + odd + "," + odd + "), float32]) {\n  %1:" + odd +
                     " = nn.relu(%x, a=" + odd + ");\n  (%1." + odd + ")\n}\n"),
              "");
    EXPECT_NE(parsed("def @main() {\n  %0 = nn.relu(a=" + odd + ", b=[1" + odd + "]);\n  (%0." + odd + ")\n}\n"), "");
  }
  Diagnostics diags("graph.pir");
  EXPECT_FALSE(parse_graph("def @main() { () }", diags));
  EXPECT_EQ(diags.str(), "graph.pir:1:1: error: expected the version line #[version = \"perfc-ir/1\"], found 'def'\n");
}

TEST(Text, NumbersOutOfOrder) {
  EXPECT_EQ(parsed("def @main() {\n  %0 = const[true] : Tensor[(), bool];\n  (%0)\n}\n"),
            "graph.pir:3:22: error: a bool is written as 1 or 0\n");
  EXPECT_EQ(parsed("def @main(%x: Tensor[(2,), float32]) {\n  %2 = nn.relu(%x);\n  (%2)\n}\n"),
            "graph.pir:3:3: error: values are numbered in order: %1 is next, not %2\n");
  EXPECT_EQ(parsed("def @main(%3: Tensor[(2,), float32]) {\n  ()\n}\n"),
            "graph.pir:2:11: error: param %3 has a number that no value precedes; the next is %0\n");
}

TEST(Text, DeepTypesAreRefused) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "Sequence[";
  EXPECT_EQ(parsed("def @main(%x: " + deep + "None" + std::string(100000, ']') + ") { () }"),
            "graph.pir:2:15: error: types are nested deeper than 128\n");
}

}  // namespace
}  // namespace perfc
