/// Single operators on an H200, as PyTorch's profiler measured their kernels (studies/hopper, operators.tsv.xz).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"
#include "kernel_plan.h"
#include "measured.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

/// µs of all kernels of an eager program on `device`.
double us(const std::string& text, Precision precision, Layout layout = Layout::Nchw, const char* device = "h200") {
  const KernelPlan plan = plan_of(graph_of(text), {.precision = precision, .layout = layout});
  Diagnostics diags("test");
  const Rates rates(*DeviceTable::builtin().find(device, diags), precision);
  double out = 0;
  for (const Kernel& k : plan.kernels) out += price(k, rates).time_us * k.repeat;
  return out;
}

std::string_view dtype_of(Precision p) { return float_bytes(p) == 2 ? "float16" : "float32"; }

struct Windows {
  int images = 32, channels, side, window = 3, groups = 1;
  double measured_us;
  Precision precision = Precision::Fp32;
  Layout layout = Layout::Nchw;
};

double us(const Windows& c, const char* device = "h200") {
  return us(fmt::format(R"(def @main(%x: Tensor[({0}, {1}, {2}, {2}), {6}]) {{
  %1 = weight : Tensor[({1}, {3}, {4}, {4}), {6}];
  %2 = nn.conv2d(%x, %1, groups={7}, padding=[{5}, {5}, {5}, {5}]);
  (%2)
}})",
                        c.images, c.channels, c.side, c.channels / c.groups, c.window, c.window / 2,
                        dtype_of(c.precision), c.groups),
            c.precision, c.layout, device);
}

TEST(Hopper, ConvolutionsTakeWhatTheyTook) {
  constexpr auto kLast = Layout::Nhwc;
  for (const Windows& c : std::vector<Windows>{
           {.channels = 64, .side = 56, .measured_us = 254.1},
           {.channels = 128, .side = 28, .measured_us = 134.5},  // by Fourier transforms
           {.channels = 256, .side = 14, .measured_us = 249.0},
           {.channels = 256, .side = 14, .measured_us = 260.5, .layout = kLast},
           {.channels = 128, .side = 28, .measured_us = 47.1, .precision = Precision::Tf32},
           {.channels = 256, .side = 14, .measured_us = 27.8, .precision = Precision::Tf32, .layout = kLast},
           {.channels = 64, .side = 56, .measured_us = 47.8, .precision = Precision::Fp16},
           {.channels = 256, .side = 14, .measured_us = 29.7, .precision = Precision::Fp16}}) {
    SCOPED_TRACE(fmt::format("{} channels of {} by {}", c.channels, c.side, c.side));
    expect_measured(us(c), c.measured_us, 1.3);
  }
}

/// Windows of one element channels first: TMA takes no planes of 14 × 14 in 16 bits as they lie, and what lies side by
/// side of one position are channels (squeeze and excitation).
TEST(Hopper, PointsTakeWhatTheyTook) {
  struct Points {
    int images, channels, results, side;
    double measured_us;
  };
  for (const Points& p :
       {Points{64, 384, 384, 14, 32.2}, Points{64, 992, 128, 14, 27.1}, Points{16, 1024, 256, 14, 21.2},
        Points{1, 256, 1024, 14, 6.4}, Points{16, 1152, 48, 1, 4.6}, Points{16, 336, 84, 1, 6.2}}) {
    SCOPED_TRACE(
        fmt::format("{} images, {} to {} channels of {} by {}", p.images, p.channels, p.results, p.side, p.side));
    const double said = us(fmt::format(R"(def @main(%x: Tensor[({0}, {1}, {3}, {3}), float16]) {{
  %1 = weight : Tensor[({2}, {1}, 1, 1), float16];
  %2 = nn.conv2d(%x, %1);
  (%2)
}})",
                                       p.images, p.channels, p.results, p.side),
                           Precision::Fp16);
    expect_measured(said, p.measured_us, 1.4);
  }
}

/// Channels first cuDNN's kernels are for float16 up to 5×5 alone.
TEST(Hopper, DepthwiseTakesWhatItTook) {
  for (const Windows& c : std::vector<Windows>{
           {.channels = 64, .side = 56, .groups = 64, .measured_us = 20.7, .precision = Precision::Fp16},
           {.channels = 72, .side = 56, .groups = 72, .measured_us = 71.0, .precision = Precision::Bf16},
           {.channels = 120, .side = 28, .window = 5, .groups = 120, .measured_us = 55.6, .precision = Precision::Bf16},
           {.channels = 384, .side = 14, .window = 7, .groups = 384, .measured_us = 89.4, .precision = Precision::Fp16},
           {.channels = 384, .side = 14, .window = 7, .groups = 384, .measured_us = 83.3}}) {
    SCOPED_TRACE(fmt::format("{} channels of {} by {}, windows of {}", c.channels, c.side, c.side, c.window));
    expect_measured(us(c), c.measured_us, 1.2);
  }
}

/// cuDNN's by their thread blocks: with small planes and few images the same work takes up to 2.6 times as long.
TEST(Hopper, DepthwiseChannelsLastTakesWhatItTook) {
  constexpr auto kLast = Layout::Nhwc;
  constexpr auto kHalf = Precision::Fp16;
  for (const Windows& c : std::vector<Windows>{
           {.channels = 96, .side = 56, .window = 7, .groups = 96, .measured_us = 78.2, .precision = kHalf},
           {.channels = 384, .side = 14, .window = 7, .groups = 384, .measured_us = 29.4, .precision = kHalf},
           {.channels = 768, .side = 7, .window = 7, .groups = 768, .measured_us = 24.2, .precision = kHalf},
           {.channels = 480, .side = 14, .window = 5, .groups = 480, .measured_us = 16.9, .precision = kHalf},
           {.images = 64, .channels = 512, .side = 19, .groups = 512, .measured_us = 24.5, .precision = kHalf},
           {.images = 4,
           .channels = 96,
           .side = 56,
           .window = 7,
           .groups = 96,
           .measured_us = 34.7,
           .precision = kHalf},
           {.images = 64, .channels = 512, .side = 28, .groups = 512, .measured_us = 75.7},
           {.images = 16, .channels = 96, .side = 56, .window = 7, .groups = 96, .measured_us = 96.2}}) {
    SCOPED_TRACE(fmt::format("{} images of {} by {}, windows of {}", c.images, c.side, c.side, c.window));
    Windows last = c;
    last.layout = kLast;
    expect_measured(us(last), c.measured_us, 1.2);
  }
}

/// The last kernel of a program that TorchInductor compiles, in float16.
double compiled_us(const std::string& text) {
  const KernelPlan plan = plan_of(graph_of(text), {.precision = Precision::Fp16, .mode = ExecMode::Compiled});
  Diagnostics diags("test");
  return price(plan.kernels.back(), Rates(*DeviceTable::builtin().find("h200", diags), Precision::Fp16)).time_us;
}

/// A normalised convolution's activation: 4 byte per element keep memory busy for two thirds of the time.
TEST(Hopper, GeneratedKernelsTakeWhatTheyTook) {
  struct Activation {
    const char* name;
    int images, channels, side;
    double measured_us;
  };
  for (const Activation& a : {Activation{"nn.relu", 64, 256, 56, 72.9}, Activation{"nn.relu", 64, 512, 28, 37.6},
                              Activation{"nn.silu", 64, 64, 128, 122.9}, Activation{"nn.silu", 64, 256, 64, 120.7}}) {
    const double said = compiled_us(fmt::format(R"(def @main(%x: Tensor[({1}, {2}, {3}, {3}), float16]) {{
  %1 = weight : Tensor[({2}, {2}, 3, 3), float16];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  %3 = weight : Tensor[({2},), float16];
  %4 = nn.bias_add(%2, %3, axis=1);
  %5 = {0}(%4);
  (%5)
}})",
                                                a.name, a.images, a.channels, a.side));
    SCOPED_TRACE(a.name);
    expect_measured(said, a.measured_us, 1.15);
  }
}

/// GPT-2's words are no multiple of eight, which costs eager PyTorch six times as long; TorchInductor pads them.
TEST(Hopper, CompiledProductsArePaddedWhereThatIsFaster) {
  const auto head = [](int words, int rows) {
    return fmt::format(R"(def @main(%x: Tensor[({1}, 1024), float16]) {{
  %1 = weight : Tensor[(1024, {0}), float16];
  %2 = nn.dense(%x, %1);
  (%2)
}})",
                       words, rows);
  };
  expect_measured(compiled_us(head(50257, 32768)), 4978, 1.15);  // 49.7 of its padding
  expect_measured(compiled_us(head(50257, 512)), 132, 1.15);     // 46.3 of it
  expect_measured(us(head(50257, 2048), Precision::Fp16), 2194, 1.05);
  expect_measured(us(head(50257, 4096), Precision::Fp16), 4376, 1.05);
  EXPECT_GT(us(head(50257, 2048), Precision::Fp16), 6 * us(head(50264, 2048), Precision::Fp16));
}

TEST(Hopper, GroupsTakeWhatTheyTook) {
  for (const Windows& c : std::vector<Windows>{
           {.channels = 64, .side = 56, .window = 1, .groups = 4, .measured_us = 64.6},
           {.channels = 240, .side = 28, .window = 1, .groups = 3, .measured_us = 96.1},
           {.channels = 128, .side = 56, .groups = 32, .measured_us = 93.8, .precision = Precision::Fp16},
           {.channels = 256, .side = 28, .groups = 32, .measured_us = 50.7, .precision = Precision::Fp16},
           {.channels = 144, .side = 56, .groups = 144, .measured_us = 143.3},
           {.channels = 144, .side = 56, .groups = 144, .measured_us = 42.2, .layout = Layout::Nhwc},
           {.channels = 144, .side = 56, .groups = 144, .measured_us = 47.3, .precision = Precision::Fp16}}) {
    SCOPED_TRACE(fmt::format("{} channels of {} by {}, {} groups", c.channels, c.side, c.side, c.groups));
    expect_measured(us(c), c.measured_us, 1.5);
  }
}

/// In float32 cuDNN launches a kernel per group, but not on chips before.
TEST(Hopper, GroupsInFloat32AreAKernelEach) {
  const Windows few{.channels = 256, .side = 7, .groups = 8}, many{.channels = 1024, .side = 7, .groups = 32};
  EXPECT_NEAR(us(many) / us(few), 4, 0.01);
  EXPECT_LT(us(many, "v100-16gb") / us(few, "v100-16gb"), 3.5);
}

TEST(Hopper, ProductsInFloat32TakeWhatTheyTook) {
  struct Case {
    int m, n, k;
    double measured_us;
  };
  for (const Case& c : {Case{8, 4096, 4096, 45.9}, Case{197, 3072, 768, 42.1}, Case{512, 2304, 768, 66.0},
                        Case{1576, 1000, 2048, 183.0}, Case{4096, 768, 768, 129.2}}) {
    SCOPED_TRACE(fmt::format("{} × {} × {}", c.m, c.n, c.k));
    const double predicted = us(fmt::format(R"(def @main(%x: Tensor[({0}, {2}), float32]) {{
  %1 = weight : Tensor[({2}, {1}), float32];
  %2 = nn.dense(%x, %1);
  (%2)
}})",
                                            c.m, c.n, c.k),
                                Precision::Fp32);
    expect_measured(predicted, c.measured_us, 1.25);
  }
}

TEST(Hopper, AttentionTakesWhatItTook) {
  struct Case {
    int batch, heads, length, channels;
    Precision precision;
    double measured_us;
  };
  for (const Case& c : {Case{32, 12, 197, 64, Precision::Fp16, 24.0}, Case{1, 32, 2048, 128, Precision::Fp16, 110.1},
                        Case{512, 4, 49, 32, Precision::Fp16, 36.9}, Case{32, 12, 197, 64, Precision::Fp32, 195.1},
                        Case{4, 8, 1024, 64, Precision::Fp32, 286.7}}) {
    SCOPED_TRACE(fmt::format("{} × {} heads of {} × {}", c.batch, c.heads, c.length, c.channels));
    const double predicted = us(fmt::format(R"(def @main(%q: Tensor[({0}, {1}, {2}, {3}), {4}],
    %k: Tensor[({0}, {1}, {2}, {3}), {4}], %v: Tensor[({0}, {1}, {2}, {3}), {4}]) {{
  %3 = nn.sdpa(%q, %k, %v);
  (%3)
}})",
                                            c.batch, c.heads, c.length, c.channels, dtype_of(c.precision)),
                                c.precision);
    expect_measured(predicted, c.measured_us, 1.3);
  }
}

std::string reduction(std::string_view shape, std::string_view axis) {
  return fmt::format(R"(def @main(%x: Tensor[({0}), float16]) {{
  %1 = const[{1}] : Tensor[(1,), int64];
  %2 = sum_axes(%x, %1, keepdims=0);
  (%2)
}})",
                     shape, axis);
}

/// A reduction along rows counts them; one along columns, or over a pair that lies far apart, counts what it reads.
TEST(Hopper, ReductionsTakeWhatTheyTook) {
  expect_measured(us(reduction("131072, 197", "1"), Precision::Fp16), 29.7, 1.2);
  expect_measured(us(reduction("131072, 1024", "-1"), Precision::Fp16), 77.5, 1.2);
  expect_measured(us(reduction("131072, 768", "0"), Precision::Fp16), 86.2, 1.2);
  // Few results wait for their loads, one after the other: rows, and columns by the threads that Reduce.cuh gives them.
  const auto mean = [](int images, int channels, int side, Layout layout) {
    return us(fmt::format(R"(def @main(%x: Tensor[({}, {}, {}, {}), float16]) {{
  %1 = const[2, 3] : Tensor[(2,), int64];
  %2 = mean(%x, %1, keepdims=1);
  (%2)
}})",
                          images, channels, side, side),
              Precision::Fp16, layout);
  };
  expect_measured(mean(1, 256, 56, Layout::Nchw), 5.6, 1.2);
  expect_measured(mean(32, 72, 28, Layout::Nhwc), 17.8, 1.2);
  expect_measured(mean(1, 256, 19, Layout::Nhwc), 9.9, 1.2);
  expect_measured(mean(128, 960, 19, Layout::Nhwc), 31.6, 1.2);
  const double pair = us(reduction("128, 2, 256, 3136", "1"), Precision::Fp16);
  const double ns_per_element = pair * 1e3 / (128.0 * 2 * 256 * 3136);
  EXPECT_LT(ns_per_element, 2 * 86.2e3 / (131072.0 * 768));
}

/// A residual stream in float32 and what a product in float16 adds to it, which the kernel casts element by element:
/// 10 byte of each would be half of the time.
TEST(Hopper, SumsOfTwoWidthsTakeWhatTheyTook) {
  const auto last_us = [](int rows, int columns) {
    const KernelPlan plan = plan_of(graph_of(fmt::format(R"(def @main(%x: Tensor[({0}, {1}), float32]) {{
  %1 = weight : Tensor[({1}, {1}), float32];
  %2 = nn.dense(%x, %1);
  %3 = add(%x, %2);
  (%3)
}})",
                                                         rows, columns)),
                                    {.precision = Precision::Amp});
    Diagnostics diags("test");
    return price(plan.kernels.back(), Rates(*DeviceTable::builtin().find("h200", diags), Precision::Amp)).time_us;
  };
  expect_measured(last_us(64 * 197, 768), 40.4, 1.15);
  expect_measured(last_us(64 * 3136, 96), 73.2, 1.15);
}

TEST(Hopper, OperandsThatLieOtherwiseTakeWhatTheyTook) {
  const auto scaled = us(R"(def @main(%x: Tensor[(32, 64, 112, 112), float16]) {
  %1 = weight : Tensor[(1, 64, 1, 1), float16];
  %2 = multiply(%x, %1);
  (%2)
})",
                         Precision::Fp16);
  expect_measured(scaled, 72.2, 1.15);
}

struct Norms {
  int images, channels, side;
  double measured_us;
  Precision precision = Precision::Fp32;
  Layout layout = Layout::Nhwc;
};

double us(const Norms& n, const char* device = "h200") {
  return us(fmt::format(R"(def @main(%x: Tensor[({0}, {1}, {2}, {2}), {4}]) {{
  %1 = weight : Tensor[({1},), {3}];
  %2 = nn.batch_norm(%x, %1, %1, %1, %1);
  (%2)
}})",
                        n.images, n.channels, n.side, dtype_of(n.precision),
                        n.precision == Precision::Amp ? "float16" : dtype_of(n.precision)),
            n.precision, n.layout, device);
}

/// cuDNN's channels last has few thread blocks: an image of 112 by 112 at batch 16 keeps half an H200 busy where its
/// memory is asked. Weights in 16 bits run PyTorch's own, before which two kernels prepare its variance.
TEST(Hopper, BatchNormsTakeWhatTheyTook) {
  for (const Norms& n : std::vector<Norms>{{64, 256, 56, 170.4},
                                           {16, 64, 112, 71.9},
                                           {1, 256, 56, 33.5},
                                           {16, 24, 150, 64.3},
                                           {64, 256, 56, 154.0, Precision::Amp},
                                           {16, 64, 112, 62.2, Precision::Amp},
                                           {128, 256, 56, 159.9, Precision::Fp16},
                                           {128, 32, 128, 280.5, Precision::Fp16},
                                           {64, 256, 56, 145.6, Precision::Fp32, Layout::Nchw}}) {
    SCOPED_TRACE(fmt::format("{} images, {} channels of {} by {}", n.images, n.channels, n.side, n.side));
    expect_measured(us(n), n.measured_us, 1.4);
  }
  // An A100's SM takes channels last what an H200's does, but channels first it has half of the lanes.
  const auto slower = [](const Norms& n) { return us(n, "a100-80gb") / us(n); };
  EXPECT_NEAR(slower({64, 256, 56, 0, Precision::Amp}), 132 * 1.98 / 108 / 1.41, 0.02);
  EXPECT_GT(slower({64, 256, 56, 0, Precision::Amp, Layout::Nchw}), 132 * 1.98 / 108 / 1.41 * 1.2);
}

/// Each part of a concatenation has as many thread blocks as the largest: DenseNet-121's in its third block.
TEST(Hopper, ConcatenationsOfManyPartsTakeWhatTheyTook) {
  std::string parts = "%x";
  for (int i = 0; i < 18; ++i) parts += ", %y";
  const auto joined = [&](std::string_view operands) {
    return us(fmt::format(R"(def @main(%x: Tensor[(64, 256, 14, 14), float32], %y: Tensor[(64, 32, 14, 14), float32]) {{
  %2 = concatenate({}, axis=1);
  (%2)
}})",
                          operands),
              Precision::Fp32);
  };
  expect_measured(joined(parts), 54.2, 1.2);
  EXPECT_LT(joined("%x, %x, %y"), 0.5 * joined(parts));
}

/// Rows of a product through a batch norm: no plane is a block of threads of its own.
TEST(Hopper, BatchNormsOfRowsAreNotOnesOfPlanes) {
  const auto batch_norm = [](std::string_view shape, int channels) {
    return us(fmt::format(R"(def @main(%x: Tensor[({0}), float32]) {{
  %1 = weight : Tensor[({1},), float32];
  %2 = nn.batch_norm(%x, %1, %1, %1, %1);
  (%2)
}})",
                          shape, channels),
              Precision::Fp32);
  };
  expect_measured(batch_norm("32, 2048, 7, 7", 2048), 40.9, 1.25);  // 65,536 planes of 49
  EXPECT_LT(batch_norm("100352, 640", 640), 3 * us(R"(def @main(%x: Tensor[(100352, 640), float32]) {
  %1 = nn.relu(%x);
  (%1)
})",
                                                   Precision::Fp32));
}

}  // namespace
}  // namespace perfc
