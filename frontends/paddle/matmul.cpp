/// Products of matrices, embeddings, attention.
#include <algorithm>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// Data as a matrix: the first `dims` dims are rows.
Operand as_matrix(Call& c, ValueId x, std::int64_t dims) {
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank == 2 && dims == 1) return x;
  if (dims < 1 || dims >= std::max<std::int64_t>(*rank, 2))
    return c.error(fmt::format("{} dims of rank {} cannot be rows", dims, *rank));
  return c.emit(op("nn.batch_flatten"), {x}, {{"axis", dims}});
}

/// x · w, x a matrix of its first `dims` dims; the result keeps these.
Operand product(Call& c, ValueId x, ValueId w, std::int64_t dims) {
  const auto rank = c.rank(x), weight_rank = c.rank(w);
  if (!rank || !weight_rank) return Failure{};
  const std::int64_t columns = c.integer_or("y_num_col_dims", 1);
  if (*weight_rank == 2 && columns == 1 && dims == *rank - 1) return c.emit(op("nn.batch_matmul"), {x, w});
  auto a = as_matrix(c, x, dims), b = as_matrix(c, w, columns);
  auto y = c.emit(op("nn.batch_matmul"), {a, b});
  if (!y || (dims == 1 && *weight_rank - columns == 1)) return y;
  auto shape = c.join({c.shape_of(x, 0, dims), c.shape_of(w, columns, *weight_rank)}, 0);
  return c.emit(op("reshape"), {y, shape});
}

}  // namespace

/// matmul, matmul_v2, bmm, mv, dot.
Values matmul(Call& c) {
  auto x = c.tensor("X"), y = c.tensor("Y|Vec");
  if (!x || !y) return Failure{};
  Attrs attrs;
  const auto transposed = [&](std::string_view names, ValueId v) {
    return c.flag(names) && (!c.type(v).ranked() || c.type(v).rank() > 1);
  };
  if (transposed("transpose_X|transpose_x|trans_x", *x)) attrs.set("transA", std::int64_t{1});
  if (transposed("transpose_Y|transpose_y|trans_y", *y)) attrs.set("transB", std::int64_t{1});
  auto z = c.emit(op("nn.batch_matmul"), {x, y}, std::move(attrs));
  const double alpha = c.real_or("alpha", 1);
  if (z && alpha != 1) z = c.emit(op("multiply"), {z, c.number(alpha, c.dtype(*z))});
  return one(z);
}

/// Sum of products along the last dim.
Values dot(Call& c) {
  auto y = c.emit(op("multiply"), {c.tensor("X"), c.tensor("Y")});
  return one(c.emit(op("sum_axes"), {y, c.int_constant({-1})}, {{"keepdims", std::int64_t{0}}}));
}

/// mul, the matrix product of fully connected layers: both sides flattened.
Values multiply_matrices(Call& c) {
  const auto x = c.tensor("X"), y = c.tensor("Y");
  if (!x || !y) return Failure{};
  return one(product(c, *x, *y, c.integer_or("x_num_col_dims", 1)));
}

/// fc: (Input, W, Bias?), flattened from in_num_col_dims on.
Values fully_connected(Call& c) {
  const auto x = c.tensor("Input"), w = c.tensor("W|w"), bias = c.tensor_or_none("Bias|bias");
  if (!x || !w || !bias) return Failure{};
  auto y = product(c, *x, *w, c.integer_or("in_num_col_dims", 1));
  if (*bias) y = c.emit(op("add"), {y, bias});
  return one(fused_activation(c, y, c.text_or("activation_type", "")));
}

/// beta · input + alpha · x · y.
Values addmm(Call& c) {
  auto input = c.tensor("Input"), y = c.emit(op("nn.batch_matmul"), {c.tensor("X"), c.tensor("Y")});
  if (!input || !y) return Failure{};
  const double alpha = c.real_or("Alpha|alpha", 1), beta = c.real_or("Beta|beta", 1);
  if (alpha != 1) y = c.emit(op("multiply"), {y, c.number(alpha, c.dtype(*y))});
  if (beta != 1) input = c.emit(op("multiply"), {input, c.number(beta, c.dtype(*input))});
  return one(c.emit(op("add"), {y, input}));
}

Values multi_dot(Call& c) {
  const auto all = c.tensors("X");
  if (!all) return Failure{};
  Operand y = all->front();
  for (std::size_t i = 1; i < all->size(); ++i) y = c.emit(op("nn.batch_matmul"), {y, (*all)[i]});
  return one(y);
}

Values einsum(Call& c) {
  const auto all = c.tensors("Operands");
  const std::string_view equation = c.text_or("equation", "");
  if (!all) return Failure{};
  if (equation.empty()) return c.error("has no equation");
  return one(c.emit(op("einsum"), *all, {{"equation", std::string(equation)}}));
}

/// (x1 [n, a], x2 [n, b], weight [out, a, b], bias?) → [n, out].
Values bilinear(Call& c) {
  const auto bias = c.tensor_or_none("Bias");
  if (!bias) return Failure{};
  auto y = c.emit(op("einsum"), {c.tensor("X"), c.tensor("Weight"), c.tensor("Y")}, {{"equation", "na,oab,nb->no"}});
  return one(*bias ? c.emit(op("add"), {y, bias}) : y);
}

/// Rows of a table; the first form has ids with a last dim of 1.
Values embedding(Call& c) {
  auto ids = c.tensor("Ids");
  const auto w = c.tensor("W");
  const auto rank = c.rank(ids);
  if (!rank || !w) return Failure{};
  if (c.operation.type == "lookup_table" && *rank > 1) ids = c.squeeze(ids, {*rank - 1});
  return one(c.emit(op("take"), {w, ids}, {{"axis", std::int64_t{0}}}));
}

/// (q, k, v [batch, tokens, heads, head size], …, attn_mask?).
Values attention(Call& c) {
  auto q = c.tensor("q"), k = c.tensor("k"), v = c.tensor("v");
  const auto mask = c.tensor_or_none("attn_mask");
  const auto rank = c.rank(q);
  if (!k || !v || !mask || !rank) return Failure{};
  if (*rank != 4) return c.error(fmt::format("queries of rank {}", *rank));
  const Dim heads = c.dim(*q, 2), shared = c.dim(*k, 2);
  q = c.transpose(q, {0, 2, 1, 3});
  k = c.transpose(k, {0, 2, 1, 3});
  v = c.transpose(v, {0, 2, 1, 3});
  if (heads.known() && shared.known() && shared.value() > 0 && heads.value() != shared.value()) {
    // Groups of heads share keys and values.
    const std::int64_t group = heads.value() / shared.value();
    if (heads.value() % shared.value() != 0)
      return c.error(fmt::format("{} heads do not divide into {} groups", heads.value(), shared.value()));
    const auto repeat = [&](Operand x) {
      auto wide = c.emit(op("tile"), {c.expand_dims(x, {2}), c.int_constant({1, 1, group, 1, 1})});
      return wide ? c.emit(
                        op("reshape"),
                        {wide, c.emit(op("concatenate"),
                                      {c.shape_of(wide, 0, 1), c.int_constant({heads.value()}), c.shape_of(wide, 3, 5)},
                                      {{"axis", std::int64_t{0}}})})
                  : wide;
    };
    k = repeat(k);
    v = repeat(v);
  }
  Attrs attrs;
  const double scale = c.real_or("scale", 0);
  if (scale > 0) attrs.set("scale", scale);
  return one(c.transpose(c.emit(op("nn.sdpa"), {q, k, v, mask}, std::move(attrs)), {0, 2, 1, 3}));
}

/// a × b of vectors along an axis of three.
Values cross(Call& c) {
  const auto a = c.tensor("X"), b = c.tensor("Y");
  const auto rank = c.rank(a);
  if (!rank || !b) return Failure{};
  std::int64_t axis = c.integer_or("dim|axis", 9);
  for (std::int64_t i = 0; axis == 9 && i < *rank; ++i) {
    if (c.dim(*a, i).is(3)) axis = i;
  }
  const auto checked = c.axis(axis, *rank);
  if (!checked) return Failure{};
  const auto turned = [&](Operand v, const Ints& order) {
    return c.emit(op("take"), {v, c.int_constant(order)}, {{"axis", *checked}});
  };
  auto first = c.emit(op("multiply"), {turned(a, {1, 2, 0}), turned(b, {2, 0, 1})});
  return one(c.emit(op("subtract"), {first, c.emit(op("multiply"), {turned(a, {2, 0, 1}), turned(b, {1, 2, 0})})}));
}

/// Every element of x times the whole of y.
Values kron(Call& c) {
  auto x = c.tensor("X"), y = c.tensor("Y");
  const auto rank = c.rank(x), other = c.rank(y);
  if (!rank || !other) return Failure{};
  if (*rank != *other) return c.unpriced();
  Ints behind, before, shape;
  for (std::int64_t i = 0; i < *rank; ++i) {
    behind.push_back(2 * i + 1);
    before.push_back(2 * i);
    const auto a = c.known_dim(*x, i), b = c.known_dim(*y, i);
    std::int64_t extent = 0;
    if (!a || !b) return Failure{};
    if (__builtin_mul_overflow(*a, *b, &extent)) return c.error("a result beyond all bounds");
    shape.push_back(extent);
  }
  return one(c.reshape(c.emit(op("multiply"), {c.expand_dims(x, behind), c.expand_dims(y, before)}), shape));
}

}  // namespace perfc::paddle
