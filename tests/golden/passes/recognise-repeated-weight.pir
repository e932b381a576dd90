// RUN: perfc opt %s --passes=fold-constants,recognise-patterns,eliminate-dead --verify-each
// run_decompositions() writes `linear` of permuted data as a product with the weight repeated for each sample; that of
// a stack of matrices stays.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 256, 64), float32], %y: Tensor[(8, 64, 64), float32]) {
  %2 = weight : Tensor[(128, 64), float32] @w;
  %3 = transpose(%2, perm=[1, 0]);
  %4 = const[8, 64, 128] : Tensor[(3,), int64];
  %5 = broadcast_to(%3, %4);
  %6 = nn.batch_matmul(%x, %5) @linear;
  %7 = weight : Tensor[(128,), float32] @b;
  %8 = add(%6, %7) @bias;
  %9 = weight : Tensor[(1, 64, 64), float32] @stack;
  %10 = const[8, 64, 64] : Tensor[(3,), int64];
  %11 = broadcast_to(%9, %10);
  %12 = nn.batch_matmul(%y, %11) @stays;
  (%8, %12)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 256, 64), float32], %y: Tensor[(8, 64, 64), float32]) -> (Tensor[(8, 256, 128), float32], Tensor[(8, 64, 64), float32]) {
//   %2 = weight : Tensor[(64, 128), float32] @w;
//   %3 = nn.dense(%x, %2) : Tensor[(8, 256, 128), float32] @linear;
//   %4 = weight : Tensor[(128,), float32] @b;
//   %5 = nn.bias_add(%3, %4, axis=2) : Tensor[(8, 256, 128), float32] @bias;
//   %6 = weight : Tensor[(1, 64, 64), float32] @stack;
//   %7 = const[8, 64, 64] : Tensor[(3,), int64];
//   %8 = broadcast_to(%6, %7) : Tensor[(8, 64, 64), float32];
//   %9 = nn.batch_matmul(%y, %8) : Tensor[(8, 64, 64), float32] @stays;
//   (%5, %9)
// }
// ---- stderr
// ---- exit 0
