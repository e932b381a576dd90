/// Reductions, scans, sorting.
#include <algorithm>

#include "frontends/torch/translate.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

/// Dims to reduce, as an operand; none for all of them.
Result<std::vector<ValueId>> axes(Call& c) {
  if (!c.given("dim")) return std::vector<ValueId>{};
  const auto dims = c.ints("dim");
  if (!dims) return Failure{};
  if (dims->empty()) return std::vector<ValueId>{};
  return std::vector<ValueId>{c.int_constant(*dims)};
}

Result<ValueId> reduce(Call& c, OpId o, ValueId v) {
  if (c.type(v).ranked() && c.type(v).rank() == 0) return v;
  auto over = axes(c);
  const auto keep = c.flag_or("keepdim", false);
  if (!over || !keep) return Failure{};
  over->insert(over->begin(), v);
  return c.emit(o, std::move(*over), {{"keepdims", static_cast<std::int64_t>(*keep)}});
}

/// self in the type that the reduction works in: `dtype`, else int64 for sums of integers.
Result<ValueId> operand(Call& c, bool widen) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  DType d = c.type(*v).dtype();
  if (widen && !is_float(d) && d != DType::Complex64 && d != DType::Complex128) d = DType::Int64;
  const auto asked = c.dtype_or("dtype", d);
  return asked ? c.promote(*v, *asked) : Result<ValueId>(Failure{});
}

Result<ValueId> as_float(Call& c, std::string_view name = "self") {
  auto v = c.tensor(name);
  if (!v || is_float(c.type(*v).dtype())) return v;
  return c.promote(*v, DType::Float32);
}

struct Along {
  ValueId v;
  std::size_t rank;
  std::int64_t axis;
};
/// self and a dim; a 0-d tensor is lent one.
Result<Along> along(Call& c, std::int64_t fallback = -1) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (*rank == 0) {
    v = c.reshape(*v, {1});
    if (!v) return Failure{};
    rank = 1;
  }
  const auto dim = c.integer_or("dim", fallback);
  const auto axis = dim ? c.axis(*dim, *rank) : Result<std::size_t>(Failure{});
  if (!axis) return Failure{};
  return Along{*v, *rank, static_cast<std::int64_t>(*axis)};
}

/// max, min over everything, along a dim (with indices) or of two tensors.
Values extreme(Call& c, OpId over_all, OpId over_dim) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  if (!c.given("dim")) return single(c, c.emit(over_all, {*v}, {{"keepdims", std::int64_t{0}}}));
  const auto a = along(c);
  const auto keep = c.flag_or("keepdim", false);
  if (!a || !keep) return Failure{};
  auto both = c.emit_all(over_dim, {a->v}, {{"axis", a->axis}, {"keepdims", static_cast<std::int64_t>(*keep)}}, 2);
  return both ? c.results(*both) : Failure{};
}

Values truth(Call& c, OpId which) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  auto y = reduce(c, which, *v);
  return y ? single(c, c.cast(*y, DType::Bool)) : Failure{};  // a cast of a number without dims
}

Values arg_extreme(Call& c, OpId o) {
  auto v = c.tensor("self");
  const auto keep = c.flag_or("keepdim", false);
  if (!v || !keep) return Failure{};
  if (c.type(*v).dtype() == DType::Bool) {
    v = c.cast(*v, DType::Int32);
    if (!v) return Failure{};
  }
  if (!c.given("dim")) {
    auto flat = c.reshape(*v, {-1});
    return flat ? single(c, c.emit(o, {*flat}, {{"axis", std::int64_t{0}}, {"keepdims", std::int64_t{0}}})) : Failure{};
  }
  const auto rank = c.rank(*v);
  const auto axis = rank ? c.axis("dim", *rank) : Result<std::size_t>(Failure{});
  if (!axis) return Failure{};
  return single(
      c, c.emit(o, {*v}, {{"axis", static_cast<std::int64_t>(*axis)}, {"keepdims", static_cast<std::int64_t>(*keep)}}));
}

/// var, std, var_mean, std_mean: one pass over the data.
Result<std::vector<ValueId>> moments(Call& c, OpId o) {
  auto v = as_float(c);
  auto over = axes(c);
  const auto keep = c.flag_or("keepdim", false), unbiased = c.flag_or("unbiased", true);
  const auto correction = c.real_or("correction", 1);
  if (!v || !over || !keep || !unbiased || !correction) return Failure{};
  over->insert(over->begin(), *v);
  const double taken = *unbiased ? *correction : 0;
  return c.emit_all(o, std::move(*over), {{"keepdims", static_cast<std::int64_t>(*keep)}, {"correction", taken}},
                    static_cast<std::size_t>(def(o).results));
}

}  // namespace

Values sum(Call& c) {
  auto v = operand(c, true);
  return v ? single(c, reduce(c, op("sum_axes"), *v)) : Failure{};
}
Values nansum(Call& c) {
  auto v = as_float(c);
  return v ? single_as(c, reduce(c, op("nansum"), *v)) : Failure{};
}
Values mean(Call& c) {
  auto v = operand(c, false);
  return v ? single(c, reduce(c, op("mean"), *v)) : Failure{};
}
Values prod(Call& c) {
  auto v = operand(c, true);
  return v ? single(c, reduce(c, op("prod"), *v)) : Failure{};
}
Values amax(Call& c) {
  auto v = c.tensor("self");
  return v ? single(c, reduce(c, op("max"), *v)) : Failure{};
}
Values amin(Call& c) {
  auto v = c.tensor("self");
  return v ? single(c, reduce(c, op("min"), *v)) : Failure{};
}
Values aminmax(Call& c) {
  auto v = c.tensor("self");
  auto over = axes(c);
  const auto keep = c.flag_or("keepdim", false);
  if (!v || !over || !keep) return Failure{};
  over->insert(over->begin(), *v);
  auto both = c.emit_all(op("aminmax"), std::move(*over), {{"keepdims", static_cast<std::int64_t>(*keep)}}, 2);
  return both ? c.results(*both) : Failure{};
}
Values max(Call& c) { return extreme(c, op("max"), op("max_dim")); }
Values min(Call& c) { return extreme(c, op("min"), op("min_dim")); }
Values argmax(Call& c) { return arg_extreme(c, op("argmax")); }
Values argmin(Call& c) { return arg_extreme(c, op("argmin")); }
Values logsumexp(Call& c) {
  auto v = as_float(c);
  return v ? single(c, reduce(c, op("logsumexp"), *v)) : Failure{};
}

Values all(Call& c) { return truth(c, op("all")); }
Values any(Call& c) { return truth(c, op("any")); }
Values count_nonzero(Call& c) {
  auto v = c.tensor("self");
  auto y = v ? reduce(c, op("count_nonzero"), *v) : v;
  return y ? single(c, c.cast(*y, DType::Int64)) : Failure{};
}

Values variance(Call& c) {
  const auto m = moments(c, op("variance"));
  return m ? c.results(*m) : Failure{};
}
Values deviation(Call& c) {
  const auto m = moments(c, op("std"));
  return m ? c.results(*m) : Failure{};
}
Values variance_mean(Call& c) {
  const auto m = moments(c, std::string_view(c.row->name) == "var_mean" ? op("var_mean") : op("std_mean"));
  return m ? c.results(*m) : Failure{};
}

/// cummax, cummin: values and where they stand.
Values cumulative_extreme(Call& c) {
  const auto a = along(c);
  if (!a) return Failure{};
  const OpId o = std::string_view(c.row->name) == "cummax" ? op("cummax") : op("cummin");
  auto both = c.emit_all(o, {a->v, c.number(static_cast<double>(a->axis), DType::Int64)}, {}, 2);
  return both ? c.results(*both) : Failure{};
}

/// cumsum, cumprod, logcumsumexp.
Values cumulative(Call& c) {
  const auto a = along(c);
  if (!a) return Failure{};
  DType d = c.type(a->v).dtype();
  if (!is_float(d)) d = DType::Int64;
  const auto dtype = c.dtype_or("dtype", d);
  if (!dtype) return Failure{};
  auto v = c.promote(a->v, *dtype);
  if (!v) return Failure{};
  auto y = c.emit(*find_op(c.row->name), {*v, c.number(static_cast<double>(a->axis), DType::Int64)});
  return single(c, y);
}

/// Differences of neighbours, n times.
Values diff(Call& c) {
  const auto a = along(c);
  const auto n = c.integer_or("n", 1);
  if (!a || !n) return Failure{};
  std::vector<ValueId> joined;
  for (std::string_view name : {"prepend", "", "append"}) {
    if (name.empty()) {
      joined.push_back(a->v);
    } else if (c.given(name)) {
      auto v = c.tensor(name);
      if (!v) return Failure{};
      joined.push_back(*v);
    }
  }
  Result<ValueId> v = joined.front();
  if (joined.size() > 1) v = c.emit(op("concatenate"), joined, {{"axis", a->axis}});
  if (*n > 64) return c.error(fmt::format("differences of order {}", *n));
  for (std::int64_t i = 0; v && i < *n; ++i) {
    auto next = c.slice(*v, static_cast<std::size_t>(a->axis), 1, INT64_MAX, 1);
    auto before = c.slice(*v, static_cast<std::size_t>(a->axis), 0, -1, 1);
    if (!next || !before) return Failure{};
    v = c.emit(c.type(*v).dtype() == DType::Bool ? op("logical_xor") : op("subtract"), {*next, *before});
  }
  return single(c, v);
}

Values topk(Call& c) {
  const auto a = along(c);
  const auto largest = c.flag_or("largest", true), sorted = c.flag_or("sorted", true);
  if (!a || !largest || !sorted) return Failure{};
  auto k = promoted(c, c.arg("k"), DType::Int64);
  auto vector = k ? c.reshape(*k, {1}) : k;
  if (!vector) return Failure{};
  auto both = c.emit_all(op("topk"), {a->v, *vector},
                         {{"axis", a->axis},
                          {"largest", static_cast<std::int64_t>(*largest)},
                          {"sorted", static_cast<std::int64_t>(*sorted)}},
                         2);
  return both ? c.results(*both) : Failure{};
}

/// sort, argsort, msort: a top-k of all.
Values sort(Call& c) {
  const std::string_view name = c.row->name;
  const auto a = along(c, name == "msort" ? 0 : -1);
  const auto descending = c.flag_or("descending", false);
  if (!a || !descending) return Failure{};
  ValueId v = a->v;
  if (c.type(v).dtype() == DType::Bool) {
    auto number = c.cast(v, DType::Int32);
    if (!number) return Failure{};
    v = *number;
  }
  auto k = c.vector_of(c.size_of(v, static_cast<std::size_t>(a->axis)));
  if (!k) return Failure{};
  auto both = c.emit_all(
      op("topk"), {v, *k},
      {{"axis", a->axis}, {"largest", static_cast<std::int64_t>(*descending)}, {"sorted", std::int64_t{1}}}, 2);
  if (!both) return Failure{};
  if (name == "argsort") return c.result((*both)[1]);
  if (name == "msort") return c.result((*both)[0]);
  return c.results(*both);
}

/// median, kthvalue, quantile, mode: an entry of the sorted data.
Values order_statistic(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const std::string_view name = c.row->name;
  const auto keep = c.flag_or("keepdim", false);
  if (!keep) return Failure{};
  const bool flat = !c.given("dim") && name != "kthvalue" && name != "mode";
  if (flat) {
    v = c.reshape(*v, {-1});
    if (!v) return Failure{};
  }
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto dim = c.integer_or("dim", flat ? 0 : -1);
  const auto axis = dim ? c.axis(*dim, *rank) : Result<std::size_t>(Failure{});
  if (!axis) return Failure{};
  const auto extent = c.known_dim(*v, *axis, "the extent to choose from");
  if (!extent || *extent < 1) return c.error("chooses from nothing");
  std::int64_t place = (*extent - 1) / 2;
  if (name == "kthvalue") {
    const auto k = c.integer("k");
    if (!k) return Failure{};
    if (*k < 1 || *k > *extent) return c.error(fmt::format("entry {} of {}", *k, *extent));
    place = *k - 1;
  }
  Attrs attrs{{"axis", static_cast<std::int64_t>(*axis)}, {"largest", std::int64_t{0}}, {"sorted", std::int64_t{1}}};
  if (name == "mode") attrs.set(kStandsFor, std::string(name));
  auto both = c.emit_all(op("topk"), {*v, c.int_constant({place + 1})}, std::move(attrs), 2);
  if (!both) return Failure{};
  std::vector<ValueId> out;
  for (ValueId part : *both) {
    const ValueId index = *keep && !flat ? c.int_constant({place}) : c.number(static_cast<double>(place), DType::Int64);
    auto y = c.emit(op("take"), {part, index}, {{"axis", static_cast<std::int64_t>(*axis)}});
    if (!y) return Failure{};
    out.push_back(*y);
  }
  if (flat) out.resize(1);
  return c.results(out);
}

Values unique(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const bool sorted = true;
  Attrs attrs{{"sorted", static_cast<std::int64_t>(sorted)}};
  if (c.given("dim")) {
    const auto dim = c.integer("dim");
    if (!dim) return Failure{};
    attrs.set("axis", *dim);
  }
  // The IR's results: values, first places, inverse, counts.
  auto all = c.emit_all(op("unique"), {*v}, std::move(attrs), 4);
  if (!all) return Failure{};
  ValueId inverse = (*all)[2];
  if (!c.given("dim")) {
    auto shape = c.shape_of(*v);
    auto shaped = shape ? c.emit(op("reshape"), {inverse, *shape}) : shape;
    if (!shaped) return Failure{};
    inverse = *shaped;
  }
  return c.results({(*all)[0], inverse, (*all)[3]});
}

}  // namespace perfc::torch
