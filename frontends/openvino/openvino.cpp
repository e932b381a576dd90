#include "frontends/openvino/openvino.h"

#include <algorithm>

#include "frontends/openvino/importer.h"
#include "frontends/openvino/table.h"

namespace perfc::openvino {

bool sniff(std::string_view head) {
  const std::size_t root = head.find("<net ");
  return root != head.npos && head.substr(0, root).find_first_not_of(" \t\r\n") == head.find('<') &&
         head.find("version=", root) != head.npos;
}

Result<Graph> import_xml(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const auto model = read_model(source.bytes(), diags);
  if (!model) return Failure{};
  return Importer(*model, source.name(), source.path(), options, diags).run();
}

std::vector<OpCoverage> coverage() {
  std::vector<OpCoverage> out;
  for (const Row& row : table())
    out.push_back({std::string(row.type), std::string(row.op ? def(row.op).name : row.becomes)});
  for (const auto& [name, becomes] : {std::pair{"Parameter", "an input"}, std::pair{"Result", "a result"}})
    out.push_back({name, becomes});
  std::ranges::sort(out, {}, &OpCoverage::source);
  return out;
}

}  // namespace perfc::openvino
