/// Bands and diagonals of matrices.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"

namespace perfc::tf {

/// Part of each matrix around the diagonal: two triangles. A number of diagonals that is negative takes all of a side;
/// one that is not known is taken for others.
Result<Values> matrix_band(Call& c, const OpRow&) {
  auto y = c.tensor(0);
  for (const std::size_t side : {1, 2}) {
    auto diagonals = c.tensor(side);
    if (!y || !diagonals) return Failure{};
    const auto known = c.known_ints(side);
    if (known && known->size() != 1) return c.error(fmt::format("input {} must be one number", side));
    if (known && known->front() < 0) continue;
    const bool lower = side == 1;
    Result<ValueId> k = known   ? c.constant(int64_scalar(lower ? -known->front() : known->front()))
                        : lower ? c.emit(op("negative"), {c.cast(*diagonals, DType::Int64)})
                                : c.cast(*diagonals, DType::Int64);
    y = k ? c.emit(op("trilu"), {*y, *k}, {{"upper", std::int64_t{lower}}}) : k;
  }
  return one(y);
}

/// The main diagonal of each matrix: every (columns + 1)th of its elements.
Result<Values> matrix_diagonal(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  if (row.name != "MatrixDiagPart") {
    const auto k = c.known_ints(1);
    if (!k || std::any_of(k->begin(), k->end(), [](std::int64_t d) { return d != 0; }))
      return c.error("of other than the main diagonal is not supported");
  }
  const Type& type = c.type(0);
  if (!type.ranked() || type.rank() < 2) return c.error(fmt::format("data must hold matrices, is {}", to_string(type)));
  const Dim rows = type.shape()[type.rank() - 2], columns = type.shape()[type.rank() - 1];
  std::int64_t all = 0;
  if (!rows.known() || !columns.known() || __builtin_mul_overflow(rows.value(), columns.value(), &all)) {
    return c.error(fmt::format("of matrices of open dims {}", to_string(type)));
  }
  std::vector<std::int64_t> flat;
  for (std::size_t i = 0; i + 2 < type.rank(); ++i) {
    // One open dim can be left to the reshape.
    if (!type.shape()[i].known() && std::find(flat.begin(), flat.end(), -1) != flat.end())
      return c.error("of data with several open dims");
    flat.push_back(type.shape()[i].known() ? type.shape()[i].value() : -1);
  }
  const auto axis = static_cast<std::int64_t>(flat.size());
  flat.push_back(all);
  auto view = c.reshape(*x, flat);
  if (!view) return Failure{};
  const std::int64_t length = std::min(rows.value(), columns.value());
  std::int64_t end = 0;
  if (__builtin_mul_overflow(length, columns.value() + 1, &end)) end = all;
  return one(c.emit(op("strided_slice"), {*view, c.int_constant({0}), c.int_constant({std::min(end, all)}),
                                          c.int_constant({axis}), c.int_constant({columns.value() + 1})}));
}

}  // namespace perfc::tf
