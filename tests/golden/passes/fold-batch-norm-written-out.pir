// RUN: perfc opt %s --passes=fold-batch-norm,eliminate-dead --verify-each
// Frozen TensorFlow graphs have batch-norms as a multiply and an add; a layer's scale behind a bias is none.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 8, 8, 3), float32]) {
  %1 = weight : Tensor[(3, 3, 3, 16), float32];
  %2 = weight : Tensor[(16,), float32];
  %3 = weight : Tensor[(1, 1, 1, 16), float32];
  %4 = nn.conv2d(%x, %1, data_layout="NHWC", kernel_layout="HWIO") @folded;
  %5 = multiply(%4, %2);
  %6 = add(%5, %3);
  %7 = nn.conv2d(%x, %1, data_layout="NHWC", kernel_layout="HWIO") @biased;
  %8 = nn.bias_add(%7, %2, axis=3);
  %9 = multiply(%8, %2);
  %10 = add(%9, %2);
  (%6, %10)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 8, 8, 3), float32]) -> (Tensor[(1, 6, 6, 16), float32], Tensor[(1, 6, 6, 16), float32]) {
//   %1 = weight : Tensor[(3, 3, 3, 16), float32];
//   %2 = weight : Tensor[(16,), float32];
//   %3 = weight : Tensor[(3, 3, 3, 16), float32];
//   %4 = weight : Tensor[(16,), float32];
//   %5 = nn.conv2d(%x, %3, data_layout="NHWC", kernel_layout="HWIO") : Tensor[(1, 6, 6, 16), float32] @folded;
//   %6 = nn.bias_add(%5, %4, axis=3) : Tensor[(1, 6, 6, 16), float32];
//   %7 = nn.conv2d(%x, %1, data_layout="NHWC", kernel_layout="HWIO") : Tensor[(1, 6, 6, 16), float32] @biased;
//   %8 = nn.bias_add(%7, %2, axis=3) : Tensor[(1, 6, 6, 16), float32];
//   %9 = multiply(%8, %2) : Tensor[(1, 6, 6, 16), float32];
//   %10 = add(%9, %2) : Tensor[(1, 6, 6, 16), float32];
//   (%6, %10)
// }
// ---- stderr
// ---- exit 0
