/// Rules for LSTM, GRU, RNN.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status recurrent(InferContext& c) { return c.error("no shape rule yet"); }
void recurrent_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
