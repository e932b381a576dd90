#include "frontends/paddle/table.h"

#include <algorithm>
#include <array>
#include <vector>

namespace perfc::paddle {

namespace {

// Where nothing else stands here, the operators are spelled in the IR's rows.
constexpr PaddleRow kTable[] = {
    // ---- Elementwise, one operand
    {"abs", "X", "Out", absolute, "abs complex_abs"},
    {"square", "X", "Out", square, "multiply"},
    {"isfinite_v2 pir:isfinite", "X", "Out", is_finite, "isnan isinf logical_or logical_not"},
    {"isclose", "Input|x Other|y Rtol Atol", "Out", is_close, "subtract abs multiply add less_equal"},
    {"allclose", "Input|x Other|y Rtol Atol", "Out", all_close, "subtract abs multiply add less_equal min"},
    {"cast", "X", "Out", cast, "cast"},
    {"scale", "X ScaleTensor", "Out", scale, "multiply add"},
    {"increment", "X", "Out", increment, "add"},
    {"pow", "X FactorTensor", "Out", power, "power multiply sqrt"},
    {"clip", "X Min Max", "Out", clip, "clip"},
    {"bitwise_not", "X", "Out", bitwise, "bitwise_not logical_not"},
    // ---- Elementwise, broadcasting
    {"elementwise_div divide", "X Y", "Out", divide, "divide"},
    {"elementwise_mod floor_mod remainder", "X Y", "Out", remainder, "mod"},
    {"bitwise_and", "X Y", "Out", op("bitwise_and"), bitwise},
    {"bitwise_or", "X Y", "Out", op("bitwise_or"), bitwise},
    {"bitwise_xor", "X Y", "Out", op("bitwise_xor"), bitwise},
    {"where", "Condition X Y", "Out", where, "where"},
    {"masked_fill", "x mask value", "out", masked_fill, "where"},
    {"label_smooth", "X PriorDist", "Out", label_smooth, "multiply add"},
    {"sequence_mask", "X max_len|MaxLenTensor", "Y", sequence_mask, "arange less"},
    {"old:sum add_n", "X", "Out", add_n, "add sum"},
    // ---- Activations
    {"relu6", "X", "Out", relu6, "clip"},
    {"brelu hardtanh hard_tanh", "X", "Out", hard_tanh, "clip"},
    {"tanh_shrink", "X", "Out", tanh_shrink, "tanh subtract"},
    {"stanh", "X", "Out", stanh, "multiply tanh"},
    {"gelu", "X", "Out", gelu, "nn.gelu nn.fast_gelu"},
    {"hard_sigmoid hardsigmoid", "X", "Out", hard_sigmoid, "nn.hard_sigmoid"},
    {"hard_swish hardswish", "X", "Out", hard_swish, "nn.hard_swish"},
    {"swish silu", "X", "Out", swish, "nn.silu"},
    {"softplus", "X", "Out", softplus, "nn.softplus"},
    {"hard_shrink hardshrink softshrink", "X", "Out", shrink, "nn.shrink"},
    {"soft_relu", "X", "Out", soft_relu, "clip nn.softplus"},
    {"rrelu", "X", "Out Noise", rrelu, "nn.leaky_relu"},
    {"prelu", "X Alpha", "Out", prelu, "nn.prelu"},
    {"swiglu", "x y", "out", swiglu, "nn.silu multiply"},
    {"maxout", "X", "Out", maxout, "reshape max"},
    {"softmax", "X", "Out", op("nn.softmax"), softmax},
    {"log_softmax", "X", "Out", op("nn.log_softmax"), softmax},
    {"gumbel_softmax", "X", "Out", gumbel_softmax, "random.uniform_like log add nn.softmax"},
    {"fused_softmax_mask", "X Mask", "Out", softmax_with_mask, "add nn.softmax"},
    {"fused_softmax_mask_upper_triangle", "X", "Out", softmax_with_mask, "trilu nn.softmax"},
    // ---- Convolutions and pools
    {"conv2d conv3d depthwise_conv2d", "Input Filter", "Output", convolution, "nn.conv1d nn.conv2d nn.conv3d"},
    {"fused_conv2d conv2d_fusion conv2d_bias fused_conv2d_add_act fused_conv3d",
     "Input Filter Bias|bias ResidualData|residual", "Output", convolution, "nn.conv2d nn.conv3d add"},
    {"conv2d_transpose conv3d_transpose depthwise_conv2d_transpose", "Input Filter output_size", "Output",
     transposed_convolution, "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose"},
    {"conv2d_transpose_bias", "Input Filter Bias output_size", "Output", transposed_convolution, "nn.conv2d_transpose"},
    {"deformable_conv deformable_conv_v1", "Input Offset Filter Mask", "Output", deformable_convolution,
     "nn.deformable_conv2d"},
    {"pool2d pool3d lp_pool2d", "X|x kernel_size", "Out|out", pool,
     "nn.max_pool2d nn.max_pool3d nn.avg_pool2d nn.avg_pool3d nn.lp_pool "
     "nn.adaptive_avg_pool2d nn.adaptive_max_pool2d"},
    {"max_pool2d_with_index max_pool3d_with_index", "X", "Out Mask", pool, "nn.max_pool2d nn.max_pool3d"},
    {"unpool unpool3d", "X Indices output_size", "Out", max_unpool, "nn.max_unpool"},
    // ---- Normalisation
    {"batch_norm sync_batch_norm", "X Mean Variance Scale Bias", "Y", batch_norm, "nn.batch_norm"},
    {"fused_batch_norm_act", "X Scale Bias Mean Variance", "Y", batch_norm, "nn.batch_norm nn.relu"},
    {"fused_bn_add_activation", "X Z Scale Bias Mean Variance", "Y", batch_norm, "nn.batch_norm add nn.relu"},
    {"layer_norm", "X Scale Bias", "Y", layer_norm, "nn.layer_norm"},
    {"rms_norm", "x bias residual norm_weight norm_bias", "out residual_out", rms_norm, "nn.rms_norm"},
    {"group_norm", "X Scale Bias", "Y", group_norm, "nn.group_norm"},
    {"instance_norm", "X Scale Bias", "Y", instance_norm, "nn.instance_norm"},
    {"affine_channel", "X Scale Bias", "Out", affine_channel, "multiply add"},
    {"norm", "X", "Out", normalize, "nn.l2_normalize"},
    {"dropout", "X Seed p", "Out", dropout, "nn.dropout multiply"},
    // ---- Products
    {"matmul matmul_v2 bmm", "X Y", "Out", matmul, "nn.batch_matmul"},
    {"mv", "X Vec", "Out", matmul, "nn.batch_matmul"},
    {"mul", "X Y", "Out", multiply_matrices, "nn.batch_matmul"},
    {"fc", "Input W|w Bias|bias", "Out", fully_connected, "nn.batch_matmul add"},
    {"addmm", "Input X Y", "Out", addmm, "nn.batch_matmul add"},
    {"multi_dot", "X", "Out", multi_dot, "nn.batch_matmul"},
    {"dot", "X Y", "Out", dot, "multiply sum_axes"},
    {"einsum", "Operands", "Out", einsum, "einsum"},
    {"bilinear_tensor_product bilinear", "X Y Weight Bias", "Out", bilinear, "einsum"},
    {"lookup_table lookup_table_v2 embedding", "Ids W", "Out", embedding, "take"},
    {"flash_attn", "q k v fixed_seed_offset attn_mask", "out", attention, "nn.sdpa"},
    {"memory_efficient_attention", "query|q key|k value|v bias|attn_mask", "output", attention, "nn.sdpa"},
    {"rnn", "Input PreState WeightList SequenceLength", "Out DropoutState State*", recurrent, "nn.lstm nn.gru nn.rnn"},
    {"softmax_with_cross_entropy cross_entropy_with_softmax", "Logits Label", "Softmax Loss", softmax_cross_entropy,
     "nn.softmax log"},
    {"kldiv_loss", "X Target", "Loss", elementwise_loss, "log subtract multiply mean"},
    {"sigmoid_cross_entropy_with_logits", "X Label", "Out", elementwise_loss, "nn.relu nn.softplus multiply"},
    {"huber_loss", "X Y", "Out Residual", elementwise_loss, "subtract abs multiply where"},
    {"bce_loss", "X Label", "Out", elementwise_loss, "log multiply add"},
    {"log_loss", "Input Label", "Loss", elementwise_loss, "log multiply add"},
    {"fft_c2c fft_r2c fft_c2r", "X", "Out", fourier, "signal.fft"},
    // ---- Reductions, sorting
    {"reduce_sum pir:sum", "X axis", "Out", op("sum_axes"), reduce},
    {"reduce_mean pir:mean", "X axis", "Out", op("mean"), reduce},
    {"reduce_max pir:max amax reduce_amax", "X axis", "Out", op("max"), reduce},
    {"reduce_min pir:min amin reduce_amin", "X axis", "Out", op("min"), reduce},
    {"reduce_prod pir:prod", "X axis", "Out", op("prod"), reduce},
    {"reduce_all pir:all", "X axis", "Out", op("all"), reduce_bool},
    {"reduce_any pir:any", "X axis", "Out", op("any"), reduce_bool},
    {"old:mean mean_all", "X", "Out", op("mean"), reduce_all},
    {"squared_l2_norm", "X", "Out", op("reduce_sum_square"), reduce_all},
    {"l1_norm", "X", "Out", op("reduce_l1"), reduce_all},
    {"logsumexp", "X axis", "Out", logsumexp, "logsumexp"},
    {"p_norm", "X", "Out", p_norm, "reduce_l2 reduce_l1 reduce_lp"},
    {"frobenius_norm", "X axis", "Out", p_norm, "reduce_l2"},
    {"dist", "X Y", "Out", distance, "subtract reduce_l2"},
    {"cos_sim", "X Y", "Out XNorm YNorm", cosine_similarity, "multiply sum_axes reduce_l2 divide"},
    {"arg_max argmax", "X axis", "Out", op("argmax"), arg_reduce},
    {"arg_min argmin", "X axis", "Out", op("argmin"), arg_reduce},
    {"cumsum", "X axis", "Out", op("cumsum"), cumulative},
    {"cumprod", "X", "Out", op("cumprod"), cumulative},
    {"argsort", "X", "Out Indices", argsort, "topk"},
    {"top_k top_k_v2 topk", "X K", "Out Indices", top_k, "topk"},
    {"kthvalue", "X", "Out Indices", kth_value, "topk strided_slice"},
    {"median", "x", "out", median, "topk strided_slice"},
    {"trace", "Input", "Out", trace, "gather_nd sum_axes"},
    {"old:unique pir:unique", "X", "Out Indices Index Counts", unique, "unique"},
    {"unique_consecutive", "X", "Out Index Counts", unique, "unique"},
    {"where_index nonzero", "Condition", "Out", nonzero, "nonzero transpose"},
    {"masked_select", "X Mask", "Y", masked_select, "compress"},
    {"equal_all", "X Y", "Out", equal_all, "equal min"},
    // ---- Views and data movement
    {"reshape reshape2 view_shape", "X Shape", "Out", reshape, "reshape"},
    {"flatten_contiguous_range pir:flatten", "X", "Out", flatten, "reshape"},
    {"old:flatten flatten2", "X", "Out", flatten_to_matrix, "nn.batch_flatten"},
    {"transpose transpose2 trans_layout", "X", "Out", transpose, "transpose"},
    {"squeeze squeeze2", "X axis|AxesTensor", "Out", squeeze, "squeeze"},
    {"unsqueeze unsqueeze2", "X axis|AxesTensor", "Out", unsqueeze, "expand_dims"},
    {"concat", "X axis|AxisTensor", "Out", concat, "concatenate"},
    {"stack", "X", "Y", stack, "expand_dims concatenate"},
    {"split", "X sections axis|AxisTensor", "Out*", split, "split"},
    {"split_with_num", "X axis|AxisTensor", "Out*", split, "split"},
    {"unstack", "X", "Y*", unstack, "split squeeze"},
    {"unbind", "X", "Out*", unstack, "split squeeze"},
    {"slice strided_slice", "Input StartsTensor EndsTensor StridesTensor", "Out", slice, "strided_slice squeeze"},
    {"set_value", "Input StartsTensorList EndsTensorList StepsTensorList", "Out", set_value,
     "broadcast_to strided_set"},
    {"set_value_with_tensor", "Input ValueTensor StartsTensorList EndsTensorList StepsTensorList", "Out", set_value,
     "broadcast_to strided_set"},
    {"expand_v2 pir:expand", "X Shape", "Out", expand, "broadcast_to"},
    {"expand_as expand_as_v2", "X Y", "Out", expand_as, "broadcast_to"},
    {"tile old:expand", "X RepeatTimes", "Out", tile, "tile"},
    {"repeat_interleave", "X Repeats", "Out", repeat_interleave, "tile reshape"},
    {"repeat_interleave_with_tensor_index", "X Repeats", "Out", repeat_interleave, "tile reshape"},
    {"flip reverse", "X axis", "Out", flip, "reverse"},
    {"roll", "X ShiftsTensor", "Out", roll, "roll"},
    {"pad", "X pad_value", "Out", pad, "nn.pad"},
    {"pad1d pad2d pad3d", "X Paddings", "Out", pad, "nn.pad"},
    {"crop crop_tensor", "X Shape Offsets", "Out", crop, "strided_slice"},
    {"gather index_select", "X Index Axis", "Out", gather, "take"},
    {"gather_nd", "X Index", "Out", gather_nd, "gather_nd"},
    {"take_along_axis", "Input Index", "Result", gather_elements, "gather"},
    {"index_sample", "X Index", "Out", gather_elements, "gather"},
    {"put_along_axis", "Input Index Value", "Result", scatter_elements, "scatter_elements"},
    {"scatter", "X Ids Updates", "Out", scatter, "scatter_nd"},
    {"scatter_nd_add", "X Index Updates", "Out", scatter_nd_add, "scatter_nd"},
    {"index_add", "X Index AddValue", "Out", index_add, "scatter_nd"},
    {"index_put", "x indices value", "out", index_put, "scatter_nd"},
    {"multiplex", "X Ids", "Out", multiplex, "concatenate gather_nd"},
    {"one_hot one_hot_v2", "X depth_tensor", "Out", one_hot, "one_hot"},
    {"meshgrid", "X", "Out*", meshgrid, "reshape broadcast_to"},
    {"tril_triu tril triu", "X", "Out", triangle, "trilu"},
    {"diag_v2 diag diagonal", "X|Input|Diagonal", "Out", diagonal, "gather_nd eye_like multiply"},
    {"diag_embed", "Input", "Out", diag_embed, "multiply eye_like"},
    {"cross", "X Y", "Out", cross, "take multiply subtract"},
    {"kron", "X Y", "Out", kron, "multiply reshape"},
    {"unfold", "X", "Y", unfold, "nn.pad take transpose reshape"},
    {"fold", "X", "Y", fold, "col2im"},
    {"pixel_shuffle", "X", "Out", pixel_shuffle, "depth_to_space"},
    {"pixel_unshuffle space_to_depth", "X", "Out", pixel_shuffle, "space_to_depth"},
    {"channel_shuffle shuffle_channel", "X", "Out", channel_shuffle, "reshape transpose"},
    {"temporal_shift", "X", "Out", temporal_shift, "reshape strided_slice nn.pad concatenate"},
    // ---- Shapes, constants, random numbers
    {"shape shape64", "Input", "Out", shape, "shape_of"},
    {"size numel", "Input|X", "Out", size, "size_of"},
    {"fill_constant full empty", "shape", "Out", fill, "full"},
    {"full_with_tensor", "ValueTensor shape", "Out", fill, "full broadcast_to"},
    {"fill_any_like full_like fill_zeros_like fill_zeros_like2 fill_any empty_like", "X value", "Out", fill_like,
     "full"},
    {"fill_constant_batch_size_like full_batch_size_like", "Input", "Out", fill_batch_like, "full"},
    {"assign_value full_int_array", "", "Out", constant, "a constant"},
    {"pir:assign_value_", "output", "Out", constant, "a constant"},
    {"pir:full_", "output shape", "Out", fill, "full"},
    {"range arange", "Start End Step", "Out", range, "arange"},
    {"linspace", "Start Stop Num", "Out", linspace, "arange multiply add"},
    {"eye", "num_rows num_columns", "Out", eye, "eye_like"},
    {"gaussian_random gaussian uniform_random uniform randint truncated_gaussian_random", "shape", "Out", random,
     "random.normal_like random.uniform_like"},
    {"uniform_random_batch_size_like", "Input", "Out", random, "random.uniform_like"},
    {"randperm", "", "Out", random_permutation, "random.uniform topk"},
    {"bernoulli", "X", "Out", bernoulli, "random.bernoulli"},
    {"multinomial", "X num_samples", "Out", multinomial, "random.multinomial"},
    // ---- Images
    {"nearest_interp nearest_interp_v2 bilinear_interp bilinear_interp_v2 bicubic_interp bicubic_interp_v2 "
     "linear_interp linear_interp_v2 trilinear_interp trilinear_interp_v2",
     "X OutSize SizeTensor Scale", "Out", interpolate, "image.resize2d"},
    {"grid_sampler grid_sample", "X Grid", "Output", grid_sample, "image.grid_sample"},
    {"affine_grid", "Theta OutputShape", "Output", affine_grid, "image.affine_grid"},
    {"roi_align", "X ROIs RoisNum", "Out", roi_align, "vision.roi_align"},
    {"roi_pool", "X ROIs RoisNum", "Out", roi_pool, "vision.roi_pool"},
    {"nms", "Boxes", "KeepBoxesIdxs", non_max_suppression, "vision.non_max_suppression"},
    // ---- Detection
    {"yolo_box", "X ImgSize", "Boxes Scores", yolo_box, "sigmoid reshape transpose multiply add"},
    {"prior_box", "Input Image", "Boxes Variances", prior_box, "full"},
    {"box_coder", "PriorBox PriorBoxVar TargetBox", "OutputBox", box_coder, "exp log multiply add"},
    {"multiclass_nms multiclass_nms2 multiclass_nms3 matrix_nms", "BBoxes Scores RoisNum",
     "Out Index NmsRoisNum|RoisNum", multiclass_nms, "vision.multiclass_nms"},
    // ---- Quantisation
    {"fake_quantize_abs_max fake_quantize_dequantize_abs_max fake_channel_wise_quantize_abs_max "
     "fake_channel_wise_quantize_dequantize_abs_max "
     "fake_quantize_moving_average_abs_max fake_quantize_dequantize_moving_average_abs_max fake_quantize_range_abs_max",
     "X", "Out", fake_quantize, "multiply round clip"},
    {"quantize_linear dequantize_linear", "X Scale ZeroPoint", "Y", quantize_linear, "qnn.quantize qnn.dequantize"},
    // ---- Plumbing
    {"assign share_data memcpy memcpy_d2h memcpy_h2d depend npu_identity c_identity c_sync_calc_stream "
     "c_sync_comm_stream share_buffer",
     "X", "Out", identity, "its operand"},
    {"pir:assign_out_", "X output", "Out", identity, "its operand"},
    {"print", "In|X", "Out", identity, "its operand"},
    {"assert nop delete_var", "", "", no_values, "nothing"},
    {"create_array create_array_like", "", "", array_new, "a list"},
    {"write_to_array", "X I", "", array_write, "a list"},
    {"array_write_", "Array X I", "", array_write, "a list"},
    {"read_from_array array_read", "X I", "Out", array_read, "its operand"},
    {"lod_array_length array_length", "X", "Out", array_length, "a constant"},
    {"tensor_array_to_tensor array_to_tensor", "X", "Out OutIndex", array_to_tensor, "expand_dims concatenate"},
    {"builtin.combine", "", "Out*", combine, "its operands"},
    {"builtin.split", "", "...", items, "its operands"},
    {"builtin.slice", "", "Out", item, "its operand"},
};

constexpr std::pair<std::string_view, std::string_view> kControl[] = {
    {"feed", "an input"},   {"data", "an input"},           {"shadow_feed", "an input"},
    {"fetch", "an output"}, {"shadow_output", "an output"}, {"while", "loop"},
    {"if", "if"},           {"conditional_block", "if"},    {"conditional_block_infer", "if"},
    {"select_input", "if"}, {"yield", "its operands"},
};

/// The row that a spelling of ir/op_table.h stands for: operands, then attributes.
PaddleRow spelled(const Spelling& s) {
  const OpId o{operator_hash(s.row->name)};
  const std::string_view all = s.bare ? (s.row->operands.most == 1 ? "X" : "X Y") : s.parameters;
  const std::size_t mapped = all.find('=');
  const std::size_t space = mapped == std::string_view::npos ? all.size() : all.rfind(' ', mapped);
  const std::string_view inputs = all.substr(0, space);
  if (s.row->takes == Takes::Bool) return {s.name, inputs, "Out", o, logical};
  if (s.row->category == Category::Elementwise && std::ranges::count(inputs, ' ') == 1) {
    return {s.name, inputs, "Out", o, binary};
  }
  return {s.name, inputs, "Out", o, all.substr(std::min(space + 1, all.size()))};
}

using Index = NameMap<const PaddleRow*>;
struct Indices {
  Index descriptor, pir;
};

const Indices& indices() {
  static const Indices out = [] {
    Indices i;
    for (const PaddleRow& row : table()) {
      std::string_view names = row.names;
      while (!names.empty()) {
        std::string_view name = next_word(names, ' ');
        const bool only_pir = name.starts_with("pir:"), only_old = name.starts_with("old:");
        if (only_pir || only_old) name.remove_prefix(4);
        if (!only_pir) i.descriptor.emplace(name, &row);
        if (!only_old) i.pir.emplace(name, &row);
      }
    }
    return i;
  }();
  return out;
}

}  // namespace

std::span<const PaddleRow> table() {
  static const std::vector<PaddleRow> all = [] {
    std::vector<PaddleRow> rows(std::begin(kTable), std::end(kTable));
    for (const Spelling& s : spellings(&OpDef::paddle)) rows.push_back(spelled(s));
    return rows;
  }();
  return all;
}

std::span<const std::pair<std::string_view, std::string_view>> control_operators() { return kControl; }

const Slot* in_place_operand(const Operation& o) {
  // Normalisation updates statistics, not its data.
  if (!o.type.ends_with('_') || o.type.ends_with("batch_norm_")) return nullptr;
  const std::size_t at = o.type == "assign_out_" ? 1 : 0;
  return at < o.inputs.size() && !o.inputs[at].values.empty() ? &o.inputs[at] : nullptr;
}

const PaddleRow* find_row(Dialect dialect, std::string_view type) {
  const Index& index = dialect == Dialect::Pir ? indices().pir : indices().descriptor;
  auto found = index.find(type);
  if (found == index.end() && dialect == Dialect::Pir && type.ends_with('_')) {
    type.remove_suffix(1);
    found = index.find(type);
  }
  return found == index.end() ? nullptr : found->second;
}

}  // namespace perfc::paddle
