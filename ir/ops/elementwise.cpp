/// Rules for element by element, broadcasting, casts, activations.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status same_type(InferContext& c) { return c.error("no shape rule yet"); }
Status predicate(InferContext& c) { return c.error("no shape rule yet"); }
Status cast(InferContext& c) { return c.error("no shape rule yet"); }
Status cast_like(InferContext& c) { return c.error("no shape rule yet"); }
Status bitcast(InferContext& c) { return c.error("no shape rule yet"); }
Status broadcast(InferContext& c) { return c.error("no shape rule yet"); }
Status compare(InferContext& c) { return c.error("no shape rule yet"); }
Status where(InferContext& c) { return c.error("no shape rule yet"); }
Status prelu(InferContext& c) { return c.error("no shape rule yet"); }
Status bias_add(InferContext& c) { return c.error("no shape rule yet"); }
Status bias_split_gelu(InferContext& c) { return c.error("no shape rule yet"); }
Status dropout(InferContext& c) { return c.error("no shape rule yet"); }
void eval_unary(InferContext&) {}
void eval_cast(InferContext&) {}
void eval_clip(InferContext&) {}
void eval_identity(InferContext&) {}
void eval_binary(InferContext&) {}
void eval_nary(InferContext&) {}
void eval_where(InferContext&) {}
void transcendental_cost(const CostContext&, OpCost&) {}
void free_cost(const CostContext&, OpCost&) {}
void nary_cost(const CostContext&, OpCost&) {}
void per_element_4_cost(const CostContext&, OpCost&) {}
void per_element_2_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
