/// The archive, and the model inside of it without the archive around.
#include "frontends/keras/importer.h"
#include "fuzz/import.h"
#include "ir/support/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perfc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!text.starts_with("{")) return fuzz::import("fuzz.keras", data, size);
  Diagnostics diags("fuzz.keras");
  const auto document = json::Document::parse(text, diags);
  if (!document) return 0;
  const ImportOptions options;
  const auto graph = keras::Importer(document->root(), "fuzz", options, diags).run();
  if (graph) fuzz::check_graph(*graph);
  else if (diags.errors() == 0) fuzz::fail("refused without a diagnostic", "fuzz.keras");
  return 0;
}
