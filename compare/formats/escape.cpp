#include "compare/formats/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace perfc {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (static_cast<unsigned char>(c) & 0x80);
}

}  // namespace

std::string markdown_code(std::string_view text) {
  if (text.empty()) return "–";
  const bool plain_span = text.find_first_of("`|\\") == std::string_view::npos;
  const bool spaced = text.front() == ' ' || text.back() == ' ';
  if (plain_span && !spaced) return fmt::format("`{}`", text);
  // Character references are never markup, and links and mentions are not made in <code>.
  std::string out = "<code>";
  for (const char c : text) out += is_plain(c) || c == ' ' ? std::string(1, c) : fmt::format("&#{};", int{c});
  return out + "</code>";
}

std::string markdown_word(std::string_view text) {
  const bool safe = !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_plain(c) || c == ' ' || c == '.' || c == ':' || c == '-' || c == '%' || c == '+' || c == ',';
  });
  return safe && is_plain(text.front()) ? std::string(text) : markdown_code(text);
}

std::string uri_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool unreserved = (is_plain(c) && !(static_cast<unsigned char>(c) & 0x80)) || c == '-' || c == '.' ||
                            c == '_' || c == '~' || c == '/';
    out += unreserved ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace perfc
