#include <algorithm>

#include "ir/control_flow.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// Calls that the rounds of a loop may become.
constexpr std::size_t kMostCalls = 1024;

bool same_static(const Type& a, const Type& b) { return a.is_tensor() && a.is_static() && a == b; }

/// A loop or a scan whose rounds are few, known, and all of the same types.
class Unrollable {
 public:
  Unrollable(const Graph& g, NodeId id) : g_(g), n_(g.node(id)) {
    if (n_.kind != NodeKind::Call || n_.regions.size() != 1) return;
    layout_ = control_layout(n_.op, n_.attrs, n_.operands.size());
    const SymInt trips = trip_count(g, id);
    if (layout_.batched || !trips.known() || trips.value() <= 0) return;
    rounds_ = trips.value();
    good_ = is_short() && is_steady();
  }

  explicit operator bool() const { return good_; }

  /// The call's results in the graph that `out` builds.
  Result<std::vector<ValueId>> write(const Rewriter& out, GraphBuilder& b) const {
    const std::size_t stacks = body().results().size() - layout_.first_result - layout_.carried;
    std::vector<ValueId> operands, carried;
    for (ValueId v : n_.operands) operands.push_back(out[v]);
    for (std::size_t i = 0; i < layout_.carried; ++i) carried.push_back(operands[layout_.first_carried + i]);
    std::vector<ValueId> constants(body().size());
    for (NodeId id = 0; id < body().size(); ++id) {
      if (body().node(id).kind != NodeKind::Constant) continue;
      constants[id] = {b.adopt(body().node(id), {}), 0};
    }
    std::vector<std::vector<ValueId>> stacked(stacks);
    for (std::int64_t round = 0; round < rounds_; ++round) {
      Rewriter rewriter(body(), b);
      for (NodeId id = 0; id < body().size(); ++id) {
        if (constants[id]) rewriter.map({id, 0}, constants[id]);
      }
      auto params = entries(b, operands, carried, round);
      if (!params) return Failure{};
      for (std::size_t i = 0; i < params->size(); ++i) rewriter.map(body().params()[i], (*params)[i]);
      for (NodeId id = 0; id < body().size(); ++id) {
        if (body().node(id).kind == NodeKind::Call && !rewriter.copy(id)) return Failure{};
      }
      const auto result = [&](std::size_t i) { return rewriter[body().results()[layout_.first_result + i]]; };
      for (std::size_t i = 0; i < layout_.carried; ++i) carried[i] = result(i);
      for (std::size_t i = 0; i < stacks; ++i) stacked[i].push_back(result(layout_.carried + i));
    }
    for (std::size_t i = 0; i < stacks; ++i) {
      auto whole = stack(b, std::move(stacked[i]), i);
      if (!whole) return Failure{};
      carried.push_back(*whole);
    }
    return carried;
  }

 private:
  const Graph& body() const { return *n_.regions[0]; }

  bool is_short() const {
    std::size_t calls = 0;
    for (const Node& n : body().nodes()) {
      if (!n.regions.empty()) return false;
      if (n.kind == NodeKind::Call) ++calls;
    }
    return calls > 0 && static_cast<std::size_t>(rounds_) <= kMostCalls / calls;
  }

  /// Values keep their types from round to round.
  bool is_steady() const {
    const std::size_t own = (n_.is(op("loop")) ? 2 : 0) + layout_.carried + layout_.scanned;
    if (body().params().size() != own + layout_.captures) return false;
    for (std::size_t i = 0; i < layout_.carried; ++i) {
      const ValueId start = n_.operands[layout_.first_carried + i];
      const Type& param = body().type(body().params()[(n_.is(op("loop")) ? 2 : 0) + i]);
      if (!start || !same_static(g_.type(start), param) ||
          !same_static(param, body().type(body().results()[layout_.first_result + i])))
        return false;
    }
    for (std::size_t i = layout_.first_result + layout_.carried; i < body().results().size(); ++i) {
      const Type& t = body().type(body().results()[i]);
      if (!t.is_tensor() || !t.is_static()) return false;
    }
    return true;
  }

  /// What the body's params are in a round.
  Result<std::vector<ValueId>> entries(GraphBuilder& b, const std::vector<ValueId>& operands,
                                       const std::vector<ValueId>& carried, std::int64_t round) const {
    std::vector<ValueId> out;
    if (n_.is(op("loop"))) {
      const Type& condition = body().type(body().params()[1]);
      auto holds = std::make_shared<Data>();
      holds->elements = std::vector<SymInt>{SymInt(1)};
      out.push_back(b.constant(int64_scalar(round), {}, n_.loc));
      out.push_back(b.constant({condition, std::move(holds)}, {}, n_.loc));
    }
    out.insert(out.end(), carried.begin(), carried.end());
    const auto axes = n_.attrs.ints_or_empty("scan_input_axes");
    for (std::size_t i = 0; i < layout_.scanned; ++i) {
      const std::int64_t at = is_backward("scan_input_directions", i) ? rounds_ - 1 - round : round;
      auto entry = b.value({.op = op("take"),
                            .operands = {operands[layout_.first_scanned() + i], b.constant(int64_scalar(at))},
                            .attrs = {{"axis", i < axes.size() ? axes[i] : 0}},
                            .name = n_.name,
                            .loc = n_.loc});
      if (!entry) return Failure{};
      out.push_back(*entry);
    }
    out.insert(out.end(), operands.begin() + static_cast<std::ptrdiff_t>(layout_.own), operands.end());
    return out;
  }

  /// A result of every round as one tensor.
  Result<ValueId> stack(GraphBuilder& b, std::vector<ValueId> rounds, std::size_t i) const {
    const auto axes = n_.attrs.ints_or_empty("scan_output_axes");
    const std::int64_t axis = i < axes.size() ? axes[i] : 0;
    if (is_backward("scan_output_directions", i)) std::reverse(rounds.begin(), rounds.end());
    const ValueId dims = b.constant(int64_vector({axis}), {}, n_.loc);
    for (ValueId& v : rounds) {
      auto wide = b.value({.op = op("expand_dims"), .operands = {v, dims}, .name = n_.name, .loc = n_.loc});
      if (!wide) return Failure{};
      v = *wide;
    }
    return b.value({.op = op("concatenate"),
                    .operands = std::move(rounds),
                    .attrs = {{"axis", axis}},
                    .name = n_.name,
                    .loc = n_.loc});
  }

  bool is_backward(std::string_view directions, std::size_t i) const {
    const auto all = n_.attrs.ints_or_empty(directions);
    return i < all.size() && all[i] == 1;
  }

  const Graph& g_;
  const Node& n_;
  ControlLayout layout_;
  std::int64_t rounds_ = 0;
  bool good_ = false;
};

}  // namespace

Result<Graph> unroll_loops(Graph graph, const PassOptions&, Diagnostics& diags) {
  if (!any_call(graph, [](const Graph& g, NodeId id) { return static_cast<bool>(Unrollable(g, id)); })) return graph;
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Unrollable loop(g, id);
      if (!loop) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      const auto results = loop.write(rewriter, rewriter.builder());
      if (!results) return Failure{};
      for (std::uint32_t r = 0; r < results->size(); ++r) rewriter.map({id, r}, (*results)[r]);
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
