// RUN: perfc opt %s --passes=unflatten-products,recognise-patterns --verify-each
// scaled_dot_product_attention as run_decompositions() writes it: products over merged dims, a guard of rows that are masked throughout.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(2, 4, 16, 64), float32], %k: Tensor[(2, 4, 64, 16), float32], %v: Tensor[(2, 4, 16, 64), float32], %keep: Tensor[(2, 1, 16, 16), bool]) {
  %4 = const[0.35355338] : Tensor[(), float32];
  %5 = multiply(%q, %4);
  %6 = multiply(%k, %4);
  %7 = const[8, 16, 64] : Tensor[(3,), int64];
  %8 = reshape(%5, %7);
  %9 = const[8, 64, 16] : Tensor[(3,), int64];
  %10 = reshape(%6, %9);
  %11 = nn.batch_matmul(%8, %10);
  %12 = const[2, 4, 16, 16] : Tensor[(4,), int64];
  %13 = reshape(%11, %12);
  %14 = const[0.0] : Tensor[(), float32];
  %15 = const[-inf] : Tensor[(), float32];
  %16 = where(%keep, %14, %15);
  %17 = add(%13, %16);
  %18 = nn.softmax(%17, axis=-1);
  %19 = equal(%17, %15);
  %20 = logical_not(%19);
  %21 = const[-1] : Tensor[(1,), int64];
  %22 = any(%20, %21, keepdims=1);
  %23 = logical_not(%22);
  %24 = full(%12, launched=1, value=const[0.0]: Tensor[(1,), float32]);
  %25 = where(%23, %24, %18);
  %26 = const[8, 16, 16] : Tensor[(3,), int64];
  %27 = reshape(%25, %26);
  %28 = reshape(%v, %7);
  %29 = nn.batch_matmul(%27, %28);
  %30 = const[2, 4, 16, 64] : Tensor[(4,), int64];
  %31 = reshape(%29, %30);
  (%31)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(2, 4, 16, 64), float32], %k: Tensor[(2, 4, 64, 16), float32], %v: Tensor[(2, 4, 16, 64), float32], %keep: Tensor[(2, 1, 16, 16), bool]) -> (Tensor[(2, 4, 16, 64), float32]) {
//   %4 = const[0.35355338] : Tensor[(), float32];
//   %5 = const[8, 16, 64] : Tensor[(3,), int64];
//   %6 = const[8, 64, 16] : Tensor[(3,), int64];
//   %7 = const[2, 4, 16, 16] : Tensor[(4,), int64];
//   %8 = const[0.0] : Tensor[(), float32];
//   %9 = const[-inf] : Tensor[(), float32];
//   %10 = const[-1] : Tensor[(1,), int64];
//   %11 = const[8, 16, 16] : Tensor[(3,), int64];
//   %12 = const[2, 4, 16, 64] : Tensor[(4,), int64];
//   %13 = transpose(%k, perm=[0, 1, 3, 2]) : Tensor[(2, 4, 16, 64), float32];
//   %14 = nn.sdpa(%q, %13, %v, %keep, scale=0.12499999250942438) : Tensor[(2, 4, 16, 64), float32];
//   (%14)
// }
// ---- stderr
// ---- exit 0
