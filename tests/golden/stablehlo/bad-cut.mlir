// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
// ---- stdout
// ---- stderr
// bad-cut.mlir:9:1: error: expected '}', the file ends; is it cut off?
// ---- exit 1
