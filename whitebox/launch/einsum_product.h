#pragma once
/// torch.einsum of two operands as the product of matrices that it is (aten/src/ATen/native/Linear.cpp,
/// sumproduct_pair).
#include <optional>
#include <vector>

#include "ir/ops/einsum.h"

namespace perfc {

class Graph;
struct Node;

/// An einsum multiplies stacks only along what both operands have and the result keeps: rows are what one alone has,
/// columns what the other alone has. An operand has a label where its dim is not 1.
struct EinsumProduct {
  rules::Einsum equation;
  std::vector<int> both, left, right;  ///< labels of the result, in its order
  std::vector<int> summed;             ///< over more than one element; none: no product, but a multiplication
  bool swapped = false;                ///< the second is the left factor: the last of rows and columns is the first's

  const std::vector<int>& rows() const { return swapped ? right : left; }
  const std::vector<int>& columns() const { return swapped ? left : right; }
};

/// Nothing for other numbers of operands, types that are not static, and equations that contradict them.
std::optional<EinsumProduct> einsum_product(const Graph&, const Node&);
/// Whether a call is an einsum of two operands that sums nothing: torch.einsum multiplies them element by element.
bool is_einsum_without_sum(const Graph&, const Node&);

}  // namespace perfc
