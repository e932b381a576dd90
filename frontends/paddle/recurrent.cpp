/// rnn: LSTM, GRU and plain layers, one IR layer per layer, both directions in one.
#include <algorithm>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// Parts stacked along a new leading dim. Weights alone become one weight, as the
/// layer holds it in memory.
Operand stacked(Call& c, const std::vector<ValueId>& parts, std::int64_t repeats = 1) {
  bool weights = true;
  for (ValueId v : parts) {
    weights = weights && c.frame.builder.node(v.node).kind == NodeKind::Constant && c.type(v).is_static() &&
              c.type(v) == c.type(parts[0]);
  }
  const auto rows = static_cast<std::int64_t>(parts.size()) / repeats;
  if (weights && c.type(parts[0]).rank() > 0) {
    const Node& n = c.frame.builder.node(parts[0].node);
    Shape shape = c.type(parts[0]).shape();
    std::int64_t wide = 0;
    if (__builtin_mul_overflow(shape[0].value(), repeats, &wide)) return c.error("a weight beyond all bounds");
    shape[0] = Dim(wide);
    shape.insert(shape.begin(), Dim(rows));
    return c.frame.builder.constant({Type::tensor(c.dtype(parts[0]), std::move(shape)), nullptr}, n.name, n.loc);
  }
  std::vector<Operand> out;
  for (std::size_t i = 0; i < parts.size(); i += static_cast<std::size_t>(repeats)) {
    std::vector<Operand> row(parts.begin() + static_cast<std::ptrdiff_t>(i),
                             parts.begin() + static_cast<std::ptrdiff_t>(i) + repeats);
    out.push_back(
        c.expand_dims(row.size() == 1 ? row[0] : c.emit(op("concatenate"), row, {{"axis", std::int64_t{0}}}), {0}));
  }
  return out.size() == 1 ? out.front() : c.emit(op("concatenate"), out, {{"axis", std::int64_t{0}}});
}

/// A fill with zeros, which is what a layer starts from without being told.
bool is_zero(const Call& c, ValueId v) {
  const Node& n = c.frame.builder.node(v.node);
  const Attr* value = n.is(op("full")) ? n.attrs.find("value") : nullptr;
  const auto* literal = value ? std::get_if<Literal>(value) : nullptr;
  const auto* number = literal && literal->data ? literal->data->floats() : nullptr;
  return number && number->size() == 1 && number->front() == 0;
}

}  // namespace

/// (Input [steps, batch, …], PreState…, WeightList…, SequenceLength?). The list
/// holds (W, R) of every layer and direction, then the biases in the same order.
Values recurrent(Call& c) {
  const auto x = c.tensor("Input");
  const auto states = c.tensors("PreState"), weights = c.tensors("WeightList");
  auto lengths = c.tensor_or_none("SequenceLength");
  if (!x || !states || !weights || !lengths) return Failure{};
  const std::string_view mode = c.text_or("mode", "RNN_TANH");
  const bool lstm = mode == "LSTM", gru = mode == "GRU";
  const OpId layer_op = lstm ? op("nn.lstm") : gru ? op("nn.gru") : op("nn.rnn");
  const std::int64_t layers = c.integer_or("num_layers", 1);
  const std::int64_t directions = c.flag("is_bidirec") ? 2 : 1;
  if (layers < 1 || layers > 10'000) return c.error(fmt::format("{} layers", layers));
  const auto cells = static_cast<std::size_t>(layers * directions);
  const bool biased = weights->size() == 4 * cells;
  if (!biased && weights->size() != 2 * cells)
    return c.error(fmt::format("{} weights for {} layers in {} directions", weights->size(), layers, directions));
  if (states->size() != (lstm ? 2u : 1u)) return c.error(fmt::format("{} initial states", states->size()));
  if (*lengths) lengths = c.cast(lengths, DType::Int32);
  const bool from_zero = std::all_of(states->begin(), states->end(), [&](ValueId s) { return is_zero(c, s); });

  Operand sequence = x;
  std::vector<std::vector<Operand>> last(states->size());
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    std::vector<ValueId> w, r, b;
    for (std::int64_t d = 0; d < directions; ++d) {
      const auto at = static_cast<std::size_t>(layer * directions + d) * 2;
      w.push_back((*weights)[at]);
      r.push_back((*weights)[at + 1]);
      if (!biased) continue;
      b.push_back((*weights)[2 * cells + at]);
      b.push_back((*weights)[2 * cells + at + 1]);
    }
    const auto hidden = c.known_dim(r[0], 1);
    if (!hidden) return Failure{};
    std::vector<Operand> operands{sequence, stacked(c, w), stacked(c, r),
                                  biased ? stacked(c, b, 2) : Operand(ValueId{}), lengths};
    for (ValueId s : *states) {
      if (from_zero) break;
      operands.push_back(cells == static_cast<std::size_t>(directions)
                             ? Operand(s)
                             : c.slice(s, 0, layer * directions, (layer + 1) * directions));
    }
    Attrs attrs{{"direction", std::string(directions == 2 ? "bidirectional" : "forward")}, {"hidden_size", *hidden}};
    if (gru) attrs.set("linear_before_reset", std::int64_t{1});
    if (!lstm && !gru) {
      attrs.set("activations",
                std::vector<std::string>(static_cast<std::size_t>(directions), mode == "RNN_RELU" ? "Relu" : "Tanh"));
    }
    auto out = c.emit_all(layer_op, operands, std::move(attrs), states->size() + 1);
    if (!out) return Failure{};
    for (std::size_t i = 0; i < states->size(); ++i) last[i].emplace_back((*out)[i + 1]);
    // (steps, directions, batch, hidden) → (steps, batch, directions · hidden)
    if (directions == 1) sequence = c.squeeze((*out)[0], {1});
    else sequence = c.reshape(c.transpose((*out)[0], {0, 2, 1, 3}), {0, 0, directions * *hidden});
    if (!sequence) return Failure{};
  }
  // Out, DropoutState, State…
  std::vector<ValueId> results{*sequence, ValueId{}};
  for (auto& parts : last) {
    auto all = parts.size() == 1 ? parts[0] : c.emit(op("concatenate"), parts, {{"axis", std::int64_t{0}}});
    if (!all) return Failure{};
    results.push_back(*all);
  }
  return results;
}

}  // namespace perfc::paddle
