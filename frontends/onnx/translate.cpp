/// ONNX operators whose structure differs from the IR's. Everything else maps
/// one-to-one by the spelling in ir/ops/table/.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "frontends/onnx/importer.h"
#include "ir/eager_marks.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;

Values map_to(NodeContext& c, OpId op) {
  if (!attributes_to_operands(c)) return Failure{};
  return c.finish(op, std::move(c.inputs), std::move(c.attrs));
}

/// The operator of a family (`nn.conv1d`, `nn.conv2d`, `nn.conv3d`) for the
/// rank of operand 0; the 2-D one serves other ranks.
OpId by_rank(const NodeContext& c, const OpFamily& family) {
  const Type& x = c.type(0);
  if (!x.is_tensor() || !x.ranked()) {
    // The kernel tells as well.
    const auto kernel = c.attrs.ints_or_empty("kernel_size").size();
    return family.with_dims(kernel >= 1 && kernel <= 3 ? kernel : 2);
  }
  const std::size_t spatial = x.rank() >= 3 ? x.rank() - 2 : 2;
  return family.with_dims(std::min<std::size_t>(spatial, 3));
}

/// "onnx::Conv_193", as PyTorch's older exporter calls what it computes when it folds constants.
bool is_folded(std::string_view name) {
  constexpr std::string_view kFolded = "onnx::Conv_";
  if (!name.starts_with(kFolded) || name.size() == kFolded.size()) return false;
  name.remove_prefix(kFolded.size());
  return std::ranges::all_of(name, [](char ch) { return ch >= '0' && ch <= '9'; });
}

/// "conv.bias" of "conv.weight", as a layer of PyTorch calls its parameters.
bool is_bias_of(std::string_view bias, std::string_view kernel) {
  constexpr std::string_view kKernel = "weight", kBias = "bias";
  if (!kernel.ends_with(kKernel) || !bias.ends_with(kBias)) return false;
  kernel.remove_suffix(kKernel.size());
  bias.remove_suffix(kBias.size());
  return kernel == bias;
}

/// Notes what an exporter folded into the node: a pad, and a batch norm that is in its weights. PyTorch's older
/// exporter names kernel and bias anew then (torch/csrc/jit/passes/onnx/eval_peephole.cpp). The newer one's rewriter
/// leaves its rules; the bias keeps its name where there was one before. A bias of zeros, as before training, is
/// dropped, and equal ones become one of them (onnxscript, rewriter/rules/common/_fuse_batchnorm.py,
/// _fuse_pad_into_conv.py, _remove_optional_bias.py). TensorFlow's optimizer, which runs before tf2onnx, multiplies
/// the scale into the weights and calls them `merged_input` (grappler/optimizers/constant_folding.cc, MulConvPushDown).
void note_folded(NodeContext& c) {
  const auto& names = c.node.inputs;
  const auto is_by_rule = [&](std::string_view rule) { return c.node.rules.find(rule) != std::string_view::npos; };
  if (is_by_rule("FuseConvPad")) c.attrs = with_mark(std::move(c.attrs), kFoldedPad);
  if (is_by_rule("FuseBatchNormInto")) {
    const bool had_bias = names.size() == 3 && is_bias_of(names[2], names[1]);
    c.attrs.set(kFoldedNorm, std::string(had_bias ? kNormAndBias : kNormAlone));
  } else if ((names.size() == 3 && is_folded(names[1]) && is_folded(names[2])) ||
             (names.size() > 1 && names[1].ends_with("/merged_input:0"))) {
    c.attrs.set(kFoldedNorm, std::string(kNormAlone));
  }
}

Values conv(Importer&, NodeContext& c) {
  note_folded(c);
  return map_to(c, by_rank(c, family("nn.conv?d")));
}

Values conv_transpose(Importer&, NodeContext& c) {
  note_folded(c);
  return map_to(c, by_rank(c, family("nn.conv?d_transpose")));
}

Values max_pool(Importer&, NodeContext& c) { return map_to(c, by_rank(c, family("nn.max_pool?d"))); }
Values avg_pool(Importer&, NodeContext& c) { return map_to(c, by_rank(c, family("nn.avg_pool?d"))); }

/// com.microsoft NhwcMaxPool (uint8, int8): says by its name what other pools say by attribute.
Values nhwc_max_pool(Importer& importer, NodeContext& c) {
  c.attrs.set("channels_last", std::int64_t{1});
  return max_pool(importer, c);
}

/// Of one spatial dim: PyTorch's kernel is that of a mean, and tf2onnx writes means of the last of three axes so.
Values global_avg_pool(Importer&, NodeContext& c) {
  const Type& x = c.type(0);
  if (!x.is_tensor() || !x.ranked() || x.rank() != 3) return map_to(c, op("nn.adaptive_avg_pool2d"));
  c.inputs.push_back(c.int_constant({2}));
  return c.finish(op("mean"), std::move(c.inputs), {{"keepdims", std::int64_t{1}}});
}

Values transpose(Importer& importer, NodeContext& c) {
  const bool to_first = c.attrs.ints_or_empty("perm") == std::vector<std::int64_t>{0, 3, 1, 2};
  if (importer.converted() && to_first) c.attrs = with_mark(std::move(c.attrs), kAddedTranspose);
  return map_to(c, op("transpose"));
}

/// DFT-17 has the axis as an attribute that defaults to 1, DFT-20 as an operand.
Values dft(Importer&, NodeContext& c) {
  if (c.version < 20 && !c.attrs.has("axis")) c.attrs.set("axis", std::int64_t{1});
  return map_to(c, op("dft"));
}

Values constant(Importer&, NodeContext& c) {
  std::optional<Literal> value;
  int given = 0;
  for (const auto& [name, a] : c.attrs) {
    if (!name.starts_with("value") && name != "sparse_value") continue;
    ++given;
    if (const auto* l = std::get_if<Literal>(&a)) {
      value = *l;
    } else if (name == "value_int") {
      value = int64_scalar(c.attrs.int_or(name, 0));
    } else if (const auto* s = std::get_if<std::string>(&a)) {
      auto data = std::make_shared<Data>();
      data->elements = std::vector<std::string>{*s};
      value = Literal{Type::tensor(DType::String, {}), data};
    } else if (const auto* v = std::get_if<std::vector<std::string>>(&a)) {
      auto data = std::make_shared<Data>();
      data->elements = *v;
      value = Literal{Type::tensor(DType::String, {static_cast<std::int64_t>(v->size())}), data};
    } else {
      value = as_literal(a, DType::Float32);
    }
  }
  if (!value || given != 1) return c.error(fmt::format("needs exactly one value, has {}", given));
  return std::vector<ValueId>{c.builder().constant(std::move(*value), c.name, c.loc)};
}

/// Binary operators before opset 7: `broadcast=1, axis=k` aligns the second
/// operand's dims with the first's from k on. Some writers kept the attributes.
Values legacy_binary(Importer&, NodeContext& c) {
  const auto target = find_onnx_op(c.spelling);
  if (!target) return c.error("not in the operator table");
  if (c.attrs.int_or("broadcast", 0) == 0 || (c.version >= 7 && !c.attrs.has("axis"))) return map_to(c, *target);
  if (c.version >= 7)
    c.warning(
        fmt::format("has attributes broadcast and axis, which operator set {} has not; they are followed", c.version));
  const Type& a = c.type(0);
  const Type& b = c.type(1);
  c.attrs.erase("broadcast");
  c.attrs.erase("consumed_inputs");
  const bool axis_given = c.attrs.has("axis");
  std::int64_t axis = c.attrs.int_or("axis", 0);
  c.attrs.erase("axis");
  if (axis_given && a.is_tensor() && a.ranked() && b.is_tensor() && b.ranked() && b.rank() > 0) {
    const auto rank = static_cast<std::int64_t>(a.rank());
    if (axis < 0) axis += rank;
    const std::int64_t trailing = rank - axis - static_cast<std::int64_t>(b.rank());
    if (axis < 0 || trailing < 0) {
      return c.error(fmt::format("axis {} does not place {} in {}", axis, to_string(b), to_string(a)));
    }
    if (trailing > 0) {
      std::vector<std::int64_t> axes;
      for (std::int64_t i = 0; i < trailing; ++i) axes.push_back(static_cast<std::int64_t>(b.rank()) + i);
      auto view = c.expand_dims(c.inputs[1], axes);
      if (!view) return Failure{};
      c.inputs[1] = *view;
    }
  }
  return c.finish(*target, c.inputs, c.attrs);
}

/// Whether a value has one number for each channel, channels first.
bool is_per_channel(const NodeContext& c, ValueId v) {
  const Type& t = c.builder().type(v);
  if (c.builder().node(v.node).kind != NodeKind::Constant || !t.is_static() || t.rank() < 3) return false;
  return t.elements() == t.shape()[1].value() && t.shape()[1].value() > 1;
}

/// The scale and shift of a batch norm of TensorFlow, which names its parts (tf.nn.batch_normalization).
bool is_written_out_norm(const NodeContext& c) {
  if (!c.node.name.ends_with("/batchnorm/add_1") || !c.has(0) || !c.has(1) || !is_per_channel(c, c.inputs[1]))
    return false;
  const Node& scaled = c.builder().node(c.inputs[0].node);
  return scaled.is(op("multiply")) && scaled.name.ends_with("/batchnorm/mul_1") &&
         is_per_channel(c, scaled.operands[1]);
}

Values add(Importer& importer, NodeContext& c) {
  if (is_written_out_norm(c)) c.attrs = with_mark(std::move(c.attrs), kWrittenOutNorm);
  return legacy_binary(importer, c);
}

/// Softmax and kin before opset 13 default to axis 1, and take all dims from the axis on for one.
Values softmax(Importer&, NodeContext& c) {
  const OpId target = *find_onnx_op(c.spelling);
  if (c.version >= 13) return map_to(c, target);
  if (!c.attrs.has("axis")) c.attrs.set("axis", std::int64_t{1});
  const Type& x = c.type(0);
  if (!x.is_tensor() || !x.ranked()) return map_to(c, target);
  const auto rank = static_cast<std::int64_t>(x.rank());
  const std::int64_t given = c.attrs.int_or("axis", 1), axis = given < 0 ? given + rank : given;
  const bool one_dim = axis < 0 || axis >= rank ||
                       std::all_of(x.shape().begin() + axis + 1, x.shape().end(), [](const Dim& d) { return d.is(1); });
  if (one_dim) return map_to(c, target);
  const auto shape = c.shape_of(c.inputs[0]);
  const auto matrix = c.emit(op("nn.batch_flatten"), {c.inputs[0]}, {{"axis", axis}});
  if (!shape || !matrix) return Failure{};
  const auto rows = c.emit(target, {*matrix}, {{"axis", std::int64_t{1}}});
  if (!rows) return Failure{};
  return c.finish(op("reshape"), {*rows, *shape}, {});
}

/// Gemm multiplies matrices; nn.dense takes more dims.
Values gemm(Importer&, NodeContext& c) {
  if (c.has(0) && c.type(0).is_tensor() && c.type(0).ranked() && c.type(0).rank() != 2) {
    return c.error(fmt::format("A must have rank 2, got {}", to_string(c.type(0))));
  }
  note_folded(c);
  return map_to(c, op("nn.dense"));
}

Values gelu(Importer&, NodeContext& c) {
  const bool by_tanh = c.attrs.string_or("approximate", "none") == "tanh";
  c.attrs.erase("approximate");
  if (!by_tanh) c.attrs = with_mark(std::move(c.attrs), kOneOperator);
  return map_to(c, by_tanh ? op("nn.fast_gelu") : op("nn.gelu"));
}

/// com.microsoft GemmFastGelu: FastGelu(X · W + bias).
Values gemm_fast_gelu(Importer&, NodeContext& c) {
  if (c.inputs.size() < 2) return c.error(fmt::format("takes 2 to 3 operands, got {}", c.inputs.size()));
  const auto product = c.emit(op("nn.dense"), {c.inputs[0], c.inputs[1]});
  if (!product) return Failure{};
  std::vector<ValueId> operands{*product};
  operands.insert(operands.end(), c.inputs.begin() + 2, c.inputs.end());
  return c.finish(op("nn.bias_gelu"), std::move(operands), {{"approximate", std::string("tanh")}});
}

/// Cast-1 names its target as a string such as "FLOAT".
Values cast(Importer&, NodeContext& c) {
  const std::string given(c.attrs.string_or("to", ""));
  static const std::map<std::string_view, std::string_view> kOld{
      {"FLOAT", "float32"}, {"DOUBLE", "float64"},      {"FLOAT16", "float16"},      {"INT8", "int8"},
      {"INT16", "int16"},   {"INT32", "int32"},         {"INT64", "int64"},          {"UINT8", "uint8"},
      {"UINT16", "uint16"}, {"UINT32", "uint32"},       {"UINT64", "uint64"},        {"BOOL", "bool"},
      {"STRING", "string"}, {"COMPLEX64", "complex64"}, {"COMPLEX128", "complex128"}};
  const auto old = kOld.find(given);
  if (old != kOld.end()) c.attrs.set("to", std::string(old->second));
  return map_to(c, op("cast"));
}

/// Resize-10 has operands (X, scales) and samples at x / scale, the nearest below; newer ones have (X, roi, scales,
/// sizes), and attributes for it that default to something else.
Values resize(Importer&, NodeContext& c) {
  if (c.version < 11 && c.inputs.size() == 2) {
    c.inputs.insert(c.inputs.begin() + 1, ValueId{});
    if (!c.attrs.has("coordinate_transformation_mode"))
      c.attrs.set("coordinate_transformation_mode", std::string("asymmetric"));
    if (!c.attrs.has("nearest_mode")) c.attrs.set("nearest_mode", std::string("floor"));
  }
  return map_to(c, op("image.resize2d"));
}

/// RoiAlign-10 has no half_pixel, which newer ones default to.
Values roi_align(Importer&, NodeContext& c) {
  constexpr std::string_view kMode = "coordinate_transformation_mode";
  if (c.version < 16 && !c.attrs.has(kMode)) c.attrs.set(kMode, std::string("output_half_pixel"));
  return map_to(c, op("vision.roi_align"));
}

/// Of TensorFlow: tf2onnx leaves what it does not know as it is.
Values erfc(Importer&, NodeContext& c) {
  if (!c.has(0)) return c.error("has no operand");
  c.warning("is TensorFlow's, not ONNX's; taken as 1 - Erf");
  const auto y = c.erfc(c.inputs[0]);
  return y ? Values(std::vector<ValueId>{*y}) : Failure{};
}

/// com.microsoft BiasGelu is by the error function, FastGelu by tanh.
Values fast_gelu(Importer&, NodeContext& c) {
  c.attrs.set("approximate", std::string("tanh"));
  return map_to(c, op("nn.bias_gelu"));
}

/// Upsample-1 has height_scale and width_scale.
Values upsample(Importer&, NodeContext& c) {
  if (c.inputs.size() > 2) {
    c.warning("has the operands of Resize (X, roi, scales, sizes); taken as one");
    return map_to(c, op("image.resize2d"));
  }
  if (c.attrs.has("height_scale") || c.attrs.has("width_scale")) {
    c.attrs.set("scales",
                std::vector<double>{1, 1, c.attrs.float_or("height_scale", 1), c.attrs.float_or("width_scale", 1)});
    c.attrs.erase("height_scale");
    c.attrs.erase("width_scale");
  }
  return map_to(c, op("nn.upsampling"));
}

/// Tile-1 has operands (input, tiles, axis), each a scalar.
Values tile(Importer&, NodeContext& c) {
  if (c.version >= 6 || c.inputs.size() != 3) return map_to(c, op("tile"));
  const Data* tiles = c.has(1) ? c.builder().data(c.inputs[1]) : nullptr;
  const Data* axis = c.has(2) ? c.builder().data(c.inputs[2]) : nullptr;
  const Type& x = c.type(0);
  if (!tiles || !axis || !tiles->ints() || !axis->ints() || tiles->size() != 1 || axis->size() != 1 ||
      !tiles->fully_known() || !axis->fully_known() || !x.is_tensor() || !x.ranked()) {
    return c.error("Tile-1 with run-time tiles or axis is not supported; export with opset 6 or newer");
  }
  const std::int64_t at = (*axis->ints())[0].value();
  if (at < 0 || at >= static_cast<std::int64_t>(x.rank())) return c.error(fmt::format("axis {} is out of range", at));
  std::vector<std::int64_t> repeats(x.rank(), 1);
  repeats[static_cast<std::size_t>(at)] = (*tiles->ints())[0].value();
  return c.finish(op("tile"), {c.inputs[0], c.int_constant(repeats)}, {});
}

/// ConstantFill (experimental, opset 1): the shape is an attribute, the operand
/// (`input_as_shape`) or the operand's shape.
Values constant_fill(Importer&, NodeContext& c) {
  const std::vector<std::int64_t> extra = c.attrs.ints_or_empty("extra_shape");
  ValueId shape;
  if (!c.has(0)) {
    std::vector<std::int64_t> dims = c.attrs.ints_or_empty("shape");
    dims.insert(dims.end(), extra.begin(), extra.end());
    shape = c.int_constant(dims);
  } else {
    shape = c.inputs[0];
    if (c.attrs.int_or("input_as_shape", 0) == 0) {
      auto s = c.shape_of(shape);
      if (!s) return Failure{};
      shape = *s;
    }
    if (!extra.empty()) {
      auto s = c.emit(op("concatenate"), {shape, c.int_constant(extra)}, {{"axis", std::int64_t{0}}});
      if (!s) return Failure{};
      shape = *s;
    }
  }
  const DType dtype = c.attrs.dtype_or("dtype", DType::Float32);
  auto data = std::make_shared<Data>();
  const double fill = c.attrs.float_or("value", 0);
  if (is_float(dtype)) {
    data->elements = std::vector<double>{fill};
  } else {
    data->elements = std::vector<SymInt>{static_cast<std::int64_t>(std::clamp(fill, -9e15, 9e15))};
  }
  return c.finish(op("full"), {shape}, {{"value", Literal{Type::tensor(dtype, {1}), data}}});
}

/// Logical operators work on bools; a number is true unless it is 0. The result
/// is a number again where the file says so.
Values logical_not(Importer&, NodeContext& c) {
  const DType given = c.type(0).dtype();
  if (!c.type(0).is_tensor() || (!is_integer(given) && !is_float(given))) return map_to(c, op("logical_not"));
  c.warning(fmt::format("operand is {}, not bool; whatever is not 0 counts as true", name(given)));
  const auto truth = c.emit(op("cast"), {c.inputs[0]}, {{"to", std::string("bool")}});
  if (!truth) return Failure{};
  const DType wanted = c.declared.empty() || !c.declared[0].is_tensor() ? DType::Bool : c.declared[0].dtype();
  if (!is_integer(wanted) && !is_float(wanted)) return c.finish(op("logical_not"), {*truth}, {});
  const auto inverted = c.emit(op("logical_not"), {*truth});
  if (!inverted) return Failure{};
  return c.finish(op("cast"), {*inverted}, {{"to", std::string(name(wanted))}});
}

/// Multinomial draws indices; some writers ask for them as floats.
Values multinomial(Importer&, NodeContext& c) {
  const DType wanted = c.attrs.dtype_or("dtype", DType::Int32);
  if (!is_float(wanted)) return map_to(c, op("random.multinomial"));
  c.warning(fmt::format("dtype is {}, not int32 or int64; the indices are converted", name(wanted)));
  c.attrs.set("dtype", std::string("int32"));
  const auto drawn = c.emit(op("random.multinomial"), c.inputs, c.attrs);
  if (!drawn) return Failure{};
  return c.finish(op("cast"), {*drawn}, {{"to", std::string(name(wanted))}});
}

/// "Every occurrence of ellipsis in the equation must represent the same number
/// of dimensions" (ONNX Einsum-12); NumPy, whose einsum the IR has, broadcasts.
Values einsum(Importer&, NodeContext& c) {
  const std::string_view equation = c.attrs.string_or("equation", "");
  const std::string_view terms = equation.substr(0, equation.find("->"));
  std::optional<std::int64_t> expected;
  std::size_t start = 0;
  for (std::size_t i = 0; i < c.inputs.size() && start <= terms.size(); ++i) {
    const std::string_view term = terms.substr(start, terms.find(',', start) - start);
    start += term.size() + 1;
    if (term.find("...") == std::string_view::npos || !c.type(i).is_tensor() || !c.type(i).ranked()) continue;
    const auto labels = std::count_if(term.begin(), term.end(), [](unsigned char ch) { return std::isalpha(ch) != 0; });
    const std::int64_t dims = static_cast<std::int64_t>(c.type(i).rank()) - labels;
    if (expected && *expected != dims) {
      return c.error(fmt::format("the ellipsis stands for {} dims before and for {} in input {}", *expected, dims, i));
    }
    expected = dims;
  }
  return map_to(c, op("einsum"));
}

/// ATen, as PyTorch's exporter writes what ONNX has no operator for: only
/// embedding_bag is known here, its mode by number.
Values aten(Importer&, NodeContext& c) {
  constexpr std::array<std::string_view, 3> kModes{"sum", "mean", "max"};
  const std::int64_t mode = c.attrs.int_or("mode", 0);
  const std::string_view name = c.attrs.string_or("operator", "?");
  if (name != "embedding_bag" || mode < 0 || mode > 2) return keep_opaque(c, fmt::format("ATen:{}", name));
  if (c.has(2) && c.type(2).is_tensor() && c.type(2).ranked() && c.type(2).rank() == 0) {
    const auto offsets = c.expand_dims(c.inputs[2], {0});
    if (!offsets) return Failure{};
    c.inputs[2] = *offsets;
  }
  c.attrs.erase("operator");
  c.attrs.set("mode", std::string(kModes[static_cast<std::size_t>(mode)]));
  return c.finish(op("nn.embedding_bag"), c.inputs, c.attrs);
}

/// An `if` whose condition is known at import is its branch.
Values if_(Importer& importer, NodeContext& c) {
  const Data* cond = c.has(0) ? c.builder().data(c.inputs[0]) : nullptr;
  if (cond && cond->ints() && cond->size() == 1 && cond->fully_known()) {
    return importer.inline_branch(c, (*cond->ints())[0].value() ? "then_branch" : "else_branch");
  }
  auto results = importer.control_flow(c, op("if"), {"then_branch", "else_branch"});
  if (!results) {
    c.builder().diagnostics().note(c.loc, c.name,
                                   fmt::format("which branch runs is not known, so that both have to make sense{}",
                                               c.has(0) ? importer.deciding_inputs(c.frame, c.inputs[0]) : ""));
  }
  return results;
}
Values loop(Importer& importer, NodeContext& c) {
  c.inputs.resize(std::max<std::size_t>(c.inputs.size(), 2));
  return importer.control_flow(c, op("loop"), {"body"});
}
Values scan(Importer& importer, NodeContext& c) {
  if (c.version < 9) c.attrs.set("batched", std::int64_t{1});
  return importer.control_flow(c, op("scan"), {"body"});
}
Values sequence_map(Importer& importer, NodeContext& c) {
  return importer.control_flow(c, op("sequence_map"), {"body"});
}

}  // namespace

const std::vector<TranslatorRow>& translator_table() {
  static const std::vector<TranslatorRow> table = [] {
    std::vector<TranslatorRow> rows{
        {"Conv", conv, "nn.conv1d nn.conv2d nn.conv3d"},
        {"ConvTranspose", conv_transpose, "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose"},
        {"MaxPool", max_pool, "nn.max_pool1d nn.max_pool2d nn.max_pool3d"},
        {"AveragePool", avg_pool, "nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d"},
        {"ms:NhwcMaxPool", nhwc_max_pool, "nn.max_pool1d nn.max_pool2d nn.max_pool3d"},
        {"GlobalAveragePool", global_avg_pool, "nn.adaptive_avg_pool2d mean"},
        {"Transpose", transpose, "transpose"},
        {"DFT", dft, "dft"},
        {"Constant", constant, "a constant"},
        {"ConstantFill", constant_fill, "full"},
        {"Gemm", gemm, "nn.dense"},
        {"Gelu", gelu, "nn.gelu nn.fast_gelu"},
        {"ms:Gelu", gelu, "nn.gelu"},
        {"ms:GemmFastGelu", gemm_fast_gelu, "nn.dense nn.bias_gelu"},
        {"Add", add, "add"},
        {"Sub", legacy_binary, "subtract"},
        {"Mul", legacy_binary, "multiply"},
        {"Div", legacy_binary, "divide"},
        {"Pow", legacy_binary, "power"},
        {"And", legacy_binary, "logical_and"},
        {"Or", legacy_binary, "logical_or"},
        {"Xor", legacy_binary, "logical_xor"},
        {"Equal", legacy_binary, "equal"},
        {"Less", legacy_binary, "less"},
        {"Greater", legacy_binary, "greater"},
        {"Not", logical_not, "logical_not"},
        {"Multinomial", multinomial, "random.multinomial"},
        {"Einsum", einsum, "einsum"},
        {"ATen", aten, "nn.embedding_bag opaque"},
        {"org.pytorch.aten:ATen", aten, "nn.embedding_bag opaque"},
        {"Softmax", softmax, "nn.softmax"},
        {"LogSoftmax", softmax, "nn.log_softmax"},
        {"Hardmax", softmax, "nn.hardmax"},
        {"Cast", cast, "cast"},
        {"Resize", resize, "image.resize2d"},
        {"RoiAlign", roi_align, "vision.roi_align"},
        {"ms:FastGelu", fast_gelu, "nn.bias_gelu"},
        {"Upsample", upsample, "nn.upsampling"},
        {"Tile", tile, "tile"},
        {"Erfc", erfc, "erf add erfc"},
        {"If", if_, "if"},
        {"Loop", loop, "loop"},
        {"Scan", scan, "scan"},
        {"SequenceMap", sequence_map, "sequence_map"},
    };
    for (const auto& more : {contrib_table(), contrib_language_table(), contrib_products_table(),
                             contrib_streams_table(), contrib_earlier_table(), contrib_others_table(), plugin_table()})
      rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return table;
}

}  // namespace perfc::onnx
