#include "pipeline/module_path.h"

#include "ir/support/text.h"

namespace perfc {

std::vector<std::string> module_path(std::string_view node_name) {
  std::vector<std::string> out;
  std::string before;  // the last segment, as it was written
  while (!node_name.empty()) {
    std::string_view segment = next_word(node_name, '/');
    if (segment.empty()) continue;
    const std::string written(segment);
    // Exporters repeat the outer modules in the inner one's name.
    if (!before.empty() && segment.starts_with(before + ".")) segment.remove_prefix(before.size() + 1);
    while (!segment.empty()) {
      const std::string_view part = next_word(segment, '.');
      if (!part.empty()) out.emplace_back(part);
    }
    before = written;
  }
  return out;
}

}  // namespace perfc
