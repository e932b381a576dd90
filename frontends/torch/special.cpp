/// Operators that no IR operator describes: typed, but their cost is not known.
#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

Values opaque(Call& c, std::vector<Type> types) {
  std::vector<ValueId> operands;
  for (const Value& v : c.args) {
    const TensorRef* t = v.tensor();
    if (!t) continue;
    auto id = c.read(*t);
    if (!id) return Failure{};
    operands.push_back(*id);
  }
  const int results = static_cast<int>(types.size());
  auto node = c.builder().call({.op = op("opaque"),
                                .operands = std::move(operands),
                                .attrs = {{"source_op", std::string(c.operation.op)}},
                                .results = results,
                                .declared = std::move(types),
                                .name = c.name,
                                .loc = c.loc});
  if (!node) return Failure{};
  c.warning("kept as opaque, its cost is not known");
  std::vector<ValueId> out;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(results); ++i) out.push_back({*node, i});
  return c.results(out);
}

Shape batch_of(const Shape& matrix) { return {matrix.begin(), matrix.end() - 2}; }
Shape with(Shape lead, std::initializer_list<Dim> dims) {
  for (const Dim& d : dims) lead.push_back(d);
  return lead;
}

}  // namespace

/// Functions of every element that torch runs as several: mvlgamma, special_ndtr.
Values elementwise_unpriced(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const Type t = c.type(*v);
  return opaque(c, {is_float(t.dtype()) ? t : t.with_dtype(DType::Float32)});
}

/// Factorisations and solves of (batches of) matrices, typed by their definitions
/// in torch.linalg.
Values linalg_unpriced(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const Type t = c.type(*v);
  if (!t.ranked() || t.rank() < 2) return c.error("needs matrices of known rank");
  const DType d = t.dtype();
  const Shape lead = batch_of(t.shape());
  const Dim rows = t.shape()[t.rank() - 2], columns = t.shape()[t.rank() - 1];
  const Dim least = rows.known() && columns.known() ? Dim(std::min(rows.value(), columns.value())) : Dim();
  std::string_view name = c.row->name;
  if (name.starts_with("linalg_")) name.remove_prefix(7);
  if (name.starts_with("_linalg_")) name.remove_prefix(8);
  const auto matrix = [&](const Dim& a, const Dim& b) { return Type::tensor(d, with(lead, {a, b})); };
  const auto vector = [&](const Dim& n) { return Type::tensor(d, with(lead, {n})); };
  if (name == "inv" || name == "inverse" || name == "cholesky" || name == "matrix_exp" || name == "matrix_power")
    return opaque(c, {t});
  if (name == "pinv" || name == "pinverse") return opaque(c, {matrix(columns, rows)});
  if (name == "inv_ex") return opaque(c, {t, Type::tensor(DType::Int32, lead)});
  if (name == "svd") return opaque(c, {matrix(rows, least), vector(least), matrix(least, columns)});
  if (name == "svdvals") return opaque(c, {vector(least)});
  if (name == "qr") return opaque(c, {matrix(rows, least), matrix(least, columns)});
  if (name == "eigh") return opaque(c, {vector(rows), t});
  if (name == "eigvalsh") return opaque(c, {vector(rows)});
  if (name == "slogdet") return opaque(c, {Type::tensor(d, lead), Type::tensor(d, lead)});
  auto b = c.tensor("other");  // solve, cholesky_solve, triangular_solve
  return b ? opaque(c, {c.type(*b)}) : Failure{};
}

Values determinant(Call& c) {
  auto v = c.tensor("self");
  return v ? single(c, c.emit(op("det"), {*v})) : Failure{};
}

}  // namespace perfc::torch
