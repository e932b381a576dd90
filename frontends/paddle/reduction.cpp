/// Reductions, scans, sorting, selection.
#include <algorithm>
#include <cmath>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// Axes to reduce; none for all of them.
Result<Ints> axes_of(Call& c) {
  if (c.flag("reduce_all")) return Ints{};
  auto axes = c.ints_or("axis|dim|axes", {});
  if (!axes) return Failure{};
  return axes;
}

Operand reduced(Call& c, OpId o, Operand x, const Ints& axes, bool keep) {
  std::vector<Operand> operands{x};
  if (!axes.empty()) operands.emplace_back(c.int_constant(axes));
  return c.emit(o, operands, {{"keepdims", static_cast<std::int64_t>(keep)}});
}

bool keeps(const Call& c) { return c.flag("keep_dim|keepdim|keepdims"); }

/// Elements along an axis, as an int64 vector of one.
Operand extent(Call& c, ValueId x, std::int64_t axis) {
  const Dim d = c.dim(x, axis);
  return d.known() ? Operand(c.int_constant({d.value()})) : c.shape_of(x, axis, axis + 1);
}

}  // namespace

Values reduce(Call& c) {
  auto x = c.tensor("X");
  const auto axes = axes_of(c);
  if (!x || !axes) return Failure{};
  DType d = c.dtype_or("out_dtype|dtype", c.dtype(*x));
  if (c.dtype(*x) == DType::Bool && d == DType::Bool) d = DType::Int64;
  return one(reduced(c, c.row->op, c.cast(x, d), *axes, keeps(c)));
}

/// Old `mean` and `mean_all`, squared_l2_norm, l1_norm: over everything.
Values reduce_all(Call& c) { return one(reduced(c, c.row->op, c.tensor("X"), {}, false)); }

/// all and any, on numbers of 0 and 1.
Values reduce_bool(Call& c) {
  const auto axes = axes_of(c);
  if (!axes) return Failure{};
  return one(reduced(c, c.row->op, c.tensor("X"), *axes, keeps(c)));
}

Values logsumexp(Call& c) {
  const auto axes = axes_of(c);
  if (!axes) return Failure{};
  return one(reduced(c, op("logsumexp"), c.tensor("X"), *axes, keeps(c)));
}

/// (Σ|x|^p)^(1/p) along an axis, or over all.
Values p_norm(Call& c) {
  auto x = c.tensor("X");
  if (!x) return Failure{};
  const double p = c.real_or("porder", 2);
  const bool keep = keeps(c);
  Ints axes;
  if (c.row->becomes == "reduce_l2") {
    const auto given = axes_of(c);
    if (!given) return Failure{};
    axes = *given;
  } else if (!c.flag("asvector")) {
    axes = {c.integer_or("axis", -1)};
  }
  if (p == 2) return one(reduced(c, op("reduce_l2"), x, axes, keep));
  if (p == 1) return one(reduced(c, op("reduce_l1"), x, axes, keep));
  const DType d = c.dtype(*x);
  if (p == 0) return one(reduced(c, op("sum_axes"), c.cast(c.cast(x, DType::Bool), d), axes, keep));
  return one(reduced(c, op("reduce_lp"), x, axes, keep));
}

/// x / ‖x‖ along an axis, and the norm.
Values normalize(Call& c) {
  return one(
      c.emit(op("nn.l2_normalize"), {c.tensor("X")}, {{"axis", c.integer_or("axis", -1)}, {"p", std::int64_t{2}}}));
}

/// ‖x − y‖, by order p.
Values distance(Call& c) {
  auto d = c.emit(op("subtract"), {c.tensor("X"), c.tensor("Y")});
  const double p = c.real_or("p", 2);
  return one(reduced(c, p == 1 ? op("reduce_l1") : op("reduce_l2"), d, {}, false));
}

/// x · y / (‖x‖ ‖y‖) per row.
Values cosine_similarity(Call& c) {
  const auto x = c.tensor("X"), y = c.tensor("Y");
  auto norm_x = reduced(c, op("reduce_l2"), x, {-1}, true), norm_y = reduced(c, op("reduce_l2"), y, {-1}, true);
  auto dot = reduced(c, op("sum_axes"), c.emit(op("multiply"), {x, y}), {-1}, true);
  auto out = c.emit(op("divide"), {dot, c.emit(op("multiply"), {norm_x, norm_y})});
  if (!out || !norm_x || !norm_y) return Failure{};
  return std::vector<ValueId>{*out, *norm_x, *norm_y};
}

Values arg_reduce(Call& c) {
  auto x = c.tensor("X");
  const auto axis = c.ints_or("axis", {-1});
  if (!x || !axis) return Failure{};
  if (axis->size() != 1) return c.error("'axis' must be one integer");
  bool keep = c.flag("keepdims|keepdim");
  std::int64_t along = axis->front();
  if (c.flag("flatten")) {
    x = c.reshape(x, {-1});
    along = 0;
    keep = false;
  }
  const DType d = c.dtype_or("dtype", DType::Int64);
  return one(c.cast(c.emit(c.row->op, {x}, {{"axis", along}, {"keepdims", static_cast<std::int64_t>(keep)}}), d));
}

Values cumulative(Call& c) {
  auto x = c.tensor("X");
  const auto axis = c.ints_or("axis|dim", {-1});
  if (!x || !axis) return Failure{};
  if (axis->size() != 1) return c.error("'axis' must be one integer");
  std::int64_t along = axis->front();
  if (c.flag("flatten")) {
    x = c.reshape(x, {-1});
    along = 0;
  }
  return one(c.emit(c.row->op, {x, c.number(static_cast<double>(along), DType::Int64)},
                    {{"exclusive", static_cast<std::int64_t>(c.flag("exclusive"))},
                     {"reverse", static_cast<std::int64_t>(c.flag("reverse"))}}));
}

/// A full sort: the k largest of k.
Values argsort(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", -1), *rank);
  if (!axis) return Failure{};
  return c.emit_all(op("topk"), {x, extent(c, *x, *axis)},
                    {{"axis", *axis}, {"largest", static_cast<std::int64_t>(c.flag("descending"))}}, 2);
}

Values top_k(Call& c) {
  const auto x = c.tensor("X");
  auto k = c.int_vector("K|k");
  return c.emit_all(op("topk"), {x, k},
                    {{"axis", c.integer_or("axis", -1)},
                     {"largest", static_cast<std::int64_t>(c.flag("largest", true))},
                     {"sorted", static_cast<std::int64_t>(c.flag("sorted", true))}},
                    2);
}

/// The k-th smallest along an axis: the last of the k smallest.
Values kth_value(Call& c) {
  const auto x = c.tensor("X");
  const std::int64_t k = c.integer_or("k", 1), axis = c.integer_or("axis", -1);
  if (k < 1) return c.error(fmt::format("k is {}", k));
  auto smallest = c.emit_all(op("topk"), {x, c.int_constant({k})}, {{"axis", axis}, {"largest", std::int64_t{0}}}, 2);
  if (!smallest) return Failure{};
  std::vector<ValueId> out;
  for (ValueId v : *smallest) {
    auto last = c.slice(v, axis, k - 1, k);
    if (!keeps(c)) last = c.squeeze(last, {axis});
    if (!last) return Failure{};
    out.push_back(*last);
  }
  return out;
}

/// The middle of the sorted elements along an axis.
Values median(Call& c) {
  auto x = c.tensor("X|x");
  const auto axes = c.ints_or("axis", {});
  if (!x || !axes) return Failure{};
  if (axes->size() > 1) return c.unpriced();
  const bool all = axes->empty();
  const std::int64_t axis = all ? 0 : axes->front();
  if (all) x = c.reshape(x, {-1});
  if (!x) return Failure{};
  const auto extent = c.known_dim(*x, axis);
  if (!extent) return Failure{};
  const std::int64_t k = std::min(*extent / 2 + 1, *extent);
  auto smallest = c.emit_all(op("topk"), {x, c.int_constant({k})}, {{"axis", axis}, {"largest", std::int64_t{0}}}, 2);
  if (!smallest) return Failure{};
  auto middle = c.slice(smallest->front(), axis, k - 1, k);
  return one(all || !keeps(c) ? c.squeeze(middle, {axis}) : middle);
}

/// (X) → values, first places, places of all, counts.
Values unique(Call& c) {
  auto x = c.tensor("X");
  const auto axis = c.ints_or("axis", {});
  if (!x || !axis) return Failure{};
  Attrs attrs;
  if (!axis->empty()) attrs.set("axis", axis->front());
  if (c.operation.type == "unique_consecutive") {
    auto all = c.emit_all(op("unique"), {x}, std::move(attrs), 4);
    if (!all) return Failure{};
    return std::vector<ValueId>{(*all)[0], (*all)[2], (*all)[3]};
  }
  auto all = c.emit_all(op("unique"), {x}, std::move(attrs), 4);
  if (!all) return Failure{};
  // What was not asked for has no type of its own.
  if (!c.flag("return_index")) (*all)[1] = {};
  if (!c.flag("return_inverse")) (*all)[2] = {};
  if (!c.flag("return_counts")) (*all)[3] = {};
  return all;
}

/// Places of what is not 0: [count, rank].
Values nonzero(Call& c) { return one(c.transpose(c.emit(op("nonzero"), {c.tensor("Condition|condition")}), {1, 0})); }

Values masked_select(Call& c) {
  auto x = c.tensor("X"), mask = c.tensor("Mask");
  if (!x || !mask) return Failure{};
  auto shape = c.shape_of(x, 0, static_cast<std::int64_t>(c.type(*x).ranked() ? c.type(*x).rank() : 0));
  auto wide = c.type(*x) == c.type(*mask).with_dtype(c.dtype(*x)) ? mask : c.emit(op("broadcast_to"), {mask, shape});
  return one(c.emit(op("compress"), {x, c.reshape(wide, {-1})}));
}

/// All elements alike.
Values equal_all(Call& c) {
  auto same = c.cast(c.emit(op("equal"), {c.tensor("X"), c.tensor("Y")}), DType::Int32);
  return one(c.cast(reduced(c, op("min"), same, {}, false), DType::Bool));
}

/// Sum along diagonals of a matrix.
Values trace(Call& c) {
  const auto x = c.tensor("Input");
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank != 2 || c.integer_or("offset", 0) != 0) return c.unpriced();
  const auto elements = diagonal(c);
  if (!elements) return Failure{};
  return one(reduced(c, op("sum_axes"), elements->front(), {}, false));
}

}  // namespace perfc::paddle
