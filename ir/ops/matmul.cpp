/// Rules for matrix products.
///
/// MACs: one per multiply–accumulate of the contraction, M·K·N for a product of
/// [M, K] and [K, N], times the batch.
#include <algorithm>

#include "ir/infer_context.h"
#include "ir/ops/einsum.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Shape of a NumPy matrix product: 1-D operands gain and lose a dim, leading
/// dims broadcast.
Result<Shape> matmul_shape(const InferContext& c, Shape a, Shape b) {
  if (a.empty() || b.empty()) return c.error("operands of rank 0 cannot be multiplied");
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.push_back(Dim(1));
  const Dim& k = a[a.size() - 1];
  const Dim& l = b[b.size() - 2];
  if (k.known() && l.known() && k != l) {
    return c.error("inner dims differ: {} in {} and {} in {}", k.value(), to_string(a), l.value(), to_string(b));
  }
  auto out = broadcast_shapes(c, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!out) return Failure{};
  if (!row) out->push_back(a[a.size() - 2]);
  if (!column) out->push_back(b.back());
  return out;
}

/// Sets result 0 to the product of operands a and b.
Status set_product(InferContext& c, std::size_t a, std::size_t b, DType dtype) {
  if (!require_tensor(c, a, "A") || !require_tensor(c, b, "B")) return Failure{};
  if (!ranked(c, a) || !ranked(c, b)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  auto shape = matmul_shape(c, c.type(a).shape(), c.type(b).shape());
  if (!shape) return Failure{};
  c.set(0, Type::tensor(dtype, std::move(*shape)));
  return ok();
}

/// com.microsoft FusedMatMul: swaps the last two dims (`trans`) or moves the
/// first of the batch dims to the last but one place (`trans_batch`).
Result<Shape> transposed(const InferContext& c, Shape s, std::string_view trans, std::string_view trans_batch) {
  if (c.attrs.int_or(trans_batch, 0) != 0) {
    if (s.size() < 3) return c.error("{} needs a rank of at least 3", trans_batch);
    std::rotate(s.begin(), s.begin() + 1, s.end() - 1);
  }
  if (c.attrs.int_or(trans, 0) != 0 && s.size() >= 2) std::swap(s[s.size() - 1], s[s.size() - 2]);
  return s;
}

/// A zero point is a scalar, or has one value per row or column of its matrix,
/// and its dtype.
Status zero_point(const InferContext& c, std::size_t i, std::size_t of) {
  if (!c.has(i)) return ok();
  return require_same_dtype(c, of, i);
}

/// Dims of Gemm's product: [M, N].
Result<Shape> gemm_shape(const InferContext& c, std::size_t a, std::size_t b) {
  if (!require_rank(c, a, "A", 2) || !require_rank(c, b, "B", 2)) return Failure{};
  const bool ta = c.attrs.int_or("transA", 0) != 0;
  const bool tb = c.attrs.int_or("transB", 0) != 0;
  Dim m, n;
  Dim ka, kb;
  if (ranked(c, a)) {
    m = c.type(a).shape()[ta ? 1 : 0];
    ka = c.type(a).shape()[ta ? 0 : 1];
  }
  if (ranked(c, b)) {
    n = c.type(b).shape()[tb ? 0 : 1];
    kb = c.type(b).shape()[tb ? 1 : 0];
  }
  if (!same_dim(c, ka, kb, "inner dims")) return Failure{};
  return Shape{m, n};
}

/// Batch × M × K × N from the result's elements and the inner dim, which
/// transA and transBatchA may have moved.
void product_macs(const CostContext& c, OpCost& cost) {
  int inner = -1;
  if (c.attrs().int_or("transA", 0) != 0 && c.type(0).is_tensor() && c.type(0).ranked() && c.type(0).rank() >= 2) {
    inner = c.attrs().int_or("transBatchA", 0) != 0 ? 0 : -2;
  }
  cost.macs = c.result_elements(0) * c.dim(0, inner);
}

}  // namespace

/// A (…, K) of any rank, as Relay's nn.dense has it, and B a matrix → (…, N).
/// ONNX's Gemm is the case of rank 2, which its importer checks.
Status dense(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  Result<Shape> shape = Failure{};
  if (ranked(c, 0) && c.type(0).rank() > 2 && c.attrs.int_or("transA", 0) == 0) {
    if (!require_rank(c, 1, "B", 2)) return Failure{};
    const bool transposed = c.attrs.int_or("transB", 0) != 0;
    shape = c.type(0).shape();
    if (!same_dim(c, shape->back(), dim_of(c, 1, transposed ? 1 : 0), "inner dims")) return Failure{};
    shape->back() = dim_of(c, 1, transposed ? 0 : 1);
  } else {
    shape = gemm_shape(c, 0, 1);
  }
  if (!shape) return Failure{};
  if (c.has(2)) {
    if (!require_tensor(c, 2, "C") || !require_same_dtype(c, 0, 2)) return Failure{};
    if (ranked(c, 2)) {
      const auto both = broadcast_shapes(c, *shape, c.type(2).shape());
      if (!both) return Failure{};
      bool widened = both->size() > shape->size();
      for (std::size_t i = 0; !widened && i < shape->size(); ++i) {
        widened = (*both)[i].known() && (*shape)[i].known() && (*both)[i] != (*shape)[i];
      }
      if (widened) return c.error("C {} does not broadcast to {}", to_string(c.type(2)), to_string(*shape));
    }
  }
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(*shape)));
  return ok();
}

Status matmul(InferContext& c) {
  if (!require_same_dtype(c, 0, 1)) return Failure{};
  if (!ranked(c, 0) || !ranked(c, 1)) return set_product(c, 0, 1, c.type(0).dtype());
  const auto a = transposed(c, c.type(0).shape(), "transA", "transBatchA");
  const auto b = transposed(c, c.type(1).shape(), "transB", "transBatchB");
  if (!a || !b) return Failure{};
  auto shape = matmul_shape(c, *a, *b);
  if (!shape) return Failure{};
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(*shape)));
  return ok();
}

/// (A, B, a_zero?, b_zero?) → int32.
Status matmul_integer(InferContext& c) {
  if (!require_dtype(c, 0, "A", is_8_bit, "int8 or uint8") || !require_dtype(c, 1, "B", is_8_bit, "int8 or uint8"))
    return Failure{};
  if (!zero_point(c, 2, 0) || !zero_point(c, 3, 1)) return Failure{};
  return set_product(c, 0, 1, DType::Int32);
}

/// (A, B, a_scale, b_scale, a_zero?, b_zero?, bias?) → the scales' dtype.
Status matmul_integer_to_float(InferContext& c) {
  if (!require_dtype(c, 0, "A", is_8_bit, "int8 or uint8") || !require_dtype(c, 1, "B", is_8_bit, "int8 or uint8"))
    return Failure{};
  if (!require_dtype(c, 2, "a_scale", is_float, "floating point") ||
      !require_dtype(c, 3, "b_scale", is_float, "floating point") || !require_same_dtype(c, 2, 3)) {
    return Failure{};
  }
  if (!zero_point(c, 4, 0) || !zero_point(c, 5, 1)) return Failure{};
  if (c.has(6) && !require_same_dtype(c, 2, 6)) return Failure{};
  return set_product(c, 0, 1, c.type(2).dtype());
}

/// (A: float, B: 8-bit, b_scale, b_zero?, bias?).
Status dynamic_quantize_matmul(InferContext& c) {
  if (!require_dtype(c, 0, "A", is_float, "floating point") || !require_dtype(c, 1, "B", is_8_bit, "int8 or uint8"))
    return Failure{};
  return set_product(c, 0, 1, c.type(0).dtype());
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero) → y_zero's dtype.
Status qlinear_matmul(InferContext& c) {
  if (!zero_point(c, 2, 0) || !zero_point(c, 5, 3)) return Failure{};
  return set_product(c, 0, 3, c.type(7).dtype());
}

/// com.microsoft QGemm: (A, a_scale, a_zero, B, b_scale, b_zero, C?, y_scale?, y_zero?).
Status qgemm(InferContext& c) {
  auto shape = gemm_shape(c, 0, 3);
  if (!shape) return Failure{};
  const DType dtype = c.has(8) ? c.type(8).dtype() : c.has(7) ? c.type(0).dtype() : DType::Float32;
  c.set(0, Type::tensor(dtype, std::move(*shape)));
  return ok();
}

namespace {

/// com.microsoft MatMulFpQ4 (A, B [bytes], B_shape [K, N]): a blob of 4-bit
/// blocks whose size only its kernel knows.
Status matmul_fp_q4(InferContext& c) {
  if (!require_rank(c, 0, "A", 1, kAnyRank) || !require_rank(c, 1, "B", 1)) return Failure{};
  if (!require_dtype(c, 2, "B_shape", is_int64, "int64") || !require_dims(c, 2, "B_shape", {2})) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto* kn = ints(c, 2);
  if (kn && kn->size() != 2) return c.error("B_shape has {} entries, not 2", kn->size());
  const auto n = as_dim(c, kn ? (*kn)[1] : SymInt::unknown(), "B_shape");
  if (!n || (kn && !same_dim(c, shape.back(), (*kn)[0], "inner dims"))) return Failure{};
  shape.back() = *n;
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// Rows of float8, and of float4 with their scales of 8 bits, end where K does; those of integers are padded to whole
/// blocks (MatMulBlockQuantizedFp8Weight, MatMulBlockQuantizedFp4Weight).
bool ends_at_k(const InferContext& c) { return is_float(c.type(1).dtype()) || c.type(2).dtype() == DType::UInt8; }

}  // namespace

/// com.microsoft MatMulNBits (A, B [N, blocks, bytes], scales, zeros?, …) and
/// MatMulBnb4 (A, B [bytes], absmax): B is packed, K and N are attributes.
Status matmul_nbits(InferContext& c) {
  if (c.attrs.has("blk_quant_type")) return matmul_fp_q4(c);
  if (!require_rank(c, 0, "A", 1, kAnyRank)) return Failure{};
  const auto given_k = int_attr(c, "K");
  const auto given_n = int_attr(c, "N");
  const bool per_row = c.attrs.has("per_row");  // PyTorch's: a row of B is one block
  const auto given_block = per_row ? given_k : int_attr(c, "block_size");
  if (!given_k || !given_n || !given_block) return Failure{};
  const std::int64_t k = *given_k, n = *given_n, block = *given_block;
  if (k < 1 || n < 1) return c.error("attributes K and N must be positive, are {} and {}", k, n);
  if (k > (std::int64_t{1} << 40) / n) return c.error("{} × {} is too large", k, n);
  if (!per_row && (block < 16 || (block & (block - 1)) != 0))
    return c.error("block_size must be a power of two of at least 16, is {}", block);
  const bool bnb4 = c.attrs.has("quant_type");
  const std::int64_t bits = bnb4 ? 4 : c.attrs.int_or("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) return c.error("bits must be 2, 4 or 8, is {}", bits);
  if (bnb4) {
    const std::int64_t type = c.attrs.int_or("quant_type", 0);
    if (type != 0 && type != 1) return c.error("quant_type must be 0 (FP4) or 1 (NF4), is {}", type);
  }
  const auto expect = [&](std::size_t i, std::string_view role, std::int64_t count) {
    const auto have = c.type(i).elements();
    if (!have || *have == count) return ok();
    return Status(
        c.error("{} must have {} elements for K = {}, N = {}, is {}", role, count, k, n, to_string(c.type(i))));
  };
  if (bnb4) {
    if (!expect(1, "B", (k * n + 1) / 2) || !expect(2, "absmax", (k * n + block - 1) / block)) return Failure{};
  } else {
    const std::int64_t blocks = (k + block - 1) / block;
    const std::int64_t bytes = (block * bits + 7) / 8;
    if (!require_rank(c, 1, "B", 2, 3)) return Failure{};
    if (c.type(1).dtype() == DType::Int32) {  // eight numbers of 4 bits, and zero points beside the scales
      if (!expect(1, "B", n * blocks * bytes / 4) || !expect(2, "scales and zero points", 2 * n * blocks))
        return Failure{};
    } else if (!expect(1, "B", ends_at_k(c) ? n * ((k * bits + 7) / 8) : n * blocks * bytes) ||
               !expect(2, "scales", n * blocks)) {
      return Failure{};
    }
    // Zero points are packed like B, or one float per block.
    if (c.has(3)) {
      const auto have = c.type(3).elements();
      const std::int64_t packed = n * ((blocks * bits + 7) / 8);
      if (have && *have != packed && *have != n * blocks) {
        return c.error("zero_points must have {} or {} elements, is {}", packed, n * blocks, to_string(c.type(3)));
      }
    }
  }
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const bool transposed_b = c.attrs.int_or("transB", 1) != 0;
  if (transposed_b && shape.back().known() && !shape.back().is(k)) {
    return c.error("A has {} columns, K is {}", shape.back().value(), k);
  }
  shape.back() = Dim(n);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// [*, n, n] → [*].
Status det(InferContext& c) {
  if (!require_rank(c, 0, "X", 2, kAnyRank)) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  if (!same_dim(c, shape[shape.size() - 1], shape[shape.size() - 2], "the last two dims")) return Failure{};
  shape.resize(shape.size() - 2);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

Status einsum(InferContext& c) {
  std::vector<const Shape*> shapes;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    if (!require_tensor(c, i, "input")) return Failure{};
    if (i > 0 && !require_same_dtype(c, 0, i)) return Failure{};
    shapes.push_back(ranked(c, i) ? &c.type(i).shape() : nullptr);
  }
  std::string why;
  const auto equation = parse_einsum(c.attrs.string_or("equation", ""), shapes, why);
  if (!equation) return c.error("{}", why);
  if (!equation->result) {
    c.set(0, Type::unranked(c.type(0).dtype()));
    return ok();
  }
  c.set(0, Type::tensor(c.type(0).dtype(), *equation->result));
  return ok();
}

void dense_cost(const CostContext& c, OpCost& cost) {
  product_macs(c, cost);
  cost.flops = c.has(2) ? c.result_elements(0) : 0;
}

void matmul_cost(const CostContext& c, OpCost& cost) {
  product_macs(c, cost);
  cost.flops = 0;
}

void qlinear_matmul_cost(const CostContext& c, OpCost& cost) {
  product_macs(c, cost);
  cost.flops = 2 * c.result_elements(0);  // requantisation
}

void qgemm_cost(const CostContext& c, OpCost& cost) {
  product_macs(c, cost);
  cost.flops = 2 * c.result_elements(0);
}

/// The packed weight is unpacked on the fly: two operations per weight.
void matmul_nbits_cost(const CostContext& c, OpCost& cost) {
  const Type& y = c.result(0);
  if (!y.is_static() || y.rank() == 0) return;
  const double k = c.dim(0, -1);
  cost.macs = c.result_elements(0) * k;
  cost.flops = 2 * k * static_cast<double>(y.shape().back().value());
}

/// LU decomposition: n³/3 multiply–accumulates per matrix.
void det_cost(const CostContext& c, OpCost& cost) {
  const double n = c.dim(0, -1);
  cost.macs = c.result_elements(0) * n * n * n / 3;
}

/// Products of several operands are contracted pairwise from the left; each
/// step costs the product of the extents it touches. One operand costs a sum.
void einsum_cost(const CostContext& c, OpCost& cost) {
  std::vector<const Shape*> shapes;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    const Type& t = c.type(i);
    if (!t.is_static()) return;
    shapes.push_back(&t.shape());
  }
  std::string why;
  const auto equation = parse_einsum(c.attrs().string_or("equation", ""), shapes, why);
  if (!equation) return;
  cost.macs = einsum_macs(*equation);
  cost.flops = c.operands() == 1 ? c.elements(0) : 0;
}

}  // namespace perfc::rules
