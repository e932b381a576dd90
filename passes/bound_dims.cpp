#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/control_flow.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

using Extents = std::map<std::string, std::int64_t, std::less<>>;

bool is_open(const Type& t) {
  return t.is_tensor() && t.ranked() && std::ranges::any_of(t.shape(), [](const Dim& d) { return !d.known(); });
}

bool has_open_result(const Node& n) {
  return std::ranges::any_of(n.results, [](const ResultInfo& r) { return is_open(r.type); });
}

/// The comparison for equality with a constant that a value is, reshaped and converted or not; none: it is none.
std::optional<NodeId> equality(const Graph& g, ValueId v) {
  while (v && g.node(v).kind == NodeKind::Call) {
    const Node& n = g.node(v);
    const OpDef& d = def(n.op);
    if (d.holds.equal && !d.holds.less && !d.holds.greater)
      return n.operands[1] && g.node(n.operands[1]).kind == NodeKind::Constant ? std::optional(v.node) : std::nullopt;
    if (d.moves != Moves::Reshapes && !keeps_elements(d.moves)) return std::nullopt;
    v = n.operands[0];
  }
  return std::nullopt;
}

/// Of each call that selects where a value equals a constant: how many calls ask the same value for as many constants.
/// No element equals two of them, so that all together select no more than there are (the levels of a pyramid that
/// boxes are taken from).
std::map<NodeId, std::int64_t> disjoint_selections(const Graph& g) {
  std::map<NodeId, ValueId> asked;
  std::map<ValueId, std::vector<const Data*>> constants;  // different ones
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || !def(n.op).bound || !has_open_result(n)) continue;
    for (const ValueId v : n.operands) {
      const auto mask = equality(g, v);
      if (!mask) continue;
      const Data* constant = g.data(g.node(*mask).operands[1]);
      if (!constant || constant->size() != 1) continue;
      asked[id] = g.node(*mask).operands[0];
      std::vector<const Data*>& known = constants[asked[id]];
      if (std::ranges::none_of(known, [&](const Data* d) { return *d == *constant; })) known.push_back(constant);
    }
  }
  std::map<NodeId, std::int64_t> out;
  for (const auto& [id, value] : asked) out[id] = static_cast<std::int64_t>(constants[value].size());
  return out;
}

/// An operand of a slice that is one known number.
std::optional<std::int64_t> number_of(const Graph& g, const Node& slice, std::size_t operand, std::int64_t fallback) {
  if (operand >= slice.operands.size() || !slice.operands[operand]) return fallback;
  const Data* data = g.data(slice.operands[operand]);
  if (!data || !data->ints() || data->size() != 1 || !data->fully_known()) return std::nullopt;
  return data->ints()->front().value();
}

/// Whether a call takes columns of its first operand: all of its rows, in order.
bool takes_columns(const Graph& g, const Node& n) {
  if (n.is(op("take"))) return n.attrs.int_or("axis", 0) > 0;
  return n.is(op("strided_slice")) && number_of(g, n, 3, 0).value_or(0) > 0;
}

/// How many of its first rows a call takes, in order; none: it takes others.
std::optional<std::int64_t> first_rows(const Graph& g, const Node& n) {
  if (!n.is(op("strided_slice"))) return std::nullopt;
  if (number_of(g, n, 1, -1) != 0 || number_of(g, n, 3, 0) != 0 || number_of(g, n, 4, 1) != 1) return std::nullopt;
  const auto end = number_of(g, n, 2, -1);
  return end && *end >= 0 ? end : std::nullopt;
}

/// Of each suppression of boxes: how many rows the model takes of those that it keeps, best first, where every reader
/// takes the first ones (`keep[:300]`).
std::map<NodeId, std::int64_t> rows_taken(const Graph& g) {
  std::map<NodeId, std::int64_t> out;
  std::map<ValueId, NodeId> rows;  // values whose entries are the rows of a suppression
  std::set<NodeId> otherwise;      // suppressions with another reader
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) continue;
    if (def(n.op).suppression && def(n.op).bound) rows[{id, 0}] = id;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const auto from = rows.find(n.operands[i]);
      if (from == rows.end() || def(n.op).dims_only) continue;
      const Moves moves = def(n.op).moves;
      const auto first = i == 0 ? first_rows(g, n) : std::nullopt;
      if (i == 0 && (takes_columns(g, n) || keeps_elements(moves) || moves == Moves::Reshapes)) {
        rows[{id, 0}] = from->second;
      } else if (first) {
        out[from->second] = std::max(out[from->second], *first);
      } else {
        otherwise.insert(from->second);
      }
    }
  }
  for (const ValueId v : g.results()) {
    if (const auto from = rows.find(v); from != rows.end()) otherwise.insert(from->second);
  }
  for (const NodeId id : otherwise) out.erase(id);
  return out;
}

/// What the rest of a model says of how much a call gives.
struct Demand {
  std::int64_t shared_by = 1;         ///< of disjoint_selections
  std::optional<std::int64_t> taken;  ///< of rows_taken
};

/// Walks a graph outside in: the types that enter a body are settled before it is.
class DimBinder {
 public:
  DimBinder(const PassOptions& options, Diagnostics& diags) : options_(options), diags_(diags) {
    given_.insert(options.bounds.begin(), options.bounds.end());
  }

  Result<Graph> run(const Graph& g) {
    for (ValueId p : g.params()) {
      if (!g.type(p).is_tensor() || !g.type(p).ranked()) continue;
      for (const Dim& d : g.type(p).shape()) {
        if (d.symbolic()) of_inputs_.insert(d.symbol_name());
      }
    }
    auto bound = body(g, {}, 0);
    if (!bound || !check_given()) return Failure{};
    return bound;
  }

 private:
  Result<Graph> body(const Graph& g, const std::vector<ResultInfo>& params, int depth) {
    if (depth > kMaxRegionDepth) return diags_.error(fmt::format("regions are nested deeper than {}", kMaxRegionDepth));
    Rewriter rewriter(g, diags_);
    for (std::size_t i = 0; i < params.size() && i < g.params().size(); ++i) {
      if (params[i].type) rewriter.retype_param(i, params[i]);
    }
    const std::map<NodeId, std::int64_t> disjoint = disjoint_selections(g), taken = rows_taken(g);
    for (NodeId id = 0; id < g.size(); ++id) {
      Demand demand;
      if (const auto shared = disjoint.find(id); shared != disjoint.end()) demand.shared_by = shared->second;
      if (const auto rows = taken.find(id); rows != taken.end()) demand.taken = rows->second;
      if (!add(g, rewriter, id, demand, depth)) return Failure{};
    }
    return rewriter.finish();
  }

  Status add(const Graph& g, Rewriter& rewriter, NodeId id, const Demand& demand, int depth) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) return rewriter.copy(id);
    const std::vector<ValueId> operands = rewriter.operands(id);
    const bool same = rewriter.unchanged(n, operands);
    if (same && !has_open_result(n) && n.regions.empty()) return rewriter.copy(id);
    std::vector<Type> declared;  // what was known whatever the data is true of these extents
    for (const ResultInfo& r : n.results) declared.push_back(named(r.type));
    const Status added = n.regions.empty() ? rewriter.copy_declared(id, operands, n.attrs, std::move(declared))
                                           : add_with_bodies(rewriter, id, operands, std::move(declared), depth);
    if (!added) {
      if (!same) diags_.note(n.loc, n.name, "with the extents of dims that data decides; --bound sets others");
      return Failure{};
    }
    return n.results.empty() ? ok() : fix(rewriter, rewriter[{id, 0}].node, demand);
  }

  Status add_with_bodies(Rewriter& rewriter, NodeId id, const std::vector<ValueId>& operands,
                         std::vector<Type> declared, int depth) {
    const Node& n = rewriter.source().node(id);
    GraphBuilder& builder = rewriter.builder();
    std::vector<ResultInfo> infos;
    for (ValueId v : operands) infos.push_back(v ? ResultInfo{builder.type(v), builder.data_ref(v)} : ResultInfo{});
    std::vector<GraphRef> bodies;
    do {
      bodies.clear();
      for (std::size_t i = 0; i < n.regions.size(); ++i) {
        const std::size_t count = n.regions[i]->params().size();
        auto bound = body(*n.regions[i], region_params(n.op, n.attrs, i, infos, count), depth + 1);
        if (!bound) return Failure{};
        bodies.push_back(std::make_shared<const Graph>(std::move(*bound)));
      }
    } while (!bodies.empty() && widen_carried(n.op, n.attrs, *bodies[0], infos));
    auto call = builder.call({.op = n.op,
                              .operands = operands,
                              .attrs = n.attrs,
                              .results = static_cast<int>(n.results.size()),
                              .declared = std::move(declared),
                              .regions = std::move(bodies),
                              .name = n.name,
                              .loc = n.loc});
    if (!call) return Failure{};
    for (std::uint32_t r = 0; r < n.results.size(); ++r) rewriter.map({id, r}, {*call, r});
    return ok();
  }

  /// Fixes the dims of a call's results that are open still.
  Status fix(Rewriter& rewriter, NodeId id, const Demand& demand) {
    GraphBuilder& builder = rewriter.builder();
    if (!has_open_result(builder.node(id))) return ok();
    std::vector<std::int64_t> bounds;
    std::string by;
    const Node n = builder.node(id);
    for (std::size_t r = 0; r < n.results.size(); ++r) {
      if (!is_open(n.results[r].type)) continue;
      for (std::size_t a = 0; a < n.results[r].type.rank(); ++a) {
        const Dim& d = n.results[r].type.shape()[a];
        if (d.known() || (d.symbolic() && of_inputs_.contains(d.symbol_name()))) continue;
        auto extent = extent_of(builder, id, r, a, demand, by);
        if (!extent) return Failure{};
        if (!*extent) continue;
        if (d.symbolic()) symbols_.emplace(d.symbol_name(), **extent);
        bounds.insert(bounds.end(), {static_cast<std::int64_t>(r), static_cast<std::int64_t>(a), **extent});
      }
    }
    if (!bounds.empty()) builder.fix_dims(id, std::move(bounds), std::move(by));
    return ok();
  }

  /// What a dim is taken to be, none where nothing says it. `by`: what does.
  Result<std::optional<std::int64_t>> extent_of(const GraphBuilder& builder, NodeId id, std::size_t r, std::size_t a,
                                                const Demand& demand, std::string& by) {
    const Node& n = builder.node(id);
    const Dim& d = n.results[r].type.shape()[a];
    const auto rule = builder.bound_of(id, r, a);
    names_.insert(n.name);
    const std::string of_dim = d.symbolic() ? d.symbol_name() : "";
    names_.insert(of_dim);
    std::optional<std::int64_t> set;
    for (const std::string& name : {n.name, of_dim}) {
      const auto given = name.empty() ? given_.end() : given_.find(name);
      if (given == given_.end()) continue;
      used_.insert(given->first);
      if (!set) set = given->second;
    }
    if (set) {
      if (rule && *set > rule->most)
        return diags_.error(n.loc, n.name,
                            fmt::format("{}: --bound asks for {}, there can be {} at most ({})", def(n.op).name, *set,
                                        rule->most, rule->by));
      by = "--bound";
      return set;
    }
    if (!rule || options_.dynamic == DynamicDims::Refuse) return std::optional<std::int64_t>();
    if (options_.dynamic == DynamicDims::Typical && demand.shared_by > 1) {
      by = fmt::format("an even part of the {}: each is one of {} values", rule->by, demand.shared_by);
      return std::optional((rule->typical + demand.shared_by - 1) / demand.shared_by);
    }
    if (options_.dynamic == DynamicDims::Typical && demand.taken && *demand.taken < rule->typical) {
      by = "as many as the model takes of those that are kept";
      return std::optional(std::max(*demand.taken, rule->least));
    }
    const bool usual = options_.dynamic == DynamicDims::Typical && !rule->usual.empty();
    by = usual ? rule->usual : rule->by;
    return std::optional(options_.dynamic == DynamicDims::Least     ? rule->least
                         : options_.dynamic == DynamicDims::Typical ? rule->typical
                                                                    : rule->most);
  }

  /// The type with names replaced whose extents are settled.
  Type named(const Type& type) const {
    if (!is_open(type)) return type;
    Shape shape = type.shape();
    for (Dim& d : shape) {
      if (!d.symbolic()) continue;
      if (const auto it = symbols_.find(d.symbol_name()); it != symbols_.end()) d = it->second;
    }
    return type.kind() == TypeKind::Tensor ? Type::tensor(type.dtype(), std::move(shape))
                                           : Type::sparse(type.dtype(), std::move(shape));
  }

  Status check_given() const {
    Status status = ok();
    for (const auto& [name, extent] : given_) {
      if (used_.contains(name)) continue;
      std::vector<std::string> candidates;
      for (const std::string& n : names_) {
        if (!n.empty()) candidates.push_back(n);
      }
      const std::string near = did_you_mean(name, candidates);
      if (candidates.size() > kMostListed) candidates.resize(kMostListed);
      status =
          diags_.error(fmt::format("--bound: no node whose dims data decides, and no such dim, is named '{}'{}", name,
                                   !near.empty()        ? fmt::format(" (did you mean '{}'?)", near)
                                   : candidates.empty() ? std::string(": the model has none")
                                                        : fmt::format("; there are {}", fmt::join(candidates, ", "))));
    }
    return status;
  }

  static constexpr std::size_t kMostListed = 10;
  const PassOptions& options_;
  Diagnostics& diags_;
  Extents given_;                                    ///< --bound
  Extents symbols_;                                  ///< dims by name, as far as they are settled
  std::set<std::string, std::less<>> of_inputs_;     ///< names that --dim binds
  std::set<std::string, std::less<>> used_, names_;  ///< of --bound, and what it could have named
};

}  // namespace

Result<Graph> bound_dims(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.dynamic == DynamicDims::Refuse && options.bounds.empty()) return graph;
  const bool open = any_call(graph, [](const Graph& g, NodeId id) { return has_open_result(g.node(id)); });
  if (!open && options.bounds.empty()) return graph;
  return DimBinder(options, diags).run(graph);
}

}  // namespace perfc::passes
