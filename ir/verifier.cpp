#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/rewriter.h"

namespace perfc {
namespace {

/// Checks one graph, not its regions, and builds it a second time on the way.
class Verifier {
 public:
  Verifier(const Graph& graph, Diagnostics& diags)
      : graph_(graph), diags_(diags), inferred_(diags.file()), builder_(inferred_) {}

  Status run() {
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!shape_of_node(id)) return Failure{};  // what follows could not be built
      if (!rebuild(id)) return Failure{};
    }
    interface();
    return good_ ? ok() : Failure{};
  }

 private:
  Failure error(NodeId id, std::string_view message) {
    good_ = false;
    const Node& n = graph_.node(id);
    const std::string_view what = n.kind == NodeKind::Call && is_operator(n.op) ? def(n.op).name
                                  : n.kind == NodeKind::Var                     ? "param"
                                                                                : "constant";
    return diags_.error(n.loc, n.name, fmt::format("broken graph: %{} {}: {}", id, what, message));
  }

  Status shape_of_node(NodeId id) {
    const Node& n = graph_.node(id);
    if (n.kind != NodeKind::Call) {
      if (n.results.size() != 1) return error(id, fmt::format("has {} results", n.results.size()));
      if (!n.operands.empty() || !n.regions.empty()) return error(id, "has operands or regions");
      if (!n.results[0].type) return error(id, "has no type");
      if (n.kind == NodeKind::Var &&
          (params_ == graph_.params().size() || graph_.params()[params_++] != ValueId{id, 0})) {
        return error(id, "is not listed at its place among the params");
      }
      return ok();
    }
    if (!is_operator(n.op)) return error(id, "operator without a row in the table");
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (!v) continue;
      if (v.node >= id) return error(id, fmt::format("operand {} is %{}, which does not come before", i, v.node));
      if (v.result >= graph_.node(v).results.size()) {
        return error(id, fmt::format("operand {} is %{}.{}, which does not exist", i, v.node, v.result));
      }
    }
    for (std::size_t i = 0; i < n.results.size(); ++i) {
      if (!n.results[i].type) return error(id, fmt::format("result {} has no type", i));
    }
    for (const GraphRef& region : n.regions) {
      if (!region) return error(id, "a region is missing");
    }
    return ok();
  }

  /// Infers the node's types again, with the stored ones as declared.
  Status rebuild(NodeId id) {
    const Node& n = graph_.node(id);
    for (const ResultInfo& r : n.results) contents(id, r);
    if (n.kind == NodeKind::Var) {
      builder_.var(n.results[0].type, {}, n.loc, n.results[0].data);
      return ok();
    }
    if (n.kind == NodeKind::Constant) {
      builder_.constant({n.results[0].type, n.results[0].data}, {}, n.loc);
      return ok();
    }
    CallSpec spec{.op = n.op,
                  .operands = {n.operands.begin(), n.operands.end()},
                  .attrs = n.attrs,
                  .results = static_cast<int>(n.results.size()),
                  .regions = n.regions,
                  .name = n.name,
                  .loc = n.loc};
    for (const ResultInfo& r : n.results) spec.declared.push_back(r.type);
    const auto again = builder_.call(std::move(spec));
    if (!again) {
      error(id, "cannot be inferred again");
      for (const Diagnostic& d : inferred_.all()) {
        if (d.severity == Severity::Error) diags_.note(d.loc, d.name, d.message);
      }
      if (!stand_in(n)) return Failure{};
    } else {
      for (std::size_t i = 0; i < n.results.size(); ++i) {
        const Type& type = builder_.type({*again, static_cast<std::uint32_t>(i)});
        if (type == n.results[i].type) continue;
        error(id, fmt::format("result {} is stored as {} and inferred as {}", i, to_string(n.results[i].type),
                              to_string(type)));
      }
    }
    inferred_ = Diagnostics(diags_.file());
    return ok();
  }

  /// A node with the stored types, so that the users of a broken one can be checked.
  Status stand_in(const Node& n) {
    CallSpec spec{.op = op("opaque"), .results = static_cast<int>(n.results.size())};
    for (const ResultInfo& r : n.results) spec.declared.push_back(r.type);
    if (!builder_.call(std::move(spec))) return Failure{};
    return ok();
  }

  void contents(NodeId id, const ResultInfo& r) {
    if (r.type.is_tensor() && r.type.ranked()) {
      for (const Dim& d : r.type.shape()) {
        if (d.known() && d.value() < 0) error(id, fmt::format("has a negative dim: {}", to_string(r.type)));
      }
    }
    const auto elements = r.type.elements();
    if (r.data && elements && *elements != static_cast<std::int64_t>(r.data->size())) {
      error(id, fmt::format("{} elements are known of {}", r.data->size(), to_string(r.type)));
    }
  }

  void interface() {
    if (params_ != graph_.params().size()) fail("lists a param that is no node of it");
    if (graph_.result_names().size() != graph_.results().size()) fail("has not as many result names as results");
    for (ValueId v : graph_.results()) {
      if (!v || v.node >= graph_.size() || v.result >= graph_.node(v).results.size()) {
        fail("returns a value that does not exist");
      }
    }
  }
  void fail(std::string_view message) {
    good_ = false;
    diags_.error(fmt::format("broken graph: '{}' {}", graph_.name(), message));
  }

  const Graph& graph_;
  Diagnostics& diags_;
  Diagnostics inferred_;
  GraphBuilder builder_;
  std::size_t params_ = 0;
  bool good_ = true;
};

}  // namespace

Status verify(const Graph& graph, Diagnostics& diags) {
  struct Item {
    const Graph* graph;
    int depth;
  };
  Status status = ok();
  std::vector<Item> work{{&graph, 0}};
  while (!work.empty()) {
    const Item item = work.back();
    work.pop_back();
    if (item.depth > kMaxRegionDepth) {
      return diags.error(fmt::format("broken graph: regions are nested deeper than {}", kMaxRegionDepth));
    }
    if (!Verifier(*item.graph, diags).run()) status = Failure{};
    for (const Node& n : item.graph->nodes()) {
      for (const GraphRef& region : n.regions) {
        if (region) work.push_back({region.get(), item.depth + 1});
      }
    }
  }
  return status;
}

}  // namespace perfc
