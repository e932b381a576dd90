// RUN: perfc import %s
// RUN: perfc opt %s
// torch_xla's arguments come in any order: x is the third. Layer norm is a batch norm of one sample whose channels are
// rows, a linear layer a product over merged dims; the statistics of a norm that a model trains are read here.
module @IrToHlo.9 attributes {mhlo.is_dynamic = false} {
  func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<2x3x4xf32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>) -> (tensor<2x3x8xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<6xf32>
    %0 = stablehlo.reshape %arg2 : (tensor<2x3x4xf32>) -> tensor<1x6x4xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%0, %cst_0, %cst) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<1x6x4xf32>, tensor<6xf32>, tensor<6xf32>)
    %1 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<4xf32>) -> tensor<2x3x4xf32>
    %2 = stablehlo.reshape %output : (tensor<1x6x4xf32>) -> tensor<2x3x4xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<4xf32>) -> tensor<2x3x4xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2x3x4xf32>
    %5 = stablehlo.add %1, %4 : tensor<2x3x4xf32>
    %6 = stablehlo.reshape %5 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    %7 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,8]{0,1}"} : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %8 = stablehlo.dot_general %6, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
    %9 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<6x8xf32>
    %10 = stablehlo.add %8, %9 : tensor<6x8xf32>
    %11 = stablehlo.reshape %10 : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<3xf32>
    %y, %mean, %var = "stablehlo.batch_norm_training"(%arg2, %cst_1, %cst_1) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
    return %11, %var : tensor<2x3x8xf32>, tensor<3xf32>
  }
}
// ---- perfc import %s
// ---- stdout
// #[version = "perfc-ir/1"]
// def @"IrToHlo.9"(%2: Tensor[(2, 3, 4), float32] @arg2) -> ("result.0": Tensor[(2, 3, 8), float32], "result.1": Tensor[(3,), float32]) {
//   %0 = weight : Tensor[(8,), float32] @arg0;
//   %1 = weight : Tensor[(8, 4), float32] @arg1;
//   %3 = weight : Tensor[(4,), float32] @arg3;
//   %4 = weight : Tensor[(4,), float32] @arg4;
//   %5 = const[1.0, 1.0, 1.0, 1.0] : Tensor[(4,), float32];
//   %6 = nn.layer_norm(%2, %5, axis=-1, epsilon=9.99999974e-06) : Tensor[(2, 3, 4), float32] @"%output";
//   %7 = multiply(%6, %3) : Tensor[(2, 3, 4), float32] @"%4";
//   %8 = add(%4, %7) : Tensor[(2, 3, 4), float32] @"%5";
//   %9 = const[6, 4] : Tensor[(2,), int64];
//   %10 = reshape(%8, %9) : Tensor[(6, 4), float32] @"%6";
//   %11 = transpose(%1, perm=[1, 0]) : Tensor[(4, 8), float32] @"%7";
//   %12 = nn.batch_matmul(%10, %11) : Tensor[(6, 8), float32] @"%8";
//   %13 = add(%12, %0) : Tensor[(6, 8), float32] @"%10";
//   %14 = const[2, 3, 8] : Tensor[(3,), int64];
//   %15 = reshape(%13, %14) : Tensor[(2, 3, 8), float32] @"%11";
//   %16 = const[0, 2] : Tensor[(2,), int64];
//   %17 = mean(%2, %16, keepdims=1) : Tensor[(1, 3, 1), float32] @"%y";
//   %18 = subtract(%2, %17) : Tensor[(2, 3, 4), float32] @"%y";
//   %19 = multiply(%18, %18) : Tensor[(2, 3, 4), float32] @"%y";
//   %20 = const[0, 2] : Tensor[(2,), int64];
//   %21 = mean(%19, %20, keepdims=1) : Tensor[(1, 3, 1), float32] @"%y";
//   %22 = const[0, 2] : Tensor[(2,), int64];
//   %23 = squeeze(%21, %22) : Tensor[(3,), float32];
//   (%15, %23)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s
// ---- stdout
// #[version = "perfc-ir/1"]
// def @"IrToHlo.9"(%arg2: Tensor[(2, 3, 4), float32]) -> ("result.0": Tensor[(2, 3, 8), float32], "result.1": Tensor[(3,), float32]) {
//   %1 = weight : Tensor[(8,), float32] @arg0;
//   %2 = weight : Tensor[(4,), float32] @arg3;
//   %3 = weight : Tensor[(4,), float32] @arg4;
//   %4 = nn.layer_norm(%arg2, %2, %3, axis=-1, epsilon=9.99999974e-06) : Tensor[(2, 3, 4), float32] @"%5";
//   %5 = weight : Tensor[(4, 8), float32] @arg1;
//   %6 = nn.dense(%4, %5) : Tensor[(2, 3, 8), float32] @"%8";
//   %7 = nn.bias_add(%6, %1, axis=2) : Tensor[(2, 3, 8), float32] @"%10";
//   %8 = const[0, 2] : Tensor[(2,), int64];
//   %9 = variance(%arg2, %8, correction=0.0, keepdims=1) : Tensor[(1, 3, 1), float32] @"%y";
//   %10 = const[0, 2] : Tensor[(2,), int64];
//   %11 = squeeze(%9, %10) : Tensor[(3,), float32];
//   (%7, %11)
// }
// ---- stderr
// ---- exit 0
