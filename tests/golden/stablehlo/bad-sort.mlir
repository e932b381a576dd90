// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<2x16xf32>) -> tensor<16x2xf32> {
    %0 = "stablehlo.sort"() <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.compare LT, %arg1, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : () -> tensor<16x2xf32>
    return %0 : tensor<16x2xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-sort.mlir:4:5: '%0': error: stablehlo.sort: too few operands: 0 of 1
// ---- exit 1
