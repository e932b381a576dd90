#include "ir/params_behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace perfc {
namespace {

bool is_setting(const Type& t) { return t.is_tensor() && t.ranked() && t.rank() <= 1; }

/// `Nodes`: a graph, or the builder of one.
template <class Nodes>
std::vector<ValueId> settings(const Nodes& g, ValueId v) {
  if (!v) return {};
  constexpr std::size_t kMostNodes = 4096;
  std::set<NodeId> seen{v.node}, params;
  std::vector<NodeId> open{v.node};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Var && is_setting(g.type({id, 0}))) params.insert(id);
    if (n.kind != NodeKind::Call || def(n.op).dims_only) continue;
    for (ValueId operand : n.operands) {
      if (operand && seen.insert(operand.node).second) open.push_back(operand.node);
    }
    if (seen.size() > kMostNodes) return {};
  }
  std::vector<ValueId> out;
  out.reserve(params.size());
  for (NodeId id : params) out.push_back({id, 0});
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
