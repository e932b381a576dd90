#pragma once
/// Numbers of a program, which Python would compute. Those that are known are computed at import; for those that
/// follow from shapes or data there are IR nodes, on vectors of one element.
#include "frontends/torch/call.h"

namespace perfc::torch::python {

/// `a name b`: "add", "sub", "mul", "div", "floordiv", "remainder", "pow", "max", "min", "eq" … "ge", "__and__",
/// "__or__", "__xor__". What is certain of numbers that are not known (a dim is at least 1) decides comparisons.
/// Fails where neither the value nor a node that computes it is known, and where whole numbers are divided by 0.
Result<Scalar> binary(Call& c, std::string_view name, const Scalar& a, const Scalar& b);
/// `f` of the call's number, which the graph computes as `o`; as a float, or an int where it fits one.
Values rounding(Call& c, OpId o, double (*f)(double), DType result);
/// The call's number, one-element tensor, or text of infinity as a number of this type: Int64, Float64 or Bool.
Values convert(Call& c, DType to);
/// The same of the type that the tensor has: an int, a float, a bool.
Values to_scalar(Call& c);
Values to_int(Call& c);
Values to_float(Call& c);
Values to_bool(Call& c);
/// A number as a 0-d tensor.
Values num_to_tensor(Call& c);
Values logical_not(Call& c);
/// One of two numbers, by a truth (torch.sym_ite).
Values either(Call& c);

}  // namespace perfc::torch::python
