/// Rules for products of groups of rows, or of columns, with a matrix each: the experts of a mixture.
#include <algorithm>
#include <cmath>

#include "ir/infer_context.h"
#include "ir/ops/grouped_rows.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc {

double GroupedRows::touched() const { return groups * -std::expm1(rows * std::log1p(-1 / groups)); }

std::optional<GroupedRows> grouped_rows(const CostContext& c) {
  const Type &a = c.type(0), &b = c.type(1);
  if (!a.is_static() || !b.is_static() || a.rank() == b.rank()) return std::nullopt;
  const std::size_t matrices = a.rank() == 3 ? 0 : 1;
  const GroupedRows out{
      .groups = c.dim(matrices, 0), .rows = matrices == 1 ? c.dim(0, 0) : c.dim(1, 1), .matrices = matrices};
  if (out.groups < 1 || out.rows < 1) return std::nullopt;
  return out;
}

namespace rules {

Status grouped_matmul(InferContext& c) {
  if (!require_rank(c, 0, "data", 2, 3) || !require_rank(c, 1, "weight", 2, 3)) return Failure{};
  if (c.has(2) && !require_rank(c, 2, "offsets", 1)) return Failure{};
  if (!ranked(c, 0) || !ranked(c, 1)) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  const Shape &a = c.type(0).shape(), &b = c.type(1).shape();
  const bool rows = a.size() == 2, columns = b.size() == 2;  // of which operand the groups are parts
  if ((rows || columns) && !c.has(2)) return c.error("offsets are missing, where the groups of a matrix end");
  if (rows != columns || !rows) {
    if (!same_dim(c, a.back(), b[b.size() - 2], "columns of data and rows of weight")) return Failure{};
  }
  Shape shape{a[a.size() - 2], b.back()};
  if (rows == columns) shape.insert(shape.begin(), rows ? (ranked(c, 2) ? c.type(2).shape()[0] : Dim()) : a[0]);
  return set_tensor(c, std::move(shape));
}

void grouped_matmul_cost(const CostContext& c, OpCost& cost) {
  const bool inner = c.type(0).rank() == 2 && c.type(1).rank() == 2;  // groups are parts of what is summed
  const double groups = inner && c.has(2) ? std::max(c.elements(2), 1.0) : 1;
  cost.macs = c.result_elements(0) * c.dim(0, -1) / groups;
  const auto grouped = grouped_rows(c);
  if (!grouped) return;
  const double unread = c.type(grouped->matrices).bytes() * (1 - grouped->touched() / grouped->groups);
  cost.bytes_read -= unread;
  if (c.constant(grouped->matrices)) cost.weight_bytes -= unread;
}

}  // namespace rules

}  // namespace perfc
