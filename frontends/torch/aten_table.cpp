#include "frontends/torch/aten_table.h"

#include <algorithm>
#include <map>

#include "frontends/torch/translate.h"
#include "ir/support/text.h"

namespace perfc::torch {
namespace {

constexpr AtenRow kAten[] = {
    // {name, signature, IR operator or function, what the function makes}
    // ---- One operand, element by element
    {"abs", "self", absolute, "abs as_real reduce_l2"},
    {"absolute", "self", absolute, "abs as_real reduce_l2"},
    {"positive", "self", alias, ""},
    {"square", "self", square, "multiply"},
    {"deg2rad", "self", deg_to_rad, "multiply"},
    {"rad2deg", "self", deg_to_rad, "multiply"},
    {"bitwise_not", "self", bitwise_not, "bitwise_not logical_not"},
    {"isfinite", "self", isfinite, "abs not_equal equal logical_and"},
    {"mvlgamma", "self -p", elementwise_unpriced, "opaque"},
    {"special_ndtr", "self", elementwise_unpriced, "opaque"},
    // ---- Casts and copies
    {"to", "self -non_blocking -copy", alias, ""},
    {"to", "self target -non_blocking -copy", to_any, "cast"},
    {"to", "self target -non_blocking -copy -memory_format", to_any, "cast"},
    {"to", "self -device dtype -non_blocking copy -memory_format", to, "cast clone"},
    {"to", "self dtype -non_blocking copy -memory_format", to, "cast clone"},
    {"to", "self other -non_blocking copy -memory_format", to, "cast clone"},
    {"to", "self dtype -layout -device -pin_memory -non_blocking copy -memory_format", to, "cast clone"},
    {"_to_copy", "self dtype -layout -device -pin_memory -non_blocking -memory_format", to, "cast"},
    {"_autocast_to_reduced_precision", "self -cuda_enabled -cpu_enabled -cuda_dtype -cpu_dtype", alias, ""},
    {"_autocast_to_full_precision", "self -cuda_enabled -cpu_enabled", alias, ""},
    {"type_as", "self other", to, "cast"},
    {"float", "self", cast_to<DType::Float32>, "cast"},
    {"double", "self", cast_to<DType::Float64>, "cast"},
    {"half", "self", cast_to<DType::Float16>, "cast"},
    {"bfloat16", "self", cast_to<DType::BFloat16>, "cast"},
    {"long", "self", cast_to<DType::Int64>, "cast"},
    {"int", "self", cast_to<DType::Int32>, "cast"},
    {"bool", "self", cast_to<DType::Bool>, "cast"},
    {"_cast_Float", "self -non_blocking", cast_to<DType::Float32>, "cast"},
    {"_cast_Long", "self -non_blocking", cast_to<DType::Int64>, "cast"},
    {"contiguous", "self -memory_format", contiguous, "contiguous"},
    {"detach", "self", alias, ""},
    {"alias", "self", alias, ""},
    {"lift_fresh", "self", alias, ""},
    {"lift_fresh_copy", "self", lift, "copy"},
    {"lift", "self", alias, ""},
    {"requires_grad", "self -requires_grad", alias, ""},
    {"cpu", "self", alias, ""},
    {"cuda", "self", alias, ""},
    {"resolve_conj", "self", alias, ""},
    {"resolve_neg", "self", alias, ""},
    {"data", "self", alias, ""},
    {"prim::data", "self", alias, ""},
    {"identity", "self", alias, ""},
    {"clone", "self -memory_format", clone, "clone"},
    {"copy", "self src -non_blocking", copy_from, "clone cast"},
    {"fill", "self value", fill, "broadcast_to clone"},
    {"zero", "self", fill, "broadcast_to clone"},
    // ---- Arithmetic
    {"add", "self other alpha", add, "add"},
    {"sub", "self other alpha", subtract, "subtract"},
    {"subtract", "self other alpha", subtract, "subtract"},
    {"rsub", "self other alpha", reverse_subtract, "subtract"},
    {"mul", "self other", multiply, "multiply"},
    {"multiply", "self other", multiply, "multiply"},
    {"div", "self other", divide, "divide"},
    {"div", "self other rounding_mode", divide, "floor_divide trunc_divide"},
    {"divide", "self other", divide, "divide"},
    {"divide", "self other rounding_mode", divide, "floor_divide trunc_divide"},
    {"true_divide", "self other", divide, "divide"},
    {"fmod", "self other", fmod, "mod"},
    {"pow", "self exponent", power, "power sqrt"},
    {"float_power", "self exponent", power, "power sqrt"},
    {"clamp", "self min max", clamp, "clip maximum minimum"},
    {"clip", "self min max", clamp, "clip"},
    {"clamp_min", "self min", clamp, "clip"},
    {"clamp_max", "self max", clamp, "clip"},
    // ---- Comparisons, logic, selections
    {"isclose", "self other rtol atol -equal_nan", isclose, "subtract abs multiply add less_equal"},
    {"bitwise_and", "self other", bitwise_and, "bitwise_and logical_and"},
    {"__and__", "self other", bitwise_and, "bitwise_and logical_and"},
    {"bitwise_or", "self other", bitwise_or, "bitwise_or logical_or"},
    {"__or__", "self other", bitwise_or, "bitwise_or logical_or"},
    {"bitwise_xor", "self other", bitwise_xor, "bitwise_xor logical_xor"},
    {"__xor__", "self other", bitwise_xor, "bitwise_xor logical_xor"},
    {"bitwise_left_shift", "self other", shift_left, "bit_shift"},
    {"__lshift__", "self other", shift_left, "bit_shift"},
    {"bitwise_right_shift", "self other", shift_right, "bit_shift"},
    {"__rshift__", "self other", shift_right, "bit_shift"},
    {"where", "condition self other", where, "where"},
    {"where", "condition", nonzero, "nonzero take"},
    {"masked_fill", "self mask value", masked_fill, "where"},
    // ---- Activations
    {"relu6", "self", relu6, "clip"},
    {"prelu", "self weight", prelu, "nn.prelu"},
    {"_prelu_kernel", "self weight", prelu, "nn.prelu"},
    {"rrelu", "self lower upper -training -generator", rrelu, "nn.leaky_relu"},
    {"log_sigmoid", "self", log_sigmoid, "nn.log_sigmoid"},
    {"log_sigmoid_forward", "self", log_sigmoid, "nn.log_sigmoid"},
    {"tanhshrink", "self", tanhshrink, "tanh subtract"},
    {"hardtanh", "self min_val max_val", hardtanh, "clip"},
    {"hardsigmoid", "self", hardsigmoid, "nn.hard_sigmoid"},
    {"hardshrink", "self lambd", shrink, "nn.shrink"},
    {"softshrink", "self lambd", shrink, "nn.shrink"},
    {"gelu", "self approximate", gelu, "nn.gelu nn.fast_gelu"},
    {"glu", "self dim", glu, "nn.glu"},
    {"threshold", "self threshold value", threshold, "nn.relu nn.thresholded_relu nn.threshold"},
    {"dropout", "input p train", dropout, "nn.dropout"},
    {"native_dropout", "input p train", dropout, "nn.dropout"},
    {"feature_dropout", "input p train", dropout, "nn.dropout"},
    {"alpha_dropout", "input p train", dropout, "nn.dropout"},
    {"feature_alpha_dropout", "input p train", dropout, "nn.dropout"},
    // ---- Matrix products and attention
    {"linear", "input weight bias", linear, "nn.dense"},
    {"addmm", "self mat1 mat2 beta alpha", addmm, "nn.dense"},
    {"_addmm_activation", "self mat1 mat2 beta alpha -use_gelu", addmm, "nn.dense"},
    {"mm", "self mat2", mm, "nn.dense"},
    {"_grouped_mm", "self mat2 offs bias out_dtype", grouped_mm, "nn.grouped_matmul"},
    {"transformers::grouped_mm_fallback", "input weight offs", grouped_mm_fallback, "nn.grouped_matmul"},
    {"_weight_int8pack_mm", "self mat2 scales", packed_mm, "nn.matmul_nbits"},
    {"_weight_int4pack_mm", "self mat2 qGroupSize qScaleAndZeros", packed_mm, "nn.matmul_nbits"},
    {"matmul", "self other", matmul, "nn.batch_matmul"},
    {"linalg_matmul", "self other", matmul, "nn.batch_matmul"},
    {"bmm", "self mat2=other", matmul, "nn.batch_matmul"},
    {"mv", "self vec=other", matmul, "nn.batch_matmul"},
    {"dot", "self tensor=other", matmul, "nn.batch_matmul"},
    {"inner", "self other", matmul, "nn.batch_matmul"},
    {"vdot", "self other", matmul, "nn.batch_matmul"},
    {"baddbmm", "self batch1 batch2 beta alpha", baddbmm, "nn.batch_matmul add"},
    {"addbmm", "self batch1 batch2 beta alpha", baddbmm, "nn.batch_matmul sum_axes add"},
    {"addmv", "self mat vec beta alpha", addmv, "nn.batch_matmul add"},
    {"addr", "self vec1=mat vec2=vec beta alpha", addmv, "nn.batch_matmul add"},
    {"outer", "self vec2", outer, "multiply"},
    {"ger", "self vec2", outer, "multiply"},
    {"einsum", "equation tensors -path", einsum, "einsum"},
    {"einsum", "equation tensors", einsum, "einsum"},
    {"tensordot", "self other dims_self dims_other", tensordot, "einsum"},
    {"bilinear", "input1 input2 weight bias", bilinear, "einsum add"},
    {"cdist", "x1 x2 p -compute_mode", cdist, "subtract reduce_l2"},
    {"_cdist_forward", "x1 x2 p -compute_mode", cdist, "subtract reduce_l2"},
    {"_euclidean_dist", "x1 x2", cdist, "subtract reduce_l2"},
    {"scaled_dot_product_attention", "query key value attn_mask -dropout_p is_causal scale -enable_gqa", sdpa,
     "nn.sdpa nn.attention"},
    {"scaled_dot_product_attention", "query key value attn_mask -dropout_p is_causal scale", sdpa,
     "nn.sdpa nn.attention"},
    {"scaled_dot_product_attention", "query key value attn_mask -dropout_p is_causal", sdpa, "nn.sdpa nn.attention"},
    {"_scaled_dot_product_flash_attention", "query key value -dropout_p is_causal -return_debug_mask scale", sdpa,
     "nn.sdpa nn.attention"},
    {"_scaled_dot_product_efficient_attention",
     "query key value attn_bias=attn_mask -compute_log_sumexp -dropout_p is_causal scale", sdpa,
     "nn.sdpa nn.attention"},
    {"_scaled_dot_product_flash_attention_for_cpu", "query key value -dropout_p is_causal attn_mask scale", sdpa,
     "nn.sdpa nn.attention"},
    {"_scaled_dot_product_cudnn_attention",
     "query key value attn_bias=attn_mask -compute_log_sumexp -dropout_p is_causal -return_debug_mask scale", sdpa,
     "nn.sdpa nn.attention"},
    {"_scaled_dot_product_attention_math",
     "query key value attn_mask -dropout_p is_causal -dropout_mask scale -enable_gqa", sdpa, "nn.sdpa nn.attention"},
    {"_native_multi_head_attention",
     "query key value -embed_dim num_head qkv_weight qkv_bias proj_weight proj_bias -mask -need_weights "
     "-average_attn_weights -mask_type",
     multi_head_attention, "nn.dense nn.sdpa"},
    {"_transformer_encoder_layer_fwd",
     "src -embed_dim num_heads qkv_weight qkv_bias proj_weight proj_bias use_gelu norm_first eps norm_weight_1 "
     "norm_bias_1 norm_weight_2 norm_bias_2 ffn_weight_1 ffn_bias_1 ffn_weight_2 ffn_bias_2 -mask -mask_type",
     transformer_encoder_layer, "nn.dense nn.sdpa nn.layer_norm nn.relu nn.gelu add"},
    // ---- Convolutions
    {"conv1d", "input weight bias stride padding dilation groups", convolution, "nn.conv1d"},
    {"conv2d", "input weight bias stride padding dilation groups", convolution, "nn.conv2d"},
    {"conv3d", "input weight bias stride padding dilation groups", convolution, "nn.conv3d"},
    {"_convolution_mode", "input weight bias stride padding dilation groups", convolution,
     "nn.conv1d nn.conv2d nn.conv3d"},
    {"conv_transpose1d", "input weight bias stride padding output_padding groups dilation", convolution_transposed,
     "nn.conv1d_transpose"},
    {"conv_transpose2d", "input weight bias stride padding output_padding groups dilation", convolution_transposed,
     "nn.conv2d_transpose"},
    {"conv_transpose3d", "input weight bias stride padding output_padding groups dilation", convolution_transposed,
     "nn.conv3d_transpose"},
    {"_convolution",
     "input weight bias stride padding dilation transposed output_padding groups -benchmark -deterministic "
     "-cudnn_enabled -allow_tf32",
     convolution, "nn.conv1d nn.conv2d nn.conv3d nn.conv2d_transpose"},
    {"_convolution",
     "input weight bias stride padding dilation transposed output_padding groups -benchmark -deterministic "
     "-cudnn_enabled",
     convolution, "nn.conv1d nn.conv2d nn.conv3d nn.conv2d_transpose"},
    {"convolution", "input weight bias stride padding dilation transposed output_padding groups", convolution,
     "nn.conv1d nn.conv2d nn.conv3d nn.conv2d_transpose"},
    {"convolution_overrideable", "input weight bias stride padding dilation transposed output_padding groups",
     convolution, "nn.conv1d nn.conv2d nn.conv3d nn.conv2d_transpose"},
    {"torchvision::deform_conv2d",
     "input weight offset mask bias stride_h stride_w pad_h pad_w dilation_h dilation_w groups offset_groups use_mask",
     deform_conv2d, "nn.deformable_conv2d"},
    // ---- Pooling
    {"max_pool1d", "self kernel_size stride padding dilation ceil_mode", max_pool, "nn.max_pool1d"},
    {"max_pool2d", "self kernel_size stride padding dilation ceil_mode", max_pool, "nn.max_pool2d"},
    {"max_pool3d", "self kernel_size stride padding dilation ceil_mode", max_pool, "nn.max_pool3d"},
    {"max_pool1d_with_indices", "self kernel_size stride padding dilation ceil_mode", max_pool, "nn.max_pool1d"},
    {"max_pool2d_with_indices", "self kernel_size stride padding dilation ceil_mode", max_pool, "nn.max_pool2d"},
    {"max_pool3d_with_indices", "self kernel_size stride padding dilation ceil_mode", max_pool, "nn.max_pool3d"},
    {"avg_pool1d", "self kernel_size stride padding ceil_mode count_include_pad", avg_pool, "nn.avg_pool1d"},
    {"avg_pool2d", "self kernel_size stride padding ceil_mode count_include_pad -divisor_override", avg_pool,
     "nn.avg_pool2d"},
    {"avg_pool3d", "self kernel_size stride padding ceil_mode count_include_pad -divisor_override", avg_pool,
     "nn.avg_pool3d"},
    {"lp_pool1d", "self norm_type kernel_size stride ceil_mode", lp_pool, "nn.lp_pool"},
    {"lp_pool2d", "self norm_type kernel_size stride ceil_mode", lp_pool, "nn.lp_pool"},
    {"adaptive_avg_pool1d", "self output_size", adaptive_avg_pool, "nn.adaptive_avg_pool2d nn.avg_pool1d"},
    {"adaptive_avg_pool2d", "self output_size", adaptive_avg_pool, "nn.adaptive_avg_pool2d nn.avg_pool2d"},
    {"adaptive_avg_pool3d", "self output_size", adaptive_avg_pool, "nn.adaptive_avg_pool2d nn.avg_pool3d"},
    {"_adaptive_avg_pool2d", "self output_size", adaptive_avg_pool, "nn.adaptive_avg_pool2d nn.avg_pool2d"},
    {"_adaptive_avg_pool3d", "self output_size", adaptive_avg_pool, "nn.adaptive_avg_pool2d nn.avg_pool3d"},
    {"adaptive_max_pool1d", "self output_size", adaptive_max_pool, "nn.adaptive_max_pool2d nn.max_pool1d"},
    {"adaptive_max_pool2d", "self output_size", adaptive_max_pool, "nn.adaptive_max_pool2d nn.max_pool2d"},
    {"adaptive_max_pool3d", "self output_size", adaptive_max_pool, "nn.adaptive_max_pool2d nn.max_pool3d"},
    {"max_unpool2d", "self indices output_size", max_unpool, "nn.max_unpool"},
    {"max_unpool3d", "self indices output_size -stride -padding", max_unpool, "nn.max_unpool"},
    // ---- Normalisation and softmax
    {"batch_norm", "input weight bias running_mean running_var training -momentum eps -cudnn_enabled", batch_norm,
     "nn.batch_norm"},
    {"native_batch_norm", "input weight bias running_mean running_var training -momentum eps", batch_norm,
     "nn.batch_norm"},
    {"cudnn_batch_norm", "input weight bias running_mean running_var training -exponential_average_factor epsilon=eps",
     batch_norm, "nn.batch_norm"},
    {"_native_batch_norm_legit", "input weight bias running_mean running_var training -momentum eps", batch_norm,
     "nn.batch_norm"},
    {"_native_batch_norm_legit_functional", "input weight bias running_mean running_var training -momentum eps",
     batch_norm, "nn.batch_norm"},
    {"_native_batch_norm_legit", "input weight bias training -momentum eps", batch_norm, "nn.batch_norm"},
    {"_native_batch_norm_legit_no_training", "input weight bias running_mean running_var -momentum eps", batch_norm,
     "nn.batch_norm"},
    {"_batch_norm_no_update", "input weight bias running_mean running_var -momentum eps", batch_norm, "nn.batch_norm"},
    {"layer_norm", "input normalized_shape weight bias eps -cudnn_enable", layer_norm, "nn.layer_norm"},
    {"native_layer_norm", "input normalized_shape weight bias eps", layer_norm, "nn.layer_norm"},
    {"rms_norm", "input normalized_shape weight eps", rms_norm, "nn.rms_norm"},
    {"_fused_rms_norm", "input normalized_shape weight eps", rms_norm, "nn.rms_norm"},
    {"group_norm", "input num_groups weight bias eps -cudnn_enabled", group_norm, "nn.group_norm"},
    {"native_group_norm", "input weight bias -N -C -HxW group eps", group_norm, "nn.group_norm"},
    {"instance_norm", "input weight bias running_mean running_var use_input_stats -momentum eps -cudnn_enabled",
     instance_norm, "nn.instance_norm nn.batch_norm"},
    {"softmax", "self dim dtype", softmax, "nn.softmax"},
    {"_softmax", "self dim half_to_float", softmax, "nn.softmax"},
    {"_safe_softmax", "self dim dtype", softmax, "nn.softmax"},
    {"special_softmax", "self dim dtype", softmax, "nn.softmax"},
    {"log_softmax", "self dim dtype", softmax, "nn.log_softmax"},
    {"_log_softmax", "self dim half_to_float", softmax, "nn.log_softmax"},
    {"special_log_softmax", "self dim dtype", softmax, "nn.log_softmax"},
    {"softmin", "self dim dtype", softmin, "negative nn.softmax"},
    {"linalg_vector_norm", "self ord dim keepdim dtype", vector_norm, "reduce_l2 reduce_l1 reduce_lp"},
    {"linalg_norm", "self ord dim keepdim dtype", vector_norm, "reduce_l2 reduce_l1 reduce_lp"},
    {"norm", "self p", vector_norm, "reduce_l2 reduce_l1 reduce_lp"},
    {"norm", "self p dtype", vector_norm, "reduce_l2 reduce_l1 reduce_lp"},
    {"norm", "self p dim keepdim", vector_norm, "reduce_l2 reduce_l1 reduce_lp"},
    {"norm", "self p dim keepdim dtype", vector_norm, "reduce_l2 reduce_l1 reduce_lp"},
    {"frobenius_norm", "self dim keepdim", vector_norm, "reduce_l2"},
    {"frobenius_norm", "self", vector_norm, "reduce_l2"},
    {"renorm", "self -p dim maxnorm", renorm, "reduce_l2 divide minimum multiply"},
    {"_weight_norm", "v g dim", weight_norm, "nn.weight_norm"},
    {"weight_norm", "v g dim", weight_norm, "nn.weight_norm"},
    {"_weight_norm_interface", "v g dim", weight_norm, "nn.weight_norm"},
    {"cosine_similarity", "x1 x2 dim -eps", cosine_similarity, "multiply sum_axes reduce_l2 divide"},
    {"pairwise_distance", "x1 x2 p -eps keepdim", pairwise_distance, "subtract reduce_l2"},
    // ---- Losses
    {"mse_loss", "self target reduction", difference_loss, "nn.mse_loss mean"},
    {"l1_loss", "self target reduction", difference_loss, "subtract abs mean"},
    {"smooth_l1_loss", "self target reduction beta", difference_loss, "nn.smooth_l1_loss mean"},
    {"huber_loss", "self target reduction delta", difference_loss, "nn.huber_loss mean"},
    {"nll_loss", "self target weight reduction ignore_index", nll_loss, "nn.nll_loss"},
    {"nll_loss2d", "self target weight reduction ignore_index", nll_loss, "nn.nll_loss"},
    {"nll_loss_nd", "self target weight reduction ignore_index", nll_loss, "nn.nll_loss"},
    {"cross_entropy_loss", "self target weight reduction ignore_index -label_smoothing", cross_entropy,
     "nn.cross_entropy"},
    {"binary_cross_entropy", "self target weight reduction", binary_cross_entropy, "nn.binary_cross_entropy mean"},
    {"binary_cross_entropy_with_logits", "self target weight pos_weight reduction", binary_cross_entropy,
     "subtract multiply nn.log_sigmoid mean"},
    {"kl_div", "self target reduction log_target", kl_div, "xlogy multiply subtract exp mean"},
    // ---- Recurrent layers
    {"lstm", "input hx params has_biases num_layers -dropout -train bidirectional batch_first", lstm, "nn.lstm"},
    {"gru", "input hx params has_biases num_layers -dropout -train bidirectional batch_first", gru, "nn.gru"},
    {"rnn_tanh", "input hx params has_biases num_layers -dropout -train bidirectional batch_first", rnn_tanh, "nn.rnn"},
    {"rnn_relu", "input hx params has_biases num_layers -dropout -train bidirectional batch_first", rnn_relu, "nn.rnn"},
    {"lstm_cell", "input hx w_ih w_hh b_ih b_hh", lstm_cell, "nn.lstm"},
    {"gru_cell", "input hx w_ih w_hh b_ih b_hh", gru_cell, "nn.gru"},
    {"rnn_tanh_cell", "input hx w_ih w_hh b_ih b_hh", rnn_tanh_cell, "nn.rnn"},
    {"rnn_relu_cell", "input hx w_ih w_hh b_ih b_hh", rnn_relu_cell, "nn.rnn"},
    // ---- Views
    {"view", "self size", view, "reshape"},
    {"view", "self dtype", view_as_type, "bitcast"},
    {"_unsafe_view", "self size", view, "reshape"},
    {"_reshape_alias", "self size -stride", view, "reshape"},
    {"reshape", "self size", view, "reshape"},
    {"reshape", "self shape=size", view, "reshape"},
    {"view_copy", "self size", view, "reshape"},
    {"view_copy", "self dtype", view_as_type, "bitcast"},
    {"reshape_as", "self other", reshape_as, "reshape"},
    {"view_as", "self other", reshape_as, "reshape"},
    {"flatten", "self start_dim end_dim", flatten, "reshape"},
    {"ravel", "self", flatten, "reshape"},
    {"unflatten", "self dim sizes", unflatten, "reshape"},
    {"squeeze", "self", squeeze, "squeeze"},
    {"squeeze", "self dim", squeeze, "squeeze"},
    {"unsqueeze", "self dim", unsqueeze, "expand_dims"},
    {"permute", "self dims", permute, "transpose"},
    {"transpose", "self dim0 dim1", transpose, "transpose"},
    {"swapaxes", "self dim0 dim1", transpose, "transpose"},
    {"swapaxes", "self axis0=dim0 axis1=dim1", transpose, "transpose"},
    {"swapdims", "self dim0 dim1", transpose, "transpose"},
    {"t", "self", matrix_transpose, "transpose"},
    {"adjoint", "self", matrix_transpose, "transpose"},
    {"mT", "self", matrix_transpose, "transpose"},
    {"numpy_T", "self", matrix_transpose, "transpose"},
    {"movedim", "self source destination", movedim, "transpose"},
    {"moveaxis", "self source destination", movedim, "transpose"},
    {"expand", "self size -implicit", expand, "broadcast_to"},
    {"expand", "self size", expand, "broadcast_to"},
    {"broadcast_to", "self size", expand, "broadcast_to"},
    {"expand_as", "self other", expand_as, "broadcast_to"},
    {"broadcast_tensors", "tensors", broadcast_tensors, "broadcast_to"},
    {"slice", "self dim start end step", slice, "strided_slice"},
    {"narrow", "self dim start length", narrow, "strided_slice"},
    {"select", "self dim index", select, "take"},
    {"diagonal", "self offset dim1 dim2", diagonal, "transpose reshape strided_slice"},
    {"diag", "self diagonal=offset", diagonal, "transpose reshape strided_slice"},
    {"as_strided", "self size stride storage_offset", as_strided, "reshape take"},
    {"split", "self split_size dim", split, "split"},
    {"split", "self split_sizes=split_size dim", split, "split"},
    {"unsafe_split", "self split_size dim", split, "split"},
    {"split_with_sizes", "self split_size dim", split, "split"},
    {"split_with_sizes", "self split_sizes=split_size dim", split, "split"},
    {"unsafe_split_with_sizes", "self split_sizes=split_size dim", split, "split"},
    {"split_copy", "self split_size dim", split, "split"},
    {"chunk", "self chunks dim", chunk, "split"},
    {"unsafe_chunk", "self chunks dim", chunk, "split"},
    {"tensor_split", "self chunks dim", tensor_split, "split"},
    {"tensor_split", "self sections=chunks dim", tensor_split, "split"},
    {"tensor_split", "self indices=chunks dim", tensor_split, "split"},
    {"unbind", "self dim", unbind, "take"},
    {"unfold", "self dimension size step", unfold, "take transpose"},
    // ---- Data movement
    {"cat", "tensors dim", cat, "concatenate"},
    {"concat", "tensors dim", cat, "concatenate"},
    {"concatenate", "tensors dim", cat, "concatenate"},
    {"stack", "tensors dim", stack, "expand_dims concatenate"},
    {"hstack", "tensors", stack_along, "concatenate"},
    {"vstack", "tensors", stack_along, "concatenate"},
    {"row_stack", "tensors", stack_along, "concatenate"},
    {"dstack", "tensors", stack_along, "concatenate"},
    {"repeat", "self repeats", repeat, "tile"},
    {"tile", "self repeats", repeat, "tile"},
    {"tile", "self dims=repeats", repeat, "tile"},
    {"repeat_interleave", "self repeats dim output_size", repeat_interleave,
     "broadcast_to reshape cumsum arange less_equal sum_axes take"},
    {"repeat_interleave", "repeats output_size", repeated_indices, "cumsum arange less_equal sum_axes"},
    {"flip", "self dims", flip, "reverse"},
    {"roll", "self shifts dims", roll, "roll"},
    {"rot90", "self k dims", rot90, "reverse transpose"},
    {"im2col", "self kernel_size dilation padding stride", im2col, "nn.pad take transpose reshape"},
    {"col2im", "self output_size kernel_size dilation padding stride", col2im, "col2im"},
    {"pixel_shuffle", "self upscale_factor", pixel_shuffle, "depth_to_space"},
    {"pixel_unshuffle", "self downscale_factor", pixel_shuffle, "space_to_depth"},
    {"channel_shuffle", "self groups", channel_shuffle, "reshape transpose"},
    {"native_channel_shuffle", "self groups", channel_shuffle, "reshape transpose"},
    {"pad", "self pad mode value", pad, "nn.pad"},
    {"constant_pad_nd", "self pad value", pad, "nn.pad"},
    {"reflection_pad1d", "self padding=pad", pad, "nn.pad"},
    {"reflection_pad2d", "self padding=pad", pad, "nn.pad"},
    {"reflection_pad3d", "self padding=pad", pad, "nn.pad"},
    {"replication_pad1d", "self padding=pad", pad, "nn.pad"},
    {"replication_pad2d", "self padding=pad", pad, "nn.pad"},
    {"replication_pad3d", "self padding=pad", pad, "nn.pad"},
    {"meshgrid", "tensors", meshgrid, "reshape broadcast_to"},
    {"meshgrid", "tensors indexing", meshgrid, "reshape broadcast_to"},
    {"tril", "self diagonal", triangle, "trilu"},
    {"triu", "self diagonal", triangle, "trilu"},
    // ---- Indexing
    {"index", "self indices", index, "take gather_nd compress"},
    {"_unsafe_index", "self indices", index, "take gather_nd compress"},
    {"index_put", "self indices values accumulate", index_put, "where scatter_nd"},
    {"_index_put_impl", "self indices values accumulate -unsafe", index_put, "where scatter_nd"},
    {"_unsafe_index_put", "self indices values accumulate", index_put, "where scatter_nd"},
    {"index_select", "self dim index", index_select, "take"},
    {"index_add", "self dim index source alpha", index_write, "scatter_elements"},
    {"index_copy", "self dim index source", index_write, "scatter_elements"},
    {"index_fill", "self dim index value", index_write, "scatter_elements"},
    {"index_reduce", "self dim index source reduce -include_self", index_write, "scatter_elements"},
    {"gather", "self dim index -sparse_grad", gather, "gather"},
    {"take_along_dim", "self indices dim", take_along_dim, "gather"},
    {"take", "self index", take, "take"},
    {"scatter", "self dim index src", scatter, "scatter_elements"},
    {"scatter", "self dim index value=src", scatter, "scatter_elements"},
    {"scatter", "self dim index src reduce", scatter, "scatter_elements"},
    {"scatter", "self dim index value=src reduce", scatter, "scatter_elements"},
    {"scatter_add", "self dim index src", scatter, "scatter_elements"},
    {"scatter_reduce", "self dim index src reduce -include_self", scatter, "scatter_elements"},
    {"slice_scatter", "self src dim start end step", view_scatter, "strided_set"},
    {"select_scatter", "self src dim index", view_scatter, "strided_set"},
    {"masked_select", "self mask", masked_select, "compress"},
    {"masked_scatter", "self mask source", masked_scatter, "cumsum take where"},
    {"embedding", "weight indices -padding_idx -scale_grad_by_freq -sparse", embedding, "take"},
    {"embedding_bag",
     "weight indices offsets -scale_grad_by_freq mode -sparse per_sample_weights include_last_offset -padding_idx",
     embedding_bag, "nn.embedding_bag"},
    {"embedding_bag", "weight indices offsets -scale_grad_by_freq mode -sparse per_sample_weights include_last_offset",
     embedding_bag, "nn.embedding_bag"},
    {"_embedding_bag",
     "weight indices offsets -scale_grad_by_freq mode -sparse per_sample_weights include_last_offset -padding_idx",
     embedding_bag, "nn.embedding_bag"},
    {"_embedding_bag_forward_only",
     "weight indices offsets -scale_grad_by_freq mode -sparse per_sample_weights include_last_offset -padding_idx",
     embedding_bag, "nn.embedding_bag"},
    {"one_hot", "self num_classes", one_hot, "one_hot"},
    {"nonzero", "self", nonzero, "nonzero transpose"},
    {"argwhere", "self", nonzero, "nonzero transpose"},
    {"nonzero_numpy", "self", nonzero, "nonzero take"},
    {"bucketize", "self boundaries out_int32 right", bucketize, "less sum_axes"},
    {"isin", "elements test_elements -assume_unique invert", isin, "equal not_equal any all"},
    {"isin", "elements test_element=test_elements -assume_unique invert", isin, "equal not_equal"},
    {"isin", "element=elements test_elements -assume_unique invert", isin, "equal not_equal any all"},
    {"searchsorted", "sorted_sequence self out_int32 right -side -sorter", bucketize, "less sum_axes"},
    {"bincount", "self weights minlength", bincount, "scatter_elements"},
    {"histc", "self bins min max", histc, "histogram"},
    // ---- Reductions, scans, sorting
    {"sum", "self dtype", sum, "sum_axes"},
    {"sum", "self dim keepdim dtype", sum, "sum_axes"},
    {"nansum", "self dim keepdim dtype", nansum, "nansum"},
    {"mean", "self dtype", mean, "mean"},
    {"mean", "self dim keepdim dtype", mean, "mean"},
    {"nanmean", "self dim keepdim dtype", mean, "mean"},
    {"prod", "self dtype", prod, "prod"},
    {"prod", "self dim keepdim dtype", prod, "prod"},
    {"amax", "self dim keepdim", amax, "max"},
    {"amin", "self dim keepdim", amin, "min"},
    {"aminmax", "self dim keepdim", aminmax, "aminmax"},
    {"max", "self", max, "max max_dim"},
    {"max", "self dim keepdim", max, "max_dim"},
    {"min", "self", min, "min min_dim"},
    {"min", "self dim keepdim", min, "min_dim"},
    {"argmax", "self dim keepdim", argmax, "argmax"},
    {"argmin", "self dim keepdim", argmin, "argmin"},
    {"logsumexp", "self dim keepdim", logsumexp, "logsumexp"},
    {"special_logsumexp", "self dim keepdim", logsumexp, "logsumexp"},
    {"all", "self", all, "all"},
    {"all", "self dim keepdim", all, "all"},
    {"_is_all_true", "self", all, "all"},
    {"any", "self", any, "any"},
    {"_is_any_true", "self", any, "any"},
    {"any", "self dim keepdim", any, "any"},
    {"count_nonzero", "self dim", count_nonzero, "count_nonzero"},
    {"var", "self unbiased", variance, "variance"},
    {"var", "self dim correction keepdim", variance, "variance"},
    {"var", "self dim unbiased keepdim", variance, "variance"},
    {"std", "self unbiased", deviation, "std"},
    {"std", "self dim correction keepdim", deviation, "std"},
    {"std", "self dim unbiased keepdim", deviation, "std"},
    {"var_mean", "self unbiased", variance_mean, "var_mean"},
    {"var_mean", "self dim correction keepdim", variance_mean, "var_mean"},
    {"var_mean", "self dim unbiased keepdim", variance_mean, "var_mean"},
    {"std_mean", "self unbiased", variance_mean, "std_mean"},
    {"std_mean", "self dim correction keepdim", variance_mean, "std_mean"},
    {"std_mean", "self dim unbiased keepdim", variance_mean, "std_mean"},
    {"cumsum", "self dim dtype", cumulative, "cumsum"},
    {"cumprod", "self dim dtype", cumulative, "cumprod"},
    {"logcumsumexp", "self dim", cumulative, "logcumsumexp"},
    {"cummax", "self dim", cumulative_extreme, "cummax"},
    {"cummin", "self dim", cumulative_extreme, "cummin"},
    {"diff", "self n dim prepend append", diff, "strided_slice subtract"},
    {"topk", "self k dim largest sorted", topk, "topk"},
    {"sort", "self dim descending", sort, "topk"},
    {"sort", "self -stable dim descending", sort, "topk"},
    {"argsort", "self dim descending", sort, "topk"},
    {"argsort", "self -stable dim descending", sort, "topk"},
    {"msort", "self", sort, "topk"},
    {"median", "self", order_statistic, "topk take"},
    {"median", "self dim keepdim", order_statistic, "topk take"},
    {"nanmedian", "self", order_statistic, "topk take"},
    {"nanmedian", "self dim keepdim", order_statistic, "topk take"},
    {"kthvalue", "self k dim keepdim", order_statistic, "topk take"},
    {"mode", "self dim keepdim", order_statistic, "topk take"},
    {"_unique2", "self -sorted -return_inverse -return_counts", unique, "unique"},
    {"_unique", "self -sorted -return_inverse", unique, "unique"},
    {"unique_dim", "self dim -sorted -return_inverse -return_counts", unique, "unique"},
    {"unique_consecutive", "self -return_inverse -return_counts dim", unique, "unique"},
    // ---- Tensors from nothing
    {"zeros", "size dtype -layout -device -pin_memory", make, "full"},
    {"ones", "size dtype -layout -device -pin_memory", make, "full"},
    {"empty", "size dtype -layout -device -pin_memory -memory_format", make, "full"},
    {"empty_permuted", "size -physical_layout dtype -layout -device -pin_memory", make, "full"},
    {"empty_strided", "size -stride dtype -layout -device -pin_memory", make, "full"},
    {"full", "size fill_value dtype -layout -device -pin_memory", make, "full"},
    {"rand", "size dtype -layout -device -pin_memory", make, "random.uniform"},
    {"rand", "size -generator dtype -layout -device -pin_memory", make, "random.uniform"},
    {"randn", "size dtype -layout -device -pin_memory", make, "random.normal"},
    {"randn", "size -generator dtype -layout -device -pin_memory", make, "random.normal"},
    {"randint", "-high size dtype -layout -device -pin_memory", make, "random.uniform_like cast"},
    {"randint", "-low -high size dtype -layout -device -pin_memory", make, "random.uniform_like cast"},
    {"zeros_like", "self dtype -layout -device -pin_memory -memory_format", make_like, "full"},
    {"ones_like", "self dtype -layout -device -pin_memory -memory_format", make_like, "full"},
    {"empty_like", "self dtype -layout -device -pin_memory -memory_format", make_like, "full"},
    {"full_like", "self fill_value dtype -layout -device -pin_memory -memory_format", make_like, "full"},
    {"rand_like", "self dtype -layout -device -pin_memory -memory_format", make_like, "random.uniform_like"},
    {"randn_like", "self dtype -layout -device -pin_memory -memory_format", make_like, "random.normal_like"},
    {"new_zeros", "self size dtype -layout -device -pin_memory", make_new, "full"},
    {"new_ones", "self size dtype -layout -device -pin_memory", make_new, "full"},
    {"new_empty", "self size dtype -layout -device -pin_memory", make_new, "full"},
    {"new_empty_strided", "self size -stride dtype -layout -device -pin_memory", make_new, "full"},
    {"new_full", "self size fill_value dtype -layout -device -pin_memory", make_new, "full"},
    {"uniform", "self -from -to -generator", randomize, "random.uniform_like"},
    {"normal", "self -mean -std -generator", randomize, "random.normal_like"},
    {"exponential", "self -lambd -generator", randomize, "random.uniform_like"},
    {"log_normal", "self -mean -std -generator", randomize, "random.uniform_like"},
    {"cauchy", "self -median -sigma -generator", randomize, "random.uniform_like"},
    {"geometric", "self -p -generator", randomize, "random.uniform_like"},
    {"bernoulli", "self -generator", bernoulli, "random.bernoulli"},
    {"bernoulli", "self -p -generator", bernoulli, "random.bernoulli"},
    {"multinomial", "self num_samples -replacement -generator", multinomial, "random.multinomial"},
    {"arange", "end", arange, "arange"},
    {"arange", "end dtype -layout -device -pin_memory", arange, "arange"},
    {"arange", "start end dtype -layout -device -pin_memory", arange, "arange"},
    {"arange", "start end step dtype -layout -device -pin_memory", arange, "arange"},
    {"linspace", "start end steps dtype -layout -device -pin_memory", linspace, "arange multiply add"},
    {"diag_embed", "self offset dim1 dim2", diag_embed, "full clone strided_set reshape transpose"},
    {"pad_sequence", "sequences batch_first padding_value padding_side", pad_sequence, "full clone strided_set"},
    {"logspace", "start end steps base dtype -layout -device -pin_memory", linspace, "arange multiply add power"},
    {"eye", "n dtype -layout -device -pin_memory", eye, "full eye_like"},
    {"eye", "n m dtype -layout -device -pin_memory", eye, "full eye_like"},
    {"tril_indices", "row col offset dtype -layout -device -pin_memory", tril_indices, "a constant"},
    {"triu_indices", "row col offset dtype -layout -device -pin_memory", tril_indices, "a constant"},
    {"scalar_tensor", "s dtype -layout -device -pin_memory", scalar_tensor, "a constant"},
    {"tensor", "data dtype -device -requires_grad", scalar_tensor, "a constant"},
    {"as_tensor", "data dtype -device", scalar_tensor, "a constant"},
    {"hann_window", "window_length dtype -layout -device -pin_memory", window, "signal.hann_window"},
    {"hann_window", "window_length -periodic dtype -layout -device -pin_memory", window, "signal.hann_window"},
    {"hamming_window", "window_length dtype -layout -device -pin_memory", window, "signal.hamming_window"},
    {"blackman_window", "window_length dtype -layout -device -pin_memory", window, "signal.blackman_window"},
    // ---- Images, regions, signals
    {"__interpolate",
     "input=self size=output_size scale_factor=scale_factors mode align_corners -recompute_scale_factor antialias",
     upsample, "image.resize2d"},
    {"upsample_nearest1d", "self output_size scale_factors", upsample, "image.resize2d"},
    {"upsample_nearest2d", "self output_size scale_factors", upsample, "image.resize2d"},
    {"upsample_nearest3d", "self output_size scale_factors", upsample, "image.resize2d"},
    {"_upsample_nearest_exact1d", "self output_size scale_factors", upsample, "image.resize2d"},
    {"_upsample_nearest_exact2d", "self output_size scale_factors", upsample, "image.resize2d"},
    {"_upsample_nearest_exact3d", "self output_size scale_factors", upsample, "image.resize2d"},
    {"upsample_linear1d", "self output_size align_corners scale_factors", upsample, "image.resize2d"},
    {"upsample_bilinear2d", "self output_size align_corners scale_factors", upsample, "image.resize2d"},
    {"upsample_trilinear3d", "self output_size align_corners scale_factors", upsample, "image.resize2d"},
    {"upsample_bicubic2d", "self output_size align_corners scale_factors", upsample, "image.resize2d"},
    {"_upsample_bilinear2d_aa", "self output_size align_corners scale_factors", upsample, "image.resize2d"},
    {"_upsample_bicubic2d_aa", "self output_size align_corners scale_factors", upsample, "image.resize2d"},
    {"upsample_nearest1d", "self output_size -scales", upsample, "image.resize2d"},
    {"upsample_nearest2d", "self output_size -scales_h -scales_w", upsample, "image.resize2d"},
    {"_upsample_nearest_exact1d", "self output_size -scales", upsample, "image.resize2d"},
    {"_upsample_nearest_exact2d", "self output_size -scales_h -scales_w", upsample, "image.resize2d"},
    {"_upsample_nearest_exact3d", "self output_size -scales_d -scales_h -scales_w", upsample, "image.resize2d"},
    {"upsample_nearest3d", "self output_size -scales_d -scales_h -scales_w", upsample, "image.resize2d"},
    {"upsample_linear1d", "self output_size align_corners -scales", upsample, "image.resize2d"},
    {"upsample_bilinear2d", "self output_size align_corners -scales_h -scales_w", upsample, "image.resize2d"},
    {"upsample_trilinear3d", "self output_size align_corners -scales_d -scales_h -scales_w", upsample,
     "image.resize2d"},
    {"upsample_bicubic2d", "self output_size align_corners -scales_h -scales_w", upsample, "image.resize2d"},
    {"_upsample_bilinear2d_aa", "self output_size align_corners -scales_h -scales_w", upsample, "image.resize2d"},
    {"_upsample_bicubic2d_aa", "self output_size align_corners -scales_h -scales_w", upsample, "image.resize2d"},
    {"grid_sampler", "input grid interpolation_mode padding_mode align_corners", grid_sample, "image.grid_sample"},
    {"grid_sampler_2d", "input grid interpolation_mode padding_mode align_corners", grid_sample, "image.grid_sample"},
    {"grid_sampler_3d", "input grid interpolation_mode padding_mode align_corners", grid_sample, "image.grid_sample"},
    {"affine_grid_generator", "theta size align_corners", affine_grid, "image.affine_grid"},
    {"torchvision::nms", "dets scores iou_threshold", nms, "vision.non_max_suppression take"},
    {"torchvision::roi_align", "input rois spatial_scale pooled_height pooled_width sampling_ratio aligned", roi_align,
     "vision.roi_align"},
    {"torchvision::roi_pool", "input rois spatial_scale pooled_height pooled_width", roi_align, "vision.roi_pool"},
    {"fft_fft", "self n dim -norm", fft, "dft as_complex"},
    {"fft_ifft", "self n dim -norm", fft, "dft as_complex"},
    {"fft_rfft", "self n dim -norm", fft, "dft as_complex"},
    {"fft_irfft", "self n dim -norm", fft, "dft as_complex"},
    {"fft_fft2", "self s=n dim -norm", fft, "dft as_complex"},
    {"fft_ifft2", "self s=n dim -norm", fft, "dft as_complex"},
    {"fft_rfft2", "self s=n dim -norm", fft, "dft as_complex"},
    {"fft_irfft2", "self s=n dim -norm", fft, "dft as_complex"},
    {"fft_fftn", "self s=n dim -norm", fft, "dft as_complex"},
    {"fft_ifftn", "self s=n dim -norm", fft, "dft as_complex"},
    {"fft_rfftn", "self s=n dim -norm", fft, "dft as_complex"},
    {"fft_irfftn", "self s=n dim -norm", fft, "dft as_complex"},
    {"_fft_r2c", "self dim -normalization onesided", fft, "dft as_complex"},
    {"_fft_c2c", "self dim -normalization forward", fft, "as_real dft as_complex"},
    {"_fft_c2r", "self dim -normalization last_dim_size", fft, "as_real dft"},
    {"stft", "self n_fft hop_length win_length window normalized onesided return_complex", stft,
     "stft multiply as_complex"},
    {"stft", "self n_fft hop_length win_length window normalized onesided return_complex align_to_window", stft,
     "stft multiply as_complex"},
    {"view_as_complex", "self", view_as_complex, "as_complex"},
    {"view_as_real", "self", view_as_real, "as_real"},
    {"real", "self", complex_part, "as_real take"},
    {"imag", "self", complex_part, "as_real take"},
    {"complex", "real imag", complex_of, "concatenate as_complex"},
    // ---- Quantised
    {"quantize_per_tensor", "self scale zero_point dtype", quantize, "qnn.quantize"},
    {"quantize_per_tensor_dynamic", "self dtype -reduce_range", quantize, "qnn.quantize"},
    {"quantize_per_channel", "self scales=scale zero_points=zero_point axis dtype", quantize, "qnn.quantize"},
    {"dequantize", "self", dequantize, "qnn.dequantize"},
    {"int_repr", "self", alias, ""},
    {"_make_per_tensor_quantized_tensor", "self -scale -zero_point", alias, ""},
    {"fake_quantize_per_tensor_affine", "self -scale -zero_point -quant_min -quant_max", fake_quantize,
     "qnn.quantize qnn.dequantize"},
    {"fake_quantize_per_channel_affine", "self -scale -zero_point -axis -quant_min -quant_max", fake_quantize,
     "qnn.quantize qnn.dequantize"},
    {"quantized::conv1d", "qx packed_weight scale zero_point", quantized_conv, "qnn.conv2d"},
    {"quantized::conv1d_relu", "qx packed_weight scale zero_point", quantized_conv, "qnn.conv2d nn.relu"},
    {"quantized::conv2d", "qx packed_weight scale zero_point", quantized_conv, "qnn.conv2d"},
    {"quantized::conv2d_relu", "qx packed_weight scale zero_point", quantized_conv, "qnn.conv2d nn.relu"},
    {"quantized::conv3d", "qx packed_weight scale zero_point", quantized_conv, "qnn.conv2d"},
    {"quantized::conv3d_relu", "qx packed_weight scale zero_point", quantized_conv, "qnn.conv2d nn.relu"},
    {"quantized::conv_transpose1d", "qx packed_weight scale zero_point", quantized_conv_transposed,
     "qnn.dequantize nn.conv1d_transpose qnn.quantize"},
    {"quantized::conv_transpose2d", "qx packed_weight scale zero_point", quantized_conv_transposed,
     "qnn.dequantize nn.conv2d_transpose qnn.quantize"},
    {"quantized::conv_transpose3d", "qx packed_weight scale zero_point", quantized_conv_transposed,
     "qnn.dequantize nn.conv3d_transpose qnn.quantize"},
    {"quantized::conv2d_prepack", "weight bias stride padding dilation groups", quantized_prepack, ""},
    {"quantized::conv1d_prepack", "weight bias stride padding dilation groups", quantized_prepack, ""},
    {"quantized::conv3d_prepack", "weight bias stride padding dilation groups", quantized_prepack, ""},
    {"quantized::linear_prepack", "weight bias", quantized_prepack, ""},
    {"quantized::linear", "qx packed_weight scale zero_point", quantized_linear, "qnn.gemm"},
    {"quantized::linear_relu", "qx packed_weight scale zero_point", quantized_linear, "qnn.gemm nn.relu"},
    {"quantized::linear_dynamic", "x packed_weight -reduce_range", quantized_linear_dynamic,
     "qnn.dynamic_quantize_matmul"},
    {"quantized::linear_relu_dynamic", "x packed_weight -reduce_range", quantized_linear_dynamic,
     "qnn.dynamic_quantize_matmul nn.relu"},
    {"quantized::linear_dynamic_fp16", "x packed_weight", quantized_linear_dynamic, "nn.dense"},
    {"quantized::add", "qa qb scale zero_point", quantized_binary, "qnn.add"},
    {"quantized::add_relu", "qa qb scale zero_point", quantized_binary, "qnn.add nn.relu"},
    {"quantized::mul", "qa qb scale zero_point", quantized_binary, "qnn.multiply"},
    {"quantized::mul_relu", "qa qb scale zero_point", quantized_binary, "qnn.multiply nn.relu"},
    {"quantized::add_scalar", "qa qb", quantized_binary, "qnn.add"},
    {"quantized::mul_scalar", "qa qb", quantized_binary, "qnn.multiply"},
    {"quantized::cat", "tensors dim scale zero_point", quantized_cat, "qnn.concatenate"},
    {"quantized::cat_relu", "tensors dim scale zero_point", quantized_cat, "qnn.concatenate nn.relu"},
    {"quantized::hardswish", "qx scale zero_point", quantized_hardswish, "qnn.dequantize nn.hard_swish qnn.quantize"},
    {"quantized::leaky_relu", "qx negative_slope -inplace scale zero_point", quantized_leaky_relu, "qnn.leaky_relu"},
    {"quantized::sigmoid", "qx scale zero_point", quantized_sigmoid, "qnn.sigmoid"},
    {"quantized::relu6", "qx -inplace", quantized_relu6, "clip"},
    {"quantized::batch_norm2d", "qx weight bias mean var eps scale zero_point", quantized_batch_norm,
     "qnn.dequantize nn.batch_norm qnn.quantize"},
    {"quantized::batch_norm2d_relu", "qx weight bias mean var eps scale zero_point", quantized_batch_norm,
     "qnn.dequantize nn.batch_norm nn.relu qnn.quantize"},
    // ---- Matrices
    {"det", "self", determinant, "det"},
    {"linalg_det", "A=self", determinant, "det"},
    {"inverse", "self", linalg_unpriced, "opaque"},
    {"linalg_inv", "A=self", linalg_unpriced, "opaque"},
    {"linalg_inv_ex", "A=self -check_errors", linalg_unpriced, "opaque"},
    {"pinverse", "self -rcond", linalg_unpriced, "opaque"},
    {"linalg_pinv", "self -rcond -hermitian", linalg_unpriced, "opaque"},
    {"linalg_pinv", "self -atol -rtol -hermitian", linalg_unpriced, "opaque"},
    {"cholesky", "self -upper", linalg_unpriced, "opaque"},
    {"linalg_cholesky", "self -upper", linalg_unpriced, "opaque"},
    {"linalg_svd", "A=self -full_matrices -driver", linalg_unpriced, "opaque"},
    {"_linalg_svd", "A=self -full_matrices -compute_uv -driver", linalg_unpriced, "opaque"},
    {"linalg_svdvals", "A=self -driver", linalg_unpriced, "opaque"},
    {"linalg_qr", "A=self -mode", linalg_unpriced, "opaque"},
    {"linalg_eigh", "self -UPLO", linalg_unpriced, "opaque"},
    {"linalg_eigvalsh", "self -UPLO", linalg_unpriced, "opaque"},
    {"linalg_slogdet", "A=self", linalg_unpriced, "opaque"},
    {"slogdet", "self", linalg_unpriced, "opaque"},
    {"linalg_solve", "A=self B=other -left", linalg_unpriced, "opaque"},
    {"linalg_solve_triangular", "self B=other -upper -left -unitriangular", linalg_unpriced, "opaque"},
    {"linalg_matrix_exp", "self", linalg_unpriced, "opaque"},
    {"linalg_matrix_power", "self -n", linalg_unpriced, "opaque"},
};

Slot parse_slot(std::string_view token) {
  Slot s;
  if (token.front() == '-') return {.name = token.substr(1), .kind = Slot::Kind::Ignored};
  if (token.back() == '?') return {.name = token.substr(0, token.size() - 1), .kind = Slot::Kind::Optional};
  if (token.back() == '#') return {.name = token.substr(0, token.size() - 1), .kind = Slot::Kind::Ints};
  const std::size_t equals = token.find('=');
  if (equals == std::string_view::npos) return {.name = token};
  s = {.name = token.substr(0, equals), .kind = Slot::Kind::Attribute, .attribute = token.substr(equals + 1)};
  if (s.attribute.empty()) s.attribute = s.name;
  return s;
}

using RowsByName = std::multimap<std::string_view, const AtenRow*>;
const RowsByName& by_name() {
  static const RowsByName index = [] {
    RowsByName i;
    for (const AtenRow& row : aten_table()) i.emplace(row.name, &row);
    return i;
  }();
  return index;
}

/// Functions of reals take integers, too, and give floats. ONNX, whose rules the rows have, gives integers to erf.
bool wants_float(OpId o) { return (def(o).takes == Takes::Float && !def(o).rounds) || o == op("erf"); }

/// The type that operands are brought to; undefined where each keeps its own.
DType common_type(Call& c, OpId o) {
  std::vector<const Value*> operands;
  for (std::size_t i = 0; i < slots(*c.row).size() && i < c.args.size(); ++i) {
    if (slots(*c.row)[i].kind == Slot::Kind::Operand) operands.push_back(&c.args[i]);
  }
  if (def(o).takes == Takes::Bool) return DType::Bool;
  if (operands.size() < 2) return DType::Undefined;
  const DType d = result_type(c, operands);
  return wants_float(o) && (d == DType::Bool || is_integer(d)) ? DType::Float32 : d;
}

Result<Attr> attribute_of(Call& c, const Value& v, std::string_view name) {
  if (const Scalar* s = v.scalar()) {
    if (s->is_float() && s->real) return Attr(*s->real);
    if (!s->is_float() && s->integer.known()) return Attr(s->integer.value());
    return c.error(fmt::format("'{}' must be known when importing", name));
  }
  if (const std::string* s = v.string()) return Attr(*s);
  if (v.list()) {
    auto ints = c.ints(name);
    if (!ints) return Failure{};
    return Attr(*ints);
  }
  return c.error(fmt::format("'{}' is {}, which is no attribute", name, v.kind()));
}

}  // namespace

std::span<const AtenRow> aten_table() {
  static const std::vector<AtenRow> all = [] {
    std::vector<AtenRow> rows(std::begin(kAten), std::end(kAten));
    for (const Spelling& s : spellings(&OpDef::aten)) {
      const std::string_view operands = s.row->operands.most == 1 ? "self" : "self other";
      rows.emplace_back(s.name, s.bare ? operands : s.parameters, OpId{operator_hash(s.row->name)});
    }
    return rows;
  }();
  return all;
}

const std::vector<Slot>& slots(const AtenRow& row) {
  static const std::map<const AtenRow*, std::vector<Slot>> all = [] {
    std::map<const AtenRow*, std::vector<Slot>> out;
    for (const AtenRow& r : aten_table()) {
      std::vector<Slot>& slots = out[&r];
      std::string_view rest = r.signature;
      while (!rest.empty()) {
        const std::string_view word = next_word(rest);
        if (!word.empty()) slots.push_back(parse_slot(word));
      }
    }
    return out;
  }();
  return all.at(&row);
}

const AtenRow* find_row(std::string_view name, const std::vector<Arg>& written, std::vector<Value>& args) {
  const auto [first, last] = by_name().equal_range(name);
  const bool named = std::any_of(written.begin(), written.end(), [](const Arg& a) { return !a.name.empty(); });
  const AtenRow* best = nullptr;
  std::vector<Value> placed;
  for (auto it = first; it != last; ++it) {
    const auto& all = slots(*it->second);
    if (written.size() > all.size()) continue;
    if (!named) {
      // TorchScript writes every argument: as many as the overload has.
      if (written.size() == all.size()) {
        best = it->second;
        placed = args;
        break;
      }
      if (!best || all.size() < slots(*best).size()) {
        best = it->second;
        placed = args;
        placed.resize(all.size());
      }
      continue;
    }
    std::vector<Value> mine(all.size());
    std::size_t position = 0, matched = 0;
    for (std::size_t i = 0; i < written.size(); ++i) {
      std::size_t at = position++;
      if (!written[i].name.empty()) {
        at = static_cast<std::size_t>(
            std::find_if(all.begin(), all.end(), [&](const Slot& s) { return s.name == written[i].name; }) -
            all.begin());
        // In-place and vector forms call their first argument by another name.
        if (at == all.size() && i == 0 && (written[i].name == "self" || written[i].name == "input")) at = 0;
      }
      if (at >= all.size() || mine[at].given()) break;
      mine[at] = args[i];
      ++matched;
    }
    if (matched != written.size()) continue;
    if (!best || all.size() < slots(*best).size()) {
      best = it->second;
      placed = std::move(mine);
    }
  }
  if (best) args = std::move(placed);
  return best;
}

bool has_row(std::string_view name) { return by_name().count(name) != 0; }

std::string signatures(std::string_view name) {
  std::string out;
  const auto [first, last] = by_name().equal_range(name);
  for (auto it = first; it != last; ++it) out += fmt::format("{}({})", out.empty() ? "" : ", ", it->second->signature);
  return out;
}

Values map_row(Call& c) {
  std::vector<ValueId> operands;
  Attrs attrs;
  DType dtype = DType::Undefined;
  const DType common = common_type(c, c.row->op);
  const auto& all = slots(*c.row);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Slot& slot = all[i];
    const Value nothing;
    const Value& v = i < c.args.size() ? c.args[i] : nothing;
    switch (slot.kind) {
      case Slot::Kind::Ignored:
        break;
      case Slot::Kind::Operand:
      case Slot::Kind::Optional: {
        if (!v.given() || v.is_none()) {
          if (slot.kind == Slot::Kind::Operand) return c.error(fmt::format("'{}' is missing", slot.name));
          operands.emplace_back();
          break;
        }
        auto id = common != DType::Undefined ? promoted(c, v, common) : c.tensor(slot.name);
        if (!id) return Failure{};
        if (operands.empty() && wants_float(c.row->op)) {
          const DType d = c.type(*id).dtype();
          if (d == DType::Bool || is_integer(d)) id = c.promote(*id, DType::Float32);
          if (!id) return Failure{};
        }
        if (dtype == DType::Undefined) dtype = c.type(*id).dtype();
        operands.push_back(*id);
        break;
      }
      case Slot::Kind::Ints: {
        auto id = c.int_vector(slot.name);
        if (!id) return Failure{};
        operands.push_back(*id);
        break;
      }
      case Slot::Kind::Attribute: {
        if (!v.given() || v.is_none()) break;
        auto a = attribute_of(c, v, slot.name);
        if (!a) return Failure{};
        attrs.set(slot.attribute, *std::move(a));
        break;
      }
    }
  }
  const OpId o = c.row->op;
  if (def(o).rounds && !is_float(dtype)) return c.in_place ? alias(c) : clone(c);
  const int results = def(o).results;
  return c.finish(o, std::move(operands), std::move(attrs),
                  results < 0 ? std::max<std::size_t>(c.outputs(), 1) : static_cast<std::size_t>(results));
}

}  // namespace perfc::torch
