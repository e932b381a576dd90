#pragma once
/// What importing a model gave, for tests of front ends.
#include <gtest/gtest.h>

#include "frontends/frontend.h"

namespace perfc::testing {

/// A graph, or the messages that say why there is none.
struct Imported {
  Result<Graph> graph = Failure{};
  Diagnostics diags;
};

/// The one node of an operator; null: there is none, or no graph.
inline const Node* only(const Imported& m, OpId id) {
  const Node* found = nullptr;
  if (!m.graph) return found;
  for (const Node& n : m.graph->nodes()) {
    if (!n.is(id)) continue;
    EXPECT_EQ(found, nullptr) << "twice: " << def(id).name;
    found = &n;
  }
  return found;
}

}  // namespace perfc::testing
