/// backends/onnx: every operator has a row, and docs/onnx-out.md lists those without a form.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "backends/onnx/onnx.h"
#include "frontends/frontend.h"
#include "ir/op_table.h"
#include "ir/text/parser.h"

namespace perfc::backends {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(PERFC_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OnnxOut, EveryOperatorHasARow) {
  std::map<std::string, int> rows;
  for (const OnnxForm& form : onnx_forms()) ++rows[std::string(form.op)];
  for (const OpDef* def : op_table()) EXPECT_EQ(rows[std::string(def->name)], 1) << def->name;
  EXPECT_EQ(rows.size(), op_table().size());
}

TEST(OnnxOut, DocumentationListsOperatorsWithoutAForm) {
  const std::string text = text_of("docs/onnx-out.md");
  std::map<std::string, std::string> listed;
  std::istringstream lines(text.substr(text.find("## Without a form")));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::size_t end = line.find("` | ");
    ASSERT_NE(end, std::string::npos) << line;
    listed[line.substr(3, end - 3)] = line.substr(end + 4, line.size() - end - 6);
  }
  std::map<std::string, std::string> rows;
  for (const OnnxForm& form : onnx_forms()) {
    EXPECT_NE(form.form.empty(), form.why_not.empty()) << form.op;
    if (form.form.empty()) rows[std::string(form.op)] = std::string(form.why_not);
  }
  EXPECT_EQ(listed, rows);
}

TEST(OnnxOut, ResultsWithoutNamesAreNamedAfterTheirValues) {
  Diagnostics diags("m.pir");
  const auto graph = parse_graph(
      "#[version = \"perfc-ir/1\"]\n"
      "def @main(%x: Tensor[(2,), float32]) {\n"
      "  %1 = nn.relu(%x) @\"act\";\n"
      "  %2 = tanh(%1);\n"
      "  (%1, %2, %2, %x)\n"
      "}\n",
      diags);
  ASSERT_TRUE(graph) << diags.str();
  const auto file = to_onnx(*graph, {}, {.output = "m.onnx"}, diags);
  ASSERT_TRUE(file) << diags.str();
  const auto back = import_model(Source::from_bytes("m.onnx", file->model), {}, diags);
  ASSERT_TRUE(back) << diags.str();
  EXPECT_EQ(back->result_names(), (std::vector<std::string>{"act", "result", "result_1", "x_1"}));
  EXPECT_EQ(diags.str(), "");
}

}  // namespace
}  // namespace perfc::backends
