/// Tensors that share memory: views of a storage, and what a write to one of them does to the others.
#include <algorithm>
#include <numeric>

#include "frontends/common/permutation.h"
#include "frontends/torch/translate.h"

namespace perfc::torch {

Result<Value> Call::view(const TensorRef& self, OpId op, std::vector<ValueId> operands, Attrs attrs) {
  auto base = read(self);
  if (!base) return Failure{};
  std::vector<ValueId> all{*base};
  all.insert(all.end(), operands.begin(), operands.end());
  auto v = emit(op, std::move(all), attrs);
  if (!v) return Failure{};
  auto t = std::make_shared<Tensor>();
  t->storage = self->storage;
  t->views = self->views;
  t->views.push_back({op, std::move(operands), std::move(attrs), type(*base)});
  t->value = *v;
  t->version = self->storage->version;
  return Value(t);
}

Values Call::view_result(std::string_view self, OpId op, std::vector<ValueId> operands, Attrs attrs) {
  const TensorRef* t = arg(self).tensor();
  if (!t) {
    auto v = tensor(self);
    if (!v) return Failure{};
    operands.insert(operands.begin(), *v);
    return single(*this, emit(op, std::move(operands), std::move(attrs)));
  }
  auto v = view(*t, op, std::move(operands), std::move(attrs));
  if (!v) return Failure{};
  if (in_place) {  // squeeze_, t_, …: the tensor itself becomes the view
    **t = **v->tensor();
    return std::vector<Value>{*t};
  }
  return std::vector<Value>{*std::move(v)};
}

Result<ValueId> Call::read(const TensorRef& t) {
  auto v = value_of(t);
  if (v && t->recast) read_recast(*v);
  return v;
}

Result<ValueId> Call::value_of(const TensorRef& t) {
  if (t->version == t->storage->version) return t->value;
  ValueId v = t->storage->value;
  for (const ViewStep& s : t->views) {
    std::vector<ValueId> operands{v};
    operands.insert(operands.end(), s.operands.begin(), s.operands.end());
    auto next = emit(s.op, std::move(operands), s.attrs);
    if (!next) return Failure{};
    v = *next;
  }
  t->value = v;
  t->version = t->storage->version;
  return v;
}

Status Call::write(const TensorRef& t, ValueId value) {
  const InsideKernel of_writer(*this);
  return replace(t, value);
}

Status Call::replace(const TensorRef& t, ValueId value) {
  auto old = read(t);
  if (!old) return Failure{};
  const Type to = type(*old);
  auto v = cast(value, to.dtype());
  if (!v) return Failure{};
  if (to.ranked() && type(*v).ranked() && to.shape() != type(*v).shape()) {
    auto shape = emit(op("shape_of"), {*old});
    if (!shape) return Failure{};
    v = emit(op("broadcast_to"), {*v, *shape});
    if (!v) return Failure{};
  }
  // Values of the chain from the storage down to what is written.
  std::vector<ValueId> chain{t->storage->value};
  for (std::size_t i = 0; i + 1 < t->views.size(); ++i) {
    const ViewStep& s = t->views[i];
    std::vector<ValueId> operands{chain.back()};
    operands.insert(operands.end(), s.operands.begin(), s.operands.end());
    auto next = emit(s.op, std::move(operands), s.attrs);
    if (!next) return Failure{};
    chain.push_back(*next);
  }
  ValueId part = *v;
  for (std::size_t end = t->views.size(); end > 0;) {
    const Placement place = placement(t->views, end, chain);
    auto whole = place.first < end ? set_slice(place, chain[place.first], part)
                                   : scatter(t->views[end - 1], chain[end - 1], part);
    if (!whole) return Failure{};
    part = *whole;
    end = std::min(place.first, end - 1);
  }
  t->storage->value = part;
  t->version = ++t->storage->version;
  t->value = *v;
  return ok();
}

/// Slices and single indices of different axes that follow each other are one slice of all of them.
Call::Placement Call::placement(const std::vector<ViewStep>& views, std::size_t end,
                                const std::vector<ValueId>& chain) const {
  Placement best{.first = end};
  for (std::size_t first = end; first-- > 0;) {
    if (!type(chain[first]).ranked()) break;
    std::vector<std::int64_t> axis_of(type(chain[first]).rank());  // of each axis of the view, in the data
    std::iota(axis_of.begin(), axis_of.end(), 0);
    Placement place{.first = first};
    const bool one = std::all_of(views.begin() + static_cast<std::ptrdiff_t>(first),
                                 views.begin() + static_cast<std::ptrdiff_t>(end),
                                 [&](const ViewStep& step) { return place_step(step, axis_of, place); });
    if (!one) break;
    best = std::move(place);
  }
  return best;
}

bool Call::place_step(const ViewStep& step, std::vector<std::int64_t>& axis_of, Placement& place) const {
  const auto taken = [&](std::int64_t axis) {
    return std::any_of(place.ranges.begin(), place.ranges.end(), [&](const auto& r) { return r.axis == axis; });
  };
  if (step.op == op("take")) {
    const auto at = static_cast<std::size_t>(step.attrs.int_or("axis", 0));
    if (type(step.operands[0]).rank() != 0 || at >= axis_of.size() || taken(axis_of[at])) return false;
    place.ranges.push_back({.axis = axis_of[at], .index = step.operands[0]});
    axis_of.erase(axis_of.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }
  if (step.op != op("strided_slice")) return false;
  const Data* axes = data(step.operands[2]);
  if (!axes || !axes->ints() || axes->size() != 1 || !(*axes->ints())[0].known()) return false;
  const auto at = static_cast<std::size_t>((*axes->ints())[0].value());
  if (at >= axis_of.size() || taken(axis_of[at])) return false;
  place.ranges.push_back(
      {.axis = axis_of[at], .start = step.operands[0], .end = step.operands[1], .step = step.operands[3]});
  return true;
}

/// One vector of numbers, each a vector of one element.
Result<ValueId> Call::joined(const std::vector<ValueId>& numbers) {
  std::vector<std::int64_t> known;
  for (ValueId v : numbers) {
    const Data* d = data(v);
    if (d && d->ints() && d->fully_known()) known.push_back((*d->ints())[0].value());
  }
  if (known.size() == numbers.size()) return int_constant(known);
  return numbers.size() == 1 ? numbers[0] : emit(op("concatenate"), numbers, {{"axis", std::int64_t{0}}});
}

/// `base` with `part` in a slice of it.
Result<ValueId> Call::set_slice(const Placement& place, ValueId base, ValueId part) {
  std::vector<std::int64_t> axes, dropped;
  std::vector<ValueId> starts, ends, steps;
  const ValueId one = int_constant({1});
  for (const Placement::Range& r : place.ranges) {
    if (!r.index) {
      axes.push_back(r.axis);
      starts.push_back(r.start);
      ends.push_back(r.end);
      steps.push_back(r.step);
      continue;
    }
    dropped.push_back(r.axis);
    axes.push_back(r.axis);
    auto start = reshape(r.index, {1});
    if (start) start = cast(*start, DType::Int64);
    if (!start) return Failure{};
    const Data* known = data(*start);
    const bool last = known && known->ints() && (*known->ints())[0].is(-1);
    auto end = last ? Result<ValueId>(int_constant({INT64_MAX})) : emit(op("add"), {*start, one});
    if (!end) return Failure{};
    starts.push_back(*start);
    ends.push_back(*end);
    steps.push_back(one);
  }
  std::sort(dropped.begin(), dropped.end());
  auto spread = dropped.empty() ? Result<ValueId>(part) : emit(op("expand_dims"), {part, int_constant(dropped)});
  if (!spread) return Failure{};
  // All of the data: nothing of the old value is left.
  const Type whole = type(base), now = type(*spread);
  if (whole.is_static() && now.is_static() && whole.shape() == now.shape()) return *spread;
  auto start = joined(starts), end = joined(ends), step = joined(steps);
  if (!start || !end || !step) return Failure{};
  return emit(op("strided_set"), {base, *start, *end, int_constant(axes), *step, *spread});
}

/// `base` with the entries `rows` of an axis replaced by those of `part`.
Result<ValueId> Call::scatter_rows(ValueId base, std::int64_t axis, ValueId rows, ValueId part) {
  return emit(op("scatter_elements"), {base, row_indices(*this, rows, part, type(part).rank(), axis), part},
              {{"axis", axis}});
}

/// `base` with `part` in the place that the view looks at.
Result<ValueId> Call::scatter(const ViewStep& step, ValueId base, ValueId part) {
  const OpId o = step.op;
  if (def(o).moves == Moves::Reshapes || def(o).moves == Moves::Copies) {
    auto shape = emit(op("shape_of"), {base});
    if (!shape) return Failure{};
    return emit(op("reshape"), {part, *shape});
  }
  if (o == op("transpose")) return transpose(part, inverse(step.attrs.ints_or_empty("perm")));
  if (o == op("take")) {
    const std::int64_t axis = step.attrs.int_or("axis", 0);
    auto rows = reshape(step.operands[0], {-1});
    if (!rows) return Failure{};
    auto wide = type(step.operands[0]).rank() == 0 ? emit(op("expand_dims"), {part, int_constant({axis})})
                                                   : Result<ValueId>(part);
    return wide ? scatter_rows(base, axis, *rows, *wide) : wide;
  }
  if (o == op("strided_slice")) return error("writes through this slice are not supported");
  return error(fmt::format(
      "writes in place through a view made by {}, which several elements share or perfc cannot invert", def(o).name));
}

}  // namespace perfc::torch
