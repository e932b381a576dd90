/// Activations: as a layer, as a setting of another layer, as an operation.
#include <algorithm>
#include <array>

#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

struct Activation {
  std::string_view name;
  OpId op;
};
constexpr std::array kActivations{
    Activation{"relu", op("nn.relu")},
    Activation{"sigmoid", op("sigmoid")},
    Activation{"tanh", op("tanh")},
    Activation{"gelu", op("nn.gelu")},
    Activation{"silu", op("nn.silu")},
    Activation{"swish", op("nn.silu")},
    Activation{"softplus", op("nn.softplus")},
    Activation{"softsign", op("nn.softsign")},
    Activation{"elu", op("nn.elu")},
    Activation{"selu", op("nn.selu")},
    Activation{"celu", op("nn.celu")},
    Activation{"mish", op("nn.mish")},
    Activation{"exponential", op("exp")},
    Activation{"hard_silu", op("nn.hard_swish")},
    Activation{"hard_swish", op("nn.hard_swish")},
    Activation{"log_sigmoid", op("nn.log_sigmoid")},
    Activation{"hard_shrink", op("nn.shrink")},
    Activation{"soft_shrink", op("nn.shrink")},
    Activation{"glu", op("nn.glu")},
};

Operand clipped(const Call& c, Operand x, double low, double high) {
  return x ? c.emit(op("clip"), {x, c.number_like(*x, low), c.number_like(*x, high)}) : x;
}

/// "HardSigmoid" → "hard_sigmoid".
std::string snake(std::string_view name) {
  std::string out;
  for (char ch : name) {
    const bool upper = ch >= 'A' && ch <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(ch - 'A' + 'a') : ch;
  }
  return out;
}

}  // namespace

Operand activation_named(const Call& c, Operand x, std::string_view name) {
  if (!x || name.empty() || name == "linear") return x;
  if (name == "relu6") return clipped(c, x, 0, 6);
  if (name == "hard_tanh") return clipped(c, x, -1, 1);
  if (name == "hard_sigmoid") return c.emit(op("nn.hard_sigmoid"), {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  if (name == "leaky_relu") return c.emit(op("nn.leaky_relu"), {x}, {{"alpha", 0.2}});
  if (name == "softmax") return c.emit(op("nn.softmax"), {x}, {{"axis", std::int64_t{-1}}});
  if (name == "log_softmax") return c.emit(op("nn.log_softmax"), {x}, {{"axis", std::int64_t{-1}}});
  if (name == "tanh_shrink") return c.emit(op("subtract"), {x, c.emit(op("tanh"), {x})});
  const auto known = std::ranges::find(kActivations, name, &Activation::name);
  if (known == kActivations.end()) return c.error(fmt::format("activation '{}' is not known", name));
  return c.emit(known->op, {x});
}

Operand activate(const Call& c, Operand x, std::string_view setting) {
  const auto e = c.setting(setting);
  if (!e || e->is_null()) return x;
  if (const auto name = json::text(e)) return activation_named(c, x, *name);
  // {"class_name": "function", "config": "gelu"}, or a layer.
  const auto config = json::member(*e, "config");
  if (const auto name = json::text(config)) return activation_named(c, x, *name);
  if (!x || !config) return c.error(fmt::format("its '{}' is no activation", setting));
  auto out = c.inner(*e, "", {*x});
  if (!out) return Failure{};
  return out->empty() ? Operand(c.error(fmt::format("its '{}' gives no tensor", setting))) : out->front();
}

Values activation(Call& c) { return one(activate(c, c.tensor())); }

/// An operation of keras.ops.nn.
Values function(Call& c) {
  if (c.layer.class_name == "Gelu" && c.flag("approximate", true)) return one(c.emit(op("nn.fast_gelu"), {c.tensor()}));
  if (c.layer.class_name == "HardSilu") return one(c.emit(op("nn.hard_swish"), {c.tensor()}));
  return one(activation_named(c, c.tensor(), snake(c.layer.class_name)));
}

/// ReLU with a largest value, a slope below 0, a threshold.
Values relu(Call& c) {
  auto x = c.tensor();
  const double slope = c.real_or("negative_slope", 0), threshold = c.real_or("threshold", 0);
  const bool bounded = c.given("max_value");
  if (!x) return Failure{};
  if (threshold != 0) {
    auto above = c.emit(op("greater"), {x, c.number_like(*x, threshold)});
    auto below =
        c.emit(op("multiply"), {c.emit(op("subtract"), {x, c.number_like(*x, threshold)}), c.number_like(*x, slope)});
    x = c.emit(op("where"), {above, x, below});
  } else if (slope != 0) {
    x = c.emit(op("nn.leaky_relu"), {x}, {{"alpha", slope}});
  } else if (!bounded) {
    return one(c.emit(op("nn.relu"), {x}));
  } else {
    return one(clipped(c, x, 0, c.real_or("max_value", 6)));
  }
  return one(bounded && x ? c.emit(op("minimum"), {x, c.number_like(*x, c.real_or("max_value", 6))}) : x);
}

Values leaky_relu(Call& c) {
  const double slope = c.real_or("negative_slope", c.real_or("alpha", 0.3));
  return one(c.emit(op("nn.leaky_relu"), {c.tensor()}, {{"alpha", slope}}));
}

/// A slope per element, 1 along shared axes.
Values prelu(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const Ints shared = c.list_or("shared_axes", {});
  Ints shape;
  for (std::int64_t a = 1; a < *rank; ++a) {
    const bool once = std::ranges::find(shared, a) != shared.end();
    const auto extent = once ? Result<std::int64_t>(1) : c.known_dim(*x, a);
    if (!extent) return Failure{};
    shape.push_back(*extent);
  }
  return one(c.emit(op("nn.prelu"), {x, c.weight("alpha", shape)}));
}

Values elu(Call& c) { return one(c.emit(op("nn.elu"), {c.tensor()}, {{"alpha", c.real_or("alpha", 1)}})); }

Values softmax(Call& c) {
  const Ints axes = c.list_or("axis", {-1});
  if (axes.size() != 1) return c.unpriced();
  auto x = c.tensor();
  if (const ValueId mask = c.tensor_named("mask"); mask && x) {
    x = c.emit(op("where"), {c.cast(mask, DType::Bool), x, c.number_like(*x, -1e9)});
  }
  return one(c.emit(op("nn.softmax"), {x}, {{"axis", axes.front()}}));
}

}  // namespace perfc::keras
