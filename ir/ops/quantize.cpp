/// Rules for quantisation.
#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

bool is_quantized(DType d) { return (is_integer(d) && bits(d) <= 16) || (is_float(d) && bits(d) <= 8); }

/// Scales (operand 1) are one value, one per index of `axis`, or one per block
/// of `block_size` along `axis`; zero points (operand 2) have the scales' shape.
Status check_scales(const InferContext& c) {
  if (!require_tensor(c, 0, "x") || !require_tensor(c, 1, "scale")) return Failure{};
  if (c.has(2)) {
    if (!require_tensor(c, 2, "zero_point")) return Failure{};
    if (ranked(c, 1) && ranked(c, 2)) {
      const Shape& s = c.type(1).shape();
      const Shape& z = c.type(2).shape();
      bool differ = s.size() != z.size();
      for (std::size_t i = 0; !differ && i < s.size(); ++i) differ = s[i].known() && z[i].known() && s[i] != z[i];
      // One value may be written as a scalar or as one element.
      const bool both_single = element_count(s) == 1 && element_count(z) == 1;
      if (differ && !both_single) {
        return c.error("scale and zero_point differ in shape: {} and {}", to_string(s), to_string(z));
      }
    }
  }
  if (!ranked(c, 0) || !ranked(c, 1)) return ok();
  const Shape& x = c.type(0).shape();
  const Shape& s = c.type(1).shape();
  const std::int64_t block = c.attrs.int_or("block_size", 0);
  if (block < 0) return c.error("block_size is negative: {}", block);
  if (element_count(s) == 1 && block == 0) return ok();
  // Older exports keep the default axis 1 on rank-1 data.
  std::int64_t axis = c.attrs.int_or("axis", 1);
  if (!c.attrs.has("axis") && x.size() == 1) axis = 0;
  const auto at = normalize_axis(c, axis, x.size());
  if (!at) return Failure{};
  if (s.size() == 1 && block == 0) {
    if (x[*at].known() && s[0].known() && x[*at] != s[0]) {
      return c.error("scale has {} values, axis {} of x has {}", s[0].value(), *at, x[*at].value());
    }
    return ok();
  }
  if (s.size() != x.size()) {
    return c.error("scale {} must be one value, one per index of the axis, or of the rank of x {}", to_string(s),
                   to_string(x));
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (!x[i].known() || !s[i].known()) continue;
    if (i == *at) {
      const bool fits = block > 0 ? s[i].value() == (x[i].value() + block - 1) / block
                                  : s[i].value() > 0 && s[i].value() <= std::max<std::int64_t>(x[i].value(), 1);
      if (!fits) {
        return c.error("axis {} of scale has {} blocks for {} values in blocks of {}", i, s[i].value(), x[i].value(),
                       block);
      }
    } else if (x[i] != s[i]) {
      return c.error("dim {} of scale and x differ: {} and {}", i, s[i].value(), x[i].value());
    }
  }
  return ok();
}

}  // namespace

/// (x, scale, zero_point?) → x's shape in the zero point's dtype.
Status quantize(InferContext& c) {
  if (!check_scales(c)) return Failure{};
  DType dtype = c.attrs.dtype_or("output_dtype", DType::Undefined);
  if (c.has(2)) {
    const DType zero = c.type(2).dtype();
    if (dtype != DType::Undefined && zero != DType::Undefined && dtype != zero) {
      return c.error("output_dtype {} and zero_point {} differ", name(dtype), name(zero));
    }
    dtype = zero;
  }
  if (dtype == DType::Undefined) dtype = DType::UInt8;
  if (!is_quantized(dtype)) return c.error("quantises to {}, which is no quantised dtype", name(dtype));
  if (is_integer(c.type(0).dtype()) && c.type(0).dtype() != DType::Int32) {
    return c.error("x must be floating point or int32, is {}", name(c.type(0).dtype()));
  }
  c.set(0, c.type(0).with_dtype(dtype));
  return ok();
}

/// (x, scale, zero_point?) → x's shape in the scale's dtype.
Status dequantize(InferContext& c) {
  if (!check_scales(c)) return Failure{};
  if (c.has(2) && !require_same_dtype(c, 0, 2)) return Failure{};
  const DType in = c.type(0).dtype();
  if (in != DType::Undefined && !is_quantized(in) && in != DType::Int32) {
    return c.error("x must be quantised, is {}", name(in));
  }
  DType dtype = c.attrs.dtype_or("output_dtype", c.type(1).dtype());
  // Scales of powers of two (MX formats) do not name the result's dtype.
  if (dtype == DType::Float8E8M0) dtype = DType::Float32;
  c.set(0, c.type(0).with_dtype(dtype));
  return ok();
}

/// Of a number that is known.
void eval_dequantize(InferContext& c) {
  const auto x = c.known_ints(0);
  const Data* scale = c.data(1);
  if (!x || x->size() != 1 || !scale || !scale->floats() || scale->size() != 1) return;
  std::int64_t zero = 0;
  if (c.has(2)) {
    const auto point = c.known_ints(2);
    if (!point || point->size() != 1) return;
    zero = point->front();
  }
  const double value = (static_cast<double>(x->front()) - static_cast<double>(zero)) * scale->floats()->front();
  c.set_data(0, Data{.elements = std::vector<double>{value}});
}

/// x → (y: uint8, scale: float32 scalar, zero point: uint8 scalar).
Status dynamic_quantize(InferContext& c) {
  if (!require_dtype(c, 0, "x", is_float, "floating point")) return Failure{};
  c.set(0, c.type(0).with_dtype(DType::UInt8));
  if (c.results() > 1) c.set(1, Type::tensor(DType::Float32, {}));
  if (c.results() > 2) c.set(2, Type::tensor(DType::UInt8, {}));
  return ok();
}

/// (A, A_scale, A_zero, B, B_scale, B_zero, C_scale, C_zero?).
Status qlinear_binary(InferContext& c) {
  if (!require_tensor(c, 0, "A") || !require_tensor(c, 3, "B")) return Failure{};
  if (!require_same_dtype(c, 0, 3)) return Failure{};
  if (!ranked(c, 0) || !ranked(c, 3)) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  auto shape = broadcast_shapes(c, c.type(0).shape(), c.type(3).shape());
  if (!shape) return Failure{};
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(*shape)));
  return ok();
}

/// (Y_scale, Y_zero, then X, X_scale, X_zero for every input), attribute axis.
Status qlinear_concat(InferContext& c) {
  if ((c.operands() - 2) % 3 != 0)
    return c.error("takes Y_scale, Y_zero_point and triples, got {} operands", c.operands());
  if (c.operands() < 5) return c.error("has no input to concatenate");
  const Type& first = c.type(2);
  if (!require_tensor(c, 2, "input")) return Failure{};
  if (!first.ranked()) {
    c.set(0, first);
    return ok();
  }
  Shape shape = first.shape();
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), shape.size());
  if (!axis) return Failure{};
  for (std::size_t i = 5; i < c.operands(); i += 3) {
    if (!require_rank(c, i, "input", shape.size())) return Failure{};
    if (!ranked(c, i)) {
      shape[*axis] = Dim::unknown();
      continue;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Dim& other = c.type(i).shape()[d];
      if (d == *axis) {
        shape[d] = shape[d] + other;
      } else {
        const auto same = same_dim(c, shape[d], other, "dims of the inputs");
        if (!same) return Failure{};
        shape[d] = *same;
      }
    }
  }
  c.set(0, Type::tensor(first.dtype(), std::move(shape)));
  return ok();
}

/// (condition, X, X_scale, X_zero, Y, Y_scale, Y_zero, Z_scale, Z_zero).
Status qlinear_where(InferContext& c) {
  if (!require_dtype(c, 0, "condition", is_bool, "bool")) return Failure{};
  if (!require_same_dtype(c, 1, 4)) return Failure{};
  if (!ranked(c, 0) || !ranked(c, 1) || !ranked(c, 4)) {
    c.set(0, Type::unranked(c.type(1).dtype()));
    return ok();
  }
  auto branches = broadcast_shapes(c, c.type(1).shape(), c.type(4).shape());
  if (!branches) return Failure{};
  auto shape = broadcast_shapes(c, c.type(0).shape(), *branches);
  if (!shape) return Failure{};
  c.set(0, Type::tensor(c.type(1).dtype(), std::move(*shape)));
  return ok();
}

/// Scales of groups of `group_size` along `group_dim`, spread over x's shape
/// (`output_dtype` names what they are for, not what they are).
Status dynamic_scale(InferContext& c) {
  if (!require_dtype(c, 0, "x", is_float, "floating point")) return Failure{};
  if (c.attrs.int_or("group_size", 32) <= 0)
    return c.error("group_size must be positive, is {}", c.attrs.int_or("group_size", 32));
  if (ranked(c, 0) && !normalize_axis(c, c.attrs.int_or("group_dim", -1), c.type(0).rank(), "group_dim"))
    return Failure{};
  for (std::size_t i = 0; i < c.results(); ++i) c.set(i, c.type(0));
  return ok();
}

}  // namespace perfc::rules
