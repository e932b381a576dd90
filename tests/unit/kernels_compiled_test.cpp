/// What TorchInductor launches, and where data lies: on graphs small enough to compute by hand.
#include <gtest/gtest.h>

#include "graphs.h"
#include "kernel_plan.h"

namespace perfc {
namespace {

using Names = std::vector<std::string>;
constexpr ExecConfig kCompiled{.mode = ExecMode::Compiled}, kAmp{.precision = Precision::Amp, .mode = ExecMode::Compiled};

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
  EXPECT_EQ(only.kernels.at(0).bytes, kElements * (4 + 2) + kWeights * 4);
  EXPECT_EQ(both.kernels.at(0).bytes, kElements * (4 + 4 + 2) + kWeights * 4);
  EXPECT_EQ(only.kernels.at(1).bytes, kElements * (2 + 2) + 16 * 16 * 2);
}

TEST(Compiled, AnActivationThatAReductionAndALaterKernelReadStaysIn32Bits) {
  const auto graph = [](const char* activation) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = weight : Tensor[(8, 8, 1, 1), float32];
  %2 = nn.conv2d(%x, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %3 = weight : Tensor[(8,), float32];
  %4 = nn.bias_add(%2, %3, axis=1);
  %5 = )") + activation + R"((%4);
  %6 = mean(%5, axes=[2, 3], keepdims=1);
  %7 = nn.conv2d(%6, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %8 = multiply(%5, %7);
  (%8)
})");
  };
  const KernelPlan twice = plan_of(graph("nn.silu"), kAmp), once = plan_of(graph("nn.relu"), kAmp);
  ASSERT_EQ(twice.kernels.size(), 4u);
  constexpr double kElements = 2 * 8 * 16;
  EXPECT_EQ(twice.kernels[1].bytes - once.kernels.at(1).bytes, 2 * kElements);  // written
  EXPECT_EQ(twice.kernels[3].bytes - once.kernels.at(3).bytes, 2 * kElements);  // read
}

TEST(Compiled, LongConcatenationsAreKernelsOfTheirOwn) {
  const auto graph = [](int parts) {
    std::string operands = "%x";
    for (int i = 1; i < parts; ++i) operands += ", %x";
    return graph_of("def @main(%x: Tensor[(2, 8), float32]) {\n  %1 = concatenate(" + operands + ", axis=1);\n  %2 = nn.relu(%1);\n  (%2)\n}");
  };
  EXPECT_EQ(plan_of(graph(8), kCompiled).kernels.size(), 1u);
  EXPECT_EQ(plan_of(graph(9), kCompiled).kernels.size(), 2u);
}

TEST(Compiled, AttentionWrittenOutIsThreeKernels) {
  const Graph g = graph_of(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32], %m: Tensor[(1, 4, 32, 32), float32]) {
  %2 = nn.sdpa(%q, %q, %q, %m, scale=0.25, explicit=1);
  (%2)
})");
  const KernelPlan s = plan_of(g, kCompiled);
  EXPECT_EQ(ops_of(s), (Names{"nn.batch_matmul", "nn.softmax", "nn.batch_matmul"}));
  constexpr double kScores = 2 * 4 * 32 * 32, kMask = 4 * 32 * 32;
  EXPECT_EQ(s.kernels[1].bytes, (2 * kScores + kMask) * 4);
}

TEST(Layout, HeadsBehindFusedAttentionAreDenseWhenTransposedBack) {
  const auto graph = [](const char* form) {
    return graph_of(std::string(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32]) {
  %1 = nn.sdpa(%q, %q, %q)") + form + R"();
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

TEST(Autocast, AConstantOfOneElementPromotesUnlessItIsAScalar) {
  const auto graph = [](const char* type) {
    return graph_of(std::string(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 16), float32];
  %2 = nn.dense(%x, %1);
  %3 = const[2.0] : Tensor[)") + type + R"(, float32];
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
