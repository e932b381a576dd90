#pragma once
/// Small helpers on text.
#include <algorithm>
#include <string>
#include <string_view>

namespace perfc {

/// A to Z in lower case; other bytes stay.
inline std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

/// Takes the next of several words off `rest`; "" at the end, and between two separators.
inline std::string_view next_word(std::string_view& rest, char separator = ' ') {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

}  // namespace perfc
