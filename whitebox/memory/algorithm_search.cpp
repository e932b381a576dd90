#include "whitebox/memory/algorithm_search.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/memory.h"

#include "ir/layout.h"

namespace perfc {
namespace {

constexpr double kWidth = 4;  ///< byte of an element

/// Bytes of a transformed image or window, twice: as transformed, and in the order in which they are multiplied.
double transform_bytes(double width) { return 2 * 8 * width * (width / 2 + 1); }

bool all_ones(const Attrs& attrs, std::string_view key) {
  return std::ranges::all_of(attrs.ints_or_empty(key), [](std::int64_t v) { return v == 1; });
}

}  // namespace

std::optional<AlgorithmSearch> search_of(const Graph& g, NodeId id) {
  const Node& n = g.node(id);
  if (n.operands.size() < 2 || !n.operands[0] || !n.operands[1] || is_transposed_convolution(n.op) ||
      n.attrs.int_or("groups", 1) > 1 || !all_ones(n.attrs, "strides") || !all_ones(n.attrs, "dilation")) {
    return std::nullopt;
  }
  const Type &data = g.type(n.operands[0]), &weight = g.type(n.operands[1]), &result = n.results[0].type;
  if (!data.is_static() || !weight.is_static() || !result.is_static() || data.rank() != 4 || result.rank() != 4)
    return std::nullopt;
  const auto at = data_axes(n.attrs, 4), kernel = kernel_axes(g, n);
  if (!at || !kernel || kernel->spatial.size() != 2) return std::nullopt;

  const auto size = [](const Type& t, std::size_t axis) { return t.shape()[axis].value(); };
  AlgorithmSearch out{.shape = {size(data, at->outer), size(data, at->channel), size(result, at->channel),
                                size(data, at->spatial[0]), size(data, at->spatial[1]), size(result, at->spatial[0]),
                                size(result, at->spatial[1]), size(weight, kernel->spatial[0]),
                                size(weight, kernel->spatial[1])}};
  if (std::ranges::any_of(out.shape, [](std::int64_t v) { return v < 1; })) return std::nullopt;
  std::array<double, 9> of{};
  std::ranges::copy(out.shape, of.begin());
  const auto [images, inputs, outputs, rows, columns, rows_out, columns_out, window_rows, window_columns] = of;
  const double windows = inputs * outputs, planes = images * (inputs + outputs);
  out.data = kWidth * (images * inputs * rows * columns + images * outputs * rows_out * columns_out +
                       windows * window_rows * window_columns);
  if (const double padded = std::max(rows_out + window_rows, columns_out + window_columns) - 1;
      padded <= constants::kWidestTransform) {
    out.whole = transform_bytes(std::exp2(std::ceil(std::log2(std::max(padded, constants::kNarrowestTransform))))) *
                (windows + planes);
  }
  if (std::max(window_rows, window_columns) <= constants::kTransformTile) {
    const auto tiles = [](double extent, double window) {
      return std::ceil(extent / (constants::kTransformTile + 1 - window));
    };
    out.tiled = transform_bytes(constants::kTransformTile) *
                (windows + planes * tiles(rows_out, window_rows) * tiles(columns_out, window_columns));
  }
  if (out.whole == 0 && out.tiled == 0) return std::nullopt;
  return out;
}

}  // namespace perfc
