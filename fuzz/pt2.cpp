/// The archive, and the program inside of it without the archive around.
#include "frontends/torch/pt2.h"
#include "frontends/torch/importer.h"
#include "fuzz/import.h"
#include "ir/support/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perfc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!text.starts_with("{")) return fuzz::import("fuzz.pt2", data, size);
  Diagnostics diags("fuzz.pt2");
  const auto document = json::Document::parse(text, diags);
  if (!document) return 0;
  const auto program = torch::read_exported(*document, nullptr, diags);
  if (!program) {
    if (diags.errors() == 0) fuzz::fail("refused without a diagnostic", "fuzz.pt2");
    return 0;
  }
  const ImportOptions options;
  const auto graph = torch::Importer(*program, options, diags).run();
  if (graph) fuzz::check_graph(*graph);
  else if (diags.errors() == 0) fuzz::fail("refused without a diagnostic", "fuzz.pt2");
  return 0;
}
