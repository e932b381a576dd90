#pragma once
/// Adaptive pooling with a known input extent, as a pooling window.
#include <cstdint>
#include <optional>

namespace perfc {

/// One axis: `output` windows over `input` elements.
struct AdaptiveWindow {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  bool uneven = false;  ///< the windows differ in size (`kUneven`)
};

/// Window i of an adaptive pool covers ⌊i·in/out⌋ … ⌈(i+1)·in/out⌉. Where `output`
/// divides `input` all windows are alike; elsewhere this is the uniform window
/// that gives as many results and together reads at least as much. Nothing when
/// the extents are not positive. An output larger than the input repeats
/// elements, which no window does.
inline std::optional<AdaptiveWindow> adaptive_window(std::int64_t input, std::int64_t output) {
  if (input < 1 || output < 1 || output > input) return std::nullopt;
  const std::int64_t stride = input / output;
  return AdaptiveWindow{.kernel = input - (output - 1) * stride, .stride = stride, .uneven = input % output != 0};
}

}  // namespace perfc
