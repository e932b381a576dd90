// RUN: perfc import %s
//
// A label that stands twice: the result would have five dims.
module @m {
  func.func public @main(%arg0: tensor<3x3x3x8xf32>, %arg1: tensor<1x8x8x3xf32>) -> (tensor<1x4x4x8xf32>) {
    %0 = stablehlo.convolution(%arg1, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, 1f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x4x4x8xf32>
    return %0 : tensor<1x4x4x8xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-labels.mlir:6:5: '%0': error: stablehlo.convolution: '[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, 1f]' do not label each of 4 dims once
// ---- exit 1
