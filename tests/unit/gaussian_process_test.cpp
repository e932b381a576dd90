/// The Gaussian process on residuals, on cases that can be solved by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "gnn/models/gaussian_process.h"

namespace perfc {
namespace {

GaussianProcess fitted(const Matrix<float>& x, const std::vector<double>& y, const std::vector<int>& groups,
                       GaussianProcessOptions o = {}) {
  Diagnostics diags("test");
  ThreadPool threads(1);
  auto p = GaussianProcess::fit(x, y, groups, o, Random(1), threads, diags);
  EXPECT_TRUE(p) << diags.str();
  return p ? *std::move(p) : GaussianProcess{};
}

/// One point: weight w solves (k² + noise (k + jitter)) w = k y with k = 1.
TEST(GaussianProcess, OnePointShrinksItsTargetByTheNoise) {
  Matrix<float> x(1, 2);
  x(0, 0) = 3, x(0, 1) = -1;
  const GaussianProcess p = fitted(x, {0.5}, {0}, {.noise = 0.25});
  const float at[] = {3, -1};
  EXPECT_NEAR(p.at(at, 0).mean, 0.5 / (1 + 0.25 * 1.001), 1e-6);
  EXPECT_NEAR(p.at(at, 0).similarity, 1, 1e-6);
}

/// Points of other groups count half.
TEST(GaussianProcess, WhatIsKnownOfOneGroupIsHalfKnownOfAnother) {
  Matrix<float> x(2, 1);
  x(0, 0) = 0, x(1, 0) = 1000;
  const GaussianProcess p = fitted(x, {0.5, 0.5}, {0, 1}, {.length = 0.1});
  const float at[] = {0};
  EXPECT_NEAR(p.at(at, 1).mean, p.at(at, 0).mean * GaussianProcess::kOtherGroup, 1e-6);
}

/// Equal graphs on two devices with opposite errors: K = [1 ½; ½ 1] has the eigenvalue ½ for (1, −1), so that the
/// weights ±w solve (½² + noise (½ + jitter)) w = ½ y, and the first device gets w − ½ w. Were another device's
/// points as good as one's own, the errors would cancel.
TEST(GaussianProcess, OppositeErrorsOnTwoDevicesDoNotCancel) {
  Matrix<float> x(2, 1);
  x(0, 0) = x(1, 0) = 3;
  const GaussianProcess p = fitted(x, {0.4, -0.4}, {0, 1}, {.noise = 0.1});
  const float at[] = {3};
  const double weight = 0.5 * 0.4 / (0.25 + 0.1 * 0.501);
  EXPECT_NEAR(p.at(at, 0).mean, weight / 2, 1e-6);
  EXPECT_NEAR(p.at(at, 1).mean, -weight / 2, 1e-6);
}

TEST(GaussianProcess, AGroupWithoutPointsGetsTheMeanOfTheOthers) {
  Matrix<float> x(3, 1);
  x(0, 0) = 0, x(1, 0) = 0.5, x(2, 0) = 1;
  const float at[] = {0.4F};
  const GaussianProcess one = fitted(x, {0.5, 0.7, 0.1}, {4, 4, 4});
  EXPECT_NEAR(one.at(at, GaussianProcess::kNoGroup).mean, one.at(at, 4).mean, 1e-6);
  const GaussianProcess two = fitted(x, {0.5, 0.7, 0.1}, {4, 9, 9});
  EXPECT_NE(two.at(at, 4).mean, two.at(at, 9).mean);
  EXPECT_NEAR(two.at(at, GaussianProcess::kNoGroup).mean, (two.at(at, 4).mean + two.at(at, 9).mean) / 2, 1e-6);
}

TEST(GaussianProcess, FarFromAllPointsNothingIsKnown) {
  Matrix<float> x(2, 1);
  x(0, 0) = 0, x(1, 0) = 1;
  const GaussianProcess p = fitted(x, {1, 1}, {0, 0}, {.length = 1});
  const float near[] = {0.5F}, far[] = {50};
  EXPECT_GT(p.at(near, 0).mean, 0.8);
  EXPECT_EQ(p.at(far, 0).mean, 0);
  EXPECT_EQ(p.at(far, 0).similarity, 0);
}

TEST(GaussianProcess, FewerPointsThanSamplesStillFitASmoothTarget) {
  constexpr std::size_t n = 400;
  Matrix<float> x(n, 1);
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i) {
    x(i, 0) = static_cast<float>(i) / 40;
    y.push_back(std::sin(static_cast<double>(i) / 40));
  }
  const GaussianProcess p = fitted(x, y, std::vector<int>(n, 0), {.length = 0.5, .noise = 0.01, .most_points = 60});
  EXPECT_EQ(p.points().rows(), 60U);
  for (const std::size_t i : {20U, 133U, 377U}) EXPECT_NEAR(p.at(std::span(x.data() + i, 1), 0).mean, y[i], 0.02) << i;
}

TEST(GaussianProcess, TargetsThatAreNoNumbersAreAnError) {
  Matrix<float> x(1, 1);
  x(0, 0) = 1;
  Diagnostics diags("test");
  ThreadPool threads(1);
  EXPECT_FALSE(
      GaussianProcess::fit(x, std::vector<double>{std::nan("")}, std::vector<int>{0}, {}, Random(1), threads, diags));
  EXPECT_NE(diags.str().find("has no solution"), std::string::npos) << diags.str();
}

}  // namespace
}  // namespace perfc
