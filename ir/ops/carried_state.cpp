#include "ir/ops/carried_state.h"

namespace perfc::rules {

Result<Shape> windowed_state(const InferContext& c, Shape one) {
  const std::int64_t window = c.attrs.int_or("state_window", 0);
  if (window < 0) return c.error("state_window is {}, must not be negative", window);
  if (window > 0) one.insert(one.begin(), Dim(window));
  return one;
}

Result<Dim> captured_tokens(const InferContext& c) {
  const std::int64_t captured = c.attrs.int_or("state_update_capacity", 0);
  if (captured < 0 || captured > 8) return c.error("state_update_capacity is {}, must be 0 to 8", captured);
  return Dim(captured);
}

}  // namespace perfc::rules
