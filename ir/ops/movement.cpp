/// Rules for data movement, gather, scatter.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status transpose(InferContext& c) { return c.error("no shape rule yet"); }
Status concatenate(InferContext& c) { return c.error("no shape rule yet"); }
Status split(InferContext& c) { return c.error("no shape rule yet"); }
Status strided_slice(InferContext& c) { return c.error("no shape rule yet"); }
Status broadcast_to(InferContext& c) { return c.error("no shape rule yet"); }
Status tile(InferContext& c) { return c.error("no shape rule yet"); }
Status pad(InferContext& c) { return c.error("no shape rule yet"); }
Status depth_to_space(InferContext& c) { return c.error("no shape rule yet"); }
Status space_to_depth(InferContext& c) { return c.error("no shape rule yet"); }
Status center_crop_pad(InferContext& c) { return c.error("no shape rule yet"); }
Status eye_like(InferContext& c) { return c.error("no shape rule yet"); }
Status one_hot(InferContext& c) { return c.error("no shape rule yet"); }
Status crop(InferContext& c) { return c.error("no shape rule yet"); }
Status take(InferContext& c) { return c.error("no shape rule yet"); }
Status gather_elements(InferContext& c) { return c.error("no shape rule yet"); }
Status gather_nd(InferContext& c) { return c.error("no shape rule yet"); }
Status compress(InferContext& c) { return c.error("no shape rule yet"); }
Status embedding_bag(InferContext& c) { return c.error("no shape rule yet"); }
Status gather_quantized(InferContext& c) { return c.error("no shape rule yet"); }
void eval_transpose(InferContext&) {}
void eval_concatenate(InferContext&) {}
void eval_split(InferContext&) {}
void eval_strided_slice(InferContext&) {}
void eval_broadcast_to(InferContext&) {}
void eval_tile(InferContext&) {}
void eval_pad(InferContext&) {}
void eval_take(InferContext&) {}
void eval_gather_elements(InferContext&) {}
void eval_scatter_nd(InferContext&) {}
void write_only_cost(const CostContext&, OpCost&) {}
void copy_cost(const CostContext&, OpCost&) {}
void slice_copy_cost(const CostContext&, OpCost&) {}
void gather_copy_cost(const CostContext&, OpCost&) {}
void embedding_bag_cost(const CostContext&, OpCost&) {}
void scatter_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
