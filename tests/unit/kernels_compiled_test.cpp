/// What TorchInductor launches, and where data lies: on graphs small enough to compute by hand.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphs.h"
#include "kernel_plan.h"

namespace perfc {
namespace {

using Names = std::vector<std::string>;
constexpr ExecConfig kCompiled{.mode = ExecMode::Compiled},
    kAmp{.precision = Precision::Amp, .mode = ExecMode::Compiled};

TEST(Compiled, AProductAddsItsBiasUnlessOnlyElementwiseOperatorsReadIt) {
  const auto reader = [](const char* last) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 16), float32];
  %2 = nn.dense(%x, %1);
  %3 = weight : Tensor[(16,), float32];
  %4 = nn.bias_add(%2, %3, axis=1);
  %5 = )") + last + R"(;
  (%5)
})");
  };
  EXPECT_EQ(ops_of(plan_of(reader("nn.gelu(%4)"), kCompiled)), (Names{"nn.dense", "nn.bias_add"}));
  EXPECT_EQ(ops_of(plan_of(reader("nn.dense(%4, %1)"), kCompiled)), (Names{"nn.dense", "nn.dense"}));
}

TEST(Compiled, WhatOnlyProductsReadIsWrittenIn16Bits) {
  const auto graph = [](const char* results) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16,), float32];
  %2 = nn.layer_norm(%x, %1, %1);
  %3 = weight : Tensor[(16, 16), float32];
  %4 = nn.dense(%2, %3);
  )") + results + "\n}");
  };
  constexpr double kElements = 8 * 16, kWeights = 16;
  const KernelPlan only = plan_of(graph("(%4)"), kAmp), both = plan_of(graph("(%4, %2)"), kAmp);
  EXPECT_EQ(only.kernels.at(0).traffic.bytes, kElements * (4 + 2) + kWeights * 4);
  EXPECT_EQ(both.kernels.at(0).traffic.bytes, kElements * (4 + 4 + 2) + kWeights * 4);
  EXPECT_EQ(ops_of(only), (Names{"nn.layer_norm", "cast", "nn.dense"}));
  EXPECT_EQ(only.kernels.at(2).traffic.bytes, kElements * (2 + 2) + 16 * 16 * 2);
}

TEST(Compiled, WeightsAreCastOnceInEachRun) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 16), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.dense(%2, %1);
  (%3)
})");
  const KernelPlan amp = plan_of(g, kAmp);
  EXPECT_EQ(ops_of(amp), (Names{"cast", "cast", "nn.dense", "nn.dense"}));  // of the input, too
  EXPECT_EQ(amp.kernels[0].traffic.bytes, 8 * 16 * (4 + 2));
  EXPECT_EQ(amp.kernels[1].traffic.bytes, 16 * 16 * (4 + 2));
  EXPECT_EQ(amp.host_calls.total(), 4);
  EXPECT_EQ(plan_of(g, kCompiled).kernels.size(), 2u);
}

TEST(Compiled, BiasesOfDenseLayersAreCastToo) {
  const char* text = R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 16), float32];
  %2 = nn.dense(%x, %1);
  %3 = weight : Tensor[(16,), float32];
  %4 = nn.bias_add(%2, %3, axis=1);
  %5 = nn.dense(%4, %1);
  (%5)
})";
  const KernelPlan amp = plan_of(graph_of(text), kAmp);
  EXPECT_EQ(ops_of(amp), (Names{"cast", "cast", "nn.dense", "cast", "nn.dense"}));
  EXPECT_EQ(amp.kernels[3].traffic.bytes, 16 * (4 + 2));
  EXPECT_EQ(ops_of(plan_of(graph_of(text), kCompiled)), (Names{"nn.dense", "nn.dense"}));
}

/// What TorchInductor 2.13 makes of a transformer's residual stream: each norm adds its terms up anew, until
/// there are more than four.
TEST(Compiled, SumsOfFewTermsAreComputedAgainByEachReader) {
  std::string text = R"(def @main(%s0: Tensor[(8, 16), float32]) {
  %g = weight : Tensor[(16,), float32];
  %w = weight : Tensor[(16, 16), float32];
)";
  constexpr int kLayers = 5;
  for (int i = 0; i < kLayers; ++i) {
    const std::string at = std::to_string(i), next = std::to_string(i + 1);
    text += "  %n" + at + " = nn.layer_norm(%s" + at + ", %g, %g);\n  %d" + at + " = nn.dense(%n" + at +
            ", %w);\n  %s" + next + " = add(%s" + at + ", %d" + at + ");\n";
  }
  const KernelPlan plan = plan_of(graph_of(text + "  (%s5)\n}"), kCompiled);
  constexpr double kValue = 8 * 16 * 4, kScale = 16 * 4;
  std::vector<double> values;
  for (const Kernel& k : plan.kernels) {
    if (std::ranges::count(k.ops, op("nn.layer_norm")) > 0) values.push_back((k.traffic.bytes - kScale) / kValue);
  }
  EXPECT_EQ(values, (std::vector<double>{2, 3, 4, 5, 5 + 1 + 1}));  // what is read, the norm, and at last the sum
}

TEST(Compiled, WhoReadsAPartComputesThatPart) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 32), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.gelu(%2);
  %4:2 = split(%3, axis=1, num_outputs=2);
  %5 = weight : Tensor[(16,), float32];
  %6 = nn.layer_norm(%4.1, %5, %5);
  %7 = weight : Tensor[(16, 16), float32];
  %8 = nn.dense(%6, %7);
  %9 = multiply(%4.0, %8);
  (%9)
})");
  const KernelPlan plan = plan_of(g, kCompiled);
  ASSERT_EQ(ops_of(plan), (Names{"nn.dense", "nn.layer_norm", "nn.dense", "multiply"}));
  constexpr double kPart = 8 * 16 * 4;
  EXPECT_EQ(plan.kernels[1].traffic.bytes, 2 * kPart + 16 * 4);  // half of the product is read, its norm is written
  EXPECT_EQ(plan.kernels[3].traffic.bytes, 3 * kPart);
}

TEST(Compiled, PartsOfAValueAddUp) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 32), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.gelu(%2);
  %4:2 = split(%3, axis=1, num_outputs=2);
  %5 = multiply(%4.0, %4.1);
  %6 = add(%5, %4.1);
  (%6)
})");
  const KernelPlan plan = plan_of(g, kCompiled);
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(plan.kernels[1].traffic.bytes, (32 + 16) * 8 * 4);
}

TEST(Compiled, LongChainsOfViewsAreLookedThroughOnce) {  // in minutes otherwise
  constexpr int kLinks = 50000;
  std::string text =
      "def @main(%x: Tensor[(100000,), float32]) {\n  %1 = nn.relu(%x);\n  %2 = const[1] : Tensor[(1,), int64];\n"
      "  %3 = const[100000] : Tensor[(1,), int64];\n  %4 = const[0] : Tensor[(1,), int64];\n";
  std::string results;
  int last = 1;
  for (int i = 0; i < kLinks; ++i) {
    const int part = 5 + 2 * i;
    text += "  %" + std::to_string(part) + " = strided_slice(%" + std::to_string(last) + ", %2, %3, %4);\n";
    text += "  %" + std::to_string(part + 1) + " = mean(%" + std::to_string(part) + ", axes=[0], keepdims=1);\n";
    results += (i > 0 ? ", %" : "%") + std::to_string(part + 1);
    last = part;
  }
  const KernelPlan plan = plan_of(graph_of(text + "  (" + results + ")\n}"), kCompiled);
  ASSERT_EQ(plan.kernels.size(), 2 * static_cast<std::size_t>(kLinks));  // parts, and their sum
  constexpr int kParts = 7;
  EXPECT_NEAR(plan.kernels.rbegin()[1].traffic.bytes, 4.0 * (100000 - kLinks + kParts), 1);
}

TEST(Compiled, ANormThatAProductReadsTransposedIsWrittenByASecondKernel) {
  const auto graph = [](const char* perm) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(2, 8, 8), float32]) {
  %1 = weight : Tensor[(8,), float32];
  %2 = nn.layer_norm(%x, %1, %1);
  %3 = transpose(%2, perm=)") +
                    perm + R"();
  %4 = weight : Tensor[(8, 8), float32];
  %5 = nn.dense(%3, %4);
  (%5)
})");
  };
  const KernelPlan rows = plan_of(graph("[0, 1, 2]"), kCompiled), columns = plan_of(graph("[0, 2, 1]"), kCompiled);
  EXPECT_EQ(ops_of(rows), (Names{"nn.layer_norm", "nn.dense"}));
  ASSERT_EQ(ops_of(columns), (Names{"nn.layer_norm", "nn.layer_norm", "nn.dense"}));
  EXPECT_EQ(columns.kernels[0].traffic.bytes, 2 * 8 * 8 * 4 + 8 * 4);  // statistics only
  EXPECT_EQ(columns.kernels[1].traffic.bytes, rows.kernels[0].traffic.bytes);
}

/// A convolution with bias (%4) and activation (%5) of (2, 8, 4, 4), and what follows.
Graph activated(const char* activation, const char* rest) {
  return graph_of(std::string(R"(def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = weight : Tensor[(8, 8, 1, 1), float32];
  %2 = nn.conv2d(%x, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %3 = weight : Tensor[(8,), float32];
  %4 = nn.bias_add(%2, %3, axis=1);
  %5 = )") + activation +
                  "(%4);" + rest);
}

TEST(Compiled, AnActivationThatAReductionAndALaterKernelReadStaysIn32Bits) {
  const auto graph = [](const char* activation) {
    return activated(activation, R"(
  %6 = mean(%5, axes=[2, 3], keepdims=1);
  %7 = nn.conv2d(%6, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %8 = multiply(%5, %7);
  (%8)
})");
  };
  const KernelPlan twice = plan_of(graph("nn.silu"), kAmp), once = plan_of(graph("nn.relu"), kAmp);
  ASSERT_EQ(twice.kernels.size(), 6u);  // casts of the input and of a weight first
  constexpr double kElements = 2 * 8 * 16;
  EXPECT_EQ(twice.kernels[3].traffic.bytes - once.kernels.at(3).traffic.bytes, 2 * kElements);  // written
  EXPECT_EQ(twice.kernels[5].traffic.bytes - once.kernels.at(5).traffic.bytes, 2 * kElements);  // read
}

TEST(Compiled, SuchAnActivationIsKeptForPaddingToo) {
  const auto graph = [](const char* activation) {
    return activated(activation, R"(
  %6 = const[0, 0, 0, 0, 0, 0, 1, 1] : Tensor[(8,), int64];
  %7 = nn.pad(%5, %6);
  (%7)
})");
  };
  constexpr double kElements = 2 * 8 * 16;
  EXPECT_EQ(plan_of(graph("nn.silu"), kAmp).kernels.at(3).traffic.bytes -
                plan_of(graph("nn.relu"), kAmp).kernels.at(3).traffic.bytes,
            (4 + 4) * kElements);
}

TEST(Compiled, ABiasIsAddedAgainByWhoeverReadsIt) {
  const auto graph = [](const char* weight) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = weight : Tensor[(8, 8, 1, 1), float32];
  %2 = nn.relu(%1);
  %3 = nn.conv2d(%x, )") +
                    weight + R"(, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %4 = weight : Tensor[(8,), float32];
  %5 = nn.bias_add(%3, %4, axis=1);
  %6 = mean(%5, axes=[2, 3], keepdims=1);
  %7 = sigmoid(%6);
  %8 = nn.conv2d(%7, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %9 = multiply(%5, %8);
  (%9)
})");
  };
  const auto total = [](const KernelPlan& plan) {
    double bytes = 0;
    for (const Kernel& k : plan.kernels)
      bytes += k.ops.front() == op("mean") || k.ops.front() == op("multiply") ? k.traffic.bytes : 0;
    return bytes;
  };
  // What may be a folded batch-norm is kept; with computed weights it cannot be one.
  EXPECT_EQ(total(plan_of(graph("%1"), kCompiled)) - total(plan_of(graph("%2"), kCompiled)),
            4.0 * (2 * 8 * 16 - 8));  // the bias is read twice
}

TEST(Compiled, ReductionsOfFewElementsAreWrittenOut) {
  const auto kernels = [](int radix) {
    const std::string r = std::to_string(radix);
    return plan_of(graph_of("def @main(%x: Tensor[(2, " + r + R"(, 8), float32]) {
  %1 = nn.softmax(%x, axis=1);
  %2 = multiply(%1, %x);
  %3 = sum_axes(%2, axes=[1], keepdims=0);
  (%3)
})"),
                   kCompiled)
        .kernels.size();
  };
  EXPECT_EQ(kernels(2), 1u);
  EXPECT_EQ(kernels(8), 2u);
}

TEST(Compiled, PoolingReadsWhatIsKept) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = nn.relu(%x);
  %2 = nn.max_pool2d(%1, kernel_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %3 = nn.relu(%2);
  (%3)
})");
  EXPECT_EQ(ops_of(plan_of(g, kCompiled)), (Names{"nn.relu", "nn.max_pool2d"}));
}

TEST(Compiled, GroupedConvolutionsDecideOnTheLayout) {
  // By its factors on their time: 1.358 g + 0.823 (1 - g) <= 1 up to g = 0.33 of the work.
  const auto channels_first = [](int plain) {
    std::string text = R"(def @main(%x: Tensor[(2, 128, 4, 4), float32]) {
  %w = weight : Tensor[(128, 128, 1, 1), float32];
  %g = weight : Tensor[(128, 16, 3, 3), float32];
  %c0 = nn.conv2d(%x, %g, kernel_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=8);
)";
    for (int i = 1; i <= plain; ++i) {
      const auto name = [](int n) { return "%c" + std::to_string(n); };
      text += "  " + name(i) + " = nn.conv2d(" + name(i - 1) +
              ", %w, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);\n";
    }
    return plan_of(graph_of(text + "  (%c" + std::to_string(plain) + ")\n}"), kCompiled)
        .kernels.front()
        .placement.channels_first;
  };
  EXPECT_TRUE(channels_first(2));   // 144 of 400
  EXPECT_FALSE(channels_first(3));  // 144 of 528
}

TEST(Compiled, WhatABackwardPassFollowsIsChannelsFirstForOneGroupedOrNarrowingConvolution) {
  // PyTorch, torch/_inductor/graph.py, decide_layout_opt: flops decide for inference alone.
  const auto channels_first = [](const char* weight, int groups, Task task) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(2, 128, 4, 4), float32]) {{
  %1 = weight : Tensor[(128, 128, 1, 1), float32];
  %2 = nn.conv2d(%x, %1);
  %3 = nn.conv2d(%2, %1);
  %4 = weight : Tensor[{}, float32];
  %5 = nn.conv2d(%3, %4, padding=[1, 1, 1, 1], groups={});
  (%5)
}})",
                                         weight, groups));
    return plan_of(g, {.mode = ExecMode::Compiled, .task = task}).kernels.front().placement.channels_first;
  };
  constexpr const char *kGrouped = "(128, 2, 3, 3)", *kDepthwise = "(128, 1, 3, 3)", *kNarrowing = "(64, 128, 3, 3)",
                       *kNarrowingRows = "(64, 128, 1, 3)";
  EXPECT_FALSE(channels_first(kGrouped, 64, Task::Infer));
  EXPECT_TRUE(channels_first(kGrouped, 64, Task::Train));
  EXPECT_TRUE(channels_first(kGrouped, 64, Task::Forward));
  EXPECT_FALSE(channels_first(kNarrowing, 1, Task::Infer));
  EXPECT_TRUE(channels_first(kNarrowing, 1, Task::Train));
  EXPECT_FALSE(channels_first(kNarrowingRows, 1, Task::Train));
  EXPECT_FALSE(channels_first(kDepthwise, 128, Task::Train));
}

TEST(Compiled, WhatABackwardPassFollowsIsChannelsFirstWhereAllConvolutionsAreSmall) {
  const auto channels_first = [](int channels, Task task) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(2, {0}, 4, 4), float32]) {{
  %1 = weight : Tensor[({0}, {0}, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  (%2)
}})",
                                         channels));
    return plan_of(g, {.mode = ExecMode::Compiled, .task = task}).kernels.front().placement.channels_first;
  };
  EXPECT_FALSE(channels_first(64, Task::Infer));
  EXPECT_TRUE(channels_first(64, Task::Train));
  EXPECT_FALSE(channels_first(80, Task::Train));
}

TEST(Compiled, LongConcatenationsAreKernelsOfTheirOwn) {
  const auto graph = [](int parts) {
    std::string operands = "%x";
    for (int i = 1; i < parts; ++i) operands += ", %x";
    return graph_of("def @main(%x: Tensor[(2, 8), float32]) {\n  %1 = concatenate(" + operands +
                    ", axis=1);\n  %2 = nn.relu(%1);\n  (%2)\n}");
  };
  EXPECT_EQ(plan_of(graph(8), kCompiled).kernels.size(), 1u);
  EXPECT_EQ(plan_of(graph(9), kCompiled).kernels.size(), 2u);
}

TEST(Compiled, PartsOfALongConcatenationAreCopiedUnlessTheyAreWrittenInPlace) {
  const auto joined = [](const char* part) {
    std::string params, calls, operands;
    for (int i = 0; i < 9; ++i) {
      const std::string comma = i > 0 ? ", " : "";
      params += fmt::format("{}%x{}: Tensor[(8, 8), float32]", comma, i);
      calls += fmt::format("  %{} = {};\n", 9 + i, fmt::format(fmt::runtime(part), i));
      operands += fmt::format("{}%{}", comma, 9 + i);
    }
    return ops_of(plan_of(graph_of("def @main(" + params + ") {\n" + calls + "  %18 = concatenate(" + operands +
                                   ", axis=1);\n  (%18)\n}"),
                          kCompiled));
  };
  EXPECT_EQ(joined("nn.relu(%x{0})"), Names(9, "nn.relu"));
  EXPECT_EQ(std::ranges::count(joined("nn.batch_matmul(%x{0}, %x{0})"), "copy"), 9);
}

TEST(Compiled, AttentionWrittenOutIsThreeKernels) {
  const Graph g = graph_of(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32], %m: Tensor[(1, 4, 32, 32), float32]) {
  %2 = nn.sdpa(%q, %q, %q, %m, scale=0.25, explicit=1);
  (%2)
})");
  const KernelPlan s = plan_of(g, kCompiled);
  EXPECT_EQ(ops_of(s), (Names{"nn.batch_matmul", "nn.softmax", "nn.batch_matmul"}));
  constexpr double kScores = 2 * 4 * 32 * 32, kMask = 4 * 32 * 32;
  EXPECT_EQ(s.kernels[1].traffic.bytes, (2 * kScores + kMask) * 4);
}

TEST(Layout, HeadsBehindFusedAttentionAreDenseWhenTransposedBack) {
  const auto graph = [](const char* form) {
    return graph_of(std::string(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32]) {
  %1 = nn.sdpa(%q, %q, %q)") +
                    form + R"();
  %2 = transpose(%1, perm=[0, 2, 1, 3]);
  %3 = const[2, 32, 64] : Tensor[(3,), int64];
  %4 = reshape(%2, %3);
  (%4)
})");
  };
  for (const ExecMode mode : {ExecMode::Eager, ExecMode::Compiled}) {
    EXPECT_EQ(plan_of(graph(""), {.mode = mode}).kernels.size(), 1u);
    EXPECT_EQ(plan_of(graph(", explicit=1"), {.mode = mode}).kernels.size(), 4u);  // two products, softmax, a copy
  }
}

TEST(Layout, AStreamOfPermutedTokensIsCopiedBeforeEachNorm) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = const[2, 8, 16] : Tensor[(3,), int64];
  %2 = reshape(%x, %1);
  %3 = transpose(%2, perm=[0, 2, 1]);
  %4 = weight : Tensor[(1, 16, 8), float32];
  %5 = add(%3, %4);
  %6 = weight : Tensor[(8,), float32];
  %7 = nn.layer_norm(%5, %6, %6);
  (%7)
})");
  EXPECT_EQ(ops_of(plan_of(g, {})), (Names{"add", "copy", "nn.layer_norm"}));
  EXPECT_EQ(ops_of(plan_of(g, {.layout = Layout::Nhwc})), (Names{"add", "nn.layer_norm"}));
}

TEST(Layout, AGroupNormIsChannelsFirstAndLooksTwice) {
  const auto graph = [](const char* weight) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = weight : Tensor[(8, 8, 1, 1), float32];
  %2 = nn.relu(%1);
  %3 = weight : Tensor[(8,), float32];
  %4 = nn.group_norm(%x, %3, %3, num_groups=2);
  %5 = nn.conv2d(%4, )") +
                    weight + R"(, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  (%5)
})");
  };
  constexpr double kBytes = 4 * 2 * 8 * 16;
  const KernelPlan first = plan_of(graph("%1"), {}), last = plan_of(graph("%1"), {.layout = Layout::Nhwc});
  ASSERT_EQ(ops_of(first), (Names{"nn.relu", "mean", "nn.group_norm", "nn.conv2d"}));
  EXPECT_EQ(first.kernels[1].traffic.bytes, kBytes);
  EXPECT_EQ(first.kernels[2].traffic.bytes, 2 * kBytes + 2 * 8 * 4);
  ASSERT_EQ(ops_of(last), (Names{"nn.relu", "copy", "mean", "nn.group_norm", "copy", "nn.conv2d"}));
  EXPECT_GT(last.kernels[1].limits.slowdown, 1);  // writes what lies far apart
  // Computed weights lie channels-first, and so does what they are applied to.
  EXPECT_EQ(ops_of(plan_of(graph("%2"), {.layout = Layout::Nhwc})),
            (Names{"nn.relu", "copy", "mean", "nn.group_norm", "nn.conv2d"}));
}

TEST(Compiled, NormsLookThroughLongChainsOfViewsOnce) {  // in half a minute otherwise
  constexpr int kLinks = 50000;
  std::string text =
      "def @main(%x: Tensor[(1, 192, 100000, 1), float32], %y: Tensor[(192,), float32]) {\n"
      "  %2 = weight : Tensor[(192, 192, 1, 1), float32];\n  %3 = nn.conv2d(%x, %2);\n"
      "  %4 = transpose(%3, perm=[0, 2, 3, 1]);\n  %5 = const[1] : Tensor[(1,), int64];\n"
      "  %6 = const[100000] : Tensor[(1,), int64];\n";
  std::string results;
  int last = 4;
  for (int i = 0; i < kLinks; ++i) {
    const int part = 7 + 2 * i;
    text += fmt::format("  %{} = strided_slice(%{}, %5, %6, %5);\n", part, last);
    text += fmt::format("  %{} = nn.layer_norm(%{}, %y, %y, axis=-1);\n", part + 1, part);
    results += fmt::format("{}%{}", i > 0 ? ", " : "", part + 1);
    last = part;
  }
  const KernelPlan plan = plan_of(graph_of(text + "  (" + results + ")\n}"), kCompiled);
  EXPECT_EQ(plan.kernels.size(), static_cast<std::size_t>(kLinks) + 2);  // the image's copy, the convolution
}

// torch/_inductor/choices.py, reduction_split_factor.
TEST(Compiled, ReductionsOfFewResultsAreSharedOut) {
  const auto bytes = [](int batch, const char* before, const char* behind, const char* results) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[({}, 3136, 96), float32]) {{
  %1 = {};
  %2 = mean(%1, axes=[1], keepdims=1);
  %3 = {};
  ({})
}})",
                                                         batch, before, behind, results)),
                                    kCompiled);
    std::vector<double> out;
    for (const Kernel& k : plan.kernels) out.push_back(std::round(k.traffic.bytes));
    return out;
  };
  using Bytes = std::vector<double>;
  const double data = 32.0 * 3136 * 96 * 4, means = 32 * 96 * 4, parts = 25 * means;
  EXPECT_EQ(bytes(32, "nn.relu(%x)", "tanh(%2)", "%3"), (Bytes{data + parts, parts + means}));
  EXPECT_EQ(bytes(32, "nn.relu(%x)", "add(%1, %2)", "%3"), (Bytes{data + parts, parts, 2 * data}));
  EXPECT_EQ(bytes(32, "nn.relu(%x)", "tanh(%2)", "%1, %3"), (Bytes{2 * data, data + parts, parts + means}));
  EXPECT_EQ(bytes(128, "nn.relu(%x)", "tanh(%2)", "%3").size(), 1u);  // results enough for all SMs
}

TEST(Layout, ConvolutionsCopyPartsOfTheirData) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 16, 4, 4), float32]) {
  %1:2 = split(%x, axis=1, num_outputs=2);
  %2 = weight : Tensor[(8, 8, 1, 1), float32];
  %3 = nn.conv2d(%1.0, %2, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %4 = nn.relu(%1.1);
  %5 = nn.relu(%3);
  (%4, %5)
})");
  for (const ExecMode mode : {ExecMode::Eager, ExecMode::Compiled}) {
    for (const Layout layout : {Layout::Nchw, Layout::Nhwc}) {
      const KernelPlan plan = plan_of(g, {.mode = mode, .layout = layout});
      EXPECT_EQ(std::ranges::count_if(plan.kernels, [](const Kernel& k) { return k.ops.front() == op("copy"); }), 1);
    }
  }
}

// torch/_inductor/kernel/conv.py, require_channels_last.
TEST(Layout, CompiledConvolutionsTurnTheirWeightsAround) {
  const auto copied = [](const char* weight, int groups, Precision precision, Layout layout = Layout::Nchw) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(8, 64, 16, 16), float32]) {{
  %1 = weight : Tensor[{}, float32];
  %2 = nn.conv2d(%x, %1, groups={});
  %3 = nn.relu(%2);
  (%3)
}})",
                                                         weight, groups)),
                                    {.precision = precision, .mode = ExecMode::Compiled, .layout = layout});
    double bytes = 0;
    for (const Kernel& k : plan.kernels) {
      if (k.ops.front() == op("copy") && k.traffic.bytes < 1e6) bytes += k.traffic.bytes;  // an image takes more
    }
    return bytes;
  };
  EXPECT_EQ(copied("(64, 64, 3, 3)", 1, Precision::Fp32), 2 * 64 * 64 * 9 * 4);
  EXPECT_EQ(copied("(64, 64, 1, 1)", 1, Precision::Fp32), 0);
  EXPECT_EQ(copied("(64, 1, 3, 3)", 64, Precision::Fp32), 0);
  EXPECT_EQ(copied("(64, 64, 3, 3)", 1, Precision::Amp), 0);  // its cast does so
  EXPECT_EQ(copied("(64, 64, 3, 3)", 1, Precision::Fp32, Layout::Nhwc), 0);
}

// torch/_inductor/graph.py: results of a graph have their eager strides.
TEST(Layout, ResultsOfCompiledConvolutionsAreCopiedBack) {
  const auto copies = [](const char* last, Layout layout) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(8, 64, 16, 16), float32]) {{
  %1 = weight : Tensor[(64, 64, 3, 3), float32];
  %2 = nn.conv2d(%x, %1);
  %3 = {};
  (%3)
}})",
                                                         last)),
                                    {.mode = ExecMode::Compiled, .layout = layout});
    return std::ranges::count_if(plan.kernels, [](const Kernel& k) { return k.ops.front() == op("copy"); });
  };
  EXPECT_EQ(copies("nn.conv2d(%2, %1)", Layout::Nchw), 4);  // the image, the weight for either, the result
  EXPECT_EQ(copies("nn.relu(%2)", Layout::Nchw), 2);        // a generated kernel writes as it is asked to
  EXPECT_EQ(copies("nn.conv2d(%2, %1)", Layout::Nhwc), 0);
}

TEST(Compiled, BatchNormsOfProgramsInTrainingModeReadTheirDataTwice) {
  const auto kernels = [](const char* statistics) {
    return ops_of(plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(8, 64, 16, 16), float32]) {{
  %1 = weight : Tensor[(64,), float32];
  %2 = nn.batch_norm(%x, %1, %1{});
  (%2)
}})",
                                               statistics)),
                          kCompiled));
  };
  EXPECT_EQ(kernels(", %1, %1"), (Names{"nn.batch_norm"}));
  EXPECT_EQ(kernels(", training_mode=1"), (Names{"nn.batch_norm", "nn.batch_norm"}));
}

// torch/_inductor/fx_passes/fuse_attention.py
TEST(Compiled, ReplacesAttentionThatIsWrittenOut) {
  const auto is_fused = [](const char* type, const char* attrs, Precision precision, CompiledAttention patterns) {
    ExecConfig config = kCompiled;
    config.precision = precision;
    config.compiled_attention = patterns;
    return ops_of(plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[{}, float32]) {{
  %1 = nn.sdpa(%x, %x, %x, explicit=1{});
  (%1)
}})",
                                               type, attrs)),
                          config)) == Names{"nn.sdpa"};
  };
  constexpr auto kToday = CompiledAttention::Today, kBefore = CompiledAttention::Contiguous;
  const char* const of_scores = ", scaled=\"scores\"";
  EXPECT_TRUE(is_fused("(8, 64, 32)", "", Precision::Bf16, kToday));
  EXPECT_TRUE(is_fused("(2, 4, 64, 32)", of_scores, Precision::Bf16, kToday));
  EXPECT_FALSE(is_fused("(2, 4, 64, 32)", "", Precision::Bf16, kToday));
  EXPECT_FALSE(is_fused("(8, 64, 32)", of_scores, Precision::Bf16, kToday));
  EXPECT_FALSE(is_fused("(2, 4, 64, 32)", of_scores, Precision::Fp32, kToday));
  EXPECT_TRUE(is_fused("(2, 4, 64, 32)", of_scores, Precision::Tf32, kToday));
  EXPECT_TRUE(is_fused("(2, 4, 64, 32)", of_scores, Precision::Fp32, kBefore));
}

TEST(Layout, SoftmaxWantsDenseRows) {
  const auto ops = [](ExecMode mode) {
    return ops_of(plan_of(graph_of(R"(def @main(%x: Tensor[(2, 16, 16, 4), float32]) {
  %1 = transpose(%x, perm=[0, 3, 1, 2]);
  %2 = nn.softmax(%1, axis=-1);
  (%2)
})"),
                          {.mode = mode}));
  };
  EXPECT_EQ(ops(ExecMode::Eager), (Names{"copy", "nn.softmax"}));
  EXPECT_EQ(ops(ExecMode::Compiled), (Names{"nn.softmax"}));
}

TEST(Autocast, AConstantOfOneElementPromotesUnlessItIsAScalar) {
  const auto graph = [](const char* type) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 16), float32];
  %2 = nn.dense(%x, %1);
  %3 = const[2.0] : Tensor[)") +
                    type + R"(, float32];
  %4 = multiply(%2, %3);
  (%4)
})");
  };
  const auto half = [](const Graph& g) { return plan_of(g, {.precision = Precision::Amp}).kernels.back().half; };
  EXPECT_TRUE(half(graph("()")));
  EXPECT_FALSE(half(graph("(1,)")));
}

}  // namespace
}  // namespace perfc
