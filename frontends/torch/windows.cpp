/// Sliding windows: unfold, im2col and back.
#include <fmt/format.h>

#include "frontends/torch/translate.h"

namespace perfc::torch {

/// Windows of `size` every `step` along a dim, which become the last dim.
Values unfold(Call& c) {
  auto v = c.tensor("self");
  const auto dim = c.integer("dimension"), size = c.integer("size"), step = c.integer("step");
  if (!v || !dim || !size || !step) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  const auto axis = c.axis(*dim, *rank);
  if (!axis) return Failure{};
  const auto extent = c.known_dim(*v, *axis, "the extent to unfold");
  if (!extent) return Failure{};
  if (*size < 1 || *step < 1 || *size > *extent)
    return c.error(fmt::format("windows of {} every {} over {}", *size, *step, *extent));
  const std::int64_t count = (*extent - *size) / *step + 1;
  auto index = window_indices(c, count, *step, *size, 1);
  auto y = index ? c.emit(op("take"), {*v, *index}, {{"axis", static_cast<std::int64_t>(*axis)}}) : index;
  if (!y) return Failure{};
  // (…, count, size, rest…) → (…, count, rest…, size)
  std::vector<std::int64_t> perm = identity(*rank + 1);
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(*axis) + 1);
  perm.push_back(static_cast<std::int64_t>(*axis) + 1);
  if (*axis + 1 == *rank) return c.result(*y);
  return single(c, c.transpose(*y, std::move(perm)));
}

Result<ValueId> window_indices(Call& c, std::int64_t rows, std::int64_t row_step, std::int64_t columns,
                               std::int64_t column_step) {
  if (rows < 1 || columns < 1 || rows > INT32_MAX / columns)
    return c.error(fmt::format("{} × {} windows", rows, columns));
  DataRef data;
  if (rows * columns <= Data::kMaxElements) {
    std::vector<SymInt> values;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) values.emplace_back(i * row_step + j * column_step);
    }
    auto d = std::make_shared<Data>();
    d->elements = std::move(values);
    data = std::move(d);
  }
  return c.constant({Type::tensor(DType::Int64, {rows, columns}), std::move(data)});
}

/// Sliding blocks as columns: gathers along height and width, then a reshape.
Values im2col(Call& c) {
  auto v = c.tensor("self");
  auto kernel = c.spread("kernel_size", 2, 1), dilation = c.spread("dilation", 2, 1);
  auto padding = c.spread("padding", 2, 0), stride = c.spread("stride", 2, 1);
  if (!v || !kernel || !dilation || !padding || !stride) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (*rank != 4) return c.error(fmt::format("data of rank {}, 4 is needed", *rank));
  if ((*padding)[0] != 0 || (*padding)[1] != 0) {
    const InsideKernel of_windows(c);
    v = c.emit(op("nn.pad"),
               {*v, c.int_constant({0, 0, (*padding)[0], (*padding)[1], 0, 0, (*padding)[0], (*padding)[1]})});
    if (!v) return Failure{};
  }
  const Dim channels = c.dim(*v, 1);
  std::int64_t count[2];
  const ValueId x = *v;
  std::vector<Value> lead{c.size_of(x, 0)};
  for (std::size_t i = 0; i < 2; ++i) {
    // After the first gather the width stands at 4.
    const auto extent = c.known_dim(*v, i == 0 ? 2 : 4, "an extent of the data");
    if (!extent) return Failure{};
    const std::int64_t reach = (*dilation)[i] * ((*kernel)[i] - 1) + 1;
    if ((*kernel)[i] < 1 || (*stride)[i] < 1 || reach > *extent)
      return c.error(fmt::format("a window of {} over {}", reach, *extent));
    count[i] = (*extent - reach) / (*stride)[i] + 1;
    auto index = window_indices(c, (*kernel)[i], (*dilation)[i], count[i], (*stride)[i]);
    v = index ? c.emit(op("take"), {*v, *index}, {{"axis", static_cast<std::int64_t>(i == 0 ? 2 : 4)}}) : index;
    if (!v) return Failure{};
  }
  // (n, c, kh, oh, kw, ow) → (n, c, kh, kw, oh, ow) → (n, c·kh·kw, oh·ow)
  v = c.transpose(*v, {0, 1, 2, 4, 3, 5});
  if (!v) return Failure{};
  if (!channels.known()) return c.error("the channels of the data must be known when importing");
  lead.emplace_back(Scalar::of(channels.value() * (*kernel)[0] * (*kernel)[1]));
  lead.emplace_back(Scalar::of(count[0] * count[1]));
  auto shape = c.int_vector(lead);
  return shape ? single(c, c.emit(op("reshape"), {*v, *shape})) : Failure{};
}

Values col2im(Call& c) {
  auto v = c.tensor("self");
  auto size = c.spread("output_size", 2, 1), kernel = c.spread("kernel_size", 2, 1),
       dilation = c.spread("dilation", 2, 1);
  auto padding = c.spread("padding", 2, 0), stride = c.spread("stride", 2, 1);
  if (!v || !size || !kernel || !dilation || !padding || !stride) return Failure{};
  std::vector<std::int64_t> pads = *padding;
  pads.insert(pads.end(), padding->begin(), padding->end());
  return single(c, c.emit(op("col2im"), {*v, c.int_constant(*size), c.int_constant(*kernel)},
                          {{"dilation", *dilation}, {"padding", pads}, {"strides", *stride}}));
}

}  // namespace perfc::torch
