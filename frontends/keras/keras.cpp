#include "frontends/keras/keras.h"

#include <algorithm>

#include "frontends/common/zip.h"
#include "frontends/keras/importer.h"
#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

/// "model" of "models/model.keras".
std::string stem(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  return std::string(path.substr(0, path.find(".keras")));
}

}  // namespace

/// A member's name stands 30 bytes behind the head of its local header (APPNOTE.TXT 4.3.7).
bool sniff(std::string_view head) {
  if (!head.starts_with("PK\x03\x04") || head.size() < 64) return false;
  const std::string_view name = head.substr(30);
  return name.starts_with("metadata.json") || name.starts_with("config.json");
}

Result<Graph> import_archive(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const auto zip = ZipArchive::open(source.bytes(), diags);
  if (!zip) return Failure{};
  const auto member = zip->find("config.json");
  if (!member) return diags.error("a zip archive without config.json; a Keras archive (.keras) was expected");
  const auto text = zip->read(*member, diags);
  if (!text) return Failure{};
  const auto document = json::Document::parse(*text, diags);
  if (!document) return Failure{};
  return Importer(document->root(), stem(source.name()), options, diags).run();
}

std::vector<OpCoverage> coverage() {
  std::vector<OpCoverage> out;
  for (const Row& row : table()) out.push_back({std::string(row.name), std::string(row.becomes)});
  for (const auto& [name, becomes] : {std::pair{"InputLayer", "an input"}, std::pair{"Functional", "its layers"},
                                      std::pair{"Sequential", "its layers"}})
    out.push_back({name, becomes});
  std::ranges::sort(out, {}, &OpCoverage::source);
  return out;
}

}  // namespace perfc::keras
