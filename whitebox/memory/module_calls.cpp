#include "whitebox/memory/module_calls.h"

#include <algorithm>
#include <string_view>

#include "ir/module_path.h"

namespace perfc {
namespace {

/// A call of a module that has not returned.
struct OpenModule {
  std::string_view name;
  NodeId first = 0;  ///< of its calls
  std::vector<NodeId> arguments;
};

/// Where exporters write a call's own name: after a slash. A name of dots alone may be a module's or a call's.
std::vector<std::string_view> modules_of(const Node& n) {
  const std::size_t slash = n.name.rfind('/');
  if (slash == std::string::npos) return {};
  return module_path(std::string_view(n.name).substr(0, slash));
}

}  // namespace

std::vector<NodeId> held_by_modules(const Graph& g, const std::vector<bool>& weight) {
  std::vector<NodeId> held(g.size(), 0);
  std::vector<OpenModule> open;
  NodeId last = 0;
  const auto close = [&](std::size_t kept) {
    for (; open.size() > kept; open.pop_back()) {
      for (const NodeId argument : open.back().arguments) held[argument] = std::max(held[argument], last);
    }
  };
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || weight[id]) continue;
    const std::vector<std::string_view> path = modules_of(n);
    std::size_t shared = 0;
    while (shared < std::min(path.size(), open.size()) && open[shared].name == path[shared]) ++shared;
    close(shared);
    for (std::size_t i = shared; i < path.size(); ++i) open.push_back({.name = path[i], .first = id, .arguments = {}});
    for (const ValueId v : n.operands) {
      if (!v) continue;
      const auto taker = std::ranges::find_if(open, [&](const OpenModule& m) { return v.node < m.first; });
      if (taker != open.end()) taker->arguments.push_back(v.node);
    }
    last = id;
  }
  close(0);
  return held;
}

}  // namespace perfc
