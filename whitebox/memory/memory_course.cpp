#include "whitebox/memory/memory_course.h"

#include <algorithm>
#include <map>

namespace perfc {

std::string_view name(MemoryPhase p) {
  return p == MemoryPhase::Forward ? "forward" : p == MemoryPhase::Backward ? "backward" : "update";
}

MemoryCourse memory_course(const Graph& graph, const ExecConfig& config, ConvolutionWorkspace convolutions) {
  MemoryLog log;
  (void)memory_needs(graph, config, convolutions, log);
  const auto& entries = log.allocations.entries;
  MemoryCourse out;
  std::int64_t used = 0;
  std::size_t at = 0;
  for (; at < log.begin; ++at) used += entries[at].bytes;
  out.before = static_cast<double>(used);
  std::int64_t peak = -1;
  std::size_t peak_entries = at;
  for (const MemoryLog::Moment& m : log.moments) {
    std::int64_t most = used;
    std::size_t most_at = at;
    for (; at < m.end; ++at) {
      used += entries[at].bytes;
      if (used > most) {
        most = used;
        most_at = at + 1;
      }
    }
    if (most > peak) {
      peak = most;
      out.peak = out.moments.size();
      peak_entries = most_at;
    }
    out.moments.push_back({m.node, m.phase, static_cast<double>(most), static_cast<double>(used)});
  }
  std::map<NodeId, std::int64_t> held;
  for (std::size_t i = 0; i < peak_entries; ++i) held[entries[i].owner] += entries[i].bytes;
  for (const auto& [node, bytes] : held)
    if (bytes > 0) out.held.emplace_back(node, static_cast<double>(bytes));
  std::ranges::stable_sort(out.held, [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace perfc
