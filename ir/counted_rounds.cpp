#include "ir/counted_rounds.h"

#include <algorithm>

namespace perfc {
namespace {

enum class Tests { Params, NextValues };

constexpr std::int64_t kExact = 1 << 24;  // integers up to this are exact in float32, too

/// `Body`: the graph of a body, or the builder that makes it.
template <class Body>
class TripCount {
 public:
  TripCount(const Body& b, const std::vector<Carried>& carried, Tests tests, ValueId standing = {})
      : b_(b), carried_(carried), tests_(tests), standing_(standing) {}

  /// Every comparison must be understood: the smallest count wins.
  std::optional<std::int64_t> of(ValueId condition) const {
    std::vector<ValueId> stack{condition};
    std::optional<std::int64_t> least;
    while (!stack.empty()) {
      const ValueId v = source(stack.back());
      stack.pop_back();
      if (v == standing_) continue;
      if (const auto constant = known_integer(b_, v)) {
        if (*constant == 0) least = 0;
        continue;
      }
      const Node& n = b_.node(v.node);
      if (n.is(op("logical_and"))) {
        stack.push_back(n.operands[0]);
        stack.push_back(n.operands[1]);
        continue;
      }
      const auto rounds = comparison(n);
      if (!rounds) return std::nullopt;
      least = least ? std::min(*least, *rounds) : *rounds;
    }
    return least;
  }

 private:
  struct Counter {
    std::int64_t start, step;
  };

  /// What a value shows in another form or type.
  ValueId source(ValueId v) const {
    for (;;) {
      const Node& n = b_.node(v.node);
      if (n.kind != NodeKind::Call || n.operands.empty() || !n.operands[0]) return v;
      const Moves moves = def(n.op).moves;
      if (!keeps_elements(moves) && moves != Moves::Reshapes) return v;
      v = n.operands[0];
    }
  }

  std::optional<Counter> counter(ValueId v) const {
    v = source(v);
    for (const Carried& c : carried_) {
      const ValueId next = c.next ? source(c.next) : ValueId{};
      const bool before = v == c.param;
      if (!before && (tests_ == Tests::Params || v != next)) continue;
      if (c.step) return c.start ? std::optional<Counter>({*c.start, *c.step}) : std::nullopt;
      const Node& n = b_.node(next.node);
      const bool minus = n.is(op("subtract"));
      if (!c.start || !(minus || n.is(op("add")))) return std::nullopt;
      const std::size_t other = source(n.operands[0]) == c.param ? 1 : 0;
      if (source(n.operands[1 - other]) != c.param || (minus && other == 0)) return std::nullopt;
      const auto step = known_integer(b_, n.operands[other]);
      if (!step || *step == 0 || *step == INT64_MIN) return std::nullopt;
      Counter out{*c.start, minus ? -*step : *step};
      if (!before && __builtin_add_overflow(out.start, out.step, &out.start)) return std::nullopt;
      return out;
    }
    return std::nullopt;
  }

  /// What a counter is held against. tf2onnx carries it from round to round and casts both to floating point.
  std::optional<std::int64_t> limit(ValueId v) const {
    if (const auto known = known_integer(b_, v)) return known;
    v = source(v);
    auto known = known_integer(b_, v);
    for (const Carried& c : carried_) {
      if (v == c.param && c.next && source(c.next) == c.param) known = c.start;
    }
    return known && *known >= -kExact && *known <= kExact ? known : std::nullopt;
  }

  std::optional<std::int64_t> comparison(const Node& n) const {
    const HoldsFor holds = n.kind == NodeKind::Call ? def(n.op).holds : HoldsFor{};
    if (holds.less == holds.greater) return std::nullopt;
    // As `counter < limit`, by mirroring.
    const bool swapped = !counter(n.operands[0]).has_value();
    const auto c = counter(n.operands[swapped ? 1 : 0]);
    const auto last = limit(n.operands[swapped ? 0 : 1]);
    if (!c || !last) return std::nullopt;
    const bool upwards = holds.less != swapped;
    if ((c->step > 0) != upwards) return std::nullopt;
    std::int64_t distance = 0;
    if (upwards ? __builtin_sub_overflow(*last, c->start, &distance)
                : __builtin_sub_overflow(c->start, *last, &distance)) {
      return std::nullopt;
    }
    if (holds.equal && __builtin_add_overflow(distance, 1, &distance)) return std::nullopt;
    if (distance <= 0) return 0;
    const std::int64_t step = c->step < 0 ? -c->step : c->step;
    return distance / step + (distance % step != 0 ? 1 : 0);
  }

  const Body& b_;
  const std::vector<Carried>& carried_;
  Tests tests_;
  ValueId standing_;
};

std::optional<std::int64_t> one_more(std::optional<std::int64_t> rounds) {
  std::int64_t out = 0;
  if (!rounds || __builtin_add_overflow(*rounds, 1, &out)) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::int64_t> known_integer(const Data* d) {
  if (!d || !d->ints() || d->size() != 1 || !(*d->ints())[0].known()) return std::nullopt;
  return (*d->ints())[0].value();
}
std::optional<std::int64_t> known_integer(const GraphBuilder& b, ValueId v) { return known_integer(b.data(v)); }
std::optional<std::int64_t> known_integer(const Graph& g, ValueId v) { return known_integer(g.data(v)); }

std::optional<std::int64_t> rounds_while(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition) {
  return TripCount(body, carried, Tests::Params).of(condition);
}

std::optional<std::int64_t> rounds_until(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition) {
  return one_more(TripCount(body, carried, Tests::NextValues).of(condition));
}

std::optional<std::int64_t> rounds_until(const Graph& body, const std::vector<Carried>& carried, ValueId condition,
                                         ValueId standing) {
  return one_more(TripCount(body, carried, Tests::NextValues, standing).of(condition));
}

}  // namespace perfc
