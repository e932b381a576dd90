// RUN: perfc opt %s --passes=recognise-patterns,filter-operators --verify-each
// Products with a weight are nn.dense; every bias is an nn.bias_add of its own.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 3, 8, 8), float32]) {
  %1 = weight : Tensor[(16, 3, 3, 3), float32];
  %2 = weight : Tensor[(16,), float32] @bias;
  %3 = nn.conv2d(%x, %1, %2, padding=[1, 1, 1, 1]) @conv;
  %4 = const[1, 16, 64] : Tensor[(3,), int64];
  %5 = reshape(%3, %4);
  %6 = weight : Tensor[(64, 32), float32];
  %7 = nn.batch_matmul(%5, %6) @linear;
  %8 = weight : Tensor[(32,), float32] @linear_bias;
  %9 = add(%8, %7) @linear_sum;
  (%9)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 3, 8, 8), float32]) -> (Tensor[(1, 16, 32), float32]) {
//   %1 = weight : Tensor[(16, 3, 3, 3), float32];
//   %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]) : Tensor[(1, 16, 8, 8), float32] @conv;
//   %3 = weight : Tensor[(16,), float32] @bias;
//   %4 = nn.bias_add(%2, %3, axis=1) : Tensor[(1, 16, 8, 8), float32] @conv;
//   %5 = const[1, 16, 64] : Tensor[(3,), int64];
//   %6 = reshape(%4, %5) : Tensor[(1, 16, 64), float32];
//   %7 = weight : Tensor[(64, 32), float32];
//   %8 = nn.dense(%6, %7) : Tensor[(1, 16, 32), float32] @linear;
//   %9 = weight : Tensor[(32,), float32] @linear_bias;
//   %10 = nn.bias_add(%8, %9, axis=2) : Tensor[(1, 16, 32), float32] @linear_sum;
//   (%10)
// }
// ---- stderr
// ---- exit 0
