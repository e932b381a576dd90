#pragma once
/// Small helpers on text.
#include <algorithm>
#include <string>
#include <string_view>

namespace perfc {

/// A to Z in lower case; other bytes stay.
inline std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace perfc
