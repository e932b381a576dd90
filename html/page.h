#pragma once
/// One HTML file: style, scripts and data in it, nothing from elsewhere (its Content-Security-Policy says so as well).
#include <string>
#include <string_view>
#include <vector>

namespace perfc {

struct Page {
  std::string title;                      ///< text, not markup
  std::string plain;                      ///< text for readers without scripts; empty: the body says all
  std::string body;                       ///< markup between the plain text and the footer
  std::vector<std::string_view> scripts;  ///< in order, behind D3
  std::string data;                       ///< JSON, for the scripts; may hold any text
};
std::string to_string(const Page&);

/// For text between tags and in quoted attributes.
std::string html_text(std::string_view);

}  // namespace perfc
