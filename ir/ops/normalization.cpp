/// Rules for normalisation, softmax, losses.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status batch_norm(InferContext& c) { return c.error("no shape rule yet"); }
Status layer_norm(InferContext& c) { return c.error("no shape rule yet"); }
Status skip_layer_norm(InferContext& c) { return c.error("no shape rule yet"); }
Status embed_layer_norm(InferContext& c) { return c.error("no shape rule yet"); }
Status nll_loss(InferContext& c) { return c.error("no shape rule yet"); }
Status cross_entropy(InferContext& c) { return c.error("no shape rule yet"); }
void normalization_cost(const CostContext&, OpCost&) {}
void lrn_cost(const CostContext&, OpCost&) {}
void softmax_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
