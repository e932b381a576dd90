/// Rules for convolutions.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status conv(InferContext& c) { return c.error("no shape rule yet"); }
Status conv_transpose(InferContext& c) { return c.error("no shape rule yet"); }
Status conv_nhwc(InferContext& c) { return c.error("no shape rule yet"); }
Status deform_conv(InferContext& c) { return c.error("no shape rule yet"); }
Status causal_conv(InferContext& c) { return c.error("no shape rule yet"); }
Status conv_integer(InferContext& c) { return c.error("no shape rule yet"); }
Status qlinear_conv(InferContext& c) { return c.error("no shape rule yet"); }
Status col2im(InferContext& c) { return c.error("no shape rule yet"); }
void conv_cost(const CostContext&, OpCost&) {}
void conv_transpose_cost(const CostContext&, OpCost&) {}
void conv_nhwc_cost(const CostContext&, OpCost&) {}
void qlinear_conv_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
