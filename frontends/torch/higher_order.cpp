#include "frontends/torch/higher_order.h"

#include <fmt/format.h>

#include <numeric>

#include "frontends/torch/importer.h"
#include "frontends/torch/python.h"

namespace perfc::torch {
namespace {

/// More rounds are refused: each is written out.
constexpr std::int64_t kMostRounds = 4096;

std::vector<Value> items_of(const Value& v) {
  const List* list = v.list();
  return list ? *list->items : std::vector<Value>{v};
}

void append_all(std::vector<Value>& to, const std::vector<Value>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Result<std::vector<Value>> run(Call& c, const Block& block, std::vector<Value> arguments) {
  c.args = std::move(arguments);
  return c.importer.inlined(c, block, 0);
}

/// How many entries the tensors have in front, all the same number.
Result<std::int64_t> rounds_over(Call& c, const std::vector<Value>& xs) {
  std::optional<std::int64_t> rounds;
  for (const Value& x : xs) {
    const TensorRef* t = x.tensor();
    if (!t) return c.error(fmt::format("goes over {}, not a tensor", x.kind()));
    auto v = c.read(*t);
    if (!v) return Failure{};
    const auto rank = c.rank(*v);
    if (!rank || *rank == 0) return c.error("goes over a tensor without dims");
    const auto entries = c.known_dim(*v, 0, "the number of rounds");
    if (!entries) return Failure{};
    if (rounds && *rounds != *entries) return c.error(fmt::format("goes over {} and {} entries", *rounds, *entries));
    rounds = *entries;
  }
  if (!rounds) return c.error("goes over no tensor");
  if (*rounds > kMostRounds) return c.error(fmt::format("goes over {} entries, more than {}", *rounds, kMostRounds));
  return *rounds;
}

/// Entry `i` of every tensor.
Result<std::vector<Value>> entries_at(Call& c, const std::vector<Value>& xs, std::int64_t i) {
  std::vector<Value> out;
  for (const Value& x : xs) {
    auto v =
        c.view(*x.tensor(), op("take"), {c.number(static_cast<double>(i), DType::Int64)}, {{"axis", std::int64_t{0}}});
    if (!v) return Failure{};
    out.push_back(*std::move(v));
  }
  return out;
}

/// The rounds' results as one tensor with a dim in front.
Result<Value> stacked(Call& c, const std::vector<Value>& rounds) {
  std::vector<ValueId> wide;
  for (const Value& r : rounds) {
    const TensorRef* t = r.tensor();
    if (!t) return c.error(fmt::format("a round gives {}, not a tensor", r.kind()));
    auto v = c.read(*t);
    auto one = v ? c.expand_dims(*v, {0}) : Result<ValueId>(Failure{});
    if (!one) return Failure{};
    wide.push_back(*one);
  }
  auto all = c.emit(op("concatenate"), std::move(wide), {{"axis", std::int64_t{0}}});
  if (!all) return Failure{};
  return Call::fresh(*all);
}

/// Runs the graph on every entry of `xs`. `carried` goes from round to round; its results come first.
Result<std::vector<Value>> over_entries(Call& c, std::vector<Value> carried, const std::vector<Value>& xs,
                                        const std::vector<Value>& extra) {
  const auto rounds = rounds_over(c, xs);
  if (!rounds) return Failure{};
  std::vector<std::vector<Value>> stacks;  // by result, by round
  for (std::int64_t i = 0; i < *rounds; ++i) {
    const auto now = entries_at(c, xs, i);
    if (!now) return Failure{};
    std::vector<Value> arguments = carried;
    append_all(arguments, *now);
    append_all(arguments, extra);
    const auto results = run(c, c.operation.blocks[0], std::move(arguments));
    if (!results) return Failure{};
    if (results->size() < carried.size()) return c.error("the graph gives fewer values than it carries on");
    std::copy_n(results->begin(), carried.size(), carried.begin());
    stacks.resize(results->size() - carried.size());
    for (std::size_t s = 0; s < stacks.size(); ++s) stacks[s].push_back((*results)[carried.size() + s]);
  }
  std::vector<Value> out = std::move(carried);
  for (const auto& stack : stacks) {
    auto whole = stacked(c, stack);
    if (!whole) return Failure{};
    out.push_back(*std::move(whole));
  }
  return out;
}

}  // namespace

Result<std::vector<Value>> while_loop(Call& c) {
  if (c.operation.blocks.size() != 2 || c.args.empty()) return c.error("needs two graphs and carried values");
  std::vector<Value> carried = items_of(c.args[0]);
  const std::vector<Value> extra = c.args.size() > 1 ? items_of(c.args[1]) : std::vector<Value>{};
  for (std::int64_t round = 0; round <= kMostRounds; ++round) {
    std::vector<Value> arguments = carried;
    append_all(arguments, extra);
    const auto test = run(c, c.operation.blocks[0], arguments);
    if (!test) return Failure{};
    if (test->size() != 1) return c.error("the condition is not one value");
    const auto more = truth(c, test->front());
    if (!more) return Failure{};
    if (!*more) {
      return c.error(fmt::format(
          "whether round {} follows depends on the data; export a loop whose number of rounds follows from shapes and "
          "numbers",
          round + 1));
    }
    if (!**more) return carried;
    auto next = run(c, c.operation.blocks[1], std::move(arguments));
    if (!next) return Failure{};
    if (next->size() != carried.size())
      return c.error(fmt::format("carries {} values, a round gives {}", carried.size(), next->size()));
    carried = *std::move(next);
  }
  return c.error(fmt::format("has more than {} rounds", kMostRounds));
}

namespace {

/// A tensor beside the torch.vmap that are open.
struct Mapped {
  const TensorRef* tensor = nullptr;
  std::size_t rank = 0;
  std::size_t in_front = 0;  ///< dims of these; 0: it is not mapped yet
  std::size_t levels = 0;    ///< how many are nested here
  std::size_t at = 0;        ///< which dim in front is this one's
};

/// Argument 0; argument `level` numbers the vmap. `declared`: how many dims more or less than the result has in the
/// file, where the types are those of single samples.
Result<Mapped> mapped(Call& c, std::size_t level, std::int64_t declared) {
  Mapped m{.tensor = c.args.empty() ? nullptr : c.args[0].tensor()};
  const Scalar* number = c.args.size() > level ? c.args[level].scalar() : nullptr;
  if (!m.tensor || !number || !number->integer.known()) return c.error("needs a tensor and the number of a vmap");
  auto v = c.read(*m.tensor);
  const auto rank = v ? c.rank(*v) : Result<std::size_t>(Failure{});
  if (!rank) return Failure{};
  m.rank = *rank;
  m.levels = static_cast<std::size_t>(c.importer.vmap_levels());
  const std::int64_t at = m.levels == 1 ? 0 : number->integer.value() - 1;
  if (at < 0 || at >= static_cast<std::int64_t>(m.levels))
    return c.error(fmt::format("is of vmap {}, {} are nested", at + 1, m.levels));
  m.at = static_cast<std::size_t>(at);
  const Type result = c.outputs() > 0 ? c.operation.outputs[0].tensor : Type{};
  const bool ends = declared < 0;  // what ends a vmap has a mapped operand, unless the file says otherwise
  std::int64_t front = ends ? static_cast<std::int64_t>(m.levels) : 0;
  if (result && result.ranked())
    front = static_cast<std::int64_t>(m.rank) - (static_cast<std::int64_t>(result.rank()) + declared);
  if (front != 0 && front != static_cast<std::int64_t>(m.levels))
    return c.error(
        fmt::format("has {} dims of vmaps in front, {} are nested: it counts dims from the front", front, m.levels));
  m.in_front = static_cast<std::size_t>(front);
  return m;
}

/// Argument `i`, the number of a dim of `rank`.
Result<std::size_t> dim_of(Call& c, std::size_t i, std::size_t rank) {
  const Scalar* given = c.args.size() > i ? c.args[i].scalar() : nullptr;
  if (!given || !given->integer.known()) return c.error("needs the number of a dim");
  return c.axis(given->integer.value(), rank);
}

/// A view whose dim `from` is number `to`.
Result<Value> moved(Call& c, const Value& x, std::size_t rank, std::size_t from, std::size_t to) {
  if (from == to) return x;
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(from));
  perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(to), static_cast<std::int64_t>(from));
  return c.view(*x.tensor(), op("transpose"), {}, {{"perm", std::move(perm)}});
}

/// A view with dims of one element at `axes` (`how` is expand_dims), or without those there (squeeze).
Result<Value> with_ones(Call& c, const Value& x, OpId how, const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return x;
  return c.view(*x.tensor(), how, {c.int_constant(axes)});
}

/// A view whose dim `axis`, of one element, has `extent` elements.
Result<Value> repeated(Call& c, const Value& x, std::size_t axis, std::int64_t extent) {
  auto v = c.read(*x.tensor());
  if (!v) return Failure{};
  const Type t = c.type(*v);
  if (extent == 1 || !t.ranked() || !t.shape()[axis].is(1)) return x;
  std::vector<std::int64_t> shape(t.rank(), 1);
  shape[axis] = extent;
  return c.view(*x.tensor(), op("broadcast_to"), {c.int_constant(shape)});
}

std::vector<std::int64_t> numbers(std::size_t from, std::size_t to) {
  std::vector<std::int64_t> out;
  for (; from < to; ++from) out.push_back(static_cast<std::int64_t>(from));
  return out;
}

/// Without the dims in front if no vmap that is left maps it.
Result<Value> unmapped(Call& c, const Value& x, std::size_t levels) {
  auto v = c.read(*x.tensor());
  if (!v) return Failure{};
  const Type t = c.type(*v);
  for (std::size_t i = 0; i < levels; ++i) {
    if (!t.shape()[i].is(1)) return x;
  }
  return with_ones(c, x, op("squeeze"), numbers(0, levels));
}

}  // namespace

Result<std::vector<Value>> enter_vmap(Call& c) {
  c.importer.enter_vmap();
  return std::vector<Value>(c.outputs(), Value::none());
}

Result<std::vector<Value>> leave_vmap(Call& c) {
  c.importer.leave_vmap();
  return std::vector<Value>(c.outputs(), Value::none());
}

Result<std::vector<Value>> add_batch_dim(Call& c) {
  const auto m = mapped(c, 2, 1);
  const auto dim = m ? dim_of(c, 1, m->rank - m->in_front) : Result<std::size_t>(Failure{});
  if (!dim) return Failure{};
  auto v = moved(c, c.args[0], m->rank, m->in_front + *dim, m->in_front > 0 ? m->at : 0);
  if (!v) return Failure{};
  std::vector<std::int64_t> others = numbers(0, m->at);
  for (std::int64_t i : numbers(m->at + 1, m->levels)) others.push_back(i);
  v = m->in_front > 0 ? with_ones(c, *v, op("squeeze"), {static_cast<std::int64_t>(m->at) + 1})
                      : with_ones(c, *v, op("expand_dims"), others);
  if (!v) return Failure{};
  return std::vector<Value>{*std::move(v)};
}

Result<std::vector<Value>> remove_batch_dim(Call& c) {
  const auto m = mapped(c, 1, -1);
  const auto dim = m ? dim_of(c, 3, m->rank - m->in_front + 1) : Result<std::size_t>(Failure{});
  const Scalar* size = c.args.size() > 2 ? c.args[2].scalar() : nullptr;
  if (!dim) return Failure{};
  Result<Value> v = c.args[0];
  const std::size_t to = m->in_front + *dim;
  if (m->in_front == 0) {
    v = with_ones(c, *v, op("expand_dims"), {static_cast<std::int64_t>(to)});
  } else if (m->at == 0) {  // of the outermost: those within have ended
    v = with_ones(c, *v, op("squeeze"), numbers(1, m->levels));
    if (v) v = moved(c, *v, m->rank - m->levels + 1, 0, *dim);
  } else {
    v = with_ones(c, *v, op("expand_dims"), {static_cast<std::int64_t>(m->at)});
    if (v) v = moved(c, *v, m->rank + 1, m->at + 1, to);
  }
  if (v && size && size->integer.known())
    v = repeated(c, *v, m->in_front > 0 && m->at == 0 ? *dim : to, size->integer.value());
  if (v && m->in_front > 0 && m->at > 0) v = unmapped(c, *v, m->levels);
  auto read = v ? c.read(*v->tensor()) : Result<ValueId>(Failure{});
  if (!read) return Failure{};
  const Type made = c.type(*read);
  const Type declared = c.outputs() > 0 ? c.operation.outputs[0].tensor : Type{};
  const bool whole = m->in_front == 0 || m->at == 0;
  if (whole && declared && declared.is_static() && made.is_static() && made != declared)
    return c.error(fmt::format("what is mapped gives {}, but the file declares {}: it counts dims from the front",
                               to_string(made), to_string(declared)));
  return std::vector<Value>{*std::move(v)};
}

Result<std::vector<Value>> scan(Call& c) {
  if (c.operation.blocks.size() != 1 || c.args.size() < 2) return c.error("needs a graph, first values and entries");
  const std::vector<Value> extra = c.args.size() > 2 ? items_of(c.args[2]) : std::vector<Value>{};
  return over_entries(c, items_of(c.args[0]), items_of(c.args[1]), extra);
}

Result<std::vector<Value>> map_over(Call& c) {
  if (c.operation.blocks.size() != 1 || c.args.empty()) return c.error("needs a graph and entries");
  const std::vector<Value> extra = c.args.size() > 1 ? items_of(c.args[1]) : std::vector<Value>{};
  return over_entries(c, {}, items_of(c.args[0]), extra);
}

}  // namespace perfc::torch
