/// com.microsoft's operators of language models: which of the IR's they become, of which types, and what is refused.
#include "tests/unit/onnx_contrib.h"
#include "whitebox/launch/inside_values.h"
#include "whitebox/memory/memory.h"

namespace perfc {
namespace {

using namespace testing;

TEST(OnnxLanguage, GatesOfLinearAttentionAreOneKernel) {
  const ContribOperand a{kFloat16, {2, 5, 16}}, heads{kFloat32, {16}};
  EXPECT_EQ(contrib("LinearAttentionGate", "", {a, heads, heads}),
            "Tensor[(2, 5, 16), float16] = (cast) (add) nn.softplus (multiply) (cast)");
  EXPECT_EQ(contrib("LinearAttentionGate", "", {a, heads, heads, a}, {"y", "z"}),
            "Tensor[(2, 5, 16), float16] Tensor[(2, 5, 16), float16] = (cast) (add) nn.softplus (multiply) (cast) "
            "(sigmoid)");
  refused(contrib("LinearAttentionGate", "", {a, heads, heads}, {"y", "z"}), "needs operand 3 (b), which is missing");
  refused(contrib("LinearAttentionGate", "", {a, heads}), "operand 2 (decay_scale) is missing");
  refused(contrib("LinearAttentionGate", "", {a, {kFloat32, {1}}, heads}), "dt_bias must be (16,), is (1,)");
  refused(contrib("LinearAttentionGate", "", {{kFloat16, {5, 16}}, heads, heads}), "a must have 3 dims, has 2");
}

TEST(OnnxLanguage, NormsOfPartsReshape) {
  const ContribOperand x{kBFloat16, {2, 5, 64}}, scale{kBFloat16, {64}}, head{kBFloat16, {16}};
  EXPECT_EQ(contrib("GatedRMSNorm", "", {x, scale, x}),
            "Tensor[(2, 5, 64), bfloat16] = (nn.rms_norm) (nn.silu) multiply");
  EXPECT_EQ(contrib("GatedRMSNorm", text_attribute("activation", "sigmoid"), {x, head, x}),
            "Tensor[(2, 5, 64), bfloat16] = (reshape) (nn.rms_norm) (reshape) (sigmoid) multiply");
  refused(contrib("GatedRMSNorm", "", {x, {kBFloat16, {48}}, x}),
          "the last dim of X, 64, does not divide into parts of 48");
  refused(contrib("GatedRMSNorm", "", {x, scale, head}), "X and gate must have one shape");
  refused(contrib("GatedRMSNorm", text_attribute("activation", "tanh"), {x, scale, x}), "unknown activation 'tanh'");

  const ContribOperand streams{kFloat16, {2, 4, 16}};
  EXPECT_EQ(contrib("BranchwiseRMSNorm", "", {streams}), "Tensor[(2, 4, 16), float16] = nn.rms_norm");
  EXPECT_EQ(contrib("BranchwiseRMSNorm", int_attribute("num_branches", 4), {{kFloat16, {2, 64}}, {kFloat32, {64}}}),
            "Tensor[(2, 64), float16] = reshape reshape nn.rms_norm reshape");
  refused(contrib("BranchwiseRMSNorm", int_attribute("num_branches", 5), {{kFloat16, {2, 64}}}),
          "the last dim of X, 64, does not divide into 5 branches");
  refused(contrib("BranchwiseRMSNorm", "", {streams, {kFloat32, {4}}}),
          "scale must have 16 values or 16 for each of 4");
  refused(contrib("BranchwiseRMSNorm", int_attribute("num_branches", -1), {streams}), "num_branches is -1");
}

/// A runtime's kernel writes the product alone; the norm and the gate stay in its registers.
TEST(OnnxLanguage, WhatAKernelKeepsTakesNoMemory) {
  const ContribOperand x{kFloat32, {256, 1024}};
  const Imported m = contrib_node("GatedRMSNorm", "", {x, {kFloat32, {1024}}, x});
  ASSERT_TRUE(m.graph) << m.diags.str();
  EXPECT_EQ(stays_in_kernel(*m.graph), (std::vector<bool>{false, false, false, true, true, false}));
  // Both inputs, the result, that of the last run, and the scale.
  EXPECT_EQ(memory_needs(*m.graph, {}).allocated, 4 * 1024 * 1024 + 4096);
  // The sum is read by softplus, which is the kernel, whose result stays in it, too.
  const Imported gate =
      contrib_node("LinearAttentionGate", "", {{kFloat32, {8, 64, 512}}, {kFloat32, {512}}, {kFloat32, {512}}});
  ASSERT_TRUE(gate.graph) << gate.diags.str();
  EXPECT_EQ(memory_needs(*gate.graph, {}).allocated, 3 * 1024 * 1024 + 4096);
}

TEST(OnnxLanguage, GatedActivations) {
  const ContribOperand half{kFloat16, {2, 5, 32}}, both{kFloat16, {2, 5, 64}};
  EXPECT_EQ(contrib("SwiGLU", "", {half, half}), "Tensor[(2, 5, 32), float16] = (nn.silu) multiply");
  EXPECT_EQ(contrib("SwiGLU",
                    float_attribute("limit", 7) + float_attribute("activation_alpha", 1.702) +
                        float_attribute("activation_beta", 1),
                    {both}),
            "Tensor[(2, 5, 32), float16] = (strided_slice) (strided_slice) (clip) (clip) (nn.silu) (add) multiply");
  refused(contrib("SwiGLU", "", {{kFloat16, {2, 33}}}), "the last dim of gate, 33, has no two halves");
  refused(contrib("SwiGLU", "", {half, both}), "gate and up must have one shape");

  EXPECT_EQ(contrib("ScaledSiLU", "", {half}), "Tensor[(2, 5, 32), float16] = nn.silu");
  EXPECT_EQ(contrib("ScaledSiLU", "", {half, {kFloat32, {}}}),
            "Tensor[(2, 5, 32), float16] = (cast) (multiply) nn.silu");
  refused(contrib("ScaledSiLU", "", {half, {kFloat32, {5}}}), "scale must be (), is (5,)");

  EXPECT_EQ(contrib("GatedAdd", "", {half, half, {kFloat16, {2, 5, 1}}}),
            "Tensor[(2, 5, 32), float16] = (multiply) add");
  EXPECT_EQ(contrib("GatedAdd", "", {half, half, both, {kFloat16, {64, 1}}}),
            "Tensor[(2, 5, 32), float16] = (nn.batch_matmul) (sigmoid) (multiply) add");
  refused(contrib("GatedAdd", "", {half, half, {kFloat16, {5, 1}}}), "gate must be (2, 5, 1), is (5, 1)");
  refused(contrib("GatedAdd", "", {half, half, both, {kFloat16, {32, 1}}}), "gate_weight must be (64, 1), is (32, 1)");
}

/// Not com.microsoft's, which has other attributes.
TEST(OnnxLanguage, SwiGluOfTheStandard) {
  const Imported m =
      import_text("graph { node { op_type: \"SwiGLU\" input: \"a\" input: \"b\" output: \"y\" " +
                      float_attribute("alpha", 1.702) + "}\n" + value("input", "a", {"2", "n"}, kFloat16) +
                      value("input", "b", {"2", "n"}, kFloat16) + "output { name: \"y\" } }",
                  {}, 28);
  EXPECT_EQ(result_type(m), "Tensor[(2, n), float16]");
  EXPECT_EQ(m.diags.str(), "");
  const Node& product = m.graph->node(m.graph->results()[0].node);
  EXPECT_EQ(m.graph->node(product.operands[0].node).attrs.float_or("alpha", 0), 1.702F);
}

TEST(OnnxLanguage, Rotations) {
  const ContribOperand x{kBFloat16, {2, 5, 8, 256}}, scale{kFloat32, {128}}, ids{kInt64, {2, 5}},
      waves{kBFloat16, {64, 32}};
  const std::string turned = int_attribute("rotary_embedding_dim", 64);
  const std::string part = turned + int_attribute("input_width", 128) + int_attribute("input_start", 128);
  EXPECT_EQ(contrib("RMSNormRotary", part, {x, scale, ids, waves, waves}, {"y", "z"}),
            "Tensor[(2, 5, 1024), bfloat16] Tensor[(2, 5, 8, 128), float32] = (strided_slice) (cast) (nn.rms_norm) "
            "(cast) (reshape) nn.rotary_embedding");
  EXPECT_EQ(contrib("RMSNormRotary", turned + int_attribute("output_fp16", 1) + int_attribute("flatten_batch", 1),
                    {{kFloat16, {2, 5, 8, 128}}, scale, ids, waves, waves}),
            "Tensor[(1, 10, 1024), float16] = (cast) (nn.rms_norm) (cast) (reshape) (cast) (cast) nn.rotary_embedding "
            "reshape");
  refused(contrib("RMSNormRotary", turned + int_attribute("input_width", 192) + int_attribute("input_start", 128),
                  {x, scale, ids, waves, waves}),
          "input_width 192 from input_start 128 is not in the last dim of X, 256");
  refused(contrib("RMSNormRotary", int_attribute("rotary_embedding_dim", 3), {x, scale, ids, waves, waves}),
          "rotary_embedding_dim must be even and from 2 to the normalised width 256, is 3");
  refused(contrib("RMSNormRotary", "", {x, scale, ids, waves, waves}), "has no attribute 'rotary_embedding_dim'");

  const ContribOperand emb{kFloat32, {2, 5, 64}}, q{kFloat16, {2, 8, 5, 64}}, k{kFloat16, {2, 2, 5, 64}};
  EXPECT_EQ(contrib("GemmaRotaryEmbedding", "", {emb, q, q, q, q}, {"q", "k"}),
            "Tensor[(2, 8, 5, 64), float16] Tensor[(2, 8, 5, 64), float16] = (cos) (cast) (expand_dims) "
            "(concatenate) (multiply) (sin) (cast) (expand_dims) (concatenate) (multiply) add (strided_slice) "
            "(strided_slice)");
  refused(contrib("GemmaRotaryEmbedding", "", {emb, q, q, k, k}, {"q", "k"}),
          "q, q_rot, k and k_rot must have one shape");

  const ContribOperand places{kInt64, {3, 2, 5}}, rows{kFloat16, {2, 5, 512}}, cache{kFloat16, {4096, 64}};
  const std::string sections = ints_attribute("mrope_section", {24, 20, 20}) + int_attribute("num_heads", 4) +
                               int_attribute("rotary_embedding_dim", 128);
  EXPECT_EQ(contrib("MRotaryEmbedding", sections + int_attribute("mrope_layout", 1), {rows, places, cache, cache}),
            "Tensor[(2, 5, 512), float16] = nn.rotary_embedding");
  refused(contrib("MRotaryEmbedding", sections, {rows, ids, cache, cache}),
          "position_ids must be (3, ?, ?), is (2, 5)");
  refused(contrib("MRotaryEmbedding", ints_attribute("mrope_section", {24, 20}), {rows, places, cache, cache}),
          "mrope_section must be three numbers from 0 on, is [24, 20]");
  refused(contrib("MRotaryEmbedding", ints_attribute("mrope_section", {8, 8, 8}), {rows, places, cache, cache}),
          "cos_cache, whose columns mrope_section shares out, must be (?, 24), is (4096, 64)");
  refused(contrib("MRotaryEmbedding", sections + int_attribute("mrope_layout", 2), {rows, places, cache, cache}),
          "mrope_layout must be 0 or 1, is 2");
}

TEST(OnnxLanguage, RotationsReadRowsOfTokens) {
  const auto bytes_of = [](int tokens, int positions) {
    const ContribOperand rows{kFloat16, {1, tokens, 512}}, ids{kInt64, {1, tokens}}, table{kFloat16, {positions, 64}};
    const Imported m = contrib_node("RotaryEmbedding", int_attribute("num_heads", 4), {rows, ids, table, table}, {"y"});
    return m.graph ? op_cost(*m.graph, m.graph->results()[0].node).bytes_read : -1;
  };
  EXPECT_EQ(bytes_of(5, 4096), 5 * (512 * 2 + 8 + 2 * 64 * 2));
  EXPECT_EQ(bytes_of(5, 4), 5 * (512 * 2 + 8) + 4 * 2 * 64 * 2);
}

/// Weights of 4 bits in blocks of 32: (weight, scales).
std::vector<ContribOperand> packed(int n, int k) { return {{kUInt8, {n, k / 32, 16}}, {kFloat16, {n, k / 32}}}; }

std::vector<ContribOperand> joined(std::initializer_list<std::vector<ContribOperand>> parts) {
  std::vector<ContribOperand> out;
  for (const auto& p : parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}

TEST(OnnxLanguage, PackedProductsShareANorm) {
  const ContribOperand a{kFloat16, {1, 5, 64}}, scale{kFloat16, {64}};
  const std::string shared = int_attribute("K", 64) + int_attribute("block_size", 32) + int_attribute("bits", 4);
  const std::string mlp = shared + int_attribute("N", 96) + text_attribute("activation", "silu");
  const auto up = packed(96, 64);
  const auto gated = joined({{a, kOmitted, kOmitted}, up, {kOmitted}, up});
  EXPECT_EQ(contrib("MatMulNBitsMlp", mlp, gated),
            "Tensor[(1, 5, 96), float16] = nn.matmul_nbits nn.matmul_nbits (nn.silu) (multiply)");
  EXPECT_EQ(contrib_macs(contrib_node("MatMulNBitsMlp", mlp, gated), op("nn.matmul_nbits")), 2.0 * 5 * 64 * 96);
  const auto whole = joined({{a, a, scale}, up, {{kFloat16, {96}}}, up, {{kFloat16, {96}}}});
  EXPECT_EQ(contrib("MatMulNBitsMlp", mlp, whole, {"y", "sum"}),
            "Tensor[(1, 5, 96), float16] Tensor[(1, 5, 64), float16] = nn.skip_rms_norm nn.matmul_nbits "
            "nn.matmul_nbits (nn.silu) (multiply)");
  refused(contrib("MatMulNBitsMlp", mlp, gated, {"y", "sum"}), "operand 1 (skip) is missing");
  refused(contrib("MatMulNBitsMlp", mlp, joined({{a, a, kOmitted}, up, {kOmitted}, up})),
          "operand 2 (norm_scale) is missing");
  refused(contrib("MatMulNBitsMlp", shared + int_attribute("N", 96) + text_attribute("activation", "magic"), gated),
          "unknown activation 'magic'");
  refused(contrib("MatMulNBitsMlp", shared + text_attribute("activation", "silu"), gated), "has no attribute 'N'");

  const std::string qkv = shared + int_attribute("Nq", 96) + int_attribute("Nkv", 32);
  const auto three = joined({{a, kOmitted, scale}, up, {kOmitted}, packed(32, 64), {kOmitted}, packed(32, 64)});
  EXPECT_EQ(contrib("MatMulNBitsQkv", qkv, three, {"q", "k", "v"}),
            "Tensor[(1, 5, 96), float16] Tensor[(1, 5, 32), float16] Tensor[(1, 5, 32), float16] = nn.rms_norm "
            "nn.matmul_nbits nn.matmul_nbits nn.matmul_nbits");
  EXPECT_EQ(contrib_macs(contrib_node("MatMulNBitsQkv", qkv, three, {"q", "k", "v"}), op("nn.matmul_nbits")),
            5.0 * 64 * (96 + 32 + 32));
  refused(
      contrib("MatMulNBitsQkv", shared + int_attribute("Nq", 64) + int_attribute("Nkv", 32), three, {"q", "k", "v"}),
      "B must have 2048 elements for K = 64, N = 64");
}

TEST(OnnxLanguage, AdaptersOfPackedProducts) {
  const ContribOperand x{kFloat16, {5, 64}};
  const std::string sizes = int_attribute("K", 64) + int_attribute("N", 96) + int_attribute("lora_bits", 4);
  const ContribOperand up{kUInt8, {96, 1, 16}}, up_scales{kFloat16, {96, 1}};
  const auto whole = joined({{x}, packed(96, 64), packed(8, 64), {up, up_scales}});
  EXPECT_EQ(contrib("MatMulNBitsQLoRA", sizes, whole),
            "Tensor[(5, 96), float16] = nn.matmul_nbits nn.matmul_nbits nn.matmul_nbits add");
  EXPECT_EQ(contrib_macs(contrib_node("MatMulNBitsQLoRA", sizes, whole), op("nn.matmul_nbits")),
            5.0 * (64 * 96 + 64 * 8 + 8 * 96));
  const ContribOperand no_down{kUInt8, {0, 2, 16}}, no_up{kUInt8, {96, 0, 16}}, scales{kFloat16, {8, 2}};
  EXPECT_EQ(contrib("MatMulNBitsQLoRA", sizes, joined({{x}, packed(96, 64), {no_down, scales, up, up_scales}})),
            "Tensor[(5, 96), float16] = nn.matmul_nbits (shape_of) (concatenate) full nn.matmul_nbits add");
  EXPECT_EQ(contrib("MatMulNBitsQLoRA", sizes, joined({{x}, packed(96, 64), packed(8, 64), {no_up, up_scales}})),
            "Tensor[(5, 96), float16] = nn.matmul_nbits");
}

TEST(OnnxLanguage, WeightsOfFloat4AndFloat8) {
  const ContribOperand a{kBFloat16, {2, 5, 40}}, number{kFloat32, {}}, bias{kBFloat16, {96}};
  EXPECT_EQ(
      contrib("MatMulBlockQuantizedFp4Weight", "", {a, {kUInt8, {96, 20}}, {kUInt8, {96, 3}}, number, kOmitted, bias}),
      "Tensor[(2, 5, 96), bfloat16] = nn.matmul_nbits (cast) (reshape) (multiply) (add)");
  EXPECT_EQ(contrib("MatMulBlockQuantizedFp8Weight", "", {a, {kFloat8, {96, 40}}, {kFloat32, {96, 1}}, number}),
            "Tensor[(2, 5, 96), bfloat16] = qnn.fake_quantize nn.matmul_nbits");
  EXPECT_EQ(contrib("MatMulBlockQuantizedFp8Weight", int_attribute("block_size", 16),
                    {a, {kFloat8, {96, 40}}, {kFloat32, {96, 3}}}),
            "Tensor[(2, 5, 96), bfloat16] = nn.matmul_nbits");
  refused(contrib("MatMulBlockQuantizedFp8Weight", "", {a, {kFloat8, {96, 40}}, {kFloat32, {96, 3}}}),
          "scales must be (96, 1), is (96, 3)");
  refused(contrib("MatMulBlockQuantizedFp4Weight", "", {a, {kUInt8, {96, 40}}, {kUInt8, {96, 5}}, number}),
          "A has 40 columns, K is 80");
  refused(contrib("MatMulBlockQuantizedFp8Weight", int_attribute("block_size", 0), {a, {kFloat8, {96, 40}}, number}),
          "block_size must be from 1 to 1073741824, is 0");

  const ContribOperand x{kFloat8, {8, 64}}, w{kFloat8, {96, 64}};
  const std::string transposed = int_attribute("transB", 1) + int_attribute("dtype", 16);
  EXPECT_EQ(contrib("GemmFloat8", transposed, {x, w, kOmitted, number, number}),
            "Tensor[(8, 96), bfloat16] = qnn.dequantize qnn.dequantize nn.dense");
  EXPECT_EQ(contrib("GemmFloat8",
                    int_attribute("transB", 1) + int_attribute("dtype", 17) + float_attribute("beta", 1) +
                        text_attribute("activation", "RELU"),
                    {x, w, bias, number, number, number}),
            "Tensor[(8, 96), float8e4m3fn] = qnn.dequantize qnn.dequantize nn.dense (nn.relu) (qnn.quantize)");
  refused(contrib("GemmFloat8", transposed, {x, w}), "operand 0 is float8, its scale, operand 3, is missing");
  refused(
      contrib("GemmFloat8", int_attribute("transB", 1) + int_attribute("dtype", 17), {x, w, kOmitted, number, number}),
      "the result is float8, its scale, operand 5 (scaleY), is missing");
  refused(
      contrib("GemmFloat8", int_attribute("transB", 1) + int_attribute("dtype", 7), {x, w, kOmitted, number, number}),
      "dtype must be a floating point type, is int64");
}

TEST(OnnxLanguage, RoutersOfExperts) {
  EXPECT_EQ(contrib("RouterGateUpProj", int_attribute("router_size", 8), {{kBFloat16, {2, 64}}, {kBFloat16, {64, 72}}},
                    {"router", "y"}),
            "Tensor[(2, 8), bfloat16] Tensor[(2, 32), bfloat16] = nn.batch_matmul (strided_slice) (strided_slice) "
            "(strided_slice) (nn.silu) (multiply)");
  refused(contrib("RouterGateUpProj", int_attribute("router_size", 8), {{kBFloat16, {2, 64}}, {kBFloat16, {64, 71}}}),
          "W has 71 columns, which are not router_size (8) and two halves");
  refused(contrib("RouterGateUpProj", int_attribute("router_size", 8) + text_attribute("activation", "relu"),
                  {{kBFloat16, {2, 64}}, {kBFloat16, {64, 72}}}),
          "unknown activation 'relu'");

  const ContribOperand logits{kBFloat16, {2, 3, 16}}, bias{kFloat32, {16}};
  EXPECT_EQ(contrib("MoEGroupRouter", int_attribute("top_k", 4), {logits, bias}),
            "Tensor[(6, 16), bfloat16] = reshape (cast) (sigmoid) (add) topk (gather) (maximum) (log) (shape_of) "
            "(full) (scatter_elements) (cast)");
  const std::string groups = int_attribute("top_k", 4) + int_attribute("n_group", 4) + int_attribute("topk_group", 2);
  EXPECT_EQ(contrib("MoEGroupRouter", groups, {logits, bias}),
            "Tensor[(6, 16), bfloat16] = reshape (cast) (sigmoid) (add) (reshape) (topk) (sum_axes) (topk) "
            "(shape_of) (full) (shape_of) (full) (scatter_elements) (expand_dims) (add) (reshape) topk (gather) "
            "(maximum) (log) (shape_of) (full) (scatter_elements) (cast)");
  EXPECT_EQ(contrib("MoEGroupRouter", int_attribute("top_k", 4), {logits, bias}, {"", "scores", "weights"}),
            "Tensor[(6, 16), float32] Tensor[(6, 16), float32] = reshape (cast) sigmoid (add)");
  EXPECT_EQ(contrib("MoEGroupRouter", int_attribute("top_k", 4), {{kBFloat16, {6, 256}}, bias, {kBFloat16, {16, 256}}},
                    {"", "scores", "weights"}),
            "Tensor[(6, 16), float32] Tensor[(6, 16), float32] = nn.dense (cast) (sigmoid) (add)");
  refused(contrib("MoEGroupRouter", int_attribute("top_k", 4) + int_attribute("n_group", 5), {logits, bias}),
          "16 experts do not divide into 5 groups");
  refused(
      contrib("MoEGroupRouter",
              int_attribute("top_k", 9) + int_attribute("n_group", 4) + int_attribute("topk_group", 2), {logits, bias}),
      "top_k is 9, 2 groups have 8 experts");
  refused(contrib("MoEGroupRouter", int_attribute("top_k", 4), {logits, bias}, {"y", "scores", "weights"}),
          "gives router_probs, or else selection_scores and router_weights together");
  refused(contrib("MoEGroupRouter", int_attribute("top_k", 4), {{kBFloat16, {6, 256}}, bias, {kBFloat16, {16, 256}}}),
          "projection_weight needs the outputs");
}

TEST(OnnxLanguage, ExpertsInBlocksOfAFormat) {
  // Blocks of 256 weights: 144 bytes of Q4_K (12), 210 of Q6_K (14), 66 of IQ2_XXS (16).
  const ContribOperand x{kBFloat16, {1, 5, 256}}, scores{kFloat32, {5, 8}}, up{kUInt8, {8, 512, 144}},
      down{kUInt8, {8, 256, 420}};
  const std::string types = int_attribute("k", 2) + int_attribute("gate_type", 12) + int_attribute("down_type", 14);
  const std::string gated = types + int_attribute("up_type", 12);
  const Imported m = contrib_node("MoEPacked", gated, {x, scores, up, up, down});
  EXPECT_EQ(result_type(m), "Tensor[(1, 5, 256), bfloat16]");
  EXPECT_EQ(contrib_macs(m, op("nn.grouped_matmul")), 3.0 * 10 * 256 * 512);
  EXPECT_EQ(
      contrib("MoEPacked", gated + float_attribute("routed_scaling_factor", 2.5), {x, scores, up, up, down, scores}),
      "Tensor[(1, 5, 256), bfloat16] = reshape topk (gather) (sum_axes) (divide) (multiply) (cast) (reshape) "
      "(shape_of) topk (floor_divide) (topk) (histogram) (cumsum) (reshape) (take) (expand_dims) take "
      "nn.grouped_matmul nn.silu nn.grouped_matmul multiply nn.grouped_matmul multiply (take) (reshape) "
      "sum_axes shape_of reshape");
  const ContribOperand up2{kUInt8, {8, 512, 66}}, down2{kUInt8, {8, 256, 132}};
  const std::string squared = int_attribute("k", 2) + int_attribute("gate_type", 16) + int_attribute("down_type", 16) +
                              text_attribute("activation_type", "relu2");
  EXPECT_EQ(
      contrib_macs(contrib_node("MoEPacked", squared, {x, scores, up2, kOmitted, down2}), op("nn.grouped_matmul")),
      2.0 * 10 * 256 * 512);
  refused(contrib("MoEPacked", types, {x, scores, up, kOmitted, down}),
          "operand 3 (up) is missing, which swiglu needs");
  refused(contrib("MoEPacked", squared, {x, scores, up2, up2, down2}), "operand 3 (up) is swiglu's alone");
  refused(contrib("MoEPacked", gated, {x, scores, up2, up, down}),
          "the weight of gate_type must be (8, 512, 144), is (8, 512, 66)");
  refused(contrib("MoEPacked",
                  int_attribute("gate_type", 99) + int_attribute("down_type", 14) + int_attribute("up_type", 12),
                  {x, scores, up, up, down}),
          "gate_type is 99, a format of packed weights that is not known");
  refused(contrib("MoEPacked", gated, {{kBFloat16, {5, 128}}, scores, up, up, down}),
          "rows of 128 weights are not whole blocks of 256");
}

TEST(OnnxLanguage, HyperConnections) {
  const ContribOperand grouped{kFloat16, {2, 5, 4, 64}}, flat{kFloat16, {2, 5, 256}}, block{kFloat16, {2, 5, 64}},
      gate{kFloat32, {2, 5, 4}}, mix{kFloat32, {2, 5, 4, 4}};
  const std::string four = int_attribute("num_branches", 4);
  EXPECT_EQ(contrib("HyperConnectionPreMix", "", {grouped, gate}),
            "Tensor[(2, 5, 64), float16] = (cast) (reshape) (multiply) sum_axes");
  EXPECT_EQ(
      contrib("HyperConnectionPreMix", four + float_attribute("reduction_scale", 0.5), {flat, {kFloat16, {2, 5, 256}}}),
      "Tensor[(2, 5, 64), float16] = (reshape) (reshape) (multiply) sum_axes (multiply)");
  EXPECT_EQ(contrib("HyperConnectionPostMix", "", {grouped, block, gate}),
            "Tensor[(2, 5, 4, 64), float16] = (cast) (reshape) (reshape) addcmul");
  EXPECT_EQ(contrib("HyperConnectionPostMix", four, {flat, block, {kFloat32, {2, 5, 4, 1}}, mix}),
            "Tensor[(2, 5, 256), float16] = (reshape) (cast) (transpose) (nn.batch_matmul) (cast) (reshape) addcmul "
            "reshape");
  refused(contrib("HyperConnectionPreMix", int_attribute("num_branches", 3), {flat, gate}),
          "the last dim of streams, 256, does not divide into 3 branches");
  refused(contrib("HyperConnectionPreMix", "", {grouped, {kFloat16, {2, 5, 3}}}),
          "pre_mix must be (2, 5, 4), is (2, 5, 3)");
  refused(contrib("HyperConnectionPostMix", "", {grouped, {kFloat16, {2, 5, 32}}, gate}),
          "block_output must be (2, 5, 64), is (2, 5, 32)");

  const ContribOperand all{kFloat16, {256}}, down{kFloat16, {256, 16}}, up{kFloat16, {16, 256}},
      inject{kFloat16, {256, 4}};
  EXPECT_EQ(contrib("HyperConnectionLowRankMix", four, {flat, all, down, up, inject, block, {kFloat16, {2, 5, 4}}},
                    {"x", "gate", "streams"}),
            "Tensor[(2, 5, 64), float16] Tensor[(2, 5, 4), float16] Tensor[(2, 5, 256), float16] = (reshape) "
            "(reshape) (reshape) (addcmul) (reshape) nn.rms_norm reshape nn.batch_matmul (nn.silu) nn.batch_matmul "
            "nn.batch_matmul (sigmoid) (reshape) (multiply) sum_axes (sigmoid) (reshape)");
  refused(contrib("HyperConnectionLowRankMix", four, {flat, all, down, up, inject, block}),
          "are given together or not at all");
  refused(contrib("HyperConnectionLowRankMix", four + float_attribute("gate_div", 0), {flat, all, down, up, inject}),
          "gate_div is 0");
  refused(contrib("HyperConnectionLowRankMix", "", {flat, all, down, up, inject}), "has no attribute 'num_branches'");

  const ContribOperand scale{kFloat16, {4, 64}};
  EXPECT_EQ(contrib("EngramGate", "", {grouped, grouped, block, scale, scale, scale}, {"y", "z"}),
            "Tensor[(2, 5, 4, 64), float16] Tensor[(2, 5, 4, 64), float16] = (nn.rms_norm) (nn.rms_norm) multiply "
            "(sum_axes) (multiply) (abs) (maximum) (sqrt) (sign) (multiply) (sigmoid) (expand_dims) (multiply) "
            "(nn.rms_norm)");
  refused(contrib("EngramGate", "", {grouped, grouped, block, scale, scale}, {"y", "z"}),
          "needs operand 5 (conv_norm_scale), which is missing");
}

}  // namespace
}  // namespace perfc
