#include "ir/module_path.h"

#include "ir/support/text.h"

namespace perfc {

std::vector<std::string_view> module_path(std::string_view node_name) {
  std::vector<std::string_view> out;
  std::string_view before;  // the last segment, as it was written
  while (!node_name.empty()) {
    std::string_view segment = next_word(node_name, '/');
    if (segment.empty()) continue;
    const std::string_view written = segment;
    // Exporters repeat the outer modules in the inner one's name.
    if (!before.empty() && segment.starts_with(before) && segment.substr(before.size()).starts_with('.'))
      segment.remove_prefix(before.size() + 1);
    while (!segment.empty()) {
      const std::string_view part = next_word(segment, '.');
      if (!part.empty()) out.push_back(part);
    }
    before = written;
  }
  return out;
}

}  // namespace perfc
