/// Rules for reductions, sorting, selection.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status reduce(InferContext& c) { return c.error("no shape rule yet"); }
Status arg_reduce(InferContext& c) { return c.error("no shape rule yet"); }
Status topk(InferContext& c) { return c.error("no shape rule yet"); }
Status unique(InferContext& c) { return c.error("no shape rule yet"); }
Status nonzero(InferContext& c) { return c.error("no shape rule yet"); }
Status non_max_suppression(InferContext& c) { return c.error("no shape rule yet"); }
void eval_reduce(InferContext&) {}
void eval_nonzero(InferContext&) {}
void read_all_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
