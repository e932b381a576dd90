/// Norms and softmax.
#include <algorithm>

#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

/// Are the axes the last ones of the data?
bool trailing(const Ints& axes, std::int64_t rank) {
  return std::ranges::all_of(axes, [&](std::int64_t a) { return a >= rank - static_cast<std::int64_t>(axes.size()); });
}

Result<Ints> sorted_axes(const Call& c, const Ints& given, std::int64_t rank) {
  Ints out;
  for (std::int64_t a : given) {
    const auto axis = c.axis(a, rank);
    if (!axis) return Failure{};
    out.push_back(*axis);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());  // clang 14 cannot compile std::ranges::unique
  return out;
}

/// Axes of operand 1; MVN of opset 1 has flags instead.
Result<Ints> axes_of(const Call& c, std::int64_t rank) {
  if (c.has(1)) {
    const auto given = c.ints(1, "the axes");
    return given ? sorted_axes(c, *given, rank) : Failure{};
  }
  Ints axes;
  for (std::int64_t a = c.flag("across_channels") ? 1 : 2; a < rank; ++a) axes.push_back(a);
  return axes;
}

}  // namespace

/// (data, gamma, beta, mean, variance); opset 1: (gamma, beta, data, mean, variance).
Values batch_norm(Call& c) {
  const std::size_t data = c.layer.version == "opset1" ? 2 : 0, gamma = data == 2 ? 0 : 1;
  return c.finish(op("nn.batch_norm"), {c.tensor(data), c.tensor(gamma), c.tensor(gamma + 1), c.tensor(3), c.tensor(4)},
                  {{"epsilon", c.real_or("epsilon", c.real_or("eps", 1e-5))}});
}

/// Mean 0 and, unless told otherwise, variance 1 over the axes. What scale and shift follow are operators of their own,
/// which `recognise-patterns` joins with this one.
Values mvn(Call& c) {
  const auto x = c.tensor(0);
  const auto rank = c.rank(x);
  const auto axes = rank ? axes_of(c, *rank) : Result<Ints>(Failure{});
  if (!axes) return Failure{};
  const double epsilon = c.real_or("eps", 1e-9);
  if (!c.flag("normalize_variance", true)) {
    auto mean = c.emit(op("mean"), {x, c.int_constant(*axes)}, {{"keepdims", std::int64_t{1}}});
    return c.finish(op("subtract"), {x, mean});
  }
  if (!axes->empty() && trailing(*axes, *rank)) {
    const bool last = axes->size() == 1;
    const bool instance = *rank > 2 && static_cast<std::int64_t>(axes->size()) == *rank - 2;
    if (instance && !last) {
      const Dim channels = c.dim(*x, 1);
      return c.finish(op("nn.instance_norm"),
                      {x, c.uniform(1, channels, c.dtype(*x)), c.uniform(0, channels, c.dtype(*x))},
                      {{"epsilon", epsilon}});
    }
    const Operand one_each = last ? Operand(c.uniform(1, c.dim(*x, *rank - 1), c.dtype(*x)))
                                  : c.full(c.shape_of(x, axes->front(), *rank), 1, c.dtype(*x));
    return c.finish(op("nn.layer_norm"), {x, one_each}, {{"axis", axes->front() - *rank}, {"epsilon", epsilon}});
  }
  return c.finish(op("nn.mean_variance_norm"), {x}, {{"axes", *axes}});
}

/// x / ‖x‖ over the axes.
Values normalize_l2(Call& c) {
  const auto x = c.tensor(0);
  const auto rank = c.rank(x);
  const auto given = c.ints(1, "the axes");
  const auto axes = rank && given ? sorted_axes(c, *given, *rank) : Result<Ints>(Failure{});
  if (!axes) return Failure{};
  if (axes->size() == 1) return c.finish(op("nn.l2_normalize"), {x}, {{"axis", axes->front()}});
  auto length = c.emit(op("reduce_l2"), {x, c.int_constant(*axes)}, {{"keepdims", std::int64_t{1}}});
  return c.finish(op("divide"), {x, length});
}

/// (data, scale).
Values rms(Call& c) {
  return c.finish(op("nn.rms_norm"), {c.tensor(0), c.tensor(1)},
                  {{"axis", std::int64_t{-1}}, {"epsilon", c.real_or("epsilon", 1e-6)}});
}

Values group_norm(Call& c) {
  return c.finish(op("nn.group_norm"), {c.tensor(0), c.tensor(1), c.tensor(2)},
                  {{"epsilon", c.real_or("epsilon", 1e-5)}, {"num_groups", c.integer_or("num_groups", 1)}});
}

Values lrn(Call& c) {
  return c.finish(op("nn.lrn"), {c.tensor(0)},
                  {{"alpha", c.real_or("alpha", 1e-4)},
                   {"beta", c.real_or("beta", 0.75)},
                   {"bias", c.real_or("bias", 1)},
                   {"size", c.integer_or("size", 1)}});
}

Values softmax(Call& c) { return c.finish(c.row->op, {c.tensor(0)}, {{"axis", c.integer_or("axis", 1)}}); }

}  // namespace perfc::openvino
