/// Rules for control flow, sequences, optionals.
#include "ir/control_flow.h"
#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Number of regions and of the params of each.
Status require_regions(const InferContext& c, std::size_t regions, std::size_t own_params) {
  if (c.regions() != regions) return c.error("needs {} region(s), has {}", regions, c.regions());
  const std::size_t captures = control_layout(c.op(), c.attrs, c.operands()).captures;
  for (std::size_t r = 0; r < regions; ++r) {
    const std::size_t params = c.region(r).params().size();
    if (params != own_params + captures) {
      return c.error("region {} takes {} params, {} are given", r, params, own_params + captures);
    }
  }
  return ok();
}

const Type& body_type(const Graph& body, std::size_t i) { return body.type(body.results()[i]); }

/// A single element: a scalar, or a tensor of one.
Status require_single(const InferContext& c, std::size_t i, std::string_view role, DTypeTest accepts,
                      std::string_view expected) {
  if (!require_dtype(c, i, role, accepts, expected)) return Failure{};
  const auto n = c.type(i).elements();
  if (n && *n != 1) return c.error("{} must be a single element, got {}", role, to_string(c.type(i)));
  return ok();
}

/// The type that covers both, or an error that names them.
Result<Type> cover(const InferContext& c, const Type& a, const Type& b, std::string_view what) {
  Type both = join(a, b);
  if (!both) return c.error("{}: {} and {} have no type in common", what, to_string(a), to_string(b));
  return both;
}

std::span<const InferContext::Operand> operand_span(const InferContext& c,
                                                    SmallVec<InferContext::Operand, 8>& storage) {
  for (std::size_t i = 0; i < c.operands(); ++i) {
    storage.push_back(c.has(i) ? InferContext::Operand{&c.type(i), c.data(i)} : InferContext::Operand{});
  }
  return {storage.data(), storage.size()};
}

SymInt trips(const InferContext& c) {
  SmallVec<InferContext::Operand, 8> storage;
  return trip_count(c.op(), c.attrs, operand_span(c, storage), c.region(0));
}

/// Tensor type with one more axis of extent `d` at `axis` in [−rank−1, rank].
Result<Type> with_axis(const InferContext& c, const Type& t, std::int64_t axis, const Dim& d, std::string_view role) {
  if (!t.is_tensor()) return c.error("only tensors can be stacked, got {}", to_string(t));
  if (!t.ranked()) return t;
  const auto at = normalize_axis(c, axis, t.rank() + 1, role);
  if (!at) return Failure{};
  Shape shape = t.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*at), d);
  return Type::tensor(t.dtype(), std::move(shape));
}

Result<Type> require_sequence(const InferContext& c, std::size_t i) {
  if (!c.has(i)) return c.error("the sequence (operand {}) is missing", i);
  if (c.type(i).kind() != TypeKind::Sequence) {
    return c.error("operand {} must be a sequence, got {}", i, to_string(c.type(i)));
  }
  return c.type(i).element();
}

}  // namespace

// ---- Control flow

Status if_(InferContext& c) {
  if (!require_single(c, 0, "condition", is_bool, "bool")) return Failure{};
  if (control_layout(c.op(), c.attrs, c.operands()).own != 1) return c.error("takes one condition");
  if (!require_regions(c, 2, 0)) return Failure{};
  const Graph& then_ = c.region(0);
  const Graph& else_ = c.region(1);
  if (then_.results().size() != else_.results().size()) {
    return c.error("the branches return {} and {} values", then_.results().size(), else_.results().size());
  }
  if (c.results() != then_.results().size()) {
    return c.error("the branches return {} values, the call has {} results", then_.results().size(), c.results());
  }
  const auto condition = known_scalar(c, 0);
  for (std::size_t i = 0; i < c.results(); ++i) {
    if (condition) {
      const Graph& taken = *condition ? then_ : else_;
      c.set(i, body_type(taken, i));
      const ValueId v = taken.results()[i];
      c.set_data_ref(i, taken.node(v).results[v.result].data);
      continue;
    }
    auto both = cover(c, body_type(then_, i), body_type(else_, i), fmt::format("result {}", i));
    if (!both) return Failure{};
    c.set(i, *std::move(both));
  }
  return ok();
}

Status loop(InferContext& c) {
  const ControlLayout l = control_layout(c.op(), c.attrs, c.operands());
  if (c.has(0) && l.own > 0 && !require_single(c, 0, "trip count", is_int64, "int64")) return Failure{};
  if (c.has(1) && l.own > 1 && !require_single(c, 1, "condition", is_bool, "bool")) return Failure{};
  if (!require_regions(c, 1, 2 + l.carried)) return Failure{};
  const Graph& body = c.region(0);
  if (body.results().size() < 1 + l.carried) {
    return c.error("the body returns {} values, a condition and {} carried values are needed", body.results().size(),
                   l.carried);
  }
  if (c.results() != body.results().size() - 1) {
    return c.error("the body returns {} values after its condition, the call has {} results", body.results().size() - 1,
                   c.results());
  }
  const Type& condition = body_type(body, 0);
  if (!condition.is_tensor() || (condition.dtype() != DType::Bool && condition.dtype() != DType::Undefined)) {
    return c.error("the body's condition must be bool, is {}", to_string(condition));
  }
  const SymInt count = trips(c);
  for (std::size_t i = 0; i < c.results(); ++i) {
    const Type& next = body_type(body, 1 + i);
    if (i < l.carried) {
      const std::size_t operand = l.first_carried + i;
      if (!c.has(operand)) return c.error("carried value {} has no initial value", i);
      // At least one round leaves what the body returns, none what it was given.
      auto both = cover(c, c.type(operand), next, fmt::format("carried value {}", i));
      if (!both) return Failure{};
      c.set(i, count.is(0) ? c.type(operand) : count.known() ? next : *std::move(both));
      continue;
    }
    auto stacked = with_axis(c, next, 0, count, "axis");
    if (!stacked) return Failure{};
    c.set(i, *std::move(stacked));
  }
  return ok();
}

Status scan(InferContext& c) {
  const ControlLayout l = control_layout(c.op(), c.attrs, c.operands());
  const std::int64_t asked = c.attrs.int_or("num_scan_inputs", 0);
  if (asked < 1) return c.error("num_scan_inputs must be 1 or more, is {}", asked);
  if (static_cast<std::uint64_t>(asked) != l.scanned) {
    return c.error("num_scan_inputs is {}, but there are {} operands", asked, l.own - l.first_carried);
  }
  if (l.batched && c.has(0) && !require_dtype(c, 0, "sequence lengths", is_int64, "int64")) return Failure{};
  if (!require_regions(c, 1, l.carried + l.scanned)) return Failure{};
  const Graph& body = c.region(0);
  if (body.results().size() < l.carried) {
    return c.error("the body returns {} values, {} carried values are needed", body.results().size(), l.carried);
  }
  if (c.results() != body.results().size()) {
    return c.error("the body returns {} values, the call has {} results", body.results().size(), c.results());
  }
  const std::size_t stacked_count = body.results().size() - l.carried;
  const std::size_t batch_axes = l.batched ? 1 : 0;

  const auto input_axes = int_list(c, "scan_input_axes", l.scanned, 0, INT64_MIN);
  const auto output_axes = int_list(c, "scan_output_axes", stacked_count, 0, INT64_MIN);
  if (!input_axes || !output_axes) return Failure{};
  for (const auto& [name, count] :
       {std::pair{"scan_input_directions", l.scanned}, std::pair{"scan_output_directions", stacked_count},
        std::pair{"directions", l.scanned}}) {
    const auto directions = int_list(c, name, count, 0, INT64_MIN);
    if (!directions) return Failure{};
    for (std::int64_t d : *directions) {
      if (d != 0 && d != 1) return c.error("{} holds {}, must be 0 or 1", name, d);
    }
  }

  Dim batch, extent;
  for (std::size_t i = 0; i < l.carried + l.scanned; ++i) {
    const std::size_t operand = l.first_carried + i;
    const bool scanned = i >= l.carried;
    if (!c.has(operand)) return c.error("operand {} is missing", operand);
    if (scanned && !require_tensor(c, operand, "scanned operand")) return Failure{};
    if (!ranked(c, operand)) continue;
    const Shape& s = c.type(operand).shape();
    if (s.size() < batch_axes) return c.error("operand {} has no batch axis: {}", operand, to_string(c.type(operand)));
    if (l.batched) {
      auto same = same_dim(c, batch, s[0], "batches");
      if (!same) return Failure{};
      batch = *same;
    }
    if (!scanned) continue;
    const auto axis =
        normalize_axis(c, l.batched ? 0 : (*input_axes)[i - l.carried], s.size() - batch_axes, "scan_input_axes");
    if (!axis) return Failure{};
    auto same = same_dim(c, extent, s[*axis + batch_axes], "extents of the scanned axes");
    if (!same) return Failure{};
    extent = *same;
  }

  for (std::size_t i = 0; i < c.results(); ++i) {
    Type t = body_type(body, i);
    if (i >= l.carried) {
      auto stacked = with_axis(c, t, l.batched ? 0 : (*output_axes)[i - l.carried], extent, "scan_output_axes");
      if (!stacked) return Failure{};
      t = *std::move(stacked);
    }
    if (l.batched) {
      auto whole = with_axis(c, t, 0, batch, "axis");
      if (!whole) return Failure{};
      t = *std::move(whole);
    }
    if (i < l.carried) {
      auto both = cover(c, c.type(l.first_carried + i), t, fmt::format("carried value {}", i));
      if (!both) return Failure{};
      t = *std::move(both);
    }
    c.set(i, std::move(t));
  }
  return ok();
}

Status sequence_map(InferContext& c) {
  const ControlLayout l = control_layout(c.op(), c.attrs, c.operands());
  if (!require_sequence(c, 0) || !require_regions(c, 1, l.own)) return Failure{};
  const Graph& body = c.region(0);
  if (c.results() != body.results().size()) {
    return c.error("the body returns {} values, the call has {} results", body.results().size(), c.results());
  }
  for (std::size_t i = 1; i < l.own; ++i) {
    const TypeKind kind = c.type(i).kind();
    if (kind != TypeKind::Sequence && !c.type(i).is_tensor()) {
      return c.error("operand {} must be a sequence or a tensor, got {}", i, to_string(c.type(i)));
    }
  }
  for (std::size_t i = 0; i < c.results(); ++i) {
    if (!body_type(body, i).is_tensor())
      return c.error("the body must return tensors, result {} is {}", i, to_string(body_type(body, i)));
    c.set(i, Type::sequence(body_type(body, i)));
  }
  return ok();
}

// ---- Sequences

Status sequence_empty(InferContext& c) {
  c.set(0, Type::sequence(Type::unranked(c.attrs.dtype_or("dtype", DType::Float32))));
  return ok();
}

Status sequence_construct(InferContext& c) {
  Type element;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    if (!require_tensor(c, i, "element")) return Failure{};
    if (!element) {
      element = c.type(i);
      continue;
    }
    auto both = cover(c, element, c.type(i), "elements");
    if (!both) return Failure{};
    element = *std::move(both);
  }
  c.set(0, Type::sequence(std::move(element)));
  return ok();
}

Status sequence_at(InferContext& c) {
  auto element = require_sequence(c, 0);
  if (!element || !require_single(c, 1, "position", is_index, "int32 or int64")) return Failure{};
  c.set(0, *std::move(element));
  return ok();
}

Status sequence_insert(InferContext& c) {
  const auto element = require_sequence(c, 0);
  if (!element || !require_tensor(c, 1, "tensor")) return Failure{};
  if (c.has(2) && !require_single(c, 2, "position", is_index, "int32 or int64")) return Failure{};
  auto both = cover(c, *element, c.type(1), "elements");
  if (!both) return Failure{};
  c.set(0, Type::sequence(*std::move(both)));
  return ok();
}

Status sequence_length(InferContext& c) {
  if (!require_sequence(c, 0)) return Failure{};
  c.set(0, Type::tensor(DType::Int64, {}));
  return ok();
}

Status sequence_split(InferContext& c) {
  if (!require_rank(c, 0, "input", 1, kAnyRank)) return Failure{};
  if (c.has(1) && (!require_dtype(c, 1, "split", is_index, "int32 or int64") || !require_rank(c, 1, "split", 0, 1))) {
    return Failure{};
  }
  if (!ranked(c, 0)) {
    c.set(0, Type::sequence(Type::unranked(c.type(0).dtype())));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), shape.size());
  if (!axis) return Failure{};
  Dim& d = shape[*axis];
  if (!c.has(1)) {
    // One element per index; "keepdims" only matters here.
    if (c.attrs.int_or("keepdims", 1) == 0) {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
    } else {
      d = 1;
    }
    c.set(0, Type::sequence(Type::tensor(c.type(0).dtype(), std::move(shape))));
    return ok();
  }
  const auto split = c.known_ints(1);
  const Dim whole = d;
  d = Dim::unknown();
  if (split && ranked(c, 1) && c.type(1).rank() == 0 && split->size() == 1) {
    const std::int64_t chunk = split->front();
    if (chunk < 1) return c.error("split must be positive, is {}", chunk);
    if (whole.known() && whole.value() % chunk == 0) d = chunk;  // else the last chunk is smaller
    if (whole.known() && whole.value() <= chunk) d = whole;
  } else if (split && !split->empty()) {
    SymInt sum = 0;
    bool equal = true;
    for (std::int64_t part : *split) {
      if (part < 0) return c.error("split holds {}, parts cannot be negative", part);
      sum = sum + part;
      equal = equal && part == split->front();
    }
    if (whole.known() && sum != whole) {
      return c.error("split adds up to {}, the axis has {}", to_string(sum), whole.value());
    }
    if (equal) d = split->front();
  }
  c.set(0, Type::sequence(Type::tensor(c.type(0).dtype(), std::move(shape))));
  return ok();
}

Status sequence_concat(InferContext& c) {
  auto element = require_sequence(c, 0);
  if (!element) return Failure{};
  if (!c.attrs.has("axis")) return c.error("has no attribute 'axis'");
  const std::int64_t axis = c.attrs.int_or("axis", 0);
  const std::int64_t new_axis = c.attrs.int_or("new_axis", 0);
  if (new_axis != 0 && new_axis != 1) return c.error("new_axis must be 0 or 1, is {}", new_axis);
  if (!element->is_tensor()) return c.error("elements must be tensors, are {}", to_string(*element));
  if (new_axis == 1) {
    auto stacked = with_axis(c, *element, axis, Dim::unknown(), "axis");
    if (!stacked) return Failure{};
    c.set(0, *std::move(stacked));
    return ok();
  }
  if (element->ranked()) {
    const auto at = normalize_axis(c, axis, element->rank());
    if (!at) return Failure{};
    Shape shape = element->shape();
    shape[*at] = Dim::unknown();
    *element = Type::tensor(element->dtype(), std::move(shape));
  }
  c.set(0, *std::move(element));
  return ok();
}

// ---- Optionals

Status optional(InferContext& c) {
  if (c.has(0)) {
    if (c.type(0).kind() == TypeKind::Optional)
      return c.error("the element is optional already: {}", to_string(c.type(0)));
    c.set(0, Type::optional(c.type(0)));
    return ok();
  }
  const Attr* type = c.attrs.find("type");
  if (!type || !std::holds_alternative<Type>(*type) || !std::get<Type>(*type)) {
    return c.error("without an operand it needs the attribute 'type'");
  }
  c.set(0, Type::optional(std::get<Type>(*type)));
  return ok();
}

Status optional_get(InferContext& c) {
  c.set(0, c.type(0).kind() == TypeKind::Optional ? c.type(0).element() : c.type(0));
  return ok();
}

Status optional_has(InferContext& c) {
  c.set(0, Type::tensor(DType::Bool, {}));
  if (c.has(0) && c.type(0).kind() == TypeKind::Optional) return ok();
  c.set_data(0, Data{std::vector<SymInt>{c.has(0) ? 1 : 0}});
  return ok();
}

}  // namespace perfc::rules
