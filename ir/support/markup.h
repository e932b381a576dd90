#pragma once
/// What stands for a character in XML and HTML.
#include <string_view>

namespace perfc {

/// The reference that stands for a character which is markup in text or in an attribute; empty: the character itself.
constexpr std::string_view character_reference(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace perfc
