#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <ostream>

#include "ir/builder.h"
#include "ir/text/printer.h"
#include "passes/pass.h"

namespace perfc {
namespace {

const PassDef* find_pass(std::string_view name, Diagnostics& diags) {
  std::vector<std::string> names;
  for (const PassDef& pass : pass_table()) {
    if (pass.name == name) return &pass;
    names.emplace_back(pass.name);
  }
  const std::string near = did_you_mean(name, names);
  diags.error(near.empty() ? fmt::format("unknown pass '{}'; passes are {}", name, fmt::join(names, ", "))
                           : fmt::format("unknown pass '{}' (did you mean '{}'?)", name, near));
  return nullptr;
}

struct Timing {
  std::string_view pass;
  double ms = 0;
  std::size_t nodes = 0;
};

void print_timings(std::ostream& out, const std::vector<Timing>& timings) {
  double total = 0;
  for (const Timing& t : timings) total += t.ms;
  fmt::print(out, "{:<24}{:>10}{:>8}{:>10}\n", "pass", "ms", "%", "nodes");
  for (const Timing& t : timings) {
    fmt::print(out, "{:<24}{:>10.3f}{:>8.1f}{:>10}\n", t.pass, t.ms, total > 0 ? 100 * t.ms / total : 0, t.nodes);
  }
  fmt::print(out, "{:<24}{:>10.3f}\n", "total", total);
}

}  // namespace

Result<Graph> run_passes(Graph graph, const std::vector<std::string>& names, const PassOptions& options,
                         const PassTrace& trace, Diagnostics& diags) {
  std::vector<const PassDef*> passes;
  passes.reserve(names.size());
  for (const std::string& name : names) passes.push_back(find_pass(name, diags));
  const bool by_name = !trace.print_after.empty() && trace.print_after != "changed" && trace.print_after != "all";
  if (by_name && !find_pass(trace.print_after, diags)) return Failure{};
  if (std::find(passes.begin(), passes.end(), nullptr) != passes.end()) return Failure{};

  std::vector<Timing> timings;
  for (const PassDef* pass : passes) {
    const Graph before = trace.out && trace.print_after == "changed" ? graph : Graph{};
    const auto start = std::chrono::steady_clock::now();
    auto next = pass->run(std::move(graph), options, diags);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!next) return Failure{};
    timings.push_back({pass->name, took.count(), trace.time_passes ? total_nodes(*next) : 0});

    const bool print = trace.out && (trace.print_after == "all" || trace.print_after == pass->name ||
                                     (trace.print_after == "changed" && !(before == *next)));
    if (print) fmt::print(*trace.out, "// after {}\n{}", pass->name, print_graph(*next));
    graph = std::move(*next);
    if (trace.verify_each && !verify(graph, diags)) {
      return diags.error(fmt::format("the graph is broken after {}", pass->name));
    }
  }
  if (trace.out && trace.time_passes) print_timings(*trace.out, timings);
  return graph;
}

}  // namespace perfc
