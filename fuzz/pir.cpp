#include "fuzz/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perfc;
  Diagnostics diags("fuzz.pir");
  const auto graph = parse_graph(std::string(reinterpret_cast<const char*>(data), size), diags);
  if (graph) fuzz::check_graph(*graph);
  if (!graph && diags.errors() == 0) fuzz::fail("refused without a diagnostic", "fuzz.pir");
  return 0;
}
