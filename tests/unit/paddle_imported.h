#pragma once
/// Paddle programs for tests, imported.
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "tests/unit/imported.h"
#include "tests/unit/paddle_program.h"

namespace perfc::testing::paddle {

using testing::Imported, testing::only;

inline Imported import_bytes(const char* file, std::string bytes, const ImportOptions& options = {}) {
  Imported out{.diags = Diagnostics(file)};
  const Source source = Source::from_bytes(file, std::move(bytes));
  out.graph = import_model(source, options, out.diags);
  if (out.graph) {
    Diagnostics verdict("verify");
    EXPECT_TRUE(verify(*out.graph, verdict)) << verdict.str();
  }
  return out;
}
inline Imported program(const std::string& main, const std::string& further_blocks = "",
                        const ImportOptions& options = {}) {
  return import_bytes("m.pdmodel", block(0, -1, main) + further_blocks, options);
}
inline Imported pir(const std::vector<std::string>& operations, const ImportOptions& options = {}) {
  return import_bytes("m.json", pir_program(operations), options);
}

inline std::string result_type(const Imported& m, std::size_t i = 0) {
  if (!m.graph) return m.diags.str();
  return i < m.graph->results().size() ? to_string(m.graph->type(m.graph->results()[i])) : "no such result";
}

/// One operator on inputs of these types, both of its outputs' slots by name.
struct Input {
  std::string slot;
  Dims dims;
  Element element = kFloat32;
};
inline Imported one_operation(const std::string& type, const std::vector<Input>& inputs, const Attributes& attrs,
                              const std::string& out = "Out", const ImportOptions& options = {}) {
  std::string variables, feeds;
  Slots slots;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    variables += variable(name, inputs[i].element, inputs[i].dims);
    feeds += feed(name, static_cast<int>(i));
    if (!slots.empty() && slots.back().first == inputs[i].slot) slots.back().second.push_back(name);
    else slots.push_back({inputs[i].slot, {name}});
  }
  return program(variables + feeds + operation(type, slots, {{out, {"y"}}}, attrs) + fetch("y"), "", options);
}
inline std::string type_of(const std::string& type, const std::vector<Input>& inputs, const Attributes& attrs = {},
                           const std::string& out = "Out") {
  return result_type(one_operation(type, inputs, attrs, out));
}

}  // namespace perfc::testing::paddle
