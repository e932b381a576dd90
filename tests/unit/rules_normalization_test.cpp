/// Normalisation, softmax and losses.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

using Types = std::vector<std::string>;

TEST(BatchNorm, Results) {
  const Arg c = tensor({64});
  const Outcome o = call(op("nn.batch_norm"), {tensor({1, 64, 56, 56}), c, c, c, c}, {}, 1);
  EXPECT_EQ(o.types, (Types{"Tensor[(1, 64, 56, 56), float32]"}));
  EXPECT_EQ(o.cost.flops, 2 * 64 * 56 * 56);
  EXPECT_EQ(call(op("nn.batch_norm"), {tensor({N, 64, 5}, DType::Float16), c, c, c, c},
                 {{"training_mode", std::int64_t{1}}}, 3)
                .types,
            (Types{"Tensor[(N, 64, 5), float16]", "Tensor[(64,), float32]", "Tensor[(64,), float32]"}));
  EXPECT_EQ(call(op("nn.batch_norm"), {tensor({1, 64, 5}), c, c, c, c}, {}, 5).types.size(), 5u);
  EXPECT_EQ(type_of(op("nn.batch_norm"), {tensor({1, 32, 5}), c, c, c, c}),
            "nn.batch_norm: scale has 64 values, 32 are needed");
  EXPECT_EQ(type_of(op("nn.batch_norm"), {tensor({1, 64, 5}), c, tensor({64, 1}), c, c}),
            "nn.batch_norm: bias must have rank 1, got Tensor[(64, 1), float32]");
  EXPECT_EQ(type_of(op("nn.batch_norm"), {tensor({1, 64, 5}, DType::Int32), c, c, c, c}),
            "nn.batch_norm: X must be floating point, got int32");
}

TEST(InstanceAndGroupNorm, Channels) {
  EXPECT_EQ(call(op("nn.instance_norm"), {tensor({2, 3, 4, 5}), tensor({3}), tensor({3})}).cost.flops, 8 * 120);
  EXPECT_EQ(type_of(op("nn.instance_norm"), {tensor({2, 3, 4}), tensor({4}), tensor({3})}),
            "nn.instance_norm: scale has 4 values, 3 are needed");
  const auto group = [](Shape x, Shape s, std::int64_t groups) {
    return type_of(op("nn.group_norm"), {tensor(std::move(x)), tensor(s), tensor(s)}, {{"num_groups", groups}});
  };
  EXPECT_EQ(group({1, 8, 4, 4}, {8}, 4), "Tensor[(1, 8, 4, 4), float32]");
  EXPECT_EQ(group({1, 8, 4, 4}, {4}, 4), "Tensor[(1, 8, 4, 4), float32]");  // per group before opset 21
  EXPECT_EQ(group({1, 8, 4, 4}, {3}, 4), "nn.group_norm: scale has 3 values; 8 (channels) or 4 (groups) are possible");
  EXPECT_EQ(group({1, 8, 4, 4}, {8}, 3), "nn.group_norm: 8 channels do not divide into 3 groups");
  EXPECT_EQ(group({1, 8, 4, 4}, {8}, 0), "nn.group_norm: num_groups must be positive, is 0");
  // The missing attribute comes before the rank.
  EXPECT_EQ(type_of(op("nn.group_norm"), {tensor({1, 8}), tensor({8}), tensor({8})}),
            "nn.group_norm: has no attribute 'num_groups'");
  EXPECT_EQ(
      type_of(op("nn.group_norm"), {tensor({1, 4, 5, 8}), tensor({8}), tensor({8})}, {{"groups", std::int64_t{4}}}),
      "Tensor[(1, 4, 5, 8), float32]");  // com.microsoft: channels last
}

TEST(LayerNorm, ResultsAndStash) {
  const Outcome o = call(
      op("nn.layer_norm"),
      {tensor({2, 197, 768}, DType::Float16), tensor({768}, DType::Float16), tensor({768}, DType::Float16)}, {}, 3);
  EXPECT_EQ(o.types,
            (Types{"Tensor[(2, 197, 768), float16]", "Tensor[(2, 197, 1), float32]", "Tensor[(2, 197, 1), float32]"}));
  EXPECT_EQ(o.cost.flops, 8.0 * 2 * 197 * 768);
  EXPECT_EQ(call(op("nn.layer_norm"), {tensor({N, 4, 5}), tensor({4, 5})},
                 {{"axis", std::int64_t{1}}, {"stash_type", std::string("bfloat16")}}, 2)
                .types,
            (Types{"Tensor[(N, 4, 5), float32]", "Tensor[(N, 1, 1), bfloat16]"}));
  EXPECT_EQ(type_of(op("nn.layer_norm"), {tensor({2, 3}), tensor({4})}),
            "nn.layer_norm: scale (4,) does not broadcast to X (2, 3)");
  EXPECT_EQ(type_of(op("nn.layer_norm"), {tensor({2, 3}), tensor({5, 2, 3})}),
            "nn.layer_norm: scale (5, 2, 3) does not broadcast to X (2, 3)");
  EXPECT_EQ(type_of(op("nn.layer_norm"), {tensor({2, 3}), tensor({3})}, {{"axis", std::int64_t{2}}}),
            "nn.layer_norm: axis 2 is out of range for rank 2");
  EXPECT_EQ(type_of(op("nn.rms_norm"), {tensor({2, 3}), tensor({3}), tensor({3})}),
            "nn.rms_norm: takes 2 operands, got 3");
}

TEST(SkipLayerNorm, FourResults) {
  const Arg x = tensor({2, 128, 768});
  const Arg v = tensor({768});
  const Outcome o = call(op("nn.skip_layer_norm"), {x, x, v, v, v}, {}, 4);
  EXPECT_EQ(o.types, (Types{"Tensor[(2, 128, 768), float32]", "Tensor[(2, 128, 1), float32]",
                            "Tensor[(2, 128, 1), float32]", "Tensor[(2, 128, 768), float32]"}));
  EXPECT_EQ(type_of(op("nn.skip_layer_norm"), {x, tensor({1, 128, 768}), v}), "Tensor[(2, 128, 768), float32]");
  EXPECT_EQ(type_of(op("nn.skip_layer_norm"), {x, tensor({2, 127, 768}), v}),
            "nn.skip_layer_norm: shapes (2, 128, 768) and (2, 127, 768) do not broadcast: 128 against 127");
  EXPECT_EQ(type_of(op("nn.skip_layer_norm"), {x, x, tensor({767})}),
            "nn.skip_layer_norm: gamma has 767 values, 768 are needed");
  EXPECT_EQ(type_of(op("nn.skip_layer_norm"), {x, x, v, v, tensor({768}, DType::Float16)}),
            "nn.skip_layer_norm: operands 0 and 4 differ in type: float32 and float16");
  EXPECT_EQ(type_of(op("nn.skip_rms_norm"), {tensor({1, 2, 3, 4}), tensor({1, 2, 3, 4}), tensor({4})}),
            "nn.skip_rms_norm: input must have a rank from 2 to 3, got Tensor[(1, 2, 3, 4), float32]");
}

TEST(EmbedLayerNorm, ThreeResults) {
  const Arg ids = tensor({N, 128}, DType::Int32);
  const Outcome o = call(
      op("nn.embed_layer_norm"),
      {ids, ids, tensor({30522, 768}), tensor({512, 768}), tensor({2, 768}), tensor({768}), tensor({768}), ids}, {}, 3);
  EXPECT_EQ(o.types,
            (Types{"Tensor[(N, 128, 768), float32]", "Tensor[(N,), int32]", "Tensor[(N, 128, 768), float32]"}));
  // Of the two tables a row per token is read.
  const Outcome read = call(
      op("nn.embed_layer_norm"),
      {tensor({2, 128}, DType::Int32), {}, tensor({30522, 768}), tensor({512, 768}), {}, tensor({768}), tensor({768})});
  EXPECT_EQ(read.cost.bytes_read, 2 * 2.0 * 128 * 768 * 4 + 2 * 128 * 4 + 2 * 768 * 4);
  // Models of one segment (DistilBERT, RoBERTa) leave the segments out.
  EXPECT_EQ(type_of(op("nn.embed_layer_norm"),
                    {ids, {}, tensor({30522, 768}), tensor({512, 768}), {}, tensor({768}), tensor({768})}),
            "Tensor[(N, 128, 768), float32]");
  EXPECT_EQ(type_of(op("nn.embed_layer_norm"), {ids, {}, tensor({30522, 768}), {}, {}, tensor({768}), tensor({768})}),
            "nn.embed_layer_norm: position_embedding (operand 3) is missing");
}

TEST(Softmax, FivePerElement) {
  EXPECT_EQ(call(op("nn.softmax"), {tensor({2, 12, 197, 197})}, {{"axis", std::int64_t{-1}}}).cost.flops,
            5.0 * 2 * 12 * 197 * 197);
  EXPECT_EQ(type_of(op("nn.log_softmax"), {tensor({2, 3})}, {{"axis", std::int64_t{-3}}}),
            "nn.log_softmax: axis -3 is out of range for rank 2");
  EXPECT_EQ(type_of(op("nn.l2_normalize"), {tensor({2, 3})}, {{"p", std::int64_t{3}}}),
            "nn.l2_normalize: p must be 1 or 2, is 3");
}

TEST(Losses, Reduction) {
  const Arg scores = tensor({3, 5, 2});
  const Arg labels = tensor({3, 2}, DType::Int64);
  const Attrs none{{"reduction", std::string("none")}};
  EXPECT_EQ(type_of(op("nn.nll_loss"), {scores, labels}), "Tensor[(), float32]");
  EXPECT_EQ(type_of(op("nn.nll_loss"), {scores, labels, tensor({5})}, none), "Tensor[(3, 2), float32]");
  EXPECT_EQ(call(op("nn.cross_entropy"), {scores, labels}, {}, 2).types,
            (Types{"Tensor[(), float32]", "Tensor[(3, 5, 2), float32]"}));
  EXPECT_EQ(type_of(op("nn.cross_entropy"), {scores, tensor({3, 5, 2}, DType::Int64)}),
            "nn.cross_entropy: labels (3, 5, 2) must have one dim less than scores (3, 5, 2)");
  EXPECT_EQ(type_of(op("nn.cross_entropy"), {scores, tensor({4, 2}, DType::Int64)}),
            "nn.cross_entropy: dims of scores and labels differ: 3 and 4");
  EXPECT_EQ(type_of(op("nn.cross_entropy"), {scores, tensor({3, 2})}, {{"reduction", std::string("best")}}),
            "nn.cross_entropy: reduction 'best' is none of none, sum, mean");
  EXPECT_EQ(type_of(op("nn.cross_entropy"), {scores, tensor({3, 2})}),
            "nn.cross_entropy: labels must be int32 or int64, got float32");
  EXPECT_EQ(type_of(op("nn.nll_loss"), {scores, labels}, {{"reduction", std::string("best")}}),
            "nn.nll_loss: reduction 'best' is none of none, sum, mean");
  EXPECT_EQ(type_of(op("nn.nll_loss"), {scores, labels, tensor({4})}),
            "nn.nll_loss: weights has 4 values, 5 are needed");
}

}  // namespace
}  // namespace perfc::testing
