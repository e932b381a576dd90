/// Operators whose form depends on their attributes or operands.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backends/onnx/rows.h"

namespace perfc::backends::write {

Status gelu(CallWriter& c) { return write_same(c, "Gelu", "", 0); }

Status promote(CallWriter& c) {
  return c.finish("Cast", c.operands, {{"to", std::int64_t{onnx::onnx_number(c.result().dtype())}}});
}

/// Fractions need fmod, which takes the sign of the dividend.
Status mod(CallWriter& c) {
  auto attrs = onnx_attributes(c, "fmod");
  if (!attrs) return Failure{};
  if (is_float(c.type(0).dtype()) && c.attrs.int_or("fmod", 0) == 0) {
    const std::string whole = c.value("Floor", {c.value("Div", c.operands)});
    return c.finish("Sub", {c.operands[0], c.value("Mul", {whole, c.operands[1]})});
  }
  return c.finish("Mod", c.operands, *attrs);
}

/// Towards −∞; Div of integers goes towards 0.
Status floor_divide(CallWriter& c) {
  if (is_float(c.type(0).dtype())) return c.finish("Floor", {c.value("Div", c.operands)});
  const std::string rest = c.value("Mod", c.operands);
  return c.finish("Div", {c.value("Sub", {c.operands[0], rest}), c.operands[1]});
}

Status trunc_divide(CallWriter& c) {
  if (!is_float(c.type(0).dtype())) return c.finish("Div", c.operands);
  const std::string quotient = c.value("Div", c.operands);
  return c.finish("Mul", {c.value("Sign", {quotient}), c.value("Floor", {c.value("Abs", {quotient})})});
}

/// log(1 + exp(β·x)) / β.
Status softplus(CallWriter& c) {
  auto attrs = onnx_attributes(c, "beta threshold");
  if (!attrs) return Failure{};
  const double beta = c.attrs.float_or("beta", static_cast<double>(c.attrs.int_or("beta", 1)));
  if (beta == 1) return c.finish("Softplus", c.operands);
  const std::string factor = c.number(beta, c.result().dtype());
  return c.finish("Div", {c.value("Softplus", {c.value("Mul", {c.operands[0], factor})}), factor});
}

/// The second result of Dropout is a mask of bools.
Status dropout(CallWriter& c) { return write_same(c, "Dropout", "seed", 0); }

/// The shape is an operand, or an attribute; the value is an attribute, or an operand.
Status full(CallWriter& c) {
  auto attrs = onnx_attributes(c, "value dtype shape");
  if (!attrs) return Failure{};
  const bool plain = c.operands.size() == 1 && !attrs->has("dtype") && !attrs->has("shape");
  const Attr* value = c.attrs.find("value");
  std::string shape = c.has(0) ? c.operands[0] : c.ints(c.attrs.ints_or_empty("shape"));
  if (c.has(0) && c.type(0).dtype() != DType::Int64) {
    shape = c.value("Cast", {shape}, {{"to", std::int64_t{onnx::onnx_number(DType::Int64)}}});
  }
  if (const auto* literal = value ? std::get_if<Literal>(value) : nullptr; literal && literal->type.rank() != 1) {
    attrs->set("value", Literal{Type::tensor(literal->type.dtype(), {std::int64_t{1}}), literal->data});
  }
  if (plain && (!value || std::holds_alternative<Literal>(*value))) return c.finish("ConstantOfShape", {shape}, *attrs);
  if (c.has(1)) {
    const std::string cast =
        c.type(1).dtype() == c.result().dtype()
            ? c.operands[1]
            : c.value("Cast", {c.operands[1]}, {{"to", std::int64_t{onnx::onnx_number(c.result().dtype())}}});
    return c.finish("Expand", {cast, shape});
  }
  const double number = c.attrs.float_or("value", static_cast<double>(c.attrs.int_or("value", 0)));
  return c.finish("Expand", {c.number(number, c.result().dtype()), shape});
}

/// Without the extents as an operand the number of parts is an attribute.
Status split(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis num_outputs");
  if (!attrs) return Failure{};
  attrs->erase("num_outputs");
  if (!c.has(1)) attrs->set("num_outputs", static_cast<std::int64_t>(c.results.size()));
  return c.finish("Split", c.operands, *attrs);
}

/// Slices with steps of −1.
Status reverse_axes(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis");
  if (!attrs) return Failure{};
  std::vector<std::int64_t> axes = c.attrs.ints_or_empty("axis");
  if (axes.empty()) axes = {0};
  const std::vector<std::int64_t> first(axes.size(), -1), last(axes.size(), std::numeric_limits<std::int64_t>::min());
  return c.finish("Slice", {c.operands[0], c.ints(first), c.ints(last), c.ints(axes), c.ints(first)});
}

/// Modes have other names since operator set 20.
Status grid_sample(CallWriter& c) {
  auto attrs = onnx_attributes(c, "align_corners mode padding_mode");
  if (!attrs) return Failure{};
  const std::string_view mode = c.attrs.string_or("mode", "linear");
  if (mode == "bilinear") attrs->set("mode", std::string("linear"));
  if (mode == "bicubic") attrs->set("mode", std::string("cubic"));
  return c.finish("GridSample", c.operands, *attrs);
}

/// Upsample-9 is Resize-10: asymmetric, the nearest below.
Status upsampling(CallWriter& c) {
  auto attrs = onnx_attributes(c, "mode scales");
  if (!attrs) return Failure{};
  std::string scales = c.has(1) ? c.operands[1] : std::string();
  if (const Attr* given = c.attrs.find("scales")) {
    const auto* numbers = std::get_if<std::vector<double>>(given);
    if (!numbers) return c.error("attribute 'scales' is no list of numbers");
    auto data = std::make_shared<Data>();
    data->elements = *numbers;
    scales =
        c.model().literal({Type::tensor(DType::Float32, {static_cast<std::int64_t>(numbers->size())}), data}, "scales");
  }
  attrs->erase("scales");
  if (c.attrs.string_or("mode", "nearest") == "bilinear") attrs->set("mode", std::string("linear"));
  attrs->set("coordinate_transformation_mode", std::string("asymmetric"));
  attrs->set("nearest_mode", std::string("floor"));
  return c.finish("Resize", {c.operands[0], "", scales}, *attrs);
}

/// Rotary embeddings of ai.onnx and of com.microsoft differ in the order of their operands.
Status rotary_embedding(CallWriter& c) {
  const bool ms = c.operands.size() > 3 && c.has(1) && is_integer(c.type(1).dtype());
  if (ms && c.attrs.has("mrope_section"))
    return write_same(c, "ms:MRotaryEmbedding",
                      "interleaved is_packed_batching mrope_layout mrope_section num_heads rotary_embedding_dim scale",
                      0);
  if (ms)
    return write_same(c, "ms:RotaryEmbedding", "interleaved is_packed_batching num_heads rotary_embedding_dim scale",
                      0);
  return write_same(c, "RotaryEmbedding", "interleaved num_heads rotary_embedding_dim", 23);
}

Status matmul_nbits(CallWriter& c) {
  if (c.attrs.has("blk_quant_type")) return write_same(c, "ms:MatMulFpQ4", "blk_quant_type", 0);
  if (c.attrs.has("quant_type"))
    return write_same(c, "ms:MatMulBnb4", "K N block_size quant_type training_mode transB", 0);
  // Weights of float4 and float8 have operators of their own, whose operands say K, N and the bits.
  const bool of_float4 = c.has(2) && c.type(2).dtype() == DType::UInt8;
  if (of_float4 || (c.has(1) && is_float(c.type(1).dtype()))) {
    CallWriter::Names inputs = c.operands;
    if (of_float4) inputs.push_back(c.model().literal(float_scalar(1), "scale"));
    return c.finish(of_float4 ? "ms:MatMulBlockQuantizedFp4Weight" : "ms:MatMulBlockQuantizedFp8Weight", inputs,
                    {{"block_size", c.attrs.int_or("block_size", 0)}});
  }
  return write_same(c, "ms:MatMulNBits", "K N accuracy_level bits block_size weight_prepacked", 0);
}

/// The axis is an operand since operator set 20.
Status dft(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis inverse onesided");
  if (!attrs) return Failure{};
  attrs->erase("axis");
  CallWriter::Names inputs = c.operands;
  if (c.attrs.has("axis")) {
    inputs.resize(3);
    inputs[2] = c.model().literal(int64_scalar(c.attrs.int_or("axis", -2)), "axis");
  }
  return c.finish("DFT", inputs, *attrs);
}

/// com.microsoft's came first and has more attributes.
Status causal_conv(CallWriter& c) {
  if (c.type(0).ranked() && c.type(0).rank() == 2) return c.error("where its sequences end is not known any more");
  const bool standard = c.attrs.size() == (c.attrs.has("activation") ? 1 : 0);
  if (standard) return write_same(c, "CausalConvWithState", "activation", 27);
  return write_same(c, "ms:CausalConvWithState",
                    "activation channels_last dilation input_channel_offset input_channels ndim state_channels_last "
                    "state_length state_update_capacity state_window",
                    0);
}

/// com.microsoft's has a window of states, and fewer heads of queries than of states.
Status linear_attention(CallWriter& c) {
  constexpr std::string_view kAttributes = "chunk_size kv_num_heads q_num_heads scale update_rule state_window";
  const bool standard =
      !c.attrs.has("state_window") && c.attrs.int_or("q_num_heads", 1) >= c.attrs.int_or("kv_num_heads", 1);
  return write_same(c, standard ? "LinearAttention" : "ms:LinearAttention", kAttributes, standard ? 27 : 0);
}

/// The last elements come first, axis by axis; without axes, of the flattened data.
Status roll(CallWriter& c) {
  auto attrs = onnx_attributes(c, "shift axis");
  if (!attrs) return Failure{};
  const auto shifts = c.attrs.ints_or_empty("shift");
  const auto axes = c.attrs.ints_or_empty("axis");
  if (shifts.empty() || shifts.size() != axes.size()) return c.error("its shifts are not one per axis");
  constexpr auto kEnd = std::numeric_limits<std::int64_t>::max();
  std::string value = c.operands[0];
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto part = [&](std::int64_t from, std::int64_t to) {
      return c.value("Slice", {value, c.ints({from}), c.ints({to}), c.ints({axes[i]})});
    };
    value = c.value("Concat", {part(-shifts[i], kEnd), part(0, -shifts[i])}, {{"axis", axes[i]}});
  }
  return c.finish_as(value);
}

/// com.microsoft's has channels last.
Status qlinear_conv(CallWriter& c) {
  const bool last = c.attrs.has("channels_last");
  return write_same(c, last ? "ms:QLinearConv" : "QLinearConv",
                    "auto_pad channels_last dilation groups kernel_size padding strides", 0);
}

/// com.microsoft's takes 16 bits before operator set 21 did.
Status quantize(CallWriter& c) {
  const bool to = c.node.is(op("qnn.quantize"));
  if (to && c.type(0).dtype() != c.type(1).dtype()) c.model().needs("", 23);  // types of their own since then
  return write_same(c, to ? "QuantizeLinear" : "DequantizeLinear", "axis block_size output_dtype saturate", 0);
}

}  // namespace perfc::backends::write
