#pragma once
/// The operator table of the OpenVINO front end: one row per type of layer, whatever its opset.
///   attrs   one-to-one rows: "alpha=alpha ~beta=beta"; "~" before a name: as a real. Without a mapping attributes are
///           dropped.
#include <span>

#include "frontends/openvino/call.h"
#include "ir/op_table.h"
#include "ir/support/text.h"

namespace perfc::openvino {

using Translator = Values (*)(Call&);

struct Row {
  std::string_view type;
  OpId op{};
  std::string_view attrs{};
  Translator translate = nullptr;
  std::string_view becomes{};  ///< IR operators, for `perfc ops`; empty: `op`

  /// One IR operator with the same operands.
  constexpr Row(std::string_view t, OpId o, std::string_view a = {}) : type(t), op(o), attrs(a) {}
  /// One IR operator, whose operands need more than that.
  constexpr Row(std::string_view t, OpId o, Translator f) : type(t), op(o), translate(f) {}
  constexpr Row(std::string_view t, Translator f, std::string_view b) : type(t), translate(f), becomes(b) {}
};
std::span<const Row> table();
/// Null when there is none.
const Row* find_row(std::string_view type);

/// Rows that name an IR operator: operands as they are, attributes as the row says.
Values one_to_one(Call&);

// elementwise.cpp
Values convert(Call&), convert_like(Call&), logical(Call&), floor_mod(Call&), clamp(Call&), gelu(Call&), swish(Call&);
Values prelu(Call&), selu(Call&), hard_sigmoid(Call&), fake_quantize(Call&), identity(Call&), rounded(Call&);
// nn.cpp
Values convolution(Call&), transposed_convolution(Call&), deformable_convolution(Call&), pool(Call&);
Values adaptive_pool(Call&), matmul(Call&), attention(Call&), einsum(Call&);
// normalization.cpp
Values batch_norm(Call&), mvn(Call&), normalize_l2(Call&), rms(Call&), group_norm(Call&), lrn(Call&), softmax(Call&);
// reduction.cpp
Values reduce(Call&), top_k(Call&), cum_sum(Call&), non_zero(Call&), unique(Call&);
// shape.cpp
Values reshape(Call&), transpose(Call&), squeeze(Call&), unsqueeze(Call&), concat(Call&), split(Call&);
Values strided_slice(Call&), slice(Call&), broadcast(Call&), tile(Call&), pad(Call&), shape_of(Call&), reverse(Call&);
Values roll(Call&), reverse_sequence(Call&), shuffle_channels(Call&), batch_to_space(Call&), space_to_batch(Call&);
Values depth_to_space(Call&);
// indexing.cpp
Values gather(Call&), gather_elements(Call&), gather_nd(Call&), scatter_update(Call&), scatter_elements(Call&);
Values scatter_nd(Call&), embedding_bag(Call&), one_hot(Call&), range(Call&), eye(Call&), random_uniform(Call&);
Values multinomial(Call&);
// recurrent.cpp
Values recurrent(Call&);
// image.cpp
Values interpolate(Call&), grid_sample(Call&), roi_pool(Call&), roi_align(Call&);
Values extract_patches(Call&), fourier(Call&);
// detection.cpp
Values prior_box(Call&), detection_output(Call&), non_max_suppression(Call&), multiclass_nms(Call&);
Values region_yolo(Call&), reorg_yolo(Call&);
// control.cpp
Values loop(Call&), branches(Call&), read_value(Call&);

}  // namespace perfc::openvino
