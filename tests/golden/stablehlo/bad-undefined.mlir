// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %1 = stablehlo.add %arg0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-undefined.mlir:4:5: '%0': error: stablehlo.add: takes %0, which nothing before makes
// ---- exit 1
