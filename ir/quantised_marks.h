#pragma once
/// Attributes by which `fold-quantisation` says what of a call is in few bits where its types do not: it computes in
/// floats what the file computes in integers, or in floats that were quantised just before.
#include <cstdint>
#include <string_view>

#include "ir/attrs.h"

namespace perfc {

/// Of a product: bits of what its first operand was quantised to …
inline constexpr std::string_view kDataBits = "data_bits";
/// … and of its second one, whether a weight or not.
inline constexpr std::string_view kWeightBits = "weight_bits";
/// Bits that everything that reads the result quantises it to.
inline constexpr std::string_view kResultBits = "result_bits";

/// Gives a call that takes the place of another one its marks.
inline void copy_quantised_marks(const Attrs& from, Attrs& to) {
  for (const std::string_view mark : {kDataBits, kWeightBits, kResultBits})
    if (from.has(mark)) to.set(mark, from.int_or(mark, 0));
}

}  // namespace perfc
