#include "passes/affine_positions.h"

#include <algorithm>
#include <utility>

namespace perfc::passes {
namespace {

using Affine = AffinePositions::Affine;
using Sees = AffinePositions::Sees;
using Ints = std::vector<std::int64_t>;

Ints extents_of(const Type& t) {
  Ints out;
  for (const Dim& d : t.shape()) out.push_back(d.value());
  return out;
}

Affine constant(std::int64_t value, std::size_t rank) { return {value, Ints(rank, 0)}; }

/// Adds scale · x; false where that does not fit.
bool add(std::int64_t& to, std::int64_t scale, std::int64_t x) {
  std::int64_t scaled = 0;
  return !__builtin_mul_overflow(scale, x, &scaled) && !__builtin_add_overflow(to, scaled, &to);
}

/// `scale` · b added to a, the axes of both aligned at the last.
std::optional<Affine> sum(const Affine& a, const Affine& b, std::int64_t scale) {
  Affine out = a.steps.size() >= b.steps.size() ? a : Affine{a.start, Ints(b.steps.size(), 0)};
  if (a.steps.size() < b.steps.size()) std::copy_backward(a.steps.begin(), a.steps.end(), out.steps.end());
  bool fits = add(out.start, scale, b.start);
  const std::size_t shift = out.steps.size() - b.steps.size();
  for (std::size_t i = 0; i < b.steps.size(); ++i) fits = fits && add(out.steps[shift + i], scale, b.steps[i]);
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

/// Elements that go up or down in equal steps along each axis. Only what index arithmetic starts from: few.
std::optional<Affine> of_contents(const Type& t, const Data* data) {
  constexpr std::size_t kMost = 1 << 16;
  const auto* ints = data && data->fully_known() ? data->ints() : nullptr;
  if (!ints || ints->empty() || ints->size() > kMost || !t.is_static()) return std::nullopt;
  const Ints extents = extents_of(t);
  Affine out = constant(ints->front().value(), extents.size());
  std::size_t span = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (extents[d] > 1 && span < ints->size()) {
      out.steps[d] = (*ints)[span].value();
      if (!add(out.steps[d], -1, out.start)) return std::nullopt;
    }
    span *= static_cast<std::size_t>(std::max<std::int64_t>(extents[d], 1));
  }
  if (span != ints->size()) return std::nullopt;
  for (std::size_t i = 0; i < ints->size(); ++i) {
    std::int64_t said = out.start;
    std::size_t rest = i;
    for (std::size_t d = extents.size(); d-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents[d]);
      if (!add(said, out.steps[d], static_cast<std::int64_t>(rest % extent))) return std::nullopt;
      rest /= extent;
    }
    if (said != (*ints)[i].value()) return std::nullopt;
  }
  return out;
}

/// The same elements under other extents: axes of one element come and go.
std::optional<Affine> reshaped(const Affine& a, const Ints& from, const Ints& to) {
  Affine out = constant(a.start, to.size());
  if (a.is_constant()) return out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1) continue;
    while (at < from.size() && from[at] == 1) ++at;
    if (at == from.size() || from[at] != to[i]) return std::nullopt;
    out.steps[i] = a.steps[at++];
  }
  return out;
}

/// What is true of a − b where the axes before the last two do not matter: rows are queries, columns keys.
struct Difference {
  std::int64_t start = 0, by_row = 0, by_column = 0;
};
std::optional<Difference> difference(const Affine& a, const Affine& b) {
  const auto d = sum(a, b, -1);
  if (!d) return std::nullopt;
  const std::size_t rank = d->steps.size();
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (d->steps[i] != 0) return std::nullopt;
  }
  return Difference{d->start, rank > 1 ? d->steps[rank - 2] : 0, rank > 0 ? d->steps[rank - 1] : 0};
}

/// Least and greatest of a difference over rows and columns.
std::optional<std::pair<std::int64_t, std::int64_t>> extremes(const Difference& d, const Ints& extents) {
  std::pair<std::int64_t, std::int64_t> out{d.start, d.start};
  for (std::size_t back = 1; back <= std::min<std::size_t>(extents.size(), 2); ++back) {
    const std::int64_t step = back == 1 ? d.by_column : d.by_row;
    if (!add(step < 0 ? out.first : out.second, step, extents[extents.size() - back] - 1)) return std::nullopt;
  }
  return out;
}

/// Whether a difference of this size has the sign that a comparison asks for.
bool holds_at(const HoldsFor& holds, std::int64_t difference) {
  return holds(difference < 0 ? -1 : difference > 0 ? 1 : 0);
}

/// Keys minus queries, or the other way round: the columns that a row sees end at its own.
bool ends_at_own(const HoldsFor& holds, const Difference& d) {
  const bool keys = d.by_row == -1 && d.by_column == 1, queries = d.by_row == 1 && d.by_column == -1;
  const bool past = (keys && holds.less && !holds.greater) || (queries && holds.greater && !holds.less);
  return past && d.start == (holds.equal ? 0 : d.by_row);
}

Sees both(Sees a, Sees b) {
  if (a > b) std::swap(a, b);
  if (a == Sees::Unknown) return a;
  if (a == Sees::All) return b >= Sees::Past ? Sees::PastAndAll : Sees::All;
  return b;  // Filled lets what the other lets; of two pasts the one that says more
}

}  // namespace

bool Affine::is_constant() const {
  return std::ranges::all_of(steps, [](std::int64_t s) { return s == 0; });
}

AffinePositions::AffinePositions(const Graph& g) : g_(g), affine_(g.size()), sees_(g.size(), Sees::Unknown) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.results.size() != 1 || !n.results[0].type.is_tensor() || !n.results[0].type.is_static()) continue;
    if (is_float(n.results[0].type.dtype())) continue;
    if (n.kind == NodeKind::Constant) {
      affine_[id] = of_contents(n.results[0].type, n.results[0].data.get());
      const bool mask = n.results[0].type.dtype() == DType::Bool && affine_[id];
      if (mask && affine_[id]->is_constant() && affine_[id]->start == 1) sees_[id] = Sees::All;  // evaluated on export
    }
    if (n.kind == NodeKind::Call && n.regions.empty() && !n.operands.empty() && n.operands[0]) call(id, n);
  }
}

const Affine* AffinePositions::affine(const Node& n, std::size_t operand) const {
  if (operand >= n.operands.size() || !n.operands[operand] || n.operands[operand].result != 0) return nullptr;
  const auto& a = affine_[n.operands[operand].node];
  return a ? &*a : nullptr;
}

std::optional<Ints> AffinePositions::ints(const Node& n, std::size_t operand) const {
  const Data* data = operand < n.operands.size() && n.operands[operand] ? g_.data(n.operands[operand]) : nullptr;
  return data ? data->known_ints() : std::nullopt;
}

void AffinePositions::call(NodeId id, const Node& n) {
  const OpDef& d = def(n.op);
  const Type& to = n.results[0].type;
  if (d.moves != Moves::No || n.is(op("broadcast_to"))) return view(id, n);
  if (n.is(op("arange"))) {
    const Affine *start = affine(n, 0), *step = affine(n, 2);
    if (start && step && to.rank() == 1) affine_[id] = Affine{start->start, {step->start}};
  } else if (n.is(op("full"))) {
    const Attr* attr = n.attrs.find("value");
    const auto* value = attr ? std::get_if<Literal>(attr) : nullptr;
    const auto filled = value ? of_contents(value->type, value->data.get()) : std::nullopt;
    if (filled && to.dtype() == DType::Bool && filled->start == 1) sees_[id] = Sees::Filled;
    if (filled && to.dtype() != DType::Bool) affine_[id] = constant(filled->start, to.rank());
  } else if (n.is(op("cumsum"))) {
    const Affine* added = affine(n, 0);
    if (added && added->is_constant() && added->start == 0) affine_[id] = constant(0, to.rank());
  } else if (n.is(op("tile"))) {
    const auto repeats = ints(n, 1);
    if (repeats && std::ranges::all_of(*repeats, [](std::int64_t r) { return r == 1; })) view(id, n);
  } else if (n.is(op("concatenate"))) {
    affine_[id] = concatenated(n);
  } else if (n.is(op("gather_nd"))) {
    affine_[id] = gathered(n);
  } else if (n.is(op("take"))) {
    affine_[id] = taken(n);
  } else if (n.is(op("logical_and")) && n.operands.size() == 2) {
    sees_[id] = both(sees(n.operands[0]), sees(n.operands[1]));
  } else if (n.is(op("add"))) {
    added(id, n, 1);
  } else if (n.is(op("subtract"))) {
    added(id, n, -1);
  } else {
    comparison(id, n);
  }
}

void AffinePositions::view(NodeId id, const Node& n) {
  const Type &from = g_.type(n.operands[0]), &to = n.results[0].type;
  const Moves moves = def(n.op).moves;
  if (!from.is_static()) return;
  const Ints before = extents_of(from), after = extents_of(to);
  const bool all_there = moves != Moves::Part || n.is(op("broadcast_to"));
  const bool same_pairs = moves != Moves::Permutes && before.size() > 1 && after.size() > 1 &&
                          std::equal(before.end() - 2, before.end(), after.end() - 2);
  if (all_there && (same_pairs || sees(n.operands[0]) < Sees::Past)) sees_[id] = sees(n.operands[0]);
  const Affine* a = affine(n, 0);
  if (!a) return;
  if (n.is(op("broadcast_to"))) {
    Affine out = constant(a->start, after.size());
    std::copy_backward(a->steps.begin(), a->steps.end(), out.steps.end());
    affine_[id] = std::move(out);
  } else if (moves == Moves::Permutes && n.is(op("transpose"))) {
    const auto perm = n.attrs.ints_or_empty("perm");
    Affine out = *a;
    for (std::size_t i = 0; i < out.steps.size(); ++i)
      out.steps[i] = a->steps[perm.empty() ? out.steps.size() - 1 - i : static_cast<std::size_t>(perm[i])];
    affine_[id] = std::move(out);
  } else if (n.is(op("strided_slice"))) {
    const auto begins = ints(n, 1), axes = ints(n, 3), steps = ints(n, 4);
    if (!begins || (axes && axes->size() != begins->size()) || (steps && steps->size() != begins->size())) return;
    Affine out = *a;
    for (std::size_t i = 0; i < begins->size(); ++i) {
      const auto rank = static_cast<std::int64_t>(before.size());
      std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
      axis += axis < 0 ? rank : 0;
      if (axis < 0 || axis >= rank) return;
      const std::int64_t extent = before[static_cast<std::size_t>(axis)], by = steps ? (*steps)[i] : 1;
      const std::int64_t begin = (*begins)[i] < 0 ? (*begins)[i] + extent : (*begins)[i];
      std::int64_t& step = out.steps[static_cast<std::size_t>(axis)];
      if (begin < 0 || begin >= extent || by < 1 || !add(out.start, step, begin)) return;
      if (__builtin_mul_overflow(step, by, &step)) return;
    }
    for (std::size_t i = 0; i < after.size(); ++i) out.steps[i] *= after[i] > 1;
    affine_[id] = std::move(out);
  } else if (all_there && moves != Moves::Permutes) {
    affine_[id] = reshaped(*a, before, after);
  }
}

void AffinePositions::added(NodeId id, const Node& n, std::int64_t scale) {
  const Affine *a = affine(n, 0), *b = affine(n, 1);
  if (a && b) affine_[id] = sum(*a, *b, scale);
}

void AffinePositions::comparison(NodeId id, const Node& n) {
  const Affine *a = affine(n, 0), *b = affine(n, 1);
  const HoldsFor& holds = def(n.op).holds;
  const bool compares = holds.less || holds.equal || holds.greater;
  const auto d = a && b && compares ? difference(*a, *b) : std::nullopt;
  if (!d) return;
  if (d->by_row == 0 && d->by_column == 0) {
    const bool all = holds_at(holds, d->start);
    affine_[id] = constant(all ? 1 : 0, n.results[0].type.rank());
    if (all) sees_[id] = Sees::All;
  } else if (ends_at_own(holds, *d)) {
    sees_[id] = Sees::Past;
  } else {
    const auto ends = extremes(*d, extents_of(n.results[0].type));
    const bool ordered = holds.less != holds.greater;  // what holds at both ends holds between
    if (ordered && ends && holds_at(holds, ends->first) && holds_at(holds, ends->second)) sees_[id] = Sees::All;
  }
}

/// Parts that go on where the one before ended.
std::optional<Affine> AffinePositions::concatenated(const Node& n) const {
  const std::size_t rank = n.results[0].type.rank();
  std::int64_t axis = n.attrs.int_or("axis", 0);
  axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  std::optional<Affine> out;
  std::optional<std::int64_t> step;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const Affine* part = affine(n, i);
    if (!part || part->steps.size() != rank) return std::nullopt;
    const std::int64_t extent = g_.type(n.operands[i]).shape()[at].value();
    if (!step && extent > 1) step = part->steps[at];
    if (extent < 1) return std::nullopt;
    if (out) {
      std::int64_t after = part->start, said = 0;
      if (!add(after, -1, out->start)) return std::nullopt;
      if (!step) step = after / offset;
      if (!add(said, *step, offset) || said != after) return std::nullopt;
    }
    if (step && extent > 1 && part->steps[at] != *step) return std::nullopt;
    Affine along = *part;
    along.steps[at] = 0;
    if (out && along.steps != out->steps) return std::nullopt;
    if (!out) out = along;
    offset += extent;
  }
  if (out) out->steps[at] = step.value_or(0);
  return out;
}

/// One place along an axis.
std::optional<Affine> AffinePositions::taken(const Node& n) const {
  const Affine *data = affine(n, 0), *index = affine(n, 1);
  if (!data || !index || !index->steps.empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(data->steps.size());
  std::int64_t axis = n.attrs.int_or("axis", 0);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t extent = g_.type(n.operands[0]).shape()[at].value();
  Affine out = *data;
  const std::int64_t step = out.steps[at];
  out.steps.erase(out.steps.begin() + axis);
  if (!add(out.start, step, index->start < 0 ? index->start + extent : index->start)) return std::nullopt;
  return out;
}

/// Of data at index tensors that meet: their concatenation along the last axis.
std::optional<Affine> AffinePositions::gathered(const Node& n) const {
  const Affine* data = affine(n, 0);
  const std::size_t rank = n.results[0].type.rank();
  if (!data || n.operands.size() < 2 || !n.operands[1]) return std::nullopt;
  const Node& index = g_.node(n.operands[1]);
  if (data->is_constant()) return constant(data->start, rank);
  if (!index.is(op("concatenate")) || index.operands.size() != data->steps.size() ||
      n.attrs.int_or("batch_dims", 0) != 0)
    return std::nullopt;
  Affine out = constant(data->start, rank);
  for (std::size_t i = 0; i < data->steps.size(); ++i) {
    const Affine* part = affine(index, i);
    if (!part || part->steps.size() != rank + 1 || part->steps.back() != 0) return std::nullopt;
    Affine along = *part;
    along.steps.pop_back();
    const auto added = sum(out, along, data->steps[i]);
    if (!added) return std::nullopt;
    out = *added;
  }
  return out;
}

}  // namespace perfc::passes
