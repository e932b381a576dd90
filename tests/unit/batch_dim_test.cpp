/// Where a reshape puts the batch.
#include "passes/batch_dim.h"

#include <gtest/gtest.h>

namespace perfc::passes {
namespace {

Shape shape(std::initializer_list<std::int64_t> dims) {
  Shape s;
  for (std::int64_t d : dims) s.push_back(d);
  return s;
}

std::optional<BatchDim> place(std::initializer_list<std::int64_t> before, BatchDim batch,
                              std::initializer_list<std::int64_t> after, BatchChange change = {1, 32}) {
  return place_batch(shape(before), batch, shape(after), change);
}

TEST(PlaceBatch, PrefersADimOfItsOwn) {
  EXPECT_EQ(place({1, 197, 768}, {0}, {1, 197, 12, 64}), (BatchDim{0, 1}));
  EXPECT_EQ(place({196, 768}, {0}, {1, 14, 14, 768}), (BatchDim{0, 1}));
  EXPECT_EQ(place({64, 4, 49, 49}, {0}, {1, 64, 4, 49, 49}), (BatchDim{0, 1}));
  EXPECT_EQ(place({50, 1, 768}, {1}, {50, 1, 12, 64}), (BatchDim{1, 1}));
}

TEST(PlaceBatch, MergesMajor) {
  EXPECT_EQ(place({1, 12, 197, 64}, {0}, {12, 197, 64}), (BatchDim{0, 1}));
  EXPECT_EQ(place({1, 8, 7, 8, 7, 96}, {0}, {64, 49, 96}), (BatchDim{0, 1}));
}

TEST(PlaceBatch, SequenceMajorModelsKeepItOutOfTheFeatures) {
  // (L, N, E) → (L, N·H, hd) → (L, N, E) → (L·N, E) → (L, N, E)
  EXPECT_EQ(place({50, 1, 768}, {1}, {50, 12, 64}), (BatchDim{1, 1}));
  EXPECT_EQ(place({50, 12, 64}, {1}, {50, 768}), (BatchDim{0, 50}));
  EXPECT_EQ(place({50, 768}, {0, 50}, {50, 1, 768}), (BatchDim{1, 1}));
  EXPECT_EQ(place({50, 768}, {0, 50}, {50, 768}), (BatchDim{0, 50}));
}

TEST(PlaceBatch, ADimBeforeTheBatchStaysWhatItWas) {
  // One query of nn.MultiheadAttention: (L, N, E) → (L, N·H, hd) → (L·N, E), and a state of one layer.
  EXPECT_EQ(place({1, 1, 768}, {1}, {1, 12, 64}), (BatchDim{1, 1}));
  EXPECT_EQ(place({1, 12, 64}, {1}, {1, 768}), (BatchDim{0, 1}));
  EXPECT_EQ(place({1, 1, 256}, {1}, {1, 1, 256}), (BatchDim{1, 1}));
  EXPECT_EQ(place({1, 1, 768}, {0}, {1, 12, 64}), (BatchDim{0, 1}));
  // Frames of a video: (1, N·F, C) → (N, F, C).
  EXPECT_EQ(place({1, 16, 64}, {1}, {1, 16, 64}), (BatchDim{0, 1}));
}

TEST(PlaceBatch, FileBatchesAboveOneLeaveNoChoice) {
  EXPECT_EQ(place({4, 12, 197, 64}, {0}, {48, 197, 64}, {4, 8}), (BatchDim{0, 1}));
  EXPECT_EQ(place({50, 48, 64}, {1}, {200, 768}, {4, 8}), (BatchDim{0, 50}));
}

TEST(PlaceBatch, ShapesThatDoNotNestHaveNoPlace) {
  EXPECT_EQ(place({3, 2, 5}, {1}, {5, 6}, {2, 4}), std::nullopt);
  EXPECT_EQ(place({4, 3}, {0}, {6, 2}, {4, 8}), std::nullopt);
}

TEST(BatchChange, ScalesExactly) {
  EXPECT_EQ((BatchChange{4, 6}.scale(8)), 12);
  EXPECT_EQ((BatchChange{4, 6}.scale(9)), std::nullopt);
  EXPECT_EQ((BatchChange{1, INT64_MAX}.scale(2)), std::nullopt);
}

}  // namespace
}  // namespace perfc::passes
