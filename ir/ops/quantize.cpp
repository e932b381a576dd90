/// Rules for quantisation.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status quantize(InferContext& c) { return c.error("no shape rule yet"); }
Status dequantize(InferContext& c) { return c.error("no shape rule yet"); }
Status dynamic_quantize(InferContext& c) { return c.error("no shape rule yet"); }
Status qlinear_binary(InferContext& c) { return c.error("no shape rule yet"); }
Status qlinear_concat(InferContext& c) { return c.error("no shape rule yet"); }
Status qlinear_where(InferContext& c) { return c.error("no shape rule yet"); }
Status dynamic_scale(InferContext& c) { return c.error("no shape rule yet"); }

}  // namespace perfc::rules
