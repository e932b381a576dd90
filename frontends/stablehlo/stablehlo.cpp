#include "frontends/stablehlo/stablehlo.h"

#include "frontends/stablehlo/importer.h"

namespace perfc::stablehlo {

bool sniff(std::string_view head) {
  if (head.find('\0') != head.npos) return false;
  const bool module = head.find("module") != head.npos || head.find("func.func") != head.npos;
  return module && (head.find("tensor<") != head.npos || head.find("#loc") != head.npos ||
                    head.find("module @") != head.npos || head.find("builtin.module") != head.npos);
}

Result<Graph> import_text(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const auto module = parse_module(source.bytes(), diags);
  if (!module) return Failure{};
  return Importer(*module, options, diags).run();
}

}  // namespace perfc::stablehlo
