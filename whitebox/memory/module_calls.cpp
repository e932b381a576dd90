#include "whitebox/memory/module_calls.h"

#include <algorithm>
#include <string_view>

namespace perfc {
namespace {

/// A call of a module that has not returned.
struct OpenModule {
  std::size_t length = 0;  ///< of its prefix of the names of its calls
  NodeId first = 0;        ///< of these
  std::vector<NodeId> arguments;
};

std::string_view module_of(const Node& n) {
  const std::size_t slash = n.name.rfind('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(n.name).substr(0, slash);
}

/// Whether a prefix of a module's path is a module's, too.
bool ends_at(std::string_view path, std::size_t length) {
  return length == path.size() || path[length] == '.' || path[length] == '/';
}

std::size_t shared_length(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::vector<NodeId> held_by_modules(const Graph& g, const std::vector<bool>& weight) {
  std::vector<NodeId> held(g.size(), 0);
  std::vector<OpenModule> open;
  std::string_view path;
  NodeId last = 0;
  const auto close = [&](std::size_t kept) {
    for (; open.size() > kept; open.pop_back()) {
      for (const NodeId argument : open.back().arguments) held[argument] = std::max(held[argument], last);
    }
  };
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || weight[id]) continue;
    const std::string_view now = module_of(n);
    const std::size_t shared = shared_length(path, now);
    const auto stays = [&](const OpenModule& m) { return m.length <= shared && ends_at(now, m.length); };
    close(static_cast<std::size_t>(std::ranges::find_if_not(open, stays) - open.begin()));
    for (std::size_t length = (open.empty() ? 0 : open.back().length) + 1; length <= now.size(); ++length) {
      if (ends_at(now, length)) open.push_back({.length = length, .first = id, .arguments = {}});
    }
    for (const ValueId v : n.operands) {
      if (!v) continue;
      const auto taker = std::ranges::find_if(open, [&](const OpenModule& m) { return v.node < m.first; });
      if (taker != open.end()) taker->arguments.push_back(v.node);
    }
    path = now;
    last = id;
  }
  close(0);
  return held;
}

}  // namespace perfc
