#include "frontends/torch/torch.h"

#include <set>

#include "frontends/torch/aten_table.h"
#include "frontends/torch/importer.h"
#include "frontends/torch/torchscript.h"

namespace perfc::torch {

bool sniff_json(std::string_view head) {
  return head.find("\"torchscript-json\"") != std::string_view::npos;
}

Result<Graph> import_json(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const auto document = json::Document::parse(source.bytes(), diags);
  if (!document) return Failure{};
  const auto program = read_torchscript(*document, diags);
  if (!program) return Failure{};
  return Importer(*program, options, diags).run();
}

bool sniff_archive(std::string_view head) { return head.starts_with("PK\x03\x04"); }

Result<Graph> import_archive(const Source&, const ImportOptions&, Diagnostics& diags) {
  return diags.error("a TorchScript archive, whose code is Python text; convert it with "
                     "`python -m perfc.export MODEL.pt` and import the JSON file");
}

std::vector<Coverage> coverage() {
  std::vector<Coverage> out;
  std::set<std::string_view> seen;
  for (const AtenRow& row : aten_table()) {
    if (!seen.insert(row.name).second) continue;
    out.push_back({row.name, row.translate ? row.becomes : def(row.op).name});
  }
  return out;
}

}  // namespace perfc::torch
