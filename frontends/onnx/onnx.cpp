#include "frontends/onnx/onnx.h"

#include <algorithm>
#include <map>

#include "frontends/onnx/importer.h"
#include "frontends/onnx/text.h"

namespace perfc::onnx {
namespace {

/// "ms:FusedConv" → "com.microsoft.FusedConv".
std::string full_name(std::string_view spelling) {
  static constexpr std::pair<std::string_view, std::string_view> kDomains[] = {{"ms:", "com.microsoft."},
                                                                               {"ml:", "ai.onnx.ml."},
                                                                               {"tr:", "ai.onnx.preview.training."},
                                                                               {"pv:", "ai.onnx.preview."},
                                                                               {"trt:", "TRT."}};
  for (const auto& [prefix, domain] : kDomains) {
    if (spelling.starts_with(prefix)) return std::string(domain) + std::string(spelling.substr(prefix.size()));
  }
  return std::string(spelling);
}

}  // namespace

bool sniff_binary(std::string_view head) {
  // ModelProto: field 1 (ir_version) first, as every writer does, or field 8/7.
  return !head.empty() && (head[0] == 0x08 || head[0] == 0x3a || head[0] == 0x42);
}

bool sniff_text(std::string_view head) {
  return head.find("ir_version:") != std::string_view::npos || head.find("graph {") != std::string_view::npos;
}

Result<Graph> import_binary(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  return Importer(source.bytes(), source.path(), options, diags).run();
}

Result<Graph> import_text(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  auto message = text_to_wire(source.bytes(), diags);
  if (!message) return Failure{};
  return Importer(*message, source.path(), options, diags).run();
}

std::vector<OpCoverage> coverage() {
  std::map<std::string, std::string> becomes;
  for (const Spelling& s : spellings(&OpDef::onnx)) becomes[full_name(s.name)] = std::string(s.row->name);
  for (const TranslatorRow& row : translator_table()) becomes[full_name(row.spelling)] = std::string(row.becomes);
  std::vector<OpCoverage> out;
  out.reserve(becomes.size());
  for (auto& [source, result] : becomes) out.push_back({source, std::move(result)});
  return out;
}

}  // namespace perfc::onnx
