/// Rules for pooling and regions of interest.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status pool(InferContext& c) { return c.error("no shape rule yet"); }
Status global_pool(InferContext& c) { return c.error("no shape rule yet"); }
Status max_unpool(InferContext& c) { return c.error("no shape rule yet"); }
Status roi_align(InferContext& c) { return c.error("no shape rule yet"); }
Status roi_pool(InferContext& c) { return c.error("no shape rule yet"); }
void pool_cost(const CostContext&, OpCost&) {}
void roi_align_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
