#pragma once
/// Functions that rows of the operator table refer to, by file, and what they share.
#include <algorithm>

#include "frontends/torch/aten_table.h"

namespace perfc::torch {

// ---- Type promotion (torch.result_type), in elementwise.cpp
DType promote(DType a, DType b);
DType result_type(Call& c, std::span<const Value* const> values);
inline DType result_type(Call& c, std::initializer_list<const Value*> values) {
  return result_type(c, std::span(values.begin(), values.size()));
}
/// A tensor or a number in this element type.
Result<ValueId> promoted(Call& c, const Value& v, DType dtype);

// ---- In normalization.cpp, views.cpp, windows.cpp, signal.cpp, indexing.cpp, gather_scatter.cpp
/// `out`, and for results that only a backward pass reads constants in their place.
Values with_unused(Call& c, Values out);
inline constexpr std::int64_t kEnd = INT64_MAX;  ///< of a slice
std::vector<std::int64_t> identity(std::size_t rank);
/// Dims of the tensor, with [first, last] replaced by `in_place`.
std::vector<Value> dims_with(Call& c, ValueId v, std::size_t rank, std::size_t first, std::size_t last,
                             const std::vector<Value>& in_place);
/// The tensor `self` and which of its dims `dim` says; 0 where it says none.
struct SelfAxis {
  ValueId self;
  std::size_t rank;
  std::size_t axis;
};
Result<SelfAxis> self_axis(Call& c);
/// [rows, columns] of indices i · row_step + j · column_step.
Result<ValueId> window_indices(Call& c, std::int64_t rows, std::int64_t row_step, std::int64_t columns,
                               std::int64_t column_step);
Result<ValueId> as_complex(Call& c, ValueId v);
/// Operand of indices in a type that the IR indexes by.
Result<ValueId> indices(Call& c, ValueId v);
Result<ValueId> indices(Call& c, std::string_view parameter);
/// Indices of `rows`, entries of `axis`, in the shape of `part`, which has `rank` dims: as scatter_elements wants them.
Result<ValueId> row_indices(Call& c, ValueId rows, ValueId part, std::size_t rank, std::int64_t axis);

// ---- elementwise.cpp
Values add(Call& c);
Values subtract(Call& c);
Values reverse_subtract(Call& c);
Values multiply(Call& c);
Values divide(Call& c);
Values fmod(Call& c);
Values power(Call& c);
Values bitwise_and(Call& c);
Values bitwise_or(Call& c);
Values bitwise_xor(Call& c);
Values bitwise_not(Call& c);
Values shift_left(Call& c);
Values shift_right(Call& c);
Values clamp(Call& c);
Values hardtanh(Call& c);
Values relu6(Call& c);
Values threshold(Call& c);
Values gelu(Call& c);
Values glu(Call& c);
Values hardsigmoid(Call& c);
Values log_sigmoid(Call& c);
Values square(Call& c);
Values isfinite(Call& c);
Values isclose(Call& c);
Values where(Call& c);
Values masked_fill(Call& c);
Values to(Call& c);
Values to_any(Call& c);
Values alias(Call& c);
Values clone(Call& c);
Values lift(Call& c);
Values copy_from(Call& c);
Values dropout(Call& c);
Values prelu(Call& c);
Values rrelu(Call& c);
Values shrink(Call& c);
Values tanhshrink(Call& c);
Values deg_to_rad(Call& c);
Values fill(Call& c);
template <DType kTo>
Values cast_to(Call& c);

// ---- matmul.cpp
Values linear(Call& c);
Values addmm(Call& c);
Values mm(Call& c);
Values grouped_mm(Call& c);
Values grouped_mm_fallback(Call& c);
Values packed_mm(Call& c);
Values matmul(Call& c);
Values baddbmm(Call& c);
Values addmv(Call& c);
Values outer(Call& c);
Values einsum(Call& c);
Values bilinear(Call& c);
Values tensordot(Call& c);
Values cdist(Call& c);
Values sdpa(Call& c);
Values multi_head_attention(Call& c);
Values transformer_encoder_layer(Call& c);

// ---- convolution.cpp
Values convolution(Call& c);
Values convolution_transposed(Call& c);
Values deform_conv2d(Call& c);

// ---- pooling.cpp
Values max_pool(Call& c);
Values avg_pool(Call& c);
Values lp_pool(Call& c);
Values adaptive_avg_pool(Call& c);
Values adaptive_max_pool(Call& c);
Values max_unpool(Call& c);

// ---- normalization.cpp
Values batch_norm(Call& c);
Values layer_norm(Call& c);
Values rms_norm(Call& c);
Values group_norm(Call& c);
Values instance_norm(Call& c);
Values softmax(Call& c);
Values softmin(Call& c);
Values vector_norm(Call& c);
Values weight_norm(Call& c);
Values renorm(Call& c);
Values cosine_similarity(Call& c);
Values pairwise_distance(Call& c);
Values difference_loss(Call& c);
Values nll_loss(Call& c);
Values triplet_margin_loss(Call& c);
Values margin_ranking_loss(Call& c);
Values hinge_embedding_loss(Call& c);
Values cosine_embedding_loss(Call& c);
Values soft_margin_loss(Call& c);
Values poisson_nll_loss(Call& c);
/// ‖a − b + eps‖ along the last dim, by the call's `eps`.
Result<ValueId> distance(Call& c, ValueId a, ValueId b, double p, bool keep);
Values cross_entropy(Call& c);
Values binary_cross_entropy(Call& c);
Values kl_div(Call& c);

// ---- views.cpp
Values view(Call& c);
Values view_as_type(Call& c);
Values contiguous(Call& c);
Values reshape_as(Call& c);
Values flatten(Call& c);
Values unflatten(Call& c);
Values squeeze(Call& c);
Values unsqueeze(Call& c);
Values permute(Call& c);
Values transpose(Call& c);
Values matrix_transpose(Call& c);
Values movedim(Call& c);
Values expand(Call& c);
Values expand_as(Call& c);
Values broadcast_tensors(Call& c);
Values diag(Call& c);
Values diagonal(Call& c);
Values as_strided(Call& c);
Values meshgrid(Call& c);

// ---- parts.cpp
Values slice(Call& c);
Values narrow(Call& c);
Values select(Call& c);
Values chunk(Call& c);
Values tensor_split(Call& c);
Values split(Call& c);
Values unbind(Call& c);

// ---- repeats.cpp
Values repeat(Call& c);
Values repeat_interleave(Call& c);
Values repeated_indices(Call& c);

// ---- rearrange.cpp
Values cat(Call& c);
Values stack(Call& c);
Values stack_along(Call& c);
Values flip(Call& c);
Values roll(Call& c);
Values rot90(Call& c);
Values pixel_shuffle(Call& c);
Values channel_shuffle(Call& c);
Values pad(Call& c);
Values triangle(Call& c);

// ---- windows.cpp
Values unfold(Call& c);
Values im2col(Call& c);
Values col2im(Call& c);

// ---- indexing.cpp
Values index(Call& c);
Values index_put(Call& c);
Values masked_select(Call& c);
Values masked_scatter(Call& c);

// ---- gather_scatter.cpp
Values index_select(Call& c);
Values index_write(Call& c);
Values gather(Call& c);
Values take_along_dim(Call& c);
Values take(Call& c);
Values scatter(Call& c);
Values view_scatter(Call& c);
Values embedding(Call& c);
Values embedding_bag(Call& c);
Values one_hot(Call& c);

// ---- counting.cpp
Values nonzero(Call& c);
Values bucketize(Call& c);
Values isin(Call& c);
Values bincount(Call& c);
Values histc(Call& c);

// ---- creation.cpp
Values make(Call& c);
Values make_like(Call& c);
Values make_new(Call& c);
Values randomize(Call& c);
Values normal(Call& c);
Values bernoulli(Call& c);
Values multinomial(Call& c);
Values arange(Call& c);
Values linspace(Call& c);
Values diag_embed(Call& c);
Values pad_sequence(Call& c);
Values eye(Call& c);
Values tril_indices(Call& c);
Values scalar_tensor(Call& c);
Values window(Call& c);

// ---- reduction.cpp
Values sum(Call& c);
Values nansum(Call& c);
Values mean(Call& c);
Values prod(Call& c);
Values amax(Call& c);
Values amin(Call& c);
Values aminmax(Call& c);
Values max(Call& c);
Values min(Call& c);
Values argmax(Call& c);
Values argmin(Call& c);
Values logsumexp(Call& c);
Values all(Call& c);
Values any(Call& c);
Values count_nonzero(Call& c);
Values variance(Call& c);
Values deviation(Call& c);
Values variance_mean(Call& c);
Values cumulative(Call& c);
Values cumulative_extreme(Call& c);
Values diff(Call& c);
Values topk(Call& c);
Values sort(Call& c);
Values order_statistic(Call& c);
Values unique(Call& c);

// ---- recurrent.cpp
Values lstm(Call& c);
Values gru(Call& c);
Values rnn_tanh(Call& c);
Values rnn_relu(Call& c);
Values lstm_cell(Call& c);
Values gru_cell(Call& c);
Values rnn_tanh_cell(Call& c);
Values rnn_relu_cell(Call& c);

// ---- image.cpp
Values upsample(Call& c);
Values grid_sample(Call& c);
Values affine_grid(Call& c);
Values nms(Call& c);
Values roi_align(Call& c);

// ---- signal.cpp
Values fft(Call& c);
Values stft(Call& c);
Values absolute(Call& c);
Values view_as_complex(Call& c);
Values view_as_real(Call& c);
Values complex_part(Call& c);
Values complex_of(Call& c);

// ---- quantized.cpp
Values quantize(Call& c);
Values dequantize(Call& c);
Values fake_quantize(Call& c);
Values quantized_conv(Call& c);
Values quantized_conv_transposed(Call& c);
Values quantized_linear(Call& c);
Values quantized_linear_dynamic(Call& c);
Values quantized_binary(Call& c);
Values quantized_cat(Call& c);
Values quantized_hardswish(Call& c);
Values quantized_leaky_relu(Call& c);
Values quantized_sigmoid(Call& c);
Values quantized_relu6(Call& c);
Values quantized_batch_norm(Call& c);
Values quantized_prepack(Call& c);

// ---- special.cpp
Values elementwise_unpriced(Call& c);
Values linalg_unpriced(Call& c);
Values determinant(Call& c);

}  // namespace perfc::torch
