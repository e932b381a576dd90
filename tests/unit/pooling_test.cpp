/// Poolings on an A100, as others profiled them (docs/whitebox.md).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"
#include "kernel_plan.h"
#include "whitebox/constants/elements.h"
#include "whitebox/launch/training_step.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

struct Pooling {
  std::string_view op = "nn.max_pool2d";
  int images = 128, channels = 64, side = 112, window = 3, stride = 2, pad = 1;
  Precision precision = Precision::Fp16;
  Layout layout = Layout::Nchw;
  Task task = Task::Infer;
  ExecMode mode = ExecMode::Eager;
};

/// µs of the pooling's kernels on an A100 of 40 GB, behind a convolution by 1 × 1.
std::vector<double> us(const Pooling& p) {
  const Graph g = graph_of(fmt::format(R"(def @main(%x: Tensor[({0}, 8, {2}, {2}), {6}]) {{
  %1 = weight : Tensor[({1}, 8, 1, 1), {6}];
  %2 = nn.conv2d(%x, %1);
  %3 = {7}(%2, kernel_size=[{3}, {3}], strides=[{4}, {4}], padding=[{5}, {5}, {5}, {5}]);
  (%3)
}})",
                                       p.images, p.channels, p.side, p.window, p.stride, p.pad,
                                       p.precision == Precision::Fp16 ? "float16" : "float32", p.op));
  const ExecConfig config{.precision = p.precision, .mode = p.mode, .layout = p.layout, .task = p.task};
  KernelPlan plan = plan_of(g, config);
  if (p.task == Task::Train) add_training_step(g, config, plan);
  Diagnostics diags("test");
  const Rates rates(*DeviceTable::builtin().find("a100-40gb", diags), p.precision);
  std::vector<double> out;
  for (const Kernel& k : plan.kernels) {
    if (k.ops.front() == *find_op(p.op)) out.push_back(price(k, rates).time_us);
  }
  return out;
}

TEST(Pooling, TakesWhatWasPublished) {
  EXPECT_NEAR(us({}).at(0) / 652, 1, 0.1);                        // ResNet-50's
  EXPECT_NEAR(us({.layout = Layout::Nhwc}).at(0) / 770, 1, 0.1);  // the same, channels last
  const auto alexnet = [](int channels, int side) {
    return us({.images = 256, .channels = channels, .side = side, .pad = 0, .precision = Precision::Fp32}).at(0);
  };
  EXPECT_NEAR(alexnet(64, 63) / 409, 1, 0.1);
  EXPECT_NEAR(alexnet(192, 31) / 300, 1, 0.1);
  EXPECT_NEAR(alexnet(256, 15) / 112, 1, 0.25);
}

TEST(Pooling, GradientsTakeWhatWasPublished) {
  // The factor on all kernels of a step is what wall clocks have beyond profiles.
  EXPECT_NEAR(us({.task = Task::Train}).at(1) / 1.1 / 2280, 1, 0.05);
  EXPECT_NEAR(us({.layout = Layout::Nhwc, .task = Task::Train}).at(1) / 1.1 / 1460, 1, 0.05);
}

TEST(Pooling, WalksOverItsWindows) {
  const Pooling small{.op = "nn.avg_pool2d", .stride = 1},
      large{.op = "nn.avg_pool2d", .window = 5, .stride = 1, .pad = 2};
  const auto clocks = [](double elements) {
    return constants::kPoolingFirst.result + constants::kPoolingFirst.element * elements;
  };
  EXPECT_NEAR((us(large).at(0) - 2) / (us(small).at(0) - 2), clocks(25) / clocks(9), 0.1);
  // A compiler writes it out, which memory limits.
  Pooling compiled = small;
  compiled.mode = ExecMode::Compiled;
  EXPECT_LT(us(compiled).at(0), us(small).at(0) / 3);
}

}  // namespace
}  // namespace perfc
