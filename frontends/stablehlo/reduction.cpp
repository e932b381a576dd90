/// Reductions, windows and sorting: what their regions compute decides what they are.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

using Ints = Emitter::Ints;

/// The one operation of a region that combines two values, or "" where it is not just that.
std::string_view combiner(const Operation& o) {
  for (std::size_t i = 0; i + 1 < o.words.size(); ++i) {
    if (o.words[i] == "applies") return o.words[i + 1];
  }
  if (o.regions.empty()) return {};
  const auto& body = o.regions[0].operations;
  if (body.size() != 2 || body[0].operands.size() != 2) return {};
  return body[0].name;
}

struct Reduction {
  std::string_view combiner;
  OpId op, of_bools;
};
constexpr std::array kReductions{
    Reduction{.combiner = "stablehlo.add", .op = op("sum_axes"), .of_bools = op("any")},
    Reduction{.combiner = "stablehlo.maximum", .op = op("max"), .of_bools = op("any")},
    Reduction{.combiner = "stablehlo.minimum", .op = op("min"), .of_bools = op("all")},
    Reduction{.combiner = "stablehlo.multiply", .op = op("prod"), .of_bools = op("all")},
    Reduction{.combiner = "stablehlo.and", .op = op("min"), .of_bools = op("all")},
    Reduction{.combiner = "stablehlo.or", .op = op("max"), .of_bools = op("any")},
};

const Reduction* reduction_of(std::string_view combiner) {
  const auto it = std::ranges::find(kReductions, combiner, &Reduction::combiner);
  return it == kReductions.end() ? nullptr : &*it;
}

/// How often the region compares, and by what first.
bool region_has(const Operation& o, std::string_view name, std::string_view word = {}) {
  for (const Region& r : o.regions) {
    for (const Operation& inner : r.operations) {
      if (inner.name != name) continue;
      const auto text = inner.find("comparison_direction");
      if (word.empty() || std::ranges::find(inner.words, word) != inner.words.end() ||
          (text && text->find(word) != text->npos))
        return true;
    }
  }
  return false;
}

/// A pair of values and their places, by comparing the values: argmax and argmin.
Result<Values> arg_reduction(const Call& c, const Ints& axes) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const bool largest =
      region_has(c.operation, "stablehlo.compare", "GT") || region_has(c.operation, "stablehlo.compare", "GE");
  auto place = c.emit(largest ? op("argmax") : op("argmin"), {*x}, {{"axis", axes[0]}, {"keepdims", std::int64_t{1}}});
  auto best = c.emit(largest ? op("max") : op("min"), {*x, c.int_constant(axes)}, {{"keepdims", std::int64_t{1}}});
  place = c.cast(place, c.declared(1).dtype());
  if (!place || !best) return Failure{};
  return Values{c.without(c.whole(*best), axes), c.without(c.whole(*place), axes)};
}

/// Where the base has these dims of the value. Nothing where one of them is broadcast.
std::optional<Ints> base_axes(const Call& c, const Value& v, const Ints& axes) {
  Ints out;
  for (std::int64_t a : axes) {
    const Dim& extent = v.type.shape()[static_cast<std::size_t>(a)];
    const auto it = std::ranges::find(v.where, static_cast<int>(a));
    if (it == v.where.end() && extent.is(1)) continue;
    const auto at = it - v.where.begin();
    if (it == v.where.end() || c.dim(v.base, at) != extent) return std::nullopt;
    out.push_back(at);
  }
  return out;
}

/// Does a second operand count along the axis? Then what is reduced are places.
bool counts(const Call& c, std::size_t i) { return c.made_by(c.operands[i], op("arange")) != nullptr; }

// ---- Windows

struct Windows {
  Ints size, stride, low, high, dilation;
};

Result<Windows> windows_of(const Call& c, std::size_t rank) {
  auto size = c.required("window_dimensions");
  if (!size) return Failure{};
  const auto get = [&](std::string_view key, std::int64_t fallback, std::size_t n) {
    const Ints v = c.ints(key).value_or(Ints{});
    return v.empty() ? Ints(n, fallback) : v;
  };
  Windows w{.size = *size,
            .stride = get("window_strides", 1, rank),
            .low = {},
            .high = {},
            .dilation = get("window_dilations", 1, rank)};
  const Ints pads = get("padding", 0, 2 * rank);
  if (w.size.size() != rank || w.stride.size() != rank || w.dilation.size() != rank || pads.size() != 2 * rank)
    return c.error(fmt::format("its window is not one of {} dims", rank));
  for (std::int64_t d : get("base_dilations", 1, rank)) {
    if (d != 1) return c.error("base_dilations are not read; they stand for a gradient: export the model without");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    w.low.push_back(pads[2 * i]);
    w.high.push_back(pads[2 * i + 1]);
  }
  return w;
}

/// Sums of ever longer parts are what a window over the whole dim with padding on one side gives.
std::optional<std::size_t> cumulative_axis(const Windows& w, const Shape& shape) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (w.size[i] == 1) continue;
    const bool whole = shape[i].is(w.size[i]) && w.low[i] + w.high[i] == w.size[i] - 1 &&
                       (w.low[i] == 0 || w.high[i] == 0) && w.stride[i] == 1;
    if (axis || !whole) return std::nullopt;
    axis = i;
  }
  return axis;
}

Result<Values> cumulative(const Call& c, OpId op, const Windows& w, std::size_t axis) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  Attrs attrs;
  if (w.low[axis] == 0) attrs.set("reverse", std::int64_t{1});
  return one(c.whole(c.emit(op, {*x, c.number(static_cast<double>(axis), DType::Int64)}, std::move(attrs))));
}

constexpr OpFamily kMaxPools = family("nn.max_pool?d"), kAveragePools = family("nn.avg_pool?d");
constexpr std::string_view kLayouts[] = {"NWC", "NHWC", "NDHWC"};

/// Dims that the window moves over, with at most one behind them, the channels.
struct PoolDims {
  std::size_t first = 0, last = 0;
  bool channels_last = false;
};

std::optional<PoolDims> pool_dims(const Windows& w) {
  Ints moved;
  for (std::size_t i = 0; i < w.size.size(); ++i) {
    if (w.size[i] != 1 || w.stride[i] != 1 || w.low[i] != 0 || w.high[i] != 0)
      moved.push_back(static_cast<std::int64_t>(i));
  }
  if (moved.empty() || moved.back() - moved.front() >= 3) return std::nullopt;
  PoolDims d{.first = static_cast<std::size_t>(moved.front()), .last = static_cast<std::size_t>(moved.back())};
  const std::size_t behind = w.size.size() - d.last - 1;
  d.channels_last = behind == 1;
  return behind > 1 ? std::nullopt : std::optional(d);
}

/// The shape with as many dims in front of the window as pools have: 1s are added, or the first ones merged.
std::optional<Shape> with_leading(const Shape& shape, const PoolDims& d) {
  const std::size_t wanted = d.channels_last ? 1 : 2;
  Shape out(wanted - std::min(wanted, d.first), Dim(1));
  std::int64_t merged = 1;
  const std::size_t extra = d.first - std::min(wanted, d.first);
  for (std::size_t i = 0; i < extra; ++i) {
    if (!shape[i].known() || __builtin_mul_overflow(merged, shape[i].value(), &merged)) return std::nullopt;
  }
  for (std::size_t i = extra; i < shape.size(); ++i) out.push_back(shape[i]);
  if (extra > 0 && !out[0].known()) return std::nullopt;
  if (extra > 0 && __builtin_mul_overflow(merged, out[0].value(), &merged)) return std::nullopt;
  if (extra > 0) out[0] = merged;
  return out;
}

Attrs pool_attrs(const Windows& w, const PoolDims& d, bool sums) {
  Ints size, stride, padding, dilation;
  for (std::size_t i = d.first; i <= d.last; ++i)
    size.push_back(w.size[i]), stride.push_back(w.stride[i]), dilation.push_back(w.dilation[i]);
  for (const Ints* side : {&w.low, &w.high})
    padding.insert(padding.end(), side->begin() + static_cast<std::ptrdiff_t>(d.first),
                   side->begin() + static_cast<std::ptrdiff_t>(d.last) + 1);
  Attrs attrs{{"kernel_size", size}, {"strides", stride}};
  if (std::ranges::any_of(padding, [](std::int64_t p) { return p != 0; })) attrs.set("padding", padding);
  if (std::ranges::any_of(dilation, [](std::int64_t p) { return p != 1; })) attrs.set("dilation", dilation);
  if (d.channels_last) attrs.set("data_layout", std::string(kLayouts[size.size() - 1]));
  if (sums) attrs.set("count_include_pad", std::int64_t{1});
  return attrs;
}

/// A sum pool is the average times the window: divide() finds the average again.
Result<Values> pool(Call& c, const Windows& w, const PoolDims& d, bool sums) {
  const Shape shape = c.type(0).shape();
  const auto target = with_leading(shape, d);
  if (!target) return c.unknown("pools with several open dims in front");
  const bool negative = std::ranges::any_of(w.low, [](std::int64_t p) { return p < 0; }) ||
                        std::ranges::any_of(w.high, [](std::int64_t p) { return p < 0; });
  if (negative) return c.error("has negative padding");
  auto flat = c.reshaped(c.operands[0], Type::tensor(c.type(0).dtype(), *target));
  auto x = flat ? c.tensor(*flat) : Result<ValueId>(Failure{});
  auto y = c.emit((sums ? kAveragePools : kMaxPools).with_dims(d.last - d.first + 1), {x}, pool_attrs(w, d, sums));
  if (!y) return Failure{};
  Shape out = shape;
  const std::size_t moved = target->size() - (d.channels_last ? 1 : 0) - (d.last - d.first + 1);
  for (std::size_t i = d.first; i <= d.last; ++i) out[i] = c.type(*y).shape()[moved + i - d.first];
  const Type type = Type::tensor(c.dtype(*y), std::move(out));
  double window = 1;
  for (std::int64_t s : w.size) window *= static_cast<double>(s);
  auto result = sums ? c.emit(op("multiply"), {*y, c.number_like(*y, window)}) : y;
  return result ? one(c.reshaped(c.whole(*result), type)) : Result<Values>(Failure{});
}

}  // namespace

Result<Values> reduce(Call& c, const OpRow&) {
  auto axes = c.required("dimensions");
  if (!axes) return Failure{};
  const std::size_t n = c.operands.size() / 2;
  if (n == 0 || c.operands.size() % 2 != 0) return c.error(fmt::format("has {} operands", c.operands.size()));
  for (std::int64_t a : *axes) {
    if (a < 0 || a >= static_cast<std::int64_t>(c.type(0).rank()))
      return c.error(fmt::format("reduces dim {} of {}", a, to_string(c.type(0))));
  }
  if (n == 2 && axes->size() == 1 && counts(c, 1) && region_has(c.operation, "stablehlo.compare"))
    return arg_reduction(c, *axes);
  const Reduction* r = n == 1 ? reduction_of(combiner(c.operation)) : nullptr;
  if (!r) return c.unknown("its region is none of sum, product, maximum, minimum, and, or, argmax, argmin");
  const Value& x = c.operands[0];
  const OpId name = x.type.dtype() == DType::Bool ? r->of_bools : r->op;
  const auto placed = base_axes(c, x, *axes);
  if (placed && placed->empty()) return Values{c.without(x, *axes)};
  if (placed) {
    auto y = c.reduction(name, x.base, *placed);
    if (!y) return Failure{};
    Value out = x;
    out.base = *y;
    out.type = out.type.with_dtype(c.dtype(*y));
    return Values{c.without(out, *axes)};
  }
  auto all = c.tensor(0);
  auto y = all ? c.reduction(name, *all, *axes) : all;
  if (!y) return Failure{};
  return Values{c.without(c.whole(*y), *axes)};
}

Result<Values> reduce_window(Call& c, const OpRow&) {
  if (c.operands.size() != 2 || !c.type(0).ranked()) return c.unknown("windows over several operands");
  const std::size_t rank = c.type(0).rank();
  auto w = windows_of(c, rank);
  if (!w) return Failure{};
  const std::string_view name = combiner(c.operation);
  const bool sums = name == "stablehlo.add", maxima = name == "stablehlo.maximum";
  const auto axis = cumulative_axis(*w, c.type(0).shape());
  if (axis && sums) return cumulative(c, op("cumsum"), *w, *axis);
  if (axis && name == "stablehlo.multiply") return cumulative(c, op("cumprod"), *w, *axis);
  const auto dims = pool_dims(*w);
  if (!dims || !(sums || maxima)) return c.unknown("its window or region is none of a pool's");
  return pool(c, *w, *dims, sums);
}

/// Sorting by the first operand; others go along.
Result<Values> sort(Call& c, const OpRow&) {
  auto axis = c.required_integer("dimension");
  if (!axis) return Failure{};
  auto x = c.tensor(0);
  if (!x) return Failure{};
  if (*axis < 0) *axis += static_cast<std::int64_t>(c.type(0).rank());
  const SymInt n = c.dim(*x, *axis);
  if (!n.known()) return c.unknown("sorts an open dim");
  if (c.type(0).dtype() == DType::Bool) x = c.cast(x, DType::Int32);
  const bool descending = region_has(c.operation, "stablehlo.compare", "GT");
  auto both = x ? c.emit_all(op("topk"), {*x, c.int_constant({n.value()})},
                             {{"axis", *axis}, {"largest", std::int64_t{descending}}, {"sorted", std::int64_t{1}}}, 2)
                : Result<std::vector<ValueId>>(Failure{});
  if (!both) return Failure{};
  Values out;
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    Result<ValueId> v = (*both)[0];
    if (i == 0) v = c.cast(v, c.type(0).dtype());
    else if (counts(c, i)) v = c.cast((*both)[1], c.type(i).dtype());
    else if (auto other = c.tensor(i)) v = c.emit(op("gather"), {*other, (*both)[1]}, {{"axis", *axis}});
    else return Failure{};
    if (!v) return Failure{};
    out.push_back(c.whole(*v));
  }
  return out;
}

/// chlo.top_k: along the last dim.
Result<Values> top_k(Call& c, const OpRow&) {
  auto k = c.ints("k");
  if (const auto text = c.operation.find("composite_attributes"); !k && text)
    k = integers(field(*text, "k").value_or(""));
  auto x = c.tensor(0);
  if (!k || k->size() != 1) return c.error("has no attribute 'k'");
  if (!x) return Failure{};
  auto both = c.emit_all(op("topk"), {*x, c.int_constant(*k)},
                         {{"axis", std::int64_t{-1}}, {"largest", std::int64_t{1}}, {"sorted", std::int64_t{1}}}, 2);
  if (!both) return Failure{};
  auto places = c.cast((*both)[1], c.declared(1) ? c.declared(1).dtype() : DType::Int32);
  if (!places) return Failure{};
  return Values{c.whole((*both)[0]), c.whole(*places)};
}

}  // namespace perfc::stablehlo
