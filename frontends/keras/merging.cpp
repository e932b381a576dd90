/// Layers that join several tensors.
#include <algorithm>

#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

/// Tensors of a list, or of several arguments; the shorter ones get dims of 1 behind the batch.
Values operands_of(const Call& c) {
  std::vector<ValueId> all;
  for (std::size_t i = 0; i < c.args.size(); ++i) {
    const auto more = c.tensors(i);
    all.insert(all.end(), more.begin(), more.end());
  }
  if (all.empty()) return c.error("joins nothing");
  std::int64_t most = 0;
  for (ValueId v : all) {
    const auto rank = c.rank(v);
    if (!rank) return Failure{};
    most = std::max(most, *rank);
  }
  for (ValueId& v : all) {
    Ints missing;
    for (std::int64_t i = static_cast<std::int64_t>(c.type(v).rank()); i < most; ++i)
      missing.push_back(static_cast<std::int64_t>(missing.size()) + 1);
    auto wide = missing.empty() ? Operand(v) : c.expand_dims(v, missing);
    if (!wide) return Failure{};
    v = *wide;
  }
  return all;
}

Operand folded(const Call& c, OpId o, const std::vector<ValueId>& all) {
  Operand y = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) y = c.emit(o, {y, all[i]});
  return y;
}

}  // namespace

/// Add, Subtract, Multiply, Maximum, Minimum.
Values merge(Call& c) {
  const auto all = operands_of(c);
  if (!all) return Failure{};
  const std::string_view name = c.layer.class_name;
  return one(folded(c,
                    name == "Add"        ? op("add")
                    : name == "Subtract" ? op("subtract")
                    : name == "Multiply" ? op("multiply")
                    : name == "Maximum"  ? op("maximum")
                                         : op("minimum"),
                    *all));
}

Values average(Call& c) {
  const auto all = operands_of(c);
  if (!all) return Failure{};
  auto sum = folded(c, op("add"), *all);
  return one(sum ? c.emit(op("multiply"), {sum, c.number_like(*sum, 1.0 / static_cast<double>(all->size()))}) : sum);
}

Values concatenate(Call& c) {
  const auto all = c.tensors();
  if (all.empty()) return c.error("joins nothing");
  return one(c.join({all.begin(), all.end()}, c.integer_or("axis", -1)));
}

/// The product of two tensors along an axis of each.
Values dot(Call& c) {
  const auto all = c.tensors();
  if (all.size() != 2) return c.error(fmt::format("takes two tensors, got {}", all.size()));
  auto x = Operand(all[0]), y = Operand(all[1]);
  const auto rank_x = c.rank(x), rank_y = c.rank(y);
  Ints axes = c.list_or("axes", {-1});
  if (axes.size() == 1) axes.push_back(axes.front());
  if (!rank_x || !rank_y) return Failure{};
  const auto a = c.axis(axes[0], *rank_x), b = c.axis(axes[1], *rank_y);
  if (!a || !b) return Failure{};
  if (c.flag("normalize", false)) {
    x = c.emit(op("nn.l2_normalize"), {x}, {{"axis", *a}});
    y = c.emit(op("nn.l2_normalize"), {y}, {{"axis", *b}});
  }
  if (*rank_x == 2 && *rank_y == 2)
    return one(
        c.emit(op("sum_axes"), {c.emit(op("multiply"), {x, y}), c.int_constant({1})}, {{"keepdims", std::int64_t{1}}}));
  if (*rank_x != 3 || *rank_y != 3 || *a == 0 || *b == 0) return c.unpriced();
  Attrs attrs;
  if (*a == 1) attrs.set("transA", std::int64_t{1});
  if (*b == 2) attrs.set("transB", std::int64_t{1});
  return one(c.emit(op("nn.batch_matmul"), {x, y}, std::move(attrs)));
}

}  // namespace perfc::keras
