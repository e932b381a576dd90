/// Rules for control flow, sequences, optionals.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status if_(InferContext& c) { return c.error("no shape rule yet"); }
Status loop(InferContext& c) { return c.error("no shape rule yet"); }
Status scan(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_map(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_empty(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_construct(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_at(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_insert(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_length(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_split(InferContext& c) { return c.error("no shape rule yet"); }
Status sequence_concat(InferContext& c) { return c.error("no shape rule yet"); }
Status optional(InferContext& c) { return c.error("no shape rule yet"); }
Status optional_get(InferContext& c) { return c.error("no shape rule yet"); }
Status optional_has(InferContext& c) { return c.error("no shape rule yet"); }

}  // namespace perfc::rules
