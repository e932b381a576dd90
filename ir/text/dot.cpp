#include "ir/text/dot.h"

#include <fmt/format.h>

namespace perfc {
namespace {
std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}
}  // namespace

std::string to_dot(const Graph& g) {
  std::string out = "digraph " + quoted(g.name()) + " {\n  node [shape=box];\n";
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Constant) continue;
    const std::string_view kind = n.kind == NodeKind::Var ? "input" : def(n.op).name;
    out += fmt::format("  n{} [label={}];\n", id, quoted(fmt::format("{} {} {}", kind, n.name, n.results.empty() ? "" : to_string(n.results[0].type))));
    for (ValueId v : n.operands) {
      if (v && g.node(v).kind != NodeKind::Constant) out += fmt::format("  n{} -> n{};\n", v.node, id);
    }
  }
  return out + "}\n";
}

}  // namespace perfc
