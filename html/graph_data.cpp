#include "html/graph_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "features/parameters.h"
#include "html/layout.h"
#include "ir/module_path.h"

namespace perfc {
namespace {

using GraphJson = nlohmann::ordered_json;

/// Strings that many nodes share, each once.
class StringTable {
 public:
  int place(const std::string& text) {
    const auto [at, unseen] = places_.try_emplace(text, static_cast<int>(all_.size()));
    if (unseen) all_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::map<std::string, int> places_;
  std::vector<std::string> all_;
};

/// Modules of nodes, outer ones first.
class ScopeTable {
 public:
  /// −1: the model itself.
  int place(const std::string& node_name) {
    const std::vector<std::string_view> path = module_path(node_name);
    int at = -1;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      const auto [found, unseen] = places_.try_emplace({at, std::string(path[i])}, static_cast<int>(names_.size()));
      if (unseen) {
        names_.emplace_back(path[i]);
        parents_.push_back(at);
      }
      at = found->second;
    }
    return at;
  }
  GraphJson json() const { return {{"name", names_}, {"parent", parents_}}; }

 private:
  std::map<std::pair<int, std::string>, int> places_;
  std::vector<std::string> names_;
  std::vector<int> parents_;
};

std::string types_of(const Node& n) {
  std::string out;
  for (const ResultInfo& r : n.results) {
    if (!out.empty()) out += "; ";
    out += r.type.is_tensor() ? std::string(name(r.type.dtype())) + " " + to_string(r.type.shape()) : to_string(r.type);
  }
  return out;
}

double to_hundredths(double x) { return std::round(x * 100) / 100; }

/// The drawing: what is no weight, and its edges once each.
struct Drawing {
  std::vector<int> place;  ///< in the layout, by node; −1: not drawn
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::size_t nodes = 0;
};

Drawing drawing_of(const Graph& graph) {
  Drawing out;
  const std::vector<bool> weights = graph.weight_only();
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    const bool drawn = n.kind != NodeKind::Constant && !weights[id];
    out.place.push_back(drawn ? static_cast<int>(out.nodes++) : -1);
    std::vector<std::uint32_t> from;
    for (const ValueId v : n.operands)
      if (drawn && v && out.place[v.node] >= 0) from.push_back(static_cast<std::uint32_t>(out.place[v.node]));
    std::ranges::sort(from);
    from.erase(std::unique(from.begin(), from.end()), from.end());
    for (const std::uint32_t f : from) out.edges.emplace_back(f, static_cast<std::uint32_t>(out.place[id]));
  }
  return out;
}

}  // namespace

std::string graph_json(const Graph& graph) {
  const Drawing drawing = drawing_of(graph);
  const LayeredLayout layout = layered_layout(drawing.nodes, drawing.edges);
  const std::vector<double> params = learned_parameters_by_reader(graph);
  StringTable ops, types;
  ScopeTable scopes;
  std::vector<int> op_places, type_places, scope_places, y;
  std::vector<double> x;
  std::vector<std::string> names;
  std::vector<NodeId> node_at(drawing.nodes);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    op_places.push_back(ops.place(n.kind == NodeKind::Call  ? std::string(def(n.op).name)
                                  : n.kind == NodeKind::Var ? "input"
                                                            : "weight"));
    type_places.push_back(types.place(types_of(n)));
    scope_places.push_back(scopes.place(n.name));
    names.push_back(n.name);
    const int at = drawing.place[id];
    x.push_back(at < 0 ? -1 : to_hundredths(layout.x[static_cast<std::size_t>(at)]));
    y.push_back(at < 0 ? -1 : static_cast<int>(layout.layer[static_cast<std::size_t>(at)]));
    if (at >= 0) node_at[static_cast<std::size_t>(at)] = id;
  }
  GraphJson edges = GraphJson::array(), routes = GraphJson::array();
  for (std::size_t e = 0; e < drawing.edges.size(); ++e) {
    edges.push_back(node_at[drawing.edges[e].first]);
    edges.push_back(node_at[drawing.edges[e].second]);
    if (layout.on[e].empty()) continue;
    GraphJson route{e};
    for (const float at : layout.on[e]) route.push_back(to_hundredths(at));
    routes.push_back(std::move(route));
  }
  const GraphJson out{{"ops", ops.all()},
                      {"types", types.all()},
                      {"scopes", scopes.json()},
                      {"nodes",
                       {{"op", op_places},
                        {"name", names},
                        {"type", type_places},
                        {"scope", scope_places},
                        {"params", params},
                        {"x", x},
                        {"y", y}}},
                      {"edges", std::move(edges)},
                      {"routes", std::move(routes)},
                      {"width", to_hundredths(layout.width)},
                      {"layers", layout.layers}};
  return out.dump(-1, ' ', false, GraphJson::error_handler_t::replace);
}

}  // namespace perfc
