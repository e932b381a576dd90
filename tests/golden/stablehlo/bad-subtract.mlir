// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<2x16xf32>) -> tensor<2x16xf32> {
    %0 = "stablehlo.subtract"(%arg0) : (tensor<2x16xf32>) -> tensor<2x16xf32>
    return %0 : tensor<2x16xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-subtract.mlir:4:5: '%0': error: stablehlo.subtract: too few operands: 1 of 2
// ---- exit 1
