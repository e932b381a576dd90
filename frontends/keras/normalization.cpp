/// Norms.
#include <algorithm>

#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

/// A scale or shift per channel: a weight, or one number where the layer has none.
Operand per_channel(const Call& c, std::string_view setting, std::string_view name, double otherwise,
                    std::int64_t channels) {
  return c.flag(setting, true) ? c.weight(name, {channels}) : Operand(c.uniform(otherwise, Dim(channels), c.compute()));
}

/// Axes of a setting in order; they must be the last ones of the data.
Result<Ints> trailing_axes(const Call& c, std::int64_t rank) {
  Ints axes;
  for (std::int64_t a : c.list_or("axis", {-1})) {
    const auto axis = c.axis(a, rank);
    if (!axis) return Failure{};
    axes.push_back(*axis);
  }
  std::ranges::sort(axes);
  return axes;
}

bool are_last(const Ints& axes, std::int64_t rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != rank - static_cast<std::int64_t>(axes.size() - i)) return false;
  }
  return !axes.empty();
}

Result<Ints> extents(const Call& c, ValueId x, const Ints& axes) {
  Ints out;
  for (std::int64_t a : axes) {
    const auto extent = c.known_dim(x, a);
    if (!extent) return Failure{};
    out.push_back(*extent);
  }
  return out;
}

}  // namespace

Values batch_norm(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const Ints given = c.list_or("axis", {-1});
  if (!rank) return Failure{};
  if (given.empty()) return c.error("has no axis");
  const auto axis = c.axis(given.front(), *rank);
  const auto channels = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
  if (!channels) return Failure{};
  Attrs attrs{{"epsilon", c.real_or("epsilon", 1e-3)}};
  if (*axis != 1) attrs.set("axis", *axis);
  return one(c.emit(op("nn.batch_norm"),
                    {x, per_channel(c, "scale", "gamma", 1, *channels), per_channel(c, "center", "beta", 0, *channels),
                     c.weight("moving_mean", {*channels}), c.weight("moving_variance", {*channels})},
                    std::move(attrs)));
}

/// Over the last axes, scale and shift as wide as they are; rms_scaling leaves the mean.
Values layer_norm(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const auto axes = rank ? trailing_axes(c, *rank) : Result<Ints>(Failure{});
  if (!axes) return Failure{};
  if (!are_last(*axes, *rank)) return c.unpriced();
  const auto shape = extents(c, *x, *axes);
  if (!shape) return Failure{};
  const Attrs attrs{{"axis", axes->front() - *rank}, {"epsilon", c.real_or("epsilon", 1e-3)}};
  if (c.flag("rms_scaling", false)) return one(c.emit(op("nn.rms_norm"), {x, c.weight("gamma", *shape)}, attrs));
  const Operand scale = c.flag("scale", true) ? c.weight("gamma", *shape)
                        : shape->size() == 1  ? Operand(c.uniform(1, Dim(shape->front()), c.compute()))
                                              : c.full(c.int_constant(*shape), 1, c.compute());
  const Operand shift = c.flag("center", true) ? c.weight("beta", *shape) : Operand(ValueId{});
  return one(c.emit(op("nn.layer_norm"), {x, scale, shift}, attrs));
}

Values rms_norm(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const auto axes = rank ? trailing_axes(c, *rank) : Result<Ints>(Failure{});
  if (!axes) return Failure{};
  if (!are_last(*axes, *rank)) return c.unpriced();
  const auto shape = extents(c, *x, *axes);
  if (!shape) return Failure{};
  return one(c.emit(op("nn.rms_norm"), {x, c.weight("scale", *shape)},
                    {{"axis", axes->front() - *rank}, {"epsilon", c.real_or("epsilon", 1e-6)}}));
}

/// Channels in groups; −1: each on its own.
Values group_norm(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const auto axis = rank ? c.axis(c.integer_or("axis", -1), *rank) : Result<std::int64_t>(Failure{});
  const auto channels = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
  if (!channels) return Failure{};
  if (*axis != 1 && *axis != *rank - 1) return c.unpriced();
  const std::int64_t groups = c.integer_or("groups", 32);
  Attrs attrs{{"epsilon", c.real_or("epsilon", 1e-3)}, {"num_groups", groups == -1 ? *channels : groups}};
  if (*axis != 1) attrs.set("channels_last", std::int64_t{1});
  return one(c.emit(op("nn.group_norm"),
                    {x, per_channel(c, "scale", "gamma", 1, *channels), per_channel(c, "center", "beta", 0, *channels)},
                    std::move(attrs)));
}

/// x / ‖x‖.
Values unit_norm(Call& c) {
  const Ints axes = c.list_or("axis", {-1});
  if (axes.size() != 1) return c.unpriced();
  return one(c.emit(op("nn.l2_normalize"), {c.tensor()}, {{"axis", axes.front()}}));
}

/// keras.applications.convnext: a factor per channel.
Values layer_scale(Call& c) {
  return one(c.emit(op("multiply"), {c.tensor(), c.weight("gamma", {c.integer_or("projection_dim", -1)})}));
}

}  // namespace perfc::keras
