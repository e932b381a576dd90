#include "whitebox/launch/compiled_values.h"

#include <algorithm>
#include <utility>

#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

constexpr double kUnbounded = 1e300;

/// Whether one of a node's results is among the values.
bool has_result_in(const std::set<ValueId>& values, NodeId id) {
  const auto first = values.lower_bound({id, 0});
  return first != values.end() && first->node == id;
}

}  // namespace

CompiledValues::CompiledValues(const PlannedGraph& graph, std::vector<bool> alone)
    : of_(graph), groups_(fused_groups(graph.g, std::move(alone))), group_(graph.g.size(), kNone),
      full_(graph.g.size(), false) {
  group_calls();
  find_free();
  if (of_.config.precision == Precision::Amp) keep_full();
  find_read();
}

void CompiledValues::group_calls() {
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    for (NodeId id : groups_[i].members) group_[id] = i;
  }
}

void CompiledValues::find_free() {
  std::vector<bool> adds_itself(of_.g.size(), false);
  for (const FusedGroup& group : groups_) {
    free_.push_back(std::ranges::all_of(group.members, [&](NodeId id) {
      const Node& n = of_.node(id);
      return !of_.layout.copied[id] && (is_any_view(of_.g, n) || is_epilogue(of_.g, n));
    }));
    for (NodeId id : group.members) adds_itself[id] = free_.back();
  }
  realization_ = realize(of_.g, adds_itself, of_.layout, of_.weight);
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    const bool inlined = std::ranges::all_of(groups_[i].members, [&](NodeId id) { return realization_.inlined[id]; });
    if (inlined) free_[i] = true;
  }
}

bool CompiledValues::keeps_operand(NodeId activation) const {
  const Node& x = of_.node(activation);
  return x.kind == NodeKind::Call && def(x.op).runs.fusion == Fusion::PointwiseTwice &&
         of_.g.node(x.operands[0]).is(op("nn.bias_add"));
}

void CompiledValues::keep_full() {
  for (NodeId id = 0; id < of_.g.size(); ++id) {
    const Node& n = of_.node(id);
    if (n.kind != NodeKind::Call || !is_reduction(of_.g, n) || !n.operands[0]) continue;
    const NodeId from = n.operands[0].node;
    if (group_[from] != kNone && group_[from] == group_[id] && keeps_operand(from)) full_[from] = true;
  }
}

void CompiledValues::find_read() {
  wide_.insert(of_.g.results().begin(), of_.g.results().end());
  for (NodeId id = of_.g.size(); id-- > 0;) {
    if (of_.node(id).kind == NodeKind::Call && !realization_.inlined[id]) read_by(id);
  }
}

void CompiledValues::read_by(NodeId id) {
  const bool passes_on = in_no_kernel(id);
  const bool low = of_.config.precision == Precision::Amp && uses_matrix_unit(of_.node(id).op);
  const bool wide = passes_on ? has_result_in(wide_, id) : !low;
  const bool narrow = passes_on ? has_result_in(narrow_, id) : low;
  Sources from;
  add_sources(id, 1, {}, from);
  for (const auto& [v, source] : from) {
    if (!passes_on && group_[v.node] != kNone && group_[v.node] == group_[id]) continue;
    if (wide) wide_.insert(v);
    if (narrow) narrow_.insert(v);
  }
}

void CompiledValues::add_sources(NodeId id, double share, ValueId part, Sources& out) const {
  const Node& n = of_.node(id);
  const bool in_place = part_compiled_in_place(of_.g, n).has_value();
  for (std::size_t i = in_place ? 1 : 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!v) continue;
    const Look look = look_through(of_.g, realization_, v);
    const double of_it = share * look.share;
    const ValueId through = part ? part : look.part;
    if (realization_.inlined[look.at.node]) {
      add_sources(look.at.node, of_it, through, out);
      continue;
    }
    Source& s = out.try_emplace(look.at, Source{.reader = id, .parts = {}}).first->second;
    s.bound += read_bound(id);
    s.parts[through] = std::max(s.parts[through], of_it);
  }
}

double CompiledValues::Source::share() const {
  double sum = 0;
  for (const auto& [part, share] : parts) sum += share;
  return std::min(sum, 1.0);
}

double CompiledValues::read_bound(NodeId id) const {
  const Node& n = of_.node(id);
  const bool bounded = n.is(op("strided_slice")) || def(n.op).category == Category::Gather;
  return bounded ? of_.widths.bytes_of({id, 0}) : kUnbounded;
}

double CompiledValues::width_of(ValueId v, const Source& source) const {
  const Type& t = of_.g.type(v);
  if (full_[v.node]) return element_bytes(t, false);
  if (narrow_.count(v) && !wide_.count(v)) return element_bytes(t, true);
  return of_.widths.read_width(v, of_.node(source.reader));
}

CompiledValues::Loads CompiledValues::loads(std::uint32_t group) const {
  Sources from;
  for (NodeId id : groups_[group].members) {
    if (!realization_.inlined[id]) add_sources(id, 1, {}, from);
  }
  Loads out;
  for (const auto& [v, source] : from) {
    if (group_[v.node] == group) continue;
    const double whole = of_.g.type(v).is_tensor() ? of_.elements(v) * width_of(v, source) * source.share() : 0;
    const double bytes = std::min(whole, source.bound);
    out.bytes += bytes;
    if (of_.is_stored(v)) out.stored += bytes;
  }
  return out;
}

double CompiledValues::written(NodeId id) const {
  const Node& n = of_.node(id);
  if (const auto part = part_compiled_in_place(of_.g, n)) return of_.widths.bytes_of(n.operands[*part]);
  double bytes = 0;
  for (std::uint32_t r = 0; r < n.results.size() && !realization_.inlined[id]; ++r) {
    const ValueId v{id, r};
    const Type& t = of_.g.type(v);
    if (!t.is_tensor()) continue;
    const bool wide = wide_.count(v) > 0, narrow = narrow_.count(v) > 0;
    if (wide) bytes += full_[id] ? of_.elements(v) * element_bytes(t, false) : of_.widths.bytes_of(v);
    if (narrow && !(wide && of_.widths.is_half(id))) bytes += of_.elements(v) * element_bytes(t, true);
  }
  return bytes;
}

double CompiledValues::kept_for_padding(NodeId id) const {
  const Node& n = of_.node(id);
  if (of_.config.precision != Precision::Amp || !n.is(op("nn.pad")) || !keeps_operand(n.operands[0].node)) return 0;
  return 2 * of_.elements(n.operands[0]) * element_bytes(of_.g.type(n.operands[0]), false);
}

}  // namespace perfc
