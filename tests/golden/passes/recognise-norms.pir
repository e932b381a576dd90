// RUN: perfc opt %s --passes=recognise-patterns,filter-operators --verify-each
// RMS norm, group norm and l2 normalisation as exporters write them out.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 8, 4, 4), float32]) {
  %1 = const[0, 2, -1] : Tensor[(3,), int64];
  %2 = reshape(%x, %1);
  %3 = const[1.0, 1.0] : Tensor[(2,), float32];
  %4 = const[0.0, 0.0] : Tensor[(2,), float32];
  %5 = nn.instance_norm(%2, %3, %4, epsilon=1e-5);
  %6 = const[2, 8, 4, 4] : Tensor[(4,), int64];
  %7 = reshape(%5, %6);
  %8 = weight : Tensor[(8, 1, 1), float32] @gamma;
  %9 = multiply(%7, %8);
  %10 = weight : Tensor[(8, 1, 1), float32] @beta;
  %11 = add(%9, %10) @group_norm;
  %12 = const[2.0] : Tensor[(), float32];
  %13 = power(%11, %12);
  %14 = const[-1] : Tensor[(1,), int64];
  %15 = mean(%13, %14, keepdims=1);
  %16 = const[1e-6] : Tensor[(), float32];
  %17 = add(%15, %16);
  %18 = sqrt(%17);
  %19 = reciprocal(%18);
  %20 = multiply(%11, %19);
  %21 = weight : Tensor[(4,), float32] @scale;
  %22 = multiply(%20, %21) @rms_norm;
  %23 = reduce_l2(%22, %14, keepdims=1);
  %24 = const[1e-12] : Tensor[(), float32];
  %25 = clip(%23, %24);
  %26 = const[2, 8, 4, 4] : Tensor[(4,), int64];
  %27 = broadcast_to(%25, %26);
  %28 = divide(%22, %27) @normalise;
  (%28)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 8, 4, 4), float32]) -> (Tensor[(2, 8, 4, 4), float32]) {
//   %1 = weight : Tensor[(8,), float32] @gamma;
//   %2 = weight : Tensor[(8,), float32] @beta;
//   %3 = nn.group_norm(%x, %1, %2, epsilon=1e-05, num_groups=2) : Tensor[(2, 8, 4, 4), float32] @group_norm;
//   %4 = weight : Tensor[(4,), float32] @scale;
//   %5 = nn.rms_norm(%3, %4, axis=3, epsilon=1e-06) : Tensor[(2, 8, 4, 4), float32] @rms_norm;
//   %6 = nn.l2_normalize(%5, axis=3, p=2) : Tensor[(2, 8, 4, 4), float32] @normalise;
//   (%6)
// }
// ---- stderr
// ---- exit 0
