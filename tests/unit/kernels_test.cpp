/// Kernels and liveness, on graphs small enough to compute by hand.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "graphs.h"
#include "kernel_plan.h"
#include "whitebox/memory/memory.h"

namespace perfc {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

TEST(Kernels, CompilersFuseWhatIsNotAProduct) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 128), float32]) {
  %1 = weight : Tensor[(128, 128), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.relu(%2);
  %4 = exp(%3);
  %5 = nn.softmax(%4, axis=-1);
  %6 = add(%5, %2);
  (%6)
})");
  EXPECT_EQ(plan_of(g, {.mode = ExecMode::Eager}).kernels.size(), 5u);
  const KernelPlan fused = plan_of(g, {.mode = ExecMode::Compiled});
  ASSERT_EQ(fused.kernels.size(), 2u);
  EXPECT_EQ(fused.kernels[1].traffic.bytes, 2 * 64 * 128 * 4);  // reads %2 once, writes %6
}

TEST(Kernels, AutocastCastsOnceToEachSide) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 128), float32]) {
  %1 = weight : Tensor[(128, 128), float32];
  %2 = nn.dense(%x, %1);
  %3 = exp(%2);
  (%3)
})");
  // x → half, weight → half, dense, dense's result → float, exp.
  EXPECT_EQ(plan_of(g, {.precision = Precision::Amp}).kernels.size(), 5u);
  EXPECT_EQ(plan_of(g, {.precision = Precision::Fp16}).kernels.size(), 2u);
}

TEST(Kernels, ADenseLayersBiasIsPartOfItsProduct) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32], %i: Tensor[(1, 8, 4, 4), float32]) {
  %2 = weight : Tensor[(16, 8), float32];
  %3 = nn.dense(%x, %2);
  %4 = weight : Tensor[(8,), float32];
  %5 = nn.bias_add(%3, %4, axis=1);
  %6 = weight : Tensor[(8, 8, 1, 1), float32];
  %7 = nn.conv2d(%i, %6, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %8 = nn.bias_add(%7, %4, axis=1);
  (%5, %8)
})");
  const KernelPlan s = plan_of(g, {});
  EXPECT_EQ(s.kernels.size(), 3u);  // dense with its bias, convolution, bias
  EXPECT_EQ(calls_of(s), (Calls{{"product", 1}, {"convolution", 1}, {"inner", 1}}));
}

TEST(Kernels, SelectsAreViews) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(3, 8), float32]) {
  %1 = const[2] : Tensor[(), int64];
  %2 = take(%x, %1, axis=0);
  %3 = nn.relu(%2);
  (%3)
})");
  EXPECT_EQ(plan_of(g, {}).kernels.size(), 1u);
}

TEST(Kernels, HalfNormsTakeAndGive16Bits) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = weight : Tensor[(16, 16), float32];
  %2 = nn.dense(%x, %1);
  %3 = weight : Tensor[(16,), float32];
  %4 = nn.layer_norm(%2, %3, %3);
  %5 = nn.dense(%4, %1);
  (%5)
})");
  const auto norm = [&](Norms norms) {
    const KernelPlan plan = plan_of(g, {.precision = Precision::Amp, .norms = norms});
    return std::pair(plan.kernels.size(), std::ranges::find_if(plan.kernels, [](const Kernel& k) {
                                            return k.ops.front() == op("nn.layer_norm");
                                          })->traffic.bytes);
  };
  // x and, twice, the weight are cast, then the norm's operand and result; or the norm's parameters instead.
  EXPECT_EQ(norm(Norms::Full), std::pair(std::size_t{8}, 8 * 16 * (4 + 4) + 2 * 16 * 4.0));
  EXPECT_EQ(norm(Norms::Half), std::pair(std::size_t{8}, 8 * 16 * (2 + 2) + 2 * 16 * 2.0));
}

/// A weight that two layers share is cast once where autograd records, and by each of them in torch.inference_mode.
TEST(Kernels, AutocastKeepsCastsOfWeightsForAStepAlone) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.dense(%2, %1);
  (%3)
})");
  EXPECT_EQ(plan_of(g, {.precision = Precision::Amp}).kernels.size(), 5u);  // of the data and of the weight, twice
  EXPECT_EQ(plan_of(g, {.precision = Precision::Amp, .task = Task::Forward}).kernels.size(), 4u);
}

TEST(Kernels, BatchNormKeepsTheWidthOfItsDataUnderAutocast) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 8, 4, 4), float32]) {
  %1 = weight : Tensor[(8, 8, 1, 1), float32];
  %2 = nn.conv2d(%x, %1, kernel_size=[1, 1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1);
  %3 = weight : Tensor[(8,), float32];
  %4 = nn.batch_norm(%2, %3, %3, %3, %3);
  (%4)
})");
  const KernelPlan s = plan_of(g, {.precision = Precision::Amp});
  ASSERT_EQ(s.kernels.size(), 4u);  // two casts, convolution, batch-norm
  EXPECT_EQ(s.kernels.back().traffic.bytes, 2 * 128 * 2 + 4 * 8 * 4);
}

TEST(Kernels, AReshapeOfATransposeCopies) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 16), float32]) {
  %1 = transpose(%x, perm=[1, 0]);
  %2 = const[128] : Tensor[(1,), int64];
  %3 = reshape(%1, %2);
  (%3)
})");
  const KernelPlan s = plan_of(g, {});
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(s.kernels[0].traffic.bytes, 2 * 128 * 4);
}

TEST(Kernels, ViewsBetweenKernelsAreOneCallOfTheHost) {
  const Graph two_views = graph_of(R"(def @main(%x: Tensor[(16, 8), float32]) {
  %1 = nn.relu(%x);
  %2 = const[4, 4, 8] : Tensor[(3,), int64];
  %3 = reshape(%1, %2);
  %4 = transpose(%3, perm=[1, 0, 2]);
  %5 = exp(%4);
  %6 = log(%4);
  (%5, %6)
})");
  const Graph one_view = graph_of(R"(def @main(%x: Tensor[(16, 8), float32]) {
  %1 = nn.relu(%x);
  %2 = transpose(%1, perm=[1, 0]);
  %3 = exp(%2);
  %4 = log(%2);
  (%3, %4)
})");
  for (const Graph* g : {&two_views, &one_view}) {
    EXPECT_EQ(plan_of(*g, {}).kernels.size(), 3u);
    EXPECT_EQ(calls_of(plan_of(*g, {})), (Calls{{"kernel", 3}, {"view", 1}}));
  }
}

TEST(Kernels, HowAWeightIsStoredMakesNoDifference) {
  const auto plan = [](const std::string& weight, const std::string& attr) {
    return plan_of(graph_of("def @main(%x: Tensor[(64, 128), float32]) {\n  %1 = weight : Tensor[" + weight +
                            ", float32];\n  %2 = nn.dense(%x, %1" + attr + ");\n  (%2)\n}"),
                   {.precision = Precision::Amp});
  };
  const KernelPlan rows = plan("(128, 32)", ""), columns = plan("(32, 128)", ", transB=1");
  ASSERT_EQ(rows.kernels.size(), 3u);  // two casts, the product
  ASSERT_EQ(columns.kernels.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows.kernels[i].extents.m, columns.kernels[i].extents.m);
    EXPECT_EQ(rows.kernels[i].extents.n, columns.kernels[i].extents.n);
  }
}

TEST(Kernels, AFusedKernelHasTheGeometryOfItsReduction) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%x: Tensor[(64, 8, 16), float32]) {
  %1 = const[64, 128] : Tensor[(2,), int64];
  %2 = reshape(%x, %1);
  %3 = exp(%2);
  %4 = nn.softmax(%3, axis=-1);
  (%4)
})"),
                               {.mode = ExecMode::Compiled});
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(s.kernels[0].extents.m, 64);
  EXPECT_EQ(s.kernels[0].extents.n, 128);
  ASSERT_EQ(s.kernels[0].ops.size(), 2u);  // views are not computed
  EXPECT_EQ(s.kernels[0].ops[0], op("nn.softmax"));
  EXPECT_EQ(s.kernels[0].ops[1], op("exp"));
}

TEST(Kernels, OnlyTheResultsThatLeaveAFusedKernelAreWritten) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%x: Tensor[(4, 16), float32]) {
  %1 = exp(%x);
  %2:2 = split(%1, axis=1);
  %3 = nn.softmax(%2.0, axis=-1);
  %4 = weight : Tensor[(8, 8), float32];
  %5 = nn.dense(%2.1, %4);
  (%3, %5)
})"),
                               {.mode = ExecMode::Compiled});
  ASSERT_EQ(s.kernels.size(), 2u);
  EXPECT_EQ(s.kernels[0].traffic.bytes, (4 * 16 + 4 * 8 + 4 * 8) * 4);  // reads %x, writes %3 and %2.1
}

TEST(Kernels, PoolingToOnePositionIsAMean) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%x: Tensor[(4, 16, 7, 7), float32]) {
  %1 = nn.adaptive_avg_pool2d(%x);
  (%1)
})"),
                               {});
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(s.kernels[0].ops[0], op("mean"));
}

TEST(Kernels, AttentionWrittenOutKeepsItsScores) {
  const auto attention = [](const char* form) {
    return graph_of(std::string(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32]) {
  %1 = nn.sdpa(%q, %q, %q, scale=0.25)") +
                    form + R"();
  (%1)
})");
  };
  const Graph fused = attention(""), apart = attention(", explicit=1");
  EXPECT_EQ(plan_of(fused, {}).kernels.size(), 1u);
  const KernelPlan s = plan_of(apart, {});  // scale, product, softmax, product
  ASSERT_EQ(s.kernels.size(), 4u);
  const double scores = 2 * 4 * 32 * 32;
  EXPECT_EQ(s.kernels[1].work.macs, scores * 16);
  EXPECT_EQ(s.kernels[1].traffic.bytes, 4 * (2 * 2 * 4 * 32 * 16 + scores));
  EXPECT_EQ(s.kernels[1].work.macs + s.kernels[3].work.macs, plan_of(fused, {}).kernels[0].work.macs);
  // Beside q and the result: the scores before and after the softmax, and a dense copy of v.
  EXPECT_EQ(memory_needs(apart, {}).allocated - memory_needs(fused, {}).allocated,
            2 * 4 * scores + 4 * 2 * 4 * 32 * 16);
}

TEST(Kernels, HeadsThatShareKeysRunTheReferenceAttention) {
  const auto plan = [](const char* heads, const ExecConfig& config) {
    return plan_of(
        graph_of(fmt::format(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32], %k: Tensor[(2, {0}, 8, 16), float32]) {{
  %2 = nn.sdpa(%q, %k, %k);
  (%2)
}})",
                             heads)),
        config);
  };
  EXPECT_EQ(plan("4", {}).kernels.size(), 1u);
  const KernelPlan s = plan("1", {});
  const auto count = [&](OpId what) {
    return std::ranges::count_if(s.kernels, [&](const Kernel& k) { return k.ops[0] == what; });
  };
  EXPECT_EQ(count(op("nn.batch_matmul")), 2);
  EXPECT_EQ(count(op("copy")), 2);  // the queries are a stack of matrices as they lie
  const auto copy = std::ranges::find_if(
      s.kernels, [](const Kernel& k) { return k.ops[0] == op("copy") && k.extents.m * k.extents.n == 2 * 4 * 8 * 16; });
  ASSERT_NE(copy, s.kernels.end());  // of the keys, for each head
  EXPECT_EQ(copy->traffic.bytes, 4 * (2 * 8 * 16 + 2 * 4 * 8 * 16));
  EXPECT_EQ(plan("1", {.mode = ExecMode::Compiled}).kernels.size(), 6u);  // three copies, product, softmax, product
}

TEST(Kernels, AttentionScalesItsScoresWhereTheModelDoes) {
  const KernelPlan s = plan_of(graph_of(R"(def @main(%q: Tensor[(2, 4, 32, 16), float32]) {
  %1 = nn.sdpa(%q, %q, %q, explicit=1, scale=0.25, scaled="scores");
  (%1)
})"),
                               {});
  ASSERT_EQ(s.kernels.size(), 4u);  // product, scale, softmax, product
  EXPECT_EQ(s.kernels[1].ops[0], op("multiply"));
  EXPECT_EQ(s.kernels[1].traffic.bytes, 2 * 4 * 2 * 4 * 32 * 32);
}

TEST(Kernels, BatchedProductsCopyWhatLiesPermuted) {
  const auto copies = [](const char* batch) {
    const std::string dims = std::string(batch) + ", 32, 4, 16";
    const KernelPlan s = plan_of(graph_of("def @main(%x: Tensor[(" + dims + R"(), float32]) {
  %1 = transpose(%x, perm=[0, 2, 1, 3]);
  %2 = nn.sdpa(%1, %1, %1, explicit=1);
  (%2)
})"),
                                 {});
    return std::ranges::count_if(s.kernels, [](const Kernel& k) { return k.ops[0] == op("copy"); });
  };
  EXPECT_EQ(copies("2"), 3);
  EXPECT_EQ(copies("1"), 0);  // its leading dims are one dim of a view
}

TEST(Kernels, LoopBodiesCountOncePerTrip) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64,), float32]) {
  %1 = const[7] : Tensor[(), int64];
  %2 = const[1] : Tensor[(), bool];
  %3 = loop(%1, %2, %x, captures=0) : Tensor[(64,), float32] {
    fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %v: Tensor[(64,), float32])
        -> (Tensor[(), bool], Tensor[(64,), float32]) {
      %3 = nn.relu(%v);
      (%c, %3)
    }
  };
  (%3)
})");
  double work = 0;
  for (const Kernel& k : plan_of(g, {}).kernels) work += k.repeat * k.traffic.bytes;
  EXPECT_EQ(work, 7 * 2 * 64 * 4);
}

TEST(Memory, PeakIsWhatLivesAtOnce) {
  // 1 MiB each: at %3, %1 and %2 are read and %3 is written; %x is the caller's.
  const Graph g = graph_of(R"(def @main(%x: Tensor[(512, 512), float32]) {
  %1 = nn.relu(%x);
  %2 = exp(%1);
  %3 = add(%1, %2);
  %4 = nn.relu(%3);
  (%4)
})");
  // One more: the result of the run before.
  EXPECT_EQ(memory_needs(g, {}).allocated, 5 * kMib);
  // Autocast leaves data of float32 as it is where no product makes it 16 bits.
  EXPECT_EQ(memory_needs(g, {.precision = Precision::Amp}).allocated, 5 * kMib);
  EXPECT_EQ(memory_needs(g, {.precision = Precision::Fp16}).allocated, 2.5 * kMib);
}

TEST(Memory, ViewsShareTheirOperandsMemory) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(512, 512), float32]) {
  %1 = transpose(%x, perm=[1, 0]);
  %2 = nn.relu(%1);
  (%2)
})");
  EXPECT_EQ(memory_needs(g, {}).allocated, 3 * kMib);
}

// Compiled kernels read the tables whole, and eager ones counted what they do not read as read from memory.
TEST(Kernels, RotationsReadARowOfTheirTablesForEachToken) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 1, 512), float16], %ids: Tensor[(1, 1), int64]) {
  %2 = nn.relu(%x) @before;
  %3 = weight : Tensor[(131072, 32), float16];
  %4 = nn.rotary_embedding(%2, %ids, %3, %3, num_heads=8) @turned;
  (%4)
})");
  for (const ExecMode mode : {ExecMode::Eager, ExecMode::Compiled}) {
    SCOPED_TRACE(name(mode));
    const KernelPlan plan = plan_of(g, {.precision = Precision::Fp16, .mode = mode});
    const Traffic& t = plan.kernels.back().traffic;
    const double data = 2.0 * 2 * 512, ids = 8;
    const double rows = 2.0 * 32 * (mode == ExecMode::Eager ? 2 : 1);  // compiled, a value is loaded once
    EXPECT_NEAR(t.bytes, data + rows + ids, 1e-6 * t.bytes);
    EXPECT_NEAR(t.handed_bytes, data, 1e-6 * t.bytes);
  }
}

}  // namespace
}  // namespace perfc
