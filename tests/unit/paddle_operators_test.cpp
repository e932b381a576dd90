#include <set>

#include "frontends/paddle/paddle.h"
#include "tests/unit/paddle_imported.h"

namespace perfc::testing {
namespace {

using namespace paddle;

TEST(PaddleOperators, Convolutions) {
  const auto conv = [](const Attributes& attrs, const Dims& x = {1, 3, 9, 9}) {
    return type_of("conv2d", {{"Input", x}, {"Filter", {6, 3, 3, 3}}}, attrs, "Output");
  };
  EXPECT_EQ(conv({}), "Tensor[(1, 6, 7, 7), float32]");
  EXPECT_EQ(conv({{"paddings", Dims{1, 2, 0, 3}}}), "Tensor[(1, 6, 10, 10), float32]");  // pairs per axis
  EXPECT_EQ(conv({{"padding_algorithm", std::string("SAME")}, {"strides", Dims{2, 2}}, {"paddings", Dims{0, 0}}}),
            "Tensor[(1, 6, 5, 5), float32]");
  EXPECT_EQ(conv({{"padding_algorithm", std::string("VALID")}, {"paddings", Dims{4, 4}}}),
            "Tensor[(1, 6, 7, 7), float32]");
  EXPECT_EQ(conv({{"data_format", std::string("NHWC")}}, {1, 9, 9, 3}), "Tensor[(1, 7, 7, 6), float32]");
  EXPECT_EQ(type_of("depthwise_conv2d", {{"Input", {1, 8, 5, 5}}, {"Filter", {8, 1, 3, 3}}}, {{"groups", 8}}, "Output"),
            "Tensor[(1, 8, 3, 3), float32]");
  EXPECT_EQ(type_of("conv3d", {{"Input", {1, 2, 5, 5, 5}}, {"Filter", {4, 2, 3, 3, 3}}}, {}, "Output"),
            "Tensor[(1, 4, 3, 3, 3), float32]");
  EXPECT_EQ(type_of("conv2d_transpose", {{"Input", {1, 4, 5, 5}}, {"Filter", {4, 2, 2, 2}}}, {{"strides", Dims{2, 2}}},
                    "Output"),
            "Tensor[(1, 2, 10, 10), float32]");
  EXPECT_EQ(type_of("conv2d_transpose", {{"Input", {1, 4, 5, 5}}, {"Filter", {4, 2, 3, 3}}},
                    {{"strides", Dims{2, 2}}, {"output_size", Dims{12, 12}}}, "Output"),
            "Tensor[(1, 2, 12, 12), float32]");
  EXPECT_EQ(
      type_of("deformable_conv",
              {{"Input", {1, 4, 6, 6}}, {"Offset", {1, 18, 4, 4}}, {"Filter", {8, 4, 3, 3}}, {"Mask", {1, 9, 4, 4}}},
              {{"strides", Dims{1, 1}}, {"paddings", Dims{0, 0}}, {"dilations", Dims{1, 1}}}, "Output"),
      "Tensor[(1, 8, 4, 4), float32]");
}

TEST(PaddleOperators, Pools) {
  const auto pool = [](const Attributes& attrs) { return type_of("pool2d", {{"X", {1, 3, 8, 8}}}, attrs); };
  EXPECT_EQ(pool({{"ksize", Dims{3, 3}},
                  {"strides", Dims{2, 2}},
                  {"paddings", Dims{0, 0}},
                  {"pooling_type", std::string("max")}}),
            "Tensor[(1, 3, 3, 3), float32]");
  EXPECT_EQ(
      pool({{"ksize", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"ceil_mode", true}, {"pooling_type", std::string("avg")}}),
      "Tensor[(1, 3, 4, 4), float32]");
  EXPECT_EQ(pool({{"ksize", Dims{1, 1}}, {"adaptive", true}, {"pooling_type", std::string("avg")}}),
            "Tensor[(1, 3, 1, 1), float32]");
  EXPECT_EQ(pool({{"ksize", Dims{4, 2}}, {"adaptive", true}, {"pooling_type", std::string("avg")}}),
            "Tensor[(1, 3, 4, 2), float32]");
  EXPECT_EQ(pool({{"ksize", Dims{2, 2}}, {"global_pooling", true}}), "Tensor[(1, 3, 1, 1), float32]");
  EXPECT_EQ(type_of("max_pool2d_with_index", {{"X", {1, 3, 8, 8}}}, {{"ksize", Dims{2, 2}}, {"strides", Dims{2, 2}}}),
            "Tensor[(1, 3, 4, 4), float32]");
  EXPECT_EQ(type_of("pool3d", {{"X", {1, 3, 4, 4, 4}}}, {{"ksize", Dims{2, 2, 2}}, {"strides", Dims{2, 2, 2}}}),
            "Tensor[(1, 3, 2, 2, 2), float32]");
}

TEST(PaddleOperators, Products) {
  EXPECT_EQ(type_of("mul", {{"X", {2, 3, 4}}, {"Y", {12, 5}}}, {{"x_num_col_dims", 1}}), "Tensor[(2, 5), float32]");
  EXPECT_EQ(type_of("mul", {{"X", {2, 3, 4}}, {"Y", {4, 5}}}, {{"x_num_col_dims", 2}}), "Tensor[(2, 3, 5), float32]");
  EXPECT_EQ(type_of("mul", {{"X", {2, 3, 4, 5}}, {"Y", {20, 6}}}, {{"x_num_col_dims", 2}}),
            "Tensor[(2, 3, 6), float32]");
  EXPECT_EQ(type_of("matmul_v2", {{"X", {2, 3, 4}}, {"Y", {2, 5, 4}}}, {{"trans_y", true}}),
            "Tensor[(2, 3, 5), float32]");
  EXPECT_EQ(type_of("matmul", {{"X", {4, 3}}, {"Y", {4, 5}}}, {{"transpose_X", true}, {"alpha", 0.5}}),
            "Tensor[(3, 5), float32]");
  EXPECT_EQ(type_of("bmm", {{"X", {2, 3, 4}}, {"Y", {2, 4, 5}}}), "Tensor[(2, 3, 5), float32]");
  EXPECT_EQ(type_of("mv", {{"X", {3, 4}}, {"Vec", {4}}}), "Tensor[(3,), float32]");
  EXPECT_EQ(type_of("dot", {{"X", {3, 4}}, {"Y", {3, 4}}}), "Tensor[(3,), float32]");
  EXPECT_EQ(type_of("addmm", {{"Input", {3, 5}}, {"X", {3, 4}}, {"Y", {4, 5}}}, {{"Alpha", 2.0}}),
            "Tensor[(3, 5), float32]");
  EXPECT_EQ(type_of("fc", {{"Input", {2, 3, 4}}, {"W", {12, 5}}, {"Bias", {5}}},
                    {{"in_num_col_dims", 1}, {"activation_type", std::string("relu")}}),
            "Tensor[(2, 5), float32]");
  EXPECT_EQ(type_of("einsum", {{"Operands", {2, 3}}, {"Operands", {3, 4}}}, {{"equation", std::string("ab,bc->ac")}}),
            "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("lookup_table", {{"W", {10, 4}}, {"Ids", {3, 1}, kInt64}}), "Tensor[(3, 4), float32]");
  EXPECT_EQ(type_of("lookup_table_v2", {{"W", {10, 4}}, {"Ids", {3, 1}, kInt64}}), "Tensor[(3, 1, 4), float32]");
  EXPECT_EQ(type_of("flash_attn", {{"q", {2, 7, 8, 16}}, {"k", {2, 9, 2, 16}}, {"v", {2, 9, 2, 16}}}, {}, "out"),
            "Tensor[(2, 7, 8, 16), float32]");
}

TEST(PaddleOperators, Normalisation) {
  const Input x{"X", {2, 6, 4, 4}}, c{"Scale", {6}}, b{"Bias", {6}};
  EXPECT_EQ(type_of("batch_norm", {x, c, b, {"Mean", {6}}, {"Variance", {6}}}, {{"is_test", true}}, "Y"),
            "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("group_norm", {x, c, b}, {{"groups", 3}}, "Y"), "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("instance_norm", {x, c, b}, {}, "Y"), "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("layer_norm", {x, {"Scale", {96}}, {"Bias", {96}}}, {{"begin_norm_axis", 1}}, "Y"),
            "Tensor[(2, 6, 4, 4), float32]");
  EXPECT_EQ(type_of("affine_channel", {x, c, b}), "Tensor[(2, 6, 4, 4), float32]");
  const auto trained = one_operation("batch_norm", {x, c, b, {"Mean", {6}}, {"Variance", {6}}}, {}, "Y");
  ASSERT_NE(only(trained, op("nn.batch_norm")), nullptr);
  EXPECT_EQ(only(trained, op("nn.batch_norm"))->attrs.int_or("training_mode", 0), 1);
}

TEST(PaddleOperators, DropoutScalesInTheOldMode) {
  const auto in = [](const Attributes& attrs) { return one_operation("dropout", {{"X", {2, 3}}}, attrs); };
  const auto old =
      in({{"is_test", true}, {"dropout_prob", 0.25}, {"dropout_implementation", std::string("downgrade_in_infer")}});
  ASSERT_NE(only(old, op("multiply")), nullptr);
  EXPECT_DOUBLE_EQ(old.graph->data(only(old, op("multiply"))->operands[1])->floats()->front(), 0.75);
  EXPECT_EQ(in({{"is_test", true}, {"dropout_implementation", std::string("upscale_in_train")}}).graph->size(), 1u);
  EXPECT_NE(only(in({{"is_test", false}}), op("nn.dropout")), nullptr);
}

TEST(PaddleOperators, Views) {
  EXPECT_EQ(type_of("reshape2", {{"X", {2, 3, 4}}}, {{"shape", Dims{0, -1}}}), "Tensor[(2, 12), float32]");
  EXPECT_EQ(type_of("flatten_contiguous_range", {{"X", {2, 3, 4, 5}}}, {{"start_axis", 1}, {"stop_axis", 2}}),
            "Tensor[(2, 12, 5), float32]");
  EXPECT_EQ(type_of("flatten2", {{"X", {2, 3, 4, 5}}}, {{"axis", 2}}), "Tensor[(6, 20), float32]");
  EXPECT_EQ(type_of("transpose2", {{"X", {2, 3, 4}}}, {{"axis", Dims{2, 0, 1}}}), "Tensor[(4, 2, 3), float32]");
  EXPECT_EQ(type_of("squeeze2", {{"X", {1, 3, 1, 5}}}, {{"axes", Dims{0, 1}}}),
            "Tensor[(3, 1, 5), float32]");  // dim 1 is 3 and stays
  EXPECT_EQ(type_of("unsqueeze2", {{"X", {3, 5}}}, {{"axes", Dims{0, -1}}}), "Tensor[(1, 3, 5, 1), float32]");
  EXPECT_EQ(type_of("unsqueeze2", {{"X", {3, 5}}}, {{"axes", Dims{1, 1}}}),
            "Tensor[(3, 1, 1, 5), float32]");  // one after the other
  EXPECT_EQ(
      type_of("slice", {{"Input", {4, 6, 8}}},
              {{"axes", Dims{0, 2}}, {"starts", Dims{1, -3}}, {"ends", Dims{2, 100}}, {"decrease_axis", Dims{0}}}),
      "Tensor[(6, 3), float32]");
  EXPECT_EQ(type_of("strided_slice", {{"Input", {9}}},
                    {{"axes", Dims{0}}, {"starts", Dims{8}}, {"ends", Dims{-10}}, {"strides", Dims{-2}}}),
            "Tensor[(5,), float32]");
  EXPECT_EQ(type_of("concat", {{"X", {2, 3}}, {"X", {2, 5}}}, {{"axis", -1}}), "Tensor[(2, 8), float32]");
  EXPECT_EQ(type_of("stack", {{"X", {2, 3}}, {"X", {2, 3}}}, {{"axis", -1}}, "Y"), "Tensor[(2, 3, 2), float32]");
  EXPECT_EQ(type_of("expand_v2", {{"X", {1, 3}}}, {{"shape", Dims{2, 4, -1}}}), "Tensor[(2, 4, 3), float32]");
  EXPECT_EQ(type_of("expand_as_v2", {{"X", {1, 3}}, {"Y", {2, 3}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("expand", {{"X", {1, 3}}}, {{"expand_times", Dims{2, 2}}}), "Tensor[(2, 6), float32]");
  EXPECT_EQ(type_of("tile", {{"X", {3}}}, {{"repeat_times", Dims{2, 2}}}), "Tensor[(2, 6), float32]");
  EXPECT_EQ(type_of("flip", {{"X", {2, 3}}}, {{"axis", Dims{0, 1}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("roll", {{"X", {4, 3}}}, {{"shifts", Dims{1, -1}}, {"axis", Dims{0, 1}}}),
            "Tensor[(4, 3), float32]");
  EXPECT_EQ(type_of("pad", {{"X", {2, 3}}}, {{"paddings", Dims{0, 1, 2, 0}}}), "Tensor[(3, 5), float32]");
  EXPECT_EQ(type_of("pad2d", {{"X", {1, 1, 4, 4}}}, {{"paddings", Dims{1, 2, 3, 4}}, {"mode", std::string("reflect")}}),
            "Tensor[(1, 1, 7, 11), float32]");
  EXPECT_EQ(type_of("pad3d", {{"X", {1, 1, 4, 4, 4}}}, {{"paddings", Dims{1, 0, 2, 0, 3, 0}}}),
            "Tensor[(1, 1, 7, 6, 5), float32]");
  EXPECT_EQ(type_of("pixel_shuffle", {{"X", {1, 8, 3, 3}}}, {{"upscale_factor", 2}}), "Tensor[(1, 2, 6, 6), float32]");
  EXPECT_EQ(
      type_of("pixel_shuffle", {{"X", {1, 3, 3, 8}}}, {{"upscale_factor", 2}, {"data_format", std::string("NHWC")}}),
      "Tensor[(1, 6, 6, 2), float32]");
  EXPECT_EQ(type_of("shuffle_channel", {{"X", {1, 8, 3, 3}}}, {{"group", 2}}), "Tensor[(1, 8, 3, 3), float32]");
  EXPECT_EQ(type_of("temporal_shift", {{"X", {8, 8, 3, 3}}}, {{"seg_num", 4}, {"shift_ratio", 0.25}}),
            "Tensor[(8, 8, 3, 3), float32]");
  EXPECT_EQ(type_of("crop_tensor", {{"X", {4, 6}}}, {{"shape", Dims{2, -1}}, {"offsets", Dims{1, 2}}}),
            "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("set_value", {{"Input", {4, 6}}},
                    {{"axes", Dims{0}},
                     {"starts", Dims{1}},
                     {"ends", Dims{3}},
                     {"steps", Dims{1}},
                     {"fp32_values", std::vector<double>{7}}}),
            "Tensor[(4, 6), float32]");
  // A window of two axes, one of them in steps.
  EXPECT_EQ(type_of("set_value", {{"Input", {4, 6}}},
                    {{"axes", Dims{0, 1}},
                     {"starts", Dims{1, -5}},
                     {"ends", Dims{3, 6}},
                     {"steps", Dims{1, 2}},
                     {"fp32_values", std::vector<double>{7}}}),
            "Tensor[(4, 6), float32]");
}

TEST(PaddleOperators, SplitsGiveAllTheirParts) {
  const auto parts = [](const std::string& type, const std::string& slot, const Attributes& attrs, const Dims& x) {
    const auto m =
        program(variable("x", kFloat32, x) + feed("x") + operation(type, {{"X", {"x"}}}, {{slot, {"a", "b"}}}, attrs) +
                fetch("a", 0) + fetch("b", 1));
    return result_type(m, 0) + " " + result_type(m, 1);
  };
  EXPECT_EQ(parts("split", "Out", {{"num", 2}, {"axis", 1}}, {2, 6}),
            "Tensor[(2, 3), float32] Tensor[(2, 3), float32]");
  EXPECT_EQ(parts("split", "Out", {{"sections", Dims{2, -1}}, {"axis", -1}}, {2, 6}),
            "Tensor[(2, 2), float32] Tensor[(2, 4), float32]");
  EXPECT_EQ(parts("unstack", "Y", {{"axis", 0}}, {2, 6}), "Tensor[(6,), float32] Tensor[(6,), float32]");
  EXPECT_NE(parts("split", "Out", {{"sections", Dims{7, -1}}, {"axis", 1}}, {2, 6})
                .find("split: 'sections' does not fit the data"),
            std::string::npos);
}

TEST(PaddleOperators, ListsOfPir) {
  const std::string half = pir_type("t_f32", {2, 3}), whole = pir_type("t_f32", {2, 6});
  const std::string list = fmt::format(R"({{"#":"0.t_vec","D":[{},{}]}})", half, half);
  const auto ints = [](int number, const Dims& values) {
    return pir_operation("1.full_int_array", {},
                         {pir_result(number, pir_type("t_i64", {static_cast<int>(values.size())}))},
                         {{"value", values}, {"dtype", std::string("int64")}});
  };
  const auto m = pir({pir_input(1, "x", whole), ints(2, {3, 3}), ints(3, {1}),
                      pir_operation("1.split", {1, 2, 3}, {pir_result(4, list)}),
                      pir_operation("0.split", {4}, {pir_result(5, half), pir_result(6, half)}),
                      pir_operation("0.combine", {6, 5}, {pir_result(7, list)}),
                      pir_operation("1.concat", {7, 3}, {pir_result(8, whole)}), pir_output(8)});
  EXPECT_EQ(result_type(m), "Tensor[(2, 6), float32]");
  EXPECT_EQ(m.diags.str(), "");
}

TEST(PaddleOperators, Reductions) {
  const Input x{"X", {2, 3, 4}};
  EXPECT_EQ(type_of("reduce_mean", {x}, {{"dim", Dims{1}}, {"keep_dim", true}}), "Tensor[(2, 1, 4), float32]");
  EXPECT_EQ(type_of("reduce_max", {x}, {{"dim", Dims{-1}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("reduce_any", {{"X", {2, 3}, kBool}}, {{"dim", Dims{0}}}), "Tensor[(3,), bool]");
  EXPECT_EQ(type_of("mean", {x}), "Tensor[(), float32]");
  EXPECT_EQ(type_of("logsumexp", {x}, {{"axis", Dims{0}}}), "Tensor[(3, 4), float32]");
  EXPECT_EQ(type_of("p_norm", {x}, {{"porder", 3.0}, {"axis", 1}}), "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("frobenius_norm", {x}, {{"dim", Dims{1, 2}}}), "Tensor[(2,), float32]");
  EXPECT_EQ(type_of("arg_max", {x}, {{"axis", 2}, {"dtype", static_cast<int>(kInt32)}}), "Tensor[(2, 3), int32]");
  EXPECT_EQ(type_of("arg_min", {x}, {{"flatten", true}}), "Tensor[(), int64]");
  EXPECT_EQ(type_of("cumsum", {x}, {{"flatten", true}}), "Tensor[(24,), float32]");
  EXPECT_EQ(type_of("argsort", {x}, {{"axis", 1}}, "Indices"), "Tensor[(2, 3, 4), int64]");
  EXPECT_EQ(type_of("top_k_v2", {x}, {{"k", 2}, {"axis", -1}}), "Tensor[(2, 3, 2), float32]");
  EXPECT_EQ(type_of("kthvalue", {x}, {{"k", 2}, {"axis", 1}}), "Tensor[(2, 4), float32]");
  EXPECT_EQ(type_of("where_index", {{"Condition", {3, 4}, kBool}}), "Tensor[(?, 2), int64]");
}

TEST(PaddleOperators, Gathers) {
  EXPECT_EQ(type_of("gather", {{"X", {5, 4}}, {"Index", {3, 1}, kInt64}}), "Tensor[(3, 4), float32]");
  EXPECT_EQ(type_of("index_select", {{"X", {5, 4}}, {"Index", {3}, kInt32}}, {{"dim", 1}}), "Tensor[(5, 3), float32]");
  EXPECT_EQ(type_of("gather_nd", {{"X", {5, 4, 2}}, {"Index", {3, 2}, kInt32}}), "Tensor[(3, 2), float32]");
  EXPECT_EQ(type_of("take_along_axis", {{"Input", {5, 4}}, {"Index", {5, 2}, kInt64}}, {{"Axis", 1}}, "Result"),
            "Tensor[(5, 2), float32]");
  EXPECT_EQ(type_of("index_sample", {{"X", {5, 4}}, {"Index", {5, 2}, kInt64}}), "Tensor[(5, 2), float32]");
  EXPECT_EQ(type_of("put_along_axis", {{"Input", {5, 4}}, {"Index", {5, 2}, kInt64}, {"Value", {5, 2}}},
                    {{"Axis", 1}, {"Reduce", std::string("add")}}, "Result"),
            "Tensor[(5, 4), float32]");
  EXPECT_EQ(type_of("scatter", {{"X", {5, 4}}, {"Ids", {3}, kInt32}, {"Updates", {3, 4}}}), "Tensor[(5, 4), float32]");
  EXPECT_EQ(type_of("scatter_nd_add", {{"X", {5, 4}}, {"Index", {3, 1}, kInt32}, {"Updates", {3, 4}}}),
            "Tensor[(5, 4), float32]");
  EXPECT_EQ(type_of("one_hot_v2", {{"X", {3}, kInt64}}, {{"depth", 7}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(3, 7), float32]");
  EXPECT_EQ(type_of("one_hot", {{"X", {3, 1}, kInt64}}, {{"depth", 7}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(3, 7), float32]");
  EXPECT_EQ(type_of("multiplex", {{"X", {3, 4}}, {"X", {3, 4}}, {"Ids", {3, 1}, kInt32}}), "Tensor[(3, 4), float32]");
}

TEST(PaddleOperators, Creation) {
  const auto made = [](const std::string& type, const Attributes& attrs) {
    return result_type(program(operation(type, {}, {{"Out", {"y"}}}, attrs) + fetch("y")));
  };
  EXPECT_EQ(made("fill_constant",
                 {{"shape", Dims{2, 3}}, {"str_value", std::string("inf")}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(2, 3), float32]");
  EXPECT_EQ(
      made("assign_value", {{"shape", Dims{3}}, {"dtype", static_cast<int>(kInt32)}, {"int32_values", Dims{1, 2, 3}}}),
      "Tensor[(3,), int32]");
  EXPECT_NE(
      made("assign_value", {{"shape", Dims{4}}, {"dtype", static_cast<int>(kInt32)}, {"int32_values", Dims{1, 2, 3}}})
          .find("has 3 values"),
      std::string::npos);
  EXPECT_EQ(made("eye", {{"num_rows", 3}, {"num_columns", -1}}), "Tensor[(3, 3), float32]");
  EXPECT_EQ(made("gaussian_random", {{"shape", Dims{2, 5}}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(2, 5), float32]");
  EXPECT_EQ(type_of("fill_any_like", {{"X", {2, 3}}}, {{"value", 1.0}, {"dtype", static_cast<int>(kInt64)}}),
            "Tensor[(2, 3), int64]");
  EXPECT_EQ(type_of("fill_constant_batch_size_like", {{"Input", {7, 2}}},
                    {{"shape", Dims{-1, 5}}, {"dtype", static_cast<int>(kFloat32)}}),
            "Tensor[(7, 5), float32]");
  EXPECT_EQ(type_of("size", {{"Input", {7, 2}}}), "Tensor[(), int64]");
}

TEST(PaddleOperators, Images) {
  const Input x{"X", {1, 3, 8, 8}};
  EXPECT_EQ(type_of("bilinear_interp_v2", {x}, {{"out_h", 16}, {"out_w", 20}, {"align_corners", false}}),
            "Tensor[(1, 3, 16, 20), float32]");
  EXPECT_EQ(type_of("nearest_interp_v2", {x}, {{"scale", std::vector<double>{2, 0.5}}, {"out_h", -1}, {"out_w", -1}}),
            "Tensor[(1, 3, 16, 4), float32]");
  EXPECT_EQ(type_of("bicubic_interp_v2", {{"X", {1, 8, 8, 3}}},
                    {{"scale", std::vector<double>{2}}, {"data_layout", std::string("NHWC")}}),
            "Tensor[(1, 16, 16, 3), float32]");
  EXPECT_NE(type_of("bilinear_interp", {x}).find("gives neither sizes nor scales"), std::string::npos);
  EXPECT_EQ(type_of("grid_sampler", {x, {"Grid", {1, 5, 6, 2}}}, {}, "Output"), "Tensor[(1, 3, 5, 6), float32]");
  EXPECT_EQ(type_of("affine_grid", {{"Theta", {2, 2, 3}}}, {{"output_shape", Dims{2, 3, 4, 5}}}, "Output"),
            "Tensor[(2, 4, 5, 2), float32]");
  EXPECT_EQ(type_of("roi_align", {x, {"ROIs", {9, 4}}}, {{"pooled_height", 7}, {"pooled_width", 5}}),
            "Tensor[(9, 3, 7, 5), float32]");
  EXPECT_EQ(type_of("roi_pool", {x, {"ROIs", {9, 4}}}, {{"pooled_height", 7}, {"pooled_width", 5}}),
            "Tensor[(9, 3, 7, 5), float32]");
}

TEST(PaddleOperators, Detection) {
  const auto two = [](const std::string& type, const std::vector<Input>& inputs, const Attributes& attrs,
                      const std::string& first, const std::string& second) {
    return type_of(type, inputs, attrs, first) + " " + type_of(type, inputs, attrs, second);
  };
  EXPECT_EQ(two("yolo_box", {{"X", {1, 18, 4, 4}}, {"ImgSize", {1, 2}, kInt32}},
                {{"anchors", Dims{10, 13, 16, 30}}, {"class_num", 4}}, "Boxes", "Scores"),
            "Tensor[(1, 32, 4), float32] Tensor[(1, 32, 4), float32]");
  EXPECT_EQ(type_of("prior_box", {{"Input", {2, 3, 8, 6}}, {"Image", {2, 3, 32, 32}}},
                    {{"min_sizes", std::vector<double>{2, 4}},
                     {"max_sizes", std::vector<double>{5, 8}},
                     {"aspect_ratios", std::vector<double>{1, 2}},
                     {"flip", true}},
                    "Boxes"),
            "Tensor[(8, 6, 8, 4), float32]");
  EXPECT_EQ(type_of("box_coder", {{"PriorBox", {9, 4}}, {"TargetBox", {2, 9, 4}}},
                    {{"code_type", std::string("decode_center_size")}}, "OutputBox"),
            "Tensor[(2, 9, 4), float32]");
  EXPECT_EQ(type_of("box_coder", {{"PriorBox", {9, 4}}, {"TargetBox", {5, 4}}},
                    {{"code_type", std::string("encode_center_size")}}, "OutputBox"),
            "Tensor[(5, 9, 4), float32]");
  EXPECT_EQ(two("multiclass_nms3", {{"BBoxes", {2, 20, 4}}, {"Scores", {2, 3, 20}}},
                {{"nms_top_k", 10}, {"keep_top_k", 25}}, "Out", "NmsRoisNum"),
            "Tensor[(50, 6), float32] Tensor[(2,), int32]");
}

TEST(PaddleOperators, WindowsAsColumns) {
  EXPECT_EQ(type_of("unfold", {{"X", {2, 3, 8, 8}}},
                    {{"kernel_sizes", Dims{3, 3}},
                     {"strides", Dims{2, 2}},
                     {"paddings", Dims{1, 1, 1, 1}},
                     {"dilations", Dims{1, 1}}},
                    "Y"),
            "Tensor[(2, 27, 16), float32]");
  EXPECT_EQ(type_of("fold", {{"X", {2, 12, 12}}}, {{"output_sizes", Dims{4, 5}}, {"kernel_sizes", Dims{2, 2}}}, "Y"),
            "Tensor[(2, 3, 4, 5), float32]");
  EXPECT_NE(type_of("unfold", {{"X", {2, 3, 8, 8}}}, {{"kernel_sizes", Dims{9, 9}}}, "Y")
                .find("unfold: a window of 9 over an extent of 8"),
            std::string::npos);
}

TEST(PaddleOperators, UnsupportedFormsAreOpaque) {
  const auto m = program(variable("x", kFloat32, {3, 3}) + variable("y", kFloat32, {2}) + feed("x") +
                         operation("diagonal", {{"Input", {"x"}}}, {{"Out", {"y"}}}, {{"offset", 1}}) + fetch("y"));
  EXPECT_EQ(result_type(m), "Tensor[(2,), float32]");
  EXPECT_NE(m.diags.str().find("diagonal: this form of it is not supported; kept as opaque"), std::string::npos)
      << m.diags.str();
}

TEST(PaddleOperators, RecurrentLayers) {
  const auto layer = [](const std::string& mode, int gates, const std::vector<std::string>& states) {
    std::string variables =
        variable("x", kFloat32, {7, 2, 5}) + variable("h", kFloat32, {2, 2, 4}) + variable("c", kFloat32, {2, 2, 4});
    std::vector<std::string> weights;
    for (const char* d : {"f", "b"}) {
      weights.push_back(std::string("w") + d);
      weights.push_back(std::string("r") + d);
      variables += weight(weights[weights.size() - 2], {gates * 4, 5}) + weight(weights.back(), {gates * 4, 4});
    }
    for (const char* name : {"b0", "b1", "b2", "b3"}) {
      weights.emplace_back(name);
      variables += weight(name, {gates * 4});
    }
    return program(variables + feed("x") + feed("h", 1) + feed("c", 2) +
                   operation("rnn", {{"Input", {"x"}}, {"PreState", states}, {"WeightList", weights}},
                             {{"Out", {"y"}}, {"State", {"last"}}},
                             {{"mode", mode}, {"is_bidirec", true}, {"num_layers", 1}, {"hidden_size", 4}}) +
                   fetch("y", 0) + fetch("last", 1));
  };
  const auto gru = layer("GRU", 3, {"h"});
  EXPECT_EQ(result_type(gru, 0), "Tensor[(7, 2, 8), float32]");
  EXPECT_EQ(result_type(gru, 1), "Tensor[(2, 2, 4), float32]");
  const Node* node = only(gru, op("nn.gru"));
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(to_string(gru.graph->type(node->operands[3])), "Tensor[(2, 24), float32]");
  EXPECT_EQ(result_type(layer("LSTM", 4, {"h", "c"}), 0), "Tensor[(7, 2, 8), float32]");
  EXPECT_NE(result_type(layer("LSTM", 4, {"h"}), 0).find("rnn: 1 initial states"), std::string::npos);
}

TEST(PaddleOperators, ElementwiseTypesAndActivations) {
  const Input x{"X", {2, 3}};
  for (const char* type : {"relu",
                           "relu6",
                           "sigmoid",
                           "tanh",
                           "gelu",
                           "leaky_relu",
                           "elu",
                           "selu",
                           "hard_sigmoid",
                           "hard_swish",
                           "swish",
                           "mish",
                           "softplus",
                           "softsign",
                           "softshrink",
                           "hard_shrink",
                           "thresholded_relu",
                           "logsigmoid",
                           "tanh_shrink",
                           "brelu",
                           "square",
                           "rsqrt",
                           "log1p",
                           "log2",
                           "log10",
                           "expm1",
                           "abs",
                           "erf",
                           "reciprocal",
                           "trunc",
                           "scale",
                           "softmax",
                           "log_softmax",
                           "pow",
                           "clip",
                           "assign",
                           "increment",
                           "stanh",
                           "soft_relu"}) {
    EXPECT_EQ(type_of(type, {x}), "Tensor[(2, 3), float32]") << type;
  }
  EXPECT_EQ(type_of("elementwise_mod", {{"X", {2, 3}, kInt64}, {"Y", {3}, kInt32}}), "Tensor[(2, 3), int64]");
  EXPECT_EQ(type_of("elementwise_floordiv", {{"X", {2, 3}, kInt64}, {"Y", {1}, kInt64}}), "Tensor[(2, 3), int64]");
  EXPECT_EQ(type_of("not_equal", {x, {"Y", {3}}}), "Tensor[(2, 3), bool]");
  EXPECT_EQ(type_of("isfinite_v2", {x}), "Tensor[(2, 3), bool]");
  EXPECT_EQ(type_of("where", {{"Condition", {2, 3}, kBool}, x, {"Y", {2, 3}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("cast", {x}, {{"out_dtype", static_cast<int>(kInt32)}}), "Tensor[(2, 3), int32]");
  EXPECT_EQ(type_of("prelu", {{"X", {2, 3, 4, 4}}, {"Alpha", {1, 3, 1, 1}}}, {{"mode", std::string("channel")}}),
            "Tensor[(2, 3, 4, 4), float32]");
  EXPECT_EQ(type_of("maxout", {{"X", {2, 6, 4, 4}}}, {{"groups", 2}}), "Tensor[(2, 3, 4, 4), float32]");
  EXPECT_EQ(type_of("sum", {x, {"X", {2, 3}}, {"X", {2, 3}}}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("bitwise_and", {{"X", {2}, kBool}, {"Y", {2}, kBool}}), "Tensor[(2,), bool]");
  EXPECT_EQ(type_of("isclose", {{"Input", {2, 3}}, {"Other", {2, 3}}}), "Tensor[(2, 3), bool]");
  EXPECT_EQ(type_of("dist", {x, {"Y", {2, 3}}}, {{"p", 2.0}}), "Tensor[(), float32]");
  EXPECT_EQ(type_of("swiglu", {{"x", {2, 6}}}, {}, "out"), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of("softmax_with_cross_entropy", {{"Logits", {2, 5}}, {"Label", {2, 1}, kInt64}}, {}, "Loss"),
            "Tensor[(2, 1), float32]");
}

/// The operators that TVM 0.19's converter knows, by name, as its converter lists them.
TEST(PaddleOperators, NoneOfTvmsIsMissing) {
  constexpr std::string_view kNames =
      "abs acos addmm arg_max arg_min argsort asin assign assign_value atan batch_norm bicubic_interp_v2 "
      "bilinear_interp_v2 bmm brelu cast ceil clip concat "
      "conv2d conv2d_transpose conv3d cos cosh cumsum depthwise_conv2d depthwise_conv2d_transpose dist dot dropout "
      "elementwise_add elementwise_div "
      "elementwise_floordiv elementwise_max elementwise_min elementwise_mod elementwise_mul elementwise_pow "
      "elementwise_prod elementwise_sub elu equal erf exp "
      "expand_v2 expand_as_v2 eye feed fill_any_like fill_constant fill_constant_batch_size_like fill_zeros_like "
      "flatten_contiguous_range floor floor_mod flip "
      "gather gather_nd gaussian_random gelu greater_equal greater_than grid_sampler group_norm hard_shrink "
      "hard_sigmoid hard_swish index_select instance_norm "
      "isfinite_v2 isinf_v2 isnan_v2 layer_norm leaky_relu less_equal less_than linspace log log2 log10 log1p "
      "logical_and logical_not logical_or logical_xor "
      "logsigmoid log_softmax logsumexp lookup_table_v2 matmul matmul_v2 meshgrid mish mul mv nearest_interp_v2 norm "
      "not_equal one_hot_v2 p_norm pad1d pad2d pad3d "
      "pixel_shuffle pool2d pool3d pow prelu range relu relu6 reshape2 round roi_align reciprocal reduce_all "
      "reduce_any reduce_max reduce_min reduce_prod reduce_sum "
      "reduce_mean rnn rsqrt scale scatter scatter_nd_add selu set_value shape sigmoid sign silu sin sinh size slice "
      "softmax softmax_with_cross_entropy softplus "
      "softsign softshrink split stack strided_slice sqrt square squeeze2 swish take_along_axis tan tanh tanh_shrink "
      "top_k thresholded_relu tile top_k_v2 transpose2 "
      "unique unsqueeze2 unstack where where_index";
  std::set<std::string, std::less<>> known;
  for (const OpCoverage& o : perfc::paddle::coverage()) known.insert(o.source);
  std::string_view rest = kNames;
  std::size_t count = 0;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    ++count;
    EXPECT_TRUE(known.count(name)) << name;
  }
  EXPECT_EQ(count, 163u);
}

/// What paddle.vision's models are saved with, in PIR's names.
TEST(PaddleOperators, NoneOfPaddleVisionIsMissing) {
  std::set<std::string, std::less<>> known;
  for (const OpCoverage& o : perfc::paddle::coverage()) known.insert(o.source);
  for (const char* name : {"add",
                           "batch_norm",
                           "builtin.combine",
                           "builtin.split",
                           "channel_shuffle",
                           "concat",
                           "conv2d",
                           "data",
                           "depthwise_conv2d",
                           "dropout",
                           "fetch",
                           "flatten",
                           "full",
                           "full_int_array",
                           "hardsigmoid",
                           "hardswish",
                           "matmul",
                           "mean",
                           "multiply",
                           "pool2d",
                           "relu",
                           "relu6",
                           "reshape",
                           "scale",
                           "shape64",
                           "sigmoid",
                           "slice",
                           "softmax",
                           "split",
                           "split_with_num",
                           "squeeze",
                           "swish",
                           "transpose",
                           "unsqueeze",
                           "if",
                           "while"}) {
    EXPECT_TRUE(known.count(name)) << name;
  }
}

}  // namespace
}  // namespace perfc::testing
