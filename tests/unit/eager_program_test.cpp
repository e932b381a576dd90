/// What eager PyTorch launches for a program: calls whose values are known, copies where strides need them, masks of
/// attention. tests/dispatch holds whole models to it.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"
#include "ir/eager_marks.h"
#include "kernel_plan.h"
#include "passes/pass.h"
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/value_strides.h"

namespace perfc {
namespace {

using Ops = std::vector<std::string>;

/// Kernels after the pipeline, of a program's text.
KernelPlan planned(const std::string& body, ExecMode mode = ExecMode::Eager, WrittenBy by = WrittenBy::Program) {
  Diagnostics diags("test");
  const PassOptions options{.written_by = by, .mode = mode};
  auto graph = run_passes(graph_of(body), default_pipeline(mode), options, {}, diags);
  EXPECT_TRUE(graph) << diags.str();
  return graph ? plan_of(*graph, {.mode = mode}) : KernelPlan{};
}

Ops launched(const std::string& body, ExecMode mode = ExecMode::Eager, WrittenBy by = WrittenBy::Program) {
  return ops_of(planned(body, mode, by));
}

TEST(EagerPrograms, RunCallsWhoseValueIsKnown) {
  const std::string positions = R"(def @main(%x: Tensor[(2, 4), float32]) {
  %1 = const[0] : Tensor[(), int64];
  %2 = const[4] : Tensor[(), int64];
  %3 = const[1] : Tensor[(), int64];
  %4 = arange(%1, %2, %3, launched=1);
  %5 = add(%4, %3, launched=1);
  %6 = greater_equal(%5, %3);
  %7 = const[0.0] : Tensor[(), float32];
  %8 = where(%6, %x, %7);
  %9 = subtract(%4, %3, launched=1);
  (%8)
})";
  EXPECT_EQ(launched(positions), (Ops{"arange", "add", "greater_equal", "where", "subtract"}));
  EXPECT_EQ(launched(positions, ExecMode::Compiled).size(), 1u);
}

TEST(EagerPrograms, RunCallsThatChangeNothing) {
  const std::string neutral = R"(def @main(%x: Tensor[(2, 4), float32]) {
  %1 = const[1.0] : Tensor[(), float32];
  %2 = multiply(%x, %1);
  %3 = clone(%2);
  %4 = contiguous(%3);
  %5 = const[0, 0, 0, 0] : Tensor[(4,), int64];
  %6 = nn.pad(%4, %5);
  %7 = nn.relu(%6);
  (%7)
})";
  EXPECT_EQ(launched(neutral), (Ops{"multiply", "copy", "nn.pad", "nn.relu"}));
  EXPECT_EQ(launched(neutral, ExecMode::Compiled), (Ops{"nn.relu"}));
  EXPECT_EQ(launched(neutral, ExecMode::Eager, WrittenBy::Decomposed), (Ops{"multiply", "copy", "nn.pad", "nn.relu"}));
  EXPECT_EQ(launched(neutral, ExecMode::Eager, WrittenBy::Exporter), (Ops{"nn.relu"}));
}

TEST(EagerPrograms, CopyWhatNothingReads) {
  const auto unread = [](const char* calls) {
    return launched(fmt::format("def @main(%x: Tensor[(2, 4), float32]) {{\n{}  %3 = nn.relu(%x);\n  (%3)\n}}", calls));
  };
  EXPECT_EQ(unread("  %1 = transpose(%x, perm=[1, 0]);\n  %2 = contiguous(%1, launched=1);\n"),
            (Ops{"copy", "nn.relu"}));
  EXPECT_EQ(unread("  %1 = nn.relu(%x);\n  %2 = contiguous(%1, launched=1);\n"), (Ops{"nn.relu", "nn.relu"}));
}

TEST(EagerPrograms, CopiesThatDecompositionsWroteAreNone) {
  const auto copied = [](const std::string& calls) {
    const std::string body =
        "def @main(%x: Tensor[(2, 3, 4, 5), float32]) {\n"
        "  %1 = transpose(%x, perm=[0, 2, 1, 3]);\n  %2 = contiguous(%1);\n" +
        calls + "}";
    return launched(body, ExecMode::Eager, WrittenBy::Decomposed);
  };
  EXPECT_EQ(copied("  %3 = nn.relu(%2);\n  (%3)\n"), (Ops{"copy", "nn.relu"})) << "the program's contiguous()";
  EXPECT_EQ(copied("  %3 = transpose(%2, perm=[0, 2, 1, 3]);\n  %4 = nn.relu(%3);\n  (%4)\n"), (Ops{"nn.relu"}))
      << "the end of scaled_dot_product_attention";
  EXPECT_EQ(copied("  %3 = const[8, 15] : Tensor[(2,), int64];\n  %4 = reshape(%2, %3);\n  (%4)\n"), (Ops{"reshape"}))
      << "a reshape copies by itself";
}

TEST(EagerPrograms, PartsOfAKernelAreNoCalls) {
  EXPECT_EQ(launched(R"(def @main(%x: Tensor[(2, 4), float32]) {
  %1 = exp(%x, inside=1);
  %2 = log(%1);
  (%2)
})"),
            (Ops{"log"}));
}

TEST(EagerPrograms, CopyWhatNoViewCanMake) {
  // A transposed value merges no dims; one that is split does.
  EXPECT_EQ(launched(R"(def @main(%x: Tensor[(2, 4, 8), float32]) {
  %1 = transpose(%x, perm=[0, 2, 1]);
  %2 = const[2, 32] : Tensor[(2,), int64];
  %3 = reshape(%1, %2);
  %4 = const[2, 2, 4, 4] : Tensor[(4,), int64];
  %5 = reshape(%1, %4);
  %6 = contiguous(%1);
  (%3, %5, %6)
})"),
            (Ops{"reshape", "copy"}));
}

TEST(EagerPrograms, DenseLayersOfTransposedDataAddTheirBiasAlone) {
  EXPECT_EQ(launched(R"(def @main(%x: Tensor[(2, 4, 8), float32]) {
  %1 = transpose(%x, perm=[0, 2, 1]);
  %2 = weight : Tensor[(16, 4), float32];
  %3 = weight : Tensor[(16,), float32];
  %4 = nn.dense(%1, %2, %3, transB=1);
  (%4)
})"),
            (Ops{"copy", "nn.dense", "nn.bias_add"}));
}

TEST(EagerPrograms, SayWhatABiasFills) {
  const auto filled = [](const std::string& operands) {
    return planned(R"(def @main(%x: Tensor[(2, 4, 8), float32]) {
  %1 = weight : Tensor[(16, 8), float32];
  %2 = weight : Tensor[(16,), float32];
  %3 = nn.dense()" +
                   operands + R"(, transB=1);
  (%3)
})")
        .kernels.at(0)
        .traffic.biased_bytes;
  };
  EXPECT_EQ(filled("%x, %1, %2"), 2 * 4 * 16 * 4);
  EXPECT_EQ(filled("%x, %1"), 0);
}

/// Attention with a mask that lies as `mask` makes it of %m.
Ops attention(const std::string& mask, const std::string& type) {
  return launched("def @main(%q: Tensor[(2, 4, 16, 8), float32], %m: Tensor[(2, 1, 16, " + type + R"(]) {
  %2 = )" + mask + R"(;
  %3 = nn.sdpa(%q, %q, %q, %2);
  (%3)
})");
}

TEST(EagerPrograms, MasksOfBoolsBecomeNumbersAndArePadded) {
  EXPECT_EQ(attention("clone(%m)", "16), bool"), (Ops{"copy", "full", "full", "where", "nn.sdpa"}));
  EXPECT_EQ(attention("clone(%m)", "16), float32"), (Ops{"copy", "nn.sdpa"}));
}

TEST(EagerPrograms, MasksWhoseColumnsLieApartHaveNoFusedKernel) {
  EXPECT_EQ(attention("transpose(%m, perm=[0, 1, 3, 2])", "16), bool"),
            (Ops{"full", "full", "where", "multiply", "multiply", "nn.batch_matmul", "add", "nn.softmax", "equal",
                 "max", "where", "nn.batch_matmul"}));
}

TEST(ValueStrides, FollowViewsAndElementwiseKernels) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 3, 4), float32]) {
  %1 = transpose(%x, perm=[0, 2, 1]);
  %2 = exp(%1);
  %3 = const[0] : Tensor[(1,), int64];
  %4 = expand_dims(%2, %3);
  %5 = nn.softmax(%2, axis=-1);
  (%4, %5)
})");
  const auto strides = value_strides(g, false);
  const auto of = [&](OpId o) {
    for (NodeId id = 0; id < g.size(); ++id) {
      if (g.node(id).is(o)) return strides[id];
    }
    return Strides{};
  };
  EXPECT_EQ(of(op("transpose")), (Strides{12, 1, 4}));
  EXPECT_EQ(of(op("exp")), (Strides{12, 1, 4}));
  EXPECT_EQ(of(op("expand_dims")), (Strides{24, 12, 1, 4}));
  EXPECT_EQ(of(op("nn.softmax")), (Strides{12, 3, 1}));
}

/// MaxViT's blocks: tokens are a view of planes, and a sum lies as its first operand, so that what follows lies
/// channels first again and no convolution copies (an H200's profile of maxvit_tiny_rw_224 has these strides).
TEST(ValueStrides, AreThoseOfPlanesBehindTokensThatWereAddedToThem) {
  const auto graph = [](const char* sum) {
    return graph_of(fmt::format(R"(def @main(%x: Tensor[(2, 8, 16, 16), float32]) {{
  %1 = weight : Tensor[(8, 8), float32];
  %2 = weight : Tensor[(8,), float32];
  %3 = weight : Tensor[(8, 8, 1, 1), float32];
  %4 = transpose(%x, perm=[0, 2, 3, 1]);
  %5 = nn.dense(%4, %1);
  %6 = add({});
  %7 = transpose(%6, perm=[0, 3, 1, 2]);
  %8 = nn.batch_norm(%7, %2, %2, %2, %2);
  %9 = nn.conv2d(%8, %3);
  (%9)
}})",
                                sum));
  };
  const auto last = [](const Graph& g) {
    const DataLayout layout = data_layout(g, {}, std::vector<bool>(g.size(), false));
    std::vector<bool> out;
    for (NodeId id = 0; id < g.size(); ++id) {
      if (g.node(id).is(op("nn.batch_norm")) || g.node(id).is(op("nn.conv2d"))) {
        out.push_back(layout.channels_last[id]);
        EXPECT_FALSE(copies_data(g, id, layout, std::vector<bool>(g.size(), false)));
      }
    }
    return out;
  };
  EXPECT_EQ(last(graph("%4, %5")), (std::vector{false, false}));
  EXPECT_EQ(last(graph("%5, %4")), (std::vector{true, true}));
}

TEST(ValueStrides, ProductsCopyWhatIsNoStackOfMatrices) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 5, 3, 4), float32], %y: Tensor[(2, 3, 4, 5), float32]) {
  %2 = transpose(%x, perm=[0, 2, 1, 3]);
  %3 = nn.batch_matmul(%2, %y);
  %4 = einsum(%x, %x, equation="bihd,bjhd->bhij");
  (%3, %4)
})");
  const auto strides = value_strides(g, false);
  for (NodeId id = 0; id < g.size(); ++id) {
    const auto product = product_operands(g, id, strides);
    if (!product) continue;
    EXPECT_TRUE(product->copies[0]);
    EXPECT_EQ(product->copies[1], g.node(id).is(op("einsum")));
  }
}

}  // namespace
}  // namespace perfc
