#include "whitebox/launch/geometry.h"

#include <algorithm>
#include <cmath>

#include "ir/layout.h"
#include "ir/ops/attention.h"
#include "ir/ops/grouped_rows.h"
#include "whitebox/constants/convolutions.h"
#include "whitebox/launch/einsum_product.h"

namespace perfc {
namespace {

double extent(const Type& t, std::size_t axis) { return static_cast<double>(t.shape()[axis].value()); }

/// Result channels of one of a convolution's groups.
double group_outputs(const Node& n, const Type& weight, const TensorAxes& axes, double groups) {
  return extent(weight, axes.outer) / (is_transposed_convolution(n.op) ? 1 : groups);
}

/// Of the planes of a 2-D convolution's result.
double plane_tiles(const Node& n) {
  const Type& result = n.results[0].type;
  const auto axes = data_axes(n.attrs, result.rank());
  if (!axes || axes->spatial.size() != 2) return 0;
  double tiles = extent(result, axes->outer);
  for (const std::size_t axis : axes->spatial) tiles *= std::ceil(extent(result, axis) / constants::kWinogradTile);
  return tiles;
}

Extents convolution_extents(const Graph& g, const Node& n, double elements, double macs, Extents e) {
  const auto axes = kernel_axes(g, n);
  const Type& w = g.type(n.operands[1]);
  if (!axes || !w.is_static() || elements <= 0) return e;
  e.products = static_cast<double>(n.attrs.int_or("groups", 1));
  for (std::size_t axis : axes->spatial) e.window *= extent(w, axis);
  e.weights = static_cast<double>(w.elements().value_or(0));
  e.tiles = plane_tiles(n);
  if (const auto data = data_axes(n.attrs, n.results[0].type.rank()); data && !data->spatial.empty())
    e.row = extent(n.results[0].type, data->spatial.back());
  for (std::int64_t s : n.attrs.ints_or_empty("strides")) e.stride *= static_cast<double>(s);
  e.n = group_outputs(n, w, *axes, e.products);
  e.m = e.n > 0 ? elements / (e.products * e.n) : 0;
  e.k = macs / elements;
  return e;
}

/// Rows or columns of the result are shared out evenly, as far as one knows; a stack of results is not.
/// `e`: as if all rows met one matrix.
Extents grouped_extents(const GroupedRows& g, Extents e) {
  e.groups = g.groups;
  e.products = g.touched();
  (g.matrices == 1 ? e.m : e.n) /= e.products;
  return e;
}

std::optional<Extents> einsum_extents(const Graph& g, const Node& n, double macs, Extents e) {
  const auto product = einsum_product(g, n);
  if (!product) return std::nullopt;
  const auto elements = [&](const std::vector<int>& labels) {
    double out = 1;
    for (const int label : labels) out *= static_cast<double>(product->equation.extent.at(label).value());
    return out;
  };
  e.products = elements(product->both);
  e.m = elements(product->rows());
  e.n = elements(product->columns());
  e.k = macs / (e.products * e.m * e.n);
  return e;
}

Extents product_extents(const Graph& g, const Node& n, const Type& result, double elements, double macs, Extents e) {
  e.k = macs / elements;
  if (n.is(op("nn.dense")) || result.rank() <= 2) return e;
  if (n.is(op("einsum"))) {
    if (const auto found = einsum_extents(g, n, macs, e)) return *found;
  }
  // A stack by one matrix is one product of all its rows (aten/src/ATen/native/LinearAlgebra.cpp, should_fold).
  if (n.is(op("nn.batch_matmul")) && n.operands[1] && g.type(n.operands[1]).rank() == 2) return e;
  e.m = extent(result, result.rank() - 2);
  e.products = e.m * e.n > 0 ? elements / (e.m * e.n) : 1;
  return e;
}

}  // namespace

double pooled_reads(const Graph& g, const Node& n) {
  if (def(n.op).category != Category::Pooling || n.operands.size() != 1 || !n.attrs.has("kernel_size")) return 0;
  const auto results = static_cast<double>(n.results[0].type.elements().value_or(0));
  return results * window_elements(n.attrs, g.type(n.operands[0]));
}

bool is_rare_convolution(const Graph& g, const Node& n) {
  const auto is_wide = [&](std::string_view attribute) {
    return std::ranges::any_of(n.attrs.ints_or_empty(attribute), [](std::int64_t x) { return x > 1; });
  };
  constexpr std::size_t kVolumeRank = 5;
  const Type& data = g.type(n.operands[0]);
  return is_wide("dilation") || (data.ranked() && data.rank() == kVolumeRank) ||
         (is_transposed_convolution(n.op) && is_wide("strides"));
}

Extents elementwise_extents(const Type& t, double elements) {
  Extents e;
  e.n = t.is_static() && t.rank() > 0 ? static_cast<double>(t.shape().back().value()) : 1;
  e.m = e.n > 0 ? elements / e.n : 0;
  e.k = 1;
  return e;
}

Extents extents_of_rows(const Node& n, Extents e) {
  const Type& result = n.results[0].type;
  if (!result.is_static()) return e;
  const auto axis = normalized_axis(n.attrs.int_or("axis", -1), result.rank());
  for (std::size_t a = axis.value_or(result.rank()); a + 1 < result.rank(); ++a) {
    e.n *= extent(result, a);
    e.m /= extent(result, a);
  }
  return e;
}

Extents extents_of(const Graph& g, NodeId id, double macs) {
  const Node& n = g.node(id);
  if (n.results.empty() || !n.results[0].type.is_static() || !n.results[0].type.is_tensor()) return {};
  const auto part = part_written_in_place(n);
  const Type& result = part && g.type(n.operands[*part]).is_static() ? g.type(n.operands[*part]) : n.results[0].type;
  const auto elements = static_cast<double>(*result.elements());
  Extents e = elementwise_extents(result, elements);
  const bool convolves = def(n.op).category == Category::Convolution && n.operands.size() > 1;
  if (convolves) return convolution_extents(g, n, elements, macs, e);
  if (elements <= 0) return e;
  if (uses_matrix_unit(n.op) && !is_einsum_without_sum(g, n)) {
    e = product_extents(g, n, result, elements, macs, e);
    const auto grouped = n.is(op("nn.grouped_matmul")) ? grouped_rows(CostContext(g, id)) : std::nullopt;
    return grouped ? grouped_extents(*grouped, e) : e;
  }
  if (!part && !n.operands.empty() && n.operands[0]) {
    e.k = static_cast<double>(g.type(n.operands[0]).elements().value_or(0)) / elements;
  }
  return e;
}

AttentionSpan attention_span(const Graph& g, NodeId id) {
  const AttentionFn measures = def(g.node(id).op).attention;
  const auto a = measures ? measures(CostContext(g, id)) : std::nullopt;
  if (!a) return {};
  return {.batch = a->batch,
          .heads = a->q_heads,
          .key_heads = a->kv_heads,
          .queries = a->q_len,
          .keys = a->kv_len,
          .channels = (a->head + a->v_head) / 2,
          .causal = a->causal,
          .past = a->past,
          .window = a->window,
          .writes_cache = a->writes_cache,
          .unequal = a->head != a->v_head};
}

double row_alignment(const Type& t) {
  if (!t.is_static() || t.rank() == 0) return 0;
  const std::int64_t row = t.shape().back().value();
  return row % 8 == 0 ? 1 : row % 2 == 0 ? 0.5 : 0;
}

double channel_alignment(const Graph& g, const Node& n) {
  const Type& w = g.type(n.operands[1]);
  const auto axes = kernel_axes(g, n);
  return w.is_static() && axes && w.shape()[axes->outer].value() % 8 == 0 ? 1 : 0.5;
}

ConvolutionGroup convolution_group(const Graph& g, const Node& n, double window, bool channels_last) {
  ConvolutionGroup out{.inputs = kUngrouped, .outputs = kUngrouped, .window = window, .channels_last = channels_last};
  const Type& w = g.type(n.operands[1]);
  const auto axes = kernel_axes(g, n);
  if (!w.is_static() || w.rank() < 3 || !axes) return out;
  const auto groups = static_cast<double>(n.attrs.int_or("groups", 1));
  out.outputs = group_outputs(n, w, *axes, groups);
  out.inputs = extent(w, axes->channel) / (is_transposed_convolution(n.op) ? groups : 1);
  return out;
}

}  // namespace perfc
