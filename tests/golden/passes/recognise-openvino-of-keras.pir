// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
// OpenVINO writes negations as products by -1, roots as powers.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 7, 64), float32]) {
  %1 = const[-1] : Tensor[(1,), int64];
  %2 = const[1e-05] : Tensor[(), float32];
  %3 = const[-0.5] : Tensor[(), float32];
  %4 = const[-1.0] : Tensor[(), float32];
  %5 = weight : Tensor[(64,), float32] @gamma;
  %6 = weight : Tensor[(64,), float32] @beta;
  %7 = mean(%x, %1);
  %8 = squared_difference(%x, %7);
  %9 = mean(%8, %1);
  %10 = add(%9, %2);
  %11 = power(%10, %3);
  %12 = multiply(%11, %5);
  %13 = multiply(%x, %12);
  %14 = multiply(%7, %4);
  %15 = multiply(%14, %12);
  %16 = add(%15, %6);
  %17 = add(%13, %16) @norm;
  %18 = const[0.5] : Tensor[(), float32];
  %19 = const[-0.7071067] : Tensor[(), float32];
  %20 = const[1.0] : Tensor[(), float32];
  %21 = multiply(%17, %18);
  %22 = multiply(%17, %19);
  %23 = erf(%22);
  %24 = subtract(%20, %23);
  %25 = multiply(%21, %24) @gelu;
  (%25)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 7, 64), float32]) -> (Tensor[(2, 7, 64), float32]) {
//   %1 = weight : Tensor[(64,), float32] @gamma;
//   %2 = weight : Tensor[(64,), float32] @beta;
//   %3 = nn.layer_norm(%x, %1, %2, axis=2, epsilon=1e-05) : Tensor[(2, 7, 64), float32] @norm;
//   %4 = nn.gelu(%3) : Tensor[(2, 7, 64), float32] @gelu;
//   (%4)
// }
// ---- stderr
// ---- exit 0
