#include "frontends/torch/higher_order.h"

#include <fmt/format.h>

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

/// Argument `i`, a tensor, with its dim of number argument `dim` in front, or the other way round.
Result<Value> moved(Call& c, std::size_t dim, bool to_front) {
  const TensorRef* t = c.args.empty() ? nullptr : c.args[0].tensor();
  const Scalar* given = c.args.size() > dim ? c.args[dim].scalar() : nullptr;
  if (!t || !given || !given->integer.known()) return c.error("needs a tensor and the number of a dim");
  auto v = c.read(*t);
  const auto rank = v ? c.rank(*v) : Result<std::size_t>(Failure{});
  const auto axis = rank ? c.axis(given->integer.value(), *rank) : Result<std::size_t>(Failure{});
  if (!axis) return Failure{};
  if (*axis == 0) return c.args[0];
  std::vector<std::int64_t> perm;
  for (std::size_t i = 0; i < *rank; ++i) {
    const std::size_t from = to_front ? (i == 0       ? *axis
                                         : i <= *axis ? i - 1
                                                      : i)
                                      : (i == *axis  ? 0
                                         : i < *axis ? i + 1
                                                     : i);
    perm.push_back(static_cast<std::int64_t>(from));
  }
  return c.view(*t, op("transpose"), {}, {{"perm", std::move(perm)}});
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
  auto v = moved(c, 1, true);
  if (!v) return Failure{};
  return std::vector<Value>{*std::move(v)};
}

Result<std::vector<Value>> remove_batch_dim(Call& c) {
  auto v = moved(c, 3, false);
  if (!v) return Failure{};
  const Type made = c.type((*v->tensor())->value);
  const Type declared = c.outputs() > 0 ? c.operation.outputs[0].tensor : Type{};
  if (declared && declared.is_static() && made.is_static() && made != declared)
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
