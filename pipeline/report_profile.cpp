/// Reports as what profilers write: a trace, collapsed stacks, a table by module.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "ir/module_path.h"
#include "pipeline/text_style.h"

namespace perfc {
namespace {

using TraceEvent = nlohmann::ordered_json;

/// Threads of a trace's process.
enum TraceThread { kHostThread = 1, kDeviceThread = 2 };

/// "resnet50.onnx t4 batch 8"
std::string run_title(const Report& r) {
  return fmt::format("{} {} batch {}", r.model, r.device.name, r.features.batch);
}

TraceEvent naming(std::size_t process, int thread, std::string_view what, const std::string& name) {
  return {{"ph", "M"}, {"pid", process}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}};
}

/// A time of a trace, in µs, to the ns.
double to_ns(double us) { return std::round(us * 1e3) / 1e3; }

/// Adds a report's kernels, one after the other, and what its host takes beside them.
void add_trace(const Report& r, std::size_t process, TraceEvent& events) {
  events.push_back(naming(process, 0, "process_name", run_title(r)));
  events.push_back(naming(process, kHostThread, "thread_name", "host " + r.device.host.name));
  events.push_back(naming(process, kDeviceThread, "thread_name", "device " + r.device.name));
  const Prediction& p = r.prediction;
  events.push_back({{"ph", "X"},
                    {"pid", process},
                    {"tid", static_cast<int>(kHostThread)},
                    {"ts", 0},
                    {"dur", to_ns(p.host_ms * 1e3)},
                    {"name", fmt::format("dispatch of {:g} {}", p.host_calls, def(r.exec.runtime).dispatches)}});
  double start_us = 0;
  for (const OpEstimate& e : p.ops) {
    const NodeNote& n = (*r.nodes)[e.node];
    events.push_back({{"ph", "X"},
                      {"pid", process},
                      {"tid", static_cast<int>(kDeviceThread)},
                      {"ts", to_ns(start_us)},
                      {"dur", to_ns(e.time_us)},
                      {"name", n.op},
                      {"cat", name(e.bound)},
                      {"args", {{"node", n.name}, {"flops", e.flops}, {"bytes", e.bytes}}}});
    start_us += e.time_us;
  }
}

/// A frame of a stack: no separators in it.
std::string frame(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == ';' ? ':' : static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return out;
}

/// A module with all below it.
struct Module {
  std::string name;
  std::size_t depth = 0;
  double params = 0, flops = 0, bytes = 0, time_us = 0;
  std::map<std::string, std::size_t> below;  ///< by name, place in the table
};

/// The model and its modules down to `depth`, each before those in it, in order of execution.
class ModuleTable {
 public:
  explicit ModuleTable(std::size_t depth) : depth_(depth) { modules_.push_back({.name = "model"}); }

  void add(const NodeNote& node, const OpEstimate& cost) {
    std::size_t at = 0;
    count(at, node, cost);
    for (const std::string_view name : module_path(node.name)) {
      if (modules_[at].depth == depth_) break;
      const auto [below, unseen] = modules_[at].below.try_emplace(std::string(name), modules_.size());
      const std::size_t depth = modules_[at].depth + 1, next = below->second;
      if (unseen) modules_.push_back({.name = std::string(name), .depth = depth});
      at = next;
      count(at, node, cost);
    }
  }

  /// Places of the modules as they are to be listed.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> out, work{0};
    while (!work.empty()) {
      const std::size_t at = work.back();
      work.pop_back();
      out.push_back(at);
      std::vector<std::size_t> below;
      for (const auto& [name, place] : modules_[at].below) below.push_back(place);
      std::ranges::sort(below, std::greater{});  // the first that ran on top of the stack
      work.insert(work.end(), below.begin(), below.end());
    }
    return out;
  }
  const Module& operator[](std::size_t at) const { return modules_[at]; }

 private:
  void count(std::size_t at, const NodeNote& node, const OpEstimate& cost) {
    Module& m = modules_[at];
    m.params += node.params;
    m.flops += cost.flops;
    m.bytes += cost.bytes;
    m.time_us += cost.time_us;
  }

  std::size_t depth_;
  std::vector<Module> modules_;
};

std::string summary_of(const Report& r, std::size_t depth, const Style& s) {
  ModuleTable table(depth);
  std::vector<OpEstimate> of_node(r.nodes->size());
  for (const OpEstimate& e : r.prediction.ops) {
    OpEstimate& sum = of_node[e.node];
    sum.time_us += e.time_us;
    sum.flops += e.flops;
    sum.bytes += e.bytes;
  }
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    if ((*r.nodes)[i].params > 0 || of_node[i].time_us > 0) table.add((*r.nodes)[i], of_node[i]);
  }
  std::size_t widest = 6;
  const std::vector<std::size_t> order = table.order();
  for (const std::size_t at : order) widest = std::max(widest, 2 * table[at].depth + table[at].name.size());
  std::string out = s.bold(run_title(r)) + "\n";
  out += s.dim(fmt::format("{:<{}}  {:>9} {:>9} {:>9}  {:>12}  {:>10}", "module", widest, "params", "FLOPs", "moved B",
                           "device time", "share of it")) +
         "\n";
  const double total_us = table[0].time_us;
  for (const std::size_t at : order) {
    const Module& m = table[at];
    out += fmt::format("{:<{}}  {:>9} {:>9} {:>9}  {:>9.1f} µs  {:>9.1f} %\n", std::string(2 * m.depth, ' ') + m.name,
                       widest, scaled(m.params), scaled(m.flops), scaled(m.bytes), m.time_us,
                       total_us > 0 ? 100 * m.time_us / total_us : 0);
  }
  return out;
}

}  // namespace

std::string to_trace(const std::vector<Report>& reports) {
  TraceEvent events = TraceEvent::array();
  for (std::size_t i = 0; i < reports.size(); ++i) add_trace(reports[i], i + 1, events);
  const TraceEvent document{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return document.dump(1, ' ', false, TraceEvent::error_handler_t::replace) + "\n";
}

std::string to_folded(const std::vector<Report>& reports) {
  std::vector<std::string> stacks;
  std::map<std::string, double> us;
  for (const Report& r : reports) {
    const std::string root = reports.size() > 1 ? frame(run_title(r)) + ";" : "";
    for (const OpEstimate& e : r.prediction.ops) {
      const NodeNote& n = (*r.nodes)[e.node];
      std::string stack = root;
      for (const std::string_view module : module_path(n.name)) stack += frame(module) + ";";
      stack += n.op;
      const auto [at, unseen] = us.try_emplace(stack, 0);
      if (unseen) stacks.push_back(std::move(stack));
      at->second += e.time_us;
    }
  }
  std::string out;
  for (const std::string& stack : stacks) out += fmt::format("{} {:.0f}\n", stack, us[stack] * 1e3);
  return out;
}

std::string to_summary(const std::vector<Report>& reports, std::size_t depth, Colour colour) {
  const Style s{colour};
  std::string out;
  for (const Report& r : reports) out += (out.empty() ? "" : "\n") + summary_of(r, depth, s);
  return out;
}

}  // namespace perfc
