/// The pass table, the pipeline, and what golden tests do not show.
#include "passes/pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "ir/builder.h"
#include "passes/decomposed.h"

namespace perfc {
namespace {

Type f32(Shape shape) { return Type::tensor(DType::Float32, std::move(shape)); }

struct Build {
  Diagnostics diags{"test"};
  GraphBuilder b{diags};
  ValueId call(OpId o, std::vector<ValueId> operands, Attrs attrs = {}) {
    auto v = b.value({.op = o, .operands = std::move(operands), .attrs = std::move(attrs)});
    EXPECT_TRUE(v) << diags.str();
    return v ? *v : ValueId{};
  }
  ValueId floats(std::vector<double> values) {
    const auto n = static_cast<std::int64_t>(values.size());
    return b.constant({f32({n}), std::make_shared<Data>(Data{std::move(values)})});
  }
  Graph run(std::vector<ValueId> results, std::vector<std::string> passes, PassOptions options = {}) {
    Graph g = b.finish("main", std::move(results), {"y"});
    auto after = run_passes(std::move(g), passes, options, {}, diags);
    EXPECT_TRUE(after) << diags.str();
    EXPECT_TRUE(after && verify(*after, diags)) << diags.str();
    return after ? *std::move(after) : Graph{};
  }
};

std::vector<std::string> operators(const Graph& g) {
  std::vector<std::string> names;
  for (const Node& n : g.nodes()) {
    if (n.kind == NodeKind::Call) names.emplace_back(def(n.op).name);
  }
  return names;
}

TEST(Pipeline, NamesExist) {
  for (ExecMode mode : {ExecMode::Eager, ExecMode::Compiled}) {
    const auto names = default_pipeline(mode);
    for (const std::string& name : names) {
      EXPECT_TRUE(std::any_of(pass_table().begin(), pass_table().end(), [&](const PassDef& p) {
        return p.name == name;
      })) << name;
    }
    const auto compiled = mode == ExecMode::Compiled ? 1 : 0;
    EXPECT_EQ(std::count(names.begin(), names.end(), "fold-batch-norm"), compiled);
    EXPECT_EQ(std::count(names.begin(), names.end(), "common-subexpressions"), compiled);
  }
  EXPECT_EQ(std::ranges::count(default_pipeline(ExecMode::Eager, FoldBatchNorm::Yes), "fold-batch-norm"), 1);
  EXPECT_EQ(std::ranges::count(default_pipeline(ExecMode::Compiled, FoldBatchNorm::No), "fold-batch-norm"), 0);
}

/// 0.5 · (x · gate) with its tanh, as PyTorch's exporter writes it; (0.5 · x) · gate, as transformers' NewGELU does.
ValueId tanh_gelu(Build& m, ValueId x, bool as_exporter) {
  const auto number = [&](double k) { return m.b.constant({f32({}), std::make_shared<Data>(Data{std::vector{k}})}); };
  const auto times = [&](ValueId v, double k) { return m.call(op("multiply"), {v, number(k)}); };
  const ValueId cube = m.call(op("power"), {x, number(3)});
  const ValueId inner = times(m.call(op("add"), {x, times(cube, 0.044715)}), 0.79788456);
  const ValueId gate = m.call(op("add"), {m.call(op("tanh"), {inner}), number(1)});
  return as_exporter ? times(m.call(op("multiply"), {x, gate}), 0.5) : m.call(op("multiply"), {times(x, 0.5), gate});
}

TEST(RecogniseOperators, WhoWroteTheCallsDecides) {
  const auto recognised = [](WrittenBy by, bool as_exporter) {
    Build m;
    const ValueId x = m.b.var(f32({4, 8}), "x");
    return operators(m.run({tanh_gelu(m, x, as_exporter)}, {"recognise-operators"}, {.written_by = by})).size() == 1;
  };
  EXPECT_FALSE(recognised(WrittenBy::Program, true)) << "PyTorch makes the calls of its programs";
  EXPECT_TRUE(recognised(WrittenBy::Exporter, true));
  EXPECT_FALSE(recognised(WrittenBy::Exporter, false)) << "the program's own calls, exported";
  EXPECT_TRUE(recognised(WrittenBy::Framework, true));
  EXPECT_TRUE(recognised(WrittenBy::Framework, false));
  EXPECT_TRUE(recognised(WrittenBy::Converter, false));
}

/// Relay's visitor finishes one subtree of operands before the next; PyTorch runs what the program says next.
TEST(MergeViews, NodesKeepTheProgramsOrder) {
  const auto order = [](const char* pass) {
    Build m;
    const ValueId x = m.b.var(f32({4}), "x");
    const ValueId a = m.call(op("exp"), {x}), b = m.call(op("tanh"), {x});
    const ValueId c = m.call(op("nn.relu"), {a});
    return operators(m.run({m.call(op("add"), {b, c})}, {pass}));
  };
  EXPECT_EQ(order("merge-views"), (std::vector<std::string>{"exp", "tanh", "nn.relu", "add"}));
  EXPECT_EQ(order("filter-operators"), (std::vector<std::string>{"tanh", "exp", "nn.relu", "add"}));
}

TEST(Pipeline, UnknownPassSuggestsTheNearest) {
  Diagnostics diags("test");
  EXPECT_FALSE(run_passes({}, {"fold-constant"}, {}, {}, diags));
  EXPECT_EQ(diags.str(), "test: error: unknown pass 'fold-constant' (did you mean 'fold-constants'?)\n");
}

TEST(Pipeline, TimesEveryPass) {
  std::ostringstream out;
  Diagnostics diags("test");
  PassTrace trace;
  trace.out = &out;
  trace.time_passes = true;
  ASSERT_TRUE(run_passes({}, {"eliminate-dead", "eliminate-identity"}, {}, trace, diags));
  EXPECT_NE(out.str().find("eliminate-dead"), std::string::npos);
  EXPECT_NE(out.str().find("eliminate-identity"), std::string::npos);
  EXPECT_NE(out.str().find("total"), std::string::npos);
}

TEST(EliminateIdentity, OnlyScalarsAreNeutral) {
  Build t;
  const ValueId x = t.b.var(f32({2, 2}), "x");
  const ValueId scaled = t.call(op("multiply"), {x, t.floats({1, 1})});
  const ValueId same = t.call(op("multiply"), {t.b.constant(float_scalar(1)), scaled});
  EXPECT_EQ(operators(t.run({t.call(op("nn.relu"), {same})}, {"eliminate-identity"})),
            (std::vector<std::string>{"multiply", "nn.relu"}));
}

TEST(EliminateIdentity, AReversalOfTheSameShapeStays) {
  Build t;
  const ValueId x = t.b.var(f32({4}), "x");
  const auto ints = [&](std::int64_t v) { return t.b.constant(int64_vector({v})); };
  const ValueId reversed = t.call(op("strided_slice"), {x, ints(-1), ints(INT64_MIN), ints(0), ints(-1)});
  const ValueId whole = t.call(op("strided_slice"), {reversed, ints(0), ints(4), ints(0), ints(1)});
  EXPECT_EQ(operators(t.run({whole}, {"eliminate-identity"})), std::vector<std::string>{"strided_slice"});
}

TEST(FoldConstants, SharedWeightsAreNotDoubled) {
  Build t;
  const ValueId x = t.b.var(f32({2, 4}), "x");
  const ValueId w = t.b.constant({f32({8, 4}), nullptr}, "tied");
  const ValueId transposed = t.call(op("transpose"), {w}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const ValueId up = t.call(op("nn.batch_matmul"), {x, transposed});
  const ValueId down = t.call(op("nn.batch_matmul"), {up, w});
  EXPECT_EQ(operators(t.run({down}, {"fold-constants"})),
            (std::vector<std::string>{"transpose", "nn.batch_matmul", "nn.batch_matmul"}));
}

/// Scales of axes are folded; what weights become is left for the patterns to see.
TEST(FoldConstants, LongVectorsOfFloatsStay) {
  for (const std::size_t count : {8u, 9u}) {
    Build g;
    const ValueId x = g.b.var(f32({static_cast<std::int64_t>(count)}), "x");
    const ValueId root = g.call(op("sqrt"), {g.floats(std::vector<double>(count, 0.25))});
    const Graph after = g.run({g.call(op("multiply"), {x, root})}, {"fold-constants"});
    EXPECT_EQ(operators(after).size(), count == 8 ? 1u : 2u) << count;
  }
}

TEST(FoldBatchNorm, ASharedConvolutionKeepsIts) {
  for (const bool shared : {false, true}) {
    Build t;
    const ValueId x = t.b.var(f32({1, 3, 8, 8}), "x");
    const ValueId conv = t.call(op("nn.conv2d"), {x, t.b.constant({f32({4, 3, 1, 1}), nullptr})});
    std::vector<ValueId> operands{conv};
    for (int i = 0; i < 4; ++i) operands.push_back(t.b.constant({f32({4}), nullptr}));
    std::vector<ValueId> results{t.call(op("nn.batch_norm"), operands)};
    if (shared) results.push_back(conv);
    const auto ops = operators(t.run(results, {"fold-batch-norm"}));
    EXPECT_EQ(ops, shared ? (std::vector<std::string>{"nn.conv2d", "nn.batch_norm"})
                          : (std::vector<std::string>{"nn.conv2d", "nn.bias_add"}));
  }
}

TEST(Rebatch, WorkOnWeightsKeepsItsSize) {
  Build t;
  const ValueId x = t.b.var(f32({1, 16, 8}), "x");
  const ValueId table =
      t.call(op("nn.batch_matmul"), {t.b.constant({f32({16, 2}), nullptr}), t.b.constant({f32({2, 8}), nullptr})});
  PassOptions options;
  options.batch = 32;
  const Graph g = t.run({t.call(op("add"), {x, table})}, {"rebatch"}, options);
  EXPECT_EQ(to_string(g.type(g.results()[0])), "Tensor[(32, 16, 8), float32]");
  EXPECT_EQ(operators(g), (std::vector<std::string>{"nn.batch_matmul", "add"}));
  EXPECT_EQ(to_string(g.node(3).results[0].type), "Tensor[(16, 8), float32]");
}

TEST(Rebatch, NegativeBatchIsRefused) {
  Build t;
  const ValueId x = t.b.var(f32({1, 3}), "x");
  PassOptions options;
  options.batch = -2;
  Graph g = t.b.finish("main", {x}, {"y"});
  EXPECT_FALSE(run_passes(std::move(g), {"rebatch"}, options, {}, t.diags));
  EXPECT_EQ(t.diags.str(), "test: error: the batch cannot be -2\n");
}

/// What is written out copies weights from the file, which has no others.
TEST(Contents, OfIndicesAndMasksThatAreWrittenOutStay) {
  const auto rebatched = [](Contents contents) {
    Build m;
    const ValueId x = m.b.var(f32({1, 4, 32, 64}), "x");
    const ValueId heads = m.call(op("reshape"), {x, m.b.constant(int64_vector({4, 32, 64}))});
    const ValueId indices = m.b.constant({Type::tensor(DType::Int64, {4, 32, 40}), nullptr}, "indices");
    const ValueId y = m.call(op("gather"), {heads, indices}, {{"axis", std::int64_t{2}}});
    return operators(m.run({y}, {"rebatch", "eliminate-dead"}, {.batch = 8, .contents = contents}));
  };
  EXPECT_EQ(rebatched(Contents::Types), (std::vector<std::string>{"reshape", "gather"}));
  EXPECT_EQ(rebatched(Contents::Kept), (std::vector<std::string>{"reshape", "tile", "gather"}));

  const auto mask = [](Contents contents) {
    Build m;
    const Type q = f32({1, 8, 16, 64});
    const ValueId zero = m.b.constant({f32({}), std::make_shared<Data>(Data{std::vector{0.0}})});
    const ValueId numbers = m.b.constant({f32({1, 1, 16, 16}), nullptr}, "mask");
    const ValueId keys = m.call(op("transpose"), {m.b.var(q, "k")}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
    const ValueId scores = m.call(op("nn.batch_matmul"), {m.b.var(q, "q"), keys});
    const ValueId weights = m.call(op("nn.softmax"), {m.call(op("add"), {scores, numbers})});
    const ValueId guarded = m.call(op("where"), {m.call(op("isnan"), {weights}), zero, weights});
    const ValueId y = m.call(op("nn.batch_matmul"), {guarded, m.b.var(q, "v")});
    const Graph g = m.run({y}, {"recognise-patterns"}, {.contents = contents});
    const Node& attention = g.node(g.results()[0]);
    return attention.is(op("nn.sdpa")) ? g.type(attention.operands[3]).dtype() : DType::Undefined;
  };
  EXPECT_EQ(mask(Contents::Types), DType::Bool);
  EXPECT_EQ(mask(Contents::Kept), DType::Float32);
}

TEST(Decomposed, RowsNameOperatorsAndTheirOperands) {
  const passes::Decompositions all;  // ends the program on a pattern that does not parse
  for (const passes::DecomposedOp& row : passes::decomposed_ops()) {
    EXPECT_TRUE(find_op(row.op)) << row.op;
    std::istringstream names{std::string(row.operands)};
    for (std::string name; names >> name;) {
      EXPECT_NE(row.pattern.find("%" + name), std::string_view::npos) << row.op << " has no " << name;
    }
  }
}

}  // namespace
}  // namespace perfc
