#include "ir/counted_rounds.h"

#include <algorithm>

namespace perfc {
namespace {

enum class Tests { Params, NextValues };

/// The integer that a value is known to hold, if it holds just one.
template <class Source>
std::optional<std::int64_t> one_integer(const Source& s, ValueId v) {
  const Data* d = s.data(v);
  if (!d || !d->ints() || d->size() != 1 || !(*d->ints())[0].known()) return std::nullopt;
  return (*d->ints())[0].value();
}

/// `Source`: a body, finished or not.
template <class Source>
class TripCount {
 public:
  TripCount(const Source& b, const std::vector<Carried>& carried, Tests tests)
      : b_(b), carried_(carried), tests_(tests) {}

  /// Every comparison must be understood: the smallest count wins.
  std::optional<std::int64_t> of(ValueId condition) const {
    std::vector<ValueId> stack{condition};
    std::optional<std::int64_t> least;
    while (!stack.empty()) {
      const ValueId v = source(stack.back());
      stack.pop_back();
      if (const auto constant = one_integer(b_, v)) {
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
      const ValueId next = source(c.next);
      if (v != (tests_ == Tests::Params ? c.param : next)) continue;
      const Node& n = b_.node(next.node);
      const bool minus = n.is(op("subtract"));
      if (!c.start || !(minus || n.is(op("add")))) return std::nullopt;
      const std::size_t other = source(n.operands[0]) == c.param ? 1 : 0;
      if (source(n.operands[1 - other]) != c.param || (minus && other == 0)) return std::nullopt;
      const auto step = one_integer(b_, n.operands[other]);
      if (!step || *step == 0 || *step == INT64_MIN) return std::nullopt;
      Counter out{*c.start, minus ? -*step : *step};
      if (tests_ == Tests::NextValues && __builtin_add_overflow(out.start, out.step, &out.start)) return std::nullopt;
      return out;
    }
    return std::nullopt;
  }

  std::optional<std::int64_t> comparison(const Node& n) const {
    const HoldsFor holds = n.kind == NodeKind::Call ? def(n.op).holds : HoldsFor{};
    if (holds.less == holds.greater) return std::nullopt;
    // As `counter < limit`, by mirroring.
    const bool swapped = !counter(n.operands[0]).has_value();
    const auto c = counter(n.operands[swapped ? 1 : 0]);
    const auto limit = one_integer(b_, n.operands[swapped ? 0 : 1]);
    if (!c || !limit) return std::nullopt;
    const bool upwards = holds.less != swapped;
    if ((c->step > 0) != upwards) return std::nullopt;
    std::int64_t distance = 0;
    if (upwards ? __builtin_sub_overflow(*limit, c->start, &distance)
                : __builtin_sub_overflow(c->start, *limit, &distance)) {
      return std::nullopt;
    }
    if (holds.equal && __builtin_add_overflow(distance, 1, &distance)) return std::nullopt;
    if (distance <= 0) return 0;
    const std::int64_t step = c->step < 0 ? -c->step : c->step;
    return distance / step + (distance % step != 0 ? 1 : 0);
  }

  const Source& b_;
  const std::vector<Carried>& carried_;
  Tests tests_;
};

}  // namespace

std::optional<std::int64_t> known_integer(const GraphBuilder& b, ValueId v) { return one_integer(b, v); }

std::optional<std::int64_t> rounds_while(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition) {
  return TripCount(body, carried, Tests::Params).of(condition);
}

template <class Source>
static std::optional<std::int64_t> rounds_of(const Source& body, const std::vector<Carried>& carried,
                                             ValueId condition) {
  const auto more = TripCount(body, carried, Tests::NextValues).of(condition);
  std::int64_t rounds = 0;
  if (!more || __builtin_add_overflow(*more, 1, &rounds)) return std::nullopt;
  return rounds;
}

std::optional<std::int64_t> rounds_until(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition) {
  return rounds_of(body, carried, condition);
}
std::optional<std::int64_t> rounds_until(const Graph& body, const std::vector<Carried>& carried, ValueId condition) {
  return rounds_of(body, carried, condition);
}

}  // namespace perfc
