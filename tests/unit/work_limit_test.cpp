#include "ir/support/work_limit.h"

#include <gtest/gtest.h>

#include <thread>

#include "frontends/frontend.h"
#include "ir/symbol_scope.h"

namespace perfc {
namespace {

Result<Graph> import(const std::string& dim, Diagnostics& diags) {
  const std::string text = "#[version = \"perfc-ir/1\"]\ndef @main(%x: Tensor[(" + dim +
                           ", 3), float32]) {\n  %1 = nn.relu(%x);\n  %2 = nn.relu(%1);\n  (%2)\n}\n";
  return import_model(Source::from_bytes("m.pir", text), {}, diags);
}

TEST(WorkLimit, HoldsWhileItLives) {
  const auto later = WorkLimit::Clock::now() + std::chrono::hours(1);
  {
    Diagnostics diags("m.pir");
    WorkLimit limit(2, later);
    EXPECT_FALSE(import("N", diags));
    EXPECT_NE(diags.str().find("more than 2 nodes"), std::string::npos) << diags.str();
    EXPECT_TRUE(limit.met_too_many_nodes());
    EXPECT_FALSE(limit.ran_late());
  }
  {
    Diagnostics diags("m.pir");
    WorkLimit limit(100, WorkLimit::Clock::now());
    EXPECT_FALSE(import("N", diags));
    EXPECT_NE(diags.str().find("the time for this model is up"), std::string::npos) << diags.str();
    EXPECT_TRUE(limit.ran_late());
  }
  Diagnostics diags("m.pir");
  EXPECT_TRUE(import("N", diags)) << diags.str();
}

TEST(WorkLimit, IsOfOneThread) {
  const WorkLimit limit(1, WorkLimit::Clock::now());
  std::thread([] {
    Diagnostics diags("m.pir");
    EXPECT_EQ(WorkLimit::current(), nullptr);
    EXPECT_TRUE(import("N", diags)) << diags.str();
  }).join();
}

TEST(SymbolScope, KeepsNewNamesToItself) {
  const SymInt before = SymInt::symbol("known_before");
  {
    const SymbolScope scope;
    EXPECT_EQ(SymInt::symbol("known_before"), before);
    const SymInt own = SymInt::symbol("of_the_scope");
    EXPECT_EQ(own, SymInt::symbol("of_the_scope"));
    EXPECT_NE(own, SymInt::symbol("another"));
    EXPECT_NE(own, before);
    EXPECT_EQ(own.symbol_name(), "of_the_scope");
    EXPECT_EQ(before.symbol_name(), "known_before");
    std::thread([&] { EXPECT_NE(SymInt::symbol("of_the_scope"), own); }).join();
    Diagnostics diags("m.pir");
    const auto graph = import("of_the_scope", diags);
    ASSERT_TRUE(graph) << diags.str();
    EXPECT_EQ(to_string(graph->type(graph->params()[0]).shape()), "(of_the_scope, 3)");
  }
  EXPECT_EQ(SymInt::symbol("another").symbol_name(), "another");
}

}  // namespace
}  // namespace perfc
