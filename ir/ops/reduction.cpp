/// Rules for reductions, sorting, selection.
#include "ir/ops/reduction.h"

#include <algorithm>
#include <cmath>

#include "ir/ops/eval_helpers.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Axes a reduction runs over. Null: known in number (`count`) at most.
struct ReducedAxes {
  std::optional<std::vector<std::size_t>> axes;
  std::optional<std::int64_t> count;
};

/// Axes come as operand 1, or as an attribute in quantised reductions, whose
/// operand 1 is a scale. Operand 0 is ranked.
Result<ReducedAxes> reduced_axes(const InferContext& c) {
  const std::size_t rank = c.type(0).rank();
  const bool by_operand = c.op() != op("qnn.reduce_mean") && c.has(1);
  std::vector<std::int64_t> axes = c.attrs.ints_or_empty("axes");
  if (by_operand) {
    if (!require_dtype(c, 1, "axes", is_index, "int32 or int64") || !require_rank(c, 1, "axes", 0, 1)) return Failure{};
    const auto known = c.known_ints(1);
    const auto length = known_length(c, 1);
    if (length && *length > static_cast<std::int64_t>(rank)) {
      return c.error("{} axes to reduce, input has rank {}", *length, rank);
    }
    if (!known && length != 0) return ReducedAxes{std::nullopt, length};
    axes = known.value_or(std::vector<std::int64_t>{});
  }
  const auto noop = flag_attr(c, "noop_with_empty_axes", false);
  if (!noop) return Failure{};
  if (axes.empty() && !*noop) {
    for (std::size_t a = 0; a < rank; ++a) axes.push_back(static_cast<std::int64_t>(a));
  }
  auto at = normalize_axes(c, axes, rank);
  if (!at) return Failure{};
  const auto n = static_cast<std::int64_t>(at->size());
  return ReducedAxes{*std::move(at), n};
}

Shape without_axes(const Shape& in, const std::vector<std::size_t>& axes, bool keep) {
  std::vector<bool> gone(in.size(), false);
  for (std::size_t a : axes) gone[a] = true;
  Shape out;
  for (std::size_t a = 0; a < in.size(); ++a) {
    if (!gone[a]) out.push_back(in[a]);
    else if (keep) out.push_back(1);
  }
  return out;
}

/// Elements of the input grouped by the result element they fall into.
std::vector<std::vector<std::size_t>> groups(const Extents& in, const std::vector<std::size_t>& axes) {
  std::vector<bool> gone(in.size(), false);
  for (std::size_t a : axes) gone[a] = true;
  Extents kept = in;
  for (std::size_t a : axes) kept[a] = 1;
  std::vector<std::vector<std::size_t>> out(static_cast<std::size_t>(count(kept)));
  const Extents from = strides(in);
  const Extents to = strides(kept);
  for (std::int64_t k = 0; k < count(in); ++k) {
    std::int64_t target = 0;
    for (std::size_t a = 0; a < in.size(); ++a) {
      if (!gone[a]) target += k / from[a] % in[a] * to[a];
    }
    out[static_cast<std::size_t>(target)].push_back(static_cast<std::size_t>(k));
  }
  return out;
}

/// The reduction of no elements at all is undefined for max, min and mean.
bool reduces_nothing(Fold how, std::size_t n) { return n == 0 && how != Fold::Sum && how != Fold::Product; }

SymInt extreme_int(Fold how, DType dtype, const std::vector<SymInt>& values, const std::vector<std::size_t>& group) {
  SymInt best = values[group.front()];
  for (std::size_t k : group) {
    const SymInt& v = values[k];
    if (v == best && !(v == SymInt::unknown())) continue;
    if (!v.known() || !best.known()) return {};
    const bool less = dtype == DType::UInt64
                          ? static_cast<std::uint64_t>(v.value()) < static_cast<std::uint64_t>(best.value())
                          : v.value() < best.value();
    if (less == (how == Fold::Least)) best = v;
  }
  return best;
}

SymInt fold_ints(Fold how, DType dtype, const std::vector<SymInt>& values, const std::vector<std::size_t>& group) {
  if (reduces_nothing(how, group.size())) return {};
  if (how == Fold::Greatest || how == Fold::Least) return extreme_int(how, dtype, values, group);
  const bool product = how == Fold::Product;
  SymInt total = product ? 1 : 0;
  bool zero = false;
  for (std::size_t k : group) {
    zero = zero || values[k].is(0);
    total = product ? total * values[k] : total + values[k];
  }
  if (product && zero) return 0;
  return how == Fold::Mean ? trunc_div(total, static_cast<std::int64_t>(group.size())) : total;
}

double fold_floats(Fold how, const std::vector<double>& values, const std::vector<std::size_t>& group) {
  double total = how == Fold::Product ? 1 : 0;
  if (how == Fold::Greatest || how == Fold::Least) total = values[group.front()];
  for (std::size_t k : group) {
    const double v = values[k];
    switch (how) {
      case Fold::Product:
        total *= v;
        break;
      case Fold::Greatest:
        total = std::isnan(v) ? v : std::max(total, v);
        break;
      case Fold::Least:
        total = std::isnan(v) ? v : std::min(total, v);
        break;
      case Fold::Sum:
      case Fold::Mean:
        total += v;
        break;
    }
  }
  return how == Fold::Mean ? total / static_cast<double>(group.size()) : total;
}

}  // namespace

Status reduce(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  const Type& in = c.type(0);
  if (is_string(in.dtype())) return c.error("data must have a numeric type, got string");
  const auto keep = flag_attr(c, "keepdims", true);
  if (!keep) return Failure{};
  if (!in.ranked()) {
    c.set(0, Type::unranked(in.dtype()));
    return ok();
  }
  const auto reduced = reduced_axes(c);
  if (!reduced) return Failure{};
  if (reduced->axes) {
    c.set(0, Type::tensor(in.dtype(), without_axes(in.shape(), *reduced->axes, *keep)));
  } else if (*keep) {
    c.set(0, Type::tensor(in.dtype(), unknown_shape(in.rank())));
  } else if (reduced->count) {
    c.set(0, Type::tensor(in.dtype(), unknown_shape(in.rank() - static_cast<std::size_t>(*reduced->count))));
  } else {
    c.set(0, Type::unranked(in.dtype()));
  }
  return ok();
}

Status arg_reduce(InferContext& c) {
  if (!require_dtype(c, 0, "data", is_numeric, "a numeric type") || !require_rank(c, 0, "data", 1, kAnyRank)) {
    return Failure{};
  }
  const auto attr = int_attr(c, "axis", 0);
  const auto keep = flag_attr(c, "keepdims", true);
  if (!attr || !keep) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(DType::Int64));
    return ok();
  }
  const auto axis = normalize_axis(c, *attr, c.type(0).rank());
  if (!axis) return Failure{};
  if (c.type(0).shape()[*axis].is(0)) return c.error("axis {} is empty", *axis);
  c.set(0, Type::tensor(DType::Int64, without_axes(c.type(0).shape(), {*axis}, *keep)));
  return ok();
}

Status cumulative(InferContext& c) {
  if (!require_dtype(c, 0, "x", is_numeric, "a numeric type") ||
      !require_dtype(c, 1, "axis", is_index, "int32 or int64") || !require_rank(c, 1, "axis", 0, 1)) {
    return Failure{};
  }
  const auto axis = known_scalar(c, 1);
  if (axis && ranked(c, 0) && !normalize_axis(c, *axis, c.type(0).rank())) return Failure{};
  c.set(0, c.type(0));
  return ok();
}

Status reduce_twice(InferContext& c) {
  if (!reduce(c)) return Failure{};
  c.set(1, Type(c.result(0)));
  return ok();
}

Status extreme_of_axis(InferContext& c) {
  if (!arg_reduce(c)) return Failure{};
  const Type positions = c.result(0);
  c.set(0, positions.with_dtype(c.type(0).dtype()));
  c.set(1, positions);
  return ok();
}

Status cumulative_extreme(InferContext& c) {
  if (!cumulative(c)) return Failure{};
  c.set(1, c.type(0).with_dtype(DType::Int64));
  return ok();
}

Status reduce_truth(InferContext& c) {
  if (!reduce(c)) return Failure{};
  c.set(0, Type(c.result(0)).with_dtype(DType::Bool));
  return ok();
}

Status count_nonzero(InferContext& c) {
  if (!reduce(c)) return Failure{};
  c.set(0, Type(c.result(0)).with_dtype(DType::Int64));
  return ok();
}

Status topk(InferContext& c) {
  if (!require_dtype(c, 0, "X", is_numeric, "a numeric type") || !require_rank(c, 0, "X", 1, kAnyRank) ||
      !require_dtype(c, 1, "K", is_index, "int32 or int64") || !require_rank(c, 1, "K", 0, 1)) {
    return Failure{};
  }
  const auto attr = int_attr(c, "axis", -1);
  if (!attr) return Failure{};
  if (const auto n = known_length(c, 1); n && *n != 1) return c.error("K must be one number, got {}", *n);
  Type values = Type::unranked(c.type(0).dtype());
  if (ranked(c, 0)) {
    Shape shape = c.type(0).shape();
    const auto axis = normalize_axis(c, *attr, shape.size());
    if (!axis) return Failure{};
    const auto* k = ints(c, 1);
    const auto kept = as_dim(c, k && k->size() == 1 ? k->front() : SymInt::unknown(), "K");
    if (!kept) return Failure{};
    if (kept->known() && shape[*axis].known() && kept->value() > shape[*axis].value()) {
      return c.error("K is {}, the axis has {}", kept->value(), shape[*axis].value());
    }
    shape[*axis] = *kept;
    values = Type::tensor(c.type(0).dtype(), std::move(shape));
  }
  c.set(0, values);
  if (c.results() > 1) c.set(1, values.with_dtype(DType::Int64));
  return ok();
}

Status histogram(InferContext& c) {
  const auto bins = int_attr(c, "bins");
  if (!bins || !require_tensor(c, 0, "data")) return Failure{};
  if (*bins < 1) return c.error("bins must be positive, is {}", *bins);
  return set_tensor(c, {Dim(*bins)});
}

void histogram_cost(const CostContext& c, OpCost& cost) {
  // Without a range the data is read for its least and greatest element first.
  cost.flops = c.elements(0) * 4;
  if (c.attrs().int_or("ranged", 1) == 0) cost.bytes_read *= 2;
}

/// Results: unique values (or slices along "axis"), first occurrences, where
/// each input went, counts.
Status unique(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  const Type& in = c.type(0);
  Dim entries;
  if (!c.attrs.has("axis")) {
    c.set(0, Type::tensor(in.dtype(), {Dim::unknown()}));
    if (in.ranked()) entries = product(in.shape().data(), in.shape().data() + in.rank());
  } else {
    const auto attr = int_attr(c, "axis");
    if (!attr) return Failure{};
    if (in.ranked()) {
      Shape shape = in.shape();
      const auto axis = normalize_axis(c, *attr, shape.size());
      if (!axis) return Failure{};
      entries = shape[*axis];
      shape[*axis] = Dim::unknown();
      c.set(0, Type::tensor(in.dtype(), std::move(shape)));
    } else {
      c.set(0, Type::unranked(in.dtype()));
    }
  }
  for (std::size_t i = 1; i < c.results(); ++i) {
    c.set(i, Type::tensor(DType::Int64, {i == 2 ? entries : Dim::unknown()}));
  }
  return ok();
}

Status nonzero(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  Dim found;
  if (const auto values = c.known_ints(0)) {
    found = static_cast<std::int64_t>(std::count_if(values->begin(), values->end(), [](auto v) { return v != 0; }));
  } else if (const auto* floats = float_contents(c, 0)) {
    found = static_cast<std::int64_t>(std::count_if(floats->begin(), floats->end(), [](double v) { return v != 0; }));
  }
  const Dim rank = ranked(c, 0) ? Dim(static_cast<std::int64_t>(c.type(0).rank())) : Dim::unknown();
  c.set(0, Type::tensor(DType::Int64, {rank, found}));
  return ok();
}

void eval_reduce_by(InferContext& c, Fold how) {
  const auto in = extents(c.type(0));
  if (!c.data(0) || !in || !extents(c.result(0))) return;
  const auto reduced = reduced_axes(c);
  if (!reduced || !reduced->axes) return;
  const auto grouped = groups(*in, *reduced->axes);
  if (const auto* x = float_contents(c, 0)) {
    std::vector<double> out;
    for (const auto& group : grouped) {
      if (reduces_nothing(how, group.size())) return;
      out.push_back(fold_floats(how, *x, group));
    }
    return set_floats(c, 0, out);
  }
  const auto values = int_contents(c, 0);
  if (!values) return;
  std::vector<SymInt> out;
  out.reserve(grouped.size());
  for (const auto& group : grouped) out.push_back(fold_ints(how, c.type(0).dtype(), *values, group));
  set_ints(c, 0, std::move(out));
}

void eval_nonzero(InferContext& c) {
  const auto in = extents(c.type(0));
  if (!in || !c.data(0)) return;
  std::vector<std::int64_t> at;
  if (const auto values = c.known_ints(0)) {
    for (std::size_t k = 0; k < values->size(); ++k) {
      if ((*values)[k] != 0) at.push_back(static_cast<std::int64_t>(k));
    }
  } else if (const auto* floats = float_contents(c, 0)) {
    for (std::size_t k = 0; k < floats->size(); ++k) {
      if ((*floats)[k] != 0) at.push_back(static_cast<std::int64_t>(k));
    }
  } else {
    return;
  }
  const Extents stride = strides(*in);
  std::vector<SymInt> positions;
  for (std::size_t a = 0; a < in->size(); ++a) {
    for (std::int64_t k : at) positions.emplace_back(k / stride[a] % (*in)[a]);
  }
  set_ints(c, 0, std::move(positions));
}

void read_all_cost(const CostContext& c, OpCost& cost) { cost.flops = c.elements(0); }

}  // namespace perfc::rules
