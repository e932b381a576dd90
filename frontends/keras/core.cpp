/// Dense layers, embeddings, wrappers, what scales inputs.
#include <algorithm>

#include "frontends/keras/table.h"

namespace perfc::keras {

Result<std::int64_t> last_dim(const Call& c, Operand x) {
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank == 0) return c.error("takes a number, not a tensor with axes");
  return c.known_dim(*x, -1);
}

Operand add_bias(const Call& c, Operand x, Operand bias, std::int64_t axis) {
  return c.emit(op("nn.bias_add"), {x, bias}, {{"axis", axis}});
}

/// x · kernel [in, units] + bias.
Values dense(Call& c) {
  const auto x = c.tensor();
  const auto in = last_dim(c, x);
  const std::int64_t units = c.integer_or("units", -1);
  if (!in) return Failure{};
  const auto bias = c.flag("use_bias", true) ? c.weight("bias", {units}) : Operand(ValueId{});
  return one(activate(c, c.emit(op("nn.dense"), {x, c.weight("kernel", {*in, units}), bias})));
}

/// The axes of the kernel take their extents from the data or, where they are new, from output_shape.
Values einsum_dense(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const std::string equation(c.text_or("equation", ""));
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == equation.npos || arrow == equation.npos || comma > arrow)
    return c.error(fmt::format("equation '{}'", equation));
  std::string in = equation.substr(0, comma), kernel = equation.substr(comma + 1, arrow - comma - 1),
              out = equation.substr(arrow + 2);
  const Ints sizes = c.list_or("output_shape", {});
  // Both name their axes from the last on; dots stand in front.
  const auto strip = [](std::string& s) { std::erase(s, '.'); };
  strip(in);
  strip(out);
  const auto extent_of = [&](char label) -> Result<std::int64_t> {
    if (const std::size_t i = in.rfind(label); i != in.npos)
      return c.known_dim(*x, static_cast<std::int64_t>(i) - static_cast<std::int64_t>(in.size()));
    const std::size_t o = out.rfind(label), from_end = o == out.npos ? 0 : out.size() - o;
    if (from_end == 0 || from_end > sizes.size() || sizes[sizes.size() - from_end] < 0)
      return c.error(fmt::format("equation '{}' does not tell the extent of '{}'", equation, label));
    return sizes[sizes.size() - from_end];
  };
  const auto extents = [&](std::string_view labels) -> Result<Ints> {
    Ints shape;
    for (char label : labels) {
      const auto extent = extent_of(label);
      if (!extent) return Failure{};
      shape.push_back(*extent);
    }
    return shape;
  };
  const auto weight = extents(kernel);
  if (!weight) return Failure{};
  auto y = c.emit(op("einsum"), {x, c.weight("kernel", *weight)}, {{"equation", equation}});
  const std::string_view biased = c.text_or("bias_axes", "");
  if (!biased.empty()) {
    // The bias spans from the first of its axes to the last one of the result, 1 where it has none.
    Ints shape;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool has = biased.find(out[i]) != biased.npos;
      if (!has && shape.empty()) continue;
      const auto extent = has ? extent_of(out[i]) : Result<std::int64_t>(1);
      if (!extent) return Failure{};
      shape.push_back(*extent);
    }
    y = c.emit(op("add"), {y, c.weight("bias", shape)});
  }
  return one(activate(c, y));
}

/// A table [entries, width]; ReversibleEmbedding also runs backwards, as the product with its table.
Values embedding(Call& c) {
  const std::int64_t entries = c.integer_or("input_dim", -1), width = c.integer_or("output_dim", -1);
  auto x = c.tensor();
  if (!x) return Failure{};
  const Value* reverse = c.argument(1, "reverse");
  if (c.layer.class_name == "ReversibleEmbedding" && reverse && reverse->integer != 0) {
    const bool tied = c.flag("tie_weights", true);
    auto table = tied ? c.weight("embeddings", {entries, width}) : c.weight("reverse_embeddings", {width, entries});
    return one(c.emit(op("nn.dense"), {x, table}, {{"transB", std::int64_t{tied}}}));
  }
  const DType d = c.dtype(*x);
  if (d != DType::Int32 && d != DType::Int64) x = c.cast(x, DType::Int32);
  return one(c.emit(op("take"), {c.weight("embeddings", {entries, width}), x}, {{"axis", std::int64_t{0}}}));
}

/// Nothing at inference: dropouts, noise, masks that later layers read, random images.
Values identity(Call& c) { return c.tensors(); }

/// SpectralNormalization and the like: the layer inside.
Values wrapped(Call& c) {
  const auto layer = c.setting("layer");
  return layer ? c.inner(*layer, "", c.tensors()) : Values(c.error("has no layer"));
}

/// The layer is called once on all steps: (batch, steps, …) as (batch · steps, …).
Values time_distributed(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  const auto layer = c.setting("layer");
  if (!rank || !layer) return rank ? Values(c.error("has no layer")) : Values(Failure{});
  if (*rank < 3) return c.error(fmt::format("needs data of rank 3 or more, got {}", *rank));
  auto flat = c.emit(op("reshape"), {x, c.join({c.int_constant({-1}), c.shape_of(x, 2, *rank)}, 0)});
  if (!flat) return Failure{};
  const auto y = c.inner(*layer, "", {*flat});
  if (!y) return Failure{};
  if (y->empty()) return c.error("its layer gives no tensor");
  const auto out_rank = c.rank(y->front());
  if (!out_rank) return Failure{};
  std::vector<Operand> shape{c.int_constant({-1}), c.shape_of(x, 1, 2)};
  if (*out_rank > 1) shape.push_back(c.shape_of(y->front(), 1, *out_rank));
  return one(c.emit(op("reshape"), {y->front(), c.join(shape, 0)}));
}

/// x · scale + offset.
Values rescaling(Call& c) {
  auto x = c.tensor();
  if (!x) return Failure{};
  x = c.cast(x, c.compute());
  const auto list = [&](std::string_view name, double fallback) -> Operand {
    const auto all = json::array(c.setting(name));
    if (!all) return c.number_like(*x, c.real_or(name, fallback));
    return c.uniform(fallback, Dim(static_cast<std::int64_t>(all->size())), c.compute());
  };
  if (!x) return Failure{};
  auto y = c.emit(op("multiply"), {x, list("scale", 1)});
  return one(
      c.real_or("offset", 0) == 0 && !json::array(c.setting("offset")) ? y : c.emit(op("add"), {y, list("offset", 0)}));
}

/// (x − mean) / deviation along the axes, which are weights where the config does not hold them.
Values normalization(Call& c) {
  const auto x = c.cast(c.tensor(), c.compute());
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  Ints shape(static_cast<std::size_t>(*rank), 1);
  for (std::int64_t a : c.list_or("axis", {-1})) {
    const auto axis = c.axis(a, *rank);
    const auto extent = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
    if (!extent) return Failure{};
    shape[static_cast<std::size_t>(*axis)] = *extent;
  }
  Ints kept;
  std::ranges::copy_if(shape, std::back_inserter(kept), [](std::int64_t d) { return d != 1; });
  const auto part = [&](std::string_view name) { return c.reshape(c.weight(name, kept), shape); };
  return one(c.emit(op("divide"), {c.emit(op("subtract"), {x, part("mean")}), part("variance")}));
}

}  // namespace perfc::keras
