#pragma once
/// What each operator of the IR is in ONNX: one row per operator.
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/onnx/writer.h"

namespace perfc::backends {

using WriteFn = Status (*)(CallWriter&);

/// One of four: the same operator (`onnx`), an expression, a function, or none (`why_not`).
struct OnnxRow {
  std::string_view op;
  /// The spelling, where it is not the first of `OpDef::onnx`: "ms:FusedMatMul".
  std::string_view onnx = {};
  /// Attributes that it may have, by their names in the IR. Others are an error: they would be lost.
  std::string_view attributes = {};
  std::int64_t since = 0;  ///< operator set that has it, where it is later than `kOpset`
  /// "Reciprocal(Sqrt(a))": operands are a, b, c, …; numbers have the type of the first floating or numeric operand;
  /// $alpha=0.01 is an attribute of the call with its default; Op[axis=-1](…) gives attributes.
  std::string_view expression = {};
  WriteFn write = nullptr;
  /// The expression where the first operand holds integers, of which ONNX, or onnxruntime, has no such operator.
  std::string_view of_integers = {};
  /// Operands, by number, that ONNX takes as int64 only, where files have int32.
  std::string_view int64 = {};
  std::string_view why_not = {};
};

std::span<const OnnxRow> onnx_rows();
/// The row of an operator; null: none.
const OnnxRow* onnx_row(OpId);

/// Writes the call as its row's expression says.
Status write_expression(CallWriter&, std::string_view expression);
/// Writes the call as the operator that it is, with these attributes (by their names in the IR) at most.
Status write_same(CallWriter&, std::string_view spelling, std::string_view attributes, std::int64_t since);
/// The attributes of a call that `allowed` names, by ONNX's names. An attribute that says something to ONNX and is not
/// among them is an error.
Result<Attrs> onnx_attributes(const CallWriter&, std::string_view allowed);
/// An attribute by ONNX's name.
std::string_view onnx_attribute_name(std::string_view);

namespace write {
Status adaptive_pool(CallWriter&), any_all(CallWriter&), avg_pool(CallWriter&), batch_matmul(CallWriter&),
    batch_norm(CallWriter&), bias_add(CallWriter&), bit_shift(CallWriter&), celu(CallWriter&), clip(CallWriter&),
    compare(CallWriter&), max_unpool(CallWriter&), scaled_sum(CallWriter&), space_to_depth(CallWriter&),
    sum_or_mean(CallWriter&), topk(CallWriter&), bias_gelu(CallWriter&), causal_conv(CallWriter&), control(CallWriter&),
    conv(CallWriter&), conv_transpose(CallWriter&), count_nonzero(CallWriter&), dense(CallWriter&), dft(CallWriter&),
    dropout(CallWriter&), embedding_bag(CallWriter&), extreme_along(CallWriter&), floor_divide(CallWriter&),
    full(CallWriter&), gelu(CallWriter&), global_avg_pool(CallWriter&), glu(CallWriter&), grid_sample(CallWriter&),
    group_norm(CallWriter&), layer_norm(CallWriter&), least_and_largest(CallWriter&), linear_attention(CallWriter&),
    log_cumulative_sum(CallWriter&), logit(CallWriter&), matmul_nbits(CallWriter&), max_pool(CallWriter&),
    mean_variance_norm(CallWriter&), mod(CallWriter&), nan_to_num(CallWriter&), nansum(CallWriter&),
    promote(CallWriter&), qlinear_conv(CallWriter&), quantize(CallWriter&), reduce(CallWriter&), reduce_lp(CallWriter&),
    reverse_axes(CallWriter&), rms_norm(CallWriter&), roll(CallWriter&), rotary_embedding(CallWriter&),
    sdpa(CallWriter&), softplus(CallWriter&), split(CallWriter&), strided_set(CallWriter&), trunc_divide(CallWriter&),
    upsampling(CallWriter&), variance(CallWriter&), variance_and_mean(CallWriter&), weight_norm(CallWriter&);
}  // namespace write

}  // namespace perfc::backends
