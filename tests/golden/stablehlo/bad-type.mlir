// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<4xf99>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-type.mlir:3:33: error: expected a type, got 'tensor<4xf99>) -> tensor<4xf32> {'
// ---- exit 1
