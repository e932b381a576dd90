#include "whitebox/launch/element_clocks.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/elements.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/memory_bound.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/geometry.h"
#include "whitebox/launch/reduction.h"

namespace perfc {
namespace {

/// Whether elements that are neighbours in one tensor are so in the other.
bool lie_alike(const Shape& shape, const Strides& a, const Strides& b) {
  if (a.size() != shape.size() || b.size() != shape.size()) return true;  // nothing is known: as they come
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].value() != 1 && a[i] != b[i]) return false;
  }
  return true;
}

/// How the operands of an elementwise kernel lie and differ (TensorIterator.cpp, is_contiguous; Loops.cuh): it can walk
/// over those alone that lie as its result and have one width.
struct Operands {
  bool indexed = false;              ///< one of several elements is read for several results, or lies otherwise
  double narrowest = 0, widest = 0;  ///< bytes per element of floating-point ones
  bool mixed() const { return narrowest < widest; }
};

Operands operands_of(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  const Type& result = of.g.type({id, 0});
  Operands out;
  for (const ValueId v : n.operands) {
    if (!v || !of.g.type(v).is_static() || !result.is_static() || of.g.type(v).elements() == 1) continue;
    const Type& own = of.g.type(v);
    const bool alike =
        own.shape() == result.shape() && lie_alike(result.shape(), of.layout.strides[v.node], of.layout.strides[id]);
    if (!alike) out.indexed = true;
    // Autocast narrows a bias before its convolution's call adds it.
    if (!is_float(own.dtype()) || n.is(op("nn.bias_add"))) continue;
    const double width = of.widths.read_width(v, n);
    out.narrowest = out.widest > 0 ? std::min(out.narrowest, width) : width;
    out.widest = std::max(out.widest, width);
  }
  return out;
}

double elements_of(const PlannedGraph& of, NodeId id) { return of.elements({id, 0}); }

/// Of float32 to 16 bits alone PyTorch has a kernel that loads vectors (aten/src/ATen/native/cuda/Copy.cu,
/// direct_copy_kernel_cuda).
bool widens(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  const auto is_float_value = [&](ValueId v) { return v && is_float(of.g.type(v).dtype()); };
  return n.is(op("cast")) && is_float_value(n.operands[0]) && is_float_value({id, 0}) && !of.widths.is_half(id) &&
         of.widths.read_width(n.operands[0], n) == 2;
}

double elementwise_clocks(const PlannedGraph& of, NodeId id, bool half) {
  const Node& n = of.node(id);
  if (widens(of, id)) return constants::kWideningClocks * elements_of(of, id);
  const Operands o = operands_of(of, id);
  const double each = o.mixed()   ? o.indexed ? constants::kMixedIndexedClocks : constants::kMixedClocks
                      : o.indexed ? indexed_clocks(half)
                      : half && n.is(op("nn.gelu")) ? constants::kGeluClocks16
                                                    : 0;
  return each * elements_of(of, id);
}

/// Of a reduction: it says where its value stands (argmax, argmin).
bool finds_place(const Node& n) { return n.attrs.has("axis"); }

/// Axes that a reduction runs over, as written; none: all, or nobody knows.
std::vector<std::int64_t> reduced_axes(const PlannedGraph& of, const Node& n) {
  if (finds_place(n)) return {n.attrs.int_or("axis", 0)};
  if (n.operands.size() < 2 || !n.operands[1] || n.is(op("qnn.reduce_mean"))) return n.attrs.ints_or_empty("axes");
  const Data* data = of.g.data(n.operands[1]);
  return data ? data->known_ints().value_or(std::vector<std::int64_t>{}) : std::vector<std::int64_t>{};
}

double reduction_clocks(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  if (!reduces_rows(of, id)) return constants::kReducedColumnClocks * of.elements(n.operands[0]);
  return (finds_place(n) ? constants::kFoundRowClocks : constants::kReducedRowClocks) * elements_of(of, id);
}

double pooling_clocks(const PlannedGraph& of, NodeId id, double reads) {
  const constants::WindowClocks& c = of.layout.channels_last[id] ? constants::kPoolingLast : constants::kPoolingFirst;
  return c.result * elements_of(of, id) + c.element * reads;
}

/// Thread blocks of a concatenation whose parts lie in order.
double blocks_of_parts(const PlannedGraph& of, NodeId id, bool rows) {
  double parts = 0, largest = 0;
  for (ValueId v : of.node(id).operands) {
    const double elements = v ? of.elements(v) : 0;
    parts += elements > 0;
    largest = std::max(largest, elements);
  }
  const double wide = of.widths.is_half(id) && !rows ? 2 : 1;
  return parts * std::min(std::ceil(largest / wide / constants::kConcatenatedBlock), constants::kConcatenatedBlocks);
}

/// Whether each part of a row is whole loads of vectors.
bool are_vectors(const PlannedGraph& of, const Node& n) {
  return std::ranges::all_of(n.operands, [&](ValueId v) {
    const Type& t = of.g.type(v);
    if (!t.is_static() || t.rank() == 0) return false;
    const double row = static_cast<double>(t.shape().back().value()) * of.widths.read_width(v, n);
    return std::fmod(row, constants::kVectorLoad) == 0;
  });
}

/// Rows side by side in the order that they lie in: else, and where they are whole vectors, a few long pieces, which
/// are copied as they are (aten/src/ATen/native/cuda/Shape.cu, CatArrayBatchedCopy_vectorized).
double concatenation_clocks(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  const Type& result = of.g.type({id, 0});
  if (!result.is_static() || result.rank() == 0) return 0;
  const bool strided = std::ranges::any_of(n.operands, [&](ValueId v) {
    return v && of.g.type(v).is_static() && !lies_in_order(of.g, v, of.layout) && !of.layout.channels_last[v.node];
  });
  if (strided) return constants::kConcatenatedStrided * elements_of(of, id);
  const auto axis = normalized_axis(n.attrs.int_or("axis", 0), result.rank());
  const bool rows =
      axis && (of.layout.channels_last[id] ? *axis == 1 : *axis == result.rank() - 1 && !are_vectors(of, n));
  const double each = rows ? constants::kConcatenatedRows * elements_of(of, id) : 0;
  return std::max(each, constants::kConcatenatedBlockClocks * blocks_of_parts(of, id, rows));
}

double resize_clocks(const PlannedGraph& of, NodeId id) {
  const bool last = of.layout.channels_last[id];
  const std::string_view mode = of.node(id).attrs.string_or("mode", "nearest");
  if (mode != "nearest" && !last) return 0;  // steps one after the other: framework.h, serial_steps
  const double each = mode != "nearest" ? constants::kLinearLast
                      : last            ? constants::kNearestLast
                                        : constants::kNearestFirst;
  return each * elements_of(of, id);
}

/// What a short row takes beyond its columns.
double softmax_clocks(const PlannedGraph& of, NodeId id) {
  const Type& t = of.g.type({id, 0});
  if (!t.is_static() || t.rank() == 0) return 0;
  const auto columns = static_cast<double>(t.shape().back().value());
  if (columns < 1 || columns > constants::kSoftmaxWarpColumns) return 0;
  const double filled = std::exp2(std::ceil(std::log2(columns))) - columns;
  return elements_of(of, id) / columns * (constants::kSoftmaxRowClocks + constants::kSoftmaxWarpTime.column * filled);
}

}  // namespace

bool reduces_rows(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  const Type& data = of.g.type(n.operands[0]);
  if (!data.is_static() || data.rank() == 0) return false;
  const NodeId from = n.operands[0].node;
  if (def(n.op).category != Category::Reduction) return !of.layout.channels_last[from];  // a pooling
  static const Strides unknown;
  const Strides& strides = of.layout.strides.empty() ? unknown : of.layout.strides[from];
  const auto axes = reduced_axes(of, n);
  if (axes.empty()) return true;
  return std::ranges::any_of(axes, [&](std::int64_t a) {
    const auto axis = normalized_axis(a, data.rank());
    if (!axis) return false;
    return strides.size() == data.rank()
               ? strides[*axis] == 1 && data.shape()[*axis].value() > 1
               : *axis == (data.rank() > 3 && of.layout.channels_last[from] ? 1 : data.rank() - 1);
  });
}

double reduction_us(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  const bool reduces =
      !def(n.op).scans && def(kernel_op(n)).category == Category::Reduction && !n.operands.empty() && n.operands[0];
  if (!reduces || !of.g.type({id, 0}).is_static() || elements_of(of, id) == 0) return 0;
  const ValueId data = n.operands[0];
  const double results = elements_of(of, id);
  return reduction_wait_us({results, of.elements(data) / results, of.widths.read_width(data, n), reduces_rows(of, id)});
}

double element_clocks(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  if (n.operands.empty() || !n.operands[0]) return 0;
  if (const double reads = pooled_reads(of.g, n); reads > 0 && kernel_op(n) == n.op)
    return pooling_clocks(of, id, reads);
  const OpId runs = kernel_op(n);
  if (is_elementwise(n) || n.is(op("nn.bias_add"))) return elementwise_clocks(of, id, of.widths.is_half(id));
  if (def(n.op).scans) return 0;
  if (def(runs).category == Category::Reduction && of.g.type({id, 0}).is_static()) return reduction_clocks(of, id);
  if (n.is(op("concatenate"))) return concatenation_clocks(of, id);
  if (def(n.op).category == Category::Softmax) return softmax_clocks(of, id);
  if (n.is(op("roll"))) return constants::kRollClocks * elements_of(of, id);
  if (n.is(op("image.resize2d"))) return resize_clocks(of, id);
  return 0;
}

double indexed_clocks(bool half) { return half ? constants::kIndexedClocks16 : constants::kIndexedClocks32; }

double copy_clocks(const PlannedGraph& of, ValueId v, bool half) {
  const Type& t = of.g.type(v);
  const Strides& strides = of.layout.strides[v.node];
  if (!t.is_static() || strides.size() != t.rank() || t.rank() == 0 || is_contiguous(t.shape(), strides)) return 0;
  return indexed_clocks(half) * of.elements(v);
}

bool turns_rows(const PlannedGraph& of, ValueId v) {
  const Type& t = of.g.type(v);
  const Strides& strides = of.layout.strides[v.node];
  if (!t.is_static() || strides.size() != t.rank() || t.rank() == 0) return false;
  std::size_t last = t.rank() - 1;
  while (last > 0 && t.shape()[last].value() == 1) --last;
  return strides[last] != 1 && t.shape()[last].value() != 1;
}

}  // namespace perfc
