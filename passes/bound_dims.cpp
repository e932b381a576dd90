#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/control_flow.h"
#include "passes/dim_demand.h"
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
    auto bound = body({g}, {}, 0);
    if (!bound || !check_given()) return Failure{};
    return bound;
  }

 private:
  Result<Graph> body(const Scope& scope, const std::vector<ResultInfo>& params, int depth) {
    const Graph& g = scope.g;
    if (depth > kMaxRegionDepth) return diags_.error(fmt::format("regions are nested deeper than {}", kMaxRegionDepth));
    Rewriter rewriter(g, diags_);
    for (std::size_t i = 0; i < params.size() && i < g.params().size(); ++i) {
      if (params[i].type) rewriter.retype_param(i, params[i]);
    }
    const std::map<NodeId, DimDemand> demands = dim_demands(scope, params);
    for (NodeId id = 0; id < g.size(); ++id) {
      const auto demand = demands.find(id);
      if (!add(scope, rewriter, id, demand == demands.end() ? DimDemand{} : demand->second, depth)) return Failure{};
    }
    return rewriter.finish();
  }

  Status add(const Scope& scope, Rewriter& rewriter, NodeId id, const DimDemand& demand, int depth) {
    const Node& n = scope.g.node(id);
    if (n.kind != NodeKind::Call) return rewriter.copy(id);
    const std::vector<ValueId> operands = rewriter.operands(id);
    const bool same = rewriter.unchanged(n, operands);
    if (same && !has_open_result(n) && n.regions.empty()) return rewriter.copy(id);
    std::vector<Type> declared;  // what was known whatever the data is true of these extents
    for (const ResultInfo& r : n.results) declared.push_back(writes_out_ ? Type{} : named(r.type));
    const Status added = n.regions.empty() ? rewriter.copy_declared(id, operands, n.attrs, std::move(declared))
                                           : add_with_bodies(scope, rewriter, id, operands, std::move(declared), depth);
    if (!added) {
      if (!same) diags_.note(n.loc, n.name, "with the extents of dims that data decides; --bound sets others");
      return Failure{};
    }
    return n.results.empty() ? ok() : fix(rewriter, rewriter[{id, 0}].node, demand);
  }

  Status add_with_bodies(const Scope& scope, Rewriter& rewriter, NodeId id, const std::vector<ValueId>& operands,
                         std::vector<Type> declared, int depth) {
    const Node& n = rewriter.source().node(id);
    GraphBuilder& builder = rewriter.builder();
    std::vector<ResultInfo> infos;
    infos.reserve(operands.size());
    for (ValueId v : operands) infos.push_back(v ? ResultInfo{builder.type(v), builder.data_ref(v)} : ResultInfo{});
    if (grows(n)) {
      const auto written = write_out(scope, rewriter, id, infos, depth);
      if (!written) return Failure{};
      if (*written) return ok();
    }
    std::vector<GraphRef> bodies;
    do {
      bodies.clear();
      for (std::size_t i = 0; i < n.regions.size(); ++i) {
        const std::size_t count = n.regions[i]->params().size();
        auto bound = body({*n.regions[i], &n, &scope}, region_params(n.op, n.attrs, i, infos, count), depth + 1);
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

  /// Whether a loop carries a tensor to which every round adds a part.
  static bool grows(const Node& n) {
    if (!n.is(op("loop"))) return false;
    const Graph& body = *n.regions[0];
    const ControlLayout layout = control_layout(n.op, n.attrs, n.operands.size());
    for (std::size_t i = 0; i < layout.carried; ++i) {
      const std::size_t param = 2 + i, result = layout.first_result + i;
      if (param >= body.params().size() || result >= body.results().size()) return false;
      const Node& last = body.node(body.results()[result]);
      if (last.is(op("concatenate")) && std::ranges::count(last.operands, body.params()[param]) > 0) return true;
    }
    return false;
  }

  /// Such a loop as its rounds, where those are known and not too many; false: it stays.
  Result<bool> write_out(const Scope& scope, Rewriter& rewriter, NodeId id, const std::vector<ResultInfo>& infos,
                         int depth) {
    const Node& n = rewriter.source().node(id);
    const Graph& body = *n.regions[0];
    const ControlLayout layout = control_layout(n.op, n.attrs, n.operands.size());
    GraphBuilder& builder = rewriter.builder();
    const std::vector<ValueId> operands = rewriter.operands(id);
    std::vector<InferContext::Operand> known;
    known.reserve(operands.size());
    for (ValueId v : operands)
      known.push_back(v ? InferContext::Operand{&builder.type(v), builder.data(v)} : InferContext::Operand{});
    const SymInt trips = trip_count(n.op, n.attrs, known, body);
    const bool stacks = body.results().size() != layout.first_result + layout.carried;
    const bool whole = body.params().size() == layout.own + layout.captures && n.results.size() == layout.carried;
    const auto first = operands.begin() + static_cast<std::ptrdiff_t>(layout.first_carried);
    std::vector<ValueId> carried(first, first + static_cast<std::ptrdiff_t>(layout.carried));
    if (!trips.known() || trips.value() < 1 || stacks || !whole || std::ranges::count(carried, ValueId{}) > 0 ||
        static_cast<std::size_t>(trips.value()) > may_write_out_ / std::max<std::size_t>(body.size(), 1))
      return false;
    may_write_out_ -= static_cast<std::size_t>(trips.value()) * body.size();
    const Scope inner{body, &n, &scope};
    const auto demands = dim_demands(inner, region_params(n.op, n.attrs, 0, infos, body.params().size()));
    auto holds = std::make_shared<Data>();
    holds->elements = std::vector<SymInt>{SymInt(1)};
    const bool outer = std::exchange(writes_out_, true);
    for (std::int64_t round = 0; round < trips.value(); ++round) {
      Rewriter rounds(body, builder);
      std::vector<ValueId> params{builder.constant(int64_scalar(round), {}, n.loc),
                                  builder.constant({body.type(body.params()[1]), holds}, {}, n.loc)};
      params.insert(params.end(), carried.begin(), carried.end());
      params.insert(params.end(), operands.end() - static_cast<std::ptrdiff_t>(layout.captures), operands.end());
      for (std::size_t i = 0; i < params.size(); ++i) rounds.map(body.params()[i], params[i]);
      for (NodeId at = 0; at < body.size(); ++at) {
        if (body.node(at).kind == NodeKind::Var) continue;
        const auto demand = demands.find(at);
        if (!add(inner, rounds, at, demand == demands.end() ? DimDemand{} : demand->second, depth + 1))
          return Failure{};
      }
      for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = rounds[body.results()[layout.first_result + i]];
    }
    writes_out_ = outer;
    for (std::uint32_t r = 0; r < carried.size(); ++r) rewriter.map({id, r}, carried[r]);
    return true;
  }

  /// Fixes the dims of a call's results that are open still.
  Status fix(Rewriter& rewriter, NodeId id, const DimDemand& demand) {
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
                                                const DimDemand& demand, std::string& by) {
    const Node& n = builder.node(id);
    const Dim& d = n.results[r].type.shape()[a];
    auto rule = builder.bound_of(id, r, a);
    if (rule && demand.values && *demand.values < rule->most && r != kInverse) {
      rule->most = *demand.values;
      rule->typical = std::min(rule->typical, rule->most);
      rule->by = "different values that the operand can have";
    }
    if (demand.repetitions) {
      const auto [least, most] = *demand.repetitions;
      rule = DimBound{.least = least, .typical = least + (most - least) / 2, .most = most};
      rule->by = "counts, each as large as it is clipped to";
      rule->usual = "counts, each in the middle of what it is clipped to";
    }
    if (const auto room = demand.rooms.find({r, a}); room != demand.rooms.end()) {
      const auto& [most, parts] = room->second;
      const std::int64_t part = (most + parts - 1) / parts;
      if (rule) {
        rule->least = std::min(part, rule->most);
      } else {
        rule = DimBound{.least = part, .typical = part, .most = most, .by = "what is taken of the whole that it is in"};
        if (parts > 1) rule->usual = "an even part of what is taken of the whole that it is in";
      }
    }
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
    if (options_.dynamic == DynamicDims::Typical && demand.compared && rule->selects &&
        rule->typical > kComparedBoxes) {
      by = "as many boxes as a suppression compares of an image";
      return std::optional(kComparedBoxes);
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
  static constexpr std::size_t kInverse = 2;  ///< of unique: result with an entry for each element
  const PassOptions& options_;
  Diagnostics& diags_;
  Extents given_;                                 ///< --bound
  Extents symbols_;                               ///< dims by name, as far as they are settled
  std::set<std::string, std::less<>> of_inputs_;  ///< names that --dim binds
  std::size_t may_write_out_ = 65536;             ///< nodes that the rounds of loops may become
  bool writes_out_ = false;  ///< rounds, of which each has other types than the file declares of all
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
