// RUN: perfc import %s
#loc2 = loc("net.py":3:4 to :12)
#loc3 = loc("jit(apply)/Net/Conv_0/conv_general_dilated"(#loc2))
#loc1 = loc("params['kernel']")
module @pretty attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<3x3x4x8xf32> loc(#loc1), %arg1: tensor<8xf32> loc("params['bias']"), %arg2: tensor<2x16x16x4xf32> {mhlo.sharding = "{replicated}"} loc("image")) -> (tensor<2x8xf32> {jax.result_info = "mean"}, tensor<2xi32>) {
    %0 = stablehlo.convolution(%arg2, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x8x8x8xf32> loc(#loc3)
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<8xf32>) -> tensor<2x8x8x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x8x8x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = call @relu(%2, %cst) : (tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x8x8x8xf32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<2x8xf32>
    %5 = stablehlo.divide %4, %cst_0 : tensor<2x8xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %7 = stablehlo.iota dim = 1 : tensor<2x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8:2 = stablehlo.reduce(%6 init: %cst_1), (%7 init: %c) across dimensions = [1] : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg3: tensor<f32>, %arg5: tensor<f32>) (%arg4: tensor<i32>, %arg6: tensor<i32>)  {
      %9 = stablehlo.compare GT, %arg3, %arg5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %10 = stablehlo.select %9, %arg3, %arg5 : tensor<i1>, tensor<f32>
      %11 = stablehlo.select %9, %arg4, %arg6 : tensor<i1>, tensor<i32>
      stablehlo.return %10, %11 : tensor<f32>, tensor<i32>
    }
    return %6, %8#1 : tensor<2x8xf32>, tensor<2xi32>
  } loc(#loc1)
  func.func private @relu(%arg0: tensor<2x8x8x8xf32>, %arg1: tensor<f32>) -> tensor<2x8x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x8x8x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x8x8x8xf32> loc(callsite("a" at "b"))
    return %1 : tensor<2x8x8x8xf32>
  }
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @pretty(%2: Tensor[(2, 16, 16, 4), float32] @image) -> (mean: Tensor[(2, 8), float32], "result.1": Tensor[(2,), int32]) {
//   %0 = weight : Tensor[(3, 3, 4, 8), float32] @"params['kernel']";
//   %1 = weight : Tensor[(8,), float32] @"params['bias']";
//   %3 = nn.conv2d(%2, %0, data_layout="NHWC", kernel_layout="HWIO", padding=[0, 0, 1, 1], strides=[2, 2]) : Tensor[(2, 8, 8, 8), float32] @"Net/Conv_0";
//   %4 = add(%3, %1) : Tensor[(2, 8, 8, 8), float32] @"%2";
//   %5 = const[0.0] : Tensor[(), float32];
//   %6 = maximum(%4, %5) : Tensor[(2, 8, 8, 8), float32] @"%1";
//   %7 = const[1, 2] : Tensor[(2,), int64];
//   %8 = mean(%6, %7, keepdims=1) : Tensor[(2, 1, 1, 8), float32] @"%5";
//   %9 = const[1, 2] : Tensor[(2,), int64];
//   %10 = squeeze(%8, %9) : Tensor[(2, 8), float32] @"%8";
//   %11 = argmax(%10, axis=1, keepdims=1) : Tensor[(2, 1), int64] @"%8";
//   %12 = cast(%11, to="int32") : Tensor[(2, 1), int32] @"%8";
//   %13 = const[1, 2] : Tensor[(2,), int64];
//   %14 = squeeze(%8, %13) : Tensor[(2, 8), float32];
//   %15 = const[1] : Tensor[(1,), int64];
//   %16 = squeeze(%12, %15) : Tensor[(2,), int32];
//   (%14, %16)
// }
// ---- stderr
// ---- exit 0
