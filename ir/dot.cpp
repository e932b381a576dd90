#include "ir/dot.h"

#include <fmt/format.h>

#include <iterator>

#include "ir/bgl.h"

namespace perfc {
namespace {

/// A double-quoted DOT string. Only quote and backslash have a meaning inside;
/// control characters would break the line.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += '?';
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string label(const Node& n) {
  std::string text = n.kind == NodeKind::Call ? std::string(def(n.op).name) : "";
  if (!n.name.empty()) text += (text.empty() ? "" : "\n") + n.name;
  for (const ResultInfo& r : n.results) text += (text.empty() ? "" : "\n") + to_string(r.type);
  return quoted(text);
}

class Writer {
 public:
  std::string run(const Graph& graph) {
    line(0, "digraph {} {{", quoted(graph.name()));
    line(1, "node [shape=box, fontname=\"Helvetica\", fontsize=10];");
    line(1, "edge [fontname=\"Helvetica\", fontsize=8];");
    body(graph, "n", 1);
    std::size_t i = 0;
    for (ValueId v : graph.results()) {
      const std::string& name = graph.result_names()[i];
      line(1, "r{} [shape=ellipse, label={}];", i, quoted(name.empty() ? fmt::format("result {}", i) : name));
      line(1, "n{} -> r{};", v.node, i);
      ++i;
    }
    line(0, "}}");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  /// Nodes and edges of one graph; `prefix` keeps ids of regions apart.
  void body(const Graph& graph, const std::string& prefix, int depth) {
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& n = graph.node(id);
      constexpr const char* kStyle[] = {"shape=ellipse, ", "style=dashed, ", ""};
      line(depth, "{}{} [{}label={}];", prefix, id, kStyle[static_cast<int>(n.kind)], label(n));
      for (std::size_t r = 0; r < n.regions.size(); ++r)
        region(n, *n.regions[r], fmt::format("{}{}", prefix, id), r, depth);
    }
    const DataFlow flow(graph);
    for (auto [edge, end] = edges(flow); edge != end; ++edge) {
      const bool several = graph.node(edge->source).results.size() > 1;
      line(depth, "{}{} -> {}{}{};", prefix, edge->source, prefix, edge->target,
           several ? fmt::format(" [taillabel=\"{}\"]", edge->result) : "");
    }
  }

  void region(const Node& owner, const Graph& graph, const std::string& owner_id, std::size_t index, int depth) {
    const std::string prefix = fmt::format("{}_{}_", owner_id, index);
    line(depth, "subgraph cluster_{} {{", prefix);
    line(depth + 1, "label={};", quoted(fmt::format("{} {}", def(owner.op).name, graph.name())));
    body(graph, prefix, depth + 1);
    line(depth, "}}");
    for (ValueId v : graph.results()) line(depth, "{}{} -> {} [style=dotted];", prefix, v.node, owner_id);
  }

  std::string out_;
};

}  // namespace

std::string print_dot(const Graph& graph) { return Writer().run(graph); }

}  // namespace perfc
