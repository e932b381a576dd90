#include <gtest/gtest.h>

#include "frontends/frontend.h"
#include "ir/text/printer.h"

namespace perfc {
namespace {

constexpr const char* kModel =
    "// RUN: a comment before the version line\n"
    "#[version = \"perfc-ir/1\"]\n"
    "def @main(%x: Tensor[(N, 3, H), float32], %y: Tensor[(?, 3, 1), float32]) {\n"
    "  %z = add(%x, %y) : Tensor[(N, 3, H), float32];\n"
    "  (%z)\n"
    "}\n";

/// The header of the imported graph, or the messages.
std::string imported(const ImportOptions& options, const char* text = kModel, const char* name = "m.pir") {
  Diagnostics diags(name);
  const auto graph = import_model(Source::from_bytes(name, text), options, diags);
  if (!graph) return diags.str();
  const std::string out = print_graph(*graph);
  const std::size_t start = out.find("def");
  return out.substr(start, out.find(" {") - start);
}

TEST(PirImport, WithoutOptionsTheGraphIsAsWritten) {
  EXPECT_EQ(
      imported({}),
      "def @main(%x: Tensor[(N, 3, H), float32], %y: Tensor[(?, 3, 1), float32]) -> (Tensor[(N, 3, H), float32])");
}

TEST(PirImport, IsRecognisedByContent) { EXPECT_EQ(imported({}, kModel, "model"), imported({})); }

TEST(PirImport, DimsAndShapesAndBatch) {
  EXPECT_EQ(
      imported({.dims = {{"H", 7}}, .open_batch = 4}),
      "def @main(%x: Tensor[(4, 3, 7), float32], %y: Tensor[(4, 3, 1), float32]) -> (Tensor[(4, 3, 7), float32])");
  EXPECT_EQ(
      imported({.shapes = {{"x", {2, 3, 5}}, {"y", {2, 3, 1}}}}),
      "def @main(%x: Tensor[(2, 3, 5), float32], %y: Tensor[(2, 3, 1), float32]) -> (Tensor[(2, 3, 5), float32])");
  EXPECT_EQ(
      imported({.shapes = {{"x", {1, 4, 5}}, {"y", {1, 1, 1}}}}),
      "def @main(%x: Tensor[(1, 4, 5), float32], %y: Tensor[(1, 1, 1), float32]) -> (Tensor[(1, 4, 5), float32])");
}

TEST(PirImport, BadShapesAreExplained) {
  EXPECT_EQ(imported({.shapes = {{"z", {1}}}}),
            "m.pir: error: --shape: no input is named 'z' (did you mean 'x'?); the inputs are x, y\n");
  EXPECT_EQ(imported({.shapes = {{"", {1}}}}),
            "m.pir: error: --shape: name the input, as in --shape NAME=1,3,224,224; the inputs are x, y\n");
  EXPECT_EQ(imported({.shapes = {{"x", {1}}}}),
            "m.pir: 'x': error: --shape: 1 dims given, the input has 3: Tensor[(N, 3, H), float32]\n");
  EXPECT_EQ(imported({.shapes = {{"x", {1, -3, 1}}}}), "m.pir: 'x': error: --shape: negative dim -3\n");
}

}  // namespace
}  // namespace perfc
