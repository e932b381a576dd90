/// LSTM, GRU and RNN: types, refusals, work.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

using Types = std::vector<std::string>;

Types lstm(std::vector<Arg> args, Attrs attrs = {}, int results = 3) {
  const Outcome o = call(op("nn.lstm"), std::move(args), std::move(attrs), results);
  return o.error.empty() ? o.types : Types{o.error};
}

// Sequence 7, batch N or 5, input 3, hidden 4.
const Arg kX = tensor({7, N, 3});
const Arg kW = tensor({1, 16, 3}), kR = tensor({1, 16, 4});

TEST(Lstm, Types) {
  EXPECT_EQ(lstm({kX, kW, kR}),
            (Types{"Tensor[(7, 1, N, 4), float32]", "Tensor[(1, N, 4), float32]", "Tensor[(1, N, 4), float32]"}));
  EXPECT_EQ(lstm({tensor({N, 7, 3}), kW, kR}, {{"layout", std::int64_t{1}}}),
            (Types{"Tensor[(N, 7, 1, 4), float32]", "Tensor[(N, 1, 4), float32]", "Tensor[(N, 1, 4), float32]"}));
  EXPECT_EQ(lstm({kX, tensor({2, 16, 3}), tensor({2, 16, 4})}, {{"direction", "bidirectional"}}, 1),
            Types{"Tensor[(7, 2, N, 4), float32]"});
  EXPECT_EQ(lstm({unranked(), unranked(), unranked()}, {{"hidden_size", std::int64_t{4}}}, 1),
            Types{"Tensor[(?, 1, ?, 4), float32]"});
  EXPECT_EQ(lstm({kX, kW, unranked()}, {}, 1), Types{"Tensor[(7, 1, N, 4), float32]"});
  EXPECT_EQ(
      lstm({kX, kW, kR, omitted(), tensor({N}, DType::Int32), tensor({1, N, 4}), tensor({1, N, 4}), tensor({1, 12})},
           {}, 1),
      Types{"Tensor[(7, 1, N, 4), float32]"});
}

TEST(Lstm, RefusesWhatDoesNotFit) {
  const auto error = [](std::vector<Arg> args, Attrs attrs = {}, int results = 3) {
    return lstm(std::move(args), std::move(attrs), results).at(0);
  };
  EXPECT_EQ(error({tensor({7, 3}), kW, kR}), "nn.lstm: X must have rank 3, got Tensor[(7, 3), float32]");
  EXPECT_EQ(error({tensor({7, 5, 2}), kW, kR}), "nn.lstm: input sizes of X and W differ: 2 and 3");
  EXPECT_EQ(error({kX, tensor({1, 12, 3}), kR}), "nn.lstm: W must be (1, 16, 3), got Tensor[(1, 12, 3), float32]");
  EXPECT_EQ(error({kX, kW, tensor({2, 16, 4})}), "nn.lstm: R must be (1, 16, 4), got Tensor[(2, 16, 4), float32]");
  EXPECT_EQ(error({kX, kW, kR, tensor({1, 16})}), "nn.lstm: B must be (1, 32), got Tensor[(1, 16), float32]");
  EXPECT_EQ(error({kX, kW, kR}, {{"hidden_size", std::int64_t{5}}}),
            "nn.lstm: hidden sizes of R and the attribute hidden_size differ: 4 and 5");
  EXPECT_EQ(error({kX, kW, kR}, {{"direction", "sideways"}}), "nn.lstm: unknown direction 'sideways'");
  EXPECT_EQ(error({kX, kW, kR}, {{"layout", std::int64_t{2}}}), "nn.lstm: layout must be 0 or 1, is 2");
  EXPECT_EQ(error({kX, kW, kR}, {}, 4), "nn.lstm: has 4 results, at most 3 exist");
  EXPECT_EQ(error({tensor({7, 5, 3}), kW, kR, omitted(), omitted(), tensor({1, 6, 4})}),
            "nn.lstm: initial_h must be (1, 5, 4), got Tensor[(1, 6, 4), float32]");
}

TEST(Recurrent, Work) {
  // seq · batch · directions · gates · hidden · (input + hidden)
  const Outcome two = call(op("nn.lstm"), {tensor({7, 5, 3}), tensor({2, 16, 3}), tensor({2, 16, 4})},
                           {{"direction", "bidirectional"}}, 1);
  EXPECT_EQ(two.cost.macs, 7 * 5 * 2 * 4 * 4 * (3 + 4));
  EXPECT_EQ(two.cost.flops, 7 * 5 * 2 * 4 * 17);
  EXPECT_EQ(call(op("nn.gru"), {tensor({7, 5, 3}), tensor({1, 12, 3}), tensor({1, 12, 4})}, {}, 2).cost.macs,
            7 * 5 * 3 * 4 * 7);
  EXPECT_EQ(call(op("nn.rnn"), {tensor({7, 5, 3}), tensor({1, 4, 3}), tensor({1, 4, 4})}, {}, 2).cost.macs,
            7 * 5 * 4 * 7);
  EXPECT_EQ(call(op("nn.lstm"), {tensor({5, 7, 3}), kW, kR}, {{"layout", std::int64_t{1}}}, 1).cost.macs,
            7 * 5 * 16 * 7);
}

TEST(Recurrent, QuantisedWeightsAreTransposed) {
  const Outcome o = call(op("nn.dynamic_quantize_lstm"),
                         {tensor({7, 5, 3}), tensor({1, 3, 16}, DType::Int8), tensor({1, 4, 16}, DType::Int8)}, {}, 1);
  EXPECT_EQ(o.types, Types{"Tensor[(7, 1, 5, 4), float32]"}) << o.error;
  EXPECT_EQ(o.cost.macs, 7 * 5 * 16 * 7);
}

}  // namespace
}  // namespace perfc::testing
