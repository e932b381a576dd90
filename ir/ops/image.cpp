/// Rules for resizing and sampling.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status resize(InferContext& c) { return c.error("no shape rule yet"); }
Status grid_sample(InferContext& c) { return c.error("no shape rule yet"); }
Status affine_grid(InferContext& c) { return c.error("no shape rule yet"); }
Status image_decode(InferContext& c) { return c.error("no shape rule yet"); }
void resize_cost(const CostContext&, OpCost&) {}
void grid_sample_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
