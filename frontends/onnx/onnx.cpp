#include "frontends/onnx/onnx.h"

#include "frontends/onnx/importer.h"
#include "frontends/onnx/text.h"

namespace perfc::onnx {

bool sniff_binary(std::string_view head) {
  // ModelProto: field 1 (ir_version) first, as every writer does, or field 8/7.
  return !head.empty() && (head[0] == 0x08 || head[0] == 0x3a || head[0] == 0x42);
}

bool sniff_text(std::string_view head) {
  return head.find("ir_version:") != std::string_view::npos ||
         head.find("graph {") != std::string_view::npos;
}

Result<Graph> import_binary(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  return Importer(source.bytes(), options, diags).run();
}

Result<Graph> import_text(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  auto message = text_to_wire(source.bytes(), diags);
  if (!message) return Failure{};
  return Importer(*message, options, diags).run();
}

std::vector<Coverage> coverage() {
  std::vector<Coverage> out;
  for (const TranslatorRow& row : translator_table()) out.push_back({row.spelling, row.becomes});
  return out;
}

}  // namespace perfc::onnx
