// RUN: perfc import %s
module @m {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<9x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}
// ---- stdout
// ---- stderr
// bad-shapes.mlir:4:5: '%0': error: stablehlo.dot_general: contracts 8 elements of Tensor[(4, 8), float32] with 9 of Tensor[(9, 2), float32]
// ---- exit 1
