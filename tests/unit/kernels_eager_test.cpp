/// What PyTorch's own kernels do beside the operator's arithmetic.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>

#include "graphs.h"
#include "kernel_plan.h"
#include "whitebox/memory/memory.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

const Device& a_gpu() {
  static const Device d{.name = "test",
                        .kind = "gpu",
                        .vector_tflops = {{"float32", 10}},
                        .matrix_tflops = {{"float16", 100}},
                        .bandwidth_gb_s = 1000,
                        .sms = 100,
                        .boost_clock_mhz = 1000,
                        .memory_mib = 1000,
                        .efficiency = {{"bandwidth", 1}, {"vector", 1}, {"convolution", 1}, {"layout", 1.5}}};
  return d;
}

Priced priced(const Kernel& k, Precision precision = Precision::Fp32) { return price(k, Rates(a_gpu(), precision)); }

TEST(EagerKernels, LayerNormsTakeAThreadBlockPerRow) {
  const auto norm = [](int rows, int columns) {
    return plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[({0}, {1}), float32]) {{
  %1 = weight : Tensor[({1},), float32];
  %2 = nn.layer_norm(%x, %1, %1);
  (%2)
}})",
                                        rows, columns)),
                   {})
        .kernels.at(0);
  };
  const Priced narrow = priced(norm(1'000'000, 24)), wide = priced(norm(1'000'000 / 64, 24 * 64));
  EXPECT_NEAR(wide.memory_us, narrow.memory_us, 0.001 * narrow.memory_us);
  EXPECT_NEAR(priced(norm(2'000'000, 24)).compute_us, 2 * narrow.compute_us, 1e-6);
  EXPECT_EQ(priced(norm(1'000'000, 128)).compute_us, narrow.compute_us);  // four warps work, however few columns
  EXPECT_GT(narrow.compute_us, 10 * narrow.memory_us);
  EXPECT_LT(wide.compute_us, wide.memory_us);
}

TEST(EagerKernels, MaxPoolingWritesPositions) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 8, 32, 32), float32]) {
  %1 = nn.max_pool2d(%x, kernel_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], dilation=[1, 1]);
  (%1)
})");
  const double in = 8 * 32 * 32, out = in / 4;
  EXPECT_EQ(plan_of(g, {}).kernels.at(0).traffic.bytes, 4 * (in + out) + 8 * out);
  EXPECT_EQ(plan_of(g, {.mode = ExecMode::Compiled}).kernels.at(0).traffic.bytes, 4 * (in + out));
  EXPECT_EQ(memory_needs(g, {}).allocated - memory_needs(g, {.mode = ExecMode::Compiled}).allocated, 8 * out);
}

TEST(EagerKernels, TensorCoresConvertWindowsOfChannelsFirstData) {
  const auto convolution = [](int window, Layout layout) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(8, 64, 32, 32), float16]) {{
  %1 = weight : Tensor[(64, 64, {0}, {0}), float16];
  %2 = nn.conv2d(%x, %1, padding=[{1}, {1}, {1}, {1}]);
  (%2)
}})",
                                                         window, window / 2)),
                                    {.precision = Precision::Fp16, .layout = layout});
    return plan.kernels.back();
  };
  const Priced first = priced(convolution(3, Layout::Nchw), Precision::Fp16);
  EXPECT_NEAR(first.conversion_us, 2 * 1.5 * first.memory_us, 1e-9);  // read and written
  EXPECT_NEAR(first.roofline_us(), std::max(first.compute_us, first.memory_us) + first.conversion_us, 1e-9);
  EXPECT_EQ(priced(convolution(1, Layout::Nchw), Precision::Fp16).conversion_us, 0);  // a product as the data lies
  EXPECT_EQ(priced(convolution(3, Layout::Nhwc), Precision::Fp16).conversion_us, 0);
  EXPECT_EQ(priced(convolution(3, Layout::Nchw), Precision::Fp32).conversion_us, 0);  // the vector units take either
}

TEST(EagerKernels, StacksThatOneMatrixMultipliesAreOneProduct) {
  const auto product = [](std::string_view a, std::string_view b, std::string_view call) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[{}, float32], %y: Tensor[{}, float32]) {{
  %2 = {};
  (%2)
}})",
                                         a, b, call));
    const KernelPlan plan = plan_of(g, {});
    const Extents& e = plan.kernels.back().extents;
    return std::array{e.products, e.m, e.n, e.k};
  };
  using Product = std::array<double, 4>;
  const auto einsum = [&](std::string_view a, std::string_view b, std::string_view equation) {
    return product(a, b, fmt::format("einsum(%x, %y, equation=\"{}\")", equation));
  };
  EXPECT_EQ(einsum("(4, 32, 16)", "(24, 16)", "bsi,oi->bso"), (Product{1, 128, 24, 16}));
  EXPECT_EQ(einsum("(24, 16)", "(4, 32, 16)", "oi,bsi->bso"), (Product{1, 128, 24, 16}));
  EXPECT_EQ(einsum("(2, 3, 8, 16)", "(2, 3, 9, 16)", "bhqd,bhkd->bhqk"), (Product{6, 8, 9, 16}));
  EXPECT_EQ(einsum("(2, 8, 16)", "(16, 3, 5)", "bsi,ihd->bshd"), (Product{1, 16, 15, 16}));
  EXPECT_EQ(einsum("(1, 8, 16)", "(4, 16, 9)", "bsi,bio->bso"),
            (Product{1, 8, 36, 16}));  // broadcast: b is of %y alone
  // Columns are the first operand's, though what both have stands last.
  EXPECT_EQ(einsum("(6, 4, 8)", "(7, 4, 8)", "ibk,jbk->jib"), (Product{4, 7, 6, 8}));
  EXPECT_EQ(product("(4, 32, 16)", "(16, 24)", "nn.batch_matmul(%x, %y)"), (Product{1, 128, 24, 16}));
  EXPECT_EQ(product("(4, 32, 16)", "(4, 16, 24)", "nn.batch_matmul(%x, %y)"), (Product{4, 32, 24, 16}));
}

TEST(EagerKernels, WindowsInEqualStepsAreViews) {
  const auto kernels = [](const char* indices) {
    return ops_of(plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(2, 6), float32]) {{
  %1 = nn.relu(%x);
  %2 = const[{}] : Tensor[(2, 4), int64];
  %3 = take(%1, %2, axis=1);
  %4 = const[16] : Tensor[(1,), int64];
  %5 = reshape(%3, %4);
  (%5)
}})",
                                               indices)),
                          {}));
  };
  using Ops = std::vector<std::string>;
  EXPECT_EQ(kernels("0, 1, 2, 3, 2, 3, 4, 5"), (Ops{"nn.relu", "reshape"}));  // Tensor.unfold, then a copy
  EXPECT_EQ(kernels("0, 1, 2, 3, 2, 3, 5, 4"), (Ops{"nn.relu", "take"}));
}

TEST(EagerKernels, QuickGeluIsThreeKernels) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(4, 8), float32]) {
  %1 = nn.quick_gelu(%x);
  (%1)
})");
  EXPECT_EQ(ops_of(plan_of(g, {})), (std::vector<std::string>{"multiply", "sigmoid", "nn.quick_gelu"}));
  EXPECT_EQ(calls_of(plan_of(g, {})), (Calls{{"kernel", 3}}));
  EXPECT_EQ(plan_of(g, {.mode = ExecMode::Compiled}).kernels.size(), 1u);
}

TEST(EagerKernels, ConvolutionsCopyPartsBehindATranspose) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 8, 8, 32), float32]) {
  %1:2 = split(%x, axis=3, num_outputs=2);
  %2 = transpose(%1.0, perm=[0, 3, 1, 2]);
  %3 = weight : Tensor[(16, 1, 3, 3), float32];
  %4 = nn.conv2d(%2, %3, padding=[1, 1, 1, 1], groups=16);
  (%4, %1.1)
})");
  EXPECT_EQ(ops_of(plan_of(g, {})), (std::vector<std::string>{"copy", "nn.conv2d"}));
}

TEST(EagerKernels, ReflectionsReadAndWriteInOrder) {
  const auto kernels = [](const char* mode) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(2, 8, 8, 16), float32]) {{
  %1 = transpose(%x, perm=[0, 3, 1, 2]);
  %2 = const[0, 0, 1, 1, 0, 0, 1, 1] : Tensor[(8,), int64];
  %3 = nn.pad(%1, %2, mode="{}");
  %4 = transpose(%3, perm=[0, 2, 3, 1]);
  %5 = contiguous(%4);
  (%5)
}})",
                                         mode));
    return ops_of(plan_of(g, {}));
  };
  using Ops = std::vector<std::string>;
  EXPECT_EQ(kernels("reflect"), (Ops{"copy", "nn.pad", "copy"}));
  EXPECT_EQ(kernels("edge"), (Ops{"nn.pad"}));  // as its data lies: channels last
}

TEST(EagerKernels, JoinedPartsLieChannelsLastIfAllDo) {
  const auto kernels = [](const char* shape, const char* second) {
    const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[(2, 8, 8, 16), float32], %y: Tensor[{}, float32]) {{
  %2 = transpose(%x, perm=[0, 3, 1, 2]);
  %3 = {};
  %4 = concatenate(%2, %3, axis=1);
  %5 = transpose(%4, perm=[0, 2, 3, 1]);
  %6 = contiguous(%5);
  (%6)
}})",
                                         shape, second));
    return ops_of(plan_of(g, {}));
  };
  using Ops = std::vector<std::string>;
  EXPECT_EQ(kernels("(2, 8, 8, 4)", "transpose(%y, perm=[0, 3, 1, 2])"), (Ops{"concatenate"}));
  EXPECT_EQ(kernels("(2, 4, 8, 8)", "nn.relu(%y)"), (Ops{"nn.relu", "concatenate", "copy"}));
}

TEST(EagerKernels, FusedAttentionWantsHeadsOfWholeVectors) {
  const auto fused = [](int head, bool masked, Precision precision) {
    const Graph g =
        graph_of(fmt::format(R"(def @main(%q: Tensor[(1, 2, 64, {0}), float32], %m: Tensor[(64, 64), float32]) {{
  %2 = nn.sdpa(%q, %q, %q{1});
  (%2)
}})",
                             head, masked ? ", %m" : ""));
    return std::ranges::count(ops_of(plan_of(g, {.precision = precision})), "nn.sdpa") == 1;
  };
  EXPECT_TRUE(fused(36, false, Precision::Fp32));
  EXPECT_FALSE(fused(30, false, Precision::Fp32));
  EXPECT_TRUE(fused(30, false, Precision::Fp16));  // flash attention pads
  EXPECT_FALSE(fused(36, true, Precision::Fp16));
  EXPECT_TRUE(fused(40, true, Precision::Fp16));
}

TEST(EagerKernels, RmsNormsAreLayerNormsWithoutAMean) {
  const auto norm = [](const char* call) {
    return priced(plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(1000000, 128), float32]) {{
  %1 = weight : Tensor[(128,), float32];
  %2 = {};
  (%2)
}})",
                                               call)),
                          {})
                      .kernels.at(0));
  };
  const double layer = norm("nn.layer_norm(%x, %1, %1)").compute_us, rms = norm("nn.rms_norm(%x, %1)").compute_us;
  EXPECT_GT(rms, 0.4 * layer);
  EXPECT_LT(rms, 0.7 * layer);
}

TEST(EagerKernels, NormsCopyHeadsThatLieAmongRows) {
  for (const char* norm : {"nn.layer_norm(%1, %2, %2)", "nn.rms_norm(%1, %2)"}) {
    const auto ops = [&](const char* perm) {
      return ops_of(plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(2, 16, 4, 8), float32]) {{
  %1 = transpose(%x, perm=[{}]);
  %2 = weight : Tensor[(8,), float32];
  %3 = {};
  (%3)
}})",
                                                 perm, norm)),
                            {}));
    };
    EXPECT_EQ(ops("0, 2, 1, 3").size(), 2u) << norm;
    EXPECT_EQ(ops("0, 1, 2, 3").size(), 1u) << norm;
  }
}

TEST(EagerKernels, ConcatenationsOfFiveDimsCopyEachPart) {
  const auto concatenated = [](const char* shape, int axis) {
    return plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[{0}, float32], %y: Tensor[{0}, float32]) {{
  %2 = concatenate(%x, %y, axis={1});
  (%2)
}})",
                                        shape, axis)),
                   {});
  };
  const KernelPlan of_five = concatenated("(2, 3, 4, 5, 1)", 4), of_four = concatenated("(2, 3, 4, 5)", 3);
  ASSERT_EQ(of_five.kernels.size(), 2u);
  EXPECT_EQ(of_five.kernels[0].traffic.bytes, 2.0 * 4 * 2 * 3 * 4 * 5);
  EXPECT_EQ(calls_of(of_five), (Calls{{"inner", 2}}));
  EXPECT_EQ(of_four.kernels.size(), 1u);
}

/// CatArrayBatchedCopy_vectorized copies rows that are whole vectors as they are, others element by element.
TEST(EagerKernels, RowsOfWholeVectorsAreCopiedAsTheyAre) {
  const auto clocks = [](int columns) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(4096, {0}), float32]) {{
  %1 = concatenate(%x, %x, axis=1);
  (%1)
}})",
                                                         columns)),
                                    {});
    return plan.kernels.at(0).limits.byte_clocks;
  };
  EXPECT_LT(clocks(1024), 0.5 * clocks(1023));
}

TEST(EagerKernels, CastsThatWidenAreNotLoadedInVectors) {
  const auto cast = [](const char* from, const char* to) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(4096, 1024), {}]) {{
  %1 = weight : Tensor[(8,), bfloat16];
  %2 = cast(%x, to="{}");
  (%2, %1)
}})",
                                                         from, to)),
                                    {.precision = Precision::Bf16});
    return plan.kernels.at(0).limits.byte_clocks;
  };
  EXPECT_GT(cast("bfloat16", "float32"), 0);
  EXPECT_EQ(cast("float32", "bfloat16"), 0);
}

/// A model whose parameters have 16 bits computes in float32 what it casts so; of one in float32 `--dtype bf16` means
/// all.
TEST(EagerKernels, ModelsOf16BitsKeepTheFloat32TheyAskFor) {
  const auto bytes = [](const char* weights) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[(64, 8), float32]) {{
  %1 = weight : Tensor[(8, 8), {}];
  %2 = nn.relu(%x);
  (%2, %1)
}})",
                                                         weights)),
                                    {.precision = Precision::Bf16});
    return plan.kernels.at(0).traffic.bytes;
  };
  EXPECT_EQ(bytes("bfloat16"), 2 * 4 * 64 * 8);
  EXPECT_EQ(bytes("float32"), 2 * 2 * 64 * 8);
}

}  // namespace
}  // namespace perfc
