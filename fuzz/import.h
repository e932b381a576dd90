#pragma once
/// What must hold of whatever bytes an importer is given: it refuses with a
/// diagnostic, or gives a graph that verifies and survives its text form.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "frontends/frontend.h"
#include "ir/builder.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace perfc::fuzz {

[[noreturn]] inline void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

inline void check_graph(const Graph& graph) {
  Diagnostics diags("fuzz");
  if (!verify(graph, diags)) fail("an imported graph does not verify:", diags.str());
  const std::string text = print_graph(graph);
  const auto again = parse_graph(text, diags);
  if (!again) fail("a printed graph does not parse:", diags.str() + text);
  if (!(*again == graph)) fail("a printed graph parses to another one:", text);
}

inline int import(const char* name, const std::uint8_t* data, std::size_t size) {
  Diagnostics diags(name);
  const Source source = Source::from_bytes(name, std::string(reinterpret_cast<const char*>(data), size));
  const auto graph = import_model(source, {}, diags);
  if (graph) {
    check_graph(*graph);
  } else if (diags.errors() == 0) {
    fail("refused without a diagnostic", name);
  }
  return 0;
}

}  // namespace perfc::fuzz
