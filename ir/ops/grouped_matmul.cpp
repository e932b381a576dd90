/// Rules for products of groups of rows, or of columns, with a matrix each: the experts of a mixture.
#include <algorithm>
#include <cmath>

#include "ir/infer_context.h"
#include "ir/ops/grouped_rows.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc {

double GroupedRows::touched() const { return groups * -std::expm1(rows * std::log1p(-1 / groups)); }

bool GroupedRows::by_group(std::size_t operand) const {
  return operand == matrices || operand == GroupedOperand::kScales || operand == GroupedOperand::kBiases;
}

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

namespace {

using enum GroupedOperand::Index;

bool packed(const Attrs& attrs) { return attrs.has("bits") || attrs.has("block_format"); }

/// Columns of the result where matrices lie as (groups, columns, rows), packed where they have few bits or are in
/// blocks of a format (`block_format`), whose bytes whoever read it has checked.
Result<Dim> columns_across(InferContext& c) {
  const Shape &a = c.type(kFirst).shape(), &b = c.type(kSecond).shape();
  if (a.size() != 2 || b.size() != 3) return c.error("transposed matrices need data of two dims and weight of three");
  if (c.attrs.has("block_format")) return b[1];
  if (!c.attrs.has("bits")) {
    if (!same_dim(c, a.back(), b.back(), "columns of data and of weight")) return Failure{};
    return b[1];
  }
  const std::int64_t bits = c.attrs.int_or("bits", 0);
  if (bits != 2 && bits != 4 && bits != 8) return c.error("bits must be 2, 4 or 8, is {}", bits);
  const Dim bytes = b.back();
  if (a.back().known() && bytes.known() && bytes.value() != (a.back().value() + 8 / bits - 1) / (8 / bits))
    return c.error("rows of weight have {} bytes, {} columns of data have {} bits each", bytes.value(),
                   a.back().value(), bits);
  return b[1];
}

}  // namespace

Status grouped_matmul(InferContext& c) {
  if (!require_rank(c, kFirst, "data", 2, 3) || !require_rank(c, kSecond, "weight", 2, 3)) return Failure{};
  if (c.has(kEnds) && !require_rank(c, kEnds, "offsets", 1)) return Failure{};
  if (c.has(kScales) && !require_rank(c, kScales, "scales", 1, 3)) return Failure{};
  if (c.has(kBiases) && !require_rank(c, kBiases, "bias", 2)) return Failure{};
  if (!ranked(c, kFirst) || !ranked(c, kSecond)) {
    c.set(0, Type::unranked(c.type(kFirst).dtype()));
    return ok();
  }
  const Shape &a = c.type(kFirst).shape(), &b = c.type(kSecond).shape();
  const bool rows = a.size() == 2, columns = b.size() == 2;  // of which operand the groups are parts
  if ((rows || columns) && !c.has(kEnds)) return c.error("offsets are missing, where the groups of a matrix end");
  if (packed(c.attrs) || c.attrs.int_or("transB", 0) == 1) {
    const auto across = columns_across(c);
    return across ? set_tensor(c, {a[0], *across}) : Status(Failure{});
  }
  if (rows != columns || !rows) {
    if (!same_dim(c, a.back(), b[b.size() - 2], "columns of data and rows of weight")) return Failure{};
  }
  Shape shape{a[a.size() - 2], b.back()};
  if (rows == columns) shape.insert(shape.begin(), rows ? (ranked(c, kEnds) ? c.type(kEnds).shape()[0] : Dim()) : a[0]);
  return set_tensor(c, std::move(shape));
}

void grouped_matmul_cost(const CostContext& c, OpCost& cost) {
  const bool inner = c.type(kFirst).rank() == 2 && c.type(kSecond).rank() == 2;  // groups are parts of what is summed
  const double groups = inner && c.has(kEnds) ? std::max(c.elements(kEnds), 1.0) : 1;
  cost.macs = c.result_elements(0) * c.dim(kFirst, -1) / groups;
  cost.flops = c.has(kBiases) ? c.result_elements(0) : 0;
  const auto grouped = grouped_rows(c);
  if (!grouped) return;
  const double touched = grouped->touched();
  // Packed weights are unpacked on the fly: two operations each.
  if (packed(c.attrs())) cost.flops += 2 * touched * c.dim(kSecond, 1) * c.dim(kFirst, -1);
  for (std::size_t i = 0; i < c.operands(); ++i)
    if (c.has(i) && grouped->by_group(i)) cost.leave_unread(c, i, 1 - touched / grouped->groups);
}

}  // namespace rules

}  // namespace perfc
