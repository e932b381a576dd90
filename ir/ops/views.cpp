/// Rules for views and shape arithmetic.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status reshape(InferContext& c) { return c.error("no shape rule yet"); }
Status squeeze(InferContext& c) { return c.error("no shape rule yet"); }
Status expand_dims(InferContext& c) { return c.error("no shape rule yet"); }
Status flatten(InferContext& c) { return c.error("no shape rule yet"); }
Status shape_of(InferContext& c) { return c.error("no shape rule yet"); }
Status size_of(InferContext& c) { return c.error("no shape rule yet"); }
Status arange(InferContext& c) { return c.error("no shape rule yet"); }
Status full(InferContext& c) { return c.error("no shape rule yet"); }
void eval_shape_of(InferContext&) {}
void eval_size_of(InferContext&) {}
void eval_arange(InferContext&) {}
void eval_full(InferContext&) {}

}  // namespace perfc::rules
