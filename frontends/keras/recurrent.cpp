/// Recurrent layers as the IR's, which are those of cuDNN: (batch, steps, in), two biases.
#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

struct Kind {
  OpId op;
  std::int64_t gates;
  bool cell_state;
};

Kind kind_of(std::string_view class_name) {
  if (class_name.starts_with("LSTM")) return {op("nn.lstm"), 4, true};
  if (class_name.starts_with("GRU")) return {op("nn.gru"), 3, false};
  return {op("nn.rnn"), 1, false};
}

/// Activations that the IR's layer does not have in any case.
std::vector<std::string> activations(const Call& c, const Kind& k) {
  const auto name = [](std::string_view keras) {
    if (keras == "relu") return std::string("Relu");
    if (keras == "sigmoid") return std::string("Sigmoid");
    if (keras == "hard_sigmoid") return std::string("HardSigmoid");
    if (keras == "softsign") return std::string("Softsign");
    if (keras == "linear") return std::string("Affine");
    return std::string("Tanh");
  };
  const std::string f = name(c.text_or("recurrent_activation", "sigmoid")), g = name(c.text_or("activation", "tanh"));
  if (k.cell_state) return {f, g, g};
  return k.gates == 3 ? std::vector{f, g} : std::vector{g};
}

struct Outcome {
  Operand sequence;             ///< (batch, steps, units)
  std::vector<ValueId> states;  ///< (batch, units)
};

/// One direction. Weights are transposed and stacked beforehand: a layer reads them as they lie.
Result<Outcome> run_direction(const Call& c, ValueId x, std::string_view prefix, bool backwards,
                              const std::vector<ValueId>& initial) {
  const Kind k = kind_of(c.layer.class_name);
  const auto in = last_dim(c, x);
  const std::int64_t units = c.integer_or("units", -1);
  std::int64_t gates = 0;
  if (!in) return Failure{};
  if (units < 1 || units > (1 << 28) || __builtin_mul_overflow(units, k.gates, &gates))
    return c.error(fmt::format("{} units", units));
  const auto name = [&](std::string_view weight) { return fmt::format("{}{}", prefix, weight); };
  std::vector<Operand> operands{
      x, c.weight(name("kernel"), {1, gates, *in}), c.weight(name("recurrent_kernel"), {1, gates, units}),
      c.flag("use_bias", true) ? c.weight(name("bias"), {1, 2 * gates}) : Operand(ValueId{}), ValueId{}};
  for (ValueId s : initial) operands.push_back(c.expand_dims(s, {1}));
  Attrs attrs{{"direction", std::string(backwards ? "reverse" : "forward")},
              {"hidden_size", units},
              {"layout", std::int64_t{1}}};
  if (c.text_or("activation", "tanh") != "tanh" || c.text_or("recurrent_activation", "sigmoid") != "sigmoid")
    attrs.set("activations", activations(c, k));
  if (k.gates == 3 && c.flag("reset_after", true)) attrs.set("linear_before_reset", std::int64_t{1});
  const std::size_t states = k.cell_state ? 2 : 1;
  auto out = c.emit_all(k.op, operands, std::move(attrs), states + 1);
  if (!out) return Failure{};
  Outcome o{c.squeeze((*out)[0], {2}), {}};
  for (std::size_t i = 1; i <= states; ++i) {
    auto s = c.squeeze((*out)[i], {1});
    if (!s) return Failure{};
    o.states.push_back(*s);
  }
  return o;
}

/// What the layer gives: the whole sequence or its last step, and the states where they are asked for.
Values given(const Call& c, const Outcome& o) {
  std::vector<ValueId> out;
  const Operand first = c.flag("return_sequences", false) ? o.sequence : Operand(o.states.front());
  if (!first) return Failure{};
  out.push_back(*first);
  if (c.flag("return_state", false)) out.insert(out.end(), o.states.begin(), o.states.end());
  return out;
}

/// States that the call starts from: named, or behind the sequence.
std::vector<ValueId> initial_states(const Call& c) {
  std::vector<ValueId> out;
  const Value* v = c.argument(1, "initial_state");
  if (v && v->kind == Value::Kind::Tensor) out.push_back(v->tensor);
  for (const Value& item : v ? v->items : std::vector<Value>{}) {
    if (item.kind == Value::Kind::Tensor) out.push_back(item.tensor);
  }
  return out;
}

}  // namespace

/// LSTM, GRU, SimpleRNN.
Values recurrent(Call& c) {
  const auto x = c.tensor();
  if (!x) return Failure{};
  const auto o = run_direction(c, *x, "cell/", c.flag("go_backwards", false), initial_states(c));
  return o ? given(c, *o) : Values(Failure{});
}

/// RNN over one cell or several, each a layer of its own.
Values cells(Call& c) {
  const auto cell = c.setting("cell");
  auto x = c.tensor();
  if (!cell || !x) return x ? Values(c.error("has no cell")) : Values(Failure{});
  const auto stack = layer_info(cell);
  std::vector<json::Element> all;
  const auto list = stack ? json::array(json::member(stack->config, "cells")) : std::nullopt;
  if (list) all.assign(list->begin(), list->end());
  else all.push_back(*cell);
  Outcome last{x, {}};
  std::vector<ValueId> states;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto info = layer_info(all[i]);
    if (!info || !info->class_name.ends_with("Cell")) return c.unpriced();
    const std::string_view known = info->class_name;
    if (known != "LSTMCell" && known != "GRUCell" && known != "SimpleRNNCell") return c.unpriced();
    if (!last.sequence) return Failure{};
    const Call inner(c.importer, *info, 0, fmt::format("{}/cell_{}", c.path, i), {Value::of(*last.sequence)}, {},
                     c.depth + 1);
    auto o = run_direction(inner, *last.sequence, "", c.flag("go_backwards", false), {});
    if (!o) return Failure{};
    states.insert(states.end(), o->states.begin(), o->states.end());
    last = *std::move(o);
  }
  if (!last.sequence || last.states.empty()) return c.unpriced();
  std::vector<ValueId> out{c.flag("return_sequences", false) ? *last.sequence : last.states.front()};
  if (c.flag("return_state", false)) out.insert(out.end(), states.begin(), states.end());
  return out;
}

/// The layer forwards and backwards, results joined by merge_mode.
Values bidirectional(Call& c) {
  const auto layer = c.setting("layer");
  const auto info = layer_info(layer);
  const auto x = c.tensor();
  if (!info || !x) return x ? Values(c.error("has no layer")) : Values(Failure{});
  if (info->class_name != "LSTM" && info->class_name != "GRU" && info->class_name != "SimpleRNN") return c.unpriced();
  const Call inner(c.importer, *info, 0, c.path, {Value::of(*x)}, {}, c.depth + 1);
  const std::vector<ValueId> initial = initial_states(c);
  const auto half = static_cast<std::ptrdiff_t>(initial.size() / 2);
  auto forward = run_direction(inner, *x, "forward/", false, {initial.begin(), initial.begin() + half});
  auto backward = run_direction(inner, *x, "backward/", true, {initial.begin() + half, initial.end()});
  if (!forward || !backward) return Failure{};
  const bool whole = inner.flag("return_sequences", false);
  const Operand a = whole ? forward->sequence : Operand(forward->states.front()),
                b = whole ? backward->sequence : Operand(backward->states.front());
  const std::string_view mode = c.text_or("merge_mode", "");
  std::vector<ValueId> out;
  if (mode.empty()) {
    if (!a || !b) return Failure{};
    out = {*a, *b};
  } else {
    auto y = mode == "concat" ? c.join({a, b}, -1) : c.emit(mode == "mul" ? op("multiply") : op("add"), {a, b});
    if (mode == "ave" && y) y = c.emit(op("multiply"), {y, c.number_like(*y, 0.5)});
    if (!y) return Failure{};
    out = {*y};
  }
  if (inner.flag("return_state", false)) {
    out.insert(out.end(), forward->states.begin(), forward->states.end());
    out.insert(out.end(), backward->states.begin(), backward->states.end());
  }
  return out;
}

}  // namespace perfc::keras
