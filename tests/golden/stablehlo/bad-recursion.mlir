// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @main(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-recursion.mlir:4:5: '%0': error: call: the function @main calls itself
// ---- exit 1
