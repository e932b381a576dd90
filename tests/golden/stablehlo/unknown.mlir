// RUN: perfc import %s
// What is not known keeps its type; weights need no names: they come before the data.
module {
  func.func @main(%arg0: tensor<8x3xf32>, %arg1: tensor<?x8xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %1 = stablehlo.custom_call @my_kernel(%0) {api_version = 4 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
    return %1 : tensor<?x3xf32>
  }
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%1: Tensor[('arg1.0', 8), float32] @arg1) -> ("result.0": Tensor[(?, 3), float32]) {
//   %0 = weight : Tensor[(8, 3), float32] @arg0;
//   %2 = nn.batch_matmul(%1, %0) : Tensor[('arg1.0', 3), float32] @"%0";
//   %3 = opaque(%2, source_op="stablehlo.custom_call @my_kernel") : Tensor[(?, 3), float32] @"%1";
//   (%3)
// }
// ---- stderr
// unknown.mlir:6:5: '%1': warning: stablehlo.custom_call @my_kernel: a call of a library that is not known: kept as opaque, its cost is not known
// ---- exit 0
