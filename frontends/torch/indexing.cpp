/// Indexing by tensors and masks, as NumPy has it: reads and writes.
#include <algorithm>

#include "frontends/common/permutation.h"
#include "frontends/torch/translate.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

/// What x[…] names: one index tensor per leading axis, or none for all of it.
struct Index {
  std::vector<std::optional<ValueId>> by_axis;
  std::vector<std::size_t> axes;  ///< that have one
  bool adjacent = true;
};

/// Masks become the places where they hold. `most`: number of axes of the data.
Result<Index> read_index(Call& c, const std::vector<Value>& items, std::size_t most) {
  Index out;
  for (const Value& item : items) {
    if (item.is_none()) {
      out.by_axis.emplace_back();
      continue;
    }
    const TensorRef* t = item.tensor();
    if (!t) return c.error(fmt::format("indexes by {}", item.kind()));
    auto v = c.read(*t);
    if (!v) return Failure{};
    const DType d = c.type(*v).dtype();
    if (d == DType::Bool || d == DType::UInt8) {
      const auto rank = c.rank(*v);
      auto mask = c.cast(*v, DType::Bool);
      if (!rank || !mask) return Failure{};
      auto places = c.emit(op("nonzero"), {*mask});
      if (!places) return Failure{};
      for (std::size_t i = 0; i < std::max<std::size_t>(*rank, 1); ++i) {
        auto row =
            c.emit(op("take"), {*places, c.number(static_cast<double>(i), DType::Int64)}, {{"axis", std::int64_t{0}}});
        if (!row) return Failure{};
        out.by_axis.emplace_back(*row);
      }
    } else {
      auto index = indices(c, *v);
      if (!index) return Failure{};
      out.by_axis.emplace_back(*index);
    }
  }
  if (out.by_axis.size() > most)
    return c.error(fmt::format("indexes {} axes of data of rank {}", out.by_axis.size(), most));
  for (std::size_t i = 0; i < out.by_axis.size(); ++i) {
    if (out.by_axis[i]) out.axes.push_back(i);
  }
  for (std::size_t i = 1; i < out.axes.size(); ++i) out.adjacent = out.adjacent && out.axes[i] == out.axes[i - 1] + 1;
  return out;
}

/// Index tensors broadcast together and stacked: (…, number of axes).
Result<ValueId> stacked(Call& c, const Index& index) {
  // Index tensors meet by NumPy's rules; a sum of zeros would do the same.
  std::size_t rank = 0;
  std::vector<ValueId> all;
  for (std::size_t a : index.axes) {
    const auto r = c.rank(*index.by_axis[a]);
    if (!r) return Failure{};
    rank = std::max(rank, *r);
    auto wide = c.cast(*index.by_axis[a], DType::Int64);
    if (!wide) return Failure{};
    all.push_back(*wide);
  }
  for (ValueId& v : all) {
    for (ValueId other : all) {
      if (other == v || c.type(v) == c.type(other)) continue;
      auto shape = c.shape_of(other);
      auto next = shape ? c.emit(op("broadcast_to"), {v, *shape}) : shape;
      if (!next) return Failure{};
      v = *next;
    }
  }
  std::vector<ValueId> columns;
  for (ValueId v : all) {
    auto column = c.expand_dims(v, {static_cast<std::int64_t>(rank)});
    if (!column) return Failure{};
    columns.push_back(*column);
  }
  if (columns.size() == 1) return columns.front();
  return c.emit(op("concatenate"), std::move(columns), with_mark({{"axis", static_cast<std::int64_t>(rank)}}, kInside));
}

/// Permutation that brings the indexed axes to the front.
std::vector<std::int64_t> to_front(const Index& index, std::size_t rank) {
  std::vector<std::int64_t> perm;
  for (std::size_t a : index.axes) perm.push_back(static_cast<std::int64_t>(a));
  for (std::size_t i = 0; i < rank; ++i) {
    if (std::find(index.axes.begin(), index.axes.end(), i) == index.axes.end())
      perm.push_back(static_cast<std::int64_t>(i));
  }
  return perm;
}

}  // namespace

Result<ValueId> indices(Call& c, ValueId v) {
  const DType d = c.type(v).dtype();
  return d == DType::Int32 || d == DType::Int64 ? Result<ValueId>(v) : c.cast(v, DType::Int64);
}
Result<ValueId> indices(Call& c, std::string_view name) {
  auto v = c.tensor(name);
  return v ? indices(c, *v) : v;
}

/// x[indices], NumPy's advanced indexing.
Values index(Call& c) {
  auto x = c.tensor("self");
  const List* items = c.arg("indices").list();
  if (!x) return Failure{};
  if (!items) return c.error("'indices' must be a list");
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  // A mask of a tensor's own shape: the elements where it holds.
  if (items->items->size() == 1) {
    if (const TensorRef* t = (*items->items)[0].tensor(); t && c.type((*t)->value).dtype() == DType::Bool) {
      auto mask = c.read(*t);
      if (!mask) return Failure{};
      if (c.type(*mask).ranked() && c.type(*mask).rank() == 1) {
        return c.finish(op("compress"), {*x, *mask}, {{"axis", std::int64_t{0}}});
      }
    }
  }
  const auto in = read_index(c, *items->items, *rank);
  if (!in) return Failure{};
  if (in->axes.empty()) return std::vector<Value>{c.args[0]};
  if (in->axes.size() == 1) {
    const ValueId at = *in->by_axis[in->axes[0]];
    Attrs attrs{{"axis", static_cast<std::int64_t>(in->axes[0])}};
    // An index that is known makes no view here.
    if (c.builder().node(at.node).kind == NodeKind::Constant) attrs = with_mark(std::move(attrs), kLaunched);
    return c.finish(op("take"), {*x, at}, std::move(attrs));
  }
  auto all = stacked(c, *in);
  if (!all) return Failure{};
  const auto perm = to_front(*in, *rank);
  if (!is_identity(perm)) {
    x = c.transpose(*x, perm);
    if (!x) return Failure{};
  }
  auto y = c.emit(op("gather_nd"), {*x, *all});
  if (!y) return Failure{};
  const auto index_rank = c.rank(*all);
  if (!index_rank) return Failure{};
  // Adjacent indices stay where they were; others lead.
  if (in->adjacent && in->axes[0] > 0) {
    const auto made = c.rank(*y);
    if (!made) return Failure{};
    const std::size_t lead = in->axes[0], own = *index_rank - 1;
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < lead; ++i) order.push_back(static_cast<std::int64_t>(own + i));
    for (std::size_t i = 0; i < own; ++i) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = own + lead; i < *made; ++i) order.push_back(static_cast<std::int64_t>(i));
    y = c.transpose(*y, order);
  }
  return single(c, y);
}

/// x[indices] = values
Values index_put(Call& c) {
  auto x = c.tensor("self");
  const List* items = c.arg("indices").list();
  const auto accumulate = c.flag_or("accumulate", false);
  if (!x || !accumulate) return Failure{};
  if (!items) return c.error("'indices' must be a list");
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  auto values = promoted(c, c.arg("values"), c.type(*x).dtype());
  if (!values) return Failure{};
  // A mask and one value: a selection.
  if (items->items->size() == 1 && c.type(*values).elements() == 1 && !*accumulate) {
    if (const TensorRef* t = (*items->items)[0].tensor(); t && c.type((*t)->value).dtype() == DType::Bool) {
      auto mask = c.read(*t);
      if (!mask) return Failure{};
      const auto mask_rank = c.rank(*mask);
      if (!mask_rank) return Failure{};
      std::vector<std::int64_t> extra;
      for (std::size_t i = *mask_rank; i < *rank; ++i) extra.push_back(static_cast<std::int64_t>(i));
      if (!extra.empty()) mask = c.expand_dims(*mask, extra);
      auto value = c.reshape(*values, {});
      if (!mask || !value) return Failure{};
      return single(c, c.emit(op("where"), {*mask, *value, *x}));
    }
  }
  const auto in = read_index(c, *items->items, *rank);
  if (!in) return Failure{};
  if (in->axes.empty()) return c.error("names no place to write to");
  auto all = stacked(c, *in);
  if (!all) return Failure{};
  const auto perm = to_front(*in, *rank);
  if (!is_identity(perm)) {
    x = c.transpose(*x, perm);
    if (!x) return Failure{};
  }
  // The values broadcast to x[indices], where the dims of adjacent indices stand in the place of the axes indexed.
  const auto index_rank = c.rank(*all);
  if (!index_rank) return Failure{};
  const std::size_t own = *index_rank - 1, lead = in->adjacent ? in->axes[0] : 0, rest = *rank - in->axes.size();
  std::vector<Value> target;
  for (std::size_t i = 0; i < lead; ++i) target.emplace_back(c.size_of(*x, in->axes.size() + i));
  for (std::size_t i = 0; i < own; ++i) target.emplace_back(c.size_of(*all, i));
  for (std::size_t i = lead; i < rest; ++i) target.emplace_back(c.size_of(*x, in->axes.size() + i));
  auto shape = c.int_vector(target);
  auto updates = shape ? c.emit(op("broadcast_to"), {*values, *shape}) : shape;
  if (updates && lead > 0) {
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < own; ++i) order.push_back(static_cast<std::int64_t>(lead + i));
    for (std::size_t i = 0; i < lead; ++i) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = lead; i < rest; ++i) order.push_back(static_cast<std::int64_t>(own + i));
    updates = c.transpose(*updates, order);
  }
  if (!updates) return Failure{};
  Attrs attrs;
  if (*accumulate) attrs.set("reduction", std::string("add"));
  auto y = c.emit(op("scatter_nd"), {*x, *all, *updates}, std::move(attrs));
  if (y && !is_identity(perm)) y = c.transpose(*y, inverse(perm));
  return single(c, y);
}

Values masked_select(Call& c) {
  auto x = c.tensor("self"), mask = c.tensor("mask");
  if (!x || !mask) return Failure{};
  if (c.type(*x).shape() != c.type(*mask).shape()) {
    auto shape = c.shape_of(*x);
    mask = shape ? c.emit(op("broadcast_to"), {*mask, *shape}) : shape;
  }
  auto flat = c.reshape(*x, {-1});
  auto flat_mask = mask ? c.reshape(*mask, {-1}) : mask;
  if (!flat || !flat_mask) return Failure{};
  return c.finish(op("compress"), {*flat, *flat_mask}, {{"axis", std::int64_t{0}}});
}

/// Values of source, in order, where the mask holds.
Values masked_scatter(Call& c) {
  auto x = c.tensor("self"), mask = c.tensor("mask"), source = c.tensor("source");
  if (!x || !mask || !source) return Failure{};
  auto shape = c.shape_of(*x);
  auto wide = shape ? c.emit(op("broadcast_to"), {*mask, *shape}) : shape;
  auto values = c.reshape(*source, {-1});
  if (!wide || !values) return Failure{};
  const auto chosen = [&]() -> Result<ValueId> {
    const InsideKernel of_scatter(c);
    auto number = c.cast(*wide, DType::Int64);
    auto flat = number ? c.reshape(*number, {-1}) : number;
    auto count = flat ? c.emit(op("cumsum"), {*flat, c.number(0, DType::Int64)}) : flat;
    auto place = count ? c.emit(op("subtract"), {*count, c.number(1, DType::Int64)}) : count;
    auto safe = place ? c.emit(op("maximum"), {*place, c.number(0, DType::Int64)}) : place;
    auto taken = safe ? c.emit(op("take"), {*values, *safe}, {{"axis", std::int64_t{0}}}) : safe;
    return taken ? c.emit(op("reshape"), {*taken, *shape}) : taken;
  };
  const auto shaped = chosen();
  return shaped ? single(c, c.emit(op("where"), {*wide, *shaped, *x})) : Failure{};
}

}  // namespace perfc::torch
