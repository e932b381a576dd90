/// Rules for reductions, sorting, selection.
#include <algorithm>
#include <cmath>

#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Which axes a reduction folds: none known, or one flag per dim.
struct Axes {
  bool known = false;
  std::vector<bool> reduced;
};

/// Operand 1 holds the axes, except for quantised reductions (there: a scale).
bool has_axes_operand(const InferContext& c) {
  return c.has(1) && def(c.op()).category == Category::Reduction;
}

/// Axes from operand or attribute; none means all, unless noop_with_empty_axes.
Result<Axes> reduced_axes(const InferContext& c, std::size_t rank) {
  Axes out;
  std::vector<std::int64_t> axes;
  if (has_axes_operand(c)) {
    const auto given = c.known_ints(1);
    if (!given) return out;
    axes = *given;
  } else if (c.attrs.has("axes")) {
    axes = c.attrs.ints_or_empty("axes");
  }
  out.known = true;
  if (axes.empty()) {
    out.reduced.assign(rank, c.attrs.int_or("noop_with_empty_axes", 0) == 0);
    return out;
  }
  const auto normal = normalize_axes(c, axes, rank);
  if (!normal) return Failure{};
  out.reduced.assign(rank, false);
  for (std::size_t a : *normal) out.reduced[a] = true;
  return out;
}

}  // namespace

Status reduce(InferContext& c) {
  if (!require_dtype(c, 0, "data", [](DType d) { return is_numeric(d) || is_bool(d) || is_complex(d); }, "numeric")) return Failure{};
  if (has_axes_operand(c) && !require_dtype(c, 1, "axes", is_index, "int64")) return Failure{};
  const DType dtype = c.type(0).dtype();
  const bool keep = c.attrs.int_or("keepdims", 1) != 0;
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  const Shape& x = c.type(0).shape();
  const auto axes = reduced_axes(c, x.size());
  if (!axes) return Failure{};
  if (!axes->known) {
    const auto count = known_length(c, 1);
    if (keep) {
      c.set(0, Type::tensor(dtype, unknown_shape(x.size())));
    } else if (count && *count > 0 && *count <= static_cast<std::int64_t>(x.size())) {
      c.set(0, Type::tensor(dtype, unknown_shape(x.size() - static_cast<std::size_t>(*count))));
    } else {
      c.set(0, Type::unranked(dtype));
    }
    return ok();
  }
  Shape out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!axes->reduced[i]) {
      out.push_back(x[i]);
    } else if (keep) {
      out.emplace_back(1);
    }
  }
  c.set(0, Type::tensor(dtype, std::move(out)));
  return ok();
}

/// Sum, mean, max, min and product of small integer and float tensors.
void eval_reduce(InferContext& c) {
  const Data* x = c.data(0);
  if (!x || !ranked(c, 0) || !c.result(0).is_static()) return;
  const auto axes = reduced_axes(c, c.type(0).rank());
  if (!axes || !axes->known) return;
  const Shape& shape = c.type(0).shape();
  const auto total = element_count(shape);
  const auto results = c.result(0).elements();
  if (!total || !results || static_cast<std::size_t>(*total) != x->size()) return;

  // Index of the result element that each input element folds into.
  std::vector<std::size_t> stride(shape.size(), 0);
  std::size_t running = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (axes->reduced[i]) continue;
    stride[i] = running;
    running *= static_cast<std::size_t>(shape[i].value());
  }
  const auto target = [&](std::size_t element) {
    std::size_t at = 0;
    for (std::size_t i = shape.size(); i-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[i].value());
      at += element % extent * stride[i];
      element /= extent;
    }
    return at;
  };
  const OpId o = c.op();
  const auto count = static_cast<std::size_t>(*results);
  if (const auto* v = x->floats()) {
    std::vector<double> out(count, o == op("prod") ? 1.0 : o == op("max") ? -INFINITY : o == op("min") ? INFINITY : 0.0);
    for (std::size_t i = 0; i < v->size(); ++i) {
      double& y = out[target(i)];
      if (o == op("prod")) y *= (*v)[i];
      else if (o == op("max")) y = std::max(y, (*v)[i]);
      else if (o == op("min")) y = std::min(y, (*v)[i]);
      else y += (*v)[i];
    }
    if (o == op("mean")) {
      for (double& y : out) y /= static_cast<double>(v->size()) / static_cast<double>(count);
    }
    c.set_data(0, {std::move(out)});
    return;
  }
  const auto* v = x->ints();
  if (!v || o == op("mean")) return;
  std::vector<std::optional<SymInt>> folded(count);
  for (std::size_t i = 0; i < v->size(); ++i) {
    std::optional<SymInt>& y = folded[target(i)];
    const SymInt& e = (*v)[i];
    if (!y) {
      y = e;
    } else if (o == op("prod")) {
      y = *y * e;
    } else if (o == op("sum_axes")) {
      y = *y + e;
    } else if (!y->known() || !e.known()) {
      y = *y == e ? *y : SymInt::unknown();
    } else {
      y = o == op("max") ? std::max(y->value(), e.value()) : std::min(y->value(), e.value());
    }
  }
  std::vector<SymInt> out;
  for (const auto& y : folded) {
    if (!y && o != op("prod") && o != op("sum_axes")) return;
    out.push_back(y.value_or(SymInt(o == op("prod") ? 1 : 0)));
  }
  c.set_data(0, {std::move(out)});
}

Status arg_reduce(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(DType::Int64));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), shape.size());
  if (!axis) return Failure{};
  if (shape[*axis].is(0)) return c.error("axis {} is empty", *axis);
  if (c.attrs.int_or("keepdims", 1) != 0) {
    shape[*axis] = Dim(1);
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
  }
  c.set(0, Type::tensor(DType::Int64, std::move(shape)));
  return ok();
}

/// (x, k) → (values, indices): k along the axis.
Status topk(InferContext& c) {
  if (!require_tensor(c, 0, "X") || !require_tensor(c, 1, "K")) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    if (c.results() > 1) c.set(1, Type::unranked(DType::Int64));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", -1), shape.size());
  if (!axis) return Failure{};
  const auto k = known_scalar(c, 1);
  if (k && *k < 0) return c.error("K is negative: {}", *k);
  if (k && shape[*axis].known() && *k > shape[*axis].value()) {
    return c.error("K is {}, axis {} has {}", *k, *axis, shape[*axis].value());
  }
  const auto* contents = ints(c, 1);
  shape[*axis] = k ? Dim(*k) : contents && contents->size() == 1 ? (*contents)[0] : Dim::unknown();
  if (c.results() > 1) c.set(1, Type::tensor(DType::Int64, shape));
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// x → (values, first indices, inverse indices, counts); how many is data.
Status unique(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  const Type vector = Type::tensor(DType::Int64, {Dim::unknown()});
  Dim inverse = Dim::unknown();
  if (!c.attrs.has("axis")) {
    c.set(0, Type::tensor(c.type(0).dtype(), {Dim::unknown()}));
    if (const auto n = c.type(0).elements()) inverse = Dim(*n);
  } else if (ranked(c, 0)) {
    Shape shape = c.type(0).shape();
    const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), shape.size());
    if (!axis) return Failure{};
    inverse = shape[*axis];
    shape[*axis] = Dim::unknown();
    c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  } else {
    c.set(0, Type::unranked(c.type(0).dtype()));
  }
  if (c.results() > 1) c.set(1, vector);
  if (c.results() > 2) c.set(2, Type::tensor(DType::Int64, {inverse}));
  if (c.results() > 3) c.set(3, vector);
  return ok();
}

/// x → int64 [rank, number of nonzeros].
Status nonzero(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  Dim rank = Dim::unknown();
  Dim count = Dim::unknown();
  if (ranked(c, 0)) {
    rank = Dim(static_cast<std::int64_t>(c.type(0).rank()));
    const Data* d = c.data(0);
    if (d && d->ints() && d->fully_known()) {
      count = Dim(std::count_if(d->ints()->begin(), d->ints()->end(), [](const SymInt& s) { return s.value() != 0; }));
    } else if (d && d->floats()) {
      count = Dim(std::count_if(d->floats()->begin(), d->floats()->end(), [](double v) { return v != 0; }));
    }
  }
  c.set(0, Type::tensor(DType::Int64, {rank, count}));
  return ok();
}

void eval_nonzero(InferContext& c) {
  const Data* d = c.data(0);
  if (!d || !ranked(c, 0) || !c.result(0).is_static()) return;
  std::vector<bool> set;
  if (d->ints() && d->fully_known()) {
    for (const SymInt& s : *d->ints()) set.push_back(s.value() != 0);
  } else if (d->floats()) {
    for (double v : *d->floats()) set.push_back(v != 0);
  } else {
    return;
  }
  const Shape& shape = c.type(0).shape();
  const std::size_t rank = shape.size();
  const auto count = static_cast<std::size_t>(std::count(set.begin(), set.end(), true));
  std::vector<SymInt> out(rank * count);
  std::size_t column = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!set[i]) continue;
    std::size_t rest = i;
    for (std::size_t r = rank; r-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[r].value());
      out[r * count + column] = static_cast<std::int64_t>(rest % extent);
      rest /= extent;
    }
    ++column;
  }
  c.set_data(0, {std::move(out)});
}

/// (boxes [b, n, 4], scores [b, classes, n], …) → int64 [selected, 3].
Status non_max_suppression(InferContext& c) {
  if (!require_rank(c, 0, "boxes", 3) || !require_rank(c, 1, "scores", 3)) return Failure{};
  if (ranked(c, 0) && ranked(c, 1)) {
    const Shape& b = c.type(0).shape();
    const Shape& s = c.type(1).shape();
    if (b[2].known() && !b[2].is(4)) return c.error("boxes have {} coordinates, not 4", b[2].value());
    if (!same_dim(c, b[0], s[0], "batch of boxes and scores")) return Failure{};
    if (!same_dim(c, b[1], s[2], "number of boxes and scores")) return Failure{};
  }
  // At most max_output_boxes_per_class are selected, how many is data; none
  // when that operand is absent or 0.
  const auto most = known_scalar(c, 2);
  const bool none = !c.has(2) || (most && *most == 0);
  c.set(0, Type::tensor(DType::Int64, {none ? Dim(0) : Dim::unknown(), Dim(3)}));
  return ok();
}

/// One operation per element read.
void read_all_cost(const CostContext& c, OpCost& cost) { cost.flops = c.elements(0); }

}  // namespace perfc::rules
