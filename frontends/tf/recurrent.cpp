/// Cells of recurrent networks that TensorFlow runs as one operator.
#include <array>

#include "frontends/tf/translators.h"

namespace perfc::tf {
namespace {

Result<ValueId> binary(const Call& c, OpId operation, Result<ValueId> a, Result<ValueId> b) {
  if (!a || !b) return Failure{};
  return c.emit(operation, {*a, *b});
}

Result<ValueId> unary(const Call& c, OpId operation, Result<ValueId> a) {
  if (!a) return Failure{};
  return c.emit(operation, {*a});
}

/// [x, h] · w + b, taken apart into equal parts along the columns.
Result<Values> gates(Call& c, ValueId x, ValueId h, ValueId w, ValueId b, int count) {
  auto both = c.emit(op("concatenate"), {x, h}, {{"axis", std::int64_t{1}}});
  auto product = both ? c.emit(op("nn.batch_matmul"), {*both, w}) : both;
  auto sum = product ? c.emit(op("nn.bias_add"), {*product, b}, {{"axis", std::int64_t{1}}}) : product;
  if (!sum) return Failure{};
  if (count == 1) return Values{Value::tensor(*sum)};
  return c.finish(op("split"), {*sum}, {{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{count}}}, count);
}

}  // namespace

/// (x, c, h, w, peepholes of i, f and o, b) → i, c', f, o, candidate, tanh c', h'.
/// The gates stand in the order i, candidate, f, o (tensorflow/core/ops/rnn_ops.cc).
Result<Values> lstm_cell(Call& c, const OpRow&) {
  auto in = c.tensors(0, 8);
  if (!in) return Failure{};
  const ValueId cell = (*in)[1];
  auto parts = gates(c, (*in)[0], (*in)[2], (*in)[3], (*in)[7], 4);
  if (!parts) return Failure{};
  const bool peephole = c.int_attr("use_peephole", 0) != 0;
  const auto peeped = [&](Result<ValueId> gate, std::size_t weight, Result<ValueId> state) {
    return peephole ? binary(c, op("add"), gate, binary(c, op("multiply"), state, (*in)[weight])) : gate;
  };
  auto i = unary(c, op("sigmoid"), peeped((*parts)[0].id, 4, cell));
  auto candidate = unary(c, op("tanh"), (*parts)[1].id);
  auto shifted = c.emit(op("add"), {(*parts)[2].id, c.number_like((*parts)[2].id, c.float_attr("forget_bias", 1))});
  auto f = unary(c, op("sigmoid"), peeped(shifted, 5, cell));
  auto next = binary(c, op("add"), binary(c, op("multiply"), f, cell), binary(c, op("multiply"), i, candidate));
  if (const double clip = c.float_attr("cell_clip", 3); next && clip > 0) {
    next = c.emit(op("clip"), {*next, c.number_like(*next, -clip), c.number_like(*next, clip)});
  }
  auto o = unary(c, op("sigmoid"), peeped((*parts)[3].id, 6, next));
  auto squashed = unary(c, op("tanh"), next);
  auto h = binary(c, op("multiply"), o, squashed);
  if (!h) return Failure{};
  Values out;
  for (const Result<ValueId>* v : std::array{&i, &next, &f, &o, &candidate, &squashed, &h})
    out.push_back(Value::tensor(**v));
  return out;
}

/// (x, h, w of r and u, w of the candidate, b of r and u, b of the candidate) → r, u, candidate, h'.
Result<Values> gru_cell(Call& c, const OpRow&) {
  auto in = c.tensors(0, 6);
  if (!in) return Failure{};
  const ValueId h = (*in)[1];
  auto parts = gates(c, (*in)[0], h, (*in)[2], (*in)[4], 2);
  if (!parts) return Failure{};
  auto r = unary(c, op("sigmoid"), (*parts)[0].id);
  auto u = unary(c, op("sigmoid"), (*parts)[1].id);
  auto reset = binary(c, op("multiply"), r, h);
  if (!u || !reset) return Failure{};
  auto sum = gates(c, (*in)[0], *reset, (*in)[3], (*in)[5], 1);
  if (!sum) return Failure{};
  auto candidate = unary(c, op("tanh"), (*sum)[0].id);
  auto rest = c.emit(op("subtract"), {c.number_like(*u, 1), *u});
  auto next = binary(c, op("add"), binary(c, op("multiply"), *u, h), binary(c, op("multiply"), rest, candidate));
  if (!next) return Failure{};
  return Values{Value::tensor(*r), Value::tensor(*u), Value::tensor(*candidate), Value::tensor(*next)};
}

}  // namespace perfc::tf
