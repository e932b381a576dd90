#pragma once
/// Small ONNX models in protobuf text form.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/imported.h"

namespace perfc::testing {

/// `body` is "graph { … }".
inline Imported import_text(std::string body, const ImportOptions& options = {}, int opset = 20) {
  Imported out{.diags = Diagnostics("m.onnxtxt")};
  const Source source = Source::from_bytes(
      "m.onnxtxt", "ir_version: 9\nopset_import { version: " + std::to_string(opset) + " }\n" + body);
  out.graph = import_model(source, options, out.diags);
  return out;
}

/// A graph's input, output or value_info.
inline std::string value(std::string_view kind, std::string_view name, const std::vector<std::string>& dims,
                         int elem = 1) {
  std::string out = std::string(kind) + " { name: \"" + std::string(name) +
                    "\" type { tensor_type { elem_type: " + std::to_string(elem) + " shape { ";
  for (const std::string& d : dims) {
    out += std::isdigit(static_cast<unsigned char>(d[0])) ? "dim { dim_value: " + d + " } "
                                                          : "dim { dim_param: \"" + d + "\" } ";
  }
  return out + "} } } }\n";
}

/// Type of the graph's result i.
inline std::string result_type(const Imported& m, std::size_t i = 0) {
  EXPECT_TRUE(m.graph) << m.diags.str();
  return m.graph ? to_string(m.graph->type(m.graph->results()[i])) : "";
}

}  // namespace perfc::testing
