/// Attention and rotary embeddings: types, refusals, work.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

using Types = std::vector<std::string>;

Types run(OpId op, std::vector<Arg> args, Attrs attrs, int results) {
  const Outcome o = call(op, std::move(args), std::move(attrs), results);
  return o.error.empty() ? o.types : Types{o.error};
}
Attr number(std::int64_t v) { return v; }

// ---- ai.onnx

TEST(Attention, Types) {
  const Arg q = tensor({N, 8, 5, 16}), k = tensor({N, 2, 7, 16}), v = tensor({N, 2, 7, 32});
  EXPECT_EQ(run(op("nn.attention"), {q, k, v}, {}, 1), Types{"Tensor[(N, 8, 5, 32), float32]"});
  EXPECT_EQ(run(op("nn.attention"), {q, k, v, omitted(), tensor({N, 2, 3, 16}), tensor({N, 2, 3, 32})}, {}, 4),
            (Types{"Tensor[(N, 8, 5, 32), float32]", "Tensor[(N, 2, 10, 16), float32]",
                   "Tensor[(N, 2, 10, 32), float32]", "Tensor[(N, 8, 5, 10), float32]"}));
  EXPECT_EQ(run(op("nn.attention"), {tensor({N, 5, 128}), tensor({N, 7, 32}), tensor({N, 7, 64})},
                {{"q_num_heads", number(8)}, {"kv_num_heads", number(2)}}, 2),
            (Types{"Tensor[(N, 5, 256), float32]", "Tensor[(N, 2, 7, 16), float32]"}));
  EXPECT_EQ(run(op("nn.attention"), {unranked(), unranked(), unranked()}, {}, 2),
            (Types{"Tensor[*, float32]", "Tensor[(?, ?, ?, ?), float32]"}));
}

TEST(Attention, MaskMayBeShort) {
  const std::vector<Arg> qkv{tensor({2, 8, 5, 16}), tensor({2, 8, 7, 16}), tensor({2, 8, 7, 16})};
  const auto masked = [&](Arg mask) {
    return run(op("nn.attention"), {qkv[0], qkv[1], qkv[2], std::move(mask)}, {}, 1).at(0);
  };
  EXPECT_EQ(masked(tensor({5, 7}, DType::Bool)), "Tensor[(2, 8, 5, 16), float32]");
  EXPECT_EQ(masked(tensor({2, 1, 5, 4})), "Tensor[(2, 8, 5, 16), float32]");
  EXPECT_EQ(masked(tensor({5, 8})), "nn.attention: attn_mask (5, 8) does not broadcast to (2, 8, 5, 7)");
  EXPECT_EQ(masked(tensor({3, 1, 5, 7})), "nn.attention: attn_mask (3, 1, 5, 7) does not broadcast to (2, 8, 5, 7)");
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const auto error = [](std::vector<Arg> args, Attrs attrs = {}) {
    return run(op("nn.attention"), std::move(args), std::move(attrs), 1).at(0);
  };
  const Arg q = tensor({2, 8, 5, 16}), k = tensor({2, 8, 7, 16});
  EXPECT_EQ(error({q, k, tensor({2, 8, 6, 16})}), "nn.attention: sequence lengths of K and V differ: 7 and 6");
  EXPECT_EQ(error({q, tensor({2, 3, 7, 16}), tensor({2, 3, 7, 16})}),
            "nn.attention: 8 query heads are not a multiple of 3 key and value heads");
  EXPECT_EQ(error({q, tensor({2, 8, 7, 8}), k}), "nn.attention: head sizes of Q and K differ: 16 and 8");
  EXPECT_EQ(error({tensor({2, 5, 16}), k, k}), "nn.attention: Q, K and V must have one rank");
  EXPECT_EQ(error({tensor({2, 5, 16}), tensor({2, 5, 16}), tensor({2, 5, 16})}),
            "nn.attention: has no attribute 'q_num_heads'");
  EXPECT_EQ(error({tensor({2, 5, 16}), tensor({2, 5, 16}), tensor({2, 5, 16})},
                  {{"q_num_heads", number(3)}, {"kv_num_heads", number(1)}}),
            "nn.attention: Q has 16 channels, which 3 heads do not divide");
  EXPECT_EQ(error({q, k, k, omitted(), k}), "nn.attention: past_key and past_value only go together");
  EXPECT_EQ(error({q, k, k}, {{"is_causal", number(2)}}), "nn.attention: is_causal is 2, out of range");
  EXPECT_EQ(error({q, k, k}, {{"q_num_heads", number(INT64_MAX)}}),
            "Tensor[(2, 8, 5, 16), float32]");  // only 3-D operands need it
}

TEST(Attention, Work) {
  const Outcome o =
      call(op("nn.attention"), {tensor({2, 8, 5, 16}), tensor({2, 2, 7, 16}), tensor({2, 2, 7, 32})}, {}, 1);
  EXPECT_EQ(o.cost.macs, 2 * 8 * 5 * 7 * (16 + 32));
  EXPECT_EQ(o.cost.flops, 7 * 2 * 8 * 5 * 7);
  const Outcome cached = call(op("nn.attention"),
                              {tensor({2, 8, 5, 16}), tensor({2, 8, 1, 16}), tensor({2, 8, 1, 16}), omitted(),
                               tensor({2, 8, 9, 16}), tensor({2, 8, 9, 16})},
                              {}, 3);
  EXPECT_EQ(cached.cost.macs, 2 * 8 * 5 * 10 * 32);
  EXPECT_EQ(
      call(op("nn.attention"), {tensor({N, 8, 5, 16}), tensor({N, 8, 5, 16}), tensor({N, 8, 5, 16})}, {}, 1).cost.macs,
      0);
}

TEST(Sdpa, BroadcastsLeadingDims) {
  EXPECT_EQ(
      type_of(op("nn.sdpa"), {tensor({N, 8, 5, 16}), tensor({N, 8, 7, 16}), tensor({N, 8, 7, 4}), tensor({5, 7})}),
      "Tensor[(N, 8, 5, 4), float32]");
  EXPECT_EQ(type_of(op("nn.sdpa"), {tensor({6, 5, 16}), tensor({1, 7, 16}), tensor({7, 4})}),
            "Tensor[(6, 5, 4), float32]");
  EXPECT_EQ(type_of(op("nn.sdpa"), {tensor({5, 16}), tensor({7, 8}), tensor({7, 4})}),
            "nn.sdpa: head sizes of Q and K differ: 16 and 8");
  EXPECT_EQ(call(op("nn.sdpa"), {tensor({3, 8, 5, 16}), tensor({3, 8, 7, 16}), tensor({3, 8, 7, 4})}).cost.macs,
            3 * 8 * 5 * 7 * 20);
  EXPECT_EQ(call(op("nn.sdpa"), {tensor({5, 16}), tensor({7, 16}), tensor({7, 4})}).cost.macs, 5 * 7 * 20);
}

TEST(FlexAttention, TypesAndWork) {
  const Outcome o = call(op("nn.flex_attention"), {tensor({2, 8, 5, 16}), tensor({2, 4, 7, 16}), tensor({2, 4, 7, 8})});
  EXPECT_EQ(o.types, Types{"Tensor[(2, 8, 5, 8), float32]"});
  EXPECT_EQ(o.cost.macs, 2 * 8 * 5 * 7 * 24);
}

TEST(LinearAttention, TypesAndWork) {
  const Attrs heads{{"q_num_heads", number(4)}, {"kv_num_heads", number(2)}};
  const std::vector<Arg> args{tensor({2, 9, 32}), tensor({2, 9, 16}), tensor({2, 9, 24}),
                              omitted(),          tensor({2, 9, 2}),  tensor({2, 9, 1})};
  const Outcome o = call(op("nn.linear_attention"), args, heads, 2);
  EXPECT_EQ(o.types, (Types{"Tensor[(2, 9, 48), float32]", "Tensor[(2, 2, 8, 12), float32]"})) << o.error;
  EXPECT_EQ(o.cost.macs, 2 * 9 * 8 * 12 * (4 + 2 * 2));  // gated_delta: the state is read twice
  EXPECT_EQ(o.cost.flops, 2 * 9 * 8 * 12 * 2);
  Attrs linear = heads;
  linear.set("update_rule", "linear");
  EXPECT_EQ(call(op("nn.linear_attention"), {args[0], args[1], args[2]}, linear, 2).cost.macs,
            2 * 9 * 8 * 12 * (4 + 2));
  EXPECT_EQ(run(op("nn.linear_attention"), {args[0], args[1], args[2]}, heads, 2),
            Types{"nn.linear_attention: update_rule 'gated_delta' needs decay"});
  linear.set("update_rule", "cubic");
  EXPECT_EQ(run(op("nn.linear_attention"), args, linear, 2), Types{"nn.linear_attention: unknown update_rule 'cubic'"});
}

TEST(LinearAttention, HasHeadsOfItsOwnForStatesKeysAndQueries) {
  const auto typed = [](int queries, int keys, int states, Attrs more = {}, std::vector<Arg> rest = {}) {
    more.set("q_num_heads", number(queries));
    more.set("kv_num_heads", number(states));
    more.set("update_rule", std::string("linear"));
    std::vector<Arg> args{tensor({2, 6, queries * 16}), tensor({2, 6, keys * 16}), tensor({2, 6, states * 8})};
    args.insert(args.end(), rest.begin(), rest.end());
    return run(op("nn.linear_attention"), args, more, 2);
  };
  // Of ONNX Runtime 1.32
  EXPECT_EQ(typed(4, 2, 2), (Types{"Tensor[(2, 6, 32), float32]", "Tensor[(2, 2, 16, 8), float32]"}));
  EXPECT_EQ(typed(2, 2, 4), (Types{"Tensor[(2, 6, 32), float32]", "Tensor[(2, 4, 16, 8), float32]"}));
  EXPECT_EQ(typed(2, 4, 4), (Types{"Tensor[(2, 6, 32), float32]", "Tensor[(2, 4, 16, 8), float32]"}));
  EXPECT_EQ(typed(4, 4, 4, {{"state_window", number(3)}}, {tensor({3, 2, 4, 16, 8}, DType::Float16)}),
            (Types{"Tensor[(2, 6, 32), float32]", "Tensor[(3, 2, 4, 16, 8), float16]"}));
  EXPECT_EQ(typed(3, 2, 2),
            Types{"nn.linear_attention: 3 query heads and 2 key and value heads: neither is a multiple of the other"});
  EXPECT_EQ(typed(4, 3, 4), Types{"nn.linear_attention: key has 48 channels, which are no heads of the query's 16"});
  EXPECT_EQ(typed(4, 4, 4, {{"state_window", number(-1)}}),
            Types{"nn.linear_attention: state_window is -1, must not be negative"});
}

TEST(GatedDeltaNet, TypesAndWorkInEachLayout) {
  const OpId net = op("nn.gated_delta_net");
  const Arg state = tensor({2, 4, 32, 64}), gate = tensor({12, 4});
  const Types packed{"Tensor[(12, 4, 32), float16]", "Tensor[(2, 4, 32, 64), float32]"};
  const auto half = [](Shape s) { return tensor(std::move(s), DType::Float16); };
  const std::vector<Arg> heads{half({12, 2, 64}), half({12, 2, 64}), half({12, 4, 32})};
  const auto with = [&heads](std::vector<Arg> rest) {
    std::vector<Arg> all = heads;
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  const Outcome o = call(net, with({omitted(), gate, gate, state}), {}, 2);
  EXPECT_EQ(o.types, packed) << o.error;
  EXPECT_EQ(o.cost.macs, 12 * 64 * 32 * (4 + 4 * 2));
  EXPECT_EQ(o.cost.flops, 12 * 64 * 32 * 4);
  EXPECT_EQ(run(net, with({tensor({3}, DType::Int32), gate, gate}), {}, 2), packed);
  // One matrix: 2 · 2 · 64 + 4 · 32 columns
  const Attrs fused{{"qk_l2_norm", number(1)},
                    {"gate_activation", std::string("softplus")},
                    {"beta_activation", std::string("sigmoid")}};
  const Outcome one = call(
      net, {half({12, 384}), omitted(), omitted(), omitted(), gate, gate, state, tensor({4}), tensor({4})}, fused, 2);
  EXPECT_EQ(one.types, packed) << one.error;
  EXPECT_EQ(one.cost.macs, o.cost.macs);
  EXPECT_EQ(one.cost.flops, o.cost.flops + 12 * (3 * (2 + 2) * 64 + 7 * 4));
  const std::vector<Arg> stacked{half({2, 6, 2, 64}), half({2, 6, 2, 64}), half({2, 6, 4, 32}),
                                 omitted(),           tensor({2, 6, 4}),   tensor({2, 6, 4})};
  EXPECT_EQ(run(net, stacked, {{"state_update_capacity", number(2)}}, 3),
            (Types{"Tensor[(2, 6, 4, 32), float16]", "Tensor[(2, 4, 32, 64), float32]",
                   "Tensor[(2, 520), float32]"}));  // 2 · (4 + 2 · 64 + 4 · 32)

  EXPECT_EQ(run(net, with({omitted(), gate, gate}), {}, 2),
            Types{"nn.gated_delta_net: neither cu_seqlens nor initial_state says how many sequences there are"});
  EXPECT_EQ(run(net, {half({12, 383}), omitted(), omitted(), omitted(), gate, gate, state}, {}, 1),
            Types{"nn.gated_delta_net: query has 383 columns, which are no heads of 64 and 4 · 32 channels"});
  EXPECT_EQ(run(net, {half({12, 384}), omitted(), omitted(), omitted(), gate, gate}, {}, 1),
            Types{"nn.gated_delta_net: query, key and value in one operand need initial_state"});
  EXPECT_EQ(run(net, {half({12, 2, 64}), half({12, 2, 64})}, {}, 1),
            Types{"nn.gated_delta_net: update_rule 'gated_delta' needs decay"});
}

TEST(RotaryEmbedding, BothOperandOrders) {
  const Arg cache = tensor({10, 8}), ids = tensor({2, 5}, DType::Int64);
  EXPECT_EQ(type_of(op("nn.rotary_embedding"), {tensor({2, 4, 5, 16}), cache, cache, ids}),
            "Tensor[(2, 4, 5, 16), float32]");
  EXPECT_EQ(type_of(op("nn.rotary_embedding"), {tensor({2, 5, 64}), ids, cache, cache}), "Tensor[(2, 5, 64), float32]");
  EXPECT_EQ(type_of(op("nn.rotary_embedding"), {tensor({2, 5, 64}), cache, cache, ids}),
            "nn.rotary_embedding: a 3-D X needs the attribute 'num_heads'");
  EXPECT_EQ(type_of(op("nn.rotary_embedding"), {tensor({2, 5, 64}), cache, cache, ids}, {{"num_heads", number(8)}}),
            "nn.rotary_embedding: cos_cache has 8 columns, expected 4");
  EXPECT_EQ(
      type_of(op("nn.rotary_embedding"), {tensor({2, 4, 5, 16}), cache, cache}, {{"rotary_embedding_dim", number(32)}}),
      "nn.rotary_embedding: rotary_embedding_dim 32 exceeds the head size 16");
}

// ---- com.microsoft

TEST(FusedAttention, TypesAndWork) {
  const Attrs heads{{"num_heads", number(4)}};
  const Outcome o = call(op("nn.fused_attention"), {tensor({2, 5, 32}), tensor({32, 96}), tensor({96})}, heads, 2);
  EXPECT_EQ(o.types, (Types{"Tensor[(2, 5, 32), float32]", "Tensor[(2, 2, 4, 5, 8), float32]"})) << o.error;
  EXPECT_EQ(o.cost.macs, 2 * 5 * 32 * 96 + 2 * 4 * 5 * 5 * 16);
  EXPECT_EQ(o.cost.flops, 7 * 2 * 4 * 5 * 5 + 2 * 5 * 96);
  EXPECT_EQ(run(op("nn.fused_attention"),
                {tensor({2, 5, 32}), tensor({32, 64}), tensor({64}), omitted(), tensor({2, 2, 4, 3, 4})},
                {{"num_heads", number(4)}, {"qkv_hidden_sizes", Ints{16, 16, 32}}}, 2),
            (Types{"Tensor[(2, 5, 32), float32]", "Tensor[(2, 2, 4, 8, 4), float32]"}));
}

TEST(FusedAttention, RefusesWhatDoesNotFit) {
  const auto error = [](std::vector<Arg> args, Attrs attrs) {
    return run(op("nn.fused_attention"), std::move(args), std::move(attrs), 1).at(0);
  };
  const Arg x = tensor({2, 5, 32}), w = tensor({32, 96});
  const Attrs heads{{"num_heads", number(4)}};
  EXPECT_EQ(error({x, w}, {}), "nn.fused_attention: has no attribute 'num_heads'");
  EXPECT_EQ(error({x, tensor({31, 96})}, heads),
            "nn.fused_attention: columns of input and rows of weights differ: 32 and 31");
  EXPECT_EQ(error({x, tensor({32, 97})}, heads), "nn.fused_attention: weights have 97 columns, not three equal parts");
  EXPECT_EQ(error({x, w, tensor({95})}, heads), "nn.fused_attention: bias must be (96,), got Tensor[(95,), float32]");
  EXPECT_EQ(error({x, w, omitted(), tensor({2, 6}, DType::Int32)}, heads),
            "nn.fused_attention: mask_index (2, 6) does not fit batch 2, 5 query tokens and 5 keys");
  EXPECT_EQ(error({x, w}, {{"num_heads", number(4)}, {"qkv_hidden_sizes", Ints{32, 32}}}),
            "nn.fused_attention: qkv_hidden_sizes has 2 entries, expected 3");
}

TEST(MultiHeadAttention, PackingsGiveTheSame) {
  const Attrs heads{{"num_heads", number(4)}};
  const OpId mha = op("nn.multi_head_attention");
  const std::vector<std::vector<Arg>> forms{
      {tensor({2, 5, 32}), tensor({2, 5, 32}), tensor({2, 5, 32})},
      {tensor({2, 5, 32}), tensor({2, 4, 5, 8}), tensor({2, 4, 5, 8})},
      {tensor({2, 5, 32}), tensor({2, 5, 4, 2, 8})},
      {tensor({2, 5, 4, 3, 8})},
  };
  for (const auto& args : forms) {
    const Outcome o = call(mha, args, heads, 1);
    EXPECT_EQ(o.types, Types{"Tensor[(2, 5, 32), float32]"}) << o.error;
    EXPECT_EQ(o.cost.macs, 2 * 4 * 5 * 5 * 16);
  }
  EXPECT_EQ(run(op("nn.decoder_masked_attention"), {tensor({2, 1, 96})}, heads, 1),
            Types{"Tensor[(2, 1, 32), float32]"});
}

TEST(MultiHeadAttention, CachesGrowUnlessShared) {
  const Attrs heads{{"num_heads", number(4)}};
  std::vector<Arg> args{tensor({2, 1, 32}), tensor({2, 1, 32}), tensor({2, 1, 32}),   omitted(),
                        omitted(),          omitted(),          tensor({2, 4, 9, 8}), tensor({2, 4, 9, 8})};
  EXPECT_EQ(run(op("nn.multi_head_attention"), args, heads, 2).at(1), "Tensor[(2, 4, 10, 8), float32]");
  args.push_back(tensor({1}, DType::Int32));
  EXPECT_EQ(run(op("nn.multi_head_attention"), args, heads, 2).at(1), "Tensor[(2, 4, 9, 8), float32]");
}

TEST(MultiHeadAttention, RefusesWhatDoesNotFit) {
  const auto error = [](std::vector<Arg> args) {
    return run(op("nn.multi_head_attention"), std::move(args), {{"num_heads", number(4)}}, 1).at(0);
  };
  const Arg x = tensor({2, 5, 32});
  EXPECT_EQ(error({x}), "nn.multi_head_attention: key is missing and query is not packed");
  EXPECT_EQ(error({x, x}), "nn.multi_head_attention: value is missing");
  EXPECT_EQ(error({x, tensor({2, 5, 16}), x}),
            "nn.multi_head_attention: key must be (2, 5, 32), got Tensor[(2, 5, 16), float32]");
  EXPECT_EQ(error({x, x, x, tensor({95})}), "nn.multi_head_attention: bias must be (96,), got Tensor[(95,), float32]");
  EXPECT_EQ(error({x, x, x, omitted(), omitted(), tensor({1, 3, 5, 5})}),
            "nn.multi_head_attention: attention_bias (1, 3, 5, 5) does not broadcast to (2, 4, 5, 5)");
  EXPECT_EQ(error({tensor({2, 5, 4, 3})}),
            "nn.multi_head_attention: query must be (?, ?, ?), got Tensor[(2, 5, 4, 3), float32]");
}

TEST(GroupQueryAttention, TypesAndWork) {
  const Attrs heads{{"num_heads", number(4)}, {"kv_num_heads", number(2)}};
  const Arg past = tensor({2, 2, 16, 8});
  const auto gqa = [&](Arg total, int results = 3) {
    return call(op("nn.group_query_attention"),
                {tensor({2, 1, 32}), tensor({2, 1, 16}), tensor({2, 1, 16}), past, past, tensor({2}, DType::Int32),
                 std::move(total)},
                heads, results);
  };
  const Outcome in_place = gqa(scalar(10, DType::Int32));
  EXPECT_EQ(in_place.types,
            (Types{"Tensor[(2, 1, 32), float32]", "Tensor[(2, 2, 16, 8), float32]", "Tensor[(2, 2, 16, 8), float32]"}))
      << in_place.error;
  EXPECT_EQ(in_place.cost.macs, 2 * 4 * 1 * 10 * 16);
  EXPECT_EQ(gqa(scalar(17, DType::Int32)).types.at(1), "Tensor[(2, 2, 17, 8), float32]");
  EXPECT_EQ(gqa(tensor({}, DType::Int32)).types.at(1), "Tensor[(2, 2, 16, 8), float32]");
  EXPECT_EQ(run(op("nn.group_query_attention"), {tensor({2, 5, 64})}, heads, 1), Types{"Tensor[(2, 5, 32), float32]"});
}

// Two tokens of a table of 1,000 positions
TEST(GroupQueryAttention, ReadsARowOfItsTablesForEachToken) {
  const Arg past = tensor({2, 2, 16, 8}), table = tensor({1000, 4});
  const auto read = [&](std::int64_t rotates, bool tables) {
    std::vector<Arg> args{tensor({2, 1, 32}),        tensor({2, 1, 16}),      tensor({2, 1, 16}), past, past,
                          tensor({2}, DType::Int32), scalar(10, DType::Int32)};
    if (tables) args.insert(args.end(), {table, table});
    const Attrs attrs{{"num_heads", number(4)}, {"kv_num_heads", number(2)}, {"do_rotary", number(rotates)}};
    return call(op("nn.group_query_attention"), args, attrs, 3).cost.bytes_read;
  };
  EXPECT_DOUBLE_EQ(read(1, true) - read(1, false), 2 * 2 * 4 * 4);
}

TEST(GroupQueryAttention, CacheTellsTheHeads) {
  const Arg past = tensor({2, 2, 16, 8}), filler = tensor({1});
  EXPECT_EQ(run(op("nn.group_query_attention"), {tensor({2, 1, 64}), filler, filler, past, past}, {}, 1),
            Types{"Tensor[(2, 1, 32), float32]"});
  EXPECT_EQ(run(op("nn.group_query_attention"), {tensor({2, 1, 64})}, {}, 1),
            Types{"nn.group_query_attention: num_heads must be positive"});
  EXPECT_EQ(run(op("nn.group_query_attention"), {tensor({2, 1, 64})},
                {{"num_heads", number(INT64_MAX)}, {"kv_num_heads", number(INT64_MAX)}}, 1),
            Types{"nn.group_query_attention: kv_num_heads is 9223372036854775807, out of range"});
}

TEST(PackedAttention, CountsTokens) {
  const Attrs heads{{"num_heads", number(4)}};
  const Arg offsets = tensor({2, 5}, DType::Int32), lengths = tensor({3}, DType::Int32);
  const Outcome o =
      call(op("nn.packed_attention"), {tensor({7, 32}), tensor({32, 96}), tensor({96}), offsets, lengths}, heads);
  EXPECT_EQ(o.types, Types{"Tensor[(7, 32), float32]"}) << o.error;
  EXPECT_EQ(o.cost.macs, 7 * 32 * 96 + 4 * 7 * 5 * 16);
  const Outcome m = call(op("nn.packed_multi_head_attention"),
                         {tensor({7, 4, 3, 8}), omitted(), omitted(), omitted(), offsets, lengths}, heads);
  EXPECT_EQ(m.types, Types{"Tensor[(7, 32), float32]"}) << m.error;
  EXPECT_EQ(m.cost.macs, 4 * 7 * 5 * 16);
}

TEST(PagedAttention, UpToWhatItsBlocksHold) {
  const Arg cache = tensor({30, 16, 2, 8});
  const Outcome o = call(op("nn.paged_attention"),
                         {tensor({7, 32}), tensor({7, 16}), tensor({7, 16}), cache, cache, tensor({3}, DType::Int32),
                          tensor({2}, DType::Int32), tensor({2, 4}, DType::Int32)},
                         {{"num_heads", number(4)}, {"kv_num_heads", number(2)}}, 3);
  EXPECT_EQ(o.types,
            (Types{"Tensor[(7, 32), float32]", "Tensor[(30, 16, 2, 8), float32]", "Tensor[(30, 16, 2, 8), float32]"}))
      << o.error;
  EXPECT_EQ(o.cost.macs, 4 * 7 * 64 * 16);
}

TEST(GatedRelativePositionBias, TypesAndWork) {
  const Outcome o =
      call(op("nn.gated_relative_position_bias"),
           {tensor({2, 5, 32}), tensor({32}), tensor({1, 4, 5, 5}), tensor({8, 6}), tensor({6}), tensor({1, 4, 1, 1})},
           {{"num_heads", number(4)}});
  EXPECT_EQ(o.types, Types{"Tensor[(2, 4, 5, 5), float32]"}) << o.error;
  EXPECT_EQ(o.cost.macs, 2 * 5 * 4 * 8 * 6);
}

}  // namespace
}  // namespace perfc::testing
