#pragma once
/// How the rows of a product of groups (nn.grouped_matmul) fall to its matrices.
#include <optional>

#include "ir/infer_context.h"

namespace perfc {

struct GroupedRows {
  double groups = 1;         ///< matrices, one for each group
  double rows = 0;           ///< of all groups together; columns, where the second operand is cut into groups
  std::size_t matrices = 1;  ///< the operand that holds them

  /// Groups that any row falls to, if each falls to one of them at random. Which ones, only the data say; routers of
  /// experts are trained to use them alike.
  double touched() const;
  /// Whether an operand has a part for each group: the matrices, their scales, biases.
  bool by_group(std::size_t operand) const;
};
/// Operands of nn.grouped_matmul.
struct GroupedOperand {
  enum Index : std::size_t { kFirst, kSecond, kEnds, kScales, kBiases };
};
/// None: each group has a matrix on both sides, or is a part of what is summed.
std::optional<GroupedRows> grouped_rows(const CostContext&);

}  // namespace perfc
