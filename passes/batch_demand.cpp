#include "passes/batch_demand.h"

#include <algorithm>

#include "ir/op_table.h"

namespace perfc::passes {
namespace {

std::int64_t known_extent(const Type& type, std::size_t axis) {
  return type.is_tensor() && type.ranked() && axis < type.rank() && type.shape()[axis].known()
             ? type.shape()[axis].value()
             : 0;
}

std::int64_t axis_of(const Node& n, std::int64_t fallback, std::size_t rank) {
  const std::int64_t axis = n.attrs.int_or("axis", fallback);
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

/// Products of rows with weights, and norms of each row by itself.
bool works_on_rows(const Node& n) {
  if (n.is(op("nn.dense"))) return true;
  return def(n.op).runs.keeps == Keeps::FirstAndRows && n.attrs.int_or("axis", -1) == -1;
}

}  // namespace

std::optional<rules::Einsum> einsum_of(const Graph& graph, NodeId id) {
  std::vector<const Shape*> shapes;
  for (ValueId v : graph.node(id).operands) {
    if (!v || !graph.type(v).ranked()) return std::nullopt;
    shapes.push_back(&graph.type(v).shape());
  }
  std::string why;
  return rules::parse_einsum(graph.node(id).attrs.string_or("equation", ""), shapes, why);
}

std::optional<std::size_t> label_axis(const std::vector<int>& labels, int label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  return found == labels.end() ? std::nullopt : std::optional<std::size_t>(found - labels.begin());
}

BatchDemands::BatchDemands(const Graph& graph, const BatchChange& change) : graph_(graph), change_(change) {
  std::uint32_t total = 0;
  for (const Node& n : graph.nodes()) {
    first_.push_back(total);
    total += static_cast<std::uint32_t>(n.results.size());
  }
  demands_.resize(total);
}

void BatchDemands::add(ValueId v, BatchDim at) {
  if (graph_.node(v).kind != NodeKind::Call) return;
  std::vector<Operand> open{{v, at}};
  while (!open.empty()) {
    const Operand next = open.back();
    open.pop_back();
    Demand& demand = demands_[first_[next.value.node] + next.value.result];
    if (demand.made) continue;
    demand.made = true;
    ++size_;
    const auto operands = above(next.value, next.at);
    if (operands.empty()) demand.origin = next.at;
    open.insert(open.end(), operands.begin(), operands.end());
  }
}

/// The operands that bring the dim; none where it begins here.
std::vector<BatchDemands::Operand> BatchDemands::above(ValueId v, BatchDim at) const {
  const Node& n = graph_.node(v);
  const Type& type = graph_.type(v);
  const std::int64_t extent = known_extent(type, at.axis);
  if (n.kind != NodeKind::Call || !n.regions.empty() || n.operands.empty() || extent <= 1) return {};
  if (n.is(op("split")) && axis_of(n, 0, type.rank()) != static_cast<std::int64_t>(at.axis))
    return {{n.operands[0], at}};
  if (n.results.size() != 1) return {};
  const OpDef& d = def(n.op);
  if (n.is(op("gather_nd"))) {
    const Type& indices = graph_.type(n.operands[1]);
    return indices.ranked() && at.axis + 1 < indices.rank() ? std::vector<Operand>{{n.operands[1], at}}
                                                            : std::vector<Operand>{};
  }
  if (n.is(op("concatenate"))) {
    if (axis_of(n, 0, type.rank()) == static_cast<std::int64_t>(at.axis)) return {};
    return aligned(n, type, at);
  }
  if (n.is(op("einsum"))) return above_einsum(v.node, at);
  if (n.is(op("strided_set"))) return aligned(n, type, at);
  if (works_on_rows(n) && at.axis + 1 < type.rank() && graph_.type(n.operands[0]).ranked() &&
      graph_.type(n.operands[0]).rank() == type.rank())
    return {{n.operands[0], at}};
  // Of a part along another dim the batch is whole in both.
  const bool part =
      d.moves == Moves::Part && graph_.type(n.operands[0]).ranked() && graph_.type(n.operands[0]).rank() == type.rank();
  if (n.is(op("broadcast_to")) || part || d.category == Category::Elementwise || d.category == Category::Activation ||
      keeps_elements(d.moves))
    return aligned(n, type, at);
  if (d.moves == Moves::Permutes || d.moves == Moves::Reshapes) return above_view(n, type, at);
  return {};
}

/// Operands that meet dim by dim, aligned at the last one, and have the whole extent.
std::vector<BatchDemands::Operand> BatchDemands::aligned(const Node& n, const Type& result, BatchDim at) const {
  const std::size_t from_end = result.rank() - at.axis;
  std::vector<Operand> found;
  for (ValueId v : n.operands) {
    if (!v) continue;
    const Type& type = graph_.type(v);
    if (!type.is_tensor() || !type.ranked() || type.rank() < from_end) continue;
    const std::size_t axis = type.rank() - from_end;
    if (known_extent(type, axis) == result.shape()[at.axis].value()) found.push_back({v, {axis, at.outer}});
    if (n.is(op("broadcast_to")) || def(n.op).moves == Moves::Part) break;  // behind are the target, the bounds
  }
  return found;
}

/// Operands in which the dim has its label.
std::vector<BatchDemands::Operand> BatchDemands::above_einsum(NodeId id, BatchDim at) const {
  const auto equation = einsum_of(graph_, id);
  if (!equation || at.axis >= equation->output.size()) return {};
  const int label = equation->output[at.axis];
  std::vector<Operand> found;
  for (std::size_t i = 0; i < equation->operands.size(); ++i) {
    const auto axis = label_axis(equation->operands[i], label);
    const ValueId v = graph_.node(id).operands[i];
    if (axis && known_extent(graph_.type(v), *axis) == known_extent(graph_.type({id, 0}), at.axis))
      found.push_back({v, {*axis, at.outer}});
  }
  return found;
}

std::vector<BatchDemands::Operand> BatchDemands::above_view(const Node& n, const Type& result, BatchDim at) const {
  const Type& type = graph_.type(n.operands[0]);
  if (!type.is_tensor() || !type.is_static() || !result.is_static()) return {};
  if (def(n.op).moves == Moves::Permutes) {
    const auto perm = n.attrs.ints_or_empty("perm");
    if (perm.size() != result.rank() || perm[at.axis] < 0 || perm[at.axis] >= static_cast<std::int64_t>(type.rank()))
      return {};
    return {{n.operands[0], {static_cast<std::size_t>(perm[at.axis]), at.outer}}};
  }
  const auto placed = place_batch(result.shape(), at, type.shape(), change_);
  return placed ? std::vector<Operand>{{n.operands[0], *placed}} : std::vector<Operand>{};
}

}  // namespace perfc::passes
