/// The operator table: no row leaves anything open.
#include "ir/op_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace perfc {
namespace {

/// Names of the columns that a row has not set.
std::vector<std::string> missing(const OpDef& row) {
  std::vector<std::string> out;
  const auto need = [&](bool set, const char* column) {
    if (!set) out.emplace_back(column);
  };
  need(!row.name.empty(), "name");
  need(row.category != Category::Opaque || row.name == "opaque", "category");
  need(row.operands.least >= 0 && row.operands.most >= -1, "operands");
  need(row.takes != Takes::Unset, "takes");
  need(row.infer != nullptr, "infer");
  need(row.eval != nullptr, "eval");
  need(row.cost != nullptr, "cost");
  need(row.runs.autocast != Autocast::Unset, "runs.autocast");
  need(row.runs.keeps != Keeps::Unset, "runs.keeps");
  need(row.runs.fusion != Fusion::Unset, "runs.fusion");
  need(row.runs.launch != Launch::Unset, "runs.launch");
  need(row.runs.format != MemoryFormat::Unset, "runs.format");
  need((row.saved_states > 0) == (row.runs.keeps == Keeps::Gates), "saved_states");
  return out;
}

TEST(OpTable, RowsAreComplete) {
  for (const OpDef* row : op_table()) {
    for (const std::string& column : missing(*row)) {
      ADD_FAILURE() << "operator \"" << row->name << "\" (ir/ops/table/): column " << column << " is left out";
    }
  }
}

TEST(OpTable, AnIncompleteRowIsNamedByColumn) {
  EXPECT_EQ(missing({.name = "new", .category = Category::Elementwise, .operands = {1, 1}, .takes = Takes::Float}),
            (std::vector<std::string>{"infer", "eval", "cost", "runs.autocast", "runs.keeps", "runs.fusion",
                                      "runs.launch", "runs.format"}));
}

TEST(OpTable, NamesHashApart) {
  std::map<std::uint32_t, std::string_view> seen;
  for (const OpDef* row : op_table()) {
    const auto [at, is_new] = seen.emplace(operator_hash(row->name), row->name);
    EXPECT_TRUE(is_new) << row->name << " and " << at->second << ": rename the newer one";
    const auto found = find_op(row->name);
    ASSERT_TRUE(found) << row->name;
    EXPECT_EQ(&def(*found), row);
    EXPECT_EQ(op_table()[index_of(*found)], row);
  }
}

TEST(OpTable, SpellingsBelongToOneRow) {
  for (const auto column : {&OpDef::onnx, &OpDef::aten, &OpDef::tf, &OpDef::paddle}) {
    std::map<std::string_view, std::string_view> seen;
    for (const Spelling& s : spellings(column)) {
      const auto [at, is_new] = seen.emplace(s.name, s.row->name);
      EXPECT_EQ(at->second, s.row->name) << s.name << " stands for both";
    }
    EXPECT_GT(seen.size(), 50U);
  }
}

TEST(OpTable, SpellingsHaveParameters) {
  for (const Spelling& s : spellings(&OpDef::aten)) {
    if (s.name == "leaky_relu") EXPECT_EQ(s.parameters, "self negative_slope=alpha");
    EXPECT_TRUE(s.bare == s.parameters.empty()) << s.name;
  }
}

TEST(OpTable, KernelsOfOtherOperatorsExist) {
  for (const OpDef* row : op_table()) {
    if (row->kernel) EXPECT_TRUE(is_operator(row->kernel)) << row->name;
    for (const OpId part : row->before) {
      if (part) EXPECT_TRUE(is_operator(part)) << row->name;
    }
  }
}

TEST(OpTable, AnUnknownNameIsNoOperator) {
  EXPECT_FALSE(find_op("nn.conv2d "));
  EXPECT_FALSE(is_operator(OpId{}));
  EXPECT_EQ(def(OpId{}).name, "opaque");
}

}  // namespace
}  // namespace perfc
