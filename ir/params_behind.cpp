#include "ir/params_behind.h"

#include <fmt/format.h>

#include <algorithm>

namespace perfc {
namespace {

bool is_setting(const Type& t) { return t.is_tensor() && t.ranked() && t.rank() <= 1; }

/// `Nodes`: a graph, or the builder of one.
template <class Nodes>
std::vector<ValueId> settings(const Nodes& g, ValueId v) {
  if (!v) return {};
  std::vector<bool> wanted(v.node + 1, false);
  wanted[v.node] = true;
  for (NodeId id = v.node + 1; id-- > 0;) {
    const Node& n = g.node(id);
    if (!wanted[id] || n.kind != NodeKind::Call || def(n.op).dims_only) continue;
    for (ValueId operand : n.operands) {
      if (operand) wanted[operand.node] = true;
    }
  }
  std::vector<ValueId> out;
  for (NodeId id = 0; id <= v.node; ++id) {
    if (wanted[id] && g.node(id).kind == NodeKind::Var && is_setting(g.type({id, 0}))) out.push_back({id, 0});
  }
  return out;
}

}  // namespace

std::vector<ValueId> settings_behind(const Graph& g, ValueId v) { return settings(g, v); }
std::vector<ValueId> settings_behind(const GraphBuilder& b, ValueId v) { return settings(b, v); }

std::string value_flags(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::string flags;
  for (const std::string& name : names) flags += fmt::format(" --value {}=…", name);
  const bool several = names.size() > 1;
  return fmt::format("; what the input{} {} {} decides, say it with{}", several ? "s" : "", fmt::join(names, ", "),
                     several ? "hold" : "holds", flags);
}

std::string value_flags(const Graph& graph, const std::vector<ValueId>& decided_by) {
  std::vector<std::string> names;
  for (ValueId v : decided_by) {
    for (ValueId setting : settings_behind(graph, v)) {
      const std::string& name = graph.node(setting).name;
      if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return value_flags(names);
}

}  // namespace perfc
