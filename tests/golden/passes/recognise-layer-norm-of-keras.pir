// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 7, 64), float32]) {
  %1 = const[-1] : Tensor[(1,), int64];
  %2 = const[1e-05] : Tensor[(), float32];
  %3 = weight : Tensor[(64,), float32] @gamma;
  %4 = mean(%x, %1);
  %5 = subtract(%x, %4);
  %6 = multiply(%5, %5);
  %7 = mean(%6, %1);
  %8 = add(%7, %2);
  %9 = rsqrt(%8);
  %10 = multiply(%9, %3);
  %11 = multiply(%x, %10);
  %12 = negative(%4);
  %13 = multiply(%12, %10);
  %14 = add(%11, %13) @norm;
  (%14)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 7, 64), float32]) -> (Tensor[(2, 7, 64), float32]) {
//   %1 = weight : Tensor[(64,), float32] @gamma;
//   %2 = table weight : Tensor[(64,), float32] @norm;
//   %3 = nn.layer_norm(%x, %1, %2, axis=2, epsilon=1e-05) : Tensor[(2, 7, 64), float32] @norm;
//   (%3)
// }
// ---- stderr
// ---- exit 0
