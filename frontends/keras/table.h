#pragma once
/// The layers and operations of Keras 3: one row per class. Operations of keras.ops stand with "ops." in front, for
/// some have the name of a layer that means something else by it (Add).
#include <span>

#include "frontends/keras/call.h"
#include "ir/op_table.h"

namespace perfc::keras {

using Translator = Values (*)(Call&);

struct Row {
  std::string_view name;
  Translator translate;
  std::string_view becomes;  ///< IR operators, for `perfc ops`
};
std::span<const Row> table();
/// Null when there is none, or when the class is another package's.
const Row* find_row(const LayerInfo&);

/// x through the activation that a setting names: a word, or a function or layer as Keras writes it.
Operand activate(const Call&, Operand x, std::string_view setting = "activation");
Operand activation_named(const Call&, Operand x, std::string_view name);
/// x + b by channel.
Operand add_bias(const Call&, Operand x, Operand bias, std::int64_t axis);
/// The last dim, which must be known.
Result<std::int64_t> last_dim(const Call&, Operand x);

// activation.cpp
Values activation(Call&), relu(Call&), leaky_relu(Call&), prelu(Call&), elu(Call&), softmax(Call&);
Values function(Call&);  ///< an operation that is an activation
// core.cpp
Values dense(Call&), einsum_dense(Call&), embedding(Call&), identity(Call&), wrapped(Call&), time_distributed(Call&);
Values rescaling(Call&), normalization(Call&);
// convolution.cpp
Values convolution(Call&), transposed_convolution(Call&), depthwise_convolution(Call&), separable_convolution(Call&);
Values pool(Call&), global_pool(Call&), adaptive_pool(Call&);
// normalization.cpp
Values batch_norm(Call&), layer_norm(Call&), group_norm(Call&), rms_norm(Call&), unit_norm(Call&), layer_scale(Call&);
// reshaping.cpp
Values reshape(Call&), flatten(Call&), permute(Call&), repeat_vector(Call&), cropping(Call&), zero_padding(Call&);
Values up_sampling(Call&), resizing(Call&), center_crop(Call&);
// merging.cpp
Values merge(Call&), average(Call&), concatenate(Call&), dot(Call&);
// attention.cpp
Values multi_head_attention(Call&), grouped_query_attention(Call&), attention(Call&);
// recurrent.cpp
Values recurrent(Call&), bidirectional(Call&), cells(Call&);
// operations.cpp
Values unary(Call&), binary(Call&), reduce(Call&), ops_variance(Call&), ops_arg(Call&), ops_top_k(Call&);
Values ops_matmul(Call&), ops_einsum(Call&), ops_attention(Call&), ops_softmax(Call&), ops_clip(Call&);
Values ops_where(Call&), ops_cast(Call&), ops_square(Call&), ops_normalize(Call&), ops_cumulative(Call&);
Values ops_full_like(Call&), ops_one_hot(Call&), ops_leaky_relu(Call&);
// operations_shape.cpp
Values get_item(Call&), ops_reshape(Call&), ops_transpose(Call&), ops_swap_axes(Call&), ops_concatenate(Call&);
Values ops_stack(Call&), ops_split(Call&), ops_unstack(Call&), ops_expand_dims(Call&), ops_squeeze(Call&);
Values ops_take(Call&), ops_take_along_axis(Call&), ops_broadcast_to(Call&), ops_tile(Call&), ops_repeat(Call&);
Values ops_pad(Call&), ops_flip(Call&), ops_roll(Call&), ops_triangle(Call&), ops_resize(Call&);

}  // namespace perfc::keras
