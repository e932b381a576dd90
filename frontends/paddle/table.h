#pragma once
/// The operator table of the Paddle front end: one row per operator.
///
/// An operator that is one of the IR's is spelled in that one's row (ir/op_table.h, `paddle`). The others stand in
/// `table.cpp`, with a function, declared below by file.
///   names    both spellings: "elementwise_add add"; "pir:" or "old:" before a name
///            binds it to one of them, because the other means something else by it
///   inputs   operands in the order of PIR; alternatives as in `call.h`
///   outputs  in the order of PIR, "*" after one that is a list, "..." for as many
///            as there are; results that nobody reads in inference are left out
///   attrs    one-to-one rows: "alpha|negative_slope=alpha"; "~" before a name: as a real
/// In-place forms of PIR ("relu_") share the row of the plain form; what they wrote to is bound anew.
#include <span>

#include "frontends/paddle/call.h"
#include "ir/support/text.h"

namespace perfc::paddle {

using Translator = Values (*)(Call&);

struct PaddleRow {
  std::string_view names, inputs, outputs;
  OpId op{};
  std::string_view attrs{};
  Translator translate = nullptr;
  std::string_view becomes{};  ///< IR operators, for `perfc ops`; empty: `op`

  /// One IR operator.
  constexpr PaddleRow(std::string_view n, std::string_view i, std::string_view o, OpId p, std::string_view a = {})
      : names(n), inputs(i), outputs(o), op(p), attrs(a) {}
  /// One IR operator, whose operands need more than renaming.
  constexpr PaddleRow(std::string_view n, std::string_view i, std::string_view o, OpId p, Translator t)
      : names(n), inputs(i), outputs(o), op(p), translate(t) {}
  constexpr PaddleRow(std::string_view n, std::string_view i, std::string_view o, Translator t, std::string_view b)
      : names(n), inputs(i), outputs(o), translate(t), becomes(b) {}
};
std::span<const PaddleRow> table();
/// Null when there is none.
const PaddleRow* find_row(Dialect, std::string_view type);
/// The operand that a PIR operator writes its first result to; null for most.
const Slot* in_place_operand(const Operation&);
/// What the importer itself reads: inputs, outputs, control flow; and what it becomes.
std::span<const std::pair<std::string_view, std::string_view>> control_operators();

// elementwise.cpp
Values binary(Call&), divide(Call&), remainder(Call&), logical(Call&), bitwise(Call&);
Values add_n(Call&), scale(Call&), increment(Call&), power(Call&), clip(Call&), where(Call&), cast(Call&);
Values square(Call&), is_finite(Call&), is_close(Call&);
Values gelu(Call&), relu6(Call&), hard_tanh(Call&), hard_sigmoid(Call&), hard_swish(Call&), swish(Call&),
    softplus(Call&);
Values tanh_shrink(Call&), stanh(Call&), shrink(Call&), soft_relu(Call&), rrelu(Call&), prelu(Call&);
Values absolute(Call&), all_close(Call&), label_smooth(Call&), masked_fill(Call&);
Values sequence_mask(Call&), gumbel_softmax(Call&), fourier(Call&);
Values swiglu(Call&), maxout(Call&), identity(Call&), no_values(Call&), fake_quantize(Call&), quantize_linear(Call&);
// nn.cpp
Values convolution(Call&), transposed_convolution(Call&), deformable_convolution(Call&), pool(Call&), max_unpool(Call&);
Values batch_norm(Call&), layer_norm(Call&), rms_norm(Call&), group_norm(Call&), instance_norm(Call&),
    affine_channel(Call&);
Values dropout(Call&), softmax(Call&), softmax_with_mask(Call&);
/// The activation that a fused operator names.
Operand fused_activation(Call&, Operand, std::string_view name);
// matmul.cpp
Values matmul(Call&), dot(Call&), multiply_matrices(Call&), fully_connected(Call&), addmm(Call&), multi_dot(Call&),
    einsum(Call&);
Values bilinear(Call&), embedding(Call&), attention(Call&), cross(Call&), kron(Call&);
// loss.cpp
Values elementwise_loss(Call&), softmax_cross_entropy(Call&);
// recurrent.cpp
Values recurrent(Call&);
// reduction.cpp
Values reduce(Call&), reduce_all(Call&), reduce_bool(Call&), logsumexp(Call&), p_norm(Call&), normalize(Call&),
    distance(Call&);
Values cosine_similarity(Call&), arg_reduce(Call&), cumulative(Call&), argsort(Call&), top_k(Call&), kth_value(Call&),
    unique(Call&);
Values nonzero(Call&), masked_select(Call&), equal_all(Call&), median(Call&), trace(Call&);
// shape.cpp
Values reshape(Call&), flatten(Call&), flatten_to_matrix(Call&), transpose(Call&), squeeze(Call&), unsqueeze(Call&),
    concat(Call&);
Values stack(Call&), split(Call&), unstack(Call&), slice(Call&), set_value(Call&), expand(Call&), expand_as(Call&),
    tile(Call&);
Values repeat_interleave(Call&), flip(Call&), roll(Call&), pad(Call&), crop(Call&);
// indexing.cpp
Values gather(Call&), gather_elements(Call&), scatter_elements(Call&), scatter(Call&), index_add(Call&),
    index_put(Call&);
Values gather_nd(Call&), scatter_nd_add(Call&), one_hot(Call&), multiplex(Call&);
// creation.cpp
Values shape(Call&), size(Call&), fill(Call&), fill_like(Call&), fill_batch_like(Call&), constant(Call&), range(Call&);
Values linspace(Call&), eye(Call&), triangle(Call&), meshgrid(Call&), diagonal(Call&), diag_embed(Call&);
Values random_permutation(Call&), random(Call&), bernoulli(Call&), multinomial(Call&);
// lists.cpp
Values combine(Call&), items(Call&), item(Call&), array_new(Call&), array_write(Call&), array_read(Call&),
    array_length(Call&);
Values array_to_tensor(Call&);
// image.cpp
Values interpolate(Call&), grid_sample(Call&), affine_grid(Call&), roi_align(Call&), roi_pool(Call&),
    non_max_suppression(Call&);
Values unfold(Call&), fold(Call&), pixel_shuffle(Call&), channel_shuffle(Call&), temporal_shift(Call&);

// detection.cpp
Values yolo_box(Call&), prior_box(Call&), box_coder(Call&), multiclass_nms(Call&);

}  // namespace perfc::paddle
