// RUN: perfc opt %s --passes=recognise-patterns,filter-operators --verify-each
// One operator each: swish, quick gelu, mish, hard swish, tanh gelu.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 8), float32]) {
  %1 = sigmoid(%x);
  %2 = multiply(%x, %1) @swish;
  %3 = const[1.702] : Tensor[(), float32];
  %4 = multiply(%2, %3);
  %5 = sigmoid(%4);
  %6 = multiply(%5, %2) @quick_gelu;
  %7 = nn.softplus(%6);
  %8 = tanh(%7);
  %9 = multiply(%6, %8) @mish;
  %10 = const[3.0] : Tensor[(), float32];
  %11 = const[0.0] : Tensor[(), float32];
  %12 = const[6.0] : Tensor[(), float32];
  %13 = add(%9, %10);
  %14 = clip(%13, %11, %12);
  %15 = multiply(%9, %14);
  %16 = divide(%15, %12) @hard_swish;
  %17 = power(%16, %10);
  %18 = const[0.044715] : Tensor[(), float32];
  %19 = multiply(%17, %18);
  %20 = add(%16, %19);
  %21 = const[0.7978845608] : Tensor[(), float32];
  %22 = multiply(%20, %21);
  %23 = tanh(%22);
  %24 = const[1.0] : Tensor[(), float32];
  %25 = add(%23, %24);
  %26 = const[0.5] : Tensor[(), float32];
  %27 = multiply(%16, %26);
  %28 = multiply(%27, %25) @tanh_gelu;
  (%28)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 8), float32]) -> (Tensor[(2, 8), float32]) {
//   %1 = nn.silu(%x) : Tensor[(2, 8), float32] @swish;
//   %2 = nn.quick_gelu(%1) : Tensor[(2, 8), float32] @quick_gelu;
//   %3 = nn.mish(%2) : Tensor[(2, 8), float32] @mish;
//   %4 = nn.hard_swish(%3) : Tensor[(2, 8), float32] @hard_swish;
//   %5 = nn.fast_gelu(%4) : Tensor[(2, 8), float32] @tanh_gelu;
//   (%5)
// }
// ---- stderr
// ---- exit 0
