#pragma once
/// Positions of an attention call's operands.
#include <cstddef>

namespace perfc {

/// Of nn.attention; nn.sdpa has the first four.
struct AttentionOperand {
  enum Index : std::size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kNonpad };
};

}  // namespace perfc
