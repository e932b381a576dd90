#pragma once
/// Zero padding that TensorFlow and Keras write as an operator of its own before a window.
#include <span>

#include "frontends/common/emitter.h"

namespace perfc {

enum class PadsWith { Zero, Least };

/// Padding in front of a window that has none itself becomes the window's attribute `padding`, and its operand is
/// returned; x where it does not fit. A maximum pads with the least number, which is the same when nothing is negative.
ValueId absorb_pad(const Emitter&, ValueId x, std::span<const std::size_t> spatial, PadsWith, Attrs& attrs);

}  // namespace perfc
