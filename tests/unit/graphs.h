#pragma once
/// Graphs for tests, from the text form.
#include <gtest/gtest.h>

#include <string>

#include "ir/text/parser.h"

namespace perfc {

/// Parses a `.pir` function; fails the test (and returns an empty graph) on an error.
inline Graph graph_of(const std::string& body) {
  Diagnostics diags("test.pir");
  auto graph = parse_graph("#[version = \"perfc-ir/1\"]\n" + body, diags);
  EXPECT_TRUE(graph) << diags.str();
  return graph ? *std::move(graph) : Graph{};
}

}  // namespace perfc
