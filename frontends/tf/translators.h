#pragma once
/// Translators that the table refers to, by file, and what they share.
#include "frontends/tf/importer.h"

namespace perfc::tf {

inline constexpr std::int64_t kEnd = INT64_MAX;  ///< of a slice

// frontends/tf/control.cpp: functions, conditions, loops
Result<Values> functional_case(Call&, const OpRow&);
Result<Values> functional_if(Call&, const OpRow&);
Result<Values> functional_while(Call&, const OpRow&);
Result<Values> identity(Call&, const OpRow&);
Result<Values> join(Call&, const OpRow&);
Result<Values> leave_frame(Call&, const OpRow&);
Result<Values> no_values(Call&, const OpRow&);
Result<Values> outside_frame(Call&, const OpRow&);
Result<Values> partitioned_call(Call&, const OpRow&);
Result<Values> pass_both(Call&, const OpRow&);
Result<Values> refused_xla(Call&, const OpRow&);

// frontends/tf/lists.cpp: lists of tensors, tensor arrays
Result<Values> array_concat(Call&, const OpRow&);
Result<Values> array_gather(Call&, const OpRow&);
Result<Values> array_new(Call&, const OpRow&);
Result<Values> array_read(Call&, const OpRow&);
Result<Values> array_scatter(Call&, const OpRow&);
Result<Values> array_size(Call&, const OpRow&);
Result<Values> array_split(Call&, const OpRow&);
Result<Values> array_write(Call&, const OpRow&);
Result<Values> list_concat(Call&, const OpRow&);
Result<Values> list_from_tensor(Call&, const OpRow&);
Result<Values> list_gather(Call&, const OpRow&);
Result<Values> list_get(Call&, const OpRow&);
Result<Values> list_length(Call&, const OpRow&);
Result<Values> list_push(Call&, const OpRow&);
Result<Values> list_reserve(Call&, const OpRow&);
Result<Values> list_set(Call&, const OpRow&);
Result<Values> list_stack(Call&, const OpRow&);

// frontends/tf/math.cpp: elementwise operators, reductions
Result<Values> arg_reduction(Call&, const OpRow&);
Result<Values> as_string(Call&, const OpRow&);
Result<Values> cast(Call&, const OpRow&);
Result<Values> clip_by_value(Call&, const OpRow&);
Result<Values> complex(Call&, const OpRow&);
Result<Values> cumulative(Call&, const OpRow&);
Result<Values> direct(Call&, const OpRow&);
Result<Values> erfc(Call&, const OpRow&);
Result<Values> fake_quantize(Call&, const OpRow&);
Result<Values> fourier(Call&, const OpRow&);
Result<Values> is_finite(Call&, const OpRow&);
Result<Values> l2_loss(Call&, const OpRow&);
Result<Values> leaky_relu(Call&, const OpRow&);
Result<Values> multinomial(Call&, const OpRow&);
Result<Values> random(Call&, const OpRow&);
Result<Values> reduction(Call&, const OpRow&);
Result<Values> select(Call&, const OpRow&);
Result<Values> square(Call&, const OpRow&);
Result<Values> top_k(Call&, const OpRow&);
Result<Values> unique(Call&, const OpRow&);

// frontends/tf/nn.cpp: convolutions, pools, norms, products
Result<Values> bias_add(Call&, const OpRow&);
Result<Values> clip_at_6(Call&, const OpRow&);
Result<Values> convolution(Call&, const OpRow&);
Result<Values> depthwise_convolution(Call&, const OpRow&);
Result<Values> dilation(Call&, const OpRow&);
Result<Values> fused_batch_norm(Call&, const OpRow&);
Result<Values> fused_convolution(Call&, const OpRow&);
Result<Values> global_batch_norm(Call&, const OpRow&);
Result<Values> local_response_norm(Call&, const OpRow&);
Result<Values> matmul(Call&, const OpRow&);
Result<Values> pooling(Call&, const OpRow&);
Result<Values> softmax(Call&, const OpRow&);
Result<Values> cross_entropy(Call&, const OpRow&);
Result<Values> sparse_cross_entropy(Call&, const OpRow&);
Result<Values> transposed_convolution(Call&, const OpRow&);

// frontends/tf/recurrent.cpp: cells of recurrent networks
Result<Values> gru_cell(Call&, const OpRow&);
Result<Values> lstm_cell(Call&, const OpRow&);

// frontends/tf/variables.cpp: constants, placeholders, variables
Result<Values> assign(Call&, const OpRow&);
Result<Values> constant(Call&, const OpRow&);
Result<Values> placeholder(Call&, const OpRow&);
Result<Values> read_handle(Call&, const OpRow&);
Result<Values> resource_gather(Call&, const OpRow&);
Result<Values> variable_handle(Call&, const OpRow&);
Result<Values> variable_value(Call&, const OpRow&);

// frontends/tf/shape.cpp: shapes, data seen in another one
Result<Values> broadcast_args(Call&, const OpRow&);
Result<Values> expand_dims(Call&, const OpRow&);
Result<Values> invert_permutation(Call&, const OpRow&);
Result<Values> rank(Call&, const OpRow&);
Result<Values> reshape(Call&, const OpRow&);
Result<Values> shape(Call&, const OpRow&);
Result<Values> size(Call&, const OpRow&);
Result<Values> squeeze(Call&, const OpRow&);
Result<Values> transpose(Call&, const OpRow&);

// frontends/tf/creation.cpp: tensors of one number, of evenly spaced ones
Result<Values> fill(Call&, const OpRow&);
Result<Values> full_like(Call&, const OpRow&);
Result<Values> linspace(Call&, const OpRow&);
Result<Values> range(Call&, const OpRow&);

// frontends/tf/parts.cpp: entries, splits, slices
Result<Values> slice(Call&, const OpRow&);
Result<Values> split(Call&, const OpRow&);
Result<Values> strided_slice(Call&, const OpRow&);
Result<Values> unpack(Call&, const OpRow&);

// frontends/tf/rearrange.cpp: joined, turned, repeated, padded
Result<Values> concat(Call&, const OpRow&);
Result<Values> pack(Call&, const OpRow&);
Result<Values> pad(Call&, const OpRow&);
Result<Values> reverse(Call&, const OpRow&);
Result<Values> reverse_sequence(Call&, const OpRow&);
Result<Values> roll(Call&, const OpRow&);
Result<Values> tile(Call&, const OpRow&);
Result<Values> update_slice(Call&, const OpRow&);

// frontends/tf/indexing.cpp: gathering, scattering, indices of what is true
Result<Values> gather(Call&, const OpRow&);
Result<Values> gather_nd(Call&, const OpRow&);
Result<Values> one_hot(Call&, const OpRow&);
Result<Values> scatter_nd(Call&, const OpRow&);
Result<Values> tensor_scatter(Call&, const OpRow&);
Result<Values> where(Call&, const OpRow&);

// frontends/tf/matrices.cpp: bands, diagonals
Result<Values> matrix_band(Call&, const OpRow&);
Result<Values> matrix_diagonal(Call&, const OpRow&);

// frontends/tf/blocks.cpp: blocks of space, batches, channels
Result<Values> batch_to_space(Call&, const OpRow&);
Result<Values> depth_space(Call&, const OpRow&);
Result<Values> space_to_batch(Call&, const OpRow&);

// frontends/tf/sparse.cpp: segments, sparse tensors
Result<Values> bincount(Call&, const OpRow&);
Result<Values> segment(Call&, const OpRow&);
Result<Values> sparse_add(Call&, const OpRow&);
Result<Values> sparse_fill_empty_rows(Call&, const OpRow&);
Result<Values> sparse_matmul(Call&, const OpRow&);
Result<Values> sparse_reshape(Call&, const OpRow&);
Result<Values> sparse_segment(Call&, const OpRow&);
Result<Values> sparse_to_dense(Call&, const OpRow&);
Result<Values> unravel_index(Call&, const OpRow&);

// frontends/tf/image.cpp: images, random numbers, Fourier transforms
Result<Values> combined_non_max_suppression(Call&, const OpRow&);
Result<Values> crop_and_resize(Call&, const OpRow&);
Result<Values> image_decode(Call&, const OpRow&);
Result<Values> non_max_suppression(Call&, const OpRow&);
Result<Values> resize(Call&, const OpRow&);

}  // namespace perfc::tf
