// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 7, 64), float32]) {
  %1 = const[-1] : Tensor[(1,), int64];
  %2 = const[2.0] : Tensor[(), float32];
  %3 = const[1e-05] : Tensor[(), float32];
  %4 = weight : Tensor[(64,), float32] @gamma;
  %5 = weight : Tensor[(64,), float32] @beta;
  %6 = mean(%x, %1);
  %7 = subtract(%x, %6);
  %8 = power(%7, %2);
  %9 = mean(%8, %1);
  %10 = add(%9, %3);
  %11 = sqrt(%10);
  %12 = divide(%7, %11);
  %13 = multiply(%12, %4);
  %14 = add(%13, %5) @norm;
  (%14)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 7, 64), float32]) -> (Tensor[(2, 7, 64), float32]) {
//   %1 = weight : Tensor[(64,), float32] @gamma;
//   %2 = weight : Tensor[(64,), float32] @beta;
//   %3 = nn.layer_norm(%x, %1, %2, axis=2, epsilon=1e-05) : Tensor[(2, 7, 64), float32] @norm;
//   (%3)
// }
// ---- stderr
// ---- exit 0
