/// Rules for attention and rotary embeddings.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status attention(InferContext& c) { return c.error("no shape rule yet"); }
Status ms_attention(InferContext& c) { return c.error("no shape rule yet"); }
Status multi_head_attention(InferContext& c) { return c.error("no shape rule yet"); }
Status group_query_attention(InferContext& c) { return c.error("no shape rule yet"); }
Status linear_attention(InferContext& c) { return c.error("no shape rule yet"); }
Status flex_attention(InferContext& c) { return c.error("no shape rule yet"); }
Status sdpa(InferContext& c) { return c.error("no shape rule yet"); }
Status rotary_embedding(InferContext& c) { return c.error("no shape rule yet"); }
Status gated_relative_position_bias(InferContext& c) { return c.error("no shape rule yet"); }
void attention_cost(const CostContext&, OpCost&) {}
void ms_attention_cost(const CostContext&, OpCost&) {}
void multi_head_attention_cost(const CostContext&, OpCost&) {}
void group_query_attention_cost(const CostContext&, OpCost&) {}
void linear_attention_cost(const CostContext&, OpCost&) {}
void sdpa_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
