#pragma once
/// Einstein summation: equations such as "bij,bjk->bik", as in ONNX Einsum-12.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types.h"

namespace perfc::rules {

/// A parsed equation. Labels are letters; the dims an ellipsis covers get the
/// labels 256, 257, …, aligned at the right as broadcasting aligns them.
struct Einsum {
  std::vector<std::vector<int>> operands;  ///< labels per operand, in order
  std::vector<int> output;                 ///< labels of the result
  std::map<int, Dim> extent;               ///< of every label
  std::optional<Shape> result;             ///< absent when an operand of unknown rank has an ellipsis
};

/// Parses and checks an equation against the operands' shapes (null: rank
/// unknown). Empty, with the reason in `why`, when the equation is malformed or
/// contradicts the shapes. Dims of 1 broadcast, as in NumPy.
std::optional<Einsum> parse_einsum(std::string_view equation, const std::vector<const Shape*>& shapes,
                                   std::string& why);

/// Multiply–accumulates of contracting from left to right, all extents known.
double einsum_macs(const Einsum&);

}  // namespace perfc::rules
