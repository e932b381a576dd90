#pragma once
/// Contents of tensors in files: which are kept, and how their bytes read.
#include <cstdint>
#include <string_view>

#include "ir/attrs.h"

namespace perfc {

/// Tensors with more elements than this are weights, unless they hold integers.
inline constexpr std::int64_t kMaxSmall = 64;

/// Are the contents of a tensor kept? Integers (32 and 64 bits) and bools up to
/// `Data::kMaxElements` elements, other types that perfc reads up to `kMaxSmall`.
bool keeps_contents(DType, std::int64_t count);

/// Raw little-endian elements → values. `raw` holds at least `count` elements of
/// a type that `keeps_contents` knows, strings excepted.
void read_raw(std::string_view raw, DType, std::int64_t count, Data& data);

}  // namespace perfc
