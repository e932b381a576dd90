/// Rules for element by element, broadcasting, casts, activations.
#include <array>

#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Of `Takes`, in its order.
constexpr std::array<std::string_view, 9> kTakesText{"",
                                                     "anything",
                                                     "a floating-point type",
                                                     "a numeric type",
                                                     "a numeric type or bool",
                                                     "a signed type",
                                                     "an integer type",
                                                     "an integer type or bool",
                                                     "bool"};

/// Complex counts as floating point and numeric: other front ends have it.
bool takes(Takes what, DType d) {
  switch (what) {
    case Takes::Unset:
    case Takes::Anything:
      return true;
    case Takes::Float:
      return is_float_or_complex(d);
    case Takes::Numeric:
      return is_numeric(d) || is_complex(d);
    case Takes::NumericOrBool:
      return is_numeric(d) || is_bool(d);
    case Takes::Signed:
      return is_float_or_complex(d) || is_signed(d);
    case Takes::Integer:
      return is_integer(d);
    case Takes::IntegerOrBool:
      return is_integer(d) || is_bool(d);
    case Takes::Bool:
      return is_bool(d);
  }
  return true;
}

/// Operands [first, last) that are present are tensors the operator takes.
Status check_takes(const InferContext& c, std::size_t first, std::size_t last) {
  const Takes what = def(c.op()).takes;
  for (std::size_t i = first; i < last; ++i) {
    if (!c.has(i)) continue;
    if (!c.type(i).is_tensor()) return c.error("operand {} must be a tensor, got {}", i, to_string(c.type(i)));
    const DType d = c.type(i).dtype();
    if (d == DType::Undefined || takes(what, d)) continue;
    return c.error("operand {} must have {}, got {}", i, kTakesText[static_cast<std::size_t>(what)], name(d));
  }
  return ok();
}

/// First dtype known among the operands.
DType common_dtype(const InferContext& c, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (c.type(i).dtype() != DType::Undefined) return c.type(i).dtype();
  }
  return DType::Undefined;
}

Status check_same_dtypes(const InferContext& c, std::size_t first, std::size_t last) {
  for (std::size_t i = first + 1; i < last; ++i) {
    if (c.has(i) && !require_same_dtype(c, first, i)) return Failure{};
  }
  return ok();
}

/// `shape` broadcasts to the shape of operand 0 without widening it.
Status check_unidirectional(const InferContext& c, std::size_t i, std::string_view role) {
  if (!ranked(c, 0) || !ranked(c, i)) return ok();
  const Shape& to = c.type(0).shape();
  const Shape& from = c.type(i).shape();
  bool fits = from.size() <= to.size();
  for (std::size_t k = 0; fits && k < from.size(); ++k) {
    const Dim& d = to[to.size() - from.size() + k];
    fits = !from[k].known() || from[k].is(1) || !d.known() || d == from[k];
  }
  if (fits) return ok();
  return c.error("{} of shape {} does not broadcast to {}", role, to_string(from), to_string(to));
}

/// Rank-1 operand i has as many entries as operand 0 along its last axis.
Status check_last_axis_vector(const InferContext& c, std::size_t i, std::string_view role) {
  if (!require_rank(c, i, role, 1) || !require_same_dtype(c, 0, i)) return Failure{};
  if (!ranked(c, 0) || c.type(0).rank() == 0 || !ranked(c, i)) return ok();
  if (!same_dim(c, c.type(i).shape()[0], c.type(0).shape().back(),
                fmt::format("length of {} and last dim of operand 0", role))) {
    return Failure{};
  }
  return ok();
}

/// Element type named by attribute "to".
Result<DType> target_dtype(const InferContext& c) {
  if (!c.attrs.has("to")) return c.error("attribute to is missing");
  const DType to = c.attrs.dtype_or("to", DType::Undefined);
  if (to == DType::Undefined) {
    return c.error("attribute to names no element type: '{}'", c.attrs.string_or("to", "?"));
  }
  return to;
}

/// Operations of one exp, log, tanh, erf, …: range reduction, a polynomial of
/// degree 5 or 6 and reconstruction, as in Cephes' single-precision functions.
constexpr double kTranscendentalFlops = 8;

}  // namespace

Status same_type(InferContext& c) {
  if (def(c.op()).takes != Takes::Anything && !check_takes(c, 0, 1)) return Failure{};
  if (c.op() == op("nn.bias_gelu") && c.has(1)) {
    if (!require_same_dtype(c, 0, 1) || !check_unidirectional(c, 1, "bias")) return Failure{};
  }
  c.set(0, c.type(0));
  return ok();
}

Status clip(InferContext& c) {
  if (!check_takes(c, 0, 3) || !check_same_dtypes(c, 0, 3)) return Failure{};
  c.set(0, c.type(0));
  return ok();
}

Status predicate(InferContext& c) {
  if (!check_takes(c, 0, 1)) return Failure{};
  c.set(0, c.type(0).with_dtype(DType::Bool));
  return ok();
}

Status cast(InferContext& c) {
  if (!require_tensor(c, 0, "input")) return Failure{};
  const auto to = target_dtype(c);
  if (!to) return Failure{};
  c.set(0, c.type(0).with_dtype(*to));
  return ok();
}

Status cast_like(InferContext& c) {
  if (!require_tensor(c, 0, "input") || !require_tensor(c, 1, "target_type")) return Failure{};
  c.set(0, c.type(0).with_dtype(c.type(1).dtype()));
  return ok();
}

Status bitcast(InferContext& c) {
  if (!require_tensor(c, 0, "input")) return Failure{};
  const auto to = target_dtype(c);
  if (!to) return Failure{};
  const DType from = c.type(0).dtype();
  if (from != DType::Undefined && (is_string(from) || is_string(*to) || bits(from) != bits(*to))) {
    return c.error("{} and {} differ in width", name(from), name(*to));
  }
  c.set(0, c.type(0).with_dtype(*to));
  return ok();
}

Status broadcast(InferContext& c) {
  if (!check_takes(c, 0, c.operands())) return Failure{};
  // The exponent of power may have another type than its base.
  const bool mixed = c.op() == op("power");
  if (!mixed && !check_same_dtypes(c, 0, c.operands())) return Failure{};
  const DType dtype = common_dtype(c, 0, mixed ? 1 : c.operands());
  auto type = broadcast_operands(c, 0, c.operands(), dtype);
  if (!type) return Failure{};
  c.set(0, *std::move(type));
  return ok();
}

Status compare(InferContext& c) {
  if (!check_takes(c, 0, c.operands()) || !check_same_dtypes(c, 0, c.operands())) return Failure{};
  auto type = broadcast_operands(c, 0, c.operands(), DType::Bool);
  if (!type) return Failure{};
  c.set(0, *std::move(type));
  return ok();
}

Status where(InferContext& c) {
  if (!require_dtype(c, 0, "condition", is_bool, "bool") || !require_tensor(c, 1, "X") || !require_tensor(c, 2, "Y") ||
      !require_same_dtype(c, 1, 2)) {
    return Failure{};
  }
  auto type = broadcast_operands(c, 0, 3, common_dtype(c, 1, 3));
  if (!type) return Failure{};
  c.set(0, *std::move(type));
  return ok();
}

Status prelu(InferContext& c) {
  if (!check_takes(c, 0, 2) || !require_same_dtype(c, 0, 1)) return Failure{};
  // Before ONNX 7 a rank-1 slope had one entry per channel; torch still means that.
  const bool per_channel = ranked(c, 0) && ranked(c, 1) && c.type(0).rank() > 1 && c.type(1).rank() == 1 &&
                           c.type(0).shape()[1] == c.type(1).shape()[0];
  if (!per_channel && !check_unidirectional(c, 1, "slope")) return Failure{};
  c.set(0, c.type(0));
  return ok();
}

/// X, bias along dim `axis` of X (the last one unless given) and, in
/// com.microsoft's form, a skip connection.
Status bias_add(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, kAnyRank)) return Failure{};
  if (!c.attrs.has("axis")) {
    if (!check_last_axis_vector(c, 1, "bias")) return Failure{};
  } else {
    if (!require_rank(c, 1, "bias", 1) || !require_same_dtype(c, 0, 1)) return Failure{};
    if (ranked(c, 0) && ranked(c, 1)) {
      const auto axis = normalize_axis(c, c.attrs.int_or("axis", -1), c.type(0).rank(), "axis");
      if (!axis ||
          !same_dim(c, c.type(1).shape()[0], c.type(0).shape()[*axis], "length of bias and the dim of operand 0")) {
        return Failure{};
      }
    }
  }
  if (c.has(2)) {
    if (!require_tensor(c, 2, "skip") || !require_same_dtype(c, 0, 2) || !check_unidirectional(c, 2, "skip")) {
      return Failure{};
    }
  }
  c.set(0, c.type(0));
  return ok();
}

/// X (…, 2·C) and bias (2·C) → (…, C).
Status bias_split_gelu(InferContext& c) {
  if (!check_takes(c, 0, 2) || !require_rank(c, 0, "X", 1, kAnyRank) || !check_last_axis_vector(c, 1, "bias")) {
    return Failure{};
  }
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const Dim& last = shape.back();
  if (last.known() && last.value() % 2 != 0) return c.error("last dim must be even, got {}", last.value());
  shape.back() = trunc_div(last, 2);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

Status dropout(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  if (c.has(1) && !require_dtype(c, 1, "ratio", is_float, "a floating-point type")) return Failure{};
  if (c.has(2) && !require_dtype(c, 2, "training_mode", is_bool, "bool")) return Failure{};
  c.set(0, c.type(0));
  if (c.results() > 1) c.set(1, c.type(0).with_dtype(DType::Bool));
  return ok();
}

/// a · σ(b) of the two halves along `axis`.
Status glu(InferContext& c) {
  if (!check_takes(c, 0, 1) || !require_rank(c, 0, "X", 1, kAnyRank)) return Failure{};
  const auto attr = int_attr(c, "axis", -1);
  if (!attr) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  const auto axis = normalize_axis(c, *attr, c.type(0).rank());
  if (!axis) return Failure{};
  Shape shape = c.type(0).shape();
  const Dim both = shape[*axis];
  if (both.known() && both.value() % 2 != 0) return c.error("dim {} must be even, got {}", *axis, both.value());
  shape[*axis] = trunc_div(both, 2);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// Complex numbers of absolute values and angles.
Status polar(InferContext& c) {
  if (!check_takes(c, 0, 2) || !check_same_dtypes(c, 0, 2)) return Failure{};
  const bool wide = common_dtype(c, 0, 2) == DType::Float64;
  auto type = broadcast_operands(c, 0, 2, wide ? DType::Complex128 : DType::Complex64);
  if (!type) return Failure{};
  c.set(0, *std::move(type));
  return ok();
}

void transcendental_cost(const CostContext& c, OpCost& cost) {
  cost.flops = kTranscendentalFlops * c.result_elements(0);
}

void free_cost(const CostContext&, OpCost& cost) { cost = {}; }

void nary_cost(const CostContext& c, OpCost& cost) {
  // n operands combine with n − 1 operations; a mean divides once more.
  const double n = static_cast<double>(c.operands()) - (c.node().is(op("mean_of")) ? 0 : 1);
  cost.flops = n * c.result_elements(0);
}

void per_element_4_cost(const CostContext& c, OpCost& cost) { cost.flops = 4 * c.result_elements(0); }
void per_element_cost(const CostContext& c, OpCost& cost) { cost.flops = c.result_elements(0); }
void per_element_2_cost(const CostContext& c, OpCost& cost) { cost.flops = 2 * c.result_elements(0); }

}  // namespace perfc::rules
