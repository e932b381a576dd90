/// Masks that positions alone make, of which each query sees the keys up to its own place.
#include <algorithm>

#include "passes/decomposed.h"

namespace perfc::passes {
namespace {

/// A tensor whose element at (row, column), of its last two dims, is start + by_row · row + by_column · column.
struct Places {
  std::int64_t start = 0, by_row = 0, by_column = 0;
};

std::optional<Places> along(const Type& type, std::int64_t start) {
  if (!type.is_static()) return std::nullopt;
  std::size_t dim = type.rank();
  for (std::size_t i = 0; i < type.rank(); ++i) {
    if (type.shape()[i].is(1)) continue;
    if (dim != type.rank()) return std::nullopt;
    dim = i;
  }
  if (dim + 1 == type.rank()) return Places{start, 0, 1};
  if (dim + 2 == type.rank()) return Places{start, 1, 0};
  return std::nullopt;
}

std::optional<Places> of_constant(const Graph& g, ValueId v) {
  const Data* data = g.data(v);
  const auto* ints = data && data->fully_known() ? data->ints() : nullptr;
  if (!ints || ints->empty()) return std::nullopt;
  const std::int64_t start = ints->front().value();
  if (ints->size() == 1) return Places{start, 0, 0};
  for (std::size_t i = 1; i < ints->size(); ++i) {
    if ((*ints)[i].value() != (*ints)[i - 1].value() + 1) return std::nullopt;
  }
  return along(g.type(v), start);
}

std::optional<Places> places(const Graph& g, ValueId v, int depth = 0) {
  constexpr int kDeepest = 6;
  if (!v || depth > kDeepest || is_float(g.type(v).dtype()) || !g.type(v).is_static()) return std::nullopt;
  if (const auto known = of_constant(g, v)) return known;
  const Node& n = g.node(v);
  if (n.kind != NodeKind::Call || n.operands.empty()) return std::nullopt;
  if (n.is(op("arange")) && n.operands.size() == 3) {
    const auto start = places(g, n.operands[0], depth + 1), step = places(g, n.operands[2], depth + 1);
    return start && step && step->start == 1 ? along(g.type(v), start->start) : std::nullopt;
  }
  if (n.is(op("cast"))) return places(g, n.operands[0], depth + 1);
  if (def(n.op).moves == Moves::Reshapes) {
    const auto seen = places(g, n.operands[0], depth + 1);
    const bool one_way = seen && (seen->by_row == 0) != (seen->by_column == 0);
    return one_way && seen->by_row + seen->by_column == 1 ? along(g.type(v), seen->start) : std::nullopt;
  }
  const bool adds = n.is(op("add")), subtracts = n.is(op("subtract"));
  if ((!adds && !subtracts) || n.operands.size() != 2) return std::nullopt;
  const auto a = places(g, n.operands[0], depth + 1), b = places(g, n.operands[1], depth + 1);
  if (!a || !b) return std::nullopt;
  const std::int64_t sign = adds ? 1 : -1;
  Places out{0, a->by_row + sign * b->by_row, a->by_column + sign * b->by_column};
  std::int64_t of_b = 0;
  const bool overflows =
      __builtin_mul_overflow(sign, b->start, &of_b) || __builtin_add_overflow(a->start, of_b, &out.start);
  return overflows ? std::nullopt : std::optional(out);
}

/// true in every element; where contents are left out, a single bool of a model is taken for it.
bool lets_through(const MatchGraph& g, ValueId v) {
  const Data* data = g.graph.data(v);
  if (!data) return g.contents == Contents::Types && g.is_weight(v) && g.type(v).elements() == 1;
  return data->fully_known() && data->ints() && !data->ints()->empty() &&
         std::ranges::all_of(*data->ints(), [](const SymInt& x) { return x.is(1); });
}

/// Known bools of which row i holds i + 1 that are true, then others.
bool is_triangle(const Graph& g, ValueId v) {
  const Data* data = g.data(v);
  const auto* ints = data && data->fully_known() ? data->ints() : nullptr;
  const Type& type = g.type(v);
  if (!ints || !type.is_static() || type.rank() < 2 || static_cast<std::int64_t>(ints->size()) != type.elements())
    return false;
  const std::int64_t columns = type.shape().back().value();
  const std::int64_t rows = type.shape()[type.rank() - 2].value();
  if (columns * rows != static_cast<std::int64_t>(ints->size())) return false;
  for (std::size_t i = 0; i < ints->size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (!(*ints)[i].is(at % columns <= at / columns ? 1 : 0)) return false;
  }
  return true;
}

}  // namespace

bool is_causal(const MatchGraph& g, ValueId mask) {
  constexpr int kMostCalls = 6;
  for (int steps = 0; steps < kMostCalls && mask; ++steps) {
    const Node& n = g.node(mask);
    if (is_triangle(g.graph, mask)) return true;
    if (n.kind != NodeKind::Call || n.operands.size() < 2) return false;
    if (n.is(op("where"))) {
      const auto otherwise = of_constant(g.graph, n.operands[2]);
      if (!lets_through(g, n.operands[1]) || !otherwise || otherwise->start != 0 || otherwise->by_column != 0)
        return false;
      mask = n.operands[0];
    } else if (n.is(op("logical_and"))) {
      if (lets_through(g, n.operands[0])) mask = n.operands[1];
      else if (lets_through(g, n.operands[1])) mask = n.operands[0];
      else return false;
    } else {
      const bool less = n.is(op("less")), less_equal = n.is(op("less_equal")), greater = n.is(op("greater"));
      if (!less && !less_equal && !greater && !n.is(op("greater_equal"))) return false;
      const auto a = places(g.graph, n.operands[less || less_equal ? 1 : 0]),
                 b = places(g.graph, n.operands[less || less_equal ? 0 : 1]);
      if (!a || !b) return false;
      std::int64_t ahead = 0;
      if (__builtin_sub_overflow(a->start, b->start, &ahead)) return false;
      return a->by_row - b->by_row == 1 && a->by_column - b->by_column == -1 && ahead == (less || greater ? 1 : 0);
    }
  }
  return false;
}

}  // namespace perfc::passes
