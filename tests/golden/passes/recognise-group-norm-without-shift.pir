// RUN: perfc opt %s --passes=recognise-patterns,filter-operators --verify-each
// A group norm of one group whose shift is a scalar 0; 1 / x is a reciprocal.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = const[0, 1, -1] : Tensor[(3,), int64];
  %2 = reshape(%x, %1);
  %3 = const[1.0] : Tensor[(1,), float32];
  %4 = const[0.0] : Tensor[(1,), float32];
  %5 = nn.instance_norm(%2, %3, %4, epsilon=1e-6);
  %6 = const[2, 8, 4, 4] : Tensor[(4,), int64];
  %7 = reshape(%5, %6);
  %8 = weight : Tensor[(8, 1, 1), float32] @gamma;
  %9 = multiply(%7, %8);
  %10 = const[0.0] : Tensor[(1, 1, 1), float32];
  %11 = add(%9, %10) @group_norm;
  %12 = const[1.0] : Tensor[(), float32];
  %13 = divide(%12, %11) @inverse;
  (%13)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 8, 4, 4), float32]) -> (Tensor[(2, 8, 4, 4), float32]) {
//   %1 = weight : Tensor[(8,), float32] @gamma;
//   %2 = table weight : Tensor[(8,), float32] @group_norm;
//   %3 = nn.group_norm(%x, %1, %2, epsilon=1e-06, num_groups=1) : Tensor[(2, 8, 4, 4), float32] @group_norm;
//   %4 = reciprocal(%3) : Tensor[(2, 8, 4, 4), float32] @inverse;
//   (%4)
// }
// ---- stderr
// ---- exit 0
