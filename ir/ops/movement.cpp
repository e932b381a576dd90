/// Rules for data movement.
#include <algorithm>

#include <fmt/format.h>

#include "ir/ops/movement.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

Status set_unranked(InferContext& c) {
  c.set(0, Type::unranked(c.type(0).dtype()));
  return ok();
}

Status require_indices(const InferContext& c, std::size_t i, std::string_view role) {
  if (!require_dtype(c, i, role, is_index, "int32 or int64")) return Failure{};
  return require_rank(c, i, role, 0, 1);
}

}  // namespace

Result<std::vector<std::size_t>> permutation(const InferContext& c, std::size_t rank) {
  const auto perm = c.attrs.ints_or_empty("perm");
  std::vector<std::size_t> out;
  if (perm.empty() && !(c.attrs.has("perm") && rank > 0)) {
    for (std::size_t a = rank; a-- > 0;) out.push_back(a);
    return out;
  }
  if (perm.size() != rank) return c.error("perm has {} entries, input has rank {}", perm.size(), rank);
  return normalize_axes(c, perm, rank, "perm");
}

Status transpose(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  if (!c.type(0).ranked()) {
    const std::size_t rank = c.attrs.ints_or_empty("perm").size();
    if (rank == 0) return set_unranked(c);
    if (!require_length(c, static_cast<std::int64_t>(rank), "perm") || !permutation(c, rank)) return Failure{};
    return set_tensor(c, unknown_shape(rank));
  }
  const Shape& in = c.type(0).shape();
  const auto perm = permutation(c, in.size());
  if (!perm) return Failure{};
  Shape shape;
  for (std::size_t a : *perm) shape.push_back(in[a]);
  return set_tensor(c, std::move(shape));
}

/// Attribute "axis" names one axis or several.
Status reverse(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  auto axes = c.attrs.ints_or_empty("axis");
  if (axes.empty()) axes = {0};
  if (ranked(c, 0) && !normalize_axes(c, axes, c.type(0).rank(), "axis")) return Failure{};
  c.set(0, c.type(0));
  return ok();
}

Status concatenate(InferContext& c) {
  const auto axis_attr = int_attr(c, "axis");
  if (!axis_attr) return Failure{};
  DType dtype = DType::Undefined;
  std::optional<Shape> shape;
  std::size_t axis = 0;
  bool all_ranked = true;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    if (!require_rank(c, i, "input", 1, kAnyRank) || !require_same_dtype(c, 0, i)) return Failure{};
    const Type& t = c.type(i);
    if (dtype == DType::Undefined) dtype = t.dtype();
    if (!t.ranked()) {
      all_ranked = false;
      continue;
    }
    if (!shape) {
      const auto at = normalize_axis(c, *axis_attr, t.rank());
      if (!at) return Failure{};
      axis = *at;
      shape = t.shape();
      continue;
    }
    if (t.rank() != shape->size()) {
      return c.error("operand {} of shape {} has another rank than {}", i, to_string(t.shape()), to_string(*shape));
    }
    for (std::size_t a = 0; a < t.rank(); ++a) {
      if (a == axis) {
        (*shape)[a] = (*shape)[a] + t.shape()[a];
      } else {
        const auto d =
            same_dim(c, (*shape)[a], t.shape()[a], fmt::format("dims {} of operand {} and those before", a, i));
        if (!d) return Failure{};
        (*shape)[a] = *d;
      }
    }
  }
  if (!shape) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  if (!all_ranked) (*shape)[axis] = Dim::unknown();
  c.set(0, Type::tensor(dtype, *std::move(shape)));
  return ok();
}

Result<std::vector<SymInt>> split_sizes(const InferContext& c, const Dim& extent) {
  const std::size_t n = c.results();
  if (c.has(1)) {
    const auto length = known_length(c, 1);
    if (length && *length != static_cast<std::int64_t>(n)) {
      return c.error("split has {} sizes for {} results", *length, n);
    }
    const auto* given = ints(c, 1);
    std::vector<SymInt> sizes = given ? *given : std::vector<SymInt>(n);
    std::vector<std::size_t> open;
    SymInt total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (sizes[i].known() && sizes[i].value() < 0) return c.error("split holds a negative size: {}", sizes[i].value());
      if (sizes[i].known()) total = total + sizes[i];
      else open.push_back(i);
    }
    if (extent.known() && total.known()) {
      if (open.empty() ? total != extent : total.value() > extent.value()) {
        return c.error("sizes add up to {}, the axis has {}", total.value(), extent.value());
      }
      if (open.size() == 1) sizes[open.front()] = extent - total;
    }
    return sizes;
  }
  const auto asked = int_attr(c, "num_outputs", static_cast<std::int64_t>(n));
  if (!asked) return Failure{};
  if (*asked != static_cast<std::int64_t>(n)) return c.error("num_outputs is {} for {} results", *asked, n);
  if (n == 1) return std::vector<SymInt>{extent};
  std::vector<SymInt> sizes(n);
  if (!extent.known()) return sizes;
  const SymInt chunk = ceil_div(extent, *asked);
  const SymInt last = extent - chunk * (*asked - 1);
  if (last.known() && last.value() < 0) return c.error("an axis of {} does not split into {}", extent.value(), n);
  std::fill(sizes.begin(), sizes.end(), chunk);
  sizes.back() = last;
  return sizes;
}

Status split(InferContext& c) {
  if (!require_rank(c, 0, "input", 1, kAnyRank)) return Failure{};
  if (c.has(1) && !require_indices(c, 1, "split")) return Failure{};
  const auto axis_attr = int_attr(c, "axis", 0);
  if (!axis_attr) return Failure{};
  const Type& in = c.type(0);
  if (!in.ranked()) {
    for (std::size_t i = 0; i < c.results(); ++i) c.set(i, Type::unranked(in.dtype()));
    return ok();
  }
  const auto axis = normalize_axis(c, *axis_attr, in.rank());
  if (!axis) return Failure{};
  const auto sizes = split_sizes(c, in.shape()[*axis]);
  if (!sizes) return Failure{};
  for (std::size_t i = 0; i < c.results(); ++i) {
    Shape shape = in.shape();
    shape[*axis] = (*sizes)[i];
    c.set(i, Type::tensor(in.dtype(), std::move(shape)));
  }
  return ok();
}

Result<std::optional<std::vector<SliceRange>>> slice_ranges(const InferContext& c) {
  using Ranges = std::optional<std::vector<SliceRange>>;
  constexpr std::string_view kRoles[] = {"data", "starts", "ends", "axes", "steps"};
  std::optional<std::int64_t> length;
  for (std::size_t i = 1; i < 5; ++i) {
    if (!c.has(i)) continue;
    if (!require_indices(c, i, kRoles[i]) || !require_same_dtype(c, 1, i)) return Failure{};
    const auto n = known_length(c, i);
    if (!n) continue;
    if (length && *n != *length) return c.error("{} has {} entries, expected {}", kRoles[i], *n, *length);
    length = n;
  }
  const auto* steps = ints(c, 4);
  if (steps && std::any_of(steps->begin(), steps->end(), [](const SymInt& s) { return s.is(0); })) {
    return c.error("steps holds 0");
  }
  if (!ranked(c, 0)) return Ranges{};
  const Shape& in = c.type(0).shape();
  if (length && *length > static_cast<std::int64_t>(in.size())) {
    return c.error("{} axes to slice, input has rank {}", *length, in.size());
  }
  std::vector<std::int64_t> axes;
  if (c.has(3)) {
    const auto known = c.known_ints(3);
    if (!known) return Ranges{};
    axes = *known;
  } else {
    if (!length) return Ranges{};
    for (std::int64_t a = 0; a < *length; ++a) axes.push_back(a);
  }
  const auto at = normalize_axes(c, axes, in.size());
  if (!at) return Failure{};
  const auto entry = [&](std::size_t operand, std::size_t k) {
    const auto* v = ints(c, operand);
    return v && k < v->size() ? (*v)[k] : SymInt::unknown();
  };
  std::vector<SliceRange> ranges(in.size());
  for (std::size_t a = 0; a < in.size(); ++a) ranges[a] = {0, 1, in[a]};
  for (std::size_t k = 0; k < at->size(); ++k) {
    const std::size_t a = (*at)[k];
    ranges[a] = slice_range(in[a], entry(1, k), entry(2, k), c.has(4) ? entry(4, k) : SymInt(1));
  }
  return Ranges{std::move(ranges)};
}

SliceRange slice_range(const Dim& extent, const SymInt& start, const SymInt& end, const SymInt& step) {
  // Beyond any real extent; exporters write INT32_MAX or INT64_MAX for "to the end".
  constexpr std::int64_t kFar = INT32_MAX;
  SliceRange r;
  if (!step.known()) return r;
  r.step = step.value();
  if (!extent.known()) {
    const bool from_first = start.is(0) || (start.known() && start.value() <= -kFar);
    const bool to_last = (end.known() && end.value() >= kFar) || (end.symbolic() && end == extent);
    const bool from_last = start.is(-1) || (start.known() && start.value() >= kFar);
    const bool past_first = end.known() && end.value() <= -kFar;
    if ((step.is(1) && from_first && to_last) || (step.is(-1) && from_last && past_first)) {
      r.count = extent;
      r.start = step.is(1) ? 0 : -1;
    }
    if (start.known() && start == end) r.count = 0;
    return r;
  }
  const std::int64_t n = extent.value();
  if (!start.known()) return r;
  const auto place = [n](std::int64_t v, std::int64_t low, std::int64_t high) {
    return std::clamp(v < 0 ? v + n : v, low, high);
  };
  const bool forward = step.value() > 0;
  r.start = forward ? place(start.value(), 0, n) : place(start.value(), 0, std::max<std::int64_t>(n - 1, 0));
  if (!end.known()) return r;
  const std::int64_t stop = forward
                                ? place(end.value(), 0, n)
                                : std::clamp(end.value() < 0 ? (end.value() < -n ? -1 : end.value() + n) : end.value(),
                                             std::int64_t{-1}, n - 1);
  const std::int64_t span = forward ? stop - r.start : r.start - stop;
  if (span <= 0 || n == 0) {
    r.count = 0;
  } else if (step.value() == INT64_MIN) {
    r.count = 1;
  } else {
    r.count = ceil_div(span, forward ? step.value() : -step.value());
  }
  return r;
}

Status strided_slice(InferContext& c) {
  if (!require_rank(c, 0, "data", 1, kAnyRank)) return Failure{};
  const auto ranges = slice_ranges(c);
  if (!ranges) return Failure{};
  if (!ranked(c, 0)) return set_unranked(c);
  if (!*ranges) return set_tensor(c, unknown_shape(c.type(0).rank()));
  Shape shape;
  for (const SliceRange& r : **ranges) shape.push_back(r.count);
  return set_tensor(c, std::move(shape));
}

Status strided_set(InferContext& c) {
  constexpr std::size_t kPart = 5;
  if (!require_rank(c, 0, "data", 1, kAnyRank) || !require_tensor(c, kPart, "part") || !require_same_dtype(c, 0, kPart))
    return Failure{};
  const auto ranges = slice_ranges(c);
  if (!ranges) return Failure{};
  if (ranked(c, 0) && !require_rank(c, kPart, "part", c.type(0).rank())) return Failure{};
  for (std::size_t a = 0; *ranges && ranked(c, kPart) && a < (**ranges).size(); ++a) {
    if (!same_dim(c, c.type(kPart).shape()[a], (**ranges)[a].count, fmt::format("dims {} of part and slice", a)))
      return Failure{};
  }
  c.set(0, c.type(0));
  return ok();
}

Status broadcast_to(InferContext& c) {
  if (!require_tensor(c, 0, "input") || !require_indices(c, 1, "shape")) return Failure{};
  const auto length = known_length(c, 1);
  if (!length || !ranked(c, 0)) return set_unranked(c);
  if (!require_length(c, *length, "shape")) return Failure{};
  Shape target = unknown_shape(static_cast<std::size_t>(*length));
  if (const auto* given = ints(c, 1)) {
    for (std::size_t i = 0; i < given->size(); ++i) {
      const auto d = as_dim(c, (*given)[i], "shape");
      if (!d) return Failure{};
      target[i] = *d;
    }
  }
  auto shape = broadcast_shapes(c, c.type(0).shape(), target);
  if (!shape) return Failure{};
  return set_tensor(c, *std::move(shape));
}

Status tile(InferContext& c) {
  if (!require_tensor(c, 0, "input") || !require_indices(c, 1, "repeats")) return Failure{};
  const auto length = known_length(c, 1);
  if (length && !require_length(c, *length, "repeats")) return Failure{};
  if (!ranked(c, 0)) {
    return length ? set_tensor(c, unknown_shape(static_cast<std::size_t>(*length))) : set_unranked(c);
  }
  Shape shape = c.type(0).shape();
  if (length && *length != static_cast<std::int64_t>(shape.size())) {
    return c.error("repeats has {} entries, input has rank {}", *length, shape.size());
  }
  const auto* repeats = ints(c, 1);
  for (std::size_t a = 0; a < shape.size(); ++a) {
    const auto r = as_dim(c, repeats ? (*repeats)[a] : SymInt::unknown(), "repeats");
    if (!r) return Failure{};
    shape[a] = shape[a] * *r;
  }
  return set_tensor(c, std::move(shape));
}

Result<std::optional<std::vector<Padding>>> paddings(const InferContext& c) {
  using Paddings = std::optional<std::vector<Padding>>;
  if (!require_indices(c, 1, "pads")) return Failure{};
  if (c.has(3) && !require_indices(c, 3, "axes")) return Failure{};
  const auto length = known_length(c, 1);
  if (length && *length % 2 != 0) return c.error("pads has {} entries, expected an even number", *length);
  if (!ranked(c, 0)) return Paddings{};
  const std::size_t rank = c.type(0).rank();
  std::vector<std::int64_t> axes;
  if (c.has(3)) {
    const auto n = known_length(c, 3);
    if (n && length && *length != 2 * *n) return c.error("pads has {} entries for {} axes", *length, *n);
    const auto known = c.known_ints(3);
    if (!known) return Paddings{};
    axes = *known;
  } else {
    if (length && *length != 2 * static_cast<std::int64_t>(rank)) {
      return c.error("pads has {} entries, input has rank {}", *length, rank);
    }
    for (std::size_t a = 0; a < rank; ++a) axes.push_back(static_cast<std::int64_t>(a));
  }
  const auto at = normalize_axes(c, axes, rank);
  if (!at) return Failure{};
  const auto* pads = ints(c, 1);
  std::vector<Padding> out(rank);
  for (std::size_t k = 0; k < at->size(); ++k) {
    if (pads) out[(*at)[k]] = {(*pads)[k], (*pads)[k + at->size()]};
    else out[(*at)[k]] = {SymInt::unknown(), SymInt::unknown()};
  }
  return Paddings{std::move(out)};
}

Status pad(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  const std::string_view mode = c.attrs.string_or("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return c.error("unknown mode '{}'", mode);
  }
  if (c.has(2) && mode == "constant" && (!require_tensor(c, 2, "constant_value") || !require_same_dtype(c, 0, 2))) {
    return Failure{};
  }
  const auto padding = paddings(c);
  if (!padding) return Failure{};
  if (!ranked(c, 0)) return set_unranked(c);
  Shape shape = c.type(0).shape();
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (!*padding) {
      shape[a] = Dim::unknown();
      continue;
    }
    const Padding& p = (**padding)[a];
    const SymInt sum = p.begin + p.end;
    const Dim padded = sum.known() ? shape[a] + sum : Dim::unknown();
    if (padded.known() && padded.value() < 0) {
      return c.error("padding {} and {} leave less than nothing of axis {} of {}", p.begin.value(), p.end.value(), a,
                     to_string(c.type(0)));
    }
    shape[a] = padded;
  }
  return set_tensor(c, std::move(shape));
}

void write_only_cost(const CostContext&, OpCost& cost) {
  cost.flops = 0;
  cost.bytes_read = cost.weight_bytes = 0;
}

/// Only a broadcast's input and a one-hot's indices matter beside the result.
void spread_cost(const CostContext& c, OpCost& cost) {
  cost.flops = 0;
  cost.bytes_read = c.type(0).bytes();
  cost.weight_bytes = c.constant(0) ? cost.bytes_read : 0;
}

void copy_cost(const CostContext&, OpCost& cost) { cost.flops = 0; }

void strided_set_cost(const CostContext& c, OpCost& cost) {
  // Written where the data lies; whoever keeps the data copies it first.
  cost.flops = 0;
  cost.bytes_read = cost.bytes_written = c.type(5).bytes();
  cost.weight_bytes = c.constant(5) ? cost.bytes_read : 0;
}

void slice_copy_cost(const CostContext& c, OpCost& cost) {
  cost.flops = 0;
  cost.bytes_read = cost.bytes_written;
  cost.weight_bytes = c.constant(0) ? cost.bytes_read : 0;
}

}  // namespace perfc::rules
