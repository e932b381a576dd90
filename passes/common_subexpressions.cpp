#include <boost/container_hash/hash.hpp>

#include <unordered_map>

#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// Calls that give the same results whenever operands and attributes agree.
bool is_pure(const Node& n) {
  const Category c = def(n.op).category;
  return n.kind == NodeKind::Call && n.regions.empty() && c != Category::Random && c != Category::Control &&
         c != Category::Opaque && !n.is(op("nn.dropout"));
}

std::size_t hash_of(const Node& n, const std::vector<ValueId>& operands) {
  std::size_t h = n.op.hash;
  for (ValueId v : operands) {
    boost::hash_combine(h, v.node);
    boost::hash_combine(h, v.result);
  }
  for (const auto& [name, value] : n.attrs) {
    boost::hash_combine(h, name);
    if (const auto* i = std::get_if<std::int64_t>(&value)) boost::hash_combine(h, *i);
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&value)) boost::hash_combine(h, *v);
  }
  return h;
}

}  // namespace

Result<Graph> common_subexpressions(Graph graph, const PassOptions&, Diagnostics& diags) {
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    std::unordered_multimap<std::size_t, NodeId> seen;  // hash → node of the new graph
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (!is_pure(n)) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      const std::vector<ValueId> operands = rewriter.operands(id);
      const std::size_t hash = hash_of(n, operands);
      bool found = false;
      const auto [first, last] = seen.equal_range(hash);
      for (auto it = first; it != last && !found; ++it) {
        const Node& other = rewriter.builder().node(it->second);
        found = other.op == n.op && other.results.size() == n.results.size() &&
                std::equal(other.operands.begin(), other.operands.end(), operands.begin(), operands.end()) &&
                other.attrs == n.attrs;
        for (std::uint32_t r = 0; found && r < n.results.size(); ++r) rewriter.map({id, r}, {it->second, r});
      }
      if (found) continue;
      if (!rewriter.copy(id)) return Failure{};
      seen.emplace(hash, static_cast<NodeId>(rewriter.builder().size() - 1));
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
