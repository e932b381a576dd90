/// Parts of data along axes: entries, splits, slices.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"

namespace perfc::tf {
namespace {

std::optional<std::size_t> normalized(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

Result<std::size_t> axis_of(const Call& c, std::int64_t axis, std::size_t rank) {
  const auto a = normalized(axis, rank);
  if (!a) return c.error(fmt::format("axis {} is out of range for {} axes", axis, rank));
  return *a;
}

/// A TensorFlow mask attribute.
bool bit(std::int64_t mask, std::size_t i) { return i < 63 && (mask >> i & 1) != 0; }

}  // namespace

Result<Values> unpack(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const std::int64_t num = c.int_attr("num", 0);
  const std::int64_t axis = c.int_attr("axis", 0);
  const auto r = c.rank(0);
  if (num < 1 || num > 1'000'000 || !r)
    return c.error(fmt::format("cannot take {} apart into {}", to_string(c.type(0)), num));
  const auto at = axis_of(c, axis, *r);
  if (!at) return Failure{};
  Values parts{Value::tensor(*x)};
  if (num > 1) {
    auto split = c.finish(op("split"), {*x}, {{"axis", axis}, {"num_outputs", num}}, static_cast<int>(num));
    if (!split) return Failure{};
    parts = std::move(*split);
  }
  for (Value& p : parts) {
    auto view = c.squeeze(p.id, {static_cast<std::int64_t>(*at)});
    if (!view) return Failure{};
    p = Value::tensor(*view);
  }
  return parts;
}

/// Split (axis, x), SplitV (x, sizes, axis).
Result<Values> split(Call& c, const OpRow& row) {
  const bool sized = row.name == "SplitV";
  auto x = c.tensor(sized ? 0 : 1);
  auto axis = c.integer(sized ? 2 : 0, "axis");
  if (!x || !axis) return Failure{};
  const std::int64_t num = c.int_attr("num_split", 0);
  if (num < 1 || num > 1'000'000) return c.error(fmt::format("num_split is {}", num));
  if (num == 1) return one(*x);
  std::vector<ValueId> operands{*x};
  Attrs attrs{{"axis", *axis}};
  if (sized) {
    auto sizes = c.ints(1, "sizes");
    const Type& t = c.builder().type(*x);
    if (!sizes) return Failure{};
    // One size may be left open.
    const auto open = std::find(sizes->begin(), sizes->end(), -1);
    const auto at = t.ranked() ? normalized(*axis, t.rank()) : std::nullopt;
    if (open != sizes->end()) {
      if (!at || !t.shape()[*at].known()) return c.error("an open size of an open dim");
      std::int64_t rest = t.shape()[*at].value();
      for (auto s = sizes->begin(); s != sizes->end(); ++s) {
        if (s != open && __builtin_sub_overflow(rest, *s, &rest)) return c.error("sizes are too large");
      }
      *open = rest;
    }
    operands.push_back(c.int_constant(*sizes));
  } else {
    attrs.set("num_outputs", num);
  }
  return c.finish(op("split"), std::move(operands), std::move(attrs), static_cast<int>(num));
}

/// (x, begin, size): a size of −1 means the rest.
Result<Values> slice(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const auto begin = c.known_ints(1);
  const auto size = c.known_ints(2);
  const auto r = c.rank(0);
  if (!begin || !size || begin->size() != size->size()) {
    auto b = c.tensor(1);
    auto s = c.tensor(2);
    if (!b || !s) return Failure{};
    auto end = c.emit(op("add"), {*b, *s});
    if (!end || !r) return c.error("of data of unknown rank at run-time places is not supported");
    // An open size of −1 cannot be told from a real one at run time.
    const Data* known = c.builder().data(*s);
    if (known && known->ints() &&
        std::any_of(known->ints()->begin(), known->ints()->end(), [](const SymInt& v) { return v.is(-1); })) {
      std::vector<SymInt> ends;
      const Data* at = c.builder().data(*b);
      for (std::size_t i = 0; i < known->ints()->size(); ++i) {
        const SymInt& n = (*known->ints())[i];
        const bool both = at && at->ints() && i < at->ints()->size() && (*at->ints())[i].known() && n.known();
        ends.push_back(n.is(-1) ? SymInt(kEnd)
                       : both   ? SymInt((*at->ints())[i].value() + n.value())
                                : SymInt::unknown());
      }
      if (std::any_of(ends.begin(), ends.end(), [](const SymInt& e) { return !e.known(); })) {
        return c.error("with sizes that are partly open and partly computed at run time is not supported");
      }
      std::vector<std::int64_t> values;
      values.reserve(ends.size());
      for (const SymInt& e : ends) values.push_back(e.value());
      return c.finish(op("strided_slice"), {*x, *b, c.int_constant(values)});
    }
    return c.finish(op("strided_slice"), {*x, *b, *end});
  }
  std::vector<std::int64_t> ends, axes;
  for (std::size_t i = 0; i < begin->size(); ++i) {
    std::int64_t end = 0;
    if ((*size)[i] == -1 || __builtin_add_overflow((*begin)[i], (*size)[i], &end)) end = kEnd;
    ends.push_back(end);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  return c.finish(op("strided_slice"), {*x, c.int_constant(*begin), c.int_constant(ends), c.int_constant(axes)});
}

/// x[begin:end:strides] with all masks (tf.strided_slice).
Result<Values> strided_slice(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto begin = c.tensor(1);
  auto end = c.tensor(2);
  auto strides = c.ints(3, "strides");
  if (!x || !begin || !end || !strides) return Failure{};
  const std::int64_t begin_mask = c.int_attr("begin_mask", 0), end_mask = c.int_attr("end_mask", 0);
  const std::int64_t ellipsis_mask = c.int_attr("ellipsis_mask", 0), new_axis_mask = c.int_attr("new_axis_mask", 0);
  const std::int64_t shrink_mask = c.int_attr("shrink_axis_mask", 0);
  const std::size_t n = strides->size();
  if (n > 62) return c.error(fmt::format("{} entries; data has no so many axes", n));
  const auto entry = [&](ValueId v, std::size_t i) -> SymInt {
    const Data* d = c.builder().data(v);
    return d && d->ints() && i < d->ints()->size() ? (*d->ints())[i] : SymInt::unknown();
  };
  std::size_t consumed = 0;
  for (std::size_t i = 0; i < n; ++i) consumed += !bit(ellipsis_mask, i) && !bit(new_axis_mask, i);
  const auto r = c.rank(0);
  if (!r) return c.error("of data of unknown rank; --shape gives the shape of the input");
  if (consumed > *r) return c.error(fmt::format("{} entries for {}", consumed, to_string(c.type(0))));

  std::vector<std::int64_t> starts, ends, axes, steps, removed, added;
  struct Late {
    std::size_t axis, entry;
    bool take;
  };
  std::vector<Late> late;  // begin or end are known at run time only
  std::size_t axis = 0, out = 0;
  bool ellipsis_seen = false;
  for (std::size_t i = 0; i < n; ++i) {
    if (bit(ellipsis_mask, i)) {
      if (ellipsis_seen) return c.error("has two ellipses");
      ellipsis_seen = true;
      axis += *r - consumed;
      out += *r - consumed;
      continue;
    }
    if (bit(new_axis_mask, i)) {
      added.push_back(static_cast<std::int64_t>(out++));
      continue;
    }
    const SymInt from = entry(*begin, i), to = entry(*end, i);
    if (bit(shrink_mask, i)) {
      removed.push_back(static_cast<std::int64_t>(axis));
      if (from.known()) {
        starts.push_back(from.value());
        ends.push_back(from.value() == -1 ? kEnd : from.value() + 1);
        axes.push_back(static_cast<std::int64_t>(axis));
        steps.push_back(1);
      } else {
        late.push_back({axis, i, true});
      }
      ++axis;
      continue;
    }
    const std::int64_t step = (*strides)[i];
    if (step == 0) return c.error("a stride is 0");
    const bool open_begin = bit(begin_mask, i), open_end = bit(end_mask, i);
    if ((open_begin || from.known()) && (open_end || to.known())) {
      if (!(open_begin && open_end && step == 1)) {
        starts.push_back(open_begin ? (step > 0 ? 0 : kEnd) : from.value());
        ends.push_back(open_end ? (step > 0 ? kEnd : -kEnd) : to.value());
        axes.push_back(static_cast<std::int64_t>(axis));
        steps.push_back(step);
      }
    } else {
      late.push_back({axis, i, false});
    }
    ++axis;
    ++out;
  }
  ValueId y = *x;
  if (!axes.empty()) {
    auto v = c.emit(op("strided_slice"),
                    {y, c.int_constant(starts), c.int_constant(ends), c.int_constant(axes), c.int_constant(steps)});
    if (!v) return Failure{};
    y = *v;
  }
  for (const Late& l : late) {
    const auto at = static_cast<std::int64_t>(l.axis), i = static_cast<std::int64_t>(l.entry);
    const auto pick = [&](ValueId from) {
      return c.emit(op("strided_slice"), {from, c.int_constant({i}), c.int_constant({i + 1}), c.int_constant({0})});
    };
    auto from = pick(*begin);
    auto to = pick(*end);
    if (!from || !to) return Failure{};
    Result<ValueId> v = Failure{};
    if (l.take) {
      v = c.emit(op("take"), {y, *from}, {{"axis", at}});
    } else {
      const DType dtype = c.builder().type(*from).dtype();
      const auto constant = [&](std::int64_t value) {
        auto data = std::make_shared<Data>();
        data->elements = std::vector<SymInt>{SymInt(value)};
        return c.constant({Type::tensor(dtype, {1}), data});
      };
      const std::int64_t largest = dtype == DType::Int32 ? INT32_MAX : kEnd;
      const std::int64_t step = (*strides)[l.entry];
      const ValueId first = bit(begin_mask, l.entry) ? constant(step > 0 ? 0 : largest) : *from;
      const ValueId last = bit(end_mask, l.entry) ? constant(step > 0 ? largest : -largest) : *to;
      v = c.emit(op("strided_slice"), {y, first, last, constant(at), constant(step)});
    }
    if (!v) return Failure{};
    y = *v;
  }
  if (!removed.empty()) {
    auto v = c.squeeze(y, removed);
    if (!v) return Failure{};
    y = *v;
  }
  if (!added.empty()) {
    auto v = c.expand_dims(y, added);
    if (!v) return Failure{};
    y = *v;
  }
  return one(y);
}

}  // namespace perfc::tf
