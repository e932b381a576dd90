#pragma once
/// What readers of line-oriented files share.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace perfc {

inline std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

struct Line {
  std::string_view text;  ///< trimmed
  std::int32_t number = 1;
  std::size_t begin = 0;  ///< offset of the line in the file
};

/// Walks through the lines of a text.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  bool done() const { return at_ >= text_.size(); }
  Line next() {
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    at_ = end + 1;
    return {trimmed(text_.substr(begin, end - begin)), ++number_, begin};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::int32_t number_ = 0;
};

inline std::vector<Line> first_lines(std::string_view text, std::size_t count) {
  std::vector<Line> out;
  for (Lines lines(text.substr(0, 1 << 16)); !lines.done() && out.size() < count;) out.push_back(lines.next());
  return out;
}

}  // namespace perfc
