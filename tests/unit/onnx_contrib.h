#pragma once
/// One node of com.microsoft, and what the importer makes of it.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "ir/eager_marks.h"
#include "ir/infer_context.h"
#include "tests/unit/onnx_text.h"

namespace perfc::testing {

/// An operand; element type 0: it is omitted. With values, an initializer of integers.
struct ContribOperand {
  int elem = 1;
  std::vector<int> dims = {};
  std::vector<int> values = {};
};
inline const ContribOperand kOmitted{.elem = 0};
constexpr int kFloat32 = 1, kUInt8 = 2, kInt8 = 3, kUInt16 = 4, kInt16 = 5, kInt32 = 6, kInt64 = 7, kBool = 9,
              kFloat16 = 10, kBFloat16 = 16, kFloat8 = 17;

inline std::string int_attribute(std::string_view name, std::int64_t i) {
  return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", name, i);
}
inline std::string float_attribute(std::string_view name, double f) {
  return fmt::format("attribute {{ name: \"{}\" type: FLOAT f: {} }} ", name, f);
}
inline std::string text_attribute(std::string_view name, std::string_view s) {
  return fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, s);
}
inline std::string ints_attribute(std::string_view name, const std::vector<int>& all) {
  std::string out = fmt::format("attribute {{ name: \"{}\" type: INTS ", name);
  for (const int i : all) out += fmt::format("ints: {} ", i);
  return out + "} ";
}

/// The graph of one node whose outputs are its own; `outputs` names them, "" one that is not asked.
inline Imported contrib_node(std::string_view type, const std::string& attributes,
                             const std::vector<ContribOperand>& operands,
                             const std::vector<std::string>& outputs = {"y"}) {
  std::string node = fmt::format("graph {{ node {{ op_type: \"{}\" domain: \"com.microsoft\" ", type), values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ContribOperand& o = operands[i];
    const std::string name = o.elem == 0 ? "" : fmt::format("i{}", i);
    node += fmt::format("input: \"{}\" ", name);
    if (o.elem == 0) continue;
    if (o.values.empty()) {
      std::vector<std::string> dims;
      for (const int d : o.dims) dims.push_back(std::to_string(d));
      values += value("input", name, dims, o.elem);
      continue;
    }
    values += fmt::format("initializer {{ name: \"{}\" data_type: {} ", name, o.elem);
    for (const int d : o.dims) values += fmt::format("dims: {} ", d);
    for (const int v : o.values) values += fmt::format("{}: {} ", o.elem == kInt64 ? "int64_data" : "int32_data", v);
    values += "}\n";
  }
  for (const std::string& name : outputs) {
    node += fmt::format("output: \"{}\" ", name);
    if (!name.empty()) values += fmt::format("output {{ name: \"{}\" }}\n", name);
  }
  return import_text(node + attributes + "}\n" + values + "}");
}

/// Types of the results, then the operators; those that are part of another one's kernel in brackets. Or the messages.
inline std::string contrib(std::string_view type, const std::string& attributes,
                           const std::vector<ContribOperand>& operands,
                           const std::vector<std::string>& outputs = {"y"}) {
  const Imported m = contrib_node(type, attributes, operands, outputs);
  if (!m.graph) return m.diags.str();
  std::string out;
  for (const ValueId v : m.graph->results()) out += to_string(m.graph->type(v)) + " ";
  out += "=";
  for (NodeId id = 0; id < m.graph->size(); ++id) {
    const Node& n = m.graph->node(id);
    if (n.kind != NodeKind::Call) continue;
    out += n.attrs.has(kInside) ? fmt::format(" ({})", def(n.op).name) : fmt::format(" {}", def(n.op).name);
  }
  return out;
}

/// The messages name the node and the cause.
inline void refused(const std::string& messages, std::string_view cause) {
  EXPECT_NE(messages.find("node 0 "), std::string::npos) << messages;
  EXPECT_NE(messages.find(cause), std::string::npos) << messages;
}

/// MACs of all calls of an operator.
inline double contrib_macs(const Imported& m, OpId op) {
  double macs = 0;
  for (NodeId id = 0; m.graph && id < m.graph->size(); ++id)
    if (m.graph->node(id).kind == NodeKind::Call && m.graph->node(id).is(op)) macs += op_cost(*m.graph, id).macs;
  return macs;
}

}  // namespace perfc::testing
