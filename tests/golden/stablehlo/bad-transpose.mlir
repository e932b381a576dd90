// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<2x16xf32>) -> tensor<16x2xf32> {
    %0 = stablehlo.transpose 511, dims = [1, 0] : (tensor<2x16xf32>) -> tensor<16x2xf32>
    return %0 : tensor<16x2xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-transpose.mlir:4:5: '%0': error: stablehlo.transpose: too few operands: 0 of 1
// ---- exit 1
