/// Convolutions.
#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

struct Geometry {
  ValueId x, weight, bias;
  std::size_t spatial = 0;
  bool batched = true;  ///< else (channels, spatial…), lent a leading dim
};

/// Operands, whose rank the weight tells.
Result<Geometry> geometry(Call& c) {
  Geometry g;
  auto x = c.tensor("input"), w = c.tensor("weight"), b = c.tensor_or_none("bias");
  if (!x || !w || !b) return Failure{};
  const auto rank = c.rank(*w), x_rank = c.rank(*x);
  if (!rank || !x_rank) return Failure{};
  if (*rank < 3 || *rank > 5) return c.error(fmt::format("the weight has rank {}, 3 to 5 are possible", *rank));
  g = {.x = *x, .weight = *w, .bias = *b, .spatial = *rank - 2};
  if (*x_rank + 1 == *rank) {
    auto wide = c.expand_dims(*x, {0});
    if (!wide) return Failure{};
    g.x = *wide;
    g.batched = false;
  }
  return g;
}

Result<std::vector<std::int64_t>> kernel(Call& c, const Geometry& g) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < g.spatial; ++i) {
    auto k = c.known_dim(g.weight, i + 2, "the kernel's extent");
    if (!k) return Failure{};
    out.push_back(*k);
  }
  return out;
}

Values unbatched(Call& c, const Geometry& g, Result<ValueId> y) {
  if (!y || g.batched) return single(c, y);
  return single(c, c.squeeze(*y, {0}));
}

/// `pads`: all begins, then all ends.
Values forward(Call& c, const Geometry& g, std::vector<std::int64_t> pads) {
  const auto k = kernel(c, g);
  auto strides = c.spread("stride", g.spatial, 1), dilation = c.spread("dilation", g.spatial, 1);
  const auto groups = c.integer_or("groups", 1);
  if (!k || !strides || !dilation || !groups) return Failure{};
  return unbatched(c, g,
                   c.emit(family("nn.conv?d").with_dims(g.spatial), {g.x, g.weight, g.bias},
                          {{"dilation", *dilation},
                           {"groups", *groups},
                           {"kernel_size", *k},
                           {"padding", std::move(pads)},
                           {"strides", *strides}}));
}

Values backward(Call& c, const Geometry& g) {
  const auto k = kernel(c, g);
  auto strides = c.spread("stride", g.spatial, 1), dilation = c.spread("dilation", g.spatial, 1);
  auto padding = c.spread("padding", g.spatial, 0), extra = c.spread("output_padding", g.spatial, 0);
  const auto groups = c.integer_or("groups", 1);
  if (!k || !strides || !dilation || !padding || !extra || !groups) return Failure{};
  std::vector<std::int64_t> pads = *padding;
  pads.insert(pads.end(), padding->begin(), padding->end());
  return unbatched(c, g,
                   c.emit(family("nn.conv?d_transpose").with_dims(g.spatial), {g.x, g.weight, g.bias},
                          {{"dilation", *dilation},
                           {"groups", *groups},
                           {"kernel_size", *k},
                           {"output_padding", *extra},
                           {"padding", std::move(pads)},
                           {"strides", *strides}}));
}

/// padding="same" or "valid".
Values by_mode(Call& c, const Geometry& g, std::string_view mode) {
  std::vector<std::int64_t> pads(2 * g.spatial, 0);
  if (mode == "same") {
    const auto k = kernel(c, g);
    const auto dilation = c.spread("dilation", g.spatial, 1);
    if (!k || !dilation) return Failure{};
    for (std::size_t i = 0; i < g.spatial; ++i) {
      const std::int64_t total = (*dilation)[i] * ((*k)[i] - 1);
      pads[i] = total / 2;
      pads[g.spatial + i] = total - total / 2;
    }
  } else if (mode != "valid") {
    return c.error(fmt::format("padding '{}' is neither same nor valid", mode));
  }
  return forward(c, g, std::move(pads));
}

}  // namespace

Values convolution(Call& c) {
  const auto g = geometry(c);
  const auto transposed = c.flag_or("transposed", false);
  if (!g || !transposed) return Failure{};
  if (*transposed) return backward(c, *g);
  if (const std::string* mode = c.arg("padding").string()) return by_mode(c, *g, *mode);
  auto padding = c.spread("padding", g->spatial, 0);
  if (!padding) return Failure{};
  std::vector<std::int64_t> pads = *padding;
  pads.insert(pads.end(), padding->begin(), padding->end());
  return forward(c, *g, std::move(pads));
}

Values convolution_transposed(Call& c) {
  const auto g = geometry(c);
  return g ? backward(c, *g) : Failure{};
}

/// (input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h,
/// dilation_w, groups, offset groups, use_mask) of torchvision.
Values deform_conv2d(Call& c) {
  auto x = c.tensor("input"), w = c.tensor("weight"), offset = c.tensor("offset"), bias = c.tensor_or_none("bias");
  const auto use_mask = c.flag_or("use_mask", true);
  if (!x || !w || !offset || !bias || !use_mask) return Failure{};
  auto mask = *use_mask ? c.tensor_or_none("mask") : Result<ValueId>(ValueId{});
  std::vector<std::int64_t> numbers;
  for (std::string_view name :
       {"stride_h", "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w", "groups", "offset_groups"}) {
    const auto n = c.integer(name);
    if (!n) return Failure{};
    numbers.push_back(*n);
  }
  if (!mask) return Failure{};
  const Type weight = c.type(*w);
  if (!weight.is_static() || weight.rank() != 4) return c.error("the weight must be of rank 4 and known");
  using Ints = std::vector<std::int64_t>;
  return single(c, c.emit(op("nn.deformable_conv2d"), {*x, *w, *offset, *bias, *mask},
                          {{"dilation", Ints{numbers[4], numbers[5]}},
                           {"groups", numbers[6]},
                           {"kernel_size", Ints{weight.shape()[2].value(), weight.shape()[3].value()}},
                           {"offset_group", numbers[7]},
                           {"padding", Ints{numbers[2], numbers[3], numbers[2], numbers[3]}},
                           {"strides", Ints{numbers[0], numbers[1]}}}));
}

}  // namespace perfc::torch
