#pragma once
/// What element-by-element operators do to known numbers: the columns `eval` of their rows.
/// Reals are doubles; integers may be partly known (`SymInt`).
#include <optional>

#include "ir/ops/rules.h"
#include "ir/types.h"

namespace perfc {
class Attrs;
}

namespace perfc::rules {

// ---- One operand

using RealUnary = double (*)(double);
using IntegerUnary = SymInt (*)(DType, const SymInt&);
/// Contents of the result; null: not known of this kind of number.
void eval_unary_by(InferContext&, RealUnary, IntegerUnary);
template <RealUnary Real, IntegerUnary Integer = nullptr>
void eval_unary(InferContext& c) {
  eval_unary_by(c, Real, Integer);
}

double real_abs(double), real_negative(double), real_ceil(double), real_floor(double), real_sign(double);
double real_round(double);  ///< ties to even, as ONNX asks
double real_sqrt(double), real_reciprocal(double), real_rsqrt(double), real_trunc(double), real_frac(double);
double real_exp(double), real_exp2(double), real_expm1(double);
double real_log(double), real_log2(double), real_log10(double), real_log1p(double);
SymInt integer_abs(DType, const SymInt&), integer_negative(DType, const SymInt&), integer_sign(DType, const SymInt&);
SymInt integer_not(DType, const SymInt&), integer_itself(DType, const SymInt&);

// ---- Two operands, or several from left to right

struct BinaryContents {
  std::optional<double> (*real)(const Attrs&, double, double) = nullptr;
  SymInt (*integer)(const Attrs&, DType, const SymInt&, const SymInt&) = nullptr;
  bool integer_exponent = false;  ///< a real to the power of an integer
};
void eval_binary_by(InferContext&, const BinaryContents&);
void eval_nary_by(InferContext&, const BinaryContents&);
template <const BinaryContents& Contents>
void eval_binary(InferContext& c) {
  eval_binary_by(c, Contents);
}
template <const BinaryContents& Contents>
void eval_nary(InferContext& c) {
  eval_nary_by(c, Contents);
}

extern const BinaryContents kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kTruncDivide, kMod, kPower;
extern const BinaryContents kMaximum, kMinimum;
extern const BinaryContents kAnd, kOr, kXor;

/// Of comparisons: by the row's `holds`.
void eval_compare(InferContext&);

}  // namespace perfc::rules
