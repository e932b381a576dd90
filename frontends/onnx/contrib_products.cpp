/// com.microsoft's fused matrix products of language models: packed weights and what stands before and behind them
/// (docs/ContribOperators.md of microsoft/onnxruntime).
#include <fmt/format.h>

#include "frontends/onnx/contrib.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;

/// What all products of a node share.
struct Packing {
  std::int64_t k, bits, block;
};

Result<Packing> packing(const NodeContext& c) {
  const auto k = whole_number(c, "K"), bits = whole_number(c, "bits", 4), block = whole_number(c, "block_size");
  if (!k || !bits || !block) return Failure{};
  return Packing{*k, *bits, *block};
}

/// A product with packed weights, their scales and perhaps a bias (an empty id: none).
Result<ValueId> packed_product(const NodeContext& c, const Packing& p, Result<ValueId> x, std::int64_t n,
                               std::vector<ValueId> weight) {
  if (!x) return x;
  if (const ValueId bias = weight.size() > 2 ? weight[2] : ValueId{}; bias) {
    if (const Type& t = c.type(bias); t.is_tensor() && t.elements().value_or(n) != n)
      return c.error(fmt::format("a bias must have {} values, is {}", n, to_string(t)));
  }
  std::vector<ValueId> operands{*x, weight[0], weight[1]};
  if (weight.size() > 2 && weight[2]) {
    operands.resize(5);  // zero points and the order of rows are none
    operands.push_back(weight[2]);
  }
  return c.emit(op("nn.matmul_nbits"), std::move(operands),
                {{"K", p.k},
                 {"N", n},
                 {"bits", p.bits},
                 {"block_size", p.block},
                 {"accuracy_level", c.attrs.int_or("accuracy_level", 0)}});
}

/// A weight, its scales, its bias: three operands from the first on.
std::vector<ValueId> weight_at(const NodeContext& c, std::size_t first) {
  return {c.inputs[first], c.inputs[first + 1], c.has(first + 2) ? c.inputs[first + 2] : ValueId{}};
}

/// What is multiplied: A (operand 0), with a scale (2) normalised, with a skip (1) the sum of both; then that sum.
Result<std::vector<ValueId>> normalised(const NodeContext& c, double epsilon, bool sum_wanted) {
  if (!c.has(1) && sum_wanted) return c.error("the sum of input and skip is asked, operand 1 (skip) is missing");
  if (!c.has(2)) {
    if (c.has(1)) return c.error("operand 2 (norm_scale) is missing, operand 1 (skip) is there");
    return std::vector<ValueId>{c.inputs[0]};
  }
  const Attrs attrs{{"epsilon", c.attrs.float_or("epsilon", epsilon)}};
  if (c.has(1)) {
    auto all = c.emit_all(op("nn.skip_rms_norm"), {c.inputs[0], c.inputs[1], c.inputs[2]}, attrs, sum_wanted ? 4 : 1);
    return all && sum_wanted ? Result(std::vector<ValueId>{all->front(), all->back()}) : all;
  }
  const auto norm = c.emit(op("nn.rms_norm"), {c.inputs[0], c.inputs[2]}, attrs);
  return norm ? Result(std::vector<ValueId>{*norm}) : Failure{};
}

/// Behind the gate's product: silu, as the optimiser writes it, and the names of ai.onnx's activations.
Result<OpId> activation_of(const NodeContext& c) {
  const std::string_view name = c.attrs.string_or("activation", "");
  if (name == "silu" || name == "swish") return op("nn.silu");
  if (name == "gelu") return op("nn.gelu");
  if (name == "relu") return op("nn.relu");
  return c.error(name.empty() ? "has no attribute 'activation'"
                              : fmt::format("unknown activation '{}'; silu, gelu and relu are known", name));
}

/// (A, skip?, norm_scale?, gate: weight, scales, bias?, up: weight, scales, bias?) → activation(gate) · up.
Values packed_mlp(Importer&, NodeContext& c) {
  if (!takes(c,
             {"A", "skip?", "norm_scale?", "gate_B", "gate_scales", "gate_bias?", "up_B", "up_scales", "up_bias?"}) ||
      !gives(c, 2))
    return Failure{};
  const auto p = packing(c);
  const auto n = whole_number(c, "N");
  const auto activation = activation_of(c);
  if (!p || !n || !activation) return Failure{};
  const auto x = normalised(c, 1e-5, c.outputs() > 1);
  if (!x) return Failure{};
  const auto gate = packed_product(c, *p, x->front(), *n, weight_at(c, 3));
  const auto up = packed_product(c, *p, x->front(), *n, weight_at(c, 6));
  if (!gate || !up) return Failure{};
  const InsideKernel of_products(c);
  return outputs_of(c, {c.emit(op("multiply"), {c.emit(*activation, {*gate}), *up}), x->back()});
}

/// (A, skip?, norm_scale, of q, k and v each: weight, scales, bias?) → q, k, v.
Values packed_qkv(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "skip?", "norm_scale", "q_B", "q_scales", "q_bias?", "k_B", "k_scales", "k_bias?", "v_B",
                 "v_scales", "v_bias?"}) ||
      !gives(c, 4))
    return Failure{};
  const auto p = packing(c);
  const auto of_queries = whole_number(c, "Nq"), of_keys = whole_number(c, "Nkv");
  if (!p || !of_queries || !of_keys) return Failure{};
  const auto x = normalised(c, 1e-6, c.outputs() > 3);
  if (!x) return Failure{};
  std::vector<Result<ValueId>> out;
  for (std::size_t i = 0; i < 3; ++i)
    out.push_back(packed_product(c, *p, x->front(), i == 0 ? *of_queries : *of_keys, weight_at(c, 3 + 3 * i)));
  out.emplace_back(x->back());
  return outputs_of(c, out);
}

/// Zeros in the shape of X with this last dim.
Result<ValueId> zeros_of(NodeContext& c, std::int64_t last) {
  const auto rank = rank_of(c, 0, "X", 1, kAnyRank);
  if (!rank) return Failure{};
  InsideKernel into_fill(c);
  std::vector<Result<ValueId>> dims{c.int_constant({last})};
  if (*rank > 1) dims.insert(dims.begin(), c.shape_of(c.inputs[0], 0, *rank - 1));
  const auto shape = c.join(dims, 0);
  into_fill.end();
  return c.full(shape, 0, c.dtype(c.inputs[0]));
}

/// (X, W, scales, lora_A [r, …], its scales [r, …], lora_B, its scales): a product and one of a small rank, added. An
/// adapter without rows of lora_A multiplies zeros, one without lora_B is none.
Values packed_lora(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "W", "scales", "lora_A", "lora_A_scales", "lora_B", "lora_B_scales"}) || !gives(c, 1))
    return Failure{};
  const auto k = whole_number(c, "K"), n = whole_number(c, "N");
  const auto bits = whole_number(c, "bits", 4), block = whole_number(c, "block_size", 32);
  const auto adapter_bits = whole_number(c, "lora_bits", 8), adapter_block = whole_number(c, "lora_block_size", 32);
  if (!k || !n || !bits || !block || !adapter_bits || !adapter_block) return Failure{};
  const auto base = packed_product(c, {*k, *bits, *block}, c.inputs[0], *n, {c.inputs[1], c.inputs[2]});
  if (!base) return Failure{};
  if (c.type(5).elements() == 0) return outputs_of(c, {base});
  if (!rank_of(c, 4, "lora_A_scales", 2, 2)) return Failure{};
  const auto rank = extent_of(c, c.inputs[4], 0);
  if (!rank) return Failure{};
  const auto down = c.type(3).elements() == 0 ? zeros_of(c, *rank)
                                              : packed_product(c, {*k, *adapter_bits, *adapter_block}, c.inputs[0],
                                                               *rank, {c.inputs[3], c.inputs[4]});
  const auto up = packed_product(c, {*rank, *adapter_bits, *adapter_block}, down, *n, {c.inputs[5], c.inputs[6]});
  return up ? c.finish(op("add"), {*base, *up}, {}) : Failure{};
}

/// Weights of few bits with a scale for each block of a row: what MatMulBlockQuantized… share. `per_byte`: weights in
/// one byte of B [n, k / per_byte].
Result<ValueId> by_rows(const NodeContext& c, std::int64_t per_byte, std::int64_t block, Result<ValueId> x) {
  if (!rank_of(c, 1, "B", 2, 2)) return Failure{};
  const auto n = extent_of(c, c.inputs[1], 0), bytes = extent_of(c, c.inputs[1], 1);
  const auto given = whole_number(c, "block_size", block);
  if (!n || !bytes || !given) return Failure{};
  const std::int64_t k = *bytes * per_byte;
  constexpr std::int64_t kMost = 1 << 30;
  if (*given < 1 || *given > kMost)
    return c.error(fmt::format("block_size must be from 1 to {}, is {}", kMost, *given));
  if (!require_dims(c, 2, "scales", {Dim(*n), Dim((k + *given - 1) / *given)})) return Failure{};
  return packed_product(c, {k, 8 / per_byte, *given}, x, *n, {c.inputs[1], c.inputs[2]});
}

/// A product of all, plus a bias (operand i) where there is one, in the product's kernel.
Values plus_bias(NodeContext& c, Result<ValueId> product, std::size_t i) {
  if (!product || !c.has(i)) return outputs_of(c, {product});
  if (!require_dims(c, i, "bias", {c.dim(*product, -1)})) return Failure{};
  const InsideKernel of_product(c);
  return outputs_of(c, {c.emit(op("add"), {*product, c.inputs[i]})});
}

/// (A, B: two numbers of float4 in a byte, weight_scale, weight_scale_2: a number, input_scale: unused, bias?).
Values product_of_float4(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "B", "weight_scale", "weight_scale_2", "input_scale?", "bias?"}) || !gives(c, 1))
    return Failure{};
  if (c.type(3).elements().value_or(1) != 1)
    return c.error(fmt::format("weight_scale_2 must be a number, is {}", to_string(c.type(3))));
  constexpr std::int64_t kPerByte = 2, kBlock = 16;
  const auto product = by_rows(c, kPerByte, kBlock, c.inputs[0]);
  if (!product) return Failure{};
  InsideKernel of_product(c);
  const auto scale = c.reshape(c.cast(c.inputs[3], c.dtype(*product)), {});
  const auto scaled = c.emit(op("multiply"), {*product, scale});
  of_product.end();
  return plus_bias(c, scaled, 5);
}

/// (A, B of float8, b_scale, a_scale: a number?, bias?); with a_scale, A is rounded to float8 first.
Values product_of_float8(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "B", "b_scale", "a_scale?", "bias?"}) || !gives(c, 1)) return Failure{};
  constexpr std::int64_t kPerByte = 1, kBlock = 128;
  Result<ValueId> x = c.inputs[0];
  if (c.has(3)) {
    if (c.type(3).elements().value_or(1) != 1)
      return c.error(fmt::format("a_scale must be a number, is {}", to_string(c.type(3))));
    x = c.emit(op("qnn.fake_quantize"), {x, c.inputs[3]});
  }
  return plus_bias(c, by_rows(c, kPerByte, kBlock, x), 4);
}

/// GemmFloat8's operand i, of float8 with its scale (operand `scale`), as numbers of `to`.
Result<ValueId> widened(const NodeContext& c, std::size_t i, std::size_t scale, DType to) {
  if (bits(c.dtype(c.inputs[i])) != 8) return c.cast(c.inputs[i], to);
  if (!c.has(scale)) return c.error(fmt::format("operand {} is float8, its scale, operand {}, is missing", i, scale));
  if (c.type(scale).elements().value_or(1) != 1)
    return c.error(fmt::format("the scale of operand {} must be a number, is {}", i, to_string(c.type(scale))));
  return c.emit(op("qnn.dequantize"), {c.inputs[i], c.inputs[scale]}, {{"output_dtype", std::string(name(to))}});
}

/// (A, B, C?, scaleA?, scaleB?, scaleY?): C counts where `beta` is not 0.
Values gemm_float8(Importer&, NodeContext& c) {
  if (!takes(c, {"A", "B", "C?", "scaleA?", "scaleB?", "scaleY?"}) || !gives(c, 1) || !rank_of(c, 0, "A", 2, 2) ||
      !rank_of(c, 1, "B", 2, 2))
    return Failure{};
  const DType out = c.attrs.dtype_or("dtype", DType::Float32);
  if (!is_float(out)) return c.error(fmt::format("dtype must be a floating point type, is {}", name(out)));
  const bool adds = c.has(2) && c.attrs.float_or("beta", 0) != 0;
  const DType wide = bits(out) != 8 ? out : adds ? c.dtype(c.inputs[2]) : DType::BFloat16;
  const auto a = widened(c, 0, 3, wide), b = widened(c, 1, 4, wide);
  if (!a || !b) return Failure{};
  std::vector<ValueId> operands{*a, *b};
  if (adds) {
    const auto bias = c.cast(c.inputs[2], wide);
    if (!bias) return Failure{};
    operands.push_back(*bias);
  }
  Attrs attrs{{"alpha", c.attrs.float_or("alpha", 1)}, {"beta", c.attrs.float_or("beta", 0)}};
  for (const char* flag : {"transA", "transB"}) {
    const auto value = whole_number(c, flag, 0);
    if (!value) return Failure{};
    attrs.set(flag, *value);
  }
  auto y = c.emit(op("nn.dense"), std::move(operands), std::move(attrs));
  const std::string_view activation = c.attrs.string_or("activation", "NONE");
  if (activation != "NONE" && activation != "RELU" && activation != "GELU")
    return c.error(fmt::format("unknown activation '{}'; NONE, RELU and GELU exist", activation));
  const InsideKernel of_product(c);
  if (activation != "NONE") y = c.emit(activation == "RELU" ? op("nn.relu") : op("nn.gelu"), {y});
  if (bits(out) == 8) {
    if (!c.has(5)) return c.error("the result is float8, its scale, operand 5 (scaleY), is missing");
    y = c.emit(op("qnn.quantize"), {y, c.inputs[5]}, {{"output_dtype", std::string(name(out))}});
  }
  return outputs_of(c, {y});
}

/// (X, W [k, router_size + 2 · inner]) → the first columns; of the others one half gated by the other.
Values router_gate_up(Importer&, NodeContext& c) {
  if (!takes(c, {"X", "W"}) || !gives(c, 2) || !rank_of(c, 1, "W", 2, 2)) return Failure{};
  const auto router = whole_number(c, "router_size");
  const auto columns = extent_of(c, c.inputs[1], 1);
  if (!router || !columns) return Failure{};
  if (*router < 1 || *router > *columns || (*columns - *router) % 2 != 0)
    return c.error(fmt::format("W has {} columns, which are not router_size ({}) and two halves", *columns, *router));
  if (const std::string_view name = c.attrs.string_or("activation", "swiglu"); name != "swiglu")
    return c.error(fmt::format("unknown activation '{}'; swiglu exists", name));
  const std::int64_t inner = (*columns - *router) / 2;
  const auto all = c.emit(op("nn.batch_matmul"), {c.inputs[0], c.inputs[1]});
  InsideKernel of_product(c);
  const auto first = c.slice(all, -1, 0, *router);
  const auto gate = c.slice(all, -1, *router, *router + inner);
  const auto up = c.slice(all, -1, *router + inner, *columns);
  const auto parts = factors(c, SwiGlu(c.attrs), gate, up);
  const auto activated = parts ? c.emit(op("multiply"), *parts) : Failure{};
  of_product.end();
  return outputs_of(c, {first, activated});
}

}  // namespace

std::span<const TranslatorRow> contrib_products_table() {
  static const std::vector<TranslatorRow> table{
      {"ms:MatMulNBitsMlp", packed_mlp, "nn.rms_norm nn.skip_rms_norm nn.matmul_nbits nn.silu multiply"},
      {"ms:MatMulNBitsQkv", packed_qkv, "nn.rms_norm nn.skip_rms_norm nn.matmul_nbits"},
      {"ms:MatMulNBitsQLoRA", packed_lora, "nn.matmul_nbits add"},
      {"ms:MatMulBlockQuantizedFp4Weight", product_of_float4, "nn.matmul_nbits multiply add"},
      {"ms:MatMulBlockQuantizedFp8Weight", product_of_float8, "qnn.fake_quantize nn.matmul_nbits add"},
      {"ms:GemmFloat8", gemm_float8, "qnn.dequantize nn.dense qnn.quantize"},
      {"ms:RouterGateUpProj", router_gate_up, "nn.batch_matmul strided_slice nn.silu multiply"},
  };
  return table;
}

}  // namespace perfc::onnx
