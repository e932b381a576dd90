/// Views, crops, padding, resizing.
#include <algorithm>

#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

/// Spatial axes of data of this rank.
Ints spatial_axes(const Call& c, std::int64_t rank) {
  Ints out;
  for (std::int64_t a = 1; a + 1 < rank; ++a) out.push_back(c.channels_last() ? a : a + 1);
  return out;
}

/// "cropping" and "padding": (before, behind) per spatial axis, of one axis also as two numbers.
Result<std::vector<std::pair<std::int64_t, std::int64_t>>> margins(const Call& c, std::string_view name,
                                                                   std::size_t n) {
  const auto list = json::array(c.setting(name));
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  const auto take = [&](const std::optional<json::Element>& before, const std::optional<json::Element>& behind) {
    out.emplace_back(json::integer(before).value_or(-1), json::integer(behind).value_or(-1));
  };
  if (list) {
    for (const json::Element& e : *list) {
      const auto pair = json::array(e);
      if (pair && pair->size() == 2) take(pair->at(0).value(), pair->at(1).value());
      else take(e, e);
    }
    if (n == 1 && out.size() == 2) out = {{out[0].first, out[1].first}};
  } else {
    out.assign(n, {c.integer_or(name, -1), c.integer_or(name, -1)});
  }
  const auto odd = [](const std::pair<std::int64_t, std::int64_t>& m) {
    return m.first < 0 || m.second < 0 || m.first > (1 << 30) || m.second > (1 << 30);
  };
  if (out.size() != n || std::ranges::any_of(out, odd))
    return c.error(fmt::format("'{}' does not fit {} spatial axes", name, n));
  return out;
}

Operand resized(const Call& c, Operand x, const Ints& axes, const Ints& sizes, std::string_view mode) {
  const std::string kind(mode == "nearest" ? "nearest" : mode == "bicubic" ? "cubic" : "linear");
  return c.emit(op("image.resize2d"), {x, ValueId{}, ValueId{}, c.int_constant(sizes)},
                {{"axes", axes},
                 {"coordinate_transformation_mode", std::string(kind == "nearest" ? "asymmetric" : "half_pixel")},
                 {"mode", kind}});
}

}  // namespace

/// target_shape without the batch.
Values reshape(Call& c) {
  Ints shape = c.list_or("target_shape", {});
  shape.insert(shape.begin(), 0);  // as it is
  return one(c.reshape(c.tensor(), shape));
}

Values flatten(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  return one(*rank == 1 ? c.expand_dims(x, {1}) : c.reshape(x, {0, -1}));
}

/// dims count from 1, the batch is 0.
Values permute(Call& c) {
  Ints perm = c.list_or("dims", {});
  perm.insert(perm.begin(), 0);
  return one(c.transpose(c.tensor(), perm));
}

Values repeat_vector(Call& c) {
  return one(c.emit(op("tile"), {c.expand_dims(c.tensor(), {1}), c.int_constant({1, c.integer_or("n", 1), 1})}));
}

Values cropping(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const Ints axes = spatial_axes(c, *rank);
  const auto crops = margins(c, "cropping", axes.size());
  if (!crops) return Failure{};
  Ints starts, ends;
  for (const auto& [before, behind] : *crops) {
    starts.push_back(before);
    ends.push_back(behind == 0 ? INT64_MAX : -behind);
  }
  return one(c.emit(op("strided_slice"), {x, c.int_constant(starts), c.int_constant(ends), c.int_constant(axes)}));
}

Values zero_padding(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const Ints axes = spatial_axes(c, *rank);
  const auto given = margins(c, "padding", axes.size());
  if (!given) return Failure{};
  Ints pads(2 * static_cast<std::size_t>(*rank), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    pads[static_cast<std::size_t>(axes[i])] = (*given)[i].first;
    pads[static_cast<std::size_t>(*rank + axes[i])] = (*given)[i].second;
  }
  return one(c.emit(op("nn.pad"), {x, c.int_constant(pads)}));
}

/// Every spatial axis by a factor.
Values up_sampling(Call& c) {
  const auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  const Ints axes = spatial_axes(c, *rank);
  const auto factors = c.ints("size", axes.size(), 2);
  if (!factors) return Failure{};
  Ints sizes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto extent = c.known_dim(*x, axes[i]);
    std::int64_t size = 0;
    if (!extent) return Failure{};
    if ((*factors)[i] < 1 || __builtin_mul_overflow(*extent, (*factors)[i], &size))
      return c.error(fmt::format("{} times as large", (*factors)[i]));
    sizes.push_back(size);
  }
  return one(resized(c, x, axes, sizes, c.text_or("interpolation", "nearest")));
}

Values resizing(Call& c) {
  const auto x = c.cast(c.tensor(), c.compute());
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank < 3) return c.error(fmt::format("data of rank {}", *rank));
  const std::int64_t first = c.channels_last() ? *rank - 3 : *rank - 2;
  return one(resized(c, x, {first, first + 1}, {c.integer_or("height", -1), c.integer_or("width", -1)},
                     c.text_or("interpolation", "bilinear")));
}

/// The middle of an image; smaller ones are resized.
Values center_crop(Call& c) {
  auto x = c.tensor();
  const auto rank = c.rank(x);
  if (!rank) return Failure{};
  if (*rank < 3) return c.error(fmt::format("data of rank {}", *rank));
  const std::int64_t first = c.channels_last() ? *rank - 3 : *rank - 2;
  const Ints sizes{c.integer_or("height", -1), c.integer_or("width", -1)};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto extent = c.known_dim(*x, first + static_cast<std::int64_t>(i));
    if (!extent) return Failure{};
    if (*extent < sizes[i]) return one(resized(c, x, {first, first + 1}, sizes, "bilinear"));
    const std::int64_t start = (*extent - sizes[i]) / 2;
    x = c.slice(x, first + static_cast<std::int64_t>(i), start, start + sizes[i]);
  }
  return one(x);
}

}  // namespace perfc::keras
