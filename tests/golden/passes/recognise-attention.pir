// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
// Products, scale and softmax become one attention.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(1, 8, 128, 64), float32], %k: Tensor[(1, 8, 128, 64), float32], %v: Tensor[(1, 8, 128, 64), float32]) {
  %3 = transpose(%k, perm=[0, 1, 3, 2]);
  %4 = nn.batch_matmul(%q, %3);
  %5 = const[8.0] : Tensor[(), float32];
  %6 = divide(%4, %5);
  %7 = nn.softmax(%6, axis=-1);
  %8 = nn.batch_matmul(%7, %v) @attention;
  (%8)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(1, 8, 128, 64), float32], %k: Tensor[(1, 8, 128, 64), float32], %v: Tensor[(1, 8, 128, 64), float32]) -> (Tensor[(1, 8, 128, 64), float32]) {
//   %3 = nn.sdpa(%q, %k, %v, explicit=1, scale=0.125, scaled="quotients") : Tensor[(1, 8, 128, 64), float32] @attention;
//   (%3)
// }
// ---- stderr
// ---- exit 0
