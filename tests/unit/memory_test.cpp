/// The allocator, what autograd keeps, and memory of training steps, computed by hand.
#include <gtest/gtest.h>

#include "features/autograd.h"
#include "features/caching_allocator.h"
#include "features/framework.h"
#include "features/kernels.h"
#include "features/memory.h"
#include "features/training_step.h"
#include "graphs.h"

namespace perfc {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

TEST(CachingAllocator, ReservesInSegments) {
  CachingAllocator a;
  a.allocate(1);
  EXPECT_EQ(a.reserved(), 2 * kMib);     // a small segment
  EXPECT_EQ(a.allocated(), 512);
  a.allocate(kMib);                      // is small, too, and fits in the rest
  EXPECT_EQ(a.reserved(), 2 * kMib);
  a.allocate(kMib);
  EXPECT_EQ(a.reserved(), 4 * kMib);
}

TEST(CachingAllocator, LargeBlocksAreSplitAndMerge) {
  CachingAllocator a;
  const auto first = a.allocate(4 * kMib);   // of a 20 MiB segment
  const auto second = a.allocate(4 * kMib);
  EXPECT_EQ(a.reserved(), 20 * kMib);
  const auto large = a.allocate(11 * kMib);  // 12 are left, but fit
  EXPECT_EQ(a.reserved(), 20 * kMib);
  a.free(first);
  a.free(large);
  a.free(second);
  a.allocate(20 * kMib);                     // all merged into one again
  EXPECT_EQ(a.reserved(), 20 * kMib);
  EXPECT_EQ(a.allocated(), 20 * kMib);
  a.allocate(10 * kMib + 1);                 // a segment of its own, in multiples of 2 MiB
  EXPECT_EQ(a.reserved(), 32 * kMib);
}

TEST(CachingAllocator, SmallRestsOfLargeBlocksAreNotSplitOff) {
  CachingAllocator a;
  const auto b = a.allocate(12 * kMib);
  a.free(b);
  a.allocate(11.5 * kMib);                   // the whole block: less than 1 MiB is left
  a.allocate(0.25 * kMib);
  EXPECT_EQ(a.reserved(), 14 * kMib);        // so the small one needs a segment
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
  EXPECT_EQ(kept_for_backward(g, 2, needs, 4).operands, 1u);   // the input; its own gradient is not wanted
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
  EXPECT_EQ(kept_for_backward(g, 2, needs, 4).operands, 1u);   // %x, for the weight's gradient
  EXPECT_EQ(kept_for_backward(g, 3, needs, 4).extra_bytes, 8 * 8 * 8 * 8);
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
  EXPECT_EQ(broadcast_copy(g, g.node(4), 0), 0);   // has all of the batch dims
  EXPECT_EQ(broadcast_copy(g, g.node(4), 1), 0);   // has none of them: all strides are 0, which merge
  EXPECT_EQ(broadcast_copy(g, g.node(6), 0), 0);   // a matrix on the right: rows fold
  const auto needs = needs_gradient(g);
  const Kept kept = kept_for_backward(g, 2, needs, 4);
  EXPECT_EQ(kept.operands, 0u);
  EXPECT_EQ(kept.extra_bytes, 4.0 * 8 * 4 * 16 * 32);   // of %x, for the weight's gradient; its own is not wanted
}

TEST(Memory, GradientsOfWideWindowsTakeTheLoweredOperand) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 3, 64, 64), float32]) {
  %1 = weight : Tensor[(16, 3, 7, 7), float32];
  %2 = nn.conv2d(%x, %1, strides=[2, 2], padding=[3, 3, 3, 3], kernel_size=[7, 7]);
  (%2)
})");
  EXPECT_EQ(memory_needs(g, {.task = Task::Infer}).workspace, 0);
  EXPECT_EQ(memory_needs(g, {.task = Task::Train}).workspace, 4.0 * (2 * 32 * 32) * (3 * 7 * 7));
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
  EXPECT_EQ(memory_needs(convolution, {}).workspace, 36.0 / 16 * 2 * kImage);
  EXPECT_EQ(memory_needs(convolution, {.task = Task::Train}).workspace, 45.0 / 16 * 2 * kImage);
  // Without a graph %2 dies as soon as %3 is there, and %x with %2; with one, %x and %3 are kept.
  const double inference = memory_needs(g, {}).allocated, forward = memory_needs(g, {.task = Task::Forward}).allocated;
  EXPECT_EQ(forward - inference, kTensor);
  EXPECT_GT(adam.allocated, forward + 4 * kTensor);
}

TEST(TrainingStep, ProductsHaveTwoGradientsSaveTheFirst) {
  Diagnostics diags("test");
  const Graph g = graph_of(kPerceptron);
  auto plan = plan_kernels(g, {}, diags);
  ASSERT_TRUE(plan);
  add_training_step(g, {.task = Task::Train, .optimizer = Optimizer::Sgd}, *plan);
  // Forwards 3; backwards 2 products, the activation, 1 product; 2 weights to update.
  ASSERT_EQ(plan->kernels.size(), 9u);
  double macs = 0;
  for (const Kernel& k : plan->kernels) macs += k.macs;
  EXPECT_EQ(macs, 5.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(plan->kernels[5].bytes, 3 * 4 * kMib);      // the activation's: reads the result and its gradient, writes
  EXPECT_EQ(plan->kernels[8].bytes, 3 * 4 * kMib);      // SGD: reads weight and gradient, writes the weight
  EXPECT_GT(plan->kernels[0].slowdown, plan->kernels[3].slowdown);  // forward kernels of a step, products backwards
}

}  // namespace
}  // namespace perfc
