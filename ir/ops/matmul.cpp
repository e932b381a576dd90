/// Rules for matrix products.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status dense(InferContext& c) { return c.error("no shape rule yet"); }
Status matmul(InferContext& c) { return c.error("no shape rule yet"); }
Status einsum(InferContext& c) { return c.error("no shape rule yet"); }
Status matmul_integer(InferContext& c) { return c.error("no shape rule yet"); }
Status matmul_integer_to_float(InferContext& c) { return c.error("no shape rule yet"); }
Status dynamic_quantize_matmul(InferContext& c) { return c.error("no shape rule yet"); }
Status qlinear_matmul(InferContext& c) { return c.error("no shape rule yet"); }
Status qgemm(InferContext& c) { return c.error("no shape rule yet"); }
Status matmul_nbits(InferContext& c) { return c.error("no shape rule yet"); }
Status det(InferContext& c) { return c.error("no shape rule yet"); }
void dense_cost(const CostContext&, OpCost&) {}
void matmul_cost(const CostContext&, OpCost&) {}
void einsum_cost(const CostContext&, OpCost&) {}
void qlinear_matmul_cost(const CostContext&, OpCost&) {}
void qgemm_cost(const CostContext&, OpCost&) {}
void matmul_nbits_cost(const CostContext&, OpCost&) {}
void det_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
