#include "passes/dim_demand.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/op_table.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

using Demands = std::map<NodeId, DimDemand>;
constexpr int kMostSteps = 64;  ///< from a value to what it becomes a part of

bool is_opened(const Type& t) {
  return t.is_tensor() && t.ranked() && std::ranges::any_of(t.shape(), [](const Dim& d) { return !d.known(); });
}

bool has_open_dim(const ResultInfo& r) { return is_opened(r.type); }

bool is_bounded(const Node& n) {
  return n.kind == NodeKind::Call && def(n.op).bound && std::ranges::any_of(n.results, has_open_dim);
}

/// A value, and the graph that has it.
struct Place {
  const Scope* in = nullptr;
  ValueId v;
  bool operator==(const Place&) const = default;
  const Node& node() const { return in->g.node(v); }
};

/// Where a value is from that a body captures.
Place origin(Place p) {
  while (p.v && p.in->owner && p.node().kind != NodeKind::Call) {
    const auto& params = p.in->g.params();
    const auto at = static_cast<std::size_t>(std::ranges::find(params, p.v) - params.begin());
    const auto& operands = p.in->owner->operands;
    const auto captures = static_cast<std::size_t>(std::max<std::int64_t>(p.in->owner->attrs.int_or("captures", 0), 0));
    if (at >= params.size() || captures > params.size() || captures > operands.size() ||
        at < params.size() - captures || !p.in->outer)
      break;
    p = {p.in->outer, operands[operands.size() - (params.size() - at)]};
  }
  return p;
}

// ---- Selections of different values

/// The comparison for equality that a value is, reshaped and converted or not; none: it is none.
std::optional<NodeId> equality(const Graph& g, ValueId v) {
  while (v && g.node(v).kind == NodeKind::Call) {
    const Node& n = g.node(v);
    const OpDef& d = def(n.op);
    if (d.holds.equal && !d.holds.less && !d.holds.greater) return v.node;
    if (d.moves != Moves::Reshapes && !keeps_elements(d.moves)) return std::nullopt;
    v = n.operands[0];
  }
  return std::nullopt;
}

/// How many different constants a value is compared with, for each call that selects where it equals one.
void share_by_constants(const Graph& g, Demands& out) {
  std::map<NodeId, ValueId> asked;
  std::map<ValueId, std::vector<const Data*>> constants;  // different ones
  for (NodeId id = 0; id < g.size(); ++id) {
    if (!is_bounded(g.node(id))) continue;
    for (const ValueId v : g.node(id).operands) {
      const auto mask = equality(g, v);
      if (!mask || !g.node(*mask).operands[1] || g.node(g.node(*mask).operands[1]).kind != NodeKind::Constant) continue;
      const Data* constant = g.data(g.node(*mask).operands[1]);
      if (!constant || constant->size() != 1) continue;
      asked[id] = g.node(*mask).operands[0];
      std::vector<const Data*>& known = constants[asked[id]];
      if (std::ranges::none_of(known, [&](const Data* d) { return *d == *constant; })) known.push_back(constant);
    }
  }
  for (const auto& [id, value] : asked) out[id].shared_by = static_cast<std::int64_t>(constants[value].size());
}

/// The param of a body of which a value is one entry; none: it is none.
std::optional<std::size_t> entry_of_param(const Graph& g, ValueId v) {
  while (v && g.node(v).kind == NodeKind::Call && def(g.node(v).op).moves == Moves::Reshapes) v = g.node(v).operands[0];
  if (!v || !g.node(v).is(op("take")) || !g.type(v).elements() || *g.type(v).elements() != 1) return std::nullopt;
  const auto& params = g.params();
  const auto at = std::ranges::find(params, g.node(v).operands[0]);
  return at == params.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - params.begin()));
}

/// A loop over the different values of x, which selects in each round where x is that value.
void share_by_rounds(const Scope& scope, const std::vector<ResultInfo>& settled, Demands& out) {
  const Graph& g = scope.g;
  for (NodeId id = 0; id < g.size(); ++id) {
    if (!is_bounded(g.node(id))) continue;
    for (const ValueId v : g.node(id).operands) {
      const auto mask = equality(g, v);
      if (!mask) continue;
      const auto& sides = g.node(*mask).operands;
      const auto values = sides[0] && sides[1] ? entry_of_param(g, sides[1]) : std::nullopt;
      if (!values || *values >= settled.size()) continue;
      const Place of = origin({&scope, g.params()[*values]}), x = origin({&scope, sides[0]});
      const Type& type = settled[*values].type;
      if (!of.v || !x.v || !of.node().is(op("unique")) || of.v.result != 0 ||
          origin({of.in, of.node().operands[0]}) != x)
        continue;
      if (type.is_static() && type.rank() == 1) out[id].shared_by = std::max<std::int64_t>(type.shape()[0].value(), 1);
    }
  }
}

// ---- Rows that are taken of what a suppression keeps

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

/// Of values whose first dim has the rows of a suppression, `rows` (each of itself): how many are taken, where every
/// reader takes the first ones. What an `if` gives is read outside of it.
std::map<ValueId, std::int64_t> rows_taken(const Scope& scope, std::map<ValueId, ValueId> rows) {
  const Graph& g = scope.g;
  std::map<ValueId, std::int64_t> taken;
  std::set<ValueId> otherwise;  // with another reader
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) continue;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const auto from = rows.find(n.operands[i]);
      if (from == rows.end() || def(n.op).dims_only) continue;
      const Moves moves = def(n.op).moves;
      const auto first = i == 0 ? first_rows(g, n) : std::nullopt;
      if (i == 0 && (takes_columns(g, n) || keeps_elements(moves) || moves == Moves::Reshapes)) {
        rows[{id, 0}] = from->second;
      } else if (first) {
        taken[from->second] = std::max(taken[from->second], *first);
      } else {
        otherwise.insert(from->second);
      }
    }
  }
  for (std::uint32_t r = 0; r < g.results().size(); ++r) {
    const auto from = rows.find(g.results()[r]);
    if (from == rows.end()) continue;
    std::optional<std::int64_t> outside;
    if (scope.outer && scope.owner->is(op("if"))) {
      const ValueId given{static_cast<NodeId>(scope.owner - scope.outer->g.nodes().data()), r};
      const auto there = rows_taken(*scope.outer, {{given, given}});
      if (!there.empty()) outside = there.begin()->second;
    }
    if (outside) taken[from->second] = std::max(taken[from->second], *outside);
    else otherwise.insert(from->second);
  }
  for (const ValueId v : otherwise) taken.erase(v);
  return taken;
}

void take_rows(const Scope& scope, Demands& out) {
  std::map<ValueId, ValueId> kept;
  for (NodeId id = 0; id < scope.g.size(); ++id) {
    const Node& n = scope.g.node(id);
    if (is_bounded(n) && def(n.op).suppression) kept[{id, 0}] = {id, 0};
  }
  if (kept.empty()) return;
  for (const auto& [v, first] : rows_taken(scope, std::move(kept))) out[v.node].taken = first;
}

// ---- Boxes that are compared

bool suppresses(const Node& n) {
  return n.kind == NodeKind::Call &&
         (def(n.op).suppression || std::ranges::any_of(n.regions, [](const GraphRef& body) {
            return any_call(*body, [](const Graph& g, NodeId id) { return def(g.node(id).op).suppression != nullptr; });
          }));
}

void find_compared(const Graph& g, Demands& out) {
  std::vector<bool> reaches(g.size(), false);
  for (NodeId id = g.size(); id-- > 0;) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) continue;
    if (reaches[id] && is_bounded(n) && !def(n.op).suppression) out[id].compared = true;
    if (!reaches[id] && !suppresses(n)) continue;
    for (const ValueId v : n.operands)
      if (v) reaches[v.node] = true;
  }
}

// ---- Different values

/// An operator of one operand, element by element, the others being numbers.
bool is_function(const Graph& g, const Node& n) {
  if (def(n.op).category != Category::Elementwise || n.operands.empty() || !n.operands[0]) return false;
  return std::all_of(n.operands.begin() + 1, n.operands.end(), [&](ValueId v) {
    return !v || (g.node(v).kind == NodeKind::Constant && g.type(v).elements() == 1);
  });
}

/// How many different values the elements of a value can have at most: as many as there are elements where they are
/// from. `budget`: calls that are looked at; `depth`: concatenations of concatenations.
std::int64_t values_of(Place p, int& budget, int depth = 0) {
  std::int64_t most = INT64_MAX;
  while (p.v && budget-- > 0) {
    p = origin(p);
    if (!p.v) break;
    const Node& n = p.node();
    if (const auto elements = p.in->g.type(p.v).elements()) most = std::min(most, *elements);
    if (n.kind != NodeKind::Call || p.v.result != 0) break;
    if (n.is(op("full"))) return std::min<std::int64_t>(most, 1);
    if (n.is(op("concatenate"))) {
      if (depth > kMostSteps) return most;
      std::int64_t sum = 0;
      for (const ValueId part : n.operands) {
        const std::int64_t of_part = values_of({p.in, part}, budget, depth + 1);
        if (__builtin_add_overflow(sum, of_part, &sum)) return most;
      }
      return std::min(most, sum);
    }
    const OpDef& d = def(n.op);
    if (!d.picks && d.moves == Moves::No && !is_function(p.in->g, n)) break;
    p.v = n.operands[0];
  }
  return most;
}

void count_values(const Scope& scope, Demands& out) {
  constexpr int kMostCalls = 10000;
  for (NodeId id = 0; id < scope.g.size(); ++id) {
    const Node& n = scope.g.node(id);
    if (!is_bounded(n) || !n.is(op("unique")) || n.attrs.has("axis")) continue;
    int budget = kMostCalls;
    if (const std::int64_t most = values_of({&scope, n.operands[0]}, budget); most < INT64_MAX) out[id].values = most;
  }
}

// ---- Repetitions

/// The number that a constant operand is; none: it is none.
std::optional<double> constant_number(const Graph& g, const Node& n, std::size_t operand) {
  if (operand >= n.operands.size() || !n.operands[operand]) return std::nullopt;
  const Data* data = g.data(n.operands[operand]);
  if (!data || data->size() != 1 || !data->fully_known()) return std::nullopt;
  if (const auto* floats = data->floats()) return floats->front();
  const auto* ints = data->ints();
  return ints ? std::optional(static_cast<double>(ints->front().value())) : std::nullopt;
}

/// Between what the elements of a value lie that was clipped, and since then rounded, converted, moved or picked.
std::optional<std::pair<double, double>> clipped(const Graph& g, ValueId v) {
  for (int steps = 0; steps < kMostSteps && v && g.node(v).kind == NodeKind::Call; ++steps) {
    const Node& n = g.node(v);
    if (n.is(op("clip"))) {
      const auto most = constant_number(g, n, 2);
      return most ? std::optional(std::pair(constant_number(g, n, 1).value_or(0), *most)) : std::nullopt;
    }
    const OpDef& d = def(n.op);
    if (!d.rounds && !d.picks && !keeps_elements(d.moves) && d.moves != Moves::Reshapes && d.moves != Moves::Part)
      return std::nullopt;
    v = n.operands[0];
  }
  return std::nullopt;
}

/// The counts whose sum a value is; none: it is none.
ValueId summed(const Graph& g, ValueId v) {
  for (int steps = 0; steps < kMostSteps && v && g.node(v).kind == NodeKind::Call; ++steps) {
    const Node& n = g.node(v);
    if (n.is(op("cumsum"))) return n.operands[0];
    if (n.is(op("sum_axes"))) return n.operands[0];
    const OpDef& d = def(n.op);
    if (!d.picks && !keeps_elements(d.moves) && d.moves != Moves::Reshapes) return {};
    v = n.operands[0];
  }
  return {};
}

/// One entry of a shape that a program joins of parts, and what ONNX' Expand makes of it (-1: leave the dim); none: it
/// is made otherwise.
ValueId shape_entry(const Graph& g, ValueId shape, std::size_t entry) {
  if (shape && g.node(shape).is(op("where"))) shape = g.node(shape).operands[2];
  if (!shape || !g.node(shape).is(op("concatenate"))) return {};
  for (const ValueId part : g.node(shape).operands) {
    const auto elements = part ? g.type(part).elements() : std::nullopt;
    if (!elements) return {};
    if (entry < static_cast<std::size_t>(*elements)) return *elements == 1 ? part : ValueId{};
    entry -= static_cast<std::size_t>(*elements);
  }
  return {};
}

/// What an open dim of a call is the number of, or the sum of the numbers; none: nothing of that kind.
ValueId counts_of(const Graph& g, const Node& n) {
  if (n.is(op("arange")))
    return constant_number(g, n, 0) == 0 && constant_number(g, n, 2) == 1 ? summed(g, n.operands[1]) : ValueId{};
  if (!n.is(op("broadcast_to"))) return {};
  const auto& shape = n.results[0].type.shape();
  const auto open = std::ranges::find_if(shape, [](const Dim& d) { return !d.known(); });
  const bool one = std::ranges::count_if(shape, [](const Dim& d) { return !d.known(); }) == 1;
  return one ? shape_entry(g, n.operands[1], static_cast<std::size_t>(open - shape.begin())) : ValueId{};
}

void count_repetitions(const Graph& g, Demands& out) {
  constexpr double kMost = 1e9;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.results.size() != 1 || !has_open_dim(n.results[0])) continue;
    const ValueId counts = counts_of(g, n);
    const auto elements = counts ? g.type(counts).elements() : std::nullopt;
    const auto bounds = elements ? clipped(g, counts) : std::nullopt;
    if (!bounds) continue;
    const auto of = [&](double count) { return static_cast<double>(*elements) * std::max(count, 0.0); };
    const double least = of(std::floor(bounds->first)), most = of(std::ceil(bounds->second));
    if (most <= kMost && least <= most)
      out[id].repetitions = {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
  }
}

// ---- Room

/// The only call that reads the contents of a value, and as which operand; none: there are several, or none.
struct Reader {
  NodeId id = ValueId::kNone;
  std::size_t operand = 0;
  bool several = false;
};
std::map<ValueId, Reader> readers_of(const Graph& g) {
  std::map<ValueId, Reader> out;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || def(n.op).dims_only) continue;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (!n.operands[i]) continue;
      const auto [at, fresh] = out.try_emplace(n.operands[i], Reader{id, i});
      at->second.several = !fresh;
    }
  }
  return out;
}

/// What becomes of an axis in the first result of a call that reads it as operand `operand`; none: it is lost, or no
/// one knows.
std::optional<std::size_t> axis_after(const Graph& g, const Node& n, std::size_t operand, std::size_t axis) {
  if (n.results.empty()) return std::nullopt;
  const Type &from = g.type(n.operands[operand]), &to = n.results[0].type;
  if (!from.ranked() || !to.is_tensor() || !to.ranked()) return std::nullopt;
  if (n.is(op("concatenate")) || (operand == 0 && n.is(op("strided_slice")))) return axis;
  if (operand > 0) return std::nullopt;
  if (n.is(op("take"))) {
    const std::int64_t taken = n.attrs.int_or("axis", 0);
    if (taken < 0 || static_cast<std::size_t>(taken) == axis || to.rank() + 1 != from.rank()) return std::nullopt;
    return static_cast<std::size_t>(taken) < axis ? axis - 1 : axis;
  }
  return def(n.op).category == Category::Elementwise && to.rank() == from.rank() ? std::optional(axis) : std::nullopt;
}

/// The room for an axis of a value: what is taken of it, or what the value that it becomes a part of has.
std::optional<Room> room_for(const Graph& g, const std::map<ValueId, Reader>& readers, ValueId v, std::size_t axis) {
  Room room;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    const auto reader = readers.find(v);
    if (reader == readers.end() || reader->second.several) return std::nullopt;
    const Node& n = g.node(reader->second.id);
    const auto next = axis_after(g, n, reader->second.operand, axis);
    if (!next) return std::nullopt;
    const std::int64_t of = n.is(op("strided_slice")) ? number_of(g, n, 3, 0).value_or(-1) : -1;
    if (of == static_cast<std::int64_t>(axis) && number_of(g, n, 1, -1) == 0 && number_of(g, n, 4, 1) == 1) {
      const std::int64_t end = number_of(g, n, 2, -1).value_or(-1);
      if (end > 0 && end <= INT32_MAX) return Room{end, room.parts};
    }
    if (n.is(op("concatenate")) && n.attrs.int_or("axis", 0) == static_cast<std::int64_t>(axis)) {
      room.parts =
          std::max<std::int64_t>(room.parts, std::ranges::count_if(n.operands, [&](ValueId part) {
                                   const Type& t = part ? g.type(part) : Type{};
                                   return t.is_tensor() && t.ranked() && axis < t.rank() && !t.shape()[axis].known();
                                 }));
    }
    v = {reader->second.id, 0};
    axis = *next;
    const Type& type = g.type(v);
    if (axis >= type.rank()) return std::nullopt;
    if (const Dim& d = type.shape()[axis]; d.known() && d.value() > 0) return Room{d.value(), room.parts};
  }
  return std::nullopt;
}

void find_rooms(const Graph& g, Demands& out) {
  std::map<ValueId, Reader> readers;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || !n.regions.empty()) continue;
    const bool cuts = def(n.op).bound && def(n.op).moves == Moves::Part;
    if (def(n.op).bound && !cuts) continue;
    if (!cuts && std::ranges::any_of(n.operands, [&](ValueId v) { return v && is_opened(g.type(v)); })) continue;
    for (std::size_t r = 0; r < n.results.size(); ++r) {
      if (!has_open_dim(n.results[r])) continue;
      if (readers.empty()) readers = readers_of(g);
      for (std::size_t axis = 0; axis < n.results[r].type.rank(); ++axis) {
        if (n.results[r].type.shape()[axis].known()) continue;
        const auto room = room_for(g, readers, {id, static_cast<std::uint32_t>(r)}, axis);
        if (room) out[id].rooms[{r, axis}] = *room;
      }
    }
  }
}

}  // namespace

std::map<NodeId, DimDemand> dim_demands(const Scope& scope, const std::vector<ResultInfo>& params) {
  Demands out;
  share_by_constants(scope.g, out);
  share_by_rounds(scope, params, out);
  take_rows(scope, out);
  find_compared(scope.g, out);
  count_values(scope, out);
  count_repetitions(scope.g, out);
  find_rooms(scope.g, out);
  return out;
}

}  // namespace perfc::passes
