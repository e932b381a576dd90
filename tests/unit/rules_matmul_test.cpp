/// Matrix products and Einstein summation: types, diagnostics and exact costs.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

const OpId kMatmul = op("nn.batch_matmul");
const std::int64_t kOn = 1;

Arg u8(Shape s) { return tensor(std::move(s), DType::UInt8); }
Arg i8(Shape s) { return tensor(std::move(s), DType::Int8); }

TEST(Dense, GemmForms) {
  // VGG-16's first classifier layer: 25088 → 4096.
  const Outcome o =
      call(op("nn.dense"), {tensor({1, 25088}), tensor({4096, 25088}), tensor({4096})}, {{"transB", kOn}});
  EXPECT_EQ(o.types.at(0), "Tensor[(1, 4096), float32]");
  EXPECT_EQ(o.cost.macs, 102760448);
  EXPECT_EQ(o.cost.flops, 4096);
  const Outcome t = call(op("nn.dense"), {tensor({5, 2}), tensor({3, 5})}, {{"transA", kOn}, {"transB", kOn}});
  EXPECT_EQ(t.types.at(0), "Tensor[(2, 3), float32]");
  EXPECT_EQ(t.cost.macs, 30);
  EXPECT_EQ(t.cost.flops, 0);
  EXPECT_EQ(type_of(op("nn.dense"), {tensor({N, 5}), tensor({5, 3}), tensor({1, 1})}), "Tensor[(N, 3), float32]");
}

TEST(Dense, AnyRank) {
  const Outcome o = call(op("nn.dense"), {tensor({2, 197, 768}), tensor({768, 3072}), tensor({3072})});
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 197, 3072), float32]");
  EXPECT_EQ(o.cost.macs, 2.0 * 197 * 768 * 3072);
  EXPECT_EQ(o.cost.flops, 2.0 * 197 * 3072);
}

TEST(Dense, Refuses) {
  EXPECT_EQ(type_of(op("nn.dense"), {tensor({2, 5}), tensor({4, 3})}), "nn.dense: inner dims differ: 5 and 4");
  EXPECT_EQ(type_of(op("nn.dense"), {tensor({2, 5}), tensor({5, 3}), tensor({2, 4})}),
            "nn.dense: shapes (2, 3) and (2, 4) do not broadcast: 3 against 4");
  EXPECT_EQ(type_of(op("nn.dense"), {tensor({1, 5}), tensor({5, 3}), tensor({2, 3})}),
            "nn.dense: C Tensor[(2, 3), float32] does not broadcast to (1, 3)");
  EXPECT_EQ(type_of(op("nn.dense"), {tensor({5}), tensor({5, 3})}),
            "nn.dense: A must have rank 2, got Tensor[(5,), float32]");
}

TEST(Matmul, AnyRank) {
  const auto type = [](Shape a, Shape b) { return type_of(kMatmul, {tensor(std::move(a)), tensor(std::move(b))}); };
  EXPECT_EQ(type({3}, {3}), "Tensor[(), float32]");
  EXPECT_EQ(type({3}, {3, 4}), "Tensor[(4,), float32]");
  EXPECT_EQ(type({2, 3}, {3}), "Tensor[(2,), float32]");
  EXPECT_EQ(type({5, 2, 3}, {3}), "Tensor[(5, 2), float32]");
  EXPECT_EQ(type({3}, {5, 3, 4}), "Tensor[(5, 4), float32]");
  EXPECT_EQ(type({7, 1, 2, 3}, {6, 3, 4}), "Tensor[(7, 6, 2, 4), float32]");
  EXPECT_EQ(type({N, 2, 3}, {1, 3, 4}), "Tensor[(N, 2, 4), float32]");
  EXPECT_EQ(type({2, 3}, {4, 5}), "nn.batch_matmul: inner dims differ: 3 in (2, 3) and 4 in (4, 5)");
  EXPECT_EQ(type({2, 2, 3}, {3, 3, 4}), "nn.batch_matmul: shapes (2,) and (3,) do not broadcast: 2 against 3");
  EXPECT_EQ(type({}, {3}), "nn.batch_matmul: operands of rank 0 cannot be multiplied");
  EXPECT_EQ(type_of(kMatmul, {unranked(), tensor({3, 4})}), "Tensor[*, float32]");
}

TEST(Matmul, Macs) {
  EXPECT_EQ(call(kMatmul, {tensor({2, 12, 197, 64}), tensor({2, 12, 64, 197})}).cost.macs, 2.0 * 12 * 197 * 197 * 64);
  EXPECT_EQ(call(kMatmul, {tensor({7, 1, 2, 3}), tensor({6, 3, 4})}).cost.macs, 7 * 6 * 2 * 4 * 3);
  EXPECT_EQ(call(kMatmul, {tensor({3}), tensor({3})}).cost.macs, 3);
  EXPECT_EQ(call(kMatmul, {tensor({5, 2, 3}), tensor({3})}).cost.macs, 30);
}

TEST(Matmul, FusedTranspositions) {
  const Outcome a = call(kMatmul, {tensor({2, 5, 3}), tensor({2, 5, 4})}, {{"transA", kOn}});
  EXPECT_EQ(a.types.at(0), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(a.cost.macs, 2 * 3 * 4 * 5);
  const Outcome batch = call(kMatmul, {tensor({3, 2, 5}), tensor({2, 5, 4})}, {{"transBatchA", kOn}});
  EXPECT_EQ(batch.types.at(0), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(batch.cost.macs, 2 * 3 * 4 * 5);
  const Outcome both =
      call(kMatmul, {tensor({5, 2, 3}), tensor({2, 4, 5})}, {{"transBatchA", kOn}, {"transA", kOn}, {"transB", kOn}});
  EXPECT_EQ(both.types.at(0), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(both.cost.macs, 2 * 3 * 4 * 5);
  EXPECT_EQ(type_of(kMatmul, {tensor({2, 5}), tensor({5, 4})}, {{"transBatchA", kOn}}),
            "nn.batch_matmul: transBatchA needs a rank of at least 3");
}

std::string einsum(const char* equation, std::vector<Arg> args) {
  return type_of(op("einsum"), std::move(args), {{"equation", std::string(equation)}});
}

TEST(Einsum, Results) {
  EXPECT_EQ(einsum("bij,bjk->bik", {tensor({N, 2, 3}), tensor({N, 3, 4})}), "Tensor[(N, 2, 4), float32]");
  EXPECT_EQ(einsum(" b i j , b j k -> b i k ", {tensor({7, 2, 3}), tensor({7, 3, 4})}), "Tensor[(7, 2, 4), float32]");
  EXPECT_EQ(einsum("ij,jk", {tensor({2, 3}), tensor({3, 4})}), "Tensor[(2, 4), float32]");
  EXPECT_EQ(einsum("ba", {tensor({2, 3})}), "Tensor[(3, 2), float32]");  // implicit: alphabetical
  EXPECT_EQ(einsum("aB", {tensor({2, 3})}), "Tensor[(3, 2), float32]");  // capitals come first
  EXPECT_EQ(einsum("ii->i", {tensor({5, 5})}), "Tensor[(5,), float32]");
  EXPECT_EQ(einsum("ii", {tensor({5, 5})}), "Tensor[(), float32]");
  EXPECT_EQ(einsum("i,i->", {tensor({5}), tensor({5})}), "Tensor[(), float32]");
  EXPECT_EQ(einsum("...ij,...jk->...ik", {tensor({8, 1, 2, 3}), tensor({6, 3, 4})}), "Tensor[(8, 6, 2, 4), float32]");
  EXPECT_EQ(einsum("...ij,...jk", {tensor({8, 2, 3}), tensor({8, 3, 4})}), "Tensor[(8, 2, 4), float32]");
  EXPECT_EQ(einsum("i...->...", {tensor({2, 3, 4})}), "Tensor[(3, 4), float32]");
  EXPECT_EQ(einsum("ij,jk->ik", {tensor({2, 1}), tensor({3, 4})}), "Tensor[(2, 4), float32]");
  EXPECT_EQ(einsum("ij,j->i", {unranked(), tensor({3})}), "Tensor[(?,), float32]");
  EXPECT_EQ(einsum("...j,j->...", {unranked(), tensor({3})}), "Tensor[*, float32]");
}

TEST(Einsum, Refuses) {
  const Arg m = tensor({3, 3});
  EXPECT_EQ(einsum("......ii->i", {m}), "einsum: equation '......ii->i': a term has more than one ellipsis");
  EXPECT_EQ(einsum("i.i->i", {m}), "einsum: equation 'i.i->i': '.' outside an ellipsis '...'");
  EXPECT_EQ(einsum("i1->i", {m}), "einsum: equation 'i1->i': '1' is not a label");
  EXPECT_EQ(einsum("ij->ik", {m}), "einsum: equation 'ij->ik': output label 'k' is in no input");
  EXPECT_EQ(einsum("ij->ii", {m}), "einsum: equation 'ij->ii': output label 'i' repeats");
  EXPECT_EQ(einsum("ij->i->j", {m}), "einsum: equation 'ij->i->j': has more than one '->'");
  EXPECT_EQ(einsum("ij,jk->ik", {m}), "einsum: equation 'ij,jk->ik': has 2 terms for 1 inputs");
  EXPECT_EQ(einsum("ijk->i", {m}), "einsum: equation 'ijk->i': term 0 names 3 dims, the input has 2");
  EXPECT_EQ(einsum("ii->i", {tensor({3, 4})}), "einsum: equation 'ii->i': label 'i' repeats over dims 3 and 4");
  EXPECT_EQ(einsum("ij,jk->ik", {tensor({2, 3}), tensor({4, 5})}),
            "einsum: equation 'ij,jk->ik': label 'j' stands for 3 and 4");
  EXPECT_EQ(einsum("...i->i", {m}), "einsum: equation '...i->i': the output lacks the ellipsis of the inputs");
  EXPECT_EQ(einsum("", {m}), "einsum: equation '': is missing");
}

TEST(Einsum, Macs) {
  const auto macs = [](const char* equation, std::vector<Arg> args) {
    return call(op("einsum"), std::move(args), {{"equation", std::string(equation)}}).cost;
  };
  EXPECT_EQ(macs("bij,bjk->bik", {tensor({7, 2, 3}), tensor({7, 3, 4})}).macs, 7 * 2 * 3 * 4);
  EXPECT_EQ(macs("...ij,...jk->...ik", {tensor({8, 1, 2, 3}), tensor({6, 3, 4})}).macs, 8 * 6 * 2 * 3 * 4);
  EXPECT_EQ(macs("i,j->ij", {tensor({5}), tensor({6})}).macs, 30);
  // From the left: (ij,jk) costs ijk, then (ik,kl) costs ikl.
  EXPECT_EQ(macs("ij,jk,kl->il", {tensor({2, 3}), tensor({3, 4}), tensor({4, 5})}).macs, 2 * 3 * 4 + 2 * 4 * 5);
  EXPECT_EQ(macs("ij->i", {tensor({5, 6})}).macs, 0);
  EXPECT_EQ(macs("ij->i", {tensor({5, 6})}).flops, 30);
}

TEST(MatmulInteger, Types) {
  const Outcome o = call(op("qnn.matmul_integer"), {u8({4, 3}), i8({3, 2}), u8({}), i8({2})});
  EXPECT_EQ(o.types.at(0), "Tensor[(4, 2), int32]");
  EXPECT_EQ(o.cost.macs, 24);
  EXPECT_EQ(type_of(op("qnn.matmul_integer"), {u8({4, 3}), tensor({3, 2}, DType::Int16)}),
            "qnn.matmul_integer: B must be int8 or uint8, got int16");
  EXPECT_EQ(type_of(op("qnn.matmul_integer"), {u8({4, 3}), i8({3, 2}), i8({})}),
            "qnn.matmul_integer: operands 0 and 2 differ in type: uint8 and int8");
}

TEST(MatmulIntegerToFloat, FollowsItsScales) {
  const OpId id = op("qnn.matmul_integer_to_float");
  EXPECT_EQ(type_of(id, {i8({4, 3}), u8({3, 2}), tensor({}, DType::Float16), tensor({2}, DType::Float16)}),
            "Tensor[(4, 2), float16]");
  EXPECT_EQ(type_of(id, {i8({4, 3}), u8({3, 2}), tensor({}), i8({2})}),
            "qnn.matmul_integer_to_float: b_scale must be floating point, got int8");
  EXPECT_EQ(type_of(id, {i8({4, 3}), u8({3, 2}), tensor({}), tensor({2}), i8({}), u8({}), u8({2})}),
            "qnn.matmul_integer_to_float: operands 2 and 6 differ in type: float32 and uint8");
}

TEST(QLinearMatmul, RequantisesEveryResult) {
  const Outcome o = call(op("qnn.matmul"),
                         {u8({2, 2, 4}), tensor({}), u8({}), i8({2, 4, 3}), tensor({}), i8({}), tensor({}), u8({})});
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 2, 3), uint8]");
  EXPECT_EQ(o.cost.macs, 48);
  EXPECT_EQ(o.cost.flops, 24);
}

TEST(MatmulNBits, PackedWeights) {
  const OpId id = op("nn.matmul_nbits");
  const Attrs attrs{{"K", std::int64_t{4096}},
                    {"N", std::int64_t{11008}},
                    {"bits", std::int64_t{4}},
                    {"block_size", std::int64_t{32}}};
  const Outcome o = call(
      id, {tensor({1, 7, 4096}, DType::Float16), u8({11008, 128, 16}), tensor({11008 * 128}, DType::Float16)}, attrs);
  EXPECT_EQ(o.types.at(0), "Tensor[(1, 7, 11008), float16]");
  EXPECT_EQ(o.cost.macs, 7.0 * 4096 * 11008);
  EXPECT_EQ(o.cost.flops, 2.0 * 4096 * 11008);
  EXPECT_EQ(o.cost.bytes_read, 2.0 * 7 * 4096 + 0.5 * 4096 * 11008 + 2.0 * 11008 * 128);
  EXPECT_EQ(type_of(id, {tensor({7, 4095}), u8({11008, 128, 16}), tensor({11008 * 128})}, attrs),
            "nn.matmul_nbits: A has 4095 columns, K is 4096");
  EXPECT_EQ(
      type_of(id, {tensor({7, 4096}), u8({11008, 128, 8}), tensor({11008 * 128})}, attrs),
      "nn.matmul_nbits: B must have 22544384 elements for K = 4096, N = 11008, is Tensor[(11008, 128, 8), uint8]");
  EXPECT_EQ(type_of(id, {tensor({7, 16}), u8({4, 1, 8}), tensor({4})},
                    {{"K", std::int64_t{16}}, {"block_size", std::int64_t{16}}}),
            "nn.matmul_nbits: attribute N is missing");
  Attrs five = attrs;
  five.set("bits", std::int64_t{5});
  EXPECT_EQ(type_of(id, {tensor({7, 4096}), u8({11008, 128, 16}), tensor({11008 * 128})}, five),
            "nn.matmul_nbits: bits must be 2, 4 or 8, is 5");
}

TEST(MatmulNBits, FpQ4TakesTheShapeAsAnOperand) {
  const Attrs attrs{{"blk_quant_type", kOn}};
  const Outcome o = call(op("nn.matmul_nbits"), {tensor({5, 64}), u8({1300}), ints({64, 40})}, attrs);
  EXPECT_EQ(o.types.at(0), "Tensor[(5, 40), float32]");
  EXPECT_EQ(o.cost.macs, 5 * 64 * 40);
  EXPECT_EQ(type_of(op("nn.matmul_nbits"), {tensor({5, 63}), u8({1300}), ints({64, 40})}, attrs),
            "nn.matmul_nbits: inner dims differ: 63 and 64");
}

TEST(Det, PerMatrix) {
  const Outcome o = call(op("det"), {tensor({4, 6, 6})});
  EXPECT_EQ(o.types.at(0), "Tensor[(4,), float32]");
  EXPECT_EQ(o.cost.macs, 4 * 72);
  EXPECT_EQ(type_of(op("det"), {tensor({2, 3})}), "det: the last two dims differ: 3 and 2");
}

}  // namespace
}  // namespace perfc::testing
