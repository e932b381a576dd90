// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    cf.br ^bb1
  ^bb1:
    return %arg0 : tensor<4xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-blocks.mlir:4:10: error: jumps between blocks are not read; write the module before its control flow is lowered to cf
// ---- exit 1
