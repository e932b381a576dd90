#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/control_flow.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

bool runs_unknown_times(const Graph& g, NodeId id) { return g.node(id).is(op("loop")) && !trip_count(g, id).known(); }

/// Every name that a flag gives is that of a loop whose rounds are not known.
Status check_names(const Graph& graph, const PassOptions& options, Diagnostics& diags) {
  std::set<std::string> open, counted;
  bool any = false;
  for (const Graph* g : with_bodies(graph)) {
    for (NodeId id = 0; id < g->size(); ++id) {
      if (!g->node(id).is(op("loop"))) continue;
      any = any || runs_unknown_times(*g, id);
      (runs_unknown_times(*g, id) ? open : counted).insert(g->node(id).name);
    }
  }
  for (const auto& [name, rounds] : options.trip_counts) {
    if (rounds < 0) return diags.error(fmt::format("--trip-count: a loop cannot run {} times", rounds));
    if (name.empty() ? any : open.contains(name)) continue;
    if (counted.contains(name)) return diags.error({}, name, "--trip-count: the file says how often this loop runs");
    const std::string near = did_you_mean(name, {open.begin(), open.end()});
    return diags.error(fmt::format("--trip-count: {}{}",
                                   name.empty()
                                       ? std::string("there is no loop whose rounds the file leaves open")
                                       : fmt::format("no loop whose rounds the file leaves open is named '{}'", name),
                                   !near.empty()  ? fmt::format(" (did you mean '{}'?)", near)
                                   : open.empty() ? std::string()
                                                  : fmt::format("; there are {}", fmt::join(open, ", "))));
  }
  return ok();
}

/// What was said of the loop by name, else of all.
std::optional<std::int64_t> rounds_of(const Node& loop, const PassOptions& options) {
  std::optional<std::int64_t> of_all;
  for (const auto& [name, rounds] : options.trip_counts) {
    if (!name.empty() && name == loop.name) return rounds;
    if (name.empty()) of_all = rounds;
  }
  return of_all;
}

}  // namespace

Result<Graph> bind_trip_counts(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.trip_counts.empty()) return graph;
  if (!check_names(graph, options, diags)) return Failure{};
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const auto rounds = runs_unknown_times(g, id) ? rounds_of(g.node(id), options) : std::nullopt;
      if (!rounds) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      // A loop without a condition runs as often as its limit says.
      std::vector<ValueId> operands = rewriter.operands(id);
      operands.resize(std::max<std::size_t>(operands.size(), 2));
      operands[0] = rewriter.builder().constant(int64_scalar(*rounds), {}, g.node(id).loc);
      operands[1] = {};
      if (!rewriter.copy_with(id, std::move(operands), g.node(id).attrs)) return Failure{};
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
