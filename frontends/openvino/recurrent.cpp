/// Recurrent layers, whole sequences and single cells, as the IR's: [batch, time, …], both directions in one.
#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

struct Kind {
  OpId op;
  std::int64_t gates;
  bool cell_state;
};

Kind kind_of(std::string_view type) {
  if (type.starts_with("LSTM")) return {op("nn.lstm"), 4, true};
  if (type.starts_with("GRU")) return {op("nn.gru"), 3, false};
  return {op("nn.rnn"), 1, false};
}

/// Activations by OpenVINO's names ("sigmoid, tanh") as ONNX spells them, once per direction.
std::vector<std::string> activations(const Call& c, std::size_t directions) {
  std::vector<std::string> one_direction, out;
  std::string_view rest = c.text_or("activations", "");
  while (!rest.empty()) {
    std::string_view word = next_word(rest, ',');
    while (word.starts_with(' ')) word.remove_prefix(1);
    std::string name(word);
    if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
    one_direction.push_back(std::move(name));
  }
  for (std::size_t d = 0; d < directions; ++d) out.insert(out.end(), one_direction.begin(), one_direction.end());
  return out;
}

/// The one bias of OpenVINO as the two of the IR: [directions, gates · hidden (+ hidden)] → [directions, 2 · gates ·
/// hidden].
Operand biases(const Call& c, ValueId b, std::int64_t width) {
  const auto directions = c.known_dim(b, 0);
  if (!directions) return Failure{};
  const Node& n = c.builder().node(b.node);
  if (n.kind == NodeKind::Constant && !n.results[0].data)
    return c.builder().constant({Type::tensor(c.dtype(b), {*directions, 2 * width}), nullptr}, n.name, n.loc);
  auto none = c.full(c.int_constant({*directions, width}), 0, c.dtype(b));
  return c.join({c.slice(b, 1, 0, width), none}, 1);
}

}  // namespace

/// Sequences: (X [batch, time, in], H [batch, directions, hidden], C?, lengths, W, R, B), cells the same without time,
/// directions and lengths. LSTMSequence gives (Y [batch, directions, time, hidden], H, C).
Values recurrent(Call& c) {
  const Kind k = kind_of(c.layer.type);
  const bool sequence = c.layer.type.ends_with("Sequence");
  const std::size_t states = k.cell_state ? 2 : 1;
  const std::size_t lengths_at = 1 + states, weights_at = lengths_at + (sequence ? 1 : 0);
  const std::int64_t hidden = c.integer_or("hidden_size", 0);
  if (hidden < 1 || hidden > (1 << 28)) return c.error(fmt::format("a hidden size of {}", hidden));
  const std::string_view direction = c.text_or("direction", "forward");
  const bool both = direction == "bidirectional";
  const auto stacked = [&](Operand v) { return sequence ? v : c.expand_dims(v, {0}); };
  auto x = c.tensor(0), w = stacked(c.tensor(weights_at)), r = stacked(c.tensor(weights_at + 1));
  Operand b = ValueId{};
  if (c.has(weights_at + 2)) {
    b = stacked(c.tensor(weights_at + 2));
    if (!b) return Failure{};
    b = biases(c, *b, k.gates * hidden);
  }
  const auto state = [&](std::size_t i) {
    if (!c.has(i)) return Operand(ValueId{});
    return sequence ? c.tensor(i) : c.expand_dims(c.tensor(i), {1});
  };
  if (!sequence) x = c.expand_dims(x, {1});
  const Operand lengths =
      sequence && c.has(lengths_at) ? c.cast(c.tensor(lengths_at), DType::Int32) : Operand(ValueId{});
  std::vector<Operand> operands{x, w, r, b, lengths, state(1)};
  if (k.cell_state) operands.push_back(state(2));
  Attrs attrs{{"direction", std::string(direction)}, {"hidden_size", hidden}, {"layout", std::int64_t{1}}};
  if (auto names = activations(c, both ? 2 : 1); !names.empty()) attrs.set("activations", std::move(names));
  if (c.flag("linear_before_reset")) attrs.set("linear_before_reset", std::int64_t{1});
  const auto out = c.emit_all(k.op, operands, std::move(attrs), states + 1);
  if (!out) return Failure{};
  std::vector<ValueId> results;
  if (sequence) {
    auto y = c.transpose((*out)[0], {0, 2, 1, 3});
    if (!y) return Failure{};
    results.push_back(*y);
  }
  for (std::size_t i = 1; i <= states; ++i) {
    auto last = sequence ? Operand((*out)[i]) : c.squeeze((*out)[i], {1});
    if (!last) return Failure{};
    results.push_back(*last);
  }
  return results;
}

}  // namespace perfc::openvino
