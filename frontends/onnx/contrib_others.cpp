/// com.microsoft's operators of other subjects: padding of batches, images, dropout, numbers of few bits
/// (docs/ContribOperators.md of microsoft/onnxruntime).
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "frontends/onnx/contrib.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;

constexpr std::int64_t kStandard = 13;  ///< operator set whose forms nodes are brought into
const Attrs kFirstAxis{{"axis", std::int64_t{0}}};

/// An operand of one integer, as a number of int64.
Result<ValueId> length(const NodeContext& c, std::size_t i, std::string_view name) {
  const Type& t = c.type(i);
  if (!t.is_tensor() || !is_integer(t.dtype()) || t.elements().value_or(1) != 1)
    return c.error(fmt::format("{} must be an integer, is {}", name, to_string(t)));
  return c.cast(c.reshape(c.inputs[i], {}), DType::Int64);
}

/// (bias_table [buckets, heads], query_length, key_length) → [1, heads, queries, keys]: T5's biases by distance, whose
/// buckets grow with it.
Values relative_position_bias(Importer&, NodeContext& c) {
  if (!takes(c, {"bias_table", "query_length", "key_length"}) || !gives(c, 1) || !rank_of(c, 0, "bias_table", 2, 2))
    return Failure{};
  const auto buckets = extent_of(c, c.inputs[0], 0);
  const auto farthest = whole_number(c, "max_distance"), both_ways = whole_number(c, "is_bidirectional", 0);
  if (!buckets || !farthest || !both_ways) return Failure{};
  const std::int64_t one_way = *both_ways != 0 ? *buckets / 2 : *buckets, exact = one_way / 2;
  if (exact < 1 || *farthest <= exact)
    return c.error(fmt::format("max_distance is {} for {} buckets, of which {} hold one distance each", *farthest,
                               *buckets, exact));
  InsideKernel into_rows(c);
  const auto number = [&](std::int64_t n) { return c.number(static_cast<double>(n), DType::Int64); };
  const auto queries = length(c, 1, "query_length"), keys = length(c, 2, "key_length");
  auto far = c.emit(op("subtract"), {c.expand_dims(counted(c, queries), {1}), counted(c, keys)});
  Result<ValueId> first = number(0);
  if (*both_ways != 0) {
    const auto ahead = far ? c.emit(op("less"), {*far, number(0)}) : far;
    first = c.emit(op("where"), {ahead, number(one_way), number(0)});
    far = c.emit(op("abs"), {far});
  } else {
    far = c.emit(op("maximum"), {far, number(0)});
  }
  if (!far) return Failure{};
  const double per_bucket =
      static_cast<double>(one_way - exact) / std::log(static_cast<double>(*farthest) / static_cast<double>(exact));
  const auto real = [&](double n) { return c.number(n, DType::Float32); };
  const auto logs = c.emit(op("log"), {c.emit(op("divide"), {c.cast(*far, DType::Float32), real(double(exact))})});
  const auto steps = c.cast(c.emit(op("multiply"), {logs, real(per_bucket)}), DType::Int64);
  const auto grown = c.emit(op("minimum"), {c.emit(op("add"), {steps, number(exact)}), number(one_way - 1)});
  const auto near = c.emit(op("less"), {*far, number(exact)});
  const auto bucket = c.emit(op("add"), {first, c.emit(op("where"), {near, *far, grown})});
  into_rows.end();
  const auto rows = c.emit(op("take"), {c.inputs[0], bucket}, kFirstAxis);
  const InsideKernel of_rows(c);
  return outputs_of(c, {c.expand_dims(c.transpose(rows, {2, 0, 1}), {0})});
}

/// (input [b, s, width], sequence_token_count [b]) → the rows that are no padding, where they stood and then those that
/// are, sums of the counts, the largest.
Values remove_padding(Importer&, NodeContext& c) {
  if (!takes(c, {"input", "sequence_token_count"}) || !gives(c, 4) || !rank_of(c, 0, "input", 3, 3) ||
      !require_dims(c, 1, "sequence_token_count", {c.dim(c.inputs[0], 0)}))
    return Failure{};
  const ValueId input = c.inputs[0], count = c.inputs[1];
  const auto width = extent_of(c, input, 2);
  if (!width) return Failure{};
  InsideKernel into_offsets(c);
  const auto rows = c.reshape(input, {-1, *width});
  const auto place = c.cast(counted(c, axis_length(c, input, 1)), c.dtype(count));
  const auto there = c.emit(op("less"), {place, c.expand_dims(count, {1})});
  const auto mask = c.reshape(there, {-1});
  const auto all = c.shape_of(mask);
  const auto order = all ? c.emit_all(op("topk"), {c.cast(mask, DType::Int32), *all}, kFirstAxis, 2) : Failure{};
  const auto sums = c.emit(op("cumsum"), {count, c.number(0, DType::Int64)});
  const auto none = c.cast(c.int_constant({0}), c.dtype(count));
  into_offsets.end();
  if (!order) return Failure{};
  const auto offsets = c.cast((*order)[1], c.dtype(count));  // ONNX Runtime's second kernel, which gives sums, too
  const auto kept = c.emit(op("compress"), {rows, mask}, kFirstAxis);
  const InsideKernel of_offsets(c);
  return outputs_of(c, {kept, c.emit(op("reshape"), {offsets, c.shape_of(input, 0, 2)}), c.join({none, sums}, 0),
                        c.emit(op("max"), {count, c.int_constant({0})}, {{"keepdims", std::int64_t{1}}})});
}

/// (input [tokens, width], token_offset [b, s]) → [b, s, width], zeros where there is no token.
Values restore_padding(Importer&, NodeContext& c) {
  if (!takes(c, {"input", "token_offset"}) || !gives(c, 1) || !rank_of(c, 0, "input", 2, 2) ||
      !rank_of(c, 1, "token_offset", 2, 2))
    return Failure{};
  const ValueId input = c.inputs[0], offsets = c.inputs[1];
  InsideKernel into_scatter(c);
  const auto flat = c.cast(c.reshape(offsets, {-1}), DType::Int64);
  const auto zeros = c.full(c.join({c.shape_of(flat), c.shape_of(input, 1, 2)}, 0), 0, c.dtype(input));
  const auto used =
      c.emit(op("strided_slice"), {flat, c.int_constant({0}), c.shape_of(input, 0, 1), c.int_constant({0})});
  const auto at = c.expand_dims(used, {1});
  const auto shape = c.join({c.shape_of(offsets, 0, 2), c.shape_of(input, 1, 2)}, 0);
  into_scatter.end();
  return outputs_of(c, {c.emit(op("reshape"), {c.emit(op("scatter_nd"), {zeros, at, input}), shape})});
}

Values inverse(Importer&, NodeContext& c) {
  if (!takes(c, {"X"}) || !gives(c, 1) || !rank_of(c, 0, "X", 2, kAnyRank) ||
      !agree(c, c.dim(c.inputs[0], -1), c.dim(c.inputs[0], -2), "rows and columns of X differ"))
    return Failure{};
  return unpriced(c, c.type(0));
}

/// (input [m, n] or [1, m, n]) → the steps of a path, [2, as many as the data say].
Values dynamic_time_warping(Importer&, NodeContext& c) {
  if (!takes(c, {"input"}) || !gives(c, 1) || !rank_of(c, 0, "input", 2, 3)) return Failure{};
  return unpriced(c, Type::tensor(DType::Int32, {Dim(2), Dim::unknown()}));
}

/// (A [m, n], B [k, n]) → distances of all pairs, by a product and sums of squares as ONNX Runtime computes them
/// (contrib_ops/cpu/cdist.h).
Values cdist(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "B"}) || !gives(c, 1) || !rank_of(c, 0, "A", 2, 2) || !rank_of(c, 1, "B", 2, 2)) return Failure{};
  const std::string_view metric = c.attrs.string_or("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    return c.error(fmt::format("metric '{}' has no kernel in ONNX Runtime; euclidean and sqeuclidean have", metric));
  const auto product =
      c.emit(op("nn.dense"), {c.inputs[0], c.inputs[1]}, {{"alpha", -2.0}, {"transB", std::int64_t{1}}});
  const InsideKernel of_product(c);
  const auto squares = [&](std::size_t i, std::int64_t keep) {
    return c.emit(op("reduce_sum_square"), {c.inputs[i], c.int_constant({1})}, {{"keepdims", keep}});
  };
  auto y = c.emit(op("add"), {c.emit(op("add"), {product, squares(0, 1)}), squares(1, 0)});
  if (y) y = c.emit(op("maximum"), {*y, c.number_like(*y, 0)});
  return outputs_of(c, {metric == "euclidean" ? c.emit(op("sqrt"), {y}) : y});
}

/// Windows of `size` every `step` along an axis, theirs the new last dim.
Values unfold(Importer&, NodeContext& c) {
  if (!takes(c, {"input"}) || !gives(c, 1)) return Failure{};
  const auto rank = rank_of(c, 0, "input", 1, kAnyRank);
  const auto dim = whole_number(c, "dim", -1), size = whole_number(c, "size"), step = whole_number(c, "step", 1);
  const auto axis = rank && dim ? c.axis(*dim, *rank) : Failure{};
  if (!axis || !size || !step) return Failure{};
  const auto extent = extent_of(c, c.inputs[0], *axis);
  if (!extent) return Failure{};
  if (*size < 1 || *step < 1 || *size > *extent)
    return c.error(fmt::format("windows of {} every {} over {}", *size, *step, *extent));
  InsideKernel into_windows(c);
  const auto whole = [&](std::int64_t n) { return c.number(static_cast<double>(n), DType::Int64); };
  const auto starts = c.emit(op("arange"), {whole(0), whole((*extent - *size) / *step * *step + 1), whole(*step)});
  const auto index = c.emit(op("add"), {c.expand_dims(starts, {1}), counted(c, whole(*size))});
  into_windows.end();
  const auto windows = c.emit(op("take"), {c.inputs[0], index}, {{"axis", *axis}});
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i <= *rank; ++i)
    if (i != *axis + 1) perm.push_back(i);
  perm.push_back(*axis + 1);
  const InsideKernel of_windows(c);
  return outputs_of(c, {*axis + 1 == *rank ? windows : c.transpose(windows, perm)});
}

/// (weight, indices, padding_idx?, scale_grad_by_freq?): the last two change gradients only.
Values embedding(Importer&, NodeContext& c) {
  if (!takes(c, {"weight", "indices", "padding_idx?", "scale_grad_by_freq?"}) || !rank_of(c, 0, "weight", 2, 2))
    return Failure{};
  return c.finish(op("take"), {c.inputs[0], c.inputs[1]}, kFirstAxis);
}

/// (A […, 2], B […, 2]): real and imaginary parts beside each other. Conj: of B the conjugate.
Values complex_multiply(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "B"}) || !gives(c, 1)) return Failure{};
  for (const std::size_t i : {0, 1}) {
    if (!rank_of(c, i, "a factor", 1, kAnyRank)) return Failure{};
    if (!agree(c, c.dim(c.inputs[i], -1), Dim(2), "a complex number has a real and an imaginary part, the last dim"))
      return Failure{};
  }
  const bool conjugate = c.spelling == "ms:ComplexMulConj";
  const auto straight = c.emit(op("multiply"), {c.inputs[0], c.inputs[1]});  // moves as much memory as the kernel
  const InsideKernel of_straight(c);
  const auto part = [&](Result<ValueId> v, std::int64_t i) { return c.slice(v, -1, i, i + 1); };
  const auto swapped = c.join({part(c.inputs[1], 1), part(c.inputs[1], 0)}, -1);
  const auto crossed = c.emit(op("multiply"), {c.inputs[0], swapped});
  const OpId real = conjugate ? op("add") : op("subtract");
  const auto imaginary = conjugate ? c.emit(op("subtract"), {part(crossed, 1), part(crossed, 0)})
                                   : c.emit(op("add"), {part(crossed, 0), part(crossed, 1)});
  return outputs_of(c, {c.join({c.emit(real, {part(straight, 0), part(straight, 1)}), imaginary}, -1)});
}

/// (X, W, Pads?, B?): ConvTranspose whose padding is an operand.
Values conv_transpose_with_pads(Importer& importer, NodeContext& c) {
  if (!takes(c, {"X", "W", "Pads?", "B?"}) || !gives(c, 1)) return Failure{};
  if (c.has(2)) {
    const Data* pads = c.data(c.inputs[2]);
    if (!pads || !pads->ints() || !pads->fully_known())
      return c.error("operand 2 (Pads) is not known when importing; if it is an input, give it with --value");
    std::vector<std::int64_t> padding;
    for (const SymInt& p : *pads->ints()) padding.push_back(p.value());
    c.attrs.set("padding", std::move(padding));
  }
  std::vector<ValueId> operands{c.inputs[0], c.inputs[1]};
  if (c.has(3)) operands.push_back(c.inputs[3]);
  c.inputs = std::move(operands);
  return as_standard(importer, c, "ConvTranspose", kStandard);
}

/// (X, M: int32): pooling of the elements whose mask is not 0.
Values max_pool_with_mask(Importer& importer, NodeContext& c) {
  if (!takes(c, {"X", "M"}) || !gives(c, 1)) return Failure{};
  InsideKernel into_pool(c);
  const auto least = c.number_like(c.inputs[0], -std::numeric_limits<double>::infinity());
  const auto seen = c.emit(op("where"), {c.cast(c.inputs[1], DType::Bool), c.inputs[0], least});
  into_pool.end();
  if (!seen) return Failure{};
  c.inputs = {*seen};
  return as_standard(importer, c, "MaxPool", kStandard);
}

/// (X [n, c, h, w], rois [k, 4], batch_indices [k], crop_size: two known extents).
Values crop_and_resize(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "rois", "batch_indices", "crop_size"}) || !gives(c, 1)) return Failure{};
  const std::string_view mode = c.attrs.string_or("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest")
    return c.error(fmt::format("unknown mode '{}'; bilinear and nearest exist", mode));
  const Data* size = c.data(c.inputs[3]);
  if (!size || !size->ints() || !size->fully_known() || size->size() != 2)
    return c.error("operand 3 (crop_size) must be two extents known when importing; give an input with --value");
  const auto indices = c.cast(c.inputs[2], DType::Int64);
  if (!indices) return Failure{};
  return c.finish(op("vision.roi_align"), {c.inputs[0], c.inputs[1], *indices},
                  {{"output_height", (*size->ints())[0].value()},
                   {"output_width", (*size->ints())[1].value()},
                   {"sampling_ratio", std::int64_t{1}}});
}

/// (data, ratio?, training_mode?) or (data, bias, residual?, ratio?, training_mode?) → the data, or their sum, and a
/// mask of a bit for each element in numbers of 32, all ones where nothing is dropped.
Values bitmask_dropout(Importer&, NodeContext& c) {
  const bool sums = c.spelling == "ms:BitmaskBiasDropout";
  if (!gives(c, 2) || !(sums ? takes(c, {"data", "bias", "residual?", "ratio?", "training_mode?"})
                             : takes(c, {"data", "ratio?", "training_mode?"})))
    return Failure{};
  Result<ValueId> x = c.inputs[0];
  if (sums) x = c.emit(op("add"), {x, c.inputs[1]});
  if (sums && c.has(2)) x = c.emit(op("add"), {x, c.inputs[2]});
  std::vector<Result<ValueId>> operands{x};
  for (std::size_t i = sums ? 3 : 1; i < c.inputs.size(); ++i) operands.emplace_back(c.inputs[i]);
  std::vector<Result<ValueId>> out{c.emit(op("nn.dropout"), operands)};
  if (c.outputs() > 1) {
    constexpr int kBits = 32;
    const InsideKernel of_dropout(c);
    const auto whole = [&](double n) { return c.number(n, DType::Int64); };
    const auto count = c.emit(op("add"), {c.emit(op("size_of"), {c.inputs[0]}), whole(kBits - 1)});
    const auto length = c.expand_dims(c.emit(op("floor_divide"), {count, whole(kBits)}), {0});
    out.push_back(c.full(length, std::numeric_limits<std::uint32_t>::max(), DType::UInt32));
  }
  return outputs_of(c, out);
}

/// Operand i less its zero point (the operand behind it), in 32 bits.
Result<ValueId> less_zero(const NodeContext& c, std::size_t i) {
  const auto x = c.cast(c.inputs[i], DType::Int32);
  if (!c.has(i + 1)) return x;
  if (c.type(i + 1).elements().value_or(1) != 1)
    return c.error(fmt::format("operand {}, a zero point, must be a number, is {}", i + 1, to_string(c.type(i + 1))));
  return c.emit(op("subtract"), {x, c.cast(c.reshape(c.inputs[i + 1], {}), DType::Int32)});
}

/// (A, A_zero_point?, B, B_zero_point?) of 8 bits → int32.
Values multiply_integers(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "A_zero_point?", "B", "B_zero_point?"})) return Failure{};
  InsideKernel into_product(c);
  const auto a = less_zero(c, 0), b = less_zero(c, 2);
  into_product.end();
  return a && b ? c.finish(op("multiply"), {*a, *b}, {}) : Failure{};
}

/// Sums of numbers of 8 bits in 32, unsigned ones unsigned, unless the file declares the result.
Values sum_integers(Importer&, NodeContext& c) {
  if (!takes(c, {"data"}) || !gives(c, 1)) return Failure{};
  if (!c.attrs.has("axes") || !c.attrs.has("keepdims")) return c.error("needs attributes 'axes' and 'keepdims'");
  const auto keep = whole_number(c, "keepdims");
  if (!keep) return Failure{};
  const bool declared = !c.declared.empty() && c.declared[0].is_tensor() && c.declared[0].dtype() != DType::Undefined;
  const DType wide = declared                               ? c.declared[0].dtype()
                     : c.dtype(c.inputs[0]) == DType::UInt8 ? DType::UInt32
                                                            : DType::Int32;
  InsideKernel into_sum(c);
  const auto x = c.cast(c.inputs[0], wide);
  into_sum.end();
  if (!x) return Failure{};
  return c.finish(op("sum_axes"), {*x, c.int_constant(c.attrs.ints_or_empty("axes"))}, {{"keepdims", *keep}});
}

/// (A, B) of 16 bits → int32, by ONNX Runtime's inference also where both are unsigned.
Values multiply_matrices_of_16_bits(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "B"})) return Failure{};
  InsideKernel into_product(c);
  const auto a = c.cast(c.inputs[0], DType::Int32), b = c.cast(c.inputs[1], DType::Int32);
  into_product.end();
  return a && b ? c.finish(op("nn.batch_matmul"), {*a, *b}, {}) : Failure{};
}

/// Any number of tensors → whether none has an infinite element or one that is not a number.
Values is_all_finite(Importer&, NodeContext& c) {
  if (c.inputs.empty()) return c.error("has no operand");
  if (!gives(c, 1)) return Failure{};
  const bool only_nan = c.attrs.int_or("isnan_only", 0) != 0, only_inf = c.attrs.int_or("isinf_only", 0) != 0;
  if (only_nan && only_inf) return c.error("isnan_only and isinf_only exclude each other");
  const Attrs whole{{"keepdims", std::int64_t{0}}};
  std::vector<Result<ValueId>> found;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.has(i)) return c.error(fmt::format("operand {} is missing", i));
    auto bad = c.emit(only_inf ? op("isinf") : op("isnan"), {c.inputs[i]});
    const InsideKernel of_tensor(c);
    if (!only_inf && !only_nan) bad = c.emit(op("logical_or"), {bad, c.emit(op("isinf"), {c.inputs[i]})});
    found.push_back(c.expand_dims(c.emit(op("any"), {bad}, whole), {0}));
  }
  const InsideKernel of_tensors(c);
  return outputs_of(c, {c.emit(op("logical_not"), {c.emit(op("any"), {c.join(found, 0)}, whole)})});
}

/// x [n] → its values in the order in which they occur, of each element the place of its value, how often each occurs.
Values unique(Importer&, NodeContext& c) {
  if (!takes(c, {"x"}) || !gives(c, 3) || !rank_of(c, 0, "x", 1, 1)) return Failure{};
  const auto all = c.emit_all(op("unique"), {c.inputs[0]}, {{"sorted", std::int64_t{0}}}, 4);
  return all ? outputs_of(c, {(*all)[0], (*all)[2], (*all)[3]}) : Failure{};
}

}  // namespace

std::span<const TranslatorRow> contrib_others_table() {
  static const std::vector<TranslatorRow> table{
      {"ms:RelativePositionBias", relative_position_bias, "arange subtract log take transpose"},
      {"ms:RemovePadding", remove_padding, "compress topk cumsum max"},
      {"ms:RestorePadding", restore_padding, "full scatter_nd"},
      {"ms:Inverse", inverse, "opaque"},
      {"ms:DynamicTimeWarping", dynamic_time_warping, "opaque"},
      {"ms:CDist", cdist, "nn.dense reduce_sum_square add sqrt"},
      {"ms:UnfoldTensor", unfold, "take transpose"},
      {"ms:TorchEmbedding", embedding, "take"},
      {"ms:ComplexMul", complex_multiply, "multiply add subtract concatenate"},
      {"ms:ComplexMulConj", complex_multiply, "multiply add subtract concatenate"},
      {"ms:ConvTransposeWithDynamicPads", conv_transpose_with_pads,
       "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose"},
      {"ms:MaxpoolWithMask", max_pool_with_mask, "where nn.max_pool1d nn.max_pool2d nn.max_pool3d"},
      {"ms:CropAndResize", crop_and_resize, "vision.roi_align"},
      {"ms:BitmaskDropout", bitmask_dropout, "nn.dropout full"},
      {"ms:BitmaskBiasDropout", bitmask_dropout, "add nn.dropout full"},
      {"ms:MulInteger", multiply_integers, "cast subtract multiply"},
      {"ms:ReduceSumInteger", sum_integers, "cast sum_axes"},
      {"ms:MatMulInteger16", multiply_matrices_of_16_bits, "cast nn.batch_matmul"},
      {"ms:IsAllFinite", is_all_finite, "isnan isinf logical_or any logical_not"},
      {"ms:Unique", unique, "unique"},
  };
  return table;
}

}  // namespace perfc::onnx
