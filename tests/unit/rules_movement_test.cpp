/// Data movement, gather and scatter.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

Attr axis(std::int64_t a) { return a; }

TEST(Transpose, PermutesDimsAndContents) {
  EXPECT_EQ(type_of(op("transpose"), {tensor({N, 3, 4})}), "Tensor[(4, 3, N), float32]");
  EXPECT_EQ(type_of(op("transpose"), {tensor({N, 3, 4})}, {{"perm", Ints{0, 2, 1}}}), "Tensor[(N, 4, 3), float32]");
  EXPECT_EQ(type_of(op("transpose"), {unranked()}, {{"perm", Ints{1, 0}}}), "Tensor[(?, ?), float32]");
  EXPECT_EQ(type_of(op("transpose"), {tensor({2, 3})}, {{"perm", Ints{0, 0}}}), "transpose: perm name axis 0 twice");
  EXPECT_EQ(type_of(op("transpose"), {tensor({2, 3})}, {{"perm", Ints{0, 2}}}),
            "transpose: perm 2 is out of range for rank 2");
  EXPECT_EQ(type_of(op("transpose"), {tensor({2, 3})}, {{"perm", Ints{0}}}),
            "transpose: perm has 1 entries, input has rank 2");
  EXPECT_EQ(data_of(op("transpose"), {ints({1, 2, N, 4, 5, 6}, {2, 3})}), "[1, 4, 2, 5, N, 6]");
}

TEST(Concatenate, AddsUpTheAxis) {
  EXPECT_EQ(type_of(op("concatenate"), {tensor({N, 3}), tensor({N, 4})}, {{"axis", axis(-1)}}),
            "Tensor[(N, 7), float32]");
  EXPECT_EQ(type_of(op("concatenate"), {tensor({N, 3}), tensor({2, unknown})}, {{"axis", axis(1)}}),
            "Tensor[(2, ?), float32]");
  EXPECT_EQ(type_of(op("concatenate"), {tensor({2, 3}), unranked()}, {{"axis", axis(0)}}), "Tensor[(?, 3), float32]");
  EXPECT_EQ(data_of(op("concatenate"), {ints({N}), tensor({1}, DType::Int64), ints({3, 4})}, {{"axis", axis(0)}}),
            "[N, ?, 3, 4]");
  EXPECT_EQ(data_of(op("concatenate"), {ints({1, 2}, {2, 1}), ints({3, 4}, {2, 1})}, {{"axis", axis(1)}}),
            "[1, 3, 2, 4]");
  EXPECT_EQ(data_of(op("concatenate"), {floats({1, 1}), floats({2, 2})}, {{"axis", axis(0)}}), "[1, 1, 2, 2]");
}

TEST(Concatenate, Refuses) {
  EXPECT_EQ(type_of(op("concatenate"), {tensor({2, 3}), tensor({3, 3})}, {{"axis", axis(1)}}),
            "concatenate: dims 0 of operand 1 and those before differ: 2 and 3");
  EXPECT_EQ(type_of(op("concatenate"), {tensor({2, 3}), tensor({3})}, {{"axis", axis(0)}}),
            "concatenate: operand 1 of shape (3,) has another rank than (2, 3)");
  EXPECT_EQ(type_of(op("concatenate"), {tensor({2}), tensor({2}, DType::Int64)}, {{"axis", axis(0)}}),
            "concatenate: operands 0 and 1 differ in type: float32 and int64");
  EXPECT_EQ(type_of(op("concatenate"), {tensor({2})}), "concatenate: attribute axis is missing");
  EXPECT_EQ(type_of(op("concatenate"), {tensor({2})}, {{"axis", axis(1)}}),
            "concatenate: axis 1 is out of range for rank 1");
  EXPECT_EQ(type_of(op("concatenate"), {tensor({})}, {{"axis", axis(0)}}),
            "concatenate: input must have rank 1 or more, got Tensor[(), float32]");
}

std::vector<std::string> split_types(std::vector<Arg> args, Attrs attrs, int results) {
  const Outcome o = call(op("split"), std::move(args), std::move(attrs), results);
  return o.error.empty() ? o.types : std::vector{o.error};
}

TEST(Split, SizesAndEqualChunks) {
  using Types = std::vector<std::string>;
  EXPECT_EQ(split_types({tensor({N, 5}), ints({2, 3})}, {{"axis", axis(1)}}, 2),
            (Types{"Tensor[(N, 2), float32]", "Tensor[(N, 3), float32]"}));
  EXPECT_EQ(split_types({tensor({N, 7})}, {{"axis", axis(1)}, {"num_outputs", std::int64_t{3}}}, 3),
            (Types{"Tensor[(N, 3), float32]", "Tensor[(N, 3), float32]", "Tensor[(N, 1), float32]"}));
  EXPECT_EQ(split_types({tensor({5}), ints({2, unknown})}, {}, 2),
            (Types{"Tensor[(2,), float32]", "Tensor[(3,), float32]"}));
  EXPECT_EQ(split_types({tensor({5}), ints({2, 4})}, {}, 2), Types{"split: sizes add up to 6, the axis has 5"});
  EXPECT_EQ(split_types({tensor({5}), ints({6, -1})}, {}, 2), Types{"split: split holds a negative size: -1"});
  EXPECT_EQ(split_types({tensor({5}), ints({5})}, {}, 2), Types{"split: split has 1 sizes for 2 results"});
  EXPECT_EQ(split_types({tensor({5})}, {{"num_outputs", std::int64_t{3}}}, 2),
            Types{"split: num_outputs is 3 for 2 results"});
  EXPECT_EQ(split_types({tensor({5})}, {}, 4), Types{"split: an axis of 5 does not split into 4"});
  const Outcome o = call(op("split"), {ints({1, N, 3}), ints({1, 2})}, {}, 2);
  EXPECT_EQ(o.data, (Types{"[1]", "[N, 3]"}));
}

TEST(Slice, ClampsAndSteps) {
  const auto slice = [](Arg x, Arg starts, Arg ends, Arg axes = omitted(), Arg steps = omitted()) {
    return type_of(op("strided_slice"), {x, starts, ends, axes, steps});
  };
  EXPECT_EQ(slice(tensor({10, 20}), ints({1, -5}), ints({1000, -1})), "Tensor[(9, 4), float32]");
  EXPECT_EQ(slice(tensor({10, 20}), ints({0}), ints({INT64_MAX}), ints({1}), ints({3})), "Tensor[(10, 7), float32]");
  EXPECT_EQ(slice(tensor({10}), ints({-1}), ints({INT64_MIN}), ints({0}), ints({-1})), "Tensor[(10,), float32]");
  EXPECT_EQ(slice(tensor({10}), ints({8}), ints({2}), ints({0}), ints({-4})), "Tensor[(2,), float32]");
  EXPECT_EQ(slice(tensor({10}), ints({5}), ints({2})), "Tensor[(0,), float32]");
  EXPECT_EQ(slice(tensor({N, 4}), ints({0}), ints({INT32_MAX}), ints({0})), "Tensor[(N, 4), float32]");
  EXPECT_EQ(slice(tensor({N, 4}), ints({0}), ints({N}), ints({0})), "Tensor[(N, 4), float32]");
  EXPECT_EQ(slice(tensor({N, 4}), ints({1}), ints({INT32_MAX}), ints({0})), "Tensor[(?, 4), float32]");
  EXPECT_EQ(slice(tensor({8, 4}), tensor({1}, DType::Int64), ints({3}), ints({0})), "Tensor[(?, 4), float32]");
  EXPECT_EQ(slice(tensor({8, 4}), ints({0}), ints({3}), tensor({1}, DType::Int64)), "Tensor[(?, ?), float32]");
  EXPECT_EQ(slice(tensor({8}), ints({0}), ints({3}), ints({0}), ints({0})), "strided_slice: steps holds 0");
  EXPECT_EQ(slice(tensor({8}), ints({0}), ints({3}), ints({1})), "strided_slice: axes 1 is out of range for rank 1");
  EXPECT_EQ(slice(tensor({8, 8}), ints({0, 0}), ints({3, 3}), ints({0, -2})), "strided_slice: axes name axis 0 twice");
  EXPECT_EQ(slice(tensor({8}), ints({0}), ints({3, 4})), "strided_slice: ends has 2 entries, expected 1");
  EXPECT_EQ(slice(tensor({8}), floats({0}), ints({3})), "strided_slice: starts must be int32 or int64, got float32");
  EXPECT_EQ(slice(tensor({8}), ints({0}, DType::Int32), ints({3})),
            "strided_slice: operands 1 and 2 differ in type: int32 and int64");
  EXPECT_EQ(data_of(op("strided_slice"), {ints({1, N, 3, 4}), ints({-1}), ints({-9}), ints({0}), ints({-2})}),
            "[4, N]");
}

TEST(BroadcastTo, BothWays) {
  EXPECT_EQ(type_of(op("broadcast_to"), {tensor({3, 1}), ints({2, 1, N})}), "Tensor[(2, 3, N), float32]");
  EXPECT_EQ(type_of(op("broadcast_to"), {tensor({3, 4}), tensor({3}, DType::Int64)}), "Tensor[(?, 3, 4), float32]");
  EXPECT_EQ(type_of(op("broadcast_to"), {tensor({3}), ints({4})}),
            "broadcast_to: shapes (3,) and (4,) do not broadcast: 3 against 4");
  EXPECT_EQ(type_of(op("broadcast_to"), {tensor({3}), ints({-1})}), "broadcast_to: shape holds a negative dim: -1");
  EXPECT_EQ(data_of(op("broadcast_to"), {ints({N, 2}, {2, 1}), ints({2, 2})}), "[N, N, 2, 2]");
}

TEST(Tile, Repeats) {
  EXPECT_EQ(type_of(op("tile"), {tensor({N, 3}), ints({1, 2})}), "Tensor[(N, 6), float32]");
  EXPECT_EQ(type_of(op("tile"), {tensor({2, 3}), ints({2})}), "tile: repeats has 1 entries, input has rank 2");
  EXPECT_EQ(type_of(op("tile"), {tensor({2}), ints({-1})}), "tile: repeats holds a negative dim: -1");
  EXPECT_EQ(type_of(op("tile"), {tensor({2, 0}), tensor({2}, DType::Int64)}), "Tensor[(?, 0), float32]");
  EXPECT_EQ(data_of(op("tile"), {ints({1, N}), ints({2})}), "[1, N, 1, N]");
}

TEST(Pad, ModesAndAxes) {
  EXPECT_EQ(type_of(op("nn.pad"), {tensor({N, 4}), ints({0, 1, 0, 2})}), "Tensor[(N, 7), float32]");
  EXPECT_EQ(type_of(op("nn.pad"), {tensor({N, 4}), ints({1, 2}), omitted(), ints({-1})}), "Tensor[(N, 7), float32]");
  EXPECT_EQ(type_of(op("nn.pad"), {tensor({5}), ints({-3, -3})}),
            "nn.pad: padding -3 and -3 leave less than nothing of axis 0 of Tensor[(5,), float32]");
  EXPECT_EQ(type_of(op("nn.pad"), {tensor({5}), ints({1})}), "nn.pad: pads has 1 entries, expected an even number");
  EXPECT_EQ(type_of(op("nn.pad"), {tensor({5}), ints({1, 1, 1, 1})}), "nn.pad: pads has 4 entries, input has rank 1");
  EXPECT_EQ(type_of(op("nn.pad"), {tensor({5}), ints({1, 1})}, {{"mode", "mirror"}}), "nn.pad: unknown mode 'mirror'");
  EXPECT_EQ(data_of(op("nn.pad"), {ints({1, N, 3}), ints({1, 2})}), "[0, 1, N, 3, 0, 0]");
  EXPECT_EQ(data_of(op("nn.pad"), {ints({1, 2, 3}), ints({-1, 1}), scalar(9)}), "[2, 3, 9]");
  EXPECT_EQ(data_of(op("nn.pad"), {ints({1, 2, 3}), ints({2, 2})}, {{"mode", "reflect"}}), "[3, 2, 1, 2, 3, 2, 1]");
  EXPECT_EQ(data_of(op("nn.pad"), {ints({1, 2, 3}), ints({1, 2})}, {{"mode", "edge"}}), "[1, 1, 2, 3, 3, 3]");
  EXPECT_EQ(data_of(op("nn.pad"), {ints({1, 2, 3}), ints({2, 1})}, {{"mode", "wrap"}}), "[2, 3, 1, 2, 3, 1]");
}

TEST(Layout, BlocksCropsAndOneHot) {
  EXPECT_EQ(type_of(op("depth_to_space"), {tensor({N, 12, 4, 5})}, {{"blocksize", std::int64_t{2}}}),
            "Tensor[(N, 3, 8, 10), float32]");
  EXPECT_EQ(type_of(op("depth_to_space"), {tensor({1, 6, 4, 5})}, {{"blocksize", std::int64_t{2}}}),
            "depth_to_space: 6 channels do not divide by the square of blocksize 2");
  EXPECT_EQ(type_of(op("depth_to_space"), {tensor({1, 6, 4, 5})}, {{"blocksize", std::int64_t{1} << 40}}),
            "depth_to_space: 6 channels do not divide by the square of blocksize 1099511627776");
  EXPECT_EQ(type_of(op("space_to_depth"), {tensor({N, 3, 8, 10})}, {{"blocksize", std::int64_t{2}}}),
            "Tensor[(N, 12, 4, 5), float32]");
  EXPECT_EQ(type_of(op("space_to_depth"), {tensor({N, 3, 8, 9})}, {{"blocksize", std::int64_t{2}}}),
            "space_to_depth: dim 3 of Tensor[(N, 3, 8, 9), float32] does not divide by blocksize 2");
  EXPECT_EQ(type_of(op("space_to_depth"), {tensor({1, 3, 8, 9})}, {{"blocksize", 0.3}}),
            "space_to_depth: attribute blocksize must be an integer");
  EXPECT_EQ(type_of(op("center_crop_pad"), {tensor({20, 10, 3}), ints({10, 9})}, {{"axes", Ints{1, 2}}}),
            "Tensor[(20, 10, 9), float32]");
  EXPECT_EQ(type_of(op("one_hot"), {tensor({N, 2}, DType::Int64), scalar(10), tensor({2})}),
            "Tensor[(N, 2, 10), float32]");
  EXPECT_EQ(type_of(op("one_hot"), {tensor({N}, DType::Int64), scalar(unknown), tensor({2})}, {{"axis", axis(0)}}),
            "Tensor[(?, N), float32]");
  EXPECT_EQ(type_of(op("one_hot"), {tensor({N}, DType::Int64), scalar(4), tensor({3})}),
            "one_hot: values must be [off, on], got 3 entries");
  EXPECT_EQ(type_of(op("eye_like"), {tensor({N, 3})}, {{"dtype", "int64"}}), "Tensor[(N, 3), int64]");
  EXPECT_EQ(type_of(op("reverse_sequence"), {tensor({5, 2}), ints({1, 2, 3})}),
            "reverse_sequence: batch and length of sequence_lens differ: 2 and 3");
  EXPECT_EQ(type_of(op("quick_crop"), {tensor({1, 3, 9, 8})}, {{"border", Ints{1, 2, 3, 4}}}),
            "Tensor[(1, 3, 3, 4), float32]");
}

TEST(Take, IndicesReplaceTheAxis) {
  EXPECT_EQ(type_of(op("take"), {tensor({N, 8}), tensor({2, 3}, DType::Int64)}, {{"axis", axis(1)}}),
            "Tensor[(N, 2, 3), float32]");
  EXPECT_EQ(type_of(op("take"), {tensor({N, 8}), scalar(0)}), "Tensor[(8,), float32]");
  EXPECT_EQ(type_of(op("take"), {tensor({N, 8}), tensor({1})}), "take: indices must be int32 or int64, got float32");
  EXPECT_EQ(type_of(op("take"), {tensor({N, 8}), scalar(0)}, {{"axis", axis(2)}}),
            "take: axis 2 is out of range for rank 2");
  EXPECT_EQ(data_of(op("take"), {ints({N, 3, 4}), scalar(-3)}), "[N]");
  EXPECT_EQ(data_of(op("take"), {ints({N, 3, 4}), ints({2, unknown, 0, 7})}), "[4, ?, N, ?]");
  EXPECT_EQ(data_of(op("take"), {ints({1, 2, 3, 4}, {2, 2}), ints({1})}, {{"axis", axis(1)}}), "[2, 4]");
}

TEST(Gather, ElementsNdAndCompress) {
  EXPECT_EQ(type_of(op("gather"), {tensor({4, 5}), tensor({N, 2}, DType::Int64)}, {{"axis", axis(1)}}),
            "Tensor[(N, 2), float32]");
  EXPECT_EQ(type_of(op("gather"), {tensor({4, 5}), tensor({2}, DType::Int64)}),
            "gather: indices must have rank 2, got Tensor[(2,), int64]");
  EXPECT_EQ(data_of(op("gather"), {ints({1, 2, 3, 4}, {2, 2}), ints({1, 0}, {1, 2})}), "[3, 2]");
  EXPECT_EQ(type_of(op("gather_nd"), {tensor({2, 3, 4}), tensor({N, 2}, DType::Int64)}), "Tensor[(N, 4), float32]");
  EXPECT_EQ(
      type_of(op("gather_nd"), {tensor({2, 3, 4}), tensor({2, 5, 1}, DType::Int64)}, {{"batch_dims", std::int64_t{1}}}),
      "Tensor[(2, 5, 4), float32]");
  EXPECT_EQ(type_of(op("gather_nd"), {tensor({2, 3}), tensor({1, 3}, DType::Int64)}),
            "gather_nd: last dim of indices must be from 1 to 2, got 3");
  EXPECT_EQ(type_of(op("compress"), {tensor({4, 5}), ints({1, 0, 1}, DType::Bool)}, {{"axis", axis(0)}}),
            "Tensor[(2, 5), float32]");
  EXPECT_EQ(type_of(op("compress"), {tensor({4, 5}), tensor({20}, DType::Bool)}), "Tensor[(?,), float32]");
}

TEST(EmbeddingBag, CountsBags) {
  EXPECT_EQ(type_of(op("nn.embedding_bag"), {tensor({100, 16}), tensor({N, 7}, DType::Int64)}),
            "Tensor[(N, 16), float32]");
  const Outcome o =
      call(op("nn.embedding_bag"), {tensor({100, 16}), tensor({30}, DType::Int64), tensor({5}, DType::Int64)}, {}, 4);
  EXPECT_EQ(o.types, (std::vector<std::string>{"Tensor[(5, 16), float32]", "Tensor[(30,), int64]",
                                               "Tensor[(5,), int64]", "Tensor[(5,), int64]"}));
  EXPECT_EQ(o.cost.flops, 30 * 16);
  EXPECT_EQ(o.cost.bytes_read, 30 * 16 * 4 + 30 * 8 + 5 * 8);
  EXPECT_EQ(type_of(op("nn.embedding_bag"), {tensor({100, 16}), tensor({30}, DType::Int64)}),
            "nn.embedding_bag: rank-1 indices need offsets");
}

TEST(GatherQuantized, UnpacksBytes) {
  EXPECT_EQ(type_of(op("qnn.gather"),
                    {tensor({100, 32}, DType::UInt8), tensor({N}, DType::Int64), tensor({100, 2}, DType::Float16)}),
            "Tensor[(N, 64), float16]");
  EXPECT_EQ(type_of(op("qnn.gather"), {tensor({100, 32}, DType::UInt4), tensor({N}, DType::Int64), tensor({100, 2})}),
            "Tensor[(N, 32), float32]");
}

TEST(Scatter, ChecksAndContents) {
  EXPECT_EQ(type_of(op("scatter_elements"), {tensor({3, 3}), tensor({2, 3}, DType::Int64), tensor({2, 3})}),
            "Tensor[(3, 3), float32]");
  EXPECT_EQ(type_of(op("scatter_elements"), {tensor({3, 3}), tensor({2, 3}, DType::Int64), tensor({2, 2})}),
            "scatter_elements: dims 1 of indices and updates differ: 3 and 2");
  EXPECT_EQ(type_of(op("scatter_elements"), {tensor({3}), tensor({2}, DType::Int64), tensor({2})},
                    {{"reduction", "invalid"}}),
            "scatter_elements: unknown reduction 'invalid'");
  EXPECT_EQ(type_of(op("scatter_nd"), {tensor({4, 5}), tensor({2, 1}, DType::Int64), tensor({2, 4})}),
            "scatter_nd: dim 1 of updates and what indices address differ: 4 and 5");
  EXPECT_EQ(data_of(op("scatter_nd"), {ints({1, N, 3}), ints({0, 2}, {2, 1}), ints({7, unknown})}), "[7, N, ?]");
  EXPECT_EQ(type_of(op("tensor_scatter"), {tensor({2, 8, 64}), tensor({2, 9, 64})}),
            "tensor_scatter: update of 9 entries exceeds the cache of 8");
}

TEST(MovementCost, MovesOnlyWhatItMust) {
  const OpCost take =
      call(op("take"), {Arg{Type::tensor(DType::Float32, {1000, 64}), nullptr}, tensor({10}, DType::Int64)}).cost;
  EXPECT_EQ(take.flops, 0);
  EXPECT_EQ(take.bytes_read, 10 * 64 * 4 + 10 * 8);
  EXPECT_EQ(take.bytes_written, 10 * 64 * 4);
  const OpCost slice = call(op("strided_slice"), {tensor({100, 8}), ints({0}), ints({10})}).cost;
  EXPECT_EQ(slice.bytes_read, 10 * 8 * 4);
  EXPECT_EQ(slice.bytes_written, 10 * 8 * 4);
  const OpCost full = call(op("full"), {ints({16})}).cost;
  EXPECT_EQ(full.bytes_read, 0);
  EXPECT_EQ(full.bytes_written, 64);
  const OpCost expand = call(op("broadcast_to"), {tensor({1, 4}), ints({8, 4})}).cost;
  EXPECT_EQ(expand.bytes_read, 16);
  EXPECT_EQ(expand.bytes_written, 128);
  const OpCost transpose = call(op("transpose"), {tensor({8, 4})}).cost;
  EXPECT_EQ(transpose.bytes_read, 128);
  EXPECT_EQ(transpose.bytes_written, 128);
  EXPECT_EQ(call(op("reshape"), {tensor({8, 4}), ints({32})}).cost.bytes_written, 0);
}

TEST(Reverse, KeepsTheType) {
  EXPECT_EQ(type_of(op("reverse"), {tensor({2, N, 4})}), "Tensor[(2, N, 4), float32]");
  EXPECT_EQ(type_of(op("reverse"), {tensor({2, 3})}, {{"axis", Ints{0, -1}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of(op("reverse"), {tensor({2, 3})}, {{"axis", std::int64_t{2}}}),
            "reverse: axis 2 is out of range for rank 2");
  EXPECT_EQ(call(op("reverse"), {tensor({2, 3})}).cost.bytes_written, 24);
}

}  // namespace
}  // namespace perfc::testing
