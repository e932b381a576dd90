#pragma once
/// One HTML file: style, scripts and data in it, nothing from elsewhere (its Content-Security-Policy says so as well).
#include <string>
#include <string_view>
#include <vector>

namespace perfc {

struct Page {
  std::string title;                      ///< text, not markup
  std::string plain;                      ///< text for readers without scripts
  std::string_view body;                  ///< markup that the scripts fill
  std::vector<std::string_view> scripts;  ///< in order, behind D3
  std::string data;                       ///< JSON, for the scripts; may hold any text
};
std::string to_string(const Page&);

/// Six significant digits: more would claim what no predictor knows. What is not finite is 0, for JSON has no such.
double six_digits(double);

}  // namespace perfc
