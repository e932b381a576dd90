/// Rules for LSTM, GRU, RNN.
#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Gates per cell: i, o, f, c / z, r, h / one.
int gates(OpId o) { return o == op("nn.gru") ? 3 : o == op("nn.rnn") ? 1 : 4; }

Result<std::int64_t> directions(const InferContext& c) {
  const std::string_view d = c.attrs.string_or("direction", "forward");
  if (d == "forward" || d == "reverse") return std::int64_t{1};
  if (d == "bidirectional") return std::int64_t{2};
  return c.error("direction '{}' is none of forward, reverse, bidirectional", d);
}

}  // namespace

/// X [seq, batch, input], W [dirs, gates·hidden, input], R [dirs, gates·hidden,
/// hidden]; layout 1 puts the batch first. Results Y, Y_h and, for LSTM, Y_c.
/// com.microsoft's DynamicQuantizeLSTM holds W and R transposed.
Status recurrent(InferContext& c) {
  if (!require_rank(c, 0, "X", 3) || !require_rank(c, 1, "W", 3) || !require_rank(c, 2, "R", 3)) return Failure{};
  const auto dirs = directions(c);
  if (!dirs) return Failure{};
  const bool transposed = c.op() == op("nn.dynamic_quantize_lstm");
  const bool lstm = gates(c.op()) == 4;
  const bool batch_first = c.attrs.int_or("layout", 0) != 0;
  Dim seq, batch, input, hidden;
  if (ranked(c, 0)) {
    const Shape& x = c.type(0).shape();
    seq = x[batch_first ? 1 : 0];
    batch = x[batch_first ? 0 : 1];
    input = x[2];
  }
  if (c.attrs.has("hidden_size")) {
    const std::int64_t h = c.attrs.int_or("hidden_size", 0);
    if (h <= 0) return c.error("hidden_size must be positive, is {}", h);
    hidden = Dim(h);
  }
  if (ranked(c, 2)) {
    const auto same = same_dim(c, hidden, c.type(2).shape()[transposed ? 1 : 2], "hidden_size and R");
    if (!same) return Failure{};
    hidden = *same;
    const Dim& rows = c.type(2).shape()[transposed ? 2 : 1];
    if (rows.known() && hidden.known() && !rows.is(gates(c.op()) * hidden.value())) {
      return c.error("R has {} rows for {} gates of {}", rows.value(), gates(c.op()), hidden.value());
    }
  }
  if (ranked(c, 1)) {
    const Shape& w = c.type(1).shape();
    if (!same_dim(c, w[0], Dim(*dirs), "W and the number of directions")) return Failure{};
    if (!same_dim(c, w[transposed ? 1 : 2], input, "W and the input size")) return Failure{};
  }
  if (c.results() > (lstm ? 3u : 2u)) return c.error("has {} results, at most {} exist", c.results(), lstm ? 3 : 2);
  const DType dtype = c.type(0).dtype();
  const Dim d(*dirs);
  const Type state = Type::tensor(dtype, batch_first ? Shape{batch, d, hidden} : Shape{d, batch, hidden});
  c.set(0, Type::tensor(dtype, batch_first ? Shape{batch, seq, d, hidden} : Shape{seq, d, batch, hidden}));
  for (std::size_t i = 1; i < c.results(); ++i) c.set(i, state);
  return ok();
}

/// MACs: seq · batch · directions · gates · hidden · (input + hidden).
/// FLOPs: the gates' activations and the elementwise update of the state.
void recurrent_cost(const CostContext& c, OpCost& cost) {
  const bool batch_first = c.attrs().int_or("layout", 0) != 0;
  const bool transposed = c.node().is(op("nn.dynamic_quantize_lstm"));
  const double seq = c.dim(0, batch_first ? 1 : 0);
  const double batch = c.dim(0, batch_first ? 0 : 1);
  const double input = c.dim(0, 2);
  const double dirs = c.dim(1, 0);
  const double hidden = c.dim(2, transposed ? 1 : 2);
  const double cells = seq * batch * dirs * hidden;
  const int g = gates(c.node().op);
  cost.macs = cells * g * (input + hidden);
  cost.flops = cells * (g * 4 + 5);
}

}  // namespace perfc::rules
