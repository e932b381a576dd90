/// Resizing and sampling.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

const OpId kResize = op("image.resize2d");

Attrs mode(const char* name) { return {{"mode", std::string(name)}}; }
Attrs policy(const char* name) { return {{"keep_aspect_ratio_policy", std::string(name)}, {"axes", Ints{2, 3}}}; }

TEST(Resize, Scales) {
  const Arg x = tensor({1, 3, 10, 7});
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({1, 1, 2, 3})}), "Tensor[(1, 3, 20, 21), float32]");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({2.5, 0.5})}, {{"axes", Ints{-2, -1}}}),
            "Tensor[(1, 3, 25, 3), float32]");
  // 10 × 0.7 is 7 in single precision; the double nearest to 0.7f gives 6.99….
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({1, 1, 0.7f, 1})}), "Tensor[(1, 3, 7, 7), float32]");
  EXPECT_EQ(type_of(kResize, {tensor({N, 3, unknown, 7}), omitted(), floats({1, 1, 2, 2})}),
            "Tensor[(N, 3, ?, 14), float32]");
  EXPECT_EQ(type_of(kResize, {x, omitted(), tensor({4})}), "Tensor[(?, ?, ?, ?), float32]");
  EXPECT_EQ(type_of(op("nn.upsampling"), {x, floats({1, 1, 2, 2})}), "Tensor[(1, 3, 20, 14), float32]");
}

TEST(Resize, Sizes) {
  const Arg x = tensor({1, 3, 20, 40});
  EXPECT_EQ(type_of(kResize, {x, omitted(), omitted(), ints({1, 3, 7, N})}), "Tensor[(1, 3, 7, N), float32]");
  EXPECT_EQ(type_of(kResize, {x, floats({}), floats({}), ints({1, 3, 7, 9})}), "Tensor[(1, 3, 7, 9), float32]");
  EXPECT_EQ(type_of(kResize, {x, omitted(), omitted(), ints({10, 10})}, policy("not_larger")),
            "Tensor[(1, 3, 5, 10), float32]");
  EXPECT_EQ(type_of(kResize, {x, omitted(), omitted(), ints({10, 10})}, policy("not_smaller")),
            "Tensor[(1, 3, 10, 20), float32]");
  // 5 / 40 of 20 is 2.5, which rounds up.
  EXPECT_EQ(type_of(kResize, {x, omitted(), omitted(), ints({10, 5})}, policy("not_larger")),
            "Tensor[(1, 3, 3, 5), float32]");
}

TEST(Resize, Refuses) {
  const Arg x = tensor({1, 3, 10, 7});
  EXPECT_EQ(type_of(kResize, {x}), "image.resize2d: gives neither scales nor sizes");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({1, 1, 2, 2}), ints({1, 3, 4, 4})}),
            "image.resize2d: gives both scales and sizes");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({2, 2})}), "image.resize2d: scales has 2 entries for 4 axes");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({1, 1, 0, 2})}),
            "image.resize2d: scales must be positive, one is 0");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({1, 1, 1e30, 2})}),
            "image.resize2d: scale 1e+30 makes the result too large");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({1, 1, 2, 2}, DType::Float16)}),
            "image.resize2d: scales must be float32, got float16");
  EXPECT_EQ(type_of(kResize, {x, omitted(), omitted(), ints({1, 3, -4, 4})}),
            "image.resize2d: sizes holds a negative dim: -4");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({1, 1, 2, 2})}, mode("quadratic")),
            "image.resize2d: mode 'quadratic' is none of nearest, linear, cubic");
  EXPECT_EQ(type_of(kResize, {x, omitted(), omitted(), ints({4, 4})}, policy("fit")),
            "image.resize2d: keep_aspect_ratio_policy 'fit' is none of stretch, not_larger, not_smaller");
  EXPECT_EQ(type_of(kResize, {x, omitted(), floats({2, 2})}, {{"axes", Ints{2, -2}}}),
            "image.resize2d: axes name axis 2 twice");
}

TEST(Resize, CostByMode) {
  const auto flops = [](const char* name, Arg x, Arg scales) {
    return call(kResize, {std::move(x), omitted(), std::move(scales)}, mode(name)).cost.flops;
  };
  const Arg x = tensor({1, 3, 8, 8});
  EXPECT_EQ(flops("nearest", x, floats({1, 1, 2, 2})), 768);
  EXPECT_EQ(flops("linear", x, floats({1, 1, 2, 2})), 768 * 2 * 4);
  EXPECT_EQ(flops("cubic", x, floats({1, 1, 2, 2})), 768 * 2 * 16);
  EXPECT_EQ(flops("linear", x, floats({1, 1, 2, 1})), 384 * 2 * 2);
  EXPECT_EQ(flops("linear", tensor({1, 2, 4, 4, 4}), floats({1, 1, 2, 2, 2})), 1024 * 2 * 8);
}

TEST(GridSample, PlanarAndVolumetric) {
  const Outcome o = call(op("image.grid_sample"), {tensor({2, 3, 8, 9}), tensor({2, 5, 6, 2})}, mode("linear"));
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 3, 5, 6), float32]");
  EXPECT_EQ(o.cost.flops, 180 * 2 * 4 + 120 * 4);
  EXPECT_EQ(type_of(op("image.grid_sample"), {tensor({N, 3, 8, 9, 10}), tensor({N, 4, 5, 6, 3})}),
            "Tensor[(N, 3, 4, 5, 6), float32]");
  EXPECT_EQ(type_of(op("image.grid_sample"), {tensor({1, 3, 8, 9}), tensor({1, 5, 6, 3})}),
            "image.grid_sample: the last dim of grid must be 2, is 3");
  EXPECT_EQ(type_of(op("image.grid_sample"), {tensor({1, 3, 8, 9}), tensor({2, 5, 6, 2})}),
            "image.grid_sample: batch of X and grid differ: 1 and 2");
  EXPECT_EQ(type_of(op("image.grid_sample"), {tensor({1, 3, 8, 9}), tensor({1, 5, 6, 2})}, mode("best")),
            "image.grid_sample: mode 'best' is none of nearest, linear, cubic");
}

TEST(AffineGrid, PlanarAndVolumetric) {
  const Outcome o = call(op("image.affine_grid"), {tensor({2, 2, 3}), ints({2, 3, 5, 6})});
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 5, 6, 2), float32]");
  EXPECT_EQ(o.cost.macs, 2 * 5 * 6 * 2 * 3);
  EXPECT_EQ(type_of(op("image.affine_grid"), {tensor({N, 3, 4}), ints({N, 3, 4, 5, 6})}),
            "Tensor[(N, 4, 5, 6, 3), float32]");
  EXPECT_EQ(type_of(op("image.affine_grid"), {tensor({2, 2, 3}), ints({2, 3, 4, 5, 6})}),
            "image.affine_grid: theta must be [n, 3, 4], is Tensor[(2, 2, 3), float32]");
  EXPECT_EQ(type_of(op("image.affine_grid"), {tensor({2, 2, 3}), ints({2, 3, 4})}),
            "image.affine_grid: size must have 4 or 5 entries, has 3");
}

TEST(ImageDecode, Channels) {
  const Arg bytes = tensor({N}, DType::UInt8);
  EXPECT_EQ(type_of(op("image.decode"), {bytes}), "Tensor[(?, ?, 3), uint8]");
  EXPECT_EQ(type_of(op("image.decode"), {bytes}, {{"pixel_format", std::string("Grayscale")}}),
            "Tensor[(?, ?, 1), uint8]");
  EXPECT_EQ(type_of(op("image.decode"), {bytes}, {{"pixel_format", std::string("CMYK")}}),
            "image.decode: pixel_format 'CMYK' is none of RGB, BGR, Grayscale");
}

}  // namespace
}  // namespace perfc::testing
