#pragma once
/// Attributes by which a PyTorch program's importer says what eager execution launches where the operators alone do
/// not. Compilers ask them only what is written in place.
#include <string_view>

namespace perfc {

/// Marks a call whose value follows from shapes and numbers alone (positions, masks): eager execution launches it all
/// the same, where a compiler computes it away, and even where nothing reads it.
inline constexpr std::string_view kLaunched = "launched";

/// Marks a call that is written out here but is part of what another call's kernel does: where an in-place operator
/// writes, how several index tensors meet.
inline constexpr std::string_view kInside = "inside";

}  // namespace perfc
