/// Index arithmetic, and what masks of it let through.
#include "passes/affine_positions.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graphs.h"

namespace perfc::passes {
namespace {

using Sees = AffinePositions::Sees;

/// What the last comparison of keys %5 (1, 1, 1, 6) and queries %6 (1, 1, 6, 1) lets through.
Sees sees(std::string_view comparison) {
  const Graph g = graph_of(fmt::format(R"(def @main() {{
  %0 = const[0] : Tensor[(), int64];
  %1 = const[6] : Tensor[(), int64];
  %2 = const[1] : Tensor[(), int64];
  %3 = const[0, 1, 2] : Tensor[(3,), int64];
  %4 = const[0, 1, 3] : Tensor[(3,), int64];
  %5 = arange(%0, %1, %2);
  %6 = expand_dims(%5, %3);
  %7 = expand_dims(%5, %4);
{}
  (%9)
}})",
                                       comparison));
  return AffinePositions(g).sees(g.results()[0]);
}

TEST(AffinePositions, ComparisonsOfPositions) {
  EXPECT_EQ(sees("  %8 = const[5] : Tensor[(), int64];\n  %9 = less_equal(%6, %7);"), Sees::Past);
  EXPECT_EQ(sees("  %8 = const[5] : Tensor[(), int64];\n  %9 = greater_equal(%7, %6);"), Sees::Past);
  EXPECT_EQ(sees("  %8 = const[5] : Tensor[(), int64];\n  %9 = less(%6, %7);"), Sees::Unknown);        // not its own
  EXPECT_EQ(sees("  %8 = const[5] : Tensor[(), int64];\n  %9 = less_equal(%7, %6);"), Sees::Unknown);  // the future
  EXPECT_EQ(sees("  %8 = subtract(%6, %7);\n  %9 = less_equal(%8, %1);"), Sees::All);
}

/// A window that reaches beyond the first key hides none; one of four hides some.
TEST(AffinePositions, WindowsHideOrNot) {
  EXPECT_EQ(sees("  %8 = subtract(%7, %1);\n  %9 = greater(%6, %8);"), Sees::All);
  EXPECT_EQ(sees("  %8 = subtract(%7, %2);\n  %9 = greater(%6, %8);"), Sees::Unknown);
}

/// Numbers near the ends of 64 bits, and empty parts, are not known.
TEST(AffinePositions, WhatDoesNotFitIsUnknown) {
  for (const char* program :
       {"  %8 = const[9223372036854775807, -9223372036854775807, 0, 0, 0, 0] : Tensor[(6,), int64];\n"
        "  %9 = less_equal(%8, %7);",
        "  %8 = const[9223372036854775807] : Tensor[(), int64];\n  %9 = less_equal(%7, %8);"}) {
    EXPECT_NE(sees(program), Sees::Past);
  }
  const Graph g = graph_of(R"(def @main() {
  %0 = const[] : Tensor[(0,), int64];
  %1 = const[3, 4] : Tensor[(2,), int64];
  %2 = concatenate(%0, %1, axis=0);
  %3 = less(%2, %1);
  (%3)
})");
  EXPECT_EQ(AffinePositions(g).sees(g.results()[0]), Sees::Unknown);
}

}  // namespace
}  // namespace perfc::passes
