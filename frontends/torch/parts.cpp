/// Parts of data along a dim, as views: slices, entries, splits.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/torch/translate.h"

namespace perfc::torch {

namespace {

/// A bound of a slice as an operand of one element.
Result<ValueId> bound(Call& c, std::string_view name, std::int64_t fallback) {
  if (!c.given(name)) return c.int_constant({fallback});
  return c.int_vector({c.arg(name)});
}

/// Where parts begin and end along a dim.
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Parts along an axis, as views.
Values parts(Call& c, const SelfAxis& s, const Ranges& ranges) {
  const TensorRef* self = c.arg("self").tensor();
  if (!self) return c.error("'self' must be a tensor");
  if (ranges.empty()) return c.error("splits into nothing");
  // One call makes all of them; each is a slice when its memory is written.
  std::vector<std::int64_t> sizes;
  sizes.reserve(ranges.size());
  for (const auto& [begin, end] : ranges) sizes.push_back(end - begin);
  const Dim extent = c.dim(s.self, s.axis);
  const bool even =
      extent.known() && std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n == sizes[0]; });
  std::vector<ValueId> operands{s.self};
  if (!even) operands.push_back(c.int_constant(sizes));
  auto all = c.emit_all(op("split"), std::move(operands), {{"axis", static_cast<std::int64_t>(s.axis)}}, ranges.size());
  if (!all) return Failure{};
  std::vector<Value> out;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto t = std::make_shared<Tensor>();
    t->storage = (*self)->storage;
    t->views = (*self)->views;
    t->views.push_back({op("strided_slice"),
                        {c.int_constant({ranges[i].first}), c.int_constant({ranges[i].second}),
                         c.int_constant({static_cast<std::int64_t>(s.axis)}), c.int_constant({1})},
                        {},
                        c.type(s.self)});
    t->value = (*all)[i];
    t->version = (*self)->storage->version;
    out.emplace_back(t);
  }
  return std::vector<Value>{Value::list(std::move(out))};
}

constexpr std::int64_t kMaxParts = 65536;

}  // namespace

Values slice(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const auto step = c.integer_or("step", 1);
  auto start = bound(c, "start", 0), end = bound(c, "end", kEnd);
  if (!step || !start || !end) return Failure{};
  if (*step < 1) return c.error(fmt::format("slices in steps of {}", *step));
  const Data *first = c.data(*start), *last = c.data(*end);
  const auto known = [](const Data* d, auto test) {
    return d && d->ints() && (*d->ints())[0].known() && test((*d->ints())[0].value());
  };
  const Dim extent = c.dim(s->self, s->axis);
  const bool all = *step == 1 && known(first, [](std::int64_t v) {
    return v == 0;
  }) && known(last, [&](std::int64_t v) { return v >= INT32_MAX || (extent.known() && v >= extent.value()); });
  if (all && c.arg("self").tensor()) return std::vector<Value>{c.args[0]};
  return c.view_result("self", op("strided_slice"),
                       {*start, *end, c.int_constant({static_cast<std::int64_t>(s->axis)}), c.int_constant({*step})});
}
/// [start, start + length) along a dim.
Values narrow(Call& c) {
  const auto s = self_axis(c);
  const auto start = c.integer("start"), length = c.integer("length");
  if (!s || !start || !length) return Failure{};
  const std::int64_t first =
      *start < 0 && c.dim(s->self, s->axis).known() ? *start + c.dim(s->self, s->axis).value() : *start;
  return c.view_result("self", op("strided_slice"),
                       {c.int_constant({first}), c.int_constant({first + *length}),
                        c.int_constant({static_cast<std::int64_t>(s->axis)}), c.int_constant({1})});
}
Values select(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  if (s->rank == 0) return c.error("takes an item of a tensor without dims");
  const Attrs attrs{{"axis", static_cast<std::int64_t>(s->axis)}};
  const Value& index = c.arg("index");
  if (const Scalar* i = index.scalar(); i && i->literal() && i->integer.known()) {
    const Dim extent = c.dim(s->self, s->axis);
    if (extent.known() && (i->integer.value() < -extent.value() || i->integer.value() >= extent.value())) {
      return c.error(fmt::format("index {} is out of range for {} entries", i->integer.value(), extent.value()));
    }
    return c.view_result("self", op("take"), {c.number(static_cast<double>(i->integer.value()), DType::Int64)}, attrs);
  }
  auto i = promoted(c, index, DType::Int64);
  if (!i) return Failure{};
  return c.view_result("self", op("take"), {*i}, attrs);
}

namespace {

/// The parts [begin, begin + size) of an extent, the last one what is left. Of nothing there is none.
Ranges ranges_of(std::int64_t extent, std::int64_t size) {
  Ranges out;
  for (std::int64_t begin = 0; begin < extent; begin = out.back().second) {
    out.emplace_back(begin, begin + std::min(size, extent - begin));
  }
  return out;
}

/// How many parts a call asks for.
Result<std::int64_t> part_count(Call& c) {
  const auto n = c.integer("chunks");
  if (n && (*n < 1 || *n > kMaxParts)) return c.error(fmt::format("splits into {} parts", *n));
  return n;
}

/// Sizes of the parts of an extent; those that follow from data (tokens by expert) share what the others leave.
Result<std::vector<std::int64_t>> part_sizes(Call& c, std::int64_t extent) {
  const auto given = c.symbolic_ints("split_size");
  if (!given) return Failure{};
  std::int64_t left = extent, unknown = 0;
  for (const SymInt& size : *given) {
    if (!size.known()) {
      ++unknown;
      continue;
    }
    if (size.value() < 0 || size.value() > left)
      return c.error(fmt::format("sizes do not add up to the extent {}", extent));
    left -= size.value();
  }
  if (unknown > 0) {
    c.warning(fmt::format("the sizes of {} parts follow from data; taken as equal, {} in all", unknown, left));
  } else if (left > 0) {
    return c.error(fmt::format("sizes add up to {}, the extent is {}", extent - left, extent));
  }
  std::vector<std::int64_t> out;
  for (const SymInt& size : *given) {
    out.push_back(size.known() ? size.value() : (left + unknown - 1) / unknown);
    if (size.known()) continue;
    left -= out.back();
    --unknown;
  }
  return out;
}

}  // namespace

/// So many parts of one size, rounded up: there may be fewer.
Values chunk(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const auto extent = c.known_dim(s->self, s->axis, "the extent to split");
  const auto n = part_count(c);
  if (!extent || !n) return Failure{};
  if (*extent == 0) return parts(c, *s, Ranges(static_cast<std::size_t>(*n), {0, 0}));
  return parts(c, *s, ranges_of(*extent, *extent / *n + (*extent % *n > 0 ? 1 : 0)));
}

/// So many parts, of which the first are one larger; or parts that end at the indices given.
Values tensor_split(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const auto extent = c.known_dim(s->self, s->axis, "the extent to split");
  if (!extent) return Failure{};
  Ranges ranges;
  std::int64_t begin = 0;
  const auto up_to = [&](std::int64_t end) {
    ranges.emplace_back(begin, end);
    begin = end;
  };
  if (c.arg("chunks").list()) {
    const auto at = c.ints("chunks");
    if (!at) return Failure{};
    for (std::int64_t i : *at) up_to(std::clamp<std::int64_t>(i < 0 ? i + *extent : i, begin, *extent));
    up_to(*extent);
  } else {
    const auto n = part_count(c);
    if (!n) return Failure{};
    for (std::int64_t i = 0; i < *n; ++i) up_to(begin + *extent / *n + (i < *extent % *n ? 1 : 0));
  }
  return parts(c, *s, ranges);
}

/// Parts of one size, or of the sizes given.
Values split(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const List* sizes = c.arg("split_size").list();
  const bool whole = sizes && sizes->items->size() == 1 && !c.dim(s->self, s->axis).known();
  if (whole) return std::vector<Value>{Value::list({c.arg("self")})};  // one part, however large it turns out to be
  const auto extent = c.known_dim(s->self, s->axis, "the extent to split");
  if (!extent) return Failure{};
  if (sizes) {
    const auto each = part_sizes(c, *extent);
    if (!each) return Failure{};
    Ranges ranges;
    std::int64_t begin = 0;
    for (std::int64_t n : *each) {
      ranges.emplace_back(begin, begin + n);
      begin += n;
    }
    return parts(c, *s, ranges);
  }
  const auto size = c.integer("split_size");
  if (!size) return Failure{};
  if (*size < 1 || *extent / *size > kMaxParts)
    return c.error(fmt::format("splits {} into parts of {}", *extent, *size));
  return parts(c, *s, *extent == 0 ? Ranges{{0, 0}} : ranges_of(*extent, *size));
}

Values unbind(Call& c) {
  const auto s = self_axis(c);
  if (!s) return Failure{};
  const auto extent = c.known_dim(s->self, s->axis, "the extent to unbind");
  if (!extent) return Failure{};
  if (*extent > kMaxParts) return c.error(fmt::format("unbinds {} entries", *extent));
  const TensorRef* self = c.arg("self").tensor();
  if (!self) return c.error("'self' must be a tensor");
  std::vector<Value> out;
  const Attrs attrs{{"axis", static_cast<std::int64_t>(s->axis)}};
  for (std::int64_t i = 0; i < *extent; ++i) {
    auto v = c.view(*self, op("take"), {c.number(static_cast<double>(i), DType::Int64)}, attrs);
    if (!v) return Failure{};
    out.push_back(*std::move(v));
  }
  return std::vector<Value>{Value::list(std::move(out))};
}

}  // namespace perfc::torch
