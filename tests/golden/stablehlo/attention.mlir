// RUN: perfc opt %s --passes=fold-constants,eliminate-dead,recognise-operators,eliminate-dead --verify-each
// Attention as flax has it written out is one operator, its scale that of the queries before their heads come forward.
module @attention {
  func.func public @main(%arg0: tensor<2x16x4x8xf32>, %arg1: tensor<2x16x4x8xf32>, %arg2: tensor<2x16x4x8xf32>) -> (tensor<2x16x4x8xf32>) {
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x16x4x8xf32>
    %1 = stablehlo.divide %arg0, %0 : tensor<2x16x4x8xf32>
    %2 = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x16x4x8xf32>) -> tensor<2x4x16x8xf32>
    %3 = stablehlo.dot_general %2, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x4x16x8xf32>, tensor<2x16x4x8xf32>) -> tensor<2x4x16x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x16x16xf32>, tensor<f32>) -> tensor<2x4x16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x4x16xf32>) -> tensor<2x4x16x16xf32>
    %6 = stablehlo.subtract %3, %5 : tensor<2x4x16x16xf32>
    %7 = stablehlo.exponential %6 : tensor<2x4x16x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x16x16xf32>, tensor<f32>) -> tensor<2x4x16xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x16xf32>) -> tensor<2x4x16x16xf32>
    %10 = stablehlo.divide %7, %9 : tensor<2x4x16x16xf32>
    %11 = stablehlo.dot_general %10, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x16x16xf32>, tensor<2x16x4x8xf32>) -> tensor<2x4x16x8xf32>
    %12 = stablehlo.transpose %11, dims = [0, 2, 1, 3] : (tensor<2x4x16x8xf32>) -> tensor<2x16x4x8xf32>
    return %12 : tensor<2x16x4x8xf32>
  }
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @attention(%arg0: Tensor[(2, 16, 4, 8), float32], %arg1: Tensor[(2, 16, 4, 8), float32], %arg2: Tensor[(2, 16, 4, 8), float32]) -> ("result.0": Tensor[(2, 16, 4, 8), float32]) {
//   %3 = transpose(%arg0, perm=[0, 2, 1, 3]) : Tensor[(2, 4, 16, 8), float32] @"%11";
//   %4 = transpose(%arg1, perm=[0, 2, 1, 3]) : Tensor[(2, 4, 16, 8), float32] @"%11";
//   %5 = transpose(%arg2, perm=[0, 2, 1, 3]) : Tensor[(2, 4, 16, 8), float32] @"%11";
//   %6 = nn.sdpa(%3, %4, %5, scale=0.25) : Tensor[(2, 4, 16, 8), float32] @"%11";
//   %7 = transpose(%6, perm=[0, 2, 1, 3]) : Tensor[(2, 16, 4, 8), float32] @"%11";
//   (%7)
// }
// ---- stderr
// ---- exit 0
