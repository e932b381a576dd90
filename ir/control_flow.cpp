#include "ir/control_flow.h"

#include <algorithm>

#include "ir/counted_rounds.h"
#include "ir/rewriter.h"

namespace perfc {
namespace {

/// Does the body hand its condition on, or always answer true?
bool keeps_condition(const Graph& body) {
  if (body.results().empty() || body.params().size() < 2) return false;
  ValueId v = body.results()[0];
  while (body.node(v).is(op("copy")) && body.node(v).operands[0]) v = body.node(v).operands[0];
  if (v == body.params()[1]) return true;
  const auto value = known_integer(body.data(v));
  return value && *value != 0;
}

/// Rounds of a body that runs at least once and where a counter, its own or that of the rounds, says whether another
/// follows.
std::optional<std::int64_t> counted(const ControlLayout& l, std::span<const InferContext::Operand> operands,
                                    const Graph& body) {
  if (body.params().size() < 2 || body.results().empty()) return std::nullopt;
  std::vector<Carried> carried{{.param = body.params()[0], .next = {}, .start = 0, .step = 1}};
  for (std::size_t i = 0; i < l.carried; ++i) {
    if (2 + i >= body.params().size() || l.first_result + i >= body.results().size()) return std::nullopt;
    carried.push_back(
        {body.params()[2 + i], body.results()[l.first_result + i], known_integer(operands[l.first_carried + i].data)});
  }
  return rounds_until(body, carried, body.results()[0], body.params()[1]);
}

SymInt loop_trips(const ControlLayout& layout, std::span<const InferContext::Operand> operands, const Graph& body) {
  const auto operand = [&](std::size_t i) { return i < operands.size() ? operands[i] : InferContext::Operand{}; };
  const auto limit = known_integer(operand(0).data);
  if (limit && *limit <= 0) return 0;
  const auto cond = known_integer(operand(1).data);
  if (cond && *cond == 0) return 0;
  if (operand(1).type && !cond) return {};
  // Without a condition the body's answer is ignored (ONNX Loop, form "M, ''").
  if (operand(1).type && !keeps_condition(body)) {
    if (limit && *limit == 1) return *limit;
    const auto rounds = !operand(0).type || limit ? counted(layout, operands, body) : std::nullopt;
    return rounds ? SymInt(limit ? std::min(*limit, *rounds) : *rounds) : SymInt{};
  }
  return limit ? SymInt(*limit) : SymInt{};
}

SymInt scan_trips(const Attrs& attrs, std::span<const InferContext::Operand> operands) {
  const ControlLayout layout = control_layout(op("scan"), attrs, operands.size());
  const auto axes = attrs.ints_or_empty("scan_input_axes");
  SymInt extent;
  for (std::size_t i = 0; i < layout.scanned; ++i) {
    const Type* t = operands[layout.first_scanned() + i].type;
    if (!t || !t->is_tensor() || !t->ranked()) continue;
    const auto rank = static_cast<std::int64_t>(t->rank());
    std::int64_t axis = layout.batched ? 1 : i < axes.size() ? axes[i] : 0;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) continue;
    const Dim& d = t->shape()[static_cast<std::size_t>(axis)];
    if (d.known()) return d;
    if (d.symbolic()) extent = d;
  }
  return extent;
}

/// A tensor type without axis `axis`; unranked when there is no such axis.
Type without_axis(const Type& t, std::int64_t axis) {
  if (!t.is_tensor() || !t.ranked()) return t;
  const auto rank = static_cast<std::int64_t>(t.rank());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Type::unranked(t.dtype());  // the scan's shape rule refuses it
  Shape shape = t.shape();
  shape.erase(shape.begin() + axis);
  return Type::tensor(t.dtype(), std::move(shape));
}

}  // namespace

ControlLayout control_layout(OpId o, const Attrs& attrs, std::size_t operands) {
  const auto at_most = [](std::int64_t v, std::size_t most) {
    return std::min(static_cast<std::size_t>(std::max<std::int64_t>(v, 0)), most);
  };
  ControlLayout l;
  l.captures = at_most(attrs.int_or("captures", 0), operands);
  l.own = operands - l.captures;
  if (o == op("loop")) {
    l.first_carried = std::min<std::size_t>(2, l.own);
    l.carried = l.own - l.first_carried;
    l.first_result = 1;
  } else if (o == op("scan")) {
    l.batched = attrs.int_or("batched", 0) != 0;
    l.first_carried = std::min<std::size_t>(l.batched ? 1 : 0, l.own);
    l.scanned = at_most(attrs.int_or("num_scan_inputs", 0), l.own - l.first_carried);
    l.carried = l.own - l.first_carried - l.scanned;
  }
  return l;
}

SymInt trip_count(OpId o, const Attrs& attrs, std::span<const InferContext::Operand> operands, const Graph& body) {
  if (o == op("if")) return 1;
  if (o == op("loop")) return loop_trips(control_layout(o, attrs, operands.size()), operands, body);
  if (o == op("scan")) return scan_trips(attrs, operands);
  return {};
}

SymInt trip_count(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  if (n.kind != NodeKind::Call || n.regions.empty()) return {};
  SmallVec<InferContext::Operand, 8> operands;
  for (ValueId v : n.operands) {
    operands.push_back(v ? InferContext::Operand{&graph.type(v), graph.data(v)} : InferContext::Operand{});
  }
  return trip_count(n.op, n.attrs, {operands.data(), operands.size()}, *n.regions[0]);
}

std::vector<ResultInfo> region_params(OpId o, const Attrs& attrs, std::size_t, const std::vector<ResultInfo>& operands,
                                      std::size_t) {
  const ControlLayout l = control_layout(o, attrs, operands.size());
  std::vector<ResultInfo> params;
  // What an iteration may change is known by type only.
  if (o == op("loop")) {
    params.push_back({Type::tensor(DType::Int64, {}), nullptr});
    const Type cond = l.own > 1 ? operands[1].type : Type{};
    params.push_back({cond ? cond : Type::tensor(DType::Bool, {}), nullptr});
    for (std::size_t i = 0; i < l.carried; ++i) params.push_back({operands[2 + i].type, nullptr});
  } else if (o == op("scan")) {
    const auto axes = attrs.ints_or_empty("scan_input_axes");
    const auto element = [&](const Type& t) { return l.batched ? without_axis(t, 0) : t; };
    for (std::size_t i = 0; i < l.carried; ++i) {
      params.push_back({element(operands[l.first_carried + i].type), nullptr});
    }
    for (std::size_t i = 0; i < l.scanned; ++i) {
      const std::int64_t axis = !l.batched && i < axes.size() ? axes[i] : 0;
      params.push_back({without_axis(element(operands[l.first_scanned() + i].type), axis), nullptr});
    }
  } else if (o == op("sequence_map")) {
    for (std::size_t i = 0; i < l.own; ++i) {
      const Type& t = operands[i].type;
      if (t.kind() == TypeKind::Sequence) {
        params.push_back({t.element(), nullptr});
      } else {
        params.push_back(operands[i]);
      }
    }
  }
  params.insert(params.end(), operands.begin() + static_cast<std::ptrdiff_t>(l.own), operands.end());
  return params;
}

}  // namespace perfc
