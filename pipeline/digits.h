#pragma once
/// Numbers as files have them.
#include <cmath>

namespace perfc {

/// Six significant digits: more would claim what no predictor knows.
inline double six_digits(double x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  const double digits = 5 - std::floor(std::log10(std::abs(x)));
  const double scale = std::pow(10.0, std::abs(digits));
  if (!std::isfinite(scale)) return x;
  return digits < 0 ? std::round(x / scale) * scale : std::round(x * scale) / scale;
}

}  // namespace perfc
