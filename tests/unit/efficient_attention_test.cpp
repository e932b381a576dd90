/// PyTorch's memory-efficient attention: which devices run it, and what its authors measured
/// (studies/kernels/efficient_attention.tsv).
#include "whitebox/price/efficient_attention.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"
#include "kernel_plan.h"
#include "round_device.h"

namespace perfc {
namespace {

constexpr bool kFloat = false, kHalf = true;

AttentionProblem square(double heads, double tokens, double channels) {
  return {.heads = heads, .key_heads = heads, .queries = tokens, .keys = tokens, .channels = channels};
}

std::optional<EfficientAttentionFacts> facts(const char* device, bool half) {
  Diagnostics diags;
  return efficient_attention_facts(*DeviceTable::builtin().find(device, diags), half);
}

double us(const char* device, bool half, const AttentionProblem& a) {
  return 1e6 * efficient_attention_time(a, *facts(device, half));
}

TEST(EfficientAttention, IsWhatItsAuthorsMeasured) {
  EXPECT_NEAR(us("v100-16gb", kHalf, square(16, 4096, 40)) / 2343.5, 1, 0.15);
  EXPECT_NEAR(us("v100-16gb", kHalf, square(160, 8192, 128)) / 154296, 1, 0.1);
  EXPECT_NEAR(us("t4", kHalf, square(128, 8192, 128)) / 224390, 1, 0.15);
  EXPECT_NEAR(us("a100-40gb", kFloat, square(2400, 256, 64)) / 1632.7, 1, 0.1);
  EXPECT_NEAR(us("a100-40gb", kFloat, square(320, 8192, 128)) / 458218, 1, 0.1);
  EXPECT_NEAR(us("p100", kFloat, square(1024, 1024, 64)) / 48016, 1, 0.15);
}

TEST(EfficientAttention, IsOfWhatFlashKernelsDoNotTake) {
  for (const char* flash : {"a100-40gb", "rtx4090", "h100-sxm", "b200"}) {
    EXPECT_TRUE(facts(flash, kHalf)->wide_heads) << flash;
    EXPECT_TRUE(facts(flash, kFloat)->tf32) << flash;
  }
  for (const char* older : {"v100-16gb", "t4"}) {
    EXPECT_FALSE(facts(older, kHalf)->wide_heads) << older;
    EXPECT_FALSE(facts(older, kFloat)->tf32) << older;
  }
  EXPECT_FALSE(facts("p100", kHalf));  // no tensor cores
  EXPECT_FALSE(facts("mi210", kFloat));
  EXPECT_FALSE(facts("i7-6700k", kFloat));
}

TEST(EfficientAttention, TakesHeadsThatFlashKernelsDoNot) {
  for (const double channels : {128.0, 256.0, 512.0}) {
    EXPECT_EQ(takes(*facts("h100-sxm", kHalf), square(8, 4096, channels)), channels > 256) << channels;
    EXPECT_TRUE(takes(*facts("v100-16gb", kHalf), square(8, 4096, channels))) << channels;
  }
}

TEST(EfficientAttention, CausalQueriesMeetHalfOfTheKeys) {
  AttentionProblem a = square(512, 4096, 64);
  const double whole = us("v100-16gb", kHalf, a);
  a.causal = true;
  EXPECT_NEAR(us("v100-16gb", kHalf, a) / whole, 0.5, 0.05);
  a.window = 256;
  EXPECT_LT(us("v100-16gb", kHalf, a), 0.2 * whole);
}

TEST(EfficientAttention, FewQueriesTakeAWholeTile) {
  AttentionProblem a = square(64, 4096, 64);
  a.queries = 1;
  const double one = us("t4", kHalf, a);
  a.queries = 64;
  EXPECT_EQ(us("t4", kHalf, a), one);
  a.queries = 65;
  EXPECT_GT(us("t4", kHalf, a), 1.2 * one);
}

/// Device time in ms.
double device_ms(const char* device, Precision precision, bool masked, Runtime runtime = Runtime::PyTorch) {
  Diagnostics diags;
  const Graph g = graph_of(fmt::format(
      "def @main(%q: Tensor[(8, 12, 512, 64), float32]{}) {{\n  %{} = nn.sdpa(%q, %q, %q{});\n  (%{})\n}}",
      masked ? ", %m: Tensor[(1, 1, 512, 512), float32]" : "", 1 + masked, masked ? ", %m" : "", 1 + masked));
  const ExecConfig config = on_runtime({.precision = precision}, runtime);
  return predicted(g, config, *DeviceTable::builtin().find(device, diags)).device_ms;
}

TEST(EfficientAttention, TensorRtHasAFasterKernelOnTuring) {
  const auto ratio = [](const char* device) {
    return device_ms(device, Precision::Fp16, false, Runtime::TensorRt) /
           device_ms(device, Precision::Fp16, false, Runtime::TorchCompile);
  };
  EXPECT_LT(ratio("t4"), 0.9);  // the cast of an engine's inputs included
  EXPECT_GT(ratio("a100-40gb"), 0.95);
}

TEST(EfficientAttention, AMaskDoublesOnlyWhatAFlashKernelWouldCompute) {
  EXPECT_GT(device_ms("a100-40gb", Precision::Fp16, true), 1.6 * device_ms("a100-40gb", Precision::Fp16, false));
  for (const auto& [device, precision] : {std::pair{"a100-40gb", Precision::Fp32}, {"v100-16gb", Precision::Fp16}}) {
    EXPECT_LT(device_ms(device, precision, true), 1.1 * device_ms(device, precision, false)) << device;
  }
}

// Latent attention (DeepSeek-V2 and later): flash kernels take keys and values of one width only.
TEST(EfficientAttention, KeysAndValuesOfUnequalWidthDoubleOnlyWhatAFlashKernelWouldCompute) {
  const auto ms = [](const char* device, int keys, int values, Runtime runtime = Runtime::PyTorch) {
    Diagnostics diags;
    const Graph g =
        graph_of(fmt::format("def @main(%q: Tensor[(4, 16, 1024, {}), float16], %v: "
                             "Tensor[(4, 16, 1024, {}), float16]) {{\n  %2 = nn.sdpa(%q, %q, %v);\n  (%2)\n}}",
                             keys, values));
    const ExecConfig config = on_runtime({.precision = Precision::Fp16}, runtime);
    return predicted(g, config, *DeviceTable::builtin().find(device, diags)).device_ms;
  };
  for (const char* device : {"a100-40gb", "l40s", "rtx4090"})
    EXPECT_GT(ms(device, 192, 128), 1.6 * ms(device, 160, 160)) << device;
  for (const char* device : {"h100-sxm", "t4"}) EXPECT_LT(ms(device, 192, 128), 1.1 * ms(device, 160, 160)) << device;
  EXPECT_LT(ms("a100-40gb", 192, 128, Runtime::TensorRt), 1.1 * ms("a100-40gb", 160, 160, Runtime::TensorRt));
}

}  // namespace
}  // namespace perfc
