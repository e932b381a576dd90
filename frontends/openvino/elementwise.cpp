/// Arithmetic, activations, casts, quantisation.
#include <algorithm>

#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

/// Weights that are kept in 16 bits and cast for the layer that uses them: a runtime casts them once.
bool is_weight(const Call& c, ValueId v) {
  const Node& n = c.builder().node(v.node);
  return n.kind == NodeKind::Constant && !n.results[0].data && is_float(c.dtype(v));
}

}  // namespace

Values convert(Call& c) {
  const auto x = c.tensor(0);
  const DType to = c.dtype_or("destination_type", DType::Undefined);
  if (!x) return Failure{};
  if (to == DType::Undefined)
    return c.error(fmt::format("element type '{}' is not known to perfc", c.text_or("destination_type", "")));
  if (is_weight(c, *x) && is_float(to)) {
    const Node& n = c.builder().node(x->node);
    return one(c.builder().constant({c.type(*x).with_dtype(to), nullptr}, n.name, n.loc));
  }
  return one(c.cast(x, to));
}

Values convert_like(Call& c) {
  const auto like = c.tensor(1);
  if (!like) return Failure{};
  return one(c.cast(c.tensor(0), c.dtype(*like)));
}

Values identity(Call& c) { return one(c.tensor(0)); }

/// Of an integer, it is the integer.
Values rounded(Call& c) {
  const auto x = c.tensor(0);
  if (!x) return Failure{};
  return is_integer(c.dtype(*x)) ? one(x) : one_to_one(c);
}

/// Integers bit by bit, bools as logic.
Values logical(Call& c) {
  const auto x = c.tensor(0);
  if (!x) return Failure{};
  if (c.dtype(*x) != DType::Bool) return one_to_one(c);
  const OpId o = c.layer.type == "BitwiseAnd"  ? op("logical_and")
                 : c.layer.type == "BitwiseOr" ? op("logical_or")
                                               : op("logical_xor");
  return c.finish(o, c.operands);
}

/// FloorMod has the divisor's sign, Mod the dividend's, as C has.
Values floor_mod(Call& c) {
  const auto x = c.tensor(0);
  if (!x) return Failure{};
  Attrs attrs;
  if (c.layer.type == "Mod" || is_float(c.dtype(*x))) attrs.set("fmod", std::int64_t{1});
  return c.finish(op("mod"), c.operands, std::move(attrs));
}

Values clamp(Call& c) {
  const auto x = c.tensor(0);
  if (!x) return Failure{};
  const double low = c.real_or("min", 0), high = c.real_or("max", 0);
  if (low == 0 && high >= 3e38) return c.finish(op("nn.relu"), {x});
  return c.finish(op("clip"), {x, c.number_like(*x, low), c.number_like(*x, high)});
}

Values gelu(Call& c) {
  return c.finish(lower(c.text_or("approximation_mode", "erf")) == "tanh" ? op("nn.fast_gelu") : op("nn.gelu"),
                  {c.tensor(0)});
}

/// x · σ(βx).
Values swish(Call& c) {
  const auto x = c.tensor(0);
  const auto beta = c.known_real(1);
  if (!c.has(1) || (beta && *beta == 1)) return c.finish(op("nn.silu"), {x});
  auto scaled = c.emit(op("multiply"), {x, c.tensor(1)});
  return c.finish(op("multiply"), {x, c.emit(op("sigmoid"), {scaled})});
}

/// A slope per channel: of data of more than two dims, the channels stand second.
Values prelu(Call& c) {
  const auto x = c.tensor(0);
  auto slope = c.tensor(1);
  if (!x || !slope) return Failure{};
  if (const auto known = c.known_real(1)) return c.finish(op("nn.leaky_relu"), {x}, {{"alpha", *known}});
  const Type &data = c.type(*x), &slopes = c.type(*slope);
  if (data.ranked() && slopes.ranked() && slopes.rank() == 1 && data.rank() > 2) {
    Ints shape(data.rank() - 1, 1);
    shape.front() = -1;
    slope = c.reshape(slope, shape);
  }
  return c.finish(op("nn.prelu"), {x, slope});
}

Values selu(Call& c) {
  Attrs attrs;
  if (const auto alpha = c.known_real(1)) attrs.set("alpha", *alpha);
  if (const auto gamma = c.known_real(2)) attrs.set("gamma", *gamma);
  return c.finish(op("nn.selu"), {c.tensor(0)}, std::move(attrs));
}

/// HardSigmoid has slope and offset as operands, HSigmoid is relu6(x + 3) / 6.
Values hard_sigmoid(Call& c) {
  const bool given = c.layer.type == "HardSigmoid";
  return c.finish(op("nn.hard_sigmoid"), {c.tensor(0)},
                  {{"alpha", given ? c.known_real(1).value_or(0.2) : 1.0 / 6},
                   {"beta", given ? c.known_real(2).value_or(0.5) : 0.5}});
}

/// (x, input low, input high, output low, output high): quantised and back, in one kernel.
Values fake_quantize(Call& c) { return c.finish(op("qnn.fake_quantize"), {c.tensor(0), c.tensor(1), c.tensor(2)}); }

}  // namespace perfc::openvino
