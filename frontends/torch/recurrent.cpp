/// LSTM, GRU and RNN: one IR layer per torch layer, both directions in one.
/// torch has a matrix per direction and gate order of its own; the IR's layers
/// (ONNX) stack directions in front and both biases in a row.
#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

struct CellKind {
  OpId op;
  std::int64_t gates;
  std::string_view activation;  ///< RNN only
};

/// Parts stacked along a new leading dim. Constants without contents become one
/// constant: the layer's weight, as it lies in memory.
Result<ValueId> stack_front(Call& c, const std::vector<ValueId>& parts) {
  bool constant = true;
  for (ValueId v : parts) {
    const Node& n = c.builder().node(v.node);
    constant = constant && n.kind == NodeKind::Constant && c.type(v).is_static() && c.type(v) == c.type(parts[0]);
  }
  if (constant) {
    const Node& n = c.builder().node(parts[0].node);
    Shape shape = c.type(parts[0]).shape();
    shape.insert(shape.begin(), Dim(static_cast<std::int64_t>(parts.size())));
    return c.builder().constant({Type::tensor(c.type(parts[0]).dtype(), std::move(shape)), nullptr}, n.name, n.loc);
  }
  std::vector<ValueId> wide;
  for (ValueId v : parts) {
    auto w = c.expand_dims(v, {0});
    if (!w) return Failure{};
    wide.push_back(*w);
  }
  if (wide.size() == 1) return wide.front();
  return c.emit(op("concatenate"), std::move(wide), {{"axis", std::int64_t{0}}});
}

/// Input and recurrent biases of each direction in a row.
Result<ValueId> stack_biases(Call& c, const std::vector<std::pair<ValueId, ValueId>>& biases) {
  bool constant = true;
  for (const auto& [a, b] : biases) {
    constant = constant && c.builder().node(a.node).kind == NodeKind::Constant &&
               c.builder().node(b.node).kind == NodeKind::Constant && c.type(a).is_static() && c.type(a) == c.type(b);
  }
  if (constant && c.type(biases[0].first).rank() == 1) {
    const Node& n = c.builder().node(biases[0].first.node);
    const std::int64_t width = c.type(biases[0].first).shape()[0].value();
    return c.builder().constant(
        {Type::tensor(c.type(biases[0].first).dtype(), {static_cast<std::int64_t>(biases.size()), 2 * width}), nullptr},
        n.name, n.loc);
  }
  std::vector<ValueId> rows;
  for (const auto& [a, b] : biases) {
    auto row = c.emit(op("concatenate"), {a, b}, {{"axis", std::int64_t{0}}});
    if (!row) return Failure{};
    rows.push_back(*row);
  }
  return stack_front(c, rows);
}

/// The argument `hx`: h, and c of an LSTM.
Result<std::vector<ValueId>> initial_states(Call& c, bool lstm) {
  std::vector<ValueId> states;
  if (lstm) {
    auto both = c.tensors("hx");
    if (!both) return Failure{};
    states = *both;
  } else {
    auto h = c.tensor("hx");
    if (!h) return Failure{};
    states = {*h};
  }
  if (states.size() != (lstm ? 2u : 1u)) return c.error(fmt::format("{} initial states", states.size()));
  return states;
}

Values recurrent(Call& c, const CellKind& kind) {
  auto x = c.tensor("input");
  const auto has_biases = c.flag_or("has_biases", true), bidirectional = c.flag_or("bidirectional", false);
  const auto batch_first = c.flag_or("batch_first", false);
  const auto layers = c.integer_or("num_layers", 1);
  auto weights = c.tensors("params");
  if (!x || !has_biases || !bidirectional || !batch_first || !layers || !weights) return Failure{};
  const bool lstm = kind.op == op("nn.lstm");
  auto given = initial_states(c, lstm);  // (layers · directions, batch, hidden)
  if (!given) return Failure{};
  std::vector<ValueId>& states = *given;
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  if (*rank != 2 && *rank != 3) return c.error(fmt::format("data of rank {}", *rank));
  // Without a batch: one is lent.
  const bool unbatched = *rank == 2;
  if (unbatched) {
    x = c.expand_dims(*x, {*batch_first ? 0 : 1});
    for (ValueId& s : states) {
      auto wide = c.expand_dims(s, {1});
      if (!wide) return Failure{};
      s = *wide;
    }
    if (!x) return Failure{};
  }
  const std::size_t directions = *bidirectional ? 2 : 1;
  std::size_t per_direction = *has_biases ? 4 : 2;
  if (*layers < 1 || *layers > 10'000) return c.error(fmt::format("{} layers", *layers));
  const std::size_t cells = static_cast<std::size_t>(*layers) * directions;
  if (weights->size() == cells * (per_direction + 1)) ++per_direction;  // proj_size
  if (weights->size() != cells * per_direction) {
    return c.error(fmt::format("{} weights for {} layers in {} directions", weights->size(), *layers, directions));
  }
  if (per_direction == 5 || per_direction == 3)
    return c.error("projections of an LSTM's state (proj_size) are not supported");

  Result<ValueId> sequence = x;
  if (*batch_first) sequence = c.transpose(*sequence, {1, 0, 2});
  if (!sequence) return Failure{};
  std::vector<std::vector<ValueId>> last(states.size());
  for (std::int64_t layer = 0; layer < *layers; ++layer) {
    std::vector<ValueId> w, r;
    std::vector<std::pair<ValueId, ValueId>> b;
    for (std::size_t d = 0; d < directions; ++d) {
      const std::size_t at = (static_cast<std::size_t>(layer) * directions + d) * per_direction;
      w.push_back((*weights)[at]);
      r.push_back((*weights)[at + 1]);
      if (*has_biases) b.emplace_back((*weights)[at + 2], (*weights)[at + 3]);
    }
    auto weight = stack_front(c, w), recurrence = stack_front(c, r);
    auto bias = *has_biases ? stack_biases(c, b) : Result<ValueId>(ValueId{});
    if (!weight || !recurrence || !bias) return Failure{};
    std::vector<ValueId> operands{*sequence, *weight, *recurrence, *bias, {}};
    const auto first = layer * static_cast<std::int64_t>(directions);
    for (ValueId s : states) {
      auto part = cells == directions ? Result<ValueId>(s)
                                      : c.slice(s, 0, first, first + static_cast<std::int64_t>(directions), 1);
      if (!part) return Failure{};
      operands.push_back(*part);
    }
    const auto hidden =
        c.known_dim((*weights)[static_cast<std::size_t>(layer) * directions * per_direction + 1], 1, "the hidden size");
    if (!hidden) return Failure{};
    Attrs attrs{{"direction", std::string(directions == 2 ? "bidirectional" : "forward")}, {"hidden_size", *hidden}};
    if (kind.op == op("nn.gru")) attrs.set("linear_before_reset", std::int64_t{1});
    if (!kind.activation.empty())
      attrs.set("activations", std::vector<std::string>(directions, std::string(kind.activation)));
    auto out = c.emit_all(kind.op, std::move(operands), std::move(attrs), states.size() + 1);
    if (!out) return Failure{};
    for (std::size_t i = 0; i < states.size(); ++i) last[i].push_back((*out)[i + 1]);
    const InsideKernel of_recurrence(c);  // cuDNN writes the directions side by side
    // (seq, directions, batch, hidden) → (seq, batch, directions · hidden)
    if (directions == 1) {
      sequence = c.squeeze((*out)[0], {1});
    } else {
      auto y = c.transpose((*out)[0], {0, 2, 1, 3});
      if (!y) return Failure{};
      auto shape = c.int_vector(
          {c.size_of(*y, 0), c.size_of(*y, 1), Scalar::of(static_cast<std::int64_t>(directions) * *hidden)});
      sequence = shape ? c.emit(op("reshape"), {*y, *shape}) : shape;
    }
    if (!sequence) return Failure{};
  }
  if (*batch_first) sequence = c.transpose(*sequence, {1, 0, 2});
  if (!sequence) return Failure{};
  std::vector<ValueId> results{*sequence};
  const InsideKernel of_recurrence(c);
  for (auto& parts : last) {
    auto all =
        parts.size() == 1 ? Result<ValueId>(parts[0]) : c.emit(op("concatenate"), parts, {{"axis", std::int64_t{0}}});
    if (!all) return Failure{};
    results.push_back(*all);
  }
  if (unbatched) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      auto v = c.squeeze(results[i], {i == 0 && *batch_first ? 0 : 1});
      if (!v) return Failure{};
      results[i] = *v;
    }
  }
  return c.results(results);
}

/// One step of a layer: a sequence of one.
Values cell(Call& c, const CellKind& kind) {
  auto x = c.tensor("input");
  auto w = c.tensor("w_ih"), r = c.tensor("w_hh"), bw = c.tensor_or_none("b_ih"), br = c.tensor_or_none("b_hh");
  if (!x || !w || !r || !bw || !br) return Failure{};
  const bool lstm = kind.op == op("nn.lstm");
  auto given = initial_states(c, lstm);
  if (!given) return Failure{};
  std::vector<ValueId>& states = *given;
  const auto rank = c.rank(*x);
  const auto hidden = c.known_dim(*r, 1, "the hidden size");
  if (!rank || !hidden) return Failure{};
  const std::vector<std::int64_t> lead = *rank == 1 ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0};
  auto sequence = c.expand_dims(*x, lead);
  auto weight = stack_front(c, {*w}), recurrence = stack_front(c, {*r});
  auto bias = *bw ? stack_biases(c, {{*bw, *br}}) : Result<ValueId>(ValueId{});
  if (!sequence || !weight || !recurrence || !bias) return Failure{};
  std::vector<ValueId> operands{*sequence, *weight, *recurrence, *bias, {}};
  for (ValueId s : states) {
    auto wide = c.expand_dims(s, lead);
    if (!wide) return Failure{};
    operands.push_back(*wide);
  }
  Attrs attrs{{"hidden_size", *hidden}};
  if (kind.op == op("nn.gru")) attrs.set("linear_before_reset", std::int64_t{1});
  if (!kind.activation.empty()) attrs.set("activations", std::vector<std::string>{std::string(kind.activation)});
  auto out = c.emit_all(kind.op, std::move(operands), std::move(attrs), states.size() + 1);
  if (!out) return Failure{};
  std::vector<ValueId> results;
  for (std::size_t i = 1; i < out->size(); ++i) {
    auto v = c.squeeze((*out)[i], lead);
    if (!v) return Failure{};
    results.push_back(*v);
  }
  return c.results(results);
}

constexpr CellKind kLstm{op("nn.lstm"), 4, ""}, kGru{op("nn.gru"), 3, ""}, kTanh{op("nn.rnn"), 1, "Tanh"},
    kRelu{op("nn.rnn"), 1, "Relu"};

}  // namespace

Values lstm(Call& c) { return recurrent(c, kLstm); }
Values gru(Call& c) { return recurrent(c, kGru); }
Values rnn_tanh(Call& c) { return recurrent(c, kTanh); }
Values rnn_relu(Call& c) { return recurrent(c, kRelu); }
Values lstm_cell(Call& c) { return cell(c, kLstm); }
Values gru_cell(Call& c) { return cell(c, kGru); }
Values rnn_tanh_cell(Call& c) { return cell(c, kTanh); }
Values rnn_relu_cell(Call& c) { return cell(c, kRelu); }

}  // namespace perfc::torch
