/// The allocator, what autograd keeps, and memory of training steps, computed by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "graphs.h"
#include "round_device.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/launch/training_step.h"
#include "whitebox/memory/autograd.h"
#include "whitebox/memory/caching_allocator.h"
#include "whitebox/memory/memory.h"
#include "whitebox/memory/module_calls.h"
#include "whitebox/memory/on_device.h"

namespace perfc {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

TEST(CachingAllocator, ReservesInSegments) {
  CachingAllocator a;
  a.allocate(1);
  EXPECT_EQ(a.reserved(), 2 * kMib);  // a small segment
  EXPECT_EQ(a.allocated(), 512);
  a.allocate(kMib);  // is small, too, and fits in the rest
  EXPECT_EQ(a.reserved(), 2 * kMib);
  a.allocate(kMib);
  EXPECT_EQ(a.reserved(), 4 * kMib);
}

TEST(CachingAllocator, LargeBlocksAreSplitAndMerge) {
  CachingAllocator a;
  const auto first = a.allocate(4 * kMib);  // of a 20 MiB segment
  const auto second = a.allocate(4 * kMib);
  EXPECT_EQ(a.reserved(), 20 * kMib);
  const auto large = a.allocate(11 * kMib);  // 12 are left, but fit
  EXPECT_EQ(a.reserved(), 20 * kMib);
  a.free(first);
  a.free(large);
  a.free(second);
  a.allocate(20 * kMib);  // all merged into one again
  EXPECT_EQ(a.reserved(), 20 * kMib);
  EXPECT_EQ(a.allocated(), 20 * kMib);
  a.allocate(10 * kMib + 1);  // a segment of its own, in multiples of 2 MiB
  EXPECT_EQ(a.reserved(), 32 * kMib);
}

TEST(CachingAllocator, SmallRestsOfLargeBlocksAreNotSplitOff) {
  CachingAllocator a;
  const auto b = a.allocate(12 * kMib);
  a.free(b);
  a.allocate(11.5 * kMib);  // the whole block: less than 1 MiB is left
  a.allocate(0.25 * kMib);
  EXPECT_EQ(a.reserved(), 14 * kMib);  // so the small one needs a segment
}

TEST(CachingAllocator, HugeRequestsDoNotOverflow) {
  CachingAllocator a;
  for (int i = 0; i < 100; ++i) a.allocate(1e300);
  EXPECT_GT(a.reserved(), 9e16);
}

const char* const kPerceptron = R"(def @main(%x: Tensor[(1024, 1024), float32]) {
  %1 = weight : Tensor[(1024, 1024), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.relu(%2);
  %4 = weight : Tensor[(1024, 1024), float32];
  %5 = nn.dense(%3, %4);
  (%5)
})";

TEST(Autograd, KeepsWhatDerivativesNeed) {
  const Graph g = graph_of(kPerceptron);
  const auto needs = needs_gradient(g);
  EXPECT_EQ(needs, (std::vector<bool>{false, true, true, true, true, true}));
  EXPECT_EQ(kept_for_backward(g, 2, needs, 4).operands, 1u);  // the input; its own gradient is not wanted
  EXPECT_TRUE(kept_for_backward(g, 3, needs, 4).result);
  EXPECT_EQ(kept_for_backward(g, 3, needs, 4).operands, 0u);
  EXPECT_EQ(kept_for_backward(g, 5, needs, 4).operands, 3u);
}

TEST(Autograd, RunningStatisticsAreNoParameters) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 8, 16, 16), float32]) {
  %1 = weight : Tensor[(8,), float32];
  %2 = weight : Tensor[(8,), float32];
  %3 = weight : Tensor[(8,), float32];
  %4 = weight : Tensor[(8,), float32];
  %5 = nn.batch_norm(%x, %1, %2, %3, %4);
  (%5)
})");
  EXPECT_EQ(needs_gradient(g), (std::vector<bool>{false, true, true, false, false, true}));
}

TEST(Autograd, APoolKeepsItsIndices) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 8, 16, 16), float32]) {
  %1 = weight : Tensor[(8, 1, 1), float32];
  %2 = multiply(%x, %1);
  %3 = nn.max_pool2d(%2, kernel_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], dilation=[1, 1]);
  (%3)
})");
  const auto needs = needs_gradient(g);
  EXPECT_EQ(kept_for_backward(g, 2, needs, 4).operands, 1u);  // %x, for the weight's gradient
  EXPECT_EQ(kept_for_backward(g, 3, needs, 4).extra_bytes, 8 * 8 * 8 * 8);
}

/// Dropout in training keeps a byte per element of the mask, and none of its data.
TEST(Autograd, ADropoutKeepsItsMask) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 8, 16, 16), float32]) {
  %1 = weight : Tensor[(8, 1, 1), float32];
  %2 = multiply(%x, %1);
  %3 = const[0.1] : Tensor[(), float32];
  %4 = const[1] : Tensor[(), bool];
  %5 = nn.dropout(%2, %3, %4);
  (%5)
})");
  const Kept kept = kept_for_backward(g, 5, needs_gradient(g), 4);
  EXPECT_EQ(kept.operands, 0u);
  EXPECT_FALSE(kept.result);
  EXPECT_EQ(kept.extra_bytes, 8 * 16 * 16);
}

/// torch.matmul merges batch dims: a stride of 0 beside another cannot be merged, so the operand is copied.
TEST(Autograd, AProductKeepsCopiesOfWhatItBroadcasts) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 1, 16, 32), float32]) {
  %1 = weight : Tensor[(4, 64, 16), float32];
  %2 = nn.batch_matmul(%1, %x);
  %3 = weight : Tensor[(1, 32, 2), float32];
  %4 = nn.batch_matmul(%2, %3);
  %5 = weight : Tensor[(2, 2), float32];
  %6 = nn.batch_matmul(%4, %5);
  (%6)
})");
  EXPECT_EQ(broadcast_copy(g, g.node(2), 0), 8 * 4 * 64 * 16);
  EXPECT_EQ(broadcast_copy(g, g.node(2), 1), 8 * 4 * 16 * 32);
  EXPECT_EQ(broadcast_copy(g, g.node(4), 0), 0);  // has all of the batch dims
  EXPECT_EQ(broadcast_copy(g, g.node(4), 1), 0);  // has none of them: all strides are 0, which merge
  EXPECT_EQ(broadcast_copy(g, g.node(6), 0), 0);  // a matrix on the right: rows fold
  const auto needs = needs_gradient(g);
  const Kept kept = kept_for_backward(g, 2, needs, 4);
  EXPECT_EQ(kept.operands, 0u);
  EXPECT_EQ(kept.extra_bytes, 4.0 * 8 * 4 * 16 * 32);  // of %x, for the weight's gradient; its own is not wanted
}

TEST(Memory, GradientsOfWideWindowsTakeTheLoweredOperand) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 3, 64, 64), float32]) {
  %1 = weight : Tensor[(16, 3, 7, 7), float32];
  %2 = nn.conv2d(%x, %1, strides=[2, 2], padding=[3, 3, 3, 3], kernel_size=[7, 7]);
  (%2)
})");
  constexpr auto kTiles = ConvolutionWorkspace::Tiles;
  EXPECT_EQ(memory_needs(g, {.task = Task::Infer}, kTiles).workspace, 0);
  EXPECT_EQ(memory_needs(g, {.task = Task::Train}, kTiles).workspace, 4.0 * (2 * 32 * 32) * (3 * 7 * 7));
}

/// Tensor cores' kernels read channels last: cuDNN copies what lies otherwise, and the result back.
TEST(Memory, ConvolutionsOfTensorCoresCopyWhatLiesChannelsFirst) {
  const auto workspace = [](const std::string& window, const std::string& attributes, ExecConfig config) {
    const Graph g = graph_of("def @main(%x: Tensor[(2, 64, 32, 32), float32]) {\n  %1 = weight : Tensor[(64, " +
                             window + "), float32];\n  %2 = nn.conv2d(%x, %1" + attributes + ");\n  (%2)\n}");
    return memory_needs(g, config).workspace;
  };
  constexpr double kImages = 2.0 * 64 * 32 * 32 * 4, kWindows = 64.0 * 64 * 9 * 4;
  const std::string padded = ", padding=[1, 1, 1, 1]";
  EXPECT_EQ(workspace("64, 3, 3", padded, {}), 2 * kImages + kWindows);
  EXPECT_EQ(workspace("64, 3, 3", padded, {.precision = Precision::Amp}), (2 * kImages + kWindows) / 2);
  EXPECT_EQ(workspace("64, 3, 3", padded, {.layout = Layout::Nhwc}), 0);
  EXPECT_EQ(workspace("1, 3, 3", padded + ", groups=64", {}), 0);
  EXPECT_EQ(workspace("64, 1, 1", "", {}), 0);  // a product of the data as it lies …
  EXPECT_EQ(workspace("64, 1, 1", "", {.task = Task::Train}), 2 * kImages + kWindows / 9);  // … but for its gradients
  EXPECT_EQ(workspace("64, 1, 1", ", strides=[2, 2]", {}), 1.25 * kImages + kWindows / 9);
}

TEST(Memory, WhatConvolutionsWantFollowsFromTheirKernels) {
  const auto wants = [](const char* name, Precision p) { return workspace_on(device(name), p); };
  EXPECT_EQ(wants("a100-40gb", Precision::Fp32), ConvolutionWorkspace::Tiles);
  EXPECT_EQ(wants("h200", Precision::Fp32), ConvolutionWorkspace::None);
  EXPECT_EQ(wants("a100-40gb", Precision::Default), ConvolutionWorkspace::Copies);
  EXPECT_EQ(wants("t4", Precision::Default), ConvolutionWorkspace::Tiles);  // which has no TF32
  EXPECT_EQ(wants("t4", Precision::Amp), ConvolutionWorkspace::Copies);
  EXPECT_EQ(wants("p100", Precision::Amp), ConvolutionWorkspace::Tiles);  // which has no tensor cores
}

/// A module's arguments stay while its forward runs: what `mlp` was called with beside what its layers hand on.
TEST(Memory, ModulesHoldWhatTheyWereCalledWith) {
  const auto allocated = [](const std::string& prefix, ExecMode mode) {
    const Graph g = graph_of(R"(def @main(%x: Tensor[(512, 512), float32]) {
  %1 = exp(%x) @"norm/exp";
  %2 = exp(%1) @")" + prefix +
                             R"(fc1/exp";
  %3 = exp(%2) @")" + prefix +
                             R"(act/exp";
  %4 = exp(%3) @"head/exp";
  (%4)
})");
    return memory_needs(g, {.mode = mode}).allocated;
  };
  // The input, the last run's result, what an operator reads and writes; in `mlp` its argument, too.
  EXPECT_EQ(allocated("", ExecMode::Eager), 4 * kMib);
  EXPECT_EQ(allocated("mlp.", ExecMode::Eager), 5 * kMib);
  EXPECT_EQ(allocated("/mlp/", ExecMode::Eager), 5 * kMib);
  EXPECT_EQ(allocated("mlp.", ExecMode::Compiled), 4 * kMib);
}

TEST(Modules, HoldArgumentsUntilTheyReturn) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(4), float32]) {
  %1 = exp(%x) @"blocks.0.norm/exp";
  %2 = exp(%1) @"blocks.0.mlp.fc1/exp";
  %3 = exp(%2) @"blocks.0.mlp.act/exp";
  %4 = add(%x, %3) @"blocks.0/add";
  %5 = exp(%4) @"blocks.1.norm/exp";
  %6 = exp(%1) @"blocks.10.norm/exp";
  (%5, %6)
})");
  // %x by `blocks`, to its end; what `norm` made by `mlp` until `act` is done, and by `blocks.10`; sums by `blocks.1`.
  EXPECT_EQ(held_by_modules(g, g.weight_only()), (std::vector<NodeId>{6, 6, 3, 0, 5, 0, 0}));
  // Names that people write, as in examples/ci: `act` may be a module or what one calls.
  const Graph by_hand = graph_of(R"(def @main(%x: Tensor[(4), float32]) {
  %1 = exp(%x) @"stage.0";
  %2 = exp(%1) @"stage.0.act";
  (%2)
})");
  EXPECT_EQ(held_by_modules(by_hand, by_hand.weight_only()), (std::vector<NodeId>(3, 0)));
}

TEST(Memory, ATrainingStepKeepsActivationsGradientsAndState) {
  const Graph g = graph_of(kPerceptron);
  constexpr double kTensor = 4 * kMib;
  const MemoryNeeds adam = memory_needs(g, {.task = Task::Train, .optimizer = Optimizer::Adam});
  EXPECT_EQ(adam.weights, 2 * kTensor);
  EXPECT_EQ(adam.gradients, 2 * kTensor);
  EXPECT_EQ(adam.optimizer, 4 * kTensor);
  EXPECT_EQ(memory_needs(g, {.task = Task::Train, .optimizer = Optimizer::Sgd}).optimizer, 0);
  // 64 channels, 3×3: the workspace is 36/16 of operand and result, 45/16 for gradients.
  const Graph convolution = graph_of(R"(def @main(%x: Tensor[(1, 64, 32, 32), float32]) {
  %1 = weight : Tensor[(64, 64, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  (%2)
})");
  constexpr double kImage = 64 * 32 * 32 * 4;
  constexpr auto kTiles = ConvolutionWorkspace::Tiles;
  EXPECT_EQ(memory_needs(convolution, {}, kTiles).workspace, 36.0 / 16 * 2 * kImage);
  EXPECT_EQ(memory_needs(convolution, {.task = Task::Train}, kTiles).workspace, 45.0 / 16 * 2 * kImage);
  // Without a graph %2 dies as soon as %3 is there, and %3 with %5; with one, %x and %3 are kept.
  const double forward = memory_needs(g, {.task = Task::Forward}).allocated;
  EXPECT_GT(adam.allocated, forward + 4 * kTensor);
}

/// Autocast runs a norm in float32, on a cast that autograd keeps for it; the product behind it casts again, and keeps
/// that.
TEST(Memory, UnderAmpNormsStayFloat32AndProductsKeepTheirCasts) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1024, 1024), float32]) {
  %1 = weight : Tensor[(1024, 1024), float32];
  %2 = nn.dense(%x, %1);
  %3 = weight : Tensor[(1024,), float32];
  %4 = weight : Tensor[(1024,), float32];
  %5 = nn.layer_norm(%2, %3, %4, axis=-1, epsilon=1e-5);
  %6 = weight : Tensor[(1024, 1024), float32];
  %7 = nn.dense(%5, %6);
  (%7)
})");
  const double input = 4, weights = 8, half_weights = 4, workspace = 8.125, input_cast = 2, norm_cast = 4, norm = 4,
               product_cast = 2, result = 2, result_of_the_run_before = 2;
  const MemoryNeeds amp = memory_needs(g, {.precision = Precision::Amp, .task = Task::Forward});
  EXPECT_NEAR(amp.allocated / kMib,
              input + weights + half_weights + workspace + input_cast + norm_cast + norm + product_cast + result +
                  result_of_the_run_before,
              0.05);
  // With norms in 16 bits neither is cast, and the norm's own 2 MiB are what the product keeps.
  const MemoryNeeds half = memory_needs(g, {.precision = Precision::Amp, .norms = Norms::Half, .task = Task::Forward});
  EXPECT_NEAR((amp.allocated - half.allocated) / kMib, norm_cast + norm + product_cast - 2 - 2, 0.05);
}

/// In torch.inference_mode autocast keeps no copies of weights: each call casts its own.
TEST(Memory, UnderAmpInferenceCastsAWeightForEachCall) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1024, 1024), float32]) {
  %1 = weight : Tensor[(1024, 1024), float32];
  %2 = nn.dense(%x, %1);
  %3 = weight : Tensor[(1024, 1024), float32];
  %4 = nn.dense(%2, %3);
  (%4)
})");
  const double input = 4, weights = 8, workspace = 8.125, input_cast = 2, weight_cast = 2, result = 2,
               result_of_the_run_before = 2;
  EXPECT_NEAR(memory_needs(g, {.precision = Precision::Amp}).allocated / kMib,
              input + weights + workspace + input_cast + weight_cast + result + result_of_the_run_before, 0.05);
}

/// Without a graph what an operator read dies when it is done; with one it is kept.
TEST(Memory, AutogradKeepsWhatInferenceForgets) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(512, 512), float32]) {
  %1 = weight : Tensor[(512,), float32];
  %2 = multiply(%x, %1);
  %3 = exp(%2);
  %4 = exp(%3);
  %5 = exp(%4);
  (%5)
})");
  EXPECT_EQ(memory_needs(g, {.task = Task::Forward}).allocated - memory_needs(g, {}).allocated, kMib);
}

TEST(Memory, UnderAmpOnlyWhatProductsReadHasACopyIn16Bits) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(16, 8), int64]) {
  %1 = weight : Tensor[(8192, 1024), float32];
  %2 = take(%1, %x, axis=0);
  (%2)
})");
  EXPECT_EQ(memory_needs(g, {.precision = Precision::Amp}).allocated, memory_needs(g, {}).allocated);
}

/// torch.nn.functional.linear flattens permuted data by copying it, and its weight's gradient reads the copy.
TEST(Memory, AProductKeepsTheCopyOfPermutedData) {
  const auto allocated = [](const std::string& view) {
    const Graph g = graph_of(R"(def @main(%x: Tensor[(8, 256, 512), float32]) {
  %1 = weight : Tensor[(8, 256, 512), float32];
  %2 = multiply(%x, %1);
  %3 = const[8, 512, 256] : Tensor[(3,), int64];
  %4 = )" + view + R"(;
  %5 = weight : Tensor[(256, 256), float32];
  %6 = nn.dense(%4, %5);
  (%6)
})");
    return memory_needs(g, {.task = Task::Forward}).allocated;
  };
  EXPECT_EQ(allocated("transpose(%2, perm=[0, 2, 1])") - allocated("reshape(%2, %3)"), 4.0 * 8 * 256 * 512);
}

/// One convolution, and a ReLU that makes the next a search of its own.
std::string convolution(const std::string& data, const std::string& weight, const std::string& attrs) {
  return "def @main(%x: Tensor[" + data + ", float32]) {\n  %1 = weight : Tensor[" + weight +
         ", float32];\n  %2 = nn.conv2d(%x, %1, " + attrs + ");\n  (%2)\n}";
}

TEST(AlgorithmSearch, TransformsGrowWithChannelsNotWithTheWindow) {
  // 30×30 with a window of 1: one transform of 32×32 for each of 64·128 windows and 2·(64 + 128) images, twice.
  const Graph point = graph_of(convolution("(2, 64, 30, 30)", "(128, 64, 1, 1)", "strides=[1, 1]"));
  const auto s = search_of(point, 2);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->whole, 2.0 * 8 * 32 * 17 * (64 * 128 + 2 * 192));
  EXPECT_EQ(s->tiled, s->whole);
  EXPECT_EQ(s->data, 4.0 * (2 * 192 * 900 + 64 * 128));
  // 70×70 padded to 72: the whole wants 128×128, of tiles 30 of 32 are of use: 3·3 of them.
  const auto wide = search_of(graph_of(convolution("(2, 64, 70, 70)", "(128, 64, 3, 3)", "padding=[1, 1, 1, 1]")), 2);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->whole, 2.0 * 8 * 128 * 65 * (64 * 128 + 2 * 192));
  EXPECT_EQ(wide->tiled, 2.0 * 8 * 32 * 17 * (64 * 128 + 2 * 192 * 9));
  // Beyond 256 wide only tiles.
  const auto huge = search_of(graph_of(convolution("(1, 3, 300, 300)", "(8, 3, 3, 3)", "padding=[1, 1, 1, 1]")), 2);
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->whole, 0);
  EXPECT_GT(huge->tiled, 0);
}

TEST(AlgorithmSearch, TransformsWantOneGroupAndNoSteps) {
  EXPECT_FALSE(search_of(graph_of(convolution("(2, 64, 30, 30)", "(64, 1, 3, 3)", "groups=64")), 2));
  EXPECT_FALSE(search_of(graph_of(convolution("(2, 64, 30, 30)", "(128, 64, 1, 1)", "strides=[2, 2]")), 2));
  EXPECT_FALSE(search_of(graph_of(convolution("(2, 64, 30, 30)", "(128, 64, 3, 3)", "dilation=[2, 2]")), 2));
}

const char* const kTwice = R"(def @main(%x: Tensor[(4, 256, 28, 28), float32]) {
  %1 = weight : Tensor[(256, 256, 1, 1), float32];
  %2 = nn.conv2d(%x, %1);
  %3 = weight : Tensor[(256, 256, 1, 1), float32];
  %4 = nn.conv2d(%2, %3);
  (%4)
})";

TEST(Memory, EachShapeIsSearchedOncePerPass) {
  const Graph g = graph_of(kTwice);
  EXPECT_TRUE(memory_needs(g, {.task = Task::Train}).searches.empty());
  EXPECT_EQ(memory_needs(g, {.cudnn_benchmark = true}).searches.size(), 1u);
  EXPECT_TRUE(memory_needs(g, {.precision = Precision::Amp, .cudnn_benchmark = true}).searches.empty());
  const MemoryNeeds step = memory_needs(g, {.task = Task::Train, .cudnn_benchmark = true});
  ASSERT_EQ(step.searches.size(), 3u);  // both gradients of the second; of the first they are known
  EXPECT_LT(step.searches[0].allocated, step.searches[1].allocated);
  EXPECT_EQ(step.reserved, memory_needs(g, {.task = Task::Train}).reserved);
}

TEST(Memory, SearchesAreBesideTheNeedAndMakeDoWithWhatIsFree) {
  const Graph g = graph_of(kTwice);
  const ExecConfig plain{.task = Task::Train}, searching{.task = Task::Train, .cudnn_benchmark = true};
  Device d;
  d.name = "test";
  d.vector_tflops = {{"float32", 10}};
  d.bandwidth_gb_s = 1000;
  d.memory_mib = 40000;
  d.stack.context_mib = 1000;
  const Prediction without = predicted(g, plain, d), with = predicted(g, searching, d);
  EXPECT_TRUE(without.memory_odds.empty());
  EXPECT_EQ(with.memory.needed_mib(), without.memory.total_mib());
  // 32 × 32 for the image of 28 × 28: 561 MiB of transforms, three times.
  const double workspace = 2.0 * 8 * 32 * 17 * (256 * 256 + 4 * 512) / kMib;
  ASSERT_EQ(with.memory_odds.size(), 3u);
  EXPECT_GT(with.memory_odds[0].memory_mib, 1000 + workspace);
  EXPECT_GT(with.memory_odds[0].memory_mib, with.memory_odds[2].memory_mib);
  EXPECT_LT(with.memory_odds[0].odds, with.memory_odds[2].odds);
  EXPECT_EQ(with.memory.search_mib, 0);  // small data: a short search, which hardly anybody sees
  // A batch of 2048 takes long: one run in ten shows the search.
  const Graph large = graph_of(std::string(kTwice).replace(std::string(kTwice).find("(4,"), 3, "(512,"));
  const Prediction seen = predicted(large, searching, d);
  EXPECT_GE(seen.memory_odds.back().odds, 0.1);
  EXPECT_GT(seen.memory.search_mib, 0);
  EXPECT_EQ(seen.memory.total_mib(), seen.memory.needed_mib() + seen.memory.search_mib);
  // Where there is no room, nothing is tried and nothing warned of.
  d.memory_mib = seen.memory.needed_mib() + 1;
  const Prediction tight = predicted(large, searching, d);
  EXPECT_LE(tight.memory.total_mib(), d.memory_mib);
  EXPECT_TRUE(tight.warnings.empty());
}

TEST(TrainingStep, ProductsHaveTwoGradientsSaveTheFirst) {
  Diagnostics diags("test");
  const Graph g = graph_of(kPerceptron);
  auto plan = plan_kernels(g, {}, diags);
  ASSERT_TRUE(plan);
  add_training_step(g, {.task = Task::Train, .optimizer = Optimizer::Sgd}, *plan);
  // Forwards 3; backwards 2 products, the activation, 1 product; both weights are updated at once.
  ASSERT_EQ(plan->kernels.size(), 8u);
  double macs = 0;
  for (const Kernel& k : plan->kernels) macs += k.work.macs;
  EXPECT_EQ(macs, 5.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(plan->kernels[5].traffic.bytes,
            3 * 4 * kMib);  // the activation's: reads the result and its gradient, writes
  EXPECT_EQ(plan->kernels[7].traffic.bytes, 6 * 4 * kMib);  // SGD: reads weights and gradients, writes the weights
  const auto passes = [&](Pass p) { return std::ranges::count(plan->kernels, p, &Kernel::pass); };
  EXPECT_EQ(passes(Pass::Forward), 3);
  EXPECT_EQ(passes(Pass::DataGradient), 1);
  EXPECT_EQ(passes(Pass::WeightGradient), 2);
  EXPECT_EQ(passes(Pass::Backward), 2);
}

TEST(TrainingStep, CopiesAndCastsKeepNothing) {
  Diagnostics diags("test");
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1024, 1024), float32]) {
  %1 = weight : Tensor[(1024, 1024), float32];
  %2 = nn.dense(%x, %1);
  %3 = clone(%2);
  %4 = nn.relu(%3);
  (%4)
})");
  auto plan = plan_kernels(g, {}, diags);
  ASSERT_TRUE(plan);
  add_training_step(g, {.task = Task::Train}, *plan);
  std::vector<double> copies;  // as aten::clone's gradient is: reads one, writes one, forwards and backwards
  for (const Kernel& k : plan->kernels)
    if (k.ops.front() == op("copy")) copies.push_back(k.traffic.bytes);
  EXPECT_EQ(copies, (std::vector<double>{2 * 4 * kMib, 2 * 4 * kMib}));
}

}  // namespace
}  // namespace perfc
