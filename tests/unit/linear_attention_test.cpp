/// Attention without a softmax and the causal convolution before it: whose kernels run, and what they take.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"
#include "kernel_plan.h"
#include "round_device.h"
#include "whitebox/constants/linear_attention.h"
#include "whitebox/price/linear_attention.h"

namespace perfc {
namespace {

/// As Qwen3.5's: 16 heads of queries and keys, 48 of values.
Graph packed(int batch, int tokens) {
  return graph_of(fmt::format(R"(def @main(%q: Tensor[({0}, {1}, 2048), float16], %k: Tensor[({0}, {1}, 2048), float16],
          %v: Tensor[({0}, {1}, 6144), float16], %s: Tensor[({0}, 48, 128, 128), float32],
          %g: Tensor[({0}, {1}, 48), float32], %e: Tensor[({0}, {1}, 48), float32]) {{
  %6:2 = nn.linear_attention(%q, %k, %v, %s, %g, %e, q_num_heads=16, kv_num_heads=48);
  (%6.0, %6.1)
}})",
                              batch, tokens));
}
Graph token_major(int batch, int tokens) {
  return graph_of(
      fmt::format(R"(def @main(%q: Tensor[({0}, {1}, 16, 128), float16], %k: Tensor[({0}, {1}, 16, 128), float16],
          %v: Tensor[({0}, {1}, 48, 128), float16], %g: Tensor[({0}, {1}, 48), float32],
          %e: Tensor[({0}, {1}, 48), float32], %s: Tensor[({0}, 48, 128, 128), float32]) {{
  %6:2 = nn.gated_delta_net(%q, %k, %v, _, %g, %e, %s);
  (%6.0, %6.1)
}})",
                  batch, tokens));
}

constexpr ExecConfig kPytorch{.precision = Precision::Fp16};
constexpr ExecConfig kOnnxRuntime{.precision = Precision::Fp16, .runtime = Runtime::OnnxRuntime};

double us_of(const Graph& g, const ExecConfig& config, const char* on) {
  const KernelPlan plan = plan_of(g, config);
  EXPECT_EQ(plan.kernels.size(), 1u);
  return price(plan.kernels.at(0), Rates(device(on), config.precision)).time_us;
}

TEST(LinearAttentionKernels, AreOfTheLibraryThatRunsThem) {
  EXPECT_EQ(plan_of(packed(1, 9), kPytorch).kernels.at(0).state.kernels, StateKernels::Library);
  EXPECT_EQ(plan_of(token_major(1, 9), kPytorch).kernels.at(0).state.kernels, StateKernels::Library);
  EXPECT_EQ(plan_of(packed(1, 9), kOnnxRuntime).kernels.at(0).state.kernels, StateKernels::Tokens);
  EXPECT_EQ(plan_of(token_major(1, 9), kOnnxRuntime).kernels.at(0).state.kernels, StateKernels::Chunks);
  const StateSpan s = plan_of(token_major(3, 9), kOnnxRuntime).kernels.at(0).state;
  EXPECT_EQ((std::array{s.sequences, s.heads, s.tokens, s.keys, s.values}), (std::array{3.0, 48.0, 9.0, 128.0, 128.0}));
}

// A chunked call launches seven kernels from Triton, a single token's one.
TEST(LinearAttentionKernels, TritonTakesTheHostLong) {
  EXPECT_EQ(calls_of(plan_of(packed(1, 64), kPytorch)), (Calls{{"composite", 7 * constants::kTritonCalls}}));
  EXPECT_EQ(calls_of(plan_of(packed(1, 1), kPytorch)), (Calls{{"composite", constants::kTritonCalls}}));
}

// µs of ONNX Runtime's page and of flash-linear-attention beside it, H200 (studies/kernels/linear_attention.tsv), of
// which no constant was fitted to the latter.
TEST(LinearAttentionTime, IsAsMeasured) {
  EXPECT_NEAR(us_of(packed(4, 2048), kPytorch, "h200"), 955, 96);
  EXPECT_NEAR(us_of(packed(1, 8192), kPytorch, "h200"), 1014, 102);
  EXPECT_NEAR(us_of(packed(1, 1024), kOnnxRuntime, "h200"), 1828, 183);
  EXPECT_NEAR(us_of(packed(4, 1024), kOnnxRuntime, "h200"), 11139, 300);
  EXPECT_NEAR(us_of(token_major(4, 1024), kOnnxRuntime, "h200"), 1204, 60);  // one wave of the three is full
  EXPECT_NEAR(us_of(token_major(1, 1024), kOnnxRuntime, "h200"), 312, 32);   // two kernels: the wave is not
}

// What ONNX Runtime's other kernels take beside PyTorch's was not measured on these.
TEST(LinearAttentionTime, OfARuntimesOwnKernelsIsAsItSays) {
  const Device h200 = device("h200");
  const double priced_ms = us_of(token_major(4, 1024), kOnnxRuntime, "h200") / 1e3;
  EXPECT_NEAR(predicted(token_major(4, 1024), kOnnxRuntime, h200).device_ms, priced_ms, 0.01 * priced_ms);
}

// Not by its matrix cores' peak, which would make it ten times as fast.
TEST(LinearAttentionTime, TritonsChunksTakeAComputeUnitOfAmdAsLongAsAnSm) {
  const double clocks = 4.0 * 48 * 128 * constants::kLibraryChunkClocks / 304;  // of 8,192 tokens
  EXPECT_GT(us_of(packed(4, 8192), kPytorch, "mi300x"), clocks / 2100);
}

TEST(LinearAttentionTime, NarrowSharedMemoryHasNarrowChunks) {
  // 142 SMs take the 384 thread blocks of four sequences in three waves, as the 132 of an H200 do.
  const double clocks = 3 * 16 * constants::kChunkClocks * constants::kNarrowChunks;
  EXPECT_NEAR(us_of(token_major(4, 1024), kOnnxRuntime, "l40s"), clocks / 2520, 10);
}

TEST(LinearAttentionTime, TuringTakesOneTokenAfterTheOther) {
  EXPECT_GT(us_of(token_major(1, 1024), kOnnxRuntime, "t4"), 1024 * constants::kWarpTokenClocks / 1590);
  EXPECT_LT(us_of(token_major(1, 1024), kOnnxRuntime, "a100-80gb"), 1024 * constants::kWarpTokenClocks / 1410 / 2);
}

TEST(LinearAttentionTime, GrowsWithTokensAndSequences) {
  for (const char* on : {"a100-80gb", "l40s", "h100-sxm", "b200", "t4", "mi300x"}) {
    for (const ExecConfig& config : {kPytorch, kOnnxRuntime}) {
      double before = 0;
      for (const int tokens : {1, 8, 31, 64, 65, 1000, 5000}) {
        const double us = us_of(packed(2, tokens), config, on);
        EXPECT_GE(us, before) << on << ", " << tokens << " tokens";
        before = us;
      }
      EXPECT_GE(us_of(packed(64, 256), config, on), us_of(packed(8, 256), config, on)) << on;
    }
  }
}

// Its states are in float32 whatever the data, but for ONNX Runtime's LinearAttention.
TEST(LinearAttentionKernels, StatesAreWide) {
  const double state = 48.0 * 128 * 128, data = 2.0 * (2 * 2048 + 2 * 6144 + 2 * 48);
  EXPECT_DOUBLE_EQ(plan_of(packed(1, 1), kPytorch).kernels.at(0).traffic.bytes, data + 8 * state);
  EXPECT_DOUBLE_EQ(plan_of(packed(1, 1), kOnnxRuntime).kernels.at(0).traffic.bytes, data + 4 * state);
  EXPECT_DOUBLE_EQ(plan_of(token_major(1, 1), kOnnxRuntime).kernels.at(0).traffic.bytes, data + 8 * state);
}

TEST(CausalConvolution, IsBoundByMemoryOrByLoads) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 10240, 4096), float16], %s: Tensor[(8, 10240, 3), float16]) {
  %2 = weight : Tensor[(10240, 1, 4), float16];
  %3:2 = nn.causal_conv(%x, %2, _, %s, activation="silu");
  (%3.0, %3.1)
})");
  const KernelPlan plan = plan_of(g, kPytorch);
  ASSERT_EQ(plan.kernels.size(), 1u);
  const Kernel& k = plan.kernels[0];
  EXPECT_EQ(k.kind, KernelKind::Vector);
  EXPECT_NEAR(k.traffic.bytes, 2.0 * 2 * 8 * 10240 * 4096, 2e6);
  // GB/s of vLLM's kernel: 2,211 on H100, 2,400 on H200, 587 on L40S
  EXPECT_NEAR(k.traffic.bytes / us_of(g, kPytorch, "h100-sxm") / 1e3, 2211, 250);
  EXPECT_NEAR(k.traffic.bytes / us_of(g, kPytorch, "h200") / 1e3, 2400, 250);
}

}  // namespace
}  // namespace perfc
