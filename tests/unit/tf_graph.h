#pragma once
/// TensorFlow graphs for tests: GraphDefs as text, written by hand, and imported.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/control_flow.h"
#include "ir/infer_context.h"
#include "ir/text/printer.h"
#include "tests/unit/imported.h"

namespace perfc::testing::tf {

using testing::Imported, testing::only;

inline Imported import_graph(std::string text, const ImportOptions& options = {}) {
  Imported out{.diags = Diagnostics("m.pbtxt")};
  const Source source = Source::from_bytes("m.pbtxt", std::move(text));
  out.graph = import_model(source, options, out.diags);
  return out;
}

inline std::string shape(const std::vector<int>& dims) {
  std::string out = "shape { ";
  for (int d : dims) out += "dim { size: " + std::to_string(d) + " } ";
  return out + "}";
}

inline std::string attr(const std::string& key, const std::string& value) {
  return "attr { key: \"" + key + "\" value { " + value + " } } ";
}

inline std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& attrs = "") {
  std::string out = "node { name: \"" + name + "\" op: \"" + op + "\" ";
  for (const std::string& i : inputs) out += "input: \"" + i + "\" ";
  return out + attrs + "}\n";
}

inline std::string placeholder(const std::string& name, const std::vector<int>& dims,
                               const std::string& type = "DT_FLOAT") {
  return node(name, "Placeholder", {}, attr("dtype", "type: " + type) + attr("shape", shape(dims)));
}

inline std::string weight(const std::string& name, const std::vector<int>& dims) {
  std::string tensor_shape = "tensor_" + shape(dims);
  return node(name, "Const", {},
              attr("dtype", "type: DT_FLOAT") + attr("value", "tensor { dtype: DT_FLOAT " + tensor_shape + " }"));
}

inline std::string ints(const std::string& name, const std::vector<int>& values) {
  std::string v;
  for (int x : values) v += "int_val: " + std::to_string(x) + " ";
  return node(
      name, "Const", {},
      attr("dtype", "type: DT_INT32") +
          attr("value", "tensor { dtype: DT_INT32 tensor_" + shape({static_cast<int>(values.size())}) + " " + v + "}"));
}

inline std::string int_scalar(const std::string& name, int value) {
  return node(name, "Const", {},
              attr("dtype", "type: DT_INT32") +
                  attr("value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: " + std::to_string(value) + " }"));
}

inline std::string conv_attrs(const std::string& padding, int stride, const std::string& more = "") {
  const std::string s = std::to_string(stride);
  return attr("T", "type: DT_FLOAT") + attr("padding", "s: \"" + padding + "\"") + attr("data_format", "s: \"NHWC\"") +
         attr("strides", "list { i: 1 i: " + s + " i: " + s + " i: 1 }") + more;
}

inline std::string result_type(const Imported& m, std::size_t i = 0) {
  EXPECT_TRUE(m.graph) << m.diags.str();
  return m.graph ? to_string(m.graph->type(m.graph->results()[i])) : "";
}

inline int count(const Imported& m, OpId id) {
  return m.graph ? static_cast<int>(std::ranges::count_if(m.graph->nodes(), [&](const Node& n) { return n.is(id); }))
                 : -1;
}

inline double macs(const Graph& g, double repeat = 1) {
  double total = 0;
  for (NodeId id = 0; id < g.size(); ++id) {
    total += repeat * op_cost(g, id).macs;
    const SymInt trips = g.node(id).regions.empty() ? SymInt(1) : trip_count(g, id);
    for (const GraphRef& r : g.node(id).regions)
      total += macs(*r, repeat * static_cast<double>(trips.known() ? trips.value() : 1));
  }
  return total;
}

inline std::string int_placeholder(const std::string& name, const std::vector<int>& dims) {
  return placeholder(name, dims, "DT_INT32");
}

}  // namespace perfc::testing::tf
