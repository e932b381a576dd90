// RUN: perfc opt %s --passes=fold-batch-norm,eliminate-dead --verify-each
// A norm goes into the convolution before it unless others use that.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 3, 8, 8), float32]) {
  %1 = weight : Tensor[(16, 3, 3, 3), float32];
  %2 = weight : Tensor[(16,), float32];
  %3 = nn.conv2d(%x, %1) @folded;
  %4 = nn.batch_norm(%3, %2, %2, %2, %2);
  %5 = nn.conv2d(%x, %1) @used_twice;
  %6 = nn.batch_norm(%5, %2, %2, %2, %2);
  %7 = add(%5, %6);
  (%4, %7)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 3, 8, 8), float32]) -> (Tensor[(1, 16, 6, 6), float32], Tensor[(1, 16, 6, 6), float32]) {
//   %1 = weight : Tensor[(16, 3, 3, 3), float32];
//   %2 = weight : Tensor[(16,), float32];
//   %3 = weight : Tensor[(16, 3, 3, 3), float32];
//   %4 = weight : Tensor[(16,), float32];
//   %5 = nn.conv2d(%x, %3) : Tensor[(1, 16, 6, 6), float32] @folded;
//   %6 = nn.bias_add(%5, %4, axis=1) : Tensor[(1, 16, 6, 6), float32];
//   %7 = nn.conv2d(%x, %1) : Tensor[(1, 16, 6, 6), float32] @used_twice;
//   %8 = nn.batch_norm(%7, %2, %2, %2, %2) : Tensor[(1, 16, 6, 6), float32];
//   %9 = add(%7, %8) : Tensor[(1, 16, 6, 6), float32];
//   (%6, %9)
// }
// ---- stderr
// ---- exit 0
