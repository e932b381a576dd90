#include "whitebox/launch/value_strides.h"

#include <algorithm>
#include <numeric>

#include "ir/eager_marks.h"
#include "ir/ops/attention_operands.h"
#include "whitebox/launch/einsum_product.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

using Extents64 = std::vector<std::int64_t>;

/// Extents of a tensor of a graph that is planned: all are known.
Extents64 extents_of_shape(const Type& t) {
  Extents64 out;
  if (!t.is_static()) return out;
  for (const Dim& d : t.shape()) out.push_back(d.value());
  return out;
}

Shape to_shape(const Extents64& extents) {
  Shape out;
  for (const std::int64_t e : extents) out.emplace_back(e);
  return out;
}

Strides row_major(const Type& t) {
  if (!t.is_tensor() || !t.ranked()) return {};
  return contiguous_strides(t.shape()).value_or(Strides(t.rank(), 0));
}

/// Dense, with the dims in this order in memory, the one whose neighbours lie side by side first.
Strides dense_in_order(const Extents64& extents, const std::vector<std::size_t>& innermost_first) {
  Strides out(extents.size());
  std::int64_t span = 1;
  for (const std::size_t dim : innermost_first) {
    out[dim] = span;
    span *= std::max<std::int64_t>(extents[dim], 1);
  }
  return out;
}

/// Channels, positions, batch.
std::vector<std::size_t> channels_innermost_first(std::size_t rank) {
  std::vector<std::size_t> order{1};
  for (std::size_t i = rank; i-- > 2;) order.push_back(i);
  order.push_back(0);
  return order;
}

Strides channels_innermost(const Extents64& extents) {
  return dense_in_order(extents, channels_innermost_first(extents.size()));
}

/// A dim's stride is not below the span of those within.
bool suggests_channels_last(const Extents64& extents, const Strides& strides) {
  if ((extents.size() != 4 && extents.size() != 5) || strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::size_t d : channels_innermost_first(extents.size())) {
    if (extents[d] == 0 || strides[d] < least || (d == 0 && least == strides[1])) return false;
    least = strides[d] * std::max<std::int64_t>(extents[d], 1);
  }
  return true;
}

/// Every element once, without gaps (torch's is_non_overlapping_and_dense).
bool is_dense(const Extents64& extents, const Strides& strides) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::size_t d) { return extents[d] == 1; });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  std::int64_t span = 1;
  for (const std::size_t d : order) {
    if (strides[d] != span) return false;
    span *= extents[d];
  }
  return true;
}

/// An operand of an elementwise kernel.
struct Read {
  Extents64 extents;
  Strides strides;

  /// Along a dim of a result of this rank; 0: repeated.
  std::int64_t along(std::size_t dim, const Extents64& result) const {
    const std::size_t absent = result.size() - extents.size();
    if (dim < absent) return 0;
    return extents[dim - absent] == 1 && result[dim] != 1 ? 0 : strides[dim - absent];
  }
};

/// aten/src/ATen/TensorIterator.cpp, reorder_dimensions: below 0, dim a lies within b; above 0, the other way round.
int compare_dims(const std::vector<Read>& reads, const Extents64& result, std::size_t a, std::size_t b) {
  for (const Read& r : reads) {
    const std::int64_t x = r.along(a, result), y = r.along(b, result);
    if (x == 0 || y == 0) continue;
    if (x != y) return x < y ? -1 : 1;
    if (result[a] > result[b]) return 1;
  }
  return 0;
}

/// Strides of what an elementwise kernel writes: in the order in which it reads (TensorIterator.cpp,
/// compute_fast_setup_type, then reorder_dimensions).
Strides written_elementwise(const std::vector<Read>& reads, const Extents64& result) {
  const bool same_shape = std::all_of(reads.begin(), reads.end(), [&](const Read& r) { return r.extents == result; });
  const auto all = [&](auto&& holds) { return same_shape && std::all_of(reads.begin(), reads.end(), holds); };
  const Strides plain = contiguous_strides(to_shape(result)).value_or(Strides(result.size(), 0));
  if (all([&](const Read& r) { return is_contiguous(to_shape(result), r.strides); })) return plain;
  const auto channels_last = [&](const Read& r) { return is_contiguous_channels_last(to_shape(result), r.strides); };
  if (result.size() == 4 && all(channels_last)) return channels_innermost(result);
  if (all([&](const Read& r) { return r.strides == reads[0].strides && is_dense(result, r.strides); }))
    return reads[0].strides;
  std::vector<std::size_t> order(result.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t at = i;
    for (std::size_t j = i; j-- > 0;) {
      const int order_of = compare_dims(reads, result, order[j], order[at]);
      if (order_of < 0) break;
      if (order_of > 0) {
        std::swap(order[j], order[at]);
        at = j;
      }
    }
  }
  return dense_in_order(result, order);
}

/// Strides node by node.
class ValueStrides {
 public:
  ValueStrides(const Graph& g, bool channels_last, bool half, const CastOperands& cast)
      : g_(g), last_(channels_last), half_(half), cast_(cast), of_(g.size()) {}

  std::vector<Strides> all() && {
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.results.empty() || !n.results[0].type.is_tensor() || !n.results[0].type.is_static()) continue;
      of_[id] = of_node(id, n);
      if (of_[id].size() != n.results[0].type.rank()) of_[id] = row_major(n.results[0].type);
    }
    return std::move(of_);
  }

 private:
  const Type& type(ValueId v) const { return g_.type(v); }
  std::optional<std::vector<std::int64_t>> ints(const Node& n, std::size_t i) const {
    const Data* d = i < n.operands.size() && n.operands[i] ? g_.data(n.operands[i]) : nullptr;
    return d ? d->known_ints() : std::nullopt;
  }
  Read read(NodeId user, std::size_t operand) const {
    const Type& t = type(g_.node(user).operands[operand]);
    Read r{extents_of_shape(t), strides_read(g_, user, operand, of_, cast_)};
    if (r.strides.size() != r.extents.size()) r.strides = row_major(t);
    return r;
  }

  Strides of_node(NodeId id, const Node& n) const {
    const Type& to = n.results[0].type;
    if (n.kind != NodeKind::Call) return in_order(n.kind == NodeKind::Var && last_, to);
    const bool reads = !n.operands.empty() && n.operands[0] && type(n.operands[0]).is_static();
    if (!reads || !type(n.operands[0]).is_tensor()) return row_major(to);
    const Read x = read(id, 0);
    if (is_strided_view(g_, n) && !n.attrs.has(kLaunched)) return of_view(n, x, to);
    if (part_written_in_place(n)) return x.strides;
    const OpDef& d = def(n.op);
    if (n.is(op("expand_dims"))) return of_expand_dims(n, x, to);
    if (d.moves == Moves::Reshapes)
      return viewed(type(n.operands[0]).shape(), x.strides, to.shape()).value_or(row_major(to));
    if (d.runs.launch == Launch::ViewIfContiguous && is_contiguous(to.shape(), x.strides)) return x.strides;
    if (d.runs.launch == Launch::ViewIfContiguous || n.attrs.int_or("contiguous", 0) == 1) return row_major(to);
    if (is_elementwise(n) || d.moves == Moves::Copies) return of_elementwise(id, n, to);
    if (n.is(op("nn.batch_norm")) && to.rank() == 3) return written_elementwise({x}, x.extents);
    if (d.category == Category::Attention) return of_attention(id, n, x, to);
    if (d.category == Category::Convolution)
      return convolves_last(n, x) ? channels_innermost(extents_of_shape(to)) : row_major(to);
    if (const auto product = product_operands(g_, id, of_, cast_)) return product->result;
    if (reflects(n)) return row_major(to);
    const bool last = d.runs.format == MemoryFormat::Preserved && to.rank() == x.extents.size() &&
                      suggests_channels_last(x.extents, x.strides) && (!n.is(op("concatenate")) || all_last(id, n));
    return last ? channels_innermost(extents_of_shape(to)) : row_major(to);
  }

  /// Joined parts lie in order unless all lie channels last (aten/src/ATen/native/TensorShape.cpp,
  /// cat_compute_output_memory_format).
  bool all_last(NodeId id, const Node& n) const {
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (!n.operands[i]) continue;
      const Read part = read(id, i);
      if (!suggests_channels_last(part.extents, part.strides)) return false;
    }
    return true;
  }

  static Strides in_order(bool last, const Type& to) {
    return last && to.rank() == 4 ? channels_innermost(extents_of_shape(to)) : row_major(to);
  }

  /// A convolution's order is its data's or its weights' (aten/src/ATen/native/ConvUtils.h,
  /// cudnn_conv_suggest_memory_format); weights that are computed are dense, whatever was asked for, and so are those
  /// of volumes, which torch.channels_last leaves alone.
  bool convolves_last(const Node& n, const Read& x) const {
    const bool stored = n.operands.size() > 1 && n.operands[1] && g_.node(n.operands[1]).kind != NodeKind::Call;
    return (last_ && stored && x.extents.size() == 4) || suggests_channels_last(x.extents, x.strides);
  }

  Strides of_elementwise(NodeId id, const Node& n, const Type& to) const {
    std::vector<Read> reads;
    const bool by_numbers = def(n.op).by_numbers;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (by_numbers && v && v != n.operands[0] && type(v).is_static() && type(v).elements() == 1) continue;
      if (v && type(v).is_tensor() && type(v).is_static() && type(v).rank() <= to.rank()) reads.push_back(read(id, i));
    }
    return written_elementwise(reads, extents_of_shape(to));
  }

  /// Memory-efficient kernels write (batch, queries, heads, channels), flash's and cuDNN's as queries lie
  /// (aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd: empty_like; cudnn/MHA.cpp,
  /// alloc_with_matching_layout), which padded heads do in order.
  Strides of_attention(NodeId id, const Node& n, const Read& queries, const Type& to) const {
    const bool half = half_ || bits(to.dtype()) == 16;
    if (to.rank() != 4 || written_out_attention(g_, id, {fused_attention_reads(g_, id, of_, cast_), half}) ||
        n.attrs.int_or("explicit", 0) == 1)
      return row_major(to);
    const Extents64 extents = extents_of_shape(to);
    if (!half || is_masked_attention(n) || queries.extents != extents) return dense_in_order(extents, {3, 1, 2, 0});
    if (const std::int64_t padded = padded_head(extents.back()); padded != extents.back()) {
      Extents64 wide = extents;
      wide.back() = padded;
      return contiguous_strides(to_shape(wide)).value_or(row_major(to));
    }
    return written_elementwise({queries}, extents);
  }

  Strides of_view(const Node& n, const Read& x, const Type& to) const {
    if (n.attrs.has(kAddedTranspose)) return in_order(last_, to);
    if (n.is(op("transpose"))) {
      Strides out;
      const auto perm = n.attrs.ints_or_empty("perm");
      if (perm.empty()) return Strides(x.strides.rbegin(), x.strides.rend());
      for (const std::int64_t axis : perm) out.push_back(x.strides[static_cast<std::size_t>(axis)]);
      return out;
    }
    if (n.is(op("split"))) return x.strides;
    if (n.is(op("strided_slice"))) return of_slice(n, x);
    if (n.is(op("broadcast_to"))) {
      const Extents64 result = extents_of_shape(to);
      Strides out;
      for (std::size_t i = 0; i < result.size(); ++i) out.push_back(x.along(i, result));
      return out;
    }
    if (n.is(op("take"))) return of_take(n, x);
    return row_major(to);
  }

  /// torch.unsqueeze, axis by axis: a new dim spans the next one.
  Strides of_expand_dims(const Node& n, const Read& x, const Type& to) const {
    auto axes = ints(n, 1);
    if (!axes) return {};
    const auto rank = static_cast<std::int64_t>(to.rank());
    for (std::int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
    std::sort(axes->begin(), axes->end());
    Read out = x;
    for (const std::int64_t axis : *axes) {
      const auto at = std::min(static_cast<std::size_t>(axis), out.strides.size());
      const std::int64_t stride = at < out.strides.size() ? out.extents[at] * out.strides[at] : 1;
      out.strides.insert(out.strides.begin() + static_cast<std::ptrdiff_t>(at), stride);
      out.extents.insert(out.extents.begin() + static_cast<std::ptrdiff_t>(at), 1);
    }
    return out.strides;
  }

  Strides of_slice(const Node& n, const Read& x) const {
    Strides out = x.strides;
    const auto axes = ints(n, 3), steps = ints(n, 4);
    if (!steps) return out;
    for (std::size_t i = 0; i < steps->size(); ++i) {
      const std::int64_t axis = axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i);
      const auto at = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(out.size()) : axis);
      if (at < out.size()) out[at] *= std::abs((*steps)[i]);
    }
    return out;
  }

  /// A constant index, or windows: rows and columns of indices in equal steps.
  Strides of_take(const Node& n, const Read& x) const {
    const auto index = ints(n, 1);
    const std::int64_t given = n.attrs.int_or("axis", 0);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(x.strides.size()) : given);
    if (!index || axis >= x.strides.size()) return {};
    const Extents64 extents = extents_of_shape(type(n.operands[1]));
    Strides out = x.strides;
    const std::int64_t step = out[axis];
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
    for (std::size_t i = extents.size(); i-- > 0;) {
      const std::size_t next = i + 1 == extents.size() ? 1 : static_cast<std::size_t>(extents.back());
      const std::int64_t by = index->size() > next && extents[i] > 1 ? (*index)[next] - (*index)[0] : 1;
      out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), by * step);
    }
    return out;
  }

  const Graph& g_;
  const bool last_;
  const bool half_;
  const CastOperands& cast_;
  std::vector<Strides> of_;
};

/// torch.matmul: expand to the result's batch dims, then reshape to three dims.
std::optional<ProductOperands> of_matmul(const Graph& g, NodeId id, const std::vector<Strides>& strides,
                                         const CastOperands& cast) {
  const Node& n = g.node(id);
  const Type& to = n.results[0].type;
  ProductOperands out{.result = row_major(to)};
  for (std::size_t i = 0; i < 2; ++i) {
    const Type& t = g.type(n.operands[i]);
    if (!t.is_static() || !to.is_static() || t.rank() < 2 || g.type(n.operands[1 - i]).rank() < 3) return std::nullopt;
    if (to.rank() < 3) return std::nullopt;
    out.copies[i] = !is_product_view(t, strides_read(g, id, i, strides, cast), to);
  }
  return out;
}

/// One operand of a contraction: its labels and what lies behind each.
struct Labelled {
  std::vector<int> labels;
  Read read;

  std::optional<std::size_t> at(int label) const {
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) return std::nullopt;
    return static_cast<std::size_t>(found - labels.begin());
  }
};

/// Whether the dims of these labels, run by run, are a view of three dims.
bool is_view_of_runs(const Labelled& x, const std::vector<std::vector<int>>& runs) {
  Extents64 extents, flat;
  Strides strides;
  for (const std::vector<int>& run : runs) {
    flat.push_back(1);
    for (const int label : run) {
      const auto at = x.at(label);
      extents.push_back(at ? x.read.extents[*at] : 1);
      strides.push_back(at ? x.read.strides[*at] : 0);
      flat.back() *= extents.back();
    }
  }
  return viewed(to_shape(extents), strides, to_shape(flat)).has_value();
}

std::optional<ProductOperands> of_einsum(const Graph& g, NodeId id, const std::vector<Strides>& strides,
                                         const CastOperands& cast) {
  const Node& n = g.node(id);
  const auto product = einsum_product(g, n);
  if (!product || product->summed.empty()) return std::nullopt;
  Labelled sides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const Type& t = g.type(n.operands[i]);
    sides[i] = {product->equation.operands[i], {extents_of_shape(t), strides_read(g, id, i, strides, cast)}};
    if (sides[i].read.strides.size() != sides[i].labels.size()) return std::nullopt;
  }
  ProductOperands out{.swapped = product->swapped};
  out.copies[0] = !is_view_of_runs(sides[0], {product->both, product->left, product->summed});
  out.copies[1] = !is_view_of_runs(sides[1], {product->both, product->summed, product->right});
  std::vector<int> written = product->both;
  written.insert(written.end(), product->rows().begin(), product->rows().end());
  written.insert(written.end(), product->columns().begin(), product->columns().end());
  const std::vector<int>& result = product->equation.output;
  std::vector<std::size_t> order;
  for (std::size_t i = written.size(); i-- > 0;)
    order.push_back(static_cast<std::size_t>(std::find(result.begin(), result.end(), written[i]) - result.begin()));
  out.result = dense_in_order(extents_of_shape(n.results[0].type), order);
  return out;
}

}  // namespace

std::vector<Strides> value_strides(const Graph& g, bool channels_last, bool half, const CastOperands& cast) {
  return ValueStrides(g, channels_last, half, cast).all();
}

Strides strides_read(const Graph& g, NodeId user, std::size_t operand, const std::vector<Strides>& strides,
                     const CastOperands& cast) {
  const ValueId v = g.node(user).operands[operand];
  const Strides& lies = strides[v.node];
  const bool is_cast = user < cast.size() && cast[user].contains(operand);
  if (!is_cast || lies.size() != g.type(v).rank() || is_dense(extents_of_shape(g.type(v)), lies)) return lies;
  return elementwise_strides(g.type(v), lies);
}

bool suggests_channels_last(const Type& t, const Strides& strides) {
  return t.is_static() && strides.size() == t.rank() && suggests_channels_last(extents_of_shape(t), strides);
}

bool is_product_view(const Type& t, const Strides& strides, const Type& result) {
  if (!t.is_static() || !result.is_static() || t.rank() < 2 || result.rank() < 4 || strides.size() != t.rank())
    return true;
  const Read x{extents_of_shape(t), strides};
  Extents64 wide = extents_of_shape(result), flat{1};
  for (std::size_t k = 0; k + 2 < wide.size(); ++k) flat[0] *= wide[k];
  for (std::size_t k = 2; k > 0; --k) {
    wide[wide.size() - k] = x.extents[x.extents.size() - k];
    flat.push_back(wide[wide.size() - k]);
  }
  Strides spread;
  for (std::size_t k = 0; k < wide.size(); ++k) spread.push_back(x.along(k, wide));
  return viewed(to_shape(wide), spread, to_shape(flat)).has_value();
}

bool fused_attention_reads(const Graph& g, NodeId id, const std::vector<Strides>& strides, const CastOperands& cast) {
  using enum AttentionOperand::Index;
  const Node& n = g.node(id);
  for (std::size_t i = 0; i < std::min(n.operands.size(), kMask + 1); ++i) {
    const ValueId v = n.operands[i];
    if (!v || !g.type(v).is_static() || strides[v.node].empty()) continue;
    // Of a mask of floats exporters leave out the contiguous() that programs end it with.
    if (i == kMask && g.type(v).dtype() != DType::Bool) continue;
    if (strides_read(g, id, i, strides, cast).back() != 1 && !g.type(v).shape().back().is(1)) return false;
  }
  return true;
}

Strides elementwise_strides(const Type& type, const Strides& strides) {
  const Extents64 extents = extents_of_shape(type);
  return written_elementwise({{extents, strides}}, extents);
}

bool multiplies_matrices(const Node& n) {
  if (n.kind != NodeKind::Call || n.operands.size() < 2 || !n.operands[0] || !n.operands[1]) return false;
  if (n.is(op("einsum"))) return true;
  return n.is(op("nn.batch_matmul"));
}

std::optional<ProductOperands> product_operands(const Graph& g, NodeId id, const std::vector<Strides>& strides,
                                                const CastOperands& cast) {
  const Node& n = g.node(id);
  if (!multiplies_matrices(n)) return std::nullopt;
  return n.is(op("einsum")) ? of_einsum(g, id, strides, cast) : of_matmul(g, id, strides, cast);
}

}  // namespace perfc
