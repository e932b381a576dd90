#pragma once
/// Predictions beside measurements, for tests.
#include <gtest/gtest.h>

#include <cmath>

namespace perfc {

/// `factor`: more than 1; the prediction is neither so many times as long nor as short.
inline void expect_measured(double predicted_us, double measured_us, double factor) {
  EXPECT_LT(std::abs(std::log(predicted_us / measured_us)), std::log(factor))
      << predicted_us << " µs, measured " << measured_us;
}

}  // namespace perfc
