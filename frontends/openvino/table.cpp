#include "frontends/openvino/table.h"

#include <algorithm>

namespace perfc::openvino {
namespace {

Values constant(Call& c) { return one(c.importer.constant(c)); }

constexpr Row kRows[] = {
    {"Const", constant, "a constant"},
    // ---- Elementwise, one operand
    {"Abs", op("abs")},
    {"Acos", op("acos")},
    {"Acosh", op("acosh")},
    {"Asin", op("asin")},
    {"Asinh", op("asinh")},
    {"Atan", op("atan")},
    {"Atanh", op("atanh")},
    {"BitwiseNot", op("bitwise_not")},
    {"Ceiling", op("ceil"), rounded},
    {"Convert", convert, "cast"},
    {"ConvertLike", convert_like, "cast"},
    {"Cos", op("cos")},
    {"Cosh", op("cosh")},
    {"Erf", op("erf")},
    {"Exp", op("exp")},
    {"FakeConvert", op("qnn.fake_quantize")},
    {"FakeQuantize", fake_quantize, "qnn.fake_quantize"},
    {"Floor", op("floor"), rounded},
    {"Identity", identity, "its operand"},
    {"IsInf", op("isinf")},
    {"IsNaN", op("isnan")},
    {"Log", op("log")},
    {"LogicalNot", op("logical_not")},
    {"Negative", op("negative")},
    {"Round", op("round"), rounded},
    {"Sign", op("sign")},
    {"Sin", op("sin")},
    {"Sinh", op("sinh")},
    {"Sqrt", op("sqrt")},
    {"Tan", op("tan")},
    // ---- Elementwise, broadcasting
    {"Add", op("add")},
    {"BitwiseAnd", op("bitwise_and"), logical},
    {"BitwiseLeftShift", op("bit_shift")},
    {"BitwiseOr", op("bitwise_or"), logical},
    {"BitwiseRightShift", op("bit_shift")},
    {"BitwiseXor", op("bitwise_xor"), logical},
    {"Divide", op("divide")},
    {"Equal", op("equal")},
    {"FloorMod", op("mod"), floor_mod},
    {"Greater", op("greater")},
    {"GreaterEqual", op("greater_equal")},
    {"Less", op("less")},
    {"LessEqual", op("less_equal")},
    {"LogicalAnd", op("logical_and")},
    {"LogicalOr", op("logical_or")},
    {"LogicalXor", op("logical_xor")},
    {"Maximum", op("maximum")},
    {"Minimum", op("minimum")},
    {"Mod", op("mod"), floor_mod},
    {"Multiply", op("multiply")},
    {"NotEqual", op("not_equal")},
    {"Power", op("power")},
    {"Select", op("where")},
    {"SquaredDifference", op("squared_difference")},
    {"Subtract", op("subtract")},
    {"Xor", op("logical_xor")},
    // ---- Activations
    {"Clamp", clamp, "clip nn.relu"},
    {"Elu", op("nn.elu"), "~alpha=alpha"},
    {"Gelu", gelu, "nn.gelu nn.fast_gelu"},
    {"HSigmoid", hard_sigmoid, "nn.hard_sigmoid"},
    {"HSwish", op("nn.hard_swish")},
    {"HardSigmoid", hard_sigmoid, "nn.hard_sigmoid"},
    {"Mish", op("nn.mish")},
    {"PReLU", prelu, "nn.prelu nn.leaky_relu"},
    {"ReLU", op("nn.relu")},
    {"Selu", selu, "nn.selu"},
    {"Sigmoid", op("sigmoid")},
    {"SoftPlus", op("nn.softplus")},
    {"SoftSign", op("nn.softsign")},
    {"Swish", swish, "nn.silu sigmoid multiply"},
    {"Tanh", op("tanh")},
    // ---- Convolutions, products, attention
    {"Convolution", convolution, "nn.conv1d nn.conv2d nn.conv3d"},
    {"ConvolutionBackpropData", transposed_convolution, "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose"},
    {"DeformableConvolution", deformable_convolution, "nn.deformable_conv2d"},
    {"Einsum", einsum, "einsum"},
    {"GroupConvolution", convolution, "nn.conv1d nn.conv2d nn.conv3d"},
    {"GroupConvolutionBackpropData", transposed_convolution,
     "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose"},
    {"MatMul", matmul, "nn.batch_matmul"},
    {"ScaledDotProductAttention", attention, "nn.sdpa"},
    // ---- Normalisation, softmax
    {"BatchNormInference", batch_norm, "nn.batch_norm"},
    {"GroupNormalization", group_norm, "nn.group_norm"},
    {"LRN", lrn, "nn.lrn"},
    {"LogSoftmax", op("nn.log_softmax"), softmax},
    {"MVN", mvn, "nn.layer_norm nn.instance_norm nn.mean_variance_norm"},
    {"NormalizeL2", normalize_l2, "nn.l2_normalize"},
    {"RMS", rms, "nn.rms_norm"},
    {"SoftMax", op("nn.softmax"), softmax},
    {"Softmax", op("nn.softmax"), softmax},
    // ---- Pools
    {"AdaptiveAvgPool", adaptive_pool, "nn.adaptive_avg_pool2d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d"},
    {"AdaptiveMaxPool", adaptive_pool, "nn.adaptive_max_pool2d nn.max_pool1d nn.max_pool2d nn.max_pool3d"},
    {"AvgPool", pool, "nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d"},
    {"MaxPool", pool, "nn.max_pool1d nn.max_pool2d nn.max_pool3d"},
    // ---- Reductions, sorting
    {"CumSum", op("cumsum"), cum_sum},
    {"NonZero", op("nonzero"), non_zero},
    {"ReduceL1", op("reduce_l1"), reduce},
    {"ReduceL2", op("reduce_l2"), reduce},
    {"ReduceLogicalAnd", op("all"), reduce},
    {"ReduceLogicalOr", op("any"), reduce},
    {"ReduceMax", op("max"), reduce},
    {"ReduceMean", op("mean"), reduce},
    {"ReduceMin", op("min"), reduce},
    {"ReduceProd", op("prod"), reduce},
    {"ReduceSum", op("sum_axes"), reduce},
    {"TopK", op("topk"), top_k},
    {"Unique", op("unique"), unique},
    // ---- Views and data movement
    {"BatchToSpace", batch_to_space, "reshape transpose strided_slice"},
    {"Broadcast", broadcast, "broadcast_to"},
    {"Concat", concat, "concatenate"},
    {"DepthToSpace", depth_to_space, "depth_to_space"},
    {"Pad", pad, "nn.pad"},
    {"Reshape", op("reshape"), reshape},
    {"Reverse", reverse, "reverse"},
    {"ReverseSequence", reverse_sequence, "reverse_sequence"},
    {"Roll", roll, "roll"},
    {"ShapeOf", op("shape_of"), shape_of},
    {"ShuffleChannels", shuffle_channels, "reshape transpose"},
    {"Slice", op("strided_slice"), slice},
    {"SpaceToBatch", space_to_batch, "nn.pad reshape transpose"},
    {"SpaceToDepth", depth_to_space, "space_to_depth"},
    {"Split", op("split"), split},
    {"Squeeze", op("squeeze"), squeeze},
    {"StridedSlice", strided_slice, "strided_slice squeeze expand_dims"},
    {"Tile", tile, "tile"},
    {"Transpose", transpose, "transpose"},
    {"Unsqueeze", unsqueeze, "expand_dims"},
    {"VariadicSplit", op("split"), split},
    // ---- Indexing
    {"EmbeddingBagOffsets", embedding_bag, "nn.embedding_bag"},
    {"EmbeddingBagOffsetsSum", embedding_bag, "nn.embedding_bag"},
    {"EmbeddingBagPacked", embedding_bag, "take sum_axes mean"},
    {"EmbeddingBagPackedSum", embedding_bag, "take sum_axes"},
    {"Gather", gather, "take gather_nd"},
    {"GatherElements", op("gather"), gather_elements},
    {"GatherND", gather_nd, "gather_nd"},
    {"ScatterElementsUpdate", scatter_elements, "scatter_elements"},
    {"ScatterNDUpdate", scatter_nd, "scatter_nd"},
    {"ScatterUpdate", scatter_update, "scatter_nd scatter_elements"},
    // ---- Constants, random numbers
    {"Eye", eye, "eye_like"},
    {"Multinomial", multinomial, "random.multinomial"},
    {"OneHot", one_hot, "one_hot"},
    {"RandomUniform", random_uniform, "random.uniform_like"},
    {"Range", op("arange"), range},
    // ---- Recurrent layers
    {"GRUCell", recurrent, "nn.gru"},
    {"GRUSequence", recurrent, "nn.gru"},
    {"LSTMCell", recurrent, "nn.lstm"},
    {"LSTMSequence", recurrent, "nn.lstm"},
    {"RNNCell", recurrent, "nn.rnn"},
    {"RNNSequence", recurrent, "nn.rnn"},
    // ---- Images, detection, signals
    {"DFT", fourier, "signal.fft"},
    {"DetectionOutput", detection_output, "exp multiply add vision.multiclass_nms"},
    {"ExtractImagePatches", extract_patches, "nn.pad take transpose reshape"},
    {"GridSample", grid_sample, "image.grid_sample"},
    {"IDFT", fourier, "signal.fft"},
    {"Interpolate", interpolate, "image.resize2d"},
    {"MatrixNms", multiclass_nms, "vision.multiclass_nms"},
    {"MulticlassNms", multiclass_nms, "vision.multiclass_nms"},
    {"NonMaxSuppression", non_max_suppression, "vision.non_max_suppression"},
    {"PriorBox", prior_box, "full"},
    {"PriorBoxClustered", prior_box, "full"},
    {"ROIAlign", roi_align, "vision.roi_align"},
    {"ROIPooling", roi_pool, "vision.roi_pool vision.roi_align"},
    {"RegionYolo", region_yolo, "sigmoid nn.softmax"},
    {"ReorgYolo", reorg_yolo, "space_to_depth"},
    // ---- Control flow, state
    {"Assign", identity, "its operand"},
    {"If", branches, "if"},
    {"Loop", loop, "loop"},
    {"ReadValue", read_value, "its operand, or a constant"},
    {"TensorIterator", loop, "loop"},
};

}  // namespace

std::span<const Row> table() { return kRows; }

const Row* find_row(std::string_view type) {
  const auto found = std::ranges::find(table(), type, &Row::type);
  return found == table().end() ? nullptr : &*found;
}

Values one_to_one(Call& c) {
  Attrs attrs;
  std::string_view mappings = c.row->attrs;
  while (!mappings.empty()) {
    std::string_view mapping = next_word(mappings, ' ');
    const bool real = mapping.starts_with('~');
    if (real) mapping.remove_prefix(1);
    const std::string_view theirs = next_word(mapping, '='), name = mapping.empty() ? theirs : mapping;
    if (!c.given(theirs)) continue;
    if (real) attrs.set(name, c.real_or(theirs, 0));
    else attrs.set(name, c.integer_or(theirs, 0));
  }
  return c.finish(c.row->op, c.operands, std::move(attrs));
}

}  // namespace perfc::openvino
