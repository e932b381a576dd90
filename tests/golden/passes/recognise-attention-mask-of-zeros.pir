// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
// An encoder that was exported without padding: the exporter computed a mask that hides nothing, zeros which it adds to
// the scores. PyTorch runs the attention without one.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(1, 8, 16, 64), float32], %k: Tensor[(1, 8, 16, 64), float32], %v: Tensor[(1, 8, 16, 64), float32]) {
  %3 = const[0.35355338] : Tensor[(), float32];
  %4 = const[0.0] : Tensor[(1,), float32];
  %5 = zeros weight : Tensor[(1, 1, 16, 16), float32] @mask;
  %6 = multiply(%q, %3);
  %7 = transpose(%k, perm=[0, 1, 3, 2]);
  %8 = multiply(%7, %3);
  %9 = nn.batch_matmul(%6, %8);
  %10 = add(%9, %5);
  %11 = nn.softmax(%10, axis=-1);
  %12 = isnan(%11);
  %13 = where(%12, %4, %11);
  %14 = nn.batch_matmul(%13, %v) @attention;
  (%14)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(1, 8, 16, 64), float32], %k: Tensor[(1, 8, 16, 64), float32], %v: Tensor[(1, 8, 16, 64), float32]) -> (Tensor[(1, 8, 16, 64), float32]) {
//   %3 = nn.sdpa(%q, %k, %v, scale=0.12499999250942438) : Tensor[(1, 8, 16, 64), float32] @attention;
//   (%3)
// }
// ---- stderr
// ---- exit 0
