#pragma once
/// Shape, evaluation and cost rules that the operator table refers to, by file.
/// Contract of each kind: `ir/infer_context.h`.
#include <cstddef>
#include <optional>

#include "ir/support/result.h"

namespace perfc {
class InferContext;
class CostContext;
struct DimBound;
struct OpCost;

namespace rules {

/// `eval` of operators whose contents nobody propagates.
void no_contents(InferContext&);
/// `cost`: one operation per result element.
void per_element_cost(const CostContext&, OpCost&);

// ir/ops/bounds.cpp: how large dims can be that data decides
std::optional<DimBound> elements_bound(const InferContext&, std::size_t result, std::size_t axis);
std::optional<DimBound> axis_bound(const InferContext&, std::size_t result, std::size_t axis);
std::optional<DimBound> selection_bound(const InferContext&, std::size_t result, std::size_t axis);
std::optional<DimBound> unique_bound(const InferContext&, std::size_t result, std::size_t axis);
std::optional<DimBound> suppression_bound(const InferContext&, std::size_t result, std::size_t axis);
std::optional<DimBound> branches_bound(const InferContext&, std::size_t result, std::size_t axis);

// ir/ops/elementwise.cpp: element by element, broadcasting, casts, activations
// (evaluation: ir/ops/elementwise_eval.cpp, elementwise_contents.h)
Status same_type(InferContext&);
Status clip(InferContext&);
Status predicate(InferContext&);
Status cast(InferContext&);
Status cast_like(InferContext&);
Status bitcast(InferContext&);
Status broadcast(InferContext&);
Status compare(InferContext&);
Status where(InferContext&);
Status prelu(InferContext&);
Status bias_add(InferContext&);
Status bias_split_gelu(InferContext&);
Status glu(InferContext&);
Status polar(InferContext&);
Status dropout(InferContext&);
void eval_cast(InferContext&);
void eval_clip(InferContext&);
void eval_identity(InferContext&);
void eval_where(InferContext&);
void transcendental_cost(const CostContext&, OpCost&);
void free_cost(const CostContext&, OpCost&);
void nary_cost(const CostContext&, OpCost&);
void per_element_4_cost(const CostContext&, OpCost&);
void per_element_2_cost(const CostContext&, OpCost&);

// ir/ops/convolution.cpp: convolutions
Status conv(InferContext&);
Status conv_transpose(InferContext&);
Status conv_nhwc(InferContext&);
Status deform_conv(InferContext&);
Status causal_conv(InferContext&);
Status conv_integer(InferContext&);
Status qlinear_conv(InferContext&);
Status col2im(InferContext&);
void conv_cost(const CostContext&, OpCost&);
void conv_transpose_cost(const CostContext&, OpCost&);
void conv_nhwc_cost(const CostContext&, OpCost&);
void deform_conv_cost(const CostContext&, OpCost&);
void conv_integer_cost(const CostContext&, OpCost&);
void qlinear_conv_cost(const CostContext&, OpCost&);

// ir/ops/matmul.cpp: matrix products
Status dense(InferContext&);
Status matmul(InferContext&);
Status einsum(InferContext&);
Status matmul_integer(InferContext&);
Status matmul_integer_to_float(InferContext&);
Status dynamic_quantize_matmul(InferContext&);
Status qlinear_matmul(InferContext&);
Status qgemm(InferContext&);
Status matmul_nbits(InferContext&);
/// Products of groups of rows with a matrix each, or of groups of columns (torch._grouped_mm).
Status grouped_matmul(InferContext&);
Status det(InferContext&);
void dense_cost(const CostContext&, OpCost&);
void matmul_cost(const CostContext&, OpCost&);
void einsum_cost(const CostContext&, OpCost&);
void qlinear_matmul_cost(const CostContext&, OpCost&);
void qgemm_cost(const CostContext&, OpCost&);
void matmul_nbits_cost(const CostContext&, OpCost&);
void grouped_matmul_cost(const CostContext&, OpCost&);
void det_cost(const CostContext&, OpCost&);

// ir/ops/attention.cpp, attention_ms.cpp: attention and rotary embeddings (cost: ir/ops/attention.h)
Status attention(InferContext&);
Status ms_attention(InferContext&);
Status multi_head_attention(InferContext&);
Status packed_multi_head_attention(InferContext&);
Status group_query_attention(InferContext&);
Status paged_attention(InferContext&);
Status linear_attention(InferContext&), gated_delta_net(InferContext&);
Status flex_attention(InferContext&);
Status sdpa(InferContext&);
Status rotary_embedding(InferContext&);
Status gated_relative_position_bias(InferContext&);
void projected_attention_cost(const CostContext&, OpCost&);
void gated_relative_position_bias_cost(const CostContext&, OpCost&);
void linear_attention_cost(const CostContext&, OpCost&);
void rotary_embedding_cost(const CostContext&, OpCost&);

// LSTM, GRU, RNN: ir/ops/recurrent.h

// ir/ops/normalization.cpp: normalisation, softmax, losses
Status batch_norm(InferContext&);
Status instance_norm(InferContext&);
Status group_norm(InferContext&);
Status softmax(InferContext&);
Status lp_norm(InferContext&);
Status layer_norm(InferContext&);
Status skip_layer_norm(InferContext&);
Status embed_layer_norm(InferContext&);
Status nll_loss(InferContext&);
Status cross_entropy(InferContext&);
void normalization_cost(const CostContext&, OpCost&);
void embed_layer_norm_cost(const CostContext&, OpCost&);
void lrn_cost(const CostContext&, OpCost&);
void softmax_cost(const CostContext&, OpCost&);

// ir/ops/pooling.cpp: pooling and regions of interest
Status pool(InferContext&);
Status global_pool(InferContext&);
Status max_unpool(InferContext&);
Status roi_align(InferContext&);
Status roi_pool(InferContext&);
void pool_cost(const CostContext&, OpCost&);
void roi_align_cost(const CostContext&, OpCost&);

// ir/ops/reduction.cpp: reductions, sorting, selection (evaluation of reductions: ir/ops/reduction.h)
Status reduce(InferContext&);
Status arg_reduce(InferContext&);
Status cumulative(InferContext&);
/// The same with a second result: of the same type, or an index per element.
Status reduce_twice(InferContext&);
Status extreme_of_axis(InferContext&);
Status cumulative_extreme(InferContext&);
/// Of truth values, and how many of them are true.
Status reduce_truth(InferContext&);
Status count_nonzero(InferContext&);
Status topk(InferContext&);
Status unique(InferContext&);
/// (data; bins): how many elements lie in each of `bins` equal intervals.
Status histogram(InferContext&);
Status nonzero(InferContext&);
Status non_max_suppression(InferContext&);
Status multiclass_nms(InferContext&);
void eval_nonzero(InferContext&);
void read_all_cost(const CostContext&, OpCost&);
void histogram_cost(const CostContext&, OpCost&);

// ir/ops/views.cpp: views and shape arithmetic
Status reshape(InferContext&);
Status squeeze(InferContext&);
Status expand_dims(InferContext&);
Status flatten(InferContext&);
Status shape_of(InferContext&);
Status size_of(InferContext&);
Status as_complex(InferContext&);
Status as_real(InferContext&);
void eval_shape_of(InferContext&);
void eval_size_of(InferContext&);

// ir/ops/creation.cpp: ranges and constant fills
Status arange(InferContext&);
Status full(InferContext&);
void eval_arange(InferContext&);
void eval_full(InferContext&);

// ir/ops/movement.cpp: data movement (evaluation: ir/ops/movement_eval.cpp)
Status transpose(InferContext&);
Status reverse(InferContext&);
Status concatenate(InferContext&);
Status split(InferContext&);
Status strided_slice(InferContext&);
/// (data, starts, ends, axes, steps, part): the data with a slice of it replaced by `part`.
Status strided_set(InferContext&);
Status broadcast_to(InferContext&);
Status tile(InferContext&);
Status pad(InferContext&);
void eval_transpose(InferContext&);
void eval_concatenate(InferContext&);
void eval_split(InferContext&);
void eval_strided_slice(InferContext&);
void eval_broadcast_to(InferContext&);
void eval_tile(InferContext&);
void eval_one_hot(InferContext&);
void eval_pad(InferContext&);
void write_only_cost(const CostContext&, OpCost&);
void spread_cost(const CostContext&, OpCost&);
void copy_cost(const CostContext&, OpCost&);
void slice_copy_cost(const CostContext&, OpCost&);
void strided_set_cost(const CostContext&, OpCost&);

// ir/ops/layout.cpp: blocks, crops, triangles, one-hot
Status depth_to_space(InferContext&);
Status space_to_depth(InferContext&);
Status center_crop_pad(InferContext&);
Status eye_like(InferContext&);
Status one_hot(InferContext&);
Status crop(InferContext&);
Status reverse_sequence(InferContext&);
Status trilu(InferContext&);

// ir/ops/gather.cpp: gather, scatter, embeddings
Status take(InferContext&);
Status gather_elements(InferContext&);
Status gather_nd(InferContext&);
Status compress(InferContext&);
Status embedding_bag(InferContext&);
Status gather_quantized(InferContext&);
Status scatter_elements(InferContext&);
Status scatter_nd(InferContext&);
Status tensor_scatter(InferContext&);
void eval_take(InferContext&);
void eval_gather_elements(InferContext&);
void eval_scatter_nd(InferContext&);
void gather_copy_cost(const CostContext&, OpCost&);
void embedding_bag_cost(const CostContext&, OpCost&);
void scatter_cost(const CostContext&, OpCost&);

// ir/ops/image.cpp: resizing and sampling
Status resize(InferContext&);
Status grid_sample(InferContext&);
Status affine_grid(InferContext&);
Status image_decode(InferContext&);
void resize_cost(const CostContext&, OpCost&);
void affine_grid_cost(const CostContext&, OpCost&);
void grid_sample_cost(const CostContext&, OpCost&);

// ir/ops/quantize.cpp: quantisation
Status quantize(InferContext&);
Status dequantize(InferContext&);
Status dynamic_quantize(InferContext&);
void eval_dequantize(InferContext&);
Status qlinear_binary(InferContext&);
Status qlinear_concat(InferContext&);
Status qlinear_where(InferContext&);
Status dynamic_scale(InferContext&);

// ir/ops/signal.cpp: Fourier transforms, windows, random generators
Status random_shape(InferContext&);
Status random_like(InferContext&);
Status multinomial(InferContext&);
Status spectrogram(InferContext&);
Status mfcc(InferContext&);
void spectrogram_cost(const CostContext&, OpCost&);
void mfcc_cost(const CostContext&, OpCost&);
Status dft(InferContext&);
Status stft(InferContext&);
Status ms_rfft(InferContext&);
Status fft(InferContext&);
Status complex_part(InferContext&);
Status ms_irfft(InferContext&);
Status window(InferContext&);
Status mel_weight_matrix(InferContext&);
void dft_cost(const CostContext&, OpCost&);
void fft_cost(const CostContext&, OpCost&);
void stft_cost(const CostContext&, OpCost&);
void ms_fft_cost(const CostContext&, OpCost&);

// ir/ops/control.cpp: control flow, sequences, optionals
Status if_(InferContext&);
Status loop(InferContext&);
Status scan(InferContext&);
Status sequence_map(InferContext&);
Status sequence_empty(InferContext&);
Status sequence_construct(InferContext&);
Status sequence_at(InferContext&);
Status sequence_insert(InferContext&);
Status sequence_length(InferContext&);
Status sequence_split(InferContext&);
Status sequence_concat(InferContext&);
Status optional(InferContext&);
Status optional_get(InferContext&);
Status optional_has(InferContext&);

// ir/ops/classical.cpp: text, ai.onnx.ml, training, opaque
Status string_split(InferContext&);
Status string_normalize(InferContext&);
Status tfidf(InferContext&);
Status ml_array_feature_extractor(InferContext&);
Status ml_cast_map(InferContext&);
Status ml_category_mapper(InferContext&);
Status ml_dict_vectorizer(InferContext&);
Status ml_feature_vectorizer(InferContext&);
Status ml_label_encoder(InferContext&);
Status ml_classifier(InferContext&);
Status ml_regressor(InferContext&);
Status ml_float_like(InferContext&);
Status ml_one_hot(InferContext&);
Status ml_tree_ensemble(InferContext&);
Status ml_zip_map(InferContext&);
Status optimizer(InferContext&);
Status gradient(InferContext&);
Status opaque(InferContext&);
void classical_cost(const CostContext&, OpCost&);

}  // namespace rules
}  // namespace perfc
